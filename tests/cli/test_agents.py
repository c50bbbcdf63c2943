"""llms.txt and docs/agents.md: their links lead somewhere, their commands run, and what they say of writing holds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from evalpipe.cli.app import app
from evalpipe.cli.demo import write_demo

if TYPE_CHECKING:
    from cli.conftest import Command

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")


def test_every_link_of_llms_txt_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)", (ROOT / "llms.txt").read_text(encoding="utf-8"))

    assert len(links) > 15
    assert [link for link in links if not (ROOT / link).is_file()] == []


def test_every_command_stands_in_the_table_of_what_writes() -> None:
    table = PAGE.partition("## What writes")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}

    assert named - {"cache gc"} == set(app.commands) - {"cache"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder, with the spec of the page and the data of the demo."""
    write_demo(tmp_path / "evalpipe-demo", force=False)
    spec = re.findall(r"^```yaml\n# spec.yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "spec.yaml").write_text(spec[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_writes_nothing_writes_nothing(folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for line in (["validate", "spec.yaml", "--format", "json"], ["plan", "spec.yaml", "--format", "json"],
                 ["metrics", "brier"], ["schema", "--of", "results"]):
        done = CliRunner().invoke(app, line)
        assert done.exit_code == 0, line
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_run_prints_one_document_with_the_keys_that_the_page_names(folder: Path) -> None:
    line = ["run", "spec.yaml", "--format", "json", "--no-progress", "--set", "intervals.replicates=100",
            "--set", "report.formats=[]"]
    document = json.loads(CliRunner().invoke(app, line).stdout)

    assert document["verdict"] in ("pass", "inconclusive")
    assert document["findings"]
    estimates = json.loads((folder / "reports" / "claims" / "results.json").read_text(encoding="utf-8"))["estimates"]
    assert {"value", "lower", "upper", "method", "n", "events", "status", "reason"} <= set(estimates[0])


def test_an_error_is_a_document_too(folder: Path, command: Command) -> None:
    (folder / "spec.yaml").write_text("evalpipe: 1\nnmae: x\n", encoding="utf-8")
    done = command("validate", "spec.yaml", "--format", "json")
    document = json.loads(done.stdout)

    assert (done.returncode, document["ok"], document["exit_code"]) == (2, False, 2)
    assert {"code", "message", "file", "line", "column", "hint"} <= set(document["problems"][0])
