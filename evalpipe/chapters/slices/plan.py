"""The slices of the evaluated rows, what they are compared with, and the search for the worst."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from evalpipe.base.levels import level_text
from evalpipe.chapters.prevalence.plan import SAMPLE
from evalpipe.chapters.slices.spec import DISPARITIES, Cut
from evalpipe.plan.measures import MetricPlan, entries
from evalpipe.plan.table import ColumnPlan, SlicingPlan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.chapters.slices.spec import DatePeriod
    from evalpipe.spec.spec import Spec

@dataclass(frozen=True, slots=True)
class WorstPlan:
    """The search for the slices in which a measure is worst: ``top`` of them, of up to ``depth`` columns combined."""

    entry: MetricPlan
    columns: tuple[ColumnPlan, ...]
    depth: int
    top: int


@dataclass(frozen=True, slots=True)
class DisparityPlan:
    """A disparity between slices, and the measures that it is computed from."""

    name: str
    entries: tuple[MetricPlan, ...]


@dataclass(frozen=True, slots=True)
class SlicesPlan:
    """All ways to slice and what holds for them; ``slicings`` and ``disparities`` are empty where none are asked for.

    A slice of fewer than ``min_rows`` observations has no numbers; a column of more than ``max_levels`` is refused.
    ``reference`` is what a slice is compared with: "overall", "rest", or levels by column.
    ``folds`` is the column that numbers the folds of resampling, if any. ``named`` are the columns of slicings, of the
    search and of folds, with the places in the spec that name them.
    """

    slicings: tuple[SlicingPlan, ...]
    worst: WorstPlan | None
    min_rows: int
    max_levels: int
    reference: Literal["overall", "rest"] | Mapping[str, str]
    disparities: tuple[DisparityPlan, ...]
    folds: ColumnPlan | None
    named: tuple[tuple[Loc, ColumnPlan], ...]

    @property
    def typed(self) -> tuple[str, ...]:
        """The columns whose types matter in separated text: all but those of periods, whose cells are read as dates."""
        return tuple(sliced.column for _, sliced in self.named if sliced.by is None)

    def enough(self, n: int) -> bool:
        """Tell whether a slice of ``n`` observations is large enough to have numbers."""
        return n >= self.min_rows

    def reference_labels(self, columns: tuple[str, ...]) -> dict[str, str] | None:
        """Return the labels of the slice that those by ``columns`` are compared with; None where it is no slice."""
        if isinstance(self.reference, str) or len(columns) != 1 or columns[0] not in self.reference:
            return None
        return {columns[0]: self.reference[columns[0]]}


def slices_plan(spec: Spec, metrics: tuple[MetricPlan, ...]) -> SlicesPlan:
    """Return the plan of the slices of a spec, whose disparities are of its ``metrics`` or of further ones."""
    rules = spec.slice_rules
    reference = rules.reference if isinstance(rules.reference, str) else MappingProxyType(
        {column: level_text(level) for column, level in rules.reference.items()})
    slicings = tuple(
        SlicingPlan(slicing.title, tuple(map(_column_plan, slicing.parts)),
                    None if slicing.expression is None else slicing.expression.where)
        for slicing in spec.slices or ())
    search = spec.worst_slices
    worst = None if search is None else WorstPlan(
        next(entries(spec, search.metric)), tuple(map(_column_plan, search.columns)), search.depth, search.top)
    return SlicesPlan(
        slicings, worst, rules.min_rows, rules.max_levels, reference, tuple(_disparity_plans(spec, metrics)),
        None if spec.folds is None else _column_plan(spec.folds), tuple(slice_columns(spec)),
    )


def slice_columns(spec: Spec) -> Iterator[tuple[Loc, ColumnPlan]]:
    """Yield the columns that slices and folds are by, each with its place in the spec; conditions have none."""
    parts: list[tuple[Loc, str | Cut | DatePeriod]] = []
    for index, slicing in enumerate(spec.slices or ()):
        loc: Loc = ("slices", index)
        is_combined = isinstance(slicing.root, tuple)
        parts += [((*loc, number) if is_combined else loc, part) for number, part in enumerate(slicing.parts)]
    searched_columns = spec.worst_slices.columns if spec.worst_slices is not None else ()
    parts += [(("worst_slices", "columns", index), part) for index, part in enumerate(searched_columns)]
    parts += [] if spec.folds is None else [(("folds",), spec.folds)]
    for loc, part in parts:
        yield loc if isinstance(part, str) else (*loc, "column"), _column_plan(part)


def columns(spec: Spec) -> Iterator[tuple[Loc, str]]:
    """Yield the columns of the data to read, each with its place in the spec."""
    yield from ((loc, sliced.column) for loc, sliced in slice_columns(spec))


def disparity_measures(spec: Spec, metrics: tuple[MetricPlan, ...]) -> tuple[MetricPlan, ...]:
    """Return the measures that disparities need and that the spec does not list among its metrics."""
    from evalpipe.spec.measures import MetricChoice

    disparities = spec.slice_rules.disparities or ()
    needed = dict.fromkeys(name for disparity in disparities for name in DISPARITIES.get(disparity, ()))
    listed_names = {entry.metric.name for entry in metrics if entry.prior == SAMPLE}
    return tuple(entry for name in needed if name not in listed_names for entry in entries(spec, MetricChoice(name)))


def _disparity_plans(spec: Spec, metrics: tuple[MetricPlan, ...]) -> Iterator[DisparityPlan]:
    """Yield each disparity with the measures that it is of; one named as a measure once for each entry of that."""
    measures = spec.measures
    unweighted = [entry for entry in (*metrics, *disparity_measures(spec, metrics)) if entry.prior == SAMPLE]
    for name in spec.slice_rules.disparities or ():
        if name in DISPARITIES:
            yield DisparityPlan(name, tuple(
                next(entry for entry in unweighted if entry.metric.name == needed) for needed in DISPARITIES[name]))
            continue
        metric = measures[name]
        yield from (DisparityPlan(metric.name, (entry,)) for entry in metrics
                    if entry.metric == metric and entry.average != "none")


def _column_plan(part: str | Cut | DatePeriod) -> ColumnPlan:
    if isinstance(part, str):
        return ColumnPlan(part)
    if isinstance(part, Cut):
        return ColumnPlan(part.column, part.cuts)
    return ColumnPlan(part.column, by=part.by)


PLANNED = {"behind": disparity_measures, "slices": slices_plan}
