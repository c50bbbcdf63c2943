"""What goes wrong with a database, in words that hold no password, user or host."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalpipe.base.queries import line_and_column
from evalpipe.data.sql.database import ALIAS
from evalpipe.errors import Problem

if TYPE_CHECKING:
    from evalpipe.base.origin import Origin
    from evalpipe.errors import Place
    from evalpipe.plan.sources import QuerySource

READ_ONLY, CANCELLED = "25006", "57014"
"""States of SQL (PostgreSQL's appendix A): a write in a read-only transaction, and a statement that was stopped."""

_REFUSED = re.compile(r"authentication failed|no password supplied|role .* does not exist")
_SILENT = re.compile(r"connection refused|could not translate host name|timeout expired|no route to host|"
                     r"network is unreachable|could not receive|no such file or directory", re.IGNORECASE)
_ABSENT = re.compile(r'database "(.*)" does not exist')
_LOST = re.compile(r"server closed the connection|terminating connection|connection not open|ssl syscall|"
                   r"no connection to the server|connection reset|could not receive data", re.IGNORECASE)
_WRITES = re.compile(r'readonly database|near "(insert|update|delete|replace|create|drop|alter)"|data-modifying',
                     re.IGNORECASE)
_UNBOUND = re.compile(r"bind message supplies|parameter count|expected \d+ parameters|there is no parameter",
                      re.IGNORECASE)
_FOREIGN = re.compile(r"not a database|encrypted", re.IGNORECASE)


def cannot_connect(error: Exception, source: QuerySource, places: Origin) -> Problem:
    """Return the problem of a connection that cannot be made."""
    at, reason = places.place("datasets", source.dataset, "uri"), str(error)
    absent = _ABSENT.search(reason)
    if _REFUSED.search(reason):
        return Problem("wrong-password", f"the server of {source.called} refuses the user or the password of its URI",
                       at, "correct the URI in the environment")
    if absent is not None:
        return Problem("missing-database", f"the server of {source.called} has no database '{absent[1]}'", at,
                       "correct the URI in the environment")
    if _SILENT.search(reason):
        return Problem("no-server", f"no server answers at the URI of {source.called}", at,
                       "start it, or correct the URI in the environment")
    return Problem("no-connection", f"cannot connect to the database of {source.called}: {_plain(error, source)}", at,
                   "correct the URI in the environment")


def cannot_read(error: Exception, source: QuerySource, places: Origin) -> Problem:
    """Return the problem of a query that cannot be read, or ended before all of its rows were."""
    at, reason = places.place(*source.loc), str(error)
    state = getattr(error, "sqlstate", None)
    if state == READ_ONLY or _WRITES.search(reason):
        message = f"the query of {source.called} writes to the database, which is opened for reading only"
        return Problem("query-writes", message, at, "ask for rows alone")
    if state == CANCELLED:
        return too_slow(source, places)
    if _LOST.search(reason):
        message = f"the connection to the database of {source.called} was lost while it was read"
        return Problem("connection-lost", message, at, "run again; earlier output is unchanged")
    if _FOREIGN.search(reason):
        return Problem("no-connection", f"the file of {source.called} is no database of SQLite", at, "check its URI")
    if _UNBOUND.search(reason):
        given = f"{len(source.parameters)} under 'parameters'"
        message = f"the query of {source.called} has more or fewer marks than there are values, {given}"
        return Problem("bad-query", message, at, "give one value for each mark, in their order")
    message = f"the database cannot read the query of {source.called}: {_plain(error, source)}"
    details = _details(error)
    hint = details.get("PG_DIAG_MESSAGE_HINT")
    return Problem("bad-query", message, at, hint and source.uri.redacted(hint).rstrip("."),
                   notes=_position(details, source.text, reason))


def too_slow(source: QuerySource, places: Origin) -> Problem:
    """Return the problem of a query that takes longer than it may."""
    message = f"reading {source.called} took longer than the {source.timeout:g} seconds of its 'timeout'"
    place = places.place("datasets", source.dataset, "timeout")
    return Problem("query-timeout", message, place, "ask for less, or allow more under 'timeout'")


def _details(error: Exception) -> dict[str, str]:
    """Return what a server says of an error beside its message, by the names that PostgreSQL gives it."""
    given: Any = getattr(error, "details", None) or ()
    return {str(key): value.decode(errors="replace") if isinstance(value, bytes) else str(value)
            for key, value in ((key.decode() if isinstance(key, bytes) else key, value) for key, value in given)}


def _plain(error: Exception, source: QuerySource) -> str:
    """Return what the server says in one line: its own message, without that of the driver, and without secrets."""
    said = _details(error).get("PG_DIAG_MESSAGE_PRIMARY")
    if said is None:
        first = str(error).partition("\nquery: ")[0].partition("\n")[0]
        said = re.sub(r"^[A-Z_]+: |\[[^]]*\] |Failed to \w+(?: query)?: |ERROR:\s*", "", first)
    return source.uri.redacted(" ".join(said.split())).rstrip(".")


def _position(details: dict[str, str], text: str, reason: str) -> tuple[str, ...]:
    """Say where in the query the server found the fault, where it says so of the query as it is written."""
    given = details.get("PG_DIAG_STATEMENT_POSITION", "")
    if not given.isdecimal() or ALIAS in reason or not 0 < int(given) <= len(text):
        return ()
    line, column = line_and_column(text, int(given) - 1)
    return (f"line {line}, column {column} of the query: {text.splitlines()[line - 1].strip()}",)


def twice(column: str, source: QuerySource, place: Place | None) -> Problem:
    """Return the problem of a name that two columns of a query have."""
    message = f"two columns of {source.called} are called '{column}'"
    return Problem("duplicate-column", message, place, f"name one of them otherwise, as in {column} AS {column}_2")
