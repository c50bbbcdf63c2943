"""Which keys of a spec belong to which tasks, as the marks `Only` on the fields of its models say."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args, get_origin

from pydantic import BaseModel

from evalpipe.spec.kinds import Only
from evalpipe.spec.models import Spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.tasks import Task

NAMED = "<name>"
"""Stands in a location for any of the names that a mapping has for its entries, such as those of models."""


def _marked(model: type[BaseModel], here: Loc = ()) -> Iterator[tuple[Loc, tuple[Task, ...]]]:
    """Yield the location and the tasks of each marked key of a model, and of the models within it."""
    for name, field in model.model_fields.items():
        loc = (*here, name)
        yield from ((loc, mark.tasks) for mark in field.metadata if isinstance(mark, Only))
        inner = (*loc, NAMED) if get_origin(field.annotation) is dict else loc
        for part in _models(field.annotation):
            yield from _marked(part, inner)


def _models(declared: object) -> list[type[BaseModel]]:
    """Return the models in a declared type, such as a union or a mapping of them."""
    if isinstance(declared, type) and issubclass(declared, BaseModel):
        return [declared]
    return [model for argument in get_args(declared) for model in _models(argument)]


TASKS: dict[Loc, tuple[Task, ...]] = dict(_marked(Spec))
"""The tasks of the keys that not every task has; a key stands after the one that holds it."""


def applies(loc: Loc, task: str) -> bool:
    """Tell whether a key of the spec, in which `NAMED` stands for any name, belongs to a task."""
    return task in TASKS.get(loc, (task,))
