"""How bands, differences, tests and searches are made, in words: each is told where the results hold one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.results import Results

RECALIBRATION, DIFFERENCES = "Recalibration", "Bands, differences and slices"

HEADINGS = (RECALIBRATION, DIFFERENCES)
"""What procedures are of, in the order of the section on the method."""


@dataclass(frozen=True, slots=True)
class Procedure:
    """What is done, and who says so; ``heading`` is one of `HEADINGS`."""

    name: str
    text: str
    reference: str | None = None
    heading: str = DIFFERENCES


BANDS = Procedure(
    "Bands",
    "About a curve, or the bins of a reliability diagram. For each point alone: limits of that point, so that the "
    "whole curve is covered less often. For all at once: about a curve the sup-t band, the standard error over the "
    "replicates times the quantile of their largest standardised distance from the curve; in bins with binomial "
    "limits, those at the level whose power of the number of bins is the one asked.",
    "Montiel Olea, J. L. & Plagborg-Møller, M. (2019). Simultaneous confidence bands: theory, implementation, and an "
    "application to SVARs. Journal of Applied Econometrics 34(1), 1–17.",
)
DISPARITIES = Procedure(
    "Disparities",
    "How far the slices of one slicing lie apart: the largest value less the smallest, and the smallest over the "
    "largest, of the slices that are large enough and have a value. A range is never below zero and grows by chance "
    "alone, more so with small slices; the column of chance says by how much it grows from the data to the replicates.",
)
WORST = Procedure(
    "Worst slices",
    "Combinations of the columns named, up to the depth asked, are searched for those in which a measure is worst. The "
    "p-value is of the difference from all rows, by a normal approximation with its bootstrap error. Slices chosen for "
    "being the worst look worse than they are; p-values are multiplied by the number of slices searched (Bonferroni).",
)


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield what the card's bands and slices need to be understood, and nothing it does not show."""
    bands = (curve.points.columns.get("simultaneous_lower", ()) for curve in results.curves)
    if any(limit is not None for band in bands for limit in band):
        yield BANDS
    if results.disparities:
        yield DISPARITIES
    if results.worst_slices:
        yield WORST
