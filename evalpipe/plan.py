"""Step 2: what will be computed, from the spec and the columns of the data alone. Pure; nothing is read here."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evalpipe.errors import DataError, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.data.table import Catalog, Table
    from evalpipe.metrics import Metric
    from evalpipe.spec.choices import MetricChoice
    from evalpipe.spec.models import Model, Spec
    from evalpipe.spec.origin import Loc


Method = Literal["exact", "wilson", "percentile", "none"]
"""How an interval is made."""


@dataclass(frozen=True, slots=True)
class DatasetPlan:
    """The columns to read from one dataset, each once, in reading order."""

    name: str
    role: Literal["evaluate", "reference"]
    table: Table
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MetricPlan:
    """A metric with its checked options and the way its interval is made, with the reason for that."""

    metric: Metric
    params: Mapping[str, Any]
    method: Method
    reason: str


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
        drawn = self.bins == "percentile" or any(entry.method == "percentile" for entry in self.metrics)
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
    return Plan(spec, datasets, tuple(_metric(spec, choice) for choice in choices), _proportions(spec)[0])


def columns_named(spec: Spec) -> dict[str, Loc]:
    """Return the columns that evaluated rows must have, each with the place in the spec that names it first."""
    named: dict[str, Loc] = {spec.outcome.column: ("outcome", "column")}
    if spec.id is not None:
        named.setdefault(spec.id, ("id",))
    if spec.weight is not None:
        named.setdefault(spec.weight.column, ("weight", "column"))
    for name, model in spec.models.items():
        for kind, column in model_columns(model).items():
            named.setdefault(column, ("models", name, kind))
    return named


def model_columns(model: Model) -> dict[str, str]:
    """Return the columns of a model by what they hold."""
    kinds = ("probability", "score", "prediction")
    return {kind: column for kind in kinds if (column := getattr(model, kind)) is not None}


def threshold(spec: Spec, model: Model) -> float | None:
    """Return the threshold that makes a model's classes; None where the data give them, or nothing does."""
    if model.prediction is not None:
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
        if entry.standard
        and entry.needs in served
        and all(getattr(spec, key) is not None for key in entry.from_spec.values())
    )


def _metric(spec: Spec, choice: MetricChoice) -> MetricPlan:
    from evalpipe.metrics import registry

    entry = registry[choice.metric]
    declared = {option: getattr(spec, key) for option, key in entry.from_spec.items()}
    given = {option: prior.value for option, prior in declared.items() if prior is not None} | dict(choice.options)
    params = entry.options(**given).model_dump()
    method, reason = _interval(spec, entry)
    return MetricPlan(entry, params, method, reason)


def _interval(spec: Spec, entry: Metric) -> tuple[Method, str]:
    """Choose the interval method of a metric, and say why."""
    if spec.intervals.method == "none":
        return "none", "the spec asks for none"
    if spec.intervals.method == "percentile":
        return "percentile", "the spec asks for the bootstrap"
    if entry.interval != "proportion":
        return "percentile", "not a proportion of rows, so no binomial limits exist"
    return _proportions(spec)


def _proportions(spec: Spec) -> tuple[Method, str]:
    """Choose the method of a proportion of rows."""
    method = spec.intervals.method
    if method in ("none", "percentile"):
        return method, "the spec asks for it"
    if spec.weight is not None and spec.weight.kind == "importance":
        return "percentile", "binomial limits do not hold under importance weights"
    if method == "wilson":
        return "wilson", "a proportion of rows, and the spec asks for Wilson limits"
    return "exact", "a proportion of rows, so Clopper-Pearson limits hold"
