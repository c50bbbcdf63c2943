"""Limits of measures that noise moves to one side: from the gaps in their bins, or from replicates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.intervals import (
    UNSEEN,
    Noise,
    binomial_bins_limits,
    corrected_limits,
    drawn_noise,
    folded_limits,
    including,
    noncentral_limits,
    percentile_limits,
    rate_variances,
    square_noise,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.arraytypes import Floats
    from evalpipe.metrics import Metric
    from evalpipe.metrics.declare import Gaps
    from evalpipe.plan import MetricPlan
    from evalpipe.statistics import Summary

UNITS = {"gaps": 5, "squared_gaps": 20, "scatter": 20}
"""Independent units for each bin from which on its noise is seen: replicates show (m - 1) / m of that of a bin of m
units. Of squares, which are noise before all else, more are needed: see the simulations of docs/methods.md."""

Limits = tuple[float, float]

SQUARES = ("squared_gaps", "squared_distance", "searched_square")
"""The kinds of interval of measures that are squares of distances themselves."""

SEARCHED = ("searched", "searched_square")
"""The kinds of measures that search the rows for their value, so that replicates show a part of their noise alone."""


def gap_limits(
    summary: Summary, squared: Summary, metric: Metric, params: Mapping[str, Any], value: float, level: float
) -> Limits:
    """Return the limits of a measure of gaps of independent rows from the rows of its bins.

    ``squared`` are the statistics under squared weights, or the same ones where weights count rows.
    """
    lowest, largest = metric.bounds(params)
    gaps, squares = (one.gaps(metric, params) for one in (summary, squared))
    lower, upper = including(_gap_limits(gaps, squares, value, level), value)
    return max(lower, lowest), min(upper, largest)


def _gap_limits(gaps: Gaps, squares: Gaps, value: float, level: float) -> Limits:
    used = np.asarray(gaps.events + gaps.others) > 0
    events, others, gap = (np.asarray(table)[used] for table in (gaps.events, gaps.others, gaps.gap))
    rows, each = events + others, (np.asarray(squares.events)[used], np.asarray(squares.others)[used])
    variances, shares = rate_variances(events, others, *each), rows / rows.sum()
    if gaps.norm == "l1":
        return folded_limits(shares * gap / rows, shares * np.sqrt(variances), level)
    if gaps.norm == "max":
        count = rows / (each[0] + each[1])
        return binomial_bins_limits(events * count, others * count, (events - gap) / rows, level)
    n = rows.sum() ** 2 / (each[0] + each[1]).sum()
    if gaps.norm == "within":
        return _scatter(events / rows, shares, variances, n, value, level)
    noise = square_noise(shares, gap / rows, variances, n)
    square = float((shares * (gap / rows) ** 2).sum())
    limits = noncentral_limits(square, noise, level) or (square, square)
    return limits if gaps.norm == "square" else _root(limits)


def _scatter(rates: Floats, shares: Floats, variances: Floats, n: float, value: float, level: float) -> Limits:
    """Return the limits of the mean variance within bins, of which noise takes the variance of each bin's rate."""
    lost, within = shares * variances, rates * (1 - rates)
    between = max(float((shares * within**2).sum()) - value**2, 0.0) / n
    variance = float((shares * (1 - 2 * rates) ** 2 * lost + 2 * lost**2).sum()) + between
    return corrected_limits(value, float(lost.sum()), math.sqrt(variance), level)


def thin(summary: Summary, entry: MetricPlan, units: float) -> str | None:
    """Return why the noise of a measure of gaps is not seen in bins of so few units; None where it is.

    Units are rows, clusters, or under importance weights the rows of equal weight that tell as much. A bin of a single
    unit is the same in every replicate that has it, however uncertain its event rate is.
    """
    least = UNITS.get(str(entry.metric.interval))
    if least is None:
        return None
    seen = [(summary, entry.params)]
    if entry.of_class and entry.average != "none":
        seen = list(zip(summary.classes, entry.of_class, strict=True))
    gaps = [one.gaps(entry.metric, params) for one, params in seen]
    bins = max(int(np.count_nonzero(each.events + each.others > 0)) for each in gaps)
    if units >= least * bins:
        return None
    fewer = "bins" if entry.metric.interval == "gaps" else "digits"
    return (f"about {units:,.0f} independent units in {bins} bins, fewer than {least} for each, so their noise is not "
            f"seen in full: ask for fewer {fewer}")


def drawn_limits(
    metric: Metric, params: Mapping[str, Any], value: float, replicates: Floats, level: float
) -> Limits | None:
    """Return the limits of a measure that noise moves, from its replicates [B]; None where they tell none."""
    limits: Limits | None
    if metric.interval == "scatter":
        noise = drawn_noise(replicates, value)
        limits = corrected_limits(value, -noise.mean, math.sqrt(noise.variance), level)
    elif metric.interval in SQUARES:
        limits = _inverted(metric, value, drawn_noise(replicates, value), level)
    else:
        noise = drawn_noise(replicates**2, value**2)
        square = value**2 + (max(noise.mean, 0.0) if params.get("debiased") else 0.0)
        squares = _inverted(metric, square, noise, level)
        limits = None if squares is None else _root(squares)
    limits = limits or percentile_limits(replicates, level)
    return None if limits is None or math.isnan(limits[0]) else including(limits, value)


def spread_limits(value: float, replicates: Floats, level: float) -> Limits | None:
    """Return the limits of a distance without a name, such as a range, from its replicates [B]."""
    squares = noncentral_limits(value**2, drawn_noise(replicates**2, value**2), level)
    limits = percentile_limits(replicates, level) if squares is None else _root(squares)
    return None if limits is None else including(limits, value)


def _inverted(metric: Metric, square: float, noise: Noise, level: float) -> Limits | None:
    return noncentral_limits(square, noise, level, UNSEEN if metric.interval in SEARCHED else 1.0)


def _root(limits: Limits) -> Limits:
    return math.sqrt(max(limits[0], 0.0)), math.sqrt(max(limits[1], 0.0))
