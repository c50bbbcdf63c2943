"""Strict YAML: the core schema of YAML 1.2, one document, no duplicate keys, limits, and a place for every value."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import yaml
from yaml.composer import Composer
from yaml.parser import Parser
from yaml.reader import Reader, ReaderError
from yaml.resolver import BaseResolver
from yaml.scanner import Scanner

from evalpipe.errors import Place, Problem
from evalpipe.spec.tree import UNREADABLE, BadReferenceError, Dated, Node, expand, has_reference, is_private
from evalpipe.words.spelling import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalpipe.spec.tree import SpecText


Scalar = str | bool | int | float | None

_WORDS: dict[str, Scalar] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"([-+]?)\.(?:inf|Inf|INF)")
_BASES = {"0o": 8, "0x": 16}


def resolve(text: str) -> Scalar:
    """Return the value of an unquoted scalar: null, a boolean, a number, else the text itself.

    Raises OverflowError for a number that a float cannot hold.
    """
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        # Far beyond any float; Python itself refuses the digits of longer numbers.
        if len(text.lstrip("+-0xo")) > 400:
            raise OverflowError(text)
        base = _BASES.get(text[:2], 10)
        number = int(text[2:] if base != 10 else text, base)
        float(number)  # raises OverflowError where no float can hold it
        return number
    if _FLOAT.fullmatch(text):
        value = float(text)
        if math.isinf(value):
            raise OverflowError(text)
        return value
    infinite = _INFINITE.fullmatch(text)
    if infinite:
        return -math.inf if infinite[1] == "-" else math.inf
    return math.nan if text in (".nan", ".NaN", ".NAN") else text


PLAIN = "plain"
"""Stands for the tag of a scalar that has none and no quotes."""

CORE = "tag:yaml.org,2002:"
"""How the tags of the core schema begin."""

TAGS: dict[str, tuple[type, ...]] = {
    f"{CORE}null": (type(None),), f"{CORE}bool": (bool,), f"{CORE}int": (int,), f"{CORE}float": (float, int),
}
"""The core tags of scalars and the types of their values; a text's tag accepts any scalar."""


def scalar_value(text: str, tag: str) -> Scalar:
    """Return the value of a scalar: by the core schema where it is `PLAIN`, else by its tag.

    Raises OverflowError for a number that a float cannot hold, ValueError for a text that does not fit the tag, and
    KeyError for a tag that is none of a scalar.
    """
    if tag == f"{CORE}str":
        return text
    value = resolve(text)
    if tag != PLAIN and type(value) not in TAGS[tag]:
        raise ValueError(text)
    return float(value) if tag.endswith("float") and value is not None else value


_QUOTE = "put the whole value in quotes"


class _Fault(NamedTuple):
    """A complaint of PyYAML as a pattern, the message and hint for it, and whether it is shown where it began."""

    pattern: str
    message: str
    hint: str | None
    code: str = "yaml-syntax"
    at_start: bool = False


_CLOSE = "end the text with the same quote"
# The first that matches counts: what is said of a tab, or of a text after a value, stands above what is said of any.
_CASES = (
    _Fault(r"found character '\\t'", "a tab cannot indent or begin a value", "use spaces"),
    _Fault(r"found character '(.)'", r"a value cannot begin with '\1'", _QUOTE),
    _Fault(r"mapping values are not allowed", "this ':' begins a value where none can stand",
           "put a text that holds ': ' in quotes; else check the indentation"),
    _Fault(r"sequence entries", "this '-' begins a list where none can stand", "begin the list on a new line"),
    _Fault(r"expected ',' or '\]'", "this list is not closed, or a ',' is missing in it", "end it with ']'",
           at_start=True),
    _Fault(r"expected ',' or '\}'", "this mapping is not closed, or a ',' is missing in it", "end it with '}'",
           at_start=True),
    _Fault(r"unexpected (end of stream|document separator)", "this quote is not closed", _CLOSE, at_start=True),
    _Fault(r"could not find expected ':'", "a ':' is missing after this key", "write 'key: value'", at_start=True),
    _Fault(r"undefined alias '?(.*?)'?$", r"'*\1' refers to an anchor that does not exist",
           "put a text that begins with '*' in quotes"),
    _Fault(r"second occurrence", "this anchor is defined already", "give each anchor its own name"),
    _Fault(r"another document", "a second document begins here; a spec is one document", "remove this line",
           code="many-documents"),
    _Fault(r"unknown escape character '(.*)'", r"'\\\1' is not an escape in double quotes",
           r"use single quotes, or write '\\'"),
    _Fault(r"expected alphabetic or numeric", "a value that begins with '*', '&' or '%' has a meaning of its own",
           _QUOTE),
    _Fault(r"expected <block end>, but found '<scalar>'", "this text follows a value that has ended",
           "put the whole value in double quotes"),
    _Fault(r"expected <block end>", "this line does not fit the indentation of the lines above it",
           "align it with them"),
    _Fault(r"expected '<document start>'", "this is outside the mapping above it", "write every line as 'key: value'"),
    _Fault(r"expected the node content", "a value is missing before this character", "put a text in quotes"),
    _Fault(r"chomping or indentation", "'|' and '>' begin a block of text on the lines below", _QUOTE),
    _Fault(r"expected (URI|' '|'>')|tag handle", "'!' begins a tag here", _QUOTE),
    _Fault(r"expected a digit", "'%' begins a directive here", "put a text that begins with '%' in quotes"),
    _Fault(r"incompatible YAML document", "this version of YAML is not known", "remove the line"),
)


def _syntax_problem(error: yaml.YAMLError, text: SpecText) -> Problem:
    """Turn PyYAML's error about ``text`` into a problem."""
    if isinstance(error, ReaderError):
        code = f"U+{error.character:04X}" if isinstance(error.character, int) else f"U+{ord(error.character):04X}"
        message = f"the character {code} is not allowed in YAML"
        return Problem("yaml-syntax", message, text.place(error.position, error.position + 1), "remove it")
    complaint = getattr(error, "problem", None) or "it cannot be read"
    problem_mark, context_mark = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    for case in _CASES:
        match = re.search(case.pattern, complaint)
        if match:
            mark = context_mark if case.at_start and context_mark is not None else problem_mark
            place = text.place(mark.index, mark.index + 1) if mark is not None else None
            hint = case.hint
            # YAML reads the '{' of an unquoted reference inside [ ] as the beginning of a mapping.
            if case.at_start and place is not None and place.text is not None and "${" in place.text:
                hint = "inside [ ] and { }, put quotes around ${env:…}"
            return Problem(case.code, match.expand(case.message), place, hint)
    mark = problem_mark or context_mark
    return Problem("yaml-syntax", f"this is not valid YAML: {complaint}", text.place(mark.index) if mark else None)


# Far above any spec, and far below the depth at which Python's own recursion would end in a traceback.
MAX_DEPTH = 50
"""How deeply values may be nested."""

# Ten lines of aliases of aliases can stand for billions of values, which would fill the memory.
MAX_ALIASED = 10_000
"""How many values aliases may add."""

MAX_VALUES = 20_000
"""How many values a file may have."""

MAX_ENTRIES = 2_000
"""How many entries a list or a mapping may have."""

ANY_DAY = "2000-01-01"
"""Stands for a day that is not known yet: a text with a day in it is a text, whatever day that is."""

_TAGS_IN_WORDS = {"null": "null", "bool": "true or false", "int": "a whole number", "float": "a number"}


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """What a text says. ``root`` is None where it is empty or no YAML at all."""

    root: Node | None
    problems: tuple[Problem, ...] = ()


class _LimitError(Exception):
    """Values are too many or nested too deeply: the code, what is wrong, the way out, the position of a character."""


class _Loader(Reader, Scanner, Parser, Composer, BaseResolver):
    """Composes nodes, telling plain scalars from quoted ones, and stops where they are too deep or too many."""

    def __init__(self, text: str) -> None:
        """Begin before the first node of a text; initialise PyYAML's parts as its own loaders do."""
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)
        BaseResolver.__init__(self)
        self.depth = self.values = 0

    def resolve(self, kind: type[yaml.Node], value: object, implicit: Sequence[bool]) -> str:  # noqa: ARG002 - the base class sets it
        """Return the tag of a node that has none."""
        if kind is yaml.ScalarNode:
            return PLAIN if implicit[0] else f"{CORE}str"
        return f"{CORE}seq" if kind is yaml.SequenceNode else f"{CORE}map"

    def compose_scalar_node(self, anchor: dict[object, yaml.Node]) -> yaml.ScalarNode:
        # In YAML 1.2 a lone '!' makes a text of any scalar; PyYAML forgets it.
        """Compose a scalar; one with the lone tag '!' is a text, whatever it looks like."""
        bare = self.peek_event().tag == "!"  # type: ignore[no-untyped-call]
        node = super().compose_scalar_node(anchor)
        if bare:
            node.tag = f"{CORE}str"
        return node

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Compose a node and all within it; raises _LimitError where they are too deep or too many."""
        self.depth, self.values = self.depth + 1, self.values + 1
        if self.depth > MAX_DEPTH + 1:
            message = f"values are nested more than {MAX_DEPTH} deep"
            raise self._limit_error("too-deep", message, "is a bracket left open?")
        if self.values > MAX_VALUES:
            hint = "is this the data? Give the YAML file, and name the data under 'datasets'"
            raise self._limit_error("too-many-values", f"the file has more than {MAX_VALUES:,} keys and values", hint)
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1

    def _limit_error(self, code: str, message: str, hint: str) -> _LimitError:
        """Return the error of a text beyond a limit, at the place of the next node."""
        return _LimitError(code, message, hint, self.peek_event().start_mark.index)  # type: ignore[no-untyped-call]


def parse(text: SpecText, environment: Mapping[str, str], path: tuple[str, ...] = ()) -> YamlDocument:
    """Read a text, which stands at a ``path`` of keys in a spec; problems are returned, never raised."""
    try:
        loader = _Loader(text.text[text.skip :])
        root = loader.get_single_node()
    except yaml.YAMLError as error:
        return YamlDocument(None, (_syntax_problem(error, text),))
    except _LimitError as error:
        code, message, hint, index = error.args
        return YamlDocument(None, (Problem(code, message, text.place(index, index + 1), hint),))
    except (ValueError, OverflowError):  # PyYAML lets them pass for an escape beyond the last character of Unicode
        place = text.place(loader.get_mark().index)
        message, hint = "this escape is not a character", "write the character itself"
        return YamlDocument(None, (Problem("yaml-syntax", message, place, hint),))
    if root is None:
        return YamlDocument(None)
    builder = _Builder(text, environment, path)
    node = builder.node(root)
    return YamlDocument(node, tuple(builder.problems))


@dataclass(slots=True)
class _Builder:
    """Turns PyYAML's nodes into ours and gathers problems on the way.

    ``seen`` are the nodes so far, by identity: one that comes again stands for an alias, and counts in ``repeated``.
    ``open`` are those that hold the node being built; ``path`` the keys that lead to it.
    """

    text: SpecText
    environment: Mapping[str, str]
    path: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)
    open: set[int] = field(default_factory=set)
    repeated: int = 0

    def node(self, node: yaml.Node) -> Node:
        """Return the node of ours for a node of PyYAML, with all that it contains; report problems on the way."""
        place = self._place(node)
        if not self._within_limits(node, place):
            return Node(UNREADABLE, place)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, place)
        is_list = isinstance(node, yaml.SequenceNode)
        if node.tag != f"{CORE}{'seq' if is_list else 'map'}":
            return self._unknown_tag(node, place)
        if len(node.value) > MAX_ENTRIES:
            kind = "list" if is_list else "mapping"
            self._report("too-many-values", f"this {kind} has {len(node.value):,} entries; at most {MAX_ENTRIES:,} are "
                         "allowed", place, "divide the evaluation among several specs")
            return Node(UNREADABLE, place)
        self.open.add(id(node))
        content = self._mapping(node) if isinstance(node, yaml.MappingNode) else tuple(self.node(n) for n in node.value)
        self.open.discard(id(node))
        return Node(content, place)

    def _within_limits(self, node: yaml.Node, place: Place) -> bool:
        """Tell whether a node may be built; report one that contains itself, and the first that aliases may not add."""
        if id(node) in self.open:
            self._report("too-many-aliases", "this value contains itself through an alias", place)
            return False
        self.repeated += id(node) in self.seen
        self.seen.add(id(node))
        if self.repeated == MAX_ALIASED + 1:
            self._report("too-many-aliases", f"the aliases expand to more than {MAX_ALIASED:,} values", place)
        return self.repeated <= MAX_ALIASED

    def _mapping(self, node: yaml.MappingNode) -> dict[str, Node]:
        """Build the values of a mapping by key; what '<<' would merge stands where the mapping has no such key."""
        content: dict[str, Node] = {}
        merged: dict[str, Node] = {}
        for key_node, value_node in node.value:
            key = self._key(key_node, content)
            if key is not None:
                content[key] = self._value_of_key(key_node, value_node)
            elif _is_merge(key_node):
                # Refused, but followed: what the author meant to be here should not be called missing.
                value = self.node(value_node).content
                merged.update(value if isinstance(value, dict) else {})
        return {**{key: value for key, value in merged.items() if key not in content}, **content}

    def _value_of_key(self, key_node: yaml.Node, value_node: yaml.Node) -> Node:
        """Build the value of a key; one in block style is shown at its key."""
        outer_path, self.path = self.path, (*self.path, str(key_node.value))
        place, value = self._place(key_node), self.node(value_node)
        self.path = outer_path
        in_block_style = isinstance(value_node, yaml.CollectionNode) and not value_node.flow_style
        return replace(value, key=place, place=place if in_block_style else value.place)

    def _key(self, node: yaml.Node, content: dict[str, Node]) -> str | None:
        """Return the key's text, or None after reporting why it cannot stand here."""
        place = self._place(node)
        if not isinstance(node, yaml.ScalarNode):
            self._report("bad-key", "a key must be a text, not a list or a mapping", place, "put it in quotes")
        elif _is_merge(node):
            self._report("merge-key", "the merge key '<<' is not part of YAML 1.2", place,
                         "put what is shared in another file and name it under 'extends'")
        elif node.tag not in (PLAIN, f"{CORE}str"):
            self._unknown_tag(node, place)
        elif node.value in content:
            first = content[node.value].key
            line = f" in line {first.line}" if first is not None else ""
            message = f"the key {quoted(node.value)} is here and{line}"
            self._report("duplicate-key", message, place, "keep one of them")
        elif not _writable(node.value):
            self._report("bad-text", "the key holds a lone surrogate, which is no character", place)
        else:
            return str(node.value)
        return None

    def _scalar(self, node: yaml.ScalarNode, place: Place) -> Node:
        """Build a scalar, its references to the environment replaced; the day of ``${date}`` is put in later."""
        content: object = UNREADABLE
        try:
            expanded = expand(node.value, self.environment, private=is_private(self.path))
            text = expanded.on(ANY_DAY) if isinstance(expanded, Dated) else expanded
            if _writable(text):
                value = scalar_value(text, node.tag)
                content = expanded if isinstance(expanded, Dated) else value
            else:
                self._report("bad-text", "the text holds a lone surrogate, which is no character", place)
        except BadReferenceError as error:
            code, message, hint = error.args
            self._report(code, message, place, hint)
        except OverflowError:
            self._report("number-too-large", "this number is too large to be held", place, "put a text in quotes")
        except ValueError:
            message = f"the tag asks for {_TAGS_IN_WORDS[node.tag.removeprefix(CORE)]}"
            self._report("wrong-type", message, place, "remove the tag")
        except KeyError:
            return self._unknown_tag(node, place)
        referring = has_reference(node.value)
        return Node(content, place, environment=referring, written=node.value if referring else None)

    def _unknown_tag(self, node: yaml.Node, place: Place) -> Node:
        """Report a node's tag that is not allowed or does not fit its value; return an unreadable node."""
        short = node.tag.replace(CORE, "!!")
        fits = node.tag in TAGS or node.tag in {CORE + name for name in ("str", "seq", "map")}
        fault = "does not fit this value" if fits else "is not allowed"
        self._report("unknown-tag", f"the tag {quoted(short)} {fault}", place, "remove the tag")
        return Node(UNREADABLE, place)

    def _report(self, code: str, message: str, place: Place, hint: str | None = None) -> None:
        self.problems.append(Problem(code, message, place, hint))

    def _place(self, node: yaml.Node) -> Place:
        """Return where a node stands; of a mapping in block style, its first key."""
        first = node
        # Bounded, for a node may be its own first item through an alias.
        for _ in range(MAX_DEPTH):
            if not isinstance(first, yaml.CollectionNode) or first.flow_style or not first.value:
                break
            first = first.value[0][0] if isinstance(first, yaml.MappingNode) else first.value[0]
        return self.text.place(node.start_mark.index, first.end_mark.index)


def _is_merge(node: yaml.Node) -> bool:
    """Tell whether a key is the merge key of YAML 1.1."""
    return node.tag == PLAIN and node.value == "<<"


def _writable(text: str) -> bool:
    """Tell whether a text can be written as UTF-8: a lone surrogate, half of a pair, cannot."""
    return not any("\ud800" <= character <= "\udfff" for character in text)
