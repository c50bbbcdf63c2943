from __future__ import annotations

import logging
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest
import weasyprint

from card.pages import (
    before_annex,
    content,
    cut,
    fill,
    lone_rows,
    pages_of,
    parted,
    printed_twice,
    small_texts,
    sparse,
)
from evalpipe.results import Results
from evalpipe.results.signatures import Role, Signature
from few_by_day import few_by_day

LEAST = 0.29
"""How full a page is at least, but for the last of a part: models of digits stand before a figure of a page."""

SMALLEST = 7.99
"""Points of the smallest text."""

USUAL = ("titanic",)
ALL = sorted(path.stem for path in (Path(__file__).resolve().parents[2] / "configs").glob("*.yaml"))


def planted(body: str) -> list[Any]:
    page = ("<style>@page { size: 400px 400px; margin: 20px } body { margin: 0; font: 16px/20px sans-serif } "
            "table { border-spacing: 0 } td, th { padding: 0 }</style>")
    return [page._page_box for page in weasyprint.HTML(string=page + body).render().pages]


def rows(number: int) -> str:
    return "<tr><td>row</td></tr>" * number


class Layout(NamedTuple):
    """The boxes of the pages of a card, and what WeasyPrint logged while it laid them out."""

    pages: list[Any]
    logged: list[str]


@pytest.fixture(scope="module")
def layout(example: Callable[[str], Path]) -> Callable[[str], Layout]:
    def laid_out(name: str) -> Layout:
        progress, logged, handler = logging.getLogger("weasyprint.progress"), list[str](), logging.Handler()
        handler.emit = lambda record: logged.append(record.getMessage())  # type: ignore[method-assign]
        level = progress.level
        progress.setLevel(logging.INFO)
        progress.addHandler(handler)
        boxes = pages_of(Results.read(example(name) / "results.json"))
        progress.removeHandler(handler)
        progress.setLevel(level)
        return Layout(boxes, logged)

    return cache(laid_out)


@pytest.fixture(scope="module")
def pages(layout: Callable[[str], Layout]) -> Callable[[str], list[Any]]:
    return lambda name: layout(name).pages


@pytest.mark.parametrize("name", few_by_day(ALL, USUAL))
def test_pages_are_filled_and_nothing_is_cut_or_parted(name: str, pages: Callable[[str], list[Any]]) -> None:
    laid_out = pages(name)
    assert sparse(laid_out, LEAST) == []
    assert cut(laid_out) == []
    assert parted(laid_out) == []
    assert lone_rows(laid_out) == []
    assert printed_twice(laid_out) == []
    assert small_texts(laid_out, SMALLEST) == []
    first, annex = ({text for leaf in content(laid_out[page]) for text in words(leaf)}
                    for page in (0, before_annex(laid_out)))
    assert {"In short", "Contents", "Sign-off", "Annex"} <= first
    assert {"Annex", "Provenance"} <= annex


@pytest.mark.parametrize("name", few_by_day(
    ("titanic", "digits", "audit", "anes96", "prevalence", "recalibration"), USUAL))
def test_two_models_without_slices_take_at_most_eight_pages_and_then_an_annex(
    name: str, pages: Callable[[str], list[Any]]
) -> None:
    laid_out = pages(name)
    last = before_annex(laid_out)
    assert 0 < last <= 8
    assert words(content(laid_out[last])[0]) == ["Annex"]
    said = [[box.text for box in page.descendants() if hasattr(box, "text")] for page in laid_out]
    marked = ["Annex to the evalpipe model card" in texts for texts in said]
    assert marked == [False] * last + [True] * (len(laid_out) - last)


def test_only_pages_of_contents_which_number_the_others_are_laid_out_again(
    layout: Callable[[str], Layout]
) -> None:
    laid_out, logged = layout("titanic")
    steps = "\n".join(logged)
    times = Counter(map(int, re.findall(r"Creating layout - Page (\d+)$", steps, re.MULTILINE)))
    assert times.keys() == set(range(1, len(laid_out) + 1))
    assert [page for page, again in times.items() if again > 1] == [1, before_annex(laid_out) + 1]


def test_small_text_is_named() -> None:
    assert small_texts(planted("<p style='font-size: 7pt'>word</p>"), SMALLEST) == ["page 1: 'word' has 7.0 points"]
    figure = ('<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100" font-size="13">'
              "<text y='20'>word</text></svg>")
    drawn = f"<img style='width: {{}}px' src='data:image/svg+xml;base64,{b64encode(figure.encode()).decode()}'>"
    assert small_texts(planted(drawn.format(50)), SMALLEST) == ["page 1: a figure has text of 4.9 points"]
    assert small_texts(planted(drawn.format(100)), SMALLEST) == []


def words(leaf: Any) -> list[str]:
    return [box.text for box in getattr(leaf, "descendants", list)() if hasattr(box, "text")]


@pytest.mark.parametrize("conditions", [
    pytest.param(["Not for children.", "Measured again every quarter."], marks=pytest.mark.nightly), ["so " * 60] * 5])
def test_signatures_leave_the_first_page_whole(example: Callable[[str], Path], conditions: list[str]) -> None:
    results = Results.read(example("titanic") / "results.json")
    signatures = [Signature(
        role=role, name="A. Reader", organisation="Bank", date="2026-11-21", decision="rejected", conditions=conditions,
        evidence_sha256=results.evidence_sha256) for role in get_args(Role)]
    laid_out = pages_of(results, *signatures)
    assert {"Approver", "In short"} <= {text for leaf in content(laid_out[0]) for text in words(leaf)}
    assert (sparse(laid_out, LEAST), cut(laid_out), parted(laid_out), lone_rows(laid_out)) == ([], [], [], [])


def test_a_page_that_is_hardly_used_is_named() -> None:
    text = "<p style='margin: 0; break-after: page'>a line</p>" * 2
    laid_out = planted(f"{text}<p>end")
    assert [round(fill(page), 2) for page in laid_out[:2]] == [0.06, 0.06]
    assert sparse(laid_out, LEAST) == ["page 1 is 0.06 full", "page 2 is 0.06 full"]


def test_the_last_page_before_the_appendix_may_be_hardly_used() -> None:
    laid_out = planted("<p>a line</p><section class='annex' style='break-before: page'>appendix</section>")
    assert sparse(laid_out, LEAST) == []


def test_what_reaches_over_an_edge_is_named() -> None:
    wide = "<svg width='500' height='10'></svg>"
    assert cut(planted(wide)) == ["page 1: <svg> is 140 px over the edge"]
    high = "<svg style='display: block' width='10' height='400'></svg>"
    assert cut(planted(high)) == ["page 1: <svg> is 40 px over the edge"]
    assert cut(planted("<p>a line</p>")) == []
    narrow = "<table style='table-layout: fixed; width: 100px'><tr><td style='white-space: nowrap'>{}</td><td></table>"
    assert cut(planted(narrow.format("words without end"))) == ["page 1: 'words without end' runs out of its cell"]
    assert cut(planted(narrow.format("word"))) == []
    sign = "<span style='display: inline-block; width: 10px'>?</span>words without end"
    assert cut(planted(narrow.format(sign))) == ["page 1: 'words without end' runs out of its cell"]


def test_a_heading_at_the_end_of_a_page_is_named() -> None:
    assert parted(planted("<p>a line</p><h2>Heading</h2><p style='break-before: page'>text")) == [
        "page 1 ends with a <h2>"]


def test_a_lone_row_of_a_table_is_named() -> None:
    assert lone_rows(planted(f"<table>{rows(19)}</table>")) == ["page 2 holds 1 row of a table"]
    assert lone_rows(planted(f"<table>{rows(20)}</table>")) == []
    heading = "<tr class=group><th>group</th></tr>"
    assert lone_rows(planted(f"<table>{rows(17)}{heading}{rows(3)}</table>")) == [
        "page 1 ends with the heading of a group"]
