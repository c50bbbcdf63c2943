"""Step 2: what will be computed, from the spec and the columns of the data alone. Pure; nothing is read here."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evalpipe.base.uris import DatabaseUri
from evalpipe.chapters.appearance.plan import appearance_plan
from evalpipe.chapters.calibration.plan import calibration_plan
from evalpipe.chapters.compare.plan import compare_plan
from evalpipe.chapters.costs.plan import costs_plan, profit_plan
from evalpipe.chapters.curves.plan import groups_plan, marks_plan, relations_plan, residuals_plan
from evalpipe.chapters.desirability.plan import goals_plan
from evalpipe.chapters.deviance.plan import deviance_plan
from evalpipe.chapters.gates.plan import gates_plan, sequence_plan
from evalpipe.chapters.prevalence.plan import prevalence_plan
from evalpipe.chapters.recalibrate.plan import recalibration_plan
from evalpipe.chapters.reference_rates.plan import rates_plan
from evalpipe.chapters.row_file.plan import row_file_plan
from evalpipe.chapters.slices.plan import behind, slices_plan
from evalpipe.chapters.standards.plan import standards_plan
from evalpipe.chapters.statement.plan import statement_plan
from evalpipe.chapters.steps.plan import steps_plan
from evalpipe.chapters.trend.plan import trend_plan
from evalpipe.errors import DataError
from evalpipe.plan.all_at_once import streaming_plan
from evalpipe.plan.candidates import candidates_plan, lacking_of_candidates
from evalpipe.plan.datasets import DatasetPlan, dataset_plan, lacking_columns, loose_plan
from evalpipe.plan.diagnosed import diagnosed
from evalpipe.plan.measures import asked
from evalpipe.plan.memory import bytes_of
from evalpipe.plan.methods import proportions
from evalpipe.plan.models import models_plan
from evalpipe.plan.outcome import ExposurePlan, WeightPlan, outcome_plan
from evalpipe.plan.plan import Plan
from evalpipe.spec.parts import PERMUTATIONS

if TYPE_CHECKING:
    from evalpipe.chapters.candidates.plan import CandidatesPlan
    from evalpipe.data.table import Catalog
    from evalpipe.spec.models import Spec


def plan(spec: Spec, catalog: Catalog) -> Plan:
    """Plan the evaluation; raises DataError with every problem of the catalog and every column that the data lack."""
    problems = [*catalog.problems, *lacking_columns(spec, catalog), *lacking_of_candidates(spec, catalog)]
    if problems:
        raise DataError(*problems)
    datasets = tuple(dataset_plan(spec, catalog, name) for name in spec.datasets)
    planned = _resolved(spec, datasets, candidates_plan(spec, catalog))
    return replace(planned, streaming=streaming_plan(planned))


def plan_predictions(spec: Spec, catalog: Catalog) -> Plan:
    """Plan to read the predictions of the only model in the only dataset, which needs no outcome.

    Raises DataError with every problem of the catalog and every column that the data lack.
    """
    if catalog.problems:
        raise DataError(*catalog.problems)
    dataset, problems = loose_plan(spec, catalog)
    if problems:
        raise DataError(*problems)
    return _resolved(spec, (dataset,))


def _resolved(spec: Spec, datasets: tuple[DatasetPlan, ...], candidates: CandidatesPlan | None = None) -> Plan:
    """Resolve all that the spec asks for, chapter by chapter."""
    from evalpipe.spec.schema import spec_sha256

    intervals, weight, exposure, memory = spec.intervals, spec.weight, spec.exposure, spec.engine.memory
    metrics, models, limited = asked(spec), models_plan(spec), intervals.method != "none"
    return Plan(
        name=spec.name, title=spec.title or spec.name, as_of=spec.as_of, spec_sha256=spec_sha256(spec),
        task=spec.task, seed=spec.seed,
        level=intervals.level, interval_method=intervals.method, replicates=intervals.replicates,
        stratify=intervals.stratify, resampling=intervals.resampling, mode=spec.engine.mode,
        workers=spec.engine.workers, memory=None if memory is None else bytes_of(memory), dask=_dask(spec),
        ledger=ledger_named(spec),
        formats=spec.report.formats, permutations=_permutations(spec), appearance=appearance_plan(spec),
        what_if=spec.report.what_if is not False and spec.task == "binary", standards=standards_plan(spec),
        statement=statement_plan(spec, metrics, models), cluster=spec.cluster, row_file=row_file_plan(spec),
        weight=None if weight is None else WeightPlan(weight.column, weight.kind),
        exposure=None if exposure is None else ExposurePlan(exposure.column, exposure.unit),
        id=spec.id, complete_case=spec.complete_case == "all", places=spec.origin, warnings=spec.warnings,
        datasets=datasets, models=models, metrics=metrics, behind=behind(spec, metrics),
        diagnosed=diagnosed(spec, metrics, models),
        bins=proportions(spec)[0], banded=spec.task == "binary" and intervals.bands and limited,
        profit_drawn=spec.profit is not None and limited, marks=marks_plan(spec), gain_groups=groups_plan(spec),
        slices=slices_plan(spec, metrics), steps=steps_plan(spec), outcome=outcome_plan(spec),
        residuals=residuals_plan(spec), relations=relations_plan(spec), calibration=calibration_plan(spec),
        recalibrate=recalibration_plan(spec), prevalence=prevalence_plan(spec), compare=compare_plan(spec),
        reference_rates=rates_plan(spec), costs=costs_plan(spec), profit=profit_plan(spec), goals=goals_plan(spec),
        candidates=candidates, deviance=deviance_plan(spec, metrics), gates=gates_plan(spec),
        trend=trend_plan(spec, metrics), sequence=sequence_plan(spec),
    )


def ledger_named(spec: Spec) -> DatabaseUri | bool:
    """Return the file or the URI of the ledger; True for that beside the output folder, False for none."""
    uri = spec.ledger_uri
    if uri is None:
        return bool(spec.ledger)
    return DatabaseUri(str(spec.origin.folder_of("ledger") / uri.text)) if uri.is_path else uri


def _permutations(spec: Spec) -> int:
    """Return the random pairings behind values without information; 0 where none are asked for."""
    if isinstance(spec.no_information, bool):
        return PERMUTATIONS if spec.no_information else 0
    return spec.no_information.permutations


def _dask(spec: Spec) -> str | None:
    """Return where the scheduler of the Dask cluster listens; None where threads read."""
    return spec.engine.address or "local" if spec.engine.backend == "dask" else None
