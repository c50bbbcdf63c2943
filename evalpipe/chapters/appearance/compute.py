"""How the card looks, as a table of the results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.base.digests import text_sha256
from evalpipe.chapters.appearance.plan import appearance_plan
from evalpipe.chapters.appearance.records import Appearance, PluginRecord, TemplateRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.engine.estimates import Evaluated
    from evalpipe.plan.plan import Plan


def tables(plan: Plan, _: Sequence[Evaluated]) -> dict[str, object]:
    """Return the field `appearance` of the results: colours, paper, templates with their sha256, and plugins."""
    look = plan.part(appearance_plan)
    texts = {} if look.templates is None else look.templates.texts
    templates = [TemplateRecord(name=name, sha256=text_sha256(text), text=text) for name, text in texts.items()]
    plugins = [PluginRecord(name=plugin.name, package=plugin.package, version=plugin.version, gives=list(plugin.gives))
               for plugin in look.plugins]
    tokens = {} if look.theme is None else {"accent": look.theme.accent, "paper": look.theme.paper}
    return {"appearance": Appearance(**tokens, templates=templates, plugins=plugins)}
