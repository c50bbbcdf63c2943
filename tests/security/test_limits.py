"""What is too much is refused in seconds, by an error that names the limit; what is just allowed is read."""

from __future__ import annotations

import gzip
import json
import resource
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from evalpipe.data import delimited
from evalpipe.errors import EvalpipeError
from evalpipe.run import load, run
from evalpipe.spec.yaml import MAX_ENTRIES, MAX_VALUES
from memory import run_measured

SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "small", "task": "binary", "outcome": {"column": "y", "event": 1},
    "datasets": {"test": {"path": "test.csv"}}, "models": {"a": {"probability": "p"}}, "metrics": ["brier"],
    "intervals": {"method": "none"}, "report": {"formats": []},
}


class Ended(NamedTuple):
    """How a process ended: its exit code, its error, its seconds of the processor and its most memory in MB."""

    code: int
    error: str
    seconds: float
    megabytes: float


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with data."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test.csv").write_text("y,p\n1,0.5\n0,0.25\n")
    return tmp_path


def written(**keys: Any) -> str:
    Path("spec.yaml").write_text(json.dumps(SPEC | keys))
    return "spec.yaml"


def told(**keys: Any) -> str:
    with pytest.raises(EvalpipeError) as error:
        run(written(**keys))
    return str(error.value)


def ended(**keys: Any) -> Ended:
    """Run a spec in a process of its own."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = run_measured("evalpipe", "run", written(**keys), "--no-progress", timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Ended(done.code, done.err, min(used, time.monotonic() - began), done.memory / 2**20)


def data(path: str) -> dict[str, Any]:
    return {"test": {"path": path}}


@pytest.mark.parametrize(("keys", "message"), [
    ({"metrics": ["brier"] * (MAX_ENTRIES + 1)}, "this list has 2,001 entries; at most 2,000 are allowed"),
    ({"models": {f"m{i}": {} for i in range(MAX_ENTRIES + 1)}},
     "this mapping has 2,001 entries; at most 2,000 are allowed"),
    ({"slices": [["a"] * 1000] * 20}, "the file has more than 20,000 keys and values"),
    ({"slices": ["g"] * 400_000}, "the spec is larger than 1,000,000 bytes"),
    ({"slice_rules": {"max_levels": 10_001}}, "expected a whole number from 2 to 10,000, got 10001"),
])
def test_a_spec_that_asks_for_too_much_is_refused_within_seconds(keys: dict[str, Any], message: str) -> None:
    began = time.process_time()
    with pytest.raises(EvalpipeError) as error:
        load(written(**keys))
    assert message in str(error.value)
    assert error.value.exit_code == 2
    assert time.process_time() - began < 10  # far above the 2 s that 20,000 values take


def test_as_many_entries_as_are_allowed_are_read() -> None:
    rates = {f"m{i}": 0.5 for i in range(MAX_ENTRIES)}
    assert MAX_VALUES > 2 * MAX_ENTRIES
    with pytest.raises(EvalpipeError) as error:
        load(written(reference_rates=rates))
    assert "too-many-values" not in str(error.value)


def bomb(name: str, first: bytes, block: bytes, times: int, last: bytes = b"") -> str:
    with gzip.open(name, "wb", compresslevel=9) as file:
        file.write(first)
        for _ in range(times):
            file.write(block)
        file.write(last)
    return name


@pytest.mark.nightly
def test_two_gigabytes_in_four_megabytes_are_refused_in_little_memory() -> None:
    path = bomb("rows.csv.gz", b"y,p\n", b"1,0.5\n0,0.25\n" * 80_000, 2000)
    result = ended(datasets=data(path))
    assert result.code == 3
    assert result.error.startswith(
        "error[too-large]: cannot read rows.csv.gz: it unpacks to more than 1,000,000,000 bytes, 100 times its size\n")
    assert result.seconds < 10
    assert result.megabytes < 300  # beside the 100 MB of the program, blocks of 16 MB


def test_a_small_bomb_is_refused_and_a_table_as_large_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "MOST_UNPACKED", 1_000_000)
    table = bomb("table.csv.gz", b"y,p\n", b"1,0.5\n0,0.25\n", 100_000)
    assert told(datasets=data(table)) == (
        "error[too-large]: cannot read table.csv.gz: it unpacks to more than 1,000,000 bytes, 100 times its size\n"
        " --> table.csv.gz\n  = named at spec.yaml:1:122\n"
        "  = help: if you trust it, unpack it, or write it as Parquet")
    monkeypatch.setattr(delimited, "MOST_RATIO", 1000)
    assert run(written(datasets=data(table))).inputs[0].rows == 200_000


@pytest.mark.parametrize(("name", "first", "last"), [
    ("cell.csv.gz", b'y,p\n1,0.5\n0,"', b'"\n'), ("head.csv.gz", b"", b""), ("line.tsv.gz", b"y\tp\n", b"\n"),
])
def test_a_line_without_end_is_refused(name: str, first: bytes, last: bytes) -> None:
    path = bomb(name, first, b"x" * 2**20, 70, last)
    reason = "its first line has more than 1,048,576 bytes" if name.startswith("head") else (
        "a line has more than 64,000,000 bytes")
    assert told(datasets=data(path)).startswith(f"error[too-large]: cannot read {name}: {reason}\n")


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
def test_a_table_of_more_bytes_than_a_first_line_may_have_is_read(name: str) -> None:
    rows = b"y,p\n" + b"1,0.5\n0,0.25\n" * 100_000
    assert len(rows) > 2**20
    Path(name).write_bytes(gzip.compress(rows) if name.endswith("gz") else rows)
    assert run(written(datasets=data(name))).inputs[0].rows == 200_000


@pytest.mark.parametrize(("first", "rest", "refused"), [
    (999, "1,0.5\n0,0.25\n", False), (1000, "1,0.5\n0,0.25\n", True), (1001, "1,0.5\n0,0.25\n" * 1000, True),
    (999, "1,0.5\n0,0.25\n" * 1000, False),
])
def test_a_first_line_is_refused_for_its_own_bytes_alone(
    first: int, rest: str, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "_HEAD", 1000)
    names = "y,p,".ljust(first, "c") + "\n"
    Path("first.csv").write_text(names + rest.replace("\n", ",\n"))
    spec = written(datasets=data("first.csv"))
    if refused:
        with pytest.raises(EvalpipeError, match="its first line has more than 1,000 bytes"):
            run(spec)
    else:
        assert run(spec).inputs[0].rows == rest.count("\n")


def test_a_first_line_without_an_end_is_no_line_that_is_too_long() -> None:
    Path("names.csv").write_text("y,p")
    assert "no rows" in told(datasets=data("names.csv"))


@pytest.mark.parametrize(("longest", "refused"), [(99, False), (100, False), (101, True)])
@pytest.mark.parametrize("last", ["", "\n1,0.5\n"])
def test_a_line_is_refused_for_its_own_bytes_alone(
    longest: int, refused: bool, last: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "LONGEST_LINE", 100)
    monkeypatch.setattr(delimited, "CHUNK", 1)  # what lies between two breaks of a block is no line without end
    monkeypatch.setattr(delimited, "_HEAD", 10)
    Path("line.csv").write_text("y,p\n" + "1,0.5\n" * 100 + "0,0.25".ljust(longest, "0") + last)
    spec = written(datasets=data("line.csv"))
    if refused:
        with pytest.raises(EvalpipeError, match="a line has more than 100 bytes"):
            run(spec)
    else:
        assert run(spec).inputs[0].rows == 101 + last.count("1")


@pytest.mark.parametrize(("unpacked", "ratio", "refused"), [
    (1, 1, True), (0, 1, False), (1, 0, False), (0, 0, False),
])
def test_a_file_is_refused_where_it_unpacks_to_more_than_both_limits(
    unpacked: int, ratio: int, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = b"y,p\n" + b"1,0.5\n0,0.25\n" * 10_000
    whole = gzip.compress(table)
    times = len(table) // len(whole)
    assert times * len(whole) < len(table)
    monkeypatch.setattr(delimited, "MOST_UNPACKED", len(table) - unpacked)
    monkeypatch.setattr(delimited, "MOST_RATIO", times if ratio else times + 1)
    Path("table.csv.gz").write_bytes(whole)
    Path("table.csv").write_bytes(table)
    spec = written(datasets=data("table.csv.gz"))
    if refused:
        with pytest.raises(EvalpipeError, match="it unpacks to more than"):
            run(spec)
    else:
        assert run(spec).inputs[0].rows == 20_000
    assert run(written(datasets=data("table.csv"))).inputs[0].rows == 20_000


def test_a_hundred_thousand_columns_are_read_without_a_loop_over_pairs() -> None:
    names = ["y", "p", *(f"c{i}" for i in range(100_000))]
    Path("wide.csv").write_text(",".join(names) + ("\n1,0.5" + ",0" * 100_000 + "\n0,0.25" + ",0" * 100_000) + "\n")
    began = time.process_time()
    assert run(written(datasets=data("wide.csv"))).inputs[0].rows == 2
    assert time.process_time() - began < 10  # 2 s; pairs of names took minutes


@pytest.mark.parametrize("closed", [True, False])
def test_lines_of_json_that_are_nested_too_deeply_are_told(closed: bool) -> None:
    deep = "[" * 200_000 + ("]" * 200_000 if closed else "")
    Path("deep.ndjson").write_text('{"y": 1, "p": 0.5}\n{"y": 0, "p": ' + deep + "}\n")
    assert told(datasets=data("deep.ndjson")).startswith(
        "error[corrupt-file]: cannot read deep.ndjson: line 2 is nested too deeply\n --> deep.ndjson:2\n")


@pytest.mark.parametrize(("cell", "code"), [
    ("x" * 5_000_000, "not-a-number"), ("9" * 100_000, "probability-range"), ("1e400", "probability-range"),
    ("-inf", "probability-range"), ("Infinity", "probability-range"), ("+nan", "missing-probability"),
])
def test_a_cell_is_told_shortened(cell: str, code: str) -> None:
    Path("test.csv").write_text(f"y,p\n1,0.5\n0,{cell}\n")
    message = told()
    assert message.startswith(f"error[{code}]: ")
    assert len(message) < 600


def test_levels_without_number_are_counted_and_refused() -> None:
    rows = "".join(f"{i % 2},0.5,L{i}\n" for i in range(20_000))
    Path("levels.csv").write_text("y,p,g\n" + rows)
    message = told(datasets=data("levels.csv"), slices=["g"])
    assert message.startswith(
        "error[too-many-levels]: column 'g' of dataset 'test' has 20,000 levels, more than the 50 ")


@pytest.mark.parametrize(("condition", "reason"), [
    ("(" * 5000 + "p > 0" + ")" * 5000, "it is nested too deeply"),
    ("not " * 20_000 + "p > 0", "has more than 250 operations"),
    (" and ".join(["p > 0"] * 5_000), "has more than 250 operations"),
])
def test_conditions_without_end_are_refused(condition: str, reason: str) -> None:
    assert reason in told(datasets={"test": {"path": "test.csv", "where": condition}})
