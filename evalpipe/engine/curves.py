"""Curves of one model: ROC, precision-recall, gain, lift, reliability and the histogram of scores.

All start from the score table, in which equal scores are one cell, so no curve depends on the order of rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.engine.bins import BINS, STRATEGIES, assign, totals
from evalpipe.engine.groups import gain_table
from evalpipe.intervals import LIMITS, percentile_limits
from evalpipe.metrics.declare import ratio
from evalpipe.results import Curve, Scalar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.data.sample import Sample
    from evalpipe.engine.replicates import Replicates
    from evalpipe.plan import Plan
    from evalpipe.statistics import Summary

Floats = np.ndarray[Any, np.dtype[np.float64]]
Points = dict[str, list[float | None]]
Notes = dict[str, Scalar]

VERTICES = 500
"""About the most thresholds of a stored curve; measures are computed from all of them."""

HISTOGRAM_BINS = 20


def model_curves(
    plan: Plan, sample: Sample, model: str, summary: Summary, replicates: Replicates
) -> Iterator[Curve]:
    """Yield every curve that exists for the model; a curve that needs a class which is absent does not."""
    if not summary.rows.ranked:
        return
    strategies = STRATEGIES if summary.rows.probability is not None else ()
    for name, points, notes in (
        *threshold_curves(summary),
        *(_reliability(plan, sample, model, summary, replicates, strategy) for strategy in strategies),
        ("histogram", _histogram(summary), {}),
        *_ranked_groups(sample, summary),
    ):
        yield Curve(dataset=sample.dataset, model=model, curve=name, points=points, notes=notes)


def _listed(**coordinates: Any) -> Points:
    """Turn arrays into lists, with null for what is not finite."""
    return {name: [float(x) if np.isfinite(x) else None for x in values] for name, values in coordinates.items()}


def threshold_curves(summary: Summary) -> Iterator[tuple[str, Points, Notes]]:
    """Yield the curves over descending thresholds, from above the highest score down to the lowest."""
    tp, fp = (np.r_[0.0, summary(name)[::-1]] for name in ("events_from", "others_from"))
    threshold = np.r_[np.inf, summary.rows.distinct[::-1]]
    tested, found = (tp + fp) / (tp + fp)[-1], ratio(tp, tp[-1])
    keep = shown(len(threshold))
    notes: Notes = {} if len(keep) == len(threshold) else {"points_of": len(threshold)}

    def kept(start: int = 0, **coordinates: Any) -> Points:
        return _listed(**{name: values[keep][start:] for name, values in coordinates.items()})

    if tp[-1] > 0 and fp[-1] > 0:
        yield "roc", kept(threshold=threshold, false_positive_rate=fp / fp[-1], sensitivity=found), notes
    if tp[-1] > 0:
        precision = np.r_[1.0, ratio(tp, tp + fp)[1:]]
        yield "pr", kept(threshold=threshold, recall=found, precision=precision), notes
        early: Notes = {
            f"found_in_first_{share}_percent": float(np.interp(share / 100, tested, found)) for share in (10, 50)
        }
        half: Notes = {"tested_for_half_of_events": float(np.interp(0.5, found, tested))}
        yield "gain", kept(threshold=threshold, tested=tested, found=found), notes | early | half
        lift: Notes = {"lift_in_first_10_percent": float(np.interp(0.1, tested, found)) / 0.1}
        yield "lift", kept(1, threshold=threshold, tested=tested, lift=ratio(found, tested)), notes | lift


def shown(m: int) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Choose the thresholds to store, out of ``m`` from the highest down; dense where few rows are retrieved."""
    if m <= VERTICES:
        return np.arange(m)
    spread = np.concatenate([[0], np.geomspace(1, m - 1, VERTICES // 2), np.linspace(1, m - 1, VERTICES // 2)])
    return np.unique(np.round(spread).astype(np.intp))


def _reliability(
    plan: Plan, sample: Sample, model: str, summary: Summary, replicates: Replicates, strategy: str
) -> tuple[str, Points, Notes]:
    rows = summary.rows
    bins = assign(summary, strategy, sample.weight)
    events, others = totals(summary("events_at"), bins), totals(summary("others_at"), bins)
    weight = events + others
    mean = totals((summary("events_at") + summary("others_at")) * rows.distinct, bins) / weight
    count = totals(rows.by_score(np.ones(len(rows.truth))), bins)
    lower = upper = np.full(len(weight), np.nan)
    if plan.bins in LIMITS:
        lower, upper = LIMITS[plan.bins](events, weight, plan.spec.intervals.level)
    elif plan.bins == "percentile":
        drawn = replicates.rates[model, strategy]
        limits = [percentile_limits(drawn[:, i], plan.spec.intervals.level) for i in range(len(weight))]
        lower, upper = np.array([pair or (np.nan, np.nan) for pair in limits]).T
    points = _listed(
        mean_probability=mean, event_rate=events / weight, lower=lower, upper=upper, weight=weight, rows=count
    )
    return f"calibration_{strategy}", points, {"bins_requested": BINS, "bins_used": len(weight), "method": plan.bins}


def _ranked_groups(sample: Sample, summary: Summary) -> Iterator[tuple[str, Points, Notes]]:
    """Yield the gain table and the distributions that the K-S statistic compares; they need both classes."""
    events, others = summary("events_from"), summary("others_from")
    if not (events[0] > 0 and others[0] > 0):
        return
    yield "gain_table", _listed(**gain_table(summary, whole=sample.weight_kind != "importance")), {}
    below = [np.r_[0.0, 1 - values[1:] / values[0], 1.0] for values in (events, others)]
    score = np.r_[summary.rows.distinct, summary.rows.distinct[-1]]
    gap = np.abs(below[0] - below[1])
    widest = int(gap.argmax())
    keep = np.unique(np.r_[shown(len(score)), widest])
    points = _listed(score=score[keep], events_below=below[0][keep], others_below=below[1][keep])
    yield "ks", points, {"statistic": float(gap[widest]), "score": float(score[widest])}


def _histogram(summary: Summary) -> Points:
    """Count both classes in bins of equal width: of probabilities over 0 to 1, of scores over the range they have."""
    edges, distinct = np.arange(HISTOGRAM_BINS + 1) / HISTOGRAM_BINS, summary.rows.distinct
    if summary.rows.probability is None:
        edges = distinct[0] + edges * (max(distinct[-1] - distinct[0], 1e-9))
    place = np.minimum(np.searchsorted(edges, distinct, side="right") - 1, HISTOGRAM_BINS - 1)
    events, others = (
        np.bincount(place, weights=summary(name), minlength=HISTOGRAM_BINS) for name in ("events_at", "others_at")
    )
    return _listed(low=edges[:-1], high=edges[1:], events=events, others=others)
