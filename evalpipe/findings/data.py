"""Findings on the data: rows left out or shared, how datasets differ, warnings, and what the run did not look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalpipe.card.wording import KEY_MEASURES, capital, joined, names_of
from evalpipe.findings import weights
from evalpipe.findings.claims import (
    NO_DATASETS,
    NO_OTHER_ROWS,
    ONE_DATASET,
    ONE_EVALUATED,
    Claim,
    Unless,
    limits_apart,
    p_apart,
    rule,
)
from evalpipe.findings.margins import against_margin, margin_between, margin_of, weight_of
from evalpipe.findings.words import anchor, finding, grouped, measures, with_limits
from evalpipe.results.document import GONE
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import DatasetDifference, DatasetSummary, Estimate, Results, Warned
    from evalpipe.results.document import Finding, FindingKind


SAID_ELSEWHERE = frozenset({"worse-than-chance", "squeezed-scores", "incomplete-rows", "missing-in-condition", *GONE})
"""The codes of warnings whose content is a finding of its own."""

WARNED = {"clipped": weights.CLIPPED, "alike-rows": weights.DRIFT}
"""What warnings weigh that matter more than others."""


MOST_COLUMNS = 3
"""The most columns that a sentence names."""


@rule("note", unless=(NO_DATASETS,))
def rows_left_out(results: Results) -> Iterator[Claim]:
    """Whether rows were left out because a value is missing."""
    yield from (Claim(dataset, incomplete) for dataset in results.datasets
                if dataset.role == "evaluate" and (dataset.excluded_incomplete or dataset.unknown_where))


IN_TRAINING = Unless("shared-by-contents", by_results=lambda results: any(
    row.verdict == "shared" for row in results.shared_contents))
ROWS_ALIKE = Unless(
    "rows-look-alike", by_results=lambda results: any(warning.code == "alike-rows" for warning in results.warnings))


@rule("passes", unless=(NO_OTHER_ROWS, ROWS_ALIKE, IN_TRAINING), claims_all=True)
def rows_shared(results: Results) -> Iterator[Claim]:
    """Whether an evaluated row was also used for training or fitting; such a row stops the run."""
    has_alike_rows = any(warning.code == "alike-rows" for warning in results.warnings)
    by_contents = {(row.dataset, row.other): row for row in results.shared_contents}
    for dataset in results.datasets:
        for other, columns in dataset.compared.items() if dataset.role == "evaluate" else ():
            contents = by_contents.get((dataset.name, other))
            if not has_alike_rows and (contents is None or contents.verdict != "shared"):
                count = 0 if contents is None or contents.verdict != "clear" else len(contents.columns)
                yield Claim((dataset.name, other, tuple(columns), count), not_shared)


@rule("note")
def warnings(results: Results) -> Iterator[Claim]:
    """Warnings of the run that no other finding mentions."""
    yield from (Claim(warning, warned) for warning in results.warnings if warning.code not in SAID_ELSEWHERE)


@rule("undecided")
def gone(results: Results) -> Iterator[Claim]:
    """Whether the models, datasets and gates of the run before are still there, if the ledger has one."""
    yield from (Claim(warning, lost) for warning in results.warnings if warning.code in GONE)


def lost(_: Results, rows: Sequence[Warned]) -> Iterator[Finding]:
    """Yield findings on models, datasets and gates that the run before had and this one lacks."""
    for warning in rows:
        yield finding("undecided", weights.GONE, f"{warning.message}.", "warnings")


def incomplete(_: Results, rows: Sequence[DatasetSummary]) -> Iterator[Finding]:
    """Yield findings on the rows of a dataset left out because a prediction or a value is missing."""
    for dataset in rows:
        if dataset.excluded_incomplete:
            share = numbers.percent(dataset.excluded_incomplete, dataset.rows)
            text = (f"{numbers.count(dataset.excluded_incomplete)} of {numbers.count(dataset.rows)} rows of "
                    f"{dataset.name} ({share}) were left out: a model has no prediction for them.")
            yield finding("note", weights.ROWS_LEFT_OUT, text, "data")
        if dataset.unknown_where:
            rows_are = "row was" if dataset.unknown_where == 1 else "rows were"
            text = (f"{numbers.count(dataset.unknown_where)} {rows_are} left out of {dataset.name}: a value that "
                    "the condition needs is missing.")
            yield finding("note", weights.ROWS_LEFT_OUT, text, "data")


def not_shared(_: Results, rows: Sequence[tuple[str, str, tuple[str, ...], int]]) -> Iterator[Finding]:
    """Yield findings that no evaluated row is in another dataset, with the columns that were compared.

    Rows are (dataset, other dataset, columns, number of further columns).
    """
    for columns, contents in dict.fromkeys((columns, contents) for _, _, columns, contents in rows):
        others = dict.fromkeys(other for _, other, *by in rows if by == [columns, contents])
        named = f"the column{'s' if len(columns) > 1 else ''} {joined(columns)}"
        how = f"compared by {named if len(columns) <= MOST_COLUMNS else f'all {len(columns)} columns read'}"
        how += f"; in {contents} further columns no more rows agree than by chance" if contents else ""
        text = f"No evaluated row is also in {joined(list(others), 'or')} ({how})."
        yield finding("passes", weights.CHECKED, text, "data")


def warned(results: Results, rows: Sequence[Warned]) -> Iterator[Finding]:
    """Yield a finding for each kind of warnings: the first of them, and how many more there are."""
    names, evaluated = names_of(results), [entry.name for entry in results.datasets if entry.role == "evaluate"]
    only = f"{evaluated[0]}, " if len(evaluated) == 1 else ""
    for alike in grouped(rows, lambda warning: (warning.message.code, warning.message.numbers.get("case"))):
        first, more = names.warning(alike[0]).removeprefix(only).removesuffix("."), len(alike) - 1
        rest = "" if not more else f" {more} more {'warning is' if more == 1 else 'warnings are'} of this kind."
        yield finding("note", WARNED.get(alike[0].code, weights.WARNED), f"{first}.{rest}", "warnings")


class Pair(NamedTuple):
    """The estimates of one measure of one model on two datasets, and their difference with limits."""

    first: Estimate
    other: Estimate
    difference: float
    lower: float
    upper: float
    level: float | None


def _pair(first: Estimate, other: Estimate) -> Pair:
    """Return two estimates with their difference (``other`` less ``first``) and its limits."""
    return Pair(first, other, (other.value or 0.0) - (first.value or 0.0), *limits_apart(first, other), other.level)


@rule("note", unless=(ONE_DATASET,), claims_all=True)
def outcome_drift(results: Results) -> Iterator[Claim]:
    """Whether the event is equally frequent, or the mean outcome equal, in every dataset."""
    for row in results.dataset_differences:
        if row.p_value is not None:
            yield Claim(row, means_drifted if row.level is None else shares_drifted, row.p_value)


COMPARED = Unless("compared-by-spec", lambda spec: bool((spec.get("compare") or {}).get("baseline_dataset")))


@rule("fails", "note", unless=(ONE_EVALUATED, COMPARED), claims_all=True)
def performance_drift(results: Results) -> Iterator[Claim]:
    """Whether models perform equally well on every evaluated dataset, by the key measure."""
    direction_of = {metric.name: metric.direction for metric in results.metrics}
    requested = {row.metric for row in results.rows}
    usable_metrics = [name for name in sorted(KEY_MEASURES, key=lambda name: name not in requested)
               if direction_of.get(name, "none") != "none" and measures(results, name)]
    metric = usable_metrics[0] if usable_metrics else ""
    compared = any(row.baseline_dataset is not None for row in results.comparisons)  # with verdicts of their own
    rows = [] if compared else measures(results, metric)
    for first in (row for row in rows if row.dataset == rows[0].dataset):
        for other in (row for row in rows if row.model == first.model and row.dataset != first.dataset):
            is_worse = ((other.value or 0) < (first.value or 0)) == (direction_of[metric] == "maximize")
            margin = margin_between(results, "datasets", metric, first.value)
            if is_worse:
                yield from against_margin(_pair(first, other), 0, margin, worse_there,
                                          stated=margin_of(results, "datasets"))
            else:
                yield Claim(_pair(first, other), better_there, p_apart(first, other))


@rule("note", unless=(ONE_EVALUATED,), claims_all=True)
def prediction_drift(results: Results) -> Iterator[Claim]:
    """Whether models predict the event equally often on every evaluated dataset."""
    rows = measures(results, "detection_prevalence")
    for first in (row for row in rows if row.dataset == rows[0].dataset):
        for other in (row for row in rows if row.model == first.model and row.dataset != first.dataset):
            yield Claim(_pair(first, other), predicts_otherwise, p_apart(first, other))


def shares_drifted(results: Results, rows: Sequence[DatasetDifference]) -> Iterator[Finding]:
    """Yield a finding for each pair of datasets on the outcome levels that are more or less frequent in the second."""
    event = "the event " if results.task == "binary" else ""
    for first, other in dict.fromkeys((row.baseline, row.dataset) for row in rows):
        sentences = [f"{event}'{row.level}' is {'more' if row.value > row.baseline_value else 'less'} frequent in "
                     f"{other}, {numbers.number(row.value)}, than in {first}, {numbers.number(row.baseline_value)}"
                     for row in rows if (row.baseline, row.dataset) == (first, other)]
        yield finding("note", weights.DRIFT, f"{joined(sentences)}.", "data")


def means_drifted(_: Results, rows: Sequence[DatasetDifference]) -> Iterator[Finding]:
    """Yield a finding for each pair of datasets on which has the larger mean outcome."""
    for row in rows:
        text = (f"Outcomes are {'larger' if row.value > row.baseline_value else 'smaller'} in {row.dataset}, on "
                f"average {numbers.number(row.value)}, than in {row.baseline}, {numbers.number(row.baseline_value)}.")
        yield finding("note", weights.DRIFT, text, "data")


def predicts_otherwise(results: Results, rows: Sequence[Pair]) -> Iterator[Finding]:
    """Say which models predict the event more or less often on another dataset."""
    for first, other, *_ in rows:
        often = "more" if (other.value or 0) > (first.value or 0) else "less"
        text = (f"{names_of(results).model(other.model)} predicts the event {often} often on {other.dataset} than on "
                f"{first.dataset}: share of rows {with_limits(other)} against {with_limits(first)}.")
        yield finding("note", weights.PREDICTION_DRIFT, text, anchor(results, other), [other, first])


def worse_there(results: Results, rows: Sequence[Pair]) -> Iterator[Finding]:
    """Yield findings that models do worse on another dataset, with the measure that shows it."""
    for row in rows:
        margin = margin_between(results, "datasets", row.first.metric, row.first.value)
        yield _difference_finding(results, row, "does worse", "fails", weight_of([row], 0, margin))


def better_there(results: Results, rows: Sequence[Pair]) -> Iterator[Finding]:
    """Yield findings that models do better on another dataset, with the measure that shows it."""
    yield from (_difference_finding(results, row, "does better", "note", weights.CHECKED) for row in rows)


def _difference_finding(results: Results, row: Pair, verb: str, kind: FindingKind, weight: float) -> Finding:
    """Return the finding that a model ``verb``, such as "does worse", on the other dataset of a pair."""
    names, (first, other, *_) = names_of(results), row
    text = (f"{names.model(other.model)} {verb} on {other.dataset} than on {first.dataset}: "
            f"{names.measure(other.metric, other.params, other.average)} {with_limits(other)} against "
            f"{with_limits(first)}.")
    return finding(kind, weight, text, anchor(results, other), [other, first])


@rule("undecided", unless=(NO_DATASETS,))
def requirements(results: Results) -> Iterator[Claim]:
    """Whether the spec says how good is good enough."""
    if results.datasets and not results.gates:
        yield Claim(None, no_gate)


@rule("note", unless=(NO_DATASETS,))
def unchecked(results: Results) -> Iterator[Claim]:
    """What was not checked."""
    has_reference = any(dataset.role == "reference" for dataset in results.datasets)
    compared = any(dataset.compared for dataset in results.datasets)
    reason = "no column to compare by" if has_reference else "no reference dataset"
    checks = {
        "no groups were compared (no slices)": bool(results.slices or results.worst_slices),
        f"no row was looked for in training ({reason})": compared or bool(results.leaked_items),
        "no number has an interval": any(row.lower is not None for row in results.rows),
    }
    yield from (Claim(what, not_checked) for what, was_done in checks.items() if results.datasets and not was_done)


def no_gate(_: Results, __: Sequence[None]) -> Iterator[Finding]:
    """Yield the finding that the spec has no gate, so that there is no verdict."""
    yield finding("undecided", weights.NO_GATE, "No gate says how good is good enough, so there is no verdict.", "use")


def not_checked(_: Results, rows: Sequence[str]) -> Iterator[Finding]:
    """Yield a finding that lists in a sentence what the run did not check."""
    yield finding("note", weights.UNCHECKED, f"{capital(joined(rows))}.", "data")
