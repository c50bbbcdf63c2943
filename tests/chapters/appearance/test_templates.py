"""Templates that a spec names: checked before anything is read, kept in the results, and rendered again from these."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import evalpipe
from evalpipe.cli import main
from evalpipe.errors import SpecError, UsageError
from evalpipe.spec.load import load

if TYPE_CHECKING:
    from pathlib import Path

SPEC = """evalpipe: 1
name: themed
task: binary
outcome: {column: y, event: 1}
datasets: {test: {path: x.csv}}
models: {m: {probability: p}}
metrics: [accuracy]
intervals: {replicates: 100, bands: false}
report: {formats: [html], template: ours}
"""
PAGE = '{% extends "evalpipe/card.html" %}\n{% block footer %}<p>Harbour Bank</p>{% endblock %}\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "ours").mkdir()
    (tmp_path / "s.yaml").write_text(SPEC, encoding="utf-8")
    (tmp_path / "x.csv").write_text("y,p\n" + "1,0.7\n0,0.4\n" * 20, encoding="utf-8")
    (tmp_path / "ours" / "card.html").write_text(PAGE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_takes_the_templates_and_render_takes_them_from_the_results(folder: Path) -> None:
    results = evalpipe.run("s.yaml", out="out")
    (template,) = results.appearance.templates
    assert (template.name, template.text) == ("card.html", PAGE)
    written = (folder / "out" / "card.html").read_bytes()
    assert b"<p>Harbour Bank</p>" in written
    (folder / "ours" / "card.html").unlink()
    assert evalpipe.render("out")["card.html"] == written
    assert results.spec["report"]["template"] == "ours"


def test_a_folder_that_is_not_there_is_told_at_its_key(folder: Path) -> None:
    (folder / "ours" / "card.html").unlink()
    (folder / "ours").rmdir()
    with pytest.raises(SpecError) as caught:
        load("s.yaml")
    assert str(caught.value) == (
        "error[missing-template]: cannot read the template folder 'ours': No such file or directory\n"
        " --> s.yaml:9:37\n"
        "  |\n"
        "9 | report: {formats: [html], template: ours}\n"
        "  |                                     ^^^^ name a folder of templates; docs/theming.md says what is in it")


def test_a_fault_of_a_template_is_told_with_its_line_before_anything_is_read(folder: Path) -> None:
    (folder / "x.csv").write_bytes(b"")  # could not be read
    (folder / "ours" / "card.html").write_text(PAGE + "{{ ''.__class__ }}\n", encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        evalpipe.run("s.yaml", out="out")
    assert str(caught.value) == (
        "error[bad-template]: attributes that begin with '_' are refused, as '__class__' is\n"
        " --> ours/card.html:3:1\n"
        "  |\n"
        "3 | {{ ''.__class__ }}\n"
        "  | ^^^^^^^^^^^^^^^^^^ remove it: a template has the names that docs/theming.md lists\n"
        "  = named at s.yaml:9:37")
    assert not (folder / "out").exists()


def test_a_macro_of_no_kind_is_told_before_anything_is_computed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "ours" / "blocks.html").write_text("{% macro Tabel(b) %}{% endmacro %}", encoding="utf-8")
    monkeypatch.setattr("evalpipe.engine.evaluate.evaluate", None)
    with pytest.raises(UsageError, match="no kind of block is called 'Tabel'"):
        evalpipe.run("s.yaml", out="out")


def test_a_template_that_fails_leaves_the_earlier_output_as_it_was(folder: Path) -> None:
    evalpipe.run("s.yaml", out="out")
    before = {file.name: file.read_bytes() for file in (folder / "out").iterdir()}
    (folder / "ours" / "card.html").write_text(
        PAGE.replace("Harbour Bank", "{{ page.nope }}"), encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        evalpipe.run("s.yaml", out="out")
    assert str(caught.value) == (
        "error[bad-template]: the template asks for what is not there: 'Card object' has no attribute 'nope'\n"
        " --> ours/card.html:2:1\n"
        "  |\n"
        "2 | {% block footer %}<p>{{ page.nope }}</p>{% endblock %}\n"
        f"  | {'^' * 54} a template has the names that docs/theming.md lists")
    assert {file.name: file.read_bytes() for file in (folder / "out").iterdir()} == before


@pytest.mark.parametrize("form", ["html", pytest.param("pdf", marks=pytest.mark.nightly)])
def test_a_themed_card_has_the_same_bytes_in_another_process(folder: Path, form: str) -> None:
    themed = SPEC.replace("formats: [html]", f'formats: [{form}], theme: {{accent: "#8a1538", paper: letter}}')
    (folder / "s.yaml").write_text(themed, encoding="utf-8")
    evalpipe.run("s.yaml", out="out")
    shutil.copytree("out", "again")
    card = f"card.{form}"
    (folder / "again" / card).unlink()
    changed = os.environ | {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    subprocess.run([sys.executable, "-m", "evalpipe", "render", "again"], check=True, env=changed)
    assert (folder / "again" / card).read_bytes() == (folder / "out" / card).read_bytes()


def code(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    return int(caught.value.code or 0)


def test_the_command_takes_a_folder_or_none_and_not_both(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evalpipe.run("s.yaml", out="out")
    (folder / "theirs").mkdir()
    (folder / "theirs" / "theme.css").write_text("h1 { font-style: italic; }\n", encoding="utf-8")
    assert code("render", "out", "--template", "theirs") == 0
    assert "h1 { font-style: italic; }" in (folder / "out" / "card.html").read_text()
    assert code("render", "out", "--no-template") == 0
    assert "Harbour Bank" not in (folder / "out" / "card.html").read_text()
    capsys.readouterr()
    assert code("render", "out", "--no-template", "--template", "theirs") == 2
    assert capsys.readouterr().err == (
        "error[usage]: --template and --no-template exclude each other\n  = help: see: evalpipe render --help\n")
    (folder / "theirs" / "theme.css").write_text("h1 { background: url(x) }", encoding="utf-8")
    assert code("render", "out", "--template", "theirs") == 2
    assert capsys.readouterr().err == (
        "error[bad-template]: a style sheet may load nothing, whatever its address\n"
        " --> theirs/theme.css:1:1\n"
        "  |\n"
        "1 | h1 { background: url(x) }\n"
        "  | ^^^^^^^^^^^^^^^^^^^^^^^^^ a card loads nothing: draw it as SVG in the template, or leave it out\n")


def test_a_template_that_the_environment_names_is_not_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEMPLATES", "hunter")
    (folder / "s.yaml").write_text(SPEC.replace("template: ours", 'template: "${env:TEMPLATES}"'), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load("s.yaml")
    assert "hunter" not in str(caught.value)
    assert "cannot read the template folder 'the folder of templates': No such file" in str(caught.value)
