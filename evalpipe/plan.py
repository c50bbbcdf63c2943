"""Step 2: what will be computed, from the spec and the columns of the data alone. Pure; nothing is read here."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evalpipe.errors import DataError, Problem
from evalpipe.spec.levels import level_text
from evalpipe.tasks import MANY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.data.table import Catalog, Table
    from evalpipe.metrics import Metric
    from evalpipe.spec.choices import MetricChoice
    from evalpipe.spec.models import Model, Spec
    from evalpipe.spec.origin import Loc


Method = Literal["exact", "wilson", "jeffreys", "delong", "logit", "percentile", "bca", "none"]
"""How an interval is made."""


DEPENDENT = "rows of a cluster are not independent, so whole clusters are resampled"


@dataclass(frozen=True, slots=True)
class DatasetPlan:
    """The columns to read from one dataset, each once, in reading order."""

    name: str
    role: Literal["evaluate", "reference"]
    table: Table
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MetricPlan:
    """A metric with its checked options and the way its interval is made, with the reason for that.

    ``average`` is how it is brought together over classes: "macro", "macro_weighted", "micro", "none" (one value a
    class), or None where there is one value to begin with. ``of_class`` holds, for each class, options that differ.
    """

    metric: Metric
    params: Mapping[str, Any]
    method: Method
    reason: str
    average: str | None = None
    of_class: tuple[Mapping[str, Any], ...] = ()

    @property
    def drawn(self) -> bool:
        """Whether the interval comes from bootstrap replicates."""
        return self.method in ("percentile", "bca")

    @property
    def shown(self) -> dict[str, Any]:
        """The options that can be printed beside a value."""
        return {name: value for name, value in self.params.items() if not isinstance(value, tuple)}


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that will be done: datasets, models and metrics.

    ``bins`` is the interval method of the event rate in the bins of a reliability diagram.
    """

    spec: Spec
    datasets: tuple[DatasetPlan, ...]
    metrics: tuple[MetricPlan, ...]
    bins: Method

    @property
    def cost(self) -> int | None:
        """Rows x bootstrap replicates x models that will be summed up; None where the rows are not known."""
        evaluated = [dataset.table.rows for dataset in self.datasets if dataset.role == "evaluate"]
        if any(rows is None for rows in evaluated):
            return None
        drawn = self.bins == "percentile" or any(entry.drawn for entry in self.metrics)
        replicates = self.spec.intervals.replicates if drawn else 0
        return sum(rows or 0 for rows in evaluated) * (replicates + 1) * len(self.spec.models)


def plan(spec: Spec, catalog: Catalog) -> Plan:
    """Plan the evaluation; raises DataError with every problem of the catalog and every column that the data lack."""
    named, tables = columns_named(spec), catalog.tables
    missing = [
        problem
        for name, table in tables.items()
        for problem in _missing(spec, name, table, _needed(spec, spec.datasets[name].role, named, table))
    ]
    if missing or catalog.problems:
        raise DataError(*catalog.problems, *missing)
    datasets = tuple(
        DatasetPlan(name, dataset.role, tables[name], tuple(_needed(spec, dataset.role, named, tables[name])))
        for name, dataset in spec.datasets.items()
    )
    choices = spec.metrics or standard_metrics(spec)
    metrics = tuple(entry for choice in choices for entry in _entries(spec, choice))
    return Plan(spec, datasets, metrics, _proportions(spec)[0])


def columns_named(spec: Spec) -> dict[str, Loc]:
    """Return the columns that evaluated rows must have, each with the place in the spec that names it first."""
    from evalpipe.spec.models import Model

    named: dict[str, Loc] = {spec.outcome.column: ("outcome", "column")}
    if spec.id is not None:
        named.setdefault(spec.id, ("id",))
    if spec.weight is not None:
        named.setdefault(spec.weight.column, ("weight", "column"))
    if spec.cluster is not None:
        named.setdefault(spec.cluster, ("cluster",))
    for name, model in spec.models.items():
        for kind, column in model_columns(spec, model).items():
            of_levels = "probabilities" if model.scores is None else "scores"
            named.setdefault(column, ("models", name, kind if kind in Model.model_fields else of_levels))
    return named


def model_columns(spec: Spec, model: Model) -> dict[str, str]:
    """Return the columns of a model by what they hold; of K levels, "probability of …" or "score of …" for each."""
    kinds = ("probability", "score", "prediction", "loo_prediction")
    what = "score" if model.probabilities is None else "probability"
    chances = {f"{what} of {level}": column for level, column in level_columns(spec, model).items()}
    return chances | {kind: column for kind in kinds if (column := getattr(model, kind)) is not None}


def level_columns(spec: Spec, model: Model) -> dict[str, str]:
    """Return the column of each level's probability or score, in the order of the levels; empty without any."""
    named = model.probabilities or model.scores
    if named is None:
        return {}
    if isinstance(named, str):
        return {level: named.replace("{level}", level) for level in levels(spec)}
    return {level: named[level] for level in levels(spec)}


def levels(spec: Spec) -> list[str]:
    """Return the declared levels of the outcome; of a binary one the event first; empty where none are declared."""
    declared = [level_text(level) for level in spec.outcome.levels or ()]
    if spec.task != "binary" or not declared:
        return declared
    event = level_text(spec.outcome.event)
    return [event, *(level for level in declared if level != event)]


def threshold(spec: Spec, model: Model) -> float | None:
    """Return the threshold that makes a model's classes; None where the data give them, or nothing does."""
    if model.prediction is not None or spec.task != "binary":
        return None
    if model.threshold is not None:
        return float(model.threshold)
    return None if model.score is not None and model.scale is None else float(spec.threshold)


def _needed(spec: Spec, role: str, named: Mapping[str, Loc], table: Table) -> dict[str, Loc]:
    """Return the columns to read: of reference rows only the identity, and the outcome where they have it."""
    if role == "evaluate" or spec.id is None:
        return dict(named)
    outcome = {spec.outcome.column: named[spec.outcome.column]} if spec.outcome.column in table.columns else {}
    return outcome | {spec.id: named[spec.id]}


def _missing(spec: Spec, dataset: str, table: Table, needed: Mapping[str, Loc]) -> list[Problem]:
    absent = {column: loc for column, loc in needed.items() if column not in table.columns}
    return [_missing_column(spec, dataset, table, column, loc) for column, loc in absent.items()]


def _missing_column(spec: Spec, dataset: str, table: Table, column: str, loc: Loc) -> Problem:
    close = difflib.get_close_matches(column, table.columns, n=1)
    listed = ", ".join(list(table.columns)[:12]) + (", …" if len(table.columns) > 12 else "")
    notes = [f"its columns: {listed}"]
    hint = f"did you mean '{close[0]}'?" if close else f"name one of the columns of dataset '{dataset}'"
    if loc[-1] in ("probabilities", "scores"):
        hint = f"every level needs a column of {loc[-1]}"
    if spec.datasets[dataset].role == "reference":
        notes.append("declare 'id' so that rows of a reference dataset are compared by identity alone")
    place = spec.origin.place(*loc) or spec.origin.place(*loc[:1])
    files = table.files[0][1] if table.files else "memory"
    return Problem(
        "missing-column", f"dataset '{dataset}' ({files}) has no column '{column}'", place, hint, notes=tuple(notes)
    )


def standard_metrics(spec: Spec) -> tuple[MetricChoice, ...]:
    """Return the task's standard set: those that every model of the spec can provide."""
    from evalpipe.metrics import registry
    from evalpipe.spec.choices import MetricChoice
    from evalpipe.spec.models import gives

    served = frozenset.intersection(*(gives(dict(model)) for model in spec.models.values()))
    return tuple(
        MetricChoice(entry.name)
        for entry in registry
        if spec.task in entry.standard
        and entry.needs in served
        and all(getattr(spec, key) is not None for key in entry.from_spec.values())
    )


def _entries(spec: Spec, choice: MetricChoice) -> Iterator[MetricPlan]:
    """Yield what an entry of the spec comes to: one for each average."""
    from evalpipe.metrics import registry

    entry = registry[choice.metric]
    classes = levels(spec) if spec.task in MANY else []
    declared = [_declared(spec, entry, level) for level in classes] or [_declared(spec, entry, None)]
    filled = [entry.options(**given | dict(choice.options)).model_dump() for given in declared]
    differ = {name for name in filled[0] if any(options[name] != filled[0][name] for options in filled)}
    params = {name: value for name, value in filled[0].items() if name not in differ}
    averages = (choice.averages or ("macro",)) if classes and entry.sees == "event" else (None,)
    for average in averages:
        method, reason = _interval(spec, entry, average)
        yield MetricPlan(entry, params, method, reason, average, tuple(filled) if average is not None else ())


def _declared(spec: Spec, entry: Metric, level: str | None) -> dict[str, Any]:
    """Return the options that the spec gives to a metric; priors are those of ``level``, where there are several."""
    found: dict[str, Any] = {}
    for option, key in entry.from_spec.items():
        given = getattr(spec, key)
        if key == "costs" and given is not None:
            found[option] = cost_matrix(spec)
        elif given is not None:
            found[option] = given.value if level is None else (given.levels or {})[level]
    return found


def cost_matrix(spec: Spec) -> tuple[tuple[float, ...], ...]:
    """Return the named costs by true level (outer) and predicted level (inner); 0 where none is named."""
    named = {(level_text(c.truth), level_text(c.predicted)): float(c.cost) for c in spec.costs or ()}
    order = levels(spec)
    return tuple(tuple(named.get((truth, predicted), 0.0) for predicted in order) for truth in order)


def _interval(spec: Spec, entry: Metric, average: str | None) -> tuple[Method, str]:
    """Choose the interval method of a metric, and say why."""
    asked = spec.intervals.method
    if asked in ("none", "percentile", "bca"):
        return asked, f"the spec asks for {'none' if asked == 'none' else 'the bootstrap'}"
    if spec.cluster is not None:
        return "percentile", DEPENDENT
    if entry.interval is None:
        return "percentile", "not a proportion of rows, so no binomial limits exist"
    if average not in (None, "none"):
        return "percentile", "an average over classes, so no limits in closed form exist"
    if spec.weight is not None and spec.weight.kind == "importance":
        return "percentile", "limits in closed form do not hold under importance weights"
    closed: dict[str, tuple[Method, str]] = {
        "auc": ("delong", "an area under the ROC curve, whose variance DeLong gives"),
        "predictive": ("logit", "from two independent proportions and a fixed prior: the delta method gives its error"),
    }
    return closed.get(entry.interval) or _proportions(spec)


def _proportions(spec: Spec) -> tuple[Method, str]:
    """Choose the method of a proportion of rows."""
    method = spec.intervals.method
    if method in ("none", "percentile", "bca"):
        return ("none" if method == "none" else "percentile"), "the spec asks for it"
    if spec.cluster is not None:
        return "percentile", DEPENDENT
    if spec.weight is not None and spec.weight.kind == "importance":
        return "percentile", "binomial limits do not hold under importance weights"
    if method == "wilson":
        return "wilson", "a proportion of rows, and the spec asks for Wilson limits"
    if method == "jeffreys":
        return "jeffreys", "a proportion of rows, and the spec asks for Jeffreys limits"
    return "exact", "a proportion of rows, so Clopper-Pearson limits hold"
