"""What the card says of thresholds that a rule chose: by which rows, how certain they are, and how much too good."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.report import wording
from evalpipe.report.figures import threshold_drawings
from evalpipe.report.names import Names, names_of
from evalpipe.report.page import Aside, Column, Figures, Group, Number, Row, Section, Table, Text
from evalpipe.report.tables import is_whole, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.report.page import Block, Cell
    from evalpipe.results import Results, Scalar, Threshold


BOOTSTRAPPED = (
    "Rows that choose a threshold make it look too good. In each bootstrap replicate of them the threshold was chosen "
    "anew: the spread of these is its interval, and the optimism is the mean of the measure in a replicate less that "
    "on all rows at the same threshold (Harrell, Lee & Mark 1996). Where chosen less optimism is corrected."
)
BOUNDED = "A bound is kept on the rows that choose; on other rows the measure may lie on either side of it."
CROSSED = ": cross-fitted, the rows of each fold are classified by the threshold that the other folds choose"


def sections(results: Results) -> Iterator[Section]:
    """Write a section for every dataset whose classes are made by a threshold that a rule chose."""
    ruled = {row.dataset for row in results.thresholds if row.rule != "fixed"}
    for place, dataset in enumerate((dataset.name for dataset in results.datasets), 1):
        if dataset in ruled:
            title = f"Thresholds on {dataset}" if len(ruled) > 1 else "Thresholds"
            yield Section(f"thresholds-{place}", title, tuple(_blocks(results, dataset)))


def _blocks(results: Results, dataset: str) -> Iterator[Block]:
    rows = [row for row in results.thresholds if row.dataset == dataset]
    yield Text("The threshold of each model, and what it achieves. No row of "
               f"{dataset} is judged by a threshold that it helped to choose"
               f"{CROSSED if any(row.folds is not None for row in rows) else ''}.", "lead")
    uncertain = any(row.lower is not None for row in rows)
    yield _table(results, dataset, rows, uncertain=uncertain)
    if uncertain:
        yield Text(BOOTSTRAPPED, "small")
    if any(row.constraints for row in rows):
        yield Text(BOUNDED, "small")
    yield Figures(partial(threshold_drawings, results, dataset))


def _table(results: Results, dataset: str, rows: Sequence[Threshold], *, uncertain: bool) -> Table:
    names = names_of(results)
    limits = f", with {wording.level(results.intervals.level)} intervals" if uncertain else ""
    columns = (Column("Measure", style="what"), Column("Where chosen", "num"), Column("Optimism", "num"),
               Column("Corrected", "num"), Column(f"On {dataset}", "num"))
    lines: list[Row | Group] = []
    for row in rows:
        lines += [Group(_chosen(names, row)), *_measures(results, names, row)]
    return Table(f"Thresholds, and the measures at them where they were chosen and on {dataset}{limits}", columns,
                 tuple(lines), "compared chosen", stacked=True)


def _chosen(names: Names, row: Threshold) -> Cell:
    """Write a threshold with its interval: of which model, by which rule and rows."""
    value = Number(numbers.plain(row.value) if row.rule == "fixed" else numbers.number(row.value), None, row.reason,
                   numbers.exact(row.value))
    if row.lower is not None and row.upper is not None:
        value = Number(*numbers.interval(row.value, row.lower, row.upper), row.reason, numbers.exact(row.value))
    rule = {"fixed": "written in the spec", "bayes": "decided by the costs"}.get(row.rule, in_words(names, row))
    about = "; ".join(filter(None, (rule, _rows(row))))
    return f"{names.model(row.model, row.variant)}: ", value, Aside(about, "options")


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


def _measures(results: Results, names: Names, row: Threshold) -> Iterator[Row]:
    """Yield the measure that was to be best, then those that are bounded, each with what the rule wants of it."""
    if row.metric is None:
        return
    goal = (row.metric, row.params, f"{row.rule.split(' ', 1)[0]}d", row.apparent, row.optimism, row.corrected)
    bounds = [(one.metric, one.params, _role(one.min, one.max), one.apparent, one.optimism, one.corrected)
              for one in row.constraints]
    for metric, params, role, apparent, optimism, corrected in (goal, *bounds):
        yield Row(((_named(names, metric, params), Aside(role, "options")), _plain(apparent), _gain(optimism, apparent),
                   _plain(corrected), _evaluated(results, row, metric, params)))


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
