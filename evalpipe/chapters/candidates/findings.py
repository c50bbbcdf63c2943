"""Which candidate is the most desirable, and which have no place in the ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.chapters.candidates.words import best_of, first_said, front_said, near_said, undefined_said
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, rule
from evalpipe.findings.words import finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import Candidates, Results
    from evalpipe.results.document import Finding, FindingKind

SECTION = "candidates"


@rule
def best_candidate(results: Results) -> Iterator[Claim]:
    """Which candidate is the most desirable, and whether others lie within one standard error of it."""
    if results.candidates.ranking:
        first = best_of(results.candidates)
        yield Claim(results.candidates, most_desirable if first and first[0].value else none_acceptable)


@rule
def candidates_ranked(results: Results) -> Iterator[Claim]:
    """Whether every candidate has the values that the goals need."""
    if any(candidate.value is None for candidate in results.candidates.ranking):
        yield Claim(results.candidates, unranked)


def most_desirable(results: Results, rows: Sequence[Candidates]) -> Iterator[Finding]:
    """Say which candidate is first, and how many others may be as good."""
    near, front = near_said(results), front_said(results)
    first = first_said(results)
    text = f"{first}; {front}." if front else f"{first}."
    alone = len(best_of(rows[0])) == 1 and not any(c.near and c.rank != 1 for c in rows[0].ranking)
    kind: FindingKind = "note" if not near else "holds" if alone else "open"
    yield finding(kind, weights.RANKED, f"{text} {near}." if near else text, SECTION)


def none_acceptable(results: Results, _: Sequence[Candidates]) -> Iterator[Finding]:
    """Say that no candidate can be chosen."""
    yield finding("fails", weights.GOAL_MISSED, f"{first_said(results)}.", SECTION)


def unranked(results: Results, _: Sequence[Candidates]) -> Iterator[Finding]:
    """Say how many candidates have no overall desirability."""
    yield finding("note", weights.WARNED, f"{undefined_said(results)}.", SECTION)
