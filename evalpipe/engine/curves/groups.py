"""The gain table: groups of ranked rows, with what each holds and what it would hold by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.engine.ranked import ranked
from evalpipe.metrics.values import ratio

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats
    from evalpipe.statistics import Summary


def gain_table(summary: Summary, groups: int, *, whole: bool) -> dict[str, Floats]:
    """Return the columns of the gain table, each of shape [groups], highest scores first.

    ``whole`` says that weights count observations, which no cut may divide. ``population`` is the weight of a group;
    ``captured``, ``random`` and ``wizard`` the events in it by the model, in random order and in a perfect one;
    ``*_so_far`` these up to and with it, ``cumulative_*`` their shares; ``lift`` and ``cumulative_lift`` against random
    order; ``separation`` the cumulative share of events less that of non-events, whose largest is near the K-S
    statistic.
    """
    cuts, caught = ranked(summary, groups, whole=whole)
    total, events = cuts[-1], caught[-1]
    shares = {"population": cuts / total, "captured": caught / events, "others": ratio(cuts - caught, total - events)}
    so_far = {"population": cuts, "captured": caught, "random": cuts * events / total,
              "wizard": np.minimum(cuts, events)}
    of_group = {name: np.diff(values) for name, values in so_far.items()}
    return {
        "group": np.arange(1.0, groups + 1),
        **of_group,
        "lift": ratio(of_group["captured"], of_group["random"]),
        "cumulative_population": shares["population"][1:],
        "cumulative_captured": shares["captured"][1:],
        "cumulative_wizard": so_far["wizard"][1:] / events,
        "cumulative_lift": ratio(shares["captured"][1:], shares["population"][1:]),
        "separation": (shares["captured"] - shares["others"])[1:],
        **{f"{name}_so_far": values[1:] for name, values in so_far.items()},
    }
