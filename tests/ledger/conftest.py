"""A database for each test of the ledger, and the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cli.conftest import command, folder
from evalpipe.ledger.entries import LedgerPlace

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ("command", "folder")
"""The fixtures that tests of the ledger share with those of the command line."""


@pytest.fixture
def database(server: str) -> Iterator[str]:
    """Return the URL of a new database."""
    from sqlalchemy import create_engine, text

    engine = create_engine(server.replace("postgresql://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("DROP DATABASE IF EXISTS ledger WITH (FORCE)"))
        connection.execute(text("CREATE DATABASE ledger"))
    yield server.removesuffix("postgres") + "ledger"
    engine.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> LedgerPlace:
    """Return the place of a ledger that is not begun yet, in either database."""
    if request.param == "postgresql":
        return LedgerPlace.of(request.getfixturevalue("database"))
    return LedgerPlace.of(str(tmp_path / "ledger.sqlite"))
