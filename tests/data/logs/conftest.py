"""Logs that tests write: a zip with any compression and any fault, and copies of the logs of this folder with a change."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow
import pytest

LOGS = Path(__file__).parent
STORED, DEFLATED, ZSTANDARD = 0, 8, 93

Zip = Callable[..., bytes]


def packed(content: bytes, method: int) -> bytes:
    """Return bytes compressed by a method of zips."""
    if method == ZSTANDARD:
        return pyarrow.compress(content, codec="zstd", asbytes=True)
    if method == DEFLATED:
        compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        return compressor.compress(content) + compressor.flush()
    return content


def zipped(members: Mapping[str, Any], method: int = ZSTANDARD, raw: Mapping[str, bytes] | None = None, size: int | None = None,
           flags: int = 0) -> bytes:
    """Return a zip of members, JSON values or texts; ``raw`` has packed bytes instead, ``size`` what all say they have."""
    local, directory = b"", b""
    for name, value in members.items():
        content = (value if isinstance(value, str) else json.dumps(value)).encode()
        body = (raw or {}).get(name, packed(content, method))
        facts = struct.pack("<HHHHHIII", 20, flags, method, 0, 0, zlib.crc32(content), len(body),
                            len(content) if size is None else size)
        names = struct.pack("<HH", len(name), 0)
        directory += b"PK\x01\x02" + struct.pack("<H", 20) + facts + names + struct.pack(
            "<HHHII", 0, 0, 0, 0, len(local)) + name.encode()
        local += b"PK\x03\x04" + facts + names + name.encode() + body
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory), len(local), 0)
    return local + directory + b"PK\x05\x06" + end


def header(**changes: Any) -> dict[str, Any]:
    """Return the header of an Inspect log, with changes at its top."""
    return {"version": 2, "status": "success",
            "eval": {"created": "2026-01-01T00:00:00+00:00", "task": "sums", "model": "openai/a", "dataset": {}}, **changes}


def sample(item: object = "s1", epoch: object = 1, **scores: Any) -> dict[str, Any]:
    """Return the summary of a sample of Inspect, with the values of its scorers."""
    return {"id": item, "epoch": epoch, "input": "1 + 1 =", "target": "2",
            "scores": {name: {"value": value} for name, value in scores.items()}}


@pytest.fixture
def folder(tmp_path: Path) -> Callable[[Mapping[str, Any]], Path]:
    """Return a function that writes files, by name: bytes, texts, JSON values, or lists of them as lines; and its folder."""
    def write(files: Mapping[str, Any]) -> Path:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, list):
                lines = [line if isinstance(line, str) else json.dumps(line) for line in content]
                content = "".join(f"{line}\n" for line in lines)
            elif isinstance(content, dict):
                content = json.dumps(content)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path
    return write
