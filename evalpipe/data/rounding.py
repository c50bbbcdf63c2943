"""Probabilities of several levels that were rounded: by how much their sum may differ from 1, and what is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.data.words import counted
from evalpipe.results import Warned

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

EXACT = 1e-6
"""How far the sum of probabilities may be from 1 whatever their digits are."""

MOST = 0.05
"""What rounding may explain at most: beyond, that probabilities are divided by their sum must be asked for."""

_DECIMALS = range(2, 10)


@dataclass(frozen=True, slots=True)
class Rounded:
    """Probabilities of a model that sum to 1 up to rounding: decimals, the rows that are off, and the largest gap."""

    decimals: int
    rows: int
    gap: float


def decimals(columns: Sequence[pl.Series]) -> int | None:
    """Return the number of decimals, from 2 to 9, that all probabilities have; None where they have more."""
    values = np.concatenate([_written(column).drop_nulls().to_numpy() for column in columns])
    if not (np.abs(values) <= 1 + MOST).all():  # no probabilities: that is told elsewhere
        return None
    for count in _DECIMALS:
        scaled = values * 10.0**count
        # A decimal is stored to one part in 10^16, so a multiple of it is whole up to a little more than that.
        if (np.abs(scaled - np.rint(scaled)) <= 10.0**count * 1e-14).all():
            return count
    return None


def _written(column: pl.Series) -> pl.Series:
    """Return floats of 32 bits as the shortest decimals that they are read from."""
    import polars as pl

    return column.cast(pl.String).cast(pl.Float64) if column.dtype == pl.Float32 else column


def allowed(levels: int, places: int | None) -> float:
    """Return how far a sum may be from 1: each of the levels by half a unit of its last decimal."""
    # A sum that is off by just the limit must not fail by the rounding of the sum itself: hence 1e-9 more.
    return EXACT if places is None else max(EXACT, min(MOST, levels * 0.5 * 10.0**-places * (1 + 1e-9)))


def explained(levels: int, places: int | None) -> str:
    """Say how far a sum may be from 1, and why."""
    why = "" if places is None else f", as {levels} probabilities of {places} decimals do by rounding"
    return f"a sum may differ from 1 by {allowed(levels, places):.2g}{why}"


def together(parts: Sequence[Rounded]) -> Rounded:
    """Return what is known of the rounding of a model at several steps or in several fits: all rows, the widest gap."""
    return Rounded(min(part.decimals for part in parts), sum(part.rows for part in parts),
                   max(part.gap for part in parts))


def warning(dataset: str, model: str, rounded: Rounded) -> Warned:
    """Say that probabilities were rounded and are divided by their sum."""
    message = (f"the probabilities of model '{model}' in dataset '{dataset}' are rounded to {rounded.decimals} "
               f"decimals: in {counted(rounded.rows, 'row')} their sum differs from 1, by up to {rounded.gap:.2g}; "
               "every row is divided by its sum")
    return Warned(code="rounded-probabilities", message=message)
