"""What all readers of logs share: samples with their scores, facts of a log, scores as numbers, and lines of JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalpipe.data.logs.plain_values import within
from evalpipe.errors import DataError, Place, Problem
from evalpipe.plan.sources import LogFacts
from evalpipe.words.spelling import clipped, counted, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Document = dict[str, Any]

LARGEST_TEXT = 2**29
"""Bytes that a member of a zip, a JSON file or a line may have, unpacked: 512 MiB."""
USED = ("input_tokens", "output_tokens", "cost", "seconds")
"""The names of what an answer used, where a log says it."""
ERROR, LIMIT, NOT_SCORED = "error", "limit", "not scored"


@dataclass(frozen=True, slots=True)
class LoggedSample:
    """One answer of a model to an item.

    ``scores`` has a number for each scorer, or the reason why there is none. ``missing`` is the reason for all scorers
    of the log that are not in it; None where these have nothing to score here. ``fields`` are the values of the item;
    ``content`` is a digest of its text, where a log has one. ``usage`` is what the answer used, by the names of `USED`.
    """

    item: str
    epoch: int
    scores: Mapping[str, float | str]
    missing: str | None
    fields: Mapping[str, Any]
    content: str | None = None
    usage: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelLog:
    """The samples of one model and task in a file, and the names of the scorers where the log lists them."""

    facts: LogFacts
    samples: tuple[LoggedSample, ...]
    scorers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file of a log: where it lies, its name in messages, and which scorers of it are read (None: all)."""

    path: Path
    shown: str
    sha256: str
    wanted: frozenset[str] | None = None

    def error(self, code: str, message: str, hint: str, line: int | None = None) -> DataError:
        """Return an error at a line of the file."""
        return DataError(Problem(code, message, Place(self.shown, line), hint))

    def wants(self, scorer: str) -> bool:
        """Tell whether a scorer is read: it is named, or its part before the first slash is."""
        return self.wanted is None or scorer in self.wanted or scorer.partition("/")[0] in self.wanted

    def scores(
        self, values: Mapping[str, Any], number: Callable[[Any], float | str | None], sample: str,
        line: int | None = None,
    ) -> dict[str, float | str]:
        """Return the wanted scores as numbers or reasons; a mapping gives a score for each key, as `scorer/key`.

        ``number`` returns None for what is no score: then a DataError names the file, the sample and the scorer.
        """
        flat: dict[str, Any] = {}
        for scorer, value in values.items():
            flat |= {f"{scorer}/{key}": part for key, part in value.items()} if isinstance(value, dict) else {
                scorer: value}
        scores: dict[str, float | str] = {}
        for scorer, value in flat.items():
            if not self.wants(scorer):
                continue
            score = number(value)
            if score is None:
                raise self.error(
                    "not-a-score", f"scorer {quoted(scorer)} gives {sample} {_described(value)}, which is no number",
                    "let the scorer give a number, or name the scorers to read without this one", line)
            scores[scorer] = score
        return scores

    def item(self, value: object, sample: str, line: int | None = None) -> str:
        """Return the id of an item as text; raises DataError where there is none."""
        if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
            raise self.error("no-item-id", f"{sample} has no id of its item",
                             "items are paired between models by their id: log it for all", line)
        return str(value)

    def text(self, document: Any, *keys: str, line: int | None = None) -> str:
        """Return a text that the format requires, by its keys from the outside in; raises DataError without it."""
        value = within(document, *keys)
        if not isinstance(value, str) or not value:
            raise self.error("broken-log", f"{self.shown} has no {quoted('.'.join(keys))}, which its format requires",
                             "check that the file is a log of the format that was named", line)
        return value

    def parsed(self, text: str | bytes, line: int | None = None, member: str = "",
               hook: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
        """Return JSON values of a text; raises DataError that names the line or the member of the zip."""
        try:
            if isinstance(text, bytes):
                text = text.decode("utf-8-sig")
            document = json.loads(text, object_pairs_hook=hook)
            if "\\ud" in text or "\\uD" in text:
                json.dumps(document, ensure_ascii=False).encode()  # raises where a surrogate stands alone
        except (ValueError, RecursionError) as fault:
            whole = f"{quoted(member)} in {self.shown}" if member else self.shown if line is None else f"line {line:,}"
            reason = ("it is nested too deeply" if isinstance(fault, RecursionError) else
                      "it escapes half a character" if isinstance(fault, UnicodeEncodeError) else clipped(str(fault)))
            if isinstance(fault, json.JSONDecodeError):
                within_text = "" if line is not None else f"line {fault.lineno:,}, "
                reason = f"{fault.msg} ({within_text}column {fault.colno:,})"
            raise self.error("broken-log", f"{whole} is no JSON: {reason}",
                             "the run was stopped or the copy is not whole: copy the file again, or log the run again",
                             line) from None
        return document

    def json(self, hook: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Document:
        """Return the JSON object that is the file; raises DataError where it is none or larger than `LARGEST_TEXT`."""
        if self.path.stat().st_size > LARGEST_TEXT:
            raise self.too_large(self.shown)
        document = self.parsed(self.path.read_bytes(), hook=hook)
        if not isinstance(document, dict):
            raise self.error("broken-log", f"{self.shown} holds {_described(document)}, not an object with the log",
                             "check that the file is a log of the format that was named")
        return document

    def lines(self) -> Iterator[tuple[int, Document]]:
        """Yield the number and the JSON object of each line that is not blank; raises DataError on any other."""
        with self.path.open("rb") as file:
            number = 0
            while line := file.readline(LARGEST_TEXT + 1):
                number += 1
                if len(line) > LARGEST_TEXT:
                    raise self.too_large(f"line {number:,}", number)
                if not line.strip():
                    continue
                document = self.parsed(line.strip(), number)
                if not isinstance(document, dict):
                    raise self.error("broken-log", f"line {number:,} holds {_described(document)}, not an object",
                                     "check that the file is a log of the format that was named", number)
                yield number, document

    def too_large(self, part: str, line: int | None = None) -> DataError:
        """Return the error of a part of the file that is larger than `LARGEST_TEXT`."""
        return self.error("too-large", f"{part} has more than {LARGEST_TEXT:,} bytes, the most that is read at once",
                          "divide the log, or write it in a format that keeps samples apart, as Inspect's .eval", line)


def _described(value: object) -> str:
    """Return a value as messages show it."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else f"a list of {counted(len(value), 'value')}"
    return "nothing" if value is None else quoted(value) if isinstance(value, str | bool) else (
        "NaN" if value != value else str(value))  # noqa: PLR0124 - NaN alone differs from itself
