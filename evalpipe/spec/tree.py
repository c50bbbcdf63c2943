"""The spec as it was written: its texts, references to the environment and to the day, and values, each with its place.

Texts that people state for the card have places of their characters too.
"""

from __future__ import annotations

import bisect
import math
import re
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from evalpipe.base.databases import holds_secret
from evalpipe.base.digests import bytes_sha256
from evalpipe.base.ed25519 import SIGNING_KEY
from evalpipe.base.levels import level_text
from evalpipe.base.origin import Loc, Origin, path_text
from evalpipe.errors import Place, Problem
from evalpipe.words.spelling import closest_file, listed, printable, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


MAX_BYTES = 1_000_000
"""The size a file of the spec may have."""

STDIN = "<stdin>"
"""The name shown for the standard input."""

MAX_EXCERPT = 300
"""Lines longer than this are not shown."""

_BREAK = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class SpecText:
    """A text and the name shown for it; ``first_line`` is its line number, ``skip`` where its YAML begins.

    ``sha256`` is that of the file's bytes, None of a text that is no whole file.
    """

    file: str
    text: str
    first_line: int = 1
    skip: int = 0
    sha256: str | None = None

    @cached_property
    def _starts(self) -> list[int]:
        """The positions at which lines begin."""
        return [0, *(line_break.end() for line_break in _BREAK.finditer(self.text))]

    def place(self, start: int, end: int | None = None) -> Place:
        """Return the place of the characters from ``start`` to ``end``, counted from where the YAML begins."""
        start = min(start + self.skip, len(self.text))
        line = bisect.bisect_right(self._starts, start) - 1
        begin = self._starts[line]
        line_break = _BREAK.search(self.text, begin)
        shown = self.text[begin : line_break.start() if line_break else len(self.text)]
        last = len(shown.rstrip()) if end is None else min(end + self.skip - begin, len(shown.rstrip()))
        # What cannot be printed, such as an escape sequence, must not reach a terminal; a tab may.
        clean = "\t".join(map(printable, shown.split("\t"))) if len(shown) <= MAX_EXCERPT else None
        column = start - begin
        return Place(self.file, self.first_line + line, column + 1, max(1, last - column), clean)


def read_text(path: Path, shown: str, named_at: Place | None = None) -> SpecText | Problem:
    """Read a file of the spec, named ``shown`` to people; ``named_at`` is the place in a spec that names the file.

    A file that is shown as `STDIN` is the standard input. What prevents reading is returned, not raised.
    """
    try:
        with nullcontext(sys.stdin.buffer) if shown == STDIN else path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)  # one more tells that it is too large, without reading it all
    except (FileNotFoundError, NotADirectoryError):
        return Problem("missing-file", f"there is no file {shown}", named_at, _similar_spec(path))
    except IsADirectoryError:
        return Problem("unreadable-file", f"{shown} is a folder, not a file", named_at, "give the path of a YAML file")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return Problem("unreadable-file", f"cannot read {shown}: {reason}", named_at, "name a file that can be read")
    if len(content) > MAX_BYTES:
        hint = "is this the data? Give the YAML file, and name the data under 'datasets'"
        return Problem("too-large", f"the spec is larger than {MAX_BYTES:,} bytes", Place(shown), hint)
    try:
        text = content.decode("utf-8-sig").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        return _not_utf8(shown, content, error)
    return SpecText(shown, text, sha256=bytes_sha256(content))


def _not_utf8(shown: str, content: bytes, error: UnicodeDecodeError, notes: tuple[str, ...] = ()) -> Problem:
    """Return the problem of a file whose ``content`` is not UTF-8, with the first wrong byte and its line."""
    line = content[: error.start].count(b"\n") + 1
    message = f"the file is not UTF-8 text: byte 0x{content[error.start]:02x} in line {line}"
    return Problem("not-utf8", message, Place(shown, line), "save it as UTF-8", notes=notes)


def _similar_spec(path: Path) -> str:
    """Name the YAML file of the same folder that is most like the missing one."""
    if path.is_symlink():
        return "it is a link to what is not there"
    try:
        names = sorted(file.name for file in path.parent.iterdir() if file.suffix in (".yaml", ".yml"))
    except OSError:
        return "check the path"
    close = closest_file(path.name, names)
    return f"did you mean '{close}'?" if close else "check the path"


LONGEST = 20_000
"""The characters that one text may have."""

MAX_PROSE_BYTES = 100_000
"""The bytes that a file of one text may have, which hold as many characters of any script."""

ENDINGS = (".md", ".markdown", ".rst", ".txt")
"""How the names of files end whose texts go on a card, so that no other file gets there by mistake."""

RELATIVE = "the path is relative to the file that names it"


@dataclass(frozen=True, slots=True)
class ProseText:
    """A text that people state; of one in a file of its own, the path as it is written and the sha256.

    ``source`` knows the places of a file's characters.
    """

    text: str
    source: SpecText | None = None
    path: str | None = None
    sha256: str | None = None

    def problem(
        self, origin: Origin, loc: Loc, code: str, message: str, hint: str, span: tuple[int, int], named: str = ""
    ) -> Problem:
        """Make a problem of this text at ``loc``: of a file, at the ``span`` of characters, with where it is named.

        A text that is written in the spec has no places of its own, so the message begins with what is ``named``.
        """
        if self.source is not None:
            place = origin.place(*loc, "file")
            notes = () if place is None else (f"named at {place}",)
            return Problem(code, message, self.source.place(*span), hint, notes=notes)
        place, sentence = origin.place(*loc), f"{' '.join(named.split())}: {message}" if named else message
        return Problem(code, sentence if place is not None else f"{path_text(loc)}: {sentence}", place, hint)


def read_prose(tree: Tree, loc: Loc, written: str) -> ProseText | Problem:
    """Read the file of a text that is named at ``loc``; what prevents it is returned, not raised."""
    content = _prose_bytes(tree, loc, tree.origin.folder_of(*loc) / written)
    if isinstance(content, Problem):
        return content
    named = "the file" if tree.secret(*loc) else written
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return _not_utf8(named, content, error, tree.noted("named at", *loc))
    return ProseText(text, SpecText(named, text), written, bytes_sha256(content))


def _prose_bytes(tree: Tree, loc: Loc, path: Path) -> bytes | Problem:
    """Return the bytes of the file of a text, or the problem of reading it."""
    shown = tree.show(*loc)
    try:
        content = path.read_bytes() if path.stat().st_size <= MAX_PROSE_BYTES else None
    except (FileNotFoundError, NotADirectoryError):
        return tree.problem("missing-file", f"there is no file {shown}", *loc, hint=_similar_file(path))
    except IsADirectoryError:
        return tree.problem("unreadable-file", f"{shown} is a folder, not a file", *loc, hint="name a text file")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return tree.problem("unreadable-file", f"cannot read {shown}: {reason}", *loc)
    if not {path.suffix.lower(), path.resolve().suffix.lower()} <= set(ENDINGS):
        message = f"{shown} is no text for a card: its name ends in none of {listed(ENDINGS, 'and')}"
        return tree.problem("not-a-text", message, *loc, hint="if it is one, rename it")
    if content is None:
        message = f"{shown} is larger than {MAX_PROSE_BYTES:,} bytes"
        return tree.problem("too-large", message, *loc, hint="shorten it, and say where the rest is")
    return content


def _similar_file(path: Path) -> str:
    """Name the file of the same folder that is most like the missing one."""
    try:
        names = sorted(file.name for file in path.parent.iterdir() if file.is_file())
    except (OSError, ValueError):
        return RELATIVE
    guess = closest_file(path.name, names)
    return f"did you mean '{guess}'?" if guess else RELATIVE


_TOKEN = re.compile(r"\$\$\{|\$\{(?P<body>[^}]*)(?P<end>\}?)")
_BODY = re.compile(r"env:(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>.*))?", re.DOTALL)
_DAY = "date"

_SECRET_NAME = re.compile(
    r"(?:^|_)(?:PASSWORDS?|PASSWD|PASSPHRASE|SECRETS?|TOKENS?|CREDENTIALS?|(?:API|ACCESS|PRIVATE|SECRET|SIGNING)_?KEYS?)"
    r"(?:_|$)|_PWD$", re.IGNORECASE)


class BadReferenceError(Exception):
    """A reference cannot be replaced; its arguments are the code of its problem, what is wrong, and the way out."""


@dataclass(frozen=True, slots=True)
class Dated:
    """A text that waits for the day of the spec; ``parts`` are what stands before, between and after its days."""

    parts: tuple[str, ...]

    def on(self, day: str) -> str:
        """Return the text with a day in place of each ``${date}``."""
        return day.join(self.parts)


def is_private(path: Sequence[str]) -> bool:
    """Tell whether the value at a path of keys stands in no output, so that it may hold a secret."""
    match path:
        case ["ledger"] | ["datasets", _, "uri"]:
            return True
        case _:
            return False


def has_reference(text: str) -> bool:
    """Tell whether a text holds a reference to the environment, or what was to be one."""
    return any(token["body"] not in (None, _DAY) for token in _TOKEN.finditer(text))


def expand(
    text: str, environment: Mapping[str, str], *, private: bool = False, printed: str = "on the card"
) -> str | Dated:
    """Replace the references in ``text``. A default is taken when its variable is unset or empty, as in a shell.

    A text with ``${date}`` waits for the day. Raises BadReferenceError for the first reference that cannot be replaced,
    and for one to a secret, by the name or the look of its value, unless the text is ``private``: in no output.
    ``printed`` says where it is printed otherwise.
    """
    parts, end = [""], 0
    for token in _TOKEN.finditer(text):
        parts[-1] += text[end : token.start()]
        end = token.end()
        if token["body"] == _DAY and token["end"]:
            parts.append("")
        else:
            parts[-1] += "${" if token["body"] is None else _value_of_reference(
                token, environment, None if private else printed)
    parts[-1] += text[end:]
    return parts[0] if len(parts) == 1 else Dated(tuple(parts))


def without_references(text: str) -> str:
    """Return a text with the default, or nothing, in place of each reference to the environment."""
    def replacement(token: re.Match[str]) -> str:
        if token["body"] is None:
            return "${"
        reference = _BODY.fullmatch(token["body"])
        return "" if reference is None else reference["default"] or ""

    return _TOKEN.sub(replacement, text)


def _value_of_reference(token: re.Match[str], environment: Mapping[str, str], printed: str | None) -> str:
    """Return the value of a reference; ``printed`` names where it is output, None where it is not."""
    body = _BODY.fullmatch(token["body"])
    if not token["end"]:
        raise BadReferenceError("bad-reference", f"the reference {token[0][:40]!r} is not closed", "end it with '}'")
    if body is None:
        guess = re.fullmatch(r"(?:env\.|env:)?([A-Za-z_][A-Za-z0-9_]*)", token["body"])
        way = f"write ${{env:{guess[1]}}}" if guess else "write ${env:NAME} or ${env:NAME:-default}"
        if token["body"].strip().casefold() in (_DAY, "as_of", "day"):
            way = "write ${date} for the day under 'as_of'"
        hint = f"{way}; for the text itself, '$${{'"
        raise BadReferenceError("bad-reference", f"{token[0][:40]!r} is not a reference", hint)
    name, default = body["name"], body["default"]
    if name == SIGNING_KEY:
        raise BadReferenceError("secret-variable", f"{name} holds the key that cards are signed with",
                                "a spec is printed on its card: leave the key out")
    value = environment.get(name)
    if printed is not None:
        _refuse_secret(name, value or "", printed)
    if default is not None:
        return value or default
    if value is None:
        hint = f"set it, or give a default: ${{env:{name}:-…}}"
        raise BadReferenceError("unset-variable", f"the environment variable {name} is not set", hint)
    return value


def _refuse_secret(name: str, value: str, printed: str) -> None:
    """Raise BadReferenceError for a variable of the environment that seems to hold a secret."""
    if _SECRET_NAME.search(name):
        what = f"the name of the environment variable {name} is that of a secret"
    elif holds_secret(value):
        what = f"the environment variable {name} holds a password or a private key"
    else:
        return
    raise BadReferenceError("secret-variable", f"{what}, and this value is printed {printed}",
                            "leave it out, or take it from a variable that holds no secret")


class UnreadableValue:
    """Stands for a value that could not be read; its problem is reported where it was met."""

    def __repr__(self) -> str:
        """Return its name for messages."""
        return "<unreadable>"


UNREADABLE: Final = UnreadableValue()


@dataclass(frozen=True, slots=True)
class Foreign:
    """Stands for an object that no spec can hold; equal to nothing that one can."""

    name: str

    def __str__(self) -> str:
        """Return its type for messages."""
        return f"a value of type {self.name}"


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it was written.

    ``content`` is a scalar, a text that waits for its day, a tuple of nodes, a mapping from text to nodes, or
    `UNREADABLE`; ``key`` the place of its key; ``environment`` whether an environment variable took part in it, and
    ``dated`` whether the day did; ``written`` is then the text with its references.
    """

    content: Any
    place: Place | None = None
    key: Place | None = None
    environment: bool = False
    dated: bool = False
    written: str | None = None

    def at(self, path: tuple[str, ...]) -> Node | None:
        """Return the node at a path of mappings within this one; None where there is none."""
        if not path:
            return self
        inner = self.content.get(path[0]) if isinstance(self.content, dict) else None
        return None if inner is None else inner.at(path[1:])


def from_plain(value: object, origin: Origin, loc: Loc = ()) -> Node:
    """Make nodes of plain values, with the places that ``origin`` knows."""
    content = _yaml_value(value)
    if isinstance(value, Mapping):
        texts = {key if isinstance(key, str) else level_text(key): item for key, item in value.items()}
        content = {key: from_plain(item, origin, (*loc, key)) for key, item in texts.items()}
    elif isinstance(content, list | tuple):
        content = tuple(from_plain(item, origin, (*loc, index)) for index, item in enumerate(content))
    return Node(content, origin.values.get(loc), origin.keys.get(loc), loc in origin.environment, loc in origin.dated)


def _yaml_value(value: object) -> Any:
    """Return a scalar or list as YAML would hold it; `Foreign` for what YAML cannot hold."""
    if isinstance(value, PathLike):
        return fspath(value)
    if hasattr(value, "tolist"):  # arrays and scalars of numpy; a long double is its own list
        items = value.tolist()
        return Foreign(type(value).__name__) if type(items) is type(value) else _yaml_value(items)
    if value is None or value is UNREADABLE or isinstance(value, str | bool | int | float | list | tuple | Mapping):
        return value
    return Foreign(type(value).__name__)


def merge(base: Node, over: Node) -> Node:
    """Lay ``over`` on ``base``: mappings merge deeply, everything else is replaced."""
    if not (isinstance(base.content, dict) and isinstance(over.content, dict)):
        return over
    content = dict(base.content)
    for key, item in over.content.items():
        content[key] = merge(content[key], item) if key in content else item
    return replace(over, content=content)


def without_key(node: Node, loc: tuple[str, ...]) -> Node:
    """Leave out the key at ``loc``, a path of mappings that exists."""
    inner = node.content[loc[0]]
    rest = {key: item for key, item in node.content.items() if key != loc[0]}
    return replace(node, content=rest if len(loc) == 1 else {**node.content, loc[0]: without_key(inner, loc[1:])})


def kind_in_words(value: object) -> str:
    """Return the kind of a plain value in words, such as "a number" or "a mapping"."""
    names: dict[type, str] = {
        bool: "true or false", int: "a number", float: "a number", str: "a text", type(None): "nothing",
        dict: "a mapping", list: "a list", tuple: "a list", Dated: "a text",
    }
    return names.get(type(value), "another object")


def value_in_words(value: object) -> str:
    """Say what a plain value is: ``the text '0.5'``."""
    if isinstance(value, str):
        return f"the text {quoted(value)}" if value else "an empty text"
    if isinstance(value, float) and not math.isfinite(value):
        endless = ".inf (infinity)" if value > 0 else "-.inf (minus infinity)"
        return ".nan (not a number)" if math.isnan(value) else endless
    if isinstance(value, bool | int | float):
        return quoted(value)
    if isinstance(value, Foreign):
        return str(value)
    return "nothing (null)" if value is None else kind_in_words(value)


@dataclass(frozen=True, slots=True)
class Tree:
    """Plain values with their origin; ``unreadable`` the locations whose value could not be read."""

    data: Any
    origin: Origin
    unreadable: frozenset[Loc] = frozenset()

    def get(self, *loc: str | int) -> Any:
        """Return the value at ``loc``, None where there is none."""
        value = self.data
        try:
            for part in loc:
                value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
        return value

    def problem(
        self, code: str, message: str, *loc: str | int, key: bool = False, hint: str | None = None,
        notes: tuple[str, ...] = (),
    ) -> Problem:
        """Return a problem at the value at ``loc``, or at its ``key``; without a place it has the path."""
        place = self.origin.place(*loc, key=key)
        named = message if place is not None or not loc else f"{path_text(loc)}: {message}"
        return Problem(code, named, place, hint, notes=notes)

    def idle(self, code: str, message: str, *loc: str | int, key: bool = False, hint: str | None = None) -> Problem:
        """Make the problem of a key that changes nothing: an error, but a warning where the key is shared.

        A key is shared where it stands in a file that another one extends, or that ``--set`` changes: it may well do
        something there.
        """
        problem = self.problem(code, message, *loc, key=key, hint=hint)
        shared = problem.place is not None and problem.place.file != self.origin.newest
        return replace(problem, severity="warning") if shared else problem

    def noted(self, words: str, *loc: str | int) -> tuple[str, ...]:
        """Return the note "<words> <place of the value at loc>"; an empty tuple where it has no place."""
        place = self.origin.place(*loc)
        return () if place is None else (f"{words} {place}",)

    def secret(self, *loc: str | int) -> bool:
        """Tell whether an environment variable took part in the value at ``loc``, so that it is not shown."""
        return loc in self.origin.environment

    def show(self, *loc: str | int) -> str:
        """Quote the value at ``loc``; a mapping, or a value from the environment, in the text of the file."""
        value = self.get(*loc)
        return self.written(*loc) if self.secret(*loc) or isinstance(value, dict) else quoted(value)

    def spell(self, *loc: str | int) -> str:
        """Describe the value at ``loc`` in words; one from the environment by its kind and reference."""
        value = self.get(*loc)
        return f"{kind_in_words(value)} from {self.written(*loc)}" if self.secret(*loc) else value_in_words(value)

    def written(self, *loc: str | int) -> str:
        """Return the text of the value at ``loc`` in the file, without quotes."""
        place = self.origin.values.get(loc)
        if place is None or place.text is None or place.column is None:
            return "the environment" if self.secret(*loc) else str(self.get(*loc))
        start = place.column - 1
        return place.text[start : start + place.length].strip("\"'")

    def hidden(self, loc: Loc) -> bool:
        """Tell whether the value at ``loc``, or one that holds it, could not be read."""
        return any(loc[:depth] in self.unreadable for depth in range(len(loc) + 1))


def _walk(node: Node, loc: Loc = ()) -> Iterator[tuple[Loc, Node]]:
    """Yield a node and all within it, each with its location."""
    yield loc, node
    content = node.content
    entries: Iterable[tuple[str | int, Node]] = (
        content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, tuple) else ())
    for key, item in entries:
        yield from _walk(item, (*loc, key))


def plain_value(node: Node) -> Any:
    """Return the plain value of a node: dicts, lists and scalars."""
    if isinstance(node.content, dict):
        return {key: plain_value(item) for key, item in node.content.items()}
    return [plain_value(item) for item in node.content] if isinstance(node.content, tuple) else node.content


def flatten(node: Node, path: Path | None, folders: Mapping[str, Path], newest: str | None = None) -> Tree:
    """Return a tree of plain values with the places of all nodes.

    ``folders`` are those of the spec's files by name; ``newest`` is the file, or override, that was named last.
    """
    nodes = dict(_walk(node))
    origin = Origin(
        path,
        values=MappingProxyType({loc: item.place for loc, item in nodes.items() if item.place is not None}),
        keys=MappingProxyType({loc: item.key for loc, item in nodes.items() if item.key is not None}),
        folders=MappingProxyType(dict(folders)),
        environment=frozenset(loc for loc, item in nodes.items() if item.environment), newest=newest,
        dated=frozenset(loc for loc, item in nodes.items() if item.dated))
    unreadable = frozenset(loc for loc, item in nodes.items() if item.content is UNREADABLE)
    return Tree(plain_value(node), origin, unreadable)
