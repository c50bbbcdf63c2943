"""Two-sided limits of a binomial proportion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.base.lazy_numpy import np
from evalpipe.intervals.declare import IN_CLOSED_FORM, interval
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats

    Limits = tuple[Floats, Floats]

FAILS = {**IN_CLOSED_FORM, "weights": sentence("weighted-binomial")}


@interval(
    "exact", title="Clopper-Pearson", asked=True, effective=True, fails=FAILS,
    for_={"proportion": sentence("proportion")},
    text="Exact limits of a binomial proportion, by inverting two one-sided tests. Coverage is never below the level.",
    ref="Clopper, C. J. & Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the case "
    "of the binomial. Biometrika 26(4), 404–413.")
def clopper_pearson(successes: Floats | float, trials: Floats | float, level: float) -> Limits:
    """Return the exact limits, shapes broadcast; NaN where there are no trials.

    Quantiles of beta distributions; the limit is 0 at no success and 1 at no failure. Clopper & Pearson (1934).
    """
    from scipy.special import betaincinv

    x, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(trials, float))
    tail = (1 - level) / 2
    failures = n - x
    # A beta distribution needs parameters above 0 also where its quantile is then not used.
    lower = np.where(x > 0, betaincinv(np.where(x > 0, x, 1.0), failures + 1, tail), 0.0)
    upper = np.where(failures > 0, betaincinv(x + 1, np.where(failures > 0, failures, 1.0), 1 - tail), 1.0)
    return np.where(n > 0, lower, np.nan), np.where(n > 0, upper, np.nan)


@interval(
    "wilson", title="Wilson score", short="Wilson", asked=True, effective=True, fails=FAILS,
    for_={"proportion": sentence("asked-of-proportion", title="Wilson")},
    text="Limits of a binomial proportion, by inverting the score test. Coverage is near the level on average.",
    ref="Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. Journal of "
    "the American Statistical Association 22(158), 209–212.")
def wilson(successes: Floats | float, trials: Floats | float, level: float) -> Limits:
    """Return the score limits, shapes broadcast; NaN where there are no trials. Wilson (1927)."""
    from scipy.special import ndtri

    x, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(trials, float))
    z = ndtri((1 + level) / 2)
    n = np.where(n > 0, n, np.nan)
    share, scale = x / n, 1 + z**2 / n
    centre = (share + z**2 / (2 * n)) / scale
    half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / scale
    # Of no success, and of no failure, the formula gives 0 and 1 but for rounding.
    return np.where(x > 0, centre - half, 0.0 * n), np.where(x < n, centre + half, n / n)


@interval(
    "jeffreys", title="Jeffreys", asked=True, effective=True, fails=FAILS,
    for_={"proportion": sentence("asked-of-proportion", title="Jeffreys")},
    text="Quantiles of a binomial proportion's posterior under Jeffreys' prior. Coverage is near the level on average.",
    ref="Brown, L. D., Cai, T. T. & DasGupta, A. (2001). Interval estimation for a binomial proportion. "
    "Statistical Science 16(2), 101–133.")
def jeffreys(successes: Floats | float, trials: Floats | float, level: float) -> Limits:
    """Return quantiles of the posterior under Jeffreys' prior, Beta(1/2, 1/2), shapes broadcast; NaN without trials.

    The lower limit is 0 at no success and the upper 1 at no failure. Brown, Cai & DasGupta (2001).
    """
    from scipy.special import betaincinv

    x, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(trials, float))
    tail, failures = (1 - level) / 2, n - x
    lower = np.where(x > 0, betaincinv(x + 0.5, np.maximum(failures, 0) + 0.5, tail), 0.0)
    upper = np.where(failures > 0, betaincinv(x + 0.5, np.maximum(failures, 0) + 0.5, 1 - tail), 1.0)
    return np.where(n > 0, lower, np.nan), np.where(n > 0, upper, np.nan)


@interval(
    "wald", title="Wald interval", short="Wald", asked=True, effective=True, fails=FAILS,
    for_={"proportion": sentence("asked-of-proportion", title="Wald")},
    text="The share and its normal error, cut off at 0 and 1.",
    caution="Wald limits have no width where the share is 0 or 1, and elsewhere cover less often than their level.",
    ref="Brown, L. D., Cai, T. T. & DasGupta, A. (2001). Interval estimation for a binomial proportion. "
    "Statistical Science 16(2), 101–133.")
def wald(successes: Floats | float, trials: Floats | float, level: float) -> Limits:
    """Return the share ± z √(p (1 − p) / n) within 0 and 1, shapes broadcast; NaN without trials.

    What texts draw; Brown, Cai & DasGupta (2001) show how seldom it covers.
    """
    from scipy.special import ndtri

    x, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(trials, float))
    n = np.where(n > 0, n, np.nan)
    share = x / n
    half = ndtri((1 + level) / 2) * np.sqrt(np.maximum(share * (1 - share), 0.0) / n)
    return np.maximum(share - half, 0.0), np.minimum(share + half, 1.0)
