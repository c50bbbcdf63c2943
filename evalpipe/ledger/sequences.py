"""The evidence that the nights of a name recorded on gates `on: sequence`, since it last began anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select

from evalpipe.ledger.nights import nights
from evalpipe.ledger.tables import EVIDENCE, RESTARTS

if TYPE_CHECKING:
    from evalpipe.ledger.entries import Row
    from evalpipe.ledger.store import Ledger


def evidence_before(ledger: Ledger, name: str, day: str) -> list[Row]:
    """Return the evidence of the nights of a name before a day, in the order of days; each row has its ``as_of``.

    Only nights after the last day on which the sequences began anew are returned, also those that `evalpipe gc` has
    forgotten. Raises UsageError where the ledger cannot be read.
    """
    begun = select(func.max(RESTARTS.c.as_of).label("since"))
    begun = begun.where((RESTARTS.c.name == name) & (RESTARTS.c.as_of < day))
    since = ledger.read_rows(begun)[0]["since"] or ""
    day_of = {night["run"]: night["as_of"] for night in nights(ledger, name, day, forgotten=True)
              if night["as_of"] > since}
    recorded = select(EVIDENCE).order_by(EVIDENCE.c.run, EVIDENCE.c.place)
    rows = ledger.read_rows(recorded.where(EVIDENCE.c.run.in_(day_of)))
    dated = ({"as_of": day_of[row.pop("run")], **row} for row in rows)
    return sorted(dated, key=lambda row: (row["as_of"], row.pop("place")))
