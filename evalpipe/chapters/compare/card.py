"""What the card says of models against a baseline, and of datasets against another."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from evalpipe.card import wording
from evalpipe.card.page import (
    Aside,
    Code,
    Column,
    Figures,
    Heading,
    Number,
    Row,
    Section,
    Table,
    Text,
    Verdict,
)
from evalpipe.card.tables import MOST_ROWS, key_measures, note_of, signed, status_of
from evalpipe.card.wording import Names, names_of
from evalpipe.chapters.compare.card_tests import HOLM, TESTS, VERDICT
from evalpipe.chapters.compare.figures import forests
from evalpipe.chapters.equivocal.card import rows_compared
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalpipe.card.method import Procedure
    from evalpipe.card.page import Block, Cell
    from evalpipe.results import Comparison, Results

AnyComparison = TypeVar("AnyComparison", bound="Comparison")

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
    """Write a section for each baseline, models before datasets; recalibration has a section of its own."""
    names = names_of(results)
    groups: dict[tuple[bool, str], list[Comparison]] = {}
    for comparison in results.comparisons:
        if not is_recalibrated(comparison):
            groups.setdefault(_baseline(names, comparison), []).append(comparison)
    for place, (across, name) in enumerate(sorted(groups, key=lambda group: group[0]), 1):
        comparisons = groups[across, name]
        yield Section(f"comparison-{place}", f"Comparison with {'dataset ' if across else ''}{name}", (
            Text(_lead(results, name, comparisons), "lead"),
            *_of_all_rows(results, name, comparisons, place), *_in_slices(results, name, comparisons)),
            part="comparison")


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield the tests of differences that were made, of slices too, and how their verdicts came about."""
    used = {row.test for rows in (results.comparisons, results.slice_differences) for row in rows}
    yield from (procedure for test, (_, procedure) in TESTS.items() if test in used)
    if results.comparisons:
        yield VERDICT
    adjusted = [c.p_adjusted for c in results.comparisons] + [d.p_holm for d in results.slice_differences]
    if any(p is not None for p in adjusted):
        yield HOLM


def is_recalibrated(comparison: Comparison) -> bool:
    """Tell whether a recalibrated variant is compared with the original of the same model, on the same rows."""
    same = comparison.baseline_dataset is None and comparison.model == comparison.baseline
    return same and comparison.variant != "original" and comparison.baseline_variant == "original"


def _baseline(names: Names, comparison: Comparison) -> tuple[bool, str]:
    """Return whether the baseline is another dataset, and its name as it is shown."""
    if comparison.baseline_dataset is not None:
        return True, comparison.baseline_dataset
    return False, names.model(comparison.baseline, comparison.baseline_variant)


def _lead(results: Results, baseline: str, comparisons: Sequence[Comparison]) -> str:
    shown = [c for c in comparisons if c.slice is None or _is_listed(results, c)]
    level = wording.level(results.intervals.level)
    limits = f", with {level} intervals" if any(c.lower is not None for c in shown) else ""
    if comparisons[0].baseline_dataset is not None:
        zone = ""
        first = (f"Each model on a dataset minus the same model on {baseline}, as independent samples{limits}.")
    else:
        zone = rows_compared(results)
        first = f"Each model minus {baseline} on the same rows{limits}{' of the difference' if limits else ''}."
    margins = MARGINS if any(c.margin is not None for c in comparisons) else ""
    allowed = family(results, [c for c in comparisons if c.slice is None])
    return f"{first}{margins}{zone}{' ' if allowed else ''}{allowed}"


def by_dataset(comparisons: Iterable[AnyComparison]) -> dict[str, list[AnyComparison]]:
    """Return rows by the dataset that they are of."""
    groups: dict[str, list[AnyComparison]] = {}
    for comparison in comparisons:
        groups.setdefault(comparison.dataset, []).append(comparison)
    return groups


def _of_all_rows(results: Results, baseline: str, comparisons: Sequence[Comparison], place: int) -> Iterator[Block]:
    """Write the differences on each dataset, and in words what the rows say that one model alone gets right."""
    names = names_of(results)
    for dataset, rows in by_dataset(c for c in comparisons if c.slice is None).items():
        yield Heading(dataset)
        yield _table(results, names, baseline, rows)
        alone = (_discordant(names, c) for c in rows if c.metric == "accuracy" and "only_model" in c.details)
        for note in (*alone, *notes(rows)):
            yield Text(note, "small")
        yield Figures(partial(forests, results, baseline, rows, place))


def _table(results: Results, names: Names, baseline: str, comparisons: Sequence[Comparison]) -> Table:
    columns = (Column("Measure", style="what"), Column("Model", style="model", shown=_only(names, comparisons) is None),
               *COLUMNS, Column("Margin", "num", "margin side"), Column("Verdict", style="said"))
    return Table(f"{_title(names, comparisons, baseline)} on {comparisons[0].dataset}", columns, tuple(
        Row((_measure(results, names, c), names.model(c.model, c.variant), *measured(c), margin_of(c), verdict_of(c)))
        for c in comparisons), "compared", stacked=True)


def _title(names: Names, comparisons: Sequence[Comparison], baseline: str) -> str:
    only = _only(names, comparisons)
    return f"{f'{only}: differences' if only else 'Differences'} from {baseline}"


def _only(names: Names, comparisons: Iterable[Comparison]) -> str | None:
    """Return the name of the model that all differences are of; None where there are several."""
    models = {names.model(c.model, c.variant) for c in comparisons}
    return models.pop() if len(models) == 1 else None


def _measure(results: Results, names: Names, comparison: Comparison) -> Cell:
    better = {metric.name: wording.better(wording.BETTER[metric.direction]) for metric in results.metrics}
    options = names.unsaid(comparison.metric, comparison.params)
    return (compared(names, comparison), *([Aside(f"({options})", "options")] if options else []),
            *([Aside(better[comparison.metric], "definition")] if comparison.metric in better else []))


def measured(comparison: Comparison, *, test: bool = True) -> tuple[Cell, ...]:
    """Write a difference, its interval, its p-value with the name of the test, and the adjusted p-value."""
    number, p = difference_of(comparison), numbers.p_value(comparison.p_value)
    named = test and comparison.test is not None
    return (replace(number, interval=None), number.interval or "–",
            (p, Aside(test_name(comparison.test or ""), "options")) if named else p,
            numbers.p_value(comparison.p_adjusted))


def test_name(test: str) -> str:
    """Name a test within a table."""
    return TESTS[test][0] if test in TESTS else test


def margin_of(comparison: Comparison) -> str:
    """Write the margin of a difference."""
    return "–" if comparison.margin is None else f"±{numbers.plain(comparison.margin)}"


def verdict_of(comparison: Comparison) -> Cell:
    """Write what was decided of a difference, and what of its margin is open."""
    word = comparison.verdict.replace("_", " ")
    said = Verdict(word, SIGNS[comparison.verdict], f"verdict {word}")
    return (said, Aside(MARGIN_OPEN, "options")) if comparison.margin_verdict == "open" else said


def compared(names: Names, comparison: Comparison) -> str:
    """Name what is compared: the measure, and the class where it is of one."""
    return names.measure(comparison.metric, comparison.params, comparison.average, comparison.class_)


def difference_of(comparison: Comparison) -> Number:
    """Write a difference with its interval; one that does not exist says why."""
    if comparison.difference is None:
        return Number(status_of(comparison))
    return signed(comparison.difference, comparison.lower, comparison.upper, note_of(comparison))


def _is_listed(results: Results, comparison: Comparison) -> bool:
    """Tell whether a difference is in a slice, of a key measure, and decided."""
    key = comparison.slice is not None and comparison.metric in key_measures(results)
    return key and comparison.verdict in DECIDED


def _in_slices(results: Results, baseline: str, comparisons: Sequence[Comparison]) -> Iterator[Block]:
    """Write the differences of the key measures in slices that are decided, and how many there are."""
    within = [c for c in comparisons if c.slice is not None and c.metric in key_measures(results)]
    if not within:
        return
    decided = [c for c in within if c.verdict in DECIDED]
    which = "the decided differences are listed" if decided else "none is decided"
    yield Heading("Differences in slices")
    about = (
        f"There are {numbers.count(len(within))} differences of the key measures in slices; {which}. Verdicts are "
        "corrected for all differences in slices of a dataset, of these and all other measures (Holm). All are in ")
    yield Text((about, Code("results.json"), "."), "lead")
    for dataset, rows in by_dataset(decided).items():
        yield _sliced(results, baseline, dataset, rows)


def _sliced(results: Results, baseline: str, dataset: str, comparisons: Sequence[Comparison]) -> Table:
    names = names_of(results)
    columns = (
        Column("Slice"), Column("Measure"), Column("Model", shown=_only(names, comparisons) is None),
        Column("Difference", "num"), Column("p-value", "num", "whole"), Column("Adjusted p", "num", "whole"),
        Column("Verdict"),
    )
    return Table(f"{_title(names, comparisons, baseline)} in slices of {dataset}", columns, tuple(
        Row((names.slice(c.slice or {}), compared(names, c), names.model(c.model, c.variant), difference_of(c),
             numbers.p_value(c.p_value), numbers.p_value(c.p_adjusted), verdict_of(c)))
        for c in comparisons), most=MOST_ROWS)


def family(results: Results, comparisons: Sequence[Comparison]) -> str:
    """Say what an interval, an adjusted p-value and a verdict of a table are of; nothing where none was tested.

    ``comparisons`` are those of the tables that share the sentence; each dataset's are a family.
    """
    tested = [c for c in comparisons if c.p_adjusted is not None]
    sizes = Counter((c.dataset, c.model if is_recalibrated(c) else None) for c in tested)
    if not sizes:
        return ""
    few, many = min(sizes.values()), max(sizes.values())
    count = f"{few}" if few == many else f"{few} to {many}"
    limit = numbers.exact(round(1 - results.intervals.level, 10))
    beyond = (
        " With a margin, the adjusted p-value tests whether the difference is beyond or within the margin; where that "
        "is open but the difference is not zero, whether it is zero."
        if any(c.margin is not None for c in comparisons) else ""
    )
    if many == 1:
        return f"A verdict is given where the adjusted p-value is below {limit}.{beyond}"
    return (
        f"Each interval and its p-value are for one difference alone. Verdicts are corrected for all {count} "
        f"differences tested in a table: the p-value adjusted for their number (Holm) must be below {limit}.{beyond}"
    )


def notes(comparisons: Iterable[Comparison]) -> tuple[str, ...]:
    """Explain the verdicts of a table that decide nothing."""
    verdicts = {comparison.verdict for comparison in comparisons}
    return tuple(text for verdict, text in NOTES.items() if verdict in verdicts)


def _discordant(names: Names, comparison: Comparison) -> str:
    """Say how many rows one of two models alone gets right."""
    counts = {name: numbers.count(float(comparison.details[name])) for name in ("only_model", "only_baseline")}
    model = names.model(comparison.model, comparison.variant)
    baseline = names.model(comparison.baseline, comparison.baseline_variant)
    exact = comparison.details.get("p_exact")
    p = f"; exact p-value {numbers.p_value(float(exact))}" if exact is not None else ""
    return (
        f"McNemar’s test of {compared(names, comparison)}: {model} alone gets {counts['only_model']} rows right, "
        f"{baseline} alone {counts['only_baseline']}{p}."
    )
