"""The parts that a dataset is read in: a range of rows of one file each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.plan.datasets import DatasetPlan

ROWS = 5_000_000
"""The most rows of a part: what is lost when a run is stopped is the work on as many."""


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of a file of a dataset: the number of the ``file`` in it, and the rows from ``first``, counted from 0, on.

    ``rows`` is how many, None for all that follow.
    """

    dataset: str
    file: int
    first: int
    rows: int | None


def parts_of(dataset: DatasetPlan) -> tuple[Part, ...]:
    """Return the parts of a dataset, file after file; only Parquet and Arrow files can be read from the middle on."""
    return tuple(part for number in range(len(dataset.table.files)) for part in _of_file(dataset, number))


def _of_file(dataset: DatasetPlan, number: int) -> Iterator[Part]:
    from evalpipe.data.formats import rows

    path, form, csv = dataset.table.files[number][0], dataset.table.format, dataset.table.named.csv
    count = rows(path, form, csv) if form in ("parquet", "ipc") else None
    if count is None:
        yield Part(dataset.name, number, 0, None)
        return
    for first in range(0, max(count, 1), ROWS):
        yield Part(dataset.name, number, first, min(ROWS, count - first))
