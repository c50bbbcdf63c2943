"""Separated text as people have it: types told from all values or declared, missing values, separators, odd bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evalpipe.data.catalog import look
from evalpipe.data.read import read
from evalpipe.data.sample import Sample
from evalpipe.data.values import infer_type, typed
from evalpipe.errors import DataError, SpecError
from evalpipe.plan.resolve import plan
from evalpipe.plan.sources import sources
from evalpipe.spec.load import load

HEAD = "y,p,x\n"


def sample(path: Path, dataset: dict[str, Any] | None = None, **changes: Any) -> Sample:
    spec = load({
        "evalpipe": 1, "name": "x", "task": "binary",
        "outcome": {"column": "y", "event": "yes", "levels": ["yes", "no"]},
        "datasets": {"test": {"path": str(path)} | (dataset or {})}, "models": {"m": {"probability": "p"}},
    } | changes)
    return read(plan(spec, look(sources(spec))))[0]


def written(folder: Path, cells: list[str], name: str = "a.csv") -> Path:
    lines = [f"{'yes' if row % 2 else 'no'},0.{row % 9 + 1},{cell}\n" for row, cell in enumerate(cells)]
    (folder / name).write_text(HEAD + "".join(lines), encoding="utf-8")
    return folder / name


def labels(found: Sample, column: str = "x") -> list[str]:
    return [part[column] for part in found.slicings[0].labels]


def problem(path: Path, dataset: dict[str, Any] | None = None, **changes: Any) -> tuple[str, str | None]:
    with pytest.raises((DataError, SpecError)) as caught:
        sample(path, dataset, **changes)
    (found,) = caught.value.problems
    return found.message.replace(str(path), path.name), found.hint


@pytest.mark.parametrize(("cells", "kind"), [
    (["1", "-2", "", None], "integer"), ([" 5", "6 "], "integer"), (["0"], "integer"), (["1.5", "2", "nan"], "number"),
    (["1e5", "2E-3", ".5", "3."], "number"), (["nan", "NaN"], "number"), (["0.0", "-0.0", "inf"], "number"),
    (["TRUE", "False"], "boolean"), (["a"], "text"), ([""], "text"), ([None], None), (["01234", "99999"], "text"),
    (["+1", "-1"], "text"), (["250.0", "250.00"], "text"), (["12345678901234567890", "1"], "text"),
    (["1", "NA"], "text"), (["1,5"], "text"), (["-01"], "text"), (["0x1"], "text"), (["1_000"], "text"),
])
def test_the_type_of_a_column_is_that_of_all_its_values(cells: list[str | None], kind: str | None) -> None:
    assert infer_type(pl.Series("x", cells, dtype=pl.String), ".").type == kind


def test_a_decimal_comma_is_read_and_a_point_is_then_no_number() -> None:
    column = pl.Series("x", ["1,5", "2", "-0,25"])
    assert infer_type(column, ",").type == "number"
    assert typed(column, "number", ",").to_list() == [1.5, 2.0, -0.25]
    assert infer_type(pl.Series("x", ["1.000", "2"]), ",").type == "text"


def test_leading_zeros_are_kept_by_conditions_and_slices_alike(tmp_path: Path) -> None:
    path = written(tmp_path, ["01234", "99999", "01234", "1234"])
    slices: list[Any] = ["x", {"where": "x = '01234'", "name": "there"}]
    found = sample(path, {"where": "x <> '99999'"}, slices=slices)
    assert (found.n, labels(found)) == (3, ["01234", "1234"])
    assert found.slicings[1].codes.tolist().count(0) == 2
    assert problem(path, {"where": "x = 1234"}) == (
        "'where' of dataset 'test' does not fit the columns: compares 'x', which is text, with 1234, which is a number",
        "column 'x' is text, because it holds '01234'; declare csv: {types: {x: number}}")
    assert sample(path, {"where": "x = 1234", "csv": {"types": {"x": "integer"}}}).n == 3


def test_a_column_of_numbers_with_a_text_far_down_is_filtered_as_text(tmp_path: Path) -> None:
    path = written(tmp_path, [str(row) for row in range(3000)] + ["x12", "NA"])
    assert sample(path, {"where": "x IN ('5', 'x12')"}).n == 2
    assert problem(path, {"where": "x > 5"})[1] == (
        "column 'x' is text, because it holds 'x12'; TRY_CAST(x AS DOUBLE) is missing where it is no number")
    assert sample(path, {"where": "TRY_CAST(x AS DOUBLE) > 5"}).n == 2994


def test_missing_values_are_declared(tmp_path: Path) -> None:
    path = written(tmp_path, ["1", "NA", "3", "-99", "", "7"])
    assert problem(path, {"where": "x > 2", "csv": {"null": ["-99"]}})[1] == (
        "column 'x' is text, because it holds 'NA'; if it means a missing value, declare csv: {null: {x: [NA]}}")
    found = sample(path, {"where": "x > 2", "csv": {"null": ["NA", "-99"]}})
    assert (found.n, found.summary.unknown_where) == (2, 3)
    cut = sample(path, {"csv": {"null": ["NA", "-99"]}}, slices=[{"column": "x", "cuts": [2]}])
    assert labels(cut) == ["< 2", ">= 2", "(missing)"]


def test_a_text_for_a_missing_number_is_an_error_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("y,p\nyes,0.5\nno,NA\n", encoding="utf-8")
    assert problem(path) == (
        "1 value of column 'p' is not a number",
        "declare csv: {null: {p: [NA]}}, so that it counts as missing; every row needs a probability")
    assert sample(path, {"csv": {"null": ["NA"]}, "where": "p IS NOT NULL"}).n == 1
    held = written(tmp_path, ["1", "n/a"], "b.csv")
    assert problem(held, slices=[{"column": "x", "cuts": [1]}])[1] == (
        'declare csv: {null: {x: ["n/a"]}}, so that it counts as missing')


def test_a_text_is_missing_in_the_columns_that_it_is_declared_for(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("y,p,x,z\nyes,0.5,NA,NA\nno,NA,US,US\nyes,0.25,FR,FR\n", encoding="utf-8")
    keys: dict[str, Any] = {"slices": ["x", "z"]}
    found = sample(path, {"csv": {"null": {"p": ["NA"], "z": ["NA", "-"]}}, "where": "p IS NOT NULL"}, **keys)
    assert (found.n, labels(found)) == (2, ["FR", "NA"])
    assert [part["z"] for part in found.slicings[1].labels] == ["FR", "(missing)"]
    everywhere = sample(path, {"csv": {"null": ["NA"]}, "where": "p IS NOT NULL"}, **keys)
    assert labels(everywhere) == ["FR", "(missing)"]


def test_texts_are_declared_for_a_column_of_the_data(tmp_path: Path) -> None:
    assert problem(written(tmp_path, ["1"]), {"csv": {"null": {"xs": ["NA"]}}}) == (
        "'csv' of dataset 'test' says what is missing in the column 'xs', which the data do not have",
        "did you mean 'x'?")


FRAME = pl.DataFrame({
    "y": ["yes", "no"] * 3, "p": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
    "x": ["(missing)", None, "", '"(missing)"', "(empty)", "a"],
    "f": [1.0, None, float("nan"), 2.5, 10.0, -0.0], "b": [True, None, False, True, False, True],
    "d": pl.Series(["2024-01-01", None, "2024-01-02", "2024-01-03", "2024-01-01", "2024-01-02"]).str.to_date(),
})


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "feather", "ndjson"])
def test_every_format_gives_the_same_labels_and_none_merges(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{ending}"
    {"csv": FRAME.write_csv, "tsv": lambda file: FRAME.write_csv(file, separator="\t"), "parquet": FRAME.write_parquet,
     "feather": FRAME.write_ipc, "ndjson": FRAME.write_ndjson}[ending](path)  # type: ignore[operator]
    found = sample(path, slices=["x", "f", "b", "d"])
    named = [[next(iter(part.values())) for part in slicing.labels] for slicing in found.slicings]
    assert named == [
        ['""(missing)""', '"(empty)"', '"(missing)"', "(empty)", "a", "(missing)"],
        ["0", "1", "2.5", "10", "(missing)"], ["false", "true", "(missing)"],
        ["2024-01-01", "2024-01-02", "2024-01-03", "(missing)"],
    ]
    assert sorted(found.slicings[0].codes.tolist()) == [0, 1, 2, 3, 4, 5]
    assert found.slicings[1].codes.tolist().count(4) == 2


def test_a_quoted_empty_cell_is_missing_where_that_is_declared(tmp_path: Path) -> None:
    path = written(tmp_path, ['""', "", "a"])
    assert labels(sample(path, slices=["x"])) == ["(empty)", "a", "(missing)"]
    assert labels(sample(path, {"csv": {"null": [""]}}, slices=["x"])) == ["a", "(missing)"]
    assert sample(written(tmp_path, ['""', "", "3"]), {"where": "x > 1"}).summary.unknown_where == 2


def test_separator_decimal_and_bytes_as_spreadsheets_write_them(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes('\ufeffy;p;x\r\nyes;0,9;"1,5\r\n"\r\nno;0,25;2\r\n'.encode())
    declared = {"csv": {"separator": ";", "decimal": ","}}
    found = sample(path, declared | {"where": "x > 1"})
    assert found.models["m"].probability is not None
    assert found.models["m"].probability.tolist() == [0.25, 0.9]
    path.write_bytes(b"y;p\nyes;0.9\nno;0,25\n")
    assert problem(path, declared)[0] == "1 value of column 'p' is not a number"
    assert problem(path, {"csv": {"decimal": ","}}) == (
        "cannot read a.csv: its columns are separated by semicolons, not by commas", 'declare csv: {separator: ";"}')


def test_decimal_commas_stand_in_quotes_where_commas_separate(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('y,p,x\nyes,"0,25","1,5"\nno,"0,9",2\n')
    read = sample(path, {"csv": {"decimal": ","}, "where": "x > 1.6"})
    assert read.models["m"].probability is not None
    assert read.models["m"].probability.tolist() == [0.9]
    path.write_text('y,p,x\nyes,0,25,2\nno,"0,9",2\n')
    assert problem(path, {"csv": {"decimal": ","}})[0] == (
        "cannot read a.csv: 1 row has more or fewer cells than the 3 columns of the header")
    path.write_text('y,p,x\nyes,0.25,2\nno,"0,9",2\n')
    assert problem(path, {"csv": {"decimal": ","}})[0] == "1 value of column 'p' is not a number"


def test_declared_types_are_kept_to(tmp_path: Path) -> None:
    path = written(tmp_path, ["2024-02-28", "2024-02-30", "", "28.2.2024"])
    assert problem(path, {"csv": {"types": {"x": "date"}}, "where": "year(x) = 2024"}) == (
        "2 values of column 'x' of dataset 'test' are not a date such as 2024-12-31",
        "correct the type or the cells; a text that means a missing value is declared, as in csv: {null: {x: [NA]}}")
    path = written(tmp_path, ["2024-02-28", "", "2023-12-31"])
    assert sample(path, {"csv": {"types": {"x": "date"}}, "where": "year(x) = 2024"}).n == 1
    path = written(tmp_path, ["2024-02-28T10:30", "2024-02-28 11:30:00", "2024-02-28 12:30:00.5"])
    assert sample(path, {"csv": {"types": {"x": "datetime"}}, "where": "hour(x) >= 11"}).n == 2
    path = written(tmp_path, ["TRUE", "false", ""])
    assert sample(path, {"csv": {"types": {"x": "boolean"}}, "where": "NOT x"}).n == 1
    assert sample(written(tmp_path, ["1", "2"]), {"csv": {"types": {"x": "text"}}, "where": "x = '1'"}).n == 1
    assert problem(written(tmp_path, ["1.5", "2"]), {"csv": {"types": {"x": "integer"}}, "where": "x = 1"})[0] == (
        "1 value of column 'x' of dataset 'test' is not a whole number")


def test_keys_that_do_not_fit_the_files_are_errors(tmp_path: Path) -> None:
    path = written(tmp_path, ["1", "2"])
    assert problem(path, {"csv": {"types": {"z": "text"}}}) == (
        "'csv' of dataset 'test' gives a type to the column 'z', which the data do not have", "the columns are y, p, x")
    FRAME.write_parquet(tmp_path / "a.parquet")
    assert problem(tmp_path / "a.parquet", {"csv": {"null": ["NA"]}}) == (
        "'csv' is declared for dataset 'test', whose format is parquet",
        "remove it: it says how csv and tsv files are written")
    assert problem(path, models={"m": {"probability": "p", "csv": {"null": ["NA"]}}}) == (
        "models.m.csv: 'csv' is declared for the model 'm', which has no file of 'predictions'",
        "declare it for the dataset that holds the model's columns")


def test_files_of_predictions_say_how_they_are_written(tmp_path: Path) -> None:
    written(tmp_path, ["1", "2"])
    (tmp_path / "m.csv").write_text("x;q\n1;0,5\n2;0,75\n", encoding="utf-8")
    model = {"probability": "q", "predictions": str(tmp_path / "m.csv"), "csv": {"separator": ";", "decimal": ","}}
    found = sample(tmp_path / "a.csv", id="x", models={"m": model})
    assert found.models["m"].probability is not None
    assert sorted(found.models["m"].probability.tolist()) == [0.5, 0.75]


def test_types_are_told_from_all_files(tmp_path: Path) -> None:
    written(tmp_path, ["1", "2"], "1.csv")
    written(tmp_path, ["07", "3"], "2.csv")
    assert labels(sample(tmp_path / "*.csv", slices=["x"])) == ["1", "2", "3", "07"]


def test_headers_with_blank_names_are_read_and_double_ones_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(",y,p,\n1,yes,0.5,\n2,no,0.5,\n", encoding="utf-8")
    assert sample(path).n == 2
    path.write_text("y,p,y\nyes,0.5,no\n", encoding="utf-8")
    assert problem(path) == ("cannot read a.csv: two of its columns are called 'y'", "rename one of them")
