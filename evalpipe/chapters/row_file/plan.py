"""Whether a row-level file is written, and in which format."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.chapters.row_file.spec import RowFormat
    from evalpipe.plan.plan import Plan
    from evalpipe.spec.spec import Spec


def row_file_plan(spec: Spec) -> RowFormat | None:
    """Return the format of the row-level file; None where the spec requests none."""
    return spec.report.rows


def lines(plan: Plan) -> Iterator[str]:
    """Yield for `evalpipe plan` the line on the row-level file; nothing where none is requested."""
    form = plan.part(row_file_plan)
    if form is not None:
        row_name = "its number in the file" if plan.id is None else f"its {plan.id}"
        yield (f"rows.{form}: a line for each row, model and variant, with {row_name}; personal data where rows are of "
               "persons")


def document(plan: Plan) -> dict[str, object]:
    """Return the name of the row-level file and the column that names its rows, as JSON values."""
    form = plan.part(row_file_plan)
    return {"row_file": None if form is None else {"file": f"rows.{form}", "id": plan.id}}


PARTS = (row_file_plan,)
