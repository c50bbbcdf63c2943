"""The manifest and its signature by a key: who signed what, and what becomes of both when a folder changes."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)
from hypothesis import given
from hypothesis import strategies as st

import evalpipe
from evalpipe.base.digests import bytes_sha256
from evalpipe.base.ed25519 import Signer, is_signature_of, read_public_key, signer, stored_signature
from evalpipe.base.formats import KEY_SIGNATURE
from evalpipe.card import pdf
from evalpipe.errors import DataError, SpecError, UsageError
from evalpipe.review.signing import accept
from evalpipe.runs.folder import RunFolder
from evalpipe.runs.manifest import is_whole
from evalpipe.runs.record import put_files

Keys = Callable[[str], tuple[Path, Path]]
SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1}, "metrics": ["brier"],
    "datasets": {"d": {"path": "memory"}}, "models": {"p": {"probability": "p"}}, "intervals": {"method": "none"},
    "report": {"formats": []},
}
VARIABLE = "EVALPIPE_SIGNING_KEY"
PEOPLE = pl.DataFrame({"y": [1, 0] * 20, "p": [(7 * place % 40) / 40 for place in range(40)]})


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(VARIABLE, raising=False)


def ran(out: str = "out", spec: dict[str, Any] = SPEC, **options: Any) -> Path:
    evalpipe.run(spec, frames={"d": PEOPLE}, out=out, **options)
    return Path(out)


def said(folder: Path, public: Path | None = None) -> str:
    """Return what is told of the signature by a key."""
    verification = evalpipe.verify(folder, public_key=public)
    (checked,) = [file for file in verification.files if file.file == KEY_SIGNATURE]
    assert verification.holds() == (checked.status != "differs")
    return f"{checked.status}: {checked.reason}"


def test_a_manifest_says_what_a_folder_holds_and_nothing_of_time_and_place() -> None:
    first, second = ran("one"), ran("two/deeper")
    manifest = RunFolder(first).manifest

    assert manifest is not None
    assert manifest.sha256_of == {
        name: bytes_sha256((first / name).read_bytes()) for name in ("estimates.csv", "results.json")}
    assert (manifest.spec_files, [file.model_dump() for file in manifest.inputs]) == (
        [], [{"kind": "data", "path": None, "sha256": None}])
    assert manifest.libraries["polars"] == pl.__version__
    assert (first / "manifest.json").read_bytes() == (second / "manifest.json").read_bytes()


def test_who_signed_is_told(keys: Keys) -> None:
    (private, public), (_, other) = keys("ours"), keys("theirs")
    folder = ran(key=private)

    key: Any = load_pem_public_key(public.read_bytes())
    ours = bytes_sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))[:16]
    assert said(folder) == f"same: signed by the key {ours}; --public-key checks whose key that is"
    assert said(folder, public) == f"same: signed by the key that was given, {ours}"
    assert said(folder, other).startswith(f"differs: signed by another key, {ours}; the one that was given is ")
    assert said(ran("unsigned"), public) == "differs: the manifest is not signed, and must be by the key that was given"
    assert said(Path("unsigned")) == "not checked: the manifest is not signed"


def test_a_signature_is_that_of_the_algorithm_and_of_the_bytes_of_the_manifest(keys: Keys) -> None:
    private, public = keys("ours")
    folder = ran(key=private)
    document = json.loads((folder / KEY_SIGNATURE).read_text())
    key: Any = load_pem_public_key(public.read_bytes())

    assert document["algorithm"] == "ed25519"
    key.verify(base64.b64decode(document["signature"]), (folder / "manifest.json").read_bytes())
    assert base64.b64decode(document["public_key"]) == read_public_key(public) == key.public_bytes_raw()
    before = (folder / KEY_SIGNATURE).read_bytes()
    assert (ran(key=private) / KEY_SIGNATURE).read_bytes() == before


def test_a_changed_or_foreign_signature_is_told(keys: Keys) -> None:
    private, public = keys("ours")
    folder = ran(key=private)
    path = folder / KEY_SIGNATURE
    true = path.read_bytes()
    for place in range(0, len(true), 9):
        path.write_bytes(true[:place] + bytes([true[place] ^ 4]) + true[place + 1:])
        assert said(folder, public).startswith("differs: it ")
    path.write_bytes(true)
    other = evalpipe.run(SPEC | {"title": "Other"}, frames={"d": PEOPLE}, out="other", key=private)
    assert other.title == "Other"
    path.write_bytes((Path("other") / KEY_SIGNATURE).read_bytes())

    assert said(folder, public) == "differs: it is not of this manifest"
    (folder / "manifest.json").unlink()
    assert said(folder, public) == "differs: there is no manifest that it could be of"


def test_a_folder_that_was_made_to_agree_is_told_by_the_key_alone(keys: Keys) -> None:
    private, public = keys("ours")
    folder = ran(key=private)
    signature = (folder / KEY_SIGNATURE).read_bytes()
    ran(spec=SPEC | {"title": "Better"})
    assert not (folder / KEY_SIGNATURE).exists()
    assert evalpipe.verify(folder).holds()
    (folder / KEY_SIGNATURE).write_bytes(signature)

    assert said(folder, public) == "differs: it is not of this manifest"


@pytest.mark.parametrize("joined", ["\n", "\\n"])
def test_the_key_may_be_in_the_environment(keys: Keys, monkeypatch: pytest.MonkeyPatch, joined: str) -> None:
    private, public = keys("ours")
    monkeypatch.setenv(VARIABLE, private.read_text().replace("\n", joined))

    assert said(ran(), public).startswith("same: signed by the key that was given")
    assert not (ran("without", key=False) / KEY_SIGNATURE).exists()


def test_a_run_again_keeps_the_signature_of_the_same_manifest(keys: Keys) -> None:
    private, public = keys("ours")
    before = (ran(key=private) / KEY_SIGNATURE).read_bytes()
    folder = ran()

    assert (folder / KEY_SIGNATURE).read_bytes() == before
    assert said(folder, public).startswith("same: ")


def test_the_manifest_follows_what_people_sign_and_a_run_again_gives_the_same(keys: Keys) -> None:
    private, public = keys("ours")
    by = {"role": "validator", "name": "A. Reader", "decision": "approved", "date": "2026-11-21"}
    folder = ran(spec=SPEC | {"report": {"formats": ["html"]}}, key=private)
    evalpipe.sign(folder, **by)  # type: ignore[arg-type]

    assert said(folder) == "not checked: the manifest is not signed"
    assert evalpipe.verify(folder).holds()
    evalpipe.sign(folder, **by | {"role": "owner"}, key=private)  # type: ignore[arg-type]
    assert said(folder, public).startswith("same: ")
    signed = {file.name: file.read_bytes() for file in folder.iterdir() if file.name != "run.json"}
    ran(spec=SPEC | {"report": {"formats": ["html"]}})
    assert {file.name: file.read_bytes() for file in folder.iterdir() if file.name != "run.json"} == signed


def test_the_manifest_follows_a_new_reference() -> None:
    folder = ran()
    accept(folder)
    manifest = RunFolder(folder).manifest

    assert manifest is not None
    assert manifest.sha256_of["reference.json"] == bytes_sha256((folder / "results.json").read_bytes())
    assert evalpipe.verify(folder).holds()


def test_a_manifest_that_was_changed_stops_every_command_that_writes() -> None:
    folder = ran()
    path = folder / "manifest.json"
    path.write_bytes(path.read_bytes().replace(b'"name": "x"', b'"name": "y"'))
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    with pytest.raises(DataError) as error:
        put_files(folder, {"card.md": b"# x"})

    assert str(error.value) == (
        "error[changed-file]: out/manifest.json was changed: its last line is not the sha256 of the others\n"
        "  = help: restore it, or run again")
    with pytest.raises(DataError):
        evalpipe.sign(folder, role="owner", name="B", decision="approved", date="2026-11-21")
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_a_folder_without_a_manifest_gets_none() -> None:
    folder = ran()
    (folder / "manifest.json").unlink()
    put_files(folder, {"card.md": b"# x"})

    assert not (folder / "manifest.json").exists()


def test_a_manifest_of_a_later_version_is_told() -> None:
    folder = ran()
    manifest = RunFolder(folder).manifest
    assert manifest is not None
    (folder / "manifest.json").write_bytes(manifest.model_copy(update={"manifest": 2}).to_bytes())
    with pytest.raises(DataError) as error:
        _ = RunFolder(folder).manifest

    assert str(error.value) == (
        "error[not-a-manifest]: out/manifest.json is not as this version writes it\n"
        "  = help: use the version of evalpipe that wrote it")


def pem(key: Any, protection: Any = None) -> bytes:
    written: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, protection or NoEncryption())
    return written


@pytest.mark.parametrize("kind", ["rsa", "ec", "text", "public"])
def test_what_is_no_key_is_told_and_not_shown(
    kind: str, keys: Keys, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    content = {
        "rsa": lambda: pem(rsa.generate_private_key(65537, 2048)),
        "ec": lambda: pem(ec.generate_private_key(ec.SECP256R1())),
        "text": b"-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----\n".strip,
        "public": keys("ours")[1].read_bytes}[kind]()
    Path("key.pem").write_bytes(content)
    with pytest.raises(UsageError) as error:
        ran(key="key.pem")
    assert str(error.value) == (
        "error[signing-key]: 'key.pem' holds no private ed25519 key in PEM (PKCS 8)\n"
        "  = help: make one with: openssl genpkey -algorithm ed25519 -out key.pem")
    monkeypatch.setenv(VARIABLE, content.decode())
    with pytest.raises(UsageError) as error:
        ran()
    assert str(error.value).startswith(
        f"error[signing-key]: the environment variable {VARIABLE} holds no private ed25519 key in PEM (PKCS 8)\n")
    assert not Path("out").exists()
    assert "secret" not in "".join(capsys.readouterr())


def test_a_key_with_a_password_and_one_that_is_not_there_are_told(keys: Keys) -> None:
    key = load_pem_private_key(keys("ours")[0].read_bytes(), None)
    Path("key.pem").write_bytes(pem(key, BestAvailableEncryption(b"word")))
    with pytest.raises(UsageError) as error:
        signer("key.pem")
    assert str(error.value) == (
        "error[signing-key]: the key in 'key.pem' is protected by a password\n"
        "  = help: evalpipe asks for no password: write the key without one, where only its owner may read it")
    for read in (signer, read_public_key):
        with pytest.raises(UsageError) as error:
            read("no.pem")
        assert str(error.value) == (
            "error[unreadable-key]: cannot read the key 'no.pem': No such file or directory\n  = help: check the path")


def test_what_is_no_public_key_is_told(keys: Keys) -> None:
    with pytest.raises(UsageError) as error:
        read_public_key(keys("ours")[0])

    assert str(error.value) == (
        f"error[public-key]: '{keys('ours')[0]}' holds no public ed25519 key in PEM\n"
        "  = help: write it with: openssl pkey -in key.pem -pubout -out public.pem")


def test_without_the_library_a_signature_is_not_checked_and_none_is_made(
    keys: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    private, public = keys("ours")
    folder = ran(key=private)
    for name in [name for name in sys.modules if name.partition(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)

    assert said(folder) == "not checked: cryptography is not installed: pip install 'evalpipe[sign]'"
    for call in (lambda: ran(key=private), lambda: evalpipe.verify(folder, public_key=public)):
        with pytest.raises(UsageError) as error:
            call()
        assert str(error.value) == (
            "error[missing-library]: signatures by a key need the library cryptography, which is not installed\n"
            "  = help: pip install 'evalpipe[sign]'")


def test_a_spec_cannot_print_the_key(keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, keys("ours")[0].read_text())
    Path("a.yaml").write_text(f"evalpipe: 1\ntitle: ${{env:{VARIABLE}}}\n")
    with pytest.raises(SpecError) as error:
        evalpipe.load("a.yaml")

    assert f"error[secret-variable]: {VARIABLE} holds the key that cards are signed with\n --> a.yaml:2:8\n" in str(
        error.value)
    assert "BEGIN" not in str(error.value)


def test_a_signer_does_not_show_its_key(keys: Keys) -> None:
    by = signer(keys("ours")[0])

    assert isinstance(by, Signer)
    assert repr(by) == f"Signer(public={by.public!r})"


@given(st.binary(max_size=300))
def test_no_bytes_are_taken_for_a_signature_or_a_manifest(content: bytes) -> None:
    assert stored_signature(content) is None
    assert not is_whole(content)


@given(st.binary(max_size=40), st.binary(max_size=70))
def test_keys_and_signatures_of_any_length_are_no_signature(public: bytes, signature: bytes) -> None:
    texts = {"public_key": public, "signature": signature}
    document = {"algorithm": "ed25519", **{key: base64.b64encode(value).decode() for key, value in texts.items()}}
    stored = stored_signature((json.dumps(document, indent=1) + "\n").encode())

    assert stored is not None
    assert not is_signature_of(stored, b"anything")


def test_a_public_key_reads_back(keys: Keys) -> None:
    private, public = keys("ours")
    key: Any = load_pem_private_key(private.read_bytes(), None)

    assert public.read_bytes() == key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    assert read_public_key(public) == key.public_key().public_bytes_raw()


def test_a_key_vouches_for_a_pdf_whose_pages_are_not_compared(keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    private, public = keys("ours")
    folder = ran(spec=SPEC | {"report": {"formats": ["pdf"]}}, key=private)
    now = pdf._drawing_versions()
    monkeypatch.setattr(pdf, "_drawing_versions", lambda: now | {"weasyprint": "99.0"})
    unknown, known = evalpipe.verify(folder), evalpipe.verify(folder, public_key=public)

    assert [file.status for verification in (unknown, known) for file in verification.files
            if file.file == "card.pdf"] == ["not checked", "same"]
    assert (unknown.holds(), known.holds()) == (False, True)
    path = folder / "card.pdf"
    path.write_bytes(path.read_bytes()[:-1] + b" ")
    assert not evalpipe.verify(folder, public_key=public).holds()
