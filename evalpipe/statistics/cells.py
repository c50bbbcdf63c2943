"""The cells of the confusion matrix, and the total weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.statistics.summary import column

if TYPE_CHECKING:
    from evalpipe.statistics.rows import Rows


@column
def total(rows: Rows) -> Any:
    """Weight of all rows."""
    return np.ones(len(rows.truth))


@column
def events(rows: Rows) -> Any:
    """Events."""
    return rows.truth


@column
def tp(rows: Rows) -> Any:
    """Events predicted as events."""
    return rows.truth & rows.classes


@column
def fp(rows: Rows) -> Any:
    """Non-events predicted as events."""
    return ~rows.truth & rows.classes


@column
def fn(rows: Rows) -> Any:
    """Events predicted as non-events."""
    return rows.truth & ~rows.classes


@column
def tn(rows: Rows) -> Any:
    """Non-events predicted as non-events."""
    return ~rows.truth & ~rows.classes
