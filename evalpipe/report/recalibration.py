"""What the card says of recalibration: what was fitted on what, each model before and after, and whether it gains."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.calibration import registry
from evalpipe.report import equivocal, wording
from evalpipe.report.comparisons import ComparisonRow, comparison_row, family, is_recalibrated, notes
from evalpipe.report.names import Names, names_of
from evalpipe.report.page import Number
from evalpipe.report.recalibration_verdict import SHIFTED, Verdict, verdict_of
from evalpipe.report.slices import MEASURES_ABREAST, Measure
from evalpipe.report.tables import is_whole, key_measures, limited, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.results import Applied, Comparison, Estimate, ModelSummary, Recalibration, Results

MOST_PARAMETERS = 4
"""Parameters of a recalibrator that are shown; more are left to the results."""


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """The key measures of a model and of its variants: a head for each measure, a row for each variant."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Number, ...]], ...]
    left_out: str
    """How many key measures the table has no room for; empty where that is none."""

    @property
    def limited(self) -> bool:
        """Whether a number has an interval."""
        return limited(cell for _, cells in self.rows for cell in cells)


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """A variant less its original by one measure; ``heading`` names the measure that begins here.

    ``test`` is that of one difference, where the differences of a measure were not all tested alike.
    """

    heading: str | None
    about: str
    """Of the measure: which end is better, and how all its differences were tested."""
    variant: str
    test: str | None
    row: ComparisonRow


@dataclass(frozen=True, slots=True)
class FittedRow:
    """A recalibrator: its method, what was fitted, and what it makes of the predictions."""

    variant: str
    method: str
    fitted: str
    distinct: str
    clipped: str


@dataclass(frozen=True, slots=True)
class ModelRecalibration:
    """All that is said of the recalibration of one model on one dataset."""

    name: str
    model: str
    verdict: Verdict
    before_after: BeforeAfter
    changes: tuple[ChangeRow, ...]
    margins: bool
    notes: tuple[str, ...]
    """What verdicts of the table that decide nothing mean."""
    within: str
    """How many differences there are in slices, which are left to the results."""
    fitted: tuple[FittedRow, ...]


@dataclass(frozen=True, slots=True)
class RecalibrationView:
    """The section of one dataset."""

    dataset: str
    title: str
    anchor: str
    lead: tuple[str, ...]
    crossed: bool
    cut: bool
    """Whether a threshold, the same before and after, makes the predicted levels of every model."""
    models: tuple[ModelRecalibration, ...]
    example: str
    """A model and a variant, as the command line takes them."""
    fitted_on: str
    """The dataset of the fit, where the command line must be told; else empty."""


def recalibration_views(results: Results) -> tuple[RecalibrationView, ...]:
    """Write a section for every dataset on which recalibrated predictions were judged."""
    judged = {applied.dataset for record in results.recalibration for applied in record.applied}
    return tuple(
        _view(results, dataset.name, place, len(judged))
        for place, dataset in enumerate(results.datasets, 1) if dataset.name in judged
    )


def applied_on(results: Results, dataset: str, model: str | None = None) -> list[tuple[Recalibration, Applied]]:
    """Return the recalibrators judged on a dataset, of one model where one is named, with what each made of it."""
    return [
        (record, applied) for record in results.recalibration for applied in record.applied
        if applied.dataset == dataset and model in {None, record.model}
    ]


def _view(results: Results, dataset: str, place: int, many: int) -> RecalibrationView:
    records = [record for record, _ in applied_on(results, dataset)]
    known = {record.model for record in records}
    several = sum((r.model, r.variant) == (records[0].model, records[0].variant) for r in results.recalibration) > 1
    return RecalibrationView(
        dataset=dataset,
        title=f"Recalibration on {dataset}" if many > 1 else "Recalibration",
        anchor=f"recalibration-{place}",
        lead=tuple(_lead(results, dataset, records)),
        crossed=records[0].folds is not None,
        cut=results.event is not None and not any("prediction" in model.columns for model in results.models),
        models=tuple(
            _model(results, dataset, model) for model in results.models if model.name in known
        ),
        example=shlex.quote(f"{records[0].model}+{records[0].variant}"),
        fitted_on=shlex.quote(dataset) if several else "",
    )


def _lead(results: Results, dataset: str, records: list[Recalibration]) -> list[str]:
    """Say what was fitted on what, and what the intervals leave out, where there are some."""
    first, variants = records[0], {record.variant for record in records}
    events = "" if first.events is None else f", {numbers.count(first.events)} events"
    rows = f"{numbers.count(first.n)} rows{events}"
    if first.folds is None:
        how = f"Recalibrators were fitted on dataset {first.fitted_on} ({rows}) and judged on {dataset}."
    else:
        how = (
            f"Recalibrators were cross-fitted on {dataset} ({rows}) in {first.folds} folds: the rows of each fold were "
            "recalibrated by a fit on the other folds."
        )
    choice = " Nor do they allow for choosing the best of several methods." if len(variants) > 1 else ""
    changes = [c for c in results.comparisons if is_recalibrated(c) and c.dataset == dataset and c.slice is None]
    limits = (
        f", with {wording.level(results.intervals.level)} intervals. The intervals take the fitted recalibrators as "
        f"given: a fit on other rows would differ.{choice} {family(results, changes)}"
        if any(is_recalibrated(c) and c.lower is not None for c in results.comparisons) else "."
    )
    less = f"Differences are those of a recalibrated variant less the original on the same rows{limits}"
    shift = any(record.method == "prior_shift" for record in records)
    said = [f"{SHIFTED}: measures at that prevalence judge it, those of the sample do not."] if shift else []
    return [f"{how} Nothing was fitted and judged on the same rows.", less + equivocal.compared(results), *said]


def _model(results: Results, dataset: str, model: ModelSummary) -> ModelRecalibration:
    changes = [c for c in results.comparisons if is_recalibrated(c) and (c.dataset, c.model) == (dataset, model.name)]
    within = sum(c.slice is not None for c in changes)
    whole = [c for c in changes if c.slice is None]
    return ModelRecalibration(
        name=model.name,
        model=model.label,
        verdict=verdict_of(results, dataset, model.name),
        before_after=_before_after(results, dataset, model.name),
        changes=_changes(results, whole),
        margins=any(c.margin is not None for c in whole),
        notes=notes(whole),
        within=numbers.count(within) if within else "",
        fitted=tuple(_fitted(record, applied) for record, applied in applied_on(results, dataset, model.name)),
    )


def _before_after(results: Results, dataset: str, model: str) -> BeforeAfter:
    names, key = names_of(results), key_measures(results)
    found: dict[Measure, dict[str, Estimate]] = {}
    for e in results.rows:
        if (e.dataset, e.model, e.slice, e.class_) == (dataset, model, None, None) and e.metric in key:
            name = names.measure(e.metric, e.params, e.average)
            found.setdefault(Measure(e.metric, tuple(e.params.items()), e.average, name), {})[e.variant] = e
    measures = sorted(found, key=lambda measure: key.index(measure.metric))
    variants = ["original", *(record.variant for record, _ in applied_on(results, dataset, model))]
    whole = {metric.name for metric in results.metrics if is_whole(metric)}
    abreast, left_out = measures[:MEASURES_ABREAST], len(measures) - MEASURES_ABREAST
    return BeforeAfter(
        heads=tuple(measure.name for measure in abreast),
        rows=tuple(
            (variant, tuple(_cell(found[m].get(variant), whole=m.metric in whole) for m in abreast))
            for variant in variants
        ),
        left_out=numbers.count(left_out) if left_out > 0 else "",
    )


def _cell(e: Estimate | None, *, whole: bool) -> Number:
    return Number("–") if e is None else shown(e, whole=whole)


def _changes(results: Results, found: list[Comparison]) -> tuple[ChangeRow, ...]:
    """Write the differences measure by measure, the variants of each in their order."""
    names: Names = names_of(results)
    groups: dict[tuple[str, str], list[tuple[Comparison, ComparisonRow]]] = {}
    for c in found:
        row = comparison_row(results, names, c)
        groups.setdefault((row.measure, row.options), []).append((c, row))
    return tuple(row for head, rows in groups.items() for row in _group(head, rows))


def _group(head: tuple[str, str], rows: list[tuple[Comparison, ComparisonRow]]) -> Iterator[ChangeRow]:
    measure, options = head
    tests = {row.test for _, row in rows if row.test is not None}
    alike = tests.pop() if len(tests) == 1 else None
    better = rows[0][1].better
    about = [wording.better(better)]
    if alike is not None:
        about.append(f"test: {alike}")
    title = f"{measure} ({options})" if options else measure
    for i, (c, row) in enumerate(rows):
        yield ChangeRow(
            None if i else title, "" if i else "; ".join(about), c.variant, None if alike else row.test, row
        )


def _fitted(record: Recalibration, applied: Applied) -> FittedRow:
    title = registry[record.method].title if record.method in registry else record.method
    plain = {name: value for name, value in record.options.items() if not isinstance(value, list)}
    options = wording.options(plain) if record.method != "prior_shift" else ""  # whose parameters say it all
    return FittedRow(
        variant=record.variant,
        method=f"{title} ({options})" if options else title,
        fitted=fitted_words(record),
        distinct=f"{numbers.count(applied.distinct_before)} → {numbers.count(applied.distinct_after)}",
        clipped=f"{numbers.count(record.clipped)} / {numbers.count(applied.clipped)}",
    )


def fitted_words(record: Recalibration) -> str:
    """Say in few words what was fitted: numbers where they are few, else how many steps or how smooth a curve."""
    found = record.parameters
    plain = {name: value for name, value in found.items() if isinstance(value, int | float)}
    if record.method == "one_vs_rest":
        return "one function for each level"
    if record.method == "prior_shift":
        shares = (", ".join(map(written, found[key][:1] if len(found[key]) == 2 else found[key]))
                  for key, written in (("from", numbers.number), ("to", wording.share)))
        return "prevalence {} → {}".format(*shares)
    if "edf" in found:
        return f"{numbers.fixed(found['edf'], 1)} effective degrees of freedom"
    if plain and len(plain) <= MOST_PARAMETERS:
        return ", ".join(f"{name} {_parameter(value)}" for name, value in plain.items())
    return _counted(record) or "in results.json"


def _counted(record: Recalibration) -> str | None:
    """Say how many steps, corners, bins or coefficients there are; None of other parameters."""
    found = record.parameters
    if "coefficients" in found:
        return f"{len(found['coefficients'])} × {len(found['coefficients'][0])} coefficients"
    if "value_0" in found:
        return f"{numbers.count(len(found['value_0']))} and {numbers.count(len(found['value_1']))} steps"
    if "value" in found:
        many = len(found["value"])
        word = "corner" if found.get("interpolate") == "linear" else "bin" if record.method == "histogram" else "step"
        return f"{numbers.count(many)} {word}{'' if many == 1 else 's'}"
    return None


def _parameter(value: float) -> str:
    return numbers.fixed(value, 0) if float(value).is_integer() else numbers.number(value)
