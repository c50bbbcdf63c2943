"""`evalpipe gc`: removes old runs of an output folder, or old nights of a name, from the ledger."""

from __future__ import annotations

from pathlib import Path

import click

from evalpipe.cli.ledgers import ledger_and_name, ledger_option, name_option


@click.command(short_help="Remove old runs from the ledger.")
@click.argument("folder", type=click.Path())
@name_option
@click.option("--keep-runs", type=click.IntRange(min=1), help="Keep so many runs, or nights of a name, the newest.")
@click.option("--keep-days", type=click.IntRange(min=0), help="Keep runs whose day is so near that of the newest run.")
@click.option("--dry-run", is_flag=True, help="Say what would be removed, and remove nothing.")
@ledger_option
def gc(
    folder: str, name: str | None, keep_runs: int | None, keep_days: int | None, where: str | None, *, dry_run: bool
) -> int:
    """Remove the runs of an output folder from the ledger that neither --keep-runs nor --keep-days keeps.

    Of a FOLDER that holds a ledger and an output folder for each night, the nights of a name are removed, each with all
    runs of its day. The days are those that the cards are about, not those of the clock: the newest run is always kept.
    The output folders stay as they are, and so do the hash and the evidence of each run, on which runs that are kept
    rest. Hidden files and folders that killed runs left in FOLDER are removed.
    """
    from evalpipe.errors import UsageError
    from evalpipe.ledger.retention import Keep, forget_nights, forget_runs
    from evalpipe.ledger.store import Ledger
    from evalpipe.runs.record import sweep_killed

    if keep_runs is None and keep_days is None:
        raise UsageError.of("usage", "nothing says which runs to keep", "give --keep-runs, --keep-days or both")
    keep = Keep(keep_runs, keep_days)
    read, chosen = ledger_and_name(folder, name, where)  # which begins none where there is none
    ledger = Ledger.open(read.place)
    gone, kept = (forget_runs(ledger, Path(folder), keep, dry=dry_run) if chosen is None
                  else forget_nights(ledger, chosen, keep, dry=dry_run))
    verb, counted = "would remove" if dry_run else "removed", _counted(gone, "run" if chosen is None else "night")
    of = folder if chosen is None else chosen
    click.echo(f"{read.place.shown}: {verb} {counted} of {of}; {kept:,} {'stay' if kept != 1 else 'stays'}")
    killed = 0 if dry_run else sweep_killed(Path(folder))
    if killed:
        click.echo(f"{folder}: removed what killed runs left of {_counted(killed, 'output folder')}")
    return 0


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
