"""The cache of tables beside the output folder, so that a later run need not read the same parts again.

Tables are stored as `MAGIC`, the sha256 of what follows, and compressed: the length of a JSON header, the header, and
arrays of 64-bit integers in the order in which the header names them. Totals of floats are whole multiples of a unit,
so integers hold them exactly. Nothing in the bytes is run when they are read.

The name of an entry is the sha256 of all that its tables depend on: the bytes of the file, the rows of the part, what
the plan asks of them, and the versions that compute. Entries are therefore never out of date, only unused.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import zlib
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from evalpipe.base.lazy_polars import pl
from evalpipe.data.files import folder_columns
from evalpipe.errors import UsageError
from evalpipe.statistics.exact_sums import ExactSums, unit
from evalpipe.streams.tables import CellCounts, RowGroup, TableLayout, Tables, parts_of, stamp, table_layout

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.base.arraytypes import Flags, Wholes
    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.streams.tables import Part


FORMAT = 3
"""The version of the format; bytes of another version are not read."""

Value = TypeVar("Value")

MAGIC = b"evalpipe tables %d\n" % FORMAT

_LEVEL = 1  # of zlib: the fastest; higher ones take four times as long for a tenth fewer bytes
_DIGEST = 32
_LENGTH = 4
_WORD = 8


class DamagedError(Exception):
    """Raised for bytes that are not complete tables of this format."""


def encode(tables: Tables) -> bytes:
    """Return tables as bytes; equal tables give equal bytes, in whatever order their parts were added."""
    layout = tables.layout
    arrays: list[Wholes] = [np.array(layout.edges).view(np.int64)]
    header = {
        "asked": {"edges": len(layout.edges), "totals": list(map(_option_json, layout.totals)),
                  "models": layout.models},
        "rows": dict(sorted(tables.rows.items())), "levels": dict(sorted(tables.levels.items())),
        "counts": [[*key, [_append_group(group, cells, arrays) for group, cells in _ordered_groups(groups)]]
                   for key, groups in sorted(tables.counts.items())],
        "fractions": [[model, *_append_sparse(totals, totals != 0, arrays)]
                      for model, totals in sorted(tables.fractions.items())],
        "singles": [[model, *_append_sparse(singles.view(np.int64), ~np.isinf(singles), arrays)]
                    for model, singles in sorted(tables.shared_scores.items())],
        "totals": [[*key[:2], _option_json(key[2]),
                    [[_group_json(group), _sums_json(sums)] for group, sums in _ordered_groups(groups)]]
                   for key, groups in sorted(tables.totals.items(), key=repr)],
        "keys": None if tables.keys is None else _append(tables.keys.view(np.int64), arrays),
        "clusters": [[*key, [_append_group(group, cells, arrays) for group, cells in _ordered_groups(groups)]]
                     for key, groups in sorted(tables.clusters.items())],
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    compressor = zlib.compressobj(_LEVEL)  # array by array, so that they are not all held twice
    content = b"".join([*map(compressor.compress, chain([len(text).to_bytes(_LENGTH), text], map(
        _bytes_by_rank, arrays))), compressor.flush()])
    return MAGIC + hashlib.sha256(content).digest() + content


def decode(data: bytes) -> Tables:
    """Return the tables that `encode` made bytes of; raises DamagedError where the bytes are not complete."""
    head, content = data[: len(MAGIC) + _DIGEST], data[len(MAGIC) + _DIGEST :]
    if not head.startswith(MAGIC) or hashlib.sha256(content).digest() != head[len(MAGIC) :]:
        raise DamagedError
    plain = zlib.decompress(content)
    length = int.from_bytes(plain[:_LENGTH])
    header, arrays = json.loads(plain[_LENGTH : _LENGTH + length]), _Arrays(plain[_LENGTH + length :])
    layout = header["asked"]
    edges = tuple(arrays.next(layout["edges"]).view(np.float64).tolist())
    tables = Tables(TableLayout(edges, tuple(map(_option_from_json, layout["totals"])), tuple(layout["models"])))
    tables.rows = header["rows"]
    tables.levels = {level: (rows, weight) for level, (rows, weight) in header["levels"].items()}
    for slicing, model, groups in header["counts"]:
        tables.counts[slicing, model] = {_group_from_json(group): arrays.cells(size) for group, size in groups}
    for model, size, count in header["fractions"]:
        tables.fractions[model] = arrays.sparse(np.zeros(size, np.int64), count)
    for model, size, count in header["singles"]:
        bits = arrays.sparse(np.full(size, np.inf).view(np.int64), count)
        tables.shared_scores[model] = bits.view(np.float64)
    for slicing, model, option, groups in header["totals"]:
        tables.totals[slicing, model, _option_from_json(option)] = {
            _group_from_json(group): _sums_from_json(**sums) for group, sums in groups}
    tables.keys = None if header["keys"] is None else arrays.next(header["keys"]).view(np.uint64)
    for slicing, model, groups in header["clusters"]:
        tables.clusters[slicing, model] = {_group_from_json(group): arrays.cells(size) for group, size in groups}
    return tables


def _append(array: Wholes, arrays: list[Wholes]) -> int:
    """Append an array to ``arrays``, and return its length."""
    arrays.append(array)
    return len(array)


def _option_json(option: tuple[str, tuple[tuple[str, Any], ...]]) -> list[Any]:
    """Return a statistic's name and options as a JSON list: [name, [[option, value], …]]."""
    return [option[0], [list(pair) for pair in option[1]]]


def _option_from_json(entry: list[Any]) -> tuple[str, tuple[tuple[str, Any], ...]]:
    """Return a statistic's name and options, as pairs in a tuple, from the list of `_option_json`."""
    return entry[0], tuple((key, value) for key, value in entry[1])


def _group_json(group: RowGroup) -> list[Any]:
    """Return a group of rows as a JSON list: slice labels, true event, and predicted class by model."""
    return [group.labels, group.event, group.states]


def _group_from_json(entry: list[Any]) -> RowGroup:
    """Return a group of rows from the JSON list of `_group_json`, with its lists as tuples again."""
    labels, event, states = entry
    return RowGroup(
        None if labels is None else tuple((column, label) for column, label in labels), event,
        tuple(None if state is None else (state[0], state[1]) for state in states))


def _ordered_groups(groups: Mapping[RowGroup, Value]) -> Iterator[tuple[RowGroup, Value]]:
    """Yield groups and their values in the order of the groups' JSON."""
    yield from sorted(groups.items(), key=lambda entry: json.dumps(_group_json(entry[0])))


def _append_group(group: RowGroup, cells: CellCounts, arrays: list[Wholes]) -> list[Any]:
    """Append the cells and counts of a group to ``arrays``; return its entry in the header: group, number of cells."""
    # Distances between neighbouring cells are small numbers, which take fewer bytes than the cells.
    arrays += [np.diff(cells.cells, prepend=0), cells.counts]
    return [_group_json(group), len(cells.cells)]


def _append_sparse(values: Wholes, is_kept: Flags, arrays: list[Wholes]) -> tuple[int, int]:
    """Append the indices and values of kept entries to ``arrays``; return how many values there are, and are kept."""
    indices = np.flatnonzero(is_kept)
    arrays += [np.diff(indices, prepend=0), values[indices]]
    return len(values), len(indices)


def _sums_json(sums: ExactSums) -> dict[str, Any]:
    """Return the exact sums of a group as JSON values; they are few, so the header has them."""
    return {"size": sums.size, "top": sums.top, "terms": sums.terms, "windows": [
        [window, (totals / unit(window)).astype(np.int64).tolist()] for window, totals in sorted(sums.windows.items())]}


def _sums_from_json(size: int, top: int | None, terms: int, windows: list[Any]) -> ExactSums:
    """Return exact sums from their JSON, whose totals are whole multiples of the unit of each window of bits."""
    return ExactSums(size, {window: np.array(totals) * unit(window) for window, totals in windows}, top, terms)


def _bytes_by_rank(array: Wholes) -> bytes:
    """Return the first bytes of all integers, then all second bytes, and so on: most are 0, and compress well."""
    words = np.ascontiguousarray(array, "<i8")
    return words.view(np.uint8).reshape(-1, _WORD).T.tobytes()


class _Arrays:
    """Reads the arrays of decoded bytes one after the other."""

    def __init__(self, data: bytes) -> None:
        """Begin at the first array of ``data``, written by `_bytes_by_rank`."""
        self._data, self._position = np.frombuffer(data, np.uint8), 0

    def next(self, size: int) -> Wholes:
        """Return the next ``size`` integers."""
        part = self._data[self._position : self._position + size * _WORD]
        self._position += size * _WORD
        words = np.ascontiguousarray(part.reshape(_WORD, -1).T).view("<i8")  # undoes `_bytes_by_rank`
        return words.reshape(-1).astype(np.int64, copy=False)

    def cells(self, size: int) -> CellCounts:
        """Return the next ``size`` cells and their counts."""
        return CellCounts(np.cumsum(self.next(size)), self.next(size))

    def sparse(self, values: Wholes, count: int) -> Wholes:
        """Read ``count`` indices and values, set these entries of ``values``, and return it."""
        indices = np.cumsum(self.next(count))
        values[indices] = self.next(count)
        return values


def versions() -> dict[str, str]:
    """Return the versions of the libraries that compute tables; others may round otherwise."""
    from evalpipe.version import VERSION

    return {"evalpipe": VERSION, "numpy": np.__version__, "polars": pl.__version__}


def request_sha256(plan: Plan, dataset: DatasetPlan, layout: TableLayout) -> str:
    """Return the sha256 of all that the tables of a dataset depend on, besides the bytes of its files."""
    table, weight, exposure = dataset.table, plan.weight, plan.exposure
    return _sha256({
        "versions": versions(), "format": FORMAT, "task": plan.task, "role": dataset.role,
        "asked": [layout.edges, layout.totals, layout.models],
        "read": [table.format, repr(table.named.csv), dataset.columns, table.where_columns],
        "types": {column: table.columns[column] for column in (*dataset.columns, *table.where_columns)},
        "conditions": [[condition.key, condition.text] for condition in dataset.conditions],
        "outcome": [plan.outcome.column, plan.outcome.event, plan.outcome.levels, plan.outcome.written],
        "weight": None if weight is None else [weight.column, weight.kind],
        "exposure": None if exposure is None else exposure.column,
        "rows": [plan.id, plan.cluster, plan.complete_case],
        "models": [
            [model.name, [dict(model.columns), dict(model.level_columns)], model.scores, sorted(model.percents),
             model.scale, model.norm, model.renormalise, sorted(model.gives), model.threshold.number, repr(model.zone)]
            for model in plan.models.values()],
        "slices": [repr(plan.slices.slicings), repr([column for _, column in plan.slices.named])],
    })


def cache_key(sha256: str, shown: str, part: Part, request: str) -> str:
    """Return the cache key of the tables of a part, from the ``sha256`` of its file and the `request_sha256`.

    Of the path ``shown`` only columns in the names of its folders count, such as year=2026: a file may be moved.
    """
    return _sha256([sha256, folder_columns(shown), part.first, part.rows, request])


def _sha256(value: Any) -> str:
    """Return the sha256 of a value's JSON with sorted keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


FOLDER = ".evalpipe-cache"
"""The folder of all caches, beside the output folders: each output folder has a cache of its name in it."""

SUFFIX = ".tables"
LAST = "last-run.json"
TEMPORARY = ".new-"
"""The first characters of the names of files and folders that exist only while a run writes."""


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """What an entry of the cache was made from: dataset, ``file`` (the path shown), its sha256 and stamp, the part.

    ``key`` names the entry; ``asked`` is its `request_sha256`; ``bytes`` is the size of the entry.
    """

    key: str
    dataset: str
    file: str
    sha256: str
    size: int
    changed: int
    first: int
    rows: int | None
    asked: str
    bytes: int = 0


def cache_folder(out: Path) -> Path:
    """Return the folder of the cache of an output folder."""
    absolute = out.absolute()
    return absolute.parent / FOLDER / absolute.name


class Cache:
    """The cache in a folder, which need not exist."""

    def __init__(self, folder: Path) -> None:
        """Read the first line of each entry: what it was made from."""
        self.folder = folder
        self.entries: dict[str, CacheEntry] = {}
        for path in sorted(folder.glob(f"*{SUFFIX}")):
            with suppress(OSError, ValueError, TypeError), path.open("rb") as file:  # whose first line says what it is
                entry = CacheEntry(**json.loads(file.readline()))
                key = path.name.removesuffix(SUFFIX)
                self.entries[key] = replace(entry, key=key, bytes=path.stat().st_size)

    def get(self, key: str) -> Tables | None:
        """Return the tables of an entry; None where it cannot be read, or is damaged and so removed."""
        path = self.folder / f"{key}{SUFFIX}"
        try:
            return decode(path.read_bytes().partition(b"\n")[2])
        except OSError:
            return None
        except DamagedError:
            with suppress(OSError):  # it is replaced when its part is read, and what hinders that is told then
                path.unlink()
            return None

    def put(self, entry: CacheEntry, tables: bytes) -> None:
        """Write an entry with encoded ``tables``, atomically; raises UsageError where it cannot be written."""
        about = {name: value for name, value in asdict(entry).items() if name != "bytes"}
        with self._write_errors():
            self.folder.mkdir(parents=True, exist_ok=True)
            _write_atomically(self.folder / f"{entry.key}{SUFFIX}", json.dumps(about).encode() + b"\n" + tables)

    def finish(self, used: list[str]) -> None:
        """Store the keys of the entries that a finished run ``used``, so that `collect` may remove the others."""
        with self._write_errors():
            self.folder.mkdir(parents=True, exist_ok=True)
            _write_atomically(self.folder / LAST, (json.dumps(sorted(used), indent=1) + "\n").encode())

    def used(self) -> frozenset[str] | None:
        """Return the keys that the last finished run used; None before there is one."""
        try:
            return frozenset(json.loads((self.folder / LAST).read_text("utf-8")))
        except (OSError, ValueError):
            return None

    def collect(self) -> list[CacheEntry]:
        """Remove entries that the last finished run did not use, which are returned, and leftovers of killed runs.

        Raises UsageError where they cannot be removed.
        """
        used = self.used()
        unused = [] if used is None else [entry for entry in self.entries.values() if entry.key not in used]
        with self._write_errors():
            sweep(self.folder)
            for entry in unused:
                (self.folder / f"{entry.key}{SUFFIX}").unlink(missing_ok=True)
        return unused

    @contextmanager
    def _write_errors(self) -> Iterator[None]:
        """Turn an OSError of the block into a UsageError about the cache's folder."""
        try:
            yield
        except OSError as error:
            message = f"cannot write to the cache '{self.folder}': {error.strerror or error}"
            hint = "free space or allow writing there, or run with --no-cache; the earlier output is unchanged"
            raise UsageError.of("cache-folder", message, hint) from None


def sweep(folder: Path) -> None:
    """Remove leftovers of killed runs from the folder of a cache; no other run may write to its output folder."""
    for leftover in folder.glob(f"{TEMPORARY}*"):
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            with suppress(OSError):  # what hinders it also hinders the run, which says so where it matters
                leftover.unlink()


def _write_atomically(path: Path, content: bytes) -> None:
    """Write a file atomically: under a temporary name, renamed when all is written."""
    number, name = tempfile.mkstemp(dir=path.parent, prefix=TEMPORARY)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


NEW, CHANGED, OTHERWISE, DAMAGED = "new", "changed", "asked otherwise", "damaged"
"""Why a part is read although there is a cache."""

_WHY = {
    NEW: "not read before", CHANGED: "of files that have changed", DAMAGED: "damaged in the cache",
    OTHERWISE: "last summed up for another spec or version",
}


@dataclass(frozen=True, slots=True)
class PartState:
    """A part of a file, and ``why`` it is read; None where the cache has its tables."""

    file: str
    first: int
    rows: int | None
    why: str | None


def reasons_in_words(why: list[str]) -> str:
    """Write the reasons why parts are read, each with its number of parts where there are several reasons."""
    counts = Counter(why)
    return ", ".join(words if len(counts) == 1 else f"{counts[reason]:,} {words}"
                     for reason, words in _WHY.items() if counts[reason])


def why_read(cache: Cache, part: Part, shown: str, sha256: str, key: str) -> str:
    """Return the reason why the cache lacks the tables of a part, such as `NEW`; ``key`` is the part's."""
    entries = cache.entries.values()
    if key in cache.entries:
        return DAMAGED
    if any((entry.sha256, entry.first, entry.rows) == (sha256, part.first, part.rows) for entry in entries):
        return OTHERWISE
    return CHANGED if any((entry.dataset, entry.file) == (part.dataset, shown) for entry in entries) else NEW


def states_of_parts(plan: Plan, folder: Path) -> dict[str, list[PartState]]:
    """Return by dataset with predictions, for a plan, which of its parts the cache in a folder has, and which not.

    A file counts as unchanged where it has the size and the time of last change that it had when it was read.
    """
    cache, layout = Cache(folder), table_layout(plan)
    by_stamp = {(entry.dataset, entry.file, entry.size, entry.changed): entry for entry in cache.entries.values()}
    return {dataset.name: list(_part_states(cache, by_stamp, dataset, request_sha256(plan, dataset, layout)))
            for dataset in plan.datasets if dataset.role != "reference"}


def _part_states(
    cache: Cache, by_stamp: dict[tuple[str, str, int, int], CacheEntry], dataset: DatasetPlan, request: str
) -> Iterator[PartState]:
    """Yield the state of each part of a dataset; entries ``by_stamp`` have keys of dataset, file, size and change."""
    for part in parts_of(dataset):
        path, shown = dataset.table.files[part.file]
        entry = by_stamp.get((dataset.name, shown, *stamp(path, shown)))
        sha256 = "" if entry is None else entry.sha256
        key = cache_key(sha256, shown, part, request)
        is_cached = entry is not None and key in cache.entries
        yield PartState(shown, part.first, part.rows, None if is_cached else why_read(cache, part, shown, sha256, key))
