"""What a command lays over a spec: the day that a card is about, and `--set a.b=c`."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from evalpipe.errors import Problem, SpecError, UsageError
from evalpipe.spec.field_types import is_day
from evalpipe.spec.spec import Spec
from evalpipe.spec.tree import UNREADABLE, BadReferenceError, Dated, Node, SpecText, expand, kind_in_words, without_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalpipe.errors import Place


KEY = "as_of"

OPTION = "--as-of"
"""The name shown in place of a file's."""

NO_DAY = "${date} is the day under 'as_of', and none is given"
GIVE_DAY = "write 'as_of: 2026-11-21', or give --as-of 2026-11-21"


def apply_day(root: Node, as_of: str | dt.date | None, before: str | None = None) -> tuple[Node, list[Problem]]:
    """Return the spec with the day ``as_of`` laid over its own, and each ``${date}`` replaced by its day.

    ``before`` is the day of a spec that was loaded already, and stands in its texts. Also returns the problem of each
    text that lacks a day, or has another one. A day that is wrong is told with the other keys. Raises UsageError where
    ``as_of`` is no text and no date.
    """
    if as_of is not None:
        day = as_of.isoformat() if isinstance(as_of, dt.date) and not isinstance(as_of, dt.datetime) else as_of
        if not isinstance(day, str):
            message = f"as_of is a day, and {type(as_of).__name__} is none"
            raise UsageError.of("wrong-type", message, hint="give a text as in '2026-11-21', or a datetime.date")
        text = SpecText(OPTION, day)
        root = replace(root, content={**root.content, KEY: Node(text.text, text.place(0), text.place(0))})
    dating = _Dating(root.content.get(KEY, Node(None)), before)
    return dating.dated(root), dating.problems


@dataclass(slots=True)
class _Dating:
    """Replaces ``${date}`` by the day at the node ``day``, and gathers the problems of texts that cannot have it."""

    day: Node
    before: str | None
    problems: list[Problem] = field(default_factory=list)

    def dated(self, node: Node) -> Node:
        """Return a node with ``${date}`` replaced by the day in all texts within it."""
        content = node.content
        if isinstance(content, dict):
            return replace(node, content={key: self.dated(item) for key, item in content.items()})
        if isinstance(content, tuple):
            return replace(node, content=tuple(map(self.dated, content)))
        if isinstance(content, Dated):
            return replace(node, content=self._text_on_day(node, content), dated=True)
        if node.dated and self.day.content != self.before:
            message = f"this text holds the day {self.before}, as of which the spec was loaded"
            self._report("other-day", message, node, "load the spec with the other day")
        return node

    def _text_on_day(self, node: Node, text: Dated) -> object:
        """Return the text of a node on the day; `UNREADABLE` where there is none."""
        day = self.day.content
        if isinstance(day, str) and is_day(day):
            return text.on(day)
        if node is self.day:
            message = "'as_of' cannot hold ${date}, which stands for it"
            self._report("bad-reference", message, node, "write the day, as in 2026-11-21")
        elif day is None:
            self._report("no-day", NO_DAY, node, GIVE_DAY)
        return UNREADABLE

    def _report(self, code: str, message: str, node: Node, hint: str) -> None:
        self.problems.append(Problem(code, message, node.place, hint))


def dated_path(
    path: str, day: str | None, environment: Mapping[str, str], option: str, *, private: bool = False
) -> str:
    """Return a path given under an ``option`` of the command line, with its references replaced as in a spec.

    Raises UsageError for a reference that cannot be replaced, for one to a secret unless the path is ``private``, and
    for ``${date}`` where there is no ``day``.
    """
    try:
        text = expand(path, environment, private=private, printed="in messages")
    except BadReferenceError as error:
        code, message, hint = error.args
        raise UsageError.of(code, f"{option}: {message}", hint=hint) from None
    if isinstance(text, Dated) and day is None:
        raise UsageError.of("no-day", f"{option}: {NO_DAY}", hint=GIVE_DAY)
    return text.on(day or "") if isinstance(text, Dated) else text


FILE = "--set"
"""The name shown in place of a file's."""

_KEY_OF_PATH = re.compile(r'(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<bare>[^."=\s]+))(?P<next>[.=])')


@dataclass(frozen=True, slots=True)
class _Segment:
    """A key, or the place in a list, of an override's path, and where it stands."""

    text: str
    place: Place


def _refused(message: str, place: Place, hint: str) -> SpecError:
    """Return the error of an override that cannot be applied."""
    return SpecError(Problem("bad-override", message, place, hint))


def apply_overrides(root: Node, overrides: Sequence[str], environment: Mapping[str, str]) -> tuple[Node, list[Problem]]:
    """Return the spec with the overrides applied in order, and the problems of those that cannot be.

    ``key=null`` takes a key away, and so does ``key={}`` one of the first level: its default holds again.
    """
    problems: list[Problem] = []
    for number, argument in enumerate(overrides, start=1):
        text = SpecText(FILE, argument, first_line=number)
        try:
            segments, skip = _split_path(text)
            path = tuple(segment.text for segment in segments)
            value = _parsed_value(replace(text, skip=skip), environment, problems, path)
            # A key of the first level that the spec knows is always there: its default holds where none is written.
            has_key = root.at(path) is not None or (len(path) == 1 and path[0] in Spec.model_fields)
            root = _put(root, segments, 0, value)
            if has_key and (value.content is None or (value.content == {} and len(path) == 1)):
                root = without_key(root, path)
        except SpecError as error:
            problems += error.problems
    return root, problems


def _split_path(text: SpecText) -> tuple[list[_Segment], int]:
    """Split the path off an override; also return where its value begins."""
    from evalpipe.spec.yaml import MAX_DEPTH

    segments: list[_Segment] = []
    end = 0
    while match := _KEY_OF_PATH.match(text.text, end):
        name = match["bare"] if match["quoted"] is None else match["quoted"].replace('""', '"')
        segments.append(_Segment(name, text.place(match.start(), match.end() - 1)))
        end = match.end()
        if match["next"] == "=":
            break
    else:
        raise _refused(
            "an override is a path of keys, '=' and a value", text.place(0),
            "write it as in --set intervals.level=0.9; put a key with a dot or a space in double quotes, as in "
            "--set 'models.\"Model 1.2\".threshold=0.4'")
    if segments[0].text == "extends":
        raise _refused("'extends' cannot be set here", segments[0].place, "write it in the file")
    if len(segments) > MAX_DEPTH:
        message = f"the path has more than {MAX_DEPTH} keys"
        raise _refused(message, segments[-1].place, "is it a value? Put '=' before it")
    return segments, end


def _parsed_value(
    text: SpecText, environment: Mapping[str, str], problems: list[Problem], path: tuple[str, ...]
) -> Node:
    """Return the text after the '=' read as YAML; raises SpecError where YAML reads it as something else."""
    from evalpipe.spec.yaml import parse

    document = parse(text, environment, path)
    problems.extend(document.problems)
    written = text.text[text.skip :].strip()
    place = text.place(0)
    if document.root is None:
        if written and not document.problems:
            message = "what follows '#' is a comment in YAML, so there is no value"
            raise _refused(message, place, "put the value in quotes")
        return Node(UNREADABLE if document.problems else None, place)
    # `--set title=a: b` means a text; who wants a mapping writes its braces.
    if isinstance(document.root.content, dict | tuple) and not written.startswith(("{", "[")):
        hint = "put a text in quotes, or write {key: value} or [a, b]"
        raise _refused("YAML reads this value as a mapping or a list", place, hint)
    if re.search(r"\s#", written) and written[:1] not in "\"'{[":
        raise _refused("what follows ' #' is a comment in YAML", place, "put the value in quotes")
    return document.root


def _put(node: Node | None, segments: list[_Segment], depth: int, value: Node) -> Node:
    """Return the node with ``value`` at the path ``segments[depth:]``; one past the end of a list adds an entry."""
    if depth == len(segments):
        return replace(value, key=segments[-1].place)
    segment = segments[depth]
    place_before = segments[depth - 1].place if depth else segment.place
    path = ".".join(s.text for s in segments[:depth])
    if node is None or node.content is None:
        node = Node({}, place_before, place_before)
    if isinstance(node.content, tuple):
        count = len(node.content)
        if not re.fullmatch("[0-9]{1,6}", segment.text) or int(segment.text) > count:
            message = f"{path!r} is a list of {count} and has no entry {segment.text!r}"
            raise _refused(message, segment.place, f"entries count from 0; {count} adds one at the end")
        index = int(segment.text)
        child = _put(node.content[index] if index < count else None, segments, depth + 1, value)
        return replace(node, content=(*node.content[:index], child, *node.content[index + 1 :]))
    if node.content is UNREADABLE:
        return node
    if not isinstance(node.content, dict):
        message = f"{path!r} is {kind_in_words(node.content)}, which has no key {segment.text!r}"
        raise _refused(message, segment.place, f"set {path!r} as a whole")
    child = _put(node.content.get(segment.text), segments, depth + 1, value)
    if child.key is None:
        child = replace(child, key=segment.place)
    return replace(node, content={**node.content, segment.text: child})
