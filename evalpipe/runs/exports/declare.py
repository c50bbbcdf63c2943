"""What an export is: the format of others that results are written in, what goes where, and what has no place there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from evalpipe.runs.exports.exported import ExportedRun

Files = Mapping[str, str]
"""The texts of files by their names."""


class Export(NamedTuple):
    """A format of others; the command line, its help and docs/export.md read these declarations.

    ``models``: whether a file is of `one` model, of `any` that are asked for, or of the run as a whole (`all`).
    """

    name: str
    title: str
    version: str
    file: str
    """The usual name of its file; of a format of several files, the usual name of their folder."""
    media_type: str
    holds: str
    """What it is for and what is written in it, in one sentence."""
    reference: str
    validator: str
    """What reads it in the tests, by the names of the packages that do."""
    places: Mapping[str, str]
    """What goes where: what of the results, by its place in the format."""
    lacks: tuple[str, ...]
    """What of the results it cannot hold."""
    write: Callable[[ExportedRun], Files]
    """Returns its files by name. Raises SpecError with everything that the format requires and nobody stated."""
    models: Literal["one", "any", "all"] = "any"
    folder: bool = False
    """Whether it is a folder of several files."""
    asks_evaluator: bool = False
    """Whether it requires the relationship of the evaluator to the model, which no results tell."""
