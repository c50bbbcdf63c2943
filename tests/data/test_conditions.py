"""Conditions: what is missing meets none, whatever the format; the functions; times in their zone; whole messages."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evalpipe.data.catalog import look
from evalpipe.data.condition_grammar import condition_faults, evaluate_condition
from evalpipe.data.condition_values import FUNCTIONS
from evalpipe.data.read import read
from evalpipe.data.sample import Sample
from evalpipe.errors import DataError
from evalpipe.plan.resolve import plan
from evalpipe.plan.sources import sources
from evalpipe.spec.load import load

NAN = math.nan
CELLS = pl.DataFrame({
    "x": [1.0, None, NAN, 5.0],
    "n": [1, 2, None, 4],
    "small": pl.Series([1, 2, None, 255], dtype=pl.UInt8),
    "s": ["a", None, "", "it's"],
    "b": [True, False, None, True],
    "d": pl.Series(["2024-01-01", "2024-06-03", None, "2024-12-31"]).str.to_date(),
    "t": pl.Series(["2024-01-01 00:30:00", "2024-06-01 23:30:00", None, "2024-12-31 12:00:00"])
        .str.to_datetime(time_zone="Europe/Berlin"),
})  # fmt: skip
YES, NO, UNKNOWN = True, False, None


@pytest.mark.parametrize(("text", "flags"), [
    # comparisons: the second and third row have no x
    ("x > 2", [NO, UNKNOWN, UNKNOWN, YES]), ("x >= 0", [YES, UNKNOWN, UNKNOWN, YES]),
    ("x < 9", [YES, UNKNOWN, UNKNOWN, YES]), ("x != 5", [YES, UNKNOWN, UNKNOWN, NO]),
    ("x <> 5", [YES, UNKNOWN, UNKNOWN, NO]), ("NOT (x > 2)", [YES, UNKNOWN, UNKNOWN, NO]),
    ("NOT x > 2", [YES, UNKNOWN, UNKNOWN, NO]), ("x BETWEEN 0 AND 2", [YES, UNKNOWN, UNKNOWN, NO]),
    ("x NOT BETWEEN 0 AND 2", [NO, UNKNOWN, UNKNOWN, YES]), ("x IN (1, 2)", [YES, UNKNOWN, UNKNOWN, NO]),
    ("x NOT IN (1, 2)", [NO, UNKNOWN, UNKNOWN, YES]), ("x IN (1, n)", [YES, UNKNOWN, UNKNOWN, NO]),
    ("x IN (5, NULL)", [UNKNOWN, UNKNOWN, UNKNOWN, YES]),
    # undefined numbers
    ("x - x = 0", [YES, UNKNOWN, UNKNOWN, YES]), ("n / (n - 1) >= 0", [UNKNOWN, YES, UNKNOWN, YES]),
    ("0 / (n - n) > -1", [UNKNOWN] * 4), ("sqrt(0 - n) >= 0", [UNKNOWN] * 4), ("ln(x - 1) > 0", [UNKNOWN] * 3 + [YES]),
    # three-valued logic
    ("x > 2 AND n > 3", [NO, NO, UNKNOWN, YES]), ("x > 2 OR n = 2", [NO, YES, UNKNOWN, YES]),
    ("CASE WHEN x > 2 THEN TRUE ELSE FALSE END", [NO, NO, NO, YES]),
    ("CASE n WHEN 1 THEN 'p' WHEN 2 THEN 'q' END = 'p'", [YES, NO, UNKNOWN, UNKNOWN]),
    ("x IS NULL", [NO, YES, YES, NO]), ("x IS NOT NULL", [YES, NO, NO, YES]), ("isnan(x)", [NO, YES, YES, NO]),
    ("NOT isnan(x)", [YES, NO, NO, YES]), ("b", [YES, NO, UNKNOWN, YES]), ("NOT b", [NO, YES, UNKNOWN, NO]),
    ("b IS TRUE", [YES, NO, NO, YES]), ("b IS NOT FALSE", [YES, NO, YES, YES]),
    # numbers
    ("n + 1 = 3", [NO, YES, UNKNOWN, NO]), ("n / 2 = 0.5", [YES, NO, UNKNOWN, NO]),
     ("-n < -1", [NO, YES, UNKNOWN, YES]),
    ("small > -1 AND small < 300", [YES, YES, UNKNOWN, YES]), ("small + 1 = 256", [NO, NO, UNKNOWN, YES]),
    ("mod(n, 3) = 1", [YES, NO, UNKNOWN, YES]), ("-7 % 3 = 2", [YES] * 4), ("round(2.5) = 3", [YES] * 4),
    ("round(-2.345, 2) = -2.35", [YES] * 4), ("abs(-n) = 2", [NO, YES, UNKNOWN, NO]), ("floor(-0.5) = -1", [YES] * 4),
    ("ceil(0.5) = 1 AND exp(0) = 1 AND round(log10(1000), 9) = 3 AND power(2, 3) = 8", [YES] * 4),
    ("greatest(x, n) = 5", [NO, UNKNOWN, UNKNOWN, YES]), ("least(x, n) = 4", [NO, UNKNOWN, UNKNOWN, YES]),
    ("coalesce(x, n, 0) = 0", [NO, NO, YES, NO]), ("nullif(n, 2) > 0", [YES, UNKNOWN, UNKNOWN, YES]),
    # texts: the empty one is a text, not missing
    ("s = ''", [NO, UNKNOWN, YES, NO]), ("s IS NULL", [NO, YES, NO, NO]), ("s = 'it''s'", [NO, UNKNOWN, NO, YES]),
    ("s LIKE '%t_s'", [NO, UNKNOWN, NO, YES]), ("s NOT LIKE 'A'", [YES, UNKNOWN, YES, YES]),
    ("s ILIKE 'A'", [YES, UNKNOWN, NO, NO]), ("upper(s) = 'A'", [YES, UNKNOWN, NO, NO]),
    ("lower('AB') = 'ab' AND trim(' a ') = 'a'", [YES] * 4), ("length(s) = 1", [YES, UNKNOWN, NO, NO]),
    ("substr(s, 2, 2) = 't'''", [NO, UNKNOWN, NO, YES]), ("s || '!' = 'a!'", [YES, UNKNOWN, NO, NO]),
    ("starts_with(s, 'it') OR ends_with(s, 'a')", [YES, UNKNOWN, NO, YES]),
    ("contains(s, '.')", [NO, UNKNOWN, NO, NO]), ("regexp_like(s, '^.$')", [YES, UNKNOWN, NO, NO]),
    ("replace(s, 'a', 'b') = 'b'", [YES, UNKNOWN, NO, NO]), ("TRY_CAST(s AS DOUBLE) > 0", [UNKNOWN] * 4),
    ("CAST(n AS TEXT) = '1'", [YES, NO, UNKNOWN, NO]), ("CAST('7' AS INTEGER) = 7", [YES] * 4),
    # dates and times; 00:30 in Berlin is the day before in UTC
    ("year(d) = 2024 AND month(d) = 6 AND day(d) = 3", [NO, YES, UNKNOWN, NO]),
     ("weekday(d) = 1", [YES, YES, UNKNOWN, NO]),
    ("d >= '2024-06-01'", [NO, YES, UNKNOWN, YES]), ("d = DATE '2024-01-01'", [YES, NO, UNKNOWN, NO]),
    ("CAST(t AS DATE) = '2024-01-01'", [YES, NO, UNKNOWN, NO]), ("date(t) = '2024-06-01'", [NO, YES, UNKNOWN, NO]),
    ("CAST(t AS DATE) = d", [YES, NO, UNKNOWN, YES]), ("hour(t) = 0 AND minute(t) = 30", [YES, NO, UNKNOWN, NO]),
    ("year(t) = 2024", [YES, YES, UNKNOWN, YES]), ("t >= '2024-01-01'", [YES, YES, UNKNOWN, YES]),
    ("t < '2024-01-01T00:00:00+00:00'", [YES, NO, UNKNOWN, NO]), ("d < t", [YES, NO, UNKNOWN, YES]),
    ("CAST('2024-01-01T00:30:00+02:00' AS DATE) = d", [YES, NO, UNKNOWN, NO]),
])  # fmt: skip
def test_a_missing_value_meets_no_condition(text: str, flags: list[bool | None]) -> None:
    assert condition_faults(text, CELLS.schema, {}) == []
    assert evaluate_condition(CELLS, text).to_list() == flags


def test_every_function_is_tested() -> None:
    tested = Path(__file__).read_text(encoding="utf-8")
    assert [name for name in FUNCTIONS if f"{name}(" not in tested] == []


def test_a_long_condition_takes_no_long_time() -> None:
    # as an expression that held its input twice at each step, this would hold the first column 2^200 times
    assert evaluate_condition(CELLS, f"x{' + 1' * 200} > 0").to_list() == [YES, UNKNOWN, UNKNOWN, YES]
    assert evaluate_condition(CELLS, f"n IN ({', '.join(map(str, range(5000)))})").to_list() == [YES, YES, UNKNOWN, YES]


WRITE = """write it as in "age >= 18 AND sex = 'f'\""""
TEXTS = "compare text with 'text' in single quotes, numbers with bare numbers"
ONE_ROW = "a condition looks at the cells of one row"


@pytest.mark.parametrize(("text", "message", "hint"), [
    ("x >", "cannot be read: it ends after 'x >', where a value should follow", WRITE),
    ("", "cannot be read: it ends at its beginning, where a value should follow", WRITE),
    ("x == 1", "cannot be read: '==' stands after 'x', where AND, OR or the end should follow", "write = to compare"),
    ("(x > 1", "cannot be read: it ends after '(x > 1', where ) should follow", WRITE),
    ("x IS 5", "cannot be read: '5' stands after 'x IS', where NULL, TRUE or FALSE should follow", WRITE),
    ("s = 'a", "cannot be read: a quote (') is not closed", "close it, or write '' inside a text"),
    ("a.b > 1", "cannot be read at '.b > 1'",
     ('put a name with other characters than letters, digits and _ in double quotes, as in "blood.pressure" > 120')),
    ("(" * 900 + "x", "cannot be read: it is nested too deeply", "use fewer brackets"),
    ("x > 1" + " OR x > 1" * 300, "has more than 250 operations", ("list values with IN (…), or make a column of it"
     " beforehand")),
    ("x", "is not a condition: its value is a number, not true or false",
     'compare it with something, as in "age >= 18"'),
    ("x AND b", "joins 'x', which is a number, by AND", 'compare it with something, as in "age >= 18"'),
    ("s > 5", "does not fit the columns: compares 's', which is text, with 5, which is a number", TEXTS),
    ("x IN ('a')", "does not fit the columns: compares 'x', which is a number, with 'a', which is text", TEXTS),
    ("s + 1 > 0", "does not fit the columns: '+' needs a number, but 's' is text", TEXTS),
    ("lower(n) = 'a'", "does not fit the columns: lower() needs text, but 'n' is a number", TEXTS),
    ("d = s", "does not fit the columns: compares 'd', which is a date, with 's', which is text",
     "make a date of the text with CAST(… AS DATE)"),
    ("year(s) = 1", "does not fit the columns: year() needs a date or a time, but 's' is text",
     "make a date of it with CAST(… AS DATE); csv files can declare one: csv: {types: {COLUMN: date}}"),
    ("d = '2024-13-01'", "compares 'd', which is a date, with '2024-13-01'", "write a date as '2024-12-31'"),
    ("t > '2024-10-27 02:30:00'",
     ("compares 't' with '2024-10-27 02:30:00', which the clocks of Europe/Berlin show twice"
     " or never"), "write the offset, as in '2024-10-27 02:30:00+00:00'"),
    ("t > TIMESTAMP '2024-01-01'",
     ("does not fit the columns: compares 't' with '2024-01-01' as TIMESTAMP; only one of them has a time zone"),
     "write both columns with a time zone, or both without"),
    ("x = NULL", "compares with NULL (= NULL), which no row meets",
     "a missing value is found by IS NULL or IS NOT NULL"),
    ("CAST(n AS DATE) = d", "casts 'n', which is a number, to DATE", ("compare it as it is, or make a column of it"
     " beforehand")),
    ("CAST(n AS BLOB) = 1", "casts to BLOB", "the types are INTEGER, DOUBLE, TEXT, BOOLEAN, DATE, TIMESTAMP"),
    ("rnd(x) > 1", "calls rnd(), which is not a function of conditions", "did you mean round(x, digits)?"),
    ("random() > 0", "calls random(), which is not a function of conditions",
     f"the functions are {', '.join(FUNCTIONS)}"),
    ("round(x, n) > 1", "round() needs a whole number written in the condition, but 'n' is none",
     "write the number itself, as in round(x, 2)"),
    ("abs(x, n) > 1", "calls abs() with 2 arguments", "it is abs(x)"),
    ("now() > d", "asks the clock with NOW", "write the date itself, so that every run uses the same rows"),
    ("current_date > d", "asks the clock with CURRENT_DATE",
     "write the date itself, so that every run uses the same rows"),
    ("x > (SELECT 1)", "holds a subquery", ONE_ROW),
    ("regexp_like(s, '(')", "cannot be computed: regex error: regex parse error",
     "check its texts, dates and patterns"),
    ('"s" = "q"', "names the column 'q', which the data do not have", "put a text in single quotes: 'q'"),
    ("xx > 1", "names the column 'xx', which the data do not have", "did you mean 'x'?"),
])  # fmt: skip
def test_a_fault_says_what_is_wrong_and_the_way_out(text: str, message: str, hint: str) -> None:
    (fault,) = condition_faults(text, CELLS.schema, {})
    assert (fault.reason, fault.hint) == (message, hint)


FRAME = pl.DataFrame({
    "y": ["yes", "no"] * 4, "p": [0.9, 0.2, 0.7, 0.4, 0.1, 0.6, 0.3, 0.8],
    "x": [1.0, None, NAN, 5.0, 7.0, NAN, 0.5, 9.0], "n": [1, 2, None, 4, 5, 6, 7, None],
    "s": ["a", None, "b", "b", "a", "b", None, "a"], "b": [True, False, None, True, True, False, True, False],
})  # fmt: skip
WRITERS: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "a.csv": lambda frame, path: frame.write_csv(path),
    "a.tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    "a.parquet": lambda frame, path: frame.write_parquet(path),
    "a.feather": lambda frame, path: frame.write_ipc(path),
    "a.ndjson": lambda frame, path: frame.write_ndjson(path),
}


def sample(path: Path, where: str, **changes: Any) -> Sample:
    spec = load({
        "evalpipe": 1, "name": "x", "task": "binary",
        "outcome": {"column": "y", "event": "yes", "levels": ["yes", "no"]},
        "datasets": {"test": {"path": str(path), "where": where}}, "models": {"m": {"probability": "p"}},
    } | changes)
    return read(plan(spec, look(sources(spec))))[0]


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize(("where", "rows", "unknown"), [
    ("x > 1", 3, 3), ("NOT (x > 1)", 2, 3), ("x <> 5", 4, 3), ("x IS NOT NULL", 5, 0), ("x IS NULL", 3, 0),
    ("n >= 2", 5, 2), ("s = 'b'", 3, 2), ("s IN ('a')", 3, 2), ("b", 4, 1), ("NOT b", 3, 1), ("x > 1 OR n = 2", 4, 2),
    ("x / n > 0", 4, 4),
])
def test_every_format_keeps_the_same_rows(name: str, where: str, rows: int, unknown: int, tmp_path: Path) -> None:
    WRITERS[name](FRAME, tmp_path / name)
    summary = sample(tmp_path / name, where).summary
    assert (summary.n, summary.excluded_where, summary.unknown_where) == (rows, 8 - rows, unknown)


def test_rows_that_a_condition_cannot_judge_are_told(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "a.parquet")
    slices = [{"where": "s = 'a'", "name": "a_alone"}]
    found = sample(tmp_path / "a.parquet", "x > 0", slices=slices)
    assert [warning.message for warning in found.warnings] == [
        ("3 rows have no value in a column that 'where' of dataset 'test' needs; they are left out, because a "
         "missing value meets no condition"),
        ("1 row has no value in a column that the condition of slice 'a_alone' of dataset 'test' needs; it is not in "
         "the slice, because a missing value meets no condition"),
    ]
    assert found.slicings[0].codes.tolist().count(0) == 3
    assert sample(tmp_path / "a.parquet", "x IS NOT NULL AND x > 0").warnings == ()


def test_a_condition_and_the_cuts_of_a_column_agree_on_what_is_missing(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "a.parquet")
    slices: list[Any] = [{"column": "x", "cuts": [1]}, {"where": "x >= 1", "name": "high"}]
    cut, high = sample(tmp_path / "a.parquet", "TRUE", slices=slices).slicings
    assert [labels["x"] for labels in cut.labels] == ["< 1", ">= 1", "(missing)"]
    assert ((cut.codes == 1) == (high.codes == 0)).all()


def test_a_dataset_that_a_condition_leaves_empty_says_what_was_missing(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "a.csv")
    with pytest.raises(DataError) as caught:
        sample(tmp_path / "a.csv", "x > 100")
    assert caught.value.problems[0].notes == (
        "8 rows were read", "in 3 of them a value that it needs is missing")


def test_a_text_that_cannot_be_cast_is_an_error(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "a.csv")
    with pytest.raises(DataError) as caught:
        sample(tmp_path / "a.csv", "CAST(s AS DOUBLE) > 1")
    (problem,) = caught.value.problems
    assert problem.message == "'where' of dataset 'test' cannot be computed: \"a\" cannot be cast"
    assert problem.hint == "use TRY_CAST, which makes a value missing where it cannot be cast"
