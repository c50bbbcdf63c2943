"""The threshold that costs decide on."""

from __future__ import annotations

from collections.abc import Sequence


def bayes_threshold(costs: Sequence[Sequence[float]]) -> float | None:
    """Return the probability from which calling a row an event costs no more, in expectation, than not to.

    ``costs`` [2, 2] are by true and predicted level, the event first. With c_FP, c_TN, c_FN and c_TP of them,
    t* = (c_FP - c_TN) / ((c_FP - c_TN) + (c_FN - c_TP)): Elkan (2001), section 1. None where a wrong prediction costs
    less than the right one of the same level, or neither costs more.
    """
    (right_event, missed), (alarm, right_other) = costs
    extra_alarm, extra_miss = alarm - right_other, missed - right_event
    if extra_alarm < 0 or extra_miss < 0 or extra_alarm + extra_miss <= 0:
        return None
    return extra_alarm / (extra_alarm + extra_miss)
