"""The records of decisions: priors and thresholds."""

from __future__ import annotations

from evalpipe.results.record import Record


class Prior(Record):
    """The declared prevalence: of the event, or of each level."""

    value: float | None
    source: str | None
    levels: dict[str, float] | None = None


class Threshold(Record):
    """A threshold and where it comes from."""

    dataset: str | None
    model: str
    variant: str = "original"
    value: float
    lower: float | None = None
    upper: float | None = None
    rule: str
    chosen_on: str | None = None
