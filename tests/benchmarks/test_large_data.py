"""The generator of large test data: the same rows whatever files they lie in, of the kind that was asked for."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import large_data
from large_data import BLOCK, Recipe, write

from memory import run_measured

ROWS = 2 * BLOCK + 1234
WHOLE = Recipe(rows=ROWS, ids=True, weights="frequency", slices=(4, 3), clusters=50)


def read(folder: Path) -> pl.DataFrame:
    return pl.scan_parquet(folder / "**/*.parquet", hive_partitioning=True).collect()


def contents(folder: Path) -> list[tuple[str, bytes]]:
    return sorted((path.relative_to(folder).as_posix(), path.read_bytes()) for path in folder.rglob("*.parquet"))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    folder = tmp_path_factory.mktemp("whole")
    write(WHOLE, folder)
    return read(folder)


def test_the_same_arguments_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("first", "second"):
        large_data.block_frame.cache_clear()
        write(WHOLE, tmp_path / name, files=3, row_group=20_000)
    first, second = (contents(tmp_path / name) for name in ("first", "second"))

    assert [name for name, _ in first] == ["part-0.parquet", "part-1.parquet", "part-2.parquet"]
    assert first == second


@pytest.mark.parametrize(("files", "row_group"), [
    (7, 1_000_000), *(pytest.param(*sizes, marks=pytest.mark.nightly) for sizes in ((1, 7_001), (400, 50)))])
def test_files_and_row_groups_change_no_row(written: pl.DataFrame, tmp_path: Path, files: int, row_group: int) -> None:
    paths = write(WHOLE, tmp_path, files=files, row_group=row_group)
    sizes = [pl.scan_parquet(path).select(pl.len()).collect().item() for path in paths]

    assert read(tmp_path).equals(written)
    assert paths == sorted(tmp_path.iterdir())
    assert max(sizes) - min(sizes) <= 1


def test_row_groups_have_the_size_that_was_asked_for(tmp_path: Path) -> None:
    (path,) = write(replace(WHOLE, rows=100_001), tmp_path, row_group=30_000)
    # polars reads each row group into a chunk of its own
    assert pl.scan_parquet(path).collect()["outcome"].chunk_lengths() == [30_000, 30_000, 30_000, 10_001]


def test_memory_does_not_grow_with_rows(tmp_path: Path) -> None:
    def peak(rows: int) -> int:
        ended = run_measured(
            large_data.__file__, "--rows", str(rows), "--row-group", "50_000", "--out", str(tmp_path))
        assert ended.code == 0
        return ended.memory

    assert peak(4_000_000) < 1.3 * peak(200_000)  # measured: 1.06; 3,800,000 rows of two models would be 60 MB more


def test_fewer_rows_are_the_first_rows(written: pl.DataFrame, tmp_path: Path) -> None:
    fewer = BLOCK + 10
    write(replace(WHOLE, rows=fewer), tmp_path)
    assert read(tmp_path).equals(written[:fewer])


def test_hive_folders_hold_the_same_rows_slice_by_slice(written: pl.DataFrame, tmp_path: Path) -> None:
    paths = write(WHOLE, tmp_path, files=2, hive=True)
    names = [path.relative_to(tmp_path).as_posix() for path in paths]

    assert names == [f"season=season_{k}/part-{part}.parquet" for k in range(1, 5) for part in range(2)]
    assert "season" not in pl.read_parquet_schema(paths[0])
    assert read(tmp_path).select(written.columns).sort("id").equals(written)


def test_shuffled_files_hold_the_same_rows_in_another_order(written: pl.DataFrame, tmp_path: Path) -> None:
    write(replace(WHOLE, shuffled=True), tmp_path, files=3)
    shuffled = read(tmp_path)

    assert shuffled.sort("id").equals(written)
    assert (shuffled["id"] == written["id"]).mean() < 0.01
    assert shuffled["id"][:1000].max() - shuffled["id"][:1000].min() > BLOCK / 2


@pytest.mark.parametrize("other", [
    {"ids": False}, {"weights": "none"}, {"weights": "importance"}, {"models": 1}, {"models": 5}, {"decimals": 4},
])
def test_what_else_is_written_changes_no_outcome(
        written: pl.DataFrame, tmp_path: Path, other: dict[str, object]) -> None:
    write(replace(WHOLE, **other), tmp_path)  # type: ignore[arg-type]
    rows = read(tmp_path)

    assert rows["outcome"].equals(written["outcome"])
    assert ((rows["model_a"] - written["model_a"]).abs() <= 0.5e-4).all()


def test_another_seed_gives_other_rows(written: pl.DataFrame, tmp_path: Path) -> None:
    write(replace(WHOLE, seed=2), tmp_path)
    assert (read(tmp_path)["model_a"] == written["model_a"]).sum() == 0


@pytest.mark.parametrize("rate", [0.3, 0.001])
@pytest.mark.parametrize("parts", [{}, {"slices": (4,)}, {"slices": (4, 3), "clusters": 10_000}])
def test_events_are_as_common_as_asked_for(tmp_path: Path, rate: float, parts: dict[str, object]) -> None:
    rows = 400_000
    write(Recipe(rows=rows, event_rate=rate, **parts), tmp_path)  # type: ignore[arg-type]
    share = read(tmp_path)["outcome"].mean()

    # Five standard errors of a proportion, half as much again for clusters whose rows are alike.
    assert share == pytest.approx(rate, abs=7.5 * (rate * (1 - rate) / rows) ** 0.5)


def test_an_outcome_comes_from_what_models_know_of_it(written: pl.DataFrame) -> None:
    predicted = written.group_by("outcome").agg(pl.col("model_a", "model_b").mean()).sort("outcome")
    apart = [predicted[name][1] - predicted[name][0] for name in ("model_a", "model_b")]
    rates = written.group_by("season").agg(pl.col("outcome").mean()).sort("season")["outcome"].to_list()
    errors = [((written[name] - written["outcome"]) ** 2).mean() for name in ("model_a", "model_b")]

    assert apart[0] > apart[1] > 0.05
    assert errors[0] < errors[1] < 0.21  # 0.21 is that of the share of events
    assert all(later - earlier > 0.02 for earlier, later in pairwise(rates))


def test_probabilities_are_strictly_between_0_and_1_and_all_distinct(written: pl.DataFrame) -> None:
    for name in ("model_a", "model_b"):
        assert written[name].is_between(0, 1, closed="none").all()
        assert written[name].n_unique() > 0.999 * ROWS


def test_columns_are_of_the_kinds_that_are_documented(written: pl.DataFrame) -> None:
    assert dict(written.schema) == {
        "id": pl.Int64, "outcome": pl.Int8, "model_a": pl.Float64, "model_b": pl.Float64, "weight": pl.Int64,
        "season": pl.String, "region": pl.String, "cluster": pl.Int64,
    }
    assert written["id"].equals(pl.Series("id", range(ROWS)))
    assert written["weight"].min() == 1
    assert written["region"].unique().sort().to_list() == ["region_1", "region_2", "region_3"]
    assert (written["cluster"].min(), written["cluster"].max()) == (0, 49)


def test_importance_weights_have_a_mean_of_one(tmp_path: Path) -> None:
    write(Recipe(rows=100_000, weights="importance"), tmp_path)
    weight = read(tmp_path)["weight"]

    assert weight.min() > 0
    assert weight.mean() == pytest.approx(1, abs=5 * 0.5 / 100_000**0.5)  # five standard errors of a gamma of shape 4


def test_rows_of_several_levels_have_probabilities_that_sum_to_one(tmp_path: Path) -> None:
    write(Recipe(rows=100_000, task="multiclass", models=1, levels=12, slices=(2,)), tmp_path)
    rows = read(tmp_path)
    names = [f"level_{k:02d}" for k in range(1, 13)]
    total = rows.select(pl.sum_horizontal(f"model_a_{name}" for name in names)).to_series()
    given = sum(rows.filter(pl.col("outcome") == name)[f"model_a_{name}"].sum() for name in names)

    assert rows["outcome"].unique().sort().to_list() == names
    assert (total - 1).abs().max() < 1e-12
    assert given / len(rows) > 1.5 / 12  # the true level is given far more than its share


def test_numbers_are_predicted_better_by_the_first_model(tmp_path: Path) -> None:
    write(Recipe(rows=100_000, task="regression", slices=(2,)), tmp_path)
    rows = read(tmp_path)
    errors = [((rows[name] - rows["outcome"]) ** 2).mean() for name in ("model_a", "model_b")]

    assert errors[0] < errors[1] < rows["outcome"].var()
    assert rows["outcome"].mean() == pytest.approx(large_data.MEAN, abs=2)


def test_the_command_writes_what_it_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = f"--rows 1_000 --out {tmp_path}/rows --files 2 --row-group 300 --decimals 2 --slices 2 --seed 7"
    large_data.main(line.split())
    recipe = Recipe(rows=1000, slices=(2,), decimals=2, seed=7)
    write(recipe, tmp_path / "same", files=2, row_group=300)

    assert capsys.readouterr().out == f"1,000 rows, 2 files, 0.000 GB: {tmp_path}/rows\n"
    assert contents(tmp_path / "rows") == contents(tmp_path / "same")


@pytest.mark.parametrize(("arguments", "fault"), [
    ("--rows 0", "--rows must be at least 1"),
    ("--rows 9 --row-group 0", "--row-group must be at least 1"),
    ("--rows 9 --models 27", "--models must be from 1 to 26"),
    ("--rows 9 --slices 2,2,2,2", "--slices takes at most 3 numbers of slices, each at least 1"),
    ("--rows 9 --hive", "--hive needs --slices: its folders are the slices of the first column"),
    ("--rows 9 --event-rate 1", "--event-rate must be between 0 and 1"),
    ("--rows 9 --task multiclass --levels 1", "--levels must be at least 2"),
    ("--rows 9 --decimals 0", "--decimals must be from 1 to 15"),
    ("--rows 9 --clusters -1", "--clusters must be at least 0"),
])
def test_arguments_that_make_no_sense_are_told(
        tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: str, fault: str) -> None:
    with pytest.raises(SystemExit) as ended:
        large_data.main([*arguments.split(), "--out", str(tmp_path / "rows")])

    assert ended.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1].endswith(f"error: {fault}")
    assert not (tmp_path / "rows").exists()
