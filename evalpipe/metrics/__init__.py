"""Metrics: pure functions of statistics, one family a file. Importing this package registers them all."""

from evalpipe.metrics import (
    calibration,
    calibration_tests,
    classes,
    count,
    decomposition,
    deviance,
    labels,
    operating,
    ordinal,
    probabilities,
    ranking,
    recalibration,
    regression,
    residual_sizes,
    sharpness,
    top,
)
from evalpipe.metrics.declare import FromSpec, Metric, metric, registry
from evalpipe.metrics.values import Proportion, ratio

__all__ = [
    "FromSpec", "Metric", "Proportion", "calibration", "calibration_tests", "classes", "count", "decomposition",
    "deviance", "labels", "metric", "operating", "ordinal", "probabilities", "ranking", "ratio", "recalibration",
    "registry", "regression", "residual_sizes", "sharpness", "top",
]
