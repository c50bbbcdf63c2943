"""The words of the card: names of methods, directions, references and facts, each written once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from evalpipe import numbers

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from evalpipe.results import Confusion, MetricSummary, Scalar, Slice

METHODS = {
    "exact": "Clopper-Pearson",
    "wilson": "Wilson score",
    "jeffreys": "Jeffreys",
    "delong": "DeLong",
    "logit": "delta method on the logit",
    "bca": "BCa bootstrap",
    "basic": "basic bootstrap",
    "studentised": "studentised bootstrap",
    "bootstrap_logit": "bootstrap error on the logit",
    "folded": "inversion of folded normals",
    "noncentral": "inversion of noncentral chi-squared",
    "binomial_bins": "Clopper-Pearson in every bin",
    "corrected": "corrected for noise",
    "bootstrap_noncentral": "bootstrap noise, inverted",
    "bootstrap_corrected": "bootstrap, corrected for noise",
    "percentile": "percentile bootstrap",
    "recovered": "recovery of variances",
    "bootstrap_error": "bootstrap standard error",
    "paired_t": "paired t",
    "tango": "Tango score",
    "miettinen_nurminen": "Miettinen-Nurminen score",
    "none": "no interval",
}
"""The names of interval methods in `Estimate.method`."""

SHORT_METHODS = {**METHODS, "wilson": "Wilson", "percentile": "bootstrap", "logit": "delta method",
                 "bootstrap_logit": "bootstrap, logit", "folded": "folded normal", "noncentral": "noncentral χ²",
                 "binomial_bins": "exact, every bin", "corrected": "corrected",
                 "bootstrap_noncentral": "bootstrap, inverted", "bootstrap_corrected": "bootstrap, corrected",
                 "none": "none"}
"""The same, where there is little room."""

BEYOND = "Where the value itself lies beyond a limit, that limit is put at the value."

METHOD_TEXTS = {
    "exact": "Exact limits of a binomial proportion, by inverting two one-sided tests. Coverage is never below the "
    "level.",
    "wilson": "Limits of a binomial proportion, by inverting the score test. Coverage is near the level on average.",
    "jeffreys": "Quantiles of a binomial proportion's posterior under Jeffreys' prior. Coverage is near the level on "
    "average.",
    "delong": "The variance of the area under the ROC curve from the placements of the rows of each level among those "
    "of the other, with limits symmetric on the logit scale. Where the area is 0 or 1 the variance says nothing; the "
    "limits are then Clopper-Pearson's, with the rows of the smaller level as trials.",
    "logit": "The error of sensitivity and specificity carried over to the measure under the fixed prior, with limits "
    "symmetric on the logit scale.",
    "bca": "Quantiles of the measure over bootstrap replicates of the rows, moved for the bias of the replicates and "
    "for how the error changes with the value, which the measure with rows left out tells.",
    "basic": "Quantiles of the measure over bootstrap replicates of the rows, mirrored at the value and kept within "
    "the range of the measure.",
    "studentised": "Quantiles of (replicate − value) / error over bootstrap replicates of the rows, each with its own "
    "error from 40 groups of its rows left out in turn.",
    "bootstrap_logit": "The value and the spread of its bootstrap replicates on the logit scale, as of a normal "
    "distribution. Holds better than quantiles for a share whose replicates are biased.",
    "folded": "Noise makes each distance, and so their sum, larger than the true one. The limits are the sums of true "
    "distances, in proportion to their errors, for which the observed sum would be a quantile; bootstrap quantiles "
    "would lie too high.",
    "noncentral": "Noise makes each squared distance, and so their mean, larger than the true one. The limits are "
    f"the true values for which the observed one would be a quantile. {BEYOND}",
    "binomial_bins": "The upper limit is the largest distance that the limits of one bin allow, the lower one the "
    f"largest that the exact limits of all bins together require. Coverage is never below the level. {BEYOND}",
    "corrected": "Noise makes what is left within bins smaller than it truly is. The limits are those of a normal "
    f"distribution about the value with the loss given back. {BEYOND}",
    "bootstrap_noncentral": "Noise makes the measure larger than it truly is, and resampling adds the same noise once "
    "more. The limits are the true values for which the observed one would be a quantile, given the noise that "
    "bootstrap replicates show. A measure that searches the rows for its largest value, or is fitted to follow them, "
    f"shows a part of its noise so; its lower limit allows for the rest. {BEYOND}",
    "bootstrap_corrected": "Noise makes the measure smaller than it truly is, and resampling once more. The limits are "
    f"those of a normal distribution about the value with what replicates lose given back. {BEYOND}",
    "percentile": "Quantiles of the measure over bootstrap replicates of the rows. Every measure and every model of a "
    "dataset sees the same replicates.",
    "recovered": "Of a difference between two runs, taken as independent samples: the distances of the two values from "
    "their own limits, put together as the sides of a right angle. Where the runs share rows it is wider than it need "
    "be.",
    "bootstrap_error": "Of a difference: plus and minus the quantile of Student’s distribution times the standard "
    "error, which the distance between two quantiles of its replicates tells; a few replicates far out do not move it.",
    "paired_t": "Of a difference of mean losses on the same rows: plus and minus the quantile of Student’s "
    "distribution times the standard error of the mean of the rows’ differences.",
    "tango": "Of a difference of two proportions of the same rows: the differences that the score test does not "
    "reject; of no difference that is McNemar’s test.",
    "miettinen_nurminen": "Of a difference of two proportions of rows that are not shared: the differences that the "
    "score test does not reject. A slice against all rows is taken as the slice against the rest of them, times the "
    "share of the rest.",
    "none": "The value is given without limits.",
}

METHOD_REFERENCES = {
    "bootstrap_error": "Machado, J. A. F. & Parente, P. (2005). Bootstrap estimation of covariance matrices via the "
    "percentile method. The Econometrics Journal 8(1), 70–78.",
    "paired_t": "Harvey, D., Leybourne, S. & Newbold, P. (1997). Testing the equality of prediction mean squared "
    "errors. International Journal of Forecasting 13(2), 281–291.",
    "tango": "Tango, T. (1998). Equivalence test and confidence interval for the difference in proportions for the "
    "paired-sample design. Statistics in Medicine 17(8), 891–908.",
    "miettinen_nurminen": "Miettinen, O. & Nurminen, M. (1985). Comparative analysis of two rates. Statistics in "
    "Medicine 4(2), 213–226.",
    "recovered": "Zou, G. Y. & Donner, A. (2008). Construction of confidence limits about effect measures: a general "
    "approach. Statistics in Medicine 27(10), 1693–1702.",
    "exact": "Clopper, C. J. & Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the case "
    "of the binomial. Biometrika 26(4), 404–413.",
    "wilson": "Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. Journal of "
    "the American Statistical Association 22(158), 209–212.",
    "jeffreys": "Brown, L. D., Cai, T. T. & DasGupta, A. (2001). Interval estimation for a binomial proportion. "
    "Statistical Science 16(2), 101–133.",
    "delong": "DeLong, E. R., DeLong, D. M. & Clarke-Pearson, D. L. (1988). Comparing the areas under two or more "
    "correlated receiver operating characteristic curves. Biometrics 44(3), 837–845.",
    "logit": "Mercaldo, N. D., Lau, K. F. & Zhou, X. H. (2007). Confidence intervals for predictive values with an "
    "emphasis to case-control studies. Statistics in Medicine 26(10), 2170–2183.",
    "bca": "Efron, B. (1987). Better bootstrap confidence intervals. Journal of the American Statistical Association "
    "82(397), 171–185.",
    "basic": "Davison, A. C. & Hinkley, D. V. (1997). Bootstrap methods and their application. Cambridge University "
    "Press, section 5.2.",
    "studentised": "Efron, B. (1981). Nonparametric standard errors and confidence intervals. Canadian Journal of "
    "Statistics 9(2), 139–158.",
    "bootstrap_logit": "Boyd, K., Eng, K. H. & Page, C. D. (2013). Area under the precision-recall curve: point "
    "estimates and confidence intervals. ECML PKDD 2013, 451–466.",
    "folded": "Leone, F. C., Nelson, L. S. & Nottingham, R. B. (1961). The folded normal distribution. Technometrics "
    "3(4), 543–550.",
    "noncentral": "Kent, J. T. & Hainsworth, T. J. (1995). Confidence intervals for the noncentral chi-squared "
    "distribution. Journal of Statistical Planning and Inference 46(2), 147–159; Bröcker, J. (2012). Estimating "
    "reliability and resolution of probability forecasts through decomposition of the empirical score. Climate "
    "Dynamics 39, 655–667.",
    "binomial_bins": "Clopper, C. J. & Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in "
    "the case of the binomial. Biometrika 26(4), 404–413; Šidák, Z. (1967). Rectangular confidence regions for the "
    "means of multivariate normal distributions. Journal of the American Statistical Association 62(318), 626–633.",
    "corrected": "Ferro, C. A. T. & Fricker, T. E. (2012). A bias-corrected decomposition of the Brier score. "
    "Quarterly Journal of the Royal Meteorological Society 138(668), 1954–1960.",
    "bootstrap_noncentral": "Kent, J. T. & Hainsworth, T. J. (1995). Confidence intervals for the noncentral "
    "chi-squared distribution. Journal of Statistical Planning and Inference 46(2), 147–159.",
    "bootstrap_corrected": "Davison, A. C. & Hinkley, D. V. (1997). Bootstrap methods and their application. Cambridge "
    "University Press, section 5.2.",
    "percentile": "Efron, B. (1979). Bootstrap methods: another look at the jackknife. The Annals of Statistics 7(1), "
    "1–26.",
}

BETTER = {"maximize": "higher", "minimize": "lower", "none": "neither"}
"""Which values of a metric are better."""


def better(end: str) -> str:
    """Say which values are better, given a word of `BETTER`: "higher is better"."""
    return f"{end} {'end is' if end == 'neither' else 'is'} better"


BETTER_SENTENCES = {
    "maximize": "Higher is better.",
    "minimize": "Lower is better.",
    "none": "Neither higher nor lower is better.",
}

KEY_MEASURES = (
    "roc_auc", "hand_till_auc", "brier", "log_loss", "accuracy", "balanced_accuracy", "kappa", "weighted_kappa", "rps",
    "ordinal_mae", "sensitivity", "specificity", "precision", "ppv", "npv", "mcc", "reportable_rate",
    "rmse", "mae", "median_absolute_error", "r2", "c_index", "poisson_deviance", "pearson_dispersion",
)
"""The measures shown in the summary, where the run has them."""

PROPER_LOSSES = (
    ("brier", "log_loss", "rps", "rmse", "poisson_deviance", "poisson_log_loss", "gamma_deviance", "tweedie_deviance"),
    ("mse", "deviance", "log_likelihood", "brier_skill", "d2_poisson", "d2_tweedie"),
)
"""The measures that true probabilities and means make best, by which recalibration is judged. The second say the same
as the first in other units, and are looked at where a run has none of the first."""


class CalibrationWords(NamedTuple):
    """How a measure of calibration is read: its name and ideal value, and what lies below and above that."""

    name: str
    ideal: float
    below: str
    above: str


CALIBRATION = {
    "calibration_slope": CalibrationWords(
        "calibration slope", 1, "probabilities are overconfident (too extreme)",
        "probabilities are underconfident (squeezed together)"),
    "calibration_in_the_large": CalibrationWords(
        "calibration in the large", 0, "probabilities are too high on the whole",
        "probabilities are too low on the whole"),
    "linear_calibration_slope": CalibrationWords(
        "slope of the calibration line", 1, "predictions are too extreme", "predictions are squeezed together"),
}
"""Measures of calibration that a card says in words, where a run has them."""


class RecalibratorWords(NamedTuple):
    """A method of recalibration: what it is called, what it does, and who says so."""

    title: str
    text: str
    reference: str


RECALIBRATORS = {
    "isotonic": RecalibratorWords(
        "Isotonic regression",
        "The function that never falls and fits best by least squares: steps, or the lines that join them. Predictions "
        "on one step become equal.", "Ayer et al. (1955); Zadrozny & Elkan (2002)"),
    "isotonic_bagged": RecalibratorWords(
        "Bagged isotonic regression", "The mean of the isotonic regressions of bootstrap resamples of the rows: more "
        "and smaller steps.", "Zadrozny & Elkan (2002); Breiman (1996)"),
    "histogram": RecalibratorWords(
        "Histogram binning", "The share of events among the rows of each bin of probability.",
        "Zadrozny & Elkan (2001)"),
    "multinomial": RecalibratorWords(
        "Multinomial recalibration", "A multinomial logistic regression of the level on the log probabilities of all "
        "levels.", "Kull et al. (2019)"),
    "one_vs_rest": RecalibratorWords(
        "One against the rest", "A recalibrator of an event for each level against the rest; the results are divided "
        "by their sum in each row.", "Zadrozny & Elkan (2002)"),
    "linear": RecalibratorWords(
        "Linear recalibration", "The line, intercept + slope × prediction, that fits the truth best by least squares.",
        "Mincer & Zarnowitz (1969)"),
    "logistic": RecalibratorWords(
        "Logistic recalibration", "A line on the log odds, intercept + slope × logit p, by maximum likelihood.",
        "Cox (1958)"),
    "logistic_probability": RecalibratorWords(
        "Logistic recalibration on the probability", "A logistic curve of the probability itself, log odds = intercept "
        "+ slope × p, by maximum likelihood.", "Kuhn et al. (2026), probably"),
    "platt": RecalibratorWords(
        "Platt scaling", "A logistic curve fitted to targets that are shrunk a little from 1 and 0.", "Platt (1999)"),
    "beta": RecalibratorWords(
        "Beta calibration", "A curve from two beta distributions, log odds = a ln p − b ln(1 − p) + intercept, with a "
        "and b not below 0.", "Kull, Silva Filho & Flach (2017)"),
    "logistic_spline": RecalibratorWords(
        "Logistic spline", "A logistic regression on a natural cubic spline of the prediction, as smooth as the data "
        "allow; its effective degrees of freedom say how bent it is, 2 being a line.",
        "Wood (2017, sections 5.3 and 6.2)"),
    "prior_shift": RecalibratorWords(
        "Prior shift", "Probabilities made at one prevalence turned into those at another: the odds times the ratio of "
        "the two odds. Nothing else is learnt.", "Saerens, Latinne & Decaestecker (2002)"),
    "temperature": RecalibratorWords(
        "Temperature scaling", "Log probabilities divided by one temperature, by maximum likelihood; above 1 it makes "
        "predictions more cautious.", "Guo et al. (2017)"),
    "venn_abers": RecalibratorWords(
        "Venn-Abers calibration", "Two isotonic levels for each new prediction, as if its row were an event or not, "
        "joined to the probability with the least worst-case log loss.", "Vovk, Petej & Fedorova (2015)"),
}
"""The methods of `Recalibration.method`."""

ROLES = {
    "evaluate": "evaluation", "calibrate": "calibration: for recalibrators and thresholds",
    "reference": "reference: not evaluated",
}
"""What the files of a dataset are for."""

ASIDES = {"calibrate": "for recalibrators and thresholds; not evaluated"}
"""What is said beside the name of a dataset that is not evaluated, where it is more than that."""


def method(name: str) -> str:
    """Name an interval method."""
    return METHODS.get(name, name)


def level(value: float) -> str:
    """Write a confidence level in per cent."""
    return f"{100 * value:.10g}%"


def scalar(value: Scalar) -> str:
    """Write a value of the spec as people do."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else numbers.plain(value)


COLUMNS = {"loo_prediction": "leave-one-out prediction"}
"""What a column of a model holds, where its key does not say it plainly."""

AVERAGES = {
    "macro": "mean over classes", "macro_weighted": "mean over classes by size", "micro": "classes pooled",
}
"""What each average over classes is called."""


def share(value: float) -> str:
    """Write a declared prevalence, the same wherever it stands; of one that was computed, such as 1/3, six digits."""
    return numbers.plain(float(f"{value:.6g}"))


def at(prevalence: Scalar) -> str:
    """Write the prevalence that a measure is taken at: a number, or a text of the shares of levels."""
    return f"at prevalence {prevalence if isinstance(prevalence, str) else share(prevalence)}"


WEIGHED = "Here each class is first weighed to its share at this prevalence."
"""What is said of a measure at a prevalence that its own definition does not speak of."""


def titled(title: str, params: Mapping[str, Scalar]) -> str:
    """Return a metric's title, which does not say that it is of the sample where this is weighed to a prevalence."""
    return title.removesuffix(" (sample)") if "prevalence" in params else title


def definition(metric: MetricSummary, params: Mapping[str, Scalar]) -> str:
    """Return what a metric means, and how it is taken at a prevalence that is not that of the sample."""
    if "prevalence" not in params or metric.own_prevalence:
        return metric.definition
    return f"{metric.definition} {WEIGHED}"


def options(params: Mapping[str, Scalar], average: str | None = None) -> str:
    """List a metric's options and its average, such as ``beta = 2``."""
    said = [at(value) if name == "prevalence" else f"{name} = {scalar(value)}" for name, value in params.items()]
    return ", ".join([*said, *([AVERAGES[average]] if average in AVERAGES else [])])


def measure(title: str, params: Mapping[str, Scalar], average: str | None = None) -> str:
    """Name a metric with its options and its average, such as ``F-beta (beta = 2)``."""
    said, name = options(params, average), titled(title, params)
    return f"{name} ({said})" if said else name


def slice_name(labels: Slice, conditions: Collection[str] = ()) -> str:
    """Name a slice, such as ``season = a, habitat = d``; one by a condition in ``conditions`` by its name alone."""
    return ", ".join(name if name in conditions else _labelled(name, scalar(value)) for name, value in labels.items())


def _labelled(name: str, value: str) -> str:
    return f"{name} {value}" if value.startswith(("< ", ">= ")) else f"{name} = {value}"


def reason(text: str) -> str:
    """Write methods and the reason for each, given as ``exact: a proportion; percentile: …``, by their proper names."""
    return "; ".join(map(_reason, re.split(rf"; (?=(?:{'|'.join(METHODS)}): )", text.rstrip("."))))


def _reason(text: str) -> str:
    name, _, why = text.partition(": ")
    return f"{METHODS[name]} ({why})" if name in METHODS and why else text


def undefined(metric: MetricSummary) -> str:
    """Say when a metric has no value."""
    return f"Undefined when there are {metric.undefined}." if metric.undefined.startswith("no ") else (
        f"Undefined when {metric.undefined}." if metric.undefined else "Always defined."
    )


def rule(confusion: Confusion, called: str = "probability") -> str:
    """Say how rows were predicted as events; ``called`` is what the threshold is set on."""
    if confusion.threshold is None and called == "level":
        many = {0: "no row has", 1: "1 row has"}.get(confusion.tied, f"{numbers.count(confusion.tied)} rows have")
        return f"The most probable level is predicted; {many} several, of which the first in order counts."
    if confusion.zone is not None and confusion.threshold is not None:  # the zone holds the threshold
        above = f"when the {called} is above {numbers.plain(confusion.threshold)}"
        return f"Outside the equivocal zone, predicted as {confusion.levels[0]} {above}."
    rows = confusion.at_threshold
    many = {0: "no row lies", 1: "1 row lies"}.get(rows, f"{numbers.count(rows)} rows lie")
    if confusion.cuts:
        low, high = (numbers.number(cut) for cut in (confusion.cuts[0], confusion.cuts[-1]))
        return (f"Predicted as {confusion.levels[0]} when the {called} is at least the threshold of the row's fold, "
                f"{low} to {high}; {many} exactly at it." if confusion.zone is None else
                f"Outside the equivocal zone, predicted as {confusion.levels[0]} when the {called} is above the "
                f"threshold of the row's fold, {low} to {high}.")
    if confusion.threshold is None:
        return "Predicted levels as given by the model."
    return (
        f"Predicted as {confusion.levels[0]} when the {called} is at least {numbers.plain(confusion.threshold)}; "
        f"{many} exactly at this threshold."
    )
