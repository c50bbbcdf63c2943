"""statsmodels agrees on every measure it has, over 20 random data sets, by night 100; every other one has tied numbers.

Tolerance 1e-12, relative and absolute: both sides sum up to a few hundred float64 terms in different orders. What
statsmodels finds by solving equations or by iterating has its own tolerance beside its name: 1e-10 for a solution by
least squares, whose condition number costs two digits; 1e-8 where the null model is found by an optimiser that stops
at steps of 1e-8. Models are fitted by statsmodels; what is compared are measures of its fitted values, so that a fit
that has not converged would do no harm. The number of comparisons is checked.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from statsmodels.stats.contingency_tables import Table2x2
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW
from statsmodels.tools import eval_measures

from evalpipe.intervals.binomial import clopper_pearson, wald, wilson
from evalpipe.metrics import registry
from evalpipe.statistics import ClassRows, NumberRows, Rows, Summary

SUMS, SOLVED, ITERATED = 1e-12, 1e-10, 1e-8
Pairs = dict[str, tuple[Any, float, float]]
"""For each comparison: our value, theirs, and the tolerance; several of one measure are told apart by a note."""


def value(name: str, rows: Any, weight: Any, **options: Any) -> Any:
    entry = registry[name]
    return Summary(rows, np.asarray(weight, float)).value(entry, entry.options(**options).model_dump())


def draw(seed: int) -> tuple[Any, Any, Any]:
    """Return two predictors with a constant, an outcome of positive whole numbers, and whole weights."""
    generator = np.random.default_rng(seed)
    n = 4 * int(generator.integers(5, 30)) + 1  # quartiles are rows, which statsmodels takes and we interpolate
    x = sm.add_constant(generator.normal(0, 0.5, (n, 2)))
    y = 1.0 + generator.poisson(np.exp(1.2 + x[:, 1] - 0.5 * x[:, 2]))
    return x, y, generator.integers(1, 5, n).astype(float)


def of_errors(seed: int) -> Pairs:
    """Compare the measures of two series, which know no weights."""
    x, y, w = draw(seed)
    p = y * np.exp(0.3 * x[:, 1]) + x[:, 2]
    p = np.round(p) if seed % 2 else p
    rows, ones = NumberRows(y, p), np.ones(len(y))
    rmse, spread = eval_measures.rmse(y, p), DescrStatsW(np.column_stack([y, p]), w)
    names = {
        "mse": "mse", "rmse": "rmse", "mae": "meanabs", "median_absolute_error": "medianabs", "max_error": "maxabs",
        "mean_error": "bias",
    }
    return {
        ours: (value(ours, rows, ones), getattr(eval_measures, theirs)(y, p), SUMS) for ours, theirs in names.items()
    } | {
        "explained_variance": (value("explained_variance", rows, ones), 1 - eval_measures.vare(y, p) / y.var(), SUMS),
        "rpd": (value("rpd", rows, ones), eval_measures.stde(y, 0, ddof=1) / rmse, SUMS),
        "rpiq": (value("rpiq", rows, ones), eval_measures.iqr(y, 0) / rmse, SUMS),
        "mean_error, weighted": (value("mean_error", rows, w), DescrStatsW(y - p, w).mean, SUMS),
        "rsq, weighted": (value("rsq", rows, w), spread.corrcoef[0, 1] ** 2, SUMS),
        "explained_variance, weighted": (
            value("explained_variance", rows, w), 1 - DescrStatsW(y - p, w).var / spread.var[0], SUMS),
        "rpd, weighted": (
            value("rpd", rows, w), DescrStatsW(y, w, ddof=1).std / math.sqrt(DescrStatsW((y - p) ** 2, w).mean), SUMS),
    }


def of_lines(seed: int) -> Pairs:
    """Compare least squares: the line of the truth on the prediction, R2 of a fit, and its leave-one-out errors."""
    x, y, w = draw(seed)
    p = y * np.exp(0.3 * x[:, 1]) + x[:, 2]
    p = np.round(p) if seed % 2 else p
    line, fit, plain = sm.WLS(y, sm.add_constant(p), w).fit(), sm.WLS(y, x, w).fit(), sm.OLS(y, x).fit()
    rows, fitted = NumberRows(y, p), NumberRows(y, fit.fittedvalues)
    left_out = NumberRows(y, plain.fittedvalues, y - plain.get_influence().resid_press)
    return {
        "linear_calibration_intercept": (value("linear_calibration_intercept", rows, w), line.params[0], SOLVED),
        "linear_calibration_slope": (value("linear_calibration_slope", rows, w), line.params[1], SOLVED),
        "rsq": (value("rsq", rows, w), line.rsquared, SOLVED),
        "r2": (value("r2", fitted, w), fit.rsquared, SOLVED),
        "press": (value("press", left_out, np.ones(len(y))), plain.get_influence().ess_press, SOLVED),
    }


def of_counts(seed: int) -> Pairs:
    """Compare a Poisson regression with whole weights; every other one of counts with zeros."""
    x, y, w = draw(seed)
    y = y - seed % 2
    fit = sm.GLM(y, x, family=sm.families.Poisson(), freq_weights=w).fit()
    rows, n = NumberRows(y, fit.fittedvalues), w.sum()
    return {
        "pearson_chi2": (value("pearson_chi2", rows, w), fit.pearson_chi2, SUMS),
        "pearson_dispersion": (
            value("pearson_dispersion", rows, w, parameters=3), fit.pearson_chi2 / fit.df_resid, SUMS),
        "poisson_deviance": (value("poisson_deviance", rows, w), fit.deviance / n, SUMS),
        "poisson_log_loss": (value("poisson_log_loss", rows, w), -fit.llf / n, SUMS),
        "d2_poisson": (value("d2_poisson", rows, w), 1 - fit.deviance / fit.null_deviance, ITERATED),
    }


def of_exposures(seed: int) -> Pairs:
    """Compare a Poisson regression of counts with an exposure, given as such or as the offset of its logarithm."""
    x, y, w = draw(seed)
    y = y - seed % 2
    exposure = np.random.default_rng(seed).gamma(2, 1, len(y)) + 0.05
    how = {"exposure": exposure} if seed % 3 else {"offset": np.log(exposure)}
    fit = sm.GLM(y, x, family=sm.families.Poisson(), freq_weights=w, **how).fit()
    rows, n = NumberRows(y, fit.fittedvalues, exposure=exposure), w.sum()
    found = {
        "pearson_chi2": (value("pearson_chi2", rows, w), fit.pearson_chi2, SUMS),
        "poisson_deviance": (value("poisson_deviance", rows, w), fit.deviance / n, SUMS),
        "poisson_log_loss": (value("poisson_log_loss", rows, w), -fit.llf / n, SUMS),
        "d2_poisson": (value("d2_poisson", rows, w), 1 - fit.deviance / fit.null_deviance, ITERATED),
        "observed_expected_ratio": (value("observed_expected_ratio", rows, w), 1.0, ITERATED),  # with an intercept
    }
    rate = sm.WLS(y, exposure, w).fit()  # the best constant rate of a squared residual
    found["r2"] = (value("r2", rows, w), 1 - (w * (y - fit.fittedvalues) ** 2).sum() / rate.ssr, SOLVED)
    missed = min((w * np.abs(y - each * exposure)).sum() for each in y / exposure)  # a median is one of the rates
    explained = 1 - (w * np.abs(y - fit.fittedvalues)).sum() / missed
    found["d2_absolute_error"] = (value("d2_absolute_error", rows, w), explained, SUMS)
    amounts = sm.GLM(y, x, family=FAMILIES[1.5], freq_weights=w, **how).fit()
    share = 1 - amounts.deviance / amounts.null_deviance
    rows = NumberRows(y, amounts.fittedvalues, exposure=exposure)
    found["d2_tweedie"] = (value("d2_tweedie", rows, w, power=1.5), share, ITERATED)
    return found


FAMILIES = {
    1.5: sm.families.Tweedie(sm.families.links.Log(), var_power=1.5),
    2.0: sm.families.Gamma(sm.families.links.Log()),
    3.0: sm.families.InverseGaussian(sm.families.links.Log()),
}
"""The distribution whose variance is the mean to a power."""


def of_amounts(seed: int) -> Pairs:
    """Compare gamma, Tweedie and inverse Gaussian regressions of tied and of continuous amounts, with whole weights."""
    x, y, w = draw(seed)
    y = y if seed % 2 else y * np.exp(0.2 * x[::-1, 1])
    found: Pairs = {}
    for power, family in FAMILIES.items():
        fit = sm.GLM(y, x, family=family, freq_weights=w).fit()
        rows, share = NumberRows(y, fit.fittedvalues), 1 - fit.deviance / fit.null_deviance
        mean = fit.deviance / w.sum()
        found[f"tweedie_deviance {power}"] = (value("tweedie_deviance", rows, w, power=power), mean, SUMS)
        found[f"d2_tweedie {power}"] = (value("d2_tweedie", rows, w, power=power), share, ITERATED)
        if power == 2:
            found["gamma_deviance"] = (value("gamma_deviance", rows, w), mean, SUMS)
    return found


def of_quantiles(seed: int) -> Pairs:
    """Compare the goodness of fit of quantile regressions, which is that of fitted values whatever the fit."""
    x, y, _ = draw(seed)
    y = y if seed % 2 else y + 0.3 * x[::-1, 1]
    found: Pairs = {}
    for alpha in (0.25, 0.5, 0.75):
        fit = sm.QuantReg(y, x).fit(alpha, max_iter=50)
        rows, ones = NumberRows(y, x @ fit.params), np.ones(len(y))
        found[f"d2_pinball {alpha}"] = (value("d2_pinball", rows, ones, alpha=alpha), fit.prsquared, SUMS)
        if alpha == 0.5:
            found["d2_absolute_error"] = (value("d2_absolute_error", rows, ones), fit.prsquared, SUMS)
    return found


def of_two_classes(seed: int) -> Pairs:
    """Compare a logistic regression, by rows with whole weights and by repeated rows, and its table at a half."""
    x, y, w = draw(seed)
    truth = y > np.median(y)
    fit = sm.GLM(truth.astype(float), x, family=sm.families.Binomial(), freq_weights=w).fit()
    each = np.repeat(np.arange(len(y)), w.astype(int))
    repeated = truth[each].astype(float)
    logit, unweighted = sm.Logit(repeated, x[each]).fit(disp=0), sm.GLM(repeated, x[each], sm.families.Binomial()).fit()
    p, n = fit.fittedvalues, w.sum()
    rows, same = Rows(truth, p >= 0.5, p), Rows(truth[each], None, logit.predict())
    ones = np.ones(len(each))
    # Nagelkerke's R2 is that of Cox and Snell as a share of the largest; statsmodels counts rows there, not weights.
    nagelkerke = unweighted.pseudo_rsquared("cs") / (1 - math.exp(2 * unweighted.llnull / n))
    table = [[w[(truth == a) & (rows.predicted == b)].sum() for b in (True, False)] for a in (True, False)]
    return {
        "log_likelihood": (value("log_likelihood", rows, w), fit.llf, SUMS),
        "log_loss": (value("log_loss", rows, w), -fit.llf / n, SUMS),
        "deviance": (value("deviance", rows, w), fit.deviance, SUMS),
        "deviance, mean": (value("deviance", rows, w, scale="mean"), fit.deviance / n, SUMS),
        "mcfadden_r2": (value("mcfadden_r2", rows, w), fit.pseudo_rsquared("mcf"), ITERATED),
        "nagelkerke_r2": (value("nagelkerke_r2", rows, w), nagelkerke, ITERATED),
        "log_likelihood of rows": (value("log_likelihood", same, ones), logit.llf, SUMS),
        "mcfadden_r2 of rows": (value("mcfadden_r2", same, ones), logit.prsquared, ITERATED),
        "kappa": (value("kappa", rows, w), cohens_kappa(table, return_results=False), SUMS),
        "odds_ratio": (value("odds_ratio", rows, w), Table2x2(table, shift_zeros=False).oddsratio, SUMS),
        "positive_likelihood_ratio": (
            value("positive_likelihood_ratio", rows, w), Table2x2(table, shift_zeros=False).riskratio, SUMS),
    }


def of_many_classes(seed: int) -> Pairs:
    """Compare a multinomial regression of three classes, and the agreement of five with predicted ones."""
    x, y, w = draw(seed)
    each = np.repeat(np.arange(len(y)), w.astype(int))
    truth = np.searchsorted(np.quantile(y, [0.3, 0.7]), y)
    fit = sm.MNLogit(truth[each], x[each]).fit(disp=0, method="bfgs", maxiter=60)
    rows = ClassRows(truth[each], 3, None, fit.predict())
    generator, ones = np.random.default_rng(seed), np.ones(len(each))
    codes = generator.integers(0, 5, len(y))
    codes[:5] = np.arange(5)
    guess = np.where(generator.random(len(y)) < 0.5, codes, generator.integers(0, 5, len(y)))
    levels, table = ClassRows(codes, 5, guess), np.zeros((5, 5))
    np.add.at(table, (codes, guess), w)
    found: Pairs = {
        "log_likelihood": (value("log_likelihood", rows, ones), fit.llf, SUMS),
        "mcfadden_r2": (value("mcfadden_r2", rows, ones), fit.prsquared, ITERATED),
        "kappa": (value("kappa", levels, w), cohens_kappa(table, return_results=False), SUMS),
    }
    for kind in ("linear", "quadratic"):
        theirs = cohens_kappa(table, wt=kind, return_results=False)
        found[f"weighted_kappa, {kind}"] = (value("weighted_kappa", levels, w, weights=kind), theirs, SUMS)
    return found


COMPARED = {
    of_errors: 13, of_lines: 5, of_counts: 5, of_exposures: 8, of_amounts: 7, of_quantiles: 4, of_two_classes: 11,
    of_many_classes: 5,
}
"""How many comparisons each source makes of one data set."""


@pytest.mark.filterwarnings("ignore::statsmodels.tools.sm_exceptions.IterationLimitWarning")  # any fit will do
@pytest.mark.filterwarnings("ignore::statsmodels.tools.sm_exceptions.ConvergenceWarning")
@pytest.mark.parametrize("sets", [20, pytest.param(100, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("source", COMPARED, ids=lambda source: source.__name__)
def test_statsmodels_agrees(source: Any, sets: int) -> None:
    compared = 0
    for seed in range(sets):
        for name, (ours, theirs, within) in source(seed).items():
            assert float(ours) == pytest.approx(float(theirs), rel=within, abs=within), f"{name}, data set {seed}"
            compared += 1
    assert compared == sets * COMPARED[source]


@pytest.mark.parametrize(("method", "ours"), [("beta", clopper_pearson), ("wilson", wilson), ("normal", wald)])
def test_binomial_limits_are_those_of_statsmodels(method: str, ours: Any) -> None:
    trials, successes = np.array([(n, x) for n in range(1, 41) for x in range(n + 1)]).T
    assert len(trials) == 860
    for level in (0.8, 0.95, 0.999):
        lower, upper = proportion_confint(successes, trials, alpha=1 - level, method=method)
        # 1e-9: limits near zero are quantiles by iteration; 1e-12 beside that, since Wilson's may be rounding off zero.
        np.testing.assert_allclose(ours(successes, trials, level)[0], lower, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(ours(successes, trials, level)[1], upper, rtol=1e-9, atol=1e-12)
