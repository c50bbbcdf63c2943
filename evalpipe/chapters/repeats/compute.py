"""The spread of measures between several fits of a model, beside their spread over the rows; thresholds of each fit.

Where a rule chooses a threshold, each fit has its own, for choosing is a part of the fit.
"""

from __future__ import annotations

import math
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.chapters.repeats.records import Repeat, RepeatedModel
from evalpipe.chapters.thresholds import compute as thresholds
from evalpipe.engine.curves.declare import listed, roc_heights
from evalpipe.engine.estimates import Scope
from evalpipe.engine.replicates import draw
from evalpipe.engine.subsets import all_rows_subset, rows_of, summaries_of
from evalpipe.engine.support import ONE_CLUSTER
from evalpipe.errors import DataError
from evalpipe.intervals.fits import FEW, FitSpread, deviation, limits_of_fits, spread_of_fits
from evalpipe.plan.measures import FALLBACK
from evalpipe.statistics import Summary
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.data.sample import Predictions, Refit, Sample
    from evalpipe.engine.estimates import Evaluated
    from evalpipe.engine.support import Drawn
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.words.sentences import Sentence


NOISE = "noise-in-fits"
FIELDS = ("mean", "lower", "upper", "level", "freedom", "new_lower", "new_upper", "new_freedom", "sd", "between",
          "within", "correlation", "reason")
"""What a measure may lack over fits."""

PLACES = np.arange(51) / 50
"""The false positive rates at which the ROC curves of fits are given."""

LEAST = 2
"""The fewest replicates that have a spread."""

AT_END = sentence("mean-at-end")
CONSTANT = sentence("same-in-fits")


def tables(plan: Plan, evaluated: Sequence[Evaluated]) -> dict[str, object]:
    """Return fields of the results on models with several fits: their files, and each measure over the fits."""
    pairs = [(dataset.sample, model) for dataset in evaluated for model in dataset.sample.refits]
    return {
        "repeated": [_repeated_model(plan, sample, model) for sample, model in pairs],
        "repeats": [row for sample, model in pairs for row in repeat_records(plan, sample, model)],
    }


def _repeated_model(plan: Plan, sample: Sample, model: str) -> RepeatedModel:
    """Return the record of the fits of a model: their files and, if binary, their ROC curves."""
    dataset = next(dataset for dataset in plan.datasets if dataset.name == sample.dataset)
    parts = (dataset.predictions[model], *dataset.refits[model])
    curves = {} if sample.task != "binary" or sample.models[model].score is None else {
        "false_positive_rate": listed(PLACES), "sensitivity": [
            listed(roc_heights(Summary(rows_of(sample, fit), sample.weights), PLACES))
            for fit in _all_fits(sample, model)]}
    return RepeatedModel(
        dataset=sample.dataset, model=model, files=[part.table.files[0][1] for part in parts], **curves)


def repeat_records(plan: Plan, sample: Sample, model: str) -> Iterator[Repeat]:
    """Yield the records of the measures over one model's fits on a dataset: one each, or one for each class."""
    narrowed, by_number = _plan_of_metrics_alone(plan), {
        str(number): fit for number, fit in enumerate(_all_fits(sample, model))}
    fits = replace(sample, models=MappingProxyType(by_number), refits=MappingProxyType({}), slicings=(), searched=())
    subset = all_rows_subset(fits)
    summaries = summaries_of(narrowed, fits, dict.fromkeys(fits.models, (subset,)))
    replicates = draw(narrowed, fits, summaries, (subset,))
    scopes = [Scope(narrowed, fits, name, 0, subset, summaries[name, 0]) for name in fits.models]
    # Numbers are computed by the entry of the narrowed plan, and named as the full plan lists it.
    for listed_as, entry in zip(plan.metrics, narrowed.metrics, strict=True):
        if scopes[0].serves(entry):
            scopes_of_fits = [scope.seen_by(entry) for scope in scopes]
            drawn = [scope.drawn(entry, replicates) for scope in scopes_of_fits]
            for k, level in enumerate(sample.levels if entry.average == "none" else (None,)):
                of_class = drawn if level is None else [fit.of_class(k) for fit in drawn]
                fields = _measure_fields(plan, listed_as, of_class, k)
                yield Repeat(
                    dataset=sample.dataset, model=model, metric=listed_as.metric.name, average=listed_as.average,
                    params=listed_as.shown if level is None else listed_as.shown_of(k), class_=level,
                    fits=len(scopes_of_fits), n=scopes_of_fits[0].subset.n, **fields)


def _plan_of_metrics_alone(plan: Plan) -> Plan:
    """Return the plan reduced to the listed measures, without curves and bins, which no table of fits has.

    Measures that can have limits get plain bootstrap replicates, in which all fits are measured on the same rows.
    """
    metrics = tuple(
        entry if entry.unlimited(NOISE) is not None else replace(entry, method=FALLBACK) for entry in plan.metrics)
    return replace(plan, metrics=metrics, behind=(), diagnosed=(), bins="none", banded=False, profit_drawn=False)


def _all_fits(sample: Sample, model: str) -> tuple[Predictions, ...]:
    """Return the predictions of all fits of a model, in the order of their files."""
    return sample.models[model], *(refit.predictions for refit in sample.refits[model])


def _measure_fields(plan: Plan, entry: MetricPlan, fits: Sequence[Drawn], k: int) -> dict[str, Any]:
    """Return fields of a `Repeat`: a measure's values over ``fits``, their mean with limits, their spread.

    ``k`` is the index of the class, where the measure is of a single class.
    """
    values = np.array([fit.value for fit in fits])
    fields = dict.fromkeys(FIELDS) | {"values": [None if math.isnan(x) else float(x) for x in values], "method": "none"}
    missing_count = int(np.isnan(values).sum())
    if missing_count:
        reason = sentence("fits-without-value", lacking=missing_count, fits=len(fits), because=fits[0].undefined)
        return fields | {"status": "undefined", "reason": reason}
    fields |= {"status": "ok", "mean": float(values.mean()), "sd": deviation(values), "reason": entry.unlimited(NOISE)}
    if any(fit.replicates is None for fit in fits) or fields["reason"] is not None:
        return fields
    mean = replace(fits[0], value=float(values.mean()), replicates=np.mean([fit.known for fit in fits], axis=0))
    defined, doubt = ~np.isnan(mean.known), mean.doubt(plan.level)
    fields |= {"undefined_replicates": mean.missing}
    if mean.unlimited() is not None or defined.sum() < LEAST:
        return fields | {"status": "degenerate", "reason": ONE_CLUSTER if mean.clusters == 1 else doubt}
    spread = spread_of_fits(values, np.stack([fit.known[defined] for fit in fits], axis=-1), mean.units)
    bounds = entry.metric.bounds(entry.of_class[k] if entry.of_class else entry.params)
    few = sentence("few-fits", fits=len(fits), least=FEW, level=plan.level) if len(fits) < FEW else None
    return fields | _spread_fields(spread, bounds, plan.level, doubt or few)


def _spread_fields(
    spread: FitSpread, bounds: tuple[float, float], level: float, doubt: Sentence | None
) -> dict[str, Any]:
    """Return fields of a `Repeat`: the spread between and within fits, and limits of the mean and of a new fit.

    ``bounds`` are the lowest and highest possible value of the measure; ``doubt`` says why limits are unreliable,
    if so.
    """
    parts = {
        "between": math.sqrt(spread.between), "within": math.sqrt(spread.within),
        "correlation": spread.shared / spread.within if spread.within else None,
    }
    mean_limits, new_limits = (limits_of_fits(spread, bounds, level, new=new) for new in (False, True))
    if mean_limits is None or new_limits is None:
        return parts | {"status": "degenerate", "reason": AT_END if spread.mean in bounds else CONSTANT}
    return parts | {
        "lower": mean_limits[0], "upper": mean_limits[1], "level": level, "freedom": spread.freedom(new=False),
        "new_lower": new_limits[0], "new_upper": new_limits[1], "new_freedom": spread.freedom(new=True),
        "method": "fits", "status": "ok" if doubt is None else "degenerate", "reason": doubt,
    }


def changed(plan: Plan, samples: Sequence[Sample]) -> tuple[tuple[Sample, ...], dict[str, object]]:
    """Return the samples with every further fit classified by its own threshold; raises DataError where none can be."""
    with_classes = []
    for sample in samples:
        chosen = {}
        for name, fits in sample.refits.items() if sample.role == "evaluate" else ():
            if plan.models[name].threshold.rule is not None:
                chosen[name] = tuple(
                    _classified_fit(plan, samples, sample, name, number) for number in range(len(fits)))
        refits = MappingProxyType({**sample.refits, **chosen})
        with_classes.append(replace(sample, refits=refits) if chosen else sample)
    return tuple(with_classes), {}


def _classified_fit(plan: Plan, samples: Sequence[Sample], sample: Sample, name: str, index: int) -> Refit:
    """Return a further fit of a model, by its index, classified by the threshold that its rule chooses for the fit."""
    fit = sample.refits[name][index]
    # The calibrating rows have as many fits, and no dataset but this one is evaluated.
    samples_of_fit = tuple(
        replace(other, models=MappingProxyType({name: other.refits[name][index].predictions}))
        for other in samples if other is sample or other.role == "calibrate")
    try:
        classified, _ = thresholds.changed(replace(plan, interval_method="none"), samples_of_fit)
    except DataError as error:
        raise DataError(*(replace(problem, notes=(*problem.notes, f"of the fit {fit.file}"))
                          for problem in error.problems)) from None
    return replace(fit, predictions=next(
        other.models[name] for other in classified if other.dataset == sample.dataset))
