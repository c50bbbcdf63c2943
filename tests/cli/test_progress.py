"""The live bar goes on while files are read, whose libraries have the standard error turned aside."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

READING = """
import os
from evalpipe.cli.run import Bar
from evalpipe.data.formats import captured_stderr

with Bar() as bar:
    bar.step(3, "read the data")
    bar.expect_parts("d", 2, 0, "")
    with captured_stderr():
        os.write(2, b"a word of a library")
        bar.part_read()
        bar._rich.refresh()
        os._exit(0)
"""


def test_the_bar_moves_while_the_standard_error_is_turned_aside() -> None:
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    subprocess.run([sys.executable, "-c", READING], stderr=slave, check=True, env=environment)
    os.close(slave)
    shown = b""
    while chunk := _read(master):
        shown += chunk
    os.close(master)
    assert b"3/7 read the data: 1 of 2 parts" in shown
    assert b"a word of a library" not in shown


def _read(master: int) -> bytes:
    """Read what was written to a terminal; nothing after its other end was closed, which is an error to Linux."""
    try:
        return os.read(master, 65536)
    except OSError:
        return b""
