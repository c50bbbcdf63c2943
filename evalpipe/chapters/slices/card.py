"""What the card says of slices: the key measures in each, how slices differ, the worst, and the findings on groups."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.method import Procedure
from evalpipe.card.page import Code, Column, Figures, Fold, Heading, Number, Row, Section, Table, Text
from evalpipe.card.tables import MOST_ROWS, ranged, row_anchor, signed_number, status_of
from evalpipe.card.wording import MOST_NAMED, Names, capital, names_of, number_word
from evalpipe.chapters.slices import card_figures
from evalpipe.chapters.slices.card_figures import FIRST, MORE, estimates_by_slice, matrices, sign_legend, slice_forests
from evalpipe.findings import weights
from evalpipe.findings.claims import NO_GATES, NO_SLICES, NOTHING_TESTED, Claim, Unless, p_beyond, rule, unless_key
from evalpipe.findings.margins import AsNote, against_margin, margin_between, margin_of
from evalpipe.findings.words import counted_rate, difference_of, finding, of_model, of_models, rows_of, verb_form
from evalpipe.findings.words import with_limits as value_with_limits
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.page import Block
    from evalpipe.chapters.slices.records import SliceDifference, WorstSlice
    from evalpipe.results import Estimate, Gate, Results
    from evalpipe.results.document import Finding


LEAD = (
    "The key measures in each slice. A slice with too few rows has no numbers. All measures of all slices are in "
)
DISPARITIES_METHOD = Procedure(
    "Disparities",
    "How far apart the slices of one slicing are: the largest value minus the smallest, and the smallest over the "
    "largest, of slices that are large enough and have a value. Chance alone makes a range larger than zero, more so "
    "with small slices; “Expected from chance” estimates by how much, from the replicates.",
)
WORST = Procedure(
    "Worst slices",
    "Combinations of the named columns are searched for the groups in which a measure is worst. Each p-value tests "
    "the difference from all rows, by a normal approximation with its bootstrap error. The worst of many groups look "
    "worse than they are, so p-values are multiplied by the number of groups searched, and limits of the difference "
    "hold for all of these at once (Bonferroni). The corrected difference is the mean of the true differences that may "
    "lie behind the one found, as estimated from all groups searched; a limit keeps it from correcting a lone bad "
    "group away. A value in the table is that of all rows plus the corrected difference, with its limits.",
    "Jiang, W. (2020). On general maximum likelihood empirical Bayes estimation of heteroscedastic IID normal means. "
    "Electronic Journal of Statistics 14(1), 2272–2297.",
)


def sections(results: Results) -> Iterator[Section]:
    """Yield the section on slices, and those of the annex: further rows, on paper, and the tests of differences.

    None where no dataset has slices.
    """
    blocks: list[Block] = []
    further: list[Block] = []
    tests: list[Block] = []
    for dataset in (dataset.name for dataset in results.datasets):
        by_slice, worst = estimates_by_slice(results, dataset), tuple(worst_slices(results, dataset))
        if not by_slice.slicings and not worst:
            continue
        blocks.append(Heading(f"Slices of {dataset}"))
        if by_slice.slicings:
            tables = tuple(matrices(results, dataset, by_slice))
            blocks += [*sign_legend(results, dataset, _references(results, dataset)), *tables]
            further += [table.folded for table in tables if table.folded is not None]
            count = min(card_figures.MOST_FORESTS, len(by_slice.measures))
            lead_of_forests = f"Of the first {count} key {'measure' if count == 1 else 'measures'}; all are in "
            blocks.append(Figures(
                partial(slice_forests, results, dataset),
                above=(Heading("Forest plots", 4), Text((lead_of_forests, Code("estimates.csv"), "."), "lead"))))
        apart = list(disparities(results, dataset))
        further += [block.folded for block in apart if isinstance(block, Table) and block.folded is not None]
        blocks += [*apart, *worst]
        tests += differences(results, dataset)
    if blocks:
        lead_of_all = Text((LEAD, Code("estimates.csv"), " and ", Code("results.json"), "."), "lead")
        yield Section("slices", "Slices", (lead_of_all, *blocks), part="groups")
    if further:
        yield Section(MORE, "More slices", tuple(further), part="appendix", paper=True)
    if tests:
        yield Section("slice-tests", "Tests of slices", tuple(tests), part="appendix")


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield the method notes on disparities and on the search for the worst slices, where there are any."""
    if results.disparities:
        yield DISPARITIES_METHOD
    if results.worst_slices:
        yield WORST


DISPARITIES = {
    "demographic_parity": ("Demographic parity", "the range of the share of rows predicted as events"),
    "equal_opportunity": ("Equal opportunity", "the range of sensitivity"),
    "equalized_odds": (
        "Equalized odds",
        "the larger of the ranges of sensitivity and of the false positive rate, and the smaller of their ratios",
    ),
}
"""What disparities are called, and what they are the range of."""

APART = (
    "How far apart the slices of a slicing are: the largest value minus the smallest, and the smallest over the "
    "largest."
)
BY_CHANCE = "Chance alone makes a range larger; the last column estimates by how much."

REFERENCES = {"overall": "all rows", "rest": "the rows outside the slice"}


def differences(results: Results, dataset: str) -> Iterator[Block]:
    """Yield the blocks on slices that differ significantly from their reference, least p first; none without tests."""
    tested = [d for d in results.slice_differences if d.dataset == dataset and d.variant == "original"]
    if not tested:
        return
    names, significance = names_of(results), 1 - results.intervals.level
    listed = [d for d in tested if d.p_holm is not None and d.p_holm < significance]
    listed.sort(key=lambda d: (d.p_holm or 0.0, d.p_value or 0.0))
    limit, count = numbers.plain(round(significance, 10)), sum(d.p_value is not None for d in tested)
    references = _references(results, dataset)
    which = (f"Those with an adjusted p-value below {limit} are listed." if listed else
             f"None has an adjusted p-value below {limit}.")
    text = (
        f"{numbers.count(count)} {'difference was' if count == 1 else 'differences were'} tested, each slice against "
        f"{' or '.join(references)}. {which} p-values are adjusted (Holm) over the slices of each model and measure: "
        f"for each, the chance of listing any slice that does not differ stays below {limit}. The interval of a "
        "difference comes from the same test as its p-value, for that difference alone; ratios have their own limits. "
        "All are in ")
    yield Heading(f"Differences from the reference on {dataset}")
    yield Text((text, Code("results.json"), "."), "lead")
    if listed:
        columns = (
            Column("Slice"), Column("Model", shown=len(results.models) > 1), Column("Measure"),
            Column("Reference", shown=len(references) > 1), Column("Difference", "num"), Column("Ratio", "num"),
            Column("p-value", "num", "whole"), Column("Adjusted p", "num", "whole"))
        rows = tuple(
            Row((names.slice(d.slice), names.model(d.model), names.measure_of(d),
                 _reference_text(d, names), signed_number(d.difference, d.lower, d.upper),
                 ranged(d.ratio, d.ratio_lower, d.ratio_upper), numbers.p_value(d.p_value), numbers.p_value(d.p_holm)))
            for d in listed)
        yield Table(f"Slices of {dataset} that differ from {' or '.join(references)}", columns, rows,
                    label=f"Differences from the reference on {dataset}", most=MOST_ROWS)


def _references(results: Results, dataset: str) -> tuple[str, ...]:
    """Return what slices of a dataset are compared with, in words such as "all rows"."""
    names = names_of(results)
    return tuple(dict.fromkeys(_reference_text(d, names) for d in results.slice_differences
                               if d.dataset == dataset and d.variant == "original"))


def _reference_text(difference: SliceDifference, names: Names) -> str:
    """Return in words what a slice is compared with: all rows, the rest, or another slice by name."""
    if isinstance(difference.reference, str):
        return REFERENCES[difference.reference]
    return names.slice(difference.reference)


def disparities(results: Results, dataset: str) -> Iterator[Block]:
    """Yield a heading, a text and a table on the disparities between slices of a dataset; nothing without any."""
    listed = [d for d in results.disparities if d.dataset == dataset and d.variant == "original"]
    if not listed:
        return
    names, rows = names_of(results), []
    if len(listed) > FIRST:  # else they stand slicing by slicing; what is the same in every resample cannot be trusted
        listed.sort(key=lambda d: (d.status != "ok", math.inf if d.difference is None else (
            d.expected or 0.0) - d.difference))
    for d in listed:
        name = DISPARITIES[d.disparity][0] if d.disparity in DISPARITIES else (
            names.measure(d.disparity, d.params, d.average))
        difference = Number(status_of(d)) if d.difference is None else ranged(
            d.difference, d.lower, d.upper, None if d.status == "ok" else d.reason)
        by_chance = "–" if d.expected is None else numbers.fixed(
            d.expected, numbers.decimals(d.difference or 0.0, d.lower, d.upper))
        rows.append(Row((
            d.slicing, name, names.model(d.model), difference, ranged(d.ratio, d.ratio_lower, d.ratio_upper),
            " / ".join("–" if end is None else names.label(end) for end in (d.lowest, d.highest)),
            f"{numbers.count(d.used)} of {numbers.count(d.slices)}", by_chance)))
    meanings = dict.fromkeys(
        "{} is {}.".format(*DISPARITIES[d.disparity]) for d in listed if d.disparity in DISPARITIES)
    yield Heading("Disparities", 4)
    yield Text(" ".join((APART, *meanings, BY_CHANCE)), "lead")
    columns = (
        Column("Slicing"), Column("Disparity"), Column("Model", shown=len(results.models) > 1),
        Column("Difference", "num"), Column("Ratio", "num"), Column("Lowest / highest"), Column("Slices used"),
        Column("Expected from chance", "num"))
    yield Table(f"Disparities between slices of {dataset}", columns, tuple(rows), label=f"Disparities on {dataset}",
                fold=Fold(FIRST, MORE))


AS_FOUND = (
    "Groups were chosen for being bad, so numbers as found are too bad on average. Values, corrected differences and "
    "their limits allow for the search.")


def worst_slices(results: Results, dataset: str) -> Iterator[Block]:
    """Yield a table of the worst slices for each model and measure that was searched; nothing without a search."""
    names = names_of(results)
    searches: dict[tuple[str, str], list[WorstSlice]] = {}
    for row in results.worst_slices:
        if row.dataset == dataset and row.variant == "original":
            measure = names.measure(row.metric, row.params, row.average)
            searches.setdefault((names.model(row.model), measure), []).append(row)
    if searches:
        yield Heading("Worst slices", 4)
        counts = dict.fromkeys(numbers.count(ranking[0].searched) for ranking in searches.values())
        count = wording.joined([*counts], "and of")
        yield Text(f"Worst of {count} groups searched; p-values are corrected for that.", "lead")
    columns = (
        Column("Rank", "num"), Column("Slice"), Column("n", "num"),
        Column("Events", "num", shown=results.event is not None), Column("Value", "num"), Column("All rows", "num"),
        Column("Difference found", "num"), Column("Corrected difference", "num"), Column("Adjusted p", "num", "whole"))
    for (model, measure), rows_of_search in searches.items():
        rows = []
        # A value is that of all rows and its corrected difference, so they share their decimals.
        digits = max(numbers.column_decimals(map(corrected_value, rows_of_search)), numbers.column_decimals(
            (row.difference_corrected, row.difference_lower, row.difference_upper) for row in rows_of_search))
        for row in sorted(rows_of_search, key=lambda row: row.rank):
            value = ranged(*corrected_value(row), None if row.status == "ok" else status_of(row), places=digits)
            rows.append(Row((
                str(row.rank), wording.slice_name(row.slice), numbers.count(row.n),
                "–" if row.events is None else numbers.count(row.events), value, numbers.fixed(row.overall, digits),
                numbers.signed(row.difference, digits),
                ranged(row.difference_corrected, row.difference_lower, row.difference_upper, places=digits),
                numbers.p_value(row.p_adjusted)),
                anchor=row_anchor("slices", [row], "worst")))
        yield Table(f"{model}: worst slices of {dataset} by {measure}", columns, tuple(rows),
                    label=f"Worst slices of {dataset}, {model}", heading=1)
    if searches:
        yield Text(AS_FOUND, "small")


if TYPE_CHECKING:
    Judged = tuple[Estimate, float, str]
    """The estimate of a group, the limit of a gate on all rows, and "at least" or "at most"."""


NO_GROUP_GATES = Unless("no-group-gates", by_results=lambda results: not any(
    any(_estimates_in_groups(results, gate)) for gate in _gates_on_all_rows(results)))
NO_GROUPS_TESTED = Unless(NOTHING_TESTED, by_results=lambda results: all(
    row.p_value is None for row in results.slice_differences))


@rule("fails", unless=(NO_SLICES, NO_GATES, NO_GROUP_GATES))
def groups_against_gates(results: Results) -> Iterator[Claim]:
    """Whether each group reaches the limits that gates set for all rows."""
    for gate in _gates_on_all_rows(results):
        for key, side in (("min", "at least"), ("max", "at most")):
            for row in _estimates_in_groups(results, gate) if key in gate.limit else ():
                limit, value = gate.limit[key], row.value or 0.0
                if (value < limit) == (key == "min"):
                    yield Claim((row, limit, side), failing_group_findings, p_beyond(row, limit))


@rule("fails", "note", unless=(NO_SLICES, NO_GROUPS_TESTED))
def groups_against_others(results: Results) -> Iterator[Claim]:
    """Whether a measure is worse in a group than in its reference."""
    better = {metric.name: metric.direction for metric in results.metrics}
    searched = {(row.dataset, row.model, row.metric, str(row.slice)) for row in results.worst_slices}
    for row in results.slice_differences:
        if row.variant != "original" or (row.dataset, row.model, row.metric, str(row.slice)) in searched:
            continue  # what a search came upon is said of that
        worse_side = {"maximize": -1, "minimize": 1}.get(better.get(row.metric, "none"), 0)
        is_worse = row.difference is not None and row.difference * worse_side > 0
        if is_worse and row.p_value is not None and row.status == "ok" and row.lower is not None:
            margin = margin_between(results, "groups", row.metric, _reference_value(results, row))
            yield from against_margin(row, 0, margin, worse_group_findings, p_value=row.p_value,
                                      stated=margin_of(results, "groups"))


@rule("fails", "note", unless=(unless_key("no-search", "worst_slices"),), claims_all=True)
def groups_searched(results: Results) -> Iterator[Claim]:
    """Whether the search for the worst groups found one that is worse than chance explains."""
    for row in results.worst_slices:
        if row.p_adjusted is not None and row.difference_lower is not None and row.difference_upper is not None:
            margin = margin_between(results, "groups", row.metric, row.overall)
            least = min(abs(row.difference_lower), abs(row.difference_upper))  # limits for all groups searched
            is_large = row.difference_lower * row.difference_upper > 0 and least > margin
            as_note = AsNote(worst_group_findings, margin_of(results, "groups"))
            yield Claim(row, worst_group_findings if is_large else as_note, row.p_adjusted)


@rule("note", unless=(NO_SLICES,))
def groups_too_small(results: Results) -> Iterator[Claim]:
    """Whether groups have too few rows to be judged."""
    names = names_of(results)
    small = dict.fromkeys(names.slice(row.slice) for row in results.rows
                          if row.slice is not None and row.status == "insufficient")
    if small:
        yield Claim(tuple(small), small_groups_finding)


def _gates_on_all_rows(results: Results) -> Iterator[Gate]:
    """Yield the gates on a value of an original model on all rows."""
    for gate in results.gates:
        if gate.slice is None and gate.metric is not None and gate.against is None and gate.variant == "original":
            yield gate


def _estimates_in_groups(results: Results, gate: Gate) -> Iterator[Estimate]:
    """Yield the estimates in slices of the measure, model and dataset that a gate judges on all rows."""
    for row in results.rows:
        if row.slice is not None and row.value is not None and row.status == "ok" and (
                row.dataset, row.model, row.variant, row.metric, row.params, row.average, row.class_) == (
                gate.dataset, gate.model, gate.variant, gate.metric, gate.params, gate.average, gate.class_):
            yield row


def failing_group_findings(results: Results, rows: Sequence[Judged]) -> Iterator[Finding]:
    """Yield a finding on each measure: in which group a model is furthest from the limit on all rows."""
    names = names_of(results)
    for metric in dict.fromkeys((row.metric, row.average, row.class_) for row, _, _ in rows):
        misses = [(row, limit, side) for row, limit, side in rows if (row.metric, row.average, row.class_) == metric]
        worst, limit, side = max(misses, key=lambda entry: abs((entry[0].value or 0.0) - entry[1]))
        groups = len({str(row.slice) for row, _, _ in misses})
        others = "" if groups == 1 else f" {capital(number_word(groups))} groups miss it."
        measure = names.measure_of(worst)
        text = (f"{of_model(results, worst)} fails for {names.slice(worst.slice or {})}: {measure} "
                f"{value_with_limits(worst, limit)}; required for all rows: {side} {numbers.plain(limit)}.{others}")
        yield finding("fails", weights.GROUP_FAILS, text, "slices", [
            worst, *(row for row, _, _ in misses if row is not worst)])


def worse_group_findings(results: Results, rows: Sequence[SliceDifference]) -> Iterator[Finding]:
    """Yield a finding on each measure: in which group it is certainly furthest behind, the worst measure first."""
    names = names_of(results)
    by_measure = {metric: [row for row in rows if row.metric == metric] for metric in dict.fromkeys(
        row.metric for row in rows)}
    worst_rows = {metric: max(group_rows, key=lambda row: _certain_shortfall(results, row)) for metric,
                  group_rows in by_measure.items()}
    for metric, worst in sorted(worst_rows.items(), key=lambda pair: -_certain_shortfall(results, pair[1])):
        groups = len({str(row.slice) for row in by_measure[metric]})
        measure = names.measure(metric, worst.params, worst.average)
        others = "" if groups == 1 else f" {measure} is worse in {number_word(groups)} groups in all."
        value, rate = _value_in_group(results, worst), counted_rate(results, worst, worst.slice)
        reference = _reference_in_sentence(names, worst)
        if rate is not None:
            percent = f"{numbers.fixed(100 * _reference_value(results, worst), 0)}%"
            text = (f"{of_model(results, worst)} {rate} for {names.slice(worst.slice)}; {percent} for {reference}. "
                    f"{measure}: difference {difference_of(worst)}.{others}")
        else:
            value_text = "" if value is None else f"{numbers.number(value)}, "
            text = (f"{measure} of {of_model(results, worst)} is worse for {names.slice(worst.slice)} than for "
                    f"{reference}: {value_text}difference {difference_of(worst)}.{others}")
        margin = margin_between(results, "groups", metric, _reference_value(results, worst))
        weight = weights.by_harm(_share_of_rows(results, worst.dataset, rows_of(results, worst)), abs(
            worst.difference or 0.0) / (margin or 1.0))
        yield finding("fails", weight, text, "slices", [
            worst, *(row for row in by_measure[metric] if row is not worst)])


def _value_in_group(results: Results, row: SliceDifference) -> float | None:
    """Return the measure of a difference in the slice itself; None without an estimate."""
    estimate = results.estimate_about.get(row.about)
    return None if estimate is None else estimate.value


def _reference_value(results: Results, row: SliceDifference) -> float:
    """Return the measure of a difference in the reference that the slice is compared with."""
    return (_value_in_group(results, row) or 0.0) - (row.difference or 0.0)


def _share_of_rows(results: Results, dataset: str, n: int) -> float:
    """Return ``n`` as a share of the rows of a dataset."""
    total = next(summary.n for summary in results.datasets if summary.name == dataset)
    return n / total if total else 0.0


def _certain_shortfall(results: Results, row: SliceDifference) -> float:
    """Return how far a group is at least behind its reference, as a share of the value of the reference.

    It is the limit of the difference that is nearer to 0; 0.0 without limits.
    """
    if row.lower is None or row.upper is None:
        return 0.0
    reference_value = abs(_reference_value(results, row))
    return min(abs(row.lower), abs(row.upper)) / reference_value if reference_value else 0.0


def _reference_in_sentence(names: Names, row: SliceDifference) -> str:
    """Return what a slice is compared with, for a sentence: "all rows", "the rest" or the name of a slice."""
    if isinstance(row.reference, str):
        return {"overall": "all rows", "rest": "the rest"}.get(row.reference, row.reference)
    return names.slice(row.reference)


def worst_group_findings(results: Results, rows: Sequence[WorstSlice]) -> Iterator[Finding]:
    """Yield findings on the worst group of those searched for each model; models of one group share a finding."""
    names = names_of(results)
    worst_rows: dict[tuple[str, str], WorstSlice] = {}
    for row in sorted(rows, key=lambda row: row.rank):
        if row.variant == "original":
            worst_rows.setdefault((row.dataset, row.model), row)
    for group in dict.fromkeys((row.dataset, row.metric, str(row.slice)) for row in worst_rows.values()):
        alike = [row for row in worst_rows.values() if (row.dataset, row.metric, str(row.slice)) == group]
        worst, values = alike[0], [f"{_value_text(row)}, against {numbers.number(row.overall)} for all rows"
                                  for row in alike]
        if len(alike) > 1:
            values = [f"{value} ({of_model(results, row)})" for value, row in zip(values, alike, strict=True)]
        verb = verb_form(alike, "does", "do")
        corrected = "the numbers allow for that" if worst.difference_corrected is not None else (
            "p-values are corrected for that")
        text = (f"{of_models(results, alike)} {verb} worst for {names.slice(worst.slice)}: "
                f"{names.measure(worst.metric, worst.params, worst.average)} {'; '.join(values)}. Worst of "
                f"{numbers.count(worst.searched)} groups searched; {corrected}.")
        margin = margin_between(results, "groups", worst.metric, worst.overall)
        weight = weights.by_harm(_share_of_rows(results, worst.dataset, worst.n), abs(
            worst.difference_corrected or worst.difference) / (margin or 1.0))
        yield finding("fails", weight, text, "slices", alike)


def _value_text(row: WorstSlice) -> str:
    """Return the value of a group chosen as the worst, with limits that allow for the search where there are any."""
    value, lower, upper = corrected_value(row)
    return numbers.number(row.value) if row.difference_corrected is None else numbers.with_limits(value, lower, upper)


def corrected_value(row: WorstSlice) -> tuple[float, float | None, float | None]:
    """Return (value, lower, upper) of a slice found as the worst, corrected for the search that found it.

    Without a correction they are uncorrected.
    """
    value, lower, upper = row.difference_corrected, row.difference_lower, row.difference_upper
    if value is None or lower is None or upper is None:
        return row.value, row.lower, row.upper
    return row.overall + value, row.overall + lower, row.overall + upper


def small_groups_finding(_: Results, rows: Sequence[tuple[str, ...]]) -> Iterator[Finding]:
    """Yield a finding that names the groups with too few rows to be judged, or counts them where they are many."""
    groups = rows[0]
    count = len(groups)
    named = f": {'; '.join(groups)}" if count <= MOST_NAMED else ""
    text = (f"{capital(number_word(count))} {'group has' if count == 1 else 'groups have'} too few rows to be "
            f"judged{named}.")
    yield finding("note", weights.UNCHECKED, text, "slices")
