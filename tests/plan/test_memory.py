"""The memory that a spec allows: rows that take more are read part by part, and what cannot be is refused."""

from __future__ import annotations

import os
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
        "outcome": {"column": "y", "event": 1}, "models": {"p": {"probability": "p"}}, "engine": engine,
        **({"report": {"formats": ["html"]}} | keys)})


@pytest.mark.parametrize(("text", "expected"), [
    ("2GB", 2 * 10**9), ("1.5 GiB", 1610612736), ("512MB", 512 * 10**6), ("4 TB", 4 * 10**12), ("64KiB", 65536)])
def test_units_are_those_of_the_standard(text: str, expected: int) -> None:
    assert bytes_from_text(text) == expected


def test_sizes_are_written_to_two_digits() -> None:
    assert [bytes_text(size) for size in (4.13e9, 220e6, 65536, 1.5e12)] == ["4.1 GB", "220 MB", "66 KB", "1.5 TB"]


def test_rows_that_take_more_are_read_part_by_part(tmp_path: Path) -> None:
    path = write(rows(100_000), tmp_path / "d", [])
    streaming = planned(path, "300MB").streaming
    # 150 bytes for each of 100,000 values in two columns, beside the 290 MB of the program.
    assert streaming.reason == "100,000 rows take about 320 MB to hold"
    assert streaming.batch == BATCH
    # 25 MB for two threads that read two columns at 60 bytes a value, beside 245 MB and 10 MB for the counts of each.
    assert planned(path, "290MB").streaming.batch == 25_000_000 // (60 * 2 * 2)
    assert planned(path, "1GB").streaming.reason == "no dataset has more than 300,000 rows"
    assert planned(path, "1GB", engine={"mode": "grid"}).streaming.batch == BATCH


def test_little_memory_is_read_into_by_fewer_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(rows(100_000), tmp_path / "d", [])
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(3), raising=False)
    # Each thread takes 10 MB, and 65,536 rows of two columns at 60 bytes a value another 8 MB, beside 245 MB.
    for memory, threads in ("300MB", 3), ("290MB", 2):
        assert planned(path, memory, engine={"workers": "auto"}).streaming.threads == threads
    assert planned(path, "290MB", engine={"workers": 3}).streaming.threads == 3


def test_a_block_of_text_takes_what_it_takes(tmp_path: Path) -> None:
    rows(1000).write_csv(tmp_path / "d.csv")
    assert planned(tmp_path / "d.csv", "386MB", engine={"mode": "grid"}).streaming.batch == BATCH
    with pytest.raises(SpecError) as error:
        planned(tmp_path / "d.csv", "384MB", engine={"mode": "grid"})
    assert str(error.value) == (
        "error[too-little-memory]: engine.memory is 384 MB, but to read part by part takes about 385 MB\n"
        "  = help: allow 385 MB, or fewer engine.workers")


def test_too_little_memory_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    path = write(rows(100_000), tmp_path / "d", [])
    with pytest.raises(SpecError) as error:
        planned(path, "289MB")
    assert str(error.value) == (
        "error[too-little-memory]: engine.memory is 289 MB, but a run takes about 290 MB, whatever it reads\n"
        "  = help: allow 290 MB")
    with pytest.raises(SpecError) as error:
        planned(path, "300MB", report={"formats": ["html", "pdf"]})
    assert str(error.value) == (
        "error[too-little-memory]: engine.memory is 300 MB, but a run takes about 320 MB, whatever it reads\n"
        "  = help: allow 320 MB, or 290 MB without pdf in report.formats")
    with pytest.raises(SpecError) as error:
        planned(path, "300MB", engine={"mode": "grid", "workers": 6})
    assert str(error.value) == (
        "error[too-little-memory]: engine.memory is 300 MB, but to read part by part takes about 312 MB\n"
        "  = help: allow 312 MB, or fewer engine.workers")
    with pytest.raises(SpecError) as error:
        planned(path, "300MB", weight={"column": "heavy", "kind": "importance"})
    assert str(error.value) == (
        "error[too-little-memory]: engine.memory is 300 MB, but to hold 100,000 rows takes about 335 MB, and "
        "weighting by importance needs them all at once\n"
        "  = help: allow more, or remove it, so that rows are read part by part")
    with pytest.raises(SpecError) as error:
        planned(path, "300MB", cluster="who")
    assert "engine.memory is 300 MB, but to read part by part takes about 315 MB" in str(error.value)
    with pytest.raises(SpecError) as error:
        planned(path, "300MB", engine={"mode": "exact"})
    assert "engine.mode: exact needs them all at once" in str(error.value)


MANY = """\
evalpipe: 1
name: many
task: binary
outcome: {column: y, event: 1}
datasets: {d: {path: d.csv}}
models: {p: {probability: p}}
intervals: {replicates: 60000}
engine: {memory: 600MB}
report: {formats: []}
"""


def test_replicates_that_take_more_than_the_memory_are_refused_with_the_numbers(tmp_path: Path) -> None:
    rows(200).write_csv(tmp_path / "d.csv")
    with pytest.raises(SpecError) as error:
        planned(tmp_path / "d.csv", "1GB", intervals={"replicates": 1_000_000})
    assert str(error.value) == (
        "error[too-little-memory]: engine.memory is 1 GB, but 1,000,000 replicates take about 4 GB\n"
        "  = help: allow 4 GB, or at most 174,319 intervals.replicates; intervals.bands: false takes less")
    planned(tmp_path / "d.csv", "1GB", intervals={"replicates": 174_000})
    planned(tmp_path / "d.csv", "1GB", intervals={"replicates": 1_000_000, "bands": False})


@pytest.mark.nightly
def test_a_run_keeps_its_replicates_within_the_memory_that_it_may_take(tmp_path: Path) -> None:
    rows(200).write_csv(tmp_path / "d.csv")
    (tmp_path / "many.yaml").write_text(MANY)
    done = run_measured("evalpipe", "run", str(tmp_path / "many.yaml"), "--out", str(tmp_path / "out"), "--no-progress")
    assert done.code == 0, done.err
    assert done.memory < 600e6  # measured: 510 MB; 705 MB where blocks are joined at the end and bands computed at once


LARGE = """\
evalpipe: 1
name: large
task: binary
outcome: {column: y, event: 1}
datasets: {d: {path: d}}
models: {p: {probability: p}, q: {probability: q}}
engine: {memory: 300MB}
report: {formats: [html]}
"""


@pytest.mark.nightly
@pytest.mark.parametrize("workers", ["auto", "1"])
def test_a_run_of_two_million_rows_keeps_within_300_megabytes(tmp_path: Path, workers: str) -> None:
    write(rows(2_000_000), tmp_path / "d", [500_000, 500_000, 500_000])
    (tmp_path / "large.yaml").write_text(LARGE)
    done = run_measured("evalpipe", "run", str(tmp_path / "large.yaml"), "--out", str(tmp_path / "out"),
                        "--no-progress", "--set", f"engine.workers={workers}")
    assert done.code == 0, done.err
    assert done.memory < 300e6
