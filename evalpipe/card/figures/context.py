"""What figures know of a dataset: its curves, its models' operating points, and estimates as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from evalpipe.card import wording
from evalpipe.card.figures.svg import Series, series_of
from evalpipe.card.tables import curves_of, overall, shown
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evalpipe.base.records import OfModel
    from evalpipe.card.page import Number
    from evalpipe.results import Confusion, DatasetSummary, Results, Threshold
    from evalpipe.results.curves import Column, Curve

C = TypeVar("C", bound="Curve")
T = TypeVar("T")
R = TypeVar("R", bound="OfModel")


@dataclass(frozen=True, slots=True)
class Operating:
    """Where a model's predicted levels lie on its curves; None where a share has no rows."""

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
        """Return the models that have a curve of this kind, with it; by ``name`` where the kind has several."""
        curves = {c.model: c for c in self._curves_of_dataset(kind, name)
                  if c.variant == "original" and c.class_ is None}
        return [(series, curves[series.name]) for series in self.series if series.name in curves]

    def variants(self, model: str, kind: type[C], name: str | None = None) -> dict[str, C]:
        """Return this curve of a model's original and of its recalibrated variants, by variant."""
        return {c.variant: c for c in self._curves_of_dataset(kind, name) if c.model == model and c.class_ is None}

    def class_curves(self, kind: type[C], name: str | None = None) -> Iterator[tuple[Series, list[tuple[Series, C]]]]:
        """Yield the models that have this curve of classes, with each class that has it, drawn the same throughout."""
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
        """Write the alternative text of a figure: its title, ``more`` on it, and what to ``say`` of each curve."""
        sentences = "".join(f" {series.label}: {say(curve)}." for series, curve in pairs)
        return f"{title} on {self.dataset.name}{more}.{sentences}"

    def finding_text(self, pairs: Iterable[tuple[Series, T]], say: Callable[[T], str]) -> str:
        """Write what a figure says: of each model what there is to ``say`` of its curve, of many the first."""
        return listed([f"{series.label}: {say(curve)}" for series, curve in pairs])

    def _curves_of_dataset(self, kind: type[C], name: str | None) -> Iterator[C]:
        return curves_of(self.results, self.dataset.name, kind, name)

    def estimate(self, model: str, metric: str, level: str | None = None) -> str | None:
        """Write a model's estimate of a metric, of one class where ``level`` is given, if the run has it."""
        number = self._estimate_number(model, metric, level)
        return None if number is None else number.text

    def value(self, model: str, metric: str) -> str | None:
        """Write a model's estimate of a metric without its interval, if the run has it."""
        number = self._estimate_number(model, metric, None)
        return None if number is None else number.value

    def _estimate_number(self, model: str, metric: str, level: str | None) -> Number | None:
        metrics = {m.name: m for m in self.results.metrics}
        for e in overall(self.results, self.dataset.name):
            if (e.model, e.metric, e.class_) == (model, metric, level) and "prevalence" not in e.params:
                return shown(e, whole=metrics[metric].is_whole)
        return None

    def threshold(self, model: str) -> Threshold | None:
        """Return the threshold of a model on the dataset; None where it has none."""
        known = (row for row in self.results.thresholds if row.dataset == self.dataset.name)
        return next((row for row in known if (row.model, row.variant) == (model, "original")), None)

    def operating(self, model: str) -> Operating | None:
        """Read a model's operating point off its confusion matrix; None where there is no event."""
        if self.results.event is None:
            return None
        about = (self.dataset.name, model, None, "original")
        return next((_operating_point(matrix, self.results.event) for matrix in self.results.confusion
                     if (matrix.dataset, matrix.model, matrix.slice, matrix.variant) == about), None)


def context_of(results: Results, dataset: str) -> Context:
    """Return what figures know of a dataset of the results."""
    place = next(i for i, summary in enumerate(results.datasets) if summary.name == dataset)
    return Context(results, results.datasets[place], place + 1)


def _operating_point(matrix: Confusion, event: str) -> Operating:
    """Return the threshold of a matrix, and where it lies on the curves of the model."""
    i = matrix.levels.index(event)  # of two, so that the other one is 1 - i
    tp, fn = matrix.counts[i][i], matrix.counts[i][1 - i]
    fp, tn = matrix.counts[1 - i][i], matrix.counts[1 - i][1 - i]
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


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


MOST_SAID = 3
"""Models that a finding of a figure names."""


def listed(values: Sequence[str]) -> str:
    """Join what a figure says of each model to a sentence; of many, the first."""
    rest = len(values) - MOST_SAID
    more = f"; {rest} more in its data" if rest > 0 else ""
    return f"{'; '.join(values[:MOST_SAID])}{more}." if values else ""


def column(values: Column) -> list[float]:
    """Return a coordinate of a curve for drawing, with NaN where there is no value."""
    return [or_nan(value) for value in values]


class PathPoints(Protocol):
    """Points of a curve that lie on a path."""

    @property
    def path(self) -> tuple[Column, Column]:
        """The coordinates, across and up."""


def path_of(points: PathPoints) -> tuple[list[float], list[float]]:
    """Return the coordinates of a curve for drawing, across and up."""
    x, y = points.path
    return column(x), column(y)


def with_series(series: Iterable[Series], rows: Iterable[R]) -> list[tuple[Series, R]]:
    """Return the models that have a row, as they are drawn, each with its row; of several rows, the last."""
    by_model = {row.model: row for row in rows}
    return [(drawn, by_model[drawn.name]) for drawn in series if drawn.name in by_model]


def known(values: Column) -> list[float]:
    """Return the values of a coordinate that exist."""
    return [value for value in values if value is not None]


def or_nan(value: float | None) -> float:
    """Return a number that the results give about a curve; NaN where they give none."""
    return float("nan") if value is None else value
