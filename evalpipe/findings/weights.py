"""How much each finding matters, from 100 to 0: the order in which a reader is told."""

from __future__ import annotations

from typing import Final

GATE_FAILED: Final = 100.0
STANDARD_SHORT: Final = 98.0
BOUND_BROKEN: Final = 95.0
WORSE_THAN_TRIVIAL: Final = 92.0
TOO_GOOD: Final = 91.0
GROUP_FAILS: Final = 90.0
GATE_WARNED: Final = 85.0
MODEL_WORSE: Final = 84.0
GOAL_MISSED: Final = 83.0
WORSE_THERE: Final = 82.0
NO_CLASS: Final = 81.0
LEVEL_NEVER_PREDICTED: Final = 80.0
RECALIBRATION_HARMS: Final = 79.0
CALIBRATION: Final = 78.0
DISTRIBUTION: Final = 76.0
DRIFT: Final = 74.0
PREDICTION_DRIFT: Final = 73.0
GROUP_WORSE: Final = 72.0
RATE_MISSED: Final = 70.0
RESIDUALS: Final = 68.0
GATE_OPEN: Final = 65.0
TRIVIAL_OPEN: Final = 60.0
CLIPPED: Final = 56.0
ROWS_LEFT_OUT: Final = 54.0
RECALIBRATION_HELPS: Final = 52.0
MODELS_OPEN: Final = 50.0
MODELS_SAME: Final = 48.0
RANKED: Final = 46.0
NO_GATE: Final = 45.0
GATE_HELD: Final = 44.0
STANDARD_REACHED: Final = 43.5
PRIOR: Final = 43.0
MODEL_BETTER: Final = 42.0
RATE_OPEN: Final = 38.0
RATE_REACHED: Final = 36.0
WARNED: Final = 35.0
UNCHECKED: Final = 30.0
RECALIBRATION_OPEN: Final = 28.0
BETTER_THAN_TRIVIAL: Final = 25.0
SOME_WITHOUT_CLASS: Final = 22.0
CALIBRATED: Final = 20.0
CHECKED: Final = 15.0
