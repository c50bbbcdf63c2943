"""Slices by period: the days, weeks, months, quarters and years of a column of dates, in order of time."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.test_slices import WRITERS, assert_same, document, members, problem, sample
from evalpipe.errors import SpecError
from evalpipe.spec.load import load

DAYS = [date(2026, 3, 5), date(2025, 12, 29), None, date(2026, 1, 1), date(2026, 3, 31), date(2026, 4, 1),
        date(2026, 12, 31)]
FRAME = pl.DataFrame({
    "y": ["yes", "no", "yes", "no", "no", "yes", "no"], "p": [0.9, 0.2, 0.7, 0.4, 0.1, 0.6, 0.3],
    "decided_on": DAYS, "sex": ["f", "m", "f", "m", "f", "m", "f"],
})
LENGTHS = ["day", "week", "month", "quarter", "year"]


def by(length: str, column: str = "decided_on") -> dict[str, str]:
    return {"column": column, "by": length}


def named(day: date, length: str) -> str:
    """Name the period of a day with the calendar of Python, the oracle."""
    year, week, _ = day.isocalendar()
    return {
        "day": day.isoformat(), "week": f"{year:04}-W{week:02}", "month": f"{day.year:04}-{day.month:02}",
        "quarter": f"{day.year:04}-Q{(day.month + 2) // 3}", "year": f"{day.year:04}",
    }[length]


def test_periods_are_slices_in_order_of_time_and_missing_days_come_last() -> None:
    found = sample(FRAME, slices=[by("month"), [by("quarter"), "sex"]])
    month, both = found.slicings
    assert list(members(found, month).items()) == [
        ("2025-12", [0.2]), ("2026-01", [0.4]), ("2026-03", [0.1, 0.9]), ("2026-04", [0.6]), ("2026-12", [0.3]),
        ("(missing)", [0.7])]
    assert month.title == "decided_on"
    assert list(members(found, both).items()) == [
        ("2025-Q4 m", [0.2]), ("2026-Q1 f", [0.1, 0.9]), ("2026-Q1 m", [0.4]), ("2026-Q2 m", [0.6]),
        ("2026-Q4 f", [0.3]), ("(missing) f", [0.7])]


@given(days=st.lists(st.dates(date(1, 1, 1), date(9999, 12, 31)), min_size=1, max_size=20),
       length=st.sampled_from(LENGTHS))
def test_every_day_is_in_the_period_that_the_calendar_of_python_names(days: list[date], length: str) -> None:
    places = [float(number) for number in range(len(days))]
    frame = pl.DataFrame({"y": places, "p": places, "decided_on": days})
    found = sample(frame, task="regression", outcome={"column": "y"}, models={"m": {"prediction": "p"}},
                   slices=[by(length)], slice_rules={"max_levels": 50}).slicings[0]
    labels = [labels["decided_on"] for labels in found.labels]
    assert labels == list(dict.fromkeys(named(day, length) for day in sorted(days)))
    assert [labels[code] for code in found.codes] == [named(day, length) for day in days]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("timed", [False, True], ids=["dates", "times"])
@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_periods(name: str, timed: bool, length: str, tmp_path: Path) -> None:
    moments = FRAME.with_columns(pl.col("decided_on").cast(pl.Datetime("us")) + timedelta(hours=23, minutes=59))
    WRITERS[name](moments if timed else FRAME, tmp_path / name)
    asked = {"slices": [by(length)], "worst_slices": {"metric": "brier", "columns": [by(length)]}}
    assert_same(sample(path=str(tmp_path / name), **asked), sample(FRAME, **asked))


@pytest.mark.parametrize("kind", ["date", "datetime", "text"])
def test_a_declared_type_of_separated_text_changes_no_period(kind: str, tmp_path: Path) -> None:
    texts = pl.col("decided_on").dt.to_string() + ("" if kind == "date" else " 23:59")
    FRAME.with_columns(texts).write_csv(tmp_path / "a.csv")
    declared = {"csv": {"types": {"decided_on": kind}}}
    assert_same(sample(path=str(tmp_path / "a.csv"), dataset=declared, slices=[by("week")]),
                sample(FRAME, slices=[by("week")]))


def test_a_time_with_a_zone_counts_on_its_day_in_that_zone(tmp_path: Path) -> None:
    late = datetime(2026, 3, 31, 23, 30)  # noqa: DTZ001 - its zone comes below
    for zone, expected in (("Europe/Berlin", "2026-03"), ("UTC", "2026-03"), (None, "2026-03")):
        moments = FRAME.with_columns(decided_on=pl.Series([late] * 7).dt.replace_time_zone(zone))
        moments.write_parquet(tmp_path / "a.parquet")
        found = sample(path=str(tmp_path / "a.parquet"), slices=[by("month")])
        assert [dict(labels) for labels in found.slicings[0].labels] == [{"decided_on": expected}]
    moved = FRAME.with_columns(decided_on=pl.Series([late] * 7).dt.replace_time_zone("UTC").dt.convert_time_zone(
        "Europe/Berlin"))
    assert members(sample(moved, slices=[by("day")]), sample(moved, slices=[by("day")]).slicings[0]).keys() == {
        "2026-04-01"}
    # A text has the day that is written in it, whatever follows.
    texts = ["2026-03-31T23:30:00Z", "2026-03-31T23:30:00-05:00", "2026-03-31 23:30:00.5+14", "2026-03-31T23:30",
             "2026-03-31", " 2026-03-31 00:00:00+0000", ""]
    written = FRAME.with_columns(decided_on=pl.Series(texts))
    found = sample(written, slices=[by("day")])
    assert [labels["decided_on"] for labels in found.slicings[0].labels] == ["2026-03-31", "(missing)"]


@pytest.mark.parametrize(("length", "count", "message", "hint"), [
    ("day", 60, "has 60 days, more than the 50", "take a longer period: {column: decided_on, by: week}"),
    ("day", 400, "has 400 days, more than the 50", "take a longer period: {column: decided_on, by: month}"),
    ("week", 400, "has 58 weeks, more than the 50", "take a longer period: {column: decided_on, by: month}"),
    ("month", 2000, "has 66 months, more than the 50", "take a longer period: {column: decided_on, by: quarter}"),
    ("year", 20_000, "has 55 years, more than the 50", "leave rows out with 'where'"),
])
def test_too_many_periods_are_refused_with_a_longer_one(length: str, count: int, message: str, hint: str) -> None:
    frame = pl.DataFrame({"y": ["yes", "no"] * (count // 2), "p": [0.5] * count})
    days = pl.Series([date(2020, 1, 1) + timedelta(days=day) for day in range(count)])
    said = problem("too-many-levels", frame.with_columns(decided_on=days), slices=[by(length)])
    assert f"column 'decided_on' of dataset 'test' {message} that slices may have ('slice_rules.max_levels')" in said
    assert f"{hint}, or raise 'max_levels'" in said


@pytest.mark.parametrize(("values", "code", "said", "hint"), [
    (pl.Series([20260305] * 7), "wrong-type", "column 'decided_on' of dataset 'test' holds whole numbers, not dates",
     "write it as a column of dates, or of texts such as 2026-03-05"),
    (pl.Series([True] * 7), "wrong-type", "holds true and false, not dates", "texts such as 2026-03-05"),
    (pl.Series([time(3)] * 7), "wrong-type", "holds values of type Time, not dates", "texts such as 2026-03-05"),
    (pl.Series([[date(2026, 3, 5)]] * 7), "wrong-type", "holds lists or mappings, not dates", "texts such as"),
    (pl.Series(["2026-03-05", "05.03.2026", "March", "2026-02-30", "2026-03-05T25:00", None, ""]), "not-a-date",
     "4 values of column 'decided_on' are texts, not dates", "texts such as 2026-03-05"),
    (pl.Series(["2026-03-05"] * 6 + ["n/a"]), "not-a-date", "1 value of column 'decided_on' is a text, not a date",
     "only an empty cell counts as missing"),
    (pl.Series([3_000_000] * 7).cast(pl.Int32).cast(pl.Date), "not-a-date",
     "7 values of column 'decided_on' are not dates of the years 1 to 9999", "texts such as 2026-03-05"),
])
def test_a_column_without_dates_is_refused(values: pl.Series, code: str, said: str, hint: str) -> None:
    text = problem(code, FRAME.with_columns(decided_on=values), slices=[by("month")])
    assert said in text
    assert hint in text


@pytest.mark.parametrize(("cells", "code", "said"), [
    (["20260305"] * 7, "wrong-type", "column 'decided_on' of dataset 'test' holds whole numbers, not dates"),
    (["05.03.2026", *["2026-03-05"] * 6], "not-a-date", "1 value of column 'decided_on' is a text, not a date"),
])
def test_separated_text_without_dates_is_refused_with_the_type_to_declare(
    cells: list[str], code: str, said: str, tmp_path: Path
) -> None:
    FRAME.with_columns(decided_on=pl.Series(cells)).write_csv(tmp_path / "a.csv")
    text = problem(code, None, path=str(tmp_path / "a.csv"), slices=[by("month")])
    assert said in text
    assert "write dates as 2026-03-05 and declare csv: {types: {decided_on: date}}" in text


def test_words_for_a_missing_date_are_to_be_declared(tmp_path: Path) -> None:
    FRAME.with_columns(decided_on=pl.Series(["2026-03-05"] * 6 + ["NA"])).write_csv(tmp_path / "a.csv")
    path = str(tmp_path / "a.csv")
    assert 'declare csv: {null: {"decided_on": [NA]}}, so that it counts as missing' in problem(
        "not-a-date", None, path=path, slices=[by("month")])
    found = sample(path=path, slices=[by("month")], dataset={"csv": {"null": {"decided_on": ["NA"]}}})
    assert [labels["decided_on"] for labels in found.slicings[0].labels] == ["2026-03", "(missing)"]


def test_a_reference_is_named_by_its_period() -> None:
    assert sample(FRAME, slices=[by("month")], slice_rules={"reference": {"decided_on": "2026-03"}}).n == 7
    assert sample(FRAME, slices=[by("year")], slice_rules={"reference": {"decided_on": 2026}}).n == 7
    said = problem("reference-absent", slices=[by("month")], slice_rules={"reference": {"decided_on": "2026-05"}},
                   frame=FRAME)
    assert "no row of dataset 'test' is in the reference slice '2026-05' of 'decided_on'" in said


@pytest.mark.parametrize(("slicing", "code", "said"), [
    (by("decade"), "unknown-choice", "'day', 'week', 'month', 'quarter' or 'year'"),
    ({"column": "decided_on", "by": "month", "cuts": [1]}, "unknown-key", "'cuts'"),
    ([by("month"), by("year")], "duplicate-column", "is listed twice"),
])
def test_what_is_wrong_with_a_period_is_said(slicing: Any, code: str, said: str) -> None:
    with pytest.raises(SpecError) as caught:
        load(document(slices=[slicing]))
    assert [found.code for found in caught.value.problems] == [code]
    assert said in str(caught.value)
