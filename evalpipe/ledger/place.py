"""Where a ledger is: a file of SQLite, by default beside the output folders, or a database by its URL."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evalpipe.errors import UsageError

if TYPE_CHECKING:
    from sqlalchemy import URL

FILE = "ledger.sqlite"
"""The file of the ledger beside output folders where the spec names no other."""


@dataclass(frozen=True, slots=True)
class LedgerPlace:
    """A ``file`` of SQLite, or the ``url`` of a database, which may hold a password."""

    file: Path | None = None
    url: str | None = None

    @classmethod
    def of(cls, text: str) -> LedgerPlace:
        """Return the place that a text names: a URL of SQLAlchemy, or the path of a file."""
        return cls(url=text) if "://" in text else cls(file=Path(text).absolute())

    @classmethod
    def beside(cls, out: Path) -> LedgerPlace:
        """Return the ledger of the folder that an output folder is in."""
        return cls(file=out.absolute().parent / FILE)

    @classmethod
    def named(cls, ledger: str | bool, out: Path) -> LedgerPlace | None:  # noqa: FBT001 - as a plan has it
        """Return the ledger that a plan names for an output folder, True for that beside it; None for none."""
        if ledger is False:
            return None
        return cls.beside(out) if ledger is True else cls.of(ledger)

    def found(self) -> LedgerPlace:
        """Return this place; raises UsageError where it is a file that is not there."""
        if self.file is not None and not self.file.exists():
            hint = "the first 'evalpipe run' begins one; name another ledger with --ledger"
            raise UsageError.of("no-ledger", f"there is no ledger at '{self.shown}'", hint)
        return self

    @property
    def address(self) -> URL:
        """The URL; raises ValueError where it cannot be read as one."""
        from sqlalchemy import URL, make_url
        from sqlalchemy.exc import ArgumentError

        if self.file is not None:
            return URL.create("sqlite", database=str(self.file))
        try:
            url = make_url(self.url or "")
        except ArgumentError:
            raise ValueError("it is no URL of a database") from None
        # psycopg is the driver that the extra installs; SQLAlchemy would look for the one before it.
        return url.set(drivername="postgresql+psycopg") if url.drivername in ("postgresql", "postgres") else url

    @property
    def shown(self) -> str:
        """What messages call it: never a password."""
        if self.file is not None:
            here = Path.cwd()
            return str(self.file.relative_to(here)) if self.file.is_relative_to(here) else str(self.file)
        try:
            return self.address.render_as_string(hide_password=True)
        except ValueError:
            return "the URL of the ledger"

    def path_of(self, folder: str) -> Path:
        """Return the output folder that the ledger calls so."""
        return Path(folder) if self.file is None else Path(os.path.normpath(self.file.parent / folder))

    def folder(self, out: Path) -> str:
        """Return what the ledger calls an output folder: relative to its file, so that both may be moved together."""
        if self.file is None:
            return out.absolute().as_posix()
        return Path(os.path.relpath(out.absolute(), self.file.parent)).as_posix()
