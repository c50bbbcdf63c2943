"""Bands about the curves of an event: limits of each point alone, and of the whole curve at once (simultaneous)."""

from __future__ import annotations

from typing import Literal

from evalpipe.results.curves.declare import Column, Curve, Notes, Points


class BandNotes(Notes):
    """The confidence level."""

    level: float | None = None


class RocBandPoints(Points):
    """Limits of the sensitivity at false positive rates from 0 to 1."""

    false_positive_rate: Column
    sensitivity: Column
    lower: Column
    upper: Column
    simultaneous_lower: Column
    simultaneous_upper: Column

    @property
    def across(self) -> Column:
        """The coordinate along which the band is given."""
        return self.false_positive_rate


class RocBand(Curve):
    """The band about the ROC curve."""

    curve: Literal["roc_band"] = "roc_band"
    points: RocBandPoints
    notes: BandNotes = BandNotes()


class PrBandPoints(Points):
    """Limits of the precision at recalls from 0 to 1."""

    recall: Column
    precision: Column
    lower: Column
    upper: Column
    simultaneous_lower: Column
    simultaneous_upper: Column

    @property
    def across(self) -> Column:
        """The coordinate along which the band is given."""
        return self.recall


class PrBand(Curve):
    """The band about the precision-recall curve."""

    curve: Literal["pr_band"] = "pr_band"
    points: PrBandPoints
    notes: BandNotes = BandNotes()


class GainBandPoints(Points):
    """Limits of the share of events found at shares of the rows from 0 to 1."""

    tested: Column
    found: Column
    lower: Column
    upper: Column
    simultaneous_lower: Column
    simultaneous_upper: Column

    @property
    def across(self) -> Column:
        """The coordinate along which the band is given."""
        return self.tested


class GainBand(Curve):
    """The band about the curve of cumulative gain."""

    curve: Literal["gain_band"] = "gain_band"
    points: GainBandPoints
    notes: BandNotes = BandNotes()
