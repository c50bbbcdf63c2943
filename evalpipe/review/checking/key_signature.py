"""The signature of the manifest by a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.base.ed25519 import can_check, fingerprint, is_of, stored_signature
from evalpipe.review.checking.checked import CheckedFile
from evalpipe.runs.manifest import KEY_SIGNATURE, MANIFEST

if TYPE_CHECKING:
    from pathlib import Path

    from evalpipe.base.ed25519 import KeySignature
    from evalpipe.review.checking.checked import Status


def check_key_signature(folder: Path, public: bytes | None) -> CheckedFile:
    """Check who signed the manifest; where a ``public`` key is given, no other may have."""
    status, reason = _status(folder, public)
    return CheckedFile("output", KEY_SIGNATURE, status, reason)


def _status(folder: Path, public: bytes | None) -> tuple[Status, str]:
    try:
        content = (folder / KEY_SIGNATURE).read_bytes()
    except FileNotFoundError:
        needed = public is not None
        return ("differs", "the manifest is not signed, and must be by the key that was given") if needed else (
            "not checked", "the manifest is not signed")
    except OSError as error:
        return "differs", f"cannot read it: {error.strerror or error}"
    stored = stored_signature(content)
    if stored is None:
        return "differs", "it holds no signature as evalpipe writes it"
    if not can_check():
        return "not checked", "cryptography is not installed: pip install 'evalpipe[sign]'"
    return _of_key(folder, stored, public)


def _of_key(folder: Path, stored: KeySignature, public: bytes | None) -> tuple[Status, str]:
    """Tell of which manifest, and by which key, a signature is."""
    try:
        signed = is_of(stored, (folder / MANIFEST).read_bytes())
    except OSError:
        return "differs", "there is no manifest that it could be of"
    if not signed:
        return "differs", "it is not of this manifest"
    if public is None:
        return "same", f"signed by the key {stored.fingerprint}; --public-key checks whose key that is"
    if stored.public != public:
        given = fingerprint(public)
        return "differs", f"signed by another key, {stored.fingerprint}; the one that was given is {given}"
    return "same", f"signed by the key that was given, {stored.fingerprint}"
