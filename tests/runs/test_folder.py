"""The output folder of a run: how its files are read, whose it is, and what is told where it is not as it should be."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from evalpipe.base.digests import bytes_sha256
from evalpipe.base.formats import RUN_FILES
from evalpipe.errors import DataError, UsageError
from evalpipe.results.signatures import SIGNATURE_LIST, Signature, records_json
from evalpipe.runs.folder import (
    RunFolder,
    has_run_files,
    refuse_file_of_run,
    refuse_foreign,
    refuse_to_replace,
)

SIGNATURE = Signature(role="owner", name="A", date="2026-01-02", decision="approved", evidence_sha256="0123abcd" * 8)
OTHER = SIGNATURE.model_copy(update={"evidence_sha256": "f" * 64})


def fault(error: DataError | UsageError) -> tuple[str, str | None]:
    return error.problems[0].message, error.problems[0].hint


def test_a_file_is_read_once_and_named_where_it_cannot_be(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    (tmp_path / "card.md").write_bytes(b"one")
    assert (folder.content("card.md"), folder.sha256("card.md")) == (b"one", bytes_sha256(b"one"))
    (tmp_path / "card.md").write_bytes(b"two")
    assert (folder.content("card.md"), folder.sha256("card.md")) == (b"one", bytes_sha256(b"one"))
    (tmp_path / "run.json").mkdir()
    assert folder.content_if_there("card.html") is None
    assert (folder.sha256_if_readable("card.html"), folder.sha256_if_readable("run.json")) == (None, None)
    for read in (folder.content_if_there, folder.content, folder.sha256):
        with pytest.raises(DataError) as caught:
            read("run.json")
        assert fault(caught.value) == (
            f"cannot read {tmp_path / 'run.json'}: Is a directory", "let it be read, and try again")
    with pytest.raises(DataError) as caught:
        folder.content("card.html", "look", "the page")
    assert fault(caught.value) == ("cannot read the page: No such file or directory", "look")
    with pytest.raises(OSError, match="File name too long"):
        folder.content("x" * 300)


def test_results_of_another_name_are_those_of_their_folder(tmp_path: Path) -> None:
    (tmp_path / "old.json").touch()
    named = RunFolder.named(tmp_path / "old.json")
    assert (named.path, named.file("results.json"), named.holds_run) == (tmp_path, tmp_path / "old.json", True)
    assert RunFolder.named(tmp_path).file("results.json") == tmp_path / "results.json"
    assert not RunFolder.named(tmp_path).holds_run
    (tmp_path / "manifest.json").touch()
    assert RunFolder.named(tmp_path).holds_run


@pytest.mark.parametrize(("content", "facts", "evidence"), [
    (None, {}, None), (b"{", {}, None), (b"[]", {}, None), (b"[" * 100_000, {}, None),
    (b'{"evidence_sha256": 3}', {"evidence_sha256": 3}, None),
    (b'{"evidence_sha256": "ab"}', {"evidence_sha256": "ab"}, "ab"),
])
def test_what_a_run_said_of_itself_counts_where_it_can_be_read(
    tmp_path: Path, content: bytes | None, facts: dict[str, object], evidence: str | None
) -> None:
    if content is not None:
        (tmp_path / "run.json").write_bytes(content)
    folder = RunFolder(tmp_path)
    assert (folder.run_facts, folder.evidence_in_run) == (facts, evidence)
    assert folder.recorded_evidence(None) == ([] if evidence is None else [evidence])
    assert folder.run_facts_of("ab") == (facts if evidence else {})
    assert folder.run_facts_of("cd") == {}
    assert (folder.stamp is None) == (content is None)


@pytest.mark.parametrize(("start", "spec_folder"), [("..", ""), ("../specs", "specs"), (3, None), (None, None)])
def test_the_folder_of_the_spec_is_found_from_the_output(
    tmp_path: Path, start: object, spec_folder: str | None
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "run.json").write_text(json.dumps({"inputs_from": start}))
    found = RunFolder(tmp_path / "out").spec_folder
    assert found == (None if spec_folder is None else Path(os.path.realpath(tmp_path / spec_folder)))


def test_evidence_is_that_of_the_run_and_of_the_manifest(folder: Path) -> None:
    run = RunFolder(folder)
    assert run.recorded_evidence(run.manifest) == [run.results.evidence_sha256] * 2
    assert run.formats == ["html", "markdown"]
    assert [path.name for path in run.entries] == [
        "card.html", "card.md", "estimates.csv", "manifest.json", "results.json", "rows.csv", "run.json"]
    with pytest.raises(DataError) as caught:
        _ = RunFolder(folder / "gone").entries
    assert fault(caught.value) == (
        "cannot read 'out/gone': No such file or directory", "let it be read, and try again")


@pytest.mark.parametrize(("content", "stays", "new_name"), [
    (None, False, None), (records_json([SIGNATURE]), True, None),
    (records_json([OTHER]), False, "signatures-ffffffff.json"),
    (records_json([OTHER, SIGNATURE]), False, "signatures-0123abcd.json"),
    (b"{", False, "signatures-unreadable.json"),
])
def test_signatures_stay_with_the_results_that_they_sign(
    tmp_path: Path, content: bytes | None, stays: bool, new_name: str | None
) -> None:
    if content is not None:
        (tmp_path / "signatures.json").write_bytes(content)
    files = {} if content is None else {new_name or "signatures.json": content}
    assert RunFolder(tmp_path).records_after_run(SIGNATURE_LIST, SIGNATURE.evidence_sha256) == (
        (SIGNATURE,) if stays else (), files, new_name)


def test_a_signature_of_other_results_is_refused(tmp_path: Path) -> None:
    (tmp_path / "signatures.json").write_bytes(records_json([SIGNATURE]))
    assert RunFolder(tmp_path).records_of(SIGNATURE_LIST, SIGNATURE.evidence_sha256) == (SIGNATURE,)
    with pytest.raises(DataError, match=r"signatures\.json is of other results: 'A' "):
        RunFolder(tmp_path).records_of(SIGNATURE_LIST, "f" * 64)


@pytest.mark.parametrize(("name", "content", "is_run"), [
    ("results.json", '{"evalpipe_version": 1}', True), ("manifest.json", '{"evalpipe_version": 1}', True),
    ("reference.json", '{"evalpipe_version": 1}', True), ("signatures.json", '[{"evidence_sha256": "a"}]', True),
    ("results.json", '{"evidence_sha256": 1}', False), ("other.json", '{"evalpipe_version": 1}', False),
    ("results.json", " " * (1 << 16) + '"evalpipe_version"', False), (".hidden", "", None), (None, "", None),
])
def test_a_folder_of_a_run_is_told_from_one_of_somebody_else(
    tmp_path: Path, name: str | None, content: str, is_run: bool | None
) -> None:
    if name is not None:
        (tmp_path / name).write_text(content)
    assert has_run_files(tmp_path) == bool(is_run)
    if is_run is not False:
        refuse_foreign(tmp_path, "folder")
        refuse_foreign(tmp_path / "gone", "folder")
        return
    with pytest.raises(UsageError) as caught:
        refuse_foreign(tmp_path, "folder 'x'")
    assert fault(caught.value) == (
        f"the folder 'x' holds files that no run of evalpipe wrote: '{name}'",
        "choose a new or an empty folder with --out, or move these files away")


@pytest.mark.parametrize("name", RUN_FILES)
def test_a_file_that_a_run_wrote_is_not_replaced(tmp_path: Path, name: str) -> None:
    refuse_to_replace(tmp_path / name)
    (tmp_path / name).write_text("mine")
    refuse_to_replace(tmp_path / name)
    (tmp_path / "manifest.json").write_text('{"evalpipe_version": 1}')
    refuse_to_replace(tmp_path / "other.md")
    for refuse in (refuse_file_of_run, refuse_to_replace):
        with pytest.raises(UsageError) as caught:
            refuse(tmp_path / name)
        assert fault(caught.value) == (
            f"'{tmp_path / name}' is a file that a run wrote, and nothing was written", "name another file")


def test_a_pipe_or_a_device_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "way").symlink_to("/dev")
    for file in (str(tmp_path / "pipe"), "/dev/null", "/dev/new", str(tmp_path / "way" / "new"), "/proc/self/new"):
        with pytest.raises(UsageError) as caught:
            refuse_to_replace(file)
        assert fault(caught.value) == (
            f"'{file}' is a pipe or a device, and nothing was written", "name a file, or redirect the standard output")
    refuse_to_replace(tmp_path)
