"""Which driver reads a database, by the scheme of its URI or by name."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import metadata
from typing import TYPE_CHECKING

from evalpipe.base.uris import SCHEMES
from evalpipe.data.sql.database import TooSlowError
from evalpipe.data.sql.faults import cannot_connect, cannot_read, too_slow
from evalpipe.errors import DataError, EvalpipeError, Problem, UsageError
from evalpipe.plan.sources import QuerySource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Origin
    from evalpipe.data.sql.database import Database
    from evalpipe.plan.sources import Sources


def libraries_of(declared: Sources) -> list[str]:
    """Return the libraries that read the queries of a spec, by the names they are installed by, sorted."""
    read = [dataset.source for dataset in declared.datasets.values()]
    drivers = {source.driver or SCHEMES[source.uri.scheme] for source in read if isinstance(source, QuerySource)}
    return sorted({"adbc-driver-manager", "pyarrow", *map(_library, drivers)}) if drivers else []


def _library(driver: str) -> str:
    """Return the name by which a driver is installed: another than its own where a library brings it, as DuckDB's."""
    module = f"adbc_driver_{driver}"
    own = module.replace("_", "-")
    try:
        return metadata.metadata(own)["Name"]
    except metadata.PackageNotFoundError:
        return next(iter(metadata.packages_distributions().get(module, ())), own)


@contextmanager
def opened(source: QuerySource, places: Origin) -> Iterator[Database]:
    """Open the database of a query, and close it afterwards.

    Raises DataError where it cannot be, UsageError where its driver is missing.
    """
    try:
        from adbc_driver_manager import Error
    except ModuleNotFoundError:
        raise _missing(source, places, "adbc_driver_manager") from None
    try:
        database = _connected(source, places)
    except ModuleNotFoundError as error:
        raise _missing(source, places, str(error.name)) from None
    except EvalpipeError:
        raise
    except Exception as error:
        if source.driver is None and not isinstance(error, Error):
            raise
        # A driver of others may raise anything, with the URI in its words.
        raise DataError(cannot_connect(error, source, places)) from None
    with database:
        yield database


@contextmanager
def told(source: QuerySource, places: Origin) -> Iterator[None]:
    """Turn what a driver raises while a query is read into DataError."""
    from adbc_driver_manager import Error
    from pyarrow import ArrowException

    try:
        yield
    except TooSlowError:
        raise DataError(too_slow(source, places)) from None
    except Exception as error:
        if source.driver is None and not isinstance(error, Error | ArrowException | OSError):
            raise
        raise DataError(cannot_read(error, source, places)) from None


def _connected(source: QuerySource, places: Origin) -> Database:
    """Connect to a database with its driver; raises ModuleNotFoundError, DataError and the errors of the driver."""
    uri = source.uri
    path = places.folder_of("datasets", source.dataset, "uri") / uri.file
    if uri.file and not path.is_file():  # which some drivers would make
        at = places.place("datasets", source.dataset, "uri")
        raise DataError(Problem("missing-file", f"there is no file {uri.file}", at, "check the URI"))
    if source.driver is not None:
        from evalpipe.data.sql.other import OtherDatabase

        return OtherDatabase(str(path.absolute()) if uri.file else uri.address, source.driver)
    if SCHEMES[uri.scheme] == "sqlite":
        from evalpipe.data.sql.sqlite import SQLite

        return SQLite(path)
    from evalpipe.data.sql.postgresql import PostgreSQL

    return PostgreSQL(uri)


def _missing(source: QuerySource, places: Origin, module: str) -> UsageError:
    """Return the error of a library that is not installed."""
    own = source.driver is None or module == "adbc_driver_manager"
    way = "pip install 'evalpipe[sql]'" if own else "install it, or correct 'driver'"
    message = f"{source.called} is a query, and the Python package {module} that reads it is not installed"
    return UsageError(Problem("missing-library", message, places.place(*source.loc), way))
