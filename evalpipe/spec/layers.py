"""A file of the spec laid over the files it extends."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from evalpipe.base.origin import SpecFile
from evalpipe.errors import Place, Problem
from evalpipe.spec.environment import Dated
from evalpipe.spec.models import Spec
from evalpipe.spec.text import STDIN, read_text
from evalpipe.spec.tree import UNREADABLE, Node, kind, merge, without
from evalpipe.spec.yaml import parse
from evalpipe.words.spelling import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.spec.text import SpecText

COMMON = frozenset({"cluster", "id", "name", "task", "title", "weight"})
"""Keys of a spec that files of other programs have too."""


@dataclass(slots=True)
class Layers:
    """Reads files and those they extend; gathers problems, folders and who included whom.

    ``folders`` holds the folder of each file under the name shown for it, in reading order; ``notes`` how each extended
    file was reached; ``files`` what was read; ``complete`` whether every file could be read.
    """

    environment: Mapping[str, str]
    folders: dict[str, Path] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    files: list[SpecFile] = field(default_factory=list)
    complete: bool = True

    def file(
        self, path: Path, shown: str, named_at: Place | None = None, way: Mapping[str, str] = MappingProxyType({}),
        links: tuple[str, ...] = (),
    ) -> Node | None:
        """Read a file and everything it extends; None where it cannot be read.

        ``named_at`` is the place that names the file; ``way`` the files that led to it, by their real paths the names
        shown, and ``links`` the lines in these, such as "base.yaml:3".
        """
        text = read_text(path, shown, named_at)
        if isinstance(text, Problem):
            return self._refuse(text)
        if links and not _of_a_spec(text.text):
            # Nothing of it is shown: it may be a key or a list of passwords that was named by mistake.
            message = f"{shown} is no file of a spec: no line of it begins with a key of one"
            hint = "name a YAML file with keys such as 'models' or 'card'"
            return self._refuse(Problem("not-a-spec", message, named_at, hint))
        self.folders[shown] = path.parent
        if text.sha256 is not None:
            self.files.append(SpecFile(None if shown == STDIN else path, text.sha256))
        if links:
            self.notes[shown] = "included from: " + " -> ".join((*links, shown))
        node = self._mapping(text)
        return None if node is None else self.extended(node, path.parent, {**way, _real(path): shown}, links)

    def _mapping(self, text: SpecText) -> Node | None:
        """Return the mapping that a file holds; None, with a problem, where it holds none."""
        document = parse(text, self.environment)
        self.problems.extend(document.problems)
        node = document.root
        if node is None and not document.problems:
            hint = "write the keys of a spec; README.md shows one, docs/spec.md has them all"
            return self._refuse(Problem("empty-file", "the file holds no YAML", Place(text.file), hint))
        if node is None or node.content is UNREADABLE:
            self.complete = False
            return None
        if not isinstance(node.content, dict):
            message = f"expected a mapping of keys to values, got {kind(node.content)}"
            hint = "write 'key: value', with a space after the ':'"
            return self._refuse(Problem("wrong-type", message, node.place, hint))
        return node

    def _refuse(self, problem: Problem) -> Node | None:
        """Note why there is no node."""
        self.problems.append(problem)
        self.complete = False
        return None

    def extended(
        self, node: Node, folder: Path, way: Mapping[str, str] = MappingProxyType({}), links: tuple[str, ...] = ()
    ) -> Node:
        """Lay a mapping over the file that its key ``extends`` names, which is relative to ``folder``."""
        if "extends" not in node.content:
            return node
        rest = without(node, ("extends",))
        link = node.content["extends"]
        base = self._base(link, folder, way, links)
        return rest if base is None else merge(base, rest)

    def _base(self, link: Node, folder: Path, way: Mapping[str, str], links: tuple[str, ...]) -> Node | None:
        """Return the file that the value of ``extends`` names, with all it extends itself; None where it cannot be."""
        name = link.content
        if name is UNREADABLE:
            self.complete = False
            return None
        if isinstance(name, Dated):
            message = "'extends' cannot hold ${date}: the day is known only when all files are read"
            return self._refuse(Problem("bad-reference", message, link.place, "name one file, whatever the day"))
        if not isinstance(name, str) or not name:
            message = f"'extends' takes the path of a file, got {'an empty text' if name == '' else kind(name)}"
            return self._refuse(Problem("wrong-type", message, link.place, "name one file, relative to this one"))
        # What a variable of the environment holds may be a secret, so it is not shown, not even as a path.
        shown = _shown([*way.values()][-1] if way else "", "${env}" if link.environment else name)
        real = _real(folder / name)
        if real in way:
            return self._refuse(_cycle(real, way, shown, link.place))
        line = f"{link.place.file}:{link.place.line}" if link.place is not None else "the mapping"
        return self.file(folder / name, shown, link.place, way, (*links, line))


def _of_a_spec(text: str) -> bool:
    """Tell whether a text has, at the beginning of a line or of a mapping, a key that few other files have there.

    One without a value has nothing to show.
    """
    keys = "|".join(sorted({"extends", *Spec.model_fields} - COMMON))
    bare = not re.sub(r"(?m)^[ \t]*#.*$", "", text).strip()
    return bare or re.search(rf"""(?m)(?:^|^[ \t]*[{{,]\s*)["']?(?:{keys})["']?[ \t]*:""", text) is not None


def _cycle(real: str, way: Mapping[str, str], shown: str, place: Place | None) -> Problem:
    """Return the problem of a file that extends itself, at once or through the files of ``way``."""
    names = list(way.values())[list(way).index(real):]
    circle, only = " -> ".join([*names, names[0]]), len(names) == 1
    message = f"{quoted(shown)} extends itself" if only else f"the files extend each other in a circle: {circle}"
    return Problem("extends-cycle", message, place, "remove this key" if only else "remove one of the 'extends' keys")


def _shown(from_file: str, name: str) -> str:
    """Return the name shown for a file that ``from_file`` names: relative where the user's own path was."""
    joined = os.path.join(os.path.dirname(from_file), name)  # noqa: PTH118, PTH120 - as text, not to be resolved
    plain = os.path.normpath(joined)
    return plain if _real(joined) == _real(plain) else joined


def _real(path: str | Path) -> str:
    """Return the path without links; as it is where it can be no path."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return str(path)
