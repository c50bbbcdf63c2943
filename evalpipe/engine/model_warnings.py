"""The warnings about one model's numbers on one dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.metrics import registry
from evalpipe.metrics.bins import quantile
from evalpipe.metrics.logistic import slope_error
from evalpipe.metrics.values import ratio
from evalpipe.plan.measures import LACKING
from evalpipe.results import Warned
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.data.sample import Sample
    from evalpipe.plan.plan import Plan
    from evalpipe.results import Estimate
    from evalpipe.statistics import Summary

RANKS_WELL = 0.7
"""The ROC AUC from which scores that are squeezed together are worth recalibrating."""

NARROW = 0.3
"""The width of the interval of 98 % of the probabilities below which they may be squeezed together."""

SQUEEZED = (2.0, 1.25)
"""The calibration slope, and its lower 95 % limit, above which they are: their log odds are half as far apart as they
should be, and not by chance."""

NORMAL = 1.959964
"""The 97.5 % quantile of the normal distribution."""

NOTHING = 1e-16
"""The probability below which 1 minus it is 1, and which cells therefore do not tell from 0."""


def model_warnings(
    plan: Plan, sample: Sample, model: str, summary: Summary, estimates: Sequence[Estimate]
) -> Iterator[Warned]:
    """Yield the warnings about one model on one dataset."""
    where = f"{sample.dataset}, {model}"
    lacking: dict[str, list[str]] = {}
    for entry in plan.metrics:
        need = entry.lacking(summary.rows.gives)
        if need is not None and not plan.left_to_variants(model, need):
            lacking.setdefault(need, []).append(entry.metric.name)
    if lacking:
        gaps = "; ".join(f"{LACKING[need]} for {', '.join(dict.fromkeys(names))}" for need, names in lacking.items())
        yield Warned(code="not-served", message=f"{where}: the model gives {gaps}")
    original = plan.models.get(model)
    if original is not None and original.scale == "margin":
        yield Warned(
            code="margin-as-probability",
            message=f"{where}: the logistic function turned distances from a boundary into probabilities; such "
                    "probabilities are rarely calibrated",
        )
    yield from _clipped_probabilities(plan, where, summary)
    yield from _untrustworthy(sample, where, [row for row in estimates if row.slice is None])
    if sample.task == "binary" and summary.rows.probability is not None:
        yield from _squeezed(where, summary, importance=plan.importance)
    for status, advice in (("degenerate", "do not trust their intervals"), ("undefined", "they have no value")):
        affected = [row for row in estimates if row.slice is not None and row.status == status]
        if affected:
            slices = len({tuple((row.slice or {}).items()) for row in affected})
            count = f"{len(affected):,} {'number' if len(affected) == 1 else 'numbers'}"
            yield Warned(
                code=f"{status}-slices",
                message=f"{where}: {count} in {slices:,} {'slice' if slices == 1 else 'slices'} "
                        f"{'is' if len(affected) == 1 else 'are'} {status}; {advice}; the tables of slices give the "
                        "reasons",
            )


def _clipped_probabilities(plan: Plan, where: str, summary: Summary) -> Iterator[Warned]:
    """Warn of probabilities that are clipped for a logarithm, once for each epsilon."""
    clipping: dict[float, list[str]] = {}
    for entry in (leaf for listed in plan.metrics for leaf in listed.leaves):
        clips = "epsilon" in entry.params and entry.metric.needs == "probabilities"
        if clips and "probabilities" in summary.rows.gives:
            clipping.setdefault(float(entry.params["epsilon"]), []).append(entry.metric.title)
    for epsilon, titles in sorted(clipping.items()):
        metrics, true, counts = ", ".join(dict.fromkeys(titles)), summary.rows.true_chance, summary.row_counts
        clipped = round(float(counts[(true < epsilon) | (true > 1 - epsilon)].sum()))
        # Of rows in cells it is not known whether a probability is 0 or next to it.
        infinite = round(float(counts[true < NOTHING if summary.celled else true == 0].sum()))
        limited = f"{clipped:,} {'probability was' if clipped == 1 else 'probabilities were'} limited to "
        outcomes = f"{infinite:,} {'outcome' if infinite == 1 else 'outcomes'}"
        if infinite and summary.celled:
            message = (f"{outcomes} given a probability of 0, or below {NOTHING:g}, did occur. {metrics} would be "
                       f"infinite at 0, so {limited}{epsilon:g}")
        elif infinite:
            message = f"{outcomes} given probability 0 did occur. {metrics} would be infinite, so {limited}{epsilon:g}"
        else:
            message = f"{limited}the range from {epsilon:g} to 1 - {epsilon:g} for {metrics}"
        if clipped:
            yield Warned(code="clipped", message=f"{where}: {message}")


def _untrustworthy(sample: Sample, where: str, estimates: Sequence[Estimate]) -> Iterator[Warned]:
    """Warn of a model that ranks worse than chance, and of estimates that are not to be trusted."""
    for row in estimates:
        plain = row.metric == "roc_auc" and row.class_ is None and "prevalence" not in row.params
        if plain and row.value is not None and row.value < 0.5 and sample.task == "binary":
            yield Warned(
                code="worse-than-chance",
                message=f"{where}: the ROC AUC is {numbers.number(row.value)}, below 0.5: check that "
                        f"'{sample.levels[0]}' is the right event and that higher values mean the event",
            )
        if row.status == "degenerate" and sample.summary.clusters != 1:  # which the data step warns of
            average = f" ({row.average})" if row.average is not None else ""
            part = average if row.class_ is None else f" of '{row.class_}'"
            subject = "it as a mean over all classes" if row.classes_used is not None else "its interval"
            yield Warned(
                code="degenerate", message=f"{where}: {row.metric}{part} is {row.reason}; do not trust {subject}")


def _squeezed(where: str, summary: Summary, *, importance: bool) -> Iterator[Warned]:
    """Warn of probabilities that rank well but lie in a narrow range, with a steep calibration slope.

    The slope's limits are Wald's, of Kish's effective observations under importance weights; clusters are overlooked.
    """
    events, others = summary("events_at"), summary("others_at")
    at, chance = events + others, summary.rows.chance_at
    auc = float(summary.value(registry["roc_auc"], {}))
    low, high = (float(quantile(at, chance, share)) for share in (0.01, 0.99))
    if not (auc >= RANKS_WELL and high - low < NARROW):
        return
    tables = (events, others, ratio(summary("log_odds_at"), at, empty=0.0))
    # A batch of one, as a fit is of many replicates.
    error = float(slope_error(*(table[None] for table in tables))[0])
    rows = at.sum() / (np.asarray(summary.weights, float) ** 2).sum() if importance else 1.0
    slope, reach = float(summary("calibration_line")[1]), NORMAL * error / float(np.sqrt(rows))
    if slope > SQUEEZED[0] and slope - reach > SQUEEZED[1]:
        yield Warned(
            code="squeezed-scores",
            message=f"{where}: the scores rank well (ROC AUC {auc:.2f}), but 98 % of them lie between {low:.2f} and "
                    f"{high:.2f} with a calibration slope of {slope:.2f} ({slope - reach:.2f} to "
                    f"{slope + reach:.2f}): they are too close together and need recalibration",
        )
