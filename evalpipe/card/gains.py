"""Gain tables: groups of rows from the highest score down, and the events found in them and down to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.page import Column, Heading, Line, Row, Table, Text
from evalpipe.card.tables import curves_of, labels
from evalpipe.results.curves.calibration import GainTable
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from evalpipe.card.page import Block, Cell
    from evalpipe.results import Results

OF_GROUP = (("Rows", "population"), ("Events", "captured"), ("Random", "random"), ("Perfect", "wizard"))
SO_FAR = (("Rows", "population_so_far", "cumulative_population"), ("Events", "captured_so_far", "cumulative_captured"),
          ("Random", "random_so_far", "cumulative_population"), ("Perfect", "wizard_so_far", "cumulative_wizard"))
"""Heads, counts and their shares; random order finds the share of the events that it has of the rows."""

PROFITS = (("Profit", "profit"), ("Random", "profit_random"), ("Perfect", "profit_wizard"))

EVEN = 1_000_000
"""Rows below which every number fits into columns of one width, which are laid out in half the time."""


def gain_blocks(results: Results, dataset: str) -> Iterator[Block]:
    """Write the gain tables of a dataset, one for each model that has one; nothing where there are none."""
    curves = [curve for curve in curves_of(results, dataset, GainTable) if curve.variant == "original"]
    if not curves:
        return
    yield Heading(f"Gain {'table' if len(curves) == 1 else 'tables'}")
    yield Text(_lead(len(curves[0].points.group), profit=curves[0].points.profit is not None), "lead")
    for curve in curves:
        yield _table(curve, labels(results)[curve.model])


def _lead(groups: int, *, profit: bool) -> str:
    """Say how the tables are to be read."""
    earned = (" Profit is that of contacting all rows so far, at the benefit and the costs under Costs and profit."
              if profit else "")
    return (
        f"Rows are ranked by score, highest first, and cut into {wording.number_word(groups)} groups; tied rows are "
        "divided in proportion. Random order finds events at the observed prevalence; perfect order finds all events "
        "first. Lift is relative to random order. Separation is the share of events found so far minus the share of "
        "non-events; its maximum is close to the K-S statistic. Below a count so far stands its share of all rows or "
        f"of all events.{earned}")


def _table(curve: GainTable, label: str) -> Table:
    """Write the gain table of a model: each group, and all groups down to it."""
    known = curve.points.columns
    columns: list[tuple[Column, list[Cell]]] = [(Column("Group"), _written(known["group"], numbers.count))]
    for head, name in OF_GROUP:
        columns.append((_head(head, "In the group"), _written(known[name], numbers.count)))
    columns.append((_head("Lift", "In the group"), _written(known["lift"], _lift)))
    for head, name, share in SO_FAR:
        columns.append((_head(head, "So far"), [
            (numbers.count(count or 0.0), Line(_percent(part or 0.0), "options"))
            for count, part in zip(known[name], known[share], strict=True)]))
    columns.append((_head("Lift", "So far"), _written(known["cumulative_lift"], _lift)))
    columns.append((_head("Separation", "So far"), _written(known["separation"], _percent)))
    for head, name in PROFITS if "profit" in known else ():
        columns.append((_head(head, "Profit so far"), _written(known[name], _money(known))))
    even = "profit" not in known and max(count or 0.0 for count in known["population_so_far"]) < EVEN
    return Table(label, tuple(head for head, _ in columns),
                 tuple(map(Row, zip(*(cells for _, cells in columns), strict=True))), "gain even" if even else "gain",
                 label=f"Gain table of {label} on {curve.dataset}")


def _head(head: str, over: str) -> Column:
    return Column(head, "num", over=over)


def _written(values: list[float | None], write: Callable[[float], str]) -> list[Cell]:
    """Write a column; a dash where a number is undefined."""
    return ["–" if value is None else write(value) for value in values]


def _lift(value: float) -> str:
    return numbers.fixed(value, 2)


def _percent(value: float) -> str:
    return numbers.percent(value, 1)


def _money(known: Mapping[str, list[float | None]]) -> Callable[[float], str]:
    """Return how the profits of a table are written: with the decimals of the largest."""
    digits = numbers.decimals(max(abs(value or 0.0) for _, name in PROFITS for value in known[name]))
    return lambda value: numbers.fixed(value, digits)
