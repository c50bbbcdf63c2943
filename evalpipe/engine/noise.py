"""Whether rows, their bins and their clusters are enough for the limits of a measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.intervals.bins import ENOUGH
from evalpipe.intervals.clusters import FEWEST
from evalpipe.intervals.declare import FEW_CLUSTERS
from evalpipe.statistics import Summary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.data.sample import Sample
    from evalpipe.engine.given import Given
    from evalpipe.engine.subsets import Subset
    from evalpipe.plan.measures import MetricPlan

UNITS = {"gaps": 5, "squared_gaps": ENOUGH, "scatter": ENOUGH}
"""Independent units for each bin from which on its noise is seen: replicates show (m - 1) / m of that of a bin of m
units. Of squares, which are noise before all else, more are needed: see the simulations of docs/methods.md."""


CURVE_ROWS, CURVE_RAREST = 50, 10
"""The rows, and those of the rarer level, from which on limits of distances from a calibration curve cover as often as
they say. Of fewer the curve follows each of them: of 20 rows 74 to 92 % are covered, see the simulations of
docs/methods.md."""


def few_for_curve(entry: MetricPlan, given: Given) -> str | None:
    """Return why limits of a distance from a calibration curve through so few rows cover too seldom, if they do."""
    if "curve_distance_at" not in entry.metric.takes:
        return None
    rows, rarest = given.rows, given.rarest
    if rows >= CURVE_ROWS and rarest >= CURVE_RAREST:
        return None
    few = (f"{rows:,.0f} rows, fewer than {CURVE_ROWS}" if rows < CURVE_ROWS else
           f"{rarest:,.0f} rows of the rarer level, fewer than {CURVE_RAREST}")
    return f"{few}: a calibration curve follows so few too closely, and limits cover the true value too seldom"


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


def rare_level(
    summary: Summary, entry: MetricPlan, options: Mapping[str, object], sample: Sample, subset: Subset
) -> str | None:
    """Return why limits cover too seldom where no row, or few clusters, have the rarer of two levels; else None.

    Of a proportion of clusters: where few have a success, or a failure. Clusters are looked at up to `FEW_CLUSTERS`.
    """
    rows, clusters = summary.rows, subset.clusters
    if not hasattr(rows, "codes"):
        return None
    proportion = entry.metric.interval == "proportion" and entry.average in (None, "none")
    if rows.levels == 2 and not proportion and np.any(np.asarray(summary("occurring")) <= 0):
        return "all rows are of one level: limits leave out what rows of the other would add"
    if clusters is None or clusters > FEW_CLUSTERS:
        return None
    inside = np.zeros(2 if proportion else rows.levels, int)
    for positions in subset.of_each_cluster(sample):
        cluster = Summary(rows.taken(positions), summary.weights[positions])
        if proportion:
            successes, trials = cluster.proportion(entry.metric, options)
            inside += [successes > 0, trials > successes]
        else:
            inside += cluster("occurring") > 0
        if (inside >= FEWEST).all():
            return None
    occurring = np.where(inside > 0, inside, FEWEST)
    few = occurring.min()
    if few >= FEWEST:
        return None
    what = ("successes are", "failures are")[occurring.argmin()] if proportion else "the rarer level is"
    return (f"{what} in {few} of {clusters} clusters, fewer than {FEWEST}: "
            "limits from so few cover the true value too seldom")
