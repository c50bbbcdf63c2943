"""The gallery: eight short specs, whose signed cards say what docs/gallery.md says and show what their trades need."""

from __future__ import annotations

import html
import importlib.util
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import evalpipe
from evalpipe.results import Results
from few_by_day import few_by_day

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Shared

ROOT = Path(__file__).resolve().parents[1]
CONFIGS, DATA = ROOT / "configs" / "gallery", ROOT / "configs" / "data"
SPECS = sorted(path.stem for path in CONFIGS.glob("*.yaml"))
SIMULATED = ["cars", "customers", "loans", "payments"]
NEEDS = {
    "credit": ["Costs", "yes: bayes, from the costs", "Disparities", "age = 18 to 29", "Decision curve."],
    "clinic": ["Sensitivity: 0.96 (0.91–0.99)", "Decision curve.", "Marked thresholds on patients", "Calibration."],
    "fraud": ["Precision at 50: 0.52 (0.36–0.66)", "Recall at 50: 0.4", "Predictive values by prevalence."],
    "churn": ["Comparison with Present model", "Lift.", "Cumulative gain.", "Profit."],
    "pricing": ["importance weights", "MAE by slice.", "Observed against predicted.", "Mean error: −7 (−"],
    "survey": ["Weighted kappa: 0.65 (0.59–0.71)", "Ordinal MAE", "Reliability at each cut between levels"],
    "counts": ["Poisson deviance explained: 0.086", "Hanging rootogram.", "Counts are overdispersed"],
    "images": ["Measures of each class", "Sensitivity (mean over classes)", "Confusion matrix", "Top-k accuracy"],
}
"""What each card must show: headings, captions and findings that a reader of the trade looks for."""


def script(path: Path) -> Any:
    """Return a script as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


GALLERY = script(ROOT / "docs" / "gallery.py")


@pytest.fixture(scope="session")
def cards(shared: Shared) -> Path:
    """Return the folder of all cards, made and signed once, with the page that says what they say."""

    def fill(folder: Path) -> None:
        folder.mkdir()
        (folder / "gallery.md").write_text(GALLERY.page(folder), encoding="utf-8")

    return shared("gallery", fill)


@pytest.fixture(scope="session")
def card(shared: Shared) -> Callable[[str], Path]:
    """Return a function that gives the folder of a card, made and signed once."""
    return lambda name: shared(f"gallery-{name}", lambda folder: GALLERY.card_made(name, folder))


some_by_day = pytest.mark.parametrize("name", few_by_day(SPECS, {"counts", "survey"}))


def words(card: Path) -> str:
    """Return the words of a card as its reader sees them, without the spec that it prints."""
    page = card.read_text(encoding="utf-8")
    visible = re.sub(r"<(script|style|pre)\b.*?</\1>", " ", page[page.index("<body"):], flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", visible)).split())


@pytest.mark.nightly  # by day `make docs-check` makes the same page
def test_the_page_says_what_the_cards_say(cards: Path) -> None:
    assert (cards / "gallery.md").read_text(encoding="utf-8") == GALLERY.PAGE.read_text(encoding="utf-8"), (
        "run `make gallery` and commit the result")


@pytest.mark.nightly
def test_the_page_has_verdicts_of_all_kinds(cards: Path) -> None:
    results = [Results.read(cards / name / "results.json") for name in SPECS]
    assert {result.verdict for result in results} == {"pass", "warn", "fail", "inconclusive"}


def test_the_page_has_every_spec_and_decisions_of_all_kinds() -> None:
    assert sorted(GALLERY.GALLERY) == SPECS == sorted(NEEDS)
    assert {entry.decision for entry in GALLERY.GALLERY.values()} == {
        "approved", "approved_with_conditions", "rejected", "reviewed"}


@pytest.mark.parametrize("name", SPECS)
def test_a_spec_is_short_and_says_who_asks_what_for_and_what_is_required(name: str) -> None:
    text = (CONFIGS / f"{name}.yaml").read_text(encoding="utf-8")
    spec = yaml.safe_load(text)

    assert len(text.splitlines()) <= 40
    assert re.match(r"# [A-Z].* asks: .*\?\n# .*: evalpipe run configs/gallery/\w+\.yaml\n", text)
    assert spec["name"] == name
    assert spec["gates"]
    assert {"intended_use", "not_for", "limits", "owner"} <= spec["card"].keys()


@pytest.mark.parametrize("name", SPECS)
def test_what_is_simulated_is_called_so_on_the_card_and_on_the_page(name: str) -> None:
    spec = yaml.safe_load((CONFIGS / f"{name}.yaml").read_text(encoding="utf-8"))
    paths = [Path(dataset["path"]) for dataset in spec["datasets"].values()]
    simulated = any(path.stem in SIMULATED for path in paths)

    assert ("(simulated)" in spec["title"]) == ("simulated" in spec["card"]["limits"][0]) == simulated
    assert ("simulated" in GALLERY.GALLERY[name].data[0]) == simulated


@some_by_day
def test_a_card_shows_what_its_trade_needs(name: str, card: Callable[[str], Path]) -> None:
    shown = words(card(name) / "card.html")
    results = Results.read(card(name) / "results.json")

    assert [need for need in NEEDS[name] if need not in shown] == []
    assert [part for part in GALLERY.answer(results) if part[2:].rstrip(".") not in shown] == []


@some_by_day
def test_a_card_is_signed_and_nothing_was_changed_since(name: str, card: Callable[[str], Path]) -> None:
    entry, shown = GALLERY.GALLERY[name], words(card(name) / "card.html")
    status = {
        "approved": "FINAL until 2027-11-27", "approved_with_conditions": "FINAL with 1 condition until 2027-11-27",
        "rejected": "REJECTED by A. Reader", "reviewed": "IN REVIEW: the validator has reviewed and not approved"}

    assert status[entry.decision] in shown
    assert (entry.condition or "") in shown
    assert evalpipe.verify(card(name)).holds(inputs=True)


def test_the_same_card_is_made_and_signed_again(card: Callable[[str], Path], tmp_path: Path) -> None:
    GALLERY.card_made("counts", tmp_path / "counts")

    for file in ("card.html", "results.json", "signatures.json", "manifest.json"):
        assert (tmp_path / "counts" / file).read_bytes() == (card("counts") / file).read_bytes(), file


def test_the_script_makes_the_committed_bytes_of_the_simulated_tables(tmp_path: Path) -> None:
    script(DATA / "make_gallery.py").main(tmp_path)

    made = {file.stem: file.read_bytes() for file in tmp_path.iterdir()}
    assert sorted(made) == SIMULATED
    assert {name: (DATA / f"{name}.csv").read_bytes() for name in made} == made


def test_the_site_links_the_cards_that_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = script(ROOT / "docs" / "site.py")
    monkeypatch.setattr(site, "SOURCE", tmp_path)
    card, page = tmp_path / "build" / "gallery" / "credit" / "card.html", tmp_path / "docs" / "gallery.md"
    for file, text in ((card, ""), (page, "`build/gallery/credit/card.html` · `build/gallery/fraud/card.html`")):
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
    site.prepared(page)

    assert page.read_text(encoding="utf-8") == (
        "[credit](../build/gallery/credit/card.html) · `build/gallery/fraud/card.html`")
