"""The function that a cluster calls: text in, bytes out, and problems as part of the answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from evalpipe.errors import DataError, SpecError, UsageError
from evalpipe.run import load, plan
from evalpipe.spec.load import from_text, to_text
from evalpipe.spec.schema import resolved
from evalpipe.streams.cache import encode
from evalpipe.streams.tables import File, digest, parts_of, stamp, table_layout
from evalpipe.streams.tally import tally_part
from evalpipe.streams.task import answered, digest_task, run_task, tables_task
from streams.streaming import rows, write

if TYPE_CHECKING:
    from pathlib import Path

SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "x", "task": "binary", "datasets": {"d": {"path": "d"}},
    "outcome": {"column": "y", "event": 1}, "models": {"p": {"probability": "p"}}, "metrics": ["brier"],
    "threshold": 0.5, "engine": {"mode": "grid"},
}


def task(folder: Path, monkeypatch: pytest.MonkeyPatch, spec: object = SPEC) -> tuple[str, File, bytes]:
    """Return the task of the second part of a spec of relative paths, its file, and the bytes that it comes to."""
    write(rows(100), folder / "d", [30, 30])
    monkeypatch.chdir(folder)
    loaded = load(spec)  # type: ignore[arg-type]
    planned, text = plan(loaded), to_text(loaded)
    dataset = planned.datasets[0]
    part = parts_of(dataset)[1]
    path, shown = dataset.table.files[part.file]
    file = File(path.absolute(), shown, stamp(path, shown), None)
    sent, expected = tables_task(planned, text, part, file), encode(tally_part(planned, part, table_layout(planned)))
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    return sent, file, expected


def error_of(answer: bytes) -> UsageError | DataError | SpecError:
    with pytest.raises((UsageError, DataError, SpecError)) as error:
        answered(answer, None)
    return error.value


def changed(sent: str, **keys: object) -> str:
    return json.dumps({**json.loads(sent), **keys})


def test_a_task_is_done_in_another_folder_and_gives_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, file, expected = task(tmp_path, monkeypatch)
    assert answered(run_task(sent), None) == expected
    monkeypatch.chdir(tmp_path)
    of_bytes = digest(file.path, file.stamp, file.shown)
    assert answered(run_task(digest_task(file)), None).decode() == of_bytes


def test_a_worker_of_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent, _, _ = task(tmp_path, monkeypatch)
    versions = json.loads(sent)["versions"]
    error = error_of(run_task(changed(sent, versions={**versions, "numpy": "1.0"})))
    (problem,) = error.problems
    assert isinstance(error, UsageError)
    assert (problem.code, problem.message) == (
        "worker-version", f"a worker has numpy {versions['numpy']}, but this run has 1.0")
    assert problem.hint == (f"install on every worker: evalpipe {versions['evalpipe']}, numpy 1.0, "
                            f"polars {versions['polars']}")
    assert problem.notes[0].startswith("the worker is on the host ")


@pytest.mark.parametrize(("key", "what"), [("spec_sha256", "another spec"), ("files", "other files")])
def test_a_worker_that_sees_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, what: str
) -> None:
    sent, _, _ = task(tmp_path, monkeypatch)
    (problem,) = error_of(run_task(changed(sent, **{key: "0"}))).problems
    assert (problem.code, problem.message) == ("worker-plan", f"a worker sees {what} than this run does")
    assert problem.hint == "let every worker see the same folders at the same paths"


def test_problems_come_back_with_their_places_and_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(json.dumps(SPEC, indent=1))
    sent, file, _ = task(tmp_path, monkeypatch, path)
    rows(30).with_columns(p=rows(30)["p"] + 2).write_parquet(file.path)
    error = error_of(run_task(changed(sent, file=[str(file.path), file.shown, *stamp(file.path, file.shown)])))
    monkeypatch.chdir(tmp_path)
    planned = plan(load(path))
    with pytest.raises(DataError) as here:
        tally_part(planned, parts_of(planned.datasets[0])[1], table_layout(planned))
    assert isinstance(error, DataError)
    assert error.problems == here.value.problems
    assert error.problems[0].rows
    assert error.problems[0].place is not None


def test_a_file_that_changed_before_it_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent, file, _ = task(tmp_path, monkeypatch)
    size = file.path.stat().st_size
    with file.path.open("ab") as grown:
        grown.write(b"x")
    (problem,) = error_of(run_task(sent)).problems
    assert (problem.code, problem.message) == (
        "file-changed", f"{file.shown} changed while it was read, from {size:,} to {size + 1:,} bytes")


def test_a_spec_as_text_is_the_same_spec_with_its_places(root: Path) -> None:
    spec = load(root / "configs" / "titanic.yaml")
    again = from_text(to_text(spec))
    assert resolved(again) == resolved(spec)
    assert again.origin.values == spec.origin.values
    assert again.origin.keys == spec.origin.keys
    assert again.origin.path == spec.origin.path
