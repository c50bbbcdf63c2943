"""Conduct the evaluation of a plan, from validated samples to tables, and gather these as one `Results`.

Confusion matrices and warnings about a model's numbers come first, then the conductor over datasets, models and
chapters, then step 5: what was planned, read and evaluated, put together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.chapters import CHANGING, functions
from evalpipe.chapters.desirability.compute import candidate_warnings, rank_candidates
from evalpipe.chapters.scores.compute import columns_as_written, with_tied_sets
from evalpipe.chapters.steps.plan import steps_plan
from evalpipe.engine.curves import model_curves
from evalpipe.engine.differences import dataset_differences
from evalpipe.engine.draws import crowded_warnings, not_gridded_warning
from evalpipe.engine.estimates import evaluate_sample
from evalpipe.metrics import registry
from evalpipe.metrics.expressions import ExpressionMetric
from evalpipe.metrics.logistic import slope_error
from evalpipe.metrics.smooth import quantile
from evalpipe.metrics.values import ratio
from evalpipe.results import (
    ChosenMethod,
    Confusion,
    Curve,
    Draw,
    Estimate,
    InputFile,
    Method,
    MetricSummary,
    ModelSummary,
    Results,
    Warned,
    Zone,
)
from evalpipe.tasks import WITHOUT_LEVELS
from evalpipe.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from evalpipe.data.sample import CandidateRows, Sample
    from evalpipe.engine.estimates import Evaluated, Scope
    from evalpipe.metrics import Metric
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.results import RowFile
    from evalpipe.statistics import Summary


def confusion(scope: Scope) -> Iterator[Confusion]:
    """Yield the confusion matrix of a scope; none for a model that predicts no levels."""
    sample, subset, summary = scope.sample, scope.subset, scope.summary
    model = sample.models[scope.model]
    if model.predicted is None or sample.task in WITHOUT_LEVELS:
        return
    at_threshold, threshold = np.zeros(0, bool), model.threshold if model.cuts is None else None
    if model.score is not None and model.cut is not None and model.reportable is None:
        cuts = model.cut if model.cuts is None else subset.of(model.cuts)
        at_threshold = subset.of(sample.truth)[subset.of(model.score) == cuts]
    reportable = summary.rows.reportable
    yield Confusion(
        dataset=sample.dataset, **sample.named(scope.model), slice=None if subset.slice is None else dict(subset.slice),
        levels=list(sample.levels), counts=summary.reportable("confusion").tolist(), threshold=threshold,
        cuts=[] if model.cuts is None else model.threshold_at(np.unique(model.cuts)).tolist(),
        at_threshold=len(at_threshold), events_at_threshold=int(np.count_nonzero(at_threshold)),
        tied=model.tied if subset.slice is None else 0,
        equivocal=0.0 if reportable is None else float(summary.weights[~reportable].sum()),
        zone=None if model.zone is None else Zone(**model.zone.record(threshold)),
    )


@dataclass(slots=True)
class Evaluation:
    """The tables of step 4, the tables of chapters in ``tables`` by their names in `Results`.

    ``files`` are the files of candidates; ``samples`` the evaluated datasets, with variants and classes. ``draws`` say
    what replicates drew.
    """

    estimates: list[Estimate] = field(default_factory=list)
    confusion: list[Confusion] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    tables: dict[str, Any] = field(default_factory=dict)
    draws: list[Draw] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)
    files: tuple[InputFile, ...] = ()
    samples: tuple[Sample, ...] = ()


def evaluate(
    plan: Plan, samples: Sequence[Sample], advance: Callable[[int], None] = lambda _: None,
    candidates: CandidateRows | None = None,
) -> Evaluation:
    """Evaluate every sample of role ``evaluate``, and rank the candidates.

    ``advance`` is called with the number of replicates of each block that is done.
    """
    evaluation = Evaluation(warnings=[warning for sample in samples for warning in sample.warnings])
    datasets: list[Evaluated] = []
    changed_samples = tuple(samples)
    for changed in functions("compute", "changed", *CHANGING):
        changed_samples, tables_of_change = changed(plan, changed_samples)
        evaluation.tables |= tables_of_change
    for sample in (sample for sample in changed_samples if sample.role == "evaluate"):
        datasets.append(dataset := evaluate_sample(plan, sample, advance))
        evaluation.draws += dataset.replicates.draws
        evaluation.warnings += not_gridded_warning(plan, dataset.replicates.draws)
        evaluation.warnings += crowded_warnings(sample) if dataset.replicates.draws else ()
        for name in sample.models:
            summary, rows_of_model = dataset.summaries[name, 0], sample.of(name)
            rows = [row for estimates in dataset.estimates_of(name).values() for row in estimates]
            evaluation.estimates += rows
            evaluation.confusion += [table for scope in dataset.scopes(name) for table in confusion(scope)]
            evaluation.curves += model_curves(plan, rows_of_model, name, summary, dataset.replicates)
            evaluation.warnings += model_warnings(plan, rows_of_model, name, summary, rows)
            dataset.forget(name)
    evaluation.samples = tuple(dataset.sample for dataset in datasets)
    evaluation.tables["dataset_differences"] = list(dataset_differences(samples))
    evaluation.tables["diagnostics"] = [row for dataset in datasets for row in dataset.diagnosed()]
    for tables in functions("compute", "tables"):
        evaluation.tables |= tables(plan, datasets)
    for warnings in functions("compute", "warnings"):
        evaluation.warnings += warnings(plan, datasets)
    if candidates is not None:
        evaluation.tables["candidates"] = rank_candidates(plan, candidates)
        evaluation.warnings += candidate_warnings(evaluation.tables["candidates"])
        evaluation.files = candidates.files
    return evaluation


def gather(
    plan: Plan, samples: Sequence[Sample], evaluation: Evaluation, resolved: Mapping[str, Any],
    row_file: RowFile | None = None,
) -> Results:
    """Return the results; ``resolved`` is the resolved spec, ``row_file`` the record of the file of rows, if any."""
    levels = next((sample.levels for sample in samples if sample.role == "evaluate"), ())
    event, other = levels if plan.task == "binary" and levels else (None, None)
    warnings: list[Warned] = []
    for problem in plan.warnings:
        # The place, as far as it is the same for every working folder.
        place = problem.place
        where = "" if place is None else f" ({place.file.rpartition('/')[2]}, line {place.line})"
        warnings.append(Warned.of_text(problem.code, f"{problem.message}{where}"))
    with_value = [
        *plan.metrics, *(leaf for entry in plan.metrics for leaf in entry.leaves),
        *(leaf for entry in plan.part(steps_plan) for leaf in (entry, *entry.leaves)), *plan.diagnosed,
        *plan.goal_measures]
    entries_of: dict[str, list[MetricPlan]] = {}
    for entry in (*plan.entries, *with_value):
        for leaf in (entry, *entry.leaves):
            entries_of.setdefault(leaf.metric.name, []).append(leaf)
    metrics = {entry.metric.name: entry.metric for entry in with_value}
    results = Results(
        evalpipe_version=VERSION, name=plan.name, title=plan.title, as_of=plan.as_of, task=plan.task, event=event,
        other=other, levels=list(levels), unit=plan.outcome.unit, spec=dict(resolved), spec_sha256=plan.spec_sha256,
        weight=plan.weight.model_dump() if plan.weight else None,
        exposure=plan.exposure.model_dump() if plan.exposure else None,
        inputs=[*(file for sample in samples for file in sample.files), *evaluation.files],
        row_file=row_file, datasets=[sample.summary for sample in samples], models=[
            ModelSummary(
                name=model.name, label=model.label, columns=columns_as_written(plan, model.name, dict(model.columns)),
                scale="percent" if model.percents else model.scale,
                threshold=model.threshold.number,
                equivocal=None if model.zone is None else Zone(**model.zone.record(model.threshold.number)),
                threshold_rule=model.threshold.words, characteristics=dict(model.characteristics),
            )
            for model in plan.models.values()
        ],
        metrics=[_metric_summary(plan, metric, entries_of[name]) for name, metric in metrics.items()],
        intervals=_interval_record(plan, evaluation.draws),
        rows=list(evaluation.estimates), confusion=list(evaluation.confusion), curves=list(evaluation.curves),
        warnings=[*warnings, *evaluation.warnings], **evaluation.tables,
    )
    return with_tied_sets(plan, results)


def _metric_summary(plan: Plan, metric: Metric, entries: Sequence[MetricPlan]) -> MetricSummary:
    """Return the description of a metric: its words, and the widest range that it has in ``entries``."""
    spans = [metric.bounds(entry.params) for entry in entries]
    widest = min(low for low, _ in spans), max(high for _, high in spans)
    low, high = (bound if math.isfinite(bound) else None for bound in widest)
    matrices: dict[str, list[list[float]]] = {}
    if metric.matrix is not None:
        for entry in (leaf for listed in plan.metrics for leaf in listed.leaves if leaf.metric == metric):
            title, values = metric.matrix(entry.params, len(plan.outcome.levels))
            matrices[title] = values.tolist()
    expression: dict[str, Any] = {}
    if isinstance(metric, ExpressionMetric):
        expression = {"expression": metric.text, "measures": {part.name: part.label for part in metric.parts}}
    return MetricSummary(
        name=metric.name, title=metric.title, definition=metric.definition, formula=metric.formula,
        direction=metric.direction, range=(low, high), undefined=metric.undefined, reference=metric.ref,
        own_prevalence="prevalence" in metric.option_types, matrices=matrices, **expression,
    )


def _interval_record(plan: Plan, draws: Sequence[Draw]) -> Method:
    """Return the record of interval methods: of each metric its method and reason, several where averages differ."""
    methods: dict[str, list[ChosenMethod]] = {}
    for entry in plan.metrics:
        chosen = ChosenMethod(method=entry.method, reason=entry.reason)
        recorded = methods.setdefault(entry.metric.name, [])
        recorded += [] if chosen in recorded else [chosen]
    units: dict[str, int] = {}
    for draw in draws:
        if draw.mode == "cells" and draw.slicing is None:
            units[draw.dataset] = max(draw.units, units.get(draw.dataset, 0))
    return Method(
        level=plan.level, replicates=plan.replicates, pairings=plan.permutations, seed=plan.seed,
        methods=methods,
        resampling=plan.resampling, draws=list(draws), units=units,
    )


RANKS_WELL = 0.7
"""The ROC AUC from which scores that are squeezed together are worth recalibrating."""

NARROW = 0.3
"""The width of the interval of 98 % of the probabilities below which they may be squeezed together."""

SQUEEZED = (2.0, 1.25)
"""The calibration slope, and its lower 95 % limit, above which they are: their log odds are half as far apart as they
should be, and not by chance."""

NORMAL = 1.959964
"""The 97.5 % quantile of the normal distribution."""

MOST_REASONS = 3
"""The most reasons that a warning about slices lists; beyond that the tables give them."""

NOTHING = 1e-16
"""The probability below which 1 minus it is 1, and which cells therefore do not tell from 0."""


def model_warnings(
    plan: Plan, sample: Sample, model: str, summary: Summary, estimates: Sequence[Estimate]
) -> Iterator[Warned]:
    """Yield the warnings about one model on one dataset."""
    where = {"dataset": sample.dataset, "model": model}
    lacking: dict[str, list[str]] = {}
    for entry in plan.metrics:
        need = entry.lacking(summary.rows.gives)
        if need is not None and not plan.left_to_variants(model, need):
            lacking.setdefault(need, []).append(entry.metric.name)
    if lacking:
        needs = {need: list(dict.fromkeys(names)) for need, names in lacking.items()}
        yield Warned.of("not-served", case="model", **where, needs=needs)
    original = plan.models.get(model)
    if original is not None and original.scale == "margin":
        yield Warned.of("margin-as-probability", **where)
    yield from _clipped_probabilities(plan, where, summary)
    yield from _untrustworthy(sample, where, [row for row in estimates if row.slice is None])
    if sample.task == "binary" and summary.rows.probability is not None:
        yield from _squeezed_scores(where, summary, importance=plan.importance)
    for status in ("degenerate", "undefined"):
        affected = [row for row in estimates if row.slice is not None and row.status == status]
        if affected:
            slices = len({tuple((row.slice or {}).items()) for row in affected})
            reasons = list(dict.fromkeys(row.reason for row in affected if row.reason))
            case = {"case": "because", "because": reasons} if 0 < len(reasons) <= MOST_REASONS else {}
            yield Warned.of(f"{status}-slices", **case, **where, estimates=len(affected), slices=slices)


def _clipped_probabilities(plan: Plan, where: Mapping[str, str], summary: Summary) -> Iterator[Warned]:
    """Warn of probabilities that are clipped for a logarithm, once for each epsilon."""
    clipping: dict[float, list[str]] = {}
    for entry in (leaf for listed in plan.metrics for leaf in listed.leaves):
        clips = "epsilon" in entry.params and entry.metric.needs == "probabilities"
        if clips and "probabilities" in summary.rows.gives:
            clipping.setdefault(float(entry.params["epsilon"]), []).append(entry.metric.title)
    for epsilon, titles in sorted(clipping.items()):
        true, counts = summary.rows.true_probability, summary.row_counts
        clipped = round(float(counts[(true < epsilon) | (true > 1 - epsilon)].sum()))
        # Of rows in cells it is not known whether a probability is 0 or next to it.
        infinite = round(float(counts[true < NOTHING if summary.celled else true == 0].sum()))
        if not clipped:
            continue
        certain = "certain" if summary.rows.levels == 2 else "infinite"
        case = {} if not infinite else {"case": "infinite-cells" if summary.celled else certain}
        yield Warned.of("clipped", **case, **where, rows=clipped, outcomes=infinite, epsilon=epsilon, nothing=NOTHING,
                        measures=list(dict.fromkeys(titles)))


def _untrustworthy(sample: Sample, where: Mapping[str, str], estimates: Sequence[Estimate]) -> Iterator[Warned]:
    """Warn of a model that ranks worse than chance, and of estimates that are not to be trusted."""
    for row in estimates:
        is_plain_auc = row.metric == "roc_auc" and row.class_ is None and "prevalence" not in row.params
        if is_plain_auc and row.value is not None and row.value < 0.5 and sample.task == "binary":
            yield Warned.of("worse-than-chance", **where, auc=row.value, event=sample.levels[0])
        if row.status == "degenerate" and sample.summary.clusters != 1:  # which the data step warns of
            case = "interval" if row.classes_used is None else "mean"  # over classes of which some have no value
            average = row.average if row.class_ is None else None
            yield Warned.of("degenerate", case=case, **where, metric=row.metric, average=average, class_=row.class_,
                            because=row.reason)


def _squeezed_scores(where: Mapping[str, str], summary: Summary, *, importance: bool) -> Iterator[Warned]:
    """Warn of probabilities that rank well but lie in a narrow range, with a steep calibration slope.

    The slope's limits are Wald's, of Kish's effective observations under importance weights; clusters are overlooked.
    """
    events, others = summary("events_at"), summary("others_at")
    weight_at, probability = events + others, summary.rows.probability_of_score
    auc = float(summary.value(registry["roc_auc"], {}))
    low, high = (float(quantile(weight_at, probability, share)) for share in (0.01, 0.99))
    if not (auc >= RANKS_WELL and high - low < NARROW):
        return
    tables = (events, others, ratio(summary("log_odds_at"), weight_at, empty=0.0))
    # A batch of one, as a fit is of many replicates.
    error = float(slope_error(*(table[None] for table in tables))[0])
    rows_per_weight = weight_at.sum() / (np.asarray(summary.weights, float) ** 2).sum() if importance else 1.0
    slope, margin = float(summary("calibration_line")[1]), NORMAL * error / float(np.sqrt(rows_per_weight))
    if slope > SQUEEZED[0] and slope - margin > SQUEEZED[1]:
        yield Warned.of("squeezed-scores", **where, auc=auc, low=low, high=high, slope=slope, lower=slope - margin,
                        upper=slope + margin)
