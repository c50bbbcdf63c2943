"""Probabilities under another prevalence than the one they were made for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from evalpipe.arithmetic import log
from evalpipe.base.lazy_numpy import np
from evalpipe.calibration.declare import Parameters, Training, Unfit, recalibrator
from evalpipe.calibration.levels import require_level_count
from evalpipe.calibration.scales import OnLogOdds

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats

Share = Annotated[float, Field(gt=0, lt=1)]
Shares = Share | list[Share]


@recalibrator(
    title="Prior shift",
    text="Converts probabilities from one prevalence to another: the odds times the ratio of the two odds. Nothing "
         "else is learnt.",
    tasks=("binary", "multiclass", "ordinal"), ref="Saerens, Latinne & Decaestecker (2002)",
    parameters={"from": "k", "to": "k"})
class PriorShift(OnLogOdds):
    """Converts probabilities from one prevalence to another: the odds times the ratio of the two odds.

    It is valid where only the mix of the levels differs, not the levels themselves. Calibrated probabilities stay
    calibrated at the other prevalence; miscalibrated ones stay miscalibrated, because the rows only show how often each
    level occurs.
    """

    @staticmethod
    def fit(
        training: Training, *,
        to: Annotated[Shares | None, Field(description="The prevalence where the probabilities will be used: of the "
                      "event, or of each level in order. The declared one where absent.")] = None,
        from_: Annotated[Shares | None, Field(description="The prevalence that the probabilities were made for. "
                                                          "Default: that of the rows fitted on.")] = None,
    ) -> Parameters:
        """Return the two prevalences, each as the shares of all levels; nothing is fitted."""
        levels = np.shape(training.prediction)[1] if np.ndim(training.prediction) > 1 else 2
        if to is None:
            raise Unfit("no prevalence to shift to is given")
        made_for = _observed_shares(training, levels) if from_ is None else _declared_shares(from_, "from", levels)
        return {"from": made_for, "to": _declared_shares(to, "to", levels)}

    @staticmethod
    def apply(parameters: Parameters, prediction: Floats) -> Floats:
        """Return shifted probabilities of the event [n], or of all levels [n, K]; 0 and 1 stay."""
        ratios = np.asarray(parameters["to"], float) / np.asarray(parameters["from"], float)
        require_level_count(len(ratios), prediction if prediction.ndim > 1 else np.empty((1, 2)))
        if prediction.ndim > 1:
            moved = prediction * ratios
            return np.asarray(moved / moved.sum(axis=1, keepdims=True))
        event, other = prediction * ratios[0], (1 - prediction) * ratios[1]
        return np.asarray(event / (event + other))

    @staticmethod
    def log_odds(parameters: Parameters, at: Floats) -> Floats:
        """Return shifted log odds of the event [n], or of all levels up to a constant [n, K]."""
        moved = log(np.asarray(parameters["to"], float)) - log(np.asarray(parameters["from"], float))
        require_level_count(len(moved), at if at.ndim > 1 else np.empty((1, 2)))
        return np.asarray(at + (moved if at.ndim > 1 else moved[0] - moved[1]))

    @staticmethod
    def clips(parameters: Parameters, prediction: Floats) -> int:  # noqa: ARG004 - one signature for all
        """Return 0: the map multiplies odds and takes no logarithm, so that no probability is clipped."""
        return 0

    @staticmethod
    def direction(parameters: Parameters) -> float:  # noqa: ARG004 - one signature for all
        """Return a number above 0: the map rises everywhere."""
        return 1.0

    @staticmethod
    def check(parameters: Parameters) -> str | None:
        """Return what is wrong with prevalences read from a file; None where nothing is."""
        for name in ("from", "to"):
            if min(parameters[name]) <= 0 or abs(sum(parameters[name]) - 1) > SLACK:
                return f"{name} holds no shares above 0 that sum to 1"
        return None


SLACK = 1e-6
"""How far from 1 the sum of shares may be."""


def _declared_shares(shares: Shares, name: str, levels: int) -> Floats:
    """Return the declared shares of all levels, of two levels the event first; raises `Unfit` where they are wrong."""
    of_levels = np.asarray(shares if isinstance(shares, list) else [shares, 1 - shares], float)
    if len(of_levels) != levels:
        raise Unfit(f"'{name}' has {len(of_levels)} shares, and there are {levels} levels")
    if abs(of_levels.sum() - 1) > SLACK or of_levels.min() <= 0:
        raise Unfit(f"the shares of '{name}' are not above 0 with a sum of 1")
    return np.asarray(of_levels / of_levels.sum())


def _observed_shares(training: Training, levels: int) -> Floats:
    """Return the weighted share of each level among the rows; the order of the rows changes nothing."""
    truth = np.asarray(training.truth)
    codes = np.where(truth, 0, 1) if np.ndim(training.prediction) == 1 else truth
    # Sorted, as a sum in the order of the rows would change its last bits with them.
    totals = np.array([np.sort(training.weight[codes == k]).sum() for k in range(levels)])
    if not totals.all():
        raise Unfit("a level does not occur, so its share is unknown")
    return np.asarray(totals / totals.sum())
