"""How the card will look, as later steps hold it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalpipe.base.plugins import Plugin
    from evalpipe.chapters.appearance.spec import Theme
    from evalpipe.spec.spec import Spec
    from evalpipe.templating.files import Templates


@dataclass(frozen=True, slots=True)
class AppearancePlan:
    """The theme and the templates of the card, each None where the spec names none, and the plugins."""

    theme: Theme | None
    templates: Templates | None
    plugins: tuple[Plugin, ...]


def appearance_plan(spec: Spec) -> AppearancePlan:
    """Return how the card of a spec looks."""
    return AppearancePlan(spec.report.theme, spec.templates, spec.plugins)


PARTS = (appearance_plan,)
