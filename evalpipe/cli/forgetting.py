"""`evalpipe gc`: removes old runs of an output folder from the ledger."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(short_help="Remove old runs from the ledger.")
@click.argument("folder", type=click.Path())
@click.option("--keep-runs", type=click.IntRange(min=1), help="Keep so many runs, the newest.")
@click.option("--keep-days", type=click.IntRange(min=0), help="Keep runs whose day is so near that of the newest run.")
@click.option("--dry-run", is_flag=True, help="Say what would be removed, and remove nothing.")
@click.option("--ledger", "where", help="The ledger: a file or a URL.  [default: ledger.sqlite beside the folder]")
def gc(folder: str, keep_runs: int | None, keep_days: int | None, where: str | None, *, dry_run: bool) -> int:
    """Remove the runs of an output folder from the ledger that neither --keep-runs nor --keep-days keeps.

    The days are those that the cards are about, not those of the clock: the newest run is always kept. The output
    folder stays as it is.
    """
    from evalpipe.errors import UsageError
    from evalpipe.ledger.place import LedgerPlace
    from evalpipe.ledger.store import Ledger

    if keep_runs is None and keep_days is None:
        raise UsageError.of("usage", "nothing says which runs to keep", "give --keep-runs, --keep-days or both")
    place = LedgerPlace.beside(Path(folder)) if where is None else LedgerPlace.of(where)
    Ledger.read(place)  # which begins none where there is none
    gone, kept = Ledger.open(place).forget(Path(folder), keep_runs, keep_days, dry=dry_run)
    verb = "would remove" if dry_run else "removed"
    click.echo(f"{place.shown}: {verb} {_counted(gone)} of {folder}; {kept:,} {'stay' if kept != 1 else 'stays'}")
    return 0


def _counted(runs: int) -> str:
    return f"{runs:,} run{'' if runs == 1 else 's'}"
