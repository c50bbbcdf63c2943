"""How differences are tested, in words."""

from __future__ import annotations

from evalpipe.card.method import Procedure

TESTS: dict[str, tuple[str, Procedure]] = {
    "delong": ("DeLong", Procedure(
        "DeLong’s test",
        "Two areas under the ROC curve on the same rows. The variance of their difference comes from the placements "
        "of the rows under both models, so it takes account of their correlation.",
        "DeLong, E. R., DeLong, D. M. & Clarke-Pearson, D. L. (1988). Comparing the areas under two or more correlated "
        "receiver operating characteristic curves. Biometrics 44(3), 837–845.",
    )),
    "mcnemar": ("McNemar", Procedure(
        "McNemar’s test",
        "Of the rows that only one of two models gets right (for accuracy), tests whether each model is right "
        "equally often: the squared difference of the two counts over their sum.",
        "Fagerland, M. W., Lydersen, S. & Laake, P. (2014). Recommended tests and confidence intervals for paired "
        "binomial proportions. Statistics in Medicine 33(16), 2850–2875.",
    )),
    "diebold_mariano": ("Diebold-Mariano", Procedure(
        "Diebold-Mariano test",
        "The mean difference of two models’ losses on the same rows, against its standard error.",
        "Diebold, F. X. & Mariano, R. S. (1995). Comparing predictive accuracy. Journal of Business & Economic "
        "Statistics 13(3), 253–263.",
    )),
    "bootstrap": ("bootstrap", Procedure(
        "Bootstrap test",
        "The difference over its bootstrap standard error, by Student’s distribution. Degrees of freedom: the rows "
        "(or clusters) of the smaller side, minus one. Unlike a count of replicates, the p-value has no smallest "
        "value, so it can be adjusted for any number of differences.",
        "Efron, B. & Tibshirani, R. J. (1993). An introduction to the bootstrap, section 12.4. Chapman & Hall.",
    )),
    "two_proportions": ("two proportions", Procedure(
        "Test of two proportions",
        "The difference of two proportions of separate rows, over its standard error under no difference. A slice is "
        "tested against the rows outside it.",
        "Campbell, I. (2007). Chi-squared and Fisher-Irwin tests of two-by-two tables with small sample "
        "recommendations. Statistics in Medicine 26(19), 3661–3675.",
    )),
}
"""What each test in `Comparison.test` is called, and how it is made."""
VERDICT = Procedure(
    "Verdicts",
    "Better or worse: the difference lies on that side of zero; where a margin is declared, beyond it, or that is said "
    "to be open. Equivalent: it lies within the margin, be it zero or not. Each of these needs a p-value, adjusted for "
    "all differences of the table, below 1 − level. Undecided: it is not below. Same: the difference is zero in every "
    "resample. No direction: neither higher nor lower values are better. Untested: there is no p-value.",
    "Lakens, D. (2017). Equivalence tests: a practical primer for t tests, correlations, and meta-analyses. Social "
    "Psychological and Personality Science 8(4), 355–362.",
)
HOLM = Procedure(
    "Holm’s adjustment",
    "The smallest of m p-values is multiplied by m, the next by m − 1, and so on, never decreasing; the chance of "
    "any false verdict stays below 1 − level. Each table is a family: on one dataset, all models against the "
    "baseline, all variants of a model against the original, or the dataset against an earlier one. Differences in "
    "slices are a family of their own. Slices against their reference are a family for each dataset, model and "
    "measure.",
    "Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics "
    "6(2), 65–70.",
)
