"""Tables as bytes, kept beside the output folder, so that a later run need not read the same parts again.

The bytes are `MAGIC`, the sha256 of what follows, and that compressed: the length of a JSON header, the header, and
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
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from evalpipe.base.lazy_polars import pl
from evalpipe.data.files import named
from evalpipe.errors import UsageError
from evalpipe.statistics.exact_sums import ExactSums, unit
from evalpipe.streams.parts import parts_of, stamp
from evalpipe.streams.tables import Asked, CellCounts, RowGroup, Tables, asked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.base.arraytypes import Flags, Wholes
    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.streams.parts import Part


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
    asked = tables.asked
    arrays: list[Wholes] = [np.array(asked.edges).view(np.int64)]
    header = {
        "asked": {"edges": len(asked.edges), "totals": list(map(_option_json, asked.totals)), "models": asked.models},
        "rows": dict(sorted(tables.rows.items())), "levels": dict(sorted(tables.levels.items())),
        "counts": [[*key, [_group_counts(group, cells, arrays) for group, cells in _ordered_groups(groups)]]
                   for key, groups in sorted(tables.counts.items())],
        "fractions": [[model, *_sparse(totals, totals != 0, arrays)]
                      for model, totals in sorted(tables.fractions.items())],
        "singles": [[model, *_sparse(singles.view(np.int64), ~np.isinf(singles), arrays)]
                    for model, singles in sorted(tables.singles.items())],
        "totals": [[*key[:2], _option_json(key[2]),
                    [[_group_json(group), _sums_json(sums)] for group, sums in _ordered_groups(groups)]]
                   for key, groups in sorted(tables.totals.items(), key=repr)],
        "keys": None if tables.keys is None else _appended(tables.keys.view(np.int64), arrays),
        "clusters": [[*key, [_group_counts(group, cells, arrays) for group, cells in _ordered_groups(groups)]]
                     for key, groups in sorted(tables.clusters.items())],
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    content = zlib.compress(b"".join([len(text).to_bytes(_LENGTH), text, *map(_bytes_by_rank, arrays)]), _LEVEL)
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
    tables = Tables(Asked(edges, tuple(map(_option_from, asked["totals"])), tuple(asked["models"])))
    tables.rows = header["rows"]
    tables.levels = {level: (rows, weight) for level, (rows, weight) in header["levels"].items()}
    for slicing, model, groups in header["counts"]:
        tables.counts[slicing, model] = {_group_from(group): arrays.cells(size) for group, size in groups}
    for model, size, places in header["fractions"]:
        tables.fractions[model] = arrays.sparse(np.zeros(size, np.int64), places)
    for model, size, places in header["singles"]:
        bits = arrays.sparse(np.full(size, np.inf).view(np.int64), places)
        tables.singles[model] = bits.view(np.float64)
    for slicing, model, option, groups in header["totals"]:
        tables.totals[slicing, model, _option_from(option)] = {
            _group_from(group): _sums_from(**sums) for group, sums in groups}
    tables.keys = None if header["keys"] is None else arrays.next(header["keys"]).view(np.uint64)
    for slicing, model, groups in header["clusters"]:
        tables.clusters[slicing, model] = {_group_from(group): arrays.cells(size) for group, size in groups}
    return tables


def _appended(array: Wholes, arrays: list[Wholes]) -> int:
    """Add an array, and return its length."""
    arrays.append(array)
    return len(array)


def _option_json(option: tuple[str, tuple[tuple[str, Any], ...]]) -> list[Any]:
    return [option[0], [list(pair) for pair in option[1]]]


def _option_from(written: list[Any]) -> tuple[str, tuple[tuple[str, Any], ...]]:
    return written[0], tuple((key, value) for key, value in written[1])


def _group_json(group: RowGroup) -> list[Any]:
    return [group.labels, group.event, group.picked]


def _group_from(written: list[Any]) -> RowGroup:
    labels, event, picked = written
    return RowGroup(
        None if labels is None else tuple((column, label) for column, label in labels), event,
        tuple(None if state is None else (state[0], state[1]) for state in picked))


def _ordered_groups(groups: Mapping[RowGroup, Held]) -> Iterator[tuple[RowGroup, Held]]:
    """Yield groups with what they have in an order of their own."""
    yield from sorted(groups.items(), key=lambda entry: json.dumps(_group_json(entry[0])))


def _group_counts(group: RowGroup, cells: CellCounts, arrays: list[Wholes]) -> list[Any]:
    # Distances between neighbouring cells are small numbers, which take fewer bytes than the cells.
    arrays += [np.diff(cells.cells, prepend=0), cells.counts]
    return [_group_json(group), len(cells.cells)]


def _sparse(values: Wholes, kept: Flags, arrays: list[Wholes]) -> tuple[int, int]:
    """Add the places of the values that are kept, and these; return how many values there are, and how many of them."""
    places = np.flatnonzero(kept)
    arrays += [np.diff(places, prepend=0), values[places]]
    return len(values), len(places)


def _sums_json(sums: ExactSums) -> dict[str, Any]:
    """Return the totals of a single group: it has few, which the header holds."""
    return {"size": sums.size, "top": sums.top, "terms": sums.terms, "windows": [
        [window, (totals / unit(window)).astype(np.int64).tolist()] for window, totals in sorted(sums.windows.items())]}


def _sums_from(size: int, top: int | None, terms: int, windows: list[Any]) -> ExactSums:
    return ExactSums(size, {window: np.array(totals) * unit(window) for window, totals in windows}, top, terms)


def _bytes_by_rank(array: Wholes) -> bytes:
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

    def sparse(self, values: Wholes, places: int) -> Wholes:
        """Set the values at so many places, and return them all."""
        at = np.cumsum(self.next(places))
        values[at] = self.next(places)
        return values


def versions() -> dict[str, str]:
    """Return the versions of what computes tables; others may round otherwise."""
    from evalpipe.version import VERSION

    return {"evalpipe": VERSION, "numpy": np.__version__, "polars": pl.__version__}


def asked_sha256(plan: Plan, dataset: DatasetPlan, asked: Asked) -> str:
    """Return the sha256 of all that is asked of the rows of a dataset."""
    table, weight, exposure = dataset.table, plan.weight, plan.exposure
    return _sha256({
        "versions": versions(), "format": FORMAT, "task": plan.task, "role": dataset.role,
        "asked": [asked.edges, asked.totals, asked.models],
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


def key_of(sha256: str, shown: str, part: Part, asked: str) -> str:
    """Return the key of the tables of a part, from the sha256 of its file and of what is asked.

    Of the path that is ``shown`` for the file only the columns count that its folders name.
    """
    return _sha256([sha256, named(shown), part.first, part.rows, asked])


def _sha256(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


FOLDER = ".evalpipe-cache"
"""The folder of all caches, beside the output folders; each has one of its own there, of its name."""

SUFFIX = ".tables"
LAST = "last-run.json"
TEMPORARY = ".new-"
"""How files and folders begin that are there only while a run writes."""


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """What an entry is of: its ``key``, the file as it is shown, with its sha256, its stamp, and the rows of the part.

    ``asked`` is the sha256 of what was asked of them; ``bytes`` is the size of the entry.
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
    whole = out.absolute()
    return whole.parent / FOLDER / whole.name


class Cache:
    """The entries in a folder, which need not exist."""

    def __init__(self, folder: Path) -> None:
        """Look at the entries that are there."""
        self.folder = folder
        self.entries: dict[str, CacheEntry] = {}
        for path in sorted(folder.glob(f"*{SUFFIX}")):
            with suppress(OSError, ValueError, TypeError), path.open("rb") as file:  # whose first line says what it is
                entry = CacheEntry(**json.loads(file.readline()))
                key = path.name.removesuffix(SUFFIX)
                self.entries[key] = replace(entry, key=key, bytes=path.stat().st_size)

    def get(self, key: str) -> Tables | None:
        """Return the tables of an entry; None where it cannot be read, or is damaged: then it is removed."""
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
        """Add an entry, whole or not at all; raises UsageError where it cannot be written."""
        about = {name: value for name, value in asdict(entry).items() if name != "bytes"}
        with self._written():
            self.folder.mkdir(parents=True, exist_ok=True)
            _write_whole(self.folder / f"{entry.key}{SUFFIX}", json.dumps(about).encode() + b"\n" + tables)

    def finish(self, used: list[str]) -> None:
        """Note which entries a run used that has read all its parts."""
        with self._written():
            self.folder.mkdir(parents=True, exist_ok=True)
            _write_whole(self.folder / LAST, (json.dumps(sorted(used), indent=1) + "\n").encode())

    def used(self) -> frozenset[str] | None:
        """Return the keys that the last whole run used; None before there is one."""
        try:
            return frozenset(json.loads((self.folder / LAST).read_text("utf-8")))
        except (OSError, ValueError):
            return None

    def collect(self) -> list[CacheEntry]:
        """Remove what the last whole run did not use, and what killed runs left; return the entries removed.

        Raises UsageError where they cannot be removed.
        """
        used = self.used()
        unused = [] if used is None else [entry for entry in self.entries.values() if entry.key not in used]
        with self._written():
            sweep(self.folder)
            for entry in unused:
                (self.folder / f"{entry.key}{SUFFIX}").unlink(missing_ok=True)
        return unused

    @contextmanager
    def _written(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            message = f"cannot write to the cache '{self.folder}': {error.strerror or error}"
            hint = "free space or allow writing there, or run with --no-cache; the earlier output is unchanged"
            raise UsageError.of("cache-folder", message, hint) from None


def sweep(folder: Path) -> None:
    """Remove what killed runs left in a folder of a cache, to whose output folder no other run writes."""
    for left in folder.glob(f"{TEMPORARY}*"):
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            with suppress(OSError):  # what hinders it also hinders the run, which says so where it matters
                left.unlink()


def _write_whole(path: Path, content: bytes) -> None:
    """Write a file under another name, and give it its own when it is whole."""
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
    """A part of a file, and why it is read; None where the cache has its tables."""

    file: str
    first: int
    rows: int | None
    why: str | None


def reasons(why: list[str]) -> str:
    """Say why parts are read, and for how many each reason holds where there are several."""
    counts = Counter(why)
    return ", ".join(words if len(counts) == 1 else f"{counts[reason]:,} {words}"
                     for reason, words in _WHY.items() if counts[reason])


def why_read(cache: Cache, part: Part, shown: str, sha256: str, key: str) -> str:
    """Tell why a part whose tables the cache lacks is read."""
    entries = cache.entries.values()
    if key in cache.entries:
        return DAMAGED
    if any((entry.sha256, entry.first, entry.rows) == (sha256, part.first, part.rows) for entry in entries):
        return OTHERWISE
    return CHANGED if any((entry.dataset, entry.file) == (part.dataset, shown) for entry in entries) else NEW


def fresh_parts(plan: Plan, folder: Path) -> dict[str, list[PartState]]:
    """Return the parts of each dataset with predictions, and which of them the cache in a folder has.

    A file is taken for the one that was read where its size and the time of its last change are those of then.
    """
    cache, wanted = Cache(folder), asked(plan)
    known = {(entry.dataset, entry.file, entry.size, entry.changed): entry for entry in cache.entries.values()}
    return {dataset.name: list(_part_states(cache, known, dataset, asked_sha256(plan, dataset, wanted)))
            for dataset in plan.datasets if dataset.role != "reference"}


def _part_states(
    cache: Cache, known: dict[tuple[str, str, int, int], CacheEntry], dataset: DatasetPlan, what: str
) -> Iterator[PartState]:
    for part in parts_of(dataset):
        path, shown = dataset.table.files[part.file]
        entry = known.get((dataset.name, shown, *stamp(path, shown)))
        sha256 = "" if entry is None else entry.sha256
        key = key_of(sha256, shown, part, what)
        has = entry is not None and key in cache.entries
        yield PartState(shown, part.first, part.rows, None if has else why_read(cache, part, shown, sha256, key))
