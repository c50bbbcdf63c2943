from __future__ import annotations

from typing import get_args

from evalpipe.card.contents import TITLES
from evalpipe.card.figures.context import figures, has_curves
from evalpipe.card.page import Part
from evalpipe.results import Results
from evalpipe.results.curves import CURVES as RECORDS


def test_every_figure_stands_in_a_part_in_the_order_of_its_place() -> None:
    assert {figure.part for figure in figures()} == {"results", "calibration", "decisions", "data", "appendix"}
    assert [figure.place for figure in figures()] == sorted({figure.place for figure in figures()})


def test_the_parts_have_titles_in_their_order() -> None:
    assert list(TITLES) == list(get_args(Part))


def test_the_curves_of_figures_are_curves() -> None:
    assert {name for figure in figures() for name in figure.curves} <= set(RECORDS)


def test_a_dataset_has_a_part_where_it_has_one_of_its_curves(results: Results) -> None:
    only = results.model_copy(update={"curves": [c for c in results.curves if c.curve == "calibration_window"]})
    parts: tuple[Part, ...] = ("results", "calibration", "decisions", "appendix")
    assert [has_curves(only, "validation", part) for part in parts] == [False, False, False, True]
    assert not has_curves(only, "no dataset", "appendix")
