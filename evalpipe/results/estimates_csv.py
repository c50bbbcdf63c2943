"""The estimates as a table of separated text, for the output folder and for the card that carries it."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

from evalpipe.results.tables import Estimate

if TYPE_CHECKING:
    from evalpipe.results import Results


def estimates_csv(results: Results) -> str:
    """Return the estimates as CSV; numbers in full precision, ``params`` and ``slice`` as JSON, empty for null."""
    out = io.StringIO()
    names = [field.alias or name for name, field in Estimate.model_fields.items()]
    # The csv module would end lines by a carriage return too.
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    for row in results.rows:
        values = row.model_dump(by_alias=True)
        writer.writerow({name: json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value
                         for name, value in values.items()})
    return out.getvalue()
