"""Curves of one model: ROC, precision-recall, gain, lift, reliability and the histogram of scores.

All start from the score table, in which equal scores are one cell, so no curve depends on the order of rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe import constants
from evalpipe.chapters.thresholds.plan import called
from evalpipe.engine.averages import values
from evalpipe.engine.bands import AXES, band, curve_heights
from evalpipe.engine.bins import STRATEGIES, bin_edges, totals
from evalpipe.engine.calibration_curves import calibration_curves
from evalpipe.engine.decision_curve import decision_curve
from evalpipe.engine.groups import gain_table
from evalpipe.engine.number_curves import number_curves
from evalpipe.engine.points import Notes, Points, listed
from evalpipe.engine.predictive import predictive_curves
from evalpipe.intervals import LIMITS
from evalpipe.intervals.bands import pointwise_band, simultaneous_band
from evalpipe.metrics import registry
from evalpipe.metrics.declare import ratio
from evalpipe.results.curves import CURVES, Curve
from evalpipe.statistics import Summary, sweep
from evalpipe.tasks import MANY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.arraytypes import Floats, Wholes
    from evalpipe.data.sample import Sample
    from evalpipe.engine.replicates import Replicates
    from evalpipe.plan.plan import Plan

CLASS_VERTICES = 120
"""The same, of each class's curves where there are several."""

VERTICES = 500
"""About the most thresholds of a stored curve; measures are computed from all of them."""

AREAS = {"roc": "roc_auc", "pr": "average_precision"}
"""The measure that sums up a curve of one class."""

HISTOGRAM_BINS = 20

DIGITS = 2
"""Decimals to which probabilities are rounded for the refinement plot, as for the parts of the Brier score."""


def model_curves(
    plan: Plan, sample: Sample, model: str, summary: Summary, replicates: Replicates
) -> Iterator[Curve]:
    """Yield every curve that exists for the model; a curve that needs a class which is absent does not."""
    found: Iterator[tuple[str | None, str, Points, Notes]]
    if sample.task == "binary":
        found = _event_curves(plan, sample, model, summary, replicates)
    elif sample.task in MANY:
        found = _class_curves(plan, sample, summary)
    else:
        found = ((None, *curve) for curve in number_curves(sample, summary))
    for level, name, points, notes in found:
        yield CURVES[name].model_validate({
            "dataset": sample.dataset, **sample.named(model), "class": level, "curve": name, "points": points,
            "notes": notes})


def _event_curves(
    plan: Plan, sample: Sample, model: str, summary: Summary, replicates: Replicates
) -> Iterator[tuple[None, str, Points, Notes]]:
    for found in predictive_curves(plan, sample, summary):
        yield None, *found
    if not summary.rows.ranked:
        return
    strategies = STRATEGIES if summary.rows.probability is not None else ()
    drawn = {name: values for (of, name), values in replicates.curves.items() if of == model}
    for curve in (
        *threshold_curves(summary),
        *sweep_curve(plan, summary),
        *(reliability(plan, sample, summary, how, drawn.get(f"calibration_{how}")) for how in strategies),
        *(calibration_curves(plan, sample, summary, drawn) if strategies else ()),
        *([_refinement(summary)] if strategies else []),
        *([decision_curve(summary, drawn.get("net_benefit"), plan.level)] if strategies else []),
        ("histogram", _histogram(summary), {}),
        *_ranked_groups(sample, summary),
        *_bands(plan, model, summary, replicates),
    ):
        yield None, *curve


def _bands(
    plan: Plan, model: str, summary: Summary, replicates: Replicates
) -> Iterator[tuple[str, Points, Notes]]:
    """Yield the bands about the curves that were drawn."""
    if not any((model, name) in replicates.curves for name in AXES):
        return
    level = plan.level
    for name, height in curve_heights(summary).items():
        if np.isnan(height).all():
            continue
        yield name, listed(**band(name, height, replicates.curves[model, name], level)), {"level": level}


def _class_curves(plan: Plan, sample: Sample, summary: Summary) -> Iterator[tuple[str | None, str, Points, Notes]]:
    """Yield ROC, precision-recall and reliability of each class against the rest, and that of the predicted class.

    Of ordered classes, also the reliability of each cut between them.
    """
    if summary.rows.probabilities is None:
        return
    yield from _top_label(plan, sample, summary)
    for level, one in zip(sample.levels, summary.classes, strict=True):
        reliable = (*_bins(plan, sample, one), *calibration_curves(plan, sample, one, {}, CLASS_VERTICES))
        for name, points, notes in (*threshold_curves(one, CLASS_VERTICES), *reliable):
            if name in AREAS:
                yield level, name, points, notes | {"area": float(one.value(registry[AREAS[name]], {}))}
            elif name not in ("thresholds", "gain", "lift"):
                yield level, name, points, notes
    if sample.task == "ordinal":
        for place, level in enumerate(sample.levels[:-1]):
            beyond = Summary(summary.rows.beyond(place), summary.weights)
            for name, points, notes in _bins(plan, sample, beyond):
                yield level, f"cumulative_{name}", points, notes


def _top_label(plan: Plan, sample: Sample, summary: Summary) -> Iterator[tuple[None, str, Points, Notes]]:
    """Yield the reliability of the predicted class; models give one wherever they give probabilities."""
    for name, points, notes in _bins(plan, sample, Summary(summary.rows.top_label, summary.weights)):
        yield None, f"top_label_{name}", points, notes


def _bins(plan: Plan, sample: Sample, summary: Summary) -> Iterator[tuple[str, Points, Notes]]:
    return (reliability(plan, sample, summary, strategy, None) for strategy in STRATEGIES)


def threshold_curves(summary: Summary, vertices: int = VERTICES) -> Iterator[tuple[str, Points, Notes]]:
    """Yield the curves over descending thresholds, from above the highest score down to the lowest."""
    tp, fp = (np.r_[0.0, summary(name)[::-1]] for name in ("events_from", "others_from"))
    threshold = np.r_[np.inf, summary.rows.threshold_at[::-1]]
    tested, found = (tp + fp) / (tp + fp)[-1], ratio(tp, tp[-1])
    keep = shown(len(threshold), vertices)
    notes: Notes = {} if len(keep) == len(threshold) else {"points_of": len(threshold)}

    def kept(start: int = 0, **coordinates: Any) -> Points:
        return listed(**{name: values[keep][start:] for name, values in coordinates.items()})

    if tp[-1] > 0 and fp[-1] > 0:
        yield "roc", kept(threshold=threshold, false_positive_rate=fp / fp[-1], sensitivity=found), notes
        yield "thresholds", kept(
            1, threshold=threshold, sensitivity=found, specificity=1 - fp / fp[-1], precision=ratio(tp, tp + fp),
            tested=tested,
        ), notes
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


def sweep_curve(plan: Plan, summary: Summary) -> Iterator[tuple[str, Points, Notes]]:
    """Yield every measure of predicted classes that the plan has, over descending thresholds."""
    hard = [entry for entry in plan.metrics if entry.metric.of_reportable]
    if not hard:
        return
    m = len(summary.rows.distinct) + 1
    keep = shown(m)
    swept = sweep(summary, m - 1 - keep)
    threshold = np.r_[np.inf, summary.rows.threshold_at[::-1]][keep]
    measures = {called(entry, hard): values(swept, entry) for entry in hard}
    yield "sweep", listed(threshold=threshold, **measures), {} if len(keep) == m else {"points_of": m}


def shown(m: int, vertices: int = VERTICES) -> Wholes:
    """Choose the thresholds to store, out of ``m`` from the highest down; dense where few rows are retrieved."""
    if m <= vertices:
        return np.arange(m)
    spread = np.concatenate([[0], np.geomspace(1, m - 1, vertices // 2), np.linspace(1, m - 1, vertices // 2)])
    return np.unique(np.round(spread).astype(np.intp))


def reliability(
    plan: Plan, sample: Sample, summary: Summary, strategy: str, drawn: Floats | None
) -> tuple[str, Points, Notes]:
    """Return the bins of a reliability diagram; ``drawn`` are replicates of their event rates [B, bins], if any."""
    rows = summary.rows
    edges = bin_edges(rows, strategy, sample.weight)
    events, others = (totals(rows, summary(name), edges) for name in ("events_at", "others_at"))
    weight = events + others
    mean = totals(rows, (summary("events_at") + summary("others_at")) * rows.chance_at, edges) / weight
    count = totals(rows, rows.by_score(np.ones(len(rows.truth))), edges)
    lower, upper, low, high = _rate_limits(plan, events, weight, drawn)
    points = listed(
        mean_probability=mean, event_rate=events / weight, lower=lower, upper=upper, simultaneous_lower=low,
        simultaneous_upper=high, weight=weight, rows=count,
    )
    method = plan.bins if plan.bins in LIMITS or drawn is not None else "none"
    gap = float(np.average(np.abs(events / weight - mean), weights=weight))
    notes: Notes = {"bins_requested": constants.BINS, "bins_used": len(weight), "method": method, "mean_gap": gap}
    return f"calibration_{strategy}", points, notes


def _rate_limits(
    plan: Plan, events: Floats, weight: Floats, drawn: Floats | None
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the limits of the event rates in bins, of each alone and of all at once.

    All at once, binomial limits take the level whose power of the number of bins is the one asked: bins share no rows.
    """
    level, nowhere = plan.level, np.full(len(weight), np.nan)
    if plan.bins in LIMITS:
        alone = LIMITS[plan.bins](events, weight, level)
        return (*alone, *LIMITS[plan.bins](events, weight, level ** (1 / len(weight))))
    if drawn is None:
        return nowhere, nowhere, nowhere, nowhere
    together = simultaneous_band(drawn, events / weight, level, (0.0, 1.0))
    return (*pointwise_band(drawn, level), *together)


def _ranked_groups(sample: Sample, summary: Summary) -> Iterator[tuple[str, Points, Notes]]:
    """Yield the gain table and the distributions that the K-S statistic compares; they need both classes."""
    events, others = summary("events_from"), summary("others_from")
    if not (events[0] > 0 and others[0] > 0):
        return
    yield "gain_table", listed(**gain_table(summary, whole=sample.weight_kind != "importance")), {}
    below = [np.r_[0.0, 1 - values[1:] / values[0], 1.0] for values in (events, others)]
    score = np.r_[summary.rows.threshold_at, summary.rows.threshold_at[-1]]
    gap = np.abs(below[0] - below[1])
    widest = int(gap.argmax())
    keep = np.unique(np.r_[shown(len(score)), widest])
    points = listed(score=score[keep], events_below=below[0][keep], others_below=below[1][keep])
    yield "ks", points, {"statistic": float(gap[widest]), "score": float(score[widest])}


def _refinement(summary: Summary) -> tuple[str, Points, Notes]:
    """Return, for each rounded probability, the event rate and what is left of the Brier score if it is forecast."""
    events, others, stated = (
        summary(name, {"digits": DIGITS}) for name in ("rounded_events", "rounded_others", "rounded_sum")
    )
    weight = events + others
    rate = ratio(events, weight)
    left = rate * (1 - rate)
    points = listed(probability=ratio(stated, weight), event_rate=rate, refinement=left, weight=weight)
    return "refinement", points, {"digits": DIGITS, "mean": float(np.average(left, weights=weight))}


def _histogram(summary: Summary) -> Points:
    """Count both classes in bins of equal width: of probabilities over 0 to 1, of scores over the range they have."""
    edges, distinct = np.arange(HISTOGRAM_BINS + 1) / HISTOGRAM_BINS, summary.rows.threshold_at
    if summary.rows.probability is None:
        edges = distinct[0] + edges * (max(distinct[-1] - distinct[0], 1e-9))
    place = np.minimum(np.searchsorted(edges, distinct, side="right") - 1, HISTOGRAM_BINS - 1)
    events, others = (
        np.bincount(place, weights=summary(name), minlength=HISTOGRAM_BINS) for name in ("events_at", "others_at")
    )
    return listed(low=edges[:-1], high=edges[1:], events=events, others=others)
