"""`evalpipe export` as its users run it: where it writes, what it refuses, and its exit codes."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from cli.conftest import Command
from evalpipe.base.digests import bytes_sha256
from evalpipe.results import Results
from evalpipe.review.exports import EXPORTS

EXAMPLE = Path(__file__).parents[2] / "reports" / "example"


@pytest.fixture
def report(folder: Path) -> Path:
    """Return a copy of the committed example."""
    shutil.copytree(EXAMPLE, folder / "report")
    return folder / "report"


def bytes_of(folder: Path) -> dict[str, str]:
    return {file.name: bytes_sha256(file.read_bytes()) for file in folder.iterdir()}


@pytest.mark.usefixtures("report")
def test_it_prints_the_file_or_writes_it(command: Command, folder: Path) -> None:
    before = bytes_of(folder / "report")
    printed = command("export", "report", "--to", "openmetrics")
    assert (printed.returncode, printed.stderr) == (0, "")
    done = command("export", "report/results.json", "--to", "openmetrics", "--out", "titanic.prom")
    assert (done.returncode, done.stdout, done.stderr) == (0, "titanic.prom\n", "")
    assert (folder / "titanic.prom").read_text(encoding="utf-8") == printed.stdout
    assert printed.stdout.endswith("# EOF\n")
    assert bytes_of(folder / "report") == before


@pytest.mark.usefixtures("report")
def test_a_model_is_chosen(command: Command) -> None:
    every = json.loads(command("export", "report", "--to", "cyclonedx").stdout)
    one = json.loads(command("export", "report", "--to", "cyclonedx", "--model", "random_forest").stdout)
    assert [component["name"] for component in every["components"]] == ["logistic_regression", "random_forest"]
    assert one["components"] == [
        component for component in every["components"] if component["name"] == "random_forest"]


@pytest.mark.usefixtures("report")
def test_dvc_is_a_folder(command: Command, folder: Path) -> None:
    done = command("export", "report", "--to", "dvc", "--out", "dvc/nightly")
    names = ["evalpipe-metrics.json", "evalpipe-estimates.json", "evalpipe-roc.json", "evalpipe-pr.json",
             "evalpipe-gain.json", "evalpipe-calibration.json"]
    assert (done.returncode, done.stdout) == (0, "".join(f"dvc/nightly/{name}\n" for name in names))
    assert {file.name for file in (folder / "dvc" / "nightly").iterdir()} == set(names)


@pytest.mark.parametrize(("options", "message"), [
    (["--to", "dvc"], "dvc is a folder of several files; name it with --out"),
    (["--to", "in-toto", "--model", "random_forest"], "in-toto is of the run as a whole, without --model"),
    (["--to", "chai", "--evaluator", "other"], "chai has no place for --evaluator"),
    (["--to", "cyclonedx", "--out", "report/bom.json"],
     "'report/bom.json' lies in the output folder, whose files the next run replaces"),
    (["--to", "dvc", "--out", "report/dvc"],
     "'report/dvc' lies in the output folder, whose files the next run replaces"),
])
@pytest.mark.parametrize("given", ["report", "report/results.json"])
@pytest.mark.usefixtures("report")
def test_options_that_do_not_fit_are_refused(command: Command, given: str, options: list[str], message: str) -> None:
    done = command("export", given, *options)
    assert (done.returncode, done.stdout, done.stderr) == (
        2, "", f"error[usage]: {message}\n  = help: see: evalpipe export --help\n")


@pytest.mark.usefixtures("report")
def test_the_model_must_be_one_of_the_results(command: Command) -> None:
    several = command("export", "report", "--to", "model-index")
    assert (several.returncode, several.stderr) == (2, (
        "error[several-models]: the format is of one model, and report/results.json has 2\n"
        "  = help: choose with --model: 'logistic_regression' or 'random_forest'\n"))
    unknown = command("export", "report", "--to", "model-index", "--model", "random_forrest")
    assert (unknown.returncode, unknown.stderr) == (2, (
        "error[unknown-model]: report/results.json has no estimates of 'random_forrest'\n"
        "  = help: did you mean 'random_forest'?\n"))


@pytest.mark.usefixtures("report")
def test_everything_that_nobody_states_is_told_with_the_key_that_fills_it(command: Command) -> None:
    done = command("export", "report", "--to", "chai", "--model", "random_forest")
    assert (done.returncode, done.stdout) == (2, "")
    first, *others = done.stderr.split("\n\n")
    assert first == (
        "error[not-stated]: the format requires BasicInfo/ModelDeveloper, and nobody states it\n"
        " --> report/results.json\n"
        "  = help: state 'card.developer' in the spec, and run again")
    assert "requires UsesAndDirections/IntendedUseAndWorkflow" not in done.stderr  # the example states it
    assert any("requires an estimate in a slice in FairnessEquity, and there is none" in told
               for told in others)
    evaluated = command("export", "report", "--to", "every-eval-ever", "--model", "random_forest")
    assert (evaluated.returncode, evaluated.stderr) == (2, (
        "error[not-stated]: the format requires what the evaluator is to the model, which no results tell\n"
        "  = help: give --evaluator: first_party, third_party, collaborative or other\n"))


def test_results_without_a_day_or_a_gate_are_refused_where_the_format_requires_them(
    command: Command, folder: Path
) -> None:
    (folder / "bare").mkdir()
    bare = Results.read(EXAMPLE).model_copy(update={"as_of": None, "gates": []})
    (folder / "bare" / "results.json").write_text(bare.to_json(), encoding="utf-8")
    timeless = command("export", "bare", "--to", "openlineage")
    assert (timeless.returncode, timeless.stderr) == (2, (
        "error[not-stated]: the format requires a time, and the results state no day\n"
        " --> bare/results.json\n"
        "  = help: set 'as_of' in the spec, or run again with --as-of DAY\n"))
    unjudged = command("export", "bare", "--to", "in-toto")
    assert (unjudged.returncode, unjudged.stderr) == (2, (
        "error[not-stated]: the format tells what tests came to, and these results have no gate to judge\n"
        " --> bare/results.json\n"
        "  = help: declare 'gates' in the spec, and run again\n"))
    assert command("export", "bare", "--to", "cyclonedx").returncode == 0
    assert '"evalpipe:verdict", "value": "none"' in " ".join(
        command("export", "bare", "--to", "cyclonedx").stdout.replace("\n", " ").split())
    families = command("export", "bare", "--to", "openmetrics").stdout
    verdicts = [line for line in families.splitlines() if line.startswith("evalpipe_verdict")]
    assert [line for line in verdicts if line.endswith(" 1.0")] == [
        f'evalpipe_verdict{{run="{bare.name}",verdict="none"}} 1.0']


def test_results_of_candidates_alone_have_no_model_to_export(command: Command, folder: Path) -> None:
    (folder / "bare").mkdir()
    bare = Results.read(EXAMPLE).model_copy(update={"rows": []})
    (folder / "bare" / "results.json").write_text(bare.to_json(), encoding="utf-8")
    for form in ("cyclonedx", "chai", "model-index", "every-eval-ever"):
        done = command("export", "bare", "--to", form)
        assert (done.returncode, done.stderr) == (2, (
            "error[not-stated]: these results are of candidates alone: no model has estimates\n"
            " --> bare/results.json\n"
            "  = help: export the run of a spec with models\n"))


def test_a_folder_without_results_is_refused(command: Command, folder: Path) -> None:
    done = command("export", "nowhere", "--to", "cyclonedx", "--out", "bom.json")
    assert (done.returncode, done.stdout, done.stderr) == (3, "", (
        "error[unreadable-file]: cannot read nowhere: No such file or directory\n"
        "  = help: give the output folder of `evalpipe run`\n"))
    assert not (folder / "bom.json").exists()


def test_results_of_another_version_or_other_bytes_are_refused(command: Command, report: Path) -> None:
    file = report / "results.json"
    text = file.read_text(encoding="utf-8")
    file.write_text(re.sub(r'"schema_version": \d+', '"schema_version": 0', text, count=1), encoding="utf-8")
    assert command("export", "report", "--to", "in-toto").stderr.startswith(
        "error[not-results]: report/results.json does not hold results of evalpipe: schema_version: ")
    file.write_text(text.replace('"title": "', '"title": "Not ', 1), encoding="utf-8")
    changed = command("export", "report", "--to", "in-toto")
    assert (changed.returncode, changed.stderr) == (3, (
        "error[changed-file]: report/results.json is not the file that its run wrote, by its manifest\n"
        "  = help: restore it, or run again; `evalpipe verify` tells more\n"))


def test_a_file_that_cannot_be_written_is_told(command: Command, report: Path) -> None:
    done = command("export", str(report), "--to", "openmetrics", "--out", "absent/a.prom")
    assert (done.returncode, done.stderr) == (2, (
        "error[output-file]: cannot write 'absent/a.prom': No such file or directory\n"
        "  = help: name a file in a folder that can be written\n"))
    (report.parent / "taken").write_text("")
    taken = command("export", str(report), "--to", "dvc", "--out", "taken")
    assert (taken.returncode, taken.stderr) == (2, (
        "error[output-folder]: cannot write 'taken': File exists\n  = help: name a folder that can be made\n"))


def test_the_help_names_every_format(command: Command) -> None:
    told = command("export", "--help").stdout
    assert [name for name, export in EXPORTS.items() if f"{export.title} {export.version}" not in told] == []
