"""What methods of one scale have in common: those on the log odds, those that may choose it, those of order alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.calibration.declare import ActsOn, Parameters, RecalibrationMethod, Training
from evalpipe.calibration.pooled import Events, events_by_log_odds, events_of, logit, rows_clipped
from evalpipe.later import np

if TYPE_CHECKING:
    from evalpipe.arraytypes import Floats

SCALES = ("logit", "probability")
"""The words that the parameter ``on`` may be."""


class OnLogOdds(RecalibrationMethod):
    """A method that is a function of the log odds, [n] of the event or [n, K] of the levels up to a constant."""

    @staticmethod
    def acts_on(parameters: Parameters) -> ActsOn:  # noqa: ARG004 - one signature for all
        """Take the log odds."""
        return "log_odds"

    @staticmethod
    def clips(parameters: Parameters, prediction: Floats) -> int:  # noqa: ARG004 - one signature for all
        """Count the rows at 0 or 1."""
        return rows_clipped(prediction)


class OnEither(RecalibrationMethod):
    """A method that is a function of the log odds or of the probability, as its parameter ``on`` says."""

    @staticmethod
    def acts_on(parameters: Parameters) -> ActsOn:
        """Take what ``on`` says."""
        return "log_odds" if parameters["on"] == "logit" else "probability"

    @staticmethod
    def clips(parameters: Parameters, prediction: Floats) -> int:
        """Count the rows at 0 or 1, on the logit."""
        return rows_clipped(prediction) if parameters["on"] == "logit" else 0


class OfOrder(RecalibrationMethod):
    """A method that sees the order of predictions alone: steps between levels ``value`` at predictions ``at``."""

    @staticmethod
    def acts_on(parameters: Parameters) -> ActsOn:  # noqa: ARG004 - one signature for all
        """Take the order of predictions."""
        return "order"

    @staticmethod
    def check(parameters: Parameters) -> str | None:
        """Say what is wrong with levels that were read."""
        return ascending(parameters)


def ascending(parameters: Parameters) -> str | None:
    """Say whether predictions do not ascend, or levels fall."""
    at, value = (np.asarray(parameters[name], float) for name in ("at", "value"))
    if not np.all(np.diff(at) > 0):
        return "at does not ascend"
    return None if bool(np.all(np.diff(value) >= 0)) else "value descends"


def on_scale(prediction: Floats, on: str) -> Floats:
    """Return probabilities on the scale that a curve is a function of."""
    return logit(prediction) if on == "logit" else prediction


def events_on(training: Training, on: str) -> Events:
    """Total events and others at each distinct prediction on a scale; raises `Unfit` where a class is absent."""
    return events_by_log_odds(training) if on == "logit" else events_of(training)
