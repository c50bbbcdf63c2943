"""In which groups a model does worst: below what a gate asks of all rows, or worse than the rows beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.wording import capital, names_of, number_word
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, p_beyond, rule
from evalpipe.findings.words import agreeing, difference_of, finding, of_model, of_models, with_limits
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.wording import Names
    from evalpipe.chapters.slices.records import SliceDifference, WorstSlice
    from evalpipe.results import Estimate, Gate, Results
    from evalpipe.results.document import Finding

    Judged = tuple[Estimate, float, str]
    """The estimate of a group, the limit of a gate on all rows, and "at least" or "at most"."""


@rule
def groups_against_gates(results: Results) -> Iterator[Claim]:
    """Whether each group reaches the limits that gates set for all rows."""
    for gate in results.gates:
        if gate.slice is not None or gate.metric is None or gate.against is not None or gate.variant != "original":
            continue
        for key, side in (("min", "at least"), ("max", "at most")):
            for row in _groups(results, gate) if key in gate.limit else ():
                limit, value = gate.limit[key], row.value or 0.0
                if (value < limit) == (key == "min"):
                    yield Claim((row, limit, side), group_fails, p_beyond(row, limit))


@rule
def groups_against_others(results: Results) -> Iterator[Claim]:
    """Whether a measure is worse in a group than in its reference."""
    better = {metric.name: metric.direction for metric in results.metrics}
    searched = {(row.dataset, row.model, row.metric, str(row.slice)) for row in results.worst_slices}
    for row in results.slice_differences:
        if row.variant != "original" or (row.dataset, row.model, row.metric, str(row.slice)) in searched:
            continue  # what a search came upon is said of that
        sign = {"maximize": -1, "minimize": 1}.get(better.get(row.metric, "none"), 0)
        if row.difference is not None and row.p_value is not None and row.difference * sign > 0 and row.status == "ok":
            yield Claim(row, group_worse, row.p_value)


@rule
def groups_searched(results: Results) -> Iterator[Claim]:
    """Whether the search for the worst groups found one that is worse than chance explains."""
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
        others = "" if groups == 1 else f" {capital(number_word(groups))} groups miss it."
        measure = names.measure(worst.metric, worst.params, worst.average, worst.class_)
        text = (f"{of_model(results, worst)} fails for {names.slice(worst.slice or {})}: {measure} "
                f"{with_limits(worst, limit)}; required for all rows: {side} {numbers.plain(limit)}.{others}")
        yield finding("fails", weights.GROUP_FAILS, text, "slices", [row for row, _, _ in judged])


def group_worse(results: Results, rows: Sequence[SliceDifference]) -> Iterator[Finding]:
    """Say of each measure in which group it is certainly furthest behind, the measure of the worst such group first."""
    names = names_of(results)
    by_measure = {metric: [row for row in rows if row.metric == metric] for metric in dict.fromkeys(
        row.metric for row in rows)}
    worst_rows = {metric: max(same, key=lambda row: _certain(results, row)) for metric, same in by_measure.items()}
    for metric, worst in sorted(worst_rows.items(), key=lambda pair: -_certain(results, pair[1])):
        groups = len({str(row.slice) for row in by_measure[metric]})
        others = "" if groups == 1 else f" It is worse in {number_word(groups)} groups in total."
        inside = _inside(results, worst)
        at = "" if inside is None else f"{numbers.number(inside)}, "
        text = (f"{names.measure(metric, worst.params, worst.average)} of {of_model(results, worst)} is worse for "
                f"{names.slice(worst.slice)} than for {_beside(names, worst)}: {at}difference "
                f"{difference_of(worst)}.{others}")
        yield finding("fails", weights.GROUP_WORSE, text, "slices", by_measure[metric])


def _inside(results: Results, row: SliceDifference) -> float | None:
    """Return the value in the group of a difference."""
    return next((estimate.value for estimate in results.rows if estimate.about == row.about), None)


def _certain(results: Results, row: SliceDifference) -> float:
    """Return by what share of the value beside it a group is behind at least: of the limit that is nearer to 0."""
    if row.lower is None or row.upper is None:
        return 0.0
    beside = abs((_inside(results, row) or 0.0) - (row.difference or 0.0))
    return min(abs(row.lower), abs(row.upper)) / beside if beside else 0.0


def _beside(names: Names, row: SliceDifference) -> str:
    """Name what a group is compared with."""
    if isinstance(row.reference, str):
        return {"overall": "all rows", "rest": "the rest"}.get(row.reference, row.reference)
    return names.slice(row.reference)


def group_found(results: Results, rows: Sequence[WorstSlice]) -> Iterator[Finding]:
    """Say which group of those searched is the worst of each model; of several models together where it is one."""
    names = names_of(results)
    first: dict[tuple[str, str], WorstSlice] = {}
    for row in sorted(rows, key=lambda row: row.rank):
        if row.variant == "original":
            first.setdefault((row.dataset, row.model), row)
    for group in dict.fromkeys((row.dataset, row.metric, str(row.slice)) for row in first.values()):
        same = [row for row in first.values() if (row.dataset, row.metric, str(row.slice)) == group]
        worst, values = same[0], [f"{numbers.number(row.value)}, against {numbers.number(row.overall)} for all rows"
                                  for row in same]
        if len(same) > 1:
            values = [f"{value} ({of_model(results, row)})" for value, row in zip(values, same, strict=True)]
        verb = agreeing(same, "does", "do")
        allowing = _for_the_search(results, same)
        corrected = f"allowing for that, the difference is {allowing}" if allowing else (
            "p-values are corrected for that")
        text = (f"{of_models(results, same)} {verb} worst for {names.slice(worst.slice)}: "
                f"{names.measure(worst.metric, worst.params, worst.average)} {'; '.join(values)}. Worst of "
                f"{numbers.count(worst.searched)} groups searched; {corrected}.")
        yield finding("fails", weights.GROUP_WORSE, text, "slices", same)


def _for_the_search(results: Results, rows: Sequence[WorstSlice]) -> str:
    """Write the differences of groups that were chosen for being the worst, with limits that allow for that."""
    written = []
    for row in rows:
        value, lower, upper = row.difference_corrected, row.difference_lower, row.difference_upper
        if value is not None and lower is not None and upper is not None:
            text, interval = numbers.interval(value, lower, upper)
            written.append(f"{text} ({interval}{'' if len(rows) == 1 else f'; {of_model(results, row)}'})")
    return ", ".join(written)


def too_small(_: Results, rows: Sequence[int]) -> Iterator[Finding]:
    """Say how many groups could not be judged."""
    count = rows[0]
    text = f"{capital(number_word(count))} {'group has' if count == 1 else 'groups have'} too few rows to be judged."
    yield finding("note", weights.UNCHECKED, text, "slices")
