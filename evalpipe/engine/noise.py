"""Whether the noise of a measure of gaps in bins is seen in full, which its limits take out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.intervals.bins import ENOUGH

if TYPE_CHECKING:
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.statistics import Summary

UNITS = {"gaps": 5, "squared_gaps": ENOUGH, "scatter": ENOUGH}
"""Independent units for each bin from which on its noise is seen: replicates show (m - 1) / m of that of a bin of m
units. Of squares, which are noise before all else, more are needed: see the simulations of docs/methods.md."""


def thin(summary: Summary, entry: MetricPlan, units: float) -> str | None:
    """Return why the noise of a measure of gaps is not seen in bins of so few units; None where it is.

    Units are rows, clusters, or under importance weights the rows of equal weight that tell as much. A bin of a single
    unit is the same in every replicate that has it, however uncertain its event rate is.
    """
    least = UNITS.get(str(entry.metric.interval))
    if least is None:
        return None
    seen = [(summary, entry.params)]
    if entry.of_class and entry.average != "none":
        seen = list(zip(summary.classes, entry.of_class, strict=True))
    gaps = [against.gaps(entry.metric, params) for against, params in seen]
    bins = max(int(np.count_nonzero(gap.events + gap.others > 0)) for gap in gaps)
    if units >= least * bins:
        return None
    fewer = "bins" if entry.metric.interval == "gaps" else "digits"
    return (f"about {units:,.0f} independent units in {bins} bins, fewer than {least} per bin, so the noise is "
            f"underestimated: ask for fewer {fewer}")
