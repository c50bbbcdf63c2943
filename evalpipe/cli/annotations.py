"""Problems as annotations of the files that they are in, as GitHub shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalpipe.errors import Problem


def annotation(problem: Problem) -> str:
    """Return a problem as a GitHub workflow command."""
    place = problem.place
    parts = [("file", place.file), ("line", place.line), ("col", place.column)] if place else []
    where = ",".join(f"{key}={value}" for key, value in [*parts, ("title", problem.code)] if value is not None)
    text = f"{problem.message}; {problem.hint}" if problem.hint else problem.message
    return f"::{problem.severity} {where}::" + text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
