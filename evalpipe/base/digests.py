"""The sha256 of bytes, a text, a file or plain JSON values, each as 64 hexadecimal digits."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def bytes_sha256(content: bytes) -> str:
    """Return the sha256 of some bytes."""
    return hashlib.sha256(content).hexdigest()


def text_sha256(text: str) -> str:
    """Return the sha256 of a text in UTF-8."""
    return bytes_sha256(text.encode())


def json_sha256(document: object) -> str:
    """Return the sha256 of plain JSON values in canonical form: keys sorted, no spaces, in UTF-8."""
    return text_sha256(json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False))


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file, however large; raises OSError where it cannot be read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
