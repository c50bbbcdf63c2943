"""Which rows an equivocal zone leaves with a predicted class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Flags, Floats
    from evalpipe.chapters.equivocal.plan import ZonePlan


def reportable_rows(zone: ZonePlan, values: Floats, cuts: float | Floats | None = None) -> Flags:
    """Tell which rows [n] have a class outside a zone: by scores [n] and their cut, or by probabilities [n, K].

    ``cuts`` is one cut of the score for all rows, or one for each [n].
    """
    if zone.min_probability is not None:
        return np.asarray(values.max(axis=1) >= zone.min_probability)
    cut_of_row = np.asarray(cuts, float)
    distinct, cut_index = np.unique(cut_of_row, return_inverse=True)
    # The ends are computed in decimals, so once for each distinct cut, and then taken for the rows.
    low, high = np.array([zone.ends(cut) for cut in distinct]).T[:, np.reshape(cut_index, cut_of_row.shape)]
    return np.asarray((values < low) | (values > high))
