"""The same spec and data give the same bytes, whatever the folder, hash seed, threads, clock and processor."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from processors import OLDEST

if TYPE_CHECKING:
    from conftest import Shared

CONFIG = "configs/titanic.yaml"
SAME = ("results.json", "estimates.csv", "card.html", "junit.xml")
ONE = {"PYTHONHASHSEED": "1", "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
FOUR = {"PYTHONHASHSEED": "77", "POLARS_MAX_THREADS": "4", "OMP_NUM_THREADS": "4", "OPENBLAS_NUM_THREADS": "4",
        "SOURCE_DATE_EPOCH": "1234567890", "TZ": "Asia/Tokyo", "LC_ALL": "C", **OLDEST}


def run(root: Path, folder: Path, formats: str, **environment: str) -> None:
    """Run the Titanic config from a copy in ``folder``, with fewer replicates, still of several blocks."""
    folder.mkdir(parents=True)
    shutil.copytree(root / "configs", folder / "configs")
    line = [sys.executable, "-m", "evalpipe", "run", CONFIG, "--no-progress", "--set", "intervals.replicates=200",
            "--set", f"report.formats=[{formats}]"]
    subprocess.run(line, cwd=folder, env=os.environ | environment, check=True, capture_output=True)


def written(folder: Path) -> dict[str, bytes]:
    return {name: (folder / "reports" / "titanic" / name).read_bytes() for name in SAME}


@pytest.fixture(scope="module")
def first(root: Path, shared: Shared) -> dict[str, bytes]:
    return written(shared("once", lambda folder: run(root, folder, "html, junit", **ONE)))


@pytest.fixture(scope="module")
def second(root: Path, shared: Shared) -> dict[str, bytes]:
    fill = lambda folder: run(root, folder / "deeper" / "still", "html, junit", **FOUR)  # noqa: E731
    return written(shared("again", fill) / "deeper" / "still")


@pytest.mark.parametrize("name", SAME)
def test_bytes_are_the_same(name: str, first: dict[str, bytes], second: dict[str, bytes]) -> None:
    assert first[name] == second[name]


# On every run `tests/card/test_render.py` holds the bytes of a smaller PDF to those of another process and clock.
@pytest.mark.nightly
def test_bytes_of_the_pdf_are_the_same(root: Path, tmp_path: Path) -> None:
    run(root, tmp_path / "one", "pdf", **ONE)
    run(root, tmp_path / "four", "pdf", **FOUR)
    first, second = (
        (tmp_path / name / "reports" / "titanic" / "card.pdf").read_bytes() for name in ("one", "four"))
    assert first == second


def test_nothing_of_the_machine_is_in_them(first: dict[str, bytes]) -> None:
    text = first["results.json"] + first["card.html"]
    for word in (f'"{os.uname().nodename}"', "/tmp/", str(Path.home()) + "/", sys.prefix):  # noqa: S108 - looked for
        assert word.encode() not in text
