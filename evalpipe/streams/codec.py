"""Tables as bytes, to be sent and stored: the same tables give the same bytes, and bytes that are damaged are known.

The bytes are `MAGIC`, the sha256 of what follows, and that compressed: the length of a JSON header, the header, and
arrays of 64-bit integers in the order in which the header names them. Totals of floats are whole multiples of a unit,
so integers hold them exactly. Nothing in the bytes is run when they are read.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from evalpipe.statistics.exact_sums import ExactSums, unit
from evalpipe.streams.asked import Asked
from evalpipe.streams.tables import CellCounts, RowGroup, Tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.base.arraytypes import Floats, Wholes

FORMAT = 3
"""The version of the format; bytes of another version are not read."""

Held = TypeVar("Held")

MAGIC = b"evalpipe tables %d\n" % FORMAT

_LEVEL = 1  # of zlib: the fastest; higher ones take four times as long for a tenth fewer bytes
_DIGEST = 32
_LENGTH = 4
_WORD = 8


class DamagedError(Exception):
    """Bytes that are no whole tables of this format."""


def encode(tables: Tables) -> bytes:
    """Return tables as bytes, the same for equal tables in whatever order their parts were added."""
    arrays: list[Wholes] = []
    header = {
        "asked": _asked(tables.asked, arrays),
        "rows": dict(sorted(tables.rows.items())), "levels": dict(sorted(tables.levels.items())),
        "counts": [[*key, [_counted(group, cells, arrays) for group, cells in _ordered(groups)]]
                   for key, groups in sorted(tables.counts.items())],
        "fractions": [[model, *_sparse(totals, arrays)] for model, totals in sorted(tables.fractions.items())],
        "singles": [[model, *_differing(singles, arrays)] for model, singles in sorted(tables.singles.items())],
        "totals": [[*key[:2], _option(key[2]), [[_group(group), _whole(sums)] for group, sums in _ordered(groups)]]
                   for key, groups in sorted(tables.totals.items(), key=repr)],
        "keys": _keys(tables, arrays),
        "clusters": [[*key, [_counted(group, cells, arrays) for group, cells in _ordered(groups)]]
                     for key, groups in sorted(tables.clusters.items())],
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    content = zlib.compress(b"".join([len(text).to_bytes(_LENGTH), text, *map(_packed, arrays)]), _LEVEL)
    return MAGIC + hashlib.sha256(content).digest() + content


def decode(data: bytes) -> Tables:
    """Return the tables that were made bytes; raises DamagedError where the bytes are not whole."""
    head, content = data[: len(MAGIC) + _DIGEST], data[len(MAGIC) + _DIGEST :]
    if not head.startswith(MAGIC) or hashlib.sha256(content).digest() != head[len(MAGIC) :]:
        raise DamagedError
    whole = zlib.decompress(content)
    length = int.from_bytes(whole[:_LENGTH])
    header, arrays = json.loads(whole[_LENGTH : _LENGTH + length]), _Arrays(whole[_LENGTH + length :])
    asked = header["asked"]
    edges = tuple(arrays.next(asked["edges"]).view(np.float64).tolist())
    tables = Tables(Asked(edges, tuple(map(_option_of, asked["totals"])), tuple(asked["models"])))
    tables.rows = header["rows"]
    tables.levels = {level: (rows, weight) for level, (rows, weight) in header["levels"].items()}
    for slicing, model, groups in header["counts"]:
        tables.counts[slicing, model] = {_group_of(group): arrays.cells(size) for group, size in groups}
    for model, size, places in header["fractions"]:
        tables.fractions[model] = arrays.sparse(size, places)
    for model, size, places in header["singles"]:
        tables.singles[model] = arrays.differing(size, places)
    for slicing, model, option, groups in header["totals"]:
        tables.totals[slicing, model, _option_of(option)] = {
            _group_of(group): _sums_of(**sums) for group, sums in groups}
    tables.keys = None if header["keys"] is None else arrays.next(header["keys"]).view(np.uint64)
    for slicing, model, groups in header["clusters"]:
        tables.clusters[slicing, model] = {_group_of(group): arrays.cells(size) for group, size in groups}
    return tables


def _keys(tables: Tables, arrays: list[Wholes]) -> int | None:
    """Add the keys of clusters, and return how many there are; None where rows are not of clusters."""
    arrays += [] if tables.keys is None else [tables.keys.view(np.int64)]
    return None if tables.keys is None else len(tables.keys)


def _asked(asked: Asked, arrays: list[Wholes]) -> dict[str, Any]:
    arrays.append(np.array(asked.edges).view(np.int64))
    return {"edges": len(asked.edges), "totals": list(map(_option, asked.totals)), "models": asked.models}


def _option(option: tuple[str, tuple[tuple[str, Any], ...]]) -> list[Any]:
    return [option[0], [list(pair) for pair in option[1]]]


def _option_of(written: list[Any]) -> tuple[str, tuple[tuple[str, Any], ...]]:
    return written[0], tuple((key, value) for key, value in written[1])


def _group(group: RowGroup) -> list[Any]:
    return [group.labels, group.event, group.picked]


def _group_of(written: list[Any]) -> RowGroup:
    labels, event, picked = written
    return RowGroup(
        None if labels is None else tuple((column, label) for column, label in labels), event,
        tuple(None if state is None else (state[0], state[1]) for state in picked))


def _ordered(groups: Mapping[RowGroup, Held]) -> Iterator[tuple[RowGroup, Held]]:
    """Yield groups with what they have in an order of their own."""
    yield from sorted(groups.items(), key=lambda entry: json.dumps(_group(entry[0])))


def _counted(group: RowGroup, cells: CellCounts, arrays: list[Wholes]) -> list[Any]:
    # Distances between neighbouring cells are small numbers, which take fewer bytes than the cells.
    arrays += [np.diff(cells.cells, prepend=0), cells.counts]
    return [_group(group), len(cells.cells)]


def _sparse(totals: Wholes, arrays: list[Wholes]) -> tuple[int, int]:
    """Add the cells that have a total, and these; return how many cells there are, and how many have one."""
    places = np.flatnonzero(totals)
    arrays += [np.diff(places, prepend=0), totals[places]]
    return len(totals), len(places)


def _differing(singles: Floats, arrays: list[Wholes]) -> tuple[int, int]:
    """Add the cells that have rows, and the bits of the values of these; return how many cells there are, and have."""
    places = np.flatnonzero(~np.isinf(singles))
    arrays += [np.diff(places, prepend=0), singles[places].view(np.int64)]
    return len(singles), len(places)


def _whole(sums: ExactSums) -> dict[str, Any]:
    """Return the totals of a single group: it has few, which the header holds."""
    return {"size": sums.size, "top": sums.top, "terms": sums.terms, "windows": [
        [window, (totals / unit(window)).astype(np.int64).tolist()] for window, totals in sorted(sums.windows.items())]}


def _sums_of(size: int, top: int | None, terms: int, windows: list[Any]) -> ExactSums:
    return ExactSums(size, {window: np.array(totals) * unit(window) for window, totals in windows}, top, terms)


def _packed(array: Wholes) -> bytes:
    """Return the first bytes of all numbers, then their second bytes, and so on: most are zero, and compress well."""
    words = np.ascontiguousarray(array, "<i8")
    return words.view(np.uint8).reshape(-1, _WORD).T.tobytes()


class _Arrays:
    """The arrays of decoded bytes, in their order."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = np.frombuffer(data, np.uint8), 0

    def next(self, size: int) -> Wholes:
        """Return the next ``size`` integers."""
        part = self._data[self._at : self._at + size * _WORD]
        self._at += size * _WORD
        words = np.ascontiguousarray(part.reshape(_WORD, -1).T).view("<i8")
        return words.reshape(-1).astype(np.int64, copy=False)

    def cells(self, size: int) -> CellCounts:
        return CellCounts(np.cumsum(self.next(size)), self.next(size))

    def sparse(self, size: int, places: int) -> Wholes:
        at, totals = np.cumsum(self.next(places)), np.zeros(size, np.int64)
        totals[at] = self.next(places)
        return totals

    def differing(self, size: int, places: int) -> Floats:
        at, singles = np.cumsum(self.next(places)), np.full(size, np.inf)
        singles[at] = self.next(places).view(np.float64)
        return singles
