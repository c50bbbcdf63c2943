"""Step 2: what will be computed, from the spec and the columns of the data alone. Pure; nothing is read here.

Measures that findings rest on and that the spec does not ask for are added here, and so are the columns that checks
look at and that the spec does not name.
"""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from evalpipe.base.databases import DatabaseUri
from evalpipe.chapters import functions
from evalpipe.chapters.curves.plan import residuals_plan
from evalpipe.chapters.prevalence.plan import SAMPLE
from evalpipe.errors import DataError
from evalpipe.plan.datasets import (
    DatasetPlan,
    dataset_plan,
    identity_of,
    lacking_columns,
    outcome_plan,
    predictions_dataset,
)
from evalpipe.plan.measures import entries, proportion_method, requested_metrics
from evalpipe.plan.memory import bytes_from_text, streaming_plan
from evalpipe.plan.plan import Plan, models_plan
from evalpipe.spec.core_keys import PERMUTATIONS
from evalpipe.tasks import NUMBERS, SCORES
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import ModelPlan
    from evalpipe.plan.sources import Catalog
    from evalpipe.spec.measures import MetricChoice
    from evalpipe.spec.spec import Spec


DIAGNOSTICS = {
    "binary": ("roc_auc", "brier_skill", "calibration_in_the_large", "calibration_slope"),
    "multiclass": ("brier_skill", "confidence_gap"),
    "ordinal": ("brier_skill",),
    "regression": ("r2", "mean_error", "linear_calibration_slope"),
    "count": ("d2_poisson", "pearson_dispersion"),
    "score": (),
}
"""For each task: skill against a rule that sees no features, the level of the predictions, and their spread."""


SIZES = ("probability_rmse", "probability_mae", "probability_mad")
"""The sizes of the residuals of probabilities, where these are asked for; the card has them with their limits."""

ROBUST, QUICK = "robust", sentence("for-findings")
"""The method of coefficients of a logistic line where the spec asks for replicates, which take long, and why."""


def diagnostic_measures(
    spec: Spec, metrics: tuple[MetricPlan, ...], models: Mapping[str, ModelPlan]
) -> tuple[MetricPlan, ...]:
    """Return the measures that only findings and bounds on thresholds need, without those among ``metrics``."""
    candidates: list[MetricPlan] = []
    # Coefficients of a logistic line have limits in closed form, where these hold: so no replicate needs a fit. A
    # prevalence that is drawn anew in each replicate has none.
    independent = not (spec.cluster or spec.importance or spec.judged) and spec.intervals.method != "none"
    for choice in _diagnostics(spec) if models else ():
        for entry in entries(spec, choice):
            is_quick = independent and entry.metric.interval == "coefficient" and not (
                entry.method == ROBUST or entry.prior.uncertain)
            if entry.prior == SAMPLE or choice.prevalence is not None:
                candidates.append(replace(entry, method=ROBUST, reason=QUICK) if is_quick else entry)
    for model in models.values():
        rules = [rule for rule in (model.threshold.rule, model.threshold.variant_rule) if rule is not None]
        candidates += [entry for rule in rules for entry, _, _ in rule.bounds]
    # Measures that differ in their limits alone are one.
    listed = [replace(entry, method="", reason=None) for entry in metrics]
    distinct: list[MetricPlan] = []
    for entry in candidates:
        if entry not in distinct and replace(entry, method="", reason=None) not in listed:
            distinct.append(entry)
    return tuple(distinct)


def _diagnostics(spec: Spec) -> Iterator[MetricChoice]:
    """Yield measures that findings rest on: of the task, of reference data, several datasets, costs and residuals."""
    from evalpipe.spec.measures import MetricChoice

    yield from map(MetricChoice, DIAGNOSTICS[spec.task])
    if spec.task in NUMBERS and any(dataset.role == "reference" for dataset in spec.datasets.values()):
        yield MetricChoice("r2", {"baseline": "training"})
    if spec.task == "binary" and sum(dataset.role == "evaluate" for dataset in spec.datasets.values()) > 1:
        yield MetricChoice("detection_prevalence")
    if spec.task == "binary" and spec.prevalence is not None:
        yield from (MetricChoice(name, prevalence="declared") for name in ("calibration_in_the_large", "brier_skill"))
    if spec.costs is not None:
        yield MetricChoice("cost_saved")
    residuals = residuals_plan(spec)
    if residuals is not None and residuals.of == "probabilities":
        yield from map(MetricChoice, SIZES)


def plan(spec: Spec, catalog: Catalog) -> Plan:
    """Plan the evaluation; raises DataError with every problem of the catalog and every column that the data lack."""
    problems = [*catalog.problems, *lacking_columns(spec, catalog)]
    problems += [problem for of_chapter in functions("plan", "problems") for problem in of_chapter(spec, catalog)]
    if problems:
        raise DataError(*problems)
    datasets = tuple(dataset_plan(spec, catalog, name) for name in spec.datasets)
    planned = _plan_of_datasets(spec, catalog, datasets)
    return with_further_columns(replace(planned, streaming=streaming_plan(planned)))


def plan_predictions(spec: Spec, catalog: Catalog) -> Plan:
    """Plan to read the predictions of the only model in the only dataset, which needs no outcome.

    Raises DataError with every problem of the catalog and every column that the data lack.
    """
    if catalog.problems:
        raise DataError(*catalog.problems)
    dataset, problems = predictions_dataset(spec, catalog)
    if problems:
        raise DataError(*problems)
    return _plan_of_datasets(spec, catalog, (dataset,))


def _plan_of_datasets(spec: Spec, catalog: Catalog, datasets: tuple[DatasetPlan, ...]) -> Plan:
    """Return the plan of a spec for these ``datasets``: all keys resolved, with the parts of the chapters."""
    from evalpipe.spec.schema import spec_sha256

    intervals, engine, no_information = spec.intervals, spec.engine, spec.no_information
    metrics, models, limited = requested_metrics(spec), models_plan(spec), intervals.method != "none"
    if isinstance(no_information, bool):
        permutations = PERMUTATIONS if no_information else 0
    else:
        permutations = no_information.permutations
    return Plan(
        name=spec.name, title=spec.title or spec.name, as_of=spec.as_of, spec_sha256=spec_sha256(spec),
        task=spec.task, seed=spec.seed,
        level=intervals.level, interval_method=intervals.method, replicates=intervals.replicates,
        stratify=intervals.stratify, resampling=intervals.resampling, mode=engine.mode,
        workers=engine.workers, memory=None if engine.memory is None else bytes_from_text(engine.memory),
        dask=(engine.address or "local") if engine.backend == "dask" else None,
        ledger=ledger_named(spec), formats=spec.report.formats, permutations=permutations,
        outcome=outcome_plan(spec), weight=spec.weight, importance=spec.importance,
        exposure=spec.exposure, cluster=spec.cluster,
        id=identity_of(spec)[0], complete_case=spec.complete_case == "all", places=spec.origin, warnings=spec.warnings,
        datasets=datasets, models=models, metrics=metrics, diagnosed=diagnostic_measures(spec, metrics, models),
        bins=proportion_method(spec), banded=spec.task == "binary" and intervals.bands and limited,
        profit_drawn=spec.profit is not None and limited,
        **_of_chapters(spec=spec, catalog=catalog, metrics=metrics, models=models),
    )


def _of_chapters(**resolved: Any) -> dict[str, Any]:
    """Return the fields of a plan that chapters resolve by functions, whose parameters name keys of ``resolved``."""
    def decided(resolve: Callable[..., object]) -> object:
        return resolve(**{name: resolved[name] for name in signature(resolve).parameters})

    fields: tuple[Any, ...] = functions("plan", "PLANNED")
    parts: tuple[Any, ...] = functions("plan", "PARTS")
    return {
        **{name: decided(resolve) for of_chapter in fields for name, resolve in of_chapter.items()},
        "parts": MappingProxyType({resolve: decided(resolve) for of_chapter in parts for resolve in of_chapter}),
    }


def ledger_named(spec: Spec) -> DatabaseUri | bool:
    """Return the file or the URI of the ledger; True for a ledger beside the output folder, False for none."""
    uri = spec.ledger_uri
    if uri is None:
        return bool(spec.ledger)
    return DatabaseUri(str(spec.origin.folder_of("ledger") / uri.text)) if uri.is_path else uri


MOST_COLUMNS, MOST_CELLS = 50, 2_000_000
"""The most further columns of a dataset, and the most of their cells; beyond these the last columns are left out."""

MOST_SHARED = 12
"""The most columns by which the contents of rows are compared with those of another dataset."""

NESTED = ("List", "Array", "Struct", "Binary", "Object")
"""Beginnings of the names of types whose values are no single ones."""


def with_further_columns(plan: Plan) -> Plan:
    """Return the plan with the columns that only checks read, such as the check for repeated rows.

    There are none for datasets from queries, or where the memory is limited. Rows read part by part have only
    columns to compare with other datasets by, and no more than are read anyway.
    """
    shared = _shared_columns(plan)
    if plan.streaming.streamed:
        read = min((len(dataset.columns) for dataset in plan.datasets if dataset.role == "evaluate"), default=1)
        datasets = tuple(replace(dataset, shared=shared[:read - 1]) for dataset in plan.datasets)
        return replace(plan, datasets=datasets)
    if plan.memory is not None:
        return plan
    return replace(plan, datasets=tuple(_with_further(dataset, shared) for dataset in plan.datasets))


def _with_further(dataset: DatasetPlan, shared: tuple[str, ...]) -> DatasetPlan:
    """Return a dataset's plan with the columns that only checks read: first the ``shared`` ones, then others.

    Other columns are added for evaluated rows in files. There are at most `MOST_COLUMNS`, and fewer for many rows.
    """
    named = {*dataset.columns, *dataset.table.where_columns}
    others = [column for column in _single_valued(dataset) if column not in {*shared, *named}]
    wanted = [column for column in shared if column not in dataset.columns]
    wanted += others if dataset.role == "evaluate" and dataset.table.format != "query" else []
    most = min(MOST_COLUMNS, MOST_CELLS // max(1, dataset.table.rows or MOST_CELLS))
    further = tuple(wanted[:most])
    compared = tuple(column for column in shared if column in {*dataset.columns, *further})
    return replace(dataset, further=further, shared=compared, unseen=len(wanted) - len(further))


def _shared_columns(plan: Plan) -> tuple[str, ...]:
    """Return the columns that all datasets have and that are no ids, numbers with a fraction first.

    None where nothing is compared by id, for then rows are compared by their contents anyway.
    """
    roles = {dataset.role for dataset in plan.datasets}
    if plan.id is None or plan.task in SCORES or "evaluate" not in roles or roles == {"evaluate"} or any(
            dataset.table.format == "query" for dataset in plan.datasets):
        return ()
    first, *others = plan.datasets
    common = [column for column in _single_valued(first) if column not in (plan.id, plan.cluster) and all(
        column in _single_valued(other) for other in others)]
    common.sort(key=lambda column: not first.table.columns[column].startswith("Float"))
    return tuple(common[:MOST_SHARED])


def _single_valued(dataset: DatasetPlan) -> list[str]:
    """Return the columns of a dataset's file that hold single values."""
    return [column for column, kind in dataset.table.columns.items()
            if not kind.startswith(NESTED) and column not in dataset.table.unreadable]
