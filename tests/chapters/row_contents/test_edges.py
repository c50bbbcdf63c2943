"""Where counts of copies and of shared rows become a record or a verdict, on either side of each limit."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest

from engine.runs import people, read_sample, run
from evalpipe.chapters.row_contents.compute import copies_in, shared_contents
from evalpipe.data.sample import Contents, Sample, SharedRows


@cache
def sample(n: int) -> Sample:
    return read_sample(people(n))


@pytest.mark.parametrize(("n", "copies", "recorded"), [
    (100, 4, False), (100, 5, True), (500, 5, True), (600, 5, False), (600, 6, True)])
def test_copies_are_recorded_from_five_rows_and_one_in_a_hundred_on(n: int, copies: int, *, recorded: bool) -> None:
    rows = list(copies_in(replace(sample(n), contents=Contents(copies=copies, compared=3))))
    assert [(row.dataset, row.n, row.copies, row.columns) for row in rows] == [("d", n, copies, 3)] * recorded


@pytest.mark.parametrize(("counts", "by_chance", "verdict"), [
    # rows, twins, repeated, other_rows, other_repeated
    ((1000, 18, 0, 1000, 0), 9.0, "clear"),  # 9 rows by chance, and 1% of the other 991
    ((1000, 19, 0, 1000, 0), 9.0, "shared"),
    ((1000, 18, 0, 500, 0), 18.0, "clear"),  # nine rows of the smaller dataset
    ((500, 22, 0, 1000, 0), 9.0, "shared"),
    ((1000, 41, 10, 1000, 5), 31.6, "clear"),  # 0.01 + 4 √(0.01 · 0.99 / 1000) + 0.009
    ((1000, 42, 10, 1000, 5), 31.6, "shared"),
    ((1000, 129, 5, 1000, 11), 33.2, "clear"),  # where more rows are alike, a tenth of the others
    ((1000, 130, 11, 1000, 5), 33.2, "shared"),
    ((1000, 1000, 500, 1000, 0), 572.2, "shared"),
    ((1000, 1000, 501, 1000, 0), 573.2, "too-alike"),
    ((5, 5, 0, 5, 0), 5.0, "clear"),  # of so few rows, chance explains all
    ((0, 0, 0, 0, 0), 0.0, "clear"),
])
def test_shared_rows_are_judged_beyond_what_chance_explains(
    counts: tuple[int, int, int, int, int], by_chance: float, verdict: str
) -> None:
    rows, twins, repeated, other_rows, other_repeated = counts
    shared = SharedRows("o", ("a", "b"), rows, twins, repeated, other_rows, other_repeated)
    (row,) = shared_contents(replace(sample(100), contents=Contents(shared=(shared,))))
    assert (row.dataset, row.other, row.columns, row.rows, row.twins) == ("d", "o", ["a", "b"], rows, twins)
    assert (row.by_chance, row.verdict) == (by_chance, verdict)


def test_without_contents_nothing_is_recorded() -> None:
    bare = replace(sample(100), contents=None)
    assert (list(copies_in(bare)), list(shared_contents(bare))) == ([], [])


@pytest.mark.parametrize(("n", "alike", "next_alike", "many"), [
    (400, 19, 1, 0), (400, 20, 1, 1), (400, 20, 2, 1), (400, 20, 3, 0), (200, 19, 1, 0), (200, 20, 1, 1),
    (400, 400, 0, 0)])
def test_a_value_is_shared_from_a_twentieth_and_twenty_rows_on_where_no_other_is_near(
    n: int, alike: int, next_alike: int, many: int
) -> None:
    values = np.linspace(0.1234567, 0.8765432, n)
    values[:alike], values[alike:alike + next_alike] = 0.4321, 0.6789
    frame = pl.DataFrame({"y": np.arange(n) % 2, "p": values})
    rows = run(frame, metrics=["brier"], intervals={"method": "none"}).shared_values
    assert [(row.value, row.rows, row.n, row.next_rows, row.at_end, row.events) for row in rows] == [
        (0.4321, alike, n, next_alike, False, alike // 2)] * many
