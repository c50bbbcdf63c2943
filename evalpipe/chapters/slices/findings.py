"""In which groups a model does worst: below what a gate asks of all rows, or worse than the rows beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card.names import names_of
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, p_beyond
from evalpipe.findings.rules import rule
from evalpipe.findings.words import finding, of_model, with_limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.chapters.slices.records import SliceDifference, WorstSlice
    from evalpipe.results import Estimate, Gate, Results
    from evalpipe.results.findings import Finding

    Judged = tuple[Estimate, float, str]
    """The estimate of a group, the limit of a gate on all rows, and "at least" or "at most"."""


@rule
def groups_against_gates(results: Results) -> Iterator[Claim]:
    """Whether each group reaches what a gate asks of all rows."""
    for gate in results.gates:
        if gate.slice is not None or gate.metric is None or gate.against is not None:
            continue
        for key, side in (("min", "at least"), ("max", "at most")):
            for row in _groups(results, gate) if key in gate.limit else ():
                limit, value = gate.limit[key], row.value or 0.0
                if (value < limit) == (key == "min"):
                    yield Claim((row, limit, side), group_fails, p_beyond(row, limit))


@rule
def groups_against_others(results: Results) -> Iterator[Claim]:
    """Whether a measure is worse in a group than in what it is compared with."""
    better = {metric.name: metric.direction for metric in results.metrics}
    for row in results.slice_differences:
        sign = {"maximize": -1, "minimize": 1}.get(better.get(row.metric, "none"), 0)
        if row.difference is not None and row.p_value is not None and row.difference * sign > 0:
            yield Claim(row, group_worse, row.p_value)


@rule
def groups_searched(results: Results) -> Iterator[Claim]:
    """Whether the search for the worst groups came upon one that is worse than chance makes it."""
    yield from (Claim(row, group_found, row.p_adjusted) for row in results.worst_slices if row.p_adjusted is not None)


@rule
def groups_too_small(results: Results) -> Iterator[Claim]:
    """Whether groups have too few rows to be judged."""
    small = {str(row.slice) for row in results.rows if row.slice is not None and row.status == "insufficient"}
    if small:
        yield Claim(len(small), too_small)


def _groups(results: Results, gate: Gate) -> Iterator[Estimate]:
    """Yield the estimates in slices of the number that a gate is on."""
    for row in results.rows:
        if row.slice is not None and row.value is not None and row.status == "ok" and (
                row.dataset, row.model, row.variant, row.metric, row.params, row.average, row.class_) == (
                gate.dataset, gate.model, gate.variant, gate.metric, gate.params, gate.average, gate.class_):
            yield row


def group_fails(results: Results, rows: Sequence[Judged]) -> Iterator[Finding]:
    """Say of each measure in which group a model is furthest from what is asked of all rows."""
    names = names_of(results)
    for metric in dict.fromkeys((row.metric, row.average, row.class_) for row, _, _ in rows):
        judged = [(row, limit, side) for row, limit, side in rows if (row.metric, row.average, row.class_) == metric]
        worst, limit, side = max(judged, key=lambda entry: abs((entry[0].value or 0.0) - entry[1]))
        groups = len({str(row.slice) for row, _, _ in judged})
        others = "" if groups == 1 else f" {numbers.count(groups)} groups fall short of it."
        measure = names.measure(worst.metric, worst.params, worst.average, worst.class_)
        group = names.slice(worst.slice or {})
        text = (f"{of_model(results, worst)} fails for {group}: {measure} {with_limits(worst)}, where "
                f" {side} {numbers.plain(limit)} is required of all rows.{others}")
        yield finding("fails", weights.GROUP_FAILS, text, "slices", [row for row, _, _ in judged])


def group_worse(results: Results, rows: Sequence[SliceDifference]) -> Iterator[Finding]:
    """Say of each measure and model in which group it is worst."""
    names = names_of(results)
    for metric in dict.fromkeys(row.metric for row in rows):
        same = [row for row in rows if row.metric == metric]
        worst = max(same, key=lambda row: abs(row.difference or 0.0))
        reference = worst.reference if isinstance(worst.reference, str) else names.slice(worst.reference)
        beside = {"overall": "all rows", "rest": "the rest"}.get(reference, reference)
        value, limits = numbers.signed_interval(worst.difference or 0.0, worst.lower, worst.upper)
        groups = len({str(row.slice) for row in same})
        others = "" if groups == 1 else f" It is worse in {numbers.count(groups)} groups."
        text = (f"{names.measure(metric, worst.params, worst.average)} of {of_model(results, worst)} is worst for "
                f"{names.slice(worst.slice)}: {value}{'' if limits is None else f' ({limits})'} against {beside}."
                f"{others}")
        yield finding("fails", weights.GROUP_WORSE, text, "slices", same)


def group_found(results: Results, rows: Sequence[WorstSlice]) -> Iterator[Finding]:
    """Say which group of those searched is the worst of each model."""
    names = names_of(results)
    for model in dict.fromkeys((row.dataset, row.model, row.variant) for row in rows):
        worst = min((row for row in rows if (row.dataset, row.model, row.variant) == model), key=lambda row: row.rank)
        text = (f"{of_model(results, worst)} is worst for {names.slice(worst.slice)}: "
                f"{names.measure(worst.metric, worst.params, worst.average)} {numbers.number(worst.value)}, against "
                f"{numbers.number(worst.overall)} for all rows. Worst of {numbers.count(worst.searched)} groups "
                "searched; p-values are corrected for that.")
        yield finding("fails", weights.GROUP_WORSE, text, "slices", [worst])


def too_small(_: Results, rows: Sequence[int]) -> Iterator[Finding]:
    """Say how many groups could not be judged."""
    count = rows[0]
    text = f"{numbers.count(count)} {'group has' if count == 1 else 'groups have'} too few rows to be judged."
    yield finding("note", weights.UNCHECKED, text, "slices")
