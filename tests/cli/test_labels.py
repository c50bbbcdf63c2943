"""`evalpipe labels`: the file of the queue, the table of what is needed, and errors with a way out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Command

SPEC = """\
evalpipe: 1
name: labelled
task: binary
outcome: {column: y, event: "yes", levels: ["yes", "no"]}
labels: {selected: random}
datasets: {test: {path: part.csv}}
models: {a: {probability: pa}, b: {probability: pb}}
metrics: [accuracy]
slices: [region]
compare: {baseline: a}
gates: [{metric: accuracy, min: 0.54, model: a}, {metric: accuracy, min: 0.05, model: b}]
intervals: {replicates: 100}
report: {formats: [html]}
"""


@pytest.fixture
def spec(folder: Path) -> str:
    """Return the name of a spec of 200 rows, of which 60 have an outcome, in the working folder."""
    rng = np.random.default_rng(2)
    y = rng.random(200) < 0.4
    known, region = rng.permutation(200) < 60, np.where(np.arange(200) < 40, "small", "large")
    p = np.clip(rng.normal(0.35 + 0.3 * y, 0.25), 0, 1)
    pl.DataFrame({
        "y": [("yes" if event else "no") if shown else None for event, shown in zip(y, known, strict=True)],
        "pa": p, "pb": np.clip(p + rng.normal(0, 0.1, 200), 0, 1), "region": region}).write_csv(folder / "part.csv")
    (folder / "part.yaml").write_text(SPEC)
    return "part.yaml"


def test_the_queue_is_a_file_that_the_spec_can_be_evaluated_with(spec: str, folder: Path, command: Command) -> None:
    ended = command("labels", spec, "--next", "20", "-o", "queue.csv")
    queue = pl.read_csv(folder / "queue.csv")
    again = command("labels", spec, "--next", "20", "-o", "again.csv", "--format", "json")

    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == "queue.csv: 200 rows; label the first 20 next\n"
    assert queue.columns == ["row", "next", "probability"]
    assert json.loads(again.stdout) == {"queue": {"file": "again.csv", "rows": 200, "next": 20}, "needed": None}
    assert (folder / "again.csv").read_bytes() == (folder / "queue.csv").read_bytes()

    rows = pl.read_csv(folder / "part.csv").with_row_index("row", offset=1).join(queue, on="row", how="left")
    labelled = rows.with_columns(y=pl.when(pl.col("next").is_not_null()).then(pl.lit("no")).otherwise("y"))
    assert labelled["y"].drop_nulls().len() == 80  # none of those to label had an outcome
    labelled.write_csv(folder / "part.csv")
    done = command("run", spec, "--no-progress", "--set", "labels={selected: {probability: probability}}",
                   "--set", "gates=null")
    assert done.returncode == 0, done.stderr


def test_what_is_needed_says_who_has_a_verdict(spec: str, command: Command) -> None:
    ended = command("labels", spec, "--needed", "--format", "json")
    needed = {(row["kind"], row["about"]): row for row in json.loads(ended.stdout)["needed"]}
    first = needed["gate", "gate 1: Accuracy, a on test"]
    half, apart = first["value"] - first["lower"], first["value"] - 0.54

    assert ended.returncode == 0, ended.stderr
    assert needed["gate", "gate 2: Accuracy, b on test"]["more"] == 0
    assert (first["known"], first["rows"], first["beyond"]) == (60, 200, False)
    assert first["more"] == int(np.ceil(60 * (half / apart)**2)) - 60 > 0
    # A slice has to have 30 rows with an outcome, as the spec has it by default.
    small = [row for (kind, _), row in needed.items() if kind == "slice" and row["slice"] == {"region": "small"}]
    assert [(row["value"], row["rows"], row["beyond"]) for row in small] == [(None, 40, False)] * 2
    assert {row["known"] + row["more"] for row in small} == {30}
    text = command("labels", spec, "--needed").stdout
    assert f"gates without a verdict\n{first['more']:>15} more  gate 1: Accuracy, a on test: " in text
    assert text.endswith(f"of {len(needed)} numbers have a verdict\n")


UNSURE = ("error[usage]: name --next K and -o FILE, or --needed, or all three\n"
          "  = help: see: evalpipe labels --help\n")
TOO_MANY = ("error[too-many-rows]: 141 rows are to be labelled next, and 140 have no outcome\n"
            "  = help: ask for fewer; where each row has an outcome, run the spec\n")
NO_LABELS = ("error[no-labels]: the spec has no 'labels', so that each row has an outcome\n"
             "  = help: add 'labels: {selected: random}', and leave the outcome empty where it is unknown\n")
NO_FORMAT = ("error[unknown-format]: 'q.txt' names no format that evalpipe writes\n"
             "  = help: end it in .csv, .tsv, .parquet, .feather or .ndjson\n")


@pytest.mark.parametrize(("line", "message"), [
    ("part.yaml", UNSURE), ("part.yaml --next 5", UNSURE), ("part.yaml --needed -o q.csv", UNSURE),
    ("part.yaml --next 141 -o q.csv", TOO_MANY), ("small.yaml --next 5 -o q.csv", NO_LABELS),
    ("part.yaml --next 5 -o q.txt", NO_FORMAT),
])
@pytest.mark.usefixtures("spec")
def test_errors_say_the_way_out(line: str, message: str, folder: Path, command: Command) -> None:
    ended = command("labels", *line.split())

    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", message)
    assert not [file for file in folder.iterdir() if file.name.startswith("q.")]


def test_rows_without_any_outcome_have_no_queue(spec: str, folder: Path, command: Command) -> None:
    pl.read_csv(folder / "part.csv").with_columns(y=pl.lit(None, pl.String)).write_csv(folder / "part.csv")
    ended = command("labels", spec, "--next", "5", "-o", "q.csv")

    assert ended.returncode == 3
    assert "find out the outcome of some rows" in ended.stderr
