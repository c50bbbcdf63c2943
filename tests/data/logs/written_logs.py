"""Logs that tests write: zips with any compression and any fault, headers and samples of Inspect, files."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from evalpipe.data.logs import read_logs
from evalpipe.errors import DataError

LOGS = Path(__file__).parent
STORED, DEFLATED, ZSTANDARD = 0, 8, 93


def packed(content: bytes, method: int) -> bytes:
    """Return bytes compressed by a method of zips."""
    if method == ZSTANDARD:
        return pa.compress(content, codec="zstd", asbytes=True)
    if method == DEFLATED:
        compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        return compressor.compress(content) + compressor.flush()
    return content


def zipped(members: Mapping[str, Any], method: int = ZSTANDARD, raw: Mapping[str, bytes] | None = None,
           size: int | None = None, flags: int = 0) -> bytes:
    """Return a zip of members, JSON values or texts; ``raw`` has packed bytes instead, ``size`` what all say."""
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
            "eval": {"created": "2026-01-01T00:00:00+00:00", "task": "sums", "model": "openai/a", "dataset": {}},
            **changes}


def sample(item: object = "s1", epoch: object = 1, **scores: Any) -> dict[str, Any]:
    """Return the summary of a sample of Inspect, with the values of its scorers."""
    return {"id": item, "epoch": epoch, "input": "1 + 1 =", "target": "2",
            "scores": {name: {"value": value} for name, value in scores.items()}}


def write(folder: Path, files: Mapping[str, Any]) -> Path:
    """Write files by name, bytes, a text, a JSON object, or a list of texts and objects as lines; return the folder."""
    for name, content in files.items():
        lines = content if isinstance(content, list) else [content]
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines if not isinstance(line, bytes)]
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else "".join(f"{text}\n" for text in texts).encode())
    return folder


def message(format_: str, folder: Path, *names: str, scorers: list[str] | None = None) -> str:
    """Return the message of what is raised where files are read."""
    with pytest.raises(DataError) as caught:
        read_logs(format_, [Path(name) for name in names], folder, scorers)
    return str(caught.value)
