"""Thresholds that a rule chooses: what is to be best, under which conditions, and on which rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, Discriminator, Field, StrictInt, Tag

from evalpipe.base.records import After
from evalpipe.spec.field_types import AnyOf, Key, Number, Only, Probability, Refers, Sparse, SpecPart
from evalpipe.spec.measures import MeasureOfSpec, MetricName


class MeasureBounds(Sparse):
    """What a measure must keep to."""

    min: Number | None = None
    """The least that it may be."""
    max: Number | None = None
    """The most that it may be."""


class CutFolds(SpecPart):
    """Cross-fitting on the evaluated rows."""

    folds: Annotated[StrictInt, Field(ge=2, le=1000)]
    """The number of folds. The rows of each fold are classified by the threshold chosen on the others; rows of one
    cluster share a fold."""


ChosenOn = Annotated[
    Annotated[Key, Tag("a dataset")] | Annotated[CutFolds, Tag("folds")],
    Discriminator(lambda value: "folds" if isinstance(value, Mapping | CutFolds) else "a dataset"),
    AnyOf(),
]
"""A dataset with the role `calibrate`, or `{folds: k}`."""


class ThresholdRule(Sparse):
    """A rule that chooses the threshold: `maximize` or `minimize` with `on`, or `bayes`."""

    maximize: MeasureOfSpec | None = None
    """The measure of predicted classes to maximize: a name, or a mapping of a name and its options. Of equally good
    thresholds the middle one is taken."""
    minimize: MeasureOfSpec | None = None
    """The measure to minimize instead, such as `cost`."""
    subject_to: Annotated[
        Annotated[dict[MetricName, MeasureBounds], Field(min_length=1)] | None, Refers("measure")] = None
    """By measure of predicted classes, the least (`min`) or the most (`max`) that it may be on the rows that choose
    the threshold."""
    on: ChosenOn | None = None
    """The dataset whose rows choose, which has the role `calibrate`, or `{folds: 10}` for cross-fitting on the
    evaluated rows. No row is ever judged by a threshold that it chose."""
    bayes: Literal["costs"] | None = None
    """`costs`: the threshold of least expected cost where probabilities are calibrated, from the spec's costs alone."""


def _form(value: object) -> str:
    """Return the form that a threshold seems meant in, a rule or a number: pydantic checks that form alone."""
    return "a rule" if isinstance(value, Mapping | BaseModel) else "a number"


OfSpec = Annotated[
    Annotated[Probability, Tag("a number")] | Annotated[ThresholdRule, Tag("a rule")], Discriminator(_form), AnyOf()
]
"""A probability, or a rule."""

OfModel = Annotated[
    Annotated[Number, Tag("a number")] | Annotated[ThresholdRule, Tag("a rule")], Discriminator(_form), AnyOf()
]
"""A probability or a score, or a rule."""


class ThresholdsKeys(SpecPart):
    """Keys of a spec."""

    threshold: Annotated[OfSpec, Only("binary"), After("models")] = 0.5
    """Rows of a binary outcome with probability >= threshold are predicted as events. A number, or a rule that chooses
    it for every model that gives scores: `{maximize: j_index, on: calibration}`, `{minimize: cost, on: {folds: 10}}`,
    `{maximize: sensitivity, subject_to: {specificity: {min: 0.9}}, on: calibration}` or `{bayes: costs}`."""

    @property
    def choosing_rows(self) -> str | CutFolds | None:
        """The rows that choose the threshold; None of a number, or where costs choose."""
        return self.threshold.on if isinstance(self.threshold, ThresholdRule) else None


class ThresholdsModelKeys(SpecPart):
    """Keys of a model."""

    threshold: Annotated[OfModel | None, Only("binary"), After("optimism")] = None
    """The model's own threshold; overrides the spec's. A probability, a score where the score is a rank alone, or a
    rule that chooses it. With a `scale`, the probability is compared with the score as log odds (0.5 is a score of
    0). Recalibrated variants of a score that is a rank alone have probabilities, and the spec's threshold."""

    @property
    def choosing_rows(self) -> str | CutFolds | None:
        """The rows that choose the model's own threshold; None of a number, or where costs choose."""
        return self.threshold.on if isinstance(self.threshold, ThresholdRule) else None

    def is_chosen_by_rows(self, of_spec: object) -> bool:
        """Tell whether rows choose the threshold: that of the model or, without one, that ``of_spec``."""
        threshold = of_spec if self.threshold is None else self.threshold
        return isinstance(threshold, ThresholdRule) and threshold.bayes is None
