"""How much each finding matters, from 100 to 0: the order in which a reader is told.

First what the spec asks about: what its gates, bounds, goals and control limits refuse, then the answers of chapters
that it switched on. Then what was looked for in every run, by harm. Then what is open, what holds, and what to know.
"""

from __future__ import annotations

from typing import Final

GATE_FAILED: Final = 100.0
IN_TRAINING: Final = 99.0
ITEMS_LEAKED: Final = 98.5
STANDARD_SHORT: Final = 98.0
BOUND_BROKEN: Final = 97.0
GROUP_FAILS: Final = 96.0
COPIES: Final = 95.5
NOT_RANDOM: Final = 95.2
GATE_WARNED: Final = 95.0
OUT_OF_CONTROL: Final = 94.5
GOAL_MISSED: Final = 94.0
GONE: Final = 93.0
MODEL_WORSE: Final = 90.0
WORSE_THERE: Final = 89.5
RECALIBRATION_HARMS: Final = 89.0
RECALIBRATION_HELPS: Final = 88.0
RATE_MISSED: Final = 87.0
GATE_OPEN: Final = 86.0
RECALIBRATION_OPEN: Final = 85.0
WHICH_MODEL: Final = 84.7
MODEL_BETTER: Final = 84.5
RANKED: Final = 84.4
STEP_NOT_BEST: Final = 84.3
STEPS_DIFFER: Final = 84.2
WORSE_THAN_TRIVIAL: Final = 84.0
UNCLUSTERED: Final = 83.5
TOO_GOOD: Final = 83.0
NO_CLASS: Final = 82.0
UNEVEN_LABELS: Final = 81.8
JUDGE_BIASED: Final = 81.7
LABELS_WORTH: Final = 81.6
LATE_LABELS: Final = 81.58
FILLED_IN: Final = 81.5
NOT_CARRIED_OVER: Final = 81.2
APPARENT: Final = 81.0
DISTRIBUTION: Final = 76.0
SHIFT: Final = 74.5
DRIFT: Final = 74.0
PREDICTION_DRIFT: Final = 73.0
ONLY_GROUPS: Final = 71.0
RESIDUALS: Final = 68.0
MODEL_PERHAPS_WORSE: Final = 66.0
TRIVIAL_OPEN: Final = 60.0
WORST_CLASS: Final = 58.0
CUT_OFF: Final = 57.0
CLIPPED: Final = 56.0
ROWS_LEFT_OUT: Final = 54.0
SATURATED: Final = 53.0
FEW_ITEMS_DIFFER: Final = 52.0
EPOCHS_DIFFER: Final = 51.5
FITS_DIFFER: Final = 51.0
MODELS_OPEN: Final = 50.0
FITS_DECIDE: Final = 49.0
MEASURES_DISAGREE: Final = 48.5
MODELS_SAME: Final = 48.0
NO_GATE: Final = 45.0
GATE_HELD: Final = 44.0
WITHIN_LIMITS: Final = 43.8
PRIOR: Final = 43.0
BETTER_THAN_LIMITS: Final = 40.0
RATE_OPEN: Final = 38.0
RATE_REACHED: Final = 36.0
WARNED: Final = 35.0
STANDARD_REACHED: Final = 34.0
UNCHECKED: Final = 30.0
BETTER_THAN_TRIVIAL: Final = 25.0
SOME_WITHOUT_CLASS: Final = 22.0
CALIBRATED: Final = 20.0
CHECKED: Final = 15.0

LEAST_HARM: Final = 60.0
MOST_HARM: Final = 80.0
"""What failures weigh that were looked for in every run."""

WHOLLY: Final = 10.0
"""How many times beyond its margin a failure counts that has no size."""


def by_harm(share: float, times: float) -> float:
    """Return the weight of a failure, from the share of rows it concerns and its size in ``times`` the margin."""
    harm = share * times
    return round(LEAST_HARM + (MOST_HARM - LEAST_HARM) * harm / (1 + harm), 1)
