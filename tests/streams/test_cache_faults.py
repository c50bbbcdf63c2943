"""What happens to a run, and to what it had written before, where its cache cannot be written, is shared or damaged."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import evalpipe
from evalpipe.errors import UsageError
from evalpipe.run import Progress
from evalpipe.streams.cache import Cache, cache_folder, encode
from streams.streaming import SPEC, rows, write

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """Return a spec of three files with ids, beside them."""
    import polars as pl

    write(rows(300).with_columns(i=pl.int_range(300)), tmp_path / "d", [100, 100])
    path = tmp_path / "spec.yaml"
    path.write_text(SPEC)
    return path


def run(spec: Path, *overrides: str) -> tuple[str, dict[str, int]]:
    """Run a spec; return its results, and how many parts were read and cached."""
    out = spec.parent / "out"
    evalpipe.run(spec, out=out, overrides=overrides)
    return (out / "results.json").read_text(), json.loads((out / "run.json").read_text())["parts"]


NO_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}
"""Python would keep compiled modules that were cut off at the limit."""


def limited(spec: Path, most: int, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the command where no file may be larger than so many bytes: writing more fails as on a full disk."""
    command = [sys.executable, "-m", "evalpipe", "run", str(spec), "--out", str(spec.parent / "out"), *options]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | NO_BYTECODE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))


def test_a_disk_that_is_full_is_told_and_nothing_is_lost(spec: Path) -> None:
    before = run(spec)[0]
    cache = cache_folder(spec.parent / "out")
    shutil.rmtree(cache)
    full = limited(spec, 2000, "--set", "ledger=false")
    assert full.returncode == 2
    assert full.stderr.endswith(
        f"error[cache-folder]: cannot write to the cache '{cache}': File too large\n"
        "  = help: free space or allow writing there, or run with --no-cache; the earlier output is unchanged\n")
    assert (spec.parent / "out" / "results.json").read_text() == before
    assert list(cache.iterdir()) == []
    assert run(spec) == (before, {"read": 3, "cached": 0})


def test_a_disk_that_is_full_where_ids_are_compared_is_told(spec: Path) -> None:
    before = run(spec)[0]
    cache = cache_folder(spec.parent / "out")
    full = limited(spec, 900, "--set", "id=i", "--set", "ledger=false", "--no-cache")
    assert full.returncode == 2
    assert "error[no-space]: cannot write to '" in full.stderr
    assert full.stderr.endswith(
        "where ids are compared: File too large\n  = help: free 8 bytes for each row, or remove 'id'\n")
    assert (spec.parent / "out" / "results.json").read_text() == before
    assert not [path for path in cache.iterdir() if path.name.startswith(".new-")]


@pytest.mark.parametrize("cache", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_ids_that_a_killed_run_was_comparing_are_removed_by_the_next(
    spec: Path, monkeypatch: pytest.MonkeyPatch, cache: bool
) -> None:
    code = ("import os, signal, evalpipe.streams.row_ids as ids; from evalpipe.cli import main; "
            "ids.Identities.repeated_ids = lambda _: os.kill(os.getpid(), signal.SIGKILL); main()")
    command = [sys.executable, "-c", code, "run", str(spec), "--out", str(spec.parent / "out"), "--set", "id=i"]
    environment = os.environ | {"TMPDIR": str(spec.parent)}
    killed = subprocess.run([*command, *([] if cache else ["--no-cache"])], check=False, env=environment)
    assert killed.returncode == -9
    assert [path for path in spec.parent.rglob(".*new-*") if path.is_dir()] != []
    monkeypatch.chdir(spec.parent)
    evalpipe.run(spec, out="out", overrides=["id=i"], cache=cache)
    assert [path for path in spec.parent.rglob(".*new-*") if path.is_dir()] == []


def test_a_cache_that_cannot_be_written_is_told_and_may_be_done_without(spec: Path) -> None:
    before = run(spec)[0]
    folder = spec.parent / ".evalpipe-cache"
    shutil.rmtree(folder)
    folder.write_text("no folder")
    with pytest.raises(UsageError) as error:
        run(spec)
    assert str(error.value) == (
        f"error[cache-folder]: cannot write to the cache '{folder}/out': Not a directory\n"
        "  = help: free space or allow writing there, or run with --no-cache; the earlier output is unchanged")
    evalpipe.run(spec, out=spec.parent / "out", cache=False)
    assert (spec.parent / "out" / "results.json").read_text() == before
    assert folder.read_text() == "no folder"


def test_a_cache_that_is_a_link_is_kept_where_the_link_leads(spec: Path) -> None:
    elsewhere = spec.parent / "elsewhere"
    elsewhere.mkdir()
    (spec.parent / ".evalpipe-cache").symlink_to(elsewhere)
    before = run(spec)[0]
    assert len(list((elsewhere / "out").glob("*.tables"))) == 3
    assert run(spec) == (before, {"read": 0, "cached": 3})
    assert Cache(cache_folder(spec.parent / "out")).collect() == []
    assert (spec.parent / ".evalpipe-cache").is_symlink()


def test_a_second_run_at_once_is_refused_and_the_first_is_whole(spec: Path) -> None:
    refused: list[str] = []

    class Second(Progress):
        """Starts a second run of the same folder while the first reads."""

        def part_read(self) -> None:
            if not refused:
                again = limited(spec, resource.RLIM_INFINITY)
                assert again.returncode == 2
                refused.append(again.stderr)

    expected = run(spec)[0]
    shutil.rmtree(cache_folder(spec.parent / "out"))
    evalpipe.run(spec, out=spec.parent / "out", progress=Second())
    out = spec.parent / "out"
    assert refused[0].endswith(
        f"error[output-folder]: cannot write to the output folder '{out}': another run is writing to it\n"
        "  = help: wait until it has ended, and try again\n")
    assert run(spec) == (expected, {"read": 0, "cached": 3})


def test_no_flipped_bit_of_an_entry_changes_a_number(spec: Path) -> None:
    run(spec)
    folder = cache_folder(spec.parent / "out")
    key, *_ = Cache(folder).entries
    path = folder / f"{key}.tables"
    whole = path.read_bytes()
    tables = whole.partition(b"\n")[2]
    begin = len(whole) - len(tables)
    random = np.random.default_rng(1)
    places = [*range(begin - 1, begin + 80), *random.integers(0, len(whole), 200).tolist()]
    for place in places:
        flipped = bytearray(whole)
        flipped[place] ^= 1 << int(random.integers(8))
        path.write_bytes(flipped)
        kept = Cache(folder).get(key)
        # Before the tables stands what they are of, for people; it is in no number.
        assert kept is None if place >= begin - 1 else encode(kept) == tables if kept is not None else True, place
    path.write_bytes(whole)
    assert run(spec)[1] == {"read": 0, "cached": 3}
