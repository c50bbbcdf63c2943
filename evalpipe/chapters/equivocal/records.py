"""The record of an equivocal zone."""

from __future__ import annotations

from evalpipe.base.records import Record


class Zone(Record):
    """An equivocal zone, whose rows have no predicted class."""

    below: float | None = None
    """How far below the threshold it begins, that end included; null where there are several levels."""
    above: float | None = None
    """How far above the threshold it ends, that end included."""
    low: float | None = None
    """The probability, or score, at which it begins."""
    high: float | None = None
    """That at which it ends."""
    min_probability: float | None = None
    """Of several levels: the least highest probability with which a row has a class."""
