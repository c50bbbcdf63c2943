"""The site of all pages: no link leads nowhere, no page is left out, and it works from files without a network."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from installed import lacks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[2]
PHONE = 390


@pytest.fixture(scope="module")
def site() -> Path:
    """Return the folder of the built site; a link that leads nowhere is an error that shows it."""
    built = subprocess.run([sys.executable, ROOT / "docs" / "site.py"], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return Path(built.stdout.strip()).parent


def listed(entries: object) -> Iterator[str]:
    """Yield the pages of the navigation."""
    if isinstance(entries, str):
        yield entries
    for entry in entries.values() if isinstance(entries, dict) else entries if isinstance(entries, list) else ():
        yield from listed(entry)


def test_every_page_stands_once_in_the_navigation() -> None:
    pages = list(listed(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]))
    docs = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")
            if "examples" not in path.parts}

    assert docs <= set(pages)
    assert len(pages) == len(set(pages))
    assert all((ROOT / page).is_file() for page in pages)


def test_pages_load_nothing_from_a_network_and_fit_a_phone(site: Path, browser: Browser) -> None:
    for name in ("index.html", "docs/metrics.html", "docs/tutorials/first_card.html", "docs/gallery.html",
                 "benchmarks/RESULTS.html"):
        page = browser.new_page(viewport={"width": PHONE, "height": 844})
        asked: list[str] = []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.goto((site / name).as_uri(), wait_until="networkidle")
        assert [address for address in asked if not address.startswith(("file:", "data:", "blob:"))] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE
        page.close()


def test_the_search_works_from_files(site: Path, browser: Browser) -> None:
    if not (site / "assets" / "iframe-worker.js").exists():
        lacks("what the search needs", "npm")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((site / "index.html").as_uri())
    page.keyboard.press("Control+k")
    page.keyboard.type("desirability")
    hit = page.get_by_text("Models ranked by the geometric mean of their desirabilities")
    hit.wait_for(timeout=20_000)
    assert hit.count() == 1
    page.close()
