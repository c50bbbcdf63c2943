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
TESTS = {
    "delong": Procedure(
        "DeLong’s test",
        "Two areas under the ROC curve on the same rows: the variance of their difference comes from the placements of "
        "the rows under both models, so that it knows how alike the models are.",
        "DeLong, E. R., DeLong, D. M. & Clarke-Pearson, D. L. (1988). Comparing the areas under two or more correlated "
        "receiver operating characteristic curves. Biometrics 44(3), 837–845.",
    ),
    "mcnemar": Procedure(
        "McNemar’s test",
        "Of the rows that count for one of two models alone (with accuracy: that it alone gets right), how unlikely so "
        "uneven a split is if either is as likely: the squared difference of the two numbers over their sum.",
        "Fagerland, M. W., Lydersen, S. & Laake, P. (2014). Recommended tests and confidence intervals for paired "
        "binomial proportions. Statistics in Medicine 33(16), 2850–2875.",
    ),
    "diebold_mariano": Procedure(
        "Diebold-Mariano test",
        "The mean difference of two models’ losses on the same rows, against its standard error.",
        "Diebold, F. X. & Mariano, R. S. (1995). Comparing predictive accuracy. Journal of Business & Economic "
        "Statistics 13(3), 253–263.",
    ),
    "bootstrap": Procedure(
        "Bootstrap test",
        "The difference over the standard error that its replicates tell, by Student’s distribution with one degree "
        "of freedom less than there are rows (or clusters) in the smaller side. Unlike a count of replicates, the "
        "p-value has no least value, so that it can be adjusted for any number of differences.",
        "Efron, B. & Tibshirani, R. J. (1993). An introduction to the bootstrap, section 12.4. Chapman & Hall.",
    ),
    "two_proportions": Procedure(
        "Test of two proportions",
        "The difference of two shares of rows that are not the same, over its standard error if there were none. A "
        "slice differs from all rows where it differs from the rest of them, and is tested against these.",
        "Campbell, I. (2007). Chi-squared and Fisher-Irwin tests of two-by-two tables with small sample "
        "recommendations. Statistics in Medicine 26(19), 3661–3675.",
    ),
}
VERDICT = Procedure(
    "Verdicts",
    "Better or worse: the difference lies on that side of zero, or beyond the margin where one is declared. "
    "Equivalent: it lies within the margin. Either is said where its p-value, adjusted for all differences of the "
    "table, is below 1 − level; that is where the interval, made as much wider as the adjustment asks, holds no "
    "other. Undecided: it is not. Same: the difference is zero in every resample. No direction: neither end of the "
    "measure is better. Untested: there is no p-value.",
    "Lakens, D. (2017). Equivalence tests: a practical primer for t tests, correlations, and meta-analyses. Social "
    "Psychological and Personality Science 8(4), 355–362.",
)
HOLM = Procedure(
    "Holm’s adjustment",
    "The smallest of m p-values is multiplied by m, the next by m − 1, and so on, never falling; the chance that any "
    "difference called real is not stays below 1 − level. The differences of one table are a family: of one dataset, "
    "all models against the baseline, or all variants of a model against their original, or the dataset against the "
    "earlier one; those in slices apart. Slices against their reference are a family for each dataset, model and "
    "measure.",
    "Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics "
    "6(2), 65–70.",
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
    """Yield what the card's bands, comparisons and slices need to be understood, and nothing it does not show."""
    bands = (curve.points.columns.get("simultaneous_lower", ()) for curve in results.curves)
    if any(limit is not None for band in bands for limit in band):
        yield BANDS
    used = {comparison.test for comparison in results.comparisons}
    used |= {difference.test for difference in results.slice_differences}
    yield from (procedure for test, procedure in TESTS.items() if test in used)
    if results.comparisons:
        yield VERDICT
    adjusted = [c.p_adjusted for c in results.comparisons] + [d.p_holm for d in results.slice_differences]
    if any(value is not None for value in adjusted):
        yield HOLM
    if results.disparities:
        yield DISPARITIES
    if results.worst_slices:
        yield WORST
