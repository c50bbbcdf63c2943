"""The nights of a name in a ledger: the latest run of each day, whatever output folder it was written to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select

from evalpipe.ledger.tables import ESTIMATES, EVIDENCE, KEPT, RUNS, VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from evalpipe.ledger.entries import Row
    from evalpipe.ledger.store import Ledger


def nights(
    ledger: Ledger, name: str, before: str | None = None, last: int | None = None, *, forgotten: bool = False
) -> list[Row]:
    """Return the runs of a name, the latest recorded of each day, the oldest day first; without their estimates.

    Runs whose results have no day are left out. ``before`` is a day as in ``"2026-11-21"``: only runs of earlier days
    are returned. ``last`` is how many, the newest. With ``forgotten`` also days of which `evalpipe gc` has forgotten
    all runs are returned. Raises UsageError where the ledger cannot be read.
    """
    order = (KEPT.desc(), RUNS.c.last_recorded.desc(), RUNS.c.run.desc())
    latest = func.row_number().over(partition_by=RUNS.c.as_of, order_by=order).label("latest")
    of_name = select(RUNS, latest).where(RUNS.c.name == name, RUNS.c.as_of.is_not(None))
    of_name = of_name if forgotten else of_name.where(KEPT)
    runs = (of_name if before is None else of_name.where(RUNS.c.as_of < before)).subquery()
    newest = select(*(runs.c[column.name] for column in RUNS.c)).where(runs.c.latest == 1)
    return ledger.read_rows(newest.order_by(runs.c.as_of.desc()).limit(last))[::-1]


def results_in(ledger: Ledger, out: Path) -> frozenset[str]:
    """Return the sha256 of all results of an output folder; raises UsageError where the ledger cannot be read."""
    of_folder = select(RUNS.c.results_sha256).where(RUNS.c.folder == ledger.place.folder(out))
    return frozenset(row["results_sha256"] for row in ledger.read_rows(of_folder))


def names_in(ledger: Ledger) -> list[str]:
    """Return the names of the runs in a ledger, sorted; raises UsageError where it cannot be read."""
    return [row["name"] for row in ledger.read_rows(select(RUNS.c.name).where(KEPT).distinct().order_by(RUNS.c.name))]


def estimates_of(ledger: Ledger, runs: Iterable[int], metrics: Iterable[str] | None = None) -> dict[int, list[Row]]:
    """Return the estimates of runs by the number of the run, in the order of the results; of some ``metrics`` or all.

    Raises UsageError where the ledger cannot be read.
    """
    conditions = [] if metrics is None else [ESTIMATES.c.metric.in_(sorted(set(metrics)))]
    return ledger.rows_of(ESTIMATES, runs, *conditions)


def verdicts_of(ledger: Ledger, run: int) -> list[Row]:
    """Return the verdicts of a run, in the order of the results; raises UsageError where they cannot be read."""
    return ledger.rows_of(VERDICTS, [run])[run]


def supports_of(ledger: Ledger, run: int) -> list[float | None]:
    """Return the rows of the rarer outcome that each evidence of a run rests on; raises UsageError as those above."""
    return [row["support"] for row in ledger.rows_of(EVIDENCE, [run])[run]]
