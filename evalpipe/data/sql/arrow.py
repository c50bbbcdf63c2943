"""The types of Arrow that columns of queries are read in."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def is_readable(kind: pa.DataType) -> bool:
    """Tell whether values of a type are read: true and false, numbers, texts, dates, times, and no value at all.

    So are lists of numbers that are no decimals.
    """
    from pyarrow import types

    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return bool(types.is_integer(kind.value_type) or types.is_floating(kind.value_type))
    tests = (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal, types.is_string,
             types.is_large_string, types.is_date, types.is_timestamp, types.is_time, types.is_null)
    return any(test(kind) for test in tests)
