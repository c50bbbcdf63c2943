"""Metrics: pure functions of statistics, one family a file. Importing this package registers them all."""

from evalpipe.metrics import decomposition, labels, probabilities, ranking, top
from evalpipe.metrics.declare import FromSpec, Metric, Proportion, metric, ratio, registry

__all__ = [
    "FromSpec", "Metric", "Proportion", "decomposition", "labels", "metric", "probabilities", "ranking", "ratio",
    "registry", "top",
]
