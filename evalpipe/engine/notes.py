"""What a reader should know about a model's numbers, found while they are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    original = plan.spec.models.get(model)
    if original is not None and original.scale == "margin":
        yield Warned(
            code="margin-as-probability",
            message=f"{where}: distances from a boundary were turned into probabilities by the logistic function; such "
            "probabilities are rarely calibrated",
        )
    clipping: dict[float, list[str]] = {}
    for entry in plan.metrics:
        if "epsilon" in entry.params and entry.metric.needs == "probabilities":
            clipping.setdefault(float(entry.params["epsilon"]), []).append(entry.metric.name)
    for epsilon, metrics in sorted(clipping.items()):
        yield from _clipped(where, summary, epsilon, ", ".join(dict.fromkeys(metrics)))
    binary = sample.task == "binary"
    for row in (row for row in estimates if row.slice is None):
        if row.metric == "roc_auc" and row.class_ is None and row.value is not None and row.value < 0.5 and binary:
            yield Warned(
                code="worse-than-chance",
                message=f"{where}: the ROC AUC is {row.value:.4g}, below one half; is '{sample.levels[0]}' the right "
                "event, and are higher values meant for it?",
            )
        if row.status == "degenerate" and sample.summary.clusters != 1:  # which the data step warns of
            what = f"{row.metric}{_part(row)} is {row.reason}; do not trust "
            whole = "it as a mean over all classes" if row.classes_used is not None else "its interval"
            yield Warned(code="degenerate", message=f"{where}: {what}{whole}")
    yield from _slices(where, estimates)


def _slices(where: str, estimates: Sequence[Estimate]) -> Iterator[Warned]:
    """Say once of all slices how many numbers are not to be trusted, or do not exist."""
    for status, said in (("degenerate", "do not trust their intervals"), ("undefined", "they have no value")):
        held = [row for row in estimates if row.slice is not None and row.status == status]
        if held:
            slices = len({tuple((row.slice or {}).items()) for row in held})
            numbers = f"{len(held):,} {'number' if len(held) == 1 else 'numbers'}"
            yield Warned(
                code=f"{status}-slices",
                message=f"{where}: {numbers} in {slices:,} {'slice' if slices == 1 else 'slices'} "
                f"{'is' if len(held) == 1 else 'are'} {status}; "
                f"{said}, and the tables of slices give the reason of each",
            )


def _clipped(where: str, summary: Summary, epsilon: float, metrics: str) -> Iterator[Warned]:
    true = summary.rows.true_chance
    clipped, infinite = int(((true < epsilon) | (true > 1 - epsilon)).sum()), int((true == 0).sum())
    if clipped:
        yield Warned(
            code="clipped",
            message=f"{where}: {clipped:,} {'probability was' if clipped == 1 else 'probabilities were'} clipped to "
            f"[{epsilon:g}, 1 - {epsilon:g}] for {metrics}; {infinite:,} of them gave the true class probability 0, "
            "where the unclipped logarithm is infinite",
        )


def _part(row: Estimate) -> str:
    """Say which average or class of a measure is meant."""
    if row.class_ is not None:
        return f" of '{row.class_}'"
    return f" ({row.average})" if row.average is not None else ""
