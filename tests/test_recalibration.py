"""Fitted recalibrators applied to new predictions: from the command line and from Python, the same bytes."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import evalpipe
from evalpipe.cli import main
from evalpipe.errors import DataError, UsageError
from evalpipe.results import Results

METHODS = [
    "logistic", "logistic_probability", "logistic_spline", "platt", "isotonic",
    {"method": "isotonic", "interpolate": "linear", "name": "isotonic_line"}, {"method": "isotonic_bagged", "bags": 20},
    "beta", "temperature", "histogram", "venn_abers", {"method": "prior_shift", "to": 0.2},
]
NAMES = [one if isinstance(one, str) else one.get("name", one["method"]) for one in METHODS]  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run of every binary method, with its data."""
    folder = tmp_path_factory.mktemp("recalibration")
    generator = np.random.default_rng(8)
    for name, n in (("test", 150), ("cal", 200)):
        odds = generator.normal(0, 2, n)
        y = generator.random(n) < 1 / (1 + np.exp(-odds / 2))
        p = 1 / (1 + np.exp(-odds))
        pl.DataFrame({"id": [f"0{name}{i}" for i in range(n)], "y": np.where(y, "yes", "no"), "pa": p}).write_csv(
            folder / f"{name}.csv")
    spec = {
        "evalpipe": 1, "name": "small", "task": "binary", "outcome": {"column": "y", "event": "yes"}, "id": "id",
        "datasets": {"test": {"path": str(folder / "test.csv")},
                     "cal": {"path": str(folder / "cal.csv"), "role": "calibrate"}},
        "models": {"a": {"probability": "pa"}}, "metrics": ["brier", "accuracy"], "intervals": {"method": "none"},
        "recalibrate": {"fit_on": "cal", "methods": METHODS}, "report": {"formats": []},
    }
    evalpipe.run(spec, out=folder / "out")
    return folder


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    told, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(told), redirect_stderr(errors), pytest.raises(SystemExit) as ended:
        main(["recalibrate", *map(str, arguments)])
    assert isinstance(ended.value.code, int)
    return subprocess.CompletedProcess(arguments, ended.value.code, told.getvalue(), errors.getvalue())


@pytest.mark.parametrize("name", NAMES)
def test_new_predictions_get_the_numbers_of_the_run(done: Path, name: str) -> None:
    """The Brier score of the file's new column is that of the variant, to the last bit of a sum in file order."""
    frame = evalpipe.recalibrate(done / "out", f"a+{name}", done / "test.csv")
    y, p = (frame["y"] == "yes").to_numpy(), frame[f"a+{name}"].to_numpy()
    results = Results.read(done / "out" / "results.json")
    value = {(e.variant, e.metric): e.value for e in results.rows}
    assert ((y - p) ** 2).mean() == pytest.approx(value[name, "brier"], rel=1e-14)
    assert ((p >= 0.5) == y).mean() == value[name, "accuracy"]
    (record,) = [one for one in results.recalibration if one.variant == name]
    assert record.applied[0].distinct_after == len(np.unique(p))


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "feather", "ndjson"])
def test_the_command_line_and_python_write_the_same_bytes(done: Path, ending: str, tmp_path: Path) -> None:
    from evalpipe.recalibration import write

    asked = done / "out" / "results.json", "a+beta", done / "test.csv"
    first = command(*asked, "-o", tmp_path / f"one.{ending}")
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout == f"{tmp_path / f'one.{ending}'}: 150 rows\n"
    write(evalpipe.recalibrate(Results.read(asked[0]), *asked[1:]), tmp_path / f"two.{ending}")
    assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"two.{ending}").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"one.{ending}", f"two.{ending}"]


def test_the_other_columns_and_the_order_stay_as_they_were(done: Path, tmp_path: Path) -> None:
    rows = pl.read_csv(done / "test.csv", infer_schema=False).reverse().drop("y")
    rows.write_csv(tmp_path / "new.csv")
    found = evalpipe.recalibrate(done / "out", "a+isotonic", tmp_path / "new.csv")
    assert found.drop("a+isotonic").equals(rows)
    again = evalpipe.recalibrate(done / "out", "a+isotonic", rows.with_columns(pl.col("pa").cast(float)))
    assert found["a+isotonic"].equals(again["a+isotonic"])


def test_a_recalibrated_file_can_be_evaluated(done: Path, tmp_path: Path) -> None:
    command(done / "out", "a+isotonic", done / "test.csv", "-o", tmp_path / "new.parquet")
    spec = {"evalpipe": 1, "name": "again", "task": "binary", "outcome": {"column": "y", "event": "yes"},
            "datasets": {"test": {"path": str(tmp_path / "new.parquet")}}, "metrics": ["brier"],
            "models": {"b": {"probability": "a+isotonic"}}, "intervals": {"method": "none"}}
    (row,) = evalpipe.run(spec).rows
    values = {e.variant: e.value for e in Results.read(done / "out" / "results.json").rows if e.metric == "brier"}
    assert row.value == values["isotonic"]


def test_levels_get_a_column_each_and_numbers_one() -> None:
    generator = np.random.default_rng(3)
    frames: dict[str, pl.DataFrame] = {}
    for name in ("d", "cal"):
        chances = generator.dirichlet([1, 1, 1], 60)
        truth = ["abc"[generator.choice(3, p=row)] for row in chances]
        columns = {f"p_{c}": chances[:, i] for i, c in enumerate("abc")}
        frames[name] = pl.DataFrame({"y": truth, "x": generator.normal(size=60)} | columns)
        frames[name] = frames[name].with_columns(z=pl.col("x") * 2 + generator.normal(size=60))
    common: dict[str, Any] = {
        "evalpipe": 1, "name": "x", "intervals": {"method": "none"},
        "datasets": {"d": {"path": "memory"}, "cal": {"path": "memory", "role": "calibrate"}}}
    many = evalpipe.run(common | {
        "task": "multiclass", "outcome": {"column": "y", "levels": list("abc")}, "metrics": ["log_loss"],
        "models": {"m": {"probabilities": "p_{level}"}},
        "recalibrate": {"fit_on": "cal", "methods": ["temperature", "one_vs_rest"]}}, frames=frames)
    found = evalpipe.recalibrate(many, "m+one_vs_rest", frames["d"])
    assert found.columns[-3:] == ["m+one_vs_rest.a", "m+one_vs_rest.b", "m+one_vs_rest.c"]
    assert found[:, -3:].sum_horizontal().to_numpy() == pytest.approx(np.ones(60), abs=1e-12)
    number = evalpipe.run(common | {
        "task": "regression", "outcome": {"column": "z"}, "metrics": ["mse"], "models": {"m": {"prediction": "x"}},
        "recalibrate": {"fit_on": "cal", "methods": ["linear"]}}, frames=frames)
    made = evalpipe.recalibrate(number, "m+linear", frames["d"])["m+linear"]
    values = {e.variant: e.value for e in number.rows}
    assert float(((made - frames["d"]["z"]) ** 2).mean()) == pytest.approx(values["linear"], rel=1e-14)  # type: ignore[arg-type]


def test_a_variant_cross_fitted_on_two_datasets_asks_which() -> None:
    generator = np.random.default_rng(4)
    frames = {name: pl.DataFrame({"y": generator.integers(0, 2, 50), "p": generator.random(50)}) for name in "ab"}
    results = evalpipe.run({
        "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1},
        "datasets": {name: {"path": "memory"} for name in frames}, "models": {"m": {"probability": "p"}},
        "metrics": ["brier"], "intervals": {"method": "none"},
        "recalibrate": {"fit_on": {"folds": 5}, "methods": ["isotonic"]}}, frames=frames)
    with pytest.raises(UsageError, match="'m\\+isotonic' was fitted on a and on b"):
        evalpipe.recalibrate(results, "m+isotonic", frames["a"])
    first, second = (evalpipe.recalibrate(results, "m+isotonic", frames["a"], name) for name in frames)
    assert not first["m+isotonic"].equals(second["m+isotonic"])


def told(done: Path, *arguments: object) -> tuple[int, str]:
    found = command(*arguments)
    assert found.stdout == ""
    return found.returncode, found.stderr.replace(str(done), "FOLDER")


def test_every_fault_is_one_message(done: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    shutil.copy(done / "test.csv", tmp_path / "taken.csv")
    frame = pl.read_csv(done / "test.csv")
    frame.rename({"pa": "pb"}).write_csv(tmp_path / "other.csv")
    frame.with_columns(pl.lit(0).alias("a+beta")).write_csv(tmp_path / "taken.csv")
    frame.with_columns(pa=pl.col("pa") * 2).write_csv(tmp_path / "range.csv")
    data = done / "test.csv"
    code, text = told(done, done / "out", "a+bta", data, "-o", out)
    assert code == 2
    assert text == (
        "error[unknown-variant]: the run has no recalibrator 'a+bta'\n  = help: the recalibrators of the run are "
        f"{', '.join(f'a+{name}' for name in NAMES)}\n")
    assert told(done, done / "nowhere", "a+beta", data, "-o", out) == (3, (
        "error[unreadable-file]: cannot read FOLDER/nowhere: No such file or directory\n"
        "  = help: give the output folder of `evalpipe run`\n"))
    code, text = told(done, done / "out", "a+beta", tmp_path / "other.csv", "-o", out)
    assert code == 3
    assert text.startswith("error[missing-column]: dataset 'data'")
    assert "has no column 'pa'" in text
    code, text = told(done, done / "out", "a+beta", tmp_path / "range.csv", "-o", out)
    assert (code, "error[probability-range]" in text) == (3, True)
    assert told(done, done / "out", "a+beta", tmp_path / "taken.csv", "-o", out) == (3, (
        "error[taken-name]: the data have a column 'a+beta' already\n  = help: rename it, or leave it out\n"))
    assert told(done, done / "out", "a+beta", data, "-o", "x.xlsx") == (2, (
        "error[unknown-format]: 'x.xlsx' names no format that evalpipe writes\n"
        "  = help: end it in .csv, .tsv, .parquet, .feather or .ndjson\n"))
    assert told(done, done / "out", "a+beta", data, "-o", done / "nowhere" / "x.csv") == (2, (
        "error[output-file]: cannot write 'FOLDER/nowhere/x.csv': No such file or directory\n"
        "  = help: name a file in a folder that can be written\n"))
    assert not out.exists()


def whole(folder: Path) -> dict[str, bytes | str]:
    """Return the files of a folder, of links where they lead."""
    return {path.name: str(path.readlink()) if path.is_symlink() else path.read_bytes()
            for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("place", [
    "out/estimates.csv", "out/results.json", "linked/estimates.csv", "out/../out/run.json", "out/rows.csv"])
def test_a_file_of_a_run_is_not_replaced(done: Path, tmp_path: Path, place: str) -> None:
    shutil.copytree(done / "out", tmp_path / "out")
    (tmp_path / "linked").symlink_to("out")
    (tmp_path / "out" / "rows.csv").symlink_to("nowhere.csv")
    before = whole(tmp_path / "out")
    assert told(tmp_path, done / "out", "a+beta", done / "test.csv", "-o", tmp_path / place) == (2, (
        f"error[file-of-a-run]: 'FOLDER/{place}' is a file that a run wrote, and nothing was written\n"
        "  = help: name another file\n"))
    assert whole(tmp_path / "out") == before


def test_a_file_that_no_run_wrote_is_replaced_whole_and_no_link_is_followed(done: Path, tmp_path: Path) -> None:
    shutil.copytree(done / "out", tmp_path / "out")
    before = whole(tmp_path / "out")
    (tmp_path / "estimates.csv").write_text("mine")
    (tmp_path / "kept.csv").write_text("kept")
    (tmp_path / "link.csv").symlink_to("kept.csv")
    (tmp_path / "estimate.csv").symlink_to("out/estimates.csv")
    for place in ("estimates.csv", "link.csv", "estimate.csv", "out/recalibrated.csv"):
        assert command(done / "out", "a+beta", done / "test.csv", "-o", tmp_path / place).returncode == 0
        assert "a+beta" in pl.read_csv(tmp_path / place).columns
        assert not (tmp_path / place).is_symlink()
    assert (tmp_path / "kept.csv").read_text() == "kept"
    (tmp_path / "out" / "recalibrated.csv").unlink()
    assert whole(tmp_path / "out") == before


@pytest.mark.parametrize(("place", "code", "why"), [
    ("folder.csv", "output-file", "Is a directory"),
    ("file.csv/x.csv", "output-file", "Not a directory"),
    ("x" * 300 + ".csv", "output-file", "File name too long"),
    (".", "unknown-format", "names no format that evalpipe writes"),
    ("x.csv.gz", "unknown-format", "names no format that evalpipe writes"),
])
def test_what_cannot_be_written_is_one_message_and_leaves_nothing(
    done: Path, tmp_path: Path, place: str, code: str, why: str
) -> None:
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "folder.csv" / "mine").write_text("mine")
    (tmp_path / "file.csv").write_text("mine")
    ended, text = told(tmp_path, done / "out", "a+beta", done / "test.csv", "-o", tmp_path / place)
    assert ended == 2
    assert text.startswith(f"error[{code}]: ")
    assert why in text
    assert text.count("\n") == 2
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file.csv", "folder.csv", "mine"]


def test_an_edited_recalibrator_is_refused(done: Path, tmp_path: Path) -> None:
    document = json.loads((done / "out" / "results.json").read_text(encoding="utf-8"))
    logistic = next(record for record in document["recalibration"] if record["variant"] == "logistic")
    logistic["parameters"]["slop"] = logistic["parameters"].pop("slope")
    (tmp_path / "results.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(DataError, match=r"'a\+logistic' cannot be read: logistic: lacks the parameter 'slope'"):
        evalpipe.recalibrate(tmp_path, "a+logistic", done / "test.csv")


def test_a_run_without_recalibration_says_so(done: Path) -> None:
    results = Results.read(done / "out" / "results.json").model_copy(update={"recalibration": []})
    with pytest.raises(UsageError, match="the run 'small' fitted no recalibrator"):
        evalpipe.recalibrate(results, "a+beta", done / "test.csv")
