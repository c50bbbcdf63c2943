"""Each model less the fixed rates of rivals, on all rows of each dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.chapters.reference_rates.plan import rates_plan
from evalpipe.chapters.reference_rates.records import RateDifference
from evalpipe.engine.differences import difference_from_known
from evalpipe.intervals.contrasts import verdict_of_limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.chapters.reference_rates.plan import RatePlan
    from evalpipe.engine.estimates import Evaluated
    from evalpipe.plan.plan import Plan
    from evalpipe.results import Estimate


def tables(plan: Plan, evaluated: Sequence[Evaluated]) -> dict[str, object]:
    """Return the difference of every model and variant from every rate, as field of the results."""
    return {"reference_rates": [
        _rate_difference(difference_from_known(dataset.estimate(model, rate.entry), rate), rate)
        for dataset in evaluated for model in dataset.sample.models for rate in plan.part(rates_plan)]}


def _rate_difference(difference: Estimate, rate: RatePlan) -> RateDifference:
    """Return the record of a model minus a rate; its verdict is by the limits, unless these are unreliable."""
    limits = (difference.lower, difference.upper) if difference.status == "ok" else (None, None)
    rate_lower, rate_upper = rate.limits or (None, None)
    return RateDifference(
        **difference.model_dump(include=set(RateDifference.model_fields)), difference=difference.value,
        baseline=rate.rival, rate=rate.value, rate_lower=rate_lower, rate_upper=rate_upper, p_value=None,
        test=None, margin=None, verdict=verdict_of_limits(*limits, rate.entry.metric.direction))
