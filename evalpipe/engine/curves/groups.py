"""The gain table: rows ranked by score and cut into groups, with what each holds and what it would hold by chance.

Ranks are cut where floor((rank - 1) x groups / n) changes, so groups differ by one row at most. Rows of equal score
that straddle a cut are shared in expectation, never by the order of the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe import constants
from evalpipe.metrics.values import ratio

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


def gain_table(summary: Summary, *, whole: bool) -> dict[str, Floats]:
    """Return the columns of the gain table, each of shape [groups], highest scores first.

    ``whole`` says that weights count observations, which no cut may divide. ``population`` is the weight of a group;
    ``captured``, ``random`` and ``wizard`` the events in it by the model, in random order and in a perfect one;
    ``cumulative_*`` the shares up to and with it; ``lift`` and ``cumulative_lift`` against random order; ``separation``
    the cumulative share of events less that of non-events, whose largest is near the K-S statistic.
    """
    cuts, caught = ranked(summary, constants.GAIN_GROUPS, whole=whole)
    total, events = cuts[-1], caught[-1]
    shares = {"population": cuts / total, "captured": caught / events, "others": ratio(cuts - caught, total - events)}
    population, captured, expected = np.diff(cuts), np.diff(caught), np.diff(cuts) * events / total
    return {
        "group": np.arange(1.0, constants.GAIN_GROUPS + 1),
        "population": population,
        "captured": captured,
        "random": expected,
        "wizard": np.diff(np.minimum(cuts, events)),
        "lift": ratio(captured, expected),
        "cumulative_population": shares["population"][1:],
        "cumulative_captured": shares["captured"][1:],
        "cumulative_wizard": np.minimum(cuts, events)[1:] / events,
        "cumulative_lift": ratio(shares["captured"][1:], shares["population"][1:]),
        "separation": (shares["captured"] - shares["others"])[1:],
    }
