"""Values of cells: their types, how two of them are compared, and how messages show them."""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from evalpipe.data import values

if TYPE_CHECKING:
    from evalpipe.base.formats import CellType


@pytest.mark.parametrize(("cells", "decimal", "kind", "why"), [
    ([], ".", None, None), ([None, None], ".", None, None), (["", " "], ".", "text", None),
    (["1", "-20", " 3 "], ".", "integer", None), (["9" * 18], ".", "integer", None), (["01"], ".", "text", (
        "column 'c' is text, because it holds '01'; declare csv: {types: {c: number}}")),
    (["true", "FALSE"], ".", "boolean", None), (["true", "1"], ".", "text", (
        "column 'c' is text, because it holds 'true'; TRY_CAST(c AS DOUBLE) is missing where it is no number")),
    (["1.5", "2", "1e3", ".5"], ".", "number", None), (["nan", "NaN"], ".", "number", None),
    (["1", "inf"], ".", "number", None), (["inf"], ".", "text", None), (["a", "b"], ".", "text", None),
    (["1,5", "2"], ",", "number", None), (["1,5", "2"], ".", "text", (
        "column 'c' is text, because it holds '1,5'; TRY_CAST(c AS DOUBLE) is missing where it is no number")),
    (["1.5", "2,5"], ",", "text", (
        "column 'c' is text, because it holds '1.5'; declare csv: {types: {c: number}}")),
    (["1.0", "1", "2.5"], ".", "text", ("column 'c' is text, because it holds '1' and '1.0', one number in two ways; "
                                        "for numbers declare csv: {types: {c: number}}")),
    (["0.0", "0", "2.5"], ".", "number", None),
    (["1234567890123456", "0.5"], ".", "text", (
        "column 'c' is text, because it holds '1234567890123456', too long for a number")),
    (["123456789012345", "0.5"], ".", "number", None),
    (["1", "n/a", "?"], ".", "text", ("column 'c' is text, because it holds 'n/a'; if it means a missing value, "
                                      'declare csv: {null: {c: ["n/a", "?"]}}')),
])
def test_a_column_of_text_has_the_narrowest_type_that_fits_all_cells(
    cells: list[str | None], decimal: str, kind: CellType | None, why: str | None
) -> None:
    assert values.infer_type(pl.Series("c", cells, pl.String), decimal) == values.InferredType(kind, why)


@pytest.mark.parametrize(("cells", "kind", "decimal", "typed"), [
    (["1", " 2 ", "x", None], "integer", ".", [1, 2, None, None]), (["1,5", "1.5"], "number", ",", [1.5, None]),
    (["1.5", "1,5"], "number", ".", [1.5, None]), (["TRUE", "false", "1"], "boolean", ".", [True, False, None]),
    (["2024-12-31", "2024-13-01", "31.12.2024"], "date", ".", [date(2024, 12, 31), None, None]),
    (["2024-12-31T23:59", "2024-12-31 23:59:58.5", "2024-12-31"], "datetime", ".",
     [datetime(2024, 12, 31, 23, 59), datetime(2024, 12, 31, 23, 59, 58, 500_000), None]),  # noqa: DTZ001 - no zone
    ([" a", ""], "text", ".", [" a", ""]),
])
def test_a_cell_that_is_not_of_its_type_is_missing_and_flagged(
    cells: list[str | None], kind: CellType, decimal: str, typed: list[Any]
) -> None:
    column = pl.Series("c", cells, pl.String)
    assert values.typed(column, kind, decimal).to_list() == typed
    assert values.not_of_type(column, kind, decimal).to_list() == [
        value is None and cell is not None for value, cell in zip(typed, cells, strict=True)]
    assert values.typed(column, None, decimal).to_list() == [None] * len(cells)


@pytest.mark.parametrize(("left", "right", "differ"), [
    ([1, 2, None], [1, 3, None], [False, True, False]), ([1.0, 2.0, math.nan], ["1", "2.5", ""], [False, True, False]),
    ([True, False], ["TRUE", "true"], [False, True]), ([True, False], [1, 1], [False, True]),
    (["a", "b", None], ["a ", "B", "c"], [False, True, True]), (["1e2", "x"], ["100", "1"], [False, True]),
    (["2024-01-02T00:00:00Z", "2024-01-02 03:04:05.0"], [date(2024, 1, 2), date(2024, 1, 2)], [False, True]),
    ([None, 1.0], [1.0, None], [True, True]),
])
def test_cells_differ_by_their_value_however_they_are_stored(
    left: list[Any], right: list[Any], differ: list[bool]
) -> None:
    for one, other in ((left, right), (right, left)):
        assert values.cells_differ(pl.Series(one), pl.Series(other)).to_list() == differ


def test_floats_of_unlike_precision_are_compared_as_the_coarser() -> None:
    coarse = pl.Series([0.1, 0.2], dtype=pl.Float32)
    assert values.cells_differ(coarse, pl.Series([0.1, 0.2001])).to_list() == [False, True]


@pytest.mark.parametrize(("column", "texts"), [
    (pl.Series([1.0, 0.5, math.nan, None, 2.0**63]), ["1", "0.5", None, None, "9.223372036854776e+18"]),
    (pl.Series(["", "a"]), [None, "a"]), (pl.Series([True, None]), ["true", None]),
    (pl.Series([timedelta(hours=1)]), ["PT1H"]), (pl.Series(["1.50"]).cast(pl.Decimal(10, 2)), ["1.5"]),
])
def test_a_level_or_an_id_is_a_text(column: pl.Series, texts: list[str | None]) -> None:
    assert values.texts(column).to_list() == texts


def test_percents_are_probabilities_to_the_last_bit() -> None:
    assert values.probabilities(pl.Series(["25.18 %", "100%", "x", None]), as_text=False).to_list() == [
        0.2518, 1.0, None, None]
    assert values.probabilities(pl.Series([25.18, 0.0]), as_text=False).to_list() == [0.2518, 0.0]


@pytest.mark.parametrize(("column", "reason"), [
    (pl.Series([[1]]), "holds lists or mappings"), (pl.Series([b"x"]), "holds bytes"),
])
def test_lists_and_bytes_are_no_levels(column: pl.Series, reason: str) -> None:
    with pytest.raises(values.Unreadable, match=f"^{reason}, not single values$"):
        values.texts(column)
    with pytest.raises(values.Unreadable, match=f"^{reason}, not numbers$"):
        values.numbers(column, as_text=True)


def test_words_agree_with_their_number() -> None:
    said = [(values.cells(mask), values.rows_have(mask), values.are(mask), values.noun(mask, "probability"))
            for mask in (pl.Series([True, False]), pl.Series([True, True]), pl.Series([False]))]
    assert said == [("1 value", "1 row has", "is", "a probability"),
                    ("2 values", "2 rows have", "are", "probabilities"),
                    ("0 values", "0 rows have", "are", "probabilities")]
    assert [values.are(number) for number in (0, 1, 2)] == ["are", "is", "are"]
    assert [values.with_article(word) for word in ("weight", "outcome")] == ["a weight", "an outcome"]
    assert [values.sql_name(name) for name in ("a_1", "a b", "1a")] == ["a_1", '"a b"', '"1a"']
    assert [values.more(count) for count in (5, 6, 2000)] == [(), ("and 1 more",), ("and 1,995 more",)]
    assert [values.shown(cell) for cell in (None, "", math.nan, True, 1, "a" * 61)] == [
        "empty", "empty", "NaN", "true", "1", f"'{'a' * 59}…'"]
    assert [values.quote_for_yaml(cell) for cell in ("abc", "12", "NO", "a b", "x1")] == [
        "abc", '"12"', '"NO"', '"a b"', "x1"]
    assert values.blank(pl.Series(["", " ", None, "a"])).to_list() == [True, True, True, False]
