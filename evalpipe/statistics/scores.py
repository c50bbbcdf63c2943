"""Score tables: events and non-events at, and at or above, each distinct score in ascending order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic.functions import log
from evalpipe.statistics.groups import runs_within, starts_of_runs, totals_of_runs
from evalpipe.statistics.summary import table

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats
    from evalpipe.statistics.summary import Summary

CLIPPED = 1e-12
"""Probabilities nearer to 0 or 1 than this have the log odds of this one."""


@table
def events_at(summary: Summary) -> Floats:
    """Events at each distinct score."""
    return np.asarray(summary.by_score[0])


@table
def others_at(summary: Summary) -> Floats:
    """Non-events at each distinct score."""
    return np.asarray(summary.by_score[1])


@table
def events_from(summary: Summary) -> Floats:
    """Events scored at or above each distinct score."""
    return _from_above(summary.by_score[0])


@table
def others_from(summary: Summary) -> Floats:
    """Non-events scored at or above each distinct score."""
    return _from_above(summary.by_score[1])


@table
def rounded_events(summary: Summary, *, digits: int) -> Floats:
    """Events at each distinct probability after rounding to ``digits`` decimals."""
    return _rounded(summary, summary("events_at"), digits)


@table
def rounded_others(summary: Summary, *, digits: int) -> Floats:
    """Non-events at each distinct probability after rounding."""
    return _rounded(summary, summary("others_at"), digits)


@table
def rounded_sum(summary: Summary, *, digits: int) -> Floats:
    """Total of the rounded probabilities at each distinct one."""
    at = summary("events_at") + summary("others_at")
    return _rounded(summary, at * np.round(summary.rows.chance_at, digits), digits)


@table
def binned_gap(summary: Summary, *, bins: int) -> Floats:
    """Events less the total of their probabilities in each of ``bins`` intervals of equal width that holds any."""
    return _binned(summary, summary("events_at") - summary("probability_at"), bins)


@table
def binned_events(summary: Summary, *, bins: int) -> Floats:
    """Events in each of ``bins`` intervals of equal width of the probability that holds any row."""
    return _binned(summary, summary("events_at"), bins)


@table
def binned_others(summary: Summary, *, bins: int) -> Floats:
    """Non-events in each of ``bins`` intervals of equal width of the probability that holds any row."""
    return _binned(summary, summary("others_at"), bins)


@table
def probability_at(summary: Summary) -> Floats:
    """Total of the probabilities at each distinct score."""
    return np.asarray((summary("events_at") + summary("others_at")) * summary.rows.chance_at)


@table
def log_odds_at(summary: Summary) -> Floats:
    """Total of the log odds at each distinct score; a probability nearer to 0 or 1 than 1e-12 has those of 1e-12."""
    chance = summary.rows.chance_at
    log_odds = log(np.maximum(chance, CLIPPED)) - log(np.maximum(1 - chance, CLIPPED))
    return np.asarray((summary("events_at") + summary("others_at")) * log_odds)


def _binned(summary: Summary, values: Floats, bins: int) -> Floats:
    """Return the totals [..., b] of values [..., m] at each distinct score, in the intervals that hold any of these.

    The intervals are ``bins`` of equal width, closed below; the last holds 1 too.
    """
    starts, _ = runs_within(summary.rows.chance_at, np.arange(bins) / bins)
    return totals_of_runs(values, starts)


def _rounded(summary: Summary, values: Floats, digits: int) -> Floats:
    """Return the totals [..., g] of values [..., m] at each distinct score, where rounded probabilities are equal."""
    rounded = np.round(summary.rows.chance_at, digits)
    return np.add.reduceat(values, starts_of_runs(rounded), axis=-1)


def _from_above(values: Floats) -> Floats:
    """Return the totals [..., m] of values [..., m] at or above each score.

    Of counts, what lies below is taken from the whole, which is exact and runs forwards in memory.
    """
    if values.dtype.kind == "f":
        return np.cumsum(values[..., ::-1], axis=-1)[..., ::-1]
    totals = np.cumsum(values, axis=-1)
    whole = totals[..., -1:].copy()
    np.subtract(values, totals, out=totals)
    totals += whole
    return totals
