"""How a procedure is explained in the section on the method, and how bands are made."""

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


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield how bands are made, where the results hold one."""
    bands = (curve.points.columns.get("simultaneous_lower", ()) for curve in results.curves)
    if any(limit is not None for band in bands for limit in band):
        yield BANDS
