"""What the card says of models against a baseline, and of datasets against another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.report import equivocal, numbers, wording
from evalpipe.report.disparities import signed
from evalpipe.report.names import Names, names_of
from evalpipe.report.tables import Number, key_measures, limited, note_of, status_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalpipe.results import Comparison, Results

TESTS = {
    "delong": "DeLong", "mcnemar": "McNemar, mid-P", "diebold_mariano": "Diebold-Mariano", "bootstrap": "bootstrap",
}
"""What each test in `Comparison.test` is called."""

SIGNS = {"better": "▲", "equivalent": "≈", "worse": "▼", "undecided": "?"}
"""The sign of each verdict, which stands before its word."""


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
        sliced=_tables(results, [c for c in within if c.verdict != "undecided"], f"{anchor}-slices"),
        within=numbers.count(len(within)),
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
            tuple(_discordant(names, c) for c in rows if "only_model" in c.details),
        )
        for name, rows in groups.items()
    )


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
        verdict=found.verdict,
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
