"""Conduct the evaluation: every dataset, model and metric of a plan, from validated samples to a table of results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.engine.curves import model_curves
from evalpipe.engine.estimates import estimates as estimates_of
from evalpipe.engine.notes import notes
from evalpipe.engine.replicates import Replicates
from evalpipe.results import Confusion, Curve, Estimate, Threshold, Warned
from evalpipe.statistics import ClassRows, NumberRows, Rows, Summary
from evalpipe.statistics.rows import present
from evalpipe.tasks import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalpipe.data.sample import Predictions, Sample
    from evalpipe.plan import Plan


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The tables of step 4."""

    estimates: tuple[Estimate, ...]
    confusion: tuple[Confusion, ...]
    curves: tuple[Curve, ...]
    thresholds: tuple[Threshold, ...]
    warnings: tuple[Warned, ...]


def evaluate(
    plan: Plan, samples: Sequence[Sample], advance: Callable[[int], None] = lambda _: None
) -> Evaluation:
    """Evaluate every sample of role ``evaluate``; ``advance`` is told of each batch of replicates done."""
    estimates: list[Estimate] = []
    confusion: list[Confusion] = []
    curves: list[Curve] = []
    thresholds: list[Threshold] = []
    warnings: list[Warned] = [warning for sample in samples for warning in sample.warnings]
    for sample in (sample for sample in samples if sample.role == "evaluate"):
        summaries = {name: _summary(sample, model) for name, model in sample.models.items()}
        replicates = Replicates.draw(plan, sample, {name: summary.rows for name, summary in summaries.items()}, advance)
        for name, summary in summaries.items():
            model = sample.models[name]
            found = [
                row for entry in plan.metrics for row in estimates_of(plan, sample, name, summary, entry, replicates)
            ]
            estimates += found
            confusion += _confusion(sample, name, model, summary)
            curves += model_curves(plan, sample, name, summary, replicates)
            warnings += notes(plan, sample, name, summary, found)
            if model.threshold is not None:
                thresholds.append(Threshold(dataset=sample.dataset, model=name, value=model.threshold, rule="fixed"))
    return Evaluation(tuple(estimates), tuple(confusion), tuple(curves), tuple(thresholds), tuple(warnings))


def _summary(sample: Sample, model: Predictions) -> Summary:
    weights = sample.weight if sample.weight is not None else np.ones(sample.n)
    return Summary(_rows(sample, model), weights)


def _rows(sample: Sample, model: Predictions) -> Any:
    """Return the rows that the statistics of the task are taken over."""
    if sample.task == "binary":
        return Rows(sample.truth, model.predicted, model.probability, model.score)
    if sample.task in NUMBERS:
        return NumberRows(sample.truth, present(model.predicted, "predictions"), model.left_out, sample.baseline)
    return ClassRows(sample.truth, len(sample.levels), model.predicted, model.probability)


def _confusion(sample: Sample, name: str, model: Predictions, summary: Summary) -> list[Confusion]:
    if model.predicted is None or sample.task in NUMBERS:
        return []
    at_threshold = 0
    if model.score is not None and model.threshold is not None:
        at_threshold = int((model.score == model.threshold).sum())
    return [
        Confusion(
            dataset=sample.dataset, model=name, levels=list(sample.levels), counts=summary("confusion").tolist(),
            threshold=model.threshold, at_threshold=at_threshold, tied=model.tied,
        )
    ]
