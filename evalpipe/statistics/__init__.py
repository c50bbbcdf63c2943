"""Statistics: additive summaries of weighted rows, the only thing a metric sees."""

from evalpipe.statistics import cells, constant_rate, losses, ordered, residuals, scores, tables
from evalpipe.statistics.class_rows import ClassRows
from evalpipe.statistics.number_rows import NumberRows
from evalpipe.statistics.rows import Rows
from evalpipe.statistics.summary import Summary, statistics
from evalpipe.statistics.sweep import cut_values, of_cells, sweep, swept_in_parts
from evalpipe.statistics.view import Draws, Stack, View, view

__all__ = [
    "ClassRows", "Draws", "NumberRows", "Rows", "Stack", "Summary", "View", "cells", "constant_rate", "cut_values",
    "losses", "of_cells", "ordered", "residuals", "scores", "statistics", "sweep", "swept_in_parts", "tables", "view",
]
