"""Checks of the marks on the fields of a spec: the names that a key refers to, and the keys that it needs or excludes.

One walk over a draft checks them all. What says more than a mark can is in the rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, RootModel

from evalpipe.base.levels import level_text
from evalpipe.spec.draft import refer
from evalpipe.spec.field_types import Beside, EachLevel, Excludes, Only, Refers, Unique
from evalpipe.spec.rules_measures import unknown_metric
from evalpipe.spec.rules_task import each_level, unknown_level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft


def check_relations(draft: Draft, part: BaseModel | None = None, loc: Loc = ()) -> Iterator[Problem]:
    """Yield the problems of the marked keys of a part of the spec at ``loc``, and of the parts within it.

    A key that the task does not have is told elsewhere. Nothing more is told of one that goes ill with another key.
    """
    part = draft.spec if part is None else part
    for name, field in type(part).model_fields.items():
        here, value, task = (*loc, field.alias or name), getattr(part, name), draft.spec.task
        foreign = task and any(isinstance(mark, Only) and task not in mark.tasks for mark in field.metadata)
        if value is None or foreign:
            continue
        usual = value == field.get_default(call_default_factory=True)
        problems = () if usual else tuple(_beside(draft, here, part, field.metadata))
        yield from problems
        for mark in () if problems else field.metadata:
            if isinstance(mark, Refers):
                yield from _refers(draft, here, value, mark)
            elif isinstance(mark, EachLevel) and isinstance(value, dict | tuple) and draft.readable(*here):
                yield from each_level(draft, here, value, mark)
            elif isinstance(mark, Unique):
                yield from _unique(draft, here, value, mark)
        for place, inner in _within(here, value):
            if isinstance(inner, BaseModel) and not isinstance(inner, RootModel):
                yield from check_relations(draft, inner, place)


def _within(here: Loc, value: Any) -> Iterator[tuple[Loc, Any]]:
    """Yield each item of a list or value of a mapping with its location; a single value stands there itself."""
    if isinstance(value, dict):
        yield from (((*here, key), item) for key, item in value.items())
    elif isinstance(value, tuple):
        yield from (((*here, index), item) for index, item in enumerate(value))
    else:
        yield here, value


def _beside(draft: Draft, here: Loc, part: BaseModel, marks: list[Any]) -> Iterator[Problem]:
    """Report a key that lacks what it needs, or stands beside what it excludes; the latter is told alone."""
    excluded = False
    for mark in (mark for mark in marks if isinstance(mark, Beside)):
        owner, loc = (draft.spec, ()) if mark.of_spec else (part, here[:-1])
        written = [getattr(owner, other) for other in mark.others]
        present = mark.equal in written if mark.equal is not None else any(
            value is not None and value is not False for value in written)
        if isinstance(mark, Excludes):
            wrong = excluded = present
        else:
            clear = all(draft.readable(*loc, other) for other in mark.others)
            meant = draft.misspelt(loc, mark.others, type(owner).model_fields)
            wrong = clear and not (present or meant or excluded)
        if wrong:
            message = mark.message.replace("{model}", str(here[1])) if here[0] == "models" else mark.message
            report = draft.tree.idle if mark.idle else draft.tree.problem
            yield report(mark.code, message, *here, key=True, hint=mark.hint)


def _refers(draft: Draft, here: Loc, value: Any, mark: Refers) -> Iterator[Problem]:
    """Report names that nothing of the spec has."""
    for loc, item in _within(here, value):
        key = isinstance(value, dict)
        if mark.to == "measure":
            yield from unknown_metric(draft, loc, key=key)
        elif mark.to == "level":
            if draft.levels and draft.readable(*loc) and level_text(item) not in draft.levels:
                yield unknown_level(draft, loc, level_text(item))
        elif draft.readable("models" if mark.to == "model" else "datasets"):
            known, shown = list(draft.spec.models), draft.tree.show(*loc)
            code, message = "unknown-model", f"no model is called {shown}"
            if mark.to == "evaluated dataset":
                role = ", because its role is not 'evaluate'" if value in draft.spec.datasets else ""
                known, code = draft.role("evaluate"), "unknown-dataset"
                message = f"no dataset called {shown} is evaluated{role}"
            hint = None if mark.hint is None else mark.hint(known)
            yield from refer(draft, loc, known, mark.code or code, message, hint)


def _unique(draft: Draft, here: Loc, items: tuple[Any, ...], mark: Unique) -> Iterator[Problem]:
    """Report items of a list that stand in it before."""
    texts = [level_text(item) for item in items]
    for index, text in enumerate(texts):
        if draft.readable(*here, index) and text in texts[:index]:
            message = mark.message.replace("{}", draft.tree.show(*here, index))
            yield draft.tree.problem(mark.code, message, *here, index, hint=mark.hint)
