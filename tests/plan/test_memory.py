"""The memory that a spec allows: rows that take more are read part by part, and what cannot be is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evalpipe.errors import SpecError
from evalpipe.plan.memory import BATCH, bytes_from_text, bytes_text
from evalpipe.run import plan
from memory import run_measured
from streams.streaming import rows, write

if TYPE_CHECKING:
    from pathlib import Path

    from evalpipe.plan.plan import Plan


def planned(path: Path, memory: str, **keys: object) -> Plan:
    engine = {"memory": memory, "workers": 2} | keys.pop("engine", {})  # type: ignore[operator]
    return plan({
        "evalpipe": 1, "name": "x", "task": "binary", "datasets": {"d": {"path": str(path)}},
        "outcome": {"column": "y", "event": 1}, "models": {"p": {"probability": "p"}}, "engine": engine, **keys})


@pytest.mark.parametrize(("text", "expected"), [
    ("2GB", 2 * 10**9), ("1.5 GiB", 1610612736), ("512MB", 512 * 10**6), ("4 TB", 4 * 10**12), ("64KiB", 65536)])
def test_units_are_those_of_the_standard(text: str, expected: int) -> None:
    assert bytes_from_text(text) == expected


def test_sizes_are_written_to_two_digits() -> None:
    assert [bytes_text(size) for size in (4.13e9, 220e6, 65536, 1.5e12)] == ["4.1 GB", "220 MB", "66 KB", "1.5 TB"]


def test_rows_that_take_more_are_read_part_by_part(tmp_path: Path) -> None:
    path = write(rows(100_000), tmp_path / "d", [])
    streaming = planned(path, "230MB").streaming
    # 100 bytes for each of 100,000 values in two columns, beside the 220 MB of the program.
    assert streaming.reason == "100,000 rows take about 240 MB to hold"
    # 10 MB for two workers that read two columns at 60 bytes a value.
    assert streaming.batch == 10_000_000 // (60 * 2 * 2)
    assert planned(path, "1GB").streaming.reason == "no dataset has more than 300,000 rows"
    assert planned(path, "1GB", engine={"mode": "grid"}).streaming.batch == BATCH


def test_a_block_of_text_takes_what_it_takes(tmp_path: Path) -> None:
    rows(1000).write_csv(tmp_path / "d.csv")
    assert planned(tmp_path / "d.csv", "341MB", engine={"mode": "grid"}).streaming.batch == BATCH
    with pytest.raises(SpecError) as error:
        planned(tmp_path / "d.csv", "339MB", engine={"mode": "grid"})
    assert str(error.value) == (
        "error[too-little-memory]: engine.memory is 339 MB, but to read part by part takes about 340 MB\n"
        "  = help: allow 340 MB, or fewer engine.workers")


def test_too_little_memory_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    path = write(rows(100_000), tmp_path / "d", [])
    with pytest.raises(SpecError) as error:
        planned(path, "221MB")
    assert str(error.value) == (
        "error[too-little-memory]: engine.memory is 221 MB, but to read part by part takes about 222 MB\n"
        "  = help: allow 222 MB, or fewer engine.workers")
    with pytest.raises(SpecError) as error:
        planned(path, "230MB", weight={"column": "heavy", "kind": "importance"})
    assert str(error.value) == (
        "error[too-little-memory]: engine.memory is 230 MB, but to hold 100,000 rows takes about 250 MB, and "
        "weighting by importance needs them all at once\n"
        "  = help: allow more, or remove it, so that rows are read part by part")
    with pytest.raises(SpecError) as error:
        planned(path, "230MB", cluster="who")
    assert "engine.memory is 230 MB, but to read part by part takes about 249 MB" in str(error.value)
    with pytest.raises(SpecError) as error:
        planned(path, "230MB", engine={"mode": "exact"})
    assert "engine.mode: exact needs them all at once" in str(error.value)


MANY = """\
evalpipe: 1
name: many
task: binary
outcome: {column: y, event: 1}
datasets: {d: {path: d.csv}}
models: {p: {probability: p}}
intervals: {replicates: 60000}
engine: {memory: 560MB}
report: {formats: []}
"""


def test_replicates_that_take_more_than_the_memory_are_refused_with_the_numbers(tmp_path: Path) -> None:
    rows(200).write_csv(tmp_path / "d.csv")
    with pytest.raises(SpecError) as error:
        planned(tmp_path / "d.csv", "1GB", intervals={"replicates": 1_000_000})
    assert str(error.value) == (
        "error[too-little-memory]: engine.memory is 1 GB, but 1,000,000 replicates take about 3.9 GB\n"
        "  = help: allow 3.9 GB, or at most 193,466 intervals.replicates; intervals.bands: false takes less")
    planned(tmp_path / "d.csv", "1GB", intervals={"replicates": 188_000})
    planned(tmp_path / "d.csv", "1GB", intervals={"replicates": 1_000_000, "bands": False})


@pytest.mark.nightly
def test_a_run_keeps_its_replicates_within_the_memory_that_it_may_take(tmp_path: Path) -> None:
    rows(200).write_csv(tmp_path / "d.csv")
    (tmp_path / "many.yaml").write_text(MANY)
    done = run_measured("evalpipe", "run", str(tmp_path / "many.yaml"), "--out", str(tmp_path / "out"), "--no-progress")
    assert done.code == 0, done.err
    assert done.memory < 560e6  # measured: 510 MB; 705 MB where blocks are joined at the end and bands computed at once
