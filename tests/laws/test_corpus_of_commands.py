"""Broken specs and every broken data file through the command line: exit code, the whole message, no traceback.

`tests/laws/test_corpus.py` reads every broken spec of the corpus; here is one for each way from such an error to the
exit. Beside each spec stands what it makes evalpipe say, NAME.expected. To write those of the broken data again after a
message has changed, run this file with EVALPIPE_REWRITE_EXPECTED=1, then read what changed.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

import pytest

from corpus_environment import ENVIRONMENT
from evalpipe.cli import main

CORPUS = Path(__file__).parent.parent / "corpus"
SPECS = [CORPUS / "specs" / "bad" / f"{name}.yaml" for name in (
    "folder", "empty-file", "at-sign", "undefined-alias", "a-list", "environment-unset", "extends-missing",
    "extends-faulty", "typo-top-key", "everything-wrong", "two-faults-threshold", "environment-secret",
)]
"""Not to be read, empty, not YAML in two ways, no spec, lacking what lies outside of it in three ways, one fault, many
faults of keys, many of rules, and one with a secret that must not be told."""
DATA = sorted((CORPUS / "data").glob("*.yaml"))
FAULTS_OF_THE_SPEC = {
    "where-unknown-column", "where-not-sql", "where-no-condition", "where-decimal", "slice-condition",
    "slice-of-outcome",
}
"""Conditions that are wrong whatever the rows are."""


def outcome(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[object, str, str]:
    """Run the command line; return its exit code, stdout and stderr without the closing count of errors."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    told = capsys.readouterr()
    body, _, last = told.err.rstrip("\n").rpartition("\n\n")
    return ended.value.code, told.out, (body if last.endswith(" errors") else told.err.rstrip("\n")) + "\n"


def test_the_corpus_is_large_enough() -> None:
    assert len(DATA) >= 30


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_a_broken_spec_exits_2(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(path.parent)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    # The data, which are not there, would be told too.
    monkeypatch.setattr(import_module("evalpipe.plan.sources"), "named_files", lambda *_: ())
    code, out, told = outcome(["validate", path.name], capsys)
    assert (code, out) == (2, "")
    assert told == path.with_suffix(".expected").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", DATA, ids=lambda path: path.stem)
def test_broken_data_exit_3(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(path.parent)
    code, out, told = outcome(["run", path.name, "--out", str(tmp_path / "out"), "--no-progress"], capsys)
    if os.environ.get("EVALPIPE_REWRITE_EXPECTED") == "1":
        path.with_suffix(".expected").write_text(told, encoding="utf-8")
    assert (code, out) == (2 if path.stem in FAULTS_OF_THE_SPEC else 3, "")
    assert told == path.with_suffix(".expected").read_text(encoding="utf-8")
    assert not (tmp_path / "out").exists()
