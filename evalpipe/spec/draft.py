"""What of a wrong spec can be read, typed, however wrong the rest is: as rules across keys see it.

A blank stands where a value was written that is wrong, and where a required one is missing: NaN for a number, the
empty text, an empty list or mapping, a part whose required keys are blank. So a key that was written is never None, a
name that is blank equals none that a spec may hold, and no comparison with a number that is blank holds. What belongs
to a task, keys and levels, is checked at the end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, Discriminator, RootModel, Tag, ValidationError

from evalpipe.base.levels import level_text, meant_level
from evalpipe.spec.field_types import OneOrMore, Short
from evalpipe.spec.messages import location_in_file, missing_key
from evalpipe.spec.spec import ANY_NAME, TASKS, kind_of_spec
from evalpipe.tasks import CLASSES, MANY, NUMBERS, SCORES
from evalpipe.words.spelling import closest, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pydantic.fields import FieldInfo

    from evalpipe.base.databases import DatabaseUri
    from evalpipe.base.origin import Loc
    from evalpipe.base.plugins import Plugin
    from evalpipe.errors import Problem
    from evalpipe.spec.core_keys import Model
    from evalpipe.spec.field_types import EachLevel, Level
    from evalpipe.spec.measures import Measures
    from evalpipe.spec.tree import ProseText, Tree
    from evalpipe.tasks import Task
    from evalpipe.templating.files import Templates


_BLANKS: dict[object, object] = {str: "", int: math.nan, float: math.nan, bool: False, tuple: (), Literal: ""}


class _PartialReader:
    """Reads plain values as the types of a spec's models declare them; ``blanks`` are the places of blanks so far."""

    def __init__(self, tree: Tree, error: ValidationError) -> None:
        """Note the locations of wrong values, by pydantic's error, and of the mappings and lists around them."""
        self.blanks: set[Loc] = set()
        self.wrong: set[Loc] = set()
        for detail in error.errors(include_url=False, include_context=False, include_input=False):
            loc = location_in_file(detail["loc"], tree)
            if detail["type"] == "missing":
                self.wrong.add((*loc, detail["loc"][-1]))
            elif detail["loc"][-1:] != ("[key]",) and detail["type"] != "too_short":  # neither spoils what it is of
                self.wrong.add(loc)
        self.holders = {loc[:depth] for loc in self.wrong for depth in range(len(loc))}

    def read(self, declared: Any, value: Any, loc: Loc) -> Any:
        """Read a value as its declared type; a wrong value becomes a blank, its mapping or list stays."""
        kind, value = _meant_form(declared, value)
        if (loc in self.wrong and loc not in self.holders) or not _fits(kind, value):
            return self.blank(kind, loc)
        if get_origin(kind) is tuple:
            return tuple(self.read(get_args(kind)[0], item, (*loc, index)) for index, item in enumerate(value))
        if get_origin(kind) is dict:
            return {key: self.read(get_args(kind)[1], item, (*loc, key)) for key, item in value.items()}
        if _is_subclass(kind, RootModel):
            return kind.model_construct(self.read(_declared_type(kind.model_fields["root"]), value, loc))
        if _is_subclass(kind, BaseModel):
            return self.read_mapping(kind, value, loc)
        return kind.read(value) if hasattr(kind, "read") else value

    def read_mapping(self, kind: type[BaseModel], value: Any, loc: Loc) -> BaseModel:
        """Read a mapping key by key; ``value`` is the mapping in the file."""
        gathered = getattr(kind, "gathered", dict)(value)
        values: dict[str, Any] = {}
        for name, field in kind.model_fields.items():
            key = field.alias or name
            # A flag has no blank, which is neither true nor false: one that is wrong keeps its default.
            if key in gathered and not (field.annotation is bool and (*loc, key) in self.wrong):
                values[key] = self.read(_declared_type(field), gathered[key], (*loc, key))
            elif field.is_required():
                values[key] = self.blank(_meant_form(_declared_type(field), "")[0], (*loc, key))
        # Constructed, not validated: validation would refuse the blanks.
        return kind.model_construct(**values)

    def blank(self, kind: Any, loc: Loc) -> Any:
        """Return the placeholder for a wrong or a missing value."""
        self.blanks.add(loc)
        if _is_subclass(kind, RootModel):
            return kind.model_construct("")
        if _is_subclass(kind, BaseModel):
            return self.read_mapping(kind, {}, loc)
        if hasattr(kind, "blank"):
            return kind.blank()
        origin = get_origin(kind) or kind
        return {} if origin is dict else _BLANKS[origin]


def _declared_type(field: FieldInfo) -> Any:
    """Return the type of a field with its marks, which pydantic keeps apart from it."""
    return Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation


def _meant_form(declared: Any, value: Any) -> tuple[Any, Any]:
    """Return the member of a declared type (a union) that a value was meant to be, and the value in its form."""
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
            kind, marks = next((form for form in forms if _is_meant(form, value, tags)), forms[0]), []
    return kind, value


def _is_meant(form: Any, value: object, tags: Discriminator | None) -> bool:
    """Tell whether a value was meant as ``form`` of a union: by the union's tags, else as a list or mapping."""
    if tags is None:
        return isinstance(value, Mapping | list) and _fits(_meant_form(form, value)[0], value, strictly=True)
    tag = tags.discriminator(value)  # type: ignore[operator]
    return any(isinstance(mark, Tag) and mark.tag == tag for mark in get_args(form)[1:])


def _fits(kind: Any, value: object, *, strictly: bool = False) -> bool:
    """Tell whether a value is a list or mapping as ``kind`` needs; another kind fits any, none if ``strictly``."""
    if get_origin(kind) is tuple:
        return isinstance(value, list)
    if get_origin(kind) is dict or (_is_subclass(kind, BaseModel) and not _is_subclass(kind, RootModel)):
        return isinstance(value, Mapping)
    return not strictly


def _is_subclass(kind: Any, base: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)


Item = TypeVar("Item")


class Draft:
    """A spec that may be wrong. Each fault of a single key is told elsewhere, so rules pass over what cannot be read.

    ``spec`` holds every key as its declared type. A value that is wrong, or required and missing, is blank there (see
    `evalpipe.spec.draft`), never None: so None says that a key was not written. ``tree`` is what was written, with
    its places; ``error`` what pydantic found, None where each key is right. ``texts`` are what people state, by
    location, ``templates`` those of the card, ``plugins`` those that are installed, ``uris`` those of databases, by
    dataset, and ``ledger`` that of the ledger, as far as rules have read them.
    """

    def __init__(self, tree: Tree) -> None:
        """Read the nodes of a spec as far as they can be read."""
        self.tree = tree
        self.error: ValidationError | None = None
        self.texts: dict[Loc, ProseText] = {}
        self.templates: Templates | None = None
        self.plugins: tuple[Plugin, ...] = ()
        self.uris: dict[str, DatabaseUri] = {}
        self.ledger: DatabaseUri | None = None
        self._blanks: frozenset[Loc] = frozenset()
        try:
            self.spec = kind_of_spec(tree.data).model_validate(tree.data)
        except ValidationError as error:
            self.error = error
            reader = _PartialReader(tree, error)
            self.spec = reader.read(kind_of_spec(tree.data), tree.data, ())
            self._blanks = frozenset(reader.blanks)

    def readable(self, *loc: str | int) -> bool:
        """Tell whether the value at ``loc`` can be read, perhaps with blanks within; so can an absent one."""
        return not any(loc[:depth] in self._blanks for depth in range(len(loc) + 1))

    @cached_property
    def levels(self) -> list[str]:
        """The declared levels as texts; none where one of them cannot be read."""
        levels, here = self.spec.outcome.levels or (), ("outcome", "levels")
        sound = all(self.readable(*here, index) for index in range(len(levels)))
        return [level_text(level) for level in levels] if sound else []

    def entries(
        self, listed: Mapping[str, Item] | Sequence[Item] | None, *loc: str | int
    ) -> Iterator[tuple[Loc, Item]]:
        """Yield the entries of a mapping or a list at ``loc`` that can be read, each with its location."""
        pairs: Iterable[tuple[str | int, Item]] = (
            listed.items() if isinstance(listed, Mapping) else enumerate(listed or ()))
        yield from (((*loc, key), entry) for key, entry in pairs if self.readable(*loc, key))

    @cached_property
    def measures(self) -> Measures:
        """Every measure that the spec can name, those that it declares among them."""
        return self.spec.measures

    @cached_property
    def models(self) -> dict[str, Model]:
        """The models that can be read, by name; `spec.models` has the names of the others too."""
        return {str(loc[-1]): model for loc, model in self.entries(self.spec.models, "models")}

    def role(self, role: Literal["evaluate", "calibrate", "reference"]) -> list[str]:
        """Return the names of the datasets of a role."""
        return [name for name, dataset in self.spec.datasets.items() if dataset.role == role]

    def unknown(self, *loc: str | int) -> list[str]:
        """Return the keys of the mapping at ``loc`` that it may not have."""
        details = self.error.errors(include_url=False, include_context=False, include_input=False) if self.error else []
        locs = [location_in_file(detail["loc"], self.tree) for detail in details if detail["type"] == "extra_forbidden"]
        return [str(key_loc[-1]) for key_loc in locs if key_loc[:-1] == loc]

    def misspelt(self, loc: Loc, keys: Sequence[str], known: Iterable[str] = ()) -> bool:
        """Tell whether a key at ``loc`` that is not a ``known`` one was probably meant for one of ``keys``."""
        written = self.tree.get(*loc)
        return isinstance(written, dict) and any(closest(key, keys) for key in set(written) - {*known, *keys})


def refer(
    draft: Draft, loc: Loc, known: Sequence[str], code: str, message: str, hint: str | None,
    *, key: bool = False, meant: Callable[[str, Sequence[str]], str | None] = closest, notes: tuple[str, ...] = (),
) -> Iterator[Problem]:
    """Report the name or level at ``loc``, or the ``key`` there, where it is none of those that are ``known``.

    ``hint`` is the way out where ``meant`` finds no known name that the one written was meant for.
    """
    written = loc[-1] if key else draft.tree.get(*loc)
    name = level_text(written)
    refers = isinstance(written, str) or (written is not None and draft.readable(*loc))
    if refers and name not in known:
        guess = None if draft.tree.secret(*loc) and not key else meant(name, known)
        hint = f"did you mean '{guess}'?" if guess else hint
        yield draft.tree.problem(code, message, *loc, key=key, hint=hint, notes=notes)


BINARY: tuple[Task, ...] = ("binary",)
KNOWN = (*CLASSES, *NUMBERS, *SCORES)
_INSTEAD = {
    ("score", MANY): "name the columns of all levels under 'scores'",
    ("probability", MANY): "name the columns of all levels under 'probabilities'",
    ("probability", NUMBERS): "name the column of the predicted number under 'prediction'",
    ("rate", NUMBERS): "name the column of the predicted number under 'prediction'",
    ("prediction", SCORES): "name the column of a wide table under 'score', or the model in the logs under 'log'",
    ("id", SCORES): "name the column of the item under 'item'",
    ("complete_case", SCORES): "say under 'score' what a 'missing' score counts",
    ("outcome", SCORES): "remove it: an item has a score from each model, and no outcome",
    ("rate", MANY): "name the columns of all levels under 'probabilities'",
    ("rate", BINARY): "name the column of the event's probability under 'probability'",
    ("event", MANY): "remove it; every level counts",
    ("value", MANY): "give the prior probability of each level under 'levels'",
    ("levels", BINARY): "give the prior probability of the event under 'value'",
    ("beta", MANY): "give the parameter of each level under 'dirichlet'",
    ("dirichlet", BINARY): "give the two parameters under 'beta'",
}
"""The key that was probably meant, by the key that was written and the tasks that do not have it."""


def check_task(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of keys that do not fit the task, and of levels that are not named or have two orders."""
    task = draft.spec.task
    if task in KNOWN:
        yield from _not_for_task(draft, task)
    if task == "binary":
        for name, model in draft.models.items() if draft.spec.outcome.levels is None else ():
            if model.probabilities is None and model.scores is None:
                continue
            kind = "scores" if model.probabilities is None else "probabilities"
            message = f"'{kind}' are of both levels, of which 'outcome' names the event alone"
            order = ", in their order in the lists" if model.list_column is not None and model.order is None else ""
            yield draft.tree.problem("missing-level", message, "models", name, kind, key=True,
                                     hint=f"name both under 'levels' of the outcome{order}")
    if task in CLASSES:
        key = "event" if task == "binary" else "levels"
        if not draft.spec.alone and draft.readable("outcome") and getattr(draft.spec.outcome, key) is None:
            yield from missing_in_part(draft, "Outcome", "outcome", key)
        yield from _two_orders(draft)


def _not_for_task(draft: Draft, task: str) -> Iterator[Problem]:
    """Report keys that the task does not have."""
    refused: set[Loc] = set()
    group = next(tasks for tasks in (BINARY, MANY, NUMBERS, SCORES) if task in tasks)
    for key in (key for key, tasks in TASKS.items() if task not in tasks):
        for name in draft.models if ANY_NAME in key else ("",):
            loc = tuple(name if part == ANY_NAME else part for part in key)
            value = draft.tree.get(*loc)
            # null and false ask for nothing; a key that is refused is told alone, without the keys in it.
            if value is None or value is False or loc[:1] in refused:
                continue
            refused.add(loc)
            message = f"{task_called(task)} has no '{loc[-1]}'"
            hint = _INSTEAD.get((str(loc[-1]), group), "remove it")
            yield draft.tree.problem("not-for-task", message, *loc, key=True, hint=hint)


def task_called(task: str) -> str:
    """Return what messages call what a task evaluates: "an ordinal outcome", "a score of items"."""
    return "a score of items" if task in SCORES else f"{with_article(task)} outcome"


def with_article(task: str) -> str:
    """Write a task with its article: "an ordinal"."""
    return f"an {task}" if task[:1] in tuple("aeiou") else f"a {task}"


def missing_in_part(draft: Draft, model: str, part: str, key: str) -> Iterator[Problem]:
    """Report a key that is absent or null in a part of the spec, unless a misspelt key was meant for it.

    ``model`` is the name of the class of that part.
    """
    from evalpipe.spec.schema import model_schema

    if key in draft.tree.get(part):
        message = f"expected a value, got {draft.tree.spell(part, key)}"
        yield draft.tree.problem("wrong-type", message, part, key)
    elif not draft.misspelt((part,), [key]):
        keys = model_schema()["$defs"][model]["properties"]  # slow to make, so only for a spec that is wrong
        yield missing_key(draft.tree, (part,), key, keys.get(key))


def level_problems(draft: Draft, here: Loc, listed_levels: Iterable[Level], mark: EachLevel) -> Iterator[Problem]:
    """Report values at ``here`` that are no declared levels, and declared levels that are absent there."""
    by_level = isinstance(listed_levels, Mapping)
    names = [level_text(level) for level in listed_levels]
    for index, name in enumerate(names if draft.levels else ()):
        if name not in draft.levels:
            yield unknown_level(draft, (*here, name if by_level else index), name, key=by_level)
    absent = [level for level in draft.levels if level not in names]
    if absent:
        message = mark.missing.replace("{name}", str(here[1])).replace("{}", listed(absent, "and"))
        yield draft.tree.problem("missing-level", message, *here, key=True, hint=mark.hint)


def unknown_level(draft: Draft, loc: Loc, name: str, *, key: bool = False) -> Problem:
    """Report a level that is not declared."""
    guess = meant_level(name, draft.levels)
    hint = f"did you mean '{guess}'?" if guess else f"the levels are {listed(draft.levels, 'and')}"
    return draft.tree.problem("unknown-level", f"'{name}' is not one of the declared levels", *loc, key=key, hint=hint)


def _two_orders(draft: Draft) -> Iterator[Problem]:
    """Report lists of one column whose levels have one order for a model and another for the next."""
    first: dict[str, str] = {}
    for name, model in draft.models.items():
        column = model.list_column
        if column is None or model.predictions is not None:
            continue
        other = first.setdefault(column, name)
        if (draft.models[other].order or draft.spec.outcome.levels) != (model.order or draft.spec.outcome.levels):
            message = f"the lists of column '{column}' have one order for the model '{name}', and another for '{other}'"
            yield draft.tree.problem("two-orders", message, "models", name, key=True,
                                     hint="give both the same 'order'")
