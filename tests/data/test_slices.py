"""Slices of the rows: labels, codes and their order, whatever the format and the order of the rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalpipe.data.catalog import look
from evalpipe.data.read import read
from evalpipe.data.sample import Sample, SlicedRows
from evalpipe.data.slices import interval_labels, ordered
from evalpipe.errors import DataError, SpecError
from evalpipe.plan.resolve import plan
from evalpipe.plan.sources import sources
from evalpipe.spec.load import load

FRAME = pl.DataFrame({
    "y": ["yes", "no", "yes", "no", "no", "yes", "no"],
    "p": [0.9, 0.2, 0.7, 0.4, 0.1, 0.6, 0.3],
    "season": ["w", "w", "s", None, "s", "a", "w"],
    "cap": [4.5, None, 7.0, 10.0, 12.5, 5.0, 4.0],
    "ring": [True, False, True, True, None, False, True],
    "gills": [10, 9, 9, 10, 100, 9, 10],
    "w": [1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0],
})
WRITERS: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "a.csv": lambda frame, path: frame.write_csv(path),
    "a.tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    "a.parquet": lambda frame, path: frame.write_parquet(path),
    "a.feather": lambda frame, path: frame.write_ipc(path),
    "a.ndjson": lambda frame, path: frame.write_ndjson(path),
}
SLICES = [
    "season", {"column": "cap", "cuts": [5, 10]}, ["season", "ring"], "gills",
    {"where": "cap > 5 AND season = 's'", "name": "wide_summer"}, ["ring", {"column": "cap", "cuts": [5.5]}],
]


def document(path: str = "memory", **changes: Any) -> dict[str, Any]:
    return {
        "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": "yes"},
        "datasets": {"test": {"path": path} | changes.pop("dataset", {})} | changes.pop("more", {}),
        "models": {"m": {"probability": "p"}},
    } | changes  # fmt: skip


def sample(frame: pl.DataFrame | None = None, path: str = "memory", **changes: Any) -> Sample:
    spec = load(document(path, **changes))
    frames = {"test": frame} if frame is not None else None
    return read(plan(spec, look(sources(spec), frames)), frames)[0]


def members(found: Sample, slicing: SlicedRows) -> dict[str, list[float]]:
    """Return the probabilities of the rows of each slice, by its labels; they tell the rows apart."""
    chances = found.models["m"].probability
    assert chances is not None
    return {
        " ".join(labels.values()): sorted(chances[slicing.codes == code].tolist())
        for code, labels in enumerate(slicing.labels)
    }


def problem(code: str, frame: pl.DataFrame = FRAME, **changes: Any) -> str:
    with pytest.raises((DataError, SpecError)) as caught:
        sample(frame, **changes)
    assert {found.code for found in caught.value.problems} == {code}
    return str(caught.value)


def test_each_row_is_in_the_slice_of_its_level_and_missing_values_are_a_slice_of_their_own() -> None:
    found = sample(FRAME, slices=SLICES)
    season, cap, both, gills, wide, other = found.slicings
    assert [slicing.title for slicing in found.slicings] == [
        "season", "cap", "season × ring", "gills", "wide_summer", "ring × cap"]
    assert members(found, season) == {"a": [0.6], "s": [0.1, 0.7], "w": [0.2, 0.3, 0.9], "(missing)": [0.4]}
    assert members(found, cap) == {
        "< 5": [0.3, 0.9], "5 to < 10": [0.6, 0.7], ">= 10": [0.1, 0.4], "(missing)": [0.2]}
    assert members(found, both) == {
        "a false": [0.6], "s true": [0.7], "s (missing)": [0.1], "w false": [0.2], "w true": [0.3, 0.9],
        "(missing) true": [0.4],
    }
    assert members(found, gills) == {"9": [0.2, 0.6, 0.7], "10": [0.3, 0.4, 0.9], "100": [0.1]}
    assert members(found, wide) == {"true": [0.1, 0.7]}
    assert members(found, other) == {
        "false < 5.5": [0.6], "false (missing)": [0.2], "true < 5.5": [0.3, 0.9], "true >= 5.5": [0.4, 0.7],
        "(missing) >= 5.5": [0.1],
    }
    assert wide.labels == ({"wide_summer": "true"},)
    assert both.labels[0] == {"season": "a", "ring": "false"}
    assert wide.codes.tolist().count(-1) == 5
    assert not season.codes.flags.writeable


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_slices(name: str, tmp_path: Path) -> None:
    WRITERS[name](FRAME, tmp_path / name)
    assert_same(sample(path=str(tmp_path / name), slices=SLICES), sample(FRAME, slices=SLICES))


def assert_same(left: Sample, right: Sample) -> None:
    assert left.truth.tolist() == right.truth.tolist()
    assert len(left.slicings) == len(right.slicings) > 0
    for one, other in zip(left.slicings + left.searched, right.slicings + right.searched, strict=True):
        assert (one.title, one.labels, one.codes.tolist()) == (other.title, other.labels, other.codes.tolist())


def test_categories_and_dates_are_levels_too() -> None:
    dated = FRAME.with_columns(
        pl.col("season").cast(pl.Categorical), pl.date(2024, pl.col("gills") % 12 + 1, 1).alias("gills"))
    found = sample(dated, slices=["season", "gills"])
    assert [list(labels.values()) for labels in found.slicings[0].labels] == [["a"], ["s"], ["w"], ["(missing)"]]
    assert members(found, found.slicings[1]).keys() == {"2024-05-01", "2024-10-01", "2024-11-01"}


@settings(max_examples=30)
@given(order=st.permutations(range(2 * FRAME.height)))
def test_the_order_of_the_rows_changes_nothing(order: list[int]) -> None:
    # the second half differs from the first in its slices alone, so they decide the order of such rows
    twice = pl.concat([FRAME, FRAME.with_columns(pl.lit("z").alias("season"), cap=pl.col("cap") + 6)])
    worst = {"metric": "brier", "columns": ["season", {"column": "cap", "cuts": [9]}]}
    asked = {"slices": SLICES, "worst_slices": worst}
    assert_same(sample(twice[order], **asked), sample(twice, **asked))


def test_rows_of_weight_zero_and_rows_that_where_leaves_out_make_no_slice() -> None:
    where = {"where": "season <> 'a'"}
    found = sample(FRAME, slices=["season", ["season", "gills"], "gills"], weight="w", dataset=where)
    assert members(found, found.slicings[0]) == {"s": [0.7], "w": [0.2, 0.3, 0.9]}
    assert members(found, found.slicings[1]) == {"s 9": [0.7], "w 9": [0.2], "w 10": [0.3, 0.9]}
    assert members(found, found.slicings[2]) == {"9": [0.2, 0.7], "10": [0.3, 0.9]}  # 100 has weight 0


def test_an_interval_and_a_condition_that_no_row_meets_are_slices_without_rows() -> None:
    slices = [{"column": "cap", "cuts": [-3, 0, 50]}, {"where": "cap > 1000", "name": "giant"}]
    cap, giant = sample(FRAME, slices=slices).slicings
    assert [labels["cap"] for labels in cap.labels] == ["< -3", "-3 to < 0", "0 to < 50", ">= 50", "(missing)"]
    assert set(cap.codes.tolist()) == {2, 4}
    assert giant.labels == ({"giant": "true"},)
    assert set(giant.codes.tolist()) == {-1}


def test_a_condition_sees_columns_of_the_types_they_have_before_where(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "a.csv")
    # where leaves only rows whose cap is empty; the column is one of numbers all the same
    slices = [{"where": "cap > 5", "name": "wide"}]
    found = sample(path=str(tmp_path / "a.csv"), slices=slices, dataset={"where": "cap IS NULL"})
    assert (found.n, found.slicings[0].codes.tolist()) == (1, [-1])
    assert found.files[0].columns == ["y", "p", "cap"]


def test_only_the_columns_that_are_needed_are_read() -> None:
    found = sample(FRAME, slices=["season", {"where": "gills > 9", "name": "many"}],
                   worst_slices={"metric": "brier", "columns": ["ring"]})
    assert found.files[0].columns == ["y", "p", "season", "ring", "gills"]
    assert [slicing.title for slicing in found.searched] == ["ring"]
    assert members(found, found.searched[0]) == {
        "false": [0.2, 0.6], "true": [0.3, 0.4, 0.7, 0.9], "(missing)": [0.1]}


def test_a_reference_dataset_needs_no_column_of_slices_and_leaks_are_found_all_the_same(tmp_path: Path) -> None:
    more = {"training": {"path": str(tmp_path / "b.csv"), "role": "reference"}}
    FRAME.select("y", "p").with_columns(pl.col("p") + 0.05).write_csv(tmp_path / "b.csv")
    assert len(sample(FRAME, slices=["season"], more=more).slicings) == 1
    FRAME.select("y", "p").write_csv(tmp_path / "b.csv")
    assert "7 rows of dataset 'test' are also in" in problem("shared-rows", slices=["season"], more=more)


def test_slices_of_other_tasks_are_the_same() -> None:
    frame = FRAME.with_columns(pl.col("p").alias("truth"), pl.col("y").alias("predicted"))
    number = sample(frame, task="regression", outcome={"column": "truth"}, models={"m": {"prediction": "p"}},
                    slices=["season"])
    assert [labels["season"] for labels in number.slicings[0].labels] == ["a", "s", "w", "(missing)"]
    assert number.slicings[0].codes.tolist() == [1, 2, 2, 3, 0, 1, 2]  # sorted by the truth, 0.1 to 0.9
    several = sample(frame, task="multiclass", outcome={"column": "y", "levels": ["yes", "no"]},
                     models={"m": {"prediction": "predicted"}}, slices=["season"])
    assert sorted(several.slicings[0].codes.tolist()) == [0, 1, 1, 2, 2, 2, 3]


def test_too_many_levels_are_refused_and_missing_values_are_no_level() -> None:
    assert "has 4 levels, more than the 3" in problem(
        "too-many-levels", FRAME.with_columns(season=pl.Series(list("abcdabc"))), slices=["season"],
        slice_rules={"max_levels": 3})  # fmt: skip
    assert len(sample(FRAME, slices=["season"], slice_rules={"max_levels": 3}).slicings[0].labels) == 4
    assert "cut the numbers into intervals: {column: p, cuts: […, …]}" in problem(
        "too-many-levels", slices=["p"], slice_rules={"max_levels": 3})


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (pl.Series([[1]] * 7), "column 'cap' of dataset 'test' holds lists or mappings"),
        (pl.Series([b"x"] * 7), "column 'cap' of dataset 'test' holds bytes"),
    ],
)
def test_a_column_without_single_values_makes_no_slices(values: pl.Series, said: str) -> None:
    assert said in problem("wrong-type", FRAME.with_columns(cap=values), slices=["cap"])


def test_a_typed_column_of_texts_cannot_be_cut() -> None:
    cut = {"column": "season", "cuts": [1]}
    assert "column 'season' of dataset 'test' holds text, not numbers" in problem("wrong-type", slices=[cut])


def test_a_reference_level_is_matched_by_its_text() -> None:
    slices: list[Any] = ["ring", "gills"]
    assert sample(FRAME, slices=slices, slice_rules={"reference": {"ring": True, "gills": 9}}).n == 7
    assert "reference slice '11' of 'gills'" in problem(
        "reference-absent", slices=slices, slice_rules={"reference": {"gills": 11}})


def test_a_reference_slice_of_rows_of_weight_zero_alone_is_no_reference() -> None:
    cut = {"column": "cap", "cuts": [11]}
    assert "the slices with rows are '< 11', '(missing)'" in problem(
        "reference-absent", slices=[cut], slice_rules={"reference": {"cap": ">= 11"}}, weight="w")


@given(st.lists(st.floats(-50, 50), max_size=20), st.lists(st.integers(-40, 40), min_size=1, max_size=5, unique=True))
def test_cuts_put_each_number_where_its_label_says(values: list[float], places: list[int]) -> None:
    cuts = sorted(places)
    numbers = [*values, *map(float, cuts)] * 2
    places_of = [float(k) for k in range(len(numbers))]
    frame = pl.DataFrame({"y": places_of, "x": numbers, "p": places_of})
    found = sample(frame, task="regression", outcome={"column": "y"}, models={"m": {"prediction": "p"}},
                   slices=[{"column": "x", "cuts": cuts}])
    for place, code in zip(found.truth, found.slicings[0].codes, strict=True):
        assert code == sum(numbers[int(place)] >= cut for cut in cuts)


def test_levels_are_in_the_order_in_which_people_read_them() -> None:
    assert ordered(["10", "9", "-1.5", "1e3"]) == ["-1.5", "9", "10", "1e3"]
    assert ordered(["a10", "a2", "b1", "a"]) == ["a", "a2", "a10", "b1"]
    assert ordered(["2 m", "nan", "10 m", "1"]) == ["1", "2 m", "10 m", "nan"]
    assert ordered(["18-29", "100+", "30-99"]) == ["18-29", "30-99", "100+"]
    assert interval_labels((0.5,)) == ("< 0.5", ">= 0.5")
    assert interval_labels((-1, 2.0, 1e6)) == ("< -1", "-1 to < 2", "2 to < 1000000", ">= 1000000")
