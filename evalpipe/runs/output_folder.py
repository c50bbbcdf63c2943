"""Whose the folders and files are that a command would write to: of runs, or of somebody else."""

from __future__ import annotations

import os
from pathlib import Path

from evalpipe.base.formats import FORMATS
from evalpipe.errors import UsageError
from evalpipe.results.signatures import SIGNATURES
from evalpipe.runs.manifest import KEY_SIGNATURE, MANIFEST
from evalpipe.words.spelling import some_of

RESULTS = "results.json"

WRITTEN = (*(entry.file for entry in FORMATS.values()), RESULTS, "estimates.csv", "run.json", SIGNATURES,
           "rows.parquet", "rows.csv", MANIFEST, KEY_SIGNATURE)
"""Every file that a run may write; those of an earlier run are replaced or removed."""

_VERSION, _HEAD = b'"evalpipe_version"', 1 << 16
_TELLING = {RESULTS: _VERSION, MANIFEST: _VERSION, "reference.json": _VERSION, SIGNATURES: b'"evidence_sha256"'}
"""Files that tell a folder of a run from others, with what each holds within so many of its first bytes."""


def refuse_foreign(folder: Path, called: str) -> None:
    """Refuse a folder that holds files, and no run among them; raises UsageError.

    A folder that is not there, or holds hidden names alone, is nobody's. ``called`` names it in the message. Raises
    OSError where it cannot be read.
    """
    if not folder.exists() or _of_run(folder):
        return
    names = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    if names:
        message = f"the {called} holds files that no run of evalpipe wrote: {some_of(names)}"
        hint = "choose a new or an empty folder with --out, or move these files away"
        raise UsageError.of("foreign-folder", message, hint)


def refuse_file_of_run(file: str | os.PathLike[str]) -> None:
    """Refuse to replace a file that a run wrote by something else; raises UsageError."""
    path = Path(file)
    if path.name in WRITTEN and os.path.lexists(path) and _of_run(path.parent):
        message = f"'{file}' is a file that a run wrote, and nothing was written"
        raise UsageError.of("file-of-a-run", message, "name another file")


def refuse_to_replace(file: str | os.PathLike[str]) -> None:
    """Refuse to put a file in the place of one that a run wrote, or of a pipe or a device; raises UsageError.

    Output is renamed into its place, which takes a device away from the whole machine where the user may do that.
    """
    place = Path(os.path.realpath(Path(file).parent))
    # A name that is too long is told by what writes to it.
    special = os.path.exists(file) and not os.path.isfile(file) and not os.path.isdir(file)  # noqa: PTH110, PTH112, PTH113
    if special or place == Path("/dev") or Path("/proc") in (place, *place.parents):
        raise UsageError.of("not-a-file", f"'{file}' is a pipe or a device, and nothing was written",
                            "name a file, or redirect the standard output")
    refuse_file_of_run(file)


def _of_run(folder: Path) -> bool:
    """Tell whether results, a manifest or signatures of evalpipe, of whatever version, are in a folder."""
    return any(mark in _beginning(folder / name) for name, mark in _TELLING.items())


def _beginning(path: Path) -> bytes:
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        return file.read(_HEAD)
