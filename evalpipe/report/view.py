"""The card's content as frozen values of finished text, made from `Results` alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.report import numbers, wording
from evalpipe.report.spec_text import spec_text
from evalpipe.report.tables import (
    ConfusionTable,
    GainTable,
    MetricTable,
    confusion_tables,
    gain_tables,
    metric_tables,
    overall,
)

if TYPE_CHECKING:
    from evalpipe.results import DatasetSummary, InputFile, MetricSummary, ModelSummary, Results

SHORT_HASH = 12

Facts = tuple[tuple[str, str], ...]
"""Terms and what they are, in the order they are shown."""


@dataclass(frozen=True, slots=True)
class DatasetView:
    """What the card says of one dataset; tables are empty for a dataset that is not evaluated."""

    name: str
    anchor: str
    evaluated: bool
    n: str
    events: str
    prevalence: str
    facts: Facts
    levels: tuple[tuple[str, str, str, str], ...]
    """Level, rows, weight and share of the weight."""
    summary: tuple[MetricTable, ...]
    metrics: tuple[MetricTable, ...]
    confusions: tuple[ConfusionTable, ...]
    gains: tuple[GainTable, ...]


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
    event: str
    other: str
    facts: Facts
    warnings: tuple[tuple[str, str], ...]
    datasets: tuple[DatasetView, ...]
    files: tuple[FileView, ...]
    models: tuple[ModelView, ...]
    measures: tuple[MeasureView, ...]
    intervals: tuple[MethodView, ...]
    level: str
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
        event=results.event,
        other=results.other,
        facts=_facts(results),
        warnings=tuple((warning.code, warning.message) for warning in results.warnings),
        datasets=tuple(_dataset(results, dataset, place) for place, dataset in enumerate(results.datasets, 1)),
        files=tuple(_file(entry) for entry in results.inputs),
        models=tuple(_model(model) for model in results.models),
        measures=tuple(_measure(results, metric) for metric in results.metrics),
        intervals=_intervals(results),
        level=wording.level(results.intervals.level),
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


def _facts(results: Results) -> Facts:
    prior = results.prevalence
    declared = "not declared"
    if prior is not None:
        source = f"source: {prior.source}" if prior.source else "source not stated"
        declared = f"{numbers.exact(prior.value)} ({source})"
    return (
        ("Task", f"{results.task} outcome"),
        ("Event", results.event),
        ("Other level", results.other),
        ("Models", ", ".join(model.label for model in results.models)),
        ("Declared prevalence", declared),
        ("Case weights", _weighting(results)),
    )


def _weighting(results: Results) -> str:
    if results.weight is None:
        return "none; every row counts once"
    meaning = {
        "frequency": "frequency weights: a row stands for that many identical rows",
        "importance": "importance weights: a row counts that much more than another",
    }
    column, kind = results.weight.get("column"), meaning.get(results.weight.get("kind", ""))
    return ", ".join(filter(None, (column and f"column {column}", kind))) or "yes"


def _dataset(results: Results, dataset: DatasetSummary, place: int) -> DatasetView:
    evaluated = bool(overall(results, dataset.name))
    return DatasetView(
        name=dataset.name,
        anchor=f"dataset-{place}",
        evaluated=evaluated,
        n=numbers.count(dataset.n),
        events=numbers.count(dataset.events),
        prevalence=_prevalence(dataset, weighted=results.weight is not None),
        facts=_dataset_facts(dataset, weighted=results.weight is not None),
        levels=tuple(
            (level.level, numbers.count(level.rows), numbers.count(level.weight),
             numbers.percent(level.weight, dataset.total_weight))
            for level in dataset.levels
        ),
        summary=metric_tables(results, dataset.name, _key_measures(results)) if evaluated else (),
        metrics=metric_tables(results, dataset.name) if evaluated else (),
        confusions=confusion_tables(results, dataset.name) if evaluated else (),
        gains=gain_tables(results, dataset.name) if evaluated else (),
    )


def _prevalence(dataset: DatasetSummary, *, weighted: bool) -> str:
    if dataset.prevalence is None:
        return "undefined: no rows"
    return numbers.number(dataset.prevalence) + (" (weighted)" if weighted else "")


def _key_measures(results: Results) -> tuple[str, ...]:
    known = [metric.name for metric in results.metrics]
    key = tuple(name for name in wording.KEY_MEASURES if name in known)
    return key or tuple(known[:6])


def _dataset_facts(dataset: DatasetSummary, *, weighted: bool) -> Facts:
    facts = [
        ("Rows in the files", numbers.count(dataset.rows)),
        ("Rows left out by the condition", numbers.count(dataset.excluded_where)),
        ("Condition", dataset.where or "none"),
        ("Observations used (n)", numbers.count(dataset.n)),
        ("Events", numbers.count(dataset.events)),
        ("Observed prevalence", _prevalence(dataset, weighted=weighted)),
    ]
    if weighted:
        facts.insert(3, ("Rows left out for weight zero", numbers.count(dataset.excluded_zero_weight)))
        facts.append(("Total weight", numbers.count(dataset.total_weight)))
    return tuple(facts)


def _file(entry: InputFile) -> FileView:
    return FileView(
        dataset=entry.dataset,
        role=entry.role,
        path=entry.path or "held in memory",
        sha256=entry.sha256 or "none: not a file",
        short=(entry.sha256 or "–")[:SHORT_HASH],
        rows=numbers.count(entry.rows),
        used_rows=numbers.count(entry.used_rows),
        columns=tuple(entry.columns),
    )


def _model(model: ModelSummary) -> ModelView:
    without = "predicted levels are given" if "prediction" in model.columns else "the score is a rank alone"
    threshold = f"none; {without}" if model.threshold is None else numbers.exact(model.threshold)
    columns = tuple((f"Column of the {kind}", column) for kind, column in model.columns.items())
    return ModelView(
        name=model.name,
        label=model.label,
        facts=(("Name in the spec", model.name), *columns, *_scale(model), ("Threshold", threshold)),
        characteristics=tuple(
            (name.replace("_", " "), wording.scalar(value)) for name, value in model.characteristics.items()
        ),
    )


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
    )


def _intervals(results: Results) -> tuple[MethodView, ...]:
    bins = {str(curve.notes["method"]) for curve in results.curves if "method" in curve.notes}
    used = {estimate.method for estimate in results.rows if estimate.value is not None} | bins
    return tuple(
        MethodView(_capital(wording.METHODS[name]), wording.METHOD_TEXTS[name], wording.METHOD_REFERENCES.get(name))
        for name in wording.METHODS
        if name in used
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _epsilon(results: Results) -> str | None:
    found = {float(e.params["epsilon"]) for e in results.rows if "epsilon" in e.params}
    return ", ".join(f"{value:g}" for value in sorted(found)).replace("-", numbers.MINUS) or None


def _bins(results: Results) -> str:
    found = dict.fromkeys(str(curve.notes["method"]) for curve in results.curves if "method" in curve.notes)
    return ", ".join(wording.method(name) for name in found) or wording.method("none")
