"""What the page does with scripts on: models shown and hidden, tables sorted and filtered, read-outs, links."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

import evalpipe
from browser.test_card import AXE_SCRIPT, SCHEMES, in_page, violations
from card.many_levels import ANIMALS, SHORT, of_levels
from evalpipe.card.html import html_page
from evalpipe.results.curves import events
from few_by_day import by_night

GROUPS = "table.sliced"
"""The tables of groups of the example."""


@pytest.fixture(scope="module")
def tab(browser: Browser, example: Callable[[str], Path]) -> Iterator[Page]:
    """Return the card of the slices example; what its console says is an error."""
    context = browser.new_context(viewport={"width": 1200, "height": 900}, offline=True)
    said: list[str] = []
    page = context.new_page()
    page.set_default_timeout(5000)
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto((example("slices") / "card.html").as_uri())
    yield page
    context.close()
    assert said == []


@pytest.fixture
def page(tab: Page) -> Page:
    """Return the card as it is first shown."""
    address = tab.url.partition("#")[0]
    tab.goto("about:blank")  # to another part of the same page, nothing would be loaded
    tab.goto(address)
    return tab


@pytest.mark.parametrize("width", [360, by_night(1440)])
def test_axe_finds_no_violation_in_what_scripts_add(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    in_page(page, "thin")
    page.evaluate(AXE_SCRIPT)
    assert violations(page, rules={"color-contrast": {"enabled": False}}) == []
    added = {"include": [["#what-if"], ["#view"], [".filter"], [".sort"]]}
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        judged = page.evaluate("within => axe.run(within, {runOnly: ['color-contrast']})", added)
        assert judged["passes"]
        assert judged["violations"] == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.set_viewport_size({"width": 1200, "height": 900})


def test_the_sliders_are_moved_by_keys(page: Page) -> None:
    threshold = page.get_by_role("slider", name="Threshold")
    threshold.focus()
    page.keyboard.press("ArrowRight")
    assert (page.locator("#what-if-at").inner_text(), threshold.get_attribute("aria-valuetext")) == ("0.51", "0.51")
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    assert page.locator("#what-if-share").inner_text() == "0.999"
    page.get_by_role("button", name="Reset").press("Enter")
    assert [page.locator(f"#what-if-{name}").inner_text() for name in ("at", "share")] == ["0.5", "0.322"]


def test_a_hidden_model_leaves_every_figure_and_table_that_marks_it(page: Page) -> None:
    shown = page.locator(".chart .line.m1 >> visible=true")
    before = shown.count(), page.locator(".dots tr:has(.m1) >> visible=true").count()
    assert all(before)
    page.get_by_role("checkbox", name="Random forest").uncheck()
    assert shown.count() == page.locator(".dots tr:has(.m1) >> visible=true").count() == 0
    assert page.locator("#what-if tbody tr >> visible=true").count() == 1
    assert page.locator(".chart .line.m0 >> visible=true").count() > 0
    page.get_by_role("checkbox", name="Random forest").check()
    assert (shown.count(), page.locator(".dots tr:has(.m1) >> visible=true").count()) == before


def test_a_table_sorts_by_a_column_within_its_groups(page: Page) -> None:
    table = page.locator(GROUPS).first
    column = """[...document.querySelector("table.sliced").tBodies].map(body =>
        [...body.querySelectorAll("tr:not(.group)")].map(row => Number(row.cells[5]?.querySelector("data")?.value)))"""
    before = page.evaluate(column)
    assert any(values != sorted(values) for values in before)
    button = table.get_by_role("button", name="ROC AUC")
    for order, sign in (("ascending", 1), ("descending", -1)):
        button.press("Enter")
        assert table.locator(f'th[aria-sort="{order}"]').inner_text().startswith("ROC AUC")
        defined = [[value for value in values if not math.isnan(value)] for values in before]
        known = [sorted(values, key=lambda value: sign * value) for values in defined]
        after = page.evaluate(column)
        assert [values[:len(of)] for values, of in zip(after, known, strict=True)] == known  # what has no value is last
        assert all(math.isnan(value) for values, of in zip(after, known, strict=True) for value in values[len(of):])


def test_a_filter_keeps_the_rows_that_have_its_text(page: Page) -> None:
    page.get_by_label("Filter rows of Measures in slices of evaluation, with 95% intervals", exact=True).fill("= 3RD")
    rows = page.locator(f"{GROUPS} >> nth=0 >> tbody tr >> visible=true")
    assert [row.locator("th").inner_text() for row in rows.all()] == [
        "Slices, worst first", "gender = male, class = 3rd", "gender = male, class = 3rd"]


def test_a_number_has_a_link_that_leads_back_to_it_after_sorting(page: Page) -> None:
    cell = page.locator(f"{GROUPS} >> nth=0 >> tbody tr:not(.group) >> nth=2 >> td >> nth=3")
    value = cell.locator("data").get_attribute("value")
    cell.hover()
    cell.get_by_label("Copy the link to this number").click()
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    pointed = page.locator(".pointed")
    assert pointed.locator("data").get_attribute("value") == value
    assert pointed.is_visible()


@pytest.fixture(params=[True, False], ids=["scripts", "no scripts"])
def with_or_without_scripts(page: Page, request: pytest.FixtureRequest) -> Iterator[Page]:
    """Return the card loaded with scripts, and without."""
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setScriptExecutionDisabled", {"value": not request.param})
    page.reload()
    yield page
    session.send("Emulation.setScriptExecutionDisabled", {"value": False})


def test_evidence_lands_on_its_row_though_it_is_folded(with_or_without_scripts: Page) -> None:
    page = with_or_without_scripts
    links, folded = page.locator("#findings .findings a"), 0
    for k in range(links.count()):
        target = page.locator(links.nth(k).get_attribute("href") or "")
        is_row = target.evaluate("e => e.tagName") == "TR"
        folded += is_row and not target.is_visible()
        links.nth(k).click()
        assert target.is_visible()
        assert target.evaluate("e => e.matches(':target')")
        box = target.bounding_box()
        assert box is not None
        assert -1 <= box["y"] < 900
        assert not is_row or target.evaluate("e => getComputedStyle(e).outlineStyle") == "solid"
    assert folded


def test_contents_stay_beside_a_wide_page_and_a_link_leads_back_to_the_top(page: Page) -> None:
    contents = page.locator("nav.contents")

    def places() -> tuple[float, float]:
        boxes = contents.bounding_box(), page.locator("main").bounding_box()
        assert boxes[0] is not None
        assert boxes[1] is not None
        return boxes[0]["x"] + boxes[0]["width"], boxes[1]["x"]

    assert places()[0] > places()[1]  # above the page, where it is narrower
    page.set_viewport_size({"width": 1400, "height": 900})
    end, start = places()
    assert end <= start
    contents.get_by_role("link", name="For whom?").click()
    assert page.locator("#slices-title").is_visible()
    assert page.evaluate("scrollY") > 900
    box = contents.bounding_box()
    assert box is not None
    assert box["y"] == pytest.approx(0, abs=1)
    page.get_by_role("link", name="Back to the top").click()
    page.wait_for_function("scrollY === 0")
    page.set_viewport_size({"width": 1200, "height": 900})


def test_a_figure_has_a_link_with_and_without_scripts(page: Page) -> None:
    link = page.get_by_label("Link to figure 2", exact=True)
    assert link.get_attribute("href") == "#figure-2"
    page.locator("#figure-2 figcaption").hover()
    link.click()
    assert page.url.endswith("#figure-2")


def test_the_read_out_tells_the_lines_at_the_pointer(page: Page, example: Callable[[str], Path]) -> None:
    """Tolerance 0.02: a line is drawn to a tenth of a pixel, about 0.0004, and steeply where the curve is steep."""
    chart = page.locator("#figure-1 .chart")
    chart.scroll_into_view_if_needed()
    left, top, wide, high, low, up, *_ = chart.evaluate("chart => JSON.parse(chart.dataset.axes)[0]")
    box = chart.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + left + wide * (0.4 - low) / (up - low), box["y"] + top + high / 2)
    name, *lines = page.locator(".read-out").inner_text().split("\n")
    assert name == "False positive rate (1 − specificity) 0.4"
    results = evalpipe.Results.read(example("slices") / "results.json")
    curves = {c.model: c for c in results.curves if isinstance(c, events.Roc) and c.slice is None}
    for line, model in zip(lines, results.models, strict=True):
        label, _, value = line.partition(": ")
        across, up_ = curves[model.name].points.path
        near = min(range(len(across)), key=lambda k: abs((across[k] or 0.0) - 0.4))
        assert (label, float(value)) == (model.label, pytest.approx(up_[near], abs=0.02))
    page.mouse.move(0, 0)
    assert not page.locator(".read-out").is_visible()


def test_a_notebook_shows_the_card_in_a_frame_that_reaches_nothing(
    browser: Browser, example: Callable[[str], Path]
) -> None:
    context = browser.new_context(offline=True)
    page, said = context.new_page(), list[str]()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.set_content(evalpipe.Results.read(example("slices") / "results.json")._repr_html_())
    frame = page.frame_locator("iframe")
    assert frame.locator("h1").inner_text() == "Survival on the Titanic, by gender, age and class"
    before = frame.locator("#what-if td[data-measure=tp]").first.inner_text()
    frame.locator("#what-if-threshold").press("Home")
    assert frame.locator("#what-if td[data-measure=tp]").first.inner_text() != before
    context.close()
    assert said == []


@pytest.mark.parametrize("levels", [ANIMALS, SHORT])
def test_a_matrix_of_twelve_classes_fits_a_phone(browser: Browser, tmp_path: Path, levels: tuple[str, ...]) -> None:
    (tmp_path / "card.html").write_bytes(html_page(of_levels(levels)))
    page = browser.new_page(viewport={"width": 390, "height": 844}, offline=True)
    page.goto((tmp_path / "card.html").as_uri())
    frame = page.locator(".scroll:has(.confusion)")
    inside, room = frame.evaluate("frame => [frame.scrollWidth, frame.clientWidth]")
    assert inside <= room
    sizes = frame.evaluate("""frame => [...frame.querySelectorAll("th, td, td *")].filter(e => e.textContent.trim())
        .map(e => parseFloat(getComputedStyle(e).fontSize))""")
    assert min(sizes) >= 10
    spilt = frame.evaluate("""frame => [...frame.querySelectorAll("th, td")].filter(
        cell => cell.scrollWidth > cell.clientWidth + 1).map(cell => cell.textContent)""")
    assert spilt == []
    # The number at the head of a column stands over its cells, the last of which is that of the totals.
    heads = frame.locator("thead tr").last.locator("th").evaluate_all(
        "cells => cells.map(cell => cell.getBoundingClientRect().right)")
    cells = frame.locator("tbody tr").first.locator("td").evaluate_all(
        "cells => cells.map(cell => cell.getBoundingClientRect().right)")
    assert heads == pytest.approx(cells[:-1], abs=1)
    page.evaluate(AXE_SCRIPT)
    assert violations(page, rules={"color-contrast": {"enabled": False}}) == []
    page.close()
