"""The commands as users run them: what they print, where, and their exit codes."""

from __future__ import annotations

import builtins
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Command

NO_CARD = ("--set", "report.formats=[]")
WRITTEN = {"card.html", "results.json", "estimates.csv", "run.json", "manifest.json"}


def test_run_writes_the_folder_and_says_where(process: Command, folder: Path) -> None:
    done = process("run", "small.yaml")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (folder / "reports" / "small").iterdir()} == WRITTEN
    assert "reports/small/card.html" in done.stdout
    assert "ROC AUC" in done.stdout
    assert done.stderr.splitlines() == [
        "1/7 read the spec", "2/7 plan", "3/7 read the data", "4/7 evaluate", "5/7 results", "6/7 card", "7/7 record",
    ]


def test_no_progress_is_silent(command: Command) -> None:
    assert command("run", "small.yaml", "--no-progress", *NO_CARD).stderr == ""


def test_results_fit_their_published_schema(command: Command, folder: Path) -> None:
    from jsonschema import validate  # whose grammar of addresses takes seconds to import

    command("run", "small.yaml", "--out", "out", *NO_CARD)
    results = json.loads((folder / "out" / "results.json").read_text())
    validate(results, json.loads(command("schema", "--of", "results").stdout))
    assert results["estimates"][0]["metric"] == "accuracy"
    assert results["spec"]["threshold"] == 0.5
    assert str(folder) not in json.dumps(results)


def test_estimates_are_a_table(command: Command, folder: Path) -> None:
    command("run", "small.yaml", "--out", "out", *NO_CARD)
    lines = (folder / "out" / "estimates.csv").read_text().splitlines()
    assert lines[0] == (
        "dataset,model,variant,slice,metric,params,average,class,value,lower,upper,level,method,n,events,status,reason,"
        "classes_used,no_information,skill,undefined_replicates,monte_carlo_error,degrees_of_freedom,error_bound"
    )
    assert len(lines) == 4
    assert lines[1].startswith("test,a,original,,accuracy,{},,,0.")


def test_run_json_holds_times_and_versions(command: Command, folder: Path) -> None:
    command("run", "small.yaml", "--out", "out", *NO_CARD)
    run = json.loads((folder / "out" / "run.json").read_text())
    assert set(run["seconds_by_step"]) >= {"plan", "evaluate", "card"}
    assert set(run["libraries"]) >= {"numpy", "polars"}


def test_files_of_others_stay_and_stale_cards_go(command: Command, folder: Path) -> None:
    out = folder / "out"
    assert command("run", "small.yaml", "--out", "out", *NO_CARD).returncode == 0
    (out / "notes.txt").write_text("mine")
    (out / "card.pdf").write_text("of an earlier run")
    assert command("run", "small.yaml", "--out", "out").returncode == 0
    assert {path.name for path in out.iterdir()} == WRITTEN | {"notes.txt"}
    assert list(folder.glob(".*")) == []


@pytest.mark.parametrize(
    ("break_it", "code"),
    [
        (lambda folder: (folder / "small.yaml").write_text("evalpipe: 2\n"), 2),
        (lambda folder: (folder / "test.csv").write_text("y,pa\nyes,7\n"), 3),
        (lambda folder: (folder / "test.csv").unlink(), 3),
    ],
)
def test_a_failed_run_leaves_earlier_output_untouched(
    command: Command, folder: Path, break_it: Callable[[Path], object], code: int
) -> None:
    command("run", "small.yaml", "--out", "out", *NO_CARD)
    (folder / "out" / "card.html").write_text("of an earlier run")
    before = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
    break_it(folder)
    done = command("run", "small.yaml", "--out", "out", "--no-progress")
    assert done.returncode == code
    assert done.stdout == ""
    assert done.stderr.startswith("error[")
    assert "Traceback" not in done.stderr
    assert {path.name: path.read_bytes() for path in (folder / "out").iterdir()} == before


def test_a_folder_that_cannot_be_written_is_told_before_anything_runs(command: Command, folder: Path) -> None:
    (folder / "in_the_way").write_text("")
    done = command("run", "small.yaml", "--out", "in_the_way", "--no-progress")
    assert done.returncode == 2
    assert done.stderr == (
        "error[output-folder]: cannot write to the output folder 'in_the_way': a file is in the way\n"
        "  = help: choose a folder that can be written with --out\n"
    )


def without_pango(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let WeasyPrint find no library of the system."""
    real = builtins.__import__

    def absent(name: str, *rest: Any, **named: Any) -> Any:
        if name.split(".", maxsplit=1)[0] == "weasyprint":
            print("-----\nWeasyPrint could not import some external libraries.")
            raise OSError("cannot load library 'libpango-1.0-0'")
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", absent)


def test_a_missing_library_is_told_before_anything_is_computed(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_pango(monkeypatch)
    done = command("run", "small.yaml", "--set", "report.formats=[pdf]")
    assert done.returncode == 2
    assert "4/7" not in done.stderr
    assert "error[missing-library]: the PDF cannot be made: the system library Pango is missing" in done.stderr
    assert "libpango-1.0-0" in done.stderr
    assert done.stdout == ""


def test_a_spec_that_asks_for_no_pdf_by_name_has_a_page_where_a_library_is_missing(
    command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (folder / "small.yaml").read_text().splitlines()
    (folder / "small.yaml").write_text("\n".join(line for line in lines if not line.startswith("report:")))
    without_pango(monkeypatch)
    done = command("run", "small.yaml", "--no-progress")
    assert done.returncode == 0
    assert (
        "\nthe PDF cannot be made: the system library Pango is missing; install it (Debian, Ubuntu: apt-get install "
        "libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0), or leave pdf out of report.formats\n" in done.stdout)
    written = [line for line in done.stdout.splitlines() if line.startswith("reports")]
    assert [Path(line).name for line in written] == ["card.html", "results.json"]
    assert all((folder / line).is_file() for line in written)
    assert not (folder / written[0]).with_name("card.pdf").exists()


def test_the_working_folder_is_no_output_folder(command: Command) -> None:
    done = command("run", "small.yaml", "--out", ".", "--no-progress")
    assert done.returncode == 2
    assert "error[output-folder]: the output folder '.' is the working folder or above it" in done.stderr


def test_two_runs_do_not_share_a_folder(command: Command, folder: Path) -> None:
    import fcntl

    with (folder / ".out.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = command("run", "small.yaml", "--out", "out", "--no-progress")
    assert done.returncode == 2
    assert done.stderr == (
        "error[output-folder]: cannot write to the output folder 'out': another run is writing to it\n"
        "  = help: wait until it has ended, and try again\n")


@pytest.mark.parametrize("line", [
    ("run", "LONG"), ("run", "small.yaml", "--out", "LONG"), ("validate", "LONG"), ("render", "LONG"), ("init", "LONG"),
    ("diff", "LONG", "out"), ("init", "test.csv", "-o", "LONG"), ("accept", "LONG"), ("show", "LONG", "1"),
    ("sign", "LONG"), ("comment", "LONG", "x"),
    ("export", "LONG", "--to", "openlineage"), ("gc", "LONG", "--keep-runs", "3"), ("history", "LONG"),
    ("cache", "ls", "LONG"), ("verify", "LONG"),
])
def test_a_path_that_is_too_long_is_told(line: tuple[str, ...], command: Command) -> None:
    done = command(*(part.replace("LONG", "a" * 5000) for part in line))
    assert done.returncode in {2, 3}, done.stderr[:300]
    assert len(done.stderr) < 12_000
    assert "fault of evalpipe" not in done.stderr


def test_the_message_of_a_long_path_is_short(command: Command) -> None:
    assert command("render", "a" * 5000).stderr == (
        f"error[long-path]: the path '{'a' * 57}...' is longer than this system allows\n"
        "  = help: give a shorter one\n")


def test_a_killed_exchange_is_mended(command: Command, folder: Path) -> None:
    command("run", "small.yaml", "--out", "out")
    (folder / "out").rename(folder / ".out.previous")  # where a kill between the two renames leaves it
    (folder / "test.csv").write_text("y,pa\nyes,7\n")
    assert command("run", "small.yaml", "--out", "out").returncode == 3
    assert {path.name for path in (folder / "out").iterdir()} == WRITTEN


def test_an_interrupted_run_exits_130(folder: Path) -> None:
    slow = ["--set", "intervals.replicates=1000000"]
    line = [sys.executable, "-m", "evalpipe", "run", "small.yaml", *slow]
    process = subprocess.Popen(line, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    while "4/7" not in process.stderr.readline():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.strip() == "interrupted; the earlier output is unchanged"
    assert not (folder / "reports" / "small").exists()


INTERRUPTED = """
from evalpipe.cli import main
from evalpipe.cli.app import app
from evalpipe.cli.exit import watch

@app.command()
def nap():
    watch()
    exec("import os, signal\\nos.kill(os.getpid(), signal.SIGINT)\\nwhile True: pass")

main(["nap"])
"""


def test_an_interrupt_within_executed_text_exits_130_too(tmp_path: Path) -> None:
    (tmp_path / "nap.py").write_text(INTERRUPTED)
    line = [sys.executable, "-m", "nap"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr.strip()) == (130, "interrupted; the earlier output is unchanged")


def test_the_summary_says_what_was_decided(command: Command, folder: Path) -> None:
    with (folder / "small.yaml").open("a") as spec:
        spec.write("threshold: {maximize: j_index, on: {folds: 2}}\n"
                   "desirability:\n  - {metric: brier, minimize: {low: 0, high: 1}}\n")
    done = command("run", "small.yaml", "--no-progress", "--set", "report.formats=[]")
    assert done.returncode == 0
    said = " ".join(done.stdout.split())
    assert re.search(r"threshold of \S+: [\d.]+ .*, maximize j_index, cross-fitted in 2 folds", said)
    assert re.search(r"most desirable: a, D 0\.\d+ \(.*\), best in 100\.0% of replicates", said)


def test_render_needs_no_data(command: Command, folder: Path) -> None:
    command("run", "small.yaml", "--out", "out")
    card = (folder / "out" / "card.html").read_bytes()
    (folder / "test.csv").unlink()
    (folder / "out" / "card.html").unlink()
    done = command("render", "out")
    assert (done.returncode, done.stdout) == (0, "out/card.html\n")
    assert (folder / "out" / "card.html").read_bytes() == card


def test_render_of_no_results(command: Command) -> None:
    done = command("render", "nowhere")
    assert done.returncode == 3
    assert done.stderr == (
        "error[unreadable-file]: cannot read nowhere/results.json: No such file or directory\n"
        "  = help: give the output folder of `evalpipe run`\n"
    )


def test_render_of_other_json(command: Command, folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "results.json").write_text("{}")
    done = command("render", "out")
    assert done.returncode == 3
    assert done.stderr.startswith("error[not-results]: out/results.json does not hold results of evalpipe: ")


def test_validate_says_ok(command: Command) -> None:
    done = command("validate", "small.yaml")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "ok: small.yaml: 1 model, 3 measures, 1 dataset to evaluate\n"


def test_validate_speaks_json_and_github(command: Command, folder: Path) -> None:
    (folder / "small.yaml").write_text((folder / "small.yaml").read_text().replace("name:", "nmae:"))
    done = command("validate", "small.yaml", "--format", "json")
    document = json.loads(done.stdout)
    assert (done.returncode, done.stderr, document["ok"]) == (2, "", False)
    assert {problem["code"] for problem in document["problems"]} == {"unknown-key"}
    annotations = command("validate", "small.yaml", "--format", "github").stdout.splitlines()
    assert annotations[0].startswith("::error file=small.yaml,line=")


def test_validate_sees_the_columns(command: Command, folder: Path) -> None:
    (folder / "test.csv").write_text("y,p_a\nyes,0.5\n")
    done = command("validate", "small.yaml")
    assert done.returncode == 3
    assert done.stderr == (
        "error[missing-column]: dataset 'test' (test.csv) has no column 'pa'\n"
        " --> small.yaml:8:20\n"
        "  |\n"
        "8 |   a: {probability: pa}\n"
        "  |                    ^^ did you mean 'p_a'?\n"
        "  = its columns: y, p_a\n"
    )


def test_plan_lists_every_estimate_with_its_reason(command: Command) -> None:
    document = json.loads(command("plan", "small.yaml", "--format", "json").stdout)
    assert [(row["metric"], row["method"]) for row in document["estimates"]] == [
        ("accuracy", "exact"), ("brier", "percentile"), ("roc_auc", "delong"),
    ]
    assert document["datasets"][0]["columns"] == ["y", "pa"]
    assert document["cost"] == 80 * 101
    assert "Clopper-Pearson" in command("plan", "small.yaml").stdout


def test_plan_names_the_goals_and_lists_their_measures(command: Command) -> None:
    goals = "desirability=[{metric: recall, maximize: {low: 0, high: 1}}, {metric: brier, box: {low: 0, high: 0.2}}]"
    text = command("plan", "small.yaml", "--set", goals).stdout

    assert "desirability by 2 goals: maximize sensitivity, box brier" in text
    assert "4 measures for each of" in text


@pytest.mark.parametrize(
    "arguments",
    [
        ("validate", "--format", "json"), ("plan", "absent.yaml", "--format", "json"), ("metrics", "--format", "json"),
        ("metrics", "brier", "--format=json"), ("metrics", "brie", "--format", "json"), ("schema",),
        ("plan", "small.yaml", "--format", "json", "--set", "x"),
    ],
)
def test_json_is_json_on_every_path(command: Command, arguments: tuple[str, ...]) -> None:
    assert json.loads(command(*arguments).stdout)


def test_metrics_are_listed_by_family(command: Command) -> None:
    lines = command("metrics").stdout.splitlines()
    families = [line for line in lines if line and not line.startswith(" ")]
    assert families == [
        "of predicted classes", "of probabilities", "of the ranking", "of predicted numbers",
        "of leave-one-out predictions", "of the outcome alone", "of the scores of items",
        "of successes in epochs of items", "of scores beside those of other models",
        "of what epochs of items used", "of what epochs used, by success", "of ranked lists of documents",
    ]
    known = json.loads(command("metrics", "--format", "json").stdout)
    assert len([line for line in lines if line.startswith("  ")]) == len(known)


def test_metrics_are_listed_by_task(command: Command) -> None:
    known = json.loads(command("metrics", "--task", "count", "--format", "json").stdout)
    names = [metric["name"] for metric in known]
    assert {"rmse", "poisson_deviance"} <= set(names)
    assert "accuracy" not in names
    assert command("metrics", "--task", "ordinal").stdout.count("\n  rps ") == 1


def test_a_metric_is_found_by_its_alias(command: Command) -> None:
    assert command("metrics", "recall").stdout == command("metrics", "sensitivity").stdout
    assert command("metrics", "recall").stdout.splitlines()[0] == "sensitivity (Sensitivity)"
    done = command("metrics", "recal")
    assert (done.returncode, done.stderr) == (
        2, "error[unknown-metric]: unknown metric 'recal'\n  = help: did you mean 'recall'?\n",
    )


def test_set_overrides_a_key(command: Command, folder: Path) -> None:
    command("run", "small.yaml", "--out", "out", *NO_CARD, "--set", "threshold=0.25", "--set", "metrics=[f1]")
    results = json.loads((folder / "out" / "results.json").read_text())
    assert results["models"][0]["threshold"] == 0.25
    assert [row["metric"] for row in results["estimates"]] == ["f1"]


def test_a_fault_of_ours_is_told_without_a_traceback(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("x")

    monkeypatch.setattr(sys.modules["evalpipe.run"], "plan", broken)
    done = command("validate", "small.yaml")
    assert done.returncode == 4
    assert done.stderr.startswith("error[internal]: a fault of evalpipe itself: ZeroDivisionError: x\n")
    assert "Traceback" not in done.stderr


def test_a_closed_pipe_is_no_fault(folder: Path) -> None:
    line = f"{sys.executable} -m evalpipe schema --of results | head -n 1"
    done = subprocess.run(line, shell=True, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S602
    assert (done.stdout, done.stderr) == ("{\n", "")


def test_a_bar_is_drawn_on_a_terminal(folder: Path) -> None:
    import pty

    try:
        parent, child = pty.openpty()
    except OSError:
        pytest.skip("this machine has no pseudo-terminals")
    line = [sys.executable, "-m", "evalpipe", "run", "small.yaml", *NO_CARD]
    terminal = os.environ | {"TERM": "xterm"}
    process = subprocess.Popen(line, cwd=folder, stdout=subprocess.PIPE, stderr=child, env=terminal)
    os.close(child)
    seen = b""
    try:
        while block := os.read(parent, 65536):
            seen += block
    except OSError:  # the terminal is gone when the process ends
        pass
    assert process.wait(timeout=60) == 0
    os.close(parent)
    assert process.stdout is not None
    process.stdout.close()
    assert b"evaluate" in seen
    assert b"\x1b[" in seen
