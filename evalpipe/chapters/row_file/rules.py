"""Checks of the row-level file: that there are rows to write."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft

HERE = ("report", "rows")


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problem of a row-level file where candidates alone are ranked, which have no rows."""
    if draft.alone and draft.readable(*HERE) and draft.spec.report.rows is not None:
        message = "'rows' has no effect: candidates alone have no predictions"
        yield draft.tree.idle("unused-rows", message, *HERE, key=True, hint="remove it")
