"""Asymptotic evidence over nights: nights of few rows are gathered until their mean is about normal.

Arrays are [..., nights], in the order of days. What a night counts for is known from the nights before it and itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalpipe.chapters.gates.compute_bets import NightEvidence, of_a_value

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats

ENOUGH = 50.0
"""The rows of the rarer outcome that a night needs to count by itself, or several nights need together."""

LEARNT = 10
"""The pairs of successive groups from which the spread between nights is first taken."""


class Nights(NamedTuple):
    """What nights say of a number: its value, standard error, rows, and rows of the rarer outcome; NaN if unknown."""

    values: Floats
    errors: Floats
    rows: Floats
    support: Floats


class Gathered(NamedTuple):
    """The mean value, and its standard error, of the group of nights that ends on each night; NaN where none ends."""

    values: Floats
    errors: Floats


def gathered(nights: Nights, least: float) -> Gathered:
    """Return the groups of nights: a group ends when it has enough rows of the rarer outcome and one known error.

    Nights weigh as their rows do. A night whose error is unknown, as where no row is wrong, takes that of the others by
    their rows. Of a measure that few rows move to one side each night is a group, and those are left out of which fewer
    than ``least`` rows of the rarer outcome are expected; 0 for any other measure. What a night has of them itself does
    not matter, for that would choose nights with many events. The error is that of the nights' own errors or, where it
    is larger, of how far the nights differ.
    """
    known = ~np.isnan(nights.values) & (_expected_support(nights) >= least)
    support = np.full(known.shape, ENOUGH) if least else nights.support
    rows, value = np.where(known, nights.rows, 0.0), np.where(known, nights.values, 0.0)
    measured = known & (nights.errors > 0)
    terms = np.stack([
        rows, rows * value, np.where(measured, rows * nights.errors, 0.0) ** 2, np.where(measured, rows, 0.0),
        np.where(known, support, 0.0), known, rows**2, rows**2 * value, (rows * value) ** 2])
    ended = Gathered(np.full(rows.shape, np.nan), np.full(rows.shape, np.nan))
    group = np.zeros(terms.shape[:-1])
    for night in range(rows.shape[-1]):
        group += terms[..., night]
        ends = (group[4] >= ENOUGH) & (group[3] > 0)
        ended.values[..., night], ended.errors[..., night] = _closed(np.where(ends, group, np.nan))
        group = np.where(ends, 0.0, group)
    return ended


def _expected_support(nights: Nights) -> Floats:
    """Return the rows of the rarer outcome that the nights before lead to expect of each night's rows; 0 at first."""
    known = np.stack([np.where(np.isnan(nights.values), 0.0, total) for total in (nights.support, nights.rows)])
    support, rows = np.cumsum(known, axis=-1) - known
    return np.asarray(nights.rows * support / np.where(rows > 0, rows, np.inf))


def _closed(group: Floats) -> tuple[Floats, Floats]:
    """Return the mean and the error of groups from what was totalled of their nights [totals, ...]; NaN of NaN."""
    rows, total, square, measured, _, count, squares, first, second = group
    mean = total / rows
    apart = (second - 2 * mean * first + mean**2 * squares) * count / np.maximum(count - 1, 1)
    return mean, np.sqrt(np.maximum(square * rows / measured, apart)) / rows


def evidence(groups: Gathered, limit: float, side: int, *, between: bool = False) -> NightEvidence:
    """Return the evidence of groups on a limit, [..., nights, bets]; 0 on nights on which none ends.

    With ``between``, errors grow by the spread of the groups before; until that is known, nothing counts.
    """
    errors = groups.errors * np.sqrt(_spread_before(groups)) if between else groups.errors
    ended = ~np.isnan(groups.values) & ~np.isnan(errors)
    night = of_a_value(np.where(ended, groups.values, limit), np.where(ended, errors, 1.0), limit, side)
    return NightEvidence(*(np.where(ended[..., None], logs, 0.0) for logs in night))


def _spread_before(groups: Gathered) -> Floats:
    """Return how far groups before each night differ, squared and beside their errors; NaN until that is known.

    Of successive ones (von Neumann 1941), so that one fall does not hide the next. It is at least 1.
    """
    shape = groups.values.shape
    total, pairs, spread = np.zeros(shape[:-1]), np.zeros(shape[:-1]), np.full(shape, np.nan)
    value, error = np.full(shape[:-1], np.nan), np.full(shape[:-1], np.nan)
    for night in range(shape[-1]):
        enough = pairs >= LEARNT
        spread[..., night] = np.where(enough, np.maximum(total / np.maximum(pairs, 1), 1.0), np.nan)
        now, its_error = groups.values[..., night], groups.errors[..., night]
        both = ~np.isnan(now) & ~np.isnan(value)
        total += np.where(both, (now - value) ** 2 / (its_error**2 + error**2), 0.0)
        pairs += both
        value, error = np.where(np.isnan(now), value, now), np.where(np.isnan(now), error, its_error)
    return spread


class Agreement(NamedTuple):
    """How nights go together: the ``spread`` of successive ones, and their ``autocorrelation``."""

    spread: float
    autocorrelation: float
    nights: int


def agreement(nights: Nights) -> Agreement | None:
    """Return how the values of nights [nights] go together; None of fewer than are needed to say.

    1 is the spread, and 0 the correlation, of nights that differ by their rows alone.
    """
    known = ~np.isnan(nights.values) & (nights.errors > 0)
    values, errors = nights.values[known], nights.errors[known]
    if len(values) <= LEARNT:
        return None
    spread = float(np.mean(np.diff(values) ** 2 / (errors[1:] ** 2 + errors[:-1] ** 2)))
    apart = (values - values.mean()) / errors
    return Agreement(spread, float((apart[1:] * apart[:-1]).sum() / (apart**2).sum()), len(values))
