"""Measures of calibration over bins of predicted probability.

Bins of equal width are closed below, the last closed above too; bins of equal weight are made anew in every replicate
and never split equal probabilities. The probability of a bin is the mean of its rows'.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from evalpipe.metrics.bins import equal_weight, totals_in
from evalpipe.metrics.declare import metric
from evalpipe.metrics.values import Gaps, ratio
from evalpipe.tasks import MANY

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats

UNIT = (0.0, 1.0)
Bins = Annotated[int, Field(ge=2, le=1000)]
Norm = Literal["l1", "l2", "max"]

calibration_error = partial(
    metric, needs="probabilities", direction="minimize", range=UNIT, interval="gaps", undefined="no rows"
)
"""Declare a distance of event rates and mean probabilities in bins."""


def _agree(options: Any) -> str | None:
    if options.debiased and options.norm != "l2":
        return f"debiased is for norm l2, whose bias is known; the norm is {options.norm}"
    return None


@calibration_error(title="Expected calibration error", check=_agree,
                   cut=lambda options: options["bins"] if options["strategy"] == "quantile" else 0,
                   aliases=("expected_calibration_error",),
                   ref="Naeini, Cooper & Hauskrecht (2015)")
def ece(
    binned_events: Floats, binned_others: Floats, binned_gap: Floats,
    events_at: Floats, others_at: Floats, probability_at: Floats, *,
    bins: Bins = 15, strategy: Literal["uniform", "quantile"] = "uniform", norm: Norm = "l1", debiased: bool = False,
) -> Gaps:
    r"""Mean distance between event rate and mean probability in bins of equal width, each weighted by its rows;
    strategy quantile: in bins of equal weight. Norm l2: root of the mean square; max: the largest. Debiased: without
    what chance alone adds to the squares (Broecker 2012; Kumar, Liang & Ma 2019), and bins of fewer than two rows
    count as calibrated; weights then count rows. Otherwise chance alone makes it larger than 0, so it is no test of
    calibration, $\sum_b\frac{n_b}{n}|r_b-\bar p_b|$."""
    table = binned_events, binned_others, binned_gap
    if strategy == "quantile":
        table = _quantile_bins(events_at, others_at, probability_at, bins)
    return Gaps(*table, "debiased" if debiased else norm)


@calibration_error(title="Maximum calibration error", aliases=("maximum_calibration_error",),
                   ref="Naeini, Cooper & Hauskrecht (2015)")
def mce(binned_events: Floats, binned_others: Floats, binned_gap: Floats, *, bins: Bins = 15) -> Gaps:  # noqa: ARG001
    r"""Largest distance between event rate and mean probability among bins of equal width, however few rows a bin
    has; chance alone makes it grow with the number of bins, $\max_b|r_b-\bar p_b|$."""
    return Gaps(binned_events, binned_others, binned_gap, "max")


@calibration_error(title="Adaptive calibration error", cut=lambda options: options["bins"],
                   aliases=("adaptive_calibration_error",), ref="Nixon et al. (2019)")
def ace(events_at: Floats, others_at: Floats, probability_at: Floats, *, bins: Bins = 15) -> Gaps:
    r"""Mean distance between event rate and mean probability in bins of equal weight, each weighted by its rows,
    since equal probabilities share a bin. Over several classes it is their macro average,
    $\sum_b\frac{n_b}{n}|r_b-\bar p_b|$."""
    return Gaps(*_quantile_bins(events_at, others_at, probability_at, bins), "l1")


@calibration_error(title="Root mean squared calibration error", ref="Hendrycks, Mazeika & Dietterich (2019)")
def rmsce(binned_events: Floats, binned_others: Floats, binned_gap: Floats, *, bins: Bins = 15) -> Gaps:  # noqa: ARG001
    r"""Root of the mean squared distance between event rate and mean probability in bins of equal width, each
    weighted by its rows, $\sqrt{\sum_b\frac{n_b}{n}(r_b-\bar p_b)^2}$."""
    return Gaps(binned_events, binned_others, binned_gap, "l2")


@metric(needs="probabilities", sees="classes", tasks=MANY, direction="minimize", range=UNIT,
        title="Top-label calibration error", interval="distance", aliases=("confidence_ece",), undefined="no rows",
        ref="Guo et al. (2017)")
def top_label_ece(total: Floats, top_label_gap: Floats, *, bins: Bins = 15) -> Floats:  # noqa: ARG001
    r"""Mean distance between accuracy and mean confidence (the probability of the predicted class) in bins of equal
    width, each weighted by its rows. Says nothing about the probabilities of the other classes,
    $\sum_b\frac{n_b}{n}|acc_b-conf_b|$."""
    return ratio(np.abs(top_label_gap).sum(-1), total)


def _quantile_bins(
    events_at: Floats, others_at: Floats, probability_at: Floats, bins: int
) -> tuple[Floats, Floats, Floats]:
    """Return the events, the non-events and the events less their expected number in bins of equal weight, [..., b]."""
    place = equal_weight(events_at + others_at, bins)
    events, others, expected = (totals_in(place, at, bins) for at in (events_at, others_at, probability_at))
    return events, others, events - expected
