"""Rounded probabilities of several levels: what their decimals explain is accepted, and said."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import evalpipe
from evalpipe.data.columns import allowed_gap, decimals
from evalpipe.errors import DataError

TRUTH = ["a", "b", "c"] * 100
TABLE = np.random.default_rng(3).dirichlet([1, 1, 1], 300)


def brier(table: np.ndarray) -> evalpipe.Results:
    return evalpipe.evaluate(TRUTH, task="multiclass", levels=["a", "b", "c"], probabilities={"forest": table},
                             metrics=["brier"], intervals={"method": "none"})


@pytest.mark.parametrize("places", [2, 3, 4, 5, 6, 7])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_rounded_probabilities_are_divided_by_their_sum(places: int, kind: type) -> None:
    rounded = TABLE.round(places).astype(kind)
    results = brier(rounded)
    values = rounded.astype(np.float64)
    gaps = np.abs(values.sum(axis=1) - 1)
    if (gaps > 1e-6).any():
        assert [warned.message for warned in results.warnings] == [
            (f"the probabilities of model 'forest' in dataset 'data' are rounded to {places} decimals: in "
             f"{(gaps > 1e-6).sum()} rows their sum differs from 1, by up to {gaps.max():.2g}; every row is divided "
             "by its sum")]
        values /= values.sum(axis=1, keepdims=True)
    else:
        assert results.warnings == []
    expected = ((values - np.eye(3)[np.arange(300) % 3]) ** 2).sum(axis=1).mean() / 2
    assert results.rows[0].value == pytest.approx(expected, rel=1e-12)  # the same sums in another order


def test_what_rounding_does_not_explain_is_an_error() -> None:
    rounded = TABLE.round(4)
    rounded[7, 0] += 0.0004 if rounded[7, 0] < 0.5 else -0.0004
    with pytest.raises(DataError) as caught:
        brier(rounded)
    assert str(caught.value) == f"""\
error[probability-sum]: in 1 row the probabilities of model 'forest' do not sum to 1
  |
  | row 8: {rounded[7].sum().round(6)}
  = a sum may differ from 1 by 0.00015, as 3 probabilities of 4 decimals do by rounding
  = argument probabilities['forest']
  = help: give the probabilities of all levels, or divide each row by its sum"""
    with pytest.raises(DataError, match="a sum may differ from 1 by 1e-06\n"):
        brier(TABLE * 0.99999)


@pytest.mark.parametrize(("values", "expected"), [
    ([0.25, 0.5], 2), ([0.1234, 0.5], 4), ([0.0, 1.0], 2), ([1 / 3, 0.5], None), ([0.1, 0.123456789], 9),
])
def test_decimals_are_those_of_all_values(values: list[float], expected: int | None) -> None:
    assert decimals([pl.Series(values), pl.Series([0.5, None])]) == expected
    assert decimals([pl.Series(values, dtype=pl.Float32), pl.Series([0.25])]) in (expected, 8)


def test_what_is_no_probability_has_no_decimals_and_overflows_nothing() -> None:
    assert decimals([pl.Series([0.25, 1e308]), pl.Series([0.75, 0.5])]) is None


def test_rounding_explains_half_a_unit_of_each_level_and_never_more_than_a_twentieth() -> None:
    assert allowed_gap(3, 4) == pytest.approx(0.00015, rel=1e-6)  # rounding of the sum itself is let pass
    assert allowed_gap(3, None) == allowed_gap(2, 9) == 1e-6
    assert allowed_gap(1000, 2) == 0.05
