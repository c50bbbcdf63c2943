"""What the card says of models against a baseline, and of datasets against another."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.report import equivocal, wording
from evalpipe.report.disparities import signed
from evalpipe.report.figures import difference_drawings
from evalpipe.report.names import Names, names_of
from evalpipe.report.page import (
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
from evalpipe.report.tables import MOST_ROWS, key_measures, note_of, status_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalpipe.report.page import Block, Cell
    from evalpipe.results import Comparison, Results

TESTS = {
    "delong": "DeLong", "mcnemar": "McNemar", "diebold_mariano": "Diebold-Mariano", "bootstrap": "bootstrap",
    "two_proportions": "two proportions",
}
"""What each test in `Comparison.test` is called."""

SIGNS = {
    "better": "▲", "equivalent": "≈", "worse": "▼", "undecided": "?", "same": "=", "no_direction": "–", "untested": "–",
}
"""The sign of each verdict, which stands before its word."""

DECIDED = ("better", "worse", "equivalent")
"""The verdicts that say what the rows show."""

NOTES = {
    "same": "Same: the difference is zero in these rows and in every resample of them, so there is nothing to test.",
    "no_direction": "No direction: neither end of the measure is better, so a difference is neither.",
    "untested": "Untested: there is no interval, or none that can be relied on; the reason stands beside the value.",
}
"""What verdicts that decide nothing mean, where a table has them."""



def sections(results: Results) -> Iterator[Section]:
    """Write a section for each baseline, models before datasets; recalibration has a section of its own."""
    names = names_of(results)
    groups: dict[tuple[bool, str], list[Comparison]] = {}
    for c in results.comparisons:
        if not is_recalibrated(c):
            groups.setdefault(baseline_of(names, c), []).append(c)
    for place, baseline in enumerate(sorted(groups, key=lambda group: group[0]), 1):
        across, name = baseline
        yield Section(f"comparison-{place}", f"Comparison with {'dataset ' if across else ''}{name}", (
            Text(_lead(results, baseline, groups[baseline]), "lead"),
            *_of_all_rows(results, baseline, groups[baseline], place), *_in_slices(results, name, groups[baseline])))


def is_recalibrated(found: Comparison) -> bool:
    """Tell whether a recalibrated variant is compared with the original of the same model, on the same rows."""
    same = found.baseline_dataset is None and found.model == found.baseline
    return same and found.variant != "original" and found.baseline_variant == "original"


def baseline_of(names: Names, found: Comparison) -> tuple[bool, str]:
    """Return whether the baseline is another dataset, and its name as it is shown."""
    if found.baseline_dataset is not None:
        return True, found.baseline_dataset
    return False, names.model(found.baseline, found.baseline_variant)


MARGINS = " Differences within a margin do not matter in practice."


def _lead(results: Results, baseline: tuple[bool, str], found: Sequence[Comparison]) -> str:
    across, name = baseline
    shown = [c for c in found if c.slice is None or _is_listed(results, c)]
    level = wording.level(results.intervals.level)
    limits = f", with {level} intervals" if any(c.lower is not None for c in shown) else ""
    first = f"Each model less {name} on the same rows{limits}{' of the difference' if limits else ''}."
    if across:
        first = f"Each model on a dataset less the same model on {name}, the two taken as independent samples{limits}."
    margins = MARGINS if any(c.margin is not None for c in found) else ""
    zone = "" if across else equivocal.compared(results)
    allowed = family(results, [c for c in found if c.slice is None])
    return f"{first}{margins}{zone}{' ' if allowed else ''}{allowed}"


def _by_dataset(found: Iterable[Comparison]) -> dict[str, list[Comparison]]:
    groups: dict[str, list[Comparison]] = {}
    for c in found:
        groups.setdefault(c.dataset, []).append(c)
    return groups


def _of_all_rows(
    results: Results, baseline: tuple[bool, str], found: Sequence[Comparison], place: int
) -> Iterator[Block]:
    """Write the differences on each dataset, and in words what the rows say that one model alone gets right."""
    names = names_of(results)
    for dataset, rows in _by_dataset(c for c in found if c.slice is None).items():
        yield Heading(dataset)
        yield _table(results, names, baseline[1], rows)
        alone = (_discordant(names, c) for c in rows if c.metric == "accuracy" and "only_model" in c.details)
        for note in (*alone, *notes(rows)):
            yield Text(note, "small")
        yield Figures(partial(difference_drawings, results, dataset, baseline, place))


def _table(results: Results, names: Names, baseline: str, found: Sequence[Comparison]) -> Table:
    only = _only(names, found)
    columns = (Column("Measure", style="what"), Column("Model", style="model", shown=only is None), *COLUMNS,
               Column("Margin", "num", "margin side"), Column("Verdict", style="said"))
    title = f"{only}: differences" if only else "Differences"
    return Table(f"{title} from {baseline} on {found[0].dataset}", columns, tuple(
        Row((_title(results, names, c), names.model(c.model, c.variant), *measured(c), margin_of(c), verdict_of(c)))
        for c in found), "compared", stacked=True)


COLUMNS = (
    Column("Difference", "num"), Column("Interval", "num", "limits"), Column("p-value (test)", style="p side"),
    Column("Adjusted p", "num", "adjusted side"),
)
"""The columns of what `measured` writes."""


def measured(found: Comparison, *, test: bool = True) -> tuple[Cell, ...]:
    """Write a difference, its interval, its p-value with the name of the test, and the adjusted p-value."""
    number = difference_of(found)
    name = TESTS.get(found.test, found.test) if test and found.test is not None else None
    p = numbers.p_value(found.p_value)
    return (replace(number, interval=None), number.interval or "–", (p, Aside(name, "options")) if name else p,
            numbers.p_value(found.p_adjusted))


def margin_of(found: Comparison) -> str:
    """Write the margin of a difference."""
    return "–" if found.margin is None else f"±{numbers.plain(found.margin)}"


def verdict_of(found: Comparison) -> Verdict:
    """Write what was decided of a difference."""
    word = found.verdict.replace("_", " ")
    return Verdict(word, SIGNS[found.verdict], f"verdict {word}")


def _title(results: Results, names: Names, found: Comparison) -> Cell:
    better = {metric.name: wording.better(wording.BETTER[metric.direction]) for metric in results.metrics}
    options = names.unsaid(found.metric, found.params)
    return (compared(names, found), *([Aside(f"({options})", "options")] if options else []),
            *([Aside(better[found.metric], "definition")] if found.metric in better else []))


def _is_listed(results: Results, found: Comparison) -> bool:
    """Tell whether a difference is in a slice, of a key measure, and decided."""
    return found.slice is not None and found.metric in key_measures(results) and found.verdict in DECIDED


def _in_slices(results: Results, baseline: str, found: Sequence[Comparison]) -> Iterator[Block]:
    """Write the differences of the key measures in slices that are decided, and how many there are."""
    within = [c for c in found if c.slice is not None and c.metric in key_measures(results)]
    if not within:
        return
    decided = [c for c in within if c.verdict in DECIDED]
    which = "those that are better, worse or equivalent are listed" if decided else "none is decided"
    yield Heading("Differences in slices")
    about = (
        f"There are {numbers.count(len(within))} differences of the key measures in slices; {which}. A verdict allows "
        "for all differences in slices of a dataset, of these measures and all others (Holm). All are in ")
    yield Text((about, Code("results.json"), "."), "lead")
    for dataset, rows in _by_dataset(decided).items():
        yield _sliced(results, baseline, dataset, rows)


def _sliced(results: Results, baseline: str, dataset: str, found: Sequence[Comparison]) -> Table:
    names = names_of(results)
    only = _only(names, found)
    columns = (
        Column("Slice"), Column("Measure"), Column("Model", shown=only is None), Column("Difference", "num"),
        Column("p-value", "num", "whole"), Column("Adjusted p", "num", "whole"), Column("Verdict"),
    )
    title = f"{only}: differences" if only else "Differences"
    return Table(f"{title} from {baseline} in slices of {dataset}", columns, tuple(
        Row((names.slice(c.slice or {}), compared(names, c), names.model(c.model, c.variant), difference_of(c),
             numbers.p_value(c.p_value), numbers.p_value(c.p_adjusted), verdict_of(c)))
        for c in found), most=MOST_ROWS)


def family(results: Results, found: Iterable[Comparison]) -> str:
    """Say what an interval, an adjusted p-value and a verdict of a table are of; nothing where none was tested.

    ``found`` are the differences of the tables that share the sentence; each dataset's are a family.
    """
    sizes = Counter((c.dataset, c.model if is_recalibrated(c) else None) for c in found if c.p_adjusted is not None)
    if not sizes:
        return ""
    few, many = min(sizes.values()), max(sizes.values())
    said = f"{few}" if few == many else f"{few} to {many}"
    limit = numbers.exact(round(1 - results.intervals.level, 10))
    beyond = (
        " With a margin, the adjusted p-value is not of zero but of the margin: that the difference lies beyond it, or "
        "within it." if any(c.margin is not None for c in found) else ""
    )
    if many == 1:
        return f"A verdict is given where the adjusted p-value is below {limit}.{beyond}"
    return (
        "Each interval and its p-value are of one difference alone. A verdict allows for all "
        f"{said} differences tested in a table: it is given where the p-value adjusted for their number (Holm) is "
        f"below {limit}.{beyond}"
    )


def notes(found: Iterable[Comparison]) -> tuple[str, ...]:
    """Explain the verdicts of a table that decide nothing."""
    words = {c.verdict for c in found}
    return tuple(text for word, text in NOTES.items() if word in words)


def _only(names: Names, found: Iterable[Comparison]) -> str | None:
    models = {names.model(c.model, c.variant) for c in found}
    return models.pop() if len(models) == 1 else None



def compared(names: Names, found: Comparison) -> str:
    """Name what is compared: the measure, and the class where it is of one."""
    return names.measure(found.metric, found.params, found.average, found.class_)


def difference_of(found: Comparison) -> Number:
    """Write a difference with its interval; one that does not exist says why."""
    if found.difference is None:
        return Number(status_of(found))
    return signed(found.difference, found.lower, found.upper, note_of(found))


def _discordant(names: Names, found: Comparison) -> str:
    """Say how many rows one of two models alone gets right."""
    counts = {name: numbers.count(float(found.details[name])) for name in ("only_model", "only_baseline")}
    model = names.model(found.model, found.variant)
    baseline = names.model(found.baseline, found.baseline_variant)
    exact = found.details.get("p_exact")
    said = f"; exact p-value {numbers.p_value(float(exact))}" if exact is not None else ""
    return (
        f"McNemar’s test of {compared(names, found)}: {model} alone gets {counts['only_model']} rows right, "
        f"{baseline} alone {counts['only_baseline']}{said}."
    )
