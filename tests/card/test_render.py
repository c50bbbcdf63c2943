from __future__ import annotations

import builtins
import hashlib
import io
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pypdf import PdfReader

from evalpipe.card import assets, pdf, render
from evalpipe.card.figures import svg
from evalpipe.card.tables import shown
from evalpipe.errors import InternalError, UsageError
from evalpipe.results import Results

SCRIPT = """
import hashlib, sys
from pathlib import Path
from evalpipe.card import render
from evalpipe.results import Results
for name, data in render(Results.read(Path(sys.argv[1])), ["html", "pdf"]).items():
    print(name, hashlib.sha256(data).hexdigest())
"""


@pytest.fixture(scope="module")
def small(build: Any) -> Results:
    return build(datasets=1, models=1)


class Rendered(NamedTuple):
    """A card in both formats, the figures that were drawn for each, and what was logged meanwhile."""

    files: dict[str, bytes]
    for_screen: list[str]
    for_print: list[str]
    logged: list[str]


@pytest.fixture(scope="module")
def rendered(small: Results) -> Rendered:
    logged, for_screen, for_print = list[str](), list[str](), list[str]()
    real, handler = svg.Sheet.svg, logging.Handler(logging.WARNING)
    handler.emit = lambda record: logged.append(record.getMessage())  # type: ignore[method-assign]

    def counted(self: svg.Sheet, *, printed: bool = False) -> str:
        (for_print if printed else for_screen).append(written := real(self, printed=printed))
        return written

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(svg.Sheet, "svg", counted)
        logging.getLogger().addHandler(handler)
        files = render(small, ["html", "pdf"])
        logging.getLogger().removeHandler(handler)
    return Rendered(files, for_screen, for_print, logged)


@pytest.fixture(scope="module")
def files(rendered: Rendered) -> dict[str, bytes]:
    return rendered.files


@pytest.fixture(scope="module")
def reader(files: dict[str, bytes]) -> PdfReader:
    return PdfReader(io.BytesIO(files["card.pdf"]))


def test_files_are_named_after_their_format(files: dict[str, bytes]) -> None:
    assert list(files) == ["card.html", "card.pdf"]
    assert files["card.html"].startswith(b"<!doctype html>")
    assert files["card.pdf"].startswith(b"%PDF-")


def test_each_figure_is_drawn_once_for_both_formats_and_nothing_is_logged(rendered: Rendered) -> None:
    page = rendered.files["card.html"].decode()
    assert [svg for svg in rendered.for_screen if svg not in page] == []
    assert page.count('class="chart"') == len(rendered.for_screen) == len(rendered.for_print) > 10
    assert rendered.logged == []


def test_no_format_gives_no_file(small: Results) -> None:
    assert render(small, []) == {}


def test_an_unknown_format_is_refused(small: Results) -> None:
    with pytest.raises(UsageError) as caught:
        render(small, ["html", "docx"])
    assert str(caught.value) == (
        "error[unknown-format]: the card cannot be written as 'docx'\n  = help: use html, junit, markdown or pdf"
    )


def test_bytes_are_the_same_in_another_process_folder_and_clock(
    small: Results, files: dict[str, bytes], tmp_path: Path
) -> None:
    source = tmp_path / "results.json"
    source.write_text(small.to_json(), encoding="utf-8")
    (tmp_path / "matplotlibrc").write_text("font.size: 22\n", encoding="utf-8")
    changes = {"PYTHONHASHSEED": "7", "SOURCE_DATE_EPOCH": "1", "TZ": "Asia/Tokyo", "LC_ALL": "C"}
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(source)], env={**os.environ, **changes}, cwd=tmp_path, text=True,
        capture_output=True, check=True,
    )
    assert found.stdout.split() == [x for name, data in files.items() for x in (name, hashlib.sha256(data).hexdigest())]


def test_the_clock_variable_of_the_user_is_put_back(small: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "12345")
    render(small.model_copy(update={"curves": [], "estimates": small.rows[:3]}), ["pdf"])
    assert os.environ["SOURCE_DATE_EPOCH"] == "12345"


def test_the_pdf_has_the_numbers(reader: PdfReader, small: Results) -> None:
    words = " ".join(" ".join(page.extract_text() for page in reader.pages).split())
    area = next(e for e in small.rows if e.metric == "roc_auc")
    assert shown(area).text in words
    assert "6,107" in words
    assert small.inputs[0].sha256 in words


def test_the_results_are_attached_and_read_back(reader: PdfReader, small: Results) -> None:
    assert list(reader.attachments) == ["estimates.csv", "results.json", "spec.yaml"]
    assert Results.from_json(reader.attachments["results.json"][0].decode("utf-8")) == small


def test_figures_keep_their_text_in_the_pdf(reader: PdfReader) -> None:
    found: set[str] = set()

    def walk(node: Any) -> None:
        node = node.get_object()
        if isinstance(node, list):
            for child in node:
                walk(child)
        elif hasattr(node, "get"):
            if "/Alt" in node:
                found.add(str(node["/Alt"]))
            if "/K" in node and not isinstance(node["/K"], int):
                walk(node["/K"])

    walk(reader.trailer["/Root"]["/StructTreeRoot"]["/K"])
    assert any(text.startswith("ROC curve on validation. Naive Bayes: ROC AUC ") for text in found)


def test_a_missing_system_library_is_explained(small: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "weasyprint":
            raise OSError("cannot load library 'libpango-1.0-0': no such file\nmore")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(UsageError) as caught:
        render(small, ["pdf"])
    assert str(caught.value) == (
        "error[missing-library]: the PDF cannot be made: the system library Pango is missing\n"
        "  = cannot load library 'libpango-1.0-0': no such file\n"
        "  = help: install it (Debian, Ubuntu: apt-get install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0), "
        "or leave pdf out of report.formats"
    )


def test_the_pdf_fetches_nothing_from_outside(small: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    page = b'<!doctype html><html lang="en"><title>x</title><body><img src="file:///etc/passwd"></body></html>'
    monkeypatch.setattr(pdf, "write_page", lambda *_, **__: page)
    with pytest.raises(InternalError) as caught:
        render(small, ["pdf"])
    assert caught.value.problems[0].code == "outside-resource"
    assert caught.value.problems[0].message == "the card asked for file:///etc/passwd, which is not part of evalpipe"


def test_the_templates_are_found_beside_or_inside_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "evalpipe" / "templates"
    inside.mkdir(parents=True)
    monkeypatch.setattr(assets, "PACKAGE", tmp_path / "evalpipe")
    with pytest.raises(InternalError) as caught:
        assets.templates_folder.__wrapped__()
    assert caught.value.problems[0].code == "missing-templates"
    (inside / "card.html").write_text("x", encoding="utf-8")
    assert assets.templates_folder.__wrapped__() == inside
