"""Measures of calibration over bins of predicted probability, and tests that all probabilities are right.

In the tests weights count rows.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from evalpipe.metrics.declare import metric
from evalpipe.metrics.smooth import ROUNDING, equal_weight_bins, totals_in
from evalpipe.metrics.values import Gaps, ratio
from evalpipe.tasks import MANY
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:

    from evalpipe.base.arraytypes import Floats, Wholes
    from evalpipe.metrics.values import BinRanges
    from evalpipe.words.sentences import Sentence


UNIT = (0.0, 1.0)
Bins = Annotated[int, Field(ge=2, le=1000)]
Norm = Literal["l1", "l2", "max"]

calibration_error = partial(
    metric, needs="probabilities", direction="minimize", range=UNIT, interval="gaps", undefined="no rows"
)
"""Declare a distance of event rates and mean probabilities in bins."""


def _debiased_fault(options: Any) -> str | None:
    """Return what is wrong where a debiased error is requested under another norm than l2; else None."""
    if options.debiased and options.norm != "l2":
        return f"debiased is for norm l2, whose bias is known; the norm is {options.norm}"
    return None


@calibration_error(title="Expected calibration error", check=_debiased_fault,
                   even_bins=lambda options: options["bins"] if options["strategy"] == "quantile" else 0,
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


@calibration_error(title="Adaptive calibration error", even_bins=lambda options: options["bins"],
                   aliases=("adaptive_calibration_error",), swapped=None, ref="Nixon et al. (2019)")
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


@metric(needs="probabilities", sees="classes", tasks=MANY, direction="none", range=(-1.0, 1.0), linear=True,
        title="Accuracy less confidence", undefined="no rows", ref="Guo et al. (2017)")
def confidence_gap(total: Floats, top_label_excess: Floats) -> Floats:
    r"""Accuracy less mean confidence (the probability of the predicted class): above 0 the model is right more often
    than its probabilities say, below 0 less often, $acc-conf$."""
    return ratio(top_label_excess, total)


def _quantile_bins(
    events_at: Floats, others_at: Floats, probability_at: Floats, bins: int
) -> tuple[Floats, Floats, Floats]:
    """Return the events, the non-events and the events less their expected number in bins of equal weight, [..., b]."""
    inside = equal_weight_bins(events_at + others_at, bins)
    events, others, expected = (totals_in(inside, table, bins) for table in (events_at, others_at, probability_at))
    return events, others, events - expected


SURE = "all probabilities are 0, one half or 1"
FEW = "fewer than three groups, or a group of probabilities 0 with events or of 1 with non-events"
EXPECTED, LEAST_EXPECTED = 5, 1
"""The expected events a group, or non-events, on average, and those in each group, from which on chi-squared has its
distribution: of perfect predictions p is below 0.05 in 2.4 to 6.5 % of sets, with fewer in up to 27 % (*Few of
anything* in docs/methods.md)."""
Groups = Annotated[int, Field(ge=3, le=1000)]


hypothesis_test = partial(metric, needs="probabilities", direction="none", interval="test")
"""Declare a statistic or p-value of a test that all probabilities are right."""


@hypothesis_test(range=(-np.inf, np.inf), title="Spiegelhalter's Z", linear=True, undefined=SURE,
                 ref="Spiegelhalter (1986)")
def spiegelhalter_z(spiegelhalter_excess: Floats, spiegelhalter_variance: Floats) -> Floats:
    r"""Standard errors by which the Brier score exceeds its expectation if all probabilities are right. Far above 0,
    probabilities are too extreme; far below 0, too close to 0.5. Grows with the square root of the rows,
    $\frac{\sum_i(y_i-p_i)(1-2p_i)}{\sqrt{\sum_i(1-2p_i)^2p_i(1-p_i)}}$."""
    return ratio(spiegelhalter_excess, np.sqrt(spiegelhalter_variance))


@hypothesis_test(range=UNIT, title="Spiegelhalter's test (p)", undefined=SURE, ref="Spiegelhalter (1986)")
def spiegelhalter_p(spiegelhalter_excess: Floats, spiegelhalter_variance: Floats) -> Floats:
    r"""Two-sided p-value of Spiegelhalter's Z under the normal distribution, if all probabilities are right. A small
    p-value shows that they are not; with many rows, even a slight fault makes it small, $2\Phi(-|Z|)$."""
    from scipy.special import erfc

    # erfc(|Z| / sqrt 2) is 2 Phi(-|Z|), with all digits far out, where 1 - Phi has none.
    return np.asarray(erfc(np.abs(ratio(spiegelhalter_excess, np.sqrt(2 * spiegelhalter_variance)))))


def _chi2_range(ranges: BinRanges) -> tuple[float, float]:
    """Return bounds (least, largest) of the Hosmer-Lemeshow chi-squared where only ranges of group totals are known.

    The variance by a group's mean probability is no less than that by each row's, grows with the rows, and is largest
    where half of them are expected. Chi-squared is at most the rows times the odds of what is least probable; of a
    group without events, or without others, at most the gap over the least probability of what is there.
    """
    far, (low, high), (fewest, rows), (rare, sure) = ranges.far, ranges.expected, ranges.rows, ranges.probabilities
    least = np.minimum(*(end - ratio(end**2, fewest, empty=np.inf) for end in (low, high)))
    half = np.clip(rows / 2, low, high)
    most = half - ratio(half**2, rows, empty=0.0)
    odds = np.maximum(ratio(1 - rare, rare, empty=np.inf), ratio(sure, 1 - sure, empty=np.inf))
    limits = [ratio(far[1] ** 2, np.maximum(least, ranges.variance[0]), empty=np.inf), rows * odds,
              np.where(ranges.events[1] > 0, np.inf, ratio(far[1], 1 - sure, empty=np.inf)),
              np.where(ranges.others[1] > 0, np.inf, ratio(far[1], rare, empty=np.inf))]
    highest = np.where(far[1] > 0, np.min(limits, axis=0), 0.0)
    return float(ratio(far[0] ** 2, most, empty=0.0).sum()), float(highest.sum())


def _p_range(ranges: BinRanges) -> tuple[float, float]:
    """Return the bounds (least, largest) of the Hosmer-Lemeshow p-value where only ranges of group totals are known."""
    from scipy.special import chdtrc

    least, most = _chi2_range(ranges)
    fewest, largest = (_degrees_of_freedom((rows > 0).sum(), ranges.trained_on) for rows in ranges.rows)
    return float(chdtrc(np.maximum(fewest, 1), most)), float(chdtrc(largest, least))


def _degrees_of_freedom(used: Wholes, trained_on: Any) -> Floats:
    """Return the degrees of freedom of chi-squared over groups that have rows: two less on rows of the model's fit."""
    return np.asarray(used - np.where(trained_on, 2.0, 0.0))


def _freedom(
    events_at: Floats, others_at: Floats, probability_at: Floats, rows_trained_on: Floats, *, groups: int
) -> Floats:
    """Return the degrees of freedom of the Hosmer-Lemeshow chi-squared [...]; NaN where that is undefined."""
    return _chi2(events_at, others_at, probability_at, rows_trained_on, groups)[1]


def _few_expected(
    events_at: Floats, others_at: Floats, probability_at: Floats, _trained_on: Floats, *, groups: int
) -> Sentence | None:
    """Return why expected events, or non-events, are too few for the chi-squared distribution; None where enough."""
    _, rows, expected = _grouped(events_at, others_at, probability_at, groups)
    rows, expected = rows[rows > 0], expected[rows > 0]
    rarer, name = min((float(expected.sum()), "events"), (float((rows - expected).sum()), "non-events"))
    sparse = np.count_nonzero(np.minimum(expected, rows - expected) < LEAST_EXPECTED * (1 - ROUNDING))
    if rarer < EXPECTED * len(rows) * (1 - ROUNDING):
        # Rounded down, so that the number is below what is needed as well.
        rounded = np.floor(rarer * 10 * (1 + ROUNDING)) / 10
        return sentence(
            "few-expected", expected=float(rounded), level=name, groups=len(rows), least=EXPECTED)
    if sparse:
        return sentence("sparse-groups", least=LEAST_EXPECTED, sparse=int(sparse), groups=len(rows))
    return None


hosmer_and_lemeshow = partial(
    hypothesis_test, undefined=FEW, even_bins=lambda options: int(options["groups"]), freedom=_freedom,
    doubt=_few_expected, swapped=None, ref="Hosmer & Lemeshow (1980)")
"""Declare the statistic or the p-value of the test of Hosmer and Lemeshow."""


@hosmer_and_lemeshow(range=(0.0, np.inf), title="Hosmer-Lemeshow chi-squared", extensive=True, binned_range=_chi2_range)
def hosmer_lemeshow(
    events_at: Floats, others_at: Floats, probability_at: Floats, rows_trained_on: Floats, *, groups: Groups = 10
) -> Floats:
    r"""Squared difference between observed and expected events over its variance, summed over groups of equal weight
    by probability (fewer with ties). If all probabilities are right, about the number of groups; two less on all the
    rows that the model was fitted to. It depends on how the groups are cut,
    $\sum_g\frac{(O_g-E_g)^2}{E_g(1-E_g/n_g)}$."""
    return _chi2(events_at, others_at, probability_at, rows_trained_on, groups)[0]


@hosmer_and_lemeshow(range=UNIT, title="Hosmer-Lemeshow test (p)", binned_range=_p_range)
def hosmer_lemeshow_p(
    events_at: Floats, others_at: Floats, probability_at: Floats, rows_trained_on: Floats, *, groups: Groups = 10
) -> Floats:
    r"""p-value of the Hosmer-Lemeshow chi-squared. The degrees of freedom are the number of groups, minus two on all
    rows of a dataset that is `trained_on`. Small where probabilities are wrong; with many rows, even a slight fault
    makes it small, $P(\chi^2_G>\chi^2)$."""
    from scipy.special import chdtrc

    chi2, freedom = _chi2(events_at, others_at, probability_at, rows_trained_on, groups)
    return np.asarray(chdtrc(freedom, chi2))


def _chi2(
    events_at: Floats, others_at: Floats, probability_at: Floats, rows_trained_on: Floats, groups: int
) -> tuple[Floats, Floats]:
    """Return chi-squared [...] and its degrees of freedom [...]; both NaN where there are none or it is infinite.

    The fit of a model takes two off on the rows of the fit, which Hosmer & Lemeshow (1980) found by simulation. It
    takes none off on other rows: Hosmer, Lemeshow & Sturdivant (2013), Applied Logistic Regression, 5.2.2.
    """
    events, rows, expected = _grouped(events_at, others_at, probability_at, groups)
    used = (rows > 0).sum(axis=-1)
    gap = events - expected
    spread = ratio(expected * (rows - expected), rows, empty=0.0)
    # A group that is certain of events or of none, and wrong, would make the statistic infinite.
    impossible = ((spread <= 0) & (gap != 0)).any(axis=-1)
    freedom = np.where((used > 2) & ~impossible, _degrees_of_freedom(used, rows_trained_on > 0), np.nan)
    return np.where(np.isnan(freedom), np.nan, ratio(gap**2, spread, empty=0.0).sum(axis=-1)), freedom


def _grouped(events_at: Floats, others_at: Floats, probability_at: Floats, groups: int) -> tuple[Floats, ...]:
    """Return the events, the rows and the expected events of groups of equal weight, each [..., groups]."""
    weight = events_at + others_at
    group_of_score = equal_weight_bins(weight, groups)
    return tuple(totals_in(group_of_score, table, groups) for table in (events_at, weight, probability_at))
