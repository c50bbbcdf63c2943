"""The building blocks of the spec's models: names, numbers, and mappings that refuse unknown keys."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeGuard

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    Tag,
    model_serializer,
)
from pydantic_core import PydanticCustomError, core_schema

from evalpipe.base.colours import COLOUR
from evalpipe.base.constants import LARGEST, SMALLEST
from evalpipe.base.records import UNWRITTEN, Documented
from evalpipe.metrics.grammar import IDENTIFIER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler

    from evalpipe.tasks import Task

NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"
UNSEEN = (r"\x00-\x1f\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufe00-\ufe0f\ufeff"
          r"\ufff9-\uffff")
"""Characters, within brackets of a pattern, that cannot be told from others by eye: controls, line breaks, spaces other
than the usual one, marks without width."""
KEY = rf"^[^ \-=@+{UNSEEN}]([^+{UNSEEN}]*[^ +{UNSEEN}])?$"
"""A pattern without look-around and classes of letters, so that it means the same in Python, Rust and JSON Schema."""
DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
DAYS = r"^[1-9][0-9]{0,3}d$"
MEMORY = r"^[0-9]{1,6}(\.[0-9]{1,3})? ?([KMGT]i?B)$"
ADDRESS = r"^(local|tcp://[^\s/]+:[0-9]+)$"
ENCODING = r"^[A-Za-z0-9][A-Za-z0-9_.:-]*$"
MAX_NAME = 100
MAX_SHOWN = 200
RULES = {
    NAME: "a name of letters, digits, '-', '_' and '.' that begins with a letter or a digit",
    KEY: "a name",
    IDENTIFIER: "a name of letters, digits and '_' that begins with a letter",
    DAY: "a day, as in 2026-11-21",
    DAYS: "a number of days, as in 45d",
    MEMORY: "a size of memory, as in 2GB or 512 MiB",
    ADDRESS: "local or the address of a scheduler, as in tcp://10.0.0.5:8786",
    ENCODING: "the name of an encoding, as in cp1252, latin-1 or utf-16",
    COLOUR: 'a colour, as in "#1f5fa8"',
}
"""What each pattern means, in words."""


def is_extreme(number: float) -> bool:
    """Tell whether a number is too large or too small to compute with: the data may not have such numbers either."""
    return number != 0 and not SMALLEST <= abs(number) <= LARGEST


def _computable(number: float) -> float:
    """Refuse a number that is too large or too small to compute with."""
    if is_extreme(number):
        raise PydanticCustomError("extreme_number", "too large or too small to compute with")
    return number


COMPUTABLE = AfterValidator(_computable)
"""Marks a number that is computed with."""

Positive = Annotated[StrictFloat, Field(gt=0, allow_inf_nan=False), COMPUTABLE]
"""A finite number above 0."""

Number = Annotated[StrictFloat, Field(allow_inf_nan=False), COMPUTABLE] | Annotated[StrictInt, COMPUTABLE]
"""An integer or a finite float, never a boolean or a string."""

Probability = Annotated[StrictFloat, Field(ge=0, le=1)]
"""A number from 0 to 1."""

Shown = Annotated[StrictStr, Field(max_length=MAX_SHOWN)]
"""A text that stands on the card in tables and figures."""

Level = Shown | StrictBool | StrictInt | Annotated[StrictFloat, Field(allow_inf_nan=False)]
"""One value of the outcome: a text, true or false, or a number, as it is in the data, however it is stored there."""


def _checked(is_valid: Callable[[str], bool]) -> AfterValidator:
    """Return a pydantic validator that refuses texts for which ``is_valid`` is false."""
    def refuse(text: str) -> str:
        if not is_valid(text):
            raise PydanticCustomError("wrong_text", "not a text of this form")
        return text

    return AfterValidator(refuse)


def is_day(text: str) -> bool:
    """Tell whether a text is a day of the calendar, such as 2026-11-21."""
    try:
        date.fromisoformat(text if re.fullmatch(DAY, text) else "")
    except ValueError:
        return False
    return True


Day = Annotated[StrictStr, _checked(is_day), Field(json_schema_extra={"pattern": DAY})]
"""A day, such as 2026-11-21."""

Days = Annotated[
    StrictStr, _checked(lambda text: re.fullmatch(DAYS, text) is not None), Field(json_schema_extra={"pattern": DAYS})]
"""A number of days, such as 45d."""

Memory = Annotated[
    StrictStr, _checked(lambda text: re.fullmatch(MEMORY, text) is not None),
    Field(json_schema_extra={"pattern": MEMORY})]
"""A size of memory, such as 2GB."""

Address = Annotated[
    StrictStr, _checked(lambda text: re.fullmatch(ADDRESS, text) is not None),
    Field(json_schema_extra={"pattern": ADDRESS})]
"""Where the scheduler of a cluster listens, such as tcp://10.0.0.5:8786; local for one that is started here."""

_NOT_OF_FILES = {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"}


def is_encoding(text: str) -> bool:
    """Tell whether files of text may be in an encoding of this name, which Python has."""
    try:
        # Codecs such as base64 turn bytes into bytes, and refuse to encode a text.
        return (re.fullmatch(ENCODING, text) is not None and "a\n".encode(text).decode(text) == "a\n"
                and codecs.lookup(text).name.replace("_", "-") not in _NOT_OF_FILES)
    except (LookupError, UnicodeError):
        return False


Encoding = Annotated[StrictStr, _checked(is_encoding), Field(json_schema_extra={"pattern": ENCODING})]
"""The name of an encoding of text, such as cp1252."""

Name = Annotated[StrictStr, Field(pattern=NAME, max_length=MAX_NAME)]
"""Letters, digits, '-', '_' and '.'; begins with a letter or a digit."""


def is_number(value: object) -> TypeGuard[float]:
    """Tell whether a value is an integer or a float; true and false are none."""
    return type(value) in (int, float)


Identifier = Annotated[StrictStr, Field(pattern=IDENTIFIER, max_length=MAX_NAME)]
"""Letters, digits and '_'; begins with a letter: a name that can stand in an expression."""


def _composed(value: str) -> str:
    """Refuse a name that is not in Unicode's composed form (NFC): two names that look the same are then the same."""
    if not unicodedata.is_normalized("NFC", value):
        raise PydanticCustomError("name_not_composed", "not composed")
    return value


Key = Annotated[StrictStr, Field(pattern=KEY, max_length=MAX_NAME), AfterValidator(_composed)]
"""The name of a model, a dataset or a recalibrated variant: any text that can be seen, without '+', which stands
between a model and its variant. `evalpipe.spec.messages` says why a name is refused."""

ColumnName = Annotated[StrictStr, Field(min_length=1)]
"""The name of a column in the data."""


def _whole(value: object) -> object:
    """Refuse true and 1.0, which Python takes for 1."""
    if type(value) is not int:
        raise ValueError("not a whole number")
    return value


FilePath = Annotated[StrictStr, Field(min_length=1)]
"""A file, a folder or a glob, relative to the file it is written in."""

Version = Annotated[Literal[1], BeforeValidator(_whole)]
"""The version of the spec format."""


@dataclass(frozen=True, slots=True)
class Short:
    """Lets a mapping with one obvious key be written as that key's bare value."""

    key: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Return the core schema that wraps a bare value into the mapping."""
        return core_schema.no_info_before_validator_function(
            lambda value: value if isinstance(value, dict | BaseModel) else {self.key: value}, handler(source)
        )

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Describe the bare value and the mapping as alternatives in the JSON Schema."""
        whole = handler(schema)
        bare = handler.resolve_ref_schema(whole)["properties"][self.key]
        return {"anyOf": [{k: v for k, v in bare.items() if k not in ("title", "description")}, whole]}


@dataclass(frozen=True, slots=True)
class OneOrMore:
    """Lets a list of a single entry be written as that entry."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Return the core schema that wraps a single entry into a list."""
        return core_schema.no_info_before_validator_function(
            lambda value: value if isinstance(value, list | tuple) else [value], handler(source)
        )

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Describe the single entry and the list as alternatives in the JSON Schema."""
        whole = handler(schema)
        return {"anyOf": [whole["items"], whole]}


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Describes forms that a discriminator tells apart, so that errors are of one form alone, as plain alternatives."""

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return the JSON Schema with "anyOf" in place of "oneOf"."""
        return {"anyOf" if key == "oneOf" else key: value for key, value in handler(schema).items()}


class Only:
    """Marks a key that outcomes of these tasks alone have."""

    def __init__(self, *tasks: Task) -> None:
        """Name the tasks whose outcomes have the key."""
        self.tasks = tasks


@dataclass(frozen=True, slots=True, init=False)
class IdleWithout:
    """Marks a key of the spec that is left out of the resolved spec while all of ``keys``, of the same part, are empty.

    ``keys`` is empty for a key that is left out while it is empty itself.
    """

    keys: tuple[str, ...]

    def __init__(self, *keys: str) -> None:
        """Mark a key that has an effect only with one of ``keys``, or, without any, only with a value."""
        object.__setattr__(self, "keys", keys)


LEFT_TO_RULES: Final = "left_to_rules"
"""The type of pydantic's error where the rules of a chapter say what is wrong."""

EMPTY_AS_ABSENT = object()
"""Marks a list that may be empty, which is as if it were not there."""


@dataclass(frozen=True, slots=True)
class Refers:
    """Marks a key that names something of the spec: by its value, by each item of a list, by each key of a mapping.

    ``hint`` makes the way out of the names that there are, where none is like the one that was written. The words are
    in `evalpipe.spec.rules`, which checks these marks.
    """

    to: Literal["model", "evaluated dataset", "measure", "level"]
    hint: Callable[[Sequence[str]], str | None] | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class OfRole:
    """Marks a key that names a dataset of a role.

    ``why`` says after the other role what is wrong with it, and ``otherwise`` what to do where no dataset has the role.
    """

    role: Literal["evaluate", "calibrate"]
    why: str
    otherwise: str


@dataclass(frozen=True, slots=True)
class EachLevel:
    """Marks a mapping by level, or a list of levels, that has every declared level and no other.

    In ``missing``, ``{}`` stands for the levels that it lacks.
    """

    missing: str
    hint: str


@dataclass(frozen=True, slots=True)
class Unique:
    """Marks a list that holds nothing twice; in ``message``, ``{}`` stands for what it does."""

    code: str
    message: str
    hint: str = "remove it"


@dataclass(frozen=True, slots=True)
class Renamed:
    """Marks a key some of whose values have new names, ``now`` by the former one: each is read, with a warning."""

    now: Mapping[str, str]

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Return the core schema that reads a former name of a value as its new name."""
        return core_schema.no_info_before_validator_function(
            lambda value: self.now.get(value, value) if isinstance(value, str) else value, handler(source))


@dataclass(frozen=True, slots=True)
class KeyRelation:
    """What a key has to do with ``others``: keys beside it, or of the whole spec where ``of_spec``.

    ``equal`` is the value that counts; any, where it is None. In ``message``, ``{name}`` stands for the name of the
    model or dataset. ``idle`` says that the key then changes nothing.
    """

    others: tuple[str, ...]
    code: str
    message: str
    hint: str = "remove it"
    equal: object = None
    of_spec: bool = False
    idle: bool = False


class Needs(KeyRelation):
    """Marks a key that means nothing without one of ``others``."""


class Excludes(KeyRelation):
    """Marks a key that goes with none of ``others``."""


class SpecPart(Documented):
    """A frozen mapping that refuses keys it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @model_serializer(mode="wrap")
    def _written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write the mapping by the names of its keys in a spec, without keys marked `UNWRITTEN` at their default."""
        fields = type(self).model_fields
        idle = {name for name, field in fields.items()
                if UNWRITTEN in field.metadata and getattr(self, name) == field.default}
        return {fields[key].alias or key if key in fields else key: item for key, item in handler(self).items()
                if key not in idle}


class Sparse(SpecPart):
    """A mapping that is written with the keys that it has, and without those that are None."""

    @model_serializer(mode="wrap")
    def _written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write the mapping without the keys that are None."""
        return {key: item for key, item in handler(self).items() if item is not None}


ProbabilityColumns = ColumnName | Annotated[dict[StrictStr, ColumnName], Field(min_length=1)]
"""A pattern with {level}, the column of each level, or without {level} the name of one column, which holds lists."""

Ledger = Annotated[
    Annotated[StrictBool, Tag("a flag")] | Annotated[FilePath, Tag("a place")],
    Discriminator(lambda value: "a place" if isinstance(value, str) else "a flag"),
    AnyOf(),
]
"""The path of a file or the URL of a database; true for the usual file, false for none."""

FilePaths = Annotated[
    Annotated[FilePath, Tag("a path")] | Annotated[dict[StrictStr, FilePath], Field(min_length=1), Tag("paths")],
    Discriminator(lambda value: "paths" if isinstance(value, Mapping) else "a path"),
    AnyOf(),
]
"""One path, or a mapping of dataset to path."""
