"""Curves of the probabilities of an event: how they agree with what happened, what acting on them brings, and bands.

Bands are limits of each point alone, and of the whole curve at once (simultaneous).
"""

from __future__ import annotations

from typing import Literal

from evalpipe.results.curves.declare import Column, CurveOf, LinePoints, Notes, Points


class ReliabilityPoints(Points):
    """Bins of predicted probability, ascending."""

    mean_probability: Column
    event_rate: Column
    """The share of events among the rows of the bin."""
    lower: Column
    """Limits of the event rate in each bin alone."""
    upper: Column
    simultaneous_lower: Column | None = None
    """Limits of the event rates in all bins at once."""
    simultaneous_upper: Column | None = None
    weight: Column
    """What the rows of the bin weigh."""
    rows: Column
    midpoint: Column | None = None
    """The middle of the bin, where bins are drawn there."""

    @property
    def position(self) -> Column:
        """The x coordinates of the bins in a figure: their midpoints where known, else their mean probabilities."""
        return self.mean_probability if self.midpoint is None else self.midpoint


class ReliabilityNotes(Notes):
    """How the bins were made, and how far they are from the diagonal."""

    bins_requested: int | None = None
    bins_used: int | None = None
    method: str | None = None
    """The interval method of the limits, or none."""
    mean_gap: float | None = None
    """The mean absolute distance of event rate and probability, weighted."""
    mean_probability: float | None = None
    """That of all rows, weighted."""
    event_rate: float | None = None
    """The share of events among all rows, weighted."""


Diagrams = Literal[
    "top_label_calibration_uniform", "top_label_calibration_quantile", "calibration_uniform",
    "calibration_quantile", "cumulative_calibration_uniform", "cumulative_calibration_quantile",
]


class Reliability(CurveOf[Diagrams, ReliabilityPoints, ReliabilityNotes]):
    """A reliability diagram with bins of equal width (uniform) or of equal weight (quantile).

    cumulative_…: of the levels above a cut; top_label_…: of the predicted level, whether it is the true one.
    """


class WindowPoints(Points):
    """Windows of predicted probability that overlap, ascending; windows without rows are left out."""

    centre: Column
    mean_probability: Column
    event_rate: Column
    """The share of events among the rows of the window."""
    lower: Column
    """Limits of the event rate in each window alone."""
    upper: Column
    weight: Column
    """What the rows of the window weigh."""
    rows: Column


class WindowNotes(Notes):
    """How the windows were made."""

    width: float | None = None
    step: float | None = None
    """How far the centres of two neighbouring windows are apart."""
    method: str | None = None
    """The interval method of the limits, or none."""


class CalibrationWindow(CurveOf[Literal["calibration_window"], WindowPoints, WindowNotes]):
    """The share of events in moving windows of predicted probability."""


class RugPoints(Points):
    """Predicted probabilities, ascending."""

    probability: Column
    events: Column
    """What the events with this probability weigh."""
    others: Column
    """What the non-events with this probability weigh."""


class RugNotes(Notes):
    """How many probabilities there were."""

    distinct: int | None = None
    """The number of distinct probabilities."""
    places: int | None = None
    """Where they are many: the probabilities are rounded to multiples of 1 over this number."""


class Rug(CurveOf[Literal["calibration_rug"], RugPoints, RugNotes]):
    """The probabilities of events and of non-events, each alone or to the nearest of even places."""


class SmoothPoints(LinePoints):
    """A line through the share of events along the predicted probability, with limits of each point alone."""

    probability: Column
    event_rate: Column
    lower: Column
    upper: Column


class LogOddsNotes(Notes):
    """Facts about a curve that was fitted on the log odds."""

    level: float | None = None
    """The confidence level of the limits."""
    clipped: float | None = None
    """The weight of the rows moved away from 0 or 1."""


class LogisticNotes(LogOddsNotes):
    """The coefficients of the line."""

    intercept: float | None = None
    slope: float | None = None
    slope_inside: float | None = None
    """The slope without the rows moved away from 0 or 1; null where there are none, or no line without them."""
    method: str | None = None
    """What the standard errors are: likelihood, sandwich or none."""


class CalibrationLogistic(CurveOf[Literal["calibration_logistic"], SmoothPoints, LogisticNotes]):
    """A calibration curve that is a line on the log odds."""


class SplineNotes(LogOddsNotes):
    """How smooth the spline is."""

    edf: float | None = None
    """The effective degrees of freedom; a line has 2."""
    criterion: str | None = None
    """By what the penalty was chosen."""
    method: str | None = None
    """What the standard errors are: bayesian, sandwich or none."""


class CalibrationSpline(CurveOf[Literal["calibration_spline"], SmoothPoints, SplineNotes]):
    """A calibration curve that is a penalised spline on the log odds."""


class IsotonicNotes(Notes):
    """The parts of the Brier score, which is miscalibration - discrimination + uncertainty."""

    miscalibration: float | None = None
    discrimination: float | None = None
    uncertainty: float | None = None
    blocks: int | None = None
    """The blocks of equal event rate."""
    method: str | None = None
    """The interval method of the limits, or none."""
    points_of: int | None = None
    """The number of points, where not all are stored."""


class CalibrationIsotonic(CurveOf[Literal["calibration_isotonic"], SmoothPoints, IsotonicNotes]):
    """The isotonic fit of the share of events, at the ends of its blocks."""


class RefinementPoints(Points):
    """Probabilities rounded to a few digits."""

    probability: Column
    """The mean probability of the rows that round to the same value."""
    event_rate: Column
    refinement: Column
    """Event rate times its complement: what is left of the Brier score if the event rate is forecast."""
    weight: Column


class RefinementNotes(Notes):
    """How probabilities were rounded, and the mean refinement of all rows."""

    digits: int | None = None
    mean: float | None = None


class Refinement(CurveOf[Literal["refinement"], RefinementPoints, RefinementNotes]):
    """What is left of the Brier score in each rounded probability."""


class NetBenefitPoints(Points):
    """Net benefit at threshold probabilities from 0.01 to 0.99, with limits of each point alone."""

    threshold: Column
    net_benefit: Column
    """Net benefit per case: true positives minus false positives, the latter weighted by the threshold's odds."""
    treat_all: Column
    """The net benefit of acting on all rows; acting on none gives 0."""
    lower: Column
    upper: Column


class NetBenefitNotes(Notes):
    """Where the model gains most over the better of acting on all rows and on none."""

    largest_gain: float | None = None
    largest_gain_at: float | None = None
    """The threshold there."""
    level: float | None = None
    """The confidence level of the limits, where there are any."""


class NetBenefit(CurveOf[Literal["net_benefit"], NetBenefitPoints, NetBenefitNotes]):
    """The decision curve."""


class HistogramPoints(Points):
    """Bins of equal width, of probabilities over 0 to 1, of scores over the range they have."""

    low: Column
    high: Column
    events: Column
    """What the events of the bin weigh."""
    others: Column


class Histogram(CurveOf[Literal["histogram"], HistogramPoints, Notes]):
    """How the scores of events and of non-events are spread."""


class GainTablePoints(Points):
    """Groups of equal weight, highest scores first; cumulative columns and those so far include all groups above."""

    group: Column
    population: Column
    """What the rows of the group weigh."""
    captured: Column
    """The events among them."""
    random: Column
    """The events that would be among them in random order."""
    wizard: Column
    """The events that would be among them in perfect order."""
    lift: Column
    """Captured over random."""
    cumulative_population: Column
    """The share of the rows."""
    cumulative_captured: Column
    """The share of the events."""
    cumulative_wizard: Column
    cumulative_lift: Column
    separation: Column
    """The cumulative share of events minus that of non-events."""
    population_so_far: Column
    """What the rows weigh, of which `cumulative_population` is the share."""
    captured_so_far: Column
    random_so_far: Column
    wizard_so_far: Column
    profit: Column | None = None
    """What contacting the rows so far brings, where the spec declares a profit."""
    profit_random: Column | None = None
    profit_wizard: Column | None = None


class GainTable(CurveOf[Literal["gain_table"], GainTablePoints, Notes]):
    """The gain table: rows ranked by score and cut into groups."""


class KsPoints(Points):
    """Shares of the events, and of the non-events, that are scored below a score."""

    score: Column
    events_below: Column
    others_below: Column


class KsNotes(Notes):
    """Where the two distributions are furthest apart."""

    statistic: float | None = None
    """The Kolmogorov-Smirnov statistic."""
    score: float | None = None


class Ks(CurveOf[Literal["ks"], KsPoints, KsNotes]):
    """The distributions of scores that the Kolmogorov-Smirnov statistic compares."""


class BandNotes(Notes):
    """The confidence level."""

    level: float | None = None


class RocBandPoints(LinePoints):
    """Limits of the sensitivity at false positive rates from 0 to 1."""

    false_positive_rate: Column
    sensitivity: Column
    lower: Column
    upper: Column
    simultaneous_lower: Column
    simultaneous_upper: Column


class RocBand(CurveOf[Literal["roc_band"], RocBandPoints, BandNotes]):
    """The band about the ROC curve."""


class PrBandPoints(LinePoints):
    """Limits of the precision at recalls from 0 to 1."""

    recall: Column
    precision: Column
    lower: Column
    upper: Column
    simultaneous_lower: Column
    simultaneous_upper: Column


class PrBand(CurveOf[Literal["pr_band"], PrBandPoints, BandNotes]):
    """The band about the precision-recall curve."""


class GainBandPoints(LinePoints):
    """Limits of the share of events found at shares of the rows from 0 to 1."""

    tested: Column
    found: Column
    lower: Column
    upper: Column
    simultaneous_lower: Column
    simultaneous_upper: Column


class GainBand(CurveOf[Literal["gain_band"], GainBandPoints, BandNotes]):
    """The band about the curve of cumulative gain."""
