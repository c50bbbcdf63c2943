"""Where a spec is written: its file, which replaces no other unless it is to."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from evalpipe.data.files import SUFFIXES
from evalpipe.errors import UsageError
from evalpipe.proposal.written import NOT_HERE, spec_name
from evalpipe.runs.ownership import refuse_to_replace


def target_of(out: str | None, data: str) -> str:
    """Return where the spec is to be written: as given, else in the working folder and called after the data."""
    if out is not None:
        return out
    name = Path(data).name
    ending = next((suffix for suffix in SUFFIXES if name.lower().endswith(suffix)), "")
    return f"{spec_name(name[:len(name) - len(ending)] or 'evaluation', data)}.yaml"


def refuse_existing(target: str, *, force: bool) -> None:
    """Refuse a file that exists, or whose folder does not; raises UsageError."""
    if target == NOT_HERE:
        return
    path = Path(target)
    if path.is_dir():
        raise UsageError.of("not-a-file", f"'{target}' is a folder", "name a file, as in -o spec.yaml")
    if os.path.lexists(target) and not force:
        raise UsageError.of("spec-exists", f"'{target}' exists, and nothing was written",
                            "name another file with -o, or replace this one with --force")
    refuse_to_replace(target)
    if not path.parent.is_dir():
        raise UsageError.of("missing-folder", f"there is no folder '{path.parent}'", "make it first")


def write(target: str, text: str, *, force: bool) -> None:
    """Write a spec, whole or not at all; raises UsageError where it cannot be, or would replace another file."""
    refuse_existing(target, force=force)
    path = Path(target)
    try:
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".new-", encoding="utf-8", newline="\n",
                                         delete=False) as fresh:
            fresh.write(text)
        try:
            Path(fresh.name).chmod(0o666 & ~_umask())
            Path(fresh.name).replace(path)
        finally:
            Path(fresh.name).unlink(missing_ok=True)
    except OSError as error:
        raise UsageError.of("unwritable", f"cannot write '{target}': {error.strerror or error}",
                            "name a file that can be written with -o") from None


def _umask() -> int:
    """Return the mask of new files, which a temporary file does not follow."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
