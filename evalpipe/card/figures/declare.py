"""How a figure of a dataset is declared: a function that draws it, the curve it draws, and where it stands.

A figure says in which ``part`` of the card it stands; what shows a table or another figure in a further form is in the
appendix. Figures stand in the order of ``place``, whatever file they are in; places are tens, so that one can come
between two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
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
    """A declared figure: its part of the card, its place in the order, the names of its ``curves``, and its function.

    The function draws None where the results lack its numbers.
    """

    part: Part
    place: int
    name: str
    curves: tuple[str, ...]
    draw: Draw


_declared: dict[int, FigureDeclaration] = {}


def figure(*, part: Part, place: int, curves: tuple[str, ...] = ()) -> Callable[[OfDataset], OfDataset]:
    """Declare the decorated function as a figure of a dataset, drawn where it returns one."""

    def declare(draw: OfDataset) -> OfDataset:
        _declare(FigureDeclaration(part, place, draw.__name__, curves, lambda context: (draw(context),)))
        return draw

    return declare


def figure_of(
    kind: type[C], *, part: Part, place: int, name: str | None = None, instead: str | None = None,
    only_with: str | None = None,
) -> Callable[[OfCurves[C]], OfCurves[C]]:
    """Declare the decorated function as the figure of a curve, called with (model, curve) of all models that have it.

    ``name`` says which curve of a class of several, and ``instead`` which is drawn where no model has that one. With
    ``only_with`` the figure is drawn only where a model has this other curve of the class.
    """

    def pairs_to_draw(context: Context) -> list[tuple[Series, C]]:
        if only_with is not None and not context.curves(kind, only_with):
            return []
        return context.curves(kind, name) or ([] if instead is None else context.curves(kind, instead))

    def declare(draw: OfCurves[C]) -> OfCurves[C]:
        _declare(FigureDeclaration(part, place, draw.__name__, _names(kind, name, instead), lambda context: (
            draw(context, pairs) for pairs in (pairs_to_draw(context),) if pairs)))
        return draw

    return declare


def figure_of_classes(
    kind: type[C], *, part: Part, place: int, name: str | None = None, instead: str | None = None
) -> Callable[[OfClasses[C]], OfClasses[C]]:
    """Declare the decorated function as the figure of a curve of every class, called for each model that has it.

    ``instead`` is the curve that is drawn where no model has the one called ``name``.
    """

    def models_to_draw(context: Context) -> Iterable[tuple[Series, list[tuple[Series, C]]]]:
        curves_by_model = list(context.class_curves(kind, name))
        return curves_by_model or ([] if instead is None else context.class_curves(kind, instead))

    def declare(draw: OfClasses[C]) -> OfClasses[C]:
        _declare(FigureDeclaration(part, place, draw.__name__, _names(kind, name, instead), lambda context: (
            draw(context, model, pairs) for model, pairs in models_to_draw(context))))
        return draw

    return declare


def _names(kind: type[Curve], name: str | None, instead: str | None) -> tuple[str, ...]:
    """Return the names of the curves that a figure draws: all of the class where it names none."""
    return kind.names() if name is None else (name,) if instead is None else (name, instead)


def _declare(declared: FigureDeclaration) -> None:
    """Keep a declared figure by its place; raises ValueError where another figure has the place."""
    if declared.place in _declared:
        other = _declared[declared.place].name
        raise ValueError(f"the place {declared.place} of figure {declared.name!r} is that of {other!r}")
    _declared[declared.place] = declared


def figures() -> tuple[FigureDeclaration, ...]:
    """Import all files of this folder, which declare figures, and return every figure in order of place."""
    # A figure is declared when its file is imported, so a new file needs no entry in a list.
    package = __name__.rpartition(".")[0]
    for module in iter_modules(import_module(package).__path__):
        import_module(f"{package}.{module.name}")
    return tuple(_declared[place] for place in sorted(_declared))


def has_curves(results: Results, dataset: str, part: Part) -> bool:
    """Tell whether a dataset has a curve that a figure in this part of the card draws."""
    names = {name for declared in figures() if declared.part == part for name in declared.curves}
    return any(curve.dataset == dataset and curve.slice is None and curve.curve in names for curve in results.curves)
