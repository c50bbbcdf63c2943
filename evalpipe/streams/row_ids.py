"""Checks of row ids for datasets too large for memory: no id twice in a dataset, or in two that must not share rows.

Ids are read part by part, and a hash of 64 bits of each is written to a file among others by its first bits, so that
one file at a time is in memory. Ids whose hash occurs twice are read again and compared as texts: the answer is exact,
and costs a second reading of the column of ids.
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
from evalpipe.data import checks
from evalpipe.data.columns import POSITION, Columns, RowBlock, SourceFile
from evalpipe.data.further_columns import content_hashes, count_shared_hashes, id_like_columns, measured_columns
from evalpipe.data.rows import load_part
from evalpipe.errors import DataError, UsageError
from evalpipe.plan.memory import threads_of
from evalpipe.streams.cache import TEMPORARY
from evalpipe.streams.tables import check_unchanged, parts_of
from evalpipe.streams.tally import results_in_order

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.base.arraytypes import Keys
    from evalpipe.data.sample import SharedRows
    from evalpipe.errors import Problem
    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.streams.tables import File, Part

HASHES_PER_FILE = 1_000_000
"""About how many hashes are in a file, and so in memory at once."""

MOST_BITS = 12
"""The most first bits by which hashes are told apart into files; beyond 2^12 files these grow instead."""

MOST_HASHES, MOST_ROWS = 100_000, 1_000_000
"""The most hashes whose ids are read again, and the most rows of such ids: enough to show that ids are repeated."""


CONTENTS = "contents-"
"""The beginning of the names of files with hashes of contents."""


def bits_for(rows: int) -> int:
    """Return how many leading bits of a hash choose the file it is stored in, given a dataset's number of rows."""
    return min(MOST_BITS, (max(0, rows - 1) // HASHES_PER_FILE).bit_length())


def hashes_of(ids: pl.Series) -> pl.Series:
    """Return a hash of 64 bits of each id, [n], the same for the same text in all of this process."""
    return ids.hash()


@contextmanager
def compared_ids(
    plan: Plan, files: Mapping[str, Sequence[File]], scratch: Path | None
) -> Iterator[dict[str, Identities]]:
    """Read and compare the row ids of all datasets of a plan; yield them by dataset, none without an id column.

    ``files`` are the files of each dataset; ``scratch`` the folder in which hashes are kept for the time being. Raises
    DataError where an id is twice in rows with predictions, or in two datasets that must not share rows.
    """
    if plan.id is None:
        yield {}
        return
    bits = bits_for(max(dataset.table.rows or 0 for dataset in plan.datasets))
    with _temporary_folder(scratch) as folder:
        ids = {dataset.name: Identities(plan, dataset, files[dataset.name], folder / str(number), bits)
               for number, dataset in enumerate(plan.datasets)}
        columns, numbers = _columns_to_compare(ids)
        for dataset_ids in ids.values():
            dataset_ids.columns, dataset_ids.numbers = columns, numbers
            dataset_ids.read(threads_of(plan))
        predicted = [dataset_ids for dataset_ids in ids.values() if dataset_ids.dataset.role != "reference"]
        problems = [problem for dataset_ids in predicted for problem in dataset_ids.repeated_ids()]
        for dataset_ids in predicted:
            for other in ids.values():
                # A model, or its recalibration, must not be evaluated on rows that it was fitted to.
                is_of_fitting = other.dataset.role == "reference" or (
                    dataset_ids.dataset.role == "evaluate" and other.dataset.role == "calibrate")
                problems += dataset_ids.shared_ids(other) if is_of_fitting else []
        if problems:
            raise DataError(*problems)
        yield ids


def _columns_to_compare(ids: Mapping[str, Identities]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the columns by which the contents of rows are compared, and those of measured numbers among them.

    The first look like no ids where rows begin. There are none where no numbers tell rows apart there.
    """
    shared = next(iter(ids.values())).dataset.shared
    if not shared:
        return (), frozenset()
    like_ids = frozenset[str]().union(*(dataset_ids.id_like(shared) for dataset_ids in ids.values()))
    columns = tuple(column for column in shared if column not in like_ids)
    numbers = frozenset(columns).intersection(*(dataset_ids.measured(columns) for dataset_ids in ids.values()))
    return columns if numbers else (), numbers


@contextmanager
def _temporary_folder(scratch: Path | None) -> Iterator[Path]:
    """Make a temporary folder in ``scratch``, or in the system's folder for such, and remove it after the block."""
    try:
        if scratch is not None:
            scratch.mkdir(parents=True, exist_ok=True)
        temporary = TemporaryFolder(TEMPORARY, scratch)
    except OSError as error:
        raise _no_space(scratch or Path(tempfile.gettempdir()), error) from None
    with temporary as path:
        yield Path(path)


def _no_space(folder: Path, error: OSError) -> UsageError:
    """Return the error that hashes of ids cannot be written to a folder."""
    message = f"cannot write to '{folder}', where ids are compared: {error.strerror or error}"
    return UsageError.of("no-space", message, "free 8 bytes for each row, or remove 'id'")


@dataclass
class Identities:
    """The ids of a dataset's rows that meet its ``where``, as hashes in files of a ``folder`` by their first ``bits``.

    ``rows`` counts the rows that were read and used as `Tables.rows` does, with the number of their file; ``outcomes``
    counts the values of the outcome of a reference dataset; ``columns`` are those by which contents are compared, as
    hashes in further files, of rows with a fraction in any of the ``numbers`` among them.
    """

    plan: Plan
    dataset: DatasetPlan
    files: Sequence[File]
    folder: Path
    bits: int
    rows: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    columns: tuple[str, ...] = ()
    numbers: frozenset[str] = frozenset()
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def read(self, workers: int) -> None:
        """Read the ids of all rows, ``workers`` parts at once; raises DataError, and UsageError where writing fails."""
        with closing(results_in_order(self._read_part, parts_of(self.dataset), workers)) as parts:
            for _ in parts:  # which waits for each part, and raises its errors
                pass

    def id_like(self, columns: tuple[str, ...]) -> frozenset[str]:
        """Return those of ``columns``, by which rows are compared, that look like ids in the first rows.

        Raises DataError.
        """
        self.columns = columns
        return next((id_like_columns(rows) for rows in self._first_rows()), frozenset())

    def measured(self, columns: tuple[str, ...]) -> frozenset[str]:
        """Return those of ``columns`` whose numbers are nearly all different in the first rows; all without rows.

        Raises DataError.
        """
        return next((measured_columns(rows, columns) for rows in self._first_rows()), frozenset(columns))

    def _first_rows(self) -> Iterator[RowBlock]:
        """Yield batches of rows that are not empty, from which columns are judged by the first."""
        batches = (batch for part in parts_of(self.dataset) for batch in self._batches(part))
        return (batch.rows for batch in batches if batch.rows.frame.height)

    def repeated_ids(self) -> list[Problem]:
        """Return the problem of ids that are repeated within the dataset, if there are any."""
        repeated: list[Keys] = []
        for number in range(1 << self.bits):
            hashes = np.sort(self._hashes(number))
            repeated.append(np.unique(hashes[1:][hashes[1:] == hashes[:-1]]))
        # Different ids may have one hash: their texts decide.
        columns, complete = self._read_again(np.concatenate(repeated))
        checks.check_unique(columns, str(self.plan.id))
        return [_with_more(problem, complete=complete) for problem in columns.problems]

    def shared_ids(self, other: Identities) -> list[Problem]:
        """Return the problem of ids that are in this and the ``other`` dataset, if there are any."""
        common = np.concatenate([
            np.intersect1d(self._hashes(number), other._hashes(number)) for number in range(1 << self.bits)])
        (columns, complete), (others, others_complete) = self._read_again(common), other._read_again(common)
        return [_with_more(problem, complete=complete and others_complete)
                for problem in checks.shared_rows(columns, others)]

    def shared_contents(self, other: Identities) -> Iterator[SharedRows]:
        """Yield how many rows are in the ``other`` dataset by their contents; nothing without columns to compare by."""
        if self.columns:
            pairs = ((np.sort(self._hashes(number, CONTENTS)), np.sort(other._hashes(number, CONTENTS)))
                     for number in range(1 << self.bits))
            yield count_shared_hashes(other.dataset.name, self.columns, pairs)

    def _read_part(self, part: Part) -> None:
        """Write the sorted hashes of a part's ids to files, to find repeated ids, and count its rows and outcomes."""
        for columns in self._batches(part):
            ids = columns.names[str(self.plan.id)]
            hashes = np.sort(hashes_of(ids).to_numpy())
            rows, truth = columns.rows, columns.truth
            contents = content_hashes(rows, self.columns, self.numbers) if self.columns else None
            with self._lock:  # counts are by what became of rows, and by file
                self._write(hashes)
                if contents is not None:
                    self._write(contents, CONTENTS)
                self.rows[f"read {part.file}"] += rows.sources[part.file].rows
                self.rows[f"used {part.file}"] += rows.frame.height
                self.rows.update({f"unknown {name}": count for name, count in rows.unknown.items()})
                if truth is not None:
                    self.outcomes.update(dict(truth.drop_nulls().value_counts().iter_rows()))

    def _batches(self, part: Part) -> Iterator[Columns]:
        """Yield the row ids of a part batch by batch; of a reference dataset all its columns.

        The checks are those of rows in memory; raises DataError for their problems, or where the file has changed.
        """
        file, is_reference = self.files[part.file], self.dataset.role == "reference"
        row_filters = tuple(condition for condition in self.dataset.conditions if condition.key == "where")
        read_columns = self.dataset.columns if is_reference else (str(self.plan.id),)
        dataset = replace(self.dataset, columns=read_columns, conditions=row_filters, further=self.columns)
        try:
            for rows in load_part(self.plan, dataset, part.file, part.first, part.rows):
                if isinstance(rows, list):
                    raise DataError(*rows)
                columns = checks.check_reference(rows, frozenset()) if is_reference else checks.check_ids(rows)
                if columns.problems:
                    raise DataError(*columns.problems)
                yield columns
        finally:
            check_unchanged(file.path, file.stamp, file.shown, file.place)

    def _write(self, hashes: Keys, kind: str = "") -> None:
        """Append sorted hashes [n] to files: the leading bits of a hash are the number of its file.

        ``kind`` is the beginning of the files' names: "" for ids, `CONTENTS` for contents.
        """
        # The smallest hash of each file but the first; with no bits there is one file, and no hash to shift.
        first_hashes = np.arange(1, 1 << self.bits, dtype=np.uint64) << np.uint64(64 - self.bits if self.bits else 0)
        try:
            self.folder.mkdir(exist_ok=True)
            for number, file_hashes in enumerate(np.split(hashes, np.searchsorted(hashes, first_hashes))):
                if len(file_hashes):
                    with (self.folder / f"{kind}{number}").open("ab") as file:
                        file.write(file_hashes.tobytes())
        except OSError as error:
            raise _no_space(self.folder, error) from None

    def _hashes(self, number: int, kind: str = "") -> Keys:
        """Return all hashes, unsorted, of the file numbered ``number``; ``kind`` is as in `_write`."""
        path = self.folder / f"{kind}{number}"
        return np.fromfile(path, np.uint64) if path.exists() else np.zeros(0, np.uint64)

    def _read_again(self, hashes: Keys) -> tuple[Columns, bool]:
        """Read the ids again that have one of ``hashes``; return these, and whether they are all or the first."""
        name, wanted = str(self.plan.id), pl.Series(hashes[:MOST_HASHES])
        frames = [pl.DataFrame(schema={name: pl.String, POSITION: pl.Int64})]
        height = 0
        parts = parts_of(self.dataset) if len(hashes) else ()
        for columns in chain.from_iterable(map(self._batches, parts)):
            ids = columns.names[name]
            frame = pl.DataFrame({name: ids, POSITION: columns.rows.frame[POSITION]})
            frames.append(frame.filter(hashes_of(ids).is_in(wanted.implode())))
            height += frames[-1].height
            if height >= MOST_ROWS:
                break
        frame = pl.concat(frames)
        sources = tuple(SourceFile(file.shown, None, 0) for file in self.files)
        columns = Columns(RowBlock(self.plan, self.dataset, frame, sources))
        columns.names[name] = frame[name]
        return columns, len(hashes) <= MOST_HASHES and height < MOST_ROWS


def _with_more(problem: Problem, *, complete: bool) -> Problem:
    """Add a note to a problem that more ids may be affected than were compared, unless these are ``complete``."""
    more = f"and more: of very many such ids, {MOST_HASHES:,} in {MOST_ROWS:,} rows were compared as they are written"
    return problem if complete else replace(problem, notes=(*problem.notes, more))
