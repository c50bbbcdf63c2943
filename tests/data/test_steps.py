"""The column of steps, whatever it is stored as, and files of steps that are not what they should be."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import evalpipe
from evalpipe.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

ROWS = pl.DataFrame({"id": list("abcdef"), "y": [1, 0, 1, 0, 1, 0], "exposure": [1.0, 2.0, 1.0, 3.0, 1.0, 2.0]})
TWICE = pl.DataFrame({"id": list("abcdef") * 2, "p": [0.9, 0.2, 0.8, 0.3, 0.6, 0.4] * 2})


def run_of(folder: Path, file: pl.DataFrame, model: dict[str, Any] | None = None, **keys: Any) -> evalpipe.Results:
    ROWS.write_parquet(folder / "rows.parquet")
    file.write_parquet(folder / "net.parquet")
    net = {"predictions": str(folder / "net.parquet"), "step": "step", **(model or {"probability": "p"})}
    spec = {
        "evalpipe": 1, "name": "steps", "task": "binary", "outcome": {"column": "y", "event": 1}, "id": "id",
        "datasets": {"test": {"path": str(folder / "rows.parquet")}},
        "models": {"net": net},
        "intervals": {"method": "none"}, "report": {"formats": []}}
    return evalpipe.run(spec | keys)


def refused(folder: Path, file: pl.DataFrame, model: dict[str, Any] | None = None, **keys: Any) -> list[str]:
    """Return the messages with which a file is refused."""
    with pytest.raises(DataError) as caught:
        run_of(folder, file, model, **keys)
    return [problem.message for problem in caught.value.problems]


@pytest.mark.parametrize("steps", [
    pl.Series([0] * 6 + [1] * 6, dtype=pl.Int8), pl.Series([0.0] * 6 + [1.0] * 6),
    pl.Series(["0.0"] * 6 + ["1.0"] * 6).cast(pl.Decimal(4, 1)), pl.Series([0] * 6 + [1] * 6, dtype=pl.UInt64),
], ids=lambda steps: str(steps.dtype))
def test_whole_numbers_are_steps_however_they_are_stored(steps: pl.Series, tmp_path: Path) -> None:
    assert run_of(tmp_path, TWICE.with_columns(step=steps)).steps[0].steps == [0, 1]


def test_the_largest_step_is_exact(tmp_path: Path) -> None:
    steps = pl.Series([0] * 6 + [2**53] * 6)
    assert run_of(tmp_path, TWICE.with_columns(step=steps)).steps[0].steps == [0, 2**53]
    assert refused(tmp_path, TWICE.with_columns(step=pl.Series([0] * 6 + [2**54] * 6))) == [
        "6 values of column 'step' are not whole numbers from 0 on"]


@pytest.mark.parametrize(("steps", "holds"), [
    ([True] * 6 + [False] * 6, "true and false"), ([dt.date(2026, 1, 1)] * 12, "dates or times"),
    ([[1]] * 12, "lists or mappings"), (["one"] * 12, "text"),
])
def test_what_is_no_number_is_no_step(steps: list[Any], holds: str, tmp_path: Path) -> None:
    assert refused(tmp_path, TWICE.with_columns(step=pl.Series(steps))) == [
        f"column 'step' of the file of model 'net' for dataset 'test' holds {holds}, not numbers"]


def test_cells_without_a_step_are_told_apart_from_wrong_ones(tmp_path: Path) -> None:
    steps = pl.Series([0.0, 0.0, None, float("nan"), 0.5, -1.0, *[1.0] * 6])
    assert refused(tmp_path, TWICE.with_columns(step=steps)) == [
        "2 rows have no step in column 'step'", "2 values of column 'step' are not whole numbers from 0 on"]


def test_a_file_without_rows_lacks_all_of_them(tmp_path: Path) -> None:
    file = TWICE.with_columns(step=pl.Series([0] * 12)).clear()
    assert refused(tmp_path, file) == [
        "6 rows have no prediction: their ids are not in the file of model 'net' for dataset 'test'"]


def test_levels_that_the_outcome_does_not_have_are_told_once_with_their_step(tmp_path: Path) -> None:
    file = pl.DataFrame({"id": list("abcdef") * 3, "step": [0] * 6 + [1] * 6 + [2] * 6,
                         "q": ["1", "0", "1", "0", "1", "0", *["maybe"] * 6, *["never"] * 6]})
    outcome = {"column": "y", "event": 1, "levels": [1, 0]}
    assert refused(tmp_path, file, {"prediction": "q"}, outcome=outcome) == [
        "6 values of the prediction column 'q' are no level of the outcome: 'maybe', at step 1"]


def test_levels_are_the_same_at_every_step_however_they_are_stored(tmp_path: Path) -> None:
    file = pl.DataFrame({"id": list("abcdef") * 2, "step": [0] * 6 + [1] * 6,
                         "q": ["1", "0", "1", "0", "1", "0", "1.0", "0.0", "1.0", "0.0", "1.0", "0.0"]})
    results = run_of(tmp_path, file, {"prediction": "q"}, metrics=["accuracy"],
                     outcome={"column": "y", "event": 1, "levels": [1, 0]})
    assert results.steps[0].values == [1.0, 1.0]


def test_rates_that_give_no_expected_count_are_told_with_their_step(tmp_path: Path) -> None:
    rates = [1.0] * 6 + [1e59, 1e60, *[1.0] * 4] + [1.0] * 6
    file = pl.DataFrame({"id": list("abcdef") * 3, "step": [0] * 6 + [1] * 6 + [2] * 6, "rate": rates})
    assert refused(tmp_path, file, {"rate": "rate"}, task="count", outcome={"column": "y"}, exposure="exposure") == [
        "1 value of column 'rate' times the exposure is too large or too small to compute with, at step 1"]


def test_rates_become_expected_counts_at_every_step(tmp_path: Path) -> None:
    file = pl.DataFrame({"id": list("abcdef") * 2, "step": [0] * 6 + [1] * 6, "rate": [0.5] * 6 + [2.0] * 6})
    results = run_of(tmp_path, file, {"rate": "rate"}, task="count", outcome={"column": "y"}, exposure="exposure",
                     metrics=["mae"])
    truth, exposure = ROWS["y"].to_numpy(), ROWS["exposure"].to_numpy()
    assert results.steps[0].values == pytest.approx(
        [abs(truth - rate * exposure).mean() for rate in (0.5, 2.0)], rel=1e-12)


def test_probabilities_of_levels_that_are_rounded_are_rescaled_at_their_step_alone(tmp_path: Path) -> None:
    def at(step: int, a: float, b: float) -> pl.DataFrame:
        return pl.DataFrame({"id": list("abcdef"), "step": [step] * 6, "p_1": [a] * 6, "p_0": [b] * 6})

    results = run_of(tmp_path, pl.concat([at(0, 0.6, 0.41), at(1, 0.6, 0.4)]), {"probabilities": "p_{level}"},
                     task="multiclass", outcome={"column": "y", "levels": [1, 0]}, metrics=["brier"])
    (warning,) = (warned.message for warned in results.warnings if warned.code == "rounded-probabilities")
    assert warning == (
        "the probabilities of model 'net' in dataset 'test' are rounded to 2 decimals: in 6 rows their sum differs "
        "from 1, by up to 0.01; every row is divided by its sum")
    share = 0.6 / 1.01
    assert results.steps[0].values == pytest.approx(
        [((1 - share) ** 2 + share**2) / 2, (0.4**2 + 0.6**2) / 2], rel=1e-12)
