"""Calibration curves of one event: moving windows, a logistic line, a spline and the isotonic fit, with limits."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.calibration import Unfit
from evalpipe.calibration.bands import BandCurve, BandLine, Spread, logistic_line, logistic_spline
from evalpipe.calibration.isotonic import interpolated, pava
from evalpipe.calibration.pooled import Events, clipped, expit, logit
from evalpipe.engine.points import Notes, Points, listed
from evalpipe.intervals import LIMITS
from evalpipe.intervals.bands import pointwise_band
from evalpipe.intervals.bootstrap import kish
from evalpipe.metrics.declare import ratio
from evalpipe.statistics import Summary
from evalpipe.statistics.grid import EDGES, cut
from evalpipe.statistics.groups import totals_of_runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.arraytypes import Floats, Wholes
    from evalpipe.data.sample import Sample
    from evalpipe.plan.plan import Plan


WIDTH, STEP = 10, 5
"""The width of a window of probability and the distance of their centres, in hundredths (Kuhn & Johnson)."""

CENTRES = np.arange(0, 101, STEP)
LOW, HIGH = (np.clip(CENTRES + side * WIDTH / 2, 0, 100) / 100 for side in (-1, 1))
"""Where windows begin and end; those at 0 and 1 are cut off there."""

PLACES = 50
"""The probabilities at which a smooth curve is given, denser at either end."""

VERTICES = 500
"""About the most points of an isotonic curve."""

EXACT, CELLS = 2048, 2048
"""The most distinct probabilities that a smooth curve is fitted to as they are; more are joined in about so many cells,
which moves it by less than a thousandth."""


def calibration_curves(
    plan: Plan, sample: Sample, summary: Summary, drawn: Mapping[str, Floats], vertices: int = VERTICES
) -> Iterator[tuple[str, Points, Notes]]:
    """Yield the calibration curves that exist for rows with probabilities; ``summary`` has one row of weights, [n].

    ``drawn`` are replicates by curve, as `window_rates` and `isotonic_heights` give them, where there are any.
    """
    yield _windows(plan, summary, drawn.get("calibration_window"))
    yield from _smooth_curves(plan, sample, summary)
    yield _isotonic(plan, summary, drawn.get("calibration_isotonic"), vertices)


def window_totals(distinct: Floats, values: Any) -> Any:
    """Total values at each distinct probability [..., m] in each window [..., windows].

    Windows are closed below; those that reach 1 are closed above too.
    """
    first, last = (np.searchsorted(distinct, ends) for ends in (LOW, np.where(HIGH < 1, HIGH, np.inf)))
    return np.stack([values[..., a:b].sum(axis=-1) for a, b in zip(first, last, strict=True)], axis=-1)


def window_rates(summary: Summary) -> Floats:
    """Return the share of events in each window, [..., windows]; NaN in one without rows."""
    events, others = (window_totals(summary.rows.chance_at, summary(name)) for name in ("events_at", "others_at"))
    return ratio(events, events + others)


def _windows(plan: Plan, summary: Summary, drawn: Floats | None) -> tuple[str, Points, Notes]:
    """Return the share of events among the rows of each window that has any; ``drawn`` [B, windows]."""
    rows, at = summary.rows, summary.rows.chance_at
    events, others = summary("events_at"), summary("others_at")
    found = [events, events + others, (events + others) * at, rows.by_score(np.ones(len(rows.truth)))]
    totals = [window_totals(at, values) for values in found]
    used = totals[3] > 0
    hits, weight, stated, count = (values[used] for values in totals)
    lower = upper = np.full(len(weight), np.nan)
    if plan.bins in LIMITS:
        lower, upper = LIMITS[plan.bins](hits, weight, plan.level)
    elif drawn is not None:
        lower, upper = pointwise_band(drawn[:, used], plan.level)
    points = listed(
        centre=CENTRES[used] / 100, mean_probability=stated / weight, event_rate=hits / weight, lower=lower,
        upper=upper, weight=weight, rows=count,
    )
    method = plan.bins if plan.bins in LIMITS or drawn is not None else "none"
    return "calibration_window", points, {"width": WIDTH / 100, "step": STEP / 100, "method": method}


def _smooth_curves(plan: Plan, sample: Sample, summary: Summary) -> Iterator[tuple[str, Points, Notes]]:
    """Yield the logistic line and the spline, each where its fit exists."""
    weight = summary.floats
    if sample.weight_kind == "importance":
        # A spline's penalty is chosen by what the rows tell, which is as much as so many rows of equal weight do.
        weight = weight * (kish(weight) / np.sum(weight))
    table, chances = _table(Summary(summary.rows, weight)), clipped(summary.rows.chances)
    if not (np.any(table.events) and np.any(table.others)):
        return
    places = _places(table.at)
    robust = sample.weight_kind == "importance" or sample.cluster is not None
    spread = None
    if robust:
        spread = Spread(summary.rows.truth, weight, np.searchsorted(table.at, chances), sample.cluster)
    moved = float(np.sum(summary.weights[chances != summary.rows.chances]))
    shared: Notes = {"level": plan.level, "clipped": moved}
    table, spread = _joined(table, spread)
    with suppress(Unfit):
        line = logistic_line(table, places, spread)
        how = "sandwich" if robust else "wald"
        notes = shared | {"intercept": line.intercept, "slope": line.slope}
        yield "calibration_logistic", *_banded(plan, places, line, how, notes)
    with suppress(Unfit):
        spline = logistic_spline(table, places, spread)
        how = "sandwich" if robust else "bayesian"
        notes = shared | {"edf": spline.edf, "criterion": "unbiased risk"}
        yield "calibration_spline", *_banded(plan, places, spline, how, notes)


def _table(summary: Summary) -> Events:
    """Return events and others by probability, kept off 0 and 1 for the logit."""
    at = clipped(summary.rows.chance_at)
    starts = np.flatnonzero(np.r_[True, at[1:] != at[:-1]])
    events, others = (np.add.reduceat(summary(name), starts) for name in ("events_at", "others_at"))
    return Events(at[starts], events, others)


def _joined(table: Events, spread: Spread | None) -> tuple[Events, Spread | None]:
    """Join neighbouring probabilities where there are very many, all but the least and the largest."""
    if len(table.at) <= EXACT:
        return table, spread
    cell = cut(table.at, CELLS, (table.at, np.r_[EDGES, table.at[[1, -1]]]))
    at, events, others = (
        np.asarray(np.bincount(cell, values), float)
        for values in (table.total * logit(table.at), table.events, table.others)
    )
    joined = Events(expit(at / (events + others)), events, others)
    return joined, None if spread is None else replace(spread, place=cell[spread.place])


def _places(at: Floats) -> Floats:
    """Return ascending probabilities from the least to the largest of ``at``, denser at either end."""
    share = (1 - np.cos(np.pi * np.arange(1, PLACES - 1) / (PLACES - 1))) / 2
    return np.asarray(np.r_[at[0], at[0] + share * (at[-1] - at[0]), at[-1]])


def _banded(plan: Plan, places: Floats, found: BandLine | BandCurve, how: str, notes: Notes) -> tuple[Points, Notes]:
    """Return a curve with two-sided limits, normal on the log odds, and its notes."""
    from scipy.special import ndtri

    reach = found.error * ndtri((1 + plan.level) / 2)
    if plan.interval_method == "none":
        reach, how = np.full(len(places), np.nan), "none"
    lower, upper = (expit(found.log_odds + side * reach) for side in (-1, 1))
    points = listed(probability=places, event_rate=expit(found.log_odds), lower=lower, upper=upper)
    return points, notes | {"method": how}


def _isotonic(plan: Plan, summary: Summary, drawn: Floats | None, vertices: int) -> tuple[str, Points, Notes]:
    """Return the isotonic fit where its blocks start and end; ``drawn`` [B, places] are replicates of it there.

    With S(f) the Brier score of a forecast f, c the fit and r the share of events: miscalibration S(p) - S(c),
    discrimination S(r) - S(c), uncertainty S(r). Dimitriadis, Gneiting & Jordan (2021).
    """
    at, events, others = _by_probability(summary)
    starts, level = pava(events, events + others)
    fit = np.repeat(level, np.diff(np.r_[starts, len(at)]))
    ends = isotonic_ends(starts, len(at), vertices)
    limits = (np.full(len(ends), np.nan),) * 2 if drawn is None else pointwise_band(drawn, plan.level)
    total = np.sum(events + others)
    given, found, plain = (
        float(np.sum(events * (1 - f) ** 2 + others * f**2) / total) for f in (at, fit, np.sum(events) / total))
    notes: Notes = {
        "miscalibration": max(given - found, 0.0), "discrimination": max(plain - found, 0.0), "uncertainty": plain,
        "blocks": len(starts), "method": "none" if drawn is None else "percentile",
    }
    whole = len(isotonic_ends(starts, len(at), len(at)))
    points = listed(probability=at[ends], event_rate=fit[ends], lower=limits[0], upper=limits[1])
    return "calibration_isotonic", points, notes | ({"points_of": whole} if whole > len(ends) else {})


def _by_probability(summary: Summary) -> tuple[Floats, Any, Any]:
    """Return the distinct probabilities [m], and the weight of events and of others at each [..., m].

    Scores that round to one probability are one forecast here.
    """
    at = summary.rows.chance_at
    starts = np.flatnonzero(np.r_[True, at[1:] != at[:-1]])
    return at[starts], *(totals_of_runs(summary(name), starts) for name in ("events_at", "others_at"))


def isotonic_ends(starts: Wholes, m: int, vertices: int) -> Wholes:
    """Return where blocks of ``m`` places begin and end, ascending; about ``vertices`` of them where there are more."""
    ends = np.unique(np.r_[starts, starts[1:] - 1, m - 1])
    if len(ends) > vertices:
        ends = ends[np.unique(np.round(np.linspace(0, len(ends) - 1, vertices)).astype(np.intp))]
    return ends


def isotonic_places(summary: Summary) -> Floats:
    """Return the probabilities at which the isotonic curve of an event is given."""
    at, events, others = _by_probability(summary)
    starts, _ = pava(events, events + others)
    return np.asarray(at[isotonic_ends(starts, len(at), VERTICES)])


def isotonic_heights(summary: Summary, places: Floats) -> Floats:
    """Return the isotonic fit at ``places`` [k] under each row of weights, [..., k]; NaN where all weigh nothing.

    Between two distinct probabilities the curve runs straight; beyond those that have weight it stays level.
    """
    from scipy.optimize import isotonic_regression

    at, events, others = _by_probability(summary)
    total = events + others
    found = np.full((*total.shape[:-1], len(places)), np.nan)
    for index in np.ndindex(total.shape[:-1]):
        kept = np.flatnonzero(total[index])
        if len(kept):
            weight = total[index][kept]
            level = isotonic_regression(events[index][kept] / weight, weights=weight).x
            found[index] = interpolated(places, at[kept], level)
    return found

