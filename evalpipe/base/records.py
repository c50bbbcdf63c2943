"""What every table of results is made of: frozen records whose fields are documented by the text below each.

The texts are read from the source when a JSON Schema is made; pydantic reads them as each class is defined, which
took half of the time to import the records of results.
"""

from __future__ import annotations

import ast
import inspect
import sys
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import GetJsonSchemaHandler
    from pydantic_core import core_schema


class Documented(BaseModel):
    """A model whose JSON Schema describes each field by the text below it."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return the JSON Schema of the model, with the texts below its fields as their descriptions."""
        json_schema = handler(schema)
        properties = handler.resolve_ref_schema(json_schema).get("properties", {})
        for name, field in cls.model_fields.items():
            declared = next(kind for kind in cls.__mro__ if name in inspect.get_annotations(kind))
            text = _texts_below_fields(declared.__module__).get((declared.__qualname__, name))
            part = properties.get(field.alias or name)
            if part is not None and text is not None:
                part.setdefault("description", text)
        return json_schema


@cache
def _texts_below_fields(module: str) -> dict[tuple[str, str], str]:
    """Return the texts below fields in the classes of a module, by class and field; none where it has no source."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or not Path(file).is_file():
        return {}
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    return {(node.name, name): text for node in tree.body if isinstance(node, ast.ClassDef)
            for name, text in _fields_with_text(node)}


def _fields_with_text(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Yield the fields of a class that have a text below them, with the text."""
    for statement, following in pairwise(node.body):
        if not (isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)):
            continue
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            yield statement.target.id, inspect.cleandoc(str(following.value.value))


UNWRITTEN = object()
"""Marks a field that is left out where it has its default. So the hash of a spec is that of what it asks for, and a new
key changes no hash of a spec without it; nor does a new table change a byte of results that have nothing in it."""


@cache
def default_of(model: type[BaseModel], name: str) -> Any:
    """Return the default of a field, to compare with: pydantic reads the signature of its factory each time."""
    return model.model_fields[name].get_default(call_default_factory=True)


@dataclass(frozen=True, slots=True)
class After:
    """Marks a chapter's field as placed after the ``field`` of this name; the fields below it in its class follow."""

    field: str


M = TypeVar("M", bound=BaseModel)


def order_fields(model: type[M]) -> type[M]:
    """Reorder a model's fields: those of chapters come after the fields that their `After` marks name.

    Pydantic puts inherited fields first. Chapters after the same field follow each other in their order.
    Raises ValueError where the model has no field of the name.
    """
    fields = model.model_fields
    core: list[str] = []
    groups: dict[str, list[list[str]]] = {}
    for kind in reversed(model.__mro__):
        group = core
        for name in inspect.get_annotations(kind):
            if name not in fields:
                continue
            mark = next((mark for mark in fields[name].metadata if isinstance(mark, After)), None)
            if mark is not None:
                group = []
                groups.setdefault(mark.field, []).append(group)
            group.append(name)
    ordered: list[str] = []

    def append_with_followers(name: str) -> None:
        ordered.append(name)
        for group in groups.pop(name, ()):
            for following in group:
                append_with_followers(following)

    for name in dict.fromkeys(core):
        append_with_followers(name)
    if groups:
        raise ValueError(f"{model.__name__} has no field {next(iter(groups))!r} after which others could stand")
    in_their_order = {name: fields[name] for name in ordered}
    fields.clear()
    fields.update(in_their_order)
    return model


Status = Literal["ok", "undefined", "degenerate", "insufficient"]
Scalar = str | bool | int | float
Slice = dict[str, Scalar]


class Record(Documented):
    """A frozen row of a table of results."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, defer_build=True)

    absent: ClassVar[tuple[str, ...]] = ()
    """The fields that a row is written without where they are None."""
    has_tables: ClassVar[bool] = False
    """Whether its lists are tables of the results, such as "desirability.overall", where it is a field of these."""


class SparseRecord(Record):
    """A row of which some fields are left out where they are None."""

    @model_serializer(mode="wrap")
    def _present(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write the record without those of the fields ``absent`` that are None."""
        return {key: item for key, item in handler(self).items() if key not in self.absent or item is not None}


class DescribedRow(SparseRecord):
    """A row with fields left out, whose JSON Schema has its fields all the same."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return the JSON Schema of the fields, of which the serializer tells nothing."""
        fields: Any = {key: part for key, part in schema.items() if key != "serialization"}
        return super().__get_pydantic_json_schema__(fields, handler)


class OfModel(Record):
    """What is of a model, or of a variant of it, on a dataset."""

    dataset: str
    model: str
    variant: str = "original"


class Measured(OfModel):
    """What was measured, of what, and where."""

    slice: Slice | None = None
    metric: str
    params: dict[str, Scalar]
    average: str | None = None
    class_: str | None = Field(default=None, alias="class")

    @property
    def about(self) -> tuple[object, ...]:
        """A hashable key of what was measured and where: dataset, model, slice, metric, options, class."""
        labels = None if self.slice is None else tuple(sorted(self.slice.items()))
        return (self.dataset, self.model, self.variant, labels, self.metric, tuple(sorted(self.params.items())),
                self.average, self.class_)


class Subject(DescribedRow):
    """One number of a dataset, a model, a variant of it, a slice and a class, as a gate is on it; or a check."""

    absent: ClassVar[tuple[str, ...]] = ("check",)

    metric: str | None
    """The measure; null where desirability is judged, or a check."""
    desirability: str | None = None
    """overall, or the name of a goal; null where a measure is judged, or a check."""
    check: str | None = None
    """The code of a check, which is of the whole run: dataset and model are empty then. Absent of any other gate."""
    params: dict[str, Scalar] = Field(default_factory=dict)
    average: str | None = None
    class_: str | None = Field(default=None, alias="class")
    dataset: str
    model: str
    variant: str = "original"
    slice: Slice | None = None

    @classmethod
    def of(cls, row: Measured) -> Subject:
        """Return what a row of measures is about: measure, class, dataset, model, variant and slice."""
        return cls(
            metric=row.metric, params=row.params, average=row.average, class_=row.class_, dataset=row.dataset,
            model=row.model, variant=row.variant, slice=row.slice,
        )

    @property
    def key(self) -> tuple[object, ...]:
        """A hashable key of the number or check, the same in whatever order its options and slice labels stand."""
        labels = None if self.slice is None else tuple(sorted(self.slice.items()))
        options = tuple(sorted(self.params.items()))
        return (self.metric, self.desirability, self.check, options, self.average, self.class_, self.dataset,
                self.model, self.variant, labels)
