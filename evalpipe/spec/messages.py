"""What is wrong with a key or a value, in words: names that are refused, the schema in words, Pydantic's errors."""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass, replace
from encodings.aliases import aliases
from functools import partial
from typing import TYPE_CHECKING, Any

from evalpipe.base.colours import COLOUR
from evalpipe.base.constants import LARGEST, SMALLEST
from evalpipe.metrics import registry
from evalpipe.metrics.grammar import IDENTIFIER
from evalpipe.spec.datasets import is_query
from evalpipe.spec.field_types import (
    DAY,
    ENCODING,
    LEFT_TO_RULES,
    MAX_NAME,
    NAME,
    RULES,
    UNSEEN,
    is_day,
    is_encoding,
    is_extreme,
    is_number,
)
from evalpipe.spec.measures import NOT_A_MEASURE, NOT_A_NAME, UNNAMED, MeasureExpression
from evalpipe.spec.yaml import resolve
from evalpipe.tasks import meant_task
from evalpipe.words.spelling import closest, joined, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pydantic import ValidationError

    from evalpipe.base.origin import Loc
    from evalpipe.errors import Problem
    from evalpipe.spec.tree import Tree


_UNSEEN = re.compile(f"[{UNSEEN}]")
_SIGNS = {"-": "which the command line reads as an option", "=": "which spreadsheets read as a formula",
          "@": "which spreadsheets read as a formula"}
"""What a name does not begin with, and why."""


LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u0410\u0412\u0415\u041a\u041c\u041d\u041e"
    "\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1"
    "\u03a4\u03a5\u03a7\u03bf\u03bd",
    "aeopcyxijsdhABEKMHOPCTYXIJSABEZHIKMNOPTYXov")
"""Letters of the Cyrillic and the Greek alphabet that look like Latin ones, by these (Unicode TS 39)."""


def is_key(name: object) -> bool:
    """Tell whether a value is the name that a model, a dataset or a recalibrated variant may have."""
    return isinstance(name, str) and _fault(name, quoted(name)) is None


def bad_key(name: str, shown: str) -> tuple[str, str | None]:
    """Return what is wrong with the name of a model, dataset or variant, ``shown`` so, and what to write instead."""
    fixed = unicodedata.normalize("NFC", _UNSEEN.sub(" ", name).replace("+", "_"))
    fixed = fixed.lstrip(" -=@")[:MAX_NAME].rstrip()
    message = _fault(name, shown)
    assert message is not None  # noqa: S101 - the pattern and the faults are of the same names
    if message == _decomposed(shown):
        return message, f"write it in the composed form: unicodedata.normalize('NFC', {quoted(name)})"
    return message, f"write '{fixed}'" if is_key(fixed) else None


def alike(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each name that is made of other letters than one before it and looks the same, with that one."""
    seen: dict[str, str] = {}
    for name in names:
        first = seen.setdefault(unicodedata.normalize("NFKC", name).translate(LOOKALIKES), name)
        if first != name:
            yield name, first


def odd_letter(name: str, other: str) -> str:
    """Say which is the first letter of a name that is not that of another, which looks the same."""
    place = next(place for place, pair in enumerate(zip(name, other, strict=False)) if len({*pair}) > 1)
    mine, theirs = (unicodedata.name(text[place], "unknown") for text in (name, other))
    return f"letter {place + 1} is {mine}, there {theirs}"


def bad_plain_name(name: str, shown: str) -> tuple[str, str | None]:
    """Return what is wrong with the name of an evaluation or of a condition, and what to write instead."""
    fixed = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("_.-")[:MAX_NAME]
    message = _too_long_name(shown) if len(name) > MAX_NAME else f"{shown} is not {RULES[NAME]}"
    return message, f"write '{fixed}'" if fixed else None


def bad_identifier(name: str, shown: str) -> tuple[str, str | None]:
    """Return what is wrong with a name that stands in expressions, and what to write instead."""
    fixed = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_").lstrip("0123456789_")[:MAX_NAME]
    message = _too_long_name(shown) if len(name) > MAX_NAME else f"{shown} is not {RULES[IDENTIFIER]}"
    return message, f"write '{fixed}'" if fixed else None


def _fault(name: str, shown: str) -> str | None:
    """Say what is wrong with the name of a model, a dataset or a variant; None where nothing is."""
    unseen = _UNSEEN.search(name)
    faults = (
        (not name, "a name must not be empty"),
        (len(name) > MAX_NAME, _too_long_name(shown)),
        (unseen is not None, f"the name {shown} holds {_described(unseen[0]) if unseen else ''}"),
        ("+" in name, f"the name {shown} holds '+', which stands between a model and its recalibrated variant"),
        (name.strip(" ") != name, f"the name {shown} begins or ends with a space"),
        (name[:1] in _SIGNS, f"the name {shown} begins with '{name[:1]}', {_SIGNS.get(name[:1])}"),
        (not unicodedata.is_normalized("NFC", name), _decomposed(shown)),
    )
    return next((refusal for wrong, refusal in faults if wrong), None)


def _too_long_name(shown: str) -> str:
    return f"the name {shown} is longer than {MAX_NAME} characters"


def _decomposed(shown: str) -> str:
    return (f"the name {shown} is not in Unicode's composed form (NFC), so that it differs from a name that looks the "
            "same")


def _described(character: str) -> str:
    if character in "\n\r\u2028\u2029\x85\v\f":
        return "a line break"
    if character == "\t":
        return "a tab"
    code = f"U+{ord(character):04X}"
    kind = unicodedata.category(character)
    return f"the space {code}, which looks like the usual one" if kind == "Zs" else (
        f"the character {code}, which cannot be seen")


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


_CODES = {
    "literal_error": "unknown-choice",
    "string_pattern_mismatch": "empty-value",
    "string_too_short": "empty-value",
    "string_too_long": "too-long",
    "too_short": "empty-value",
    "greater_than": "out-of-range",
    "greater_than_equal": "out-of-range",
    "less_than": "out-of-range",
    "less_than_equal": "out-of-range",
    "finite_number": "out-of-range",
    "extreme_number": "out-of-range",
}
_OF_NAMES = {"string_pattern_mismatch", "string_too_long", "name_not_composed"}
_PERCENT = 100


def explain(error: ValidationError, tree: Tree, schema: Schema, prefix: Loc = ()) -> list[Problem]:
    """Translate a validation error of the data at ``prefix``, which ``schema`` describes; one problem for each place.

    What the rules of a chapter say is passed over.
    """
    explainer = _Explainer(tree, Shapes.of(schema), prefix)
    problems: dict[tuple[Loc, str], Problem] = {}
    for detail in error.errors(include_url=False, include_context=False, include_input=False):
        raw: Loc = (*prefix, *detail["loc"])
        loc = existing(raw, tree)
        if tree.hidden(loc) or detail["type"] == LEFT_TO_RULES:
            continue
        problem: Problem | None
        if detail["type"] == "options_disagree":
            problem = tree.problem("options-disagree", detail["msg"], *loc, hint="change one of them")
        elif detail["type"] in (UNNAMED, NOT_A_NAME, NOT_A_MEASURE):
            problem = _no_measure(tree, loc, detail["type"])
        else:
            problem = explainer.one(detail["type"], loc, raw[-1] if raw else "")
        if problem is not None:
            # A value may break each form of a union, at one place: the first error tells it.
            problems.setdefault((loc, str(raw[-1]) if detail["type"] == "missing" else ""), problem)
    return list(problems.values())


def _no_measure(tree: Tree, loc: Loc, kind: str) -> Problem | None:
    """Report that no measure can be read at ``loc``; None where its name could not be read, which is reported."""
    value = tree.get(*loc)
    if kind == UNNAMED:
        return _unnamed(tree, loc, value)
    named = (*loc, "metric") if isinstance(value, dict) else loc
    if tree.hidden(named):
        return None
    form = "the name of a metric" if kind == NOT_A_NAME else (
        "the name of a metric, or a mapping with 'metric' and its options")
    names = isinstance(value, list) and any(isinstance(item, str) for item in value)
    hint = "write each metric as an entry of its own" if names and kind == NOT_A_MEASURE else None
    return tree.problem("wrong-type", f"expected {form}, got {tree.spell(*named)}", *named, hint=hint)


def _unnamed(tree: Tree, loc: Loc, value: Mapping[str, object]) -> Problem:
    """Report an entry without the key 'metric'; often the name itself was taken for a key."""
    name = next(iter(value), "")
    if name in registry and len(value) == 1:
        inner = value[name]
        options = list(inner) if isinstance(inner, dict) else []
        form = ", ".join([f"metric: {name}", *(f"{option}: …" for option in options)])
        return tree.problem("missing-key", "missing key 'metric'", *loc, name, key=True, hint=f"write {{{form}}}")
    return missing_key(tree, Shapes(root={}, schemas=()), loc, "metric")


@dataclass(frozen=True, slots=True)
class _Explainer:
    """Translates single errors; ``root`` is the shape of the value at ``prefix``."""

    tree: Tree
    root: Shapes
    prefix: Loc

    def shapes(self, loc: Loc) -> Shapes:
        """Return what a value at ``loc`` may be; of the two forms of a dataset, the one that is meant."""
        shapes, written = self.root.at(loc[len(self.prefix) :]), self.tree.get(*loc)
        if loc[:1] != ("datasets",) or len(loc) != len(("datasets", "name")):
            return shapes
        own = "sql" if is_query(written) else "path"
        return replace(shapes, schemas=tuple(form for form in shapes.schemas if own in form.get("properties", ())))

    def one(self, kind: str, loc: Loc, last: str | int) -> Problem | None:
        """Translate an error of pydantic's ``kind`` at ``loc``; None where another problem tells the same."""
        if kind == "missing":
            return None if self._misspelt(loc, str(last)) else missing_key(self.tree, self.shapes(loc), loc, str(last))
        if kind == "extra_forbidden":
            return self._unknown(loc)
        if last == "[key]":
            return bad_name(self.tree, loc, key=True)
        if kind in _OF_NAMES and self.tree.get(*loc) != "" and self.shapes(loc).named:
            return bad_name(self.tree, loc)
        if kind == "too_short" and self.tree.get(*loc):
            return None
        code = _CODES.get(kind, "wrong-type")
        return (_too_long if code == "too-long" else partial(_value, code))(self.tree, self.shapes(loc), loc)

    def _unknown(self, loc: Loc) -> Problem:
        """Report a key that its mapping does not have; an entry of the metrics that has it wrong is an expression."""
        if loc[:1] != ("metrics",) or len(loc) != len(("metrics", 0, "key")):
            return unknown_key(self.tree, list(self.shapes(loc[:-1]).keys), loc)
        if loc[-1] in ("average", "prevalence"):
            message = f"an expression has no '{loc[-1]}'"
            hint = "give it to the measures of the expression, under 'of'"
            return self.tree.problem("unknown-key", message, *loc, key=True, hint=hint)
        return unknown_key(self.tree, list(MeasureExpression.model_fields), loc)

    def _misspelt(self, loc: Loc, name: str) -> bool:
        """Tell whether a key stands at ``loc`` that is reported as a misspelling of ``name``."""
        value, known = self.tree.get(*loc), list(self.shapes(loc).keys)
        written = list(value) if isinstance(value, dict) else []
        free = [key for key in known if key not in written]
        return any(key not in known and closest(key, free) == name for key in written)


def existing(raw: Loc, tree: Tree) -> Loc:
    """Keep of pydantic's location what was written: it also names branches of unions and wrapped keys."""
    loc: Loc = ()
    for part in raw:
        value = tree.get(*loc)
        inside = part in value if isinstance(value, dict) else isinstance(value, list) and isinstance(part, int)
        loc = (*loc, part) if inside else loc
    return loc


def missing_key(tree: Tree, shapes: Shapes, loc: Loc, name: str) -> Problem:
    """Report a required key that is absent, with what it is for."""
    about = " ".join(str(shapes.keys.get(name, {}).get("description", "")).split()).split(". ")[0].rstrip(".")
    notes = (f"{name}: {about[:1].lower()}{about[1:]}",) if about else ()
    fixed = shapes.keys.get(name, {}).get("const", "…")
    hint = f"add '{name}: {fixed}' here"
    return tree.problem("missing-key", f"missing key '{name}'", *loc, key=True, hint=hint, notes=notes)


def unknown_key(tree: Tree, known: list[str], loc: Loc, notes: tuple[str, ...] = ()) -> Problem:
    """Report a key that cannot stand where it does, with the one that was probably meant."""
    name = str(loc[-1])
    used = tree.get(*loc[:-1])
    free = [key for key in known if key not in used] if isinstance(used, dict) else known
    guess = closest(name, free) or closest(name, known)
    others = f"the keys here are {listed(known, 'and')}" if known else "remove it"
    hint = f"did you mean '{guess}'?" if guess else others
    return tree.problem("unknown-key", f"unknown key {quoted(name)}", *loc, key=True, hint=hint, notes=notes)


def bad_name(tree: Tree, loc: Loc, *, key: bool = False) -> Problem:
    """Report a name with characters that names may not hold."""
    name = str(loc[-1] if key else tree.get(*loc))
    shown = quoted(name) if key else tree.show(*loc)
    narrow = not key and loc[:1] in (("name",), ("slices",))
    refusal = bad_identifier if loc[:1] == ("metrics",) else bad_plain_name if narrow else bad_key
    message, hint = refusal(name, shown)
    return tree.problem("bad-name", message, *loc, key=key, hint=None if tree.secret(*loc) and not key else hint)


def _too_long(tree: Tree, shapes: Shapes, loc: Loc) -> Problem:
    """Report a text that is longer than there is room for."""
    message = f"this text has {len(str(tree.get(*loc))):,} characters; at most {shapes.longest:,} are allowed"
    return tree.problem("too-long", message, *loc, hint="shorten it")


def _value(code: str, tree: Tree, shapes: Shapes, loc: Loc) -> Problem:
    """Report a value that its key does not take."""
    value = tree.get(*loc)
    if code == "empty-value":
        noun = "text" if isinstance(value, str) else "list" if isinstance(value, list) else "mapping"
        hint = "fill it in" if noun == "text" else "name at least one"
        return tree.problem(code, f"this {noun} must not be empty", *loc, hint=hint)
    if loc == ("evalpipe",):
        message = f"expected {shapes.words}, the version of the spec format, got {tree.spell(*loc)}"
        return tree.problem(code, message, *loc)
    # A number among words is of another type; among them it has no misspelling to guess.
    if code == "unknown-choice" and not any(type(choice) is type(value) for choice in shapes.choices):
        code = "wrong-type"
    meant = meant_task(value) if loc == ("task",) else None
    guess = None if tree.secret(*loc) else meant or _hint(tree, shapes, loc) or _size_hint(value, shapes)
    return tree.problem(code, f"expected {shapes.words}, got {tree.spell(*loc)}", *loc, hint=guess)


def _hint(tree: Tree, shapes: Shapes, loc: Loc) -> str | None:
    """Guess what was meant by a value, where a guess can be checked."""
    value = tree.get(*loc)
    choices = [choice for choice in shapes.choices if isinstance(choice, str)]
    hint = None
    if isinstance(value, float) and not math.isfinite(value):
        hint = "a number must be finite"
    elif any(schema.get("pattern") == DAY for schema in shapes.schemas) and isinstance(value, str | int | float):
        hint = _day_hint(str(value))
    elif isinstance(value, str) and any(schema.get("pattern") == ENCODING for schema in shapes.schemas):
        guess = closest(value, ["latin-1", *sorted(filter(is_encoding, set(aliases.values())))])
        hint = f"did you mean '{guess.replace('_', '-')}'?" if guess else "Python knows no such encoding of text"
    elif isinstance(value, str) and choices:
        guess = closest(value, choices)
        hint = f"did you mean '{guess}'?" if guess else None
    elif shapes.takes("number", "integer"):
        hint = _number_hint(value, shapes)
    elif value is None and any(schema.get("pattern") == COLOUR for schema in shapes.schemas):
        hint = "put it in quotes: a # without them begins a comment"
    elif shapes.takes("string") and isinstance(value, bool | int | float):
        hint = f"put a text in quotes: '{tree.written(*loc)}'"
    elif shapes.takes("array") and isinstance(value, str):
        hint = f"write it as a list: [{value}]" if len(value) < SHORT_LIST else "write it as a list: [...]"
    elif shapes.takes("object") and not shapes.keys and isinstance(value, list):
        hint = "give each of them a name: {name: …}"
    return hint


def _size_hint(value: object, shapes: Shapes) -> str | None:
    """Tell which numbers can be computed with, where nothing else bounds them."""
    bounded = any("maximum" in schema or "exclusiveMaximum" in schema for schema in shapes.schemas)
    beyond = is_number(value) and is_extreme(value) and not bounded
    return f"numbers from {SMALLEST:g} to {LARGEST:g} in size can be computed with" if beyond else None


def _day_hint(value: str) -> str | None:
    """Guess the day that was meant by a text or number that is none."""
    digits = f"{value[:4]}-{value[4:6]}-{value[6:]}"
    if is_day(digits):
        return f"write {digits}"
    if is_day(value[:10]) and value[10:11] in ("T", "t", " "):
        return f"a day has no time: write {value[:10]}"
    return "the calendar has no such day" if re.fullmatch(DAY, value) else None


def _number_hint(value: object, shapes: Shapes) -> str | None:
    share = any(schema.get("maximum", schema.get("exclusiveMaximum")) == 1 for schema in shapes.schemas)
    if isinstance(value, str):
        percent = re.fullmatch(r"\s*([0-9.]+)\s*%\s*", value)
        if percent and share:
            return _fraction(percent[1])
        comma = re.fullmatch(r"-?[0-9]*,[0-9]+", value)
        if comma:
            return f"write {value.replace(',', '.')}"
        try:
            number = resolve(value)
        except OverflowError:
            return None
        return "remove the quotes" if is_number(number) else None
    if isinstance(value, float) and value.is_integer() and math.isfinite(value) and not shapes.takes("number"):
        return f"write {int(value)}"
    return _fraction(str(value)) if share and isinstance(value, int | float) and 2 <= value < _PERCENT else None


def _fraction(percent: str) -> str | None:
    try:
        return f"did you mean {float(percent) / _PERCENT:g}?"
    except ValueError:
        return None
