"""Every example spec runs; its card in a real browser, at desktop and phone width, and its PDF as pictures."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import evalpipe
from evalpipe.results import Results

WIDTHS = (375, 1280)
PROBE = """\
<!doctype html><body style="margin:0">
<script>
const bytes = Uint8Array.from(atob("{card}"), c => c.charCodeAt(0)), widths = {widths}, seen = [];
for (const width of widths) {{
  const frame = document.createElement("iframe");
  frame.style = "width:" + width + "px;height:900px;border:0";
  frame.onload = () => {{
    const page = frame.contentDocument, root = page.documentElement;
    const beyond = e => e.getBoundingClientRect().right > root.clientWidth + 1;
    const wide = [...page.querySelectorAll("p, h1, h2, h3, h4, figure, dd, pre, caption, summary")]
      .filter(e => !e.closest(".scroll")).filter(beyond).map(e => e.tagName);
    const blank = [...page.querySelectorAll("figure svg")].filter(e => e.getBoundingClientRect().height < 40).length;
    seen.push({{
      asked: width, width: root.clientWidth, scroll: root.scrollWidth, height: root.scrollHeight, wide: wide,
      blank: blank, figures: page.querySelectorAll("figure svg").length,
      boxes: page.querySelectorAll("header #verdict").length,
      cut: [...page.querySelectorAll("#verdict, #verdict td, #verdict th")]
        .filter(e => beyond(e) || e.scrollWidth > e.clientWidth + 1).length,
      loaded: frame.contentWindow.performance.getEntriesByType("resource").map(e => e.name)
        .filter(name => !name.startsWith("data:")),
    }});
    if (seen.length == widths.length) document.body.innerHTML = "<pre>" + JSON.stringify(seen) + "</pre>";
  }};
  frame.srcdoc = new TextDecoder().decode(bytes);
  document.body.append(frame);
}}
</script>
"""


FIGURES = {
    "titanic": 18, "slices": 21, "digits": 9, "anes96": 11, "apartments": 6, "randhie": 6, "recalibration": 16,
    "equivocal": 9, "campaign": 15, "desirability": 16, "thresholds": 17, "prevalence": 20,
}
"""The figures of each example's card."""


@pytest.fixture(scope="module", params=FIGURES)
def card(request: pytest.FixtureRequest, example: Callable[[str], Path]) -> Path:
    return example(request.param)


def test_every_example_has_a_card(root: Path) -> None:
    assert {spec.stem for spec in (root / "configs").glob("*.yaml")} == set(FIGURES)


def test_every_example_spec_runs(card: Path) -> None:
    results = Results.read(card / "results.json")
    assert results.name == card.name
    assert [row for row in results.rows if row.status != "ok" and row.slice is None] == []
    assert {file.name for file in card.iterdir()} >= {"estimates.csv", "run.json", "card.html"}


@pytest.fixture(scope="module")
def chromium() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("there is no Chromium here; make test installs it where it may")
    return found


@pytest.fixture(scope="module")
def seen(card: Path, chromium: str, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Any]:
    """Return what the browser says of the page at each width."""
    folder = tmp_path_factory.mktemp("browser")
    encoded = base64.b64encode((card / "card.html").read_bytes()).decode()
    (folder / "probe.html").write_text(PROBE.format(widths=list(WIDTHS), card=encoded))
    quiet = [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update", f"--user-data-dir={folder / 'profile'}",
    ]
    line = [chromium, *quiet, "--virtual-time-budget=5000", "--window-size=1400,1000", "--dump-dom"]
    line.append((folder / "probe.html").as_uri())
    done = subprocess.run(line, capture_output=True, text=True, timeout=90, check=True)
    found = re.search(r"<pre>(\[.*?\])</pre>", done.stdout, re.DOTALL)
    assert found is not None, done.stdout[:500]
    return {page["asked"]: page for page in json.loads(found.group(1))}


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_fits_its_width_and_loads_nothing(card: Path, seen: dict[int, Any], width: int) -> None:
    page = seen[width]
    assert page["scroll"] <= page["width"] <= width
    assert page["wide"] == []
    assert page["figures"] == FIGURES[card.name]
    assert page["blank"] == 0
    assert page["loaded"] == []
    assert (page["boxes"], page["cut"]) == (int((card / "junit.xml").exists()), 0)


PRINTED = {"apartments"}
"""One card is printed on every run, the others at night: a PDF takes ten times as long as its page, whose content,
which differs between cards, the browser sees here of all."""


@pytest.mark.parametrize(
    "name", [name if name in PRINTED else pytest.param(name, marks=pytest.mark.nightly) for name in FIGURES]
)
def test_every_page_of_the_pdf_shows_something(
    name: str, example: Callable[[str], Path], tmp_path: Path
) -> None:
    if shutil.which("pdftoppm") is None:
        pytest.skip("there is no pdftoppm here; make test installs it where it may")
    (tmp_path / "card.pdf").write_bytes(evalpipe.render(example(name), ["pdf"])["card.pdf"])
    subprocess.run(["pdftoppm", "-r", "40", "-png", tmp_path / "card.pdf", tmp_path / "page"], check=True)
    pages = sorted(tmp_path.glob("page*.png"))
    assert len(pages) >= 8
    for page in pages:
        with Image.open(page) as picture:
            grey = picture.convert("L")
            assert picture.width < picture.height  # portrait
            dark = sum(count for value, count in enumerate(grey.histogram()) if value < 192)
            assert dark > 100, page.name
