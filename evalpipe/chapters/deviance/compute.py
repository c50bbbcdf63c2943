"""The deviance of each model beside that of no model, and the likelihood-ratio test where its conditions are met.

The difference has a chi-squared distribution only on the rows that the model was fitted on, by maximum likelihood with
an intercept: there, no model is the model with all its coefficients zero. On other rows the null shares are fitted and
the model is not, the two are not nested, and a model that is noise has a difference below zero on average.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.chapters.deviance.plan import deviance_plan
from evalpipe.chapters.deviance.records import DevianceTest
from evalpipe.metrics import registry
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.base.arraytypes import Floats
    from evalpipe.chapters.deviance.spec import FittedOn
    from evalpipe.data.sample import Sample
    from evalpipe.engine.estimates import Evaluated
    from evalpipe.plan.plan import Plan
    from evalpipe.words.sentences import Sentence

TOLERANCE = 0.01
"""How far the total of the probabilities may lie from the events, in standard deviations of their number."""


def tables(plan: Plan, evaluated: Sequence[Evaluated]) -> dict[str, object]:
    """Return the field `deviances`: a record for each model that gives probabilities; empty if not planned."""
    fitted = plan.part(deviance_plan)
    if fitted is None:
        return {"deviances": []}
    return {"deviances": [row for dataset in evaluated for row in _deviances(fitted, dataset)]}


def _deviances(fitted: Mapping[str, FittedOn], dataset: Evaluated) -> Iterator[DevianceTest]:
    """Yield the record of the deviance of each model and variant on a dataset."""
    sample = dataset.sample
    for name in sample.models:
        summary = dataset.summaries[name, 0]
        if "probabilities" not in summary.rows.gives:
            continue
        measures = {measure: float(summary.value(registry[measure], registry[measure].options().model_dump()))
                    for measure in ("null_deviance", "deviance", "deviance_reduction", "mcfadden_r2")}
        difference, r2 = measures["deviance_reduction"], measures["mcfadden_r2"]
        parameters, reason = _degrees_of_freedom(
            fitted.get(sample.named(name)["model"]), sample, name, summary.rows.level_probabilities)
        if reason is None and difference < 0:
            parameters, reason = None, sentence("worse-than-none")
        p_value = None
        if parameters is not None:
            from scipy.special import chdtrc

            p_value = float(chdtrc(parameters, difference))
        yield DevianceTest(
            dataset=sample.dataset, **sample.named(name), null_deviance=measures["null_deviance"],
            deviance=measures["deviance"], difference=difference, mcfadden_r2=r2 if np.isfinite(r2) else None,
            parameters=parameters, p_value=p_value, reason=reason)


def _degrees_of_freedom(
    fitted: FittedOn | None, sample: Sample, name: str, probabilities: Floats
) -> tuple[int | None, Sentence | None]:
    """Return the degrees of freedom of the test against intercepts alone; None, and why, where it does not hold.

    ``fitted`` says how the model was fitted, ``probabilities`` [n, K] are those of all levels.
    """
    if sample.named(name)["variant"] != "original":
        return None, sentence("recalibrated")
    if fitted is None:
        return None, sentence("fit-unknown")
    if fitted.on != sample.dataset:
        return None, sentence("fitted-elsewhere", dataset=fitted.on)
    if sample.weight_kind == "importance" or sample.cluster is not None:
        return None, sentence("importance-weights" if sample.weight_kind == "importance" else "dependent-rows")
    return (fitted.parameters, None) if _sums_match_rows(sample, probabilities) else (
        None, sentence("means-differ"))


def _sums_match_rows(sample: Sample, probabilities: Floats) -> bool:
    """Tell whether the probabilities of each level sum to the rows of that level.

    Those of a maximum-likelihood fit with intercepts do so on its own rows; without that the test does not hold.
    """
    level_codes = np.where(sample.truth, 0, 1) if sample.task == "binary" else sample.truth
    rows_of_level = np.bincount(level_codes, sample.weights, probabilities.shape[1])
    weights = sample.weights[:, None]
    spread = np.sqrt((weights * probabilities * (1 - probabilities)).sum(axis=0))
    return bool(np.all(np.abs((weights * probabilities).sum(axis=0) - rows_of_level) <= TOLERANCE * spread))
