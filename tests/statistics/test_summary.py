"""What statistics hold in memory, and that forgetting it changes nothing."""

from __future__ import annotations

import numpy as np

from evalpipe.statistics import Rows, Summary, summary

TABLES = ("events_at", "others_at", "events_from", "others_from", "probability_at", "confusion")


def drawn(n: int) -> Summary:
    generator = np.random.default_rng(n)
    p = generator.random(n)
    y = generator.random(n) < p
    return Summary(Rows(y, p >= 0.5, p), generator.integers(1, 4, n))


def test_forgotten_tables_are_computed_again_the_same_and_totals_stay() -> None:
    summarised = drawn(summary.KEPT + 1)
    total, tables = summarised("total"), {name: summarised(name) for name in TABLES}
    small = summarised("confusion")
    summarised.forget()
    assert summarised("total") is total
    assert summarised("confusion") is small
    for name, before in tables.items():
        np.testing.assert_array_equal(summarised(name), before, strict=True)
    assert summarised("events_at") is not tables["events_at"]


def test_the_order_of_many_rows_is_forgotten_and_comes_back() -> None:
    summarised = drawn(summary.KEPT + 1)
    order = summarised.rows.order
    summarised.forget()
    assert "order" not in vars(summarised.rows)
    np.testing.assert_array_equal(summarised.rows.order, order)
    few = drawn(100)
    order = few.rows.order
    few.forget()
    assert few.rows.order is order


def test_tables_of_few_scores_are_kept() -> None:
    summarised = drawn(100)
    before = summarised("events_at")
    summarised.forget()
    assert summarised("events_at") is before
