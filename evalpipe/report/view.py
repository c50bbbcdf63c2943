"""The card's content as frozen values of finished text, made from `Results` alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.intervals.declare import registry
from evalpipe.report import equivocal, wording
from evalpipe.report.comparisons import ComparisonView, comparison_views
from evalpipe.report.costs import CostsView, costs_view
from evalpipe.report.datasets import DatasetView, Facts, dataset_view
from evalpipe.report.gates import GatesView, gates_view
from evalpipe.report.page import Formula
from evalpipe.report.prevalence import PrevalenceView, prevalence_view, said
from evalpipe.report.procedures import Procedure, procedures, recalibrators
from evalpipe.report.recalibration import RecalibrationView, recalibration_views
from evalpipe.report.slices import SlicesView, slices_views
from evalpipe.report.spec_text import spec_text
from evalpipe.report.thresholds import ThresholdsView, thresholds_views

if TYPE_CHECKING:
    from evalpipe.results import InputFile, MetricSummary, ModelSummary, Results

SHORT_HASH = 12


@dataclass(frozen=True, slots=True)
class FileView:
    """One file that was read."""

    dataset: str
    role: str
    path: str
    sha256: str
    short: str
    rows: str
    used_rows: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelView:
    """One model."""

    name: str
    label: str
    facts: Facts
    characteristics: Facts


@dataclass(frozen=True, slots=True)
class MeasureView:
    """What a metric means and how its interval is made."""

    name: str
    title: str
    definition: str
    formula: str
    range: str
    better: str
    undefined: str
    reference: str
    reason: str
    matrices: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...]
    """What each pair of a true and a predicted level weighs or costs, where the measure depends on that."""

    @property
    def drawn(self) -> Formula:
        """The formula, set."""
        return Formula(self.name, self.formula)


@dataclass(frozen=True, slots=True)
class MethodView:
    """How one kind of interval is made."""

    name: str
    text: str
    reference: str | None


@dataclass(frozen=True, slots=True)
class CardView:
    """Everything the templates print, but for figures."""

    title: str
    name: str
    version: str
    task: str
    subject: str
    """What is predicted, on one line."""
    event: str | None
    levels: tuple[str, ...]
    averaged: bool
    """Whether a measure is averaged over the levels."""
    blind: bool
    """Whether the values without information are given."""
    pairings: str
    cells: bool
    """Whether a formula names the cells of the confusion matrix."""
    facts: Facts
    warnings: tuple[tuple[str, str], ...]
    gates: GatesView | None
    datasets: tuple[DatasetView, ...]
    files: tuple[FileView, ...]
    models: tuple[ModelView, ...]
    measures: tuple[MeasureView, ...]
    intervals: tuple[MethodView, ...]
    procedures: tuple[Procedure, ...]
    """How bands, tests, adjustments and searches of the card were made."""
    recalibrators: tuple[Procedure, ...]
    """How recalibrators were fitted, and the methods used."""
    prevalence: PrevalenceView | None
    thresholds: tuple[ThresholdsView, ...]
    recalibrations: tuple[RecalibrationView, ...]
    comparisons: tuple[ComparisonView, ...]
    slices: tuple[SlicesView, ...]
    costs: CostsView | None
    level: str
    drawn: bool
    """Whether a measure or a difference has an interval."""
    replicates: str
    seed: str
    weighted: bool
    weighting: str
    epsilon: str | None
    bins: str
    spec: str
    spec_sha256: str
    spec_short: str

    @property
    def evaluated(self) -> tuple[DatasetView, ...]:
        """The datasets that have results."""
        return tuple(dataset for dataset in self.datasets if dataset.evaluated)


def card_view(results: Results) -> CardView:
    """Write everything of the results that is text."""
    return CardView(
        title=results.title,
        name=results.name,
        version=results.evalpipe_version,
        task=results.task,
        subject=_subject(results),
        event=results.event,
        levels=tuple(results.levels),
        averaged=any(estimate.average is not None for estimate in results.rows),
        blind=any(estimate.no_information is not None for estimate in results.rows),
        pairings=numbers.count(results.intervals.pairings),
        cells=any("TP" in metric.formula or "FP" in metric.formula for metric in results.metrics),
        facts=_facts(results),
        gates=gates_view(results),
        warnings=tuple((warning.code, warning.message) for warning in results.warnings),
        datasets=tuple(dataset_view(results, dataset, place) for place, dataset in enumerate(results.datasets, 1)),
        files=tuple(_file(entry) for entry in results.inputs),
        models=tuple(_model(model) for model in results.models),
        measures=tuple(_measure(results, metric) for metric in results.metrics),
        intervals=_intervals(results),
        procedures=tuple(procedures(results)),
        recalibrators=tuple(recalibrators(results)),
        prevalence=prevalence_view(results),
        thresholds=thresholds_views(results),
        recalibrations=recalibration_views(results),
        comparisons=comparison_views(results),
        slices=slices_views(results),
        costs=costs_view(results),
        level=wording.level(results.intervals.level),
        drawn=_drawn(results),
        replicates=numbers.count(results.intervals.replicates),
        seed=str(results.intervals.seed),
        weighted=results.weight is not None,
        weighting=_weighting(results),
        epsilon=_epsilon(results),
        bins=_bins(results),
        spec=spec_text(results.spec),
        spec_sha256=results.spec_sha256,
        spec_short=results.spec_sha256[:SHORT_HASH],
    )


def _subject(results: Results) -> str:
    """Say what is predicted."""
    if results.event is not None:
        return f"event: {results.event}"
    if results.levels:
        return f"levels: {', '.join(results.levels)}"
    return f"outcome: {results.task}" + (f" in {results.unit}" if results.unit else "")


def _facts(results: Results) -> Facts:
    models = ("Models", ", ".join(model.label for model in results.models))
    weights = ("Case weights", _weighting(results))
    return (("Task", f"{results.task} outcome"), *_outcome(results), models, weights, *_exposure(results))


def _outcome(results: Results) -> Facts:
    """Say what the outcome is, and which prior is declared for it."""
    if not results.levels:
        return (("Unit", results.unit or "not stated"),)
    prior = results.prevalence
    declared = "not declared"
    if prior is not None:
        source = f"source: {prior.source}" if prior.source else "source not stated"
        whole = prior.levels or {}
        told = said(prior) if prior.value is not None else ", ".join(
            f"{level}: {wording.share(whole[level])}" for level in results.levels)
        declared = f"{told} ({source})"
    if results.event is None:
        order = " in ascending order" if results.task == "ordinal" else ""
        return ((f"Levels{order}", ", ".join(results.levels)), ("Declared prevalence", declared))
    return (("Event", results.event), ("Other level", results.other or "–"), ("Declared prevalence", declared))


def _weighting(results: Results) -> str:
    if results.weight is None:
        return "none; every row counts once"
    meaning = {
        "frequency": "frequency weights: a row stands for that many identical rows",
        "importance": "importance weights: a row counts that much more than another",
    }
    column, kind = results.weight.get("column"), meaning.get(results.weight.get("kind", ""))
    return ", ".join(filter(None, (column and f"column {column}", kind))) or "yes"


def _exposure(results: Results) -> Facts:
    """Say what counts were counted in; nothing where no exposure is declared."""
    if results.exposure is None:
        return ()
    unit = results.exposure.get("unit")
    scaled = "the expected count of a row is of its whole exposure"
    return (("Exposure", f"column {results.exposure['column']}{f', in {unit}' if unit else ''}; {scaled}"),)


def _file(entry: InputFile) -> FileView:
    return FileView(
        dataset=entry.dataset,
        role=wording.ROLES.get(entry.role, entry.role),
        path=entry.path or "held in memory",
        sha256=entry.sha256 or "none: not a file",
        short=(entry.sha256 or "–")[:SHORT_HASH],
        rows=numbers.count(entry.rows),
        used_rows=numbers.count(entry.used_rows),
        columns=tuple(entry.columns),
    )


def _model(model: ModelSummary) -> ModelView:
    cut = _threshold(model)
    columns = _columns(model)
    return ModelView(
        name=model.name,
        label=model.label,
        facts=(("Name in the spec", model.name), *columns, *_scale(model), *cut, *equivocal.facts(model)),
        characteristics=tuple(
            (name.replace("_", " "), wording.scalar(value)) for name, value in model.characteristics.items()
        ),
    )


def _columns(model: ModelSummary) -> Facts:
    """Name the columns of a model; those of the levels' probabilities together."""
    found: dict[str, list[str]] = {}
    for kind, column in model.columns.items():
        plural = {"probability of": "probabilities", "score of": "scores (softmax)"}.get(" ".join(kind.split()[:2]))
        name = f"Columns of the {plural}" if plural else f"Column of the {wording.COLUMNS.get(kind, kind)}"
        found.setdefault(name, []).append(column)
    return tuple((name, ", ".join(columns)) for name, columns in found.items())


def _threshold(model: ModelSummary) -> Facts:
    """Say how rows are predicted as levels; nothing of a model that predicts numbers or several levels."""
    if model.threshold_rule is not None:
        return (("Threshold", model.threshold_rule),)
    if model.threshold is not None:
        return (("Threshold", numbers.plain(model.threshold)),)
    if "probability" in model.columns or "score" in model.columns:
        given = "prediction" in model.columns
        return (("Threshold", f"none; {'predicted levels are given' if given else 'the score is a rank alone'}"),)
    return ()


def _scale(model: ModelSummary) -> Facts:
    """Say how a raw score became a probability."""
    if "score" not in model.columns:
        return ()
    meanings = {
        "logit": "logit: log odds, turned into a probability by the logistic function",
        "margin": "margin: a distance from a boundary, turned into a probability by the logistic function",
    }
    return (("Scale of the score", meanings.get(model.scale or "", "none: a rank alone")),)


def _measure(results: Results, metric: MetricSummary) -> MeasureView:
    return MeasureView(
        name=metric.name,
        title=metric.title,
        definition=metric.definition,
        formula=metric.formula,
        range=numbers.bounds(*metric.range),
        better=wording.BETTER_SENTENCES[metric.direction],
        undefined=wording.undefined(metric),
        reference=metric.reference,
        reason=wording.reason(results.intervals.methods.get(metric.name, "")),
        matrices=tuple(
            (title, tuple(tuple(map(numbers.plain, row)) for row in rows)) for title, rows in metric.matrices.items()
        ),
    )


def _intervals(results: Results) -> tuple[MethodView, ...]:
    bins = {curve.method for curve in results.curves if curve.method is not None}
    used = {estimate.method for estimate in results.rows if estimate.value is not None} | bins
    used |= {gate.method for gate in results.gates if gate.lower is not None}
    used |= {comparison.method for comparison in results.comparisons if comparison.lower is not None}
    used |= {difference.method for difference in results.slice_differences if difference.lower is not None}
    return tuple(
        MethodView(_capital(method.title), method.text, method.ref) for name, method in registry.items() if name in used
    )


def _drawn(results: Results) -> bool:
    """Tell whether a measure or a difference has an interval."""
    tables = results.rows, results.comparisons, results.slice_differences
    return any(row.lower is not None for table in tables for row in table)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _epsilon(results: Results) -> str | None:
    found = {float(e.params["epsilon"]) for e in results.rows if "epsilon" in e.params}
    return ", ".join(map(numbers.plain, sorted(found))) or None


def _bins(results: Results) -> str:
    methods = dict.fromkeys(curve.method for curve in results.curves if curve.method is not None)
    return ", ".join(wording.method(name) for name in methods) or wording.method("none")
