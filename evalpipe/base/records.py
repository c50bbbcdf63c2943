"""What every table of results is made of: frozen records whose fields are documented by the text below each.

The texts are read from the source when a JSON Schema is made; pydantic reads them as each class is defined, which
took half of the time to import the records of results.
"""

from __future__ import annotations

import ast
import inspect
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

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
        """Add the texts to a schema."""
        written = handler(schema)
        properties = handler.resolve_ref_schema(written).get("properties", {})
        for name, field in cls.model_fields.items():
            part, text = properties.get(field.alias or name), _text(cls, name)
            if part is not None and text is not None:
                part.setdefault("description", text)
        return written


def _text(model: type[BaseModel], field: str) -> str | None:
    """Return the text below a field where it was declared last; None where there is none."""
    declared = next(kind for kind in model.__mro__ if field in inspect.get_annotations(kind))
    return _texts(declared.__module__).get((declared.__qualname__, field))


@cache
def _texts(module: str) -> dict[tuple[str, str], str]:
    """Return the texts below fields in the classes of a module, by class and field; none where it has no source."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or not Path(file).is_file():
        return {}
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    return {(node.name, name): text for node in tree.body if isinstance(node, ast.ClassDef)
            for name, text in _below(node)}


def _below(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Yield the fields of a class that have a text below them, with the text."""
    for statement, following in pairwise(node.body):
        if not (isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)):
            continue
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            yield statement.target.id, inspect.cleandoc(str(following.value.value))


Status = Literal["ok", "undefined", "degenerate", "insufficient"]
Scalar = str | bool | int | float
Slice = dict[str, Scalar]


class Record(Documented):
    """A frozen row of a table of results."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, defer_build=True)

    absent: ClassVar[tuple[str, ...]] = ()
    """The fields that a row is written without where they are None."""


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
        """What tells the number from others: where it was measured, and what."""
        return (self.dataset, self.model, self.variant, self.slice, self.metric, self.params, self.average,
                self.class_)
