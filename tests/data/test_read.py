"""Reading: every format, the same arrays however the rows are stored, and what counts as which level."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from evalpipe.data.catalog import look
from evalpipe.data.read import read
from evalpipe.data.sample import Sample
from evalpipe.errors import DataError, SpecError
from evalpipe.plan.resolve import plan
from evalpipe.plan.sources import sources
from evalpipe.spec.load import load

FRAME = pl.DataFrame({
    "id": ["a", "b", "c", "d", "e", "f"],
    "y": ["yes", "no", "yes", "no", "no", "yes"],
    "p": [0.9, 0.2, 0.7, 0.4, 0.1, 0.6],
    "age": [30, 40, 50, 60, 70, 80],
    "w": [1.0, 0.0, 2.0, 0.5, 1.0, 1.5],
})
WRITERS: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "a.csv": lambda frame, path: frame.write_csv(path),
    "a.csv.gz": lambda frame, path: path.write_bytes(__import__("gzip").compress(frame.write_csv().encode())),
    "a.tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    "a.parquet": lambda frame, path: frame.write_parquet(path),
    "a.feather": lambda frame, path: frame.write_ipc(path),
    "a.ndjson": lambda frame, path: frame.write_ndjson(path),
    "A.PARQUET": lambda frame, path: frame.write_parquet(path),
}


def spec(folder: Path, path: str = "a.csv", **changes: Any) -> Any:
    dataset = {"path": str(folder / path)} | changes.pop("dataset", {})
    document = {
        "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": "yes"},
        "datasets": {"test": dataset} | changes.pop("more", {}), "models": {"m": {"probability": "p"}},
    }
    return load(document | changes)


def samples(folder: Path, path: str = "a.csv", **changes: Any) -> tuple[Sample, ...]:
    made = spec(folder, path, **changes)
    return read(plan(made, look(sources(made))))


def same(left: Sample, right: Sample) -> None:
    assert (left.truth == right.truth).all()
    assert left.models.keys() == right.models.keys()
    for name, model in left.models.items():
        other = right.models[name]
        assert (model.predicted == other.predicted).all()
        assert model.probability is not None
        assert other.probability is not None
        assert (model.probability == other.probability).all()


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_arrays(name: str, tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "plain.csv")
    WRITERS[name](FRAME, tmp_path / name)
    (found,) = samples(tmp_path, name)
    same(found, samples(tmp_path, "plain.csv")[0])
    assert found.truth.tolist() == [False, False, False, True, True, True]
    assert found.models["m"].probability is not None
    assert found.models["m"].probability.tolist() == [0.1, 0.2, 0.4, 0.6, 0.7, 0.9]
    assert found.models["m"].predicted.tolist() == [False, False, False, True, True, True]
    assert found.files[0].sha256 == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    assert found.files[0].columns == ["y", "p"]


def test_order_and_number_of_files_change_nothing(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "a.csv")
    (tmp_path / "parts").mkdir()
    shuffled = FRAME.sample(fraction=1, shuffle=True, seed=3)
    for number in range(3):
        shuffled[2 * number : 2 * number + 2].write_parquet(tmp_path / "parts" / f"{number}.parquet")
    whole = samples(tmp_path)[0]
    same(whole, samples(tmp_path, "parts")[0])
    same(whole, samples(tmp_path, "parts/*.parquet")[0])
    parts = samples(tmp_path, "parts")[0]
    assert [file.rows for file in parts.files] == [2, 2, 2]
    assert parts.summary.rows == 6


def test_where_is_sql_on_columns_of_their_own_types(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "a.csv")
    (found,) = samples(tmp_path, dataset={"where": "age BETWEEN 40 AND 70 AND id <> 'd'"})
    assert found.n == 3
    assert (found.summary.rows, found.summary.excluded_where, found.summary.n) == (6, 3, 3)
    assert found.files[0].columns == ["y", "p", "id", "age"]
    assert found.files[0].used_rows == 3


@pytest.mark.parametrize("where", ["count(*) > 1", "p > (SELECT 1)", "p > avg(p)", "row_number() OVER () < 3"])
def test_where_sees_one_row_at_a_time(tmp_path: Path, where: str) -> None:
    FRAME.write_csv(tmp_path / "a.csv")
    with pytest.raises(SpecError, match="bad-where"):
        samples(tmp_path, dataset={"where": where})


def test_rows_of_weight_zero_are_left_out_and_counted(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "a.csv")
    (found,) = samples(tmp_path, weight="w")
    assert found.weight is not None
    assert found.weight.sum() == 6
    assert (found.summary.excluded_zero_weight, found.summary.n, found.summary.events) == (1, 5, 3)
    assert found.summary.prevalence == pytest.approx(4.5 / 6)
    assert found.files[0].used_rows == 5


def test_frequency_weights_count_observations(tmp_path: Path) -> None:
    FRAME.with_columns(pl.Series("w", [1, 3, 2, 1, 0, 4])).write_csv(tmp_path / "a.csv")
    (found,) = samples(tmp_path, weight={"column": "w", "kind": "frequency"})
    assert (found.summary.n, found.summary.events, found.summary.total_weight) == (11, 7, 11.0)


@pytest.mark.parametrize(
    ("values", "event", "levels"),
    [
        ([True, False, True], True, ("true", "false")),
        ([1, 0, 1], 1, ("1", "0")),
        ([1.0, 0.0, 1.0], 1, ("1", "0")),
        (["1", "0", "1"], 1, ("1", "0")),
        (pl.Series(["b", "a", "b"]).cast(pl.Categorical), "b", ("b", "a")),
        (pl.Series(["b", "a", "b"]).cast(pl.Enum(["a", "b"])), "b", ("b", "a")),
    ],
    ids=["booleans", "integers", "whole floats", "texts", "categories", "enumeration"],
)
def test_truth_of_many_kinds(tmp_path: Path, values: Any, event: Any, levels: tuple[str, str]) -> None:
    pl.DataFrame({"y": values, "p": [0.9, 0.2, 0.6]}).write_parquet(tmp_path / "a.parquet")
    (found,) = samples(tmp_path, "a.parquet", outcome={"column": "y", "event": event})
    assert found.levels == levels
    assert found.truth.tolist() == [False, True, True]


def test_ids_and_levels_of_csv_are_texts(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,y,p\n007,1,0.9\n7,0,0.2\n")
    (found,) = samples(tmp_path, id="id", outcome={"column": "y", "event": 1})
    assert found.n == 2


@pytest.mark.parametrize(("y", "prevalence"), [("yes", 1.0), ("no", 0.0)])
def test_one_class_is_a_warning(tmp_path: Path, y: str, prevalence: float) -> None:
    FRAME.with_columns(pl.lit(y).alias("y")).write_csv(tmp_path / "a.csv")
    (found,) = samples(tmp_path)
    assert found.summary.prevalence == prevalence
    assert [warning.code for warning in found.warnings] == ["one-class"]


def test_given_classes_win_over_the_threshold(tmp_path: Path) -> None:
    FRAME.with_columns(pl.lit("no").alias("d")).write_csv(tmp_path / "a.csv")
    (found,) = samples(tmp_path, models={"m": {"probability": "p", "prediction": "d"}})
    assert not found.models["m"].predicted.any()
    assert found.models["m"].threshold is None
    assert found.models["m"].probability is not None


def test_a_models_own_threshold_wins(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "a.csv")
    models = {"m": {"probability": "p"}, "n": {"probability": "p", "threshold": 0.9}}
    (found,) = samples(tmp_path, threshold=0.6, models=models)
    assert [int(model.predicted.sum()) for model in found.models.values()] == [3, 1]


def test_a_reference_dataset_needs_ids_alone(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "a.csv")
    (tmp_path / "train.csv").write_text("id\nx\nz\n")
    more = {"training": {"path": str(tmp_path / "train.csv"), "role": "reference"}}
    _, reference = samples(tmp_path, more=more, id="id")
    assert (reference.role, reference.summary.n, reference.summary.prevalence) == ("reference", 2, None)


def test_a_reference_dataset_with_the_outcome_tells_its_prevalence(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "a.csv")
    (tmp_path / "train.csv").write_text("id,y\nx,yes\nz,no\nu,no\n")
    more = {"training": {"path": str(tmp_path / "train.csv"), "role": "reference"}}
    reference = samples(tmp_path, more=more, id="id")[1]
    assert reference.summary.prevalence == pytest.approx(1 / 3)


def test_arrays_cannot_be_written_to(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "a.csv")
    (found,) = samples(tmp_path)
    with pytest.raises(ValueError, match="read-only"):
        found.truth[0] = True


def test_quoted_cells_may_hold_separators_and_line_breaks(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('id,y,p\n"a, b\nc",yes,0.9\r\n"say ""no""",no,0.1\n\n')
    (found,) = samples(tmp_path, id="id")
    assert found.n == 2


def test_a_null_in_typed_data_names_its_row(tmp_path: Path) -> None:
    FRAME.with_columns(pl.when(pl.col("id") == "c").then(None).otherwise(pl.col("p")).alias("p")).write_parquet(
        tmp_path / "a.parquet"
    )
    with pytest.raises(DataError) as caught:
        samples(tmp_path, "a.parquet")
    assert caught.value.problems[0].rows == ((3, "empty"),)


def test_rows_are_numbered_before_where(tmp_path: Path) -> None:
    FRAME.with_columns(pl.Series("p", [0.9, 0.2, 0.7, 0.4, 0.1, 6.0])).write_csv(tmp_path / "a.csv")
    with pytest.raises(DataError) as caught:
        samples(tmp_path, dataset={"where": "age > 60"})
    assert caught.value.problems[0].rows == ((6, "'6.0'"),)


def test_a_frame_in_memory_is_read_too(tmp_path: Path) -> None:
    made = spec(tmp_path)
    (found,) = read(plan(made, look(sources(made), {"test": FRAME})), {"test": FRAME})
    assert found.n == 6
    assert (found.files[0].path, found.files[0].sha256) == (None, None)


def test_a_large_file_is_read_without_a_loop_over_rows(tmp_path: Path) -> None:
    n = 300_000
    generator = np.random.default_rng(0)
    y = np.where(generator.random(n) < 0.3, "yes", "no")
    pl.DataFrame({"id": np.arange(n), "y": y, "p": generator.random(n)}).write_parquet(tmp_path / "a.parquet")
    (found,) = samples(tmp_path, "a.parquet", id="id")
    assert found.n == n
    assert (np.diff(found.truth.astype(int)) >= 0).all()
