"""How the card will look, as later steps hold it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from evalpipe.base.plugins import Plugin
    from evalpipe.spec.spec import Spec
    from evalpipe.templating.files import Templates


@dataclass(frozen=True, slots=True)
class AppearancePlan:
    """The tokens and the templates of the card, each None where the spec names none, and the plugins."""

    accent: str | None
    paper: Literal["a4", "letter"]
    templates: Templates | None
    plugins: tuple[Plugin, ...]


def appearance_plan(spec: Spec) -> AppearancePlan:
    """Return how the card of a spec looks."""
    theme = spec.report.theme
    if theme is None:
        return AppearancePlan(None, "a4", spec.templates, spec.plugins)
    return AppearancePlan(theme.accent, theme.paper, spec.templates, spec.plugins)
