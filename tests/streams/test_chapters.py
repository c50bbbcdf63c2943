"""What chapters make of rows that are read part by part is what they make of rows that are held."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from evalpipe.card.data import facts
from evalpipe.errors import DataError
from evalpipe.results import Results
from evalpipe.words.numbers import number
from streams.streaming import rows, run, write

if TYPE_CHECKING:
    from pathlib import Path

SLICED = {"slices": ["s", {"column": "age", "cuts": [45, 55]}]}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(rows(6000), tmp_path_factory.mktemp("streamed") / "d", [2500])


@pytest.fixture(scope="module")
def two(path: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    other = write(rows(5000, seed=9), tmp_path_factory.mktemp("streamed") / "c", [])
    return {"datasets": {"c": {"path": str(other), "role": "calibrate"}, "d": {"path": str(path)}}}


def both(path: Path, **keys: Any) -> tuple[Results, Results]:
    return run(path, "grid", **keys), run(path, "exact", **keys)


def apart(limit: float | None, other: float | None, width: float) -> float:
    """Return how far two limits lie apart, in widths of the interval; nothing where neither is there."""
    return 0.0 if limit is None and other is None else abs((limit or 0) - (other or 0)) / width


def test_limits_are_those_of_draws_of_rows(path: Path) -> None:
    streamed, held = both(path, **SLICED, intervals={"replicates": 500})
    off = [
        apart(getattr(row, end), getattr(exact, end), exact.upper - exact.lower)
        for row, exact in zip(streamed.rows, held.rows, strict=True) for end in ("lower", "upper")
        if exact.lower is not None and exact.upper > exact.lower]
    # The quantiles of 500 replicates are known to 4 % of the width of their interval, of two draws to 6 %.
    assert np.median(off) < 0.04
    assert max(off) < 0.25


def test_differences_of_models_are_tested_alike(path: Path) -> None:
    streamed, held = both(path, **SLICED, compare={"baseline": "q"}, metrics=["accuracy", "brier", "roc_auc", "ks"])
    assert len(streamed.comparisons) == len(held.comparisons) > 10
    for row, exact in zip(streamed.comparisons, held.comparisons, strict=True):
        assert (row.metric, row.slice, row.test) == (exact.metric, exact.slice, exact.test)
        assert row.difference == pytest.approx(exact.difference, abs=2e-4)
        width = exact.upper - exact.lower
        # Of McNemar's test nothing but counts is used; errors of the others are those of cells a hundredth wide.
        allowed = 1e-9 if row.metric == "accuracy" else 0.02 if row.metric in {"brier", "roc_auc"} else 0.3
        assert apart(row.lower, exact.lower, width) < allowed, (row.metric, row.slice)


def test_slices_differ_from_all_rows_alike(path: Path) -> None:
    streamed, held = both(path, **SLICED, metrics=["accuracy", "roc_auc"])
    for row, exact in zip(streamed.slice_differences, held.slice_differences, strict=True):
        assert (row.metric, row.slice, row.test) == (exact.metric, exact.slice, exact.test)
        assert row.difference == pytest.approx(exact.difference, abs=2e-4)
        # The accuracy is tested by counts, which are the same.
        assert apart(row.lower, exact.lower, exact.upper - exact.lower) < (1e-9 if row.metric == "accuracy" else 0.3)


def test_thresholds_are_chosen_alike(path: Path, two: dict[str, Any]) -> None:
    keys = {**two, "threshold": {"maximize": "youden", "on": "c"}, "metrics": ["youden", "f1"]}
    streamed, held = both(path, **keys)
    for row, exact in zip(streamed.thresholds, held.thresholds, strict=True):
        # A threshold lies midway between two scores, or two cells of 2^-16.
        assert row.value == pytest.approx(exact.value, abs=1e-3)
        assert row.apparent == pytest.approx(exact.apparent, abs=1e-3)


def test_recalibrated_variants_are_alike(path: Path, two: dict[str, Any]) -> None:
    methods = {"methods": ["platt", "isotonic", "beta"], "fit_on": "c"}
    streamed, held = both(path, **two, recalibrate=methods, metrics=["brier", "roc_auc", "ece"])
    for row, exact in zip(streamed.rows, held.rows, strict=True):
        assert (row.variant, row.metric, row.n) == (exact.variant, exact.metric, exact.n)
        # Sums of losses of recalibrated probabilities are taken at the mean of each cell, 2^-16 wide.
        assert row.value == pytest.approx(exact.value, abs=1e-9 + (row.error_bound or 0)), (row.variant, row.metric)


def test_rows_that_cannot_be_compared_are_told(path: Path, two: dict[str, Any]) -> None:
    streamed = run(path, **two, recalibrate={"methods": ["platt"], "fit_on": "c"}, metrics=["brier"])
    told = [warning.message for warning in streamed.warnings if warning.code == "rows-not-compared"]
    assert told == [(
        "whether dataset 'd' shares rows with dataset 'c' was not checked, for rows that are read part by part are not "
        "compared; no file is in both")]


def test_a_file_in_two_datasets_is_refused(path: Path) -> None:
    datasets = {"c": {"path": str(path), "role": "calibrate"}, "d": {"path": str(path)}}
    with pytest.raises(DataError) as error:
        run(path, datasets=datasets, recalibrate={"methods": ["platt"], "fit_on": "c"})
    name = path / "part-00000.parquet"
    assert error.value.problems[0].code == "shared-rows"
    assert error.value.problems[0].message == f"dataset 'd' and dataset 'c' hold the same file, {name}"


def test_the_card_says_what_rows_were_counted_in(path: Path) -> None:
    results = run(path, metrics=["brier", "roc_auc"])
    cells = results.datasets[0].cells
    # Scores of 15 digits share a cell here and there.
    assert cells is not None
    assert 5000 < cells <= 6000
    bound = max(row.error_bound for row in results.rows if row.error_bound is not None)
    said = dict(facts(results, results.datasets[0]))["Rows read part by part"]
    assert said == (
        f"counted in {cells:,} cells of neighbouring scores; sums over rows are exact, other measures within "
        f"{number(bound)}")
    assert run(path, "exact", metrics=["brier"]).datasets[0].cells is None


def test_bins_count_rows_and_not_cells(path: Path) -> None:
    streamed, held = both(path, metrics=["log_loss"])
    counted = [(getattr(curve.points, "rows", None), getattr(exact.points, "rows", None))
               for curve, exact in zip(streamed.curves, held.curves, strict=True)
               if curve.curve in {"calibration_uniform", "calibration_window"}]
    assert len(counted) == 4
    assert all(rows == exact and sum(exact or ()) >= 6000 for rows, exact in counted)
