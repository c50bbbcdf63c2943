"""Statistics: additive summaries of weighted rows, the only thing a metric sees."""

from evalpipe.statistics import confusion, residuals, scores
from evalpipe.statistics.number_rows import NumberRows
from evalpipe.statistics.rows import ClassRows, Rows
from evalpipe.statistics.score_rows import ScoreRows
from evalpipe.statistics.scores import cut_values, of_cells, sweep, swept_in_parts
from evalpipe.statistics.summary import Summary, statistics
from evalpipe.statistics.view import Draws, Stack, View, view

__all__ = [
    "ClassRows", "Draws", "NumberRows", "Rows", "ScoreRows", "Stack", "Summary", "View", "confusion", "cut_values",
    "of_cells", "residuals", "scores", "statistics", "sweep", "swept_in_parts", "view",
]
