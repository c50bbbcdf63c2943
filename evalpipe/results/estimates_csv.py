"""The estimates as a table of separated text, for the output folder and for the card that carries it."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING

from evalpipe.base.formats import FORMULA, NUMBER
from evalpipe.results.document import Estimate

if TYPE_CHECKING:
    from evalpipe.results import Results


def estimates_csv(results: Results) -> str:
    """Return the estimates as CSV; numbers in full precision, ``params`` and ``slice`` as JSON, empty for null.

    A text that a spreadsheet would run as a formula, such as a level of the outcome, begins with an apostrophe.
    """
    out = io.StringIO()
    names = [field.alias or name for name, field in Estimate.model_fields.items()]
    # The csv module would end lines by a carriage return too.
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    for row in results.rows:
        cells = row.model_dump(by_alias=True) | {"reason": row.reason}
        writer.writerow({name: _cell(value) for name, value in cells.items()})
    return out.getvalue()


def _cell(value: object) -> object:
    """Return a value for a cell: a mapping as JSON, and a text that is a formula behind an apostrophe."""
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    is_formula = isinstance(value, str) and re.match(FORMULA, value) and not re.fullmatch(NUMBER, value)
    return f"'{value}" if is_formula else value
