"""Rows ranked by score and cut into groups.

Ranks are cut where floor((rank - 1) x groups / n) changes, so groups differ by one row at most. Rows of equal score
that straddle a cut are shared in expectation, never by the order of the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from evalpipe.arraytypes import Floats
    from evalpipe.statistics import Summary


def ranked(summary: Summary, groups: int, *, whole: bool) -> tuple[Floats, Floats]:
    """Return what the rows, and the events, of the first groups weigh together: each [..., groups + 1], from none on.

    ``whole`` says that weights count observations, which no cut may divide.
    """
    events, others = summary("events_from"), summary("others_from")
    tested = events + others
    cuts = tested[..., :1] * np.arange(groups + 1) / groups
    # Rounded first, so that a cut that is whole but for rounding takes no further row.
    cuts = np.ceil(np.round(cuts, 9)) if whole else cuts
    flat = zip(*(values.reshape(-1, values.shape[-1]) for values in (cuts, tested, events)), strict=True)
    captured = [np.interp(at, np.r_[0.0, x[::-1]], np.r_[0.0, y[::-1]]) for at, x, y in flat]
    return cuts, np.reshape(captured, cuts.shape)
