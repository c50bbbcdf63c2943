"""Cases of data: a table mutated, written in some format, its bytes mutated."""

from __future__ import annotations

import copy
import gzip
import io
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from fuzz.bases import Base
from fuzz.nodes import Spot, put, scalar, spots
from fuzz.specs import shorten, tame
from fuzz.tables import Table, frame, mutate

ENDINGS = (
    "csv",
    "csv",
    "csv",
    "tsv",
    "parquet",
    "parquet",
    "ipc",
    "ndjson",
    "csv.gz",
    "feather",
    "txt",
    "jsonl",
    "json",
    "",
)


def data_case(bases: Sequence[Base], rng: random.Random) -> tuple[Base, bytes, str, bytes]:
    """Make a case: the base, the spec's bytes, the name of the data file beside it, and that file's bytes."""
    base = rng.choice([base for base in bases if base.runs and _files(base)])
    tree = copy.deepcopy(base.tree)
    assert tree is not None
    shorten(tree, html=rng.random() < 0.04)
    tame(tree)
    spot = rng.choice(_files(base, tree))
    table = read(base.folder / str(spot.node.value))
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
        mutate(table, rng)
    ending = rng.choice(ENDINGS)
    name = f"case.{ending}" if ending else "case"
    raw = written(table, rng.choice(ENDINGS) if rng.random() < 0.05 else ending, rng)
    if rng.random() < 0.2:
        raw = broken(raw, rng)
    put(spot, scalar(name))
    return base, yaml.serialize(tree, Dumper=yaml.SafeDumper, allow_unicode=True, width=200).encode(), name, raw


def _files(base: Base, tree: yaml.Node | None = None) -> list[Spot]:
    found = [spot for spot in spots(tree or base.tree) if spot.key in {"path", "predictions"}]
    return [
        spot for spot in found if isinstance(spot.node, yaml.ScalarNode) and (base.folder / spot.node.value).is_file()
    ]


def read(file: Path) -> Table:
    """Return a file as lists of values by column."""
    if file.suffix == ".parquet":
        return pl.read_parquet(file).to_dict(as_series=False)
    if file.suffix == ".ndjson":
        return pl.read_ndjson(file).to_dict(as_series=False)
    separator = "\t" if file.suffix == ".tsv" else ","
    return pl.read_csv(file, separator=separator, infer_schema_length=None).to_dict(as_series=False)


def written(table: Table, ending: str, rng: random.Random) -> bytes:
    """Write a table in the format of an ending, as others write it."""
    made = frame(table, rng, typed=rng.random() < 0.3)
    out = io.BytesIO()
    try:
        if ending == "parquet":
            made.write_parquet(out)
        elif ending in {"ipc", "feather"}:
            made.write_ipc(out, compression=rng.choice(["uncompressed", "lz4", "zstd"]))
        elif ending in {"ndjson", "jsonl", "json"}:
            return "".join(f"{json.dumps(row, default=str)}\n" for row in made.to_dicts()).encode()
        else:
            return _delimited(made.to_dict(as_series=False), ending, rng)
    except pl.exceptions.PolarsError:
        return _delimited(table, ending, rng)
    return out.getvalue()


def _delimited(table: Table, ending: str, rng: random.Random) -> bytes:
    separator = rng.choice([";", "|", ","]) if rng.random() < 0.05 else "\t" if ending == "tsv" else ","
    empty = rng.choice(["", "", "", "NA", "NaN", "null", '""'])
    newline = rng.choice(["\n", "\n", "\r\n", "\r"])
    quoting = rng.choice(["needed", "needed", "all", "never"])
    names = list(table)
    if names and rng.random() < 0.04:
        names[rng.randrange(len(names))] = names[0]
    lines = [separator.join(_cell(name, separator, empty, quoting) for name in names)]
    for row in zip(*table.values(), strict=True):
        line = [_cell(value, separator, empty, quoting) for value in row]
        lines.append(separator.join(line[: -1 if rng.random() < 0.0005 else None]))
    text = newline.join(lines) + rng.choice([newline, newline, "", newline * 3])
    raw = text.encode(rng.choice(["utf-8"] * 8 + ["utf-8-sig", "latin-1", "utf-16"]), errors="replace")
    return gzip.compress(raw, mtime=0) if ending == "csv.gz" else raw


def _cell(value: Any, separator: str, empty: str, quoting: str) -> str:
    if value is None:
        return empty
    text = str(value)
    if quoting == "all" or (quoting == "needed" and any(sign in text for sign in (separator, '"', "\n", "\r"))):
        return '"' + text.replace('"', '""') + '"'
    return text


def broken(raw: bytes, rng: random.Random) -> bytes:
    """Return the bytes of a file, changed."""
    at = rng.randrange(len(raw) + 1)
    flipped = bytearray(raw)
    for _ in range(rng.choice([1, 1, 3, 30])):
        if flipped:
            flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
    return rng.choice(
        [
            raw[:at],
            raw[at:],
            bytes(flipped),
            bytes(flipped),
            b"",
            b"\n",
            b"\0" * 50,
            b"\xef\xbb\xbf" + raw,
            raw + b"\x1f\x8b\x08garbage",
            raw[:at] + b"\0" + raw[at:],
            raw[:at] + b'"' + raw[at:],
            raw[:at] + b"\xff\xfe" + raw[at:],
            gzip.compress(raw, mtime=0),
            gzip.compress(raw, mtime=0)[:-9],
            b"PAR1" + raw,
            raw + raw,
            raw.replace(b",", b";"),
            raw.replace(b".", b","),
        ]
    )
