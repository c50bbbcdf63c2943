"""Limits from several fits of one model: rows are a sample of the population, and fits a sample of what training makes.

The values t_r of R fits on the same rows are m + b_r + e_r: what a fit has of its own, and the error of the rows, which
the fits share in part. Replicates of the rows, drawn alike for all fits, tell the variance v of an error and the
covariance c of two; the spread of the values tells s_b^2 + v - c. It is the model of Obuchowski & Rockette (1995) for
several readers of the same cases.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.base.lazy_numpy import np
from evalpipe.intervals.bootstrap import ROUNDING, limits_on_scale, scale_slope
from evalpipe.intervals.declare import EVERY, interval
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats


FEW = 5
"""The fits from which on their spread is known well enough for limits to cover as often as they say."""


BEYOND = 2
"""The fewest bootstrap fits beyond each limit, so that their spread is known well enough."""


def deviation(values: Floats) -> float:
    """Return the standard deviation of values [k], with k - 1 below it; 0 where they differ by rounding alone."""
    spread = float(values.std(ddof=1))
    return spread if spread > ROUNDING * float(abs(values).max()) else 0.0


@dataclass(frozen=True)
class FitSpread:
    """The parts of the spread of several fits: their ``count``, the ``mean`` of their values, and variances.

    ``observed`` is the sample variance of the values, ``within`` the mean variance of a fit over samples of rows,
    ``shared`` the mean covariance of two fits over these, and ``units`` how many rows or clusters were resampled.
    """

    count: int
    mean: float
    observed: float
    within: float
    shared: float
    units: int

    @property
    def between(self) -> float:
        """The between-fit variance component: spread of fits beyond what the rows explain; never below zero.

        The estimate of the analysis of variance: Searle, Casella & McCulloch (1992), section 3.5.
        """
        left = self.observed - (self.within - self.shared)
        return left if left > ROUNDING * self.within else 0.0

    @property
    def of_rows(self) -> float:
        """The sampling variance, over samples of rows, of the mean of these fits."""
        return (self.within + (self.count - 1) * self.shared) / self.count

    def variance(self, *, new: bool) -> float:
        """Return the variance of the mean over rows and fits; of a ``new`` fit about it, that fit's own added."""
        return self.between * (1 / self.count + new) + self.of_rows

    def freedom(self, *, new: bool) -> float:
        """Return the degrees of freedom of the variance of the mean of fits, or of a ``new`` fit about it.

        They come from those of its two parts, fits - 1 and units - 1.
        Satterthwaite (1946). What is taken off the observed variance is noise of its part too, so the part counts as
        observed; its own degrees of freedom are the fewest, and those of both parts together the most.
        """
        of_fits, of_rows = self.count - 1, max(self.units - 1, 1)
        noise = (self.observed * (1 / self.count + new)) ** 2 / of_fits + self.of_rows**2 / of_rows
        freedom = self.variance(new=new) ** 2 / noise if noise else of_fits
        return min(max(freedom, min(of_fits, of_rows)), of_fits + of_rows)


def spread_of_fits(values: Floats, replicates: Floats, units: int) -> FitSpread:
    """Return the parts of the spread of fits from their values [R] and joint replicates [B, R], all of them defined."""
    count = len(values)
    # The covariances of each pair add up to the variance of the sum over fits.
    within_fit = float(np.var(replicates, axis=0, ddof=1).sum()) / count
    shared = (float(np.var(replicates.sum(axis=1), ddof=1)) / count - within_fit) / (count - 1)
    return FitSpread(count, float(np.mean(values)), float(np.var(values, ddof=1)), within_fit, shared, units)


@interval(
    "fits", title="fits and rows",
    text="For the mean of several fits of a model, and for a new fit of it: the mean plus and minus a quantile of "
         "Student’s distribution times the standard error. Its square adds the variance between fits and that over "
         "the rows; its degrees of freedom are Satterthwaite’s. Limits are symmetric on the logit scale of the range "
         "of the measure, on the log scale where the range has one end.",
    ref="Obuchowski, N. A. & Rockette, H. E. (1995). Hypothesis testing of diagnostic accuracy for multiple readers "
    "and multiple tests: an ANOVA approach with dependent observations. Communications in Statistics – Simulation and "
    "Computation 24(2), 285–308.")
def limits_of_fits(
    spread: FitSpread, bounds: tuple[float, float], level: float, *, new: bool
) -> tuple[float, float] | None:
    """Return the limits of the mean of fits, or of a ``new`` fit; None where the mean is at an end, or nothing varies.

    ``bounds`` are the ends of the measure's range. The error is carried to the scale by the delta method.
    """
    error = math.sqrt(spread.variance(new=new))
    # What is rounding goes by the size of the mean itself, not by that on the scale.
    if not error > ROUNDING * abs(spread.mean):
        return None
    return limits_on_scale(
        spread.mean, error * scale_slope(spread.mean, bounds), bounds, level, spread.freedom(new=new))


@interval(
    "bootstrap_fits", title="spread of bootstrap fits",
    text="For a measure that is corrected for optimism: the corrected value plus and minus a normal quantile times the "
         "standard deviation of the values that the bootstrap fits reach in their own samples. Limits are symmetric on "
         "the logit scale of the range of the measure, on the log scale where the range has one end. There are none "
         "where fits vary less than half as much on that scale in their own samples as on the original rows, as in "
         "their calibration slope.",
    detail="Quantiles of the values in their own samples minus the optimism, the location-shifted interval of Noma et "
           "al. (2021), lie too far on the good side, as a fit is more optimistic in a bootstrap sample than the model "
           "is in its rows; [methods.md](methods.md#optimism) shows how often both cover. Their two-stage bootstrap "
           "needs fits to bootstrap samples of every bootstrap sample.",
    ref="Noma, H., Shinozaki, T., Iba, K., Teramukai, S. & Furukawa, T. A. (2021). Confidence intervals of prediction "
    "accuracy measures for multivariable prediction models based on the bootstrap-based optimism correction methods. "
    "Statistics in Medicine 40(26), 5691–5701.")
def corrected_limits_of_fits(
    values: Floats, corrected: float, bounds: tuple[float, float], level: float
) -> tuple[float, float] | None:
    """Return the limits of a ``corrected`` measure from the values [B, 2] of fits in their samples and on the rows.

    The standard deviation is carried to the scale of the measure at the mean of the values. None where the corrected
    value or that mean is at an end of the range, or where the values on the original rows vary twice as much: a slope
    is 1 in every fit's own sample, so these do not tell how uncertain it is.
    """
    means, spreads = values.mean(axis=0), values.std(axis=0, ddof=1)
    error_in_samples, error_on_rows = (
        float(spread) * scale_slope(float(mean), bounds) for mean, spread in zip(means, spreads, strict=True))
    if not (spreads[0] > ROUNDING * abs(means[0]) and 2 * error_in_samples > error_on_rows):
        return None
    return limits_on_scale(corrected, error_in_samples, bounds, level)


@interval(
    "none", title="no interval", short="none", text="The value is given without limits.", ref=None, asked=True,
    for_={
        EVERY: sentence("asked-none"),
        "test": sentence("test"),
        "extreme": sentence("extreme"),
    })
def no_limits() -> None:
    """Return no limits."""
