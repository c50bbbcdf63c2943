"""Inductive Venn-Abers calibration: the isotonic fits with the new prediction added, once as an event, once not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.base.lazy_numpy import np
from evalpipe.calibration.declare import Parameters, Training, recalibrator
from evalpipe.calibration.scales import OfOrder, events_of, fault_of_steps

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats

Point = tuple[float, float]


@recalibrator(
    title="Venn-Abers calibration",
    text="Two isotonic levels for each new prediction, one as if its row were an event and one as if not, combined "
         "into the probability with the smallest worst-case log loss.",
    tasks=("binary",), ref="Vovk, Petej & Fedorova (2015)",
    parameters={"at_0": "m", "value_0": "m", "at_1": "n", "value_1": "n"})
class VennAbers(OfOrder):
    """The two levels that an isotonic fit gives a new prediction, added as a non-event (p0) or as an event (p1).

    The probability is p1 / (1 - p0 + p1), which has the smallest worst-case log loss. The new row has weight 1, so the
    method's guarantee needs weights that count observations. Both levels are steps: p0 that of the nearest fitted
    prediction at or below, p1 that of the nearest at or above; 0 below and 1 above all of them.
    """

    @staticmethod
    def fit(training: Training) -> Parameters:
        """Return the steps of p0 and p1: the predictions ``at_0`` and ``at_1`` of the steps, and their values."""
        table = events_of(training, training.ordering())
        as_event = levels(table.events, table.total)
        as_other = 1 - levels(table.others[::-1], table.total[::-1])[::-1]
        first = np.flatnonzero(np.r_[True, as_other[1:] != as_other[:-1]])
        last = np.flatnonzero(np.r_[as_event[1:] != as_event[:-1], True])
        return {
            "at_0": table.at[first], "value_0": as_other[first], "at_1": table.at[last], "value_1": as_event[last],
        }

    @staticmethod
    def apply(parameters: Parameters, prediction: Floats) -> Floats:
        """Return the probability [n] that both levels of each prediction come to."""
        below = np.searchsorted(np.asarray(parameters["at_0"], float), prediction, side="right")
        above = np.searchsorted(np.asarray(parameters["at_1"], float), prediction, side="left")
        p0, p1 = np.r_[0.0, parameters["value_0"]][below], np.r_[parameters["value_1"], 1.0][above]
        return np.asarray(p1 / (1 - p0 + p1))

    @staticmethod
    def check(parameters: Parameters) -> str | None:
        """Return what is wrong with levels read from a file; None where nothing is."""
        for which in ("0", "1"):
            fault = fault_of_steps({"at": parameters[f"at_{which}"], "value": parameters[f"value_{which}"]})
            if fault is not None:
                return fault.replace(" ", f"_{which} ", 1)
        return None


def levels(events: Floats, total: Floats) -> Floats:
    """Return the isotonic level at each of m predictions once an event of weight 1 is added there, [m].

    That level is the slope, at the added row, of the greatest convex minorant of the cumulative sums. Points left of it
    are moved by (-1, -1) instead of those right of it by (1, 1); as the row goes right, one point after another moves,
    and the minorant's edge at the row is kept on a stack (Vovk, Petej & Fedorova 2015, algorithms 1 and 2).
    """
    points = list(zip(np.cumsum(total).tolist(), np.cumsum(events).tolist(), strict=True))
    left: Point = (-1.0, -1.0)
    stack = _convex_minorant([left, *points])
    slopes = []
    for point in points:
        (x, y), (before_x, before_y) = stack[-1], stack[-2]
        slopes.append((before_y - y) / (before_x - x))
        left = (point[0] - 1.0, point[1] - 1.0)
        if len(stack) > 1 and not _turns_left(stack[-1], left, stack[-2]):
            continue
        stack.pop()
        while len(stack) > 1 and not _turns_left(left, stack[-1], stack[-2]):
            stack.pop()
        stack.append(left)
    # The levels rise with the place and stay below 1, but for rounding.
    return np.minimum(np.maximum.accumulate(slopes), 1.0)


def _convex_minorant(points: list[Point]) -> list[Point]:
    """Return the corners of the greatest convex minorant of points, the leftmost last."""
    kept: list[Point] = []
    for point in points:
        while len(kept) > 1 and not _turns_left(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return kept[::-1]


def _turns_left(first: Point, second: Point, third: Point) -> bool:
    """Tell whether the way from the first point over the second to the third turns left, so the second lies below."""
    return (second[0] - first[0]) * (third[1] - second[1]) > (second[1] - first[1]) * (third[0] - second[0])
