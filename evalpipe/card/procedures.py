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
    "Around a curve, or the bins of a reliability diagram. At each point: limits of that point alone; they cover the "
    "whole curve less often. For the whole curve: a sup-t band, the standard error over the replicates times a "
    "quantile of their largest standardised distance from the curve. For all bins together: binomial limits at the "
    "higher level at which independent bins reach the stated level together.",
    "Montiel Olea, J. L. & Plagborg-Møller, M. (2019). Simultaneous confidence bands: theory, implementation, and an "
    "application to SVARs. Journal of Applied Econometrics 34(1), 1–17.",
)


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield how bands are made, where the results hold one."""
    bands = (curve.points.columns.get("simultaneous_lower", ()) for curve in results.curves)
    if any(limit is not None for band in bands for limit in band):
        yield BANDS
