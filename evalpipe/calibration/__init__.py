"""Recalibrators: maps from predictions to predictions, learnt from rows. Importing this package registers them all."""

from evalpipe.calibration import isotonic, levels, logistic, prior_shift, spline, temperature, venn_abers
from evalpipe.calibration.declare import (
    Fitted,
    RecalibrationMethod,
    Recalibrator,
    Training,
    Unfit,
    fitted_from,
    recalibrator,
    registry,
)

__all__ = [
    "Fitted", "RecalibrationMethod", "Recalibrator", "Training", "Unfit", "fitted_from", "isotonic", "levels",
    "logistic", "prior_shift", "recalibrator", "registry", "spline", "temperature", "venn_abers",
]
