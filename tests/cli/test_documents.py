"""What commands print with `--format json`: real output of each fits the schema that `evalpipe schema` prints."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest

from cli.conftest import Command
from evalpipe.cli.app import SCHEMAS, app
from evalpipe.cli.documents import DOCUMENTS, json_schema_of

ROOT = Path(__file__).parents[2]
SIGNED = ("--role", "validator", "--name", "A. Reader", "--decision", "approved", "--date", "2026-11-27")
LINES = {
    "run": ("small.yaml", "--no-progress", "--set", "report.formats=[html]", "--set", "ledger=true"),
    "validate": ("small.yaml",), "plan": ("small.yaml",), "show": ("reports/small",), "verify": ("reports/small",),
    "sign": ("reports/small", *SIGNED),
    "comment": ("reports/small", "Is that so?", "--on", "verdict", "--by", "B. Reader", "--date", "2026-11-27"),
    "history": ("reports/small",), "metrics": (), "doctor": (), "labels": ("small.yaml", "--needed"),
    "cache": ("ls", "reports/small"), "register": ("reports",), "diff": ("reports/small", "reports/small"),
}
"""The arguments of a line of each command that prints JSON, in an order in which they can run."""


def printing_json(group: click.Group = app, names: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the commands that have `--format json`."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from printing_json(command, (*names, name))
        forms = [option.type for option in command.params if "--format" in option.opts]
        if any(isinstance(form, click.Choice) and "json" in form.choices for form in forms):
            yield (*names, name)[0]


@cache
def schema_of(name: str) -> Any:
    from jsonschema import Draft202012Validator  # whose grammar of addresses takes seconds to import

    return Draft202012Validator(json_schema_of(name))


def faults(name: str, text: str) -> list[str]:
    return [f"{'.'.join(map(str, error.path))}: {error.message[:200]}" for error in schema_of(name).iter_errors(
        json.loads(text))]


def test_each_command_that_prints_json_has_a_schema_and_a_line_here() -> None:
    assert set(printing_json()) == set(LINES) == set(DOCUMENTS) - {"results", "error", "diff-out"}
    assert set(SCHEMAS) == {"spec", *DOCUMENTS}


def test_what_commands_print_fits_their_schemas(command: Command, folder: Path) -> None:
    for name, line in LINES.items():
        ended = command(name, *line, "--format", "json")
        assert (name, ended.returncode, faults(name, ended.stdout)) == (name, 0, [])
    address = json.loads(command("show", "reports/small", "--format", "json").stdout)[0]["address"]
    assert faults("show", command("show", "reports/small", address, "--format", "json").stdout) == []
    assert faults("metrics", command("metrics", "brier", "--format", "json").stdout) == []
    assert faults("history", command("history", "reports", "--format", "json").stdout) == []
    assert faults("results", (folder / "reports" / "small" / "results.json").read_text(encoding="utf-8")) == []


def test_estimates_with_a_reason_fit_the_schema_in_words(command: Command) -> None:
    few = "slices=[{name: certain, where: pa > 0.9}]"
    assert command("run", "small.yaml", "--no-progress", "--set", few, "--set", "report.formats=[]").returncode == 0
    rows = json.loads(command("show", "reports/small", "--format", "json").stdout)
    reasons = []
    for row in rows:
        printed = command("show", "reports/small", row["address"], "--format", "json").stdout
        reasons.append(json.loads(printed)["estimate"]["reason"])
        assert (row["address"], faults("show", printed)) == (row["address"], [])

    assert any(isinstance(reason, str) for reason in reasons)
    assert None in reasons


def test_what_is_printed_of_a_comparison_that_goes_to_a_file_fits(command: Command, out: Path) -> None:
    ended = command("diff", "out", "out", "--format", "json", "--out", "difference.json")
    assert (ended.returncode, faults("diff-out", ended.stdout)) == (0, [])
    assert faults("diff", (out.parent / "difference.json").read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", ["thresholds", "desirability", "recalibration", "digits", "randhie"])
def test_a_plan_with_more_chapters_fits_its_schema(name: str, command: Command) -> None:
    ended = command("plan", str(ROOT / "configs" / f"{name}.yaml"), "--format", "json")
    assert (ended.returncode, faults("plan", ended.stdout)) == (0, [])


@pytest.mark.parametrize("line", [
    ("run", "nowhere.yaml"), ("validate", "small.yaml", "--set", "metrics=[brie]"), ("history", "nowhere"),
    ("show", "."), ("verify", "."), ("sign", "."), ("metrics", "brie"), ("register", "nowhere"),
    ("run", "small.yaml", "--set", "datasets.test.path=nowhere.csv"),
])
def test_what_commands_print_where_they_fail_fits_a_schema(line: tuple[str, ...], command: Command) -> None:
    ended = command(*line, "--format", "json")
    assert ended.returncode in (2, 3)
    assert faults("error", ended.stdout) == []
    assert json.loads(ended.stdout)["exit_code"] == ended.returncode


@pytest.mark.parametrize("name", sorted(set(DOCUMENTS) - {"results", "diff"}))
def test_a_key_that_no_schema_has_does_not_fit(name: str) -> None:
    schema = json_schema_of(name)
    tops = [schema, *schema.get("anyOf", [])]
    closed = [schema["$defs"][top["$ref"].rpartition("/")[2]] if "$ref" in top else top for top in tops]
    assert any(part.get("additionalProperties") is False for part in closed)
