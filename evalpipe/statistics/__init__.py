"""Statistics: additive summaries of weighted rows, the only thing a metric sees."""

from evalpipe.statistics import cells, losses, scores
from evalpipe.statistics.rows import Rows
from evalpipe.statistics.summary import Summary, statistics

__all__ = ["Rows", "Summary", "cells", "losses", "scores", "statistics"]
