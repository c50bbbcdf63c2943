"""The records of which results are made: frozen rows of tables, written to and read from JSON."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from evalpipe.chapters.equivocal.records import Zone
from evalpipe.records import Measured, Record, Scalar, Slice, Status


class ModelSummary(Record):
    """A model and the columns that hold its predictions."""

    name: str
    label: str
    columns: dict[str, str]
    scale: str | None = None
    """How a raw score became a probability: logit or margin; null for a probability, a rank or classes."""
    threshold: float | None
    equivocal: Zone | None = None
    """The equivocal zone of its own classes; null where none is declared."""
    threshold_rule: str | None = None
    """How the threshold is chosen, in words, where it is no number of the spec."""
    characteristics: dict[str, Scalar]


class MetricSummary(Record):
    """What a metric means."""

    name: str
    title: str
    definition: str
    formula: str
    direction: Literal["maximize", "minimize", "none"]
    range: tuple[float | None, float | None]
    """Lowest and highest possible value; null where unbounded."""
    undefined: str
    reference: str
    own_prevalence: bool = False
    """Whether a prevalence stands in its formula; any other measure at a prevalence is of rows weighed to that."""
    matrices: dict[str, list[list[float]]] = Field(default_factory=dict)
    """What each pair of a true (outer) and a predicted level weighs or costs, by name, where it depends on that."""


class Estimate(Measured):
    """One number, with its interval and support."""

    value: float | None
    lower: float | None
    upper: float | None
    level: float | None
    method: str
    """How the interval was made: exact, wilson, jeffreys, delong, logit, percentile, basic, bca, studentised,
    bootstrap_logit, folded, noncentral, binomial_bins, corrected, bootstrap_noncentral, bootstrap_corrected or none."""
    n: int
    """Observations in its own denominator, whatever they weigh: of sensitivity the events, of precision the predicted
    events. What is no proportion, and an average over classes, is of all rows that it sees; with an equivocal zone
    those are, for a measure of predicted classes, the reportable ones. Of a slice of too few rows, all of them."""
    events: int | None
    """Events among these, of a binary outcome; of one class of several, the rows of that class among them."""
    status: Status
    reason: str | None = None
    classes_used: int | None = None
    """Of an average over classes: how many of them have a value."""
    no_information: float | None = None
    """The value if truth and prediction were independent."""
    skill: float | None = None
    """The share of the way from there to the best value; below zero where the value is worse than that."""
    undefined_replicates: int = 0
    monte_carlo_error: float | None = None
    """Of bootstrap limits: the larger standard error of the two that comes from drawing so few replicates."""
    error_bound: float | None = None
    """How far the grid of the replicates is from the value itself, which is exact; limits are moved back by it. Null
    where every row was drawn and every score kept."""


class Confusion(Record):
    """Counts (with weights: their totals); ``counts[i][j]`` is truth level i, predicted level j.

    Rows in the equivocal zone are in no cell.
    """

    dataset: str
    model: str
    variant: str = "original"
    slice: Slice | None = None
    levels: list[str]
    counts: list[list[float]]
    threshold: float | None
    cuts: list[float] = Field(default_factory=list)
    """The distinct thresholds of the folds, where the threshold was cross-fitted; ``threshold`` is null then."""
    at_threshold: int
    """Rows whose probability equals their threshold; they are predicted as events. None in an equivocal zone, which
    holds the threshold."""
    tied: int = 0
    """Rows whose highest probability several levels share; the first of them is predicted."""
    equivocal: float = 0.0
    """Rows (with weights: their total) in the equivocal zone, which have no predicted level."""
    zone: Zone | None = None
    """The equivocal zone; null where none is declared."""


class Curve(Record):
    """The points of one curve: one list per named coordinate, all of one length.

    predictive_values: prevalence, ppv, ppv_lower, ppv_upper, npv, npv_lower, npv_upper. roc: threshold,
    false_positive_rate, sensitivity. pr: threshold, recall, precision. thresholds: threshold,
    sensitivity, specificity, precision, tested (share predicted as events). sweep: threshold (null: above all scores),
    and each measure of predicted classes by its name, with the options that are not its defaults, as in f_beta(beta=2).
    gain: tested, found. lift: tested, lift.
    calibration_uniform and calibration_quantile (cumulative_…: of the levels above a cut; top_label_…: of the predicted
    level, whether it is the true one): mean_probability,
    event_rate, lower, upper, weight, rows. calibration_window: centre, mean_probability, event_rate, lower, upper,
    weight, rows of windows that overlap. calibration_logistic (a line on the log odds), calibration_spline (a penalised
    spline on the log odds), calibration_isotonic (at the ends of its blocks): probability, event_rate, lower, upper
    (of each point alone). refinement: probability (rounded), event_rate, refinement, weight.
    net_benefit: threshold (0.01 to 0.99), net_benefit, treat_all (that of acting on all rows; on none it is 0), lower,
    upper (of each point alone).
    histogram: low, high, events, others. ks: score, events_below, others_below (shares of the rows scored below it).
    gain_table: group, population, captured, random, wizard, lift, cumulative_population, cumulative_captured,
    cumulative_wizard, cumulative_lift, separation.

    Of numbers, with residual = truth - prediction: residual_quantiles: share, residual, absolute_residual (quantiles
    interpolated between rows: R's type 7). residual_box, of absolute residuals: lower_whisker,
    lower_quartile, median, upper_quartile, upper_whisker (at the last rows within 1.5 interquartile ranges of the box).
    residual_outliers: absolute_residual, weight of the 20 largest beyond its whiskers. residual_histogram: low, high,
    weight. residual_ecdf: absolute_residual, share_above (share of the rows with a larger one). observed_predicted:
    predicted, observed, and residual_predicted: predicted, residual, of rows spread evenly by prediction.
    observed_predicted_smooth and residual_predicted_smooth: the same coordinates, along a smoothing spline. rootogram:
    count, observed (weight), expected (weight, were each count Poisson with its prediction as mean).
    """

    dataset: str
    model: str
    variant: str = "original"
    slice: Slice | None = None
    class_: str | None = Field(default=None, alias="class")
    """Of several levels: the one that counts as the event; for cumulative curves, the highest level below the cut."""
    curve: str
    points: dict[str, list[float | None]]
    notes: dict[str, Scalar] = Field(default_factory=dict)
    """Facts about the curve: sensitivity, specificity, observed and declared (prevalences), ppv_observed, npv_observed,
    ppv_declared, npv_declared and level of predictive_values; bins_requested,
    bins_used, method and mean_gap (mean absolute distance of event rate and
    probability, weighted) of a reliability diagram; width, step and method of calibration_window; level, method and
    clipped (weight of the rows moved off 0 or 1) of calibration_logistic, with intercept and slope, and of
    calibration_spline, with edf and criterion; method, blocks, miscalibration, discrimination and uncertainty (first -
    second + third is the Brier score) of calibration_isotonic; area of the roc (ROC AUC) and of the pr (average
    precision) of a class; digits and mean of refinement; largest_gain of net_benefit over the better of acting on all
    and on none, and largest_gain_at, the threshold there; found_in_first_10_percent, found_in_first_50_percent and
    tested_for_half_of_events of gain; lift_in_first_10_percent of lift; statistic and score of ks, where the distance
    is largest; points_of, the number of points, where not all are stored; rmse, mean and outliers (weight beyond the
    whiskers) of residual_box; groups and smoothed of a smooth line: through how many groups of rows it goes, and
    whether it is a spline or, of fewer than five groups, their means; last_or_more of a rootogram: whether its last
    count holds all above; expected_above: the weight expected above it."""


class Warned(Record):
    """Something a reader should know."""

    code: str
    message: str


class Method(Record):
    """How the intervals of the run were made."""

    level: float
    replicates: int
    pairings: int = 0
    """Random pairings behind the values without information that are not exact; 0 where these were not asked for."""
    seed: int
    methods: dict[str, str]
    """The interval method of each metric, with the reason for it."""
    resampling: str = "multinomial"
    units: dict[str, int] = Field(default_factory=dict)
    """Of each dataset drawn on a grid: the units of like rows that stand for its rows in replicates."""
