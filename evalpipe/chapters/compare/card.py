"""What the card says of models against a baseline and of datasets against another: figures, tables and findings."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.figures import panel
from evalpipe.card.figures.axes import LINE, Axis, number_axis
from evalpipe.card.figures.context import context_of
from evalpipe.card.figures.labels import name_rows
from evalpipe.card.figures.panel import ROOM, RowLabel, rows_by_model
from evalpipe.card.figures.svg import Sheet, drawing, more_models_than_inks
from evalpipe.card.method import Procedure
from evalpipe.card.page import Aside, Code, Column, Figures, Heading, Link, Number, Row, Section, Table, Text, Verdict
from evalpipe.card.tables import (
    MOST_ROWS,
    key_measures,
    metric_of,
    note_of,
    row_anchor,
    same_rows_sentences,
    signed_number,
    status_of,
    with_intervals,
)
from evalpipe.card.wording import Names, names_of
from evalpipe.chapters.compare.card_pairs import is_pair, verdict_or_leaning
from evalpipe.findings import weights
from evalpipe.findings.claims import NO_BASELINE, ONE_EVALUATED, ONE_MODEL, Claim, Unless, rule
from evalpipe.findings.margins import DEFAULTS
from evalpipe.findings.margins import margin_of as size_of_effect
from evalpipe.findings.words import by_dataset, difference_of, finding, first_of, grouped, of_model
from evalpipe.words import numbers
from evalpipe.words.spelling import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalpipe.card.figures.panel import RowPanel
    from evalpipe.card.figures.svg import Drawing, Series
    from evalpipe.card.page import Block, Cell
    from evalpipe.results import Comparison, Results
    from evalpipe.results.document import Finding, FindingKind


    Groups = dict[str, dict[str, Comparison]]


ARROWS = {"maximize": " →", "minimize": " ←", "none": ""}
"""To which side a model is better, by the direction of the measure."""

WIDEST_ZONE = 1.5
"""How many times the furthest limit the axis reaches for a margin; one further out would press all to the middle."""


def forests(results: Results, baseline: str, comparisons: Sequence[Comparison], place: int) -> Iterator[Drawing]:
    """Yield the forest plot of differences from a baseline, of measures whose values lie between -1 and 1, if any.

    ``place`` is the number of the baseline among all, from 1; it keeps the ids of figures apart.
    """
    groups = _comparisons_by_measure(results, comparisons)
    if not groups:
        return
    context = context_of(results, comparisons[0].dataset)
    models = [model for model in context.series if any(model.name in by_model for by_model in groups.values())]
    drawn_rows = [comparison for by_model in groups.values() for comparison in by_model.values()]
    margins = [c.margin for c in drawn_rows if c.margin is not None]
    # The axis reaches as far as the furthest limit or margin, with zero on it.
    ends = [end for c in drawn_rows for end in (c.difference, c.lower, c.upper) if end is not None]
    widest = WIDEST_ZONE * max(map(abs, ends))
    ends += [side * min(margin, widest) for margin in margins for side in (-1, 1)]
    sheets = _forest_sheets(results, groups, models, number_axis("Difference", [*ends, 0.0], most=4))
    limits = f"{with_intervals(results, limited=True)}," if any(c.lower is not None for c in drawn_rows) else ""
    zone = " The shaded zone of a measure is its margin: differences within it do not matter." if margins else ""
    caption = (
        f"Model minus baseline{limits} of measures that lie between −1 and 1. An arrow beside a measure points to "
        f"where the model is better than the baseline.{zone}")
    title = f"Differences from {baseline}"
    alt = f"{title} on {context.dataset.name}."
    for name, by_model in groups.items():
        texts = [f"{model.label} {_difference_and_verdict(by_model[model.name])}"
                 for model in models if model.name in by_model]
        alt += f" {name}: {', '.join(texts)}."
    sentences = []
    for model in models:
        verdicts = [by_model[model.name].verdict for by_model in groups.values() if model.name in by_model]
        better, worse = (sum(verdict == word for verdict in verdicts) for word in ("better", "worse"))
        sentences.append(f"{model.label}: better in {better}, worse in {worse} of {len(verdicts)} measures")
    yield drawing(f"d{context.place}-differences-{place}", title, (f"{'; '.join(sentences)}.", caption, alt), sheets)


def _forest_sheets(results: Results, groups: Groups, models: Sequence[Series], axis: Axis) -> list[Sheet]:
    """Draw, for each measure, the differences of all models over its margin; many models have a row each.

    ``groups`` are the comparisons by the names of measure and model.
    """
    texts = [name + ARROWS[metric_of(results, next(iter(by_model.values())).metric).direction]
             for name, by_model in groups.items()]
    margins = [next((c.margin for c in by_model.values() if c.margin is not None), None)
               for by_model in groups.values()]
    differences = [{name: (c.difference, c.lower, c.upper) for name, c in by_model.items() if c.difference is not None}
                   for by_model in groups.values()]
    values = [[by_model.get(model.name) for model in models] for by_model in differences]

    def zone(plot: RowPanel, index: int, middles: Sequence[float]) -> None:
        """Shade the margin of measure ``index`` behind its rows, centred at ``middles``, and draw the line at zero."""
        margin, half = margins[index], (LINE + ROOM) / 2
        if margin is not None:
            plot.panel.box(-margin, margin, middles[0] - half, middles[-1] + half, "muted")
        plot.panel.rule("ink", x=0)

    if more_models_than_inks(context_of(results, next(iter(next(iter(groups.values())).values())).dataset).series):
        return rows_by_model(texts, models, values, axis, zone)
    sheet = Sheet()
    plot = panel.rows(sheet, [RowLabel(text) for text in texts], axis, len(models), named=True)
    for middle, half, margin in zip(plot.middles, _half_heights(plot), margins, strict=True):
        if margin is not None:
            plot.panel.box(-margin, margin, middle - half, middle + half, "muted")
    plot.panel.rule("ink", x=0)
    plot.estimates(models, values, list(groups))
    sheet.key(name_rows(plot, models, values))
    return [sheet]


def _comparisons_by_measure(results: Results, comparisons: Iterable[Comparison]) -> Groups:
    """Return the comparisons of measures within −1 to 1, which share an axis, by the names of measure and model."""
    names = names_of(results)
    ranges = {metric.name: metric.range for metric in results.metrics}
    on_axis = {name for name, (low, high) in ranges.items()
               if low is not None and high is not None and low >= -1 and high <= 1}
    groups: Groups = {}
    for c in comparisons:
        if c.metric in on_axis and c.class_ is None and c.variant == "original" and c.difference is not None:
            groups.setdefault(names.measure(c.metric, c.params, c.average), {})[c.model] = c
    return groups


def _half_heights(plot: RowPanel) -> list[float]:
    """Return half of the height of each row in pixels, less the line beneath it; rows touch each other."""
    edges = [0.0]
    for middle in plot.middles:
        edges.append(2 * middle - edges[-1])  # a row reaches as far below its middle as above it
    return [(min(below, plot.panel.height) - above - 2) / 2 for above, below in pairwise(edges)]


def _difference_and_verdict(comparison: Comparison) -> str:
    """Return a difference with its interval and its verdict as text."""
    difference, verdict = comparison.difference or 0.0, comparison.verdict.replace("_", " ")
    verdict += ", perhaps within the margin" if comparison.margin_verdict == "undecided" else ""
    value, interval = numbers.signed_interval(difference, comparison.lower, comparison.upper)
    return f"{value} ({interval}), {verdict}" if interval else f"{value}, {verdict}"


TESTS: dict[str, tuple[str, Procedure]] = {
    "delong": ("DeLong", Procedure(
        "DeLong’s test",
        "Two areas under the ROC curve on the same rows. The variance of their difference comes from the placements "
        "of the rows under both models, so it takes account of their correlation.",
        "DeLong, E. R., DeLong, D. M. & Clarke-Pearson, D. L. (1988). Comparing the areas under two or more correlated "
        "receiver operating characteristic curves. Biometrics 44(3), 837–845.",
    )),
    "mcnemar": ("McNemar", Procedure(
        "McNemar’s test",
        "Of the rows that only one of two models gets right (for accuracy), tests whether each model is right "
        "equally often: the squared difference of the two counts over their sum.",
        "Fagerland, M. W., Lydersen, S. & Laake, P. (2014). Recommended tests and confidence intervals for paired "
        "binomial proportions. Statistics in Medicine 33(16), 2850–2875.",
    )),
    "diebold_mariano": ("Diebold-Mariano", Procedure(
        "Diebold-Mariano test",
        "The mean difference of two models’ losses on the same rows, against its standard error.",
        "Diebold, F. X. & Mariano, R. S. (1995). Comparing predictive accuracy. Journal of Business & Economic "
        "Statistics 13(3), 253–263.",
    )),
    "none_differs": ("no item differs", Procedure(
        "No item differs",
        "Two models score the same on every item. The difference is zero, but items that were not drawn may differ: "
        "the p-value of a difference is the probability, at most, that it leaves all these items alike.",
        "Hanley, J. A. & Lippman-Hand, A. (1983). If nothing goes wrong, is everything all right? Interpreting zero "
        "numerators. JAMA 249(13), 1743–1745.",
    )),
    "bootstrap": ("bootstrap", Procedure(
        "Bootstrap test",
        "The difference over its bootstrap standard error, by Student’s distribution. Degrees of freedom: the rows "
        "(or clusters) of the smaller side, minus one. Unlike a count of replicates, the p-value has no smallest "
        "value, so it can be adjusted for any number of differences.",
        "Efron, B. & Tibshirani, R. J. (1993). An introduction to the bootstrap, section 12.4. Chapman & Hall.",
    )),
    "two_proportions": ("two proportions", Procedure(
        "Test of two proportions",
        "The difference of two proportions of separate rows, over its standard error under no difference. A slice is "
        "tested against the rows outside it.",
        "Campbell, I. (2007). Chi-squared and Fisher-Irwin tests of two-by-two tables with small sample "
        "recommendations. Statistics in Medicine 26(19), 3661–3675.",
    )),
}
"""What each test in `Comparison.test` is called, and how it is made."""
VERDICT = Procedure(
    "Verdicts",
    "Better or worse: the difference lies on that side of zero; where a margin is declared, beyond it, or the verdict "
    "adds “perhaps within the margin”. Equivalent: it lies within the margin, be it zero or not. Each of these needs a "
    "p-value, adjusted for all differences of the table, below 1 − level. Undecided: it is not below. Same: the "
    "difference is zero in every resample. No direction: neither higher nor lower values are better. Untested: there "
    "is no p-value.",
    "Lakens, D. (2017). Equivalence tests: a practical primer for t tests, correlations, and meta-analyses. Social "
    "Psychological and Personality Science 8(4), 355–362.",
)
HOLM = Procedure(
    "Holm’s adjustment",
    "The smallest of m p-values is multiplied by m, the next by m − 1, and so on, never decreasing; the chance of "
    "any false verdict stays below 1 − level. Each table is a family: on one dataset, all models against the "
    "baseline, all variants of a model against the original, or the dataset against an earlier one. Differences in "
    "slices are a family of their own. Slices against their reference are a family for each dataset, model and "
    "measure.",
    "Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics "
    "6(2), 65–70.",
)


SIGNS = {
    "better": "▲", "equivalent": "≈", "worse": "▼", "undecided": "?", "same": "=", "no_direction": "–", "untested": "–",
}
"""The sign of each verdict, which stands before its word."""

DECIDED = ("better", "worse", "equivalent")
"""The verdicts that say what the rows show."""

NOTES = {
    "same": "Same: the difference is zero in these data and in every resample, so there is nothing to test.",
    "no_direction": "No direction: neither higher nor lower values of the measure are better.",
    "untested": "Untested: there is no interval, or no reliable one; the reason is beside the value.",
}
"""What verdicts that decide nothing mean, where a table has them."""

MARGIN_OPEN = "perhaps within the margin"
"""What is said of a better or worse difference whose interval holds the margin."""

MARGINS = " Differences within a margin do not matter in practice."

COLUMNS = (
    Column("Difference", "num"), Column("Interval", "num", "limits"), Column("p-value (test)", style="p side"),
    Column("Adjusted p", "num", "adjusted side"),
)
"""The columns of what `measured` writes."""


def sections(results: Results) -> Iterator[Section]:
    """Yield sections of differences between models, from the baseline model, and from the earlier dataset.

    Differences of single classes and forest plots have sections in the appendix. Recalibrated variants against their
    originals are in the section of their chapter.
    """
    names = names_of(results)
    groups: dict[tuple[bool, str], list[Comparison]] = {}
    for comparison in results.comparisons:
        if not is_recalibrated(comparison):
            other = comparison.baseline_dataset
            name = names.model(comparison.baseline, comparison.baseline_variant) if other is None else other
            groups.setdefault((other is not None, "" if is_pair(results, comparison) else name), []).append(comparison)
    for number, (across_datasets, name) in enumerate(sorted(groups, key=lambda group: group[0]), 1):
        comparisons = groups[across_datasets, name]
        title = f"Comparison with {'dataset ' if across_datasets else ''}{name}" if name else "Comparison of models"
        by_class = [c for c in comparisons if c.slice is None and c.class_ is not None]
        together = [c for c in comparisons if c.slice is not None or c.class_ is None] or comparisons
        further = len(comparisons) - len(together)
        classes = f"classes-{number}"
        yield Section(f"comparison-{number}", title, (
            Text(_lead(results, name, comparisons), "lead"),
            *_blocks_of_all_rows(results, name, together, f"comparison-{number}"),
            *([Text((Link(f"{counted(further, 'difference')} of single classes.", classes),))] if further else []),
            *_blocks_in_slices(results, name, together)),
            part="comparison")
        if further:
            yield Section(classes, f"{title}: single classes", tuple(
                _blocks_of_all_rows(results, name, by_class, classes)), part="appendix")
        on_all_rows = [c for c in comparisons if c.slice is None]
        if not name and len({(c.model, c.baseline) for c in on_all_rows}) > 1:
            continue  # the plot has a row for each model, of one baseline
        baseline = name or names.model(on_all_rows[0].baseline)
        title = f"Differences from {'dataset ' if across_datasets else ''}{baseline}"
        yield Section(f"differences-{number}", title, tuple(
            Figures(partial(forests, results, baseline, rows, number), instead=(Text("No difference can be drawn."),))
            for rows in by_dataset(on_all_rows)), part="appendix")


def _lead(results: Results, baseline: str, comparisons: Sequence[Comparison]) -> str:
    """Return the first sentences of a section: what is subtracted from what, and what verdicts are corrected for.

    ``baseline`` is empty for pairs of models.
    """
    listed = [c for c in comparisons if c.slice is None or (c.metric in key_measures(results) and c.verdict in DECIDED)]
    limits = with_intervals(results, limited=any(c.lower is not None for c in listed))
    if comparisons[0].baseline_dataset is not None:
        lead = f"Each model on a dataset minus the same model on {baseline}, as independent samples{limits}."
    else:
        which = f"Each model minus {baseline}" if baseline else "One model of each pair minus the other,"
        lead = f"{which} on the same rows{limits}{' of the difference' if limits else ''}."
    lead += MARGINS if any(c.margin is not None for c in comparisons) else ""
    lead += same_rows_sentences(results) if comparisons[0].baseline_dataset is None else ""
    corrected = sentences_on_corrections(results, [c for c in comparisons if c.slice is None])
    return f"{lead} {corrected}" if corrected else lead


def _blocks_of_all_rows(
    results: Results, baseline: str, comparisons: Sequence[Comparison], section: str
) -> Iterator[Block]:
    """Yield the differences over all rows of each dataset, with notes; ``baseline`` is empty for pairs of models.

    ``section`` is the anchor of the section.
    """
    names = names_of(results)
    better = {metric.name: wording.better(wording.BETTER[metric.direction]) for metric in results.metrics}
    for rows in by_dataset([c for c in comparisons if c.slice is None]):
        several = len({(c.model, c.variant, c.baseline, c.baseline_variant) for c in rows}) > 1
        columns = (
            Column("Measure", style="what"), Column("Model" if baseline else "Models", style="model", shown=several),
            *COLUMNS, Column("Margin", "num", "margin side", shown=any(c.margin is not None for c in rows)),
            Column("Verdict", style="said"))
        cells = []
        for c in rows:
            options = names.other_options(c.metric, c.params)
            measure: Cell = (names.measure_of(c), *([Aside(f"({options})", "options")] if options else []),
                             *([Aside(better[c.metric], "definition")] if c.metric in better else []))
            minus = "" if baseline else f" minus {names.model(c.baseline, c.baseline_variant)}"
            cells.append(Row((measure, f"{names.model_of(c)}{minus}", *measured(c), margin_of(c), verdict_of(c)),
                             anchor=row_anchor(section, [c], c.baseline, c.baseline_variant)))
        yield Heading(rows[0].dataset)
        yield Table(f"{_title(names, rows, baseline)} on {rows[0].dataset}", columns, tuple(cells), "compared",
                    stacked=True)
        discordant = (_discordant_rows(names, c) for c in rows if c.metric == "accuracy" and "only_model" in c.details)
        for note in (*discordant, *notes(rows)):
            yield Text(note, "small")


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield the tests of differences that were made, of slices too, how verdicts came about, and which sizes matter."""
    used = {row.test for rows in (results.comparisons, results.slice_differences) for row in rows}
    yield from (procedure for test, (_, procedure) in TESTS.items() if test in used)
    if results.comparisons:
        yield VERDICT
    adjusted = [c.p_adjusted for c in results.comparisons] + [d.p_holm for d in results.slice_differences]
    if any(p is not None for p in adjusted):
        yield HOLM
    if results.datasets:
        sizes = "; ".join(f"{entry.of} {numbers.plain(size_of_effect(results, kind))}{entry.unit}"
                          for kind, entry in DEFAULTS.items() if results.task in entry.tasks)
        yield Procedure("Margins of findings", (
            "A finding fails where its whole interval lies beyond a margin, and is a note where an effect is certain "
            f"and may lie within it. An effect whose interval lies within the margin is none. Margins: {sizes}."),
            "Lakens, D. (2017). Equivalence tests: a practical primer for t tests, correlations, and meta-analyses. "
            "Social Psychological and Personality Science 8(4), 355–362.")


def is_recalibrated(comparison: Comparison) -> bool:
    """Tell whether a recalibrated variant is compared with the original of the same model, on the same rows."""
    same_model_and_rows = comparison.baseline_dataset is None and comparison.model == comparison.baseline
    return same_model_and_rows and comparison.variant != "original" and comparison.baseline_variant == "original"


def _title(names: Names, comparisons: Sequence[Comparison], baseline: str) -> str:
    """Return the title of a table of differences, with the name of the model where all are of one."""
    model = _only_model(names, comparisons)
    if not baseline:
        pairs = {(c.model, c.baseline) for c in comparisons}
        first = comparisons[0]
        return ("Differences of all pairs of models" if len(pairs) > 1 else
                f"{names.model_of(first)} minus {names.model(first.baseline, first.baseline_variant)}")
    return f"{f'{model}: differences' if model else 'Differences'} from {baseline}"


def _only_model(names: Names, comparisons: Iterable[Comparison]) -> str | None:
    """Return the name of the model where all differences are of one model; else None."""
    models = {names.model_of(c) for c in comparisons}
    return models.pop() if len(models) == 1 else None


def measured(comparison: Comparison, *, test: bool = True) -> tuple[Cell, ...]:
    """Return the cells of a difference: its value, interval, p-value and adjusted p-value.

    The name of the test stands beside the p-value if ``test`` is true.
    """
    number, p = difference_number(comparison), numbers.p_value(comparison.p_value)
    has_test_name = test and comparison.test is not None
    return (replace(number, interval=None), number.interval or "–",
            (p, Aside(test_name(comparison.test or ""), "options")) if has_test_name else p,
            numbers.p_value(comparison.p_adjusted))


def test_name(test: str) -> str:
    """Return the name of a test within a table."""
    return TESTS[test][0] if test in TESTS else test


def margin_of(comparison: Comparison) -> str:
    """Return the margin of a difference as text; a dash where it has none."""
    return "–" if comparison.margin is None else f"±{numbers.plain(comparison.margin)}"


def verdict_of(comparison: Comparison) -> Cell:
    """Return the cell of a verdict, with a note where it is open whether the difference is within the margin."""
    word = comparison.verdict.replace("_", " ")
    verdict = Verdict(word, SIGNS[comparison.verdict], f"verdict {word}")
    return (verdict, Aside(MARGIN_OPEN, "options")) if comparison.margin_verdict == "undecided" else verdict


def difference_number(comparison: Comparison) -> Number:
    """Return a difference with its interval as a number of the card, or the status of an undefined one."""
    if comparison.difference is None:
        return Number(status_of(comparison))
    return signed_number(comparison.difference, comparison.lower, comparison.upper, note_of(comparison))


def _blocks_in_slices(results: Results, baseline: str, comparisons: Sequence[Comparison]) -> Iterator[Block]:
    """Yield the decided differences of key measures in slices, and how many differences there are."""
    in_slices = [c for c in comparisons if c.slice is not None and c.metric in key_measures(results)]
    if not in_slices:
        return
    decided = [c for c in in_slices if c.verdict in DECIDED]
    which = "the decided differences are listed" if decided else "none is decided"
    yield Heading("Differences in slices")
    lead = (
        f"There are {numbers.count(len(in_slices))} differences of the key measures in slices; {which}. Verdicts are "
        "corrected for all differences in slices of a dataset, of these and all other measures (Holm). All are in ")
    yield Text((lead, Code("results.json"), "."), "lead")
    names = names_of(results)
    for rows in by_dataset(decided):
        columns = (
            Column("Slice"), Column("Measure"), Column("Model", shown=_only_model(names, rows) is None),
            Column("Difference", "num"), Column("p-value", "num", "whole"), Column("Adjusted p", "num", "whole"),
            Column("Verdict"),
        )
        yield Table(f"{_title(names, rows, baseline)} in slices of {rows[0].dataset}", columns, tuple(
            Row((names.slice(c.slice or {}), names.measure_of(c), names.model_of(c),
                 difference_number(c), numbers.p_value(c.p_value), numbers.p_value(c.p_adjusted), verdict_of(c)))
            for c in rows), most=MOST_ROWS)


def sentences_on_corrections(results: Results, comparisons: Sequence[Comparison]) -> str:
    """Return sentences on intervals, adjusted p-values and verdicts of tables; empty where no difference was tested.

    ``comparisons`` are the differences of the tables that share the text; those of each dataset are a family.
    """
    tested = [c for c in comparisons if c.p_adjusted is not None]
    sizes = Counter((c.dataset, c.model if is_recalibrated(c) else None) for c in tested)
    if not sizes:
        return ""
    fewest, most = min(sizes.values()), max(sizes.values())
    count = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    limit = numbers.exact(round(1 - results.intervals.level, 10))
    beyond = (
        " With a margin, the adjusted p-value tests whether the difference is beyond or within the margin; where that "
        "is open but the difference is not zero, whether it is zero."
        if any(c.margin is not None for c in comparisons) else ""
    )
    if most == 1:
        return f"A verdict is given where the adjusted p-value is below {limit}.{beyond}"
    return (
        f"Each interval and its p-value are for one difference alone. Verdicts are corrected for all {count} "
        f"differences tested in a table: the p-value adjusted for their number (Holm) must be below {limit}.{beyond}"
    )


def notes(comparisons: Iterable[Comparison]) -> tuple[str, ...]:
    """Return a note for each verdict in a table that decides nothing: same, no direction, untested."""
    verdicts = {comparison.verdict for comparison in comparisons}
    return tuple(text for verdict, text in NOTES.items() if verdict in verdicts)


def _discordant_rows(names: Names, comparison: Comparison) -> str:
    """Return the sentence on how many rows only one of two models gets right."""
    counts = {name: numbers.count(float(comparison.details[name])) for name in ("only_model", "only_baseline")}
    model = names.model_of(comparison)
    baseline = names.model(comparison.baseline, comparison.baseline_variant)
    exact = comparison.details.get("p_exact")
    p = f"; exact p-value {numbers.p_value(float(exact))}" if exact is not None else ""
    return (
        f"McNemar’s test of {names.measure_of(comparison)}: {model} alone gets {counts['only_model']} rows right, "
        f"{baseline} alone {counts['only_baseline']}{p}."
    )


UNCORRECTED = ", but not certain once all differences of the table are allowed for"
"""What keeps a difference undecided whose interval excludes zero."""

LITTLE = ", perhaps too little to matter"
"""What makes a note of a difference whose interval reaches into the margin."""


@dataclass(frozen=True, slots=True)
class PairFinding:
    """A finding on models and what they are compared with, about the measures of one verdict.

    ``kind`` and ``weight`` are those of the finding; ``verb`` stands between the two names, ``doubt`` at the end.
    """

    kind: FindingKind
    weight: float
    verb: str
    doubt: str = ""

    def __call__(self, results: Results, rows: Sequence[Comparison]) -> Iterator[Finding]:
        """Yield for each pair "Forest is better than Tree: difference in Brier score −0.012 (−0.020 to −0.004)."."""
        names = names_of(results)
        for pair in _rows_by_pair(rows):
            first = pair[0]
            other = first.baseline_dataset or names.model(first.baseline)
            differences = first_of([f"{names.measure(row.metric, row.params, row.average)} {difference_of(row)}"
                                    for row in pair], "measure")
            has_margin = any(row.margin is not None for row in pair)  # of which the difference itself says it
            doubt = "" if self.doubt == LITTLE and has_margin else self.doubt
            text = f"{of_model(results, first)} {self.verb} {other}: difference in {differences}{doubt}."
            yield finding(self.kind, self.weight, text, _section_anchor(results, pair), pair)


BETWEEN_MODELS = {
    "better": PairFinding("passes", weights.MODEL_BETTER, "is better than"),
    "worse": PairFinding("fails", weights.MODEL_WORSE, "is worse than"),
    "little_worse": PairFinding("note", weights.MODELS_OPEN, "is worse than", LITTLE),
    "within": PairFinding("equivalent", weights.MODELS_SAME, "is about as good as"),
    "equivalent": PairFinding("equivalent", weights.MODELS_SAME, "is equivalent, within the margin, to"),
    "undecided": PairFinding("undecided", weights.MODELS_OPEN, "is shown neither better nor worse than"),
    "perhaps_worse": PairFinding("undecided", weights.MODEL_PERHAPS_WORSE, "may be worse than", UNCORRECTED),
    "perhaps_better": PairFinding("undecided", weights.MODELS_OPEN, "may be better than", UNCORRECTED),
}
"""What is said of a model and the baseline; that they are the same has words of its own."""

BETWEEN_DATASETS = {
    "better": PairFinding("note", weights.CHECKED, "does better than on"),
    "worse": PairFinding("fails", weights.WORSE_THERE, "does worse than on"),
    "little_worse": PairFinding("note", weights.MODELS_OPEN, "does worse than on", LITTLE),
    "perhaps_worse": PairFinding("undecided", weights.MODEL_PERHAPS_WORSE, "may do worse than on", UNCORRECTED),
}
"""What is said of a model on a dataset and on an earlier one."""


@rule("fails", "undecided", "note", "passes", "equivalent", unless=(ONE_MODEL, NO_BASELINE), claims_all=True)
def models_compared(results: Results) -> Iterator[Claim]:
    """Whether a model is better than the baseline on the same rows, by the verdicts of its comparisons."""
    for row in results.comparisons:
        on_all_rows = row.slice is None and row.class_ is None
        between_models = row.baseline_dataset is None and row.variant == row.baseline_variant == "original"
        if on_all_rows and between_models and not is_pair(results, row):
            verdict = verdict_or_leaning(results, row)
            pair_finding = _same_numbers if verdict == "same" else BETWEEN_MODELS.get(verdict)
            if pair_finding is not None:
                yield Claim(row, pair_finding)


NO_BASELINE_DATASET = Unless(
    "no-baseline-dataset", lambda spec: not (spec.get("compare") or {}).get("baseline_dataset"))


@rule("fails", "undecided", "note", unless=(ONE_EVALUATED, NO_BASELINE_DATASET))
def datasets_compared(results: Results) -> Iterator[Claim]:
    """Whether a model does worse than on an earlier dataset, by the verdicts of its comparisons."""
    for row in results.comparisons:
        as_given = row.baseline_dataset is not None and row.variant == "original"
        if as_given and row.slice is None and row.class_ is None:
            pair_finding = BETWEEN_DATASETS.get(verdict_or_leaning(results, row))
            if pair_finding is not None:
                yield Claim(row, pair_finding)


def _same_numbers(results: Results, rows: Sequence[Comparison]) -> Iterator[Finding]:
    """Yield a finding for each pair of models on the measures that are equal in every resample."""
    for pair in _rows_by_pair(rows):
        names, first = names_of(results), pair[0]
        measures = first_of([names.measure(row.metric, row.params, row.average) for row in pair], "measure")
        pair_text = f"{of_model(results, first)} and {names.model(first.baseline)}"
        text = f"{pair_text} have the same {measures} in every resample."
        yield finding("equivalent", weights.MODELS_SAME, text, _section_anchor(results, pair), pair)


def _rows_by_pair(rows: Sequence[Comparison]) -> Iterator[list[Comparison]]:
    """Yield the comparisons in groups with the same dataset, model, baseline and baseline dataset."""
    return grouped(rows, lambda row: (row.dataset, row.model, row.baseline, row.baseline_dataset))


def _section_anchor(results: Results, pair: Sequence[Comparison]) -> str:
    """Return the anchor of a pair's section: the second for datasets where models are compared too, else the first."""
    is_second = pair[0].baseline_dataset is not None and any(
        row.baseline_dataset is None and row.variant == "original" for row in results.comparisons)
    return "comparison-2" if is_second else "comparison-1"
