"""What the card says of labels: which rows have an outcome, how far judges are off, and what their labels are worth."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe.base import constants
from evalpipe.card import wording
from evalpipe.card.method import Procedure
from evalpipe.card.page import Column, Heading, Number, Row, Section, Table, Text
from evalpipe.card.tables import key_measures, ranged, signed_number, with_intervals
from evalpipe.card.wording import joined, names_of, nouns_of
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, Unless, rule, unless_key
from evalpipe.findings.words import finding, on_dataset
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.page import Block, Cell
    from evalpipe.chapters.labels.records import (
        JudgeBias,
        LabelArrival,
        LabelledDataset,
        LabelWorth,
        LateLabels,
        SelectionTest,
    )
    from evalpipe.results import Results
    from evalpipe.results.document import Finding

SECTION = "labels"
"""The anchor of the section on labels."""

LEAD = (
    "Not every row has an outcome. A judge labels all rows, with errors of its own; rows with an outcome show these "
    "errors, and measures that use its labels are corrected for them. A useless judge makes limits no narrower and no "
    "measure wrong."
)
LEAD_ALONE = "Not every row has an outcome. Measures are of rows that have one."
LEAD_WEIGHTED = (
    "Not every row has an outcome. Measures are of rows that have one; each of them weighs as much as all rows that "
    "it stands for."
)
BIAS = (
    Column("Judge", style="what"), Column("Rows", style="what"), Column("With an outcome", "num"),
    Column("Share by the judge", "num"), Column("Share by the outcome", "num"), Column("Difference", "num"),
)
AGREEMENT = Column("Agreement", "num")
READ_BIAS = (
    "Share: of events, in rows with an outcome. Difference: how far the judge's share is from that of the outcome, "
    "with its interval."
)
READ_AGREEMENT = " Agreement: the share of rows in which a judge that gives classes says what the outcome is."
WORTH = (
    Column("Measure", style="what"), Column("With the judge", "num"), Column("Outcomes alone", "num"),
    Column("Part of the judge", "num"), Column("Worth", "num"),
)
READ_WORTH = (
    "Outcomes alone: the measure on rows with an outcome, without the judge. Part of the judge: how far its labels "
    "take part, from 0, not at all, to 1, in full; it is the part at which the measure varies least over resamples. "
    "Worth: so many rows with an outcome alone would give an interval as narrow; “no more” where it is no narrower "
    "by more than the noise of resamples."
)
UNWEIGHTED = Column("Measure", style="what"), Column("Weighted", "num"), Column("As if a random part", "num")
READ_UNWEIGHTED = (
    "As if a random part: the measure if each row with an outcome counted alike, which would be wrong here."
)
SELECTION = (
    Column("Rows with an outcome against others", style="what"), Column("What is compared"), Column("Result"),
    Column("p-value", "num"),
)
LATE = (
    Column("What is compared", style="what"), Column("Early", "num"), Column("Late", "num"),
    Column("Difference", "num"), Column("p-value", "num"),
)
FEW = 3
"""The most measures of which the first finding gives the worth."""


def sections(results: Results) -> Iterator[Section]:
    """Yield the section on labels, with a part for each dataset."""
    if results.labelled:
        weighted = any(row.method == "weighted" for row in results.labelled)
        lead = LEAD if results.label_worth else LEAD_WEIGHTED if weighted else LEAD_ALONE
        blocks = [block for row in results.labelled for block in _of_dataset(results, row)]
        yield Section(SECTION, "Labels", (Text(lead, "lead"), *blocks), part="data")


def outcome(results: Results) -> Iterator[tuple[str, str]]:
    """Yield for the head of the card how many rows have an outcome, and the share of events by all labels."""
    for row in results.labelled:
        dataset = f" of {row.dataset}" if len(results.labelled) > 1 else ""
        yield f"Rows with an outcome{dataset}", f"{_count_of(row)}, {_selection(row)}{_lateness(results, row.dataset)}"
        if row.method == "prediction_powered":
            share = wording.observed_share(row.prevalence, row.lower, row.upper)
            yield f"Prevalence{dataset} by all labels", f"{share}; labels by {joined(_judges(results, row.dataset))}"


def _lateness(results: Results, dataset: str) -> str:
    """Return how many rows were not settled, to stand after how many have an outcome; empty where none come late."""
    return "".join(f"; {numbers.count(row.unsettled)} rows were not settled" for row in results.label_arrival
                   if row.dataset == dataset and row.unsettled)


def reading(results: Results, dataset: str) -> Iterator[str]:
    """Yield a sentence on what the measures of a dataset are computed from."""
    for row in results.labelled:
        if row.dataset == dataset and row.method == "prediction_powered":
            yield (f"Measures are of {numbers.count(row.rows)} rows, of which {numbers.count(row.known)} have an "
                   f"outcome; the others count by the labels of {joined(_judges(results, dataset))}, corrected by "
                   f"these. {_of_outcomes(results, dataset)} of rows with an outcome alone.")
        elif row.dataset == dataset:
            weighted = ", weighted so that they stand for all rows" if row.method == "weighted" else ""
            yield (f"Of {numbers.count(row.rows)} rows, {numbers.count(row.known)} have an outcome; measures are of "
                   f"these{weighted}.")


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield how rows with an outcome and labels of judges were brought together."""
    if results.label_worth:
        yield Procedure("Labels of judges", (
            "A statistic is that of rows with an outcome, plus a share of what the judge's labels of all rows are "
            "above its labels of rows with an outcome; the measure is taken of these statistics. A label that is a "
            "probability is an event and a non-event that weigh their shares. The share of each measure is chosen by "
            f"{constants.PILOT} resamples of their own. Resamples draw rows with an outcome and other rows apart, or "
            "whole clusters."),
            "Angelopoulos, A. N., Bates, S., Fannjiang, C., Jordan, M. I. & Zrnic, T. (2023). Prediction-powered "
            "inference. Science 382, 669–674. Angelopoulos, A. N., Duchi, J. C. & Zrnic, T. (2023). PPI++: efficient "
            "prediction-powered inference. arXiv:2311.01453.")
    if any(row.selected != "random" for row in results.labelled):
        yield Procedure("Rows chosen for their outcome", (
            "A row with an outcome weighs 1 / the probability with which it was chosen, or the rows of its stratum "
            "over those with an outcome; weights are brought to the total of all rows. Where there are strata, "
            "resamples draw rows within each; how many varies as its share does among all rows."),
            "Begg, C. B. & Greenes, R. A. (1983). Assessment of diagnostic tests when disease verification is subject "
            "to selection bias. Biometrics 39, 207–215. Hájek, J. (1971). Comment on a paper by D. Basu. In "
            "Foundations of statistical inference, 236. Holt, Rinehart and Winston.")


NO_LABELS = unless_key("no-labels", "labels")
NO_JUDGE = Unless("no-judge", lambda spec: not (spec.get("labels") or {}).get("judge"))
NOT_RANDOM = Unless("selection-not-random", lambda spec: (spec.get("labels") or {}).get("selected") != "random")
RANDOM = Unless("selection-random", lambda spec: (spec.get("labels") or {}).get("selected") == "random")
NOT_LATE = Unless("no-late-outcomes", by_results=lambda results: not results.late_labels)
ALL_KNOWN = Unless("few-outcomes-to-compare", by_results=lambda results: not results.selection_tests)
SURE = 0.01
"""The adjusted p-value below which rows with an outcome are called no random part: a convention of evalpipe."""
UNEVEN = 0.5
"""The effective rows over the rows with an outcome below which weights are called uneven: a convention too."""


@rule("fails", unless=(NO_LABELS, NOT_RANDOM, ALL_KNOWN))
def labels_not_random(results: Results) -> Iterator[Claim]:
    """Whether rows with an outcome, said to be a random part, differ from others in scores, labels or slices."""
    yield from (Claim(row, not_random_findings) for row in results.selection_tests if row.p_adjusted < SURE)


def not_random_findings(results: Results, rows: Sequence[SelectionTest]) -> Iterator[Finding]:
    """Yield findings on rows with an outcome that are unlike others."""
    for dataset in dict.fromkeys(row.dataset for row in rows):
        apart = [row for row in rows if row.dataset == dataset]
        text = (f"Rows with an outcome{on_dataset(results, dataset)} are no random part of all rows, though the spec "
                f"says so: {joined([_difference(results, row) for row in apart])}. Measures may be wrong by any "
                "amount. Name the probability or the strata by which rows were chosen, under 'labels: {selected: …}'.")
        yield finding("fails", weights.NOT_RANDOM, text, SECTION)


@rule("note", unless=(NO_LABELS, RANDOM))
def labels_uneven(results: Results) -> Iterator[Claim]:
    """Whether rows with an outcome were chosen so unevenly that they are worth less than half of their number."""
    yield from (Claim(row, uneven_findings) for row in results.labelled if row.effective < UNEVEN * row.known)


def uneven_findings(results: Results, rows: Sequence[LabelledDataset]) -> Iterator[Finding]:
    """Yield findings on outcomes whose weights differ much."""
    for row in rows:
        text = (f"The {numbers.count(row.known)} outcomes{on_dataset(results, row.dataset)} are worth "
                f"{numbers.count(round(row.effective))} of equal weight. Some rows were chosen with a probability as "
                f"low as {numbers.number(row.least_chance)}: each of them stands for many.")
        yield finding("note", weights.UNEVEN_LABELS, text, SECTION)


@rule("note", unless=(NO_LABELS, NO_JUDGE))
def judge_biased(results: Results) -> Iterator[Claim]:
    """Whether a judge calls more rows events than are, or fewer, by the interval of the difference."""
    for row in results.judge_bias:
        if row.slice is None and row.lower is not None and row.upper is not None and not row.lower <= 0 <= row.upper:
            yield Claim(row, biased_findings)


def biased_findings(results: Results, rows: Sequence[JudgeBias]) -> Iterator[Finding]:
    """Yield findings on judges whose share of events is not that of the outcomes."""
    for row in rows:
        by, low, high = (numbers.fixed(100 * abs(end or 0.0), 1) for end in (
            row.bias, *sorted((row.lower or 0.0, row.upper or 0.0), key=abs)))
        text = (f"The judge {row.judge} sees {'more' if row.bias > 0 else 'fewer'} {nouns_of(results).events}"
                f"{on_dataset(results, row.dataset)} than there are, by {by} points ({low} to {high}). Measures that "
                "use its labels are corrected for it.")
        yield finding("note", weights.JUDGE_BIASED, text, SECTION)


@rule("note", unless=(NO_LABELS, NO_JUDGE))
def labels_worth(results: Results) -> Iterator[Claim]:
    """How many rows with an outcome alone would give limits as narrow as these with the labels of judges."""
    yield from (Claim(row, worth_findings) for row in _of_key_measures(results))


def worth_findings(results: Results, rows: Sequence[LabelWorth]) -> Iterator[Finding]:
    """Yield a finding on each dataset: what its outcomes are worth with the labels of judges."""
    names = names_of(results)
    for dataset in dict.fromkeys(row.dataset for row in rows):
        known = next(row.known for row in results.labelled if row.dataset == dataset)
        of_dataset = [row for row in rows if row.dataset == dataset]
        more, no_more = [], []
        for row in of_dataset:
            measure = names.measure(row.metric, row.params, row.average)
            if _adds(results, row):
                more.append(f"about {_about((row.worth or 0.0) * known / row.n)} for {measure}")
            else:
                no_more.append(measure)
        model = f" of {names.model(of_dataset[0].model)}" if len(results.models) > 1 else ""
        labels = f"the labels of {joined(_judges(results, dataset))}"
        outcomes = f"the {numbers.count(known)} outcomes{on_dataset(results, dataset)}"
        worth = f"With {labels}, {outcomes} are worth {joined(more)}{model}."
        nothing = (f"For {joined(no_more)} they add nothing." if more else
                   f"{wording.capital(labels)} add nothing to {outcomes} for {joined(no_more)}{model}.")
        text = " ".join([*([worth] if more else []), *([nothing] if no_more else [])])
        yield finding("note", weights.LABELS_WORTH, text, SECTION, of_dataset)


@rule("note", unless=(NO_LABELS, NOT_LATE))
def late_labels_differ(results: Results) -> Iterator[Claim]:
    """Whether outcomes that became known late differ from those that did so early, among settled rows."""
    yield from (Claim(row, late_findings) for row in results.late_labels
                if row.p_adjusted is not None and row.p_adjusted < SURE)


def late_findings(results: Results, rows: Sequence[LateLabels]) -> Iterator[Finding]:
    """Yield a finding on each dataset: in what outcomes that come late are others than those that come early."""
    for dataset in dict.fromkeys(row.dataset for row in rows):
        apart = [row for row in rows if row.dataset == dataset]
        days = f"more than {numbers.plain(apart[0].until)} days after their row{on_dataset(results, dataset)}"
        by = joined([
            f"the {'share of events' if row.judge is None else f'bias of the judge {row.judge}'} by "
            f"{numbers.signed_with_limits(row.difference, row.lower, row.upper)}" for row in apart])
        text = (f"Outcomes that become known {days} differ from earlier ones: {by}. Early outcomes say nothing of rows "
                "that are not settled.")
        yield finding("note", weights.LATE_LABELS, text, SECTION)


def _about(worth: float) -> str:
    """Return a number of outcomes to two digits: it is a ratio of variances of resamples, which say no more."""
    return numbers.count(round(float(f"{worth:.2g}")))


def _adds(results: Results, row: LabelWorth) -> bool:
    """Tell whether the labels of judges make limits narrower, by more than three standard errors of the worth.

    A quotient of two variances by quantiles of B resamples each has a relative standard error of 2.7 / sqrt(B).
    """
    noise = 3 * 2.7 / math.sqrt(max(results.intervals.replicates, 1))
    return row.worth is not None and any(row.shares.values()) and row.worth > row.n * (1 + noise)


def _of_key_measures(results: Results) -> list[LabelWorth]:
    """Return what labels are worth for the key measures of the first model on all rows."""
    keys = key_measures(results)[:FEW]
    first = results.models[0].name if results.models else ""
    rows = [row for row in results.label_worth if row.slice is None and row.variant == "original" and row.worth]
    return [row for key in keys for row in rows if row.metric == key and row.model == first]


def _count_of(row: LabelledDataset) -> str:
    """Return how many rows have an outcome: "400 of 5,000 rows (8.0%)"."""
    return f"{numbers.count(row.known)} of {numbers.count(row.rows)} rows ({numbers.percent(row.known, row.rows)})"


def _of_outcomes(results: Results, dataset: str) -> str:
    """Return what no judge takes part in, with the verb: "Counts, figures and Expected calibration error are"."""
    judged = {(row.metric, str(row.params)) for row in results.label_worth if row.dataset == dataset}
    names = names_of(results)
    alone = dict.fromkeys(names.measure(row.metric, row.params, row.average) for row in results.rows
                          if row.dataset == dataset and (row.metric, str(row.params)) not in judged)
    return f"{joined(['Counts', 'figures', *alone])} are"


def _selection(row: LabelledDataset) -> str:
    """Return in words how rows came to have an outcome."""
    if row.selected == "random":
        return "said to be a random part of all rows"
    if row.selected == "probability":
        return f"chosen with the probability in column {row.columns[0]}"
    return f"said to be a random part of each stratum by {joined(row.columns)}"


def _judges(results: Results, dataset: str) -> list[str]:
    """Return the names of the judges of a dataset."""
    return list(dict.fromkeys(row.judge for row in results.judge_bias if row.dataset == dataset))


def _difference(results: Results, row: SelectionTest) -> str:
    """Return how rows with an outcome differ from others: "forest scores them higher (AUC 0.61)"."""
    if row.auc is not None and row.p_adjusted >= SURE:
        return f"alike (AUC {numbers.number(row.auc)})"
    if row.auc is not None:
        higher = "higher" if row.auc > 1 / 2 else "lower"
        who = names_of(results).model(row.name) if row.kind == "model" else row.name
        return f"{who} scores them {higher} (AUC {numbers.number(row.auc)})"
    return (f"{numbers.percent(row.share or 0.0, 1)} of {row.name} {row.group} have one, "
            f"{numbers.percent(row.others or 0.0, 1)} of all")


def _of_dataset(results: Results, row: LabelledDataset) -> Iterator[Block]:
    """Yield the blocks of one dataset."""
    if len(results.labelled) > 1:
        yield Heading(row.dataset)
    effective = "" if row.selected == "random" else (
        f" Weighted, they are worth {numbers.count(round(row.effective))} rows of equal weight.")
    yield Text(f"{_count_of(row)} have an outcome, {_selection(row)}.{effective}")
    yield from (Text(_settled(arrival)) for arrival in results.label_arrival if arrival.dataset == row.dataset)
    judges = [bias for bias in results.judge_bias if bias.dataset == row.dataset]
    if judges:
        agree = any(bias.agreement is not None for bias in judges)
        yield Table(f"How far judges are off{with_intervals(results, limited=judges[0].lower is not None)}",
                    (*BIAS, *([AGREEMENT] if agree else [])),
                    tuple(_bias_row(results, bias, agree=agree) for bias in judges), stacked=True)
        yield Text(f"{READ_BIAS}{READ_AGREEMENT if agree else ''}", "small")
    yield from _worth_tables(results, row.dataset)
    yield from _unweighted_tables(results, row.dataset)
    late = [compared for compared in results.late_labels if compared.dataset == row.dataset]
    if late:
        early_rows, late_rows = (numbers.count(rows) for rows in (late[0].early_rows, late[0].late_rows))
        yield Table(f"Outcomes known within {numbers.plain(late[0].until)} days, {early_rows}, and later, {late_rows}",
                    LATE, tuple(Row((
                        "share of events" if compared.judge is None else f"bias of {compared.judge}",
                        _share(compared.early), _share(compared.late),
                        signed_number(compared.difference, compared.lower, compared.upper),
                        numbers.p_value(compared.p_adjusted))) for compared in late), stacked=True)
    tests = [test for test in results.selection_tests if test.dataset == row.dataset]
    if tests:
        yield Table("Whether rows with an outcome are like other rows", SELECTION, tuple(
            Row((names_of(results).model(test.name) if test.kind == "model" else test.name,
                 "share with an outcome" if test.kind == "slicing" else "scores",
                 _difference(results, test), numbers.p_value(test.p_adjusted))) for test in tests), stacked=True)


def _settled(row: LabelArrival) -> str:
    """Return the sentence on how many rows are settled, and what counts of others."""
    others = "count by the labels of judges alone" if row.judged else "are left out"
    return (f"{numbers.count(row.settled)} rows were settled by {row.known_by}, {row.within} days after their own day. "
            f"{numbers.count(row.unsettled)} were not, and {others}: outcomes that come early may be others.")


def _bias_row(results: Results, row: JudgeBias, *, agree: bool) -> Row:
    """Return the row of a judge, on all rows or in a slice; ``agree``, with the column of agreement."""
    where: Cell = "all" if row.slice is None else names_of(results).slice(row.slice)
    return Row((row.judge, where, numbers.count(row.rows), _share(row.label), _share(row.outcome),
                signed_number(row.bias, row.lower, row.upper),
                *((["–"] if row.agreement is None else [_share(row.agreement)]) if agree else [])))


def _share(value: float) -> Number:
    """Return a share as a cell."""
    return Number(numbers.number(value), exact=numbers.exact(value))


def _worth_tables(results: Results, dataset: str) -> Iterator[Block]:
    """Yield for each model the table of its measures on all rows, with and without the judges."""
    names, estimates = names_of(results), {row.about: row for row in results.rows}
    of_dataset = [row for row in results.label_worth if row.dataset == dataset and row.slice is None]
    for model in dict.fromkeys(row.model for row in of_dataset):
        rows = [row for row in of_dataset if row.model == model]
        cells = []
        for row in rows:
            estimate = estimates.get(row.about)
            cells.append(Row((
                names.measure(row.metric, row.params, row.average),
                "–" if estimate is None else ranged(estimate.value, estimate.lower, estimate.upper),
                ranged(row.alone, row.lower, row.upper),
                joined([numbers.fixed(share, 2) for share in row.shares.values()]),
                "–" if row.worth is None else _about(row.worth) if _adds(results, row) else "no more")))
        judges = joined(list(rows[0].shares))
        yield Table(f"What the labels of {judges} add for {names.model(model)}", WORTH,
                    tuple(cells), stacked=True)
    if of_dataset:
        yield Text(READ_WORTH, "small")


def _unweighted_tables(results: Results, dataset: str) -> Iterator[Block]:
    """Yield for each model the table of its measures on all rows, weighted and not."""
    names, estimates = names_of(results), {row.about: row for row in results.rows}
    of_dataset = [row for row in results.unweighted if row.dataset == dataset]
    for model in dict.fromkeys(row.model for row in of_dataset):
        yield Table(f"What the weights change for {names.model(model)}", UNWEIGHTED, tuple(
            Row((names.measure(row.metric, row.params, row.average),
                 "–" if estimate is None else ranged(estimate.value, estimate.lower, estimate.upper),
                 "–" if row.unweighted is None else _share(row.unweighted)))
            for row in of_dataset if row.model == model for estimate in [estimates.get(row.about)]), stacked=True)
    if of_dataset:
        yield Text(READ_UNWEIGHTED, "small")
