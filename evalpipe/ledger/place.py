"""Where a ledger is: a file of SQLite, by default beside the output folders, or a database by its URI."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evalpipe.base.databases import DatabaseUri
from evalpipe.errors import UsageError

if TYPE_CHECKING:
    from sqlalchemy import URL

FILE = "ledger.sqlite"
"""The file of the ledger beside output folders where the spec names no other."""


OPTION = "--ledger"
"""The option of the commands that take a ledger."""


@dataclass(frozen=True, slots=True)
class LedgerPlace:
    """A ``file`` of SQLite, or the ``uri`` of a database, which may hold a password."""

    file: Path | None = None
    uri: DatabaseUri | None = None

    @classmethod
    def of(cls, text: str) -> LedgerPlace:
        """Return the place that a text names: a URI of SQLAlchemy, or the path of a file.

        Raises UsageError where it names none, without the text, which may hold a password.
        """
        uri = DatabaseUri(text)
        if uri.no_ledger is not None:
            message, hint = uri.no_ledger
            raise UsageError.of("bad-uri", f"{OPTION}: {message}", hint)
        return cls._at(uri)

    @classmethod
    def _at(cls, uri: DatabaseUri) -> LedgerPlace:
        """Return the place of a text that was read as a URI: a file where it has no scheme."""
        return cls(uri=uri) if uri.scheme else cls(file=Path(uri.text).absolute())

    @classmethod
    def default_for(cls, out: Path) -> LedgerPlace:
        """Return the default ledger of an output folder: the file `FILE` beside it."""
        return cls(file=out.absolute().parent / FILE)

    @classmethod
    def named(cls, ledger: DatabaseUri | bool, out: Path) -> LedgerPlace | None:  # noqa: FBT001 - as a plan has it
        """Return the ledger that a plan names, True for the default one of output folder ``out``; None for False."""
        if ledger is False:
            return None
        return cls.default_for(out) if ledger is True else cls._at(ledger)

    def found(self) -> LedgerPlace:
        """Return this place; raises UsageError where it is a file that does not exist."""
        file = self.file if self.uri is None else Path(self.uri.file) if self.uri.file else None
        if file is not None and not file.exists():
            hint = f"the first 'evalpipe run' begins one; name another ledger with {OPTION}"
            raise UsageError.of("no-ledger", f"there is no ledger at '{self.shown}'", hint)
        return self

    @property
    def address(self) -> URL:
        """The database URL for SQLAlchemy; raises ValueError where it cannot be parsed."""
        from sqlalchemy import URL, make_url
        from sqlalchemy.exc import ArgumentError

        if self.uri is None:
            return URL.create("sqlite", database=str(self.file))
        try:
            url = make_url(self.uri.address)
        except ArgumentError:
            raise ValueError("it is no URL of a database") from None
        # psycopg is the driver that the extra installs; SQLAlchemy would look for the one before it.
        return url.set(drivername="postgresql+psycopg") if url.drivername in ("postgresql", "postgres") else url

    @property
    def shown(self) -> str:
        """The path or the URI for messages, without a password."""
        if self.file is None:
            return "" if self.uri is None else self.uri.without_password
        here = Path.cwd()
        return str(self.file.relative_to(here)) if self.file.is_relative_to(here) else str(self.file)

    def hidden(self, message: str) -> str:
        """Return an error message of a database driver with the password removed."""
        return message if self.uri is None else self.uri.hidden(message)

    def path_of(self, folder: str) -> Path:
        """Return the path of an output folder from its text in the ledger: from the ledger's file, or absolute."""
        return Path(folder) if self.file is None else Path(os.path.normpath(self.file.parent / folder))

    def folder(self, out: Path) -> str:
        """Return the text for an output folder in the ledger: its path from the ledger's file, or the absolute path."""
        if self.file is None:
            return out.absolute().as_posix()
        return Path(os.path.relpath(out.absolute(), self.file.parent)).as_posix()
