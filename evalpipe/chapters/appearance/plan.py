"""How the card will look, as later steps hold it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from evalpipe.spec.models import Spec


@dataclass(frozen=True, slots=True)
class AppearancePlan:
    """The tokens of the card; the accent is None where the spec names none."""

    accent: str | None
    paper: Literal["a4", "letter"]


def appearance_plan(spec: Spec) -> AppearancePlan:
    """Return how the card of a spec looks."""
    theme = spec.report.theme
    return AppearancePlan(None, "a4") if theme is None else AppearancePlan(theme.accent, theme.paper)
