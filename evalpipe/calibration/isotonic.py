"""Recalibration by steps: isotonic regression, its bagged form, and histogram binning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from evalpipe.base.lazy_numpy import np
from evalpipe.calibration.declare import Parameters, RecalibrationMethod, Training, recalibrator
from evalpipe.calibration.scales import OfOrder, events_of, numbers_of, runs, totals_of_events

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Flags, Floats, Wholes

Between = Annotated[Literal["step", "linear"], Field(description="How values between two predictions are set.")]
Bags = Annotated[int, Field(ge=10, le=100_000, description="Bootstrap resamples of the rows.")]
Bins = Annotated[int, Field(ge=2, le=1000, description="The number of bins; ties and empty bins may leave fewer.")]
Cut = Annotated[Literal["quantile", "uniform"], Field(description="Bins of equal weight or of equal width.")]


@recalibrator(
    title="Isotonic regression",
    text="The non-decreasing function that fits best by least squares: steps, or lines that join them. Predictions "
         "on one step become equal.",
    tasks=("binary", "regression", "count"), ref="Ayer et al. (1955); Zadrozny & Elkan (2002)",
    parameters={"interpolate": ("step", "linear"), "at": "m", "value": "m"})
class Isotonic(OfOrder):
    """The non-decreasing function that fits best by weighted least squares: the pool of adjacent violators (PAVA).

    Equal predictions are pooled first. With ``step`` a new prediction takes the level of the nearest fitted prediction
    at or above it; between two blocks it belongs to the upper one, as in R's isoreg. With ``linear`` it lies on the
    line between the two blocks, as in scikit-learn. Beyond the fitted predictions the end levels apply.
    """

    @staticmethod
    def fit(training: Training, *, interpolate: Between = "step") -> Parameters:
        """Return the steps: ``at``, the last prediction of each block of equal fitted value, and its ``value``.

        With ``linear`` interpolation also the first prediction of each block.
        """
        if np.asarray(training.truth).dtype.kind == "b":
            events = events_of(training, training.ordering())
            at, sums, total = events.at, events.events, events.total
        else:
            at, sums, total = numbers_of(training)
        starts, level = pava(sums, total)
        ends = np.r_[starts[1:], len(at)] - 1
        if interpolate != "linear":
            return {"interpolate": interpolate, "at": at[ends], "value": level}
        block_ends = np.column_stack([starts, ends]).ravel()
        kept = np.r_[True, block_ends[1:] != block_ends[:-1]]  # a block of one prediction is one point
        return {"interpolate": interpolate, "at": at[block_ends[kept]], "value": np.repeat(level, 2)[kept]}

    @staticmethod
    def apply(parameters: Parameters, prediction: Floats) -> Floats:
        """Return the level of each prediction [n] on the steps, or on the lines between their ends."""
        if parameters["interpolate"] == "step":
            return _level_at_or_above(parameters, prediction)
        return interpolated(prediction, np.asarray(parameters["at"]), np.asarray(parameters["value"]))


@recalibrator(
    title="Bagged isotonic regression",
    text="The mean of isotonic regressions on bootstrap resamples of the rows, which has more and smaller steps.",
    tasks=("binary",), ref="Zadrozny & Elkan (2002); Breiman (1996)", parameters={"at": "m", "value": "m"})
class IsotonicBagged(OfOrder):
    """The mean of the isotonic step functions of bootstrap resamples of the rows, which is one step function again.

    As with `Isotonic`, a value between two predictions of a resample belongs to the upper one.
    """

    @staticmethod
    def fit(training: Training, *, bags: Bags = 1000) -> Parameters:
        """Return the steps of the mean of isotonic fits to bootstrap resamples: ``at`` and ``value``.

        A resample whose rows all weigh nothing is left out.
        """
        tied = runs(training.ordering(), training.truth, training.weight)
        totals_of_events(training, tied)  # raises Unfit where all rows are of one class
        event = np.asarray(training.truth, bool)
        rise, used = np.zeros(len(tied.at)), 0
        for batch in training.resampled(bags):
            weight = np.asarray(batch, float)
            events, others = tied.totals(np.where(event, weight, 0.0)), tied.totals(np.where(event, 0.0, weight))
            for hits, total in zip(events, events + others, strict=True):
                drawn = np.flatnonzero(total > 0)
                if len(drawn):
                    starts, level = pava(hits[drawn], total[drawn], bags)
                    # A level begins right after the last prediction of the block below it; the first holds below all.
                    rise[np.r_[0, drawn[starts[1:] - 1] + 1]] += np.diff(level, prepend=0.0)
                    used += 1
        # A sum of rises may exceed 1 by rounding.
        mean = np.minimum(np.cumsum(rise) / used, 1.0)
        last = np.flatnonzero(np.r_[mean[1:] != mean[:-1], True])
        return {"at": tied.at[last], "value": mean[last]}

    @staticmethod
    def apply(parameters: Parameters, prediction: Floats) -> Floats:
        """Return the level of each prediction [n] on the steps."""
        return _level_at_or_above(parameters, prediction)


@recalibrator(
    name="histogram", title="Histogram binning",
    text="The share of events among the rows of each bin of probability.",
    tasks=("binary",), ref="Zadrozny & Elkan (2001)", parameters={"at": "m", "value": "m"})
class HistogramBinning(RecalibrationMethod):
    """The share of events in each bin of probability, closed below.

    ``quantile``: bins of equal weight, in which equal predictions share a bin; a new prediction between two bins
    belongs to the lower bin. ``uniform``: bins of equal width; an empty bin joins the bin below it, or the first bin
    with rows if there is none below.
    """

    @staticmethod
    def fit(training: Training, *, bins: Bins = 10, strategy: Cut = "quantile") -> Parameters:
        """Return the lower end and the share of events of each bin that holds rows."""
        table = events_of(training)
        if strategy == "uniform":
            bin_index = np.searchsorted(np.arange(bins + 1) / bins, table.at, side="right") - 1
        else:
            below = np.cumsum(table.total) - table.total
            bin_index = (bins * below / np.sum(table.total)).astype(np.intp)
        bin_index = np.minimum(bin_index, bins - 1)
        starts = np.flatnonzero(np.r_[True, bin_index[1:] != bin_index[:-1]])
        share = np.add.reduceat(table.events, starts) / np.add.reduceat(table.total, starts)
        return {"at": bin_index[starts] / bins if strategy == "uniform" else table.at[starts], "value": share}

    @staticmethod
    def apply(parameters: Parameters, prediction: Floats) -> Floats:
        """Return the share of the bin that each prediction is in; below all of them, that of the first."""
        bin_index = np.searchsorted(np.asarray(parameters["at"], float), prediction, side="right") - 1
        return np.asarray(np.asarray(parameters["value"], float)[np.maximum(bin_index, 0)])

    @staticmethod
    def check(parameters: Parameters) -> str | None:
        """Return what is wrong with bins read from a file; None where nothing is."""
        at = np.asarray(parameters["at"], float)
        return None if bool(np.all(np.diff(at) > 0)) else "at does not ascend"


FEW = 5000
"""Values that are pooled here: of more, scipy takes a tenth of the time, once it is imported, which takes longest."""


def pava(sums: Floats, total: Floats, fits: int = 1) -> tuple[Wholes, Floats]:
    """Return the start index and the level of each block of the isotonic fit to ``sums`` / ``total`` [m]: [blocks].

    ``fits`` is how many are made, each of as many values.
    """
    starts = pooled(sums, total, np.arange(len(sums)) == 0, fits)
    # A mean from totals has the last bits of no running mean; two of neighbours may then differ by such bits alone.
    level = np.add.reduceat(sums, starts) / np.add.reduceat(total, starts)
    return starts, np.maximum.accumulate(level)


def block_starts(values: Floats, weight: Floats, fits: int = 1) -> Wholes | list[int]:
    """Return the start index of each block of equal level in the isotonic fit to ``values`` [m] under weights.

    Adjacent violators are pooled in the order and with the roundings of scipy (Busing 2022).
    """
    if fits * len(values) > FEW:
        from scipy.optimize import isotonic_regression

        return np.asarray(isotonic_regression(values, weights=weight).blocks[:-1])
    x, w = values.tolist(), weight.tolist()
    starts, means, weights = [0], [x[0]], [w[0]]
    i, last = 1, len(x) - 1
    while i <= last:
        start, mean, heavy = i, x[i], w[i]
        if means[-1] >= mean:
            start, before = starts.pop(), weights.pop()
            total = before * means.pop() + heavy * mean
            heavy += before
            mean = total / heavy
            while i < last and mean >= x[i + 1]:
                i += 1
                total += w[i] * x[i]
                heavy += w[i]
                mean = total / heavy
            while means and means[-1] >= mean:
                start, before = starts.pop(), weights.pop()
                total += before * means.pop()
                heavy += before
                mean = total / heavy
        starts.append(start)
        means.append(mean)
        weights.append(heavy)
        i += 1
    return starts


ROUNDS = 40
"""The most rounds in which counts are pooled; ten or so are needed."""


def pooled(events: Floats, total: Floats, first: Flags, fits: int = 1) -> Wholes:
    """Return the start index of each block of isotonic fits to shares ``events`` / ``total`` [n].

    ``first`` [n] tells where each of several fits begins; ``fits`` is how many such calls are made. Of whole numbers
    all shares that do not rise are pooled at once, in rounds: they are summed without rounding, so that their order
    does not matter.
    """
    starts = np.arange(len(total))
    are_counts = np.array_equal(total, np.rint(total)) and np.array_equal(events, np.rint(events))
    for _ in range(ROUNDS if are_counts else 0):
        shares = events / total
        rises = first.copy()
        rises[1:] |= shares[1:] > shares[:-1]
        kept = np.flatnonzero(rises)
        if len(kept) == len(starts):
            return starts
        events, total = np.add.reduceat(events, kept), np.add.reduceat(total, kept)
        starts, first = starts[kept], first[kept]
    # Shares of the next fit are 2 higher, so that blocks end with it.
    above = 2.0 * (np.cumsum(first) - 1)
    blocks: Wholes = starts[np.asarray(block_starts(events / total + above, total, fits))]
    return blocks


def _level_at_or_above(parameters: Parameters, prediction: Floats) -> Floats:
    """Return the fitted ``value`` [n] of the nearest step at or above each prediction, or of the last step."""
    at, value = (np.asarray(parameters[name], float) for name in ("at", "value"))
    return np.asarray(value[np.minimum(np.searchsorted(at, prediction, side="left"), len(at) - 1)])


def interpolated(places: Floats, at: Floats, level: Floats) -> Floats:
    """Return heights at ``places`` [n] on lines through the points (at, level) [k]; beyond these the end levels.

    Between two points too near for a slope in double precision, the height is the lower level.
    """
    heights = np.interp(places, at, level)
    below = level[np.maximum(np.searchsorted(at, places, side="right") - 1, 0)]
    return np.where(np.isfinite(heights), heights, below)
