"""Checks of `checks`: each silenced one exists, and has a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.chapters.checks.spec import CODES
from evalpipe.spec.draft import refer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft


NO_CHECK = "docs/findings.md lists the checks"
"""The hint where no check has a code that is like the one written."""


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of silenced checks: a code that no check has, or a blank reason."""
    silence = None if draft.spec.checks is None else draft.spec.checks.silence
    for loc, reason in draft.entries(silence, "checks", "silence"):
        message = f"no check is called {str(loc[-1])!r}"
        yield from refer(draft, loc, CODES, "unknown-check", message, NO_CHECK, key=True)
        if reason.isspace():
            yield draft.tree.problem("empty-value", "a check is silenced for a reason, which the card shows", *loc,
                                     hint="say in a few words why")
