"""A JSON Schema in words: which keys stand at a place and what a value there may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalpipe.spec.kinds import RULES
from evalpipe.words.spelling import joined, listed, quoted

if TYPE_CHECKING:
    from evalpipe.base.origin import Loc

Schema = dict[str, Any]

_LONG = 1e15
"""From here on a number has more digits than a float holds, so it is written with its power of ten."""

SHORT_LIST = 16
"""How long a text may be that a hint repeats."""


@dataclass(frozen=True, slots=True)
class Shapes:
    """The schemas that a value may meet, null left out; ``root`` holds the definitions they refer to."""

    root: Schema
    schemas: tuple[Schema, ...]

    @classmethod
    def of(cls, root: Schema) -> Shapes:
        """Begin at the root of a schema."""
        return cls(root, tuple(_alternatives(root, root)))

    def at(self, loc: Loc) -> Shapes:
        """Go to a location, as far as the schema knows it."""
        here = self
        for part in loc:
            here = Shapes(self.root, tuple(s for schema in here.schemas for s in here._step(schema, part)))
        return here

    def _step(self, schema: Schema, part: str | int) -> list[Schema]:
        if isinstance(part, int):
            below = schema.get("items")
        elif part in schema.get("properties", {}):
            below = schema["properties"][part]
        else:
            below = next(iter(schema.get("patternProperties", {}).values()), schema.get("additionalProperties"))
        return _alternatives(below, self.root) if isinstance(below, dict) else []

    @property
    def keys(self) -> dict[str, Schema]:
        """The keys that a mapping here may have."""
        return {key: item for schema in self.schemas for key, item in schema.get("properties", {}).items()}

    @property
    def choices(self) -> list[object]:
        """The values that may be chosen from here."""
        constants = [schema["const"] for schema in self.schemas if "const" in schema]
        return constants + [choice for schema in self.schemas for choice in schema.get("enum", ())]

    def takes(self, *types: str) -> bool:
        """Tell whether a value here may be of one of these JSON types."""
        return any(schema.get("type") in types for schema in self.schemas)

    @property
    def named(self) -> bool:
        """Whether a value here is a name, whose letters a pattern tells."""
        return any("pattern" in schema for schema in self.schemas)

    @property
    def longest(self) -> int:
        """The most characters of a text here."""
        return max(int(schema.get("maxLength", 0)) for schema in self.schemas)

    @property
    def words(self) -> str:
        """What a value here may be, in words."""
        phrases = list(dict.fromkeys(_phrase(schema) for schema in self.schemas))
        if "a number" in phrases and "a whole number" in phrases:
            phrases.remove("a whole number")
        return joined(phrases, "or")


def _alternatives(schema: Schema, root: Schema) -> list[Schema]:
    """Follow references and unions to the schemas behind them, leaving null out."""
    if "$ref" in schema:
        return _alternatives(root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root)
    if "anyOf" in schema:
        return [alternative for option in schema["anyOf"] for alternative in _alternatives(option, root)]
    return [] if schema.get("type") == "null" else [schema]


def _phrase(schema: Schema) -> str:
    if "const" in schema:
        return quoted(schema["const"])
    if "enum" in schema:
        return listed(schema["enum"])
    kind = schema.get("type")
    if kind in ("number", "integer"):
        return _range("a number" if kind == "number" else "a whole number", schema)
    if kind == "string":
        return RULES.get(schema.get("pattern", ""), "a text")
    if kind == "object":
        keys = list(schema.get("properties", ()))
        return f"a mapping with {listed(keys, 'and')}" if keys else "a mapping"
    return {"array": "a list", "boolean": "true or false"}.get(str(kind), "something else")


def _range(noun: str, schema: Schema) -> str:
    if "minimum" in schema and "maximum" in schema:
        return f"{noun} from {_plain(schema['minimum'])} to {_plain(schema['maximum'])}"
    words = {"minimum": "of {} or more", "exclusiveMinimum": "above {}", "maximum": "of {} or less",
             "exclusiveMaximum": "below {}"}
    limits = [phrase.format(_plain(schema[word])) for word, phrase in words.items() if word in schema]
    return f"{noun} {' and '.join(limits)}".strip()


def _plain(number: float) -> str:
    return f"{int(number):,}" if float(number).is_integer() and abs(number) < _LONG else f"{number:g}"
