"""What is wrong with a key or a value, in words: names that are refused, the schema in words, Pydantic's errors."""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass, replace
from encodings.aliases import aliases
from typing import TYPE_CHECKING, Any

from evalpipe.base.colours import COLOUR
from evalpipe.base.constants import LARGEST, SMALLEST
from evalpipe.metrics import registry
from evalpipe.metrics.grammar import IDENTIFIER
from evalpipe.spec.datasets import LOG_KEYS, is_query
from evalpipe.spec.field_types import (
    DAY,
    DAYS,
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
from evalpipe.tasks import meant_task
from evalpipe.words.spelling import closest, joined, listed, quoted

if TYPE_CHECKING:
    from pydantic import ValidationError

    from evalpipe.base.origin import Loc
    from evalpipe.errors import Problem
    from evalpipe.spec.tree import Tree


_UNSEEN = re.compile(f"[{UNSEEN}]")
_BAD_STARTS = {"-": "which the command line reads as an option",
               "=": "which spreadsheets read as a formula",
               "@": "which spreadsheets read as a formula"}
"""What a name does not begin with, and why."""


def is_key(name: object) -> bool:
    """Tell whether a value is the name that a model, a dataset or a recalibrated variant may have."""
    return isinstance(name, str) and _name_fault(name, quoted(name)) is None


def bad_key(name: str, shown: str) -> tuple[str, str | None]:
    """Return what is wrong with the name of a model, dataset or variant, and a valid name to write instead.

    ``shown`` stands for the name in the message: in quotes, or as the spec has it.
    """
    valid = unicodedata.normalize("NFC", _UNSEEN.sub(" ", name).replace("+", "_"))
    valid = valid.lstrip(" -=@")[:MAX_NAME].rstrip()
    message = _name_fault(name, shown)
    assert message is not None  # noqa: S101 - what the pattern of a name refuses has a fault
    if message == _not_composed(shown):
        return message, f"write it in the composed form: unicodedata.normalize('NFC', {quoted(name)})"
    return message, f"write '{valid}'" if is_key(valid) else None


def bad_plain_name(name: str, shown: str) -> tuple[str, str | None]:
    """Return what is wrong with the name of an evaluation or of a condition, and what to write instead."""
    valid = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("_.-")[:MAX_NAME]
    message = _too_long_name(shown) if len(name) > MAX_NAME else f"{shown} is not {RULES[NAME]}"
    return message, f"write '{valid}'" if valid else None


def bad_identifier(name: str, shown: str) -> tuple[str, str | None]:
    """Return what is wrong with a name that stands in expressions, and what to write instead."""
    valid = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_").lstrip("0123456789_")[:MAX_NAME]
    message = _too_long_name(shown) if len(name) > MAX_NAME else f"{shown} is not {RULES[IDENTIFIER]}"
    return message, f"write '{valid}'" if valid else None


def _name_fault(name: str, shown: str) -> str | None:
    """Return the fault in the name of a model, a dataset or a variant; None for a valid name."""
    unseen = _UNSEEN.search(name)
    if not name:
        return "a name must not be empty"
    faults = (
        (len(name) > MAX_NAME, _too_long_name(shown)),
        (unseen is not None, f"the name {shown} holds {_unseen_in_words(unseen[0]) if unseen else ''}"),
        ("+" in name, f"the name {shown} holds '+', which stands between a model and its recalibrated variant"),
        (name.strip(" ") != name, f"the name {shown} begins or ends with a space"),
        (name[0] in _BAD_STARTS, f"the name {shown} begins with '{name[0]}', {_BAD_STARTS.get(name[0])}"),
        (not unicodedata.is_normalized("NFC", name), _not_composed(shown)),
    )
    return next((fault for wrong, fault in faults if wrong), None)


def _too_long_name(shown: str) -> str:
    return f"the name {shown} is longer than {MAX_NAME} characters"


def _not_composed(shown: str) -> str:
    return (f"the name {shown} is not in Unicode's composed form (NFC), so that it differs from a name that looks the "
            "same")


def _unseen_in_words(character: str) -> str:
    """Return a phrase for a character that cannot be seen, such as "a tab"."""
    if character in "\n\r\u2028\u2029\x85\v\f":
        return "a line break"
    if character == "\t":
        return "a tab"
    code = f"U+{ord(character):04X}"
    if unicodedata.category(character) == "Zs":
        return f"the space {code}, which looks like the usual one"
    return f"the character {code}, which cannot be seen"


Schema = dict[str, Any]

_LONG = 1e15
"""From here on a number has more digits than a float holds, so it is written with its power of ten."""

SHORT_LIST = 16
"""How long a text may be that a hint repeats."""


@dataclass(frozen=True, slots=True)
class Alternatives:
    """The schemas that a value may meet, null left out; ``root`` holds the definitions they refer to."""

    root: Schema
    schemas: tuple[Schema, ...]

    @classmethod
    def of(cls, root: Schema) -> Alternatives:
        """Return the alternatives at the root of a JSON Schema."""
        return cls(root, tuple(_alternatives(root, root)))

    def at(self, loc: Loc) -> Alternatives:
        """Return the schemas at a location within these; none where they do not describe it."""
        schemas = self.schemas
        for part in loc:
            schemas = tuple(inner for schema in schemas for inner in self._within(schema, part))
        return Alternatives(self.root, schemas)

    def _within(self, schema: Schema, part: str | int) -> list[Schema]:
        """Return the schemas of the value at ``part``, a key or an index, of what a schema describes."""
        if isinstance(part, int):
            inner = schema.get("items")
        elif part in schema.get("properties", {}):
            inner = schema["properties"][part]
        else:
            inner = next(iter(schema.get("patternProperties", {}).values()), schema.get("additionalProperties"))
        return _alternatives(inner, self.root) if isinstance(inner, dict) else []

    @property
    def keys(self) -> dict[str, Schema]:
        """The keys that a mapping here may have."""
        return {key: item for schema in self.schemas for key, item in schema.get("properties", {}).items()}

    @property
    def choices(self) -> list[object]:
        """The values that may be chosen from here."""
        constants = [schema["const"] for schema in self.schemas if "const" in schema]
        return constants + [choice for schema in self.schemas for choice in schema.get("enum", ())]

    @property
    def patterns(self) -> set[str]:
        """The regular expressions that texts here have to match."""
        return {schema["pattern"] for schema in self.schemas if "pattern" in schema}

    def accept(self, *types: str) -> bool:
        """Tell whether a value here may be of one of these JSON types."""
        return any(schema.get("type") in types for schema in self.schemas)

    @property
    def words(self) -> str:
        """The words for the values that are allowed here."""
        phrases = list(dict.fromkeys(_schema_in_words(schema) for schema in self.schemas))
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


def _schema_in_words(schema: Schema) -> str:
    """Return a phrase for the values that a JSON Schema allows, such as "a number of 0 or more"."""
    if "const" in schema:
        return quoted(schema["const"])
    if "enum" in schema:
        return listed(schema["enum"])
    kind = schema.get("type")
    if kind in ("number", "integer"):
        return _range_in_words("a number" if kind == "number" else "a whole number", schema)
    if kind == "string":
        return RULES.get(schema.get("pattern", ""), "a text")
    if kind == "object":
        keys = list(schema.get("properties", ()))
        return f"a mapping with {listed(keys, 'and')}" if keys else "a mapping"
    return {"array": "a list", "boolean": "true or false"}.get(str(kind), "something else")


def _range_in_words(noun: str, schema: Schema) -> str:
    if "minimum" in schema and "maximum" in schema:
        return f"{noun} from {_limit_as_text(schema['minimum'])} to {_limit_as_text(schema['maximum'])}"
    words = {"minimum": "of {} or more", "exclusiveMinimum": "above {}", "maximum": "of {} or less",
             "exclusiveMaximum": "below {}"}
    limits = [phrase.format(_limit_as_text(schema[word])) for word, phrase in words.items() if word in schema]
    return f"{noun} {' and '.join(limits)}".strip()


def _limit_as_text(number: float) -> str:
    return f"{int(number):,}" if float(number).is_integer() and abs(number) < _LONG else f"{number:g}"


_CODES = {
    "literal_error": "unknown-choice",
    "string_pattern_mismatch": "empty-value",
    "string_too_short": "empty-value",
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
    """Turn pydantic's errors about the data at ``prefix``, which ``schema`` describes, into problems, one a place.

    Errors that the rules of a chapter report themselves, and values that could not be read, are passed over.
    """
    explainer = _Explainer(tree, Alternatives.of(schema), prefix)
    problems: dict[tuple[Loc, str], Problem] = {}
    for detail in error.errors(include_url=False, include_context=False, include_input=False):
        kind, raw = detail["type"], (*prefix, *detail["loc"])
        loc = location_in_file(raw, tree)
        if tree.hidden(loc) or kind == LEFT_TO_RULES:
            continue
        problem: Problem | None
        if kind == "options_disagree":
            problem = tree.problem("options-disagree", detail["msg"], *loc, hint="change one of them")
        elif kind in (UNNAMED, NOT_A_NAME, NOT_A_MEASURE):
            problem = _no_measure(tree, loc, kind)
        else:
            problem = explainer.problem(kind, loc, raw[-1] if raw else "")
        if problem is not None:
            # A value may break each form of a union: the first error tells it. Several keys may be missing in one.
            problems.setdefault((loc, str(raw[-1]) if kind == "missing" else ""), problem)
    return list(problems.values())


def _no_measure(tree: Tree, loc: Loc, kind: str) -> Problem | None:
    """Return the problem that no measure can be read at ``loc``; None where its name has a problem already."""
    value = tree.get(*loc)
    if kind == UNNAMED:
        name = next(iter(value), "")
        if name not in registry or len(value) != 1:
            return missing_key(tree, loc, "metric")
        # The name of the metric was taken for a key.
        options = list(value[name]) if isinstance(value[name], dict) else []
        form = ", ".join([f"metric: {name}", *(f"{option}: …" for option in options)])
        return tree.problem("missing-key", "missing key 'metric'", *loc, name, key=True, hint=f"write {{{form}}}")
    named = (*loc, "metric") if isinstance(value, dict) else loc
    if tree.hidden(named):
        return None
    form = "the name of a metric" if kind == NOT_A_NAME else (
        "the name of a metric, or a mapping with 'metric' and its options")
    names = isinstance(value, list) and any(isinstance(item, str) for item in value)
    hint = "write each metric as an entry of its own" if names and kind == NOT_A_MEASURE else None
    return tree.problem("wrong-type", f"expected {form}, got {tree.spell(*named)}", *named, hint=hint)


@dataclass(frozen=True, slots=True)
class _Explainer:
    """Translates single errors; ``root`` is what the value at ``prefix`` may be."""

    tree: Tree
    root: Alternatives
    prefix: Loc

    def problem(self, kind: str, loc: Loc, last: str | int) -> Problem | None:
        """Return the problem of pydantic's error of a ``kind`` at ``loc``; None where another problem says the same.

        ``last`` ends pydantic's own location: the name of a missing key, or "[key]" where a key itself is wrong.
        """
        tree, value, allowed = self.tree, self.tree.get(*loc), self._allowed(loc)
        if (kind == "missing" and self._misspelt(loc, str(last))) or (kind == "too_short" and value):
            return None
        if kind == "missing":
            return missing_key(tree, loc, str(last), allowed.keys.get(str(last)))
        if kind == "extra_forbidden":
            return self._unknown_key(loc)
        if last == "[key]" or (kind in _OF_NAMES and value != "" and allowed.patterns):
            return bad_name(tree, loc, key=last == "[key]")
        if kind == "string_too_long":
            longest = max(int(schema.get("maxLength", 0)) for schema in allowed.schemas)
            message = f"this text has {len(str(value)):,} characters; at most {longest:,} are allowed"
            return tree.problem("too-long", message, *loc, hint="shorten it")
        return _wrong_value(tree, allowed, loc, _CODES.get(kind, "wrong-type"))

    def _allowed(self, loc: Loc) -> Alternatives:
        """Return the schemas allowed at ``loc``; of a dataset those of its form, with a query or with files."""
        allowed, written = self.root.at(loc[len(self.prefix) :]), self.tree.get(*loc)
        if loc[:1] != ("datasets",) or len(loc) != len(("datasets", "name")):
            return allowed
        logs = [key for key in LOG_KEYS if isinstance(written, dict) and key in written]
        source = "sql" if is_query(written) else logs[0] if logs else "path"
        return replace(allowed, schemas=tuple(form for form in allowed.schemas if source in form.get("properties", ())))

    def _unknown_key(self, loc: Loc) -> Problem:
        """Report a key that its mapping does not have; under `metrics` only an expression's entry refuses any."""
        if loc[:1] != ("metrics",) or len(loc) != len(("metrics", 0, "key")):
            return unknown_key(self.tree, list(self._allowed(loc[:-1]).keys), loc)
        if loc[-1] in ("average", "prevalence"):
            message = f"an expression has no '{loc[-1]}'"
            hint = "give it to the measures of the expression, under 'of'"
            return self.tree.problem("unknown-key", message, *loc, key=True, hint=hint)
        return unknown_key(self.tree, list(MeasureExpression.model_fields), loc)

    def _misspelt(self, loc: Loc, name: str) -> bool:
        """Tell whether the mapping at ``loc`` has a misspelling of ``name``, reported already, so it is not missing."""
        value, known = self.tree.get(*loc), list(self._allowed(loc).keys)
        written = list(value) if isinstance(value, dict) else []
        free = [key for key in known if key not in written]
        return any(key not in known and closest(key, free) == name for key in written)


def location_in_file(raw: Loc, tree: Tree) -> Loc:
    """Return pydantic's location without branches of unions and wrapped keys: the path in the file."""
    loc: Loc = ()
    for part in raw:
        value = tree.get(*loc)
        in_mapping = isinstance(value, dict) and part in value
        in_list = isinstance(value, list) and isinstance(part, int)
        loc = (*loc, part) if in_mapping or in_list else loc
    return loc


def missing_key(tree: Tree, loc: Loc, name: str, schema: Schema | None = None) -> Problem:
    """Report a required key that is absent, with what it is for by its ``schema``."""
    schema = schema or {}
    about = " ".join(str(schema.get("description", "")).split()).split(". ")[0].rstrip(".")
    notes = (f"{name}: {about[:1].lower()}{about[1:]}",) if about else ()
    hint = f"add '{name}: {schema.get('const', '…')}' here"
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
    """Report a name, of a ``key`` or a value at ``loc``, with characters that names may not hold."""
    name = str(loc[-1] if key else tree.get(*loc))
    shown = quoted(name) if key else tree.show(*loc)
    if loc[:1] == ("metrics",):
        message, hint = bad_identifier(name, shown)
    elif not key and loc[:1] in (("name",), ("slices",)):
        message, hint = bad_plain_name(name, shown)
    else:
        message, hint = bad_key(name, shown)
    return tree.problem("bad-name", message, *loc, key=key, hint=None if tree.secret(*loc) and not key else hint)


def _wrong_value(tree: Tree, allowed: Alternatives, loc: Loc, code: str) -> Problem:
    """Report a value that its key does not take."""
    value = tree.get(*loc)
    if code == "empty-value":
        noun = "text" if isinstance(value, str) else "list" if isinstance(value, list) else "mapping"
        hint = "fill it in" if noun == "text" else "name at least one"
        return tree.problem(code, f"this {noun} must not be empty", *loc, hint=hint)
    if loc == ("evalpipe",):
        message = f"expected {allowed.words}, the version of the spec format, got {tree.spell(*loc)}"
        return tree.problem(code, message, *loc)
    # A value of another type than all choices, such as a number, is no misspelling of one.
    if code == "unknown-choice" and not any(type(choice) is type(value) for choice in allowed.choices):
        code = "wrong-type"
    guess = None
    if not tree.secret(*loc):
        guess = (meant_task(value) if loc == ("task",) else None) or _meant_value(tree, allowed, loc)
        bounded = any("maximum" in schema or "exclusiveMaximum" in schema for schema in allowed.schemas)
        if guess is None and not bounded and is_number(value) and is_extreme(value):
            guess = f"numbers from {SMALLEST:g} to {LARGEST:g} in size can be computed with"
    return tree.problem(code, f"expected {allowed.words}, got {tree.spell(*loc)}", *loc, hint=guess)


def _meant_value(tree: Tree, allowed: Alternatives, loc: Loc) -> str | None:
    """Return a hint with the value that was probably meant, where a guess can be checked."""
    value = tree.get(*loc)
    choices = [choice for choice in allowed.choices if isinstance(choice, str)]
    hint = None
    if isinstance(value, float) and not math.isfinite(value):
        hint = "a number must be finite"
    elif {DAY, DAYS}.intersection(allowed.patterns) and isinstance(value, str | int | float):
        hint = (_meant_day if DAY in allowed.patterns else _meant_days)(str(value))
    elif ENCODING in allowed.patterns and isinstance(value, str):
        guess = closest(value, ["latin-1", *sorted(filter(is_encoding, set(aliases.values())))])
        hint = f"did you mean '{guess.replace('_', '-')}'?" if guess else "Python knows no such encoding of text"
    elif isinstance(value, str) and choices:
        guess = closest(value, choices)
        hint = f"did you mean '{guess}'?" if guess else None
    elif allowed.accept("number", "integer"):
        hint = _meant_number(value, allowed)
    elif value is None and COLOUR in allowed.patterns:
        hint = "put it in quotes: a # without them begins a comment"
    elif allowed.accept("string") and isinstance(value, bool | int | float):
        hint = f"put a text in quotes: '{tree.written(*loc)}'"
    elif allowed.accept("array") and isinstance(value, str):
        hint = f"write it as a list: [{value}]" if len(value) < SHORT_LIST else "write it as a list: [...]"
    elif allowed.accept("object") and not allowed.keys and isinstance(value, list):
        hint = "give each of them a name: {name: …}"
    return hint


def _meant_day(value: str) -> str | None:
    """Guess the day that was meant by a text or number that is none."""
    digits = f"{value[:4]}-{value[4:6]}-{value[6:]}"
    if is_day(digits):
        return f"write {digits}"
    if is_day(value[:10]) and value[10:11] in ("T", "t", " "):
        return f"a day has no time: write {value[:10]}"
    return "the calendar has no such day" if re.fullmatch(DAY, value) else None


def _meant_days(value: str) -> str | None:
    """Guess the number of days that was meant by a text or number that is none."""
    written = re.fullmatch(r"0*([1-9][0-9]{0,3}) ?(d|days?|w|weeks?)?", value)
    if written is None:
        return None
    return f"write {int(written[1]) * (7 if (written[2] or '').startswith('w') else 1)}d"


def _meant_number(value: object, allowed: Alternatives) -> str | None:
    """Guess the number that was meant: a percentage as a share, one with a decimal comma, one in quotes."""
    is_share = any(schema.get("maximum", schema.get("exclusiveMaximum")) == 1 for schema in allowed.schemas)
    if isinstance(value, str):
        percent = re.fullmatch(r"\s*([0-9.]+)\s*%\s*", value)
        if percent and is_share:
            return _percent_as_share(percent[1])
        if re.fullmatch(r"-?[0-9]*,[0-9]+", value):
            return f"write {value.replace(',', '.')}"
        from evalpipe.spec.yaml import resolve

        try:
            number = resolve(value)
        except OverflowError:
            return None
        return "remove the quotes" if is_number(number) else None
    if isinstance(value, float) and value.is_integer() and math.isfinite(value) and not allowed.accept("number"):
        return f"write {int(value)}"
    is_percent = is_share and isinstance(value, int | float) and 2 <= value < _PERCENT
    return _percent_as_share(str(value)) if is_percent else None


def _percent_as_share(percent: str) -> str | None:
    """Return the hint that a percent was meant as a share, such as "did you mean 0.5?"; None for no number."""
    try:
        return f"did you mean {float(percent) / _PERCENT:g}?"
    except ValueError:
        return None
