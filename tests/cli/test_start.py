"""How the command line is started: alone, as a module, with a spec from the standard input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import SPEC, Command
from evalpipe.version import VERSION


def test_alone_it_prints_its_help_as_it_is(command: Command) -> None:
    alone, asked = command(), command("--help")
    assert (alone.returncode, alone.stdout) == (2, "")
    assert alone.stderr == asked.stdout
    assert asked.stdout.startswith("Usage: evalpipe [OPTIONS] COMMAND [ARGS]...\n\n  Evaluate a model's predictions")
    assert len(alone.stderr.splitlines()) > 15


def test_the_help_names_no_file_that_an_installation_lacks(command: Command) -> None:
    assert "configs/" not in command("--help").stdout
    assert "configs/" not in command("run", "-", input="").stderr


def test_it_starts_as_a_module() -> None:
    line = [sys.executable, "-m", "evalpipe", "--version"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"evalpipe, version {VERSION}\n", "")


def test_a_spec_may_come_from_the_standard_input(command: Command, process: Command, folder: Path) -> None:
    fast = ("--set", "report.formats=[]")
    piped = process("run", "-", "--no-progress", *fast, input=SPEC)
    assert (piped.returncode, piped.stderr) == (0, "")
    assert piped.stdout.endswith("\nreports/small/results.json\n")
    first = (folder / "reports" / "small" / "results.json").read_bytes()
    assert command("run", "small.yaml", "--no-progress", *fast).returncode == 0
    assert (folder / "reports" / "small" / "results.json").read_bytes() == first


def test_validate_and_plan_read_the_standard_input_too(command: Command, folder: Path) -> None:
    told = command("validate", "-", input=SPEC)
    assert (told.returncode, told.stdout) == (0, "ok: <stdin>: 1 model, 3 measures, 1 dataset to evaluate\n")
    assert command("plan", "-", input=SPEC).stdout == command("plan", "small.yaml").stdout
    (folder / "deep").mkdir()
    (folder / "deep" / "base.yaml").write_text(SPEC.replace("path: test.csv", "path: ../test.csv"))
    assert command("validate", "-", input="extends: deep/base.yaml\n").returncode == 0


@pytest.mark.parametrize("name", ["run", "validate", "plan"])
def test_errors_of_the_standard_input_name_it(command: Command, name: str) -> None:
    wrong = command(name, "-", input=SPEC.replace("seed", "sed").replace("task: binary", "tsk: binary"))
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.endswith(
        "error[unknown-key]: unknown key 'tsk'\n --> <stdin>:3:1\n  |\n3 | tsk: binary\n  | ^^^ did you mean 'task'?\n")
    empty = command(name, "-", input="")
    assert empty.stderr == (
        "error[empty-file]: the file holds no YAML\n --> <stdin>\n"
        "  = help: write the keys of a spec; `evalpipe init` writes one, docs/spec.md has them all\n")
    bytes_of_it = command(name, "-", input=b"name: \xff")
    assert bytes_of_it.stderr.startswith("error[not-utf8]: the file is not UTF-8 text: byte 0xff in line 1\n")


def test_data_that_are_missing_are_looked_for_from_the_working_folder(command: Command, folder: Path) -> None:
    lost = command("run", "-", "--no-progress", input=SPEC.replace("test.csv", "tset.csv"))
    assert lost.returncode == 3
    assert "<stdin>:5:25" in lost.stderr
    assert "did you mean 'test.csv'?" in lost.stderr
    assert not (folder / "reports").exists() or list((folder / "reports").iterdir()) == []


def test_warnings_of_a_spec_are_told_by_validate_and_plan(command: Command, folder: Path) -> None:
    (folder / "base.yaml").write_text(SPEC + "slice_rules: {min_rows: 9}\n")
    (folder / "shared.yaml").write_text("extends: base.yaml\n")
    warning = (
        "warning[unused-rules]: 'slice_rules' has no effect: there are no slices\n  --> base.yaml:12:1\n   |\n12 | "
        "slice_rules: {min_rows: 9}\n   | ^^^^^^^^^^^ add 'slices: […]', or remove it\n   = included from: "
        "shared.yaml:1 -> base.yaml\n\n")
    for name in ("validate", "plan"):
        done = command(name, "shared.yaml")
        assert (done.returncode, done.stderr) == (0, warning)
    document = json.loads(command("validate", "shared.yaml", "--format", "json").stdout)
    assert (document["ok"], document["exit_code"]) == (True, 0)
    assert [(one["severity"], one["code"], one["line"]) for one in document["problems"]] == [
        ("warning", "unused-rules", 12)]
    annotated = command("validate", "shared.yaml", "--format", "github")
    assert annotated.stdout.startswith("::warning file=base.yaml,line=12,col=1,title=unused-rules::'slice_rules'")
    ran = command("run", "shared.yaml", "--no-progress", "--set", "report.formats=[]")
    assert (
        "warning: 'slice_rules' has no effect: there are no slices (base.yaml, line 12)" in ran.stdout)
