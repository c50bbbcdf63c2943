"""The page of two runs compared, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from evalpipe.review.differences.compare import compare
from evalpipe.review.differences.page import write
from evalpipe.review.differences.records import read_run
from few_by_day import by_night
from review.differences.conftest import write_runs


@pytest.fixture(scope="module")
def page(shared: Callable[[str, Callable[[Path], object]], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of the two small runs."""
    folder = shared("differences", write_runs)
    a, b = read_run(str(folder / "monday")), read_run(str(folder / "tuesday"))
    file = tmp_path_factory.mktemp("difference") / "page.html"
    file.write_text(write(compare(a, b), a, b, "html"), encoding="utf-8")
    return file


@pytest.mark.parametrize(("width", "colours"), [
    (1280, "light"), (390, "dark"), by_night(1280, "dark"), by_night(390, "light")])
def test_it_fits_loads_nothing_and_is_accessible(browser: Browser, page: Path, width: int, colours: str) -> None:
    asked: list[str] = []
    faults: list[str] = []
    with browser.new_context(viewport={"width": width, "height": 900}, color_scheme=colours) as context:  # type: ignore[arg-type]
        tab = context.new_page()
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("console", lambda message: faults.append(message.text))
        tab.goto(page.as_uri())

        assert tab.evaluate("document.documentElement.scrollWidth") == width
        assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
        assert faults == []
        assert Axe().run(tab).response["violations"] == []
