"""Findings on the data: rows left out, rows shared with other datasets, what the run warned of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.wording import joined
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim
from evalpipe.findings.rules import rule
from evalpipe.findings.words import finding
from evalpipe.results.tables import GONE
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import DatasetSummary, Results, Warned
    from evalpipe.results.findings import Finding

SAID_ELSEWHERE = frozenset({"worse-than-chance", "squeezed-scores", "incomplete-rows", "missing-in-condition", *GONE})
"""The codes of warnings whose content is a finding of its own."""

WARNED = {"clipped": weights.CLIPPED, "alike-rows": weights.DRIFT}
"""What warnings weigh that matter more than others."""


MOST_COLUMNS = 3
"""The most columns that a sentence names."""


@rule
def rows_left_out(results: Results) -> Iterator[Claim]:
    """Whether rows were left out because a value is missing."""
    yield from (Claim(dataset, incomplete) for dataset in results.datasets
                if dataset.role == "evaluate" and (dataset.excluded_incomplete or dataset.unknown_where))


@rule
def rows_shared(results: Results) -> Iterator[Claim]:
    """Whether an evaluated row was also used for training or fitting; such a row stops the run."""
    alike = any(warning.code == "alike-rows" for warning in results.warnings)
    for dataset in results.datasets:
        for other, columns in dataset.compared.items() if dataset.role == "evaluate" else ():
            if not alike:
                yield Claim((dataset.name, other, tuple(columns)), not_shared)


@rule
def warnings(results: Results) -> Iterator[Claim]:
    """Warnings of the run that no other finding mentions."""
    yield from (Claim(warning, warned) for warning in results.warnings if warning.code not in SAID_ELSEWHERE)


@rule
def gone(results: Results) -> Iterator[Claim]:
    """Whether the models, datasets and gates of the run before are still there."""
    yield from (Claim(warning, lost) for warning in results.warnings if warning.code in GONE)


def lost(_: Results, rows: Sequence[Warned]) -> Iterator[Finding]:
    """Say what the run before had and this one has not."""
    for warning in rows:
        yield finding("open", weights.GONE, f"{warning.message}.", "warnings")


def incomplete(_: Results, rows: Sequence[DatasetSummary]) -> Iterator[Finding]:
    """Say how many rows lack a value that they need."""
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


def not_shared(_: Results, rows: Sequence[tuple[str, str, tuple[str, ...]]]) -> Iterator[Finding]:
    """Say with which datasets evaluated rows were compared, and by what."""
    for columns in dict.fromkeys(columns for _, _, columns in rows):
        others = dict.fromkeys(other for _, other, by in rows if by == columns)
        how = f"compared by {joined(columns) if len(columns) <= MOST_COLUMNS else f'all {len(columns)} columns read'}"
        yield finding("holds", weights.CHECKED, f"No evaluated row is also in {joined(list(others))} ({how}).", "data")


def warned(_: Results, rows: Sequence[Warned]) -> Iterator[Finding]:
    """Pass warnings on, of each kind the first, and say how many more there are."""
    for code in dict.fromkeys(warning.code for warning in rows):
        alike = [warning.message.removesuffix(".") for warning in rows if warning.code == code]
        more = len(alike) - 1
        rest = "" if not more else f" {more} more {'warning is' if more == 1 else 'warnings are'} of this kind."
        yield finding("note", WARNED.get(code, weights.WARNED), f"{alike[0]}.{rest}", "warnings")
