"""Periods wherever a slice may be named: gates, references, the search for the worst, texts, the card, its figures."""

from __future__ import annotations

import re
from datetime import date
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

from card.blocks import rows, tables
from engine.runs import people, run
from evalpipe.chapters.slices.card import sections
from evalpipe.chapters.slices.card_figures import slice_forests
from evalpipe.errors import DataError
from evalpipe.results import Results

MONTHS = ["2025-11", "2025-12", "2026-01", "2026-02", "2026-10"]
KEYS: dict[str, Any] = {
    "metrics": ["accuracy", "brier"], "intervals": {"replicates": 100, "bands": False},
    "slices": [{"column": "decided_on", "by": "month"}, ["h", {"column": "decided_on", "by": "year"}]],
    "slice_rules": {"reference": {"decided_on": "2025-11"}},
    "worst_slices": {"metric": "brier", "columns": ["h", {"column": "decided_on", "by": "quarter"}], "top": 20},
    "gates": [{"metric": "brier", "max": 0.5, "slice": {"decided_on": "2026-10"}},
              {"metric": "brier", "max": 0.5, "slices": "decided_on", "severity": "warn"}],
    "card": {"intended_use": 'In February {{ value("brier", slice={"decided_on": "2026-02"}) }}.'},
}


@cache
def frame() -> pl.DataFrame:
    firsts = [date(*map(int, month.split("-")), 9) for month in MONTHS]
    chosen = np.random.default_rng(1).integers(0, len(firsts), 600)
    return people(600).with_columns(decided_on=pl.Series([firsts[k] for k in chosen]))


@cache
def results() -> Results:
    return run(frame(), **KEYS)


def test_a_value_in_a_month_is_that_of_its_rows() -> None:
    found = {row.slice["decided_on"]: row for row in results().rows if row.metric == "brier" and row.slice
             and len(row.slice) == 1}
    assert list(found) == MONTHS
    for month, row in found.items():
        part = frame().filter(pl.col("decided_on").dt.to_string("%Y-%m") == month)
        assert row.n == part.height
        assert row.value == pytest.approx(((part["p"] - part["y"]) ** 2).mean(), abs=1e-12)


def test_a_month_is_named_by_gates_references_and_searches() -> None:
    assert [gate.slice for gate in results().gates] == [
        {"decided_on": "2026-10"}, *({"decided_on": month} for month in MONTHS)]
    compared = [(row.slice, row.reference) for row in results().slice_differences if row.metric == "brier"]
    assert compared[:4] == [({"decided_on": month}, {"decided_on": "2025-11"}) for month in MONTHS[1:]]
    searched = [row.slice["decided_on"] for row in results().worst_slices if list(row.slice) == ["decided_on"]]
    assert sorted(searched) == ["2025-Q4", "2026-Q1", "2026-Q4"]


def test_a_month_without_rows_is_told_with_those_that_have_some() -> None:
    with pytest.raises(DataError) as caught:
        run(frame(), **KEYS | {"gates": [{"metric": "brier", "max": 0.5, "slice": {"decided_on": "2026-03"}}]})
    assert "no row of dataset 'd' is in the slice decided_on = 2026-03" in str(caught.value)
    assert "its slices are 'decided_on = 2025-11', 'decided_on = 2025-12', 'decided_on = 2026-01'" in str(caught.value)


def test_the_card_has_months_in_order_of_time_in_figures_and_texts_and_worst_first_in_its_table() -> None:
    (table,) = [table for table in tables(sections(results())) if "in slices of" in table.caption]
    assert rows(table)[0].cells[0] == "All rows"
    assert {row.cells[0] for row in rows(table)[1:]} == {
        *(f"decided_on = {month}" for month in MONTHS),
        *(f"h = {h}, decided_on = {year}" for h in "xz" for year in ("2025", "2026"))}
    months = run(frame(), **KEYS | {"slices": [{"column": "decided_on", "by": "month"}], "gates": [], "card": {}})
    svg = slice_forests(months, "d")[0].svg
    heights = [float(found) for month in MONTHS for found in re.findall(rf'y="([\d.]+)"[^>]*>{month}</text>', svg)]
    assert len(heights) == len(MONTHS)
    assert heights == sorted(heights)
    (stated,) = results().statement.numbers
    assert (stated.metric, stated.slice) == ("brier", {"decided_on": "2026-02"})
