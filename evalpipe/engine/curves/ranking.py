"""Curves over all thresholds, what scores tell by their order, and the numbers at marked thresholds.

ROC, precision and recall, gain and lift; the gain table, distributions and the histogram; every measure of predicted
classes at the marks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic import exp, log
from evalpipe.chapters.costs.compute_campaign import Campaign
from evalpipe.engine.averages import values
from evalpipe.engine.curves.calibration import method_of_bins
from evalpipe.engine.curves.declare import Computed, CurveRows, Heights, curve
from evalpipe.engine.ranks import cumulative_groups
from evalpipe.intervals import LIMITS
from evalpipe.metrics import registry
from evalpipe.metrics.values import ratio
from evalpipe.results.curves import Notes, calibration, events
from evalpipe.results.curves.declare import Thinned
from evalpipe.statistics import sweep
from evalpipe.statistics.rows import runs_within

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats, Wholes
    from evalpipe.plan.plan import Plan
    from evalpipe.statistics import Summary


def gain_table(summary: Summary, groups: int, *, counted: bool) -> dict[str, Floats]:
    """Return the columns of the gain table, each of shape [groups], highest scores first.

    ``counted`` says that weights count observations, which no cut may divide. ``population`` is the weight of a group;
    ``captured``, ``random`` and ``wizard`` are the events in it by the model, in random order and in perfect order;
    ``*_so_far`` are totals down to the group, ``cumulative_*`` their shares; ``lift`` and ``cumulative_lift`` compare
    with random order; ``separation`` is the cumulative share of events less that of non-events, whose largest is near
    the K-S statistic.
    """
    cuts, caught = cumulative_groups(summary, groups, counted=counted)
    total, events = cuts[-1], caught[-1]
    shares = {"population": cuts / total, "captured": caught / events, "others": ratio(cuts - caught, total - events)}
    so_far = {"population": cuts, "captured": caught, "random": cuts * events / total,
              "wizard": np.minimum(cuts, events)}
    of_group = {name: np.diff(values) for name, values in so_far.items()}
    return {
        "group": np.arange(1.0, groups + 1),
        **of_group,
        "lift": ratio(of_group["captured"], of_group["random"]),
        "cumulative_population": shares["population"][1:],
        "cumulative_captured": shares["captured"][1:],
        "cumulative_wizard": so_far["wizard"][1:] / events,
        "cumulative_lift": ratio(shares["captured"][1:], shares["population"][1:]),
        "separation": (shares["captured"] - shares["others"])[1:],
        **{f"{name}_so_far": values[1:] for name, values in so_far.items()},
    }


HISTOGRAM_BINS = 20


@dataclass(frozen=True)
class Steps:
    """The rows predicted as events at each threshold, from above the highest score down to the lowest; all [m].

    ``hits`` and ``alarms`` are the weights of the events and of the non-events among them; ``kept`` are the indices of
    the thresholds that are stored.
    """

    threshold: Floats
    hits: Floats
    alarms: Floats
    kept: Wholes

    @classmethod
    def of(cls, rows: CurveRows, summary: Summary | None = None) -> Steps:
        """Return the cumulative weights of events and others from the highest rank down, with the thresholds.

        Rows are ranked by the scores of ``summary`` where it is given, else by the ranks of the curve's rows.
        """
        summary = rows.summary.ranked if summary is None else summary
        hits, alarms = (np.r_[0.0, summary(name)[::-1]] for name in ("events_from", "others_from"))
        threshold = np.r_[np.inf, summary.rows.threshold_at[::-1]]
        return cls(threshold, hits, alarms, stored_indices(len(threshold), rows.vertices))

    @cached_property
    def tested(self) -> Floats:
        """The share of the rows that are predicted as events at each threshold, [m]."""
        return np.asarray((self.hits + self.alarms) / (self.hits + self.alarms)[-1])

    @cached_property
    def found(self) -> Floats:
        """The share of the events that are predicted as events at each threshold, the sensitivity, [m]."""
        return ratio(self.hits, self.hits[-1])

    @property
    def has_both(self) -> bool:
        """Whether there are both events and non-events."""
        return bool(self.hits[-1] > 0 and self.alarms[-1] > 0)

    def rates(self, index: int) -> events.RatesAt:
        """Return the rates at the threshold of an index."""
        alarmed = self.alarms[index] / self.alarms[-1]
        return events.RatesAt(threshold=self.threshold[index], sensitivity=self.found[index], specificity=1 - alarmed,
                              false_positive_rate=alarmed)

    @property
    def points_of(self) -> int | None:
        """The number of thresholds where only some of them are stored; None where all are."""
        return None if len(self.kept) == len(self.threshold) else len(self.threshold)


def stored_indices(m: int, vertices: int) -> Wholes:
    """Return the indices of about ``vertices`` of ``m`` thresholds to store, ascending, densest at the highest."""
    if m <= vertices:
        return np.arange(m)
    spread = np.concatenate([[0], exp(np.linspace(0, log(m - 1), vertices // 2)), np.linspace(1, m - 1, vertices // 2)])
    return np.unique(np.round(spread).astype(np.intp))


def _area_of_class(rows: CurveRows, metric: str) -> float | None:
    """Return the area under the curve of a class against the rest, by its ``metric``; None for a binary event.

    The area of a binary event is among the estimates.
    """
    return float(rows.summary.value(registry[metric], {})) if rows.kind == "class" else None


@curve(events.Roc, of=("event", "class"), needs="scores")
def roc(rows: CurveRows) -> Computed | None:
    """Compute the ROC curve; it needs both classes."""
    steps = rows.once(Steps.of)
    if not steps.has_both:
        return None
    kept, alarmed = steps.kept, steps.alarms / steps.alarms[-1]
    points = {
        "threshold": steps.threshold[kept], "false_positive_rate": alarmed[kept], "sensitivity": steps.found[kept]}
    # The first place is above all scores, where both rates are 0.
    furthest = int((steps.found - alarmed).argmax())
    notes = events.RocNotes(points_of=steps.points_of, area=_area_of_class(rows, "roc_auc"),
                            furthest=steps.rates(furthest) if furthest else None)
    return points, notes


@curve(events.Thresholds, of=("event",), needs="scores")
def thresholds(rows: CurveRows) -> Computed | None:
    """Compute the rates at each threshold that is a score; they need both classes."""
    steps = Steps.of(rows, rows.summary)  # by score, whatever the ranks
    if not steps.has_both:
        return None
    kept = steps.kept[1:]  # without the threshold above all scores, which is none of them
    specificity = 1 - steps.alarms / steps.alarms[-1]
    columns = {"threshold": steps.threshold, "sensitivity": steps.found, "specificity": specificity}
    points = {name: values[kept] for name, values in columns.items()}
    points |= {"precision": ratio(steps.hits[kept], (steps.hits + steps.alarms)[kept]), "tested": steps.tested[kept]}
    closest = 1 + int(np.abs(steps.found - specificity)[1:].argmin())
    return points, events.ThresholdNotes(points_of=steps.points_of, closest=steps.rates(closest))


@curve(events.Pr, of=("event", "class"), needs="scores")
def precision_recall(rows: CurveRows) -> Computed | None:
    """Compute the precision-recall curve; it needs events."""
    steps = rows.once(Steps.of)
    if not steps.hits[-1] > 0:
        return None
    # Where no row is predicted as an event precision is 0 / 0: 1 by convention, as in scikit-learn and yardstick.
    kept = steps.kept
    precision = np.where(kept > 0, ratio(steps.hits[kept], (steps.hits + steps.alarms)[kept]), 1.0)
    points = {"threshold": steps.threshold[kept], "recall": steps.found[kept], "precision": precision}
    return points, events.RankedNotes(points_of=steps.points_of, area=_area_of_class(rows, "average_precision"))


@curve(events.Gain, of=("event",), needs="scores")
def gain(rows: CurveRows) -> Computed | None:
    """Compute cumulative gain; it needs events."""
    steps = rows.once(Steps.of)
    if not steps.hits[-1] > 0:
        return None
    kept, tested, sensitivity = steps.kept, steps.tested, steps.found
    points = {"threshold": steps.threshold[kept], "tested": tested[kept], "found": sensitivity[kept]}
    return points, events.GainNotes(
        points_of=steps.points_of,
        found_in_first_10_percent=float(np.interp(0.1, tested, sensitivity)),
        found_in_first_50_percent=float(np.interp(0.5, tested, sensitivity)),
        tested_for_half_of_events=float(np.interp(0.5, sensitivity, tested)),
    )


@curve(events.Lift, of=("event",), needs="scores")
def lift(rows: CurveRows) -> Computed | None:
    """Compute lift at each threshold that is a score; it needs events."""
    steps = rows.once(Steps.of)
    if not steps.hits[-1] > 0:
        return None
    kept, tested, sensitivity = steps.kept[1:], steps.tested, steps.found
    points = {
        "threshold": steps.threshold[kept], "tested": tested[kept], "lift": ratio(sensitivity[kept], tested[kept])}
    early = float(np.interp(0.1, tested, sensitivity)) / 0.1
    return points, events.LiftNotes(points_of=steps.points_of, lift_in_first_10_percent=early)


@curve(events.Sweep, of=("event",), needs="scores")
def measures_swept(rows: CurveRows) -> Computed | None:
    """Compute every measure of predicted classes that the plan has, at each threshold."""
    hard = [entry for entry in rows.plan.metrics if entry.metric.of_reportable]
    if not hard:
        return None
    m = len(rows.summary.rows.distinct) + 1
    keep = stored_indices(m, rows.vertices)
    swept = sweep(rows.summary, m - 1 - keep)
    threshold = np.r_[np.inf, rows.summary.rows.threshold_at[::-1]][keep]
    measures = {entry.short_label(hard): values(swept, entry) for entry in hard}
    return {"threshold": threshold, **measures}, Thinned(points_of=None if len(keep) == m else m)


@curve(calibration.Histogram, of=("event",), needs="scores")
def histogram(rows: CurveRows) -> Computed:
    """Count both classes in bins of equal width: of probabilities over 0 to 1, of scores over the range they have."""
    summary = rows.summary
    edges, distinct = np.arange(HISTOGRAM_BINS + 1) / HISTOGRAM_BINS, summary.rows.threshold_at
    if summary.rows.probability is None:
        # A single score would leave the bins no width.
        edges = distinct[0] + edges * (max(distinct[-1] - distinct[0], 1e-9))
    starts, bins = runs_within(distinct, edges[:-1])
    bin_of_score = np.repeat(bins, np.diff(starts, append=len(distinct)))
    weights = (summary(name) for name in ("events_at", "others_at"))
    of_events, of_others = (
        np.bincount(bin_of_score, weight, HISTOGRAM_BINS).astype(float) for weight in weights)
    return {"low": edges[:-1], "high": edges[1:], "events": of_events, "others": of_others}, Notes()


@curve(calibration.GainTable, of=("event",), needs="scores")
def groups(rows: CurveRows) -> Computed | None:
    """Compute the gain table, with the profit down to each group where one is declared; it needs both classes."""
    if not rows.once(Steps.of).has_both:
        return None
    table = gain_table(rows.summary.ranked, rows.plan.gain_groups, counted=rows.sample.weight_kind != "importance")
    campaign = Campaign.of(rows.plan, rows.sample)
    if campaign is not None:
        kinds = {"profit": "captured", "profit_random": "random", "profit_wizard": "wizard"}
        table |= {name: campaign.earned(table["population_so_far"], table[f"{kind}_so_far"])
                  for name, kind in kinds.items()}
    return table, Notes()


@curve(calibration.Ks, of=("event",), needs="scores")
def distributions(rows: CurveRows) -> Computed | None:
    """Compute the distributions that the K-S statistic compares; they need both classes."""
    if not rows.once(Steps.of).has_both:
        return None
    summary = rows.summary.ranked
    both = (summary(name) for name in ("events_from", "others_from"))
    events_below, others_below = (np.r_[0.0, 1 - above[1:] / above[0], 1.0] for above in both)
    threshold = summary.rows.threshold_at
    score, gap = np.r_[threshold, threshold[-1]], np.abs(events_below - others_below)
    widest = int(gap.argmax())
    # The figure marks the widest gap, so that point is kept whichever others are left out.
    keep = np.unique(np.r_[stored_indices(len(score), rows.vertices), widest])
    points = {"score": score[keep], "events_below": events_below[keep], "others_below": others_below[keep]}
    return points, calibration.KsNotes(statistic=float(gap[widest]), score=float(score[widest]))


RATES = ("sensitivity", "specificity", "false_positive_rate", "precision", "tested")


def marked_scores(plan: Plan, summary: Summary) -> Floats:
    """Return the lowest score at or above each of the plan's marked thresholds, [k].

    It is a number above all scores where there is none.
    """
    above = np.nextafter(summary.rows.distinct[-1], np.inf)
    return np.asarray(np.r_[summary.rows.distinct, above][_marked_cuts(plan, summary)])


def _marked_cuts(plan: Plan, summary: Summary) -> Wholes:
    """Return the index of each marked threshold among the cuts of `sweep`, [k]."""
    return np.searchsorted(summary.rows.threshold_at, np.asarray(plan.marks, float), side="left")


def rates_at(summary: Summary, scores: Floats) -> Floats:
    """Return the five `RATES` at thresholds ``scores`` [k], rate after rate, [..., 5k]; NaN if undefined."""
    hits, trials = _rate_counts(summary, np.searchsorted(summary.rows.distinct, scores, side="left"))
    return ratio(hits, trials)


def _rate_counts(summary: Summary, cuts: Wholes) -> tuple[Floats, Floats]:
    """Return the numerators and the denominators of the `RATES` at some cuts, k of each in turn, [..., 5k].

    The rows from a cut on are tested positive; none are from a cut past the last score.
    """
    pairs = (summary(name) for name in ("events_from", "others_from"))
    (caught, events), (alarms, others) = (
        (np.append(above, np.zeros_like(above[..., :1]), axis=-1)[..., cuts],
         np.repeat(above[..., :1], len(cuts), axis=-1)) for above in pairs)
    tested = caught + alarms
    hits, trials = (caught, others - alarms, alarms, caught, tested), (events, others, others, tested, events + others)
    return np.concatenate(hits, axis=-1), np.concatenate(trials, axis=-1)


@curve(events.Marks, of=("event",), needs="scores",
       heights=Heights(rates_at, marked_scores, binned=True, divides_rows=True))
def marks(rows: CurveRows) -> Computed | None:
    """Compute the rates at the marked thresholds, with limits as event rates in bins have; they need both classes."""
    plan, summary = rows.plan, rows.summary
    hits, trials = _rate_counts(summary, _marked_cuts(plan, summary))
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
    swept = sweep(rows.summary, _marked_cuts(rows.plan, rows.summary))
    columns = {entry.short_label(hard): values(swept, entry) for entry in hard}
    return {"threshold": np.asarray(rows.plan.marks), **columns}, Notes()
