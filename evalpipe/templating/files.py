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
        """Return the path of a template in messages: its name after the folder."""
        return f"{self.folder}/{name}" if self.folder else name

    @property
    def pages(self) -> dict[str, str]:
        """The HTML templates by name: all but the style sheet."""
        return {name: text for name, text in self.texts.items() if name != STYLES}


def read_templates(folder: Path, shown: str) -> Templates:
    """Read the custom templates of a folder, or a single template; messages name it by ``shown``.

    Raises UsageError where there is none, or with every file that is no template.
    """
    try:
        files = {folder.name: folder} if folder.is_file() else dict(sorted(
            (file.name, file) for file in folder.iterdir()
            if not file.name.startswith(".") and file.suffix not in PROSE))
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
    """Return the folder of a path ``shown``, which is the folder itself or its template ``name``."""
    folder, _, last = shown.rpartition("/")
    return folder if last == name else shown


def _misplaced_files(folder: Path, files: Mapping[str, Path], shown: str) -> Iterator[Problem]:
    """Yield problems: files that are no templates, links out of the folder, and a folder without any used template."""
    real_path = Path(os.path.realpath(folder))
    real_folder = real_path if folder.is_dir() else real_path.parent
    for name, file in files.items():
        if not Path(os.path.realpath(file)).is_relative_to(real_folder):
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
    """Return the problems of templates once each, in the order of their files and lines."""
    order = {templates.shown(name): position for position, name in enumerate(templates.texts)}

    def key(problem: Problem) -> tuple[int, int]:
        place = problem.place
        return (order.get(place.file, len(order)), place.line or 0) if place else (-1, 0)

    return tuple(sorted(dict.fromkeys(chain(problems)), key=key))


def problem_at(templates: Templates, name: str, line: int | None, message: str, hint: str | None) -> Problem:
    """Return a problem at a line of a template, with the text of the line where it is short enough to be shown."""
    lines = templates.texts.get(name, "").splitlines()
    text = lines[line - 1] if line is not None and 0 < line <= len(lines) else None
    if text is None or len(text) > LONGEST_LINE or not text.strip():
        return Problem(CODE, message, Place(templates.shown(name), line), hint)
    start = len(text) - len(text.lstrip())
    return Problem(CODE, message, Place(templates.shown(name), line, start + 1, len(text.strip()), text), hint)
