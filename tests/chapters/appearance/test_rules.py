from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evalpipe.errors import SpecError
from evalpipe.spec.load import load
from evalpipe.spec.schema import resolved, spec_sha256

if TYPE_CHECKING:
    from pathlib import Path

SPEC = """evalpipe: 1
name: themed
task: binary
outcome: {column: y, event: 1}
datasets: {test: {path: x.csv}}
models: {m: {probability: p}}
report:
  theme:
    """


def fault(tmp_path: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "s.yaml").write_text(SPEC + line + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SpecError) as caught:
        load("s.yaml")
    return str(caught.value)


def test_an_accent_that_cannot_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fault(tmp_path, 'accent: "#7DB8EC"', monkeypatch) == (
        "error[low-contrast]: the accent '#7DB8EC' has a contrast of 1.92 to 1 on the boxes of the page (#fdf2f0), and "
        "text needs 4.5 to 1\n"
        " --> s.yaml:9:13\n"
        "  |\n"
        '9 |     accent: "#7DB8EC"\n'
        '  |             ^^^^^^^^^ write "#1c72be", the nearest shade that has it')


def test_a_colour_without_quotes_is_a_comment_and_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fault(tmp_path, "accent: #1f5fa8", monkeypatch) == (
        'error[wrong-type]: expected a colour, as in "#1f5fa8", got nothing (null)\n'
        " --> s.yaml:9:12\n"
        "  |\n"
        "9 |     accent: #1f5fa8\n"
        "  |            ^ put it in quotes: a # without them begins a comment")


@pytest.mark.parametrize("value", [
    "red", "#fff", "<script>alert(1)</script>", "{{7*7}}", "]]>", "#1f5fa8; } body { display: none", "#1f5fa8\\n",
    "url(https://example.org/x.png)", "var(--ink)", "\\u202e#1f5fa8", "x" * 10_000,
])
def test_an_accent_that_is_no_colour_is_refused(value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = fault(tmp_path, f'accent: "{value}"', monkeypatch)
    assert text.startswith('error[wrong-type]: expected a colour, as in "#1f5fa8", got the text ')
    assert "s.yaml:9:13" in text


def test_an_unknown_token_and_an_unknown_paper_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fault(tmp_path, "{acent: '#1f5fa8', paper: a5}", monkeypatch) == (
        "error[unknown-key]: unknown key 'acent'\n"
        " --> s.yaml:9:6\n"
        "  |\n"
        "9 |     {acent: '#1f5fa8', paper: a5}\n"
        "  |      ^^^^^ did you mean 'accent'?\n\n"
        "error[unknown-choice]: expected 'a4' or 'letter', got the text 'a5'\n"
        " --> s.yaml:9:31\n"
        "  |\n"
        "9 |     {acent: '#1f5fa8', paper: a5}\n"
        "  |                               ^^")


def test_a_theme_changes_the_hash_of_a_spec_and_no_theme_does_not() -> None:
    base = {"evalpipe": 1, "name": "n", "task": "binary", "outcome": {"column": "y", "event": 1},
            "datasets": {"t": {"path": "x.csv"}}, "models": {"m": {"probability": "p"}}}
    plain, empty, themed = (load(base | more) for more in (
        {}, {"report": {"theme": None}}, {"report": {"theme": {"accent": "#1F5FA8"}}}))
    assert "theme" not in resolved(plain)["report"]
    assert spec_sha256(plain) == spec_sha256(empty) != spec_sha256(themed)
    assert resolved(themed)["report"]["theme"] == {"accent": "#1f5fa8", "paper": "a4"}
    assert spec_sha256(load(resolved(themed))) == spec_sha256(themed)
