"""Numbers of two runs side by side, as a table that people can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.page import Column, Group, Number, Row, Table
from evalpipe.card.wording import capital
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalpipe.card.page import Cell
    from evalpipe.card.wording import Names
    from evalpipe.review.differences.records import NumberChange, NumberSide

REST = "the output of --format json"
"""Where the rows are that a table leaves out."""

OVERLAP = {True: "overlap", False: "apart", None: "–"}
"""What is said of two intervals."""


def numbers_table(title: str, names: Names, changes: Sequence[NumberChange], most: int | None) -> Table:
    """Return a table of numbers that differ, by where they were measured; those furthest apart stand first."""
    ordered = sorted(changes, key=loudness, reverse=True)
    groups: dict[str, list[NumberChange]] = {}
    for change in ordered:
        groups.setdefault(scope(names, change), []).append(change)
    rows: list[Row | Group] = []
    for heading, together in groups.items():
        rows += [Group(heading), *(_row(names, change) for change in together)]
    paired = any(change.paired is not None for change in changes)
    apart, alone = any(change.difference != 0 for change in changes), any(change.counted_alone for change in changes)
    columns = (
        Column(capital(ordered[0].kind) if ordered[0].kind == "threshold" else "Measure", style="what"),
        Column("A", "num"), Column("B", "num"), Column("B − A", "num", shown=apart),
        Column("Intervals", "num", shown=apart), Column("Paired B − A", "num", shown=paired),
        Column("Differs in", shown=alone))
    return Table(title, columns, tuple(rows), "compact before", stacked=True, most=most, rest=REST)


def loudness(change: NumberChange) -> tuple[bool, float]:
    """Return whether a number has no counterpart or intervals apart, then its difference in half widths of them."""
    if change.difference is None or change.a is None or change.b is None:
        return True, 0.0
    widths = [side.upper - side.lower for side in (change.a, change.b)
              if side.lower is not None and side.upper is not None]
    width = sum(widths) / 2
    size = abs(change.difference) / width if width > 0 else abs(change.difference)
    return change.intervals_overlap is False, size


def scope(names: Names, change: NumberChange) -> str:
    """Name where a number was measured: "Logistic regression on test, season = a"."""
    where = "" if change.dataset is None else f" on {change.dataset}"
    inside = "" if change.slice is None else f", {names.slice(change.slice)}"
    return f"{names.model(change.model, change.variant)}{where}{inside}"


def measure(names: Names, change: NumberChange) -> str:
    """Name what was measured."""
    if change.kind == "threshold":
        return "Threshold"
    if change.goal is not None:
        return "Overall desirability" if change.goal == "overall" else f"Desirability of {change.goal}"
    return capital(names.measure(change.metric or "", change.params, change.average, change.class_))


def _row(names: Names, change: NumberChange) -> Row:
    least = decimals(change)
    return Row((
        measure(names, change), *(side(number, least, given=change.kind == "threshold")
                                  for number in (change.a, change.b)), difference(change),
        OVERLAP[change.intervals_overlap], _paired(change), _aspects(change)))


def _aspects(change: NumberChange) -> Cell:
    """Say in what a number differs, a detail by its name in `results.json`."""
    names = [aspect for aspect in change.differs_in if aspect != "details"]
    return ", ".join([*names, *(name.replace("_", " ") for name in change.details)])


def side(number: NumberSide | None, least: int, *, given: bool) -> Cell:
    """Write a number as one run has it; one that a spec may have ``given`` is written as it is."""
    if number is None:
        return "–"
    note = None if number.status == "ok" else number.status
    if number.value is None:
        return Number(f"{number.status}: {number.reason}" if number.reason else number.status)
    exact = numbers.exact(number.value)
    limits = None
    shown = numbers.number(number.value, least)
    if number.lower is not None and number.upper is not None:
        shown, limits = numbers.interval(number.value, number.lower, number.upper, least=least)
    return Number(numbers.given(number.value) if given else shown, limits, note, exact)


def decimals(change: NumberChange) -> int:
    """Return the decimals that show in what two numbers differ, as far as a number has so many."""
    sides = [(s.value, s.lower, s.upper) for s in (change.a, change.b) if s is not None]
    usual = numbers.most_decimals(sides)
    gaps = [abs(gap) for gap in _gaps(change) if gap]
    needed = numbers.significant(max(gaps), 1) if gaps else 0
    return min(max(usual, needed), numbers.MOST_DECIMALS)


def _gaps(change: NumberChange) -> Iterable[float]:
    """Yield the difference of the values or, where they are the same, those of the limits."""
    if change.difference:
        yield change.difference
    elif change.a is not None and change.b is not None:
        pairs = ((change.a.lower, change.b.lower), (change.a.upper, change.b.upper))
        yield from (second - first for first, second in pairs if first is not None and second is not None)


def difference(change: NumberChange) -> Cell:
    """Write the difference of two numbers with its sign; a tiny one with its exponent."""
    if change.difference is None:
        return "–"
    places = max(numbers.significant(change.difference, 2), decimals(change)) if change.difference else decimals(change)
    tiny = places > numbers.MOST_DECIMALS + 1
    sign = "+" if change.difference > 0 else ""
    text = f"{sign}{numbers.exact(float(f'{change.difference:.2g}'))}" if tiny else numbers.signed(
        change.difference, places)
    return Number(text, exact=numbers.exact(change.difference))


def _paired(change: NumberChange) -> Cell:
    pair = change.paired
    if pair is None or pair.difference is None:
        return "–"
    note = None if pair.status == "ok" else pair.status
    shown = numbers.signed_interval(pair.difference, pair.lower, pair.upper)
    return Number(*shown, note, numbers.exact(pair.difference))
