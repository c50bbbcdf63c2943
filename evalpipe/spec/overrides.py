"""``--set a.b=c``: single values laid over a spec, typed by the rules of YAML."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evalpipe.errors import Problem, SpecError
from evalpipe.spec.models import Spec
from evalpipe.spec.text import SpecText
from evalpipe.spec.tree import UNREADABLE, Node, kind, without
from evalpipe.spec.yaml import MAX_DEPTH, parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalpipe.errors import Place

FILE = "--set"
"""The name shown in place of a file's."""

_SEGMENT = re.compile(r'(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<bare>[^."=\s]+))(?P<next>[.=])')


@dataclass(frozen=True, slots=True)
class _Segment:
    """A key, or the place in a list, of an override's path, and where it stands."""

    text: str
    place: Place


def _refused(message: str, place: Place, hint: str) -> SpecError:
    """Return the error of an override that cannot be applied."""
    return SpecError(Problem("bad-override", message, place, hint))


def apply(root: Node, overrides: Sequence[str], environment: Mapping[str, str]) -> tuple[Node, list[Problem]]:
    """Return the spec with the overrides applied in order, and the problems of those that cannot be.

    ``key=null`` takes a key away, and so does ``key={}`` one of the first level: its default holds again.
    """
    problems: list[Problem] = []
    for number, argument in enumerate(overrides, start=1):
        text = SpecText(FILE, argument, first_line=number)
        try:
            segments, skip = _segments(text)
            path = tuple(segment.text for segment in segments)
            value = _value(replace(text, skip=skip), environment, problems, path)
            # A key of the first level that the spec knows is always there: its default holds where none is written.
            there = root.at(path) is not None or (len(path) == 1 and path[0] in Spec.model_fields)
            root = _put(root, segments, 0, value)
            if there and (value.content is None or (value.content == {} and len(path) == 1)):
                root = without(root, path)
        except SpecError as error:
            problems += error.problems
    return root, problems


def _segments(text: SpecText) -> tuple[list[_Segment], int]:
    """Split the path off an override; also return where its value begins."""
    segments: list[_Segment] = []
    end = 0
    while match := _SEGMENT.match(text.text, end):
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


def _value(
    text: SpecText, environment: Mapping[str, str], problems: list[Problem], path: tuple[str, ...]
) -> Node:
    """Return what stands after the '=', read as YAML; raises SpecError for what YAML reads as something else."""
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


def _put(node: Node | None, segments: list[_Segment], at: int, value: Node) -> Node:
    """Return the node with ``value`` at the path ``segments[at:]``."""
    if at == len(segments):
        return replace(value, key=segments[-1].place)
    segment = segments[at]
    before = segments[at - 1].place if at else segment.place
    if node is None or node.content is None:
        node = Node({}, before, before)
    if isinstance(node.content, tuple):
        return _put_item(node, segments, at, value)
    if not isinstance(node.content, dict):
        if node.content is UNREADABLE:
            return node
        whole = ".".join(s.text for s in segments[:at])
        message = f"{whole!r} is {kind(node.content)}, which has no key {segment.text!r}"
        raise _refused(message, segment.place, f"set {whole!r} as a whole")
    child = _put(node.content.get(segment.text), segments, at + 1, value)
    if child.key is None:
        child = replace(child, key=segment.place)
    return replace(node, content={**node.content, segment.text: child})


def _put_item(node: Node, segments: list[_Segment], at: int, value: Node) -> Node:
    """Return a list with ``value`` at the path ``segments[at:]``; one past its end adds an entry."""
    segment, count = segments[at], len(node.content)
    whole = ".".join(s.text for s in segments[:at])
    if not re.fullmatch("[0-9]{1,6}", segment.text) or int(segment.text) > count:
        message = f"{whole!r} is a list of {count} and has no entry {segment.text!r}"
        raise _refused(message, segment.place, f"entries count from 0; {count} adds one at the end")
    index = int(segment.text)
    child = _put(node.content[index] if index < count else None, segments, at + 1, value)
    return replace(node, content=(*node.content[:index], child, *node.content[index + 1 :]))
