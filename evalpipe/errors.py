"""Everything evalpipe raises on purpose: problems with a place and a way out, in four kinds of error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from evalpipe.words.spelling import printable


@dataclass(frozen=True, slots=True)
class Place:
    """A spot in a file: 1-based line and column, the length underlined, and the line's text."""

    file: str
    line: int | None = None
    column: int | None = None
    length: int = 1
    text: str | None = None

    def __str__(self) -> str:
        """Write the place as ``file:line:column``, without the parts that are None."""
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem to show to a person.

    ``code`` is a stable, hyphenated name; ``message`` one sentence without a full stop; ``place`` its spot in a file;
    ``hint`` how to solve it, shown under the caret; ``rows`` the offending data rows as ``(1-based row, value)``;
    ``notes`` further lines, each shown behind ``=``.
    """

    code: str
    message: str
    place: Place | None = None
    hint: str | None = None
    rows: tuple[tuple[int, str], ...] = ()
    notes: tuple[str, ...] = ()
    severity: str = "error"

    def __str__(self) -> str:
        """Render the problem as people read it in a terminal: names that it quotes break no line and turn no text."""
        return "\n".join([f"{self.severity}[{self.code}]: {printable(self.message)}", *self._body()])

    def _body(self) -> list[str]:
        """Return the lines below the message: place, text with a caret, rows, notes and hint."""
        place, hint, pad = self.place, printable(self.hint or ""), " "
        shown = printable(str(place))
        lines = [] if place is None else [f"{pad}--> {shown}"]
        if place is not None and place.text is not None and place.line is not None:
            pad = " " * len(str(place.line))
            # Tabs stay tabs, so that the caret stands under its character however wide they are shown.
            text_before = place.text[: (place.column or 1) - 1]
            indent = "".join("\t" if character == "\t" else " " for character in text_before)
            caret = f"{indent}{'^' * max(1, place.length)} {hint}".rstrip()
            lines, hint = [f"{pad}--> {shown}", f"{pad} |", f"{place.line} | {place.text}", f"{pad} | {caret}"], ""
        lines += [f"{pad} |"] if self.rows else []
        lines += [f"{pad} | row {row}: {value}" for row, value in self.rows]
        lines += [f"{pad} = {printable(note)}" for note in self.notes]
        return [*lines, f"{pad} = help: {hint}"] if hint else lines

    def as_dict(self) -> dict[str, object]:
        """Return the problem as plain JSON values."""
        where = {key: getattr(self.place, key, None) for key in ("file", "line", "column")}
        rows = [{"row": row, "value": value} for row, value in self.rows]
        return {"severity": self.severity, "code": self.code, "message": self.message, **where, "rows": rows,
                "hint": self.hint, "notes": list(self.notes)}


class EvalpipeError(Exception):
    """Root of all errors that evalpipe raises on purpose; carries every problem found in one pass."""

    exit_code: ClassVar[int] = 4

    def __init__(self, *problems: Problem) -> None:
        """Keep the problems, in the order they should be read."""
        self.problems = problems
        super().__init__("\n\n".join(str(problem) for problem in problems))

    @classmethod
    def of(cls, code: str, message: str, hint: str | None = None, notes: tuple[str, ...] = ()) -> Self:
        """Make an error of a single problem that has no place in a file."""
        return cls(Problem(code, message, hint=hint, notes=notes))


class UsageError(EvalpipeError):
    """The command line, the arguments of a call, or the machine is unfit for the request."""

    exit_code = 2


class SpecError(EvalpipeError):
    """The spec is wrong; nothing was computed."""

    exit_code = 2


class DataError(EvalpipeError):
    """The data are wrong or cannot be read; nothing was written."""

    exit_code = 3


class InternalError(EvalpipeError):
    """A fault of evalpipe itself."""

    exit_code = 4
