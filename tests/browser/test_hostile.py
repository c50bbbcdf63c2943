"""Names, levels and prose that are code, markup or very long: they are text, nothing runs, and the layout holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from playwright.sync_api import Browser

import evalpipe
from card.pages import cut, pages_of
from engine.runs import people
from evalpipe.results import Results
from evalpipe.words.spelling import LONGEST

MARKUP = "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"
TEMPLATE = "{{7*7}} ${7*7} {% raw %}"
CLOSING = "]]></svg></style></script><b>bold"
FORMULA = '=HYPERLINK("http://a.example","x")'
REVERSED = "\N{RIGHT-TO-LEFT OVERRIDE}desrever\N{POP DIRECTIONAL FORMATTING} שלום"
UNSEEN = "zero\N{ZERO WIDTH SPACE}width\N{ZERO WIDTH NO-BREAK SPACE}"
LONG = "W" * 3_000
GROUPS = (MARKUP, TEMPLATE, CLOSING, FORMULA, REVERSED, UNSEEN, LONG, "two\nlines")
PROSE = (f"{MARKUP}\n\n[link](javascript:alert(1)) ![picture](http://a.example/i.png) <iframe src='http://a.example'>"
         f"</iframe> \\{{{{ 7*7 }}}} {REVERSED}\n\n{LONG}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run a spec in which whatever may be any text is hostile, and return its folder."""
    out = tmp_path_factory.mktemp("hostile") / "out"
    frame, drawn = people(1000), np.random.default_rng(1).choice(len(GROUPS), 1000)
    frame = frame.with_columns(pl.Series("g", [GROUPS[place] for place in drawn]), pl.Series(CLOSING, frame["s"]),
                               pl.Series("y", [FORMULA if event else MARKUP for event in frame["y"]]))
    evalpipe.run({
        "evalpipe": 1, "name": "hostile", "title": f"{MARKUP} {TEMPLATE} {REVERSED}", "task": "binary",
        "outcome": {"column": "y", "event": FORMULA, "levels": [FORMULA, MARKUP]}, "slices": ["g", CLOSING],
        "datasets": {"]]> <b>": {"path": "memory"}}, "metrics": ["roc_auc", "brier", "sensitivity"],
        "models": {"p": {"probability": "p", "label": MARKUP},
                   "{{7*7}} <b>": {"probability": "q", "label": f"{CLOSING} {REVERSED} {'W' * 40}"}},
        "intervals": {"replicates": 100}, "gates": [{"metric": "sensitivity", "min": 0.6}],
        "card": {"owner": MARKUP, "intended_use": PROSE, "trade_offs": LONG},
        "report": {"formats": ["html", "markdown"]},
    }, frames={"]]> <b>": frame}, out=out)
    return out


def test_the_page_shows_them_as_text_and_runs_nothing(browser: Browser, folder: Path) -> None:
    context = browser.new_context(offline=True)
    page, said, asked = context.new_page(), list[str](), list[str]()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("request", lambda request: asked.append(request.url))
    address = (folder / "card.html").as_uri()
    page.goto(address)
    assert page.title().startswith(f"{MARKUP} {TEMPLATE} ")
    assert page.locator("img, iframe, object, embed, link, base, form").count() == 0
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true })")
    shown = " ".join(page.locator("main").inner_text().split())
    for text in (MARKUP, TEMPLATE, CLOSING, FORMULA, "[link](javascript:alert(1))", "{{ 7*7 }}", "two�lines"):
        assert (text if len(text) <= LONGEST else text[: LONGEST - 1]) in shown
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in page.content()
    for width in (360, 768, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") == width
    context.close()
    assert (said, asked) == ([], [address])


@pytest.mark.nightly  # by day tests/card/test_pages.py looks for what is cut off on the paper of an example
def test_nothing_is_cut_off_on_paper(folder: Path) -> None:
    assert cut(pages_of(Results.read(folder / "results.json"))) == []


def test_results_and_estimates_hold_each_text_whole(folder: Path) -> None:
    results = Results.read(folder / "results.json")
    assert {row.slice["g"] for row in results.rows if row.slice and "g" in row.slice} == set(GROUPS)
    read = pl.read_csv(folder / "estimates.csv")
    assert read.height == len(results.rows)
    assert read["slice"].drop_nulls().str.json_path_match("$.g").drop_nulls().unique().len() == len(GROUPS)
