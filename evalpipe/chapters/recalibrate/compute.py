"""Variants of every model: predictions recalibrated by a fit on rows other than those that they are judged on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic import logit
from evalpipe.calibration import Fitted, Training, Unfit, registry
from evalpipe.engine.draws import design
from evalpipe.engine.ranks import break_ties, mid_ranks
from evalpipe.engine.subsets import rows_of
from evalpipe.errors import DataError, Problem
from evalpipe.intervals.resampling import replicate_weights, stream
from evalpipe.results import Applied, Recalibration
from evalpipe.statistics.rows import present, values_at
from evalpipe.tasks import MANY, NUMBERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evalpipe.base.arraytypes import Floats, Values, Wholes
    from evalpipe.chapters.recalibrate.spec import MethodChoice
    from evalpipe.data.sample import Predictions, Sample
    from evalpipe.plan.plan import Plan

    PredictionsOn = Callable[[Sample], Predictions]
    ModelAndPredictions = tuple[str, PredictionsOn]
    """A model, and what a variant of it predicts on a sample."""

FOLDED = ("recalibrate", "fit_on", "folds")
"""Where the spec asks for recalibrators to be cross-fitted."""


class _UnfitError(Exception):
    """A recalibrator that cannot be "fitted on dataset 'x'", or "used", and the reason after a colon."""


@dataclass(frozen=True, slots=True)
class _Variant:
    """A model of a plan, and the recalibrator that makes a variant of it."""

    plan: Plan
    model: str
    method: MethodChoice

    @property
    def name(self) -> str:
        """The name of the variant among the models of a sample."""
        return f"{self.model}+{self.method.name}"

    def problem(self, fault: _UnfitError) -> Problem:
        """Return the problem of a recalibrator that cannot be fitted or used, at its place in the spec."""
        index = self.plan.recalibrate.methods.index(self.method)
        message = f"'{self.method.name}' of model '{self.model}' cannot be {fault}"
        hint = "remove the method, or fit it on other rows"
        return Problem("cannot-recalibrate", message, self.plan.places.place("recalibrate", "methods", index), hint)


def changed(plan: Plan, samples: Sequence[Sample]) -> tuple[tuple[Sample, ...], dict[str, object]]:
    """Return the samples with the variants of each model after it, where evaluated, and the table of recalibrators.

    Samples on which thresholds of variants are chosen get them too.

    Raises DataError with every recalibrator that the rows do not allow.
    """
    records, problems = list[Recalibration](), []
    fit = _fit_on_dataset if plan.recalibrate.folds is None else _cross_fit
    added: dict[str, dict[str, ModelAndPredictions]] = {sample.dataset: {} for sample in samples}
    for variant in (_Variant(plan, *pair) for pair in product(plan.models, plan.recalibrate.methods)):
        try:
            predictions_by_dataset, records_of_fits = fit(variant, samples)
        except _UnfitError as fault:
            problems.append(variant.problem(fault))
            continue
        records += records_of_fits
        for dataset, predictions_on in predictions_by_dataset.items():
            added[dataset][variant.name] = variant.model, predictions_on
    if problems:
        raise DataError(*problems)
    with_variants = (_with_variants_after_models(sample, added[sample.dataset]) for sample in samples)
    return tuple(with_variants), {"recalibration": records}


def _with_variants_after_models(sample: Sample, variants: dict[str, ModelAndPredictions]) -> Sample:
    """Return a sample, its parts and its scores with the variants of each model after the model, by their names."""
    models: dict[str, Predictions] = {}
    for name, model in sample.models.items():
        models[name] = model
        models |= {key: predictions_on(sample) for key, (source, predictions_on) in variants.items() if source == name}
    parts, scored = (MappingProxyType({key: _with_variants_after_models(part, variants) for key, part in of.items()})
                     for of in (sample.parts, sample.scored))
    return replace(sample, models=MappingProxyType(models), parts=parts, scored=scored)


def _fit_on_dataset(
    variant: _Variant, samples: Sequence[Sample]
) -> tuple[dict[str, PredictionsOn], list[Recalibration]]:
    """Fit on the dataset that the spec names; return the prediction function by dataset, and the record of the fit."""
    fit_sample = next(sample for sample in samples if sample.dataset == variant.plan.recalibrate.dataset)
    fit = _fit_recalibrator(variant, fit_sample.of(variant.model))
    samples_to_predict = _samples_to_predict(variant, samples)

    def predictions_on(sample: Sample) -> Predictions:
        return _variant_predictions(variant, sample, (fit,))

    evaluated = (sample.of(variant.model) for sample in samples_to_predict if sample.role == "evaluate")
    applied = [_application_record(variant, sample, fit, predictions_on(sample)) for sample in evaluated]
    return (dict.fromkeys((sample.dataset for sample in samples_to_predict), predictions_on),
            [_recalibration_record(variant, fit_sample, fit, applied)])


def _cross_fit(
    variant: _Variant, samples: Sequence[Sample]
) -> tuple[dict[str, PredictionsOn], list[Recalibration]]:
    """Fit on the other folds of each dataset; return the prediction function by dataset, and the records of the fits.

    The record, for later use, is of a fit on all rows of an evaluated dataset. Rows that choose thresholds are split in
    folds of their own, so that no recalibrator has seen an evaluated row.
    """
    count, predictions, records = variant.plan.recalibrate.folds or 0, dict[str, "PredictionsOn"](), []
    for sample in _samples_to_predict(variant, samples):
        folds = fold_of(variant.plan, sample, count)
        fits = tuple(_fit_recalibrator(variant, sample, folds, fold) for fold in range(count))
        by_fold = replace(_variant_predictions(variant, sample, fits, folds), fits=fits)
        # They were made for the rows of the one sample that asks for them.
        predictions[sample.dataset] = partial(lambda predictions, _: predictions, by_fold)
        if sample.role == "evaluate":
            fit = _fit_recalibrator(variant, sample)
            applied = [_application_record(variant, sample, fit, by_fold)]
            records.append(_recalibration_record(variant, sample, fit, applied))
    return predictions, records


def _samples_to_predict(variant: _Variant, samples: Sequence[Sample]) -> list[Sample]:
    """Return the samples to be evaluated, and the sample on which the threshold of the variant is chosen."""
    rule = variant.plan.models[variant.model].threshold.variant_rule
    choosing_dataset = None if rule is None else rule.dataset
    return [sample for sample in samples
            if sample.role == "evaluate" or (sample.role == "calibrate" and sample.dataset == choosing_dataset)]


def fold_of(plan: Plan, sample: Sample, count: int, loc: tuple[str, ...] = FOLDED) -> Wholes:
    """Return the fold of each row, shape [n]: folds have equally many units, drawn at random; clusters stay together.

    Raises DataError where there are fewer units than folds; ``loc`` is the place in the spec that says how many folds.
    """
    units = np.arange(sample.n) if sample.cluster is None else sample.cluster
    total = int(units.max()) + 1
    if total < count:
        unit_name = "rows" if sample.cluster is None else "clusters"
        message = f"dataset '{sample.dataset}' has {total:,} {unit_name}, which cannot be split into {count:,} folds"
        raise DataError(Problem("too-many-folds", message, plan.places.place(*loc), "ask for fewer folds"))
    # One stream for recalibrators and thresholds: equal numbers of folds are then the same folds of the same rows.
    order = stream(plan.seed, "recalibration folds", sample.dataset).permutation(total)
    return np.asarray((order % count)[units])


def _fit_recalibrator(
    variant: _Variant, sample: Sample, folds: Wholes | None = None, fold: int | None = None
) -> Fitted:
    """Fit the recalibrator on all rows of a sample, or on those outside one of its ``folds``, [n]."""
    rows_to_fit = np.arange(sample.n) if folds is None else np.flatnonzero(folds != fold)
    model, draw_design = sample.models[variant.model], design(variant.plan, sample)
    stage = f"{sample.dataset}/{variant.name}/{'all' if fold is None else fold}"

    def resampled(times: int) -> Iterable[Values]:
        """Yield weights of the rows to fit on in so many bootstrap replicates."""
        for weights in replicate_weights(draw_design, times, variant.plan.seed, stage):
            yield weights[:, rows_to_fit]

    training = Training(
        sample.truth[rows_to_fit], _recalibrator_input(sample, model)[rows_to_fit], sample.weights[rows_to_fit],
        resampled, values_at(_scores_of_fit(model), rows_to_fit), raw=_is_rank_alone(model))
    try:
        return registry[variant.method.method].fit(training, **variant.method.options)
    except Unfit as fault:
        rows = f"dataset '{sample.dataset}'" if fold is None else (
            f"the rows of dataset '{sample.dataset}' outside fold {fold + 1}")
        raise _UnfitError(f"fitted on {rows}: {fault}") from None


def _recalibrator_input(sample: Sample, model: Predictions) -> Values:
    """Return what a recalibrator is applied to: numbers [n], probabilities [n] or [n, K], or raw scores [n]."""
    if sample.task in NUMBERS:
        return present(model.predicted, "predictions")
    return present(model.score, "scores") if _is_rank_alone(model) else present(model.probability, "probabilities")


def _is_rank_alone(model: Predictions) -> bool:
    """Tell whether a model gives a score without probabilities, which only ranks rows."""
    return model.probability is None and model.score is not None


def _scores_of_fit(model: Predictions) -> Floats | None:
    """Return the scores to fit on: raw, or those that probabilities were made of; None without any."""
    return model.score if _is_rank_alone(model) else model.source_scores


def _values_by_fold(values: Sequence[Floats], folds: Wholes | None) -> Floats:
    """Return for each row the value by the fit that left its fold out; ``values`` are those of each fit.

    ``folds`` is the fold of each row, [n]; None where a single fit serves all rows.
    """
    if folds is None:
        return values[0]
    rows = np.array(values[0])
    for fold, fold_values in enumerate(values):
        rows[folds == fold] = fold_values[folds == fold]
    return rows


def recalibrated(model: Predictions, fits: Sequence[Fitted], folds: Wholes | None = None) -> Predictions:
    """Return a model's predictions with recalibrated probabilities, each row by the fit that left its fold out.

    ``folds`` is the fold of each row, [n]; None where a single fit serves all rows. Rows are ranked by log odds
    where the fits give them, for probabilities round to ties near 0 and 1. Ties that a monotone method makes by
    rounding keep the order of the model's scores.
    """
    if model.stated is not None:  # rows stand for cells of a grid of scores
        return _recalibrated_cells(model, fits)
    score = _scores_of_fit(model)
    values = _values_by_fold([fit(model.probability, score) for fit in fits], folds)
    by_fit = [odds for odds in (fit.log_odds(score) for fit in fits) if odds is not None]
    odds = _values_by_fold(by_fit, folds) if len(by_fit) == len(fits) else None
    if values.ndim > 1:
        return replace(model, probability=values, score=odds, log_odds=odds is not None)
    ranking = values if odds is None else odds
    if all(fit.direction for fit in fits):
        order = present(model.score, "scores")
        # A fit that falls turns the order round, and those of two folds may differ in that.
        ranking = break_ties(ranking, _values_by_fold([order * (fit.direction or 0) for fit in fits], folds))
    return replace(model, probability=values, score=ranking, log_odds=odds is not None)


def _recalibrated_cells(model: Predictions, fits: Sequence[Fitted]) -> Predictions:
    """Return recalibrated predictions where rows are counted in cells of a grid of scores, not held.

    Cells are ranked by the probability at their score, ``stated``; ``probability`` is the mean of the rows of a
    cell, and ``ends`` [n, 2] are the least and the largest of them, whose order a map that falls turns round.
    """
    at_score = recalibrated(replace(model, probability=model.stated, stated=None), fits)
    fit, score = fits[0], _scores_of_fit(model)
    ends = None
    if model.ends is not None:
        mapped = [fit(end, None if score is None else logit(end)) for end in model.ends.T]
        ends = np.stack([np.minimum(*mapped), np.maximum(*mapped)], axis=1)
    return replace(at_score, probability=fit(model.probability, score), stated=at_score.probability, ends=ends)


def _variant_predictions(
    variant: _Variant, sample: Sample, fits: Sequence[Fitted], folds: Wholes | None = None
) -> Predictions:
    """Return a variant's predictions on a sample; classes, if any, are by its recalibrated probabilities."""
    declared, model = variant.plan.models[variant.model], sample.models[variant.model]
    model = replace(
        model, source=variant.model, variant=variant.method.name, folds=folds, zone=declared.variant_zone, group=None,
        remainders=None)
    model = replace(model, ranks=None if folds is None else _ranks_within_folds(sample, model, fits, folds))
    if sample.task in NUMBERS:
        return _recalibrated_numbers(sample, model, fits, folds)
    model = recalibrated(model, fits, folds)
    if present(model.probability, "probabilities").ndim > 1:
        return model.classified_by_highest()
    cut = declared.threshold.variant_number
    model = replace(model, predicted=None, reportable=None, threshold=cut, cut=model.score_cutoff(cut))
    return model if cut is None else model.classified(model.cut, cut)


def _ranks_within_folds(sample: Sample, model: Predictions, fits: Sequence[Fitted], folds: Wholes) -> Floats:
    """Return the mid-rank of each row among all rows by the fit of its own fold, [n], or by each level, [n, K].

    Fits of two folds differ in level, and the level of a fold falls with the events in it, which its fit has not seen.
    Ranking the folds together by what their fits give would take that for worse ranks: Parker, Gunter & Bedo (2007),
    Airola et al. (2011). A fit that only rises gives each row the place that the model gives it.
    """
    ranks = []
    for fit in fits:
        if sample.task in NUMBERS:
            ranking = fit(_recalibrator_input(sample, model))
        else:
            mapped = recalibrated(model, (fit,))
            ranking = rows_of(sample, mapped).ranking if sample.task in MANY else present(mapped.score, "scores")
        ranks.append(np.stack([mid_ranks(column, sample.weights) for column in np.atleast_2d(ranking.T)], axis=-1))
    own_ranks = _values_by_fold(ranks, folds)
    return own_ranks if sample.task in MANY else own_ranks[:, 0]


def _recalibrated_numbers(
    sample: Sample, model: Predictions, fits: Sequence[Fitted], folds: Wholes | None
) -> Predictions:
    """Return predicted numbers, and those of models fitted without the row, recalibrated.

    Raises _UnfitError where a predicted count would not be above zero.
    """
    def mapped(numbers: Values | None) -> Floats | None:
        """Return predicted numbers recalibrated, each by the fit of its row's fold; None where there are none."""
        return None if numbers is None else _values_by_fold([fit(numbers) for fit in fits], folds)

    predicted, left_out = mapped(model.predicted), mapped(model.left_out)
    low_count = sum(int((numbers <= 0).sum()) for numbers in (predicted, left_out) if numbers is not None)
    if sample.task == "count" and low_count:
        what = "1 prediction" if low_count == 1 else f"{low_count:,} predictions"
        raise _UnfitError(
            f"used: {what} of dataset '{sample.dataset}' would not be above zero, as the mean of a count is")
    standardised = None
    if folds is not None:
        of_fits = []
        for numbers in (fit(_recalibrator_input(sample, model)) for fit in fits):
            deviations = numbers - np.average(numbers, weights=sample.weights)
            spread = float(np.sqrt(np.average(deviations**2, weights=sample.weights)))
            of_fits.append(deviations / spread if spread else deviations)
        standardised = _values_by_fold(of_fits, folds)
    return replace(model, predicted=predicted, left_out=left_out, standardised=standardised)


def _application_record(variant: _Variant, sample: Sample, fit: Fitted, after: Predictions) -> Applied:
    """Return the record of a fit used on a sample: distinct predictions before and ``after``, and rows clipped."""
    model = sample.models[variant.model]
    values = [_recalibrator_input(sample, predictions) for predictions in (model, after)]
    distinct = list(values)
    scores = _scores_of_fit(model) if sample.task == "binary" else None
    if scores is not None:
        # Far scores round to one probability; recalibrators see the scores, which stay apart.
        distinct = [scores, values[1] if after.source_scores is None else after.source_scores]
    count_before, count_after = (len(np.unique(predictions, axis=0)) for predictions in distinct)
    return Applied(dataset=sample.dataset, distinct_before=count_before, distinct_after=count_after,
                   clipped=fit.clips(values[0], _scores_of_fit(model)))


def _recalibration_record(variant: _Variant, sample: Sample, fit: Fitted, applied: list[Applied]) -> Recalibration:
    """Return the record of a fitted recalibrator and of the samples that it was applied to."""
    return Recalibration(
        model=variant.model, variant=variant.method.name, method=fit.method, fitted_on=sample.dataset,
        folds=variant.plan.recalibrate.folds,
        options={option: value for option, value in fit.options.items() if value is not None},
        n=sample.summary.n, events=sample.summary.events, clipped=fit.clipped, applied=applied,
        parameters=fit.parameters,
    )
