"""Bands about the curves of an event: limits of each point alone, and of the whole curve at once (simultaneous)."""

from __future__ import annotations

from typing import Literal

from evalpipe.results.curves.declare import Column, CurveOf, LinePoints, Notes


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
