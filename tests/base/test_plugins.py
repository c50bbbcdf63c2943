"""Plugins of installed packages: the example is built and installed, others are written here."""

from __future__ import annotations

import io
import subprocess
import sys
from typing import TYPE_CHECKING, get_args

import pytest
from pypdf import PdfReader

import evalpipe
from evalpipe.card.edition import Edition
from evalpipe.card.html import write_page
from evalpipe.card.page import Part
from evalpipe.errors import SpecError, UsageError
from evalpipe.results import Results
from evalpipe.spec.load import load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SPEC = """evalpipe: 1
name: plugged
task: binary
outcome: {column: y, event: 1, levels: [0, 1]}
datasets: {test: {path: x.csv}}
models: {m: {probability: p}}
metrics: [accuracy]
intervals: {replicates: 100, bands: false}
report: {formats: [html], plugins: [NAME]}
"""
HEAD = "from evalpipe.card.page import Code, Figures, Section, Text\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "x.csv").write_text("y,p\n" + "1,0.7\n0,0.4\n" * 60, encoding="utf-8")
    (tmp_path / "site").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return tmp_path


@pytest.fixture
def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return what installs a package of one module, as an installer leaves it."""

    def write(code: str, name: str = "house", package: str = "pack", version: str = "1.0", **points: str) -> None:
        module = f"{package}_code"
        monkeypatch.delitem(sys.modules, module, raising=False)
        (folder / "site" / f"{module}.py").write_text(code, encoding="utf-8")
        info = folder / "site" / f"{package}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text("".join(
            f"[evalpipe.{group}]\n{name} = {module}:{function}\n" for group, function in points.items()))
        (folder / "s.yaml").write_text(SPEC.replace("NAME", name), encoding="utf-8")

    return write


def fault(fails: Callable[[], object], kind: type[Exception] = UsageError) -> str:
    with pytest.raises(kind) as caught:
        fails()
    return str(caught.value)


def test_the_example_is_built_installed_and_adds_a_section_a_figure_and_a_finding(folder: Path, root: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index",
         "--disable-pip-version-check", "--target", str(folder / "site"), str(root / "docs" / "examples" / "harbour")],
        check=True)
    (folder / "s.yaml").write_text(SPEC.replace("NAME", "harbour"), encoding="utf-8")
    results = evalpipe.run("s.yaml", out="out")
    (plugin,) = results.appearance.plugins
    assert (plugin.name, plugin.package, plugin.version) == ("harbour", "evalpipe-harbour", "1.0")
    assert plugin.gives == ["sections", "figures", "findings"]
    (said,) = [finding for finding in results.findings if finding.plugin == "harbour"]
    assert (said.kind, said.section, said.text) == (
        "fails", "house-rules", "Harbour Bank asks for 100 events: only 60 in test.")
    page = (folder / "out" / "card.html").read_text(encoding="utf-8")
    assert '<h2 id="house-rules-title">' in page
    assert page.count("Written by the plugin &#39;harbour&#39; of evalpipe-harbour 1.0, not by evalpipe.") == 2
    assert "Rows by level." in page
    assert ("The plugin &#39;harbour&#39; of evalpipe-harbour 1.0 adds sections, figures and findings. It is no "
            "part of evalpipe.") in page
    assert f"Install evalpipe {results.evalpipe_version} and evalpipe-harbour 1.0, save the spec" in page
    assert "only 60 in test. (Plugin harbour.)" in page
    again = evalpipe.render("out", ["html", "pdf", "markdown"])
    assert again["card.html"].decode() == page
    assert "Figure of harbour on test" in again["card.md"].decode()
    printed = "".join(page.extract_text() for page in PdfReader(io.BytesIO(again["card.pdf"])).pages)
    assert "House rules of Harbour Bank" in printed
    # A figure of the same key as one of evalpipe's would else be printed in its place.
    assert 'src="figure:harbour-levels-1/0"' in write_page(Edition(results), linked=True).decode()


def test_a_plugin_that_is_installed_and_not_named_does_nothing(folder: Path, install: Callable[..., None]) -> None:
    install("raise SystemExit(7)\n", sections="write")
    (folder / "s.yaml").write_text(SPEC.replace(", plugins: [NAME]", ""), encoding="utf-8")
    assert evalpipe.run("s.yaml").appearance.plugins == []
    assert "pack_code" not in sys.modules


def test_a_plugin_that_is_not_installed_is_told_with_what_is(folder: Path, install: Callable[..., None]) -> None:
    install("write = list\n", name="portfolio", sections="write")
    (folder / "s.yaml").write_text(SPEC.replace("NAME", "potfolio, house, portfolio, portfolio"), encoding="utf-8")
    assert fault(lambda: load("s.yaml"), SpecError) == (
        "error[unknown-plugin]: no plugin called 'potfolio' is installed\n"
        " --> s.yaml:9:37\n"
        "  |\n"
        "9 | report: {formats: [html], plugins: [potfolio, house, portfolio, portfolio]}\n"
        "  |                                     ^^^^^^^^ did you mean 'portfolio'?\n\n"
        "error[unknown-plugin]: no plugin called 'house' is installed\n"
        " --> s.yaml:9:47\n"
        "  |\n"
        "9 | report: {formats: [html], plugins: [potfolio, house, portfolio, portfolio]}\n"
        "  |                                               ^^^^^ install the package that has it; installed are "
        "'portfolio'\n\n"
        "error[duplicate-plugin]: 'portfolio' is listed twice\n"
        " --> s.yaml:9:65\n"
        "  |\n"
        "9 | report: {formats: [html], plugins: [potfolio, house, portfolio, portfolio]}\n"
        "  |                                                                 ^^^^^^^^^ remove it")


def test_a_name_that_two_packages_have_is_refused(install: Callable[..., None]) -> None:
    install("write = list\n", package="first", sections="write")
    install("write = list\n", package="second", version="2.0", findings="write")
    assert fault(lambda: load("s.yaml"), SpecError).splitlines()[0] == (
        "error[ambiguous-plugin]: first 1.0 and second 2.0 each have a plugin called 'house'")


@pytest.mark.parametrize(("code", "said"), [
    ("import nothing_of_this_name\n", "ModuleNotFoundError: No module named 'nothing_of_this_name'"),
    ("1 / 0\n", "ZeroDivisionError: division by zero"), ("raise SystemExit(3)\n", "SystemExit: 3"),
    ("other = 1\n", "AttributeError: module 'pack_code' has no attribute 'write'"),
])
def test_a_plugin_that_cannot_be_loaded_is_told_before_anything_is_read(
    install: Callable[..., None], folder: Path, code: str, said: str
) -> None:
    install(code, sections="write")
    (folder / "x.csv").write_bytes(b"")  # could not be read
    text = fault(lambda: evalpipe.run("s.yaml", out="out"), SpecError)
    assert text.startswith(f"error[plugin-failed]: the plugin 'house' of pack 1.0 failed when it was loaded: {said}\n")
    assert "^^^^^ remove it from report.plugins, or tell those who wrote it\n  = raised in " in text


@pytest.mark.parametrize(("code", "said"), [
    ("def write(results):\n    yield 1 / 0\n", "failed in its sections: ZeroDivisionError: division by zero"),
    ("def write(results):\n    return results.nope\n",
     "failed in its sections: AttributeError: 'Results' object has no attribute 'nope'"),
    ("def write(results):\n    return None\n", "failed in its sections: TypeError: 'NoneType' object is not iterable"),
    ("def write(results):\n    yield 'x'\n", "gives str in place of Section"),
    ("def write(results):\n    yield Section('a b', 'x', ())\n",
     "has a section with the anchor 'a b'; an anchor has small letters, digits and '-'"),
    ("def write(results):\n    yield Section('a', 'x', (), part='none')\n",
     f"has a section in the part 'none'; the parts are {', '.join(get_args(Part))}"),
    ("def write(results):\n    yield Section('a', 'x', (Text(('x', Code('y'), {})),))\n",
     "has dict in the section 'a', which cannot be written"),
    ("def write(results):\n    yield Section('a', 'x', [Text('x')])\n",
     "has list in the section 'a', which cannot be written"),
    ("def write(results):\n    yield Section('data', 'x', ())\n",
     "has a section 'data', and there is one of that anchor already"),
    ("def write(results):\n    yield Section('a', 'x', (Figures(lambda: 1 / 0),))\n",
     "failed in its figures: ZeroDivisionError: division by zero"),
    ("def write(results):\n    yield Section('a', 'x', (Figures(lambda: ['x']),))\n", "draws str in place of Drawing"),
])
def test_sections_that_cannot_be_written_are_told_in_the_plugins_name(
    install: Callable[..., None], folder: Path, code: str, said: str
) -> None:
    install(HEAD + code, sections="write")
    text = fault(lambda: evalpipe.run("s.yaml", out="out"))
    assert text.splitlines()[0] == f"error[plugin-failed]: the plugin 'house' of pack 1.0 {said}"
    assert text.splitlines()[-1] == "  = help: remove it from report.plugins, or tell those who wrote it"
    assert not (folder / "out").exists()


@pytest.mark.parametrize(("code", "said"), [
    ("def write(results):\n    yield 3\n", "claims int in place of Claim"),
    ("def write(results):\n    raise KeyError('x')\n", "failed in its findings: KeyError: 'x'"),
    ("from evalpipe.findings.claims import Claim\ndef write(results):\n    yield Claim(1, lambda r, rows: [3])\n",
     "says int in place of Finding"),
    ("from evalpipe.findings.claims import Claim\ndef write(results):\n    yield Claim(1, lambda r, rows: rows.x)\n",
     "failed in its findings: AttributeError: 'list' object has no attribute 'x'"),
])
def test_findings_that_fail_are_told_in_the_plugins_name(install: Callable[..., None], code: str, said: str) -> None:
    install(code, findings="write")
    text = fault(lambda: evalpipe.run("s.yaml"))
    assert text.splitlines()[0] == f"error[plugin-failed]: the plugin 'house' of pack 1.0 {said}"


def test_a_finding_has_its_evidence_on_the_card(install: Callable[..., None]) -> None:
    install("from evalpipe.findings.claims import Claim\nfrom evalpipe.findings.words import finding\n"
            "def write(results):\n    yield Claim(1, lambda r, rows: [finding('note', 9, 'x.', 'nowhere')])\n",
            findings="write")
    assert fault(lambda: evalpipe.run("s.yaml", out="out")).splitlines()[0] == (
        "error[plugin-failed]: the plugin 'house' of pack 1.0 has a finding whose evidence is in 'nowhere', and no "
        "section is called so")


def test_claims_with_the_same_words_are_said_together(install: Callable[..., None]) -> None:
    install("from evalpipe.findings.claims import Claim\nfrom evalpipe.findings.words import finding\n"
            "def say(r, rows):\n    yield finding('note', 9, f'{sum(rows)}.', 'data')\n"
            "def write(results):\n    return (Claim(row, say) for row in (1, 2))\n", findings="write")
    assert [finding.text for finding in evalpipe.run("s.yaml").findings if finding.plugin] == ["3."]


def test_a_plugin_changes_nothing_of_the_results(install: Callable[..., None], folder: Path) -> None:
    install(f"{HEAD}def write(results):\n    results.rows.clear()\n    results.spec.clear()\n    return ()\n"
            "def claim(results):\n    results.rows.clear()\n    return ()\n", sections="write", findings="claim")
    results = evalpipe.run("s.yaml", out="out")
    assert [row.metric for row in results.rows] == ["accuracy"]
    assert Results.read(folder / "out" / "results.json") == results


def test_names_from_a_plugin_are_escaped(install: Callable[..., None], folder: Path) -> None:
    install(f"{HEAD}def write(results):\n    yield Section('a', '<b>{{{{7*7}}}}', (Text('<script>x</script>'),))\n",
            sections="write")
    evalpipe.run("s.yaml", out="out")
    page = (folder / "out" / "card.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;{{7*7}}" in page
    assert "&lt;script&gt;x&lt;/script&gt;" in page


def test_results_of_another_version_are_not_rendered(install: Callable[..., None], folder: Path) -> None:
    install(f"{HEAD}def write(results):\n    yield Section('a', 'x', (Text('x'),))\n", sections="write")
    evalpipe.run("s.yaml", out="out")
    (folder / "site" / "pack-1.0.dist-info").rename(folder / "site" / "pack-1.1.dist-info")
    metadata = folder / "site" / "pack-1.1.dist-info" / "METADATA"
    metadata.write_text(metadata.read_text().replace("1.0", "1.1"))
    assert fault(lambda: evalpipe.render("out")) == (
        "error[unknown-plugin]: the plugin 'house' of pack 1.0 is not installed, and these results were made with it\n"
        "  = installed: pack 1.1\n"
        "  = help: install pack==1.0")
