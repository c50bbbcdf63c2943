"""What the card says of thresholds that a rule chose: by which rows, how certain they are, and how much too good."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.page import Aside, Column, Figures, Group, Number, Row, Section, Table, Text
from evalpipe.card.tables import curves_of, shown
from evalpipe.card.wording import Names, names_of
from evalpipe.chapters.thresholds.figures import sweeps
from evalpipe.results.curves.events import Sweep
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.base.records import Scalar
    from evalpipe.card.page import Block, Cell
    from evalpipe.chapters.thresholds.records import Constraint, Threshold
    from evalpipe.results import ModelSummary, Results

WITHOUT_ROWS = {"fixed": "written in the spec", "bayes": "decided by the costs"}
"""What is said of a threshold that was known before any row."""

KNOWN = "none: no rows were used"
"""What stands in place of the measures by which rows chose such a threshold."""

BOOTSTRAPPED = (
    "A threshold looks too good on the rows that chose it. The bootstrap chooses it anew in each replicate of these "
    "rows: the spread of these thresholds gives its interval. Optimism is the mean of the measure in a replicate "
    "minus its value on all rows at the same threshold (Harrell, Lee & Mark 1996). Corrected is where chosen minus "
    "optimism."
)
CROSSED = ": cross-fitted, each fold is classified by the threshold chosen on the other folds"
OF_FOLDS = (
    "Measures of a cross-fitted threshold, and their intervals, are of the thresholds of the folds. The one threshold "
    "for later use, chosen on all rows, may achieve more or less: its interval would be wider."
)


def sections(results: Results) -> Iterator[Section]:
    """Write a section for every dataset: its thresholds where a rule chose one, else measures by threshold alone."""
    ruled = {row.dataset for row in results.thresholds if row.rule != "fixed"}
    for place, dataset in enumerate((dataset.name for dataset in results.datasets), 1):
        if dataset in ruled:
            title = f"Thresholds on {dataset}" if len(ruled) > 1 else "Thresholds"
            anchor = f"thresholds-{place}"
            verdicts = [finding.text for finding in results.findings if finding.section == anchor]
            yield Section(anchor, title, tuple(_blocks(results, dataset, verdicts)), part="decisions")
        elif next(curves_of(results, dataset, Sweep), None) is not None:
            yield Section(f"sweep-{place}", f"Measures by threshold on {dataset}", (
                Figures(partial(sweeps, results, dataset)),), part="appendix")


def facts(results: Results, model: ModelSummary) -> Iterator[tuple[str, str]]:
    """Say how rows are predicted as levels; nothing of a model that predicts numbers or several levels."""
    if model.threshold_rule is not None:
        yield "Threshold", model.threshold_rule
    elif model.threshold is not None:
        yield "Threshold", numbers.given(model.threshold)
    elif results.task == "binary" and [*model.columns] != ["prediction"]:
        given = "prediction" in model.columns
        yield "Threshold", f"none; {'predicted levels are given' if given else 'the score is a rank alone'}"


def _blocks(results: Results, dataset: str, verdicts: Sequence[str]) -> Iterator[Block]:
    thresholds = [threshold for threshold in results.thresholds if threshold.dataset == dataset]
    crossed = CROSSED if any(threshold.folds is not None for threshold in thresholds) else ""
    yield Text(f"The threshold of each model, and what it achieves. No row of {dataset} is judged by a threshold that "
               f"it helped to choose{crossed}.", "lead")
    yield from (Text(verdict) for verdict in verdicts)
    uncertain = any(threshold.lower is not None for threshold in thresholds)
    yield _table(results, dataset, thresholds, uncertain=uncertain)
    if crossed:
        yield Text(OF_FOLDS, "small")
    if uncertain:
        yield Text(BOOTSTRAPPED, "small")
    yield Figures(partial(sweeps, results, dataset))


def _table(results: Results, dataset: str, thresholds: Sequence[Threshold], *, uncertain: bool) -> Table:
    names = names_of(results)
    limits = f", with {wording.level(results.intervals.level)} intervals" if uncertain else ""
    columns = (Column("Measure", style="what"), Column("Where chosen", "num"), Column("Optimism", "num"),
               Column("Corrected", "num"), Column(f"On {dataset}", "num"))
    rows: list[Row | Group] = []
    for threshold in thresholds:
        rows += [Group(_chosen(names, threshold)), *_measures(results, names, threshold)]
    return Table(f"Thresholds, and the measures at them where they were chosen and on {dataset}{limits}", columns,
                 tuple(rows), "compared chosen", stacked=True)


def _chosen(names: Names, threshold: Threshold) -> Cell:
    """Write a threshold with its interval: of which model, by which rule and rows."""
    rule = WITHOUT_ROWS.get(threshold.rule) or _in_words(names, threshold)
    about = "; ".join(filter(None, (rule, _rows(threshold))))
    return f"{names.model(threshold.model, threshold.variant)}: ", chosen(threshold), Aside(about, "options")


def chosen(threshold: Threshold) -> Number:
    """Write a threshold with its interval."""
    value, lower, upper = threshold.value, threshold.lower, threshold.upper
    limits = None if lower is None or upper is None else numbers.interval(
        value, lower, upper, least=numbers.decimals(value))[1]
    return Number(numbers.given(value), limits, threshold.reason, numbers.exact(value))


def _in_words(names: Names, threshold: Threshold) -> str:
    """Write a rule with the names of measures as the card has them."""
    if threshold.metric is None:
        return threshold.rule
    goal = f"{threshold.rule.split(' ', 1)[0]} {_named(names, threshold.metric, threshold.params)}"
    bounds = [f"{_named(names, bound.metric, bound.params)} {_kept(bound)}" for bound in threshold.constraints]
    return f"{goal}, with {' and '.join(bounds)}" if bounds else goal


def _named(names: Names, metric: str, params: Mapping[str, Scalar]) -> str:
    return names.measure(metric, params) if metric in names.titles else metric.replace("_", " ").capitalize()


def _kept(bound: Constraint) -> str:
    sides = (("at least", bound.min), ("at most", bound.max))
    return " and ".join(f"{side} {numbers.plain(limit)}" for side, limit in sides if limit is not None)


def _rows(threshold: Threshold) -> str:
    """Say which rows chose; of a cross-fitted threshold also which ones made the classes."""
    if threshold.chosen_on is None:
        return ""
    events = "" if threshold.events is None else f", {numbers.count(threshold.events)} events"
    size = f" ({numbers.count(threshold.n)} rows{events})" if threshold.n is not None else ""
    if threshold.folds is None:
        return f"chosen on {threshold.chosen_on}{size}"
    cuts = numbers.ranged(*map(numbers.given, (min(threshold.cuts), max(threshold.cuts))))
    return (f"cross-fitted in {threshold.folds} folds of {threshold.chosen_on}{size}, whose thresholds are {cuts}; "
            "the threshold for later use is chosen on all rows")


def _measures(results: Results, names: Names, threshold: Threshold) -> Iterator[Row]:
    """Yield the measure that was to be best, then those that are bounded, each with what the rule wants of it.

    A threshold that was known before any row has a row that says so, as every heading has rows below it.
    """
    if threshold.metric is None:
        yield Row((KNOWN, *[Number("–")] * 4))
        return
    aim = f"{threshold.rule.partition(' ')[0]}d"
    measures: list[tuple[Threshold | Constraint, str]] = [(threshold, aim)]
    for measure, wanted in measures + [(bound, _kept(bound)) for bound in threshold.constraints]:
        metric = measure.metric or ""
        yield Row((
            (_named(names, metric, measure.params), Aside(wanted, "options")), _plain(measure.apparent),
            _gain(measure.optimism, measure.apparent), _plain(measure.corrected),
            _evaluated(results, threshold, metric, measure.params)))


def _plain(value: float | None) -> Number:
    """Write a number that has no interval; a dash where there is none."""
    return Number("–") if value is None else Number(numbers.number(value), None, None, numbers.exact(value))


def _gain(optimism: float | None, apparent: float | None) -> Number:
    """Write an optimism with the decimals of the value that it is of."""
    if optimism is None or apparent is None:
        return Number("–")
    return Number(numbers.signed(optimism, numbers.decimals(apparent)), None, None, numbers.exact(optimism))


def _evaluated(results: Results, threshold: Threshold, metric: str, params: Mapping[str, Scalar]) -> Number:
    """Write the estimate of a measure on the evaluated rows, where it is among the measures of the run."""
    whole = {summary.name: summary.is_whole for summary in results.metrics}
    scope = (threshold.dataset, threshold.model, threshold.variant, None, metric, params)
    for row in results.rows:
        if (row.dataset, row.model, row.variant, row.slice, row.metric, row.params) == scope:
            return shown(row, whole=whole[metric])
    return Number("not among the measures")
