"""Gain tables: groups of rows from the highest score down, and the events found in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from evalpipe import constants, numbers
from evalpipe.card import wording
from evalpipe.card.page import Column, Heading, Row, Table, Text
from evalpipe.card.tables import curves_of, labels
from evalpipe.results.curves.calibration import GainTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.card.page import Block
    from evalpipe.results import Results

COLUMNS: tuple[tuple[str, Callable[[float], str]], ...] = (
    ("Group", numbers.count),
    ("Rows", numbers.count),
    ("Events found", numbers.count),
    ("At random", numbers.count),
    ("Perfect", numbers.count),
    ("Lift", lambda value: numbers.fixed(value, 2)),
    ("Rows so far", lambda value: numbers.percent(value, 1)),
    ("Found so far", lambda value: numbers.percent(value, 1)),
    ("Perfect so far", lambda value: numbers.percent(value, 1)),
    ("Lift so far", lambda value: numbers.fixed(value, 2)),
    ("Separation", lambda value: numbers.percent(value, 1)),
)
"""The columns in the order of the curve's points: head, and how the numbers are written."""


def gain_blocks(results: Results, dataset: str) -> Iterator[Block]:
    """Write the gain tables of a dataset, one for each model that has one; nothing where there are none."""
    curves = [curve for curve in curves_of(results, dataset, GainTable) if curve.variant == "original"]
    if not curves:
        return
    yield Heading(f"Gain {'table' if len(curves) == 1 else 'tables'}")
    yield Text(
        f"Rows are ranked by score, highest first, and cut into {wording.number_word(constants.GAIN_GROUPS)} groups; "
        "tied rows are divided in proportion. Random order finds events at the observed prevalence; perfect order "
        "finds all events first. Lift is relative to random order. Separation is the share of events found so far "
        "minus the share of non-events; its maximum is close to the K-S statistic.", "lead")
    for curve in curves:
        yield _table(curve, labels(results)[curve.model])


def _table(curve: GainTable, label: str) -> Table:
    columns = [["–" if value is None else write(value) for value in values]
               for (_, write), values in zip(COLUMNS, curve.points.columns.values(), strict=True)]
    return Table(label, tuple(Column(head, "num") for head, _ in COLUMNS), tuple(map(Row, zip(*columns, strict=True))),
                 "gain", label=f"Gain table of {label} on {curve.dataset}")
