"""The function of one part: read its rows, check them, and sum them up. It runs alike in a thread and on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.data import build, checks, outcome
from evalpipe.data.rows import load_part
from evalpipe.errors import DataError
from evalpipe.streams.tally import Tally

if TYPE_CHECKING:
    from evalpipe.data.block import RowBlock
    from evalpipe.plan.plan import Plan
    from evalpipe.streams.asked import Asked
    from evalpipe.streams.parts import Part
    from evalpipe.streams.tables import Tables


def summarise(plan: Plan, part: Part, asked: Asked) -> Tables:
    """Return what the rows of a part come to.

    Raises DataError with the problems of the first rows that have any.
    """
    dataset = next(entry for entry in plan.datasets if entry.name == part.dataset)
    tally = Tally(plan, asked, dataset.role)
    for rows in load_part(plan, dataset, part.file, part.first, part.rows):
        if isinstance(rows, list):
            raise DataError(*rows)
        _add(tally, rows, part.file)
    return tally.tables()


def _add(tally: Tally, rows: RowBlock, file: int) -> None:
    """Check and add some rows; raises DataError."""
    plan = rows.plan
    tally.read(rows, file)
    if not rows.frame.height:
        return
    known = tally.known.of(rows)
    columns = checks.check(rows, whole=False, outcome=known)
    levels = tally.known.levels if known is not None else outcome.settle(plan, [columns])
    if columns.problems:
        raise DataError(*columns.problems)
    if known is None:
        tally.known.learn(columns, levels)
    tally.add(columns, levels, build.ordered(columns, levels, sort=False))
