"""The day that a card is about, from ``as_of`` or ``--as-of``, and the texts that hold it as ``${date}``."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from evalpipe.errors import Problem, UsageError
from evalpipe.spec.environment import BadReferenceError, Dated, expand
from evalpipe.spec.kinds import is_day
from evalpipe.spec.text import SpecText
from evalpipe.spec.tree import UNREADABLE, Node

if TYPE_CHECKING:
    from collections.abc import Mapping

KEY = "as_of"

OPTION = "--as-of"
"""The name shown in place of a file's."""

LACKING = "${date} is the day under 'as_of', and none is given"
WAY = "write 'as_of: 2026-11-21', or give --as-of 2026-11-21"


def on_day(root: Node, as_of: str | dt.date | None, before: str | None = None) -> tuple[Node, list[Problem]]:
    """Return the spec with the day ``as_of`` laid over its own, and each ``${date}`` replaced by its day.

    ``before`` is the day of a spec that was loaded already, and stands in its texts. Also returns the problem of each
    text that lacks a day, or has another one. A day that is wrong is told with the other keys. Raises UsageError where
    ``as_of`` is no text and no date.
    """
    if as_of is not None:
        text = SpecText(OPTION, _written(as_of))
        root = replace(root, content={**root.content, KEY: Node(text.text, text.place(0), text.place(0))})
    dating = _Dating(root.content.get(KEY, Node(None)), before)
    return dating.dated(root), dating.problems


def _written(as_of: str | dt.date) -> str:
    """Return a day as a text."""
    if isinstance(as_of, dt.date) and not isinstance(as_of, dt.datetime):
        return as_of.isoformat()
    if isinstance(as_of, str):
        return as_of
    message = f"as_of is a day, and {type(as_of).__name__} is none"
    raise UsageError.of("wrong-type", message, hint="give a text as in '2026-11-21', or a datetime.date")


@dataclass(slots=True)
class _Dating:
    """Replaces ``${date}`` by the day at the node ``day``, and gathers the problems of texts that cannot have it."""

    day: Node
    before: str | None
    problems: list[Problem] = field(default_factory=list)

    def dated(self, node: Node) -> Node:
        """Return a node with the day in all texts within it."""
        content = node.content
        if isinstance(content, dict):
            return replace(node, content={key: self.dated(item) for key, item in content.items()})
        if isinstance(content, tuple):
            return replace(node, content=tuple(map(self.dated, content)))
        if isinstance(content, Dated):
            return replace(node, content=self._text(node, content), dated=True)
        if node.dated and self.day.content != self.before:
            message = f"this text holds the day {self.before}, as of which the spec was loaded"
            self._report("other-day", message, node, "load the spec with the other day")
        return node

    def _text(self, node: Node, text: Dated) -> object:
        """Return the text of a node on the day; `UNREADABLE` where there is none."""
        day = self.day.content
        if isinstance(day, str) and is_day(day):
            return text.on(day)
        if node is self.day:
            message = "'as_of' cannot hold ${date}, which stands for it"
            self._report("bad-reference", message, node, "write the day, as in 2026-11-21")
        elif day is None:
            self._report("no-day", LACKING, node, WAY)
        return UNREADABLE

    def _report(self, code: str, message: str, node: Node, hint: str) -> None:
        self.problems.append(Problem(code, message, node.place, hint))


def dated_path(
    path: str, day: str | None, environment: Mapping[str, str], option: str, *, private: bool = False
) -> str:
    """Return a path given under an ``option`` of the command line, with its references replaced as in a spec.

    Raises UsageError for a reference that cannot be replaced, for one to a secret unless the path is ``private``, and
    for ``${date}`` where there is no ``day``.
    """
    try:
        text = expand(path, environment, private=private, printed="in messages")
    except BadReferenceError as error:
        code, message, hint = error.args
        raise UsageError.of(code, f"{option}: {message}", hint=hint) from None
    if isinstance(text, Dated) and day is None:
        raise UsageError.of("no-day", f"{option}: {LACKING}", hint=WAY)
    return text.on(day or "") if isinstance(text, Dated) else text
