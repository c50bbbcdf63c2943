"""What the card says of thresholds that a rule chose: by which rows, how certain they are, and how much too good."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.report.names import Names, names_of
from evalpipe.report.page import Number
from evalpipe.report.tables import is_whole, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.results import Results, Scalar, Threshold


@dataclass(frozen=True, slots=True)
class MeasureAt:
    """A measure at a chosen threshold: on the rows that chose, how much too good that is, and on the evaluated rows."""

    measure: str
    role: str
    """What the rule wants of it: "maximized", "at least 0.9"."""
    apparent: Number
    optimism: Number
    corrected: Number
    evaluated: Number


@dataclass(frozen=True, slots=True)
class ChosenView:
    """One threshold: of which model, by which rule and rows, with its interval, and the measures at it."""

    model: str
    rule: str
    chosen_on: str
    value: Number
    measures: tuple[MeasureAt, ...]


@dataclass(frozen=True, slots=True)
class ThresholdsView:
    """The section of one dataset."""

    dataset: str
    title: str
    anchor: str
    crossed: bool
    uncertain: bool
    """Whether there are intervals and optimism, from the bootstrap."""
    bounded: bool
    rows: tuple[ChosenView, ...]


def thresholds_views(results: Results) -> tuple[ThresholdsView, ...]:
    """Write a section for every dataset whose classes are made by a threshold that a rule chose."""
    names = names_of(results)
    ruled = {row.dataset for row in results.thresholds if row.rule != "fixed"}
    return tuple(
        _view(results, names, dataset.name, place, len(ruled))
        for place, dataset in enumerate(results.datasets, 1) if dataset.name in ruled
    )


def _view(results: Results, names: Names, dataset: str, place: int, many: int) -> ThresholdsView:
    rows = [row for row in results.thresholds if row.dataset == dataset]
    return ThresholdsView(
        dataset=dataset,
        title=f"Thresholds on {dataset}" if many > 1 else "Thresholds",
        anchor=f"thresholds-{place}",
        crossed=any(row.folds is not None for row in rows),
        uncertain=any(row.lower is not None for row in rows),
        bounded=any(row.constraints for row in rows),
        rows=tuple(_chosen(results, names, row) for row in rows),
    )


def _chosen(results: Results, names: Names, row: Threshold) -> ChosenView:
    value = Number(numbers.plain(row.value), None, None, numbers.exact(row.value))
    if row.rule != "fixed":
        value = Number(numbers.number(row.value), None, None, numbers.exact(row.value))
    if row.lower is not None and row.upper is not None:
        value = Number(*numbers.interval(row.value, row.lower, row.upper), row.reason, numbers.exact(row.value))
    elif row.reason is not None:
        value = Number(value.value, None, row.reason, value.exact)
    return ChosenView(
        model=names.model(row.model, row.variant),
        rule={"fixed": "written in the spec", "bayes": "decided by the costs"}.get(row.rule, in_words(names, row)),
        chosen_on=_rows(row), value=value, measures=tuple(_measures(results, names, row)),
    )


def in_words(names: Names, row: Threshold) -> str:
    """Write a rule with the names of measures as the card has them."""
    if row.metric is None:
        return row.rule
    goal = f"{row.rule.split(' ', 1)[0]} {_named(names, row.metric, row.params)}"
    bounds = [f"{_named(names, one.metric, one.params)} {_role(one.min, one.max)}" for one in row.constraints]
    return f"{goal}, with {' and '.join(bounds)}" if bounds else goal


def _named(names: Names, metric: str, params: Mapping[str, Scalar]) -> str:
    return names.measure(metric, params) if metric in names.titles else metric.replace("_", " ").capitalize()


def _role(low: float | None, high: float | None) -> str:
    sides = [f"at least {numbers.plain(low)}"] if low is not None else []
    sides += [f"at most {numbers.plain(high)}"] if high is not None else []
    return " and ".join(sides)


def _rows(row: Threshold) -> str:
    """Say which rows chose; of a cross-fitted threshold also which ones made the classes."""
    if row.chosen_on is None:
        return ""
    events = "" if row.events is None else f", {numbers.count(row.events)} events"
    size = f" ({numbers.count(row.n)} rows{events})" if row.n is not None else ""
    if row.folds is None:
        return f"chosen on {row.chosen_on}{size}"
    low, high = (numbers.number(cut) for cut in (min(row.cuts), max(row.cuts)))
    return (f"cross-fitted in {row.folds} folds of {row.chosen_on}{size}, whose thresholds are {low} to {high}; that "
            "of all rows is for later use")


def _measures(results: Results, names: Names, row: Threshold) -> Iterator[MeasureAt]:
    """Yield the measure that was to be best, then those that are bounded."""
    if row.metric is None:
        return
    goal = (row.metric, row.params, f"{row.rule.split(' ', 1)[0]}d", row.apparent, row.optimism, row.corrected)
    bounds = [(one.metric, one.params, _role(one.min, one.max), one.apparent, one.optimism, one.corrected)
              for one in row.constraints]
    for metric, params, role, apparent, optimism, corrected in (goal, *bounds):
        yield MeasureAt(
            measure=_named(names, metric, params), role=role, apparent=_plain(apparent),
            optimism=_gain(optimism, apparent), corrected=_plain(corrected),
            evaluated=_evaluated(results, row, metric, params),
        )


def _plain(value: float | None) -> Number:
    """Write a number that has no interval; a dash where there is none."""
    return Number("–") if value is None else Number(numbers.number(value), None, None, numbers.exact(value))


def _gain(optimism: float | None, apparent: float | None) -> Number:
    """Write an optimism with the decimals of the value that it is of."""
    if optimism is None or apparent is None:
        return Number("–")
    return Number(numbers.signed(optimism, numbers.decimals(apparent, None)), None, None, numbers.exact(optimism))


def _evaluated(results: Results, row: Threshold, metric: str, params: Mapping[str, Scalar]) -> Number:
    """Write the estimate of a measure on the evaluated rows, where it is among the measures of the run."""
    whole = {one.name: is_whole(one) for one in results.metrics}
    for e in results.rows:
        here = (e.dataset, e.model, e.variant) == (row.dataset, row.model, row.variant) and e.slice is None
        if here and e.metric == metric and e.params == params:
            return shown(e, whole=whole[metric])
    return Number("not among the measures")
