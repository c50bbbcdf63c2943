"""What docs/books/*.yaml say: for each figure, table and number of a text, where evalpipe shows it.

An item has a name (``item``), its place in the text (``at``) and one of these:

- ``figure``: the key of a figure on the card of its ``config``;
- ``number``: a value of the results of its ``config``, with what the text prints, if it prints it;
- ``table``: columns of such values, each with what the text prints;
- ``unavailable``: why it cannot be had.

A value is found by what its row says: ``{metric: roc_auc, model: forest}`` is the ``value`` of that row of `estimates`.
``in`` names another table of results.json, ``take`` another field, with dots to what is inside it, as in
``points.lift`` or ``counts.0.1``. ``at: {threshold: 0.1}`` takes the point of a curve where a column has that value.
``all: true`` takes the list over all rows that agree, as for the groups of `profit`. ``in: rows`` is the row-level file
of a spec with ``report: {rows: csv}``.
Without ``slice``, ``class`` or ``variant`` the row is that of all rows, of no single class, of the original model.

A value that is not what the text prints needs one of these, on the item or on its column, or both:

- ``erratum``, what the text has wrong, with ``recomputed``, the arithmetic or the counterexample that anybody can redo;
- ``differs``, another method or other data: ``ours``, ``theirs`` and ``why``. Where the digits agree by chance alone it
  also says ``by_chance: true``, and they do not count as equal.

``input`` says that evalpipe computes nothing there: the spec or its data state what the text prints, or were made to
match it.

Where the spec runs on other data than the text has, ``original`` is the value that it gives on those of the text, which
are not part of this repository; `tests/reference/test_books.py` finds it there. It is then the one held against what is
printed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

Value = float | str | None
USUAL = {"slice": None, "class": None, "variant": "original"}
"""What the fields of a row are where an item does not name them and several rows differ in them."""


class UnfitItemError(Exception):
    """An item does not fit the results or the text."""


def _as_printed(value: object) -> object:
    """Take whole numbers as texts; other numbers need quotes, which keep the digits that are printed."""
    return str(value) if type(value) is int else value


Printed = Annotated[str, BeforeValidator(_as_printed)]


class Part(BaseModel):
    """A part of a file of items; keys that it does not know are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Difference(Part):
    """A method or data that are others than those of the text, where neither is wrong."""

    ours: str
    theirs: str
    why: str
    by_chance: bool = False
    """Whether the digits agree all the same."""


class Reasons(Part):
    """Why a value is not the printed one, or why it is equal without a computation."""

    erratum: str | None = None
    """What the text has wrong."""
    recomputed: str | None = None
    """How anybody can redo it: the arithmetic, or a counterexample."""
    differs: Difference | None = None
    input: str | None = None
    """Where the spec or its data state the printed values, or how the data were made to match them."""

    @model_validator(mode="after")
    def _complete(self) -> Reasons:
        if (self.erratum is None) != (self.recomputed is None):
            raise ValueError("an erratum and how it is recomputed stand together")
        if self.input and self.differs:
            raise ValueError("what is input does not differ")
        return self

    @property
    def explains(self) -> bool:
        """Whether it says why a value is not the printed one."""
        return bool(self.erratum or self.differs)

    @property
    def by_chance(self) -> bool:
        """Whether equal digits are said to be chance."""
        return self.differs is not None and self.differs.by_chance


class TableColumn(Reasons):
    """A column of a table: one value that is a list, or a value for each row; ``printed`` are those of the text."""

    head: str
    number: dict[str, Any] | list[dict[str, Any]]
    printed: list[Printed | None] | None = None
    original: list[Printed | None] | None = None


class ItemTable(Part):
    """A table of the text: what heads its rows, and its columns."""

    heading: str
    rows: list[Printed]
    columns: list[TableColumn]


class Item(Reasons):
    """A figure, table or number of a text."""

    item: str
    at: str
    config: str | None = None
    figure: str | None = None
    number: dict[str, Any] | None = None
    printed: Printed | None = None
    original: Printed | None = None
    table: ItemTable | None = None
    unavailable: str | None = None
    note: str | None = None
    """What else a reader should know."""

    @model_validator(mode="after")
    def _shown_in_one_way(self) -> Item:
        ways = [name for name in ("figure", "number", "table", "unavailable") if getattr(self, name) is not None]
        if len(ways) != 1:
            raise ValueError(f"it needs one of figure, number, table and unavailable, and has {ways}")
        if (self.config is None) != (self.unavailable is not None):
            raise ValueError("it needs the config that shows it; what is unavailable has none")
        if (self.printed, self.original) != (None, None) and self.number is None:
            raise ValueError("what the text prints stands beside a number, or in the columns of a table")
        if self.input and self.number is None and self.table is None:
            raise ValueError("input is a number, a table or a column of one")
        if self.by_chance and self.number is None:
            raise ValueError("by_chance is said of a number, or in the columns of a table")
        if self.unavailable and self.explains:
            raise ValueError("what is unavailable cannot differ from the text")
        return self


class Text(Part):
    """A text with its items, in its order."""

    title: str
    by: str
    """Its authors and year."""
    address: str | None = None
    about: str
    """What its section of the page opens with."""
    items: list[Item]


def read_text(path: Path) -> Text:
    """Read a file of items; raises UnfitItemError with every fault."""
    try:
        return Text.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except ValidationError as faulty:
        lines = (f"{path.name}: {_place(fault['loc'])}: {fault['msg']}" for fault in faulty.errors())
        raise UnfitItemError("\n".join(lines)) from None


def _place(loc: Sequence[object]) -> str:
    return ".".join(map(str, loc))


class Compared(Part):
    """A value of the results beside what the text prints."""

    value: Value
    printed: str | None = None
    original: str | None = None

    @property
    def reproduced(self) -> bool:
        """Whether it has the printed digits; on the data of the text, where there is a value of those."""
        return self.agrees if self.original is None else self.of_original.agrees

    @property
    def of_original(self) -> Compared:
        """The value on the data of the text, beside what the text prints."""
        return Compared(value=None if self.original is None else float(self.original), printed=self.printed)

    @property
    def agrees(self) -> bool:
        """Whether the value has the printed digits; also where nothing is printed."""
        if self.printed is None or isinstance(self.value, str):
            return self.printed in {None, self.value}
        if self.value is None:
            return False
        number, digits, factor = _printed_number(self.printed)
        half = Decimal(5).scaleb(-digits - 1)
        return abs(Decimal(repr(self.value * factor)) - number) <= half * (1 + Decimal("1e-9"))

    @property
    def written(self) -> str:
        """The value as the text prints it where it agrees; else in as many digits, or more to show the difference."""
        if self.agrees and self.printed is not None:
            return self.printed
        if not isinstance(self.value, int | float):
            return self.value or "undefined"
        if self.printed is None:
            return _usual(self.value)
        _, digits, factor = _printed_number(self.printed)
        text = f"{self.value * factor:,.{digits}f}"
        if text.replace(",", "") == self.printed.rstrip(" %").replace(",", ""):
            text = f"{self.value * factor:,.{digits + 2}f}"
        return (text + ("%" if factor > 1 else "")).replace("-", "−")


def _printed_number(printed: str) -> tuple[Decimal, int, int]:
    """Return a printed number, its decimals, and 100 where it is in per cent, else 1."""
    text = printed.rstrip(" %").replace(",", "").replace("−", "-")
    try:
        number = Decimal(text)
    except ArithmeticError:
        raise UnfitItemError(f"{printed!r} is no number") from None
    return number, max(0, -int(number.as_tuple().exponent)), 100 if printed.endswith("%") else 1


def _usual(value: float) -> str:
    whole = float(value).is_integer() and abs(value) < 1e15
    return (f"{value:,.0f}" if whole or abs(value) >= 1e4 else f"{value:.4g}").replace("-", "−")


def value_of(results: Mapping[str, Any], number: Mapping[str, Any]) -> Any:
    """Return what an item's number is in results: a value, or the list of them."""
    conditions = dict(number)
    table, take, at = conditions.pop("in", "estimates"), conditions.pop("take", "value"), conditions.pop("at", None)
    several = conditions.pop("all", False)
    if table not in results:
        raise UnfitItemError(f"results.json has no {table!r}")
    if several:
        return [_taken(row, take) for row in _rows(results[table], conditions)]
    row = _row(results[table], conditions, table)
    value = _taken(row, take)
    return value if at is None else value[_point(row, at)]


def _row(table: Any, conditions: dict[str, Any], name: str) -> Any:
    """Return the only row of a table that meets the conditions; a table of one row is that row."""
    if isinstance(table, dict):
        return table
    rows = _rows(table, conditions)
    for key, usual in USUAL.items():
        if len(rows) > 1 and key not in conditions:
            rows = [row for row in rows if row.get(key) == usual] or rows
    if len(rows) == 1:
        return rows[0]
    if not rows:
        raise UnfitItemError(f"no row of {name} has {conditions}")
    differing = [key for key in rows[0] if any(row[key] != rows[0][key] for row in rows)]
    raise UnfitItemError(f"{len(rows)} rows of {name} have {conditions}; they differ in {', '.join(differing)}")


def _rows(table: Any, conditions: dict[str, Any]) -> list[Any]:
    return [row for row in table if all(_meets(row, key, wanted) for key, wanted in conditions.items())]


def _meets(row: Mapping[str, Any], key: str, wanted: Any) -> bool:
    """Tell whether a field of a row is the wanted one; of options, whether the wanted ones are among them."""
    if isinstance(wanted, dict) and isinstance(row.get(key), dict):
        return all(row[key].get(option) == value for option, value in wanted.items())
    return key in row and row[key] == wanted


def _taken(row: Any, take: str) -> Any:
    value = row
    for step in take.split("."):
        try:
            value = value[int(step)] if isinstance(value, list) else value[step]
        except (KeyError, IndexError, ValueError, TypeError):
            fields = ", ".join(value) if isinstance(value, dict) else f"a {type(value).__name__}"
            raise UnfitItemError(f"there is no {step!r} of {take!r} in {fields}") from None
    return value


def _point(row: Mapping[str, Any], at: Mapping[str, float]) -> int:
    """Return the place of the point of a curve where a column has a value."""
    (column, wanted), = at.items()
    values = _taken(row, f"points.{column}")
    places = [place for place, value in enumerate(values) if value is not None and math.isclose(
        value, wanted, rel_tol=1e-9, abs_tol=1e-12)]
    if len(places) != 1:
        raise UnfitItemError(f"{len(places)} points of the curve have {column} {wanted}")
    return places[0]


def compared_column(results: Mapping[str, Any], column: TableColumn, rows: int) -> list[Compared]:
    """Return a column of a table, a value for each row."""
    if isinstance(column.number, list):
        values = [value_of(results, number) for number in column.number]
    else:
        values = value_of(results, column.number)
    printed, original = ([None] * rows if given is None else given for given in (column.printed, column.original))
    if not isinstance(values, list) or not len(values) == len(printed) == len(original) == rows:
        length = len(values) if isinstance(values, list) else "no list of"
        raise UnfitItemError(f"{column.head}: {rows} rows, {length} values and {len(printed)} printed ones")
    return [Compared(value=value, printed=text, original=first)
            for value, text, first in zip(values, printed, original, strict=True)]


Label = Literal["equal", "original", "differs", "misprint", "shown", "input", "unavailable"]
LABELS: dict[Label, str] = {
    "equal": "equal", "original": "equal on the text's own data", "differs": "method or data differ",
    "misprint": "misprint", "shown": "shown", "input": "input", "unavailable": "not here",
}
"""What an item is on the page."""


@dataclass(frozen=True)
class Values:
    """A column of a table or the single number of an item: its reasons, and its values beside the printed ones."""

    reasons: Reasons
    pairs: list[Compared]
    is_input: bool
    """Whether the column or its whole item says so."""

    @property
    def printed(self) -> list[Compared]:
        """The values beside which the text prints one."""
        return [pair for pair in self.pairs if pair.printed is not None]

    @property
    def equal(self) -> list[Compared]:
        """The values that have the printed digits because evalpipe computes them so: no input, and none by chance."""
        counts = not (self.is_input or self.reasons.by_chance)
        return [pair for pair in self.printed if pair.reproduced] if counts else []

    @property
    def differing(self) -> list[Compared]:
        """The values that do not have the printed digits."""
        return [pair for pair in self.printed if not pair.reproduced]


def check_reasons(item: Item, values: Sequence[Values]) -> None:
    """Refuse values that differ from the text without a reason, reasons without a difference, and input that differs.

    A column without a reason of its own has that of its item.
    """
    unsaid = [pair for part in values if part.reasons is item or not part.reasons.explains for pair in part.differing]
    for part in values:
        _check_part(part, item)
    if unsaid and not item.explains:
        compared = (pair if pair.original is None else pair.of_original for pair in unsaid)
        pairs = ", ".join(f"{pair.value} where the text has {pair.printed}" for pair in compared)
        raise UnfitItemError(f"{pairs}, without an erratum or what differs")
    if item.explains and not item.by_chance and not unsaid and any(part.printed for part in values):
        raise UnfitItemError("it has a reason to differ from the text, and does not differ")


def _check_part(part: Values, item: Item) -> None:
    """Refuse reasons of a number or of a column that do not fit its values."""
    reasons = part.reasons
    if reasons.by_chance and (part.differing or not part.printed):
        raise UnfitItemError("by_chance is said of digits that agree")
    if part.is_input and not part.printed:
        raise UnfitItemError("it is input, and the text prints nothing of it")
    if part.is_input and part.differing and not (reasons.erratum or item.erratum):
        raise UnfitItemError("it is input, and not what the text prints")
    if reasons is not item and reasons.explains and not reasons.by_chance and not part.differing:
        raise UnfitItemError("a column has a reason to differ from the text, and does not differ")


def labels_of(item: Item, values: Sequence[Values]) -> list[Label]:
    """Return what an item is, in the order of `LABELS`: of a table with several kinds of columns, each of them.

    An erratum counts also where a figure shows what is right, and a difference where nothing is printed.
    """
    if item.unavailable is not None:
        return ["unavailable"]
    labels: set[Label] = set()
    for reasons in (item, *(part.reasons for part in values)):
        labels |= {"misprint"} if reasons.erratum else set()
        labels |= {"differs"} if reasons.differs else set()
        labels |= {"input"} if reasons.input else set()
    for part in values:
        if part.equal and not part.differing:
            labels.add("original" if any(pair.original for pair in part.equal) else "equal")
    return [label for label in LABELS if label in (labels or {"shown"})]
