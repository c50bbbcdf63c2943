"""What the card says of what the rows hold: findings on copies, rows of training and values that many share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe.card.wording import names_of, nouns_of
from evalpipe.findings import weights
from evalpipe.findings.claims import NO_DATASETS, NO_OTHER_ROWS, Claim, Unless, rule
from evalpipe.findings.margins import margin_of
from evalpipe.findings.words import anchor, finding, on_dataset
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.chapters.row_contents.records import (
        Copies,
        SharedContents,
        SharedValue,
        UndeclaredCluster,
        UndeclaredGroup,
    )
    from evalpipe.results import Results
    from evalpipe.results.document import Finding

NEVER_HELD = Unless("rows-never-held",
                    by_results=lambda results: any(dataset.cells is not None for dataset in results.datasets))
ROWS_NOT_COUNTED = Unless("rows-never-held", by_results=lambda results: bool(
    results.spec.get("weight")) and NEVER_HELD.by_results(results))
NO_SCORES = Unless("only-classes", by_results=lambda results: bool(results.levels) and all(
    set(model.columns) <= {"prediction"} for model in results.models))


BY_CONTENTS = Unless("compared-by-contents", lambda spec: not spec.get("id"))
NO_SHARED_COLUMN = Unless("no-shared-column", by_results=lambda results: not results.shared_contents)
TOO_ALIKE = Unless("contents-too-alike", by_results=lambda results: all(
    row.verdict == "too-alike" for row in results.shared_contents))


@rule("fails", unless=(NO_DATASETS, NO_OTHER_ROWS, BY_CONTENTS, NO_SHARED_COLUMN, TOO_ALIKE))
def training_contents(results: Results) -> Iterator[Claim]:
    """Whether evaluated rows are in training, or in other rows used for fitting, by their contents under other ids."""
    yield from (Claim(row, shared_rows_findings) for row in results.shared_contents if row.verdict == "shared")


def shared_rows_findings(_: Results, rows: Sequence[SharedContents]) -> Iterator[Finding]:
    """Yield findings on evaluated rows that other datasets hold under other ids, with how many chance explains."""
    for row in rows:
        columns = "column" if len(row.columns) == 1 else "columns"
        text = (f"{numbers.count(row.twins)} of {numbers.count(row.rows)} rows of {row.dataset} "
                f"({numbers.percent(row.twins, row.rows)}) are also in {row.other} under other ids: the same in "
                f"{numbers.count(len(row.columns))} {columns}, where chance explains at most "
                f"{numbers.count(math.ceil(row.by_chance))}. What is measured on them is too good.")
        yield finding("fails", weights.IN_TRAINING, text, "data")


@rule("fails", unless=(NO_DATASETS, NEVER_HELD))
def rows_repeated(results: Results) -> Iterator[Claim]:
    """Whether rows are copies of each other under other ids: the same in all, and in measured numbers like no other."""
    yield from (Claim(row, copies_findings) for row in results.copies)


def copies_findings(_: Results, rows: Sequence[Copies]) -> Iterator[Finding]:
    """Yield findings on datasets with many copied rows, and why these are not alike by chance."""
    for row in rows:
        text = (f"{numbers.count(row.copies)} of {numbers.count(row.n)} rows of {row.dataset} "
                f"({numbers.percent(row.copies, row.n)}) are copies of others, in {numbers.count(row.columns)} columns "
                "without ids, with measured numbers that no other row has. Intervals count them as further rows, so "
                "they are too narrow.")
        yield finding("fails", weights.COPIES, text, "data")


NOTHING_UNNAMED = Unless("no-further-columns", by_results=lambda results: not results.looked_at)
CLUSTERED = Unless("cluster-declared", lambda spec: bool(spec.get("cluster")))
NO_GROUPS = Unless("no-columns-of-groups", by_results=lambda results: all(
    "groups" not in row.holds for row in results.looked_at))
NO_IDS = Unless("no-columns-of-ids", by_results=lambda results: all(
    "ids" not in row.holds for row in results.looked_at))


@rule("fails", unless=(NO_DATASETS, NEVER_HELD, NOTHING_UNNAMED, NO_GROUPS))
def groups_undeclared(results: Results) -> Iterator[Claim]:
    """Whether a model is worse in one group of a column that no slice names, of 2 to 20 levels."""
    for row in results.undeclared_groups:
        if row.least > _margin(results, row):
            yield Claim(row, undeclared_group_findings)


def _margin(results: Results, row: UndeclaredGroup) -> float:
    """Return the difference beyond which a group is reported, in the units of the measure.

    It is the margin itself for rates, a multiple of the standard deviation for means of numbers, and a share of
    the mean outside the group for losses.
    """
    if row.kind == "mean" and not results.levels:
        spread = next(dataset.outcome.get("sd", 0.0) for dataset in results.datasets if dataset.name == row.dataset)
        return margin_of(results, "mean") * spread
    is_rate = row.kind == "mean" or (row.kind == "error" and bool(results.levels))
    return margin_of(results, "groups") * (1.0 if is_rate else row.outside)


def undeclared_group_findings(results: Results, rows: Sequence[UndeclaredGroup]) -> Iterator[Finding]:
    """Yield a finding on each group in which a model fails, worst first, with the key that would slice it."""
    for row in sorted(rows, key=lambda row: -row.least / (_margin(results, row) or 1.0)):
        model = f"{names_of(results).model(row.model)}{on_dataset(results, row.dataset)}"
        value, expected = numbers.number(row.value), numbers.number(row.expected)
        event = nouns_of(results).events if results.levels else ""
        what = {
            "mean": f"{value} of them are {event}, predicted {expected}" if results.levels else
                    f"their mean is {value}, predicted {expected}",
            "promised": f"squared error {value}, where the probabilities promise {expected}",
            "error": f"{'share of errors' if results.levels else 'mean error'} {value}, elsewhere {expected}",
        }[row.kind]
        text = (f"{model} fails in one group of {row.column}, which no slice names: {numbers.count(row.rows)} of "
                f"{numbers.count(row.n)} rows; {what}. To see it, add 'slices: [{row.column}]'.")
        weight = weights.by_harm(row.rows / row.n, abs(row.difference) / (_margin(results, row) or 1.0))
        yield finding("fails", weight, text, anchor(results, row))


@rule("fails", unless=(NO_DATASETS, NEVER_HELD, CLUSTERED, NOTHING_UNNAMED, NO_IDS))
def clusters_undeclared(results: Results) -> Iterator[Claim]:
    """Whether rows belong to few ids of a column that no cluster names, and go together within them."""
    yield from (Claim(row, undeclared_cluster_findings) for row in results.undeclared_clusters)


def undeclared_cluster_findings(results: Results, rows: Sequence[UndeclaredCluster]) -> Iterator[Finding]:
    """Yield findings on columns of ids within which errors are alike, and how much too narrow intervals are."""
    for row in rows:
        text = (f"Rows{on_dataset(results, row.dataset)} are not independent: {numbers.count(row.rows)} belong to "
                f"{numbers.count(row.ids)} values of {row.column}, within which errors are alike. The interval of "
                f"their mean is about {numbers.fixed(row.wider, 1)} times too narrow, and others are too, but less. "
                f"Declare 'cluster: {row.column}'.")
        yield finding("fails", weights.UNCLUSTERED, text, anchor(results, row))


@rule("note", unless=(NO_DATASETS, ROWS_NOT_COUNTED, NO_SCORES))
def value_shared(results: Results) -> Iterator[Claim]:
    """Whether many rows share a score or prediction, such as the default of a scoring system, that no others have."""
    for row in results.shared_values:
        yield Claim(row, extreme_score_findings if row.at_end else default_score_findings)


def default_score_findings(results: Results, rows: Sequence[SharedValue]) -> Iterator[Finding]:
    """Yield findings on a score inside the range that many rows share, perhaps a default for missing scores."""
    for row in rows:
        text = f"{_shared_sentence(results, row)} Was it filled in where there was no score?"
        yield finding("note", weights.FILLED_IN, text, anchor(results, row))


def extreme_score_findings(results: Results, rows: Sequence[SharedValue]) -> Iterator[Finding]:
    """Yield findings on a score that many rows share and that is the lowest or highest of all."""
    for row in rows:
        yield finding("note", weights.CUT_OFF, _shared_sentence(results, row), anchor(results, row))


def _shared_sentence(results: Results, row: SharedValue) -> str:
    """Return the sentence on how many rows share which value, and how many the next one."""
    model = next(model for model in results.models if model.name == row.model)
    is_one = "probability" in model.columns or model.scale is not None
    what = "probability" if is_one else "score" if "score" in model.columns else "prediction"
    event_count = "All" if row.events == row.rows else "None" if not row.events else numbers.count(row.events)
    events = "" if row.events is None else f" {event_count} of these rows are {nouns_of(results).events}."
    value = "probabilities" if row.value is None else f"{what}, {numbers.plain(row.value)},"
    return (f"{names_of(results).model(row.model)} gives the same {value} to {numbers.count(row.rows)} of "
            f"{numbers.count(row.n)} rows{on_dataset(results, row.dataset)} ({numbers.percent(row.rows, row.n)}), and "
            f"no other to more than {numbers.count(row.next_rows)}.{events}")
