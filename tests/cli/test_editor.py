"""A spec in an editor: a language server completes and checks it by the schema that `evalpipe init` writes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from evalpipe.cli.app import app
from evalpipe.proposal.spec_file import BY_SCHEMA, SCHEMA, write_schema
from few_by_day import by_night
from installed import lacks, node
from language_server import LanguageServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cli.conftest import Command

ROOT = Path(__file__).parents[2]
SPEC = """\
evalpipe: 1
name: x
task: binary
outcome: {column: y, event: 1}
datasets: {d: {path: d.csv}}
models: {m: {probability: p}}
metrics:
  - {metric: precision, avarage: macro}
recalibrate:
  fit_on: {folds: 10}
  methods:
    - log
slcies: [a]
"""


@pytest.fixture(scope="module")
def server() -> Iterator[LanguageServer]:
    """Return a running language server of YAML."""
    program = Path(sys.prefix) / "node_modules" / "yaml-language-server" / "bin" / "yaml-language-server"
    if not program.exists():
        lacks("the language server of YAML", "npm")
    started = LanguageServer([node(), program, "--stdio"])
    yield started
    started.close()


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """Return a spec with two misspelt keys, and the schema beside it."""
    path = tmp_path / "spec.yaml"
    path.write_text(BY_SCHEMA + SPEC, encoding="utf-8")
    write_schema(str(path))
    return path


def test_a_misspelt_key_is_marked_where_it_stands(server: LanguageServer, spec: Path) -> None:
    _, problems = server.opened(spec)
    marked = {problem["message"]: problem["range"]["start"] for problem in problems}

    assert marked["Property avarage is not allowed."] == {"line": 8, "character": 24}
    assert marked["Property slcies is not allowed."] == {"line": 13, "character": 0}
    assert any('Valid values: "isotonic"' in message for message in marked)


def test_methods_of_recalibration_and_measures_are_completed(server: LanguageServer, spec: Path) -> None:
    address, _ = server.opened(spec)

    def completed(line: int, character: int) -> set[str]:
        answer = server.ask("textDocument/completion", textDocument={"uri": address},
                            position={"line": line, "character": character})
        return {item["label"] for item in (answer["items"] if isinstance(answer, dict) else answer)}

    assert {"logistic", "logistic_spline", "isotonic", "venn_abers", "beta"} <= completed(12, 6)
    assert {"precision", "precision_at_k"} <= completed(8, 14)


def test_a_key_is_explained(server: LanguageServer, spec: Path) -> None:
    address, _ = server.opened(spec)
    answer = server.ask("textDocument/hover", textDocument={"uri": address}, position={"line": 10, "character": 4})

    assert "`{folds: 10}` for cross-fitting on the evaluated rows" in answer["contents"]["value"]


@pytest.mark.parametrize(("folder", "least"), [("gallery", 8), by_night(".", 50)])
def test_no_example_is_marked(server: LanguageServer, tmp_path: Path, folder: str, least: int) -> None:
    write_schema(str(tmp_path / "spec.yaml"))
    marked = {}
    for path in sorted((ROOT / "configs" / folder).rglob("*.yaml")):
        copy = tmp_path / path.name
        copy.write_text(BY_SCHEMA + path.read_text(encoding="utf-8"), encoding="utf-8")
        marked[path.name] = [problem["message"] for problem in server.opened(copy)[1]]

    assert len(marked) >= least
    assert {name: problems for name, problems in marked.items() if problems} == {}


def test_the_schema_is_that_of_the_command_and_may_be_left_out(command: Command, folder: Path) -> None:
    rows = "\n".join(f"{n},{'yes' if n % 3 else 'no'},0.{n + 10}" for n in range(30))
    (folder / "data.csv").write_text(f"id,y,p\n{rows}\n", encoding="utf-8")
    assert command("init", "data.csv", "--event", "yes").returncode == 0
    printed = json.loads(CliRunner().invoke(app, ["schema"]).stdout)

    assert json.loads((folder / SCHEMA).read_text(encoding="utf-8")) == printed
    (folder / SCHEMA).unlink()
    assert command("init", "data.csv", "--event", "yes", "--force", "--no-schema").returncode == 0
    assert not (folder / SCHEMA).exists()
    assert (folder / "data.yaml").read_text(encoding="utf-8").startswith("# A spec of evalpipe")
    (folder / SCHEMA).write_text("{}", encoding="utf-8")
    refused = command("init", "data.csv", "--event", "yes", "-o", "other.yaml")
    assert (refused.returncode, refused.stdout, refused.stderr) == (2, "", (
        f"error[schema-exists]: '{SCHEMA}' is no schema of evalpipe, and nothing was written\n"
        "  = help: rename it, or leave the schema out with --no-schema\n"))
    assert not (folder / "other.yaml").exists()
