"""Metrics: pure functions of statistics, one family a file. Importing this package registers them all."""

from evalpipe.metrics import (
    calibration,
    classes,
    count,
    decomposition,
    deviance,
    labels,
    ordinal,
    probabilities,
    ranking,
    recalibration,
    regression,
    retrieval,
    scores,
    top,
)
from evalpipe.metrics.declare import FromSpec, Metric, metric, registry
from evalpipe.metrics.values import Proportion, ratio

__all__ = [
    "FromSpec", "Metric", "Proportion", "calibration", "classes", "count", "decomposition", "deviance", "labels",
    "metric", "ordinal", "probabilities", "ranking", "ratio", "recalibration", "registry", "regression",
    "retrieval", "scores", "top",
]
