"""Sentences that results hold as a code with its numbers, so that a changed word changes no byte of them.

To people a `Sentence` is a text. `results.json` has its code and numbers, such as `{"code": "few-rows", "rows": 8,
"least": 30}`; the text is made of them by the template of that code in `evalpipe.words.reasons`.
"""

from __future__ import annotations

from string import Formatter
from typing import TYPE_CHECKING, Any, Self, cast

from evalpipe.words import numbers
from evalpipe.words.reasons import NEEDS, TEMPLATES
from evalpipe.words.spelling import quoted, some_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema

TEXT = "text"
"""The number of a sentence that is a text and no more, of a spec, a plugin or results of `schema_version` 1; and the
code of one that has no other."""

CASE = "case"
"""The number that tells one template of a code from its others."""


class Sentence(str):  # noqa: SLOT000 - what it is made of is read by few, so a dictionary costs nothing
    """A text with the ``code`` and the ``numbers`` that it is made of; other sentences may be among the numbers."""

    code: str
    numbers: Mapping[str, Any]

    def __new__(cls, code: str, numbers: Mapping[str, Any]) -> Self:
        """Make the sentence of a code and its numbers; without a template, as for a later version's, it lists them."""
        template = TEMPLATES.get(_template_name(code, numbers))
        if TEXT in numbers:
            text = str(numbers[TEXT])
        elif template is None:
            text = f"{code} ({', '.join(f'{name} = {value}' for name, value in numbers.items())})"
        else:
            text = _writer.vformat(template, (), numbers)
        written = super().__new__(cls, text)
        written.code, written.numbers = code, numbers
        return written

    def __getnewargs__(self) -> tuple[str, Mapping[str, Any]]:  # type: ignore[override]
        """Return the arguments from which a copy is made, also by pickle."""
        return self.code, self.numbers

    @classmethod
    def read(cls, value: object) -> Sentence:
        """Return a sentence from its code and numbers, or from a text; raises ValueError of anything else."""
        if isinstance(value, Sentence):
            return value
        if isinstance(value, str):
            return cls(TEXT, {TEXT: value})
        if not isinstance(value, dict) or not isinstance(value.get("code"), str):
            raise ValueError("neither a code with its numbers nor a text")  # noqa: TRY004 - pydantic tells of these
        parts = {name: _read_number(part) for name, part in value.items() if name != "code"}
        try:
            return cls(value["code"], parts)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise ValueError(f"'{value['code']}' lacks a number, or has another kind of it") from None

    @property
    def document(self) -> dict[str, Any]:
        """The code and the numbers, as `results.json` has them."""
        return {"code": self.code} | {name: _number_document(part) for name, part in self.numbers.items()}

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of a field that is a sentence: read by `read`, written as its `document`."""
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(
            cls.read, serialization=core_schema.plain_serializer_function_ser_schema(
                lambda value: cls.read(value).document))

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the JSON Schema of a sentence: an object with a code."""
        return {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"],
                "description": "A sentence, as its code and numbers."}


def sentence(code: str, **numbers: Any) -> Sentence:
    """Return the sentence of a code with its numbers; raises KeyError where it has no template or lacks a number."""
    if _template_name(code, numbers) not in TEMPLATES:
        raise KeyError(_template_name(code, numbers))
    return Sentence(code, numbers)


def in_words(document: Any) -> Any:
    """Return JSON values with the text of each sentence in place of its code and numbers."""
    if isinstance(document, dict):
        if isinstance(document.get("code"), str):
            return str(Sentence.read(document))
        return {key: in_words(part) for key, part in document.items()}
    return [in_words(part) for part in document] if isinstance(document, list) else document


def _template_name(code: str, numbers: Mapping[str, Any]) -> str:
    return f"{code}/{numbers[CASE]}" if CASE in numbers else code


def _read_number(part: object) -> object:
    """Return a number from JSON; an object with a code, also within a list, becomes a sentence."""
    if isinstance(part, list):
        return [_read_number(item) for item in part]
    return Sentence.read(part) if isinstance(part, dict) and "code" in part else part


def _number_document(part: object) -> object:
    """Return a number for JSON; a sentence, also within a list, becomes its code and numbers."""
    if isinstance(part, list | tuple):
        return [_number_document(item) for item in part]
    return part.document if isinstance(part, Sentence) else part


class _Writer(Formatter):
    """Fills in templates. Beside Python's own formats, one may name a writer of `_WRITERS`, or choose words.

    `{rows:# row|rows}` is "1 row" or "1,200 rows", and `{rows:is|are}` the verb alone. `{day:as of %|before}` has the
    value in place of the mark, and the other words, or none, where it is null.
    """

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return one number as text, by a format of Python, a writer of `_WRITERS`, or a choice of words."""
        if "%" in format_spec:
            present, _, absent = format_spec.partition("|")
            return absent if value is None else present.replace("%", str(value))
        if "|" in format_spec:
            singular, _, plural = format_spec.removeprefix("# ").partition("|")
            word = singular if value == 1 else plural
            return f"{value:,} {word}" if format_spec.startswith("# ") else word
        write = _WRITERS.get(format_spec)
        return cast("str", super().format_field(value, format_spec)) if write is None else write(value)


def _needs(measures: Mapping[str, list[str]]) -> str:
    """Write what a model lacks, and for which measures."""
    return "; ".join(f"{NEEDS[need]} for {', '.join(names)}" for need, names in measures.items())


_WRITERS: Mapping[str, Callable[[Any], str]] = {
    "number": numbers.number, "plain": numbers.plain, "bytes": numbers.bytes_text,
    "percent": lambda share: f"{100 * share:.10g}%", "bounds": lambda ends: numbers.bounds(*ends),
    "quoted": quoted, "need": NEEDS.__getitem__, "needs": _needs,
    "some": some_of, "list": ", ".join, "semicolons": "; ".join,
    "named": lambda names: ", ".join(f"'{name}'" for name in names),
    "represented": lambda names: ", ".join(map(repr, names)),
    "lacks": lambda counts: ", ".join(f"'{name}' lacks {count:,}" for name, count in counts.items()),
}

_writer = _Writer()
