"""Whether a row-level file is written, and what it is called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalpipe.chapters.row_file.spec import RowFormat
    from evalpipe.spec.spec import Spec


@dataclass(frozen=True, slots=True)
class RowFilePlan:
    """A file with a line for each row, model and variant."""

    format: RowFormat

    @property
    def file(self) -> str:
        """The name of the file in the output folder."""
        return f"rows.{self.format}"


def row_file_plan(spec: Spec) -> RowFilePlan | None:
    """Return what is written of each row; None where the spec asks for nothing."""
    asked = spec.report.rows
    return None if asked is None else RowFilePlan(asked)
