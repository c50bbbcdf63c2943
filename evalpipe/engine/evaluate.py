"""Conduct the evaluation: every dataset, model and metric of a plan, from validated samples to a table of results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evalpipe.chapters import functions
from evalpipe.chapters.candidates.compute import candidate_warnings, ranked
from evalpipe.chapters.recalibrate.compute import with_variants
from evalpipe.chapters.repeats.compute_thresholds import with_refits
from evalpipe.chapters.thresholds.compute import with_thresholds
from evalpipe.engine.confusion import confusion
from evalpipe.engine.curves import model_curves
from evalpipe.engine.dataset_differences import dataset_differences
from evalpipe.engine.evaluated import evaluated
from evalpipe.engine.notes import notes
from evalpipe.engine.parts import not_gridded
from evalpipe.results import Confusion, Curve, Draw, Estimate, InputFile, Warned

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalpipe.chapters.candidates.compute_rows import CandidateRows
    from evalpipe.data.sample import Sample
    from evalpipe.engine.evaluated import Evaluated
    from evalpipe.plan.plan import Plan


@dataclass(slots=True)
class Evaluation:
    """The tables of step 4, those of chapters in ``tables`` by their names in `Results`.

    ``files`` are those that hold candidates; ``samples`` the evaluated datasets, with variants and classes. ``draws``
    say what replicates drew.
    """

    estimates: list[Estimate] = field(default_factory=list)
    confusion: list[Confusion] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    tables: dict[str, Any] = field(default_factory=dict)
    draws: list[Draw] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)
    files: tuple[InputFile, ...] = ()
    samples: tuple[Sample, ...] = ()


def evaluate(
    plan: Plan, samples: Sequence[Sample], advance: Callable[[int], None] = lambda _: None,
    candidates: CandidateRows | None = None,
) -> Evaluation:
    """Evaluate every sample of role ``evaluate``, and rank the candidates.

    ``advance`` is told of each block of replicates done.
    """
    evaluation = Evaluation(warnings=[warning for sample in samples for warning in sample.warnings])
    datasets: list[Evaluated] = []
    # Before thresholds are chosen, for a variant has its own.
    variants = with_variants(plan, samples)
    classified, thresholds = with_thresholds(plan, variants)
    evaluation.tables |= {"recalibration": variants.records, "thresholds": thresholds}
    for sample in (sample for sample in with_refits(plan, classified) if sample.role == "evaluate"):
        datasets.append(dataset := evaluated(plan, sample, advance))
        evaluation.draws += dataset.replicates.draws
        evaluation.warnings += not_gridded(plan, dataset.replicates.draws)
        for name in sample.models:
            _add_model(evaluation, dataset, name)
    evaluation.samples = tuple(dataset.sample for dataset in datasets)
    evaluation.tables["dataset_differences"] = list(dataset_differences(samples))
    evaluation.tables["diagnostics"] = [row for dataset in datasets for row in dataset.diagnosed()]
    for tables in functions("compute", "tables"):
        evaluation.tables |= tables(plan, datasets)
    for warnings in functions("compute", "warnings"):
        evaluation.warnings += warnings(plan, datasets)
    if candidates is not None:
        _add_candidates(evaluation, plan, candidates)
    return evaluation


def _add_candidates(evaluation: Evaluation, plan: Plan, candidates: CandidateRows) -> None:
    """Add the ranking of the candidates."""
    evaluation.tables["candidates"] = ranked(plan, candidates)
    evaluation.warnings += candidate_warnings(evaluation.tables["candidates"])
    evaluation.files = candidates.files


def _add_model(evaluation: Evaluation, dataset: Evaluated, name: str) -> None:
    """Add the tables of one model on one dataset."""
    plan, sample = dataset.plan, dataset.sample.of(name)
    rows = [row for estimates in dataset.estimates_of(name).values() for row in estimates]
    evaluation.estimates += rows
    evaluation.confusion += [table for scope in dataset.scopes(name) for table in confusion(scope)]
    evaluation.curves += model_curves(plan, sample, name, dataset.summaries[name, 0], dataset.replicates)
    evaluation.warnings += notes(plan, sample, name, dataset.summaries[name, 0], rows)
    dataset.forget(name)
