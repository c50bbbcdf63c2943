"""What the card says of models against a baseline, and of datasets against another."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.report import equivocal, wording
from evalpipe.report.disparities import signed
from evalpipe.report.names import Names, names_of
from evalpipe.report.page import Number
from evalpipe.report.tables import key_measures, limited, note_of, status_of

if TYPE_CHECKING:
    from collections.abc import Iterable

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


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One difference. ``verdict`` is a word, ``sign`` stands before it; ``place`` names the slice of one in a slice."""

    measure: str
    options: str
    """The options that the name of the measure does not tell."""
    better: str
    model: str
    difference: Number
    p: str
    test: str | None
    adjusted: str
    margin: str
    verdict: str
    sign: str
    place: str | None = None


@dataclass(frozen=True, slots=True)
class ComparisonTable:
    """The differences on one dataset, and in words what the rows say that one model alone gets right."""

    dataset: str
    anchor: str
    model: str | None
    """The model of all rows; None where there are several."""
    rows: tuple[ComparisonRow, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """All differences from one baseline: a model, or a dataset where ``across`` says so."""

    title: str
    anchor: str
    baseline: str
    across: bool
    tables: tuple[ComparisonTable, ...]
    sliced: tuple[ComparisonTable, ...]
    """Differences of the key measures in slices, those that have a verdict."""
    within: str
    """How many differences of the key measures in slices there are."""
    family: str
    """What the verdicts of the tables allow for, in a sentence."""
    margins: bool
    """Whether a margin is declared."""
    equivocal: str
    """Which rows measures of predicted classes are of, where there is an equivocal zone."""

    @property
    def limited(self) -> bool:
        """Whether a number has an interval."""
        return limited(row.difference for table in (*self.tables, *self.sliced) for row in table.rows)


def comparison_views(results: Results) -> tuple[ComparisonView, ...]:
    """Write the comparisons, those with a model before those with a dataset; recalibration has a section of its own."""
    names = names_of(results)
    groups: dict[tuple[bool, str], list[Comparison]] = {}
    for c in results.comparisons:
        if not is_recalibrated(c):
            groups.setdefault(baseline_of(names, c), []).append(c)
    ordered = sorted(groups, key=lambda group: group[0])
    return tuple(_view(results, group, groups[group], place) for place, group in enumerate(ordered, 1))


def is_recalibrated(found: Comparison) -> bool:
    """Tell whether a recalibrated variant is compared with the original of the same model, on the same rows."""
    same = found.baseline_dataset is None and found.model == found.baseline
    return same and found.variant != "original" and found.baseline_variant == "original"


def baseline_of(names: Names, found: Comparison) -> tuple[bool, str]:
    """Return whether the baseline is another dataset, and its name as it is shown."""
    if found.baseline_dataset is not None:
        return True, found.baseline_dataset
    return False, names.model(found.baseline, found.baseline_variant)


def _view(results: Results, group: tuple[bool, str], found: list[Comparison], place: int) -> ComparisonView:
    across, name = group
    key = key_measures(results)
    within = [c for c in found if c.slice is not None and c.metric in key]
    anchor = f"comparison-{place}"
    return ComparisonView(
        title=f"Comparison with {'dataset ' if across else ''}{name}", anchor=anchor, baseline=name, across=across,
        tables=_tables(results, [c for c in found if c.slice is None], anchor),
        sliced=_tables(results, [c for c in within if c.verdict in DECIDED], f"{anchor}-slices"),
        within=numbers.count(len(within)),
        family=family(results, [c for c in found if c.slice is None]),
        margins=any(c.margin is not None for c in found),
        equivocal=equivocal.compared(results),
    )


def _tables(results: Results, found: Iterable[Comparison], anchor: str) -> tuple[ComparisonTable, ...]:
    names = names_of(results)
    groups: dict[str, list[Comparison]] = {}
    for c in found:
        groups.setdefault(c.dataset, []).append(c)
    places = {dataset.name: place for place, dataset in enumerate(results.datasets, 1)}
    return tuple(
        ComparisonTable(
            name, f"{anchor}-{places[name]}", _only(names, rows),
            tuple(comparison_row(results, names, c) for c in rows),
            (
                *(_discordant(names, c) for c in rows if c.metric == "accuracy" and "only_model" in c.details),
                *notes(rows),
            ),
        )
        for name, rows in groups.items()
    )


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


def comparison_row(results: Results, names: Names, found: Comparison) -> ComparisonRow:
    """Write one difference."""
    directions = {metric.name: wording.BETTER[metric.direction] for metric in results.metrics}
    return ComparisonRow(
        measure=compared(names, found),
        options=names.unsaid(found.metric, found.params),
        better=directions.get(found.metric, ""),
        model=names.model(found.model, found.variant),
        difference=_difference(found),
        p=numbers.p_value(found.p_value),
        test=TESTS.get(found.test, found.test) if found.test is not None else None,
        adjusted=numbers.p_value(found.p_adjusted),
        margin="–" if found.margin is None else f"±{numbers.plain(found.margin)}",
        verdict=found.verdict.replace("_", " "),
        sign=SIGNS[found.verdict],
        place=None if found.slice is None else names.slice(found.slice),
    )


def compared(names: Names, found: Comparison) -> str:
    """Name what is compared: the measure, and the class where it is of one."""
    return names.measure(found.metric, found.params, found.average, found.class_)


def _difference(found: Comparison) -> Number:
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
