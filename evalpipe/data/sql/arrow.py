"""The types of Arrow that columns of queries are read in."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def is_readable(kind: pa.DataType) -> bool:
    """Tell whether values of a type are read: true and false, numbers, texts, dates, times, and no value at all."""
    from pyarrow import types

    tests = (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal, types.is_string,
             types.is_large_string, types.is_date, types.is_timestamp, types.is_time, types.is_null)
    return any(test(kind) for test in tests)
