"""docs/books.md shows every item of docs/books/*.yaml as its spec in configs/books gives it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
import yaml
from polars.testing import assert_frame_equal
from scipy.stats import chi2
from sklearn import metrics as sk

import evalpipe

ROOT = Path(__file__).resolve().parents[1]
BOOKS, CONFIGS, DATA = ROOT / "docs" / "books", ROOT / "configs" / "books", ROOT / "configs" / "books" / "data"
LARGEST = 150_000  # bytes of a picture or of a file of data: they travel with every clone
SVG = "{http://www.w3.org/2000/svg}"
IMAGE = re.compile(r"^!\[((?:\\.|[^\]\\])*)\]\((\S+)\)$", re.MULTILINE)


@pytest.fixture(scope="module")
def books() -> Iterator[ModuleType]:
    """Return docs/books.py as a module, with those beside it."""
    sys.path.insert(0, str(ROOT / "docs"))
    import books

    yield books
    sys.path.remove(str(ROOT / "docs"))


@cache
def page() -> str:
    return (ROOT / "docs" / "books.md").read_text(encoding="utf-8")


@cache
def items() -> list[tuple[str, int, dict[str, Any]]]:
    """Return every item with the name of its text and its place there, from 1."""
    files = {file.stem: yaml.safe_load(file.read_text(encoding="utf-8")) for file in sorted(BOOKS.glob("*.yaml"))}
    return [(name, place, item) for name, text in files.items() for place, item in enumerate(text["items"], 1)]


def svg(file: Path) -> ET.Element:
    return ET.parse(file).getroot()  # noqa: S314 - a file of this repository


def words(text: str) -> str:
    return " ".join(text.split())


def test_every_item_is_on_the_page() -> None:
    written = words(page().replace("\\", ""))

    assert [item["item"] for _, _, item in items() if item["item"] not in written] == []
    for _, _, item in items():
        columns = item["table"]["columns"] if "table" in item else []
        parts = [item, *columns, *(part["differs"] for part in (item, *columns) if "differs" in part)]
        keys = ("erratum", "recomputed", "input", "ours", "theirs", "why")
        reasons = [part[key] for part in parts for key in keys if key in part]
        others = [item[key] for key in ("unavailable", "note") if key in item]
        assert [text for text in reasons + others if words(text) not in written] == []
    assert len(re.findall(r'^<a id="\w+-\d+"></a>$', page(), re.MULTILINE)) == sum(
        "figure" in item or "table" in item for _, _, item in items())


def test_the_page_opens_with_how_many_items_are_what() -> None:
    opening = page().split("\n## ")[0]
    rows = [re.split(r" ?\| ?", row)[2:-1] for row in re.findall(r"^\| (?:\[|\*\*).*\|$", opening, re.MULTILINE)]
    *texts, whole = [[int(count or 0) for count in row] for row in rows]
    per_text = [sum(name == text for name, _, _ in items()) for text in dict.fromkeys(name for name, _, _ in items())]

    assert [row[0] for row in texts] == per_text
    assert all(row[0] <= sum(row[1:]) for row in [*texts, whole])
    assert whole == [sum(column) for column in zip(*texts, strict=True)]


def test_every_picture_is_on_the_page_with_what_it_says() -> None:
    shown = IMAGE.findall(page())
    drawn = {f"books/{file.name}": svg(file) for file in BOOKS.glob("*.svg")}

    assert {place for _, place in shown} == drawn.keys()
    for alt, place in shown:
        description = drawn[place].findtext(f"{SVG}desc", "")
        assert len(description) > 20
        assert re.sub(r"\\(.)", r"\1", alt) == words(description)


def test_every_picture_stands_alone_on_white() -> None:
    for file in BOOKS.glob("*.svg"):
        text = file.read_text(encoding="utf-8")
        paper = svg(file).find(f"{SVG}rect")
        assert paper is not None
        assert paper.get("fill") == "#ffffff"
        assert re.findall(r"href|url\(|<style|class=|<script", text) == []
        assert file.stat().st_size < LARGEST, file.name


def test_each_spec_of_the_books_is_right_and_is_shown() -> None:
    specs = {spec.stem: evalpipe.plan(spec) for spec in CONFIGS.glob("*.yaml")}

    assert {item["config"] for _, _, item in items() if "config" in item} == specs.keys()


def test_every_file_of_data_is_small_and_explained_with_its_rows() -> None:
    rows = re.findall(r"^\| `(\S+)` \| ([\d,]+) \|", (DATA / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    files = sorted([*DATA.glob("*.parquet"), *DATA.glob("*.csv")])
    held = {file.name: (pl.read_parquet if file.suffix == ".parquet" else pl.read_csv)(file).height for file in files}

    assert {name: int(count.replace(",", "")) for name, count in rows} == held
    assert [file.name for file in files if file.stat().st_size > LARGEST] == []


@pytest.mark.parametrize("name", ["nicholson", "refined", "stat406"])
def test_the_script_makes_the_committed_data(name: str, tmp_path: Path) -> None:
    subprocess.run([sys.executable, DATA / f"make_{name}.py", tmp_path], check=True)
    fresh = {file.name: file.read_text(encoding="utf-8") for file in tmp_path.glob("*.csv")}

    assert {file.name for file in tmp_path.iterdir()} == {
        file.name for ending in ("csv", "parquet") for file in DATA.glob(f"{name}_*.{ending}")}
    assert fresh == {file: (DATA / file).read_text(encoding="utf-8") for file in fresh}
    for file in tmp_path.glob("*.parquet"):  # as rows, for their bytes hang on the version of polars
        assert_frame_equal(pl.read_parquet(file), pl.read_parquet(DATA / file.name), abs_tol=2e-5)


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["ema", "kuhn"])
def test_the_script_trains_the_committed_models_again(name: str, tmp_path: Path) -> None:
    subprocess.run([sys.executable, DATA / f"make_{name}.py", tmp_path], check=True)

    assert {file.name for file in tmp_path.iterdir()} == {file.name for file in DATA.glob(f"{name}_*.parquet")}
    for file in tmp_path.iterdir():
        fresh, kept = pl.read_parquet(file), pl.read_parquet(DATA / file.name)
        trees = {"random_forest", "three_trees"} & set(kept.columns)
        drawn = [column for column, kind in kept.schema.items() if kind == pl.Float64 and column not in trees]
        assert fresh.columns == kept.columns
        assert fresh.drop(*drawn, *trees).equals(kept.drop(*drawn, *trees))
        # Models with one optimum are rounded, prices to the cent; trees may split otherwise in another version.
        for column in drawn:
            assert (fresh[column] - kept[column]).abs().max() < (0.011 if column in {"fitted", "loo"} else 2e-6)
        for column in trees:
            assert (fresh[column] - kept[column]).abs().mean() < 0.02


@pytest.mark.parametrize("name", [
    *(pytest.param(name, marks=pytest.mark.nightly) for name in ("ema", "kuhn", "nicholson", "refined")), "stat406",
])  # fmt: skip - `make docs-check` runs all five before every change lands
def test_the_specs_of_a_text_give_the_numbers_of_the_page(name: str, books: ModuleType) -> None:
    builder = books.Builder()
    shown = builder.text(name, books.read_text(BOOKS / f"{name}.yaml"))

    assert builder.faults == []
    assert books.items_table(name, shown) in page()
    assert [item.item.item for item in shown if item.item.table and books.values_table(item) not in page()] == []
    assert {item.file for item in shown if item.file} <= {file.name for file in BOOKS.glob("*.svg")}


@pytest.mark.nightly
def test_the_page_is_fresh(books: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert books.main(check=True) == 0
    assert capsys.readouterr().out == "docs/books.md is fresh\n"


@pytest.mark.parametrize(("value", "printed", "agrees", "written"), [
    (0.785, "0.78", True, "0.78"), (0.785, "0.79", True, "0.79"), (0.78501, "0.78", False, "0.79"),
    (0.7849, "78.5%", True, "78.5%"), (0.905, "91%", True, "91%"), (0.904, "91%", False, "90%"),
    (3.0, "3.0000", True, "3.0000"), (80061.4, "80,061", True, "80,061"), (-0.0281, "−0.028", True, "−0.028"),
    (0.50000001, "0.5", True, "0.5"), (None, "0.5", False, "undefined"), ("forest", "forest", True, "forest"),
    ("forest", "linear", False, "forest"), (0.123456, None, True, "0.1235"), (1656.0, None, True, "1,656"),
    (80349360.7567, None, True, "80,349,361"),
])  # fmt: skip
def test_a_number_agrees_where_it_has_the_printed_digits(
    value: float | str | None, printed: str | None, agrees: bool, written: str, books: ModuleType
) -> None:
    pair = books.Compared(value=value, printed=printed)

    assert (pair.agrees, pair.written) == (agrees, written)


RESULTS = {
    "estimates": [
        {"model": model, "variant": variant, "slice": None, "class": None, "metric": "roc_auc", "value": value}
        for model, variant, value in (("a", "original", 0.7), ("a", "a+isotonic", 0.8), ("b", "original", 0.6))
    ],
    "profit": [{"model": "a", "group": 0, "found": 0.0}, {"model": "a", "group": 1, "found": 5.0}],
    "curves": [
        {"model": "a", "curve": "roc", "points": {"threshold": [None, 0.9, 0.1], "sensitivity": [0.0, 0.4, 1.0]}},
    ],
    "prevalence": {"value": 0.24},
}


@pytest.mark.parametrize(("number", "value"), [
    ({"metric": "roc_auc", "model": "a"}, 0.7),
    ({"metric": "roc_auc", "model": "a", "variant": "a+isotonic"}, 0.8),
    ({"in": "profit", "model": "a", "all": True, "take": "found"}, [0.0, 5.0]),
    ({"in": "curves", "curve": "roc", "take": "points.sensitivity", "at": {"threshold": 0.1}}, 1.0),
    ({"in": "curves", "curve": "roc", "take": "points.sensitivity.1"}, 0.4),
    ({"in": "prevalence"}, 0.24),
])  # fmt: skip
def test_a_number_is_found_by_what_its_row_says(number: dict[str, Any], value: object, books: ModuleType) -> None:
    assert books.value_of(RESULTS, number) == value


@pytest.mark.parametrize(("number", "message"), [
    ({"metric": "roc_auc"}, "2 rows of estimates have {'metric': 'roc_auc'}; they differ in model, value"),
    ({"metric": "brier"}, "no row of estimates has {'metric': 'brier'}"),
    ({"in": "table"}, "results.json has no 'table'"),
    ({"metric": "roc_auc", "model": "b", "take": "values"},
     "there is no 'values' of 'values' in model, variant, slice, class, metric, value"),
    ({"in": "curves", "curve": "roc", "take": "points.sensitivity.3"},
     "there is no '3' of 'points.sensitivity.3' in a list"),
    ({"in": "curves", "curve": "roc", "take": "points.sensitivity", "at": {"threshold": 0.2}},
     "0 points of the curve have threshold 0.2"),
])  # fmt: skip
def test_a_number_that_is_not_there_is_refused(number: dict[str, Any], message: str, books: ModuleType) -> None:
    with pytest.raises(books.UnfitItemError) as refused:
        books.value_of(RESULTS, number)

    assert str(refused.value) == message


@pytest.mark.parametrize(("printed", "original", "label", "cell"), [
    ("98%", "0.9811", "original", "99% (on the text's data: 0.9811; text: 98%)"),
    ("99%", "0.9911", "original", "99% (on the text's data: 0.9911)"),
    (None, "0.9811", "shown", "0.99 (on the text's data: 0.9811)"),
    ("99%", None, "equal", "99%"),
])
def test_a_value_on_the_data_of_the_text_is_the_one_that_is_held_to_what_is_printed(
    printed: str | None, original: str | None, label: str, cell: str, books: ModuleType
) -> None:
    column = {"head": "c", "number": [{"metric": "accuracy"}], "printed": [printed], "original": [original]}
    single = shown(books, {**ACCURACY, "printed": printed, "original": original})
    table = shown(books, table_of(column))

    assert (single.labels, table.labels) == ([label], [label])
    assert f"| a | {cell} |" in books.values_table(table)
    assert ("On the text's data" in books.items_table("t", [single])) == (original is not None)


SHARED = {"item": "x", "at": "section 1", "config": "nicholson_rare"}
ACCURACY = {**SHARED, "number": {"metric": "accuracy"}}
MISPRINT = {"erratum": "It is 99%", "recomputed": "99 of 100"}
DIFFERS = {"differs": {"ours": "o", "theirs": "t", "why": "w"}}
BY_CHANCE = {"differs": {**DIFFERS["differs"], "by_chance": True}}
UNEXPLAINED = "0.99 where the text has 98%, without an erratum or what differs"
NO_DIFFERENCE = "it has a reason to differ from the text, and does not differ"


def shown(books: ModuleType, item: dict[str, Any]) -> Any:
    builder = books.Builder()
    (only,) = builder.text("t", books.Text.model_validate(
        {"title": "T", "by": "A", "about": "B", "items": [item]})) or [builder.faults]
    return only


def column_of(printed: str | None, **reasons: Any) -> dict[str, Any]:
    """Return a column with the accuracy and what the text prints for it."""
    return {"head": "c", "number": [{"metric": "accuracy"}], "printed": [printed], **reasons}


def table_of(*columns: dict[str, Any], **reasons: Any) -> dict[str, Any]:
    return {**SHARED, **reasons, "table": {"heading": "h", "rows": ["a"], "columns": list(columns)}}


COMPUTED = "numbers that the text prints and evalpipe computes are equal"


@pytest.mark.parametrize(("item", "labels", "says"), [
    (table_of(column_of("99%"), column_of("98%", **MISPRINT)), ["equal", "misprint"], f"1 of the 2 {COMPUTED}."),
    (table_of(column_of("99%"), column_of("99%", input="y"), column_of("99%", input="y")), ["equal", "input"],
     f"1 of the 1 {COMPUTED}; 2 others are input."),
    (table_of(column_of("99%"), column_of("99%"), input="y"), ["input"],
     "All 2 numbers that the text prints are input."),
    (table_of(column_of("99%"), column_of("98%"), input="y", **MISPRINT), ["misprint", "input"],
     "All 2 numbers that the text prints are input."),
    (table_of(column_of("99%", **BY_CHANCE)), ["differs"], f"0 of the 1 {COMPUTED}."),
    (table_of(column_of("98%"), column_of("97%", **MISPRINT), **DIFFERS), ["differs", "misprint"],
     f"0 of the 2 {COMPUTED}."),
    (table_of(column_of(None)), ["shown"], ""),
])  # fmt: skip
def test_a_table_has_the_label_of_each_kind_of_column_and_counts_no_input(
    item: dict[str, Any], labels: list[str], says: str, books: ModuleType
) -> None:
    table = shown(books, item)

    assert table.labels == labels
    assert books.values_table(table).splitlines()[0] == f"section 1. {says}".strip()


@pytest.mark.parametrize(("reasons", "labels", "remarks"), [
    ({"printed": "98%", **MISPRINT}, ["misprint"], ["Misprint: It is 99%. Recomputed: 99 of 100."]),
    ({"printed": "98%", **DIFFERS}, ["differs"], ["Ours: o. Theirs: t. Why: w."]),
    ({"printed": "98%", **MISPRINT, **DIFFERS}, ["differs", "misprint"],
     ["Misprint: It is 99%. Recomputed: 99 of 100.", "Ours: o. Theirs: t. Why: w."]),
    ({"printed": "99%", **BY_CHANCE}, ["differs"], ["Ours: o. Theirs: t. Why: w."]),
    ({"printed": "99%", "input": "The data say so"}, ["input"], ["Input: The data say so."]),
    ({"printed": "99%", "note": "n"}, ["equal"], ["n."]),
    (MISPRINT, ["misprint"], ["Misprint: It is 99%. Recomputed: 99 of 100."]),
    (DIFFERS, ["differs"], ["Ours: o. Theirs: t. Why: w."]),
    ({}, ["shown"], []),
])  # fmt: skip
def test_a_number_has_its_label_and_the_reader_sees_why(
    reasons: dict[str, Any], labels: list[str], remarks: list[str], books: ModuleType
) -> None:
    number = shown(books, ACCURACY | reasons)

    assert (number.labels, number.remarks) == (labels, remarks)


@pytest.mark.parametrize(("item", "message"), [
    ({**ACCURACY, "printed": "98%"}, UNEXPLAINED),
    ({**ACCURACY, "printed": "99%", **MISPRINT}, NO_DIFFERENCE),
    ({**ACCURACY, "printed": "99%", **DIFFERS}, NO_DIFFERENCE),
    ({**ACCURACY, "printed": "98%", **BY_CHANCE}, "by_chance is said of digits that agree"),
    ({**ACCURACY, **BY_CHANCE}, "by_chance is said of digits that agree"),
    ({**ACCURACY, "printed": "98%", "input": "y"}, "it is input, and not what the text prints"),
    ({**ACCURACY, "input": "y"}, "it is input, and the text prints nothing of it"),
    (table_of(column_of("99%", input="y"), column_of("98%", input="y")), "it is input, and not what the text prints"),
    (table_of(column_of("99%"), column_of(None), input="y"), "it is input, and the text prints nothing of it"),
    ({**SHARED, "figure": "d1-none"},
     "the card of nicholson_rare has no figure d1-none; it has d1-forest"),
    ({**ACCURACY, "config": "none"}, "there is no configs/books/none.yaml"),
    ({**SHARED, "number": {"in": "confusion", "take": "counts"}},
     "{'in': 'confusion', 'take': 'counts'} is no single value"),
    ({**ACCURACY, "printed": "99%", "original": "0.9811"},
     "0.9811 where the text has 99%, without an erratum or what differs"),
    ({**ACCURACY, "printed": "98%", "original": "0.9811", **DIFFERS}, NO_DIFFERENCE),
    (table_of(column_of("98%")), UNEXPLAINED),
    (table_of(column_of("98%"), column_of("97%", **MISPRINT)), UNEXPLAINED),
    (table_of(column_of("99%", **DIFFERS)), "a column has a reason to differ from the text, and does not differ"),
    (table_of(column_of("97%", **MISPRINT), **DIFFERS), NO_DIFFERENCE),
    ({**SHARED, "table": {"heading": "h", "rows": ["a", "b"], "columns": [
        {"head": "c", "number": [{"metric": "accuracy"}]}]}},
     "c: 2 rows, 1 values and 2 printed ones"),
])  # fmt: skip
def test_an_item_that_does_not_fit_is_told_with_its_place(
    item: dict[str, Any], message: str, books: ModuleType
) -> None:
    builder = books.Builder()
    text = books.Text.model_validate({"title": "T", "by": "A", "about": "B", "items": [item]})

    assert builder.text("t", text) == []
    assert builder.faults == [f"docs/books/t.yaml, section 1, x: {message}"]


def test_a_spec_that_does_not_run_is_told_once(
    books: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bad.yaml").write_text("evalpipe: 1\nname: bad\ntask: binary\n", encoding="utf-8")
    monkeypatch.setattr(books, "CONFIGS", tmp_path)
    builder = books.Builder()
    item = ACCURACY | {"config": "bad"}
    builder.text("t", books.Text.model_validate({"title": "T", "by": "A", "about": "B", "items": [item, item]}))

    first, second = builder.faults
    assert first.startswith("docs/books/t.yaml, section 1, x: configs/books/bad.yaml does not run:\nerror[missing-key]")
    assert second == "docs/books/t.yaml, section 1, x: configs/books/bad.yaml does not run, as said above"


def test_the_model_of_stat406_is_that_of_statsmodels() -> None:
    rows = pl.read_csv(DATA / "stat406_simulated.csv")
    design = sm.add_constant(np.linspace(-5, 5, 250))
    fit = sm.GLM(rows["y"].to_numpy(), design, family=sm.families.Binomial()).fit(tol=1e-12)
    results = evalpipe.run(CONFIGS / "stat406.yaml")
    value = dict(zip(results.estimates["metric"], results.estimates["value"], strict=True))
    (test,) = results.deviances

    # The file has probabilities to six decimals.
    assert rows["fitted"].to_numpy() == pytest.approx(fit.predict(), abs=5.1e-7)
    assert value["deviance"] == test.deviance == pytest.approx(fit.deviance, rel=1e-6)
    assert test.null_deviance == pytest.approx(fit.null_deviance, rel=1e-12)
    # Probabilities of six decimals move the deviance by up to 2e-4, and the logarithm of the p-value by half of that.
    assert test.p_value == pytest.approx(chi2.sf(fit.null_deviance - fit.deviance, 1), rel=1e-4)
    assert value["roc_auc"] == pytest.approx(sk.roc_auc_score(rows["y"], fit.predict()), rel=1e-12)


NEEDS_ONE = "items.0: Value error, it needs one of figure, number, table and unavailable, and has "
NEEDS_CONFIG = "items.0: Value error, it needs the config that shows it; what is unavailable has none"
NEEDS_NUMBER = "items.0: Value error, what the text prints stands beside a number, or in the columns of a table"
TOGETHER = "items.0: Value error, an erratum and how it is recomputed stand together"


@pytest.mark.parametrize(("item", "message"), [
    ({}, f"{NEEDS_ONE}[]"),
    ({"figure": "a", "number": {}}, f"{NEEDS_ONE}['figure', 'number']"),
    ({"figure": "a", "config": None}, NEEDS_CONFIG),
    ({"unavailable": "a"}, NEEDS_CONFIG),
    ({"figure": "a", "printed": 1}, NEEDS_NUMBER),
    ({"figure": "a", "original": 1}, NEEDS_NUMBER),
    ({"number": {}, "printed": 0.3}, "items.0.printed: Input should be a valid string"),
    ({"figure": "a", "errata": "b"}, "items.0.errata: Extra inputs are not permitted"),
    ({"figure": "a", "erratum": "b"}, TOGETHER),
    ({"figure": "a", "recomputed": "b"}, TOGETHER),
    ({"figure": "a", "differs": {"ours": "b", "why": "c"}}, "items.0.differs.theirs: Field required"),
    ({"number": {}, "input": "a", **DIFFERS}, "items.0: Value error, what is input does not differ"),
    ({"figure": "a", "input": "b"}, "items.0: Value error, input is a number, a table or a column of one"),
    ({"figure": "a", **BY_CHANCE},
     "items.0: Value error, by_chance is said of a number, or in the columns of a table"),
    ({"unavailable": "a", "config": None, **DIFFERS},
     "items.0: Value error, what is unavailable cannot differ from the text"),
])  # fmt: skip
def test_a_wrong_file_of_items_is_refused(
    item: dict[str, Any], message: str, books: ModuleType, tmp_path: Path
) -> None:
    file = tmp_path / "t.yaml"
    text = {"title": "T", "by": "A", "about": "B", "items": [SHARED | item]}
    file.write_text(yaml.safe_dump(text), encoding="utf-8")

    with pytest.raises(books.UnfitItemError) as refused:
        books.read_text(file)

    assert str(refused.value) == f"t.yaml: {message}"


def test_what_is_stale_is_named(books: ModuleType) -> None:
    written = [ROOT / "docs" / "books.md", *BOOKS.glob("*.svg")]
    files = {file: file.read_text(encoding="utf-8") for file in written}
    first, second, *_ = files
    without = {path: text for path, text in files.items() if path != second}

    assert books.stale(files) == []
    assert books.stale(files | {first: "other"}) == ["docs/books.md"]
    assert books.stale(without) == [second.relative_to(ROOT).as_posix()]
