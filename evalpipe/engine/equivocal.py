"""The equivocal zone in the results: where it lies, and how many rows it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.results import Zone

if TYPE_CHECKING:
    from evalpipe.chapters.equivocal.plan import ZonePlan
    from evalpipe.statistics import Summary


def zone_record(zone: ZonePlan | None, cut: float | None) -> Zone | None:
    """Return the record of a zone, with its ends where one threshold holds for all rows."""
    if zone is None:
        return None
    if zone.min_probability is not None:
        return Zone(min_probability=zone.min_probability)
    low, high = (None, None) if cut is None else zone.ends(cut)
    return Zone(below=zone.below, above=zone.above, low=low, high=high)


def without_class(summary: Summary) -> float:
    """Return the weight of the rows that have no class."""
    flags = summary.rows.reportable
    return 0.0 if flags is None else float(summary.weights[~flags].sum())
