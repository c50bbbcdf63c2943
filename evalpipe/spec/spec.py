"""The spec as a pydantic model: every accepted key, and which keys belong to which tasks.

The models hold what was written, checked one key at a time. What concerns several keys is checked in
`evalpipe.spec.rules`; what concerns the columns of the data, in `evalpipe.plan`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal, get_args, get_origin

from pydantic import BaseModel, Discriminator, Field, PrivateAttr, StrictBool, StrictInt, Tag

from evalpipe.base.databases import DatabaseUri
from evalpipe.base.origin import Loc, Origin
from evalpipe.base.plugins import Plugin
from evalpipe.base.records import order_fields
from evalpipe.errors import Problem
from evalpipe.spec.core_keys import (
    ChapterKeys,
    Engine,
    Exposure,
    Intervals,
    Model,
    NoInformation,
    Outcome,
    Report,
    Weight,
    gives,
)
from evalpipe.spec.datasets import AnyDataset
from evalpipe.spec.field_types import (
    EMPTY_AS_ABSENT,
    AnyOf,
    ColumnName,
    Day,
    Key,
    Ledger,
    Name,
    Only,
    Short,
    Shown,
    Version,
)
from evalpipe.spec.measures import MeasureEntry, MeasureExpression, Measures, MetricChoice, expression_measure
from evalpipe.spec.tree import ProseText
from evalpipe.tasks import SCORES, WITH_OUTCOME, Task
from evalpipe.templating.files import Templates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.fields import FieldInfo


@order_fields
class Spec(ChapterKeys):
    """One evaluation: what was promised, on which predictions."""

    evalpipe: Version
    """The version of the spec format."""
    name: Name
    """The name of the evaluation; also the name of its output folder."""
    title: Shown | None = None
    """The card's title; the name where absent."""
    as_of: Day | None = None
    """The day that the card is about, such as 2026-11-21; `--as-of` of the command line overrides it. `${date}` in any
    text of the spec, such as a path, stands for this day. A card never bears the day on which it was made."""
    seed: Annotated[StrictInt, Field(ge=0)] = 0
    """The root of all random numbers."""
    task: Task
    """The kind of outcome: two levels, several, several in order, a number, or a count; or `score`, where each item has
    a score from each model and no outcome. See [Scores of items](scores.md)."""
    outcome: Annotated[Outcome, Only(*WITH_OUTCOME)]
    """The outcome's column, its event or levels, its unit."""
    weight: Annotated[Weight, Short("column")] | None = None
    """The column of case weights, or a mapping with their kind."""
    exposure: Annotated[Annotated[Exposure, Short("column")] | None, Only("count")] = None
    """The column that says in how much of what each count was counted, such as policy-years or patient-days, or a
    mapping with its unit. It scales the expected count: a row of twice the exposure is still one row with twice the
    expected count; a row of weight two is two rows. See [Exposure](methods.md#exposure)."""
    cluster: ColumnName | None = None
    """The column that says which rows belong together, such as those of a patient; intervals then resample clusters,
    not rows."""
    id: Annotated[ColumnName | None, Only(*WITH_OUTCOME)] = None
    """The column that identifies a row; checked for duplicates and for rows shared with reference datasets."""
    complete_case: Annotated[Literal["all"] | None, Only(*WITH_OUTCOME)] = None
    """What is done with rows for which a model has no prediction. Without this key they are an error. `all`: they
    are left out for every model, so that all models are measured on the same rows. The results and the card give
    their number, and which model lacks them."""
    datasets: Annotated[dict[Key, AnyDataset], Field(min_length=1)]
    """The datasets, by name. Each is rows in files (`path`), or rows that a query of a database returns (`sql`, `uri`).
    See [Names](#names)."""
    models: Annotated[dict[Key, Model], Field(min_length=1)]
    """The models, by name. See [Names](#names)."""
    metrics: Annotated[tuple[MeasureEntry, ...], Field(min_length=1)] | None = None
    """The measures: names, mappings of a name and its options, or expressions of measures: `{name: ratio, expression:
    sensitivity / specificity}`. The task's standard set where absent: every measure of it that any model can serve.
    One that a model cannot serve has no value for it, with the reason."""
    intervals: Intervals = Intervals.model_construct()
    """The intervals."""
    no_information: Annotated[
        Annotated[StrictBool, Tag("a flag")] | Annotated[NoInformation, Tag("permutations")],
        Discriminator(lambda value: "a flag" if isinstance(value, bool) else "permutations"), AnyOf(),
        Only(*WITH_OUTCOME),
    ] = False
    """Also give the value that each measure would have if truth and prediction were independent, and the skill: 0 at
    that value, 1 at the best value. `{permutations: 1000}` says over how many random pairings, for measures whose mean
    has no closed form."""
    report: Report = Report.model_construct()
    """The rendered formats."""
    engine: Engine = Engine.model_construct()
    """How the numbers are computed."""
    ledger: Ledger = True
    """Where runs are recorded: the path of an SQLite file, which ends in `.sqlite`, `.sqlite3`, `.db` or `.db3`, or a
    database by its URL, as in `postgresql://user@host/name`; passwords belong into `${env:NAME}`. By default
    `ledger.sqlite` beside the output folder; `false` records none. The results do not hold this key; only what they
    compare with earlier runs depends on it."""

    _origin: Origin = PrivateAttr(default_factory=Origin)
    _warnings: tuple[Problem, ...] = PrivateAttr(default=())
    _texts: Mapping[Loc, ProseText] = PrivateAttr(default_factory=dict)
    _templates: Templates | None = PrivateAttr(default=None)
    _plugins: tuple[Plugin, ...] = PrivateAttr(default=())
    _uris: Mapping[str, DatabaseUri] = PrivateAttr(default_factory=dict)
    _ledger_uri: DatabaseUri | None = PrivateAttr(default=None)

    @property
    def origin(self) -> Origin:
        """The places of keys and values in files; empty for a spec made from a mapping."""
        return self._origin

    @property
    def texts(self) -> Mapping[Loc, ProseText]:
        """What people state, by location, read from its file where it has one."""
        return self._texts

    @property
    def uris(self) -> Mapping[str, DatabaseUri]:
        """The URIs of databases, by dataset, with values from the environment: they may contain passwords."""
        return self._uris

    @property
    def ledger_uri(self) -> DatabaseUri | None:
        """The URI of the ledger, with values from the environment; None where `ledger` is true or false."""
        return self._ledger_uri

    @property
    def templates(self) -> Templates | None:
        """The templates of the card, read from the folder that the spec names."""
        return self._templates

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """The plugins that the spec names, as they are installed."""
        return self._plugins

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The problems that are no errors, each with its place, such as a shared key that has no effect."""
        return self._warnings

    @property
    def expressions(self) -> dict[str, MeasureExpression]:
        """The expressions that the spec declares, by name."""
        return {entry.name: entry for entry in self.metrics or () if isinstance(entry, MeasureExpression)}

    @property
    def choices(self) -> tuple[MetricChoice, ...]:
        """The measures that the spec lists under 'metrics'; an expression is given by its name."""
        return tuple(entry.reference if isinstance(entry, MeasureExpression) else entry for entry in self.metrics or ())

    @property
    def measures(self) -> Measures:
        """Every measure that the spec can name."""
        return Measures({name: expression_measure(entry, self.task) for name, entry in self.expressions.items()},
                        self.task, None if self.score is None else (self.score.better, self.score.range))

    @property
    def alone(self) -> bool:
        """Whether the spec is of candidates alone, so that there are no predictions to evaluate."""
        return False

    def gives(self, model: Model) -> frozenset[str]:
        """Return what metrics may need and a model of the spec gives, such as "labels"."""
        return gives(model, self.threshold)

    def gives_with_variants(self, model: Model) -> frozenset[str]:
        """Return what metrics may need and a model, or its recalibrated variants, give, such as "probabilities".

        Variants of a raw score have probabilities, which the model itself has not.
        """
        raw = model.score is not None and model.scale is None and self.recalibrate is not None
        return self.gives(model) | ({"labels", "probabilities"} if raw else set())

    @property
    def importance(self) -> bool:
        """Whether the rows have importance weights, not frequency weights or none, declared or by their selection."""
        declared = self.weight is not None and self.weight.kind == "importance"
        return declared or (self.labels is not None and self.labels.reweights)

    @property
    def judged(self) -> bool:
        """Whether labels of judges take part in measures."""
        return self.labels is not None and self.labels.used_method == "prediction_powered"

    @property
    def chosen_unequally(self) -> bool:
        """Whether rows with an outcome weigh unequally, and no judge labels the others."""
        return self.labels is not None and self.labels.used_method == "weighted"


ALONE = frozenset({
    "evalpipe", "name", "title", "as_of", "card", "standards", "task", "desirability", "candidates", "report", "ledger",
})
"""The keys that a spec of candidates alone may have: none that does nothing without predictions."""


@order_fields
class CandidateSpec(Spec):
    """A spec of candidates alone: there are no predictions, so it has no outcome, no datasets and no models."""

    outcome: Outcome = Outcome.model_construct(column="")
    datasets: dict[Key, AnyDataset] = Field(default_factory=dict)
    models: dict[Key, Model] = Field(default_factory=dict)

    @property
    def alone(self) -> bool:
        """Whether the spec is of candidates alone: always true here."""
        return True


@order_fields
class ScoreSpec(Spec):
    """A spec of scores of items, which have no outcome."""

    outcome: Annotated[Outcome, Only(*WITH_OUTCOME)] = Outcome.model_construct(column="")

    def gives(self, model: Model) -> frozenset[str]:
        """Return what a model of the spec gives: scores, and what is known of successes, wins, documents and usage."""
        successes = self.score is not None and self.score.success_from is not None
        known = {"successes": successes, "wins": len(self.models) > 1, "ranked_lists": model.ranking is not None,
                 "usage": bool(model.usage), "usage_of_successes": successes and bool(model.usage)}
        return frozenset({"truth", "item_scores", *(name for name, is_known in known.items() if is_known)})


def kind_of_spec(written: object) -> type[Spec]:
    """Return the class that reads a spec: of scores by its task, of candidates alone where it has no predictions."""
    if isinstance(written, Mapping) and written.get("task") in SCORES:
        return ScoreSpec
    keys = {key for key, value in written.items() if value is not None} if isinstance(written, Mapping) else set()
    return CandidateSpec if "candidates" in keys and not keys & {"outcome", "datasets", "models"} else Spec


ANY_NAME = "<name>"
"""Stands in a location for any of the names that a mapping has for its entries, such as those of models."""


def _fields(model: type[BaseModel], here: Loc = ()) -> Iterator[tuple[Loc, FieldInfo]]:
    """Yield the fields of a model, and of the models within it, each with its location."""
    for name, field in model.model_fields.items():
        loc = (*here, name)
        yield loc, field
        inner = (*loc, ANY_NAME) if get_origin(field.annotation) is dict else loc
        for part in _models_in(field.annotation):
            yield from _fields(part, inner)


def _models_in(declared: object) -> list[type[BaseModel]]:
    """Return the models in a declared type, such as a union or a mapping of them."""
    if isinstance(declared, type) and issubclass(declared, BaseModel):
        return [declared]
    return [model for argument in get_args(declared) for model in _models_in(argument)]


_FIELDS = tuple(_fields(Spec))

TASKS: dict[Loc, tuple[Task, ...]] = {
    loc: mark.tasks for loc, field in _FIELDS for mark in field.metadata if isinstance(mark, Only)}
"""The tasks of the keys that not every task has; a key stands after the one that holds it."""


def applies(loc: Loc, task: str) -> bool:
    """Tell whether a key of the spec, in which `ANY_NAME` stands for any name, belongs to a task."""
    return task in TASKS.get(loc, (task,))


MAY_BE_EMPTY = tuple(tuple(map(str, loc)) for loc, field in _FIELDS
                     if any(mark is EMPTY_AS_ABSENT for mark in field.metadata))
"""The lists that may be empty, which is as if they were not there."""
