"""Signing of a manifest by an ed25519 key, and the check of such a signature; `cryptography` does both.

A signature is detached: it stands in a file of its own, so that a manifest has the same bytes signed or not.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evalpipe.errors import UsageError

if TYPE_CHECKING:
    from types import ModuleType

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SIGNING_KEY = "EVALPIPE_SIGNING_KEY"
"""The environment variable that may hold the private key, as PEM text."""

ALGORITHM = "ed25519"

FINGERPRINT_DIGITS = 16
"""The digits of the sha256 of a public key by which people tell keys apart."""

_DER_PREFIX = bytes.fromhex("302a300506032b6570032100")
"""The first bytes of the DER form of every ed25519 public key (RFC 8410)."""

_MOST_BYTES = 10_000
"""The most bytes that are read of a key's file."""

_MAKE_HINT = "make one with: openssl genpkey -algorithm ed25519 -out key.pem"
_PUBLIC_HINT = "write it with: openssl pkey -in key.pem -pubout -out public.pem"


@dataclass(frozen=True, slots=True)
class Signer:
    """Signs manifests with a private ``key``, which is never shown; ``public`` are the raw bytes of its public key."""

    key: Ed25519PrivateKey = field(repr=False)
    public: bytes

    def signature(self, content: bytes) -> bytes:
        """Return the contents of the signature file for some bytes; equal bytes give equal files."""
        return _signature_file(self.public, self.key.sign(content))


@dataclass(frozen=True, slots=True)
class KeySignature:
    """A stored signature, with the raw bytes of the public key that it claims to be made with."""

    public: bytes
    signature: bytes

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the public key."""
        return fingerprint(self.public)


def fingerprint(public: bytes) -> str:
    """Return the first digits of the sha256 of a public key in its DER form, as `openssl` writes it."""
    return hashlib.sha256(_DER_PREFIX + public).hexdigest()[:FINGERPRINT_DIGITS]


def signer(file: str | os.PathLike[str] | Literal[False] | None) -> Signer | None:
    """Return a signer with the key in a PEM file or, for None, in the environment; None where there is no key.

    False means no key, whatever the environment has. Raises UsageError where the key cannot be read; no message shows
    its contents.
    """
    if file is False:
        return None
    if file is None:
        # Files of environments, such as those of containers, hold a variable in a single line.
        content = os.environ.get(SIGNING_KEY, "").strip().replace("\\n", "\n").encode()
        source = f"the environment variable {SIGNING_KEY}"
        if not content:
            return None
    else:
        content, source = _read_key(file), f"'{file}'"
    ed25519, serialization, exceptions = _cryptography()
    try:
        key = serialization.load_pem_private_key(content, password=None)
    except TypeError:
        hint = "evalpipe asks for no password: write the key without one, where only its owner may read it"
        raise UsageError.of("signing-key", f"the key in {source} is protected by a password", hint) from None
    except (ValueError, exceptions.UnsupportedAlgorithm):
        key = None
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise UsageError.of("signing-key", f"{source} holds no private ed25519 key in PEM (PKCS 8)", _MAKE_HINT)
    return Signer(key, key.public_key().public_bytes_raw())


def read_public_key(file: str | os.PathLike[str]) -> bytes:
    """Return the raw bytes of the public key in a PEM file; raises UsageError where there is none."""
    ed25519, serialization, exceptions = _cryptography()
    try:
        key = serialization.load_pem_public_key(_read_key(file))
    except (ValueError, exceptions.UnsupportedAlgorithm):
        key = None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise UsageError.of("public-key", f"'{file}' holds no public ed25519 key in PEM", _PUBLIC_HINT)
    return bytes(key.public_bytes_raw())


def can_check_signatures() -> bool:
    """Tell whether signatures can be checked: `cryptography` is installed."""
    from importlib.util import find_spec

    return find_spec("cryptography") is not None


def is_signature_of(stored: KeySignature, content: bytes) -> bool:
    """Tell whether a signature of ``content`` is valid for its public key; raises UsageError without `cryptography`."""
    ed25519, _, exceptions = _cryptography()
    try:
        ed25519.Ed25519PublicKey.from_public_bytes(stored.public).verify(stored.signature, content)
    except (exceptions.InvalidSignature, ValueError):
        return False
    return True


def stored_signature(content: bytes) -> KeySignature | None:
    """Return the signature in a file; None where the file is not as evalpipe writes it."""
    try:
        document = json.loads(content)
        stored = KeySignature(*(base64.b64decode(document[key], validate=True) for key in ("public_key", "signature")))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    # Any difference to the form that evalpipe writes counts as a change, even a space.
    return stored if content == _signature_file(stored.public, stored.signature) else None


def _signature_file(public: bytes, signature: bytes) -> bytes:
    """Return the contents of a signature file, JSON with the raw bytes in base64."""
    texts = {"public_key": public, "signature": signature}
    document = {"algorithm": ALGORITHM, **{key: base64.b64encode(value).decode() for key, value in texts.items()}}
    return (json.dumps(document, indent=1) + "\n").encode()


def _read_key(file: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a key's file, at most `_MOST_BYTES`; raises UsageError where it cannot be read."""
    try:
        with Path(file).open("rb") as stream:
            return stream.read(_MOST_BYTES)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError.of("unreadable-key", f"cannot read the key '{file}': {reason}", "check the path") from None


def _cryptography() -> tuple[ModuleType, ModuleType, ModuleType]:
    """Return the modules of `cryptography` for ed25519 keys, PEM and errors; raises UsageError without it."""
    try:
        from cryptography import exceptions
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        message = "signatures by a key need the library cryptography, which is not installed"
        raise UsageError.of("missing-library", message, "pip install 'evalpipe[sign]'") from None
    return ed25519, serialization, exceptions
