"""The gain table: rows ranked by score and cut into ten groups, with what each holds and what it would hold by chance.

Ranks are cut where floor((rank - 1) x 10 / n) changes, so groups differ by one row at most. Rows of equal score that
straddle a cut are shared in expectation, never by the order of the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.metrics.declare import ratio

if TYPE_CHECKING:
    from evalpipe.statistics import Summary

Floats = np.ndarray[Any, np.dtype[np.float64]]

GROUPS = 10


def gain_table(summary: Summary, *, whole: bool) -> dict[str, Floats]:
    """Return the columns of the gain table, each of shape [groups], highest scores first.

    ``whole`` says that weights count observations, which no cut may divide. ``population`` is the weight of a group;
    ``captured``, ``random`` and ``wizard`` the events in it by the model, in random order and in a perfect one;
    ``cumulative_*`` the shares up to and with it; ``lift`` and ``cumulative_lift`` against random order; ``separation``
    the cumulative share of events less that of non-events, whose largest is near the K-S statistic.
    """
    tp, fp = (np.r_[0.0, summary(name)[::-1]] for name in ("events_from", "others_from"))
    total, events = (tp + fp)[-1], tp[-1]
    cuts = total * np.arange(GROUPS + 1) / GROUPS
    cuts = np.ceil(np.round(cuts, 9)) if whole else cuts
    found = np.interp(cuts, tp + fp, tp)
    shares = {"population": cuts / total, "captured": found / events, "others": ratio(cuts - found, total - events)}
    population, captured, expected = np.diff(cuts), np.diff(found), np.diff(cuts) * events / total
    return {
        "group": np.arange(1.0, GROUPS + 1),
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
