"""The files of a template folder: what may be in it, and how it is read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from evalpipe.errors import Place, Problem, UsageError
from evalpipe.words.spelling import closest, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CODE = "bad-template"
PAGE, BLOCKS, STYLES = "card.html", "blocks.html", "theme.css"
USED = (PAGE, BLOCKS, STYLES)
"""The files that evalpipe looks for; other templates are there to be included by these."""

PACKAGED = "evalpipe/"
"""What the names of evalpipe's own templates begin with, as in ``{% extends "evalpipe/card.html" %}``."""

MOST_BYTES = 200_000
"""What all templates of a folder may have together; they are kept in the results."""

LONGEST_LINE = 160
"""The characters of a line that a message shows."""

PROSE = (".md", ".txt")
"""Files beside the templates that are for people."""


@dataclass(frozen=True, slots=True)
class Templates:
    """The templates of a folder by name, and how the folder is called in messages."""

    folder: str
    texts: Mapping[str, str]

    def shown(self, name: str) -> str:
        """Return how messages call a template."""
        return f"{self.folder}/{name}" if self.folder else name

    @property
    def pages(self) -> dict[str, str]:
        """The templates of markup, by name."""
        return {name: text for name, text in self.texts.items() if name != STYLES}


def read_templates(folder: Path, shown: str) -> Templates:
    """Read the templates of a folder, or a single file of that kind.

    Raises UsageError where there is none, and with every file that cannot be one.
    """
    try:
        files = {folder.name: folder} if folder.is_file() else dict(sorted(_visible_files(folder)))
        texts, problems = {}, list(_misplaced_files(folder, files, shown))
        if not problems and sum(file.stat().st_size for file in files.values()) > MOST_BYTES:
            problems.append(Problem(CODE, f"the templates in {quoted(shown)} have more than {MOST_BYTES:,} bytes",
                                    hint="templates hold words and markup; leave pictures out, or make them smaller"))
        for name, file in files.items() if not problems else ():
            texts[name] = file.read_bytes().decode()
    except UnicodeDecodeError:
        problems = [Problem(CODE, f"{quoted(f'{shown}/{name}')} is not UTF-8 text", hint="save it as UTF-8")]
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        problems = [Problem("missing-template", f"cannot read the template folder {quoted(shown)}: {reason}",
                            hint="name a folder of templates; docs/theming.md says what is in it")]
    if problems:
        raise UsageError(*problems)
    return Templates(folder_of(shown, folder.name) if folder.is_file() else shown, texts)


def folder_of(shown: str, name: str) -> str:
    """Return the folder of templates that is named by itself, or by the single file in it that is used."""
    folder, _, last = shown.rpartition("/")
    return folder if last == name else shown


def _visible_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield what is in a folder by name, but for hidden files and those for people."""
    for file in folder.iterdir():
        if not file.name.startswith(".") and file.suffix not in PROSE:
            yield file.name, file


def _misplaced_files(folder: Path, files: Mapping[str, Path], shown: str) -> Iterator[Problem]:
    """Report files that are no templates, or that lie elsewhere; and a folder that has nothing which is used."""
    whole = Path(os.path.realpath(folder))
    top = whole if folder.is_dir() else whole.parent
    for name, file in files.items():
        if not Path(os.path.realpath(file)).is_relative_to(top):
            yield Problem(CODE, f"{quoted(f'{shown}/{name}')} is a link to a file outside the folder",
                          hint="copy the file into the folder")
        elif file.is_dir() or not (name == STYLES or name.endswith(".html")):
            guess = closest(name, USED)
            yield Problem(CODE, f"{quoted(f'{shown}/{name}')} is no template: a folder has *.html and {STYLES}",
                          hint=f"did you mean '{guess}'?" if guess else "move it out of the folder")
    if not any(name in USED for name in files):
        message = f"{quoted(shown)} holds no template that is used"
        yield Problem(CODE, message, hint=f"it has {PAGE}, {BLOCKS} or {STYLES}")


def in_file_order(templates: Templates, problems: Iterator[Problem]) -> tuple[Problem, ...]:
    """Return the problems of templates in the order of their files and lines."""
    order = {templates.shown(name): place for place, name in enumerate(templates.texts)}

    def key(problem: Problem) -> tuple[int, int]:
        place = problem.place
        return (order.get(place.file, len(order)), place.line or 0) if place else (-1, 0)

    return tuple(sorted(dict.fromkeys(chain(problems)), key=key))


def problem_at(templates: Templates, name: str, line: int | None, message: str, hint: str | None) -> Problem:
    """Make a problem of a line of a template."""
    lines = templates.texts.get(name, "").splitlines()
    text = lines[line - 1] if line is not None and 0 < line <= len(lines) else None
    if text is None or len(text) > LONGEST_LINE or not text.strip():
        return Problem(CODE, message, Place(templates.shown(name), line), hint)
    start = len(text) - len(text.lstrip())
    return Problem(CODE, message, Place(templates.shown(name), line, start + 1, len(text.strip()), text), hint)
