"""Recalibration of predicted numbers by a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.base.later import np
from evalpipe.calibration.declare import Parameters, RecalibrationMethod, Training, recalibrator
from evalpipe.calibration.pooled import demand_distinct, numbers_of

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats


@recalibrator(
    title="Linear recalibration",
    text="The line, intercept + slope × prediction, that fits the truth best by least squares.",
    tasks=("regression", "count"), ref="Mincer & Zarnowitz (1969)", parameters={"intercept": "", "slope": ""})
class Linear(RecalibrationMethod):
    """The line intercept + slope x prediction that fits the truth best by weighted least squares.

    For counts it may fall below 0 at small predictions.
    """

    @staticmethod
    def fit(training: Training) -> Parameters:
        """Fit the line."""
        table = numbers_of(training)
        demand_distinct(table.at, 2, "a slope")
        weight = np.sum(table.total)
        centre, level = np.sum(table.total * table.at) / weight, np.sum(table.sums) / weight
        moved = table.at - centre
        # Sums about the centres lose no digits to large means.
        slope = np.sum(moved * (table.sums - table.total * level)) / np.sum(table.total * moved**2)
        return {"intercept": level - slope * centre, "slope": slope}

    @staticmethod
    def apply(parameters: Parameters, prediction: Floats) -> Floats:
        """Map numbers."""
        return np.asarray(parameters["intercept"] + parameters["slope"] * prediction)
