"""`evalpipe doctor`: all is well here, and each check fails where it should, with its way out."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cli.conftest import Command
from evalpipe.cli.doctor import DEVELOPERS, EXTRAS, Probe, meets, run_checks
from evalpipe.errors import UsageError

NAMES = ("python", "libraries", "pdf", "fonts", "scripts", "cores", "memory", "temporary", "reports")


def check(name: str, reports: Path = Path("reports")) -> Probe:
    return next(check for check in run_checks(reports) if check.name == name and check.state != "ok")


def test_this_machine_is_able_and_nothing_is_left_behind(command: Command, folder: Path) -> None:
    before = sorted(folder.iterdir())
    done = command("doctor")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[-1] == "this machine can run evalpipe"
    told = [line.split()[1] for line in lines if re.match("ok|note", line)]
    assert tuple(told[: len(NAMES)]) == NAMES
    assert re.search(r"^ok +pdf +WeasyPrint 7\d\S* renders a page of [\d,]+ bytes$", done.stdout, re.MULTILINE)
    assert sorted(folder.iterdir()) == before


def test_programs_read_json(command: Command) -> None:
    done = command("doctor", "--format", "json")
    document = json.loads(done.stdout)
    assert (done.returncode, document["ok"]) == (0, True)
    assert {tuple(check) for check in document["checks"]} == {("name", "state", "text", "hint")}
    assert [check["name"] for check in document["checks"]][: len(NAMES)] == list(NAMES)


def test_a_check_that_failed_is_told_with_its_way_out(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise UsageError.of("missing-library", "the PDF cannot be made: Pango is missing", "install it")

    monkeypatch.setattr("evalpipe.card.pdf.load_weasyprint", missing)
    done = command("doctor")
    assert done.returncode == 1
    told = r"^failed  pdf +the PDF cannot be made: Pango is missing\n +install it$"
    assert re.search(told, done.stdout, re.MULTILINE)
    assert done.stdout.splitlines()[-1] == "1 check failed"
    document = json.loads(command("doctor", "--format", "json").stdout)
    assert document["ok"] is False


def test_a_renderer_that_breaks_is_a_failed_check(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        """A maker of PDFs whose libraries do not fit together."""

        @staticmethod
        def HTML(string: str) -> Any:  # noqa: N802 - as WeasyPrint calls it
            raise AttributeError(f"no symbol for {len(string)} letters")

    monkeypatch.setattr("evalpipe.card.pdf.load_weasyprint", lambda: Broken)
    assert check("pdf").text == "WeasyPrint cannot render a page: AttributeError: no symbol for 15 letters"


def test_folders_that_cannot_be_written_fail(
    command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = command("doctor", "--out", "small.yaml/reports")
    assert done.returncode == 1
    assert f"cannot write to {folder}/small.yaml: Not a directory\n" in done.stdout
    assert "allow writing there, or choose another folder with --out" in done.stdout
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda: (folder / "no" / "file").open("wb"))
    assert check("temporary").text == "no temporary file can be written: No such file or directory"


class Usage(NamedTuple):
    """The space of a disk."""

    total: int
    used: int
    free: int


def test_too_little_space_and_memory_fail(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**9, 10**9, 2_000_000))
    monkeypatch.setattr("evalpipe.cli.doctor.memory_limit", lambda: 300_000_000)
    monkeypatch.setattr("evalpipe.cli.doctor.memory_free", lambda: 4_000_000_000)
    assert check("reports").text == f"{folder} can be written and has 2 MB free; a run needs 100 MB"
    assert check("temporary").hint == "set TMPDIR to a folder on a larger disk"
    assert check("memory").text == "4 GB free and a limit of 300 MB for this process; a small run needs 500 MB"


def test_more_threads_than_cores_are_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalpipe.cli.doctor.cores", lambda: 0.5)
    monkeypatch.setattr("polars.thread_pool_size", lambda: 8)
    noted = check("cores")
    assert (noted.state, noted.hint) == ("note", "set POLARS_MAX_THREADS=1: more threads than that wait for each other")
    assert noted.text.endswith("may be used; polars has 8 threads")


def test_libraries_are_held_to_the_versions_that_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    version = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "1.9.5" if name == "polars" else version(name))
    assert check("libraries") == Probe(
        "libraries", "failed", "polars 1.9.5 is not >=2.1", "pip install 'polars>=2.1'")

    def gone(name: str) -> str:
        if name == "scipy":
            raise metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(metadata, "version", gone)
    assert check("libraries").text == "scipy is missing"


@pytest.mark.parametrize(("version", "wanted", "fits"), [
    ("2.1", ">=2.1", True), ("2.10.0", ">=2.9", True), ("2.0.9", ">=2.1", False), ("70.0", ">=70,<71", True),
    ("70", "<71,>=70.0", True), ("71.0", ">=70,<71", False), ("71rc1", ">=70,<71", False), ("3", "", True),
    ("8.2.1.post1", ">=8.2", True),
])
def test_versions_are_compared_as_numbers(version: str, wanted: str, fits: bool) -> None:
    assert meets(version, wanted) is fits


def test_every_extra_says_what_it_gives(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert set(project["optional-dependencies"]) - set(DEVELOPERS) <= set(EXTRAS)


def test_an_extra_that_is_missing_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    version = metadata.version

    def gone(name: str) -> str:
        if name == "distributed":
            raise metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(metadata, "version", gone)
    noted = check("dask")
    assert noted.state == "note"
    assert noted.text == (
        "not installed; with it, files of any size are read by a Dask cluster (engine: {backend: dask})")
    assert noted.hint == "pip install 'evalpipe[dask]'"
