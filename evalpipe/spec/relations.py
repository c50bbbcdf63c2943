"""Checks of the marks on the fields of a spec: the names that a key refers to, and the keys that it needs or excludes.

One walk over a draft checks them all. What says more than a mark can is in the rules.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, RootModel

from evalpipe.base.levels import level_text
from evalpipe.spec.draft import refer
from evalpipe.spec.field_types import EachLevel, Excludes, KeyRelation, OfRole, Only, Refers, Renamed, Unique
from evalpipe.spec.measures import located_items
from evalpipe.spec.rules_measures import unknown_metric
from evalpipe.spec.rules_task import each_level, unknown_level
from evalpipe.tasks import CLASSES
from evalpipe.words.spelling import choose

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
        not_for_task = task and any(isinstance(mark, Only) and task not in mark.tasks for mark in field.metadata)
        if value is None or not_for_task:
            continue
        usual = value == field.get_default(call_default_factory=True)
        problems = [] if usual else list(_check_other_keys(draft, here, part, field.metadata))
        yield from problems
        if problems:
            continue
        for mark in field.metadata:
            yield from _check_value(draft, here, value, mark)
        for place, inner in _entries(here, value):
            if isinstance(inner, BaseModel) and not isinstance(inner, RootModel):
                yield from check_relations(draft, inner, place)


def _entries(here: Loc, value: Any) -> Iterator[tuple[Loc, Any]]:
    """Yield each item of a list or value of a mapping with its location; a single value stands there itself."""
    if isinstance(value, dict):
        yield from (((*here, key), item) for key, item in value.items())
    else:
        yield from located_items(here, value)


def _check_other_keys(draft: Draft, here: Loc, part: BaseModel, marks: list[Any]) -> Iterator[Problem]:
    """Report a key that lacks what it needs, or stands beside what it excludes; the latter is told alone."""
    excluded = False
    for mark in (mark for mark in marks if isinstance(mark, KeyRelation)):
        owner, loc = (draft.spec, ()) if mark.of_spec else (part, here[:-1])
        values = [getattr(owner, other) for other in mark.others]
        present = mark.equal in values if mark.equal is not None else any(
            value is not None and value is not False for value in values)
        if isinstance(mark, Excludes):
            wrong = excluded = present
        else:
            readable = all(draft.readable(*loc, other) for other in mark.others)
            misspelt = draft.misspelt(loc, mark.others, type(owner).model_fields)
            wrong = readable and not (present or misspelt or excluded)
        if wrong:
            message = mark.message.replace("{name}", str(here[1])) if len(here) > 1 else mark.message
            report = draft.tree.idle if mark.idle else draft.tree.problem
            yield report(mark.code, message, *here, key=True, hint=mark.hint)


def _check_value(draft: Draft, here: Loc, value: Any, mark: object) -> Iterator[Problem]:
    """Yield the problems of the names and levels in the value of a key, by one of its marks."""
    match mark:
        case Refers():
            yield from _unknown_names(draft, here, value, mark)
        case OfRole() if isinstance(value, str):
            yield from _wrong_role(draft, here, value, mark)
        case EachLevel() if draft.spec.task in CLASSES and isinstance(value, dict | tuple) and draft.readable(*here):
            yield from each_level(draft, here, value, mark)
        case Renamed() if (former := str(draft.tree.get(*here))) in mark.now:
            now = mark.now[former]
            problem = draft.tree.problem(
                "renamed-value", f"'{former}' is called '{now}' now", *here, hint=f"write '{now}'")
            yield replace(problem, severity="warning")
        case Unique():
            texts = [level_text(item) for item in value]
            for index, text in enumerate(texts):
                if draft.readable(*here, index) and text in texts[:index]:
                    message = mark.message.replace("{}", draft.tree.show(*here, index))
                    yield draft.tree.problem(mark.code, message, *here, index, hint=mark.hint)


def _unknown_names(draft: Draft, here: Loc, value: Any, mark: Refers) -> Iterator[Problem]:
    """Report names that nothing of the spec has."""
    for loc, item in _entries(here, value):
        if mark.to == "measure":
            yield from unknown_metric(draft, loc, key=isinstance(value, dict))
        elif mark.to == "level":
            known = draft.levels if draft.spec.task in CLASSES and draft.readable(*loc) else []
            if known and level_text(item) not in known:
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


def _wrong_role(draft: Draft, here: Loc, name: str, mark: OfRole) -> Iterator[Problem]:
    """Report a name that no dataset has, or one of another role."""
    known = draft.role(mark.role)
    if name in known or not draft.readable("datasets"):
        return
    code, message = "unknown-dataset", f"no dataset is called {draft.tree.show(*here)}"
    if name in draft.spec.datasets:
        code, role = "wrong-role", draft.spec.datasets[name].role
        why = ", so its predictions are not read" if role == "reference" and mark.role == "calibrate" else mark.why
        message = f"{draft.tree.show(*here)} has the role '{role}'{why}"
    yield from refer(draft, here, known, code, message, choose(known, mark.otherwise))
