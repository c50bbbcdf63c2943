"""Names for types of arrays; imported for type checks only, because it imports numpy.

A type says what the numbers are; the shape is in the docstring of the function or field, as in "values [n, K]".
"""

from __future__ import annotations

from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
"""Numbers; NaN where there is none."""

Wholes = np.ndarray[Any, np.dtype[np.intp]]
"""Integers: positions in another array, codes of levels, or counts."""

Flags = np.ndarray[Any, np.dtype[np.bool_]]
"""Booleans, one for each row unless stated otherwise."""

Values = np.ndarray[Any, np.dtype[Any]]
"""Any of these: the outcome of each row as its task has it (`Flags` of an event, `Wholes` that number levels, or
`Floats`), or totals of weights (`Wholes` where a weight counts rows, else `Floats`)."""

Keys = np.ndarray[Any, np.dtype[np.uint64]]
"""Hashes of names: unsigned integers of 64 bits."""
