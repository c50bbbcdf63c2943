"""Values of a log that are plain: numbers, true and false, and short texts, taken out of nested JSON."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

Plain = str | int | float | bool

LARGEST_INTEGER = 2**53
"""Whole numbers from this on are no counts, and of items they are ids, as text: floats would round them."""
LONGEST_VALUE = 200
"""Characters of a text that is kept as a column of an item or as an argument of a model."""
_SECRET = re.compile(r"key|secret|password|credential|authorization|header|(^|_)token$", re.IGNORECASE)
_SECRET_WITHIN = re.compile(r"(key|secret|password|credential|token)\W*[=:]", re.IGNORECASE)


def within(document: Any, *keys: str) -> Any:
    """Return the value below keys of nested objects; None where there is none."""
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def mapping(value: object) -> dict[str, Any]:
    """Return a JSON object; an empty one for all else."""
    return value if isinstance(value, dict) else {}


def optional_text(value: object) -> str | None:
    """Return a text or a number as text; None for all else and for an empty text."""
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) and value != "" else None


def count(value: object) -> int | None:
    """Return a count; None where a value is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST_INTEGER else None


def total(values: Iterable[object]) -> float | None:
    """Return the sum of the finite numbers, without rounding in between; None where there are none."""
    numbers = [value for value in values if isinstance(value, int | float) and math.isfinite(value)]
    return math.fsum(numbers) if numbers else None


def tokens(values: Iterable[object]) -> int | None:
    """Return the sum of counts; None where there are none."""
    counts = [number for value in values if (number := count(value)) is not None]
    return sum(counts) if counts else None


def arguments(values: object) -> dict[str, Plain]:
    """Return the arguments of a model that are plain, and no secret by their name or by a name in their text."""
    return {key: value for key, value in mapping(values).items()
            if is_plain(value) and not _SECRET.search(key) and not _SECRET_WITHIN.search(str(value))}


def is_plain(value: object) -> bool:
    """Tell whether a value is a number, true or false, or a text of at most `LONGEST_VALUE` characters."""
    return isinstance(value, int | float) or (isinstance(value, str) and len(value) <= LONGEST_VALUE)


def finite(value: object) -> float | None:
    """Return a finite number, true as 1 and false as 0; None for all else."""
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
