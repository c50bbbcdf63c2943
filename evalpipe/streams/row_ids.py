"""Ids of rows that are never held: whether one stands twice in a dataset, or in two that must not share rows.

Ids are read part by part, and a hash of 64 bits of each is written to a file among others by its first bits, so that
one file at a time is held. Ids whose hash occurs twice are read again and compared as they are written: the answer is
exact, and costs a reading of the column of ids.
"""

from __future__ import annotations

import tempfile
import threading
from collections import Counter
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.base.folders import TemporaryFolder
from evalpipe.base.lazy_polars import pl
from evalpipe.data import checks, leakage
from evalpipe.data.columns import POSITION, Columns, RowBlock, SourceFile
from evalpipe.data.rows import load_part
from evalpipe.errors import DataError, UsageError
from evalpipe.plan.memory import workers_of
from evalpipe.streams.cache import TEMPORARY
from evalpipe.streams.parts import parts_of, unchanged
from evalpipe.streams.tally import in_order

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.base.arraytypes import Wholes
    from evalpipe.errors import Problem
    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.streams.parts import File, Part

HELD = 1_000_000
"""Hashes of a file, about: so many are held at once."""

MOST_BITS = 12
"""The most first bits by which hashes are told apart into files; beyond 2^12 files these grow instead."""

COMPARED, AGAIN = 100_000, 1_000_000
"""The most hashes whose ids are read again, and the most rows that are: enough to show that ids stand twice."""


def bits_for(rows: int) -> int:
    """Return by how many first bits the hashes of so many rows are told apart into files."""
    return min(MOST_BITS, (max(0, rows - 1) // HELD).bit_length())


def hashes_of(ids: pl.Series) -> pl.Series:
    """Return a hash of 64 bits of each id, [n], the same for the same text in all of this process."""
    return ids.hash()


@contextmanager
def compared_ids(
    plan: Plan, files: Mapping[str, Sequence[File]], scratch: Path | None
) -> Iterator[dict[str, Identities]]:
    """Read the ids of all datasets of a plan, where there are any, and compare them, in a folder that is then removed.

    Raises DataError where an id stands twice in rows with predictions, or in two datasets that must not share rows.
    """
    if plan.id is None:
        yield {}
        return
    bits = bits_for(max(dataset.table.rows or 0 for dataset in plan.datasets))
    with _temporary_folder(scratch) as folder:
        ids = {dataset.name: Identities(plan, dataset, files[dataset.name], folder / str(number), bits)
               for number, dataset in enumerate(plan.datasets)}
        for dataset_ids in ids.values():
            dataset_ids.read(workers_of(plan))
        predicted = [dataset_ids for dataset_ids in ids.values() if dataset_ids.dataset.role != "reference"]
        problems = [problem for dataset_ids in predicted for problem in dataset_ids.twice()]
        for dataset_ids in predicted:
            for other in ids.values():
                # What a model or a recalibrator learnt from.
                learnt = other.dataset.role == "reference" or (
                    dataset_ids.dataset.role == "evaluate" and other.dataset.role == "calibrate")
                problems += dataset_ids.shared(other) if learnt else []
        if problems:
            raise DataError(*problems)
        yield ids


@contextmanager
def _temporary_folder(scratch: Path | None) -> Iterator[Path]:
    """Make a folder in that for files of this run, where large files belong, or where the system has such folders."""
    try:
        if scratch is not None:
            scratch.mkdir(parents=True, exist_ok=True)
        temporary = TemporaryFolder(TEMPORARY, scratch)
    except OSError as error:
        raise _no_space(scratch or Path(tempfile.gettempdir()), error) from None
    with temporary as path:
        yield Path(path)


def _no_space(folder: Path, error: OSError) -> UsageError:
    message = f"cannot write to '{folder}', where ids are compared: {error.strerror or error}"
    return UsageError.of("no-space", message, "free 8 bytes for each row, or remove 'id'")


@dataclass
class Identities:
    """The ids of a dataset's rows that meet its ``where``, as hashes in files of a ``folder`` by their first ``bits``.

    ``rows`` counts the rows that were read and left as `Tables.rows` does, with the number of their file; ``outcomes``
    counts the values of the outcome of a reference dataset.
    """

    plan: Plan
    dataset: DatasetPlan
    files: Sequence[File]
    folder: Path
    bits: int
    rows: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def read(self, workers: int) -> None:
        """Read the ids of all rows, some parts at once; raises DataError, and UsageError where they cannot be kept."""
        with closing(in_order(self._part, parts_of(self.dataset), workers)) as parts:
            for _ in parts:
                pass

    def twice(self) -> list[Problem]:
        """Return the problem of ids that stand in several rows, if there are any."""
        wanted: list[Wholes] = []
        for number in range(1 << self.bits):
            hashes = np.sort(self._hashes(number))
            wanted.append(np.unique(hashes[1:][hashes[1:] == hashes[:-1]]))
        columns, whole = self._again(np.concatenate(wanted))
        checks.check_unique(columns, str(self.plan.id))
        return [_with_more(problem, whole=whole) for problem in columns.problems]

    def shared(self, other: Identities) -> list[Problem]:
        """Return the problem of ids that stand in both datasets, if there are any."""
        wanted = np.concatenate([
            np.intersect1d(self._hashes(number), other._hashes(number)) for number in range(1 << self.bits)])
        (columns, whole), (others, all_others) = self._again(wanted), other._again(wanted)
        return [_with_more(problem, whole=whole and all_others) for problem in leakage.shared_rows(columns, others)]

    def _part(self, part: Part) -> None:
        for columns in self._batches(part):
            hashes = np.sort(hashes_of(columns.names[str(self.plan.id)]).to_numpy())
            rows, truth = columns.rows, columns.truth
            with self._lock:
                self._write(hashes)
                self.rows[f"read {part.file}"] += rows.sources[part.file].rows
                self.rows[f"used {part.file}"] += rows.frame.height
                self.rows.update({f"unknown {name}": count for name, count in rows.unknown.items()})
                if truth is not None:
                    self.outcomes.update(dict(truth.drop_nulls().value_counts().iter_rows()))

    def _batches(self, part: Part) -> Iterator[Columns]:
        """Yield the ids of some rows of a part after others, checked as those of rows that are held."""
        file, reference = self.files[part.file], self.dataset.role == "reference"
        dataset_ids = tuple(condition for condition in self.dataset.conditions if condition.key == "where")
        read = self.dataset.columns if reference else (str(self.plan.id),)
        ids = replace(self.dataset, columns=read, conditions=dataset_ids)
        try:
            for rows in load_part(self.plan, ids, part.file, part.first, part.rows):
                if isinstance(rows, list):
                    raise DataError(*rows)
                columns = checks.check_reference(rows, frozenset()) if reference else checks.check_ids(rows)
                if columns.problems:
                    raise DataError(*columns.problems)
                yield columns
        finally:
            unchanged(file.path, file.stamp, file.shown, file.place)

    def _write(self, hashes: Wholes) -> None:
        """Add sorted hashes to the files."""
        borders = np.arange(1, 1 << self.bits, dtype=np.uint64) << np.uint64(64 - self.bits if self.bits else 0)
        try:
            self.folder.mkdir(exist_ok=True)
            for number, some in enumerate(np.split(hashes, np.searchsorted(hashes, borders))):
                if len(some):
                    with (self.folder / str(number)).open("ab") as file:
                        file.write(some.tobytes())
        except OSError as error:
            raise _no_space(self.folder, error) from None

    def _hashes(self, number: int) -> Wholes:
        path = self.folder / str(number)
        return np.fromfile(path, np.uint64) if path.exists() else np.zeros(0, np.uint64)

    def _again(self, hashes: Wholes) -> tuple[Columns, bool]:
        """Read the rows whose ids have one of some hashes; tell whether these are all, or the first of very many."""
        name, wanted = str(self.plan.id), pl.Series(hashes[:COMPARED])
        frames = [pl.DataFrame(schema={name: pl.String, POSITION: pl.Int64})]
        height = 0
        parts = parts_of(self.dataset) if len(hashes) else ()
        for columns in chain.from_iterable(map(self._batches, parts)):
            ids = columns.names[name]
            frame = pl.DataFrame({name: ids, POSITION: columns.rows.frame[POSITION]})
            frames.append(frame.filter(hashes_of(ids).is_in(wanted.implode())))
            height += frames[-1].height
            if height >= AGAIN:
                break
        frame = pl.concat(frames)
        sources = tuple(SourceFile(file.shown, None, 0) for file in self.files)
        columns = Columns(RowBlock(self.plan, self.dataset, frame, sources))
        columns.names[name] = frame[name]
        return columns, len(hashes) <= COMPARED and height < AGAIN


def _with_more(problem: Problem, *, whole: bool) -> Problem:
    """Return a problem that says, where only the first of very many rows were compared, that there are more."""
    more = f"and more: of very many such ids, {COMPARED:,} in {AGAIN:,} rows were compared as they are written"
    return problem if whole else replace(problem, notes=(*problem.notes, more))
