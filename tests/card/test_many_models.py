"""Of more models than there are colours no two share one by chance: each has a row or a panel with its name."""

from __future__ import annotations

import re
from typing import Any

import pytest

from card import groups
from card.drawn import of_figure
from evalpipe.card.contents import card_of
from evalpipe.card.figures import drawings
from evalpipe.card.figures.svg import more_models_than_inks, series_of
from evalpipe.card.html import html_page
from evalpipe.card.page import ModelBoxes
from evalpipe.card.palette import MODELS
from evalpipe.chapters.compare.card import forests
from evalpipe.chapters.slices.card_figures import slice_forests
from evalpipe.results import Results

MANY = len(MODELS) + 1


@pytest.fixture(scope="module")
def many(build: Any) -> Results:
    grouped: Results = groups.grouped(build(datasets=1, models=MANY), [{"level": f"{i:03}"} for i in range(12)])
    labels = [f"Model {letter}" for letter in "ABCDEFGH"]
    return grouped.model_copy(update={"models": [
        model.model_copy(update={"label": label}) for model, label in zip(grouped.models, labels, strict=True)]})


def test_as_many_models_as_colours_have_one_each_and_more_have_one_look() -> None:
    looks = [{(s.ink, s.marker, s.dash) for s in series_of([(f"{k}", f"{k}") for k in range(count)])}
             for count in (len(MODELS), MANY)]
    assert [len(of_models) for of_models in looks] == [len(MODELS), 1]
    assert [more_models_than_inks(range(count)) for count in (len(MODELS), MANY)] == [False, True]


def test_no_figure_of_many_models_tells_them_apart_by_colour(many: Results) -> None:
    baseline = many.comparisons[0].baseline
    all_drawn = [*drawings(many, "validation"), *slice_forests(many, "validation"), *forests(
        many, baseline, [c for c in many.comparisons if c.dataset == "validation" and c.baseline == baseline], 1)]
    assert len(all_drawn) > 15
    for drawing in all_drawn:
        assert set(re.findall(r'class="\w+ (m\d)"', drawing.svg)) <= {"m0"}, drawing.title


def test_the_estimates_of_many_models_have_a_row_each(many: Results) -> None:
    (drawing,) = of_figure(many, "validation", "forest")
    measures = len(re.findall(r'class="bold ink"', drawing.svg))
    assert measures > 5
    assert len(drawing.svgs) > 1  # as many sheets as fit a page each
    for model in many.models:
        assert len(re.findall(rf'class="text ink"[^>]*>{model.label}<', drawing.svg)) == measures
    heights = [float(y) for svg in drawing.svgs for y in re.findall(r'^<svg [^>]*height="([\d.]+)"', svg)]
    assert max(heights) < 1100


def test_differences_and_groups_of_many_models_have_a_row_or_a_sheet_each(many: Results) -> None:
    baseline = many.comparisons[0].baseline
    of_baseline = [c for c in many.comparisons if c.dataset == "validation" and c.baseline == baseline]
    (compared,) = forests(many, baseline, of_baseline, 1)
    labels = {model.name: model.label for model in many.models}
    for name in {c.model for c in of_baseline}:
        assert f">{labels[name]}<" in compared.svg
    forest = slice_forests(many, "validation")[0]
    titles = [re.findall(r'class="bold ink"[^>]*>(Model [A-H])<', svg) for svg in forest.svgs]
    assert titles == [[model.label] for model in many.models]


def test_the_page_of_many_models_has_no_boxes_that_hide_them_by_colour(many: Results, build: Any) -> None:
    few = build(datasets=1, models=3)
    assert [any(isinstance(block, ModelBoxes) for block in card_of(results).masthead) for results in (few, many)] == [
        True, False]
    page = html_page(many.model_copy(update={"curves": []})).decode()
    assert set(re.findall(r'class="(m\d)"', page)) <= {"m0"}
