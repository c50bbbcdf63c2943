"""Recalibration: variants of every model, fitted on rows other than those that they are judged on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.calibration import Fitted, Training, Unfit, registry
from evalpipe.chapters.equivocal.compute import reportable_rows
from evalpipe.engine.replicates import design
from evalpipe.engine.ties import apart
from evalpipe.errors import DataError, Problem
from evalpipe.intervals.resampling import replicate_weights, stream
from evalpipe.results import Applied, Recalibration
from evalpipe.statistics.rows import present, taken
from evalpipe.tasks import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalpipe.arraytypes import Wholes
    from evalpipe.chapters.recalibrate.plan import MethodPlan
    from evalpipe.data.sample import Predictions, Sample
    from evalpipe.plan.plan import Plan


@dataclass(slots=True)
class Variants:
    """The samples with the variants of their models, and the record of every recalibrator that was fitted.

    ``parts`` are, by dataset and variant, the recalibrators of each fold of those that were cross-fitted.
    """

    samples: tuple[Sample, ...]
    fitted: list[Recalibration] = field(default_factory=list)
    parts: dict[tuple[str, str], tuple[Fitted, ...]] = field(default_factory=dict)


def with_variants(plan: Plan, samples: Sequence[Sample]) -> Variants:
    """Fit every recalibrator and add what it makes of each model to the evaluated samples.

    Samples on which thresholds of variants are chosen get them too.

    Raises DataError with every recalibrator that the rows do not allow.
    """
    fit = _held_out if plan.folds is None else _crossed
    problems: list[Problem] = []
    added: dict[str, dict[str, Predictions]] = {sample.dataset: {} for sample in samples}
    fitted: list[Recalibration] = []
    parts: dict[tuple[str, str], tuple[Fitted, ...]] = {}
    for name in plan.models:
        for choice in plan.recalibrators:
            try:
                made = fit(plan, samples, name, choice)
            except _UnfitError as fault:
                problems.append(fault.problem(plan, choice))
                continue
            for dataset, predictions in made.predictions.items():
                added[dataset][f"{name}+{choice.name}"] = predictions
            fitted += made.fitted
            parts |= {(dataset, f"{name}+{choice.name}"): each for dataset, each in made.parts.items()}
    if problems:
        raise DataError(*problems)
    return Variants(tuple(_joined(sample, added[sample.dataset]) for sample in samples), fitted, parts)


def _joined(sample: Sample, added: dict[str, Predictions]) -> Sample:
    """Put each model's variants after it."""
    if not added:
        return sample
    models: dict[str, Predictions] = {}
    for name, model in sample.models.items():
        models[name] = model
        models |= {key: made for key, made in added.items() if made.source == name}
    return replace(sample, models=MappingProxyType(models))


@dataclass(frozen=True, slots=True)
class _Made:
    predictions: dict[str, Predictions]
    fitted: list[Recalibration]
    parts: dict[str, tuple[Fitted, ...]] = field(default_factory=dict)


class _UnfitError(Exception):
    """A recalibrator that cannot be fitted, with the dataset and the reason."""

    def __init__(self, model: str, dataset: str | None, reason: str, fold: int | None = None) -> None:
        super().__init__(reason)
        self.model, self.dataset, self.fold = model, dataset, fold

    def problem(self, plan: Plan, choice: MethodPlan) -> Problem:
        """Say which recalibrator it is, where it was asked for, and what to do."""
        index = plan.recalibrators.index(choice)
        rows = f"fitted on dataset '{self.dataset}'" if self.fold is None else (
            f"fitted on the rows of dataset '{self.dataset}' outside fold {self.fold + 1}")
        done = "used" if self.dataset is None else rows
        message = f"'{choice.name}' of model '{self.model}' cannot be {done}: {self}"
        hint = "remove the method, or fit it on other rows"
        return Problem("cannot-recalibrate", message, plan.places.place("recalibrate", "methods", index), hint)


def _held_out(plan: Plan, samples: Sequence[Sample], name: str, choice: MethodPlan) -> _Made:
    """Fit on the dataset that the spec names; apply to every evaluated one."""
    on = next(sample for sample in samples if sample.dataset == plan.recalibrated_on)
    fitted = _fit(plan, on, name, choice, None)
    predictions = {sample.dataset: _variant(plan, sample, name, choice, _applied(sample, name, [fitted]))
                   for sample in samples if _wanted(plan, sample, name)}
    applied = [_change(sample, name, predictions[sample.dataset], fitted)
               for sample in samples if sample.role == "evaluate"]
    return _Made(predictions, [_record(on, name, choice, fitted, None, applied)])


def _wanted(plan: Plan, sample: Sample, name: str) -> bool:
    """Tell whether variants of a model are made of a sample: to be evaluated, or to choose their thresholds."""
    chosen = plan.models[name].threshold.variant_rule if sample.role == "calibrate" else None
    return sample.role == "evaluate" or (chosen is not None and chosen.dataset == sample.dataset)


def _crossed(plan: Plan, samples: Sequence[Sample], name: str, choice: MethodPlan) -> _Made:
    """Fit on the other folds of each evaluated dataset; what is kept for later use is fitted on all its rows.

    Rows that choose thresholds are shared in folds of their own, so that no recalibrator has seen an evaluated row.
    """
    count = plan.folds or 0
    predictions, records, held = {}, [], {}
    for sample in (sample for sample in samples if _wanted(plan, sample, name)):
        folds = fold_of(plan, sample, count)
        parts = [_fit(plan, sample, name, choice, folds, fold) for fold in range(count)]
        made = _applied(sample, name, parts, folds)
        predictions[sample.dataset] = _variant(plan, sample, name, choice, made, folds)
        if sample.role != "evaluate":
            continue
        held[sample.dataset] = tuple(parts)
        whole = _fit(plan, sample, name, choice, None)
        applied = [_change(sample, name, predictions[sample.dataset], whole)]
        records.append(_record(sample, name, choice, whole, count, applied))
    return _Made(predictions, records, held)


FOLDED = ("recalibrate", "fit_on", "folds")


def fold_of(plan: Plan, sample: Sample, count: int, at: tuple[str, ...] = FOLDED) -> Wholes:
    """Return the fold of each row, shape [n]: as many units to each as can be, at random; clusters stay whole.

    Raises DataError where there are fewer units than folds; ``at`` is where the spec asks for them.
    """
    units = np.arange(sample.n) if sample.cluster is None else sample.cluster
    total = int(units.max()) + 1
    if total < count:
        what = "rows" if sample.cluster is None else "clusters"
        message = f"dataset '{sample.dataset}' has {total:,} {what}, which cannot be shared among {count:,} folds"
        raise DataError(Problem("too-many-folds", message, plan.places.place(*at), "ask for fewer folds"))
    order = stream(plan.seed, "recalibration folds", sample.dataset).permutation(total)
    return np.asarray((order % count)[units])


def _fit(
    plan: Plan, sample: Sample, name: str, choice: MethodPlan, folds: Wholes | None, fold: int | None = None
) -> Fitted:
    """Fit a recalibrator on a sample, but for the rows of one fold."""
    kept = np.arange(sample.n) if folds is None else np.flatnonzero(folds != fold)
    model = sample.models[name]
    whole = model.predicted if sample.task in NUMBERS else model.probability
    drawn = design(plan, sample)

    def resampled(times: int) -> Iterable[Any]:
        steps = f"{sample.dataset}/{name}+{choice.name}/{'all' if fold is None else fold}"
        for weights in replicate_weights(drawn, times, plan.seed, steps):
            yield weights[:, kept]

    training = Training(
        sample.truth[kept], np.asarray(whole)[kept], sample.weights[kept], resampled, taken(model.made_of, kept))
    try:
        return registry[choice.method].fit(training, **choice.options)
    except Unfit as fault:
        raise _UnfitError(name, sample.dataset, str(fault), fold) from None


def recalibrated(model: Predictions, parts: Sequence[Fitted], folds: Wholes | None = None) -> Predictions:
    """Return what recalibrators make of a model's probabilities or scores: one of all rows, or one of each fold's.

    Ranks are taken from the log odds where the model gives scores that a method maps to such, as probabilities round to
    ties near 0 and 1. What a method that only rises or falls rounds to one number keeps the order of the model.
    """
    score = model.made_of
    values = chosen([part(model.probability, score) for part in parts], folds)
    odds = _mapped(parts, score, folds)
    if values.ndim > 1:
        return replace(model, probability=values, score=odds, log_odds=odds is not None)
    ranking = values if odds is None else odds
    directions = [part.direction for part in parts]
    if all(directions):
        signed = [present(model.score, "scores") * (direction or 0) for direction in directions]
        ranking = apart(ranking, chosen(signed, folds))
    return replace(model, probability=values, score=ranking, log_odds=odds is not None)


def _mapped(parts: Sequence[Fitted], score: Any, folds: Wholes | None) -> Any:
    """Return the log odds that scores are mapped to; None where a method maps to none."""
    found = [part.log_odds(score) for part in parts]
    return None if any(one is None for one in found) else chosen(found, folds)


def chosen(values: Sequence[Any], folds: Wholes | None) -> Any:
    """Put together the values of each fold's own rows out of those that each part gives all rows; of one part, its."""
    if folds is None:
        return values[0]
    found = np.array(values[0])
    for fold, one in enumerate(values):
        found[folds == fold] = one[folds == fold]
    return found


def _applied(sample: Sample, name: str, parts: Sequence[Fitted], folds: Wholes | None = None) -> Predictions:
    """Return a model's recalibrated predictions, and its leave-one-out predictions where it has them."""
    model = sample.models[name]
    if sample.task not in NUMBERS:
        return recalibrated(model, parts, folds)
    predicted = chosen([part(model.predicted) for part in parts], folds)
    left_out = None if model.left_out is None else chosen([part(model.left_out) for part in parts], folds)
    return replace(model, predicted=predicted, left_out=left_out)


def _variant(
    plan: Plan, sample: Sample, name: str, choice: MethodPlan, made: Predictions, folds: Wholes | None = None
) -> Predictions:
    """Return a variant's predictions; its classes are those of its own probabilities."""
    declared = plan.models[name]
    model = replace(made, source=name, variant=choice.name, folds=folds, zone=declared.variant_zone)
    if sample.task in NUMBERS:
        _above_zero(sample, name, model.predicted, model.left_out)
        return model
    if present(model.probability, "probabilities").ndim > 1:
        return _of_levels(model)
    cut = declared.threshold.variant_number
    model = replace(model, predicted=None, reportable=None, threshold=cut, cut=model.cut_at(cut))
    return model if cut is None else model.classified(model.cut, cut)


def _of_levels(model: Predictions) -> Predictions:
    """Return a variant with the classes of its highest scores, or probabilities."""
    chances = present(model.probability, "probabilities")
    highest = chances if model.score is None else model.score
    reportable = None if model.zone is None else reportable_rows(model.zone, chances)
    seen = highest if reportable is None else highest[reportable]
    tied = int(((seen == seen.max(axis=1, keepdims=True)).sum(axis=1) > 1).sum())
    return replace(model, predicted=highest.argmax(axis=1), tied=tied, reportable=reportable)


def _above_zero(sample: Sample, name: str, values: Any, left_out: Any) -> None:
    """Refuse means of counts that are not above zero, as predictions of counts are refused when they are read."""
    low = int((values <= 0).sum()) + (0 if left_out is None else int((left_out <= 0).sum()))
    if sample.task == "count" and low:
        what = "1 prediction" if low == 1 else f"{low:,} predictions"
        reason = f"{what} of dataset '{sample.dataset}' would not be above zero, as the mean of a count is"
        raise _UnfitError(name, None, reason)


def _change(sample: Sample, name: str, made: Predictions, fitted: Fitted) -> Applied:
    """Count the distinct predictions before and after."""
    model = sample.models[name]
    number = sample.task in NUMBERS
    before, after = (one.predicted if number else one.probability for one in (model, made))
    return Applied(
        dataset=sample.dataset, distinct_before=_distinct(before), distinct_after=_distinct(after),
        clipped=fitted.clips(before, model.made_of),
    )


def _distinct(values: Any) -> int:
    return len(np.unique(values, axis=0))


def _record(
    on: Sample, name: str, choice: MethodPlan, fitted: Fitted, folds: int | None, applied: list[Applied]
) -> Recalibration:
    return Recalibration(
        model=name, variant=choice.name, method=fitted.method, fitted_on=on.dataset, folds=folds,
        options={option: value for option, value in fitted.options.items() if value is not None},
        n=on.summary.n, events=on.summary.events, clipped=fitted.clipped, applied=applied,
        parameters=fitted.parameters,
    )
