"""Metrics: pure functions of statistics, one family a file. Importing this package registers them all."""

from evalpipe.metrics import (
    classes,
    count,
    decomposition,
    deviance,
    labels,
    ordinal,
    probabilities,
    ranking,
    regression,
    top,
)
from evalpipe.metrics.declare import FromSpec, Metric, Proportion, metric, ratio, registry

__all__ = [
    "FromSpec", "Metric", "Proportion", "classes", "count", "decomposition", "deviance", "labels", "metric",
    "ordinal", "probabilities", "ranking", "ratio", "registry", "regression", "top",
]
