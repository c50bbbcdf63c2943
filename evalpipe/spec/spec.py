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
from evalpipe.chapters.calibration.spec import Calibration
from evalpipe.chapters.candidates.spec import CandidateTable
from evalpipe.chapters.compare.spec import Compare
from evalpipe.chapters.costs.spec import Cost, ProfitRule
from evalpipe.chapters.curves.spec import Curves
from evalpipe.chapters.desirability.spec import GoalRule
from evalpipe.chapters.equivocal.spec import EquivocalZone
from evalpipe.chapters.gates.spec import GateRule, SequenceRule
from evalpipe.chapters.prevalence.spec import Prevalence
from evalpipe.chapters.recalibrate.spec import Recalibrate
from evalpipe.chapters.reference_rates.spec import ReferenceRate
from evalpipe.chapters.slices.spec import SliceRules, SlicingRule, WorstSlices
from evalpipe.chapters.standards.spec import Standard
from evalpipe.chapters.statement.spec import Statement
from evalpipe.chapters.steps.spec import StepMeasures
from evalpipe.chapters.thresholds.spec import OfSpec
from evalpipe.chapters.trend.spec import TrendKey
from evalpipe.errors import Problem
from evalpipe.spec.core_keys import Engine, Exposure, Intervals, Model, NoInformation, Outcome, Report, Weight
from evalpipe.spec.datasets import AnyDataset
from evalpipe.spec.field_types import (
    AnyOf,
    ColumnName,
    Day,
    Key,
    Ledger,
    Name,
    OneOrMore,
    Only,
    Short,
    Shown,
    SpecPart,
    Version,
)
from evalpipe.spec.measures import MeasureEntry, MeasureExpression, Measures, MetricChoice, expressed
from evalpipe.spec.text import ProseText
from evalpipe.tasks import CLASSES, Task
from evalpipe.templating.files import Templates

if TYPE_CHECKING:
    from collections.abc import Iterator


class Spec(SpecPart):
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
    card: Statement = Statement()
    """What people state on the card: use and limits, owner, monitoring, changes."""
    standards: Annotated[tuple[Standard, ...], OneOrMore(), Field(min_length=1)] | None = None
    """The standards that the card documents evidence for: a name, a mapping, or a list of these."""
    seed: Annotated[StrictInt, Field(ge=0)] = 0
    """The root of all random numbers."""
    task: Task
    """The kind of outcome: two levels, several, several in order, a number, or a count."""
    outcome: Outcome
    """The outcome's column, its event or levels, its unit."""
    prevalence: Annotated[Annotated[Prevalence, Short("value")] | None, Only(*CLASSES)] = None
    """The prior probability of the event where the model will be used: a number, or a mapping with its source. For
    more levels, a mapping of level to number under `levels`; `beta` or `dirichlet` where it is uncertain, and
    `{from: training}` where a dataset gives it. `ppv` and `npv` need it, and so does every measure at
    `prevalence: declared`."""
    weight: Annotated[Weight, Short("column")] | None = None
    """The column of case weights, or a mapping with their kind."""
    exposure: Annotated[Annotated[Exposure, Short("column")] | None, Only("count")] = None
    """The column that says in how much of what each count was counted, such as policy-years or patient-days, or a
    mapping with its unit. It scales the expected count: a row of twice the exposure is still one row with twice the
    expected count; a row of weight two is two rows. See [Exposure](methods.md#exposure)."""
    cluster: ColumnName | None = None
    """The column that says which rows belong together, such as those of a patient; intervals then resample clusters,
    not rows."""
    folds: ColumnName | None = None
    """The column that numbers the folds of resampling, of rows that were each predicted by a fit that had not seen
    their fold, as in cross-validation. The results then also give the mean of each measure over folds, its standard
    deviation and its standard error. See [Folds](methods.md#folds). The `{folds: 10}` of a recalibrator or a threshold
    is not this: there evalpipe makes the folds itself."""
    id: ColumnName | None = None
    """The column that identifies a row; checked for duplicates and for rows shared with reference datasets."""
    complete_case: Literal["all"] | None = None
    """What is done with rows for which a model has no prediction. Without this key they are an error. `all`: they
    are left out for every model, so that all models are measured on the same rows. The results and the card give
    their number, and which model lacks them."""
    datasets: Annotated[dict[Key, AnyDataset], Field(min_length=1)]
    """The datasets, by name. Each is rows in files (`path`), or rows that a query of a database returns (`sql`, `uri`).
    See [Names](#names)."""
    models: Annotated[dict[Key, Model], Field(min_length=1)]
    """The models, by name. See [Names](#names)."""
    threshold: Annotated[OfSpec, Only("binary")] = 0.5
    """Rows of a binary outcome with probability >= threshold are predicted as events. A number, or a rule that chooses
    it for every model that gives scores: `{maximize: j_index, on: calibration}`, `{minimize: cost, on: {folds: 10}}`,
    `{maximize: sensitivity, subject_to: {specificity: {min: 0.9}}, on: calibration}` or `{bayes: costs}`."""
    equivocal: Annotated[EquivocalZone | None, Only(*CLASSES)] = None
    """The equivocal zone, whose rows have no predicted class: how far it reaches to either side of the threshold, or
    a mapping with `below` and `above`, or for several levels with `min_probability`. Measures of predicted classes
    then use only the other rows, the reportable ones, and a prevalence applies to those. Models whose predicted
    classes are given have no zone."""
    metrics: Annotated[tuple[MeasureEntry, ...], Field(min_length=1)] | None = None
    """The measures: names, mappings of a name and its options, or expressions of measures: `{name: ratio, expression:
    sensitivity / specificity}`. The task's standard set where absent: every measure of it that any model can serve.
    One that a model cannot serve has no value for it, with the reason."""
    intervals: Intervals = Intervals()
    """The intervals."""
    no_information: Annotated[
        Annotated[StrictBool, Tag("a flag")] | Annotated[NoInformation, Tag("permutations")],
        Discriminator(lambda value: "a flag" if isinstance(value, bool) else "permutations"), AnyOf(),
    ] = False
    """Also give the value that each measure would have if truth and prediction were independent, and the skill: 0 at
    that value, 1 at the best value. `{permutations: 1000}` says over how many random pairings, for measures whose mean
    has no closed form."""
    costs: Annotated[tuple[Cost, ...] | None, Only(*CLASSES)] = None
    """What wrong predictions cost, as named triples; the measures `cost` and `expected_cost` need them."""
    curves: Curves | None = None
    """What the curves show beside themselves."""
    profit: Annotated[ProfitRule | None, Only("binary")] = None
    """The cost of contacting a row and the benefit of contacting an event. The results then give the profit of
    contacting the rows of a binary outcome from the highest score down, for each model that gives scores."""
    steps: StepMeasures | None = None
    """What is measured at every step of models that have a `step`. Without this key it is `metrics`. Where that is
    absent too, it is log loss and accuracy; for numbers RMSE and MAE; for counts MAE and the Poisson deviance. A model
    that can serve none of `metrics` has those of the latter that it can serve, or the ROC AUC."""
    slices: tuple[SlicingRule, ...] | None = None
    """The slices in which every measure is given as well: columns, columns of numbers with `cuts`, columns of dates
    with `by`, lists of these for their combinations, and conditions. Rows whose value is missing (null or NaN) are the
    slice `(missing)`, rows with the empty text `(empty)`; a level that is called so is shown in double quotes."""
    slice_rules: SliceRules = SliceRules()
    """What holds for all slices."""
    worst_slices: WorstSlices | None = None
    """A bounded search for the slices in which a measure is worst."""
    calibration: Annotated[Calibration | None, Only(*CLASSES)] = None
    """The settings of the figures of calibration. They have the defaults below without this key too. With it, the
    reliability diagrams have a rug, and moving windows and smooth curves are also drawn of every recalibrated
    variant."""
    recalibrate: Recalibrate | None = None
    """Recalibrators; each makes a variant of every model, which is evaluated beside the original."""
    compare: Compare | None = None
    """Differences between models, and between datasets."""
    reference_rates: tuple[ReferenceRate, ...] | None = None
    """Fixed rates, such as last year's model reached elsewhere, that every model is compared with."""
    desirability: tuple[GoalRule, ...] | None = None
    """Goals, each a measure or a characteristic on a scale from 0, unacceptable, to 1; their weighted geometric mean
    ranks the models. The measures are listed among the metrics."""
    candidates: CandidateTable | None = None
    """A table of candidates with finished metrics, such as the grid of a tuning, which the goals of `desirability`
    rank. A spec of candidates alone needs no predictions: it has neither `outcome` nor `datasets` nor `models`."""
    gates: tuple[GateRule, ...] | None = None
    """Limits that results must keep; `evalpipe run` ends with 1 where one is missed."""
    trend: TrendKey = False
    """Measures over nights: `true`, or a mapping with `metrics`, `nights` and `control`. The card then shows this night
    after the earlier nights of the same `name` that the ledger has, with control limits. It needs `as_of`. See
    [trend.md](trend.md)."""
    sequence: SequenceRule | None = None
    """What holds for all gates `on: sequence` together."""
    report: Report = Report()
    """The rendered formats."""
    engine: Engine = Engine()
    """How the numbers are computed."""
    ledger: Ledger = True
    """Where runs are recorded: the path of an SQLite file, which ends in `.sqlite`, `.sqlite3`, `.db` or `.db3`, or a
    database by its URL, as in `postgresql://user@host/name`; passwords belong into `${env:NAME}`. By default
    `ledger.sqlite` beside the output folder; `false` records none. It changes no byte of the results, which do not
    hold this key."""

    _origin: Origin = PrivateAttr(default_factory=Origin)
    _warnings: tuple[Problem, ...] = PrivateAttr(default=())
    _texts: Mapping[Loc, ProseText] = PrivateAttr(default_factory=dict)
    _templates: Templates | None = PrivateAttr(default=None)
    _plugins: tuple[Plugin, ...] = PrivateAttr(default=())
    _uris: Mapping[str, DatabaseUri] = PrivateAttr(default_factory=dict)
    _ledger_uri: DatabaseUri | None = PrivateAttr(default=None)

    @property
    def origin(self) -> Origin:
        """Where each key was written; empty for a spec made from a mapping."""
        return self._origin

    @property
    def texts(self) -> Mapping[Loc, ProseText]:
        """What people state, by location, read from its file where it has one."""
        return self._texts

    @property
    def uris(self) -> Mapping[str, DatabaseUri]:
        """Where the databases of queries are, by dataset, with what the environment holds: they may hold passwords."""
        return self._uris

    @property
    def ledger_uri(self) -> DatabaseUri | None:
        """Where the ledger is, with what the environment holds; None where `ledger` is true or false."""
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
        """The keys that change nothing, which is no fault where another file shares them; each with its place."""
        return self._warnings

    @property
    def expressions(self) -> dict[str, MeasureExpression]:
        """The expressions that the spec declares, by name."""
        return {entry.name: entry for entry in self.metrics or () if isinstance(entry, MeasureExpression)}

    @property
    def choices(self) -> tuple[MetricChoice, ...]:
        """The measures that it lists, those that are expressions by their names."""
        return tuple(entry.reference if isinstance(entry, MeasureExpression) else entry for entry in self.metrics or ())

    @property
    def measures(self) -> Measures:
        """Every measure that the spec can name."""
        return Measures({name: expressed(entry, self.task) for name, entry in self.expressions.items()},
                        self.task)

    @property
    def alone(self) -> bool:
        """Whether this is of candidates alone, without predictions."""
        return False

    @property
    def importance(self) -> bool:
        """Whether rows have importance weights, under which they are not observations of one kind."""
        return self.weight is not None and self.weight.kind == "importance"


class CandidateSpec(Spec):
    """A spec of candidates alone: there are no predictions, so it has no outcome, no datasets and no models."""

    outcome: Outcome = Outcome.model_construct(column="")
    datasets: dict[Key, AnyDataset] = Field(default_factory=dict)
    models: dict[Key, Model] = Field(default_factory=dict)

    @property
    def alone(self) -> bool:
        """Whether this is of candidates alone, without predictions."""
        return True


def kind_of_spec(written: object) -> type[Spec]:
    """Return what a spec is to be read as: of candidates alone where it has these, and none of what has predictions."""
    keys = {key for key, value in written.items() if value is not None} if isinstance(written, Mapping) else set()
    return CandidateSpec if "candidates" in keys and not keys & {"outcome", "datasets", "models"} else Spec


NAMED = "<name>"
"""Stands in a location for any of the names that a mapping has for its entries, such as those of models."""


def _marked(model: type[BaseModel], here: Loc = ()) -> Iterator[tuple[Loc, tuple[Task, ...]]]:
    """Yield the location and the tasks of each marked key of a model, and of the models within it."""
    for name, field in model.model_fields.items():
        loc = (*here, name)
        yield from ((loc, mark.tasks) for mark in field.metadata if isinstance(mark, Only))
        inner = (*loc, NAMED) if get_origin(field.annotation) is dict else loc
        for part in _models(field.annotation):
            yield from _marked(part, inner)


def _models(declared: object) -> list[type[BaseModel]]:
    """Return the models in a declared type, such as a union or a mapping of them."""
    if isinstance(declared, type) and issubclass(declared, BaseModel):
        return [declared]
    return [model for argument in get_args(declared) for model in _models(argument)]


TASKS: dict[Loc, tuple[Task, ...]] = dict(_marked(Spec))
"""The tasks of the keys that not every task has; a key stands after the one that holds it."""


def applies(loc: Loc, task: str) -> bool:
    """Tell whether a key of the spec, in which `NAMED` stands for any name, belongs to a task."""
    return task in TASKS.get(loc, (task,))
