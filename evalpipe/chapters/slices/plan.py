"""The slices of the evaluated rows, what they are compared with, and the search for the worst: rules and plan."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from evalpipe.base.levels import level_text
from evalpipe.chapters.prevalence.plan import SAMPLE
from evalpipe.chapters.slices.spec import DISPARITIES, Cut, DatePeriod, part_column
from evalpipe.metrics.declare import Advice
from evalpipe.plan.measures import MetricPlan, entries
from evalpipe.plan.sources import ColumnPlan, SlicingPlan
from evalpipe.spec.draft import refer, with_article
from evalpipe.spec.measures import MetricChoice
from evalpipe.spec.rules_measures import check_measure, check_single_value
from evalpipe.words.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.spec import Spec


Parts = dict["Loc", "str | Cut | DatePeriod"]
"""The columns, cuts and periods of one slicing, by where they stand."""


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of slices, of the rules over them and of the search for the worst ones."""
    return chain(
        _check_slicings(draft), _idle_rules(draft), _check_reference_levels(draft), _check_disparities(draft),
        _check_search(draft))


def taken_names() -> dict[str, str]:
    """Return the names of disparities, which no named expression of the spec may have, with what they are of."""
    return dict.fromkeys(DISPARITIES, "a disparity between slices")


def _check_slicings(draft: Draft) -> Iterator[Problem]:
    """Report two slicings by the same columns or of the same name, and the problems of the columns of each."""
    earlier: dict[frozenset[str], Loc] = {}
    for loc, slicing in draft.entries(draft.spec.slices, "slices"):
        parts: Parts = {loc: slicing.parts[0]} if slicing.parts else {}
        if isinstance(slicing.root, tuple):  # columns that are combined
            parts = {(*loc, index): part for index, part in enumerate(slicing.root)}
        yield from _check_columns(draft, parts)
        columns = dict.fromkeys(filter(None, map(part_column, parts.values())))
        keys = frozenset(columns) or frozenset(filter(None, [slicing.title]))
        # A slicing that names a column twice, which is told already, has more parts than keys.
        if keys and len(parts) <= len(keys) and earlier.setdefault(keys, loc) != loc:
            hint = "keep one; a column has one set of cuts or one length of periods, and a name means one slicing"
            if draft.tree.get(*loc) == draft.tree.get(*earlier[keys]):
                hint = "remove one of them"
            message = f"slices by '{' × '.join(columns) or slicing.title}' are listed twice"
            notes = draft.tree.noted("first listed at", *earlier[keys])
            yield draft.tree.problem("duplicate-slicing", message, *loc, hint=hint, notes=notes)


def _check_columns(draft: Draft, parts: Parts) -> Iterator[Problem]:
    """Report the outcome as a column of a slicing, columns listed twice, and cuts that do not ascend."""
    columns: set[str] = set()
    for part_loc, part in parts.items():
        loc, column = part_loc if isinstance(part, str) else (*part_loc, "column"), part_column(part)
        if column and column == draft.spec.outcome.column:
            message = f"{draft.tree.show(*loc)} is the outcome's column: within a slice all rows would have one truth"
            hint = "slice by what is known before the outcome is"
            yield draft.tree.problem("outcome-as-slice", message, *loc, hint=hint)
        if column in columns:
            message = f"the column {draft.tree.show(*loc)} is listed twice"
            yield draft.tree.problem("duplicate-column", message, *loc, hint="remove it")
        columns |= {column} - {""}
        if isinstance(part, Cut):
            yield from _check_cuts(draft, (*part_loc, "cuts"), part.cuts)


def _check_cuts(draft: Draft, loc: Loc, cuts: tuple[float, ...]) -> Iterator[Problem]:
    """Report the first cut that is not above the one before it."""
    falls = [index for index, (low, high) in enumerate(pairwise(cuts), start=1) if low >= high]
    if falls and not any(map(math.isnan, cuts)):
        shown, previous = (draft.tree.show(*loc, index) for index in (falls[0], falls[0] - 1))
        message = f"the cut {shown} is not above the one before it, {previous}"
        hint = f"write them in ascending order, each once: [{', '.join(map(str, sorted(set(cuts))))}]"
        yield draft.tree.problem("cut-order", message, *loc, falls[0], hint=hint)


def _idle_rules(draft: Draft) -> Iterator[Problem]:
    """Report `slice_rules` without effect: all without slices, some if only a search or folds use them."""
    rules, hint = draft.spec.slice_rules, "add 'slices: […]', or remove it"
    if "slice_rules" not in draft.spec.model_fields_set or draft.spec.slices is not None:
        return
    has_use = draft.spec.worst_slices is not None or draft.spec.folds is not None
    if not has_use and draft.readable("slice_rules"):
        message = "'slice_rules' has no effect: there are no slices"
        yield draft.tree.idle("unused-rules", message, "slice_rules", key=True, hint=hint)
    elif has_use:
        idle = [key for key, usual in (("reference", "overall"), ("disparities", None)) if getattr(rules, key) != usual]
        for key in idle:
            message = f"'{key}' has no effect: there are no 'slices'"
            yield draft.tree.idle("unused-rules", message, "slice_rules", key, key=True, hint=hint)


def _check_reference_levels(draft: Draft) -> Iterator[Problem]:
    """Report reference levels of columns that no entry of `slices` divides by alone."""
    levels = draft.spec.slice_rules.reference
    if not isinstance(levels, dict) or draft.spec.slices is None or not draft.readable("slices"):
        return
    singles = [slicing.columns[0] for slicing in draft.spec.slices if len(slicing.columns) == 1 and slicing.title]
    for column in levels:
        loc = ("slice_rules", "reference", column)
        message = f"no entry of 'slices' is by the column '{column}' alone"
        hint = f"add {column} to 'slices' as an entry of its own"
        yield from refer(draft, loc, singles, "unknown-reference", message, hint, key=True)


def _check_disparities(draft: Draft) -> Iterator[Problem]:
    """Check the names of disparities: each is defined, for this task, among the measures, and listed once."""
    names: set[str] = set()
    for loc, name in draft.entries(draft.spec.slice_rules.disparities, "slice_rules", "disparities"):
        canonical = draft.measures[name].name if name in draft.measures else name
        if canonical in names:
            message = f"the disparity {draft.tree.show(*loc)} is listed twice"
            yield draft.tree.problem("duplicate-disparity", message, *loc, hint="remove it")
        elif name:
            check = _check_named_disparity if name in DISPARITIES else _check_measure_of_disparity
            yield from check(draft, loc, name)
        names |= {canonical} - {""}


def _check_named_disparity(draft: Draft, loc: Loc, name: str) -> Iterator[Problem]:
    """Check one of `DISPARITIES`: it is of the predicted classes of a binary outcome."""
    task = draft.spec.task
    if task != "binary":
        message = f"{name} is a disparity of binary outcomes, not of {with_article(task)} one"
        if draft.readable("task"):
            hint = "name a measure of this evaluation instead"
            yield draft.tree.problem("not-for-task", message, *loc, hint=hint)
        return
    by_model = {model: draft.spec.gives(keys) for model, keys in draft.models.items()}
    without_classes = [model for model, outputs in by_model.items() if "scores" in outputs and "labels" not in outputs]
    if without_classes:
        message = f"{name} needs predicted classes, but the model '{without_classes[0]}' gives only 'score'"
        hint = "remove it, or give the model a 'scale', a 'threshold' or a 'prediction'"
        yield draft.tree.problem("metric-needs-classes", message, *loc, hint=hint)


def _check_measure_of_disparity(draft: Draft, loc: Loc, name: str) -> Iterator[Problem]:
    """Check that a disparity named after a measure is of one that the evaluation reports."""
    if name not in draft.measures:
        advice = Advice(None) if draft.tree.secret(*loc) else draft.measures.advice(name, DISPARITIES)
        hint = advice.hint or f"name a measure, or {listed(DISPARITIES)}"
        message = f"unknown disparity {draft.tree.show(*loc)}"
        yield draft.tree.problem("unknown-disparity", message, *loc, hint=hint, notes=advice.notes)
    elif not draft.spec.metrics:
        yield from check_measure(draft, loc, MetricChoice(name))[1]
    elif draft.measures[name] not in [
        draft.measures[choice.metric] for choice in draft.spec.choices if choice.metric in draft.measures
    ]:
        message = f"the measure {draft.tree.show(*loc)} is not among 'metrics'"
        yield draft.tree.problem("unknown-disparity", message, *loc, hint="add it there, or remove it here")


def _check_search(draft: Draft) -> Iterator[Problem]:
    """Check the columns of the search for the worst slices, and that its measure has a direction and one value."""
    search, metric_loc = draft.spec.worst_slices, ("worst_slices", "metric")
    if search is None:
        return
    columns: Parts = {("worst_slices", "columns", index): part for index, part in enumerate(search.columns)}
    yield from _check_columns(draft, columns)
    entry, faults = check_measure(draft, metric_loc, search.metric)
    yield from faults
    if entry is None:
        return
    if entry.metric.direction == "none":
        message = f"{entry.metric.name} is neither better nor worse when it is high, so no slice is the worst"
        yield draft.tree.problem("no-direction", message, *entry.named, hint="name a measure with a better side")
    yield from check_single_value(draft, entry, "the search compares one value of each slice")


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
        """The columns whose cells are read by their type: all but those of periods, which are read as dates."""
        return tuple(sliced.column for _, sliced in self.named if sliced.by is None)

    def enough(self, n: int) -> bool:
        """Tell whether a slice of ``n`` observations has the least number of rows that measures need."""
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
    """Yield each column that slices, their search or folds divide rows by, after its place in the spec."""
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
    """Yield the name of each column to read for slices and folds, after its place in the spec."""
    yield from ((loc, sliced.column) for loc, sliced in slice_columns(spec))


def disparity_measures(spec: Spec, metrics: tuple[MetricPlan, ...]) -> tuple[MetricPlan, ...]:
    """Return the measures that disparities need and that the spec does not list among its metrics."""
    from evalpipe.spec.measures import MetricChoice

    disparities = spec.slice_rules.disparities or ()
    needed = dict.fromkeys(name for disparity in disparities for name in DISPARITIES.get(disparity, ()))
    listed_names = {entry.metric.name for entry in metrics if entry.prior == SAMPLE}
    return tuple(entry for name in needed if name not in listed_names for entry in entries(spec, MetricChoice(name)))


def _disparity_plans(spec: Spec, metrics: tuple[MetricPlan, ...]) -> Iterator[DisparityPlan]:
    """Yield the plan of each disparity with its measures; a measure listed in several forms gives one for each."""
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
    """Return the plan of a column to slice by: by its values, cut at numbers, or by periods of dates."""
    if isinstance(part, str):
        return ColumnPlan(part)
    if isinstance(part, Cut):
        return ColumnPlan(part.column, part.cuts)
    return ColumnPlan(part.column, by=part.by)


PLANNED = {"behind": disparity_measures, "slices": slices_plan}
