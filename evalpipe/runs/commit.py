"""The git commit that is checked out where a spec lies, for `run.json`."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


PATIENCE = 5.0
"""The seconds that git may take for each of its answers."""

SAFE = ("-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit")
"""Settings under which git runs no command that a folder names: neither one that watches files, nor any of a folder
that only looks like a repository."""


def commit_of(spec: Path | None) -> dict[str, object] | None:
    """Return the git ``commit`` checked out in a spec's folder, and whether it is ``dirty``; None without one.

    It is dirty where a file that git tracks was changed, or git does not track the spec; None where git did not say.
    """
    commit = None if spec is None else _git(spec.parent, "rev-parse", "--verify", "--quiet", "HEAD")
    if spec is None or commit is None:
        return None
    changed = _git(spec.parent, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all")
    tracked = _git(spec.parent, "ls-files", "--", spec.name)
    dirty = None if changed is None or tracked is None else bool(changed) or not tracked
    return {"commit": commit.strip(), "dirty": dirty}


def _git(folder: Path, *arguments: str) -> str | None:
    """Return the output of a git command in a folder; None where git is missing, fails or takes too long."""
    # Variables that a hook of git sets are of another repository than this one may be.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    git = shutil.which("git")
    if git is None:
        return None
    try:
        process = subprocess.run(  # noqa: S603 - fixed words, and the path of the spec's folder
            [git, *SAFE, "-C", str(folder), *arguments], stdin=subprocess.DEVNULL, capture_output=True,
            timeout=PATIENCE, check=False, env=environment | {"GIT_OPTIONAL_LOCKS": "0"})
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return process.stdout.decode("utf-8", "replace") if process.returncode == 0 else None
