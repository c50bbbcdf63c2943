"""What of a wrong spec can be read: a `Spec` whose wrong values are blank.

A blank stands where a value was written that is wrong, and where a required one is missing: NaN for a number, the empty
text, an empty list or mapping, a part whose required keys are blank. So a key that was written is never None, a name
that is blank equals none that a spec may hold, and no comparison with a number that is blank holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, Discriminator, RootModel, Tag

from evalpipe.chapters.recalibrate.spec import MethodChoice
from evalpipe.spec.choices import MetricChoice
from evalpipe.spec.explain import existing
from evalpipe.spec.kinds import OneOrMore, Short
from evalpipe.spec.models import Spec, kind_of_spec

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic.fields import FieldInfo

    from evalpipe.base.origin import Loc
    from evalpipe.spec.tree import Tree

_BLANKS: dict[object, object] = {str: "", int: math.nan, float: math.nan, bool: False, tuple: (), Literal: "",
                                 MetricChoice: MetricChoice(""), MethodChoice: MethodChoice("", "")}


def partial(tree: Tree, error: ValidationError) -> tuple[Spec, frozenset[Loc]]:
    """Return what can be read of a spec in which pydantic found errors, and where it has blanks."""
    reader = _Reader(tree, error)
    spec = reader.read(kind_of_spec(tree.data), tree.data, ())
    return spec, frozenset(reader.blanks)


class _Reader:
    """Reads plain values as the types of a spec's models declare them; ``blanks`` are the places of blanks so far."""

    def __init__(self, tree: Tree, error: ValidationError) -> None:
        self.blanks: set[Loc] = set()
        self.wrong: set[Loc] = set()
        for detail in error.errors(include_url=False, include_context=False, include_input=False):
            loc = existing(detail["loc"], tree)
            if detail["type"] == "missing":
                self.wrong.add((*loc, detail["loc"][-1]))
            elif detail["loc"][-1:] != ("[key]",) and detail["type"] != "too_short":  # neither spoils what it is of
                self.wrong.add(loc)
        self.holders = {loc[:depth] for loc in self.wrong for depth in range(len(loc))}

    def read(self, declared: Any, value: Any, loc: Loc) -> Any:
        """Read a value of a declared type; a blank where it is wrong, unless only something within it is."""
        kind, value = _form(declared, value)
        if (loc in self.wrong and loc not in self.holders) or not _holds(kind, value):
            return self.blank(kind, loc)
        if get_origin(kind) is tuple:
            return tuple(self.read(get_args(kind)[0], item, (*loc, index)) for index, item in enumerate(value))
        if get_origin(kind) is dict:
            return {key: self.read(get_args(kind)[1], item, (*loc, key)) for key, item in value.items()}
        if _is_a(kind, RootModel):
            return kind.model_construct(self.read(_declared(kind.model_fields["root"]), value, loc))
        if _is_a(kind, BaseModel):
            return self.part(kind, value, loc)
        return kind.read(value) if kind in (MetricChoice, MethodChoice) else value

    def part(self, kind: type[BaseModel], value: Any, loc: Loc) -> BaseModel:
        """Read a mapping key by key; ``value`` is what was written."""
        gathered = getattr(kind, "gathered", dict)(value)
        values: dict[str, Any] = {}
        for name, field in kind.model_fields.items():
            key = field.alias or name
            # A flag has no blank, which is neither true nor false: one that is wrong keeps its default.
            if key in gathered and not (field.annotation is bool and (*loc, key) in self.wrong):
                values[key] = self.read(_declared(field), gathered[key], (*loc, key))
            elif field.is_required():
                values[key] = self.blank(_form(_declared(field), "")[0], (*loc, key))
        # Constructed, not validated: validation would refuse the blanks.
        return kind.model_construct(**values)

    def blank(self, kind: Any, loc: Loc) -> Any:
        """Return what stands for a wrong or a missing value."""
        self.blanks.add(loc)
        if _is_a(kind, RootModel):
            return kind.model_construct("")
        if _is_a(kind, BaseModel):
            return self.part(kind, {}, loc)
        origin = get_origin(kind) or kind
        return {} if origin is dict else _BLANKS[origin]


def _declared(field: FieldInfo) -> Any:
    """Return the type of a field with its marks, which pydantic keeps apart from it."""
    return Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation


def _form(declared: Any, value: Any) -> tuple[Any, Any]:
    """Return the form of a declared type that a value is of, or was meant to be, and the value in that form."""
    kind = declared
    marks: list[Any] = []
    while get_origin(kind) in (Annotated, Union, UnionType):
        if get_origin(kind) is Annotated:
            kind, *marks = get_args(kind)
            short = next((mark.key for mark in marks if isinstance(mark, Short)), None)
            value = {short: value} if short is not None and not isinstance(value, Mapping) else value
            several = any(isinstance(mark, OneOrMore) for mark in marks)
            value = [value] if several and not isinstance(value, list) else value
        elif value is None and NoneType in get_args(kind):
            return NoneType, None
        else:
            tags = next((mark for mark in marks if isinstance(mark, Discriminator)), None)
            forms = [form for form in get_args(kind) if form is not NoneType]
            kind, marks = next((form for form in forms if _meant(form, value, tags)), forms[0]), []
    return kind, value


def _meant(form: Any, value: object, tags: Discriminator | None) -> bool:
    """Tell whether a value was meant to be of one form of several: by their tags, or else by what holds it."""
    if tags is None:
        return isinstance(value, Mapping | list) and _holds(_form(form, value)[0], value, strictly=True)
    tag = tags.discriminator(value)  # type: ignore[operator]
    return any(isinstance(mark, Tag) and mark.tag == tag for mark in get_args(form)[1:])


def _holds(kind: Any, value: object, *, strictly: bool = False) -> bool:
    """Tell whether a value is a list or a mapping where its type is one; ``strictly``, only there."""
    if get_origin(kind) is tuple:
        return isinstance(value, list)
    if get_origin(kind) is dict or (_is_a(kind, BaseModel) and not _is_a(kind, RootModel)):
        return isinstance(value, Mapping)
    return not strictly


def _is_a(kind: Any, base: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)
