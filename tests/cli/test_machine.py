"""What a process may use: processors and memory, within the limits of its control groups of either version."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalpipe.cli.doctor import cores, memory_free, memory_limit


def written(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text + "\n")
    return root


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the process be bound to 16 processors."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)))


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(("files", "usable", "limit"), [
    ({}, 16, None),
    ({"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/b/cpu.max": "max 100000", "sys/fs/cgroup/a/b/memory.max": "max"},
     16, None),
    ({"proc/self/cgroup": "0::/a/b",
      "sys/fs/cgroup/a/b/cpu.max": "400000 100000", "sys/fs/cgroup/a/cpu.max": "150000 100000",
      "sys/fs/cgroup/a/memory.max": "2000000000", "sys/fs/cgroup/memory.max": "3000000000"}, 1.5, 2_000_000_000),
    ({"proc/self/cgroup": "4:memory:/host/path\n1:cpu,cpuacct:/host/path\n0::/",
      "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "250000", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
      "sys/fs/cgroup/memory/memory.limit_in_bytes": "500000000"}, 2.5, 500_000_000),
    ({"proc/self/cgroup": "4:memory:/\n1:cpu:/", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
      "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
      "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712"}, 16, None),
    ({"proc/self/cgroup": "0::/../../x", "sys/fs/cgroup/cpu.max": "nonsense"}, 16, None),
], ids=["none", "no limit", "nested", "version 1", "version 1 without limits", "nonsense"])
def test_the_least_of_all_limits_counts(
    tmp_path: Path, files: dict[str, str], usable: float, limit: int | None
) -> None:
    root = written(tmp_path, files)
    assert cores(root) == usable
    assert memory_limit(root) == limit


def test_memory_that_is_free_is_what_the_system_says(tmp_path: Path) -> None:
    assert memory_free(tmp_path) is None
    written(tmp_path, {"proc/meminfo": "MemTotal:  9 kB\nMemAvailable:    2048 kB"})
    assert memory_free(tmp_path) == 2048 * 1024


def test_this_machine_can_be_asked() -> None:
    assert 0 < cores() <= (os.cpu_count() or 1)
    limit = memory_limit()
    assert limit is None or limit > 0
