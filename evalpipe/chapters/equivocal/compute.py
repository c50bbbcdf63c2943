"""Which rows an equivocal zone leaves with a predicted class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from evalpipe.arraytypes import Flags, Floats
    from evalpipe.chapters.equivocal.plan import ZonePlan


def reportable_rows(zone: ZonePlan, values: Floats, cuts: float | Floats | None = None) -> Flags:
    """Tell which rows have a class: of scores [n] with their cut (or cuts [n]), or of probabilities [n, K]."""
    if zone.min_probability is not None:
        return np.asarray(values.max(axis=1) >= zone.min_probability)
    each_cut = np.asarray(cuts, float)
    distinct, place = np.unique(each_cut, return_inverse=True)
    low, high = np.array([zone.ends(cut) for cut in distinct]).T[:, np.reshape(place, each_cut.shape)]
    return np.asarray((values < low) | (values > high))
