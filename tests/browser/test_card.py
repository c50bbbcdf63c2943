"""Every example spec runs; its card in a real browser at three widths, in light and dark; its PDF as pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page

from evalpipe.results import Results
from few_by_day import few_by_day

WIDTHS = (360, 768, 1440)
"""Pixels of a phone, a tablet and a desk."""

Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")

LEAST_TEXT = 12
"""Pixels of the smallest text of a chart, as it stands on the screen."""

LEAST_CONTRAST = 4.5
"""What text needs against its ground: WCAG 2.2, 1.4.3."""

FIGURES = {
    "titanic": 28, "slices": 27, "digits": 10, "anes96": 12, "apartments": 9, "randhie": 9, "recalibration": 23,
    "equivocal": 10, "campaign": 22, "desirability": 43, "thresholds": 36, "prevalence": 36,
    "audit": 28, "themed": 17, "candidates": 1, "optimism": 34, "repeats": 25, "benchmark": 6,
    "labels_judge": 27, "labels_rejects": 21, "labels_verified": 22, "labels_nightly": 21,
}
"""The sheets of figures on each example's card."""

COLOURS = ["color-contrast", "link-in-text-block"]
"""The rules of axe-core that see colours, which alone differ between a light and a dark screen."""

SIGNS = {"nonBmp", "shortTextContent"}
"""What axe-core says of the colour of a sign, such as a tick, and of a single letter: that it is perhaps no text."""

FUNCTIONS = (Path(__file__).parent / "page.js").read_text(encoding="utf-8")

USUAL = {"audit", "digits"}
"""The cards that every run looks at: of an event, with texts, and of classes; by night those of all examples.

At cards of groups and of colours of their own, `test_page.py` and `test_theme.py` look.
"""

every_width = pytest.mark.parametrize("width", WIDTHS)
every_scheme = pytest.mark.parametrize("scheme", SCHEMES)


@pytest.fixture(scope="module", params=few_by_day(FIGURES, USUAL))
def card(request: pytest.FixtureRequest, example: Callable[[str], Path]) -> Path:
    return example(request.param)


def test_every_example_has_a_card(root: Path) -> None:
    assert {spec.stem for spec in (root / "configs").glob("*.yaml")} == set(FIGURES)


@pytest.mark.parametrize("name", FIGURES)
def test_every_example_spec_runs(name: str, example: Callable[[str], Path]) -> None:
    card = example(name)
    results = Results.read(card / "results.json")
    assert results.name == card.name
    assert [row for row in results.rows if row.status != "ok" and row.slice is None] == []
    assert {file.name for file in card.iterdir()} >= {"estimates.csv", "run.json", "card.html"}


def in_page(page: Page, function: str) -> Any:
    """Call a function of `page.js` in a page."""
    return page.evaluate(f"() => ({FUNCTIONS}).{function}()")


def violations(page: Page, *, left_open: bool = True, **options: Any) -> list[str]:
    """Return what axe-core finds wrong with a page, with the colours ``left_open``, other than those of signs.

    It leaves open the colours of charts, whose contrast `page.js` measures, and of what a scrolling edge hides.
    """
    wanted = {"resultTypes": ["violations", "incomplete"], "preload": False} | options
    judged = page.evaluate("options => axe.run(options)", wanted)
    assert judged["passes"]
    unknown = [rule for rule in judged["incomplete"] if rule["id"] in COLOURS and left_open]
    return [f"{rule['id']}: {node['html'][:200]} {node['failureSummary']}"
            for rule in judged["violations"] + unknown for node in rule["nodes"]
            if not any(check["data"] and check["data"].get("messageKey") in SIGNS for check in node["any"])]


class Seen(NamedTuple):
    """What a browser shows of a card, all unfolded: by width how it fits and its charts, by scheme its faults."""

    asked: list[str]
    opened: dict[str, tuple[bool, bool]]
    alone: dict[str, Any]
    fit: dict[int, Any]
    charts: dict[int | Scheme, Any]
    looks: dict[Scheme, int]
    violations: dict[Scheme, list[str]]


@pytest.fixture(scope="module")
def seen(card: Path, browser: Browser) -> Iterator[Seen]:
    """Look at a card in a browser that has no network and runs no script, until axe-core needs one.

    All at once, for a page takes a second to load, and as long to be laid out anew.
    """
    page, asked = browser.new_page(offline=True), list[str]()
    scripts = page.context.new_cdp_session(page)
    scripts.send("Emulation.setScriptExecutionDisabled", {"value": True})
    page.on("request", lambda request: asked.append(request.url))
    page.goto((card / "card.html").as_uri())
    opened = dict(_open(page))
    in_page(page, "unfold")
    of_card = Seen(asked, opened, in_page(page, "alone"), {}, {}, {}, {})
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        of_card.fit[width], of_card.charts[width] = in_page(page, "fit"), in_page(page, "charts")
    scripts.send("Emulation.setScriptExecutionDisabled", {"value": False})
    _judge(page, of_card)
    yield of_card
    page.close()


def _open(page: Page) -> Iterator[tuple[str, tuple[bool, bool]]]:
    """Open folds as readers do, by a click on the heading, a link and a key; yield what is seen before and after."""
    for fold, way_in in (("#spec", ".appendix summary:has(#spec-title)"), ("#method", "nav a[href='#method']")):
        before = page.locator(fold).is_visible()
        page.locator(way_in).click()
        yield fold, (before, page.locator(fold).is_visible())
    data = page.locator("details.points").first
    before = data.locator("table").first.is_visible()
    data.locator("summary").press("Enter")
    yield "data", (before, data.locator("table").first.is_visible())


def _judge(page: Page, of_card: Seen) -> None:
    """Let axe-core judge a page in both schemes: two rows of each table of data, and one element of each look."""
    in_page(page, "thin")
    page.evaluate(AXE_SCRIPT)
    page.evaluate("axe.configure({rules: [{id: 'color-contrast', selector: '[data-look]'}]})")
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        of_card.charts[scheme], of_card.looks[scheme] = in_page(page, "charts"), in_page(page, "mark")
        of_card.violations[scheme] = violations(page, **({} if scheme == "light" else {"runOnly": COLOURS}))


@every_width
def test_the_page_fits_its_width(card: Path, seen: Seen, width: int) -> None:
    fit = seen.fit[width]
    assert fit["scroll"] <= fit["width"] == width
    assert fit["wide"] == []
    assert fit["spilt"] == []
    assert fit["empty"] == []
    assert (fit["figures"], fit["blank"]) == (FIGURES[card.name], 0)
    assert (fit["boxes"], fit["cut"]) == (["HEADER"], [])


@every_width
def test_text_of_charts_can_be_read_at_every_width(card: Path, seen: Seen, width: int) -> None:
    assert len(seen.charts[width]) > min(50, 10 * FIGURES[card.name])
    assert [text for text in seen.charts[width] if text["size"] < LEAST_TEXT] == []
    assert [text for text in seen.charts[width] if text["beyond"] > 1] == []


@every_scheme
def test_text_of_charts_stands_out_from_the_page(seen: Seen, scheme: Scheme) -> None:
    assert len({text["contrast"] for text in seen.charts[scheme]}) > 1
    assert [text for text in seen.charts[scheme] if text["contrast"] < LEAST_CONTRAST] == []


@every_scheme
def test_axe_finds_no_violation(seen: Seen, scheme: Scheme) -> None:
    assert seen.looks[scheme] > 20
    assert seen.violations[scheme] == []


@pytest.mark.nightly
@every_scheme
@every_width
def test_axe_finds_no_violation_in_any_element(card: Path, browser: Browser, scheme: Scheme, width: int) -> None:
    page = browser.new_page(offline=True, viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.goto((card / "card.html").as_uri())
    in_page(page, "unfold")
    page.evaluate(AXE_SCRIPT)
    assert violations(page, left_open=False) == []
    page.close()


def test_the_page_needs_no_network_and_no_script(card: Path, seen: Seen) -> None:
    assert [url for url in seen.asked if not url.startswith("data:")] == [(card / "card.html").as_uri()]
    assert seen.alone == {"outside": 0, "handlers": [], "lost": [], "fonts": [
        "Source Sans 3 400 loaded", "Source Sans 3 600 loaded", "Source Code Pro 400 loaded"]}


def test_what_is_folded_opens_without_a_script(seen: Seen) -> None:
    assert seen.opened == {"#spec": (False, True), "#method": (False, True), "data": (False, True)}
