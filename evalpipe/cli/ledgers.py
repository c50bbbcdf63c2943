"""Which ledger `evalpipe history` and `evalpipe gc` are about, and the runs of what in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from evalpipe.ledger.store import Ledger

name_option = click.option(
    "--name", help="The nights of this name, in whatever folders.  [default: where FOLDER holds a ledger, the only "
    "name in it]")
ledger_option = click.option(
    "--ledger", "where", help="The ledger: a file or a URL.  [default: ledger.sqlite in FOLDER or beside it]")


def ledger_and_name(folder: str, name: str | None, where: str | None) -> tuple[Ledger, str | None]:
    """Return the ledger, to read from, and the name whose nights are meant; None for the runs of the folder.

    Raises UsageError where there is no ledger, or it has several names and none is chosen.
    """
    from evalpipe.ledger.place import FILE, LedgerPlace
    from evalpipe.ledger.store import Ledger

    out = Path(folder)
    holds = (out / FILE).is_file()
    place = LedgerPlace.of(where) if where is not None else (
        LedgerPlace(file=(out / FILE).absolute()) if holds else LedgerPlace.beside(out))
    ledger = Ledger.read(place)
    return ledger, name or (_only_name(ledger) if holds and where is None else None)


def _only_name(ledger: Ledger) -> str:
    """Return the only name in a ledger; raises UsageError where there are several, or none."""
    from evalpipe.errors import UsageError
    from evalpipe.ledger.nights import names_in
    from evalpipe.words.spelling import listed

    names = names_in(ledger)
    if len(names) == 1:
        return names[0]
    if not names:
        raise UsageError.of("no-ledger", f"the ledger '{ledger.place.shown}' has no runs yet",
                            "the next evalpipe run is recorded in it")
    message = f"the ledger '{ledger.place.shown}' has runs of {len(names):,} names"
    hint = f"choose one of {listed(names[:12])} with --name, or an output folder"
    raise UsageError.of("several-names", message, hint)
