"""How long runs stay in a ledger: those of an output folder, or the nights of a name in whatever folders."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import select

from evalpipe.ledger.tables import ESTIMATES, KEPT, RUNS, VERDICTS

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import ColumnElement, Connection

    from evalpipe.ledger.store import Ledger


class Keep(NamedTuple):
    """What stays: the newest ``runs``, and those whose day is at most ``days`` before that of the newest.

    The day of the evidence counts, and that of the clock only for runs without one.
    """

    runs: int | None
    days: int | None

    def since(self, days: list[date]) -> date:
        """Return the first of the days that stay by their distance from the newest; the last there is for none."""
        newest = max(days, default=date.min)
        return date.max if self.days is None else date.fromordinal(max(1, newest.toordinal() - self.days))


def forget_runs(ledger: Ledger, out: Path, keep: Keep, *, dry: bool = False) -> tuple[int, int]:
    """Forget runs of an output folder, and return how many are forgotten and how many stay; with ``dry`` forget none.

    Their estimates and verdicts are removed; their hashes and their evidence stay, for later runs rest on them. The
    newest are those that were recorded last. Raises UsageError where the ledger cannot be written.
    """
    with ledger.writing() as connection:
        day_of = _days(connection, RUNS.c.folder == ledger.place.folder(out))
        since, newest = keep.since([*day_of.values()]), [*day_of][: keep.runs or 0]
        gone = [run for run, day in day_of.items() if run not in newest and day < since]
        _forget(connection, [] if dry else gone)
    return len(gone), len(day_of) - len(gone)


def forget_nights(ledger: Ledger, name: str, keep: Keep, *, dry: bool = False) -> tuple[int, int]:
    """Forget nights of a name with all their runs, and return how many nights are forgotten and how many stay.

    The newest are those of the latest days: a night that was run again is as old as its day. What stays of a night is
    said at `forget_runs`. With ``dry`` none is forgotten. Raises UsageError where the ledger cannot be written.
    """
    with ledger.writing() as connection:
        day_of = _days(connection, RUNS.c.name == name)
        days = sorted(set(day_of.values()), reverse=True)
        since, newest = keep.since(days), days[: keep.runs or 0]
        gone = [day for day in days if day not in newest and day < since]
        _forget(connection, [] if dry else [run for run, day in day_of.items() if day in gone])
    return len(gone), len(days) - len(gone)


def _days(connection: Connection, of: ColumnElement[bool]) -> dict[int, date]:
    """Return the days of runs by their number, those that were recorded last first."""
    runs = select(RUNS.c.run, RUNS.c.as_of, RUNS.c.last_recorded).where(of, KEPT)
    rows = connection.execute(runs.order_by(RUNS.c.last_recorded.desc(), RUNS.c.run.desc()))
    return {row.run: date.fromisoformat(row.as_of or row.last_recorded[:10]) for row in rows}


def _forget(connection: Connection, runs: list[int]) -> None:
    for run in runs:
        for table in (ESTIMATES, VERDICTS):
            connection.execute(table.delete().where(table.c.run == run))
        connection.execute(RUNS.update().where(RUNS.c.run == run).values(forgotten=True))
