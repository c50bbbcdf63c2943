"""What methods of one scale have in common: those on the log odds, those that may choose it, those of order alone."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from evalpipe.arithmetic.functions import expit
from evalpipe.base.later import np
from evalpipe.calibration.declare import ActsOn, Parameters, RecalibrationMethod, Training
from evalpipe.calibration.pooled import Events, events_by_log_odds, events_of, logit, rows_clipped

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats

SCALES = ("logit", "probability", "score")
"""The words that the parameter ``on`` may be; a raw score is on none of the others."""


class OnEither(RecalibrationMethod):
    """A curve whose heights are log odds: of the log odds or, as where it has no parameter ``on``, the probability."""

    @staticmethod
    def acts_on(parameters: Parameters) -> ActsOn:
        """Take what ``on`` says."""
        return "log_odds" if parameters.get("on") in ("logit", "score") else "probability"

    @staticmethod
    @abstractmethod
    def log_odds(parameters: Parameters, at: Floats) -> Floats:
        """Return the heights of the curve at places ``at`` on the scale that it is a function of."""

    @classmethod
    def clips(cls, parameters: Parameters, prediction: Floats) -> int:
        """Count the rows at 0 or 1, on the logit."""
        return rows_clipped(prediction) if cls._on_logit(parameters) else 0

    @classmethod
    def apply(cls, parameters: Parameters, prediction: Floats) -> Floats:
        """Map probabilities [n] of the event, or raw scores."""
        return expit(cls.log_odds(parameters, logit(prediction) if cls._on_logit(parameters) else prediction))

    @classmethod
    def _on_logit(cls, parameters: Parameters) -> bool:
        """Tell whether the curve is of the log odds of a probability."""
        return cls.acts_on(parameters) == "log_odds" and parameters.get("on") != "score"


class OnLogOdds(OnEither):
    """A method that is a function of the log odds, [n] of the event or [n, K] of the levels up to a constant."""

    @staticmethod
    def acts_on(parameters: Parameters) -> ActsOn:  # noqa: ARG004 - one signature for all
        """Take the log odds."""
        return "log_odds"


class OfOrder(RecalibrationMethod):
    """A method that sees the order of predictions alone: steps between levels ``value`` at predictions ``at``."""

    of_scores: ClassVar[bool] = True

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


def events_on(training: Training, on: str) -> Events:
    """Total events and others at each distinct prediction on a scale; raises `Unfit` where a class is absent."""
    return events_by_log_odds(training) if on == "logit" else events_of(training)
