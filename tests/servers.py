"""A real PostgreSQL, started for the tests of a worker and gone after them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from installed import lacks

if TYPE_CHECKING:
    from collections.abc import Iterator

PASSWORD = "correct-horse"  # noqa: S105 - of a server that lives for a test
"""What the server asks of its user; no output may hold it."""


def programs() -> Path | None:
    """Return the folder of PostgreSQL's programs, which Debian keeps off the path."""
    there = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if there:
        return there[-1].parent
    initdb = shutil.which("initdb")
    return None if initdb is None else Path(initdb).resolve().parent


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@contextmanager
def postgresql() -> Iterator[str]:
    """Start a server that asks for a password, and return the URL of its database `postgres`."""
    binaries = programs()
    if binaries is None:
        lacks("PostgreSQL", "postgresql")
    folder = Path(tempfile.mkdtemp(prefix="evalpipe-postgresql-"))
    secret, data, port = folder / "password", folder / "data", free_port()
    secret.write_text(PASSWORD, encoding="utf-8")
    user: list[str] = []
    if os.geteuid() == 0:  # which PostgreSQL refuses to run as
        shutil.chown(folder, "postgres")
        shutil.chown(secret, "postgres")
        user = ["runuser", "-u", "postgres", "--"]

    def call(*line: str | Path) -> None:
        subprocess.run([*user, *map(str, line)], check=True, capture_output=True, cwd=folder)

    call(binaries / "initdb", "-D", data, "-U", "keeper", "-A", "scram-sha-256", f"--pwfile={secret}", "--no-sync")
    options = f"-p {port} -k {folder} -h 127.0.0.1 -c fsync=off"
    call(binaries / "pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o", options, "start")
    yield f"postgresql://keeper:{PASSWORD}@127.0.0.1:{port}/postgres"
    call(binaries / "pg_ctl", "-D", data, "-m", "immediate", "stop")
    shutil.rmtree(folder, ignore_errors=True)
