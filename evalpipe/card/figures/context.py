"""What figures know of a dataset: its curves, its models' operating points, and estimates as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from evalpipe.card import wording
from evalpipe.card.figures.svg import Clauses, Series, series_of
from evalpipe.card.tables import curves_of, overall, shown
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.records import OfModel
    from evalpipe.card.figures.svg import Drawing
    from evalpipe.card.page import Number, Part
    from evalpipe.results import Confusion, DatasetSummary, Results, Threshold
    from evalpipe.results.curves import Column, Curve


C = TypeVar("C", bound="Curve")
T = TypeVar("T")
R = TypeVar("R", bound="OfModel")


class FigureFinding(NamedTuple):
    """What a figure says of one model: in a few words, and at length in the notes and in the alternative text.

    ``again`` is what it says in short of every model after the first, where that needs fewer words.
    """

    short: str
    long: str
    again: str | None = None


@dataclass(frozen=True, slots=True)
class Operating:
    """A model's operating point: the rates of its predicted levels, None where a rate has no rows."""

    cut: str
    mark: str | None
    """What a mark in a figure is labelled: the threshold; None where the classes are given."""
    sensitivity: float | None
    false_positive_rate: float | None
    precision: float | None
    tested: float | None
    lift: float | None
    caught: tuple[float, float]
    """Events predicted as events, and all events."""
    alarmed: tuple[float, float]
    """Non-events predicted as events, and all non-events."""


@dataclass(frozen=True, slots=True)
class Context:
    """One dataset of the results, with the models as they are drawn."""

    results: Results
    dataset: DatasetSummary
    place: int
    """The dataset's place among all, from 1; keeps the ids of figures apart."""

    @property
    def series(self) -> tuple[Series, ...]:
        """Every model of the run, drawn the same way on every dataset."""
        return series_of([(model.name, model.label) for model in self.results.models])

    def curves(self, kind: type[C], name: str | None = None) -> list[tuple[Series, C]]:
        """Return (model, curve) of the models with a curve of this class; ``name`` selects one of several."""
        curves = {c.model: c for c in self._curves_of_dataset(kind, name)
                  if c.variant == "original" and c.class_ is None}
        return [(series, curves[series.name]) for series in self.series if series.name in curves]

    def variants(self, model: str, kind: type[C], name: str | None = None) -> dict[str, C]:
        """Return a model's curves of this class by variant: of its original and its recalibrated predictions."""
        return {c.variant: c for c in self._curves_of_dataset(kind, name) if c.model == model and c.class_ is None}

    def class_curves(self, kind: type[C], name: str | None = None) -> Iterator[tuple[Series, list[tuple[Series, C]]]]:
        """Yield each model that has a curve for classes, with (level, curve) of each of these classes."""
        levels = series_of([(level, level) for level in self.results.levels])
        for model in self.series:
            of_model = [c for c in self._curves_of_dataset(kind, name)
                        if c.model == model.name and c.variant == "original"]
            curves = {c.class_: c for c in of_model}
            pairs = [(level, curves[level.name]) for level in levels if level.name in curves]
            if pairs:
                yield model, pairs

    @property
    def level(self) -> str:
        """The confidence level of the run, in per cent."""
        return wording.level(self.results.intervals.level)

    def alt_text(self, title: str, pairs: Iterable[tuple[Series, T]], say: Callable[[T], str], more: str = "") -> str:
        """Return the alternative text of a figure: its title, ``more``, and what ``say`` returns for each curve."""
        sentences = "".join(f" {series.label}: {say(curve)}." for series, curve in pairs)
        return f"{title} on {self.dataset.name}{more}.{sentences}"

    def finding_and_alt(
        self, title: str, pairs: Iterable[tuple[Series, T]], say: Callable[[T], FigureFinding], more: str = "",
    ) -> tuple[Clauses, str]:
        """Return the finding of a figure and its alternative text, of what ``say`` returns for each model's curve.

        The alternative text begins with the title and ``more``.
        """
        short, long = list[str](), list[str]()
        for series, curve in pairs:
            words = say(curve)
            short.append(f"{series.label}: {words.again if short and words.again is not None else words.short}")
            long.append(f"{series.label}: {words.long}")
        alt = f"{title} on {self.dataset.name}{more}.{''.join(f' {text}.' for text in long)}"
        return Clauses(tuple(short), at_length=tuple(long)), alt

    def finding_text(
        self, pairs: Iterable[tuple[Series, T]], say: Callable[[T], str], *, again: Callable[[T], str] | None = None,
        at_length: Callable[[T], str] | None = None,
    ) -> Clauses:
        """Return the finding of a figure of several models: a short and a long clause for each of them.

        Functions from a curve to words: ``say`` gives the short clause, ``again``, if given, that of all models
        but the first, in fewer words, and ``at_length`` the long clause, for the notes.
        """
        short, long = list[str](), list[str]()
        for series, curve in pairs:
            short.append(f"{series.label}: {(say if again is None or not short else again)(curve)}")
            long.append(f"{series.label}: {(at_length or say)(curve)}")
        return Clauses(tuple(short), at_length=tuple(long))

    def _curves_of_dataset(self, kind: type[C], name: str | None) -> Iterator[C]:
        """Yield the dataset's curves of this class; with a ``name``, those of that name alone."""
        return curves_of(self.results, self.dataset.name, kind, name)

    def estimate(self, model: str, metric: str, level: str | None = None) -> str | None:
        """Return a model's estimate of a metric as text, of the class ``level`` if any; None where the run has none."""
        number = self._estimate_number(model, metric, level)
        return None if number is None else number.text

    def value(self, model: str, metric: str) -> str | None:
        """Return a model's estimate of a metric as text, without its interval; None where the run has none."""
        number = self._estimate_number(model, metric, None)
        return None if number is None else number.value

    def _estimate_number(self, model: str, metric: str, level: str | None) -> Number | None:
        """Return a model's estimate of a metric, for the class ``level`` if any, as a `Number`; None without."""
        metrics = {m.name: m for m in self.results.metrics}
        for e in overall(self.results, self.dataset.name):
            if (e.model, e.metric, e.class_) == (model, metric, level) and "prevalence" not in e.params:
                return shown(e, whole=metrics[metric].is_whole)
        return None

    def threshold(self, model: str) -> Threshold | None:
        """Return the threshold of a model on the dataset; None where it has none."""
        of_dataset = (row for row in self.results.thresholds if row.dataset == self.dataset.name)
        return next((row for row in of_dataset if (row.model, row.variant) == (model, "original")), None)

    def operating(self, model: str) -> Operating | None:
        """Return a model's operating point, from its confusion matrix; None where there is no event or no matrix."""
        if self.results.event is None:
            return None
        key = (self.dataset.name, model, None, "original")
        return next((_operating_point(matrix, self.results.event) for matrix in self.results.confusion
                     if (matrix.dataset, matrix.model, matrix.slice, matrix.variant) == key), None)


def context_of(results: Results, dataset: str) -> Context:
    """Return the context in which the figures of a dataset are drawn."""
    index = next(i for i, summary in enumerate(results.datasets) if summary.name == dataset)
    return Context(results, results.datasets[index], index + 1)


def _operating_point(matrix: Confusion, event: str) -> Operating:
    """Return the operating point of a confusion matrix of two levels: its threshold in words, and its rates."""
    event_index = matrix.levels.index(event)  # of two, so that the other one is 1 - i
    tp, fn = matrix.counts[event_index][event_index], matrix.counts[event_index][1 - event_index]
    fp, tn = matrix.counts[1 - event_index][event_index], matrix.counts[1 - event_index][1 - event_index]
    cut, mark = "the predicted levels", None
    if matrix.threshold is not None:
        mark = numbers.given(matrix.threshold)
        cut = f"threshold {mark}"
    elif matrix.cuts:
        low, high = map(numbers.given, (matrix.cuts[0], matrix.cuts[-1]))
        mark = numbers.ranged(low, high) if low != high else low
        cut = f"cross-fitted thresholds {mark}"
    cut += "" if matrix.zone is None else " among the reportable rows"
    return Operating(
        cut=cut, mark=mark, sensitivity=_share(tp, tp + fn), false_positive_rate=_share(fp, fp + tn),
        precision=_share(tp, tp + fp), tested=_share(tp + fp, tp + fn + fp + tn),
        lift=_share(tp * (tp + fn + fp + tn), (tp + fp) * (tp + fn)), caught=(tp, tp + fn),
        alarmed=(fp, fp + tn),
    )


def _share(part: float, total: float) -> float | None:
    return part / total if total else None


def column(values: Column) -> list[float]:
    """Return a column of a curve's points as floats, with NaN in place of None."""
    return [or_nan(value) for value in values]


class PathPoints(Protocol):
    """Points of a curve that lie on a path."""

    @property
    def path(self) -> tuple[Column, Column]:
        """The x and the y coordinates of the points."""


def path_of(points: PathPoints) -> tuple[list[float], list[float]]:
    """Return the x and y coordinates of a curve's points as floats, with NaN in place of None."""
    x, y = points.path
    return column(x), column(y)


def with_series(series: Iterable[Series], rows: Iterable[R]) -> list[tuple[Series, R]]:
    """Return (series, row) of each model that has a row; of several rows of a model, the last."""
    by_model = {row.model: row for row in rows}
    return [(drawn, by_model[drawn.name]) for drawn in series if drawn.name in by_model]


def known(values: Column) -> list[float]:
    """Return the values of a column of a curve's points without None."""
    return [value for value in values if value is not None]


def or_nan(value: float | None) -> float:
    """Return a number as it is, and NaN for None."""
    return float("nan") if value is None else value


if TYPE_CHECKING:
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
    """Return a decorator that registers a figure: a function of a `Context` that returns a drawing or None.

    ``part`` is the part of the card, ``place`` the rank among all figures, ``curves`` the names of the curves it
    draws.
    """

    def declare(draw: OfDataset) -> OfDataset:
        _register(FigureDeclaration(part, place, draw.__name__, curves, lambda context: (draw(context),)))
        return draw

    return declare


def figure_of(
    kind: type[C], *, part: Part, place: int, name: str | None = None, instead: str | None = None,
    only_with: str | None = None,
) -> Callable[[OfCurves[C]], OfCurves[C]]:
    """Return a decorator that registers the figure of a curve: a function of a `Context` and (model, curve) pairs.

    It is called where any model has the curve. ``name`` says which curve of a class of several, and ``instead``
    which is drawn where no model has that one. With ``only_with`` the figure is drawn only where a model has this
    other curve of the class.
    """

    def pairs_to_draw(context: Context) -> list[tuple[Series, C]]:
        if only_with is not None and not context.curves(kind, only_with):
            return []
        return context.curves(kind, name) or ([] if instead is None else context.curves(kind, instead))

    def declare(draw: OfCurves[C]) -> OfCurves[C]:
        _register(FigureDeclaration(part, place, draw.__name__, _curve_names(kind, name, instead), lambda context: (
            draw(context, pairs) for pairs in (pairs_to_draw(context),) if pairs)))
        return draw

    return declare


def figure_of_classes(
    kind: type[C], *, part: Part, place: int, name: str | None = None, instead: str | None = None
) -> Callable[[OfClasses[C]], OfClasses[C]]:
    """Return a decorator that registers the figure of a curve of every class, drawn for each model that has it.

    The decorated function is called with a `Context`, a model, and its (level, curve) pairs. ``instead`` is the
    curve that is drawn where no model has the one called ``name``.
    """

    def models_to_draw(context: Context) -> Iterable[tuple[Series, list[tuple[Series, C]]]]:
        curves_by_model = list(context.class_curves(kind, name))
        return curves_by_model or ([] if instead is None else context.class_curves(kind, instead))

    def declare(draw: OfClasses[C]) -> OfClasses[C]:
        _register(FigureDeclaration(part, place, draw.__name__, _curve_names(kind, name, instead), lambda context: (
            draw(context, model, pairs) for model, pairs in models_to_draw(context))))
        return draw

    return declare


def _curve_names(kind: type[Curve], name: str | None, instead: str | None) -> tuple[str, ...]:
    """Return the names of the curves that a figure may draw: ``name`` and ``instead``, or all of the class."""
    return kind.names() if name is None else (name,) if instead is None else (name, instead)


def _register(declared: FigureDeclaration) -> None:
    """Add a figure to the registry; raises ValueError where another figure has its place."""
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
