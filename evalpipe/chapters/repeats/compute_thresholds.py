"""Thresholds of repeated fits: where a rule chooses one, each fit has its own, for choosing is a part of the fit."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from evalpipe.chapters.recalibrate.compute import Variants
from evalpipe.chapters.thresholds.compute import with_thresholds
from evalpipe.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.data.sample import Refit, Sample
    from evalpipe.plan.plan import Plan


def with_refits(plan: Plan, samples: Sequence[Sample]) -> tuple[Sample, ...]:
    """Choose the threshold of every further fit by the rule of its model; raises DataError where none can be chosen."""
    return tuple(_classified(plan, samples, sample) for sample in samples)


def _classified(plan: Plan, samples: Sequence[Sample], sample: Sample) -> Sample:
    ruled = {name: fits for name, fits in sample.refits.items() if plan.models[name].threshold.rule is not None}
    if sample.role != "evaluate" or not ruled:
        return sample
    chosen = {name: tuple(_of_fit(plan, samples, sample, name, number) for number in range(len(fits)))
              for name, fits in ruled.items()}
    return replace(sample, refits=MappingProxyType({**sample.refits, **chosen}))


def _of_fit(plan: Plan, samples: Sequence[Sample], sample: Sample, name: str, number: int) -> Refit:
    """Return a further fit of a model with classes by the threshold that its rule chooses for it."""
    fit = sample.refits[name][number]
    # The calibrating rows have as many fits, and no dataset but this one is evaluated.
    alone = tuple(
        replace(other, models=MappingProxyType({name: other.refits[name][number].predictions}))
        for other in samples if other is sample or other.role == "calibrate")
    try:
        classified, _ = with_thresholds(replace(plan, interval_method="none"), Variants(alone))
    except DataError as error:
        raise DataError(*(replace(problem, notes=(*problem.notes, f"of the fit {fit.file}"))
                          for problem in error.problems)) from None
    return replace(fit, predictions=next(
        other.models[name] for other in classified if other.dataset == sample.dataset))
