"""What this process may use of the machine: processors and memory, within the limits of its control groups."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path("/")

_NO_LIMIT = 2**60
"""The bytes from which on a limit of memory is none: version 1 of control groups has no word for that."""


def cores(root: Path = ROOT) -> float:
    """Return how many processors this process may use: those that it is bound to, and the quota of its groups."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quotas = [quota for folder in _groups(root, "cpu") if (quota := _quota(folder)) is not None]
    return min([float(bound), *quotas])


def memory_limit(root: Path = ROOT) -> int | None:
    """Return the bytes that this process may take by its groups; None where they set no limit."""
    names = ("memory.max", "memory.limit_in_bytes")
    limits = [int(text) for folder in _groups(root, "memory") for name in names
              if (text := _text(folder / name)).isdecimal()]
    return min((limit for limit in limits if limit < _NO_LIMIT), default=None)


def memory_free(root: Path = ROOT) -> int | None:
    """Return the bytes of memory that can be taken now, those of caches too; None where the system does not say."""
    for line in _text(root / "proc" / "meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """Yield the folders of the control groups that this process is in, each group above it too."""
    top = root / "sys" / "fs" / "cgroup"
    for line in _text(root / "proc" / "self" / "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        hierarchy = top / controller if controllers else top
        group = Path(path.lstrip("/"))
        # Within a container the path is that of the host, and the group of the container is at the top.
        yield from (hierarchy / above for above in (group, *group.parents) if (hierarchy / above).is_dir())


def _quota(folder: Path) -> float | None:
    """Return how many processors a group may use; None where it has no quota."""
    words = _text(folder / "cpu.max").split()
    words = words or [_text(folder / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
    if len(words) == 2 and words[0].isdecimal() and words[1].isdecimal() and int(words[1]):
        return int(words[0]) / int(words[1])
    return None


def _text(path: Path) -> str:
    with suppress(OSError, UnicodeDecodeError):
        return path.read_text(encoding="utf-8").strip()
    return ""
