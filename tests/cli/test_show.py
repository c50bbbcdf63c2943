"""`evalpipe show`: an estimate with all that it was made from, whole."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import evalpipe
from cli.conftest import Command, write_small
from conftest import Shared
from evalpipe.results import Results

WHOLE = """\
test/a/original/overall/accuracy

measure       Accuracy
value         {value}
exactly       {exactly}
definition    Share of the rows whose class was predicted correctly.
formula       \\frac{{1}}{{n}}\\sum_k n_{{kk}}
range         0 to 1. Higher is better. Undefined when there are no rows.
reference     Sokolova & Lapalme (2009)
interval      95%, Clopper-Pearson: a proportion of rows, so Clopper-Pearson limits are valid
error bound   none: no grid of scores was used
n             80 in its own denominator, {events} of them events
dataset       test: 80 rows read, 80 observations used
slice         all rows
model         a (a), original predictions
columns       truth y; probability pa
threshold     0.5: as the spec gives it
prevalence    {share}, that of the rows
file          test.csv (test): 80 rows, 80 used, sha256 {file}
spec          small, metrics[0], sha256 {spec}
as of         2026-11-21
versions      evalpipe {version}; {libraries}
results.json  sha256 {evidence}
"""


@pytest.fixture
def out(shared: Shared, folder: Path) -> Path:
    """Return the output folder of a run."""

    def run(top: Path) -> None:
        top.mkdir()
        write_small(top)
        evalpipe.run(top / "small.yaml", out=top / "out", overrides=["report.formats=[]"], as_of="2026-11-21")

    shutil.copytree(shared("cli-shown", run), folder, dirs_exist_ok=True)
    return folder / "out"


def test_an_estimate_is_shown_with_all_that_it_was_made_from(command: Command, out: Path, folder: Path) -> None:
    done, results = command("show", "out", "accuracy"), Results.read(out)

    own = results.rows[0]
    run = json.loads((out / "run.json").read_text())
    value = re.search("^value +(.*)$", done.stdout, re.MULTILINE)
    share = re.search("^prevalence +([0-9.]+),", done.stdout, re.MULTILINE)
    assert value is not None
    assert share is not None
    assert float(share[1]) == pytest.approx((results.datasets[0].prevalence), abs=0.0005)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == WHOLE.format(
        value=value[1], exactly=f"{own.value} ({own.lower} to {own.upper})", events=own.events, share=share[1],
        file=hashlib.sha256((folder / "test.csv").read_bytes()).hexdigest(), spec=results.spec_sha256,
        version=results.evalpipe_version, evidence=hashlib.sha256((out / "results.json").read_bytes()).hexdigest(),
        libraries=", ".join(f"{name} {version}" for name, version in run["libraries"].items()))


def test_the_same_is_given_as_json(command: Command, out: Path) -> None:
    document = json.loads(command("show", "out/results.json", "brier", "--format", "json").stdout)

    results = Results.read(out)
    assert document["estimate"] == next(row for row in results.rows if row.metric == "brier").model_dump(by_alias=True)
    assert document["interval"]["seed"] == 0
    assert document["interval"]["drawn"]["units"] == 80
    assert document["columns"] == {"truth": ["y"], "probability": ["pa"]}
    assert document["threshold"] is None
    assert document["inputs"] == [file.model_dump() for file in results.inputs]
    assert document["versions"]["libraries"]["numpy"]


def test_the_sha256_of_the_spec_can_be_computed_again(out: Path) -> None:
    results = json.loads((out / "results.json").read_text())
    text = json.dumps(results["spec"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    assert hashlib.sha256(text.encode()).hexdigest() == results["spec_sha256"]


def test_without_an_estimate_all_are_listed(command: Command, out: Path) -> None:
    lines = command("show", "out").stdout.splitlines()
    rows = json.loads(command("show", "out", "--format", "json").stdout)

    results = Results.read(out)
    assert len(lines) == len(rows) == len(results.rows) + len(results.diagnostics)
    assert lines[0].split()[0] == rows[0]["address"] == "test/a/original/overall/accuracy"
    assert rows[0]["value"] == results.rows[0].value


def test_what_run_json_does_not_know_is_said(command: Command, out: Path) -> None:
    run = json.loads((out / "run.json").read_text())
    for text in (json.dumps(run | {"evidence_sha256": "other"}), "no JSON", "[" * 100_000, "[]"):
        (out / "run.json").write_text(text)
        line = next(line for line in command("show", "out", "brier").stdout.splitlines() if "versions" in line)
        assert line == (f"versions           evalpipe {run['evalpipe_version']}; run.json is not here, or is of other "
                        "results, so libraries are not known")


@pytest.mark.parametrize(("dirty", "said"), [
    (True, ", and files are changed since"), (False, ", and no file is changed since"),
    (None, "; whether files are changed since is not known"),
])
def test_the_commit_is_shown(command: Command, out: Path, dirty: bool | None, said: str) -> None:
    run = json.loads((out / "run.json").read_text())
    assert run["git"] is None
    (out / "run.json").write_text(json.dumps(run | {"git": {"commit": "a" * 40, "dirty": dirty}}))

    assert f"commit             {'a' * 40}{said}\n" in command("show", "out", "brier").stdout


@pytest.mark.parametrize(("arguments", "code", "told"), [
    (("out", "brie"), 2,
     "error[unknown-estimate]: 'brie' is in the address of no estimate\n  = help: did you mean 'brier'?\n"),
    (("nowhere", "brier"), 3,
     ("error[unreadable-file]: cannot read nowhere: No such file or directory\n"
     "  = help: give the output folder of `evalpipe run`\n")),
])
def test_what_cannot_be_shown_is_told(
    command: Command, out: Path, arguments: tuple[str, ...], code: int, told: str
) -> None:
    done = command("show", *arguments)

    assert out.exists()
    assert (done.returncode, done.stdout, done.stderr) == (code, "", told)


LINES = {
    "thresholds": ("sensitivity@naive_bayes", [
        r"threshold +0\.88\d+: maximize sensitivity subject to specificity >= 0\.9, chosen on calibration",
        r"file +data/visits_evaluation\.parquet \(evaluation\): 1,588 rows, 1,588 used, sha256 [0-9a-f]{64}",
        r"file +data/visits_calibration\.parquet \(calibration\): 1,588 rows, 1,588 used, sha256 [0-9a-f]{64}",
    ]),
    "recalibration": ("boosting+isotonic@brier", [
        r"model +Boosted trees \(boosting\), isotonic predictions", r"replicates +150, multinomial, seed 1976",
        r"recalibration +isotonic, fitted on 1,588 observations of calibration",
        r"file +data/visits_calibration\.parquet \(calibration\): .*",
    ]),
    "slices": ("brier@random_forest@class=1st,gender=male", [
        r"slice +gender = male, class = 1st",
        r"columns +truth survived; probability random_forest; slice gender, class",
        r"n +70 in its own denominator, 24 of them events", r"prevalence +that of the rows",
    ]),
    "digits": ("precision@forest@7", [
        r"n +\d+ in its own denominator, \d+ of them of class 7",
        r"columns +truth digit; probability forest_0, .*forest_9",
    ]),
    "titanic": ("ppv@random_forest", [
        r"measure +PPV \(at prevalence 0\.32216\)", r"spec +titanic, metrics\[10\], sha256 [0-9a-f]{64}",
        r"prevalence +0\.32216, that of the spec \(everyone aboard, 711 of 2,207\)",
    ]),
}


@pytest.mark.parametrize("name", LINES)
def test_what_an_estimate_rests_on_is_named(
    name: str, example: Callable[[str], Path], command: Command
) -> None:
    address, lines = LINES[name]
    shown = command("show", str(example(name)), address).stdout.splitlines()

    assert [line for line in lines if not any(re.fullmatch(line, other) for other in shown)] == []


def test_an_estimate_that_findings_alone_rest_on_says_so(example: Callable[[str], Path], command: Command) -> None:
    shown = command("show", str(example("titanic")), "calibration_slope@random_forest").stdout

    assert re.search("^spec +titanic, does not ask for it: findings rest on it, sha256", shown, re.MULTILINE)


def test_results_of_candidates_alone_have_no_estimates(example: Callable[[str], Path], command: Command) -> None:
    assert command("show", str(example("candidates"))).stdout == (
        "there are no estimates: the results are of candidates alone\n")
