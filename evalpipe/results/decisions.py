"""The records of decisions: priors, thresholds, profit, desirability and gates."""

from __future__ import annotations

from typing import Any

from pydantic import Field

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


class Desirability(Record):
    """Desirability of the models; empty until goals are declared."""

    individual: list[dict[str, Any]] = Field(default_factory=list)
    overall: list[dict[str, Any]] = Field(default_factory=list)
