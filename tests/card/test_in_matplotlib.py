"""Figures of the card in matplotlib: the same points as in the card's own, files for print, and `Results.plot`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from pypdf import PdfReader

from evalpipe.card.figures import in_matplotlib
from evalpipe.card.figures.in_matplotlib import COLUMN, drawings_of, figure_file, panels_of
from evalpipe.cli.app import app
from evalpipe.errors import UsageError
from evalpipe.results import Results

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from matplotlib.axes import Axes

    from evalpipe.card.figures.svg import PanelContent

EXAMPLES = ("titanic", "digits", "apartments", "recalibration", *(
    pytest.param(name, marks=pytest.mark.nightly) for name in ("anes96", "randhie", "thresholds", "slices")))


def lines(content: PanelContent) -> Iterator[tuple[Any, Any]]:
    """Yield the coordinates of the lines that a panel declares, in order; a rule has None for the axis it crosses."""
    for part in content.parts:
        given = part.arguments
        if part.method == "line":
            yield given["x"], given["y"]
        elif part.method == "lines":
            yield from given["lines"]
        elif part.method == "rule":
            yield from ((given.get("x"), None) for _ in [0] if given.get("x") is not None)
            yield from ((None, given.get("y")) for _ in [0] if given.get("y") is not None)


def same(drawn: Axes, content: PanelContent) -> None:
    """Check that the lines, markers and bars of `Axes` are those that the panel declares."""
    declared = list(lines(content))
    assert len(drawn.lines) == len(declared)
    for line, (x, y) in zip(drawn.lines, declared, strict=True):
        if y is None:
            assert set(line.get_xdata()) == {x}
        elif x is None:
            assert set(line.get_ydata()) == {y}
        else:
            np.testing.assert_array_equal(line.get_xdata(), x)
            np.testing.assert_array_equal(line.get_ydata(), y)
    marks = [part.arguments for part in content.parts if part.method in ("marks", "dots")]
    offsets = [np.ma.filled(part.get_offsets(), np.nan) for part in drawn.collections
               if isinstance(part, PathCollection)]
    for part, points in zip(marks, offsets, strict=True):
        expected = np.column_stack([np.asarray(part[axis], float) for axis in ("x", "y")]).reshape(-1, 2)
        np.testing.assert_array_equal(points, np.where(np.isnan(expected).any(axis=1)[:, None], np.nan, expected))
    bars = [next(given[name] for name in ("heights", "lengths", "thickness") if name in given)
            for part in content.parts if part.method in ("bars", "hang", "row_bar")
            for given in [{"thickness": [2 * part.arguments.get("half", 0)], **part.arguments}]]
    heights = [[bar.get_height() for bar in container] for container in drawn.containers]
    # matplotlib takes a height off its upper end.
    assert np.concatenate([[], *heights]) == pytest.approx(np.concatenate([[], *bars]), rel=1e-12)
    assert len(heights) == len(bars)
    ends = content.x.low, content.x.high, content.y.low, content.y.high
    assert (*drawn.get_xlim(), *drawn.get_ylim()) == pytest.approx(ends)


@pytest.mark.parametrize("name", EXAMPLES)
def test_both_draw_the_same_points(name: str, example: Callable[[str], Path]) -> None:
    drawings = drawings_of(Results.read(example(name)))
    assert drawings
    for drawing in drawings.values():
        axes = in_matplotlib._axes_of(drawing, COLUMN)[1]
        for drawn, (content, strips) in zip(axes, panels_of(drawing), strict=True):
            same(drawn, content)
            for inset, strip in zip(drawn.child_axes, strips, strict=True):
                same(inset, strip)


def test_a_plot_goes_on_in_axes_of_ones_own(example: Callable[[str], Path]) -> None:
    results = Results.read(example("titanic"))
    mine = Figure().subplots()
    mine.plot([0, 1], [0.5, 0.5], label="mine")
    drawn = results.plot("roc", models=["random_forest"], ax=mine)

    assert drawn is mine
    assert len(mine.lines) > 2
    assert mine.get_xlabel() == "False positive rate (1 − specificity)"
    assert results.plot("calibration").shape == (2,)
    assert results.plot("calibration", models=["random_forest"]).get_ylabel() == "Observed share of events"


def test_who_works_with_pyplot_has_the_figure_there(example: Callable[[str], Path]) -> None:
    from matplotlib import pyplot as plt

    before = set(plt.get_fignums())
    drawn = Results.read(example("titanic")).plot("lift")
    try:
        assert drawn.figure.number in set(plt.get_fignums()) - before
    finally:
        plt.close(drawn.figure)


def test_what_is_not_there_is_told_with_what_is(example: Callable[[str], Path]) -> None:
    results = Results.read(example("titanic"))
    there = "did you mean 'random_forest'? There are 'logistic_regression' and 'random_forest'"
    two_panels = ("the figure 'calibration' has 2 panels, but ax holds 1\n  = help: give a list of 2 Axes, or choose "
                  "one of the models with models=[…]")
    for arguments, message in (
        ({"name": "rok"}, "no figure 'rok'\n  = help: did you mean 'roc'? There are 'calibration', "),
        ({"name": "roc", "models": ["forest"]}, f"no model 'forest'\n  = help: {there}"),
        ({"name": "roc", "dataset": "test"}, "these results have no dataset 'test'"),
        ({"name": "calibration", "ax": Figure().subplots()}, two_panels),
    ):
        with pytest.raises(UsageError) as raised:
            results.plot(**arguments)
        assert message in str(raised.value)


@pytest.mark.parametrize("form", in_matplotlib.FORMATS)
def test_files_have_the_same_bytes_each_time(form: str, example: Callable[[str], Path]) -> None:
    drawing = drawings_of(Results.read(example("titanic")))["calibration"]
    assert figure_file(drawing, form, 85.0) == figure_file(drawing, form, 85.0)


def test_the_command_writes_files_with_embedded_fonts(tmp_path: Path, root: Path) -> None:
    line = ["figures", str(root / "reports" / "example"), "--only", "roc, lift", "--out", str(tmp_path / "made")]
    done = CliRunner().invoke(app, line)

    assert done.exit_code == 0
    assert done.output.splitlines() == [str(tmp_path / "made" / "roc.pdf"), str(tmp_path / "made" / "lift.pdf")]
    page = PdfReader(tmp_path / "made" / "roc.pdf").pages[0]
    assert float(page.mediabox.width) / 72 * 25.4 == pytest.approx(85, abs=0.1)
    fonts = [font.get_object() for font in page["/Resources"]["/Font"].values()]
    assert fonts
    assert all("/FontFile2" in font["/DescendantFonts"][0].get_object()["/FontDescriptor"] for font in fonts)
    refused = CliRunner().invoke(app, ["figures", str(root / "reports" / "example"), "--out",
                                       str(root / "reports" / "example")])
    assert isinstance(refused.exception, UsageError)
    assert "is the output folder of a run, and nothing was written" in str(refused.exception)
