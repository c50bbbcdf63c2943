"""Every example spec runs; its card in a real browser, at desktop and phone width, and its PDF as pictures."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from PIL import Image

import evalpipe
from evalpipe.results import Results

PROBE = """\
<!doctype html><body style="margin:0"><iframe id="card" style="width:{width}px;height:900px;border:0"></iframe>
<script>
const bytes = Uint8Array.from(atob("{card}"), c => c.charCodeAt(0));
const frame = document.getElementById("card");
frame.onload = () => {{
  const page = frame.contentDocument, root = page.documentElement;
  const wide = [...page.querySelectorAll("p, h1, h2, h3, h4, figure, dd, pre, caption, .warnings")]
    .filter(e => !e.closest(".scroll"))
    .filter(e => e.getBoundingClientRect().right > root.clientWidth + 1).map(e => e.tagName);
  const blank = [...page.querySelectorAll("figure svg")].filter(e => e.getBoundingClientRect().height < 40).length;
  document.body.innerHTML = "<pre>" + JSON.stringify({{
    width: root.clientWidth, scroll: root.scrollWidth, height: root.scrollHeight, wide: wide, blank: blank,
    figures: page.querySelectorAll("figure svg").length,
    boxes: page.querySelectorAll("header #verdict").length,
    cut: [...page.querySelectorAll("#verdict, #verdict td, #verdict th")]
      .filter(e => e.getBoundingClientRect().right > root.clientWidth + 1 || e.scrollWidth > e.clientWidth + 1).length,
    loaded: frame.contentWindow.performance.getEntriesByType("resource").map(e => e.name)
      .filter(name => !name.startsWith("data:")),
  }}) + "</pre>";
}};
frame.srcdoc = new TextDecoder().decode(bytes);
</script>
"""


FIGURES = {
    "titanic": 18, "slices": 21, "digits": 9, "anes96": 11, "apartments": 6, "randhie": 6, "recalibration": 16,
    "equivocal": 9, "campaign": 15, "desirability": 16, "thresholds": 17, "prevalence": 20,
}
"""The figures of each example's card."""


@pytest.fixture(scope="module", params=FIGURES)
def card(request: pytest.FixtureRequest, root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("card") / str(request.param)
    evalpipe.run(root / "configs" / f"{request.param}.yaml", out=folder, overrides=["intervals.replicates=100"])
    return folder


def test_every_example_has_a_card(root: Path) -> None:
    assert {spec.stem for spec in (root / "configs").glob("*.yaml")} == set(FIGURES)


def test_every_example_spec_runs(card: Path) -> None:
    results = Results.read(card / "results.json")
    assert results.name == card.name
    assert [row for row in results.rows if row.status != "ok" and row.slice is None] == []
    assert {file.name for file in card.iterdir()} >= {"estimates.csv", "run.json", "card.html", "card.pdf"}


@pytest.fixture(scope="module")
def chromium() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("there is no Chromium here; make test installs it where it may")
    return found


@pytest.mark.parametrize("width", [375, 1280])
def test_the_page_fits_its_width_and_loads_nothing(card: Path, chromium: str, width: int, tmp_path: Path) -> None:
    encoded = base64.b64encode((card / "card.html").read_bytes()).decode()
    (tmp_path / "probe.html").write_text(PROBE.format(width=width, card=encoded))
    quiet = [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update", f"--user-data-dir={tmp_path / 'profile'}",
    ]
    line = [chromium, *quiet, "--virtual-time-budget=5000", "--window-size=1400,1000", "--dump-dom"]
    line.append((tmp_path / "probe.html").as_uri())
    done = subprocess.run(line, capture_output=True, text=True, timeout=90, check=True)
    found = re.search(r"<pre>(\{.*?\})</pre>", done.stdout, re.DOTALL)
    assert found is not None, done.stdout[:500]
    seen = json.loads(found.group(1))
    assert seen["scroll"] <= seen["width"] <= width
    assert seen["wide"] == []
    assert seen["figures"] == FIGURES[card.name]
    assert seen["blank"] == 0
    assert seen["loaded"] == []
    assert (seen["boxes"], seen["cut"]) == (int((card / "junit.xml").exists()), 0)


def test_every_page_of_the_pdf_shows_something(card: Path, tmp_path: Path) -> None:
    if shutil.which("pdftoppm") is None:
        pytest.skip("there is no pdftoppm here; make test installs it where it may")
    subprocess.run(["pdftoppm", "-r", "40", "-png", str(card / "card.pdf"), str(tmp_path / "page")], check=True)
    pages = sorted(tmp_path.glob("page*.png"))
    assert len(pages) >= 8
    for page in pages:
        with Image.open(page) as picture:
            grey = picture.convert("L")
            assert picture.width < picture.height  # portrait
            dark = sum(count for value, count in enumerate(grey.histogram()) if value < 192)
            assert dark > 100, page.name
