"""Curves of an event against the rest: what its classes are worth, and how its scores rank the rows."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict

from evalpipe.base.records import Record
from evalpipe.results.curves.declare import Column, CurveOf, LinePoints, Notes, Points, Thinned


class PredictiveValuePoints(Points):
    """Predictive values at prevalences from 0 to 1, with limits of each alone; null where there are none."""

    prevalence: Column
    ppv: Column
    ppv_lower: Column
    ppv_upper: Column
    npv: Column
    npv_lower: Column
    npv_upper: Column


class PredictiveValueNotes(Notes):
    """What the predicted classes are on the rows at hand, and what they would be at the declared prevalence."""

    sensitivity: float | None = None
    specificity: float | None = None
    observed: float | None = None
    """The observed prevalence."""
    ppv_observed: float | None = None
    """The predictive value of a predicted event at the observed prevalence."""
    npv_observed: float | None = None
    declared: float | None = None
    """The declared prevalence."""
    ppv_declared: float | None = None
    npv_declared: float | None = None
    level: float | None = None
    """The confidence level of the limits, where there are any."""


class PredictiveValues(CurveOf[Literal["predictive_values"], PredictiveValuePoints, PredictiveValueNotes]):
    """PPV and NPV of the predicted classes at every prevalence."""


class RocPoints(LinePoints):
    """Rates at descending thresholds; rows whose score is at least the threshold are predicted as events."""

    threshold: Column
    """Null above all scores."""
    false_positive_rate: Column
    sensitivity: Column


class RatesAt(Record):
    """The rates at a threshold, out of all thresholds, stored or not."""

    threshold: float
    sensitivity: float
    specificity: float
    false_positive_rate: float


class RankedNotes(Thinned):
    """Facts about a curve over all thresholds."""

    area: float | None = None
    """Of one class of several: the ROC AUC, or the average precision."""


class RocNotes(RankedNotes):
    """Facts about the curve."""

    furthest: RatesAt | None = None
    """Where sensitivity exceeds the false positive rate most; null where it does at no threshold."""


class Roc(CurveOf[Literal["roc"], RocPoints, RocNotes]):
    """The ROC curve."""


class ThresholdPoints(Points):
    """Rates at descending thresholds, each a score that occurs."""

    threshold: Column
    sensitivity: Column
    specificity: Column
    precision: Column
    tested: Column
    """The share of the rows that are predicted as events."""


class ThresholdNotes(Thinned):
    """Facts about the rates."""

    closest: RatesAt | None = None
    """Where sensitivity and specificity differ least; the highest threshold of several."""


class Thresholds(CurveOf[Literal["thresholds"], ThresholdPoints, ThresholdNotes]):
    """What the rates would be at every threshold."""


class PrPoints(LinePoints):
    """Recall and precision at descending thresholds."""

    threshold: Column
    """Null above all scores."""
    recall: Column
    precision: Column


class Pr(CurveOf[Literal["pr"], PrPoints, RankedNotes]):
    """The precision-recall curve."""


class GainPoints(LinePoints):
    """Shares at descending thresholds."""

    threshold: Column
    """Null above all scores."""
    tested: Column
    """The share of the rows that are predicted as events."""
    found: Column
    """The share of the events among them."""


class GainNotes(Thinned):
    """How early the events are found when rows are taken from the highest score down; shares."""

    found_in_first_10_percent: float | None = None
    found_in_first_50_percent: float | None = None
    tested_for_half_of_events: float | None = None


class Gain(CurveOf[Literal["gain"], GainPoints, GainNotes]):
    """Cumulative gain: the share of the events among the rows with the highest scores."""


class LiftPoints(LinePoints):
    """Lift at descending thresholds, each a score that occurs."""

    threshold: Column
    tested: Column
    """The share of the rows that are predicted as events."""
    lift: Column
    """How many times as many events are among them as in random order."""


class LiftNotes(Thinned):
    """How large the lift is for the highest scores."""

    lift_in_first_10_percent: float | None = None


class Lift(CurveOf[Literal["lift"], LiftPoints, LiftNotes]):
    """Lift: the share of the events among the rows with the highest scores, over the share of the rows."""


class MarksPoints(Points):
    """Rates at the marked thresholds, ascending, with limits of each alone; null where there are none."""

    threshold: Column
    sensitivity: Column
    sensitivity_lower: Column
    sensitivity_upper: Column
    specificity: Column
    specificity_lower: Column
    specificity_upper: Column
    false_positive_rate: Column
    false_positive_rate_lower: Column
    false_positive_rate_upper: Column
    precision: Column
    precision_lower: Column
    precision_upper: Column
    tested: Column
    """The share of the rows that are predicted as events."""
    tested_lower: Column
    tested_upper: Column
    lift: Column
    """How many times as many events are among them as in random order."""


class MarksNotes(Notes):
    """How the limits were made, and what the ROC curve sums up to."""

    method: str | None = None
    """The interval method of the limits, or none."""
    level: float | None = None
    roc_auc: float | None = None
    gini: float | None = None
    """Twice the area between the ROC curve and the diagonal."""


class Marks(CurveOf[Literal["marks"], MarksPoints, MarksNotes]):
    """The places of marked thresholds on the curves."""


class SweepPoints(Points):
    """Each measure of predicted classes at descending thresholds, in a column named as the measure.

    The name has the options that are not the measure's defaults, as in f_beta(beta=2).
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Column]

    threshold: Column
    """Null above all scores."""

    @property
    def measures(self) -> dict[str, Column]:
        """The measures by name, in the order of the spec: every column but that of the thresholds."""
        return {name: column for name, column in self.columns.items() if name != "threshold"}


class MarkedMeasures(CurveOf[Literal["marked_measures"], SweepPoints, Notes]):
    """Every measure of predicted classes at the marked thresholds, ascending."""


class RelationNotes(Thinned):
    """What the measures are called."""

    titles: dict[str, str] | None = None
    """The title of each measure, by its column."""


class RelatedNotes(RelationNotes):
    """What the measures are called, and the most of the first."""

    highest: tuple[dict[str, float | None], ...] | None = None
    """At each prevalence every measure, by its column, at the threshold where the first is highest."""


class RelatedPoints(SweepPoints):
    """Measures over all thresholds, at each of some prevalences: the rows of one prevalence after those of another."""

    prevalence: Column
    threshold: Column
    """Null above all scores."""

    @property
    def measures(self) -> dict[str, Column]:
        """The measures by name, in the order of the spec: every column but thresholds and prevalences."""
        return {name: column for name, column in self.columns.items() if name not in ("threshold", "prevalence")}


class RelatedMeasures(CurveOf[Literal["related_measures"], RelatedPoints, RelatedNotes]):
    """Measures of predicted classes over all thresholds at some prevalences, to be set against each other."""


class PrevalencePoints(Points):
    """Each measure at the threshold in use, at prevalences between 0 and 1, in a column named as the measure."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Column]

    prevalence: Column

    @property
    def measures(self) -> dict[str, Column]:
        """The measures by name, in the order of the spec: every column but that of the prevalences."""
        return {name: column for name, column in self.columns.items() if name != "prevalence"}


class MeasuresByPrevalence(CurveOf[Literal["measures_by_prevalence"], PrevalencePoints, RelationNotes]):
    """Measures of the predicted classes by the prevalence to which the rows are reweighted."""


class Sweep(CurveOf[Literal["sweep"], SweepPoints, Thinned]):
    """Every measure of predicted classes over all thresholds."""
