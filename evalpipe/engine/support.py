"""The support of an estimate: the observations in its own denominator, and the events among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.statistics import Summary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.data.sample import Sample
    from evalpipe.engine.subsets import Subset
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.statistics import Rows


def counts(sample: Sample, subset: Subset, rows: Rows) -> Summary:
    """Return statistics of ``rows``, those of an event in a subset, with two weights each: observations, and events.

    The second is a row's observations where it is an event, else 0.
    """
    observed = subset.of(sample.observations)
    if observed.sum() <= np.iinfo(np.int32).max:
        observed = observed.astype(np.int32)  # half of the memory, of which this takes as much as all scores
    return Summary(rows, np.stack([observed, observed * rows.truth]))


def own_denominator(counted: Summary, entry: MetricPlan, params: Mapping[str, object]) -> tuple[int, int]:
    """Return the observations in a proportion's denominator and the events among them.

    Its trials are linear in the weights of rows, so those of the events alone are the events among them. No prevalence
    changes how many rows there are.
    """
    _, trials = counted.proportion(entry.metric, params)
    rows, events = np.broadcast_to(trials, 2)
    return round(float(rows)), round(float(events))
