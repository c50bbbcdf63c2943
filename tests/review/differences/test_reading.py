"""What may be compared: folders and files, of this version of the format alone; and the spec key by key."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from evalpipe.errors import DataError
from evalpipe.review.differences.changes import input_changes, spec_changes
from evalpipe.review.differences.compare import compare
from evalpipe.review.differences.records import Tolerance, read_run
from review.differences.conftest import Pair


def refused(source: str) -> str:
    with pytest.raises(DataError) as told:
        read_run(source)
    return str(told.value)


def test_a_folder_and_its_results_are_the_same_run(pair: Pair) -> None:
    file = read_run("monday/results.json")

    assert file.results == pair.a.results
    assert compare(file, pair.b).estimates == compare(pair.a, pair.b).estimates  # rows are found beside the file


def test_what_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "other.json").write_text('{"schema_version": 3, "evalpipe_version": "9.0"}')
    (tmp_path / "list.json").write_text("[1]")

    assert refused("nowhere") == (
        "error[unreadable-file]: cannot read nowhere: No such file or directory\n"
        " = help: give the output folder of `evalpipe run`").replace("\n ", "\n  ")
    assert refused("empty") == (
        "error[unreadable-file]: cannot read empty/results.json: No such file or directory\n"
        "  = help: give the output folder of `evalpipe run`")
    assert refused("other.json") == (
        "error[results-version]: other.json holds results of format version 3, and this evalpipe reads versions 1 and "
        "2\n"
        "  = help: run both specs with one evalpipe, and compare these runs")
    assert refused("list.json").startswith("error[not-results]: list.json does not hold results of evalpipe: ")


def test_versions_are_those_of_run_json_where_it_is_of_these_results(pair: Pair, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(pair.folder / "tuesday", copy)
    document = json.loads((copy / "run.json").read_text())
    document["libraries"]["numpy"] = "0.1"
    (copy / "run.json").write_text(json.dumps(document))
    changed = compare(pair.a, read_run(str(copy)), paired=False)
    assert [(row.library, row.b) for row in changed.versions] == [("numpy", "0.1")]

    (copy / "run.json").write_text(json.dumps(document | {"evidence_sha256": "0"}))
    other = compare(pair.a, read_run(str(copy)), paired=False)
    assert {row.b for row in other.versions} == {None}
    (copy / "run.json").write_text("[]")
    assert read_run(str(copy)).versions.keys() == {"evalpipe"}


@pytest.mark.parametrize(("a", "b", "changes"), [
    ({"x": 1}, {"x": 1, "y": None}, []),
    ({"x": None}, {"x": 2}, [("added", "x", None, 2)]),
    ({"x": 2}, {}, [("removed", "x", 2, None)]),
    ({"x": 1}, {"x": True}, [("changed", "x", 1, True)]),
    ({"x": {"y": 1, "z": None}}, {"x": {"y": 2}}, [("changed", "x.y", 1, 2)]),
    ({"m": {"Model 1.2": {"t": 1}}}, {"m": {"Model 1.2": {"t": 2}}}, [("changed", 'm."Model 1.2".t', 1, 2)]),
    ({"l": ["a", "b"]}, {"l": ["b"]}, [("removed", "l[0]", "a", None)]),
    ({"l": ["a", "b"]}, {"l": ["x", "a", "b"]}, [("added", "l[0]", None, "x")]),
    ({"l": ["a", {"m": 1, "n": 0}]}, {"l": [{"m": 2, "n": 0}, "a"]}, [("changed", "l[0].m", 1, 2)]),
    ({"l": ["a", "b"]}, {"l": ["b", "a"]}, [("changed", "l", ["a", "b"], ["b", "a"])]),
    ({"l": ["a"]}, {"l": "a"}, [("changed", "l", ["a"], "a")]),
    ({"l": ["a", "a"]}, {"l": ["a"]}, [("removed", "l[1]", "a", None)]),
])
def test_a_spec_is_compared_key_by_key(a: dict[str, Any], b: dict[str, Any], changes: list[Any]) -> None:
    assert [(row.change, row.key, row.a, row.b) for row in spec_changes(a, b)] == changes


def test_files_of_data_are_known_by_their_content(pair: Pair) -> None:
    results = pair.a.results
    (file,) = results.inputs

    def changed(*files: dict[str, Any]) -> list[tuple[str, list[str]]]:
        other = results.model_copy(update={"inputs": [file.model_copy(update=fields) for fields in files]})
        return [(row.dataset, list(row.differs_in)) for row in input_changes(results, other)]

    assert changed({}) == changed({"columns": file.columns[::-1]}) == []
    assert changed({"path": "elsewhere.csv"}) == []
    assert changed({"sha256": "0", "rows": 5}) == [("test", ["content", "rows"])]
    assert changed({"columns": ["y"], "used_rows": 1}) == [("test", ["used_rows", "columns"])]
    assert changed({}, {"path": "more.csv", "sha256": "1"}) == [("test", ["presence"])]
    assert changed({"dataset": "new"}) == [("test", ["presence"]), ("new", ["presence"])]


@pytest.mark.parametrize(("a", "b", "same", "near"), [
    (1.0, 1.05, False, True), ({"x": [1.0, "p = 0.5"]}, {"x": [1.05, "p = 0.55"]}, False, True),
    ("ab 1", "ac 1", False, False), (None, 1.0, False, False), (True, 1, False, False), ([1], [1, 1], False, False),
    ({"x": 1}, {"y": 1}, False, False), (1, 1.0, True, True), ("a", "a", True, True),
])
def test_values_are_alike_within_a_tolerance(a: object, b: object, same: bool, near: bool) -> None:
    assert (Tolerance().alike(a, b), Tolerance(0.1).alike(a, b)) == (same, near)
