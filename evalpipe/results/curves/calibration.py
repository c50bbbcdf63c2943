"""Curves of the probabilities of an event: how they agree with what happened, and what acting on them brings."""

from __future__ import annotations

from typing import Literal

from evalpipe.results.curves.declare import Column, Curve, Notes, Points


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


class ReliabilityNotes(Notes):
    """How the bins were made, and how far they are from the diagonal."""

    bins_requested: int | None = None
    bins_used: int | None = None
    method: str | None = None
    """The interval method of the limits, or none."""
    mean_gap: float | None = None
    """The mean absolute distance of event rate and probability, weighted."""


class Reliability(Curve):
    """A reliability diagram with bins of equal width (uniform) or of equal weight (quantile).

    cumulative_…: of the levels above a cut; top_label_…: of the predicted level, whether it is the true one.
    """

    curve: Literal[
        "top_label_calibration_uniform", "top_label_calibration_quantile", "calibration_uniform",
        "calibration_quantile", "cumulative_calibration_uniform", "cumulative_calibration_quantile",
    ]
    points: ReliabilityPoints
    notes: ReliabilityNotes = ReliabilityNotes()


class WindowPoints(Points):
    """Windows of predicted probability that overlap, ascending; those without rows are left out."""

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


class CalibrationWindow(Curve):
    """The share of events in moving windows of predicted probability."""

    curve: Literal["calibration_window"] = "calibration_window"
    points: WindowPoints
    notes: WindowNotes = WindowNotes()


class SmoothPoints(Points):
    """A line through the share of events along the predicted probability, with limits of each point alone."""

    probability: Column
    event_rate: Column
    lower: Column
    upper: Column

    @property
    def path(self) -> tuple[Column, Column]:
        """The coordinates across and up, as they are drawn."""
        return self.probability, self.event_rate


class LogOddsNotes(Notes):
    """Facts about a curve that was fitted on the log odds."""

    level: float | None = None
    """The confidence level of the limits."""
    clipped: float | None = None
    """What the rows weigh that were moved off 0 or 1."""


class LogisticNotes(LogOddsNotes):
    """The coefficients of the line."""

    intercept: float | None = None
    slope: float | None = None
    method: str | None = None
    """What the standard errors are: wald, sandwich or none."""


class CalibrationLogistic(Curve):
    """A calibration curve that is a line on the log odds."""

    curve: Literal["calibration_logistic"] = "calibration_logistic"
    points: SmoothPoints
    notes: LogisticNotes = LogisticNotes()


class SplineNotes(LogOddsNotes):
    """How smooth the spline is."""

    edf: float | None = None
    """The effective degrees of freedom; 2 are a line."""
    criterion: str | None = None
    """By what the penalty was chosen."""
    method: str | None = None
    """What the standard errors are: bayesian, sandwich or none."""


class CalibrationSpline(Curve):
    """A calibration curve that is a penalised spline on the log odds."""

    curve: Literal["calibration_spline"] = "calibration_spline"
    points: SmoothPoints
    notes: SplineNotes = SplineNotes()


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


class CalibrationIsotonic(Curve):
    """The isotonic fit of the share of events, at the ends of its blocks."""

    curve: Literal["calibration_isotonic"] = "calibration_isotonic"
    points: SmoothPoints
    notes: IsotonicNotes = IsotonicNotes()


class RefinementPoints(Points):
    """Probabilities rounded to a few digits."""

    probability: Column
    """The mean probability of the rows that round to the same one."""
    event_rate: Column
    refinement: Column
    """Event rate times its complement: what is left of the Brier score if the event rate is forecast."""
    weight: Column


class RefinementNotes(Notes):
    """How probabilities were rounded, and the mean refinement of all rows."""

    digits: int | None = None
    mean: float | None = None


class Refinement(Curve):
    """What is left of the Brier score in each rounded probability."""

    curve: Literal["refinement"] = "refinement"
    points: RefinementPoints
    notes: RefinementNotes = RefinementNotes()


class NetBenefitPoints(Points):
    """Net benefit at threshold probabilities from 0.01 to 0.99, with limits of each point alone."""

    threshold: Column
    net_benefit: Column
    """Events acted on less the non-events acted on at the odds of the threshold, for each row."""
    treat_all: Column
    """That of acting on all rows; on none it is 0."""
    lower: Column
    upper: Column


class NetBenefitNotes(Notes):
    """Where the model gains most over the better of acting on all rows and on none."""

    largest_gain: float | None = None
    largest_gain_at: float | None = None
    """The threshold there."""
    level: float | None = None
    """The confidence level of the limits, where there are any."""


class NetBenefit(Curve):
    """The decision curve."""

    curve: Literal["net_benefit"] = "net_benefit"
    points: NetBenefitPoints
    notes: NetBenefitNotes = NetBenefitNotes()


class HistogramPoints(Points):
    """Bins of equal width, of probabilities over 0 to 1, of scores over the range they have."""

    low: Column
    high: Column
    events: Column
    """What the events of the bin weigh."""
    others: Column


class Histogram(Curve):
    """How the scores of events and of non-events are spread."""

    curve: Literal["histogram"] = "histogram"
    points: HistogramPoints
    notes: Notes = Notes()


class GainTablePoints(Points):
    """Ten groups of equal weight, highest scores first; what is cumulative is of all groups up to and with one."""

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
    cumulative_captured: Column
    cumulative_wizard: Column
    cumulative_lift: Column
    separation: Column
    """The cumulative share of events less that of non-events."""


class GainTable(Curve):
    """The gain table: rows ranked by score and cut into groups."""

    curve: Literal["gain_table"] = "gain_table"
    points: GainTablePoints
    notes: Notes = Notes()


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


class Ks(Curve):
    """The distributions of scores that the Kolmogorov-Smirnov statistic compares."""

    curve: Literal["ks"] = "ks"
    points: KsPoints
    notes: KsNotes = KsNotes()
