"""The warnings about one model's numbers on one dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.metrics import registry
from evalpipe.metrics.bins import quantile
from evalpipe.metrics.logistic import slope_error
from evalpipe.metrics.values import ratio
from evalpipe.results import Warned

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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

MOST_REASONS = 3
"""The most reasons that a warning about slices lists; beyond that the tables give them."""

NOTHING = 1e-16
"""The probability below which 1 minus it is 1, and which cells therefore do not tell from 0."""


def model_warnings(
    plan: Plan, sample: Sample, model: str, summary: Summary, estimates: Sequence[Estimate]
) -> Iterator[Warned]:
    """Yield the warnings about one model on one dataset."""
    where = {"dataset": sample.dataset, "model": model}
    lacking: dict[str, list[str]] = {}
    for entry in plan.metrics:
        need = entry.lacking(summary.rows.gives)
        if need is not None and not plan.left_to_variants(model, need):
            lacking.setdefault(need, []).append(entry.metric.name)
    if lacking:
        needs = {need: list(dict.fromkeys(names)) for need, names in lacking.items()}
        yield Warned.of("not-served", case="model", **where, needs=needs)
    original = plan.models.get(model)
    if original is not None and original.scale == "margin":
        yield Warned.of("margin-as-probability", **where)
    yield from _clipped_probabilities(plan, where, summary)
    yield from _untrustworthy(sample, where, [row for row in estimates if row.slice is None])
    if sample.task == "binary" and summary.rows.probability is not None:
        yield from _squeezed(where, summary, importance=plan.importance)
    for status in ("degenerate", "undefined"):
        affected = [row for row in estimates if row.slice is not None and row.status == status]
        if affected:
            slices = len({tuple((row.slice or {}).items()) for row in affected})
            reasons = list(dict.fromkeys(row.reason for row in affected if row.reason))
            case = {"case": "because", "because": reasons} if 0 < len(reasons) <= MOST_REASONS else {}
            yield Warned.of(f"{status}-slices", **case, **where, estimates=len(affected), slices=slices)


def _clipped_probabilities(plan: Plan, where: Mapping[str, str], summary: Summary) -> Iterator[Warned]:
    """Warn of probabilities that are clipped for a logarithm, once for each epsilon."""
    clipping: dict[float, list[str]] = {}
    for entry in (leaf for listed in plan.metrics for leaf in listed.leaves):
        clips = "epsilon" in entry.params and entry.metric.needs == "probabilities"
        if clips and "probabilities" in summary.rows.gives:
            clipping.setdefault(float(entry.params["epsilon"]), []).append(entry.metric.title)
    for epsilon, titles in sorted(clipping.items()):
        true, counts = summary.rows.true_probability, summary.row_counts
        clipped = round(float(counts[(true < epsilon) | (true > 1 - epsilon)].sum()))
        # Of rows in cells it is not known whether a probability is 0 or next to it.
        infinite = round(float(counts[true < NOTHING if summary.celled else true == 0].sum()))
        if not clipped:
            continue
        certain = "certain" if summary.rows.levels == 2 else "infinite"
        case = {} if not infinite else {"case": "infinite-cells" if summary.celled else certain}
        yield Warned.of("clipped", **case, **where, rows=clipped, outcomes=infinite, epsilon=epsilon, nothing=NOTHING,
                        measures=list(dict.fromkeys(titles)))


def _untrustworthy(sample: Sample, where: Mapping[str, str], estimates: Sequence[Estimate]) -> Iterator[Warned]:
    """Warn of a model that ranks worse than chance, and of estimates that are not to be trusted."""
    for row in estimates:
        is_plain_auc = row.metric == "roc_auc" and row.class_ is None and "prevalence" not in row.params
        if is_plain_auc and row.value is not None and row.value < 0.5 and sample.task == "binary":
            yield Warned.of("worse-than-chance", **where, auc=row.value, event=sample.levels[0])
        if row.status == "degenerate" and sample.summary.clusters != 1:  # which the data step warns of
            case = "interval" if row.classes_used is None else "mean"  # over classes of which some have no value
            average = row.average if row.class_ is None else None
            yield Warned.of("degenerate", case=case, **where, metric=row.metric, average=average, class_=row.class_,
                            because=row.reason)


def _squeezed(where: Mapping[str, str], summary: Summary, *, importance: bool) -> Iterator[Warned]:
    """Warn of probabilities that rank well but lie in a narrow range, with a steep calibration slope.

    The slope's limits are Wald's, of Kish's effective observations under importance weights; clusters are overlooked.
    """
    events, others = summary("events_at"), summary("others_at")
    weight_at, probability = events + others, summary.rows.probability_of_score
    auc = float(summary.value(registry["roc_auc"], {}))
    low, high = (float(quantile(weight_at, probability, share)) for share in (0.01, 0.99))
    if not (auc >= RANKS_WELL and high - low < NARROW):
        return
    tables = (events, others, ratio(summary("log_odds_at"), weight_at, empty=0.0))
    # A batch of one, as a fit is of many replicates.
    error = float(slope_error(*(table[None] for table in tables))[0])
    rows_per_weight = weight_at.sum() / (np.asarray(summary.weights, float) ** 2).sum() if importance else 1.0
    slope, margin = float(summary("calibration_line")[1]), NORMAL * error / float(np.sqrt(rows_per_weight))
    if slope > SQUEEZED[0] and slope - margin > SQUEEZED[1]:
        yield Warned.of("squeezed-scores", **where, auc=auc, low=low, high=high, slope=slope, lower=slope - margin,
                        upper=slope + margin)
