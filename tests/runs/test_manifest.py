"""The manifest of an output folder: its bytes, its last line, and what is no manifest."""

from __future__ import annotations

import hashlib
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evalpipe.base.ed25519 import SIGNING_KEY, signer
from evalpipe.errors import DataError
from evalpipe.runs.folder import RunFolder
from evalpipe.runs.manifest import Manifest, OutputFile, ReadFile, is_whole, libraries
from evalpipe.runs.record import put_files

if TYPE_CHECKING:
    from evalpipe.base.ed25519 import Signer

MANIFEST = Manifest(
    name="é", evalpipe_version="1", python="3", libraries={"a": "1"}, spec_sha256="s", files=[
        OutputFile(file="b.csv", sha256="2"), OutputFile(file="c.md", sha256="3")],
    inputs=[ReadFile(kind="data", path="x.csv", sha256="4")])
KEY = "MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"


@pytest.fixture
def by(monkeypatch: pytest.MonkeyPatch) -> Signer:
    monkeypatch.setenv(SIGNING_KEY, f"-----BEGIN PRIVATE KEY-----\n{KEY}\n-----END PRIVATE KEY-----")
    key = signer(None)
    assert key is not None
    return key


def test_its_last_line_is_the_sha256_of_the_others_and_records_have_a_line_each() -> None:
    content = MANIFEST.to_bytes()
    lines = content.decode().splitlines()
    checksum = hashlib.sha256(content.partition(b'"checksum"')[0]).hexdigest()
    assert lines[-2:] == [f'"checksum": "{checksum}"', "}"]
    assert [line for line in lines if '"file"' in line] == [
        '  {"file": "b.csv", "sha256": "2"},', '  {"file": "c.md", "sha256": "3"}']
    assert '"spec_files": [],' in lines
    assert '"name": "é",' in lines
    assert Manifest.from_bytes(content, Path("m")) == MANIFEST


def test_a_changed_manifest_and_one_of_another_version_are_told_apart() -> None:
    whole = MANIFEST.to_bytes()
    assert is_whole(whole)
    for changed in (b"", whole[:-1], whole + b"\n", whole.replace(b"b.csv", b"d.csv")):
        assert not is_whole(changed)
        with pytest.raises(DataError) as caught:
            Manifest.from_bytes(changed, Path("m"))
        assert caught.value.problems[0].message == "m was changed: its last line is not the sha256 of the others"
    for body in (b'{\n"manifest": 2,\n', b"[\n", b"{\n" + b'"a": ' + b"[" * 100_000 + b",\n"):
        content = body + b'"checksum": "' + hashlib.sha256(body).hexdigest().encode() + b'"\n}\n'
        with pytest.raises(DataError) as caught:
            Manifest.from_bytes(content, Path("m"))
        assert caught.value.problems[0].message == "m is not as this version writes it"


def test_new_files_take_the_place_of_those_of_their_name() -> None:
    updated = MANIFEST.with_files({"c.md": "5", "a.md": "1"})
    assert updated.sha256_of == {"a.md": "1", "b.csv": "2", "c.md": "5"}
    assert list(updated.sha256_of) == ["a.md", "b.csv", "c.md"]
    assert updated.versions == {"evalpipe_version": "1", "python": "3", "libraries": {"a": "1"}}


def test_libraries_that_are_not_installed_have_no_version() -> None:
    found = libraries(["pytest", "nothing-of-this-name", "numpy"])
    assert found["pytest"] == metadata.version("pytest")
    assert "nothing-of-this-name" not in found
    assert list(found).count("numpy") == 1


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../a", "a\\b", "a\x00"])
def test_a_file_of_a_folder_has_no_path(name: str) -> None:
    with pytest.raises(ValueError, match="pattern"):
        OutputFile(file=name, sha256="1")


def test_a_signature_stays_as_long_as_the_manifest_has_the_same_bytes(tmp_path: Path, by: Signer) -> None:
    folder, content = RunFolder(tmp_path), MANIFEST.to_bytes()
    assert folder.manifest_files(MANIFEST, None) == {"manifest.json": content}
    signed = folder.manifest_files(MANIFEST, by)
    assert signed == {"manifest.json": content, "manifest.sig.json": by.signature(content)}
    (tmp_path / "manifest.json").write_bytes(content)
    assert folder.manifest_files(MANIFEST, None) == {"manifest.json": content}
    (tmp_path / "manifest.sig.json").write_bytes(by.signature(content))
    assert folder.manifest_files(MANIFEST, None) == signed
    changed = MANIFEST.with_files({"a.md": "1"})
    assert folder.manifest_files(changed, None) == {"manifest.json": changed.to_bytes()}


def test_files_that_are_put_into_a_folder_are_in_its_manifest(tmp_path: Path, by: Signer) -> None:
    put_files(tmp_path, {"a.md": b"1"})
    assert [path.name for path in tmp_path.iterdir()] == ["a.md"]  # it had no manifest and has none now
    (tmp_path / "manifest.json").write_bytes(MANIFEST.to_bytes())
    put_files(tmp_path, {"a.md": b"2"}, by)
    manifest = RunFolder(tmp_path).manifest
    assert manifest is not None
    assert manifest.sha256_of["a.md"] == hashlib.sha256(b"2").hexdigest()
    assert (tmp_path / "manifest.sig.json").read_bytes() == by.signature(manifest.to_bytes())
    put_files(tmp_path, {"a.md": b"2"})
    assert (tmp_path / "manifest.sig.json").exists()
    put_files(tmp_path, {"a.md": b"3"})
    assert not (tmp_path / "manifest.sig.json").exists()
    put_files(tmp_path, {"a.md": b"4"})  # which has no signature to remove
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.md", "manifest.json"]
