"""What parts came to is kept beside the output folder: only what is not there is read, and the results are the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import evalpipe
from evalpipe.cli.app import app
from evalpipe.errors import DataError
from evalpipe.run import Progress
from streams.streaming import SPEC, rows, write

if TYPE_CHECKING:
    from pathlib import Path

SIZES = [100, 40, 60, 10]


class Told(Progress):
    """Keeps what it is told of parts."""

    def __init__(self) -> None:
        self.expected: list[tuple[str, int, int, str]] = []

    def expect_parts(self, dataset: str, parts: int, cached: int, why: str) -> None:
        self.expected.append((dataset, parts, cached, why))


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """Return a spec of five files, beside them."""
    write(rows(300), tmp_path / "d", SIZES)
    path = tmp_path / "spec.yaml"
    path.write_text(SPEC)
    return path


def run(spec: Path, *overrides: str, cache: bool = True, out: str = "out") -> tuple[str, int, int, str]:
    """Run a spec; return its results, how many parts were read and cached, and why they were read."""
    told = Told()
    folder = spec.parent / out
    evalpipe.run(spec, out=folder, overrides=overrides, progress=told, cache=cache)
    parts = json.loads((folder / "run.json").read_text())["parts"]
    assert told.expected == [("d", parts["read"] + parts["cached"], parts["cached"], told.expected[0][3])]
    return (folder / "results.json").read_text(), parts["read"], parts["cached"], told.expected[0][3]


def entries(spec: Path) -> list[Path]:
    return sorted((spec.parent / ".evalpipe-cache" / "out").glob("*.tables"))


def test_a_second_run_reads_nothing_and_has_the_same_bytes(spec: Path) -> None:
    first = run(spec)
    assert first[1:] == (5, 0, "not read before")
    assert run(spec) == (first[0], 0, 5, "")
    assert run(spec, cache=False) == (first[0], 5, 0, "")
    # What no table depends on leaves them as they are.
    assert run(spec, "seed=7", "intervals.method=percentile", "intervals.replicates=100")[1:] == (0, 5, "")


def test_a_grown_folder_reads_the_new_file_wherever_it_is_in_the_order(spec: Path) -> None:
    run(spec)
    rows(7, seed=9).write_parquet(spec.parent / "d" / "a-first.parquet")
    grown = run(spec)
    assert grown[1:] == (1, 5, "not read before")
    assert run(spec, cache=False)[0] == grown[0]
    assert [file["rows"] for file in json.loads(grown[0])["inputs"]] == [7, *SIZES, 90]


def test_changed_files_and_other_questions_are_read_again(spec: Path) -> None:
    run(spec)
    rows(40, seed=9).write_parquet(spec.parent / "d" / "part-00001.parquet")
    assert run(spec)[1:] == (1, 4, "of files that have changed")
    assert run(spec, "threshold=0.25")[1:] == (5, 0, "last summed up for another spec or version")
    assert run(spec)[1:] == (0, 5, "")


def test_clusters_are_part_of_what_is_asked(spec: Path) -> None:
    run(spec)
    # The ledger would tell what the run before was, which is another one each time.
    drawn = ("intervals.method=percentile", "intervals.replicates=100", "ledger=false")
    first = run(spec, "cluster=who", *drawn)
    assert first[1:] == (5, 0, "last summed up for another spec or version")
    assert run(spec, "cluster=who", *drawn) == (first[0], 0, 5, "")
    assert run(spec, "cluster=h", *drawn)[1:] == (5, 0, "last summed up for another spec or version")
    entries(spec)[3].unlink()
    run(spec, "cluster=who", *drawn)
    assert run(spec, "cluster=who", *drawn, cache=False)[0] == first[0]


@pytest.mark.parametrize("harm", [lambda b: b[: len(b) // 2], lambda b: b[:-1] + bytes([b[-1] ^ 1]), lambda b: b""])
def test_a_damaged_entry_is_computed_again(spec: Path, harm: Any) -> None:
    first = run(spec)
    entry = entries(spec)[2]
    whole = entry.read_bytes()
    entry.write_bytes(harm(whole))
    again = run(spec)
    assert (again[0], again[1], again[2]) == (first[0], 1, 4)
    assert entry.read_bytes() == whole


def test_the_same_bytes_in_two_folders_are_two_parts(spec: Path) -> None:
    part = spec.parent / "d" / "part-00000.parquet"
    for season in ("autumn", "spring"):
        (spec.parent / "d" / f"season={season}").mkdir()
        (spec.parent / "d" / f"season={season}" / "part.parquet").write_bytes(part.read_bytes())
    for path in (spec.parent / "d").glob("*.parquet"):
        path.unlink()
    asked = ("slices=[season]", "slice_rules.min_rows=10")
    first = run(spec, *asked)
    assert first[1:] == (2, 0, "not read before")
    assert len(entries(spec)) == 2
    assert run(spec, *asked) == (first[0], 0, 2, "")


def test_a_run_without_an_output_folder_keeps_nothing(spec: Path) -> None:
    evalpipe.run(spec)
    assert sorted(path.name for path in spec.parent.iterdir()) == ["d", "spec.yaml"]


KILLED = """
import os, signal, sys, evalpipe
from evalpipe.run import Progress

class Fatal(Progress):
    left = int(sys.argv[3])
    def part_read(self):
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)

evalpipe.run(sys.argv[1], out=sys.argv[2], progress=Fatal())
"""


def test_a_killed_run_continues_from_the_parts_that_it_summed_up(spec: Path) -> None:
    expected = run(spec, out="whole")[0]
    killed = subprocess.run([sys.executable, "-c", KILLED, str(spec), str(spec.parent / "out"), "3"], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert not (spec.parent / "out").exists()
    assert len(entries(spec)) == 3
    assert run(spec) == (expected, 2, 3, "not read before")


def test_a_file_that_grows_while_it_is_read_is_an_error_and_is_not_kept(spec: Path) -> None:
    class Growing(Progress):
        def expect_parts(self, *_: object) -> None:
            with (spec.parent / "d" / "part-00004.parquet").open("ab") as file:
                file.write(b"more")

    before = run(spec)[0]
    for name in entries(spec):
        name.unlink()
    size = (spec.parent / "d" / "part-00004.parquet").stat().st_size
    with pytest.raises(DataError) as error:
        evalpipe.run(spec, out=spec.parent / "out", progress=Growing())
    (problem,) = error.value.problems
    assert (problem.code, problem.message) == (
        "file-changed", f"d/part-00004.parquet changed while it was read, from {size:,} to {size + 4:,} bytes")
    assert problem.place is not None and problem.place.line == 4  # noqa: PT018
    assert problem.hint == "run again when nothing writes to it; what was summed up of other files is kept"
    assert (spec.parent / "out" / "results.json").read_text() == before
    assert len(entries(spec)) == 4


def test_the_plan_the_list_and_the_collection_tell_what_is_there(spec: Path) -> None:
    out, cache = str(spec.parent / "out"), spec.parent / ".evalpipe-cache" / "out"

    def told(*arguments: str) -> list[str]:
        shown = CliRunner().invoke(app, arguments, catch_exceptions=False, standalone_mode=False)
        return shown.output.splitlines()

    assert "d: 5 parts to read (not read before)" in told("plan", str(spec), "--out", out)
    assert told("cache", "gc", out) == [f"{cache}: there is no cache"]
    run(spec)
    rows(40, seed=9).write_parquet(spec.parent / "d" / "part-00001.parquet")
    plan = told("plan", str(spec), "--out", out)
    assert "d: 5 parts: 4 in the cache, 1 to read (of files that have changed)" in plan
    run(spec)
    listed = told("cache", "ls", out)
    (unused,) = [line for line in listed if line.endswith("  not used by the last whole run")]
    assert "d: d/part-00001.parquet, 40 rows from row 1" in unused
    sizes = [path.stat().st_size for path in entries(spec)]
    assert listed[-1] == f"{cache}: 6 entries of {sum(sizes):,} bytes"
    removed = next(path for path in entries(spec) if path.name.startswith(unused[:12])).stat().st_size
    assert told("cache", "gc", out) == [
        f"{cache}: removed 1 entry of {removed:,} bytes; 5 entries of {sum(sizes) - removed:,} bytes left"]
    assert run(spec)[1:3] == (0, 5)


def test_progress_says_what_is_read_and_why(spec: Path) -> None:
    def lines(*options: str) -> list[str]:
        line = ["run", str(spec), "--out", str(spec.parent / "out"), *options]
        shown = CliRunner().invoke(app, line, standalone_mode=False).stderr
        return [told for told in shown.splitlines() if "d:" in told]

    assert lines() == ["    d: 5 parts to read (not read before)"]
    assert lines() == ["    d: 5 parts, all in the cache"]
    assert lines("--no-cache") == ["    d: 5 parts to read"]
    rows(40, seed=9).write_parquet(spec.parent / "d" / "part-00001.parquet")
    rows(7, seed=9).write_parquet(spec.parent / "d" / "part-00009.parquet")
    assert lines() == ["    d: 6 parts: 4 in the cache, 2 to read (1 not read before, 1 of files that have changed)"]


def test_what_a_killed_first_run_left_is_kept(spec: Path) -> None:
    run(spec)
    cache = spec.parent / ".evalpipe-cache" / "out"
    os.remove(cache / "last-run.json")  # noqa: PTH107
    shown = CliRunner().invoke(app, ["cache", "gc", str(spec.parent / "out")], standalone_mode=False)
    assert shown.output == f"{cache}: no run has read all its parts yet, so all entries are kept\n"
    assert len(entries(spec)) == 5
