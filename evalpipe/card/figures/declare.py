"""How a figure of a dataset is declared: a function that draws it, the curve it draws, and where it stands.

Figures stand in the order of ``place``, whatever file they are in; places are tens, so that one can come between two.
In which part of the card each place is, stands below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.card.figures.context import Context
    from evalpipe.card.figures.svg import Drawing, Series
    from evalpipe.card.page import Part
    from evalpipe.results import Results
    from evalpipe.results.curves import Curve


if TYPE_CHECKING:
    C = TypeVar("C", bound=Curve)
    Draw = Callable[[Context], Iterable[Drawing | None]]
    OfDataset = TypeVar("OfDataset", bound=Callable[[Context], Drawing | None])
    OfCurves = Callable[[Context, list[tuple[Series, C]]], Drawing | None]
    OfClasses = Callable[[Context, Series, list[tuple[Series, C]]], Drawing]


@dataclass(frozen=True)
class FigureDeclaration:
    """A declared figure: where it stands, and what draws it, None where the results lack its numbers."""

    place: int
    name: str
    draw: Draw


_declared: dict[int, FigureDeclaration] = {}


def figure(*, place: int) -> Callable[[OfDataset], OfDataset]:
    """Declare the decorated function as a figure of a dataset, drawn where it returns one."""

    def declare(draw: OfDataset) -> OfDataset:
        _declare(place, draw.__name__, lambda context: (draw(context),))
        return draw

    return declare


def figure_of(
    kind: type[C], *, place: int, name: str | None = None, instead: str | None = None, beside: str | None = None
) -> Callable[[OfCurves[C]], OfCurves[C]]:
    """Declare the decorated function as the figure of a curve, called where a model has it, with all that have.

    ``name`` says which curve, of a record of several, and ``instead`` which is drawn where no model has that. A curve
    that is drawn ``beside`` another is not drawn where no model has the other.
    """

    def drawn(context: Context) -> list[tuple[Series, C]]:
        if beside is not None and not context.curves(kind, beside):
            return []
        return context.curves(kind, name) or ([] if instead is None else context.curves(kind, instead))

    def declare(draw: OfCurves[C]) -> OfCurves[C]:
        _declare(place, draw.__name__, lambda context: (draw(context, pairs) for pairs in (drawn(context),) if pairs))
        return draw

    return declare


def figure_of_classes(
    kind: type[C], *, place: int, name: str | None = None, instead: str | None = None
) -> Callable[[OfClasses[C]], OfClasses[C]]:
    """Declare the decorated function as the figure of a curve of each class, called for each model that has it.

    ``instead`` is the curve that is drawn where no model has the one called ``name``.
    """

    def drawn(context: Context) -> Iterable[tuple[Series, list[tuple[Series, C]]]]:
        named = list(context.class_curves(kind, name))
        return named or ([] if instead is None else context.class_curves(kind, instead))

    def declare(draw: OfClasses[C]) -> OfClasses[C]:
        _declare(place, draw.__name__, lambda context: (
            draw(context, model, pairs) for model, pairs in drawn(context)))
        return draw

    return declare


def _declare(place: int, name: str, draw: Draw) -> None:
    if place in _declared:
        raise ValueError(f"the place {place} of figure {name!r} is that of {_declared[place].name!r}")
    _declared[place] = FigureDeclaration(place, name, draw)


def figures() -> tuple[FigureDeclaration, ...]:
    """Return every declared figure in order; what is in any file of this folder is declared."""
    # A figure is declared when its file is imported, so a new file needs no entry in a list.
    package = __name__.rpartition(".")[0]
    for module in iter_modules(import_module(package).__path__):
        import_module(f"{package}.{module.name}")
    return tuple(_declared[place] for place in sorted(_declared))


PLACES: Mapping[Part, frozenset[int]] = {
    "results": frozenset({20, 30, 200}),
    "calibration": frozenset({80, 100, 110, 130, 154, 156, 160, 180, 182, 190, 192, 194, 196, 198, 203, 206, 230}),
    "decisions": frozenset({40, 70}),
    "data": frozenset({170}),
    "appendix": frozenset({10, 45, 50, 60, 90, 120, 140, 150, 152, 210, 220}),
}
"""The places of the figures of each part; what shows a table or another figure in a further form is in the appendix."""

CURVES: Mapping[Part, frozenset[str]] = {
    "results": frozenset({"roc", "pr", "residual_histogram"}),
    "calibration": frozenset({
        "calibration_uniform", "calibration_window", "calibration_logistic", "calibration_spline",
        "calibration_isotonic", "cumulative_calibration_uniform", "histogram", "top_label_calibration_uniform",
        "observed_predicted", "residual_predicted", "rootogram", "deviance_residual_predicted",
        "pearson_residual_predicted", "scale_location", "half_normal",
        "residual_against", "residual_order",
    }),
    "decisions": frozenset({"thresholds", "net_benefit"}),
    "appendix": frozenset({
        "gain", "lift", "calibration_quantile", "refinement", "ks", "gain_table", "residual_ecdf", "residual_box",
        "residual_quantiles",
    }),
}
"""The curves that the figures of a part draw: there is such a figure where the results hold one of them."""


def has_curves(results: Results, dataset: str, part: Part) -> bool:
    """Tell whether a dataset has a curve that figures of a part draw."""
    return any(curve.dataset == dataset and curve.slice is None and curve.curve in CURVES[part]
               for curve in results.curves)
