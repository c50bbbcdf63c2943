"""Repeated fits on the card, and what is found of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.special import expit

import evalpipe
from card.blocks import heads, lines, paragraphs, tables
from evalpipe.card.contents import card_of
from evalpipe.card.figures.svg import SWATCH
from evalpipe.card.page import Figures
from evalpipe.chapters.repeats.card import facts, procedures, reading, sections
from evalpipe.results import Results
from evalpipe.words import numbers

FITS = 6
ROWS = 300


def written(folder: Path, spread: float = 0.3, **keys: Any) -> Results:
    """Run fits whose log odds are ``spread`` too far from zero or too near, beside a model that is as the truth."""
    generator = np.random.default_rng(3)
    signal = generator.normal(-0.3, 1.5, ROWS)
    pl.DataFrame({"id": np.arange(ROWS), "y": (generator.random(ROWS) < expit(signal)).astype(int),
                  "q": expit(signal)}).write_parquet(folder / "rows.parquet")
    for k in range(FITS):
        chances = expit(signal * np.exp(generator.normal(0, spread)))
        pl.DataFrame({"id": np.arange(ROWS), "p": chances}).write_parquet(folder / f"fit-{k}.parquet")
    return evalpipe.run({
        "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1}, "id": "id",
        "datasets": {"d": {"path": str(folder / "rows.parquet")}},
        "models": {"m": {"label": "Forest", "predictions": str(folder / "fit-*.parquet"), "probability": "p"},
                   "q": {"label": "Tree", "probability": "q"}},
        "metrics": ["brier", "accuracy", "ece"], "compare": {"baseline": "q"}, "report": {"formats": []},
        "intervals": {"replicates": 200, "bands": False},
    } | keys)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return written(tmp_path_factory.mktemp("fits"))


def test_the_section_has_a_row_for_each_measure(found: Results) -> None:
    (section,) = sections(found)
    (table,) = tables([section])
    assert (section.title, section.part) == ("Repeated fits", "comparison")
    assert table.caption == "Fits of Forest on d, with 95% intervals"
    assert heads(table) == ["Measure", "Mean", "Interval of the mean", "Interval for a new fit", "SD of fits",
                            "SD between fits", "SE within", "Lowest fit", "Highest fit"]
    brier, accuracy, ece = lines(table)
    row = found.repeats[0]
    assert brier[0] == "Brier score"
    assert brier[1] == f"{row.mean:.2f}"
    assert brier[3] == f"{row.new_lower:.2f}–{row.new_upper:.2f}"
    assert brier[4:7] == ["0.0016", "0", "0.013"]
    lowest = min(range(FITS), key=lambda k: row.values[k] or 0)
    assert brier[7] == f"{row.lowest:.4f} fit-{lowest}"
    assert accuracy[5] == "0"  # a factor of the log odds changes no class
    assert ece[2:4] == ece[5:7] == ["–", "–"]
    assert paragraphs([section])[1:4] == [
        "Forest on d", "6 fits, in fit-0.parquet to fit-5.parquet.",
        f"Expected calibration error: {found.repeats[2].reason}."]


def test_the_card_says_which_fit_it_shows(found: Results) -> None:
    assert list(reading(found, "d")) == [
        "Of Forest there are 6 fits; these measures are of fit-0.parquet, the first by name."]
    assert list(facts(found, found.models[0])) == [
        ("Fits", "6, of which this card shows fit-0.parquet, the first by name; all are under Repeated fits")]
    assert list(facts(found, found.models[1])) == []
    assert [procedure.name for procedure in procedures(found)] == ["Repeated fits"]
    assert "repeats" in {section.anchor for section in card_of(found).sections}


def test_the_figure_has_a_strip_for_each_measure_and_says_what_it_shows(found: Results) -> None:
    (section,) = sections(found)
    drawing, roc = next(block for block in section.blocks if isinstance(block, Figures)).draw()
    row = found.repeats[0]
    said = (f"Brier score from {row.lowest:.4f} to {row.highest:.4f} over 6 fits, SD {row.sd:.4f}; interval for a new "
            f"fit {row.new_lower:.2f}–{row.new_upper:.2f}")
    assert drawing.finding == f"{said}."
    assert drawing.alt.startswith(f"Fits of Forest on d. {said}. Accuracy from ")
    assert "Expected calibration error from" in drawing.alt
    assert all(drawing.svg.count(f">{name}<") == 1 for name in ("Fit of this card", "Mean", "Interval for a new fit"))
    assert all(roc.svg.count(f">{name}<") == 1 for name in ("The fit of this card", "Other fits"))
    assert f"h{SWATCH}" not in drawing.svg + roc.svg  # no key
    values = {series.name: series.columns for series in drawing.points}
    assert [values[f"Brier score, fit-{k}"]["value"] for k in range(FITS)] == [[value] for value in row.values]
    assert values["Brier score, all fits"]["new upper"] == [row.new_upper]
    assert len(values) == 3 * (FITS + 1)
    assert [series.name for series in roc.points] == [f"fit-{k}" for k in range(FITS)]
    heights = [curve[10] for curve in found.repeated[0].sensitivity]
    assert roc.alt == f"ROC curves of 6 fits of Forest on d. {roc.finding}"
    assert roc.finding == (f"At a false positive rate of 0.2 the sensitivity of the fits is from "
                           f"{numbers.number(min(heights))} to {numbers.number(max(heights))}.")


def test_without_intervals_the_columns_of_intervals_are_left_out(tmp_path: Path) -> None:
    found = written(tmp_path, intervals={"method": "none", "bands": False})
    (section,) = sections(found)
    (table,) = tables([section])
    assert heads(table) == ["Measure", "Mean", "SD of fits", "Lowest fit", "Highest fit"]
    assert "Brier score, Accuracy and Expected calibration error: the spec asks for none." in paragraphs([section])
    assert list(procedures(found)) == []


def test_a_single_fit_has_no_section(tmp_path: Path) -> None:
    written(tmp_path)
    models = {"m": {"predictions": str(tmp_path / "fit-0.parquet"), "probability": "p"}, "q": {"probability": "q"}}
    found = written(tmp_path, models=models)
    assert list(sections(found)) == list(reading(found, "d")) == list(facts(found, found.models[0])) == []


def findings(results: Results) -> dict[str, str]:
    return {finding.kind: finding.text for finding in results.findings if finding.section == "repeats"}


def test_fits_that_differ_as_much_as_samples_of_rows_do_are_found(tmp_path: Path) -> None:
    found = written(tmp_path, spread=2.5)
    row = found.repeats[0]
    assert (row.between or 0) > (row.within or 0)
    assert findings(found)["note"] == (
        f"Fits of Forest differ as much as samples of rows do: Brier score SD {row.between:.3f} between fits, SE "
        f"{row.within:.3f} within. One fit does not stand for all.")


def test_a_difference_that_another_fit_may_reverse_is_found(found: Results) -> None:
    row, difference = found.repeats[0], next(c for c in found.comparisons if c.metric == "brier")
    assert abs(difference.difference or 0) < (row.sd or 0)
    assert "note" not in findings(found)
    size = f"{difference.difference:+.4f}".replace("-", "−")
    assert findings(found)["undecided"].startswith(
        "Another fit could reverse the order of Forest and Tree, which differ less than the fits of Forest do: Brier "
        f"score {size} against an SD of {row.sd:.4f}")


def test_equal_fits_are_no_finding(tmp_path: Path) -> None:
    assert findings(written(tmp_path, spread=0.0)) == {}
