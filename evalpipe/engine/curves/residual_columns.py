"""Residuals against columns of the data and in the order of one, in groups of rows.

No single row is shown, for such a column may say what a person is. Where the model is right the mean of raw and of
Pearson residuals is zero along any column, and that of deviance residuals is not; so they are raw, and of counts
Pearson.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.engine.curves.declare import Computed, CurveRows, curve
from evalpipe.engine.curves.numbers import quantiles
from evalpipe.engine.curves.residual_kinds import residuals_of
from evalpipe.engine.curves.smoothing import smooth
from evalpipe.results.curves import residual_kinds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.base.arraytypes import Floats, Wholes
    from evalpipe.results.curves.residual_kinds import ResidualKind

GROUPS = 20
"""The most groups of a column of numbers, or along an order."""

SHARES = np.array([0.1, 0.25, 0.5, 0.75, 0.9])
FEWEST = 3
"""The fewest places of an order whose residuals are related to each other."""


def _kind(rows: CurveRows) -> ResidualKind:
    return "pearson" if rows.sample.task == "count" else "raw"


def _residual(rows: CurveRows) -> tuple[Floats, Floats] | None:
    """Return residuals [n] and the means that are expected of them [n]; None where a row that counts has none."""
    residual = residuals_of(rows, _kind(rows))
    if np.isnan(residual[rows.summary.weights > 0]).any():
        return None
    of = rows.summary.rows
    expected = of.expected(1 - of.all_chances) if rows.kind == "levels" else np.zeros(len(residual))
    return residual, expected


def _cut(values: Floats, weight: Floats, observations: Wholes, least: int) -> list[Wholes]:
    """Part rows by their values [n] into groups of about equal weight, each of ``least`` observations or more.

    Equal values stay together. Returns the positions of each group's rows; none where there are too few.
    """
    order = np.argsort(values, kind="stable")
    start = np.flatnonzero(np.r_[True, values[order][1:] != values[order][:-1]])
    heavy, many = (np.add.reduceat(x[order], start) for x in (weight, observations))
    groups = min(GROUPS, int(many.sum()) // least)
    if not groups:
        return []
    place = (groups * (np.cumsum(heavy) - heavy) / heavy.sum()).astype(np.intp)
    ends, seen = [0], 0
    for k in range(len(start)):
        seen += int(many[k])
        last = k + 1 == len(start)
        if (last or place[k + 1] != place[k]) and seen >= least:
            ends.append(len(order) if last else int(start[k + 1]))
            seen = 0
    ends[-1] = len(order)  # what is left over is too little, and joins the last
    return [order[a:b] for a, b in pairwise(ends)]


def _of_groups(
    groups: Sequence[Wholes], values: Floats, residual: Floats, expected: Floats, weight: Floats
) -> dict[str, Floats]:
    """Return how residuals are distributed in each group of rows."""
    parts: list[list[float]] = []
    for rows in groups:
        ordered = rows[np.argsort(residual[rows], kind="stable")]
        w, r = weight[ordered], residual[ordered]
        low, lower, median, upper, high = quantiles(r, w, SHARES).tolist()
        about = float(np.average(values[rows], weights=weight[rows]))
        parts.append([about, float(np.average(r, weights=w)), float(np.average(expected[ordered], weights=w)),
                      low, lower, median, upper, high, float(w.sum())])
    names = "value", "mean", "expected", "low", "lower_quartile", "median", "upper_quartile", "high", "weight"
    return dict(zip(names, np.array(parts).reshape(-1, len(names)).T, strict=True))


def _line(points: dict[str, Floats]) -> Floats:
    """Return a smooth line through the means of groups, where they are."""
    at, line, _ = smooth(points["value"], points["mean"], points["weight"])
    return np.interp(points["value"], at, line)


@curve(residual_kinds.ResidualAgainst, of=("numbers", "event", "levels"), needs="residuals")
def residual_against(rows: CurveRows) -> Computed | None:
    """Compute the distribution of residuals in groups of each column."""
    asked = rows.plan.residuals
    gathered = rows.once(_residual) if asked is not None and asked.against else None
    if asked is None or gathered is None:
        return None
    residual, expected = gathered
    weights, least = rows.summary.weights, asked.min_rows
    missing: dict[str, float] = {}
    few: dict[str, int] = {}
    parts: list[dict[str, Floats]] = []
    for place, name in enumerate(asked.against):
        column = rows.sample.row_columns[name]
        known = ~np.isnan(column.values) & (weights > 0)
        absent = float(weights[np.isnan(column.values)].sum())
        missing |= {name: absent} if absent else {}
        kept = np.flatnonzero(known)
        if column.levels:
            every = [kept[column.values[kept] == level] for level in range(len(column.levels))]
            groups = [level for level in every if rows.sample.observations[level].sum() >= least]
            few |= {name: len(every) - len(groups)} if len(groups) < len(every) else {}
        else:
            cut = _cut(column.values[kept], weights[kept], rows.sample.observations[kept], least) if len(kept) else []
            groups = [kept[group] for group in cut]
        points = _of_groups(groups, column.values, residual, expected, weights)
        along = np.full(len(groups), np.nan) if column.levels or not groups else _line(points)
        parts.append({**points, "column": np.full(len(groups), float(place)), "smooth": along})
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return joined, residual_kinds.ResidualAgainstNotes(
        kind=_kind(rows), least=least, columns=asked.against, missing=missing, few=few,
        levels={name: rows.sample.row_columns[name].levels for name in asked.against
                if rows.sample.row_columns[name].levels})


@curve(residual_kinds.ResidualOrder, of=("numbers", "event", "levels"), needs="residuals")
def residual_order(rows: CurveRows) -> Computed | None:
    """Compute the distribution of residuals in groups along an order, and how neighbours in it are related."""
    asked = rows.plan.residuals
    gathered = rows.once(_residual) if asked is not None and asked.order is not None else None
    if asked is None or asked.order is None or gathered is None:
        return None
    residual, expected = gathered
    weights, values = rows.summary.weights, rows.sample.row_columns[asked.order].values
    kept = np.flatnonzero(~np.isnan(values) & (weights > 0))
    if not len(kept):
        return None
    distinct, place = np.unique(values[kept], return_inverse=True)
    about = residual[kept] - expected[kept]
    means = np.bincount(place, weights[kept] * about) / np.bincount(place, weights[kept])
    places = np.asarray(place + 1, float)
    cut = _cut(places, weights[kept], rows.sample.observations[kept], asked.min_rows)
    points = _of_groups(cut, places, residual[kept], expected[kept], weights[kept])
    points["smooth"] = _line(points) if cut else np.array([])
    return points, residual_kinds.ResidualOrderNotes(
        kind=_kind(rows), least=asked.min_rows, column=asked.order, values=len(distinct),
        missing=float(weights[np.isnan(values)].sum()) or None, **_related(means))


def _related(means: Floats) -> dict[str, float]:
    """Return how residuals [m] are related to the ones before them; none of very few, and where all are the same."""
    squares, spread = float((means**2).sum()), float(((means - means.mean()) ** 2).sum())
    if len(means) < FEWEST or not squares or not spread:
        return {}
    deviation = means - means.mean()
    return {"autocorrelation": float((deviation[1:] * deviation[:-1]).sum()) / spread,
            "durbin_watson": float((np.diff(means) ** 2).sum()) / squares}
