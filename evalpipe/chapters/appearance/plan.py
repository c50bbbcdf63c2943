"""How the card will look, as later steps hold it, and the checks of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor
from typing import TYPE_CHECKING

from evalpipe.base.colours import LIGHT, READABLE, contrast, hardest, readable_shade
from evalpipe.base.plugins import Plugin
from evalpipe.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.chapters.appearance.spec import Theme
    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.spec import Spec
    from evalpipe.templating.files import Templates


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of the card's look: an accent colour too faint to read, faulty templates, unknown plugins.

    Templates and plugins that could be read are stored in the draft.
    """
    yield from _faint_accent(draft)
    template_loc = ("report", "template")
    if draft.spec.report.template is not None and draft.readable(*template_loc):
        yield from _read_templates(draft, template_loc, draft.spec.report.template)
    if draft.spec.report.plugins:
        yield from _find_plugins(draft)


def _find_plugins(draft: Draft) -> Iterator[Problem]:
    """Report plugins that are not installed or are listed twice; those found are stored in the draft."""
    from evalpipe.base.plugins import installed_plugins, plugin_problem

    plugins, found_plugins = installed_plugins(), list[Plugin]()
    for loc, name in draft.entries(draft.spec.report.plugins, "report", "plugins"):
        problem = plugin_problem(name, plugins)
        if any(plugin.name == name for plugin in found_plugins):
            message = f"{draft.tree.show(*loc)} is listed twice"
            yield draft.tree.problem("duplicate-plugin", message, *loc, hint="remove it")
        elif problem is not None:
            yield draft.tree.problem(problem.code, problem.message, *loc, hint=problem.hint, notes=problem.notes)
        else:
            found_plugins += plugins[name]
    draft.plugins = tuple(found_plugins)


def _read_templates(draft: Draft, loc: Loc, folder: str) -> Iterator[Problem]:
    """Read the templates of a folder into the draft and check them; yield their problems.

    A problem that has no line in a template is placed at the spec's key of the folder.
    """
    from evalpipe.templating.files import read_templates
    from evalpipe.templating.sandbox import check_templates

    shown = "the folder of templates" if draft.tree.secret(*loc) else folder
    try:
        draft.templates = read_templates(draft.tree.origin.folder_of(*loc) / folder, shown)
        check_templates(draft.templates)
    except UsageError as error:
        notes = draft.tree.noted("named at", *loc)
        for problem in error.problems:
            yield (draft.tree.problem(problem.code, problem.message, *loc, hint=problem.hint)
                   if problem.place is None else replace(problem, notes=notes))


def _faint_accent(draft: Draft) -> Iterator[Problem]:
    """Report an accent colour whose contrast is too low to be read."""
    theme, loc = draft.spec.report.theme, ("report", "theme", "accent")
    if theme is None or not draft.readable(*loc):
        return
    background = hardest(theme.accent, LIGHT)
    reached = contrast(theme.accent, background)
    if reached < READABLE:
        rounded = floor(100 * reached) / 100  # rounded down, so that what is too little never reads as enough
        message = (f"the accent {draft.tree.show(*loc)} has a contrast of {rounded:.2f} to 1 on the boxes of the page "
                   f"({background}), and text needs {READABLE} to 1")
        hint = f'write "{readable_shade(theme.accent, LIGHT)}", the nearest shade that has it'
        yield draft.tree.problem("low-contrast", message, *loc, hint=hint)


@dataclass(frozen=True, slots=True)
class AppearancePlan:
    """The theme and the templates of the card, each None where the spec names none, and the plugins."""

    theme: Theme | None
    templates: Templates | None
    plugins: tuple[Plugin, ...]


def appearance_plan(spec: Spec) -> AppearancePlan:
    """Return the theme, the templates and the plugins that the spec gives for the card."""
    return AppearancePlan(spec.report.theme, spec.templates, spec.plugins)


PARTS = (appearance_plan,)
