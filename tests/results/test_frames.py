"""Tables of results as data frames: their types follow from the declared fields alone."""

from __future__ import annotations

import polars as pl
import pytest

import evalpipe
from evalpipe.errors import DataError
from evalpipe.results.frames import tables

TRUTH, CHANCE = [0, 1] * 20, [i / 40 for i in range(40)]


def test_every_table_has_one_schema_whatever_was_asked() -> None:
    none = evalpipe.evaluate(TRUTH, CHANCE, event=1, metrics=["brier"], intervals={"method": "none"})
    all_ = evalpipe.evaluate(
        TRUTH, {"m": CHANCE, "other": CHANCE[::-1]}, event=1, metrics=["brier", "accuracy"], no_information=True,
        slices={"half": [i < 20 for i in range(40)]}, compare={"baseline": "m"}, intervals={"replicates": 100},
        gates=[{"metric": "brier", "max": 0.5}],
    )
    assert [*tables(none)] == [*tables(all_)]
    assert [name for name in tables(none) if none.frame(name).schema != all_.frame(name).schema] == []
    kinds = [none.estimates.schema[name] for name in ("skill", "monte_carlo_error", "error_bound")]
    assert kinds == [pl.Float64] * 3
    assert all_.estimates["skill"].null_count() < all_.estimates.height


@pytest.mark.parametrize(("number", "where"), [("1e400", "estimates.0.value"), ("-1e999", "estimates.0.value")])
def test_a_number_that_no_float_can_hold_is_told(number: str, where: str) -> None:
    text = evalpipe.evaluate(TRUTH, CHANCE, event=1, metrics=["brier"], intervals={"method": "none"}).to_json()
    value = text.split('"estimates": ')[1].split('"value": ', 1)[1].split(",")[0]
    with pytest.raises(DataError) as caught:
        evalpipe.Results.from_json(text.replace(f'"value": {value}', f'"value": {number}'))
    assert str(caught.value) == (
        f"error[not-results]: results.json does not hold results of evalpipe: {where}: the number is too large, or not "
        "a number\n  = help: give the output folder of `evalpipe run`, written by this version or an earlier one"
    )
