"""Pydantic's errors as problems with a place and a way out, in the words of the schema."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from encodings.aliases import aliases
from functools import partial
from typing import TYPE_CHECKING

from evalpipe.base.colours import COLOUR
from evalpipe.base.constants import LARGEST, SMALLEST
from evalpipe.chapters.recalibrate.spec import NOT_A_METHOD
from evalpipe.metrics import registry
from evalpipe.spec.choices import NOT_A_MEASURE, NOT_A_NAME, UNNAMED
from evalpipe.spec.datasets import is_query
from evalpipe.spec.describe import SHORT_LIST, Shapes
from evalpipe.spec.expressions import MeasureExpression
from evalpipe.spec.kinds import DAY, ENCODING, is_day, is_encoding, is_extreme, is_number
from evalpipe.spec.named import bad_identifier, bad_key, bad_plain_name
from evalpipe.spec.scalars import resolve
from evalpipe.tasks import meant_task
from evalpipe.words.spelling import closest, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import ValidationError

    from evalpipe.base.origin import Loc
    from evalpipe.errors import Problem
    from evalpipe.spec.describe import Schema
    from evalpipe.spec.tree import Tree

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

    What is wrong with the methods of ``recalibrate`` is left to `evalpipe.chapters.recalibrate.rules`.
    """
    explainer = _Explainer(tree, Shapes.of(schema), prefix)
    problems: dict[tuple[Loc, str], Problem] = {}
    for detail in error.errors(include_url=False, include_context=False, include_input=False):
        raw: Loc = (*prefix, *detail["loc"])
        loc = existing(raw, tree)
        if tree.hidden(loc) or detail["type"] == NOT_A_METHOD:
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
    said = bad_identifier if loc[:1] == ("metrics",) else bad_plain_name if narrow else bad_key
    message, hint = said(name, shown)
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
