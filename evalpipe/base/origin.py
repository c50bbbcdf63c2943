"""The origin of each value of a spec in its files, so that any later step can point at it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from evalpipe.errors import Place
from evalpipe.words.spelling import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

Loc = tuple[str | int, ...]
"""A path of keys and list indices from the root of the spec."""

_BARE = re.compile(r"[\w-]+")
_PART = re.compile(r'"(?P<quoted>(?:[^"]|"")*)"|(?P<bare>[^."\[\]]+)')


@dataclass(frozen=True, slots=True)
class SpecFile:
    """A file of a spec, with the sha256 of its bytes; its path is None for the standard input."""

    path: Path | None
    sha256: str


@dataclass(frozen=True, slots=True)
class Origin:
    """Places of keys and values, and the folder that relative paths start from.

    ``values[loc]`` is the place of the value at ``loc``; ``keys[loc]`` the place of its key in its mapping;
    ``folders[file]`` the folder of each file the spec was read from; ``newest`` the file that was named for this run,
    or the name of the overrides over it; ``dated`` the texts with the day of the spec, in place of ``${date}``;
    ``environment`` the values from the environment. ``files`` are all files read, each before those that it extends;
    ``overrides`` the texts of ``--set``.
    """

    path: Path | None = None
    values: Mapping[Loc, Place] = field(default_factory=lambda: MappingProxyType({}))
    keys: Mapping[Loc, Place] = field(default_factory=lambda: MappingProxyType({}))
    folders: Mapping[str, Path] = field(default_factory=lambda: MappingProxyType({}))
    environment: frozenset[Loc] = frozenset()
    newest: str | None = None
    dated: frozenset[Loc] = frozenset()
    files: tuple[SpecFile, ...] = ()
    overrides: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """The folder of the spec file; the working folder for a spec made from a mapping."""
        return self.path.parent if self.path is not None else Path()

    def place(self, *loc: str | int, key: bool = False) -> Place | None:
        """Return the place of the value (or key) at ``loc``, else of the nearest mapping around it."""
        for depth in range(len(loc), -1, -1):
            place = self.keys.get(loc[:depth]) if key else self.values.get(loc[:depth])
            place = place or self.values.get(loc[:depth])
            if place is not None:
                return place
        return None

    def folder_of(self, *loc: str | int) -> Path:
        """Return the folder of the spec file that has the value at ``loc``."""
        place = self.place(*loc)
        return self.folders.get(place.file, self.folder) if place is not None else self.folder


def path_text(loc: Loc) -> str:
    """Write a location as ``--set`` takes it: ``models."Model 1.2".threshold``; list indices as ``metrics[0]``."""
    text = ""
    for part in loc:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            key = part if _BARE.fullmatch(part) else '"{}"'.format(printable(part).replace('"', '""'))
            text += f".{key}" if text else key
    return text


def path_keys(text: str) -> list[str]:
    """Return the keys and list indices, all as texts, of a location that `path_text` wrote."""
    parts = _PART.finditer(text)
    return [part["bare"] if part["quoted"] is None else part["quoted"].replace('""', '"') for part in parts]
