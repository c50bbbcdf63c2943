"""The rows of one dataset as they were read, with the problems that are found in them told at their place."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from evalpipe.base.origin import path_text
from evalpipe.data.errors import SHOWN, more
from evalpipe.data.values import shown
from evalpipe.errors import Place, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from evalpipe.base.cells import CellType
    from evalpipe.base.origin import Loc
    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.fits import Fit
    from evalpipe.plan.plan import Plan

POSITION = "\0position"
"""The column that says where a row stands: the number of its file times `FILE`, plus its 1-based row there."""

FILE = 1 << 40  # more rows than a file has, while millions of files still fit in Int64
SEPARATED = frozenset({"csv", "tsv"})
TEXT_FORMATS = SEPARATED | {"ndjson"}


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was read: its path as shown (None in memory), sha256, and its number of rows."""

    path: str | None
    sha256: str | None
    rows: int


@dataclass(frozen=True, slots=True)
class RowBlock:
    """The rows of one dataset that meet its ``where``: the planned columns as the files have them, and `POSITION`.

    ``models`` are, by the fit, the rows of the files that hold predictions for these rows, one for each in their order;
    ``step`` is the step that predictions are of, if any. ``types`` are those of the columns of separated text that are
    not read as they are written, told before ``where``; ``unknown`` counts, by what messages call a condition, the rows
    for which it is unknown, as a value is missing.
    ``file`` is the number of the only file that they are of, where they are a part of a dataset.
    ``incomplete`` is the number of rows left out because a model has no prediction for them, ``lacking`` by model the
    number that it lacks.
    """

    plan: Plan
    dataset: DatasetPlan
    frame: pl.DataFrame
    sources: tuple[SourceFile, ...]
    models: Mapping[Fit, RowBlock] = field(default_factory=lambda: MappingProxyType({}))
    types: Mapping[str, CellType | None] = field(default_factory=lambda: MappingProxyType({}))
    unknown: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    incomplete: int = 0
    lacking: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    step: int | None = None
    file: int | None = None

    @property
    def name(self) -> str:
        """The dataset's name."""
        return self.dataset.name

    @property
    def called(self) -> str:
        """What messages call these rows."""
        return self.dataset.table.named.called

    @property
    def as_text(self) -> bool:
        """Whether numbers may be written as text in this format."""
        return self.dataset.table.format in TEXT_FORMATS

    def typed(self, column: str) -> pl.Series:
        """Return a column in the type that its values have, shape [n]."""
        from evalpipe.data.celltypes import typed

        values = self.frame[column]
        if column not in self.types:
            return values
        return typed(values, self.types[column], self.dataset.table.named.csv.decimal)

    def numeric(self, column: str) -> pl.Series:
        """Return a column that is read as numbers, shape [n]; numbers in a text have a decimal point."""
        import polars as pl

        from evalpipe.data.celltypes import decimals

        values = self.frame[column]
        written = self.separated and values.dtype == pl.String
        return decimals(values, self.dataset.table.named.csv.decimal) if written else values

    @property
    def separated(self) -> bool:
        """Whether these are separated text, of which the spec may say under ``csv`` how it is written."""
        return self.dataset.table.format in SEPARATED

    @property
    def at_step(self) -> str:
        """What messages add of predictions at a step: ", at step 12"; nothing of others."""
        return "" if self.step is None else f", at step {self.step}"

    def cell(self, position: int) -> tuple[int, str]:
        """Return the row and, where the dataset has several files, the words that name its file."""
        file, row = divmod(position, FILE)
        return row, f" in {self.sources[file].path}" if len(self.sources) > 1 and self.file is None else ""

    def problem(
        self, code: str, message: str, loc: Loc, hint: str | None = None,
        *, mask: pl.Series | None = None, values: pl.Series | None = None, notes: Sequence[str] = (),
    ) -> Problem:
        """Make a problem of the rows where ``mask`` is true, with their ``values``; ``loc`` names the column."""
        rows: list[tuple[int, str]] = []
        count = 0
        if mask is not None and values is not None:
            count = int(mask.sum())
            places = mask.arg_true().head(SHOWN)
            for position, value in zip(self.frame[POSITION].gather(places), values.gather(places), strict=True):
                row, suffix = self.cell(position)
                rows.append((row, shown(value) + suffix))
        named_at = f"named at {self.plan.places.place(*loc) or 'the spec, ' + path_text(loc)}"
        return Problem(code, message + self.at_step, self.place, hint, tuple(rows), (*more(count), *notes, named_at))

    @property
    def place(self) -> Place:
        """The file, or the path of several as the spec gives it."""
        if self.dataset.table.format == "memory":
            return Place(f"{self.name} (in memory)")
        files = self.sources if self.file is None else self.sources[self.file : self.file + 1]
        # Of several files each row names its own, and the problem the glob or the folder that found them.
        return Place(str(files[0].path) if len(files) == 1 else self.dataset.table.named.path)

