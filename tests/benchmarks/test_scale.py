"""The benchmark of scale: peers compute what it says they do, ratios and slopes are right, and its tables are whole."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from sklearn import metrics as sk

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import large_data
import processes
import scale
import scale_others
from processes import Spent

ROWS = 20_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which the rows of the benchmark are, in two files."""
    kept = tmp_path_factory.mktemp("data")
    large_data.write(large_data.Recipe(rows=ROWS, slices=(4,)), kept / f"rows-{ROWS}", files=2)
    return kept


def by_scikit_learn(rows: pl.DataFrame, name: str) -> dict[str, float]:
    y, p = rows["outcome"].to_numpy(), rows[name].to_numpy()
    return {
        "accuracy": sk.accuracy_score(y, p >= 0.5), "brier": sk.brier_score_loss(y, p), "log_loss": sk.log_loss(y, p),
        "roc_auc": sk.roc_auc_score(y, p),
    }


def test_polars_computes_the_values_of_scikit_learn(folder: Path) -> None:
    place = folder / f"rows-{ROWS}"
    rows = pl.read_parquet(place / "*.parquet")
    parts = {"all": rows} | {part[0]: table for part, table in rows.group_by("season")}
    expected = {
        f"{measure} {name} {part}": value
        for part, table in parts.items() for name in scale.MODELS
        for measure, value in by_scikit_learn(table, name).items()
    }
    values = scale_others.in_polars(place)()

    assert len(expected) == 4 * 2 * 5
    assert values == pytest.approx(expected, abs=scale.APART)  # areas are those of scores in bins


def test_what_a_process_needs_is_its_own() -> None:
    mine = bytes(range(256)) * 1_600_000
    filled = "import time; held = bytes(range(256)) * 400_000; time.sleep(0.2); print(len(held))"
    needed, printed = processes.spent([sys.executable, "-c", filled])

    assert printed == "102400000\n"
    assert needed.wall >= 0.2
    assert needed.processor < needed.wall
    assert 102 < needed.memory < len(mine) / 1e6 / 2


def test_a_process_that_fails_stops_the_benchmark() -> None:
    with pytest.raises(processes.subprocess.CalledProcessError):
        processes.spent([sys.executable, "-c", "raise SystemExit(3)"])


def test_slopes_are_exponents_of_the_rows() -> None:
    needed = {10: Spent(2.0, 1.0, 50.0), 1000: Spent(200.0, 10.0, 50.0)}
    assert list(scale.slopes("evalpipe", needed)) == [
        "| 10 to 1,000 | evalpipe, log-log slope | 1.00 | 0.50 | 0.00 | | | |"]


def test_ratios_are_of_runs_in_turn_and_ours_to_theirs() -> None:
    read = Spent(2.0, 1.0, 10.0)
    runs = [{"evalpipe": Spent(wall, 2 * wall, 300.0), "read": read} for wall in (4.0, 5.0, 600.0)]

    assert scale.growth_row(1000, "evalpipe", runs) == "| 1,000 | evalpipe | 5.00 s | 10.0 s | 300 MB | | | |"
    assert scale.growth_row(1000, "read", runs) == (
        "| 1,000 | polars reads and sums | 2.00 s | 1.00 s | 10 MB | 2.50 | 2.00 to 300 | 10.0 |")


@pytest.mark.parametrize(("value", "shown"), [(0.20002, "0.20002"), (math.nan, "nan")])
def test_values_that_differ_stop_the_benchmark(value: float, shown: str) -> None:
    mine = {"brier model_a all": 0.2, "roc_auc model_a all": 0.7}
    scale.agree(mine, mine | {"brier model_a all": 0.2 + 9e-6, "brier model_a season_1": 0.1})
    scale.agree(mine, {})
    with pytest.raises(SystemExit) as ended:
        scale.agree(mine, mine | {"brier model_a all": value})

    assert ended.value.code == f"brier model_a all: 0.2 here and {shown} there; the times cannot be compared"


@pytest.mark.parametrize(("grid", "bound", "cells"), [
    (0.70001, 1e-4, "1.0e-05 | 1.0e-04 | yes"), (0.7002, 1e-4, "2.0e-04 | 1.0e-04 | **no**"),
    (0.7, None, "0.0e+00 | none | yes"), (0.7000001, None, "1.0e-07 | none | **no**"),
])
def test_a_value_beyond_its_bound_is_seen(grid: float, bound: float | None, cells: str) -> None:
    row = SimpleNamespace(metric="gain", params={"at": 0.1}, value=0.7, error_bound=None)
    assert scale.bound_row(row, SimpleNamespace(**(vars(row) | {"value": grid, "error_bound": bound}))) == (
        f"| gain (at 0.1) | 0.7 | {grid:.8g} | {cells} |")


def test_every_measure_of_a_binary_outcome_is_compared(folder: Path) -> None:
    accepted, refused = scale.measures(folder / f"rows-{ROWS}")

    assert {"roc_auc", "average_precision", "ks", "ece", "log_loss", "kappa"} <= {name for name in accepted + refused
                                                                                  if isinstance(name, str)}
    assert all(entry in accepted for entry in scale.WITH_OPTIONS)
    assert "rmse" not in accepted


@pytest.mark.nightly  # for it runs the jobs, each in a process; the tests above hold its rows
def test_the_table_of_growth_is_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "REPLICATES", 100)
    monkeypatch.setattr(scale, "OURS", {"evalpipe": {}, "evalpipe, no measure": {"metrics": ["none"]}})
    monkeypatch.setattr(scale, "lacks", lambda job: job == "duckdb")
    lines = list(scale.table("growth", folder, sizes=[ROWS]))
    jobs = [line.split(" | ")[1] for line in lines[2:]]

    assert lines[:2] == list(scale.GROWTH_HEADER)
    assert jobs == [
        "evalpipe", "polars reads and sums", "polars, 4 measures", "scikit-learn, 1 AUC of a tenth",
        "evalpipe, no measure: metrics[0]: unknown metric 'none'", "DuckDB, 4 measures: not installed",
    ]
    assert {line.count("|") for line in lines} == {9}


def test_data_are_made_once(tmp_path: Path) -> None:
    place = scale.data(tmp_path, 1000)
    files = {path: path.stat().st_mtime_ns for path in place.iterdir()}

    assert place == tmp_path / "rows-1000"
    assert pl.scan_parquet(place / "*.parquet").select(pl.len()).collect().item() == 1000
    assert scale.data(tmp_path, 1000) == place
    assert {path: path.stat().st_mtime_ns for path in place.iterdir()} == files


def test_a_section_takes_the_place_of_the_earlier_one() -> None:
    import run

    text = "# Benchmarks\n\n- machine\n\n## One\n\n| 1 |\n\n## Two\n\n| 2 |\n"

    assert run.replaced(text, "## One\n\n| 3 |\n") == text.replace("| 1 |", "| 3 |")
    assert run.replaced(text, "## Three\n\n| 3 |\n") == f"{text}\n## Three\n\n| 3 |\n"
