"""Bootstrap replicates of every metric that needs them; one draw serves all metrics, models and bins of a dataset."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.engine.averages import values
from evalpipe.engine.bins import STRATEGIES, event_rates
from evalpipe.intervals import Design, jackknife_weights, replicate_weights
from evalpipe.statistics import Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalpipe.data.sample import Sample
    from evalpipe.plan import Plan

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Replicates:
    """The replicates of one dataset.

    ``metrics[model, i]`` are those [B] of the plan's i-th metric, [B, K] where it is taken for each class;
    ``rates[model, strategy]`` those of the event rate in each reliability bin [B, bins], drawn only where binomial
    limits do not hold; ``jackknife[model, i]`` the values with a group of rows left out [J], for `bca`.
    """

    metrics: Mapping[tuple[str, int], Floats] = field(default_factory=lambda: MappingProxyType({}))
    rates: Mapping[tuple[str, str], Floats] = field(default_factory=lambda: MappingProxyType({}))
    jackknife: Mapping[tuple[str, int], Floats] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def draw(
        cls, plan: Plan, sample: Sample, models: Mapping[str, Any], advance: Callable[[int], None]
    ) -> Replicates:
        """Draw the replicates that the plan asks for."""
        wanted = [i for i, entry in enumerate(plan.metrics) if entry.drawn]
        binned = [name for name, rows in models.items() if _binned(plan, rows)]
        if not wanted and not binned:
            return cls()
        metrics: dict[tuple[str, int], list[Floats]] = {(name, i): [] for name in models for i in wanted}
        rates: dict[tuple[str, str], list[Floats]] = {(name, how): [] for name in binned for how in STRATEGIES}
        weights = replicate_weights(
            _design(plan, sample), plan.spec.intervals.replicates, plan.spec.seed, sample.dataset
        )
        for batch in weights:
            for name, rows in models.items():
                summary = Summary(rows, batch)
                for i in wanted:
                    metrics[name, i].append(values(summary, plan.metrics[i]))
                if name in binned:
                    for how in STRATEGIES:
                        rates[name, how].append(event_rates(summary, how, sample.weight))
            advance(len(batch))
        return cls(
            {key: np.concatenate(parts) for key, parts in metrics.items()},
            {key: np.concatenate(parts) for key, parts in rates.items()},
            _jackknife(plan, sample, models),
        )


def _jackknife(plan: Plan, sample: Sample, models: Mapping[str, Any]) -> dict[tuple[str, int], Floats]:
    """Return the values of the metrics that ask for `bca` with each group of rows left out in turn."""
    wanted = [i for i, entry in enumerate(plan.metrics) if entry.method == "bca"]
    if not wanted:
        return {}
    found: dict[tuple[str, int], list[Floats]] = {(name, i): [] for name in models for i in wanted}
    for batch in jackknife_weights(_design(plan, sample)):
        for name, rows in models.items():
            summary = Summary(rows, batch)
            for i in wanted:
                found[name, i].append(values(summary, plan.metrics[i]))
    return {key: np.concatenate(parts) for key, parts in found.items()}


def _binned(plan: Plan, rows: Any) -> bool:
    return plan.bins == "percentile" and plan.spec.task == "binary" and rows.probability is not None


def _design(plan: Plan, sample: Sample) -> Design:
    strata = None
    if plan.spec.intervals.stratify:
        strata = np.where(sample.truth, 0, 1) if plan.spec.task == "binary" else sample.truth
    return Design(sample.n, sample.weight, sample.weight_kind, sample.cluster, strata)
