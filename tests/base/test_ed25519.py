"""Keys that sign a manifest: where they are read from, what is no key, and what a signature is of."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from evalpipe.base.ed25519 import (
    SIGNING_KEY,
    KeySignature,
    can_check_signatures,
    fingerprint,
    is_signature_of,
    read_public_key,
    signer,
    stored_signature,
)
from evalpipe.errors import UsageError

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PRIVATE = KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
PUBLIC = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
RAW = KEY.public_key().public_bytes_raw()
OTHER = X25519PrivateKey.from_private_bytes(bytes(range(32)))


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(SIGNING_KEY, raising=False)


def test_a_key_is_read_from_a_file_or_else_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("key.pem").write_bytes(PRIVATE)
    assert signer(None) is signer(file=False) is None
    by_file = signer("key.pem")
    monkeypatch.setenv(SIGNING_KEY, "  " + PRIVATE.decode().strip().replace("\n", "\\n"))
    by_environment = signer(None)
    assert signer(file=False) is None
    assert by_file is not None
    assert by_environment is not None
    assert by_file.public == by_environment.public == RAW
    assert by_file.signature(b"a") == by_environment.signature(b"a") != by_file.signature(b"b")


@pytest.mark.parametrize(("content", "message", "hint"), [
    (b"", "'key.pem' holds no private ed25519 key in PEM (PKCS 8)",
     "make one with: openssl genpkey -algorithm ed25519 -out key.pem"),
    (PUBLIC, "'key.pem' holds no private ed25519 key in PEM (PKCS 8)",
     "make one with: openssl genpkey -algorithm ed25519 -out key.pem"),
    (OTHER.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
     "'key.pem' holds no private ed25519 key in PEM (PKCS 8)",
     "make one with: openssl genpkey -algorithm ed25519 -out key.pem"),
    (KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"hush")),
     "the key in 'key.pem' is protected by a password",
     "evalpipe asks for no password: write the key without one, where only its owner may read it"),
    (None, "cannot read the key 'key.pem': No such file or directory", "check the path"),
])
def test_what_is_no_private_key_is_refused(content: bytes | None, message: str, hint: str) -> None:
    if content is not None:
        Path("key.pem").write_bytes(content)
    with pytest.raises(UsageError) as caught:
        signer("key.pem")
    assert (caught.value.problems[0].message, caught.value.problems[0].hint) == (message, hint)


@pytest.mark.parametrize("content", [
    b"", PRIVATE, OTHER.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
])
def test_a_public_key_is_read_and_nothing_else(content: bytes) -> None:
    Path("good.pem").write_bytes(PUBLIC)
    Path("bad.pem").write_bytes(content)
    assert read_public_key("good.pem") == RAW
    with pytest.raises(UsageError) as caught:
        read_public_key("bad.pem")
    assert (caught.value.problems[0].message, caught.value.problems[0].hint) == (
        "'bad.pem' holds no public ed25519 key in PEM",
         "write it with: openssl pkey -in key.pem -pubout -out public.pem")


def test_a_signature_is_of_its_bytes_and_by_its_key() -> None:
    Path("key.pem").write_bytes(PRIVATE)
    by = signer("key.pem")
    assert by is not None
    stored = stored_signature(by.signature(b"content"))
    assert stored is not None
    assert can_check_signatures()
    assert is_signature_of(stored, b"content")
    assert not is_signature_of(stored, b"other")
    assert not is_signature_of(KeySignature(bytes(32), stored.signature), b"content")
    assert not is_signature_of(KeySignature(b"short", stored.signature), b"content")


def test_a_file_that_was_changed_holds_no_signature() -> None:
    Path("key.pem").write_bytes(PRIVATE)
    by = signer("key.pem")
    assert by is not None
    content = by.signature(b"content")
    document = json.loads(content)
    assert list(document) == ["algorithm", "public_key", "signature"]
    for other in (b"", b"[]", b"{}", content + b" ", content.replace(b"ed25519", b"rsa"), b"[" * 100_000,
                  json.dumps(document | {"signature": "?"}).encode(),
                   json.dumps(document | {"public_key": 3}).encode()):
        assert stored_signature(other) is None


def test_the_fingerprint_is_the_sha256_of_the_key_in_der() -> None:
    der = KEY.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    assert KeySignature(RAW, b"").fingerprint == fingerprint(RAW) == hashlib.sha256(der).hexdigest()[:16]
