"""Every block of code on the pages: the reader of specs takes the specs, and the command line takes the commands."""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import json
import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest

import evalpipe
from evalpipe.cli.app import app
from evalpipe.cli.demo import write_demo
from evalpipe.errors import SpecError
from evalpipe.spec.load import load

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(path.relative_to(ROOT).as_posix() for pattern in (
    "*.md", "docs/*.md", "docs/tutorials/*.md", "docs/how/*.md", "configs/*.md", "configs/data/*.md", "benchmarks/*.md",
) for path in ROOT.glob(pattern))
HELP = "docs/cli.md"
"""What the commands print of themselves: `make docs-check` holds it."""

BASE = {
    "evalpipe": 1, "name": "page", "task": "binary", "outcome": {"column": "y", "event": 1, "levels": [1, 0]},
    "datasets": {"d": {"path": "d.csv"}}, "models": {"m": {"probability": "p"}},
    "metrics": ["roc_auc", "brier", "sensitivity"],
}
"""The keys that a part of a spec gets where it has none of that name."""

CLASSES = {"task": "multiclass", "outcome": {"column": "y", "levels": ["a", "b", "c"]},
           "models": {"m": {"probabilities": "p"}}}
ADDED: dict[tuple[str, str], dict[str, Any]] = {
    ("docs/methods.md", "task: count"): {"metrics": ["mae"]},
    ("docs/methods.md", "outcome: {column: grade"): {"task": "ordinal", "metrics": ["accuracy"]},
    ("docs/spec.md", "card:"): {"models": {"forest": {"probability": "p"}}},
    ("docs/spec.md", "metrics:"): CLASSES,
    ("docs/sequence.md", "name: churn"): {
        "slices": ["region"], "compare": {"baseline": "m"},
        "models": {"m": {"probability": "p"}, "new": {"probability": "q"}}},
}
"""Other keys, for a part of a spec of another kind; by the page and the start of the block."""

ENVIRONMENT = dict.fromkeys(("DATABASE_URL", "LEDGER_URL"), "postgresql://reader@host/warehouse") | {"RELEASE": "7"}
DAY = "2026-11-21"
SIMULATED = {
    ("docs/init.md", "evalpipe: 1"), ("docs/labels.md", "evalpipe: 1"), ("docs/nightly.md", "# A fraud score"),
    ("docs/scores.md", "evalpipe: 1"), ("docs/sql.md", "evalpipe: 1"),
}
"""Specs of data that other tests make: tests/cli/test_init.py, chapters/labels/test_page.py, test_nightly_page.py,
data/test_rankings.py and data/sql/test_documented.py."""

NO_SPEC = {
    ("docs/adapters.md", "repos:"): "of pre-commit; tests/adapters/test_hooks.py runs the hooks",
    ("docs/adapters.md", "      - uses:"): "a step of GitHub, which nothing here can run",
    ("docs/diff.md", "- run:"): "steps of GitHub, which nothing here can run; the command in it is parsed",
    ("docs/export.md", "metrics:\n  - evalpipe-metrics"): "of DVC; tests/review/exports/validators.py has it read one",
    ("docs/init.md", "# yaml-language-server"): "a comment for editors; tests/cli/test_editor.py has one read it",
    ("docs/scheduling.md", "name: nightly model card"): "a workflow of GitHub; tests/test_scheduling.py reads it",
    ("docs/theming.md", "report:\n  plugins:"): "of a plugin that tests/base/test_plugins.py installs",
}
"""Blocks of YAML that evalpipe cannot read here, with the reason."""

ELSEWHERE = {
    ("CONTRIBUTING.md", "plain"): "targets of make and tests: who changes the code runs them",
    ("CONTRIBUTING.md", "python"): "tests/test_house.py and tests/test_toy_chapter.py",
    ("README.md", "plain"): "make demo and make test; the error is read below",
    ("README.md", "python"): "runs below",
    ("docs/adapters.md", "python"): "runs below; MLflow's in tests/adapters/test_mlflow.py",
    ("docs/design.md", "plain"): "the tree; tests/test_design.py",
    ("docs/diff.md", "plain"): "an example of what is printed: its runs are not kept",
    ("docs/export.md", "plain"): "an error; tests/cli/test_export.py",
    ("docs/figures.md", "python"): "tests/test_figures_page.py",
    ("docs/findings.md", "python"): "runs below",
    ("docs/first_spec.md", "plain"): "the error of README.md",
    ("docs/how/compare.md", "text"): "tests/test_tutorials.py",
    ("docs/how/rare.md", "text"): "tests/test_tutorials.py",
    ("docs/how/weighted.md", "text"): "tests/test_tutorials.py",
    ("docs/init.md", "plain"): "an error; tests/cli/test_init.py",
    ("docs/ledger.md", "plain"): "an example of what is printed: its runs are not kept",
    ("docs/migration.md", "python"): "tests/test_migration.py",
    ("docs/migration.md", "r"): "R is not installed here",
    ("docs/migration.md", "text"): "TensorFlow Model Analysis is not installed here",
    ("docs/nightly.md", "plain"): "tests/test_nightly_page.py",
    ("docs/provenance.md", "python"): "runs below",
    ("docs/python.md", "python"): "runs below",
    ("docs/scale.md", "plain"): "what two large runs printed",
    ("docs/scheduling.md", "ini"): "tests/test_scheduling.py",
    ("docs/scheduling.md", "plain"): "what a run prints; commands of systemd and jq on the machine of a reader",
    ("docs/scheduling.md", "python"): "tests/test_scheduling.py",
    ("docs/security.md", "plain"): "an installation, and tests/fuzz/run.py, which tests/fuzz/test_fuzz.py runs",
    ("docs/sequence.md", "plain"): "an example of what is printed: its runs are not kept",
    ("docs/stability.md", "plain"): "messages; tests/stability/test_promises.py and test_aliases.py",
    ("docs/theming.md", "html"): "tests/templating/test_cards.py",
    ("docs/theming.md", "toml"): "tests/base/test_plugins.py installs docs/examples/harbour",
    ("docs/tutorials/nightly_gate.md", "text"): "tests/test_tutorials.py",
    ("docs/verification.md", "plain"): "examples of what is printed; tests/review/checking/test_keys.py has openssl",
}
"""Blocks without a spec or a command, by page and language: what runs or reads them, or why nothing does."""

COMMAND = re.compile(r"^\s*(?:\$ |- run: )?(?:.*(?:&&|\|\||;|\bdo) )?evalpipe [a-z-]")
INLINE = re.compile(r"`(evalpipe(?: [^`]+)?)`")
FENCED = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
PLACEHOLDERS = {"FORMAT": "dvc"}


class Block(NamedTuple):
    """A fenced block of code."""

    page: str
    language: str
    text: str

    def named_in(self, names: Iterable[tuple[str, str]]) -> tuple[str, str] | None:
        """Return the page and the start of the block, where they are among some names."""
        return next((name for name in names if self.page == name[0] and self.text.startswith(name[1])), None)

    def commands(self) -> list[str]:
        """Return the lines that start evalpipe."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [line for line in lines if COMMAND.match(line)]


@functools.cache
def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


@functools.cache
def blocks(page: str) -> list[Block]:
    return [Block(page, language or "plain", body) for language, body in FENCED.findall(text_of(page))]


def all_blocks(language: str | None = None) -> list[Block]:
    found = [block for page in PAGES if page != HELP for block in blocks(page)]
    return [block for block in found if language in (None, block.language)]


def keys(text: str) -> list[str]:
    return re.findall(r"^([a-z_]+):", text, re.MULTILINE)


def whole(block: Block) -> bool:
    return "evalpipe" in keys(block.text)


def parts_of_specs(block: Block) -> list[str]:
    """Return the parts of a spec in a block, which may show a key several times, as whole specs."""
    several = len(set(keys(block.text))) < len(keys(block.text))
    texts = block.text.splitlines() if several else [block.text]
    texts = [f"datasets:\n  d:\n    path: d.csv\n    {text}" if text.startswith("where:") else text for text in texts]
    name = block.named_in(ADDED)
    base = BASE | (ADDED[name] if name else {})
    return ["\n".join([text, *(f"{key}: {json.dumps(value)}" for key, value in base.items() if key not in keys(text))])
            for text in texts]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all files that the specs of the pages name, but for SIMULATED."""
    top = tmp_path_factory.mktemp("pages")
    write_demo(top / "evalpipe-demo", force=False)
    (top / "visits.csv").symlink_to(top / "evalpipe-demo" / "visits.csv")
    (top / "nights").mkdir()
    (top / "nights" / f"{DAY}.csv").symlink_to(top / "visits.csv")
    (top / "configs").symlink_to(ROOT / "configs")
    (top / "data").symlink_to(ROOT / "configs" / "data")
    (top / "house").symlink_to(ROOT / "configs" / "house")
    (top / "risks.md").write_text("None is known.", encoding="utf-8")
    return top


SPECS = [block for block in all_blocks("yaml") if block.named_in(NO_SPEC) is None]


@pytest.mark.parametrize("block", [block for block in SPECS if whole(block)], ids=lambda block: block.page)
def test_a_whole_spec_is_planned_on_its_data(block: Block, folder: Path) -> None:
    path = folder / "whole.yaml"
    path.write_text(block.text, encoding="utf-8")
    if block.named_in(SIMULATED):
        load(path, environment=ENVIRONMENT, as_of=DAY)
    else:
        assert evalpipe.plan(path, as_of=DAY).metrics


@pytest.mark.parametrize("block", [block for block in SPECS if not whole(block)], ids=lambda block: block.page)
def test_a_part_of_a_spec_is_read(block: Block, folder: Path) -> None:
    path = folder / "part.yaml"
    for text in parts_of_specs(block):
        path.write_text(text, encoding="utf-8")
        spec = load(path, environment=ENVIRONMENT, as_of=DAY)
        written = {key for key in keys(text) if key in type(spec).model_fields}
        assert written <= spec.model_fields_set | {"evalpipe"}


def words_of(line: str) -> list[list[str]]:
    """Return the words behind each "evalpipe" in a line of the shell."""
    line = re.sub(r"\s\d?>(?:&\d|\s*\S+)", " ", line.strip().removeprefix("$ "))
    lexer = shlex.shlex(line, posix=True, punctuation_chars="();|&")
    lexer.whitespace_split, lexer.commenters = True, "#"
    commands: list[list[str]] = [[]]
    for word in lexer:
        if re.fullmatch(r"[();|&]+", word):
            commands.append([])
        else:
            commands[-1].append(PLACEHOLDERS.get(word, word))
    return [words[words.index("evalpipe") + 1:] for words in commands if "evalpipe" in words]


def parse(words: list[str], *, complete: bool) -> None:
    """Have the command line parse a command; of one in a sentence, arguments may be left out."""
    if words in ([], ["--version"]):
        return
    command: click.Command = click.Group("evalpipe", commands=app.commands)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        command, words = command.commands[words[0]], words[1:]
    try:
        command.make_context("evalpipe", list(words))
    except (click.MissingParameter, click.BadOptionUsage):
        if complete:
            raise


def faults_of(line: str, *, complete: bool) -> list[str]:
    """Return what the command line says against the commands of a line."""
    try:
        for words in words_of(line):
            parse(words, complete=complete)
    except (KeyError, ValueError, click.UsageError) as error:
        return [f"{line}: {error}"]
    return []


@pytest.mark.parametrize("page", PAGES)
def test_the_command_line_takes_every_command(page: str) -> None:
    lines = [(line, True) for block in blocks(page) if page != HELP for line in block.commands()]
    lines += [(line.replace("\n", " "), False) for line in INLINE.findall(FENCED.sub("", text_of(page)))]

    assert [fault for line, complete in lines for fault in faults_of(line, complete=complete)] == []


@pytest.mark.parametrize("line", [
    "evalpipe rum x.yaml", "evalpipe run", "evalpipe run x.yaml --out", "evalpipe run x.yaml --ouput y",
    "evalpipe export d --to xml", "cd d && evalpipe run x.yaml --never", "evalpipe verify d > x || evalpipe gc --to x"])
def test_a_wrong_command_is_found(line: str) -> None:
    assert Block("page", "sh", f"{line}\n").commands() == [line]
    assert faults_of(line, complete=True)


def test_every_other_block_has_a_test_or_a_reason() -> None:
    others = {(block.page, block.language) for block in all_blocks()
              if block.language != "yaml" and not block.commands()}
    named = {block.named_in(NO_SPEC) for block in all_blocks("yaml")} | {block.named_in(ADDED) for block in SPECS}

    assert others == set(ELSEWHERE)
    assert named - {None} == set(NO_SPEC) | set(ADDED)
    files = re.findall(r"tests/[\w/]+\.py", " ".join([*ELSEWHERE.values(), *NO_SPEC.values()]))
    assert [file for file in files if not (ROOT / file).is_file()] == []


def test_the_error_of_the_readme_is_the_one_that_is_printed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = [block.text for block in all_blocks("plain") if block.text.startswith("error[unknown-key]")]
    assert len(shown) == 2
    (folder / "credit").mkdir()
    monkeypatch.chdir(folder / "credit")
    Path("configs").mkdir()
    spec = BASE | CLASSES
    start = [f"{key}: {json.dumps(value)}" for key, value in spec.items() if key != "metrics"]
    lines = [*start, *["#"] * (15 - len(start)), "metrics:", "  - {metric: precision, avarage: macro}", ""]
    Path("configs/credit.yaml").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(SpecError) as raised:
        load("configs/credit.yaml")
    assert [str(raised.value).rstrip() for _ in shown] == [text.rstrip() for text in shown]


@pytest.mark.parametrize("block", all_blocks("python"), ids=lambda block: block.page)
def test_python_on_a_page_names_what_is_there(block: Block) -> None:
    for node in ast.walk(ast.parse(block.text)):
        if isinstance(node, ast.Import):
            ours = [name.name for name in node.names if name.name.startswith("evalpipe.")]
            assert all(map(importlib.util.find_spec, ours))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "evalpipe":
            assert hasattr(evalpipe, node.attr) or importlib.util.find_spec(f"evalpipe.{node.attr}"), node.attr


@pytest.mark.nightly  # by day tests of the same functions
def test_python_on_the_pages_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    for page in ("README.md", "docs/findings.md", "docs/python.md"):
        for block in blocks(page):
            if block.language == "python":
                exec(block.text, names)  # noqa: S102 - our own pages
    assert (folder / "reports" / "visits" / "card.html").is_file()

    document = json.loads((folder / "reports" / "visits" / "results.json").read_text(encoding="utf-8"))
    (shown,) = [block.text for block in blocks("docs/provenance.md") if block.language == "python"]
    first, last = shown.splitlines()
    exec(first, names := {"json": json, "hashlib": hashlib, "results": document})  # noqa: S102
    assert eval(last, names) is True  # noqa: S307


@pytest.mark.nightly  # by day tests/adapters/test_sklearn.py
def test_the_lines_on_scikit_learn_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.datasets import make_classification
    from sklearn.linear_model import LogisticRegression

    monkeypatch.chdir(tmp_path)
    features, numbers = make_classification(400, random_state=0)
    outcomes = ["yes" if number else "no" for number in numbers]
    names = {"model": LogisticRegression().fit(features[:200], outcomes[:200]), "X_test": features[200:],
             "y_test": outcomes[200:]}
    exec(next(block.text for block in blocks("docs/adapters.md") if "evalpipe.sklearn" in block.text), names)  # noqa: S102
    assert (tmp_path / "reports" / "churn" / "card.html").is_file()
