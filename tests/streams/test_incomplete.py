"""Rows without a prediction of every model: read part by part, they are left out and counted as of held rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from evalpipe.errors import DataError
from streams.streaming import rows, run, write

if TYPE_CHECKING:
    from pathlib import Path

PLACE = pl.int_range(pl.len())
LACKING = rows().with_columns(
    p=pl.when(PLACE % 11 == 3).then(None).otherwise(pl.col("p")),
    q=pl.when(PLACE % 13 == 3).then(float("nan")).otherwise(pl.col("q")),
    w=pl.when(PLACE % 5 == 0).then(0).otherwise(2))
ALL = {"complete_case": "all", "metrics": ["accuracy", "brier", "log_loss", "sensitivity"]}


@pytest.mark.parametrize("keys", [
    {}, {"weight": {"column": "w", "kind": "frequency"}}, {"slices": ["s"]},
    {"datasets": {"d": {"path": "d", "where": "who > 20"}}}], ids=["rows", "weights", "slices", "where"])
def test_incomplete_rows_are_left_out_and_counted_alike(
    tmp_path: Path, keys: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = write(LACKING, tmp_path / "d", [1, 1500])
    in_parts, held = (run(path, mode, **ALL, **keys) for mode in ("grid", "exact"))

    for both in zip(in_parts.datasets, held.datasets, strict=True):
        summaries = [dataset.model_dump(exclude={"cells"}) for dataset in both]
        assert summaries[0] == summaries[1]
    assert in_parts.datasets[0].excluded_incomplete > 600
    assert list(in_parts.datasets[0].lacking_predictions) == ["p", "q"]
    assert [str(warned) for warned in in_parts.warnings] == [str(warned) for warned in held.warnings]
    outcomes = [{check.code: check.outcome for check in results.checks} for results in (in_parts, held)]
    assert outcomes[0]["rows-left-out"] == outcomes[1]["rows-left-out"] == "note"
    # Sums over rows, exact on both sides.
    values = [[row.value for row in results.rows] for results in (in_parts, held)]
    assert values[0] == pytest.approx(values[1], rel=1e-13)


def test_a_model_without_any_prediction_is_refused_in_the_words_of_held_rows(tmp_path: Path) -> None:
    path = write(LACKING.with_columns(q=pl.lit(None, pl.Float64)), tmp_path / "d", [1500])
    told = []
    for mode in ("grid", "exact"):
        with pytest.raises(DataError) as error:
            run(path, mode, **ALL)
        told.append(str(error.value))
    assert told[0] == told[1]
    assert "no row of dataset 'd' has a prediction of every model" in told[0]
