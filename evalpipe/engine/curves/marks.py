"""The numbers at marked thresholds: the rates that place them on the curves, and every measure of predicted classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.chapters.thresholds.plan import called
from evalpipe.engine.averages import values
from evalpipe.engine.curves.declare import Computed, CurveRows, Heights, curve
from evalpipe.engine.curves.reliability import method_of_bins
from evalpipe.intervals import LIMITS
from evalpipe.metrics import registry
from evalpipe.metrics.values import ratio
from evalpipe.results.curves import Notes, events
from evalpipe.statistics import sweep

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats, Wholes
    from evalpipe.plan.plan import Plan
    from evalpipe.statistics import Summary

RATES = ("sensitivity", "specificity", "false_positive_rate", "precision", "tested")


def places(plan: Plan, summary: Summary) -> Floats:
    """Return the lowest score that each marked threshold predicts as the event, [k]; above all where there is none."""
    above = np.nextafter(summary.rows.distinct[-1], np.inf)
    return np.asarray(np.r_[summary.rows.distinct, above][_cuts(plan, summary)])


def _cuts(plan: Plan, summary: Summary) -> Wholes:
    """Return the place of each marked threshold among the cuts of `sweep`, [k]."""
    return np.searchsorted(summary.rows.threshold_at, np.asarray(plan.marks, float), side="left")


def rates(summary: Summary, at: Floats) -> Floats:
    """Return the rates of `RATES` at scores ``at`` [k], one rate after the other, [..., 5k]; NaN where undefined."""
    hits, trials = _counted(summary, np.searchsorted(summary.rows.distinct, at, side="left"))
    return ratio(hits, trials)


def _counted(summary: Summary, cuts: Wholes) -> tuple[Floats, Floats]:
    """Return what the rates of `RATES` count at some cuts, and of how many, each [..., 5k]."""
    pairs = (summary(name) for name in ("events_from", "others_from"))
    (caught, events), (alarms, others) = (
        (np.append(above, np.zeros_like(above[..., :1]), axis=-1)[..., cuts],
         np.repeat(above[..., :1], len(cuts), axis=-1)) for above in pairs)
    tested = caught + alarms
    hits, trials = (caught, others - alarms, alarms, caught, tested), (events, others, others, tested, events + others)
    return np.concatenate(hits, axis=-1), np.concatenate(trials, axis=-1)


@curve(events.Marks, of=("event",), needs="scores", heights=Heights(rates, places, binned=True, part=True))
def marks(rows: CurveRows) -> Computed | None:
    """Compute the rates at the marked thresholds, with limits as event rates in bins have; they need both classes."""
    plan, summary = rows.plan, rows.summary
    hits, trials = _counted(summary, _cuts(plan, summary))
    if not plan.marks or not np.all(trials[: 2 * len(plan.marks)] > 0):
        return None
    method = method_of_bins(rows, "marks")
    limits = rows.limits("marks", len(hits)) if method not in LIMITS else LIMITS[method](hits, trials, plan.level)
    points = {"threshold": np.asarray(plan.marks)}
    parts = (np.split(part, len(RATES)) for part in (ratio(hits, trials), *limits))
    for name, value, lower, upper in zip(RATES, *parts, strict=True):
        points |= {name: value, f"{name}_lower": lower, f"{name}_upper": upper}
    points["lift"] = ratio(points["sensitivity"], points["tested"])
    area, gini = (float(summary.value(registry[name], {})) for name in ("roc_auc", "gini"))
    level = None if method == "none" else plan.level
    return points, events.MarksNotes(method=method, level=level, roc_auc=area, gini=gini)


@curve(events.MarkedMeasures, of=("event",), needs="scores")
def measures(rows: CurveRows) -> Computed | None:
    """Compute every measure of predicted classes that the plan has, at the marked thresholds."""
    hard = [entry for entry in rows.plan.metrics if entry.metric.of_reportable]
    if not hard or not rows.plan.marks:
        return None
    swept = sweep(rows.summary, _cuts(rows.plan, rows.summary))
    columns = {called(entry, hard): values(swept, entry) for entry in hard}
    return {"threshold": np.asarray(rows.plan.marks), **columns}, Notes()
