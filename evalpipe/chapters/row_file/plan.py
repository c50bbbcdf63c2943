"""Whether a row-level file is written, and in which format."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalpipe.chapters.row_file.spec import RowFormat
    from evalpipe.spec.spec import Spec


def row_file_plan(spec: Spec) -> RowFormat | None:
    """Return the format of the row-level file; None where the spec requests none."""
    return spec.report.rows


PARTS = (row_file_plan,)
