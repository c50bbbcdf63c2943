"""What a reader should know about a model's numbers, found while they are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.results import Warned

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.data.sample import Sample
    from evalpipe.plan import Plan
    from evalpipe.results import Estimate
    from evalpipe.statistics import Summary


def notes(
    plan: Plan, sample: Sample, model: str, summary: Summary, estimates: Sequence[Estimate]
) -> Iterator[Warned]:
    """Yield the warnings about one model on one dataset."""
    where = f"{sample.dataset}, {model}"
    if plan.spec.models[model].scale == "margin":
        yield Warned(
            code="margin-as-probability",
            message=f"{where}: distances from a boundary were turned into probabilities by the logistic function; such "
            "probabilities are rarely calibrated",
        )
    clipping: dict[float, list[str]] = {}
    for entry in plan.metrics:
        if "epsilon" in entry.params:
            clipping.setdefault(float(entry.params["epsilon"]), []).append(entry.metric.name)
    for epsilon, metrics in sorted(clipping.items()):
        yield from _clipped(where, summary, epsilon, ", ".join(dict.fromkeys(metrics)))
    for row in estimates:
        if row.metric == "roc_auc" and row.value is not None and row.value < 0.5:
            yield Warned(
                code="worse-than-chance",
                message=f"{where}: the ROC AUC is {row.value:.4g}, below one half; is '{sample.event}' the right "
                "event, and are higher values meant for it?",
            )
        if row.status == "degenerate":
            yield Warned(code="degenerate", message=f"{where}: {row.metric} is {row.reason}; do not trust its interval")


def _clipped(where: str, summary: Summary, epsilon: float, metrics: str) -> Iterator[Warned]:
    probability, truth = summary.rows.probability, summary.rows.truth
    if probability is None:
        return
    clipped = int(((probability < epsilon) | (probability > 1 - epsilon)).sum())
    infinite = int(np.where(truth, probability == 0, probability == 1).sum())
    if clipped:
        yield Warned(
            code="clipped",
            message=f"{where}: {clipped:,} {'probability was' if clipped == 1 else 'probabilities were'} clipped to "
            f"[{epsilon:g}, 1 - {epsilon:g}] for {metrics}; {infinite:,} of them gave the true class probability 0, "
            "where the unclipped logarithm is infinite",
        )
