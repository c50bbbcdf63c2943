"""What the check of a file comes to."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evalpipe.base.digests import file_sha256
from evalpipe.results.signatures import EVIDENCE_DIGITS
from evalpipe.runs.verification import PDF

Kind = Literal["output", "spec", "input", "ledger", "recomputed"]
Status = Literal["same", "same numbers", "differs", "not checked"]
"""Of a run again, "same numbers" says that bytes differ in last digits alone."""


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A file with what became of its check, and the reason in a few words; ``notes`` say in what it differs."""

    kind: Kind
    file: str
    status: Status
    reason: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """What the checks of an output folder came to, file by file."""

    folder: str
    files: tuple[CheckedFile, ...]

    def count(self, status: Status) -> int:
        """Return how many files have a status."""
        return sum(file.status == status for file in self.files)

    def holds(self, *, inputs: bool = False) -> bool:
        """Tell whether no file differs, the pages of a PDF were compared, and what was to be recomputed could be.

        With ``inputs``, also whether the spec, every input and the ledger could be checked.
        """
        needed = {"recomputed", *(("spec", "input", "ledger") if inputs else ())}
        # A PDF of another version cannot be drawn again; whether its pages are known says its line of the folder.
        unchecked = any(file.kind == "output" if file.file == PDF else file.kind in needed
                        for file in self.files if file.status == "not checked")
        return not self.count("differs") and not unchecked


def other_digest(here: str, recorded: str) -> str:
    """Say that a file has another sha256 than the one that is recorded."""
    return f"its sha256 begins with {here[:EVIDENCE_DIGITS]}, the manifest has {recorded[:EVIDENCE_DIGITS]}"


def digest_of(path: Path) -> str:
    """Return the sha256 of a file; raises OSError where it cannot be read, or is a folder or a device."""
    if not os.path.isfile(path):  # noqa: PTH113 - which tells no error from no file
        raise FileNotFoundError(errno.ENOENT, "there is no such file")
    return file_sha256(path)
