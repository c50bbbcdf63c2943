"""The records of slices: their sizes, differences from a reference, disparities, the worst of them."""

from __future__ import annotations

from pydantic import Field

from evalpipe.base.records import Measured, OfModel, Record, Scalar, Slice, Status
from evalpipe.words.sentences import Sentence


class SliceSummary(Record):
    """How large a slice of an evaluated dataset is."""

    dataset: str
    slice: Slice
    n: int
    """Observations in it."""
    events: int | None
    """Events among them, of a binary outcome."""
    total_exposure: float | None = None
    """Of counts with an exposure, its weighted total in the slice."""


class SliceDifference(Measured):
    """One measure of a model in a slice, against its reference, as a difference and as a ratio."""

    slice: Slice
    reference: str | Slice
    """The reference: overall, rest, or the labels of another slice."""
    difference: float | None
    lower: float | None
    upper: float | None
    method: str = "none"
    """How the interval of the difference was made, as in `Comparison`."""
    ratio: float | None
    """Null where the reference is zero, or the measure takes values below zero."""
    ratio_lower: float | None
    """Its limits are symmetric on the log scale, from replicates; they do not belong to the test of the difference."""
    ratio_upper: float | None
    level: float | None
    p_value: float | None
    """Two-sided, of the test that the difference is zero; the interval is of the same test."""
    test: str | None = None
    """The test: two_proportions or bootstrap, as in `Comparison`; a slice against all rows is tested against the rest
    of them where the measure is a proportion."""
    p_holm: float | None
    """The same, adjusted by Holm's method for all slices of the dataset, model and measure."""
    p_benjamini_hochberg: float | None
    """The same, adjusted for the share of false discoveries among them."""
    status: Status
    reason: Sentence | None = None


class Disparity(OfModel):
    """How far apart the slices of one slicing are: their range, and the smallest value over the largest."""

    slicing: str
    disparity: str
    """demographic_parity (of detection_prevalence), equal_opportunity (of sensitivity), equalized_odds (the larger
    difference, and the smaller ratio, of sensitivity and false_positive_rate), or a measure."""
    params: dict[str, Scalar]
    average: str | None = None
    difference: float | None
    lower: float | None
    upper: float | None
    ratio: float | None
    ratio_lower: float | None
    ratio_upper: float | None
    level: float | None
    expected: float | None
    """The mean of the difference over replicates, minus the difference: how much of a range is expected from chance
    alone. Null without replicates, and where a single cluster makes all of them the same."""
    lowest: Slice | None
    """The slice of the smallest value; null for equalized_odds, which is of two measures."""
    highest: Slice | None
    slices: int
    used: int
    """The slices that are large enough and have a value."""
    status: Status
    reason: Sentence | None = None


class WorstSlice(OfModel):
    """A slice that a search found to be among the worst."""

    rank: int
    slice: Slice
    metric: str
    params: dict[str, Scalar]
    average: str | None = None
    n: int
    """Observations of the slice that the measure sees."""
    events: int | None
    """Events among them, of a binary outcome."""
    value: float
    """The measure in the slice as it was found: too bad on average, for the slice was chosen for it."""
    overall: float
    difference: float
    """The value minus that of all rows, as it was found."""
    difference_lower: float | None = None
    """Limits of the difference at ``level``, for all slices that were searched at once (Bonferroni). Null of few
    clusters."""
    difference_upper: float | None = None
    difference_corrected: float | None = None
    """The difference without what being the worst of many adds to it: its mean given the differences of all slices that
    were searched, with a limited correction. Jiang (2020), Efron & Morris (1972)."""
    lower: float | None
    """Limits of the value as if the slice had not been chosen."""
    upper: float | None
    level: float | None
    p_value: float | None
    """Two-sided, of the difference from all rows, by a normal approximation with its bootstrap error; null of few
    clusters."""
    p_adjusted: float | None
    """The same times the number of slices searched, at most 1 (Bonferroni): they were chosen for being the worst."""
    searched: int
    """The slices among which these were found."""
    status: Status = "ok"
    """That of the value and its limits, as of any estimate."""
    reason: Sentence | None = None


class SlicesFields(Record):
    """What the results hold of it."""

    slices: list[SliceSummary] = Field(default_factory=list)
    slice_differences: list[SliceDifference] = Field(default_factory=list)
    disparities: list[Disparity] = Field(default_factory=list)
    worst_slices: list[WorstSlice] = Field(default_factory=list)
