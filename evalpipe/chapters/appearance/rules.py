"""Checks of how the card looks."""

from __future__ import annotations

from dataclasses import replace
from math import floor
from typing import TYPE_CHECKING

from evalpipe.base.colours import LIGHT, READABLE, contrast, hardest, readable
from evalpipe.base.plugins import Plugin
from evalpipe.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of how the card is to look; keeps the templates, read from their folder, in the draft."""
    yield from _faint_accent(draft)
    here = ("report", "template")
    if draft.spec.report.template is not None and draft.readable(*here):
        yield from _read_templates(draft, here, draft.spec.report.template)
    if draft.spec.report.plugins:
        yield from _find_plugins(draft)


def _find_plugins(draft: Draft) -> Iterator[Problem]:
    """Look for the plugins among the installed packages; loads those that are named."""
    from evalpipe.base.plugins import installed, problem_of

    plugins, named = installed(), list[Plugin]()
    for loc, name in draft.entries(draft.spec.report.plugins, "report", "plugins"):
        problem = problem_of(name, plugins)
        if any(plugin.name == name for plugin in named):
            message = f"{draft.tree.show(*loc)} is listed twice"
            yield draft.tree.problem("duplicate-plugin", message, *loc, hint="remove it")
        elif problem is not None:
            yield draft.tree.problem(problem.code, problem.message, *loc, hint=problem.hint, notes=problem.notes)
        else:
            named += plugins[name]
    draft.plugins = tuple(named)


def _read_templates(draft: Draft, here: Loc, written: str) -> Iterator[Problem]:
    """Read and check the templates; what has no line of its own is told at the key that names the folder."""
    from evalpipe.templating.files import read_templates
    from evalpipe.templating.sandbox import check_templates

    shown = "the folder of templates" if draft.tree.secret(*here) else written
    try:
        draft.templates = read_templates(draft.tree.origin.folder_of(*here) / written, shown)
        check_templates(draft.templates)
    except UsageError as error:
        notes = draft.tree.noted("named at", *here)
        for problem in error.problems:
            yield (draft.tree.problem(problem.code, problem.message, *here, hint=problem.hint)
                   if problem.place is None else replace(problem, notes=notes))


def _faint_accent(draft: Draft) -> Iterator[Problem]:
    """Report an accent that cannot be read."""
    theme, here = draft.spec.report.theme, ("report", "theme", "accent")
    if theme is None or not draft.readable(*here):
        return
    background = hardest(theme.accent, LIGHT)
    reached = contrast(theme.accent, background)
    if reached < READABLE:
        shown = floor(100 * reached) / 100  # rounded down, so that what is too little never reads as enough
        message = (f"the accent {draft.tree.show(*here)} has a contrast of {shown:.2f} to 1 on the boxes of the page "
                   f"({background}), and text needs {READABLE} to 1")
        hint = f'write "{readable(theme.accent, LIGHT)}", the nearest shade that has it'
        yield draft.tree.problem("low-contrast", message, *here, hint=hint)
