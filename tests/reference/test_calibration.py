"""Diagnostics of calibration against statsmodels, scikit-learn, scipy, R on the mushrooms, and plain loops over rows.

Weights are whole numbers and the sources see rows as often as they weigh. Tolerances: 1e-12 for sums; 1e-7 for fits,
since statsmodels stops when the deviance changes by less than 1e-14 of itself, which bounds coefficients to its root.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from pydantic import ValidationError
from scipy import stats
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression

from evalpipe.engine.averages import values
from evalpipe.metrics import registry
from evalpipe.plan.measures import MetricPlan
from evalpipe.statistics import ClassRows, Rows, Summary
from laws import samples

if TYPE_CHECKING:
    from pathlib import Path

CLOSE, FITTED = 1e-12, 1e-7
TEST = ("hosmer_lemeshow", "hosmer_lemeshow_p")
QUANTILES = {5: (0.05, 0.275, 0.5, 0.725, 0.95), 4: (0.05, 0.35, 0.65, 0.95), 3: (0.1, 0.5, 0.9)}


def draw(seed: int, *, least: int = 60) -> tuple[Any, Any, Any]:
    """Return outcomes, probabilities that are wrong in some way, tied or not, and whole weights."""
    generator = np.random.default_rng(seed)
    n = int(generator.integers(least, 4 * least))
    log_odds = generator.normal(generator.normal(0, 0.7), 1.2, n)
    p = np.round(1 / (1 + np.exp(-log_odds)), 2 if seed % 2 else 8).clip(0.01, 0.99)
    chance = 1 / (1 + np.exp(-generator.normal(0, 0.5) - generator.uniform(0.4, 1.6) * log_odds))
    return generator.random(n) < chance, p, generator.integers(1, 4, n)


def value(name: str, y: Any, p: Any, w: Any, **options: Any) -> float:
    metric = registry[name]
    return float(Summary(Rows(y, p >= 0.5, p), np.asarray(w, float)).value(metric, samples.filled(metric, options)))


def logit(p: Any) -> Any:
    return np.log(p / (1 - p))


def fitted(y: Any, columns: Any, w: Any, offset: Any = None) -> Any:
    """Return the coefficients and the fitted probabilities of statsmodels."""
    model = sm.GLM(y.astype(float), columns, family=sm.families.Binomial(), freq_weights=w, offset=offset)
    found = model.fit(tol=1e-14, maxiter=300)
    return found.params, found.fittedvalues


@pytest.mark.metrics("calibration_in_the_large", "calibration_intercept", "calibration_slope")
@pytest.mark.parametrize("seed", range(40))
def test_statsmodels_agrees_on_the_logistic_recalibration(seed: int) -> None:
    y, p, w = draw(seed)
    large, _ = fitted(y, np.ones((len(y), 1)), w, logit(p))
    both, _ = fitted(y, np.column_stack([np.ones(len(y)), logit(p)]), w)
    assert value("calibration_in_the_large", y, p, w) == pytest.approx(large[0], rel=FITTED, abs=FITTED)
    assert value("calibration_intercept", y, p, w) == pytest.approx(both[0], rel=FITTED, abs=FITTED)
    assert value("calibration_slope", y, p, w) == pytest.approx(both[1], rel=FITTED, abs=FITTED)


def spline(x: Any, knots: Any) -> Any:
    """Return Harrell's columns of a restricted cubic spline, element by element."""
    def bend(one: float, j: int) -> float:
        t, last, before = knots[j], knots[-1], knots[-2]
        cube = lambda knot: max(one - knot, 0.0) ** 3  # noqa: E731
        tail = (cube(before) * (last - t) - cube(last) * (before - t)) / (last - before)
        return float((cube(t) - tail) / (last - knots[0]) ** 2)

    return np.array([[1.0, one, *(bend(one, j) for j in range(len(knots) - 2))] for one in x])


def curve(y: Any, p: Any, w: Any, smooth: str) -> Any:
    """Return the curve at each row; the data sets drawn here all bear five knots."""
    x = logit(p)
    if smooth == "isotonic":
        return IsotonicRegression().fit(p, y, sample_weight=w).predict(p)
    if smooth == "logistic":
        return fitted(y, np.column_stack([np.ones(len(y)), x]), w)[1]
    knots = [np.quantile(np.repeat(x, w), share, method="averaged_inverted_cdf") for share in QUANTILES[5]]
    return fitted(y, spline(x, knots), w)[1]


@pytest.mark.metrics("ici", "e90", "emax")
@pytest.mark.parametrize("smooth", ["spline", "logistic", "isotonic"])
@pytest.mark.parametrize("seed", range(20))
def test_the_distances_from_a_curve_are_those_of_its_source(seed: int, smooth: str) -> None:
    """A curve is as exact as its fit; by 1e-12 the isotonic one, of which both keep sums."""
    y, p, w = draw(seed, least=150)
    away = np.repeat(np.abs(curve(y, p, w, smooth) - p), w)
    close = CLOSE if smooth == "isotonic" else FITTED
    assert value("ici", y, p, w, smooth=smooth) == pytest.approx(away.mean(), abs=close)
    ninth = np.quantile(away, 0.9, method="averaged_inverted_cdf")
    assert value("e90", y, p, w, smooth=smooth) == pytest.approx(ninth, abs=close)
    assert value("emax", y, p, w, smooth=smooth) == pytest.approx(away.max(), abs=close)


@pytest.mark.parametrize(("places", "knots"), [(6, 5), (5, 4), (4, 3), (3, 0), (2, 0)])
def test_a_spline_has_fewer_knots_than_places(places: int, knots: int) -> None:
    generator = np.random.default_rng(places)
    p = np.repeat(np.arange(1, places + 1) / (places + 1), 60)
    y = generator.random(len(p)) < p * (1.7 - p)
    ones = np.ones(len(p), int)
    found = value("ici", y, p, ones)
    if not knots:
        assert found == value("ici", y, p, ones, smooth="logistic")
        return
    at = [np.quantile(logit(p), share, method="averaged_inverted_cdf") for share in QUANTILES[knots]]
    assert found == pytest.approx(np.abs(fitted(y, spline(logit(p), at), ones)[1] - p).mean(), abs=FITTED)
    assert found != pytest.approx(value("ici", y, p, ones, smooth="logistic"), rel=1e-4)


def test_a_spline_without_a_finite_fit_gives_way_to_a_line() -> None:
    p = np.linspace(0.05, 0.95, 40)
    y = (p > 0.3) & (p < 0.75)  # a hump that every spline follows without end
    assert value("ici", y, p, np.ones(40)) == value("ici", y, p, np.ones(40), smooth="logistic") > 0.1


def test_probabilities_of_zero_and_one_have_the_log_odds_of_1e_12() -> None:
    y, p, w = draw(3)
    sure, nearly = (np.concatenate([p, [1.0 - end, end]]) for end in (0.0, 1e-12))
    y, w = np.append(y, [True, True]), np.append(w, [1, 1])
    for name in ("calibration_in_the_large", "calibration_intercept", "calibration_slope"):
        # 1 - 1e-12 is rounded to a float, which moves its log odds by 1e-4 of 27.6.
        assert value(name, y, sure, w) == pytest.approx(value(name, y, nearly, w), rel=1e-4)
        assert math.isfinite(value(name, y, sure, w))


@pytest.mark.parametrize("far", [1e-3, 1e-6, 1e-9])
def test_a_shift_of_all_log_odds_is_found_however_far_it_is(far: float) -> None:
    y, p, w = draw(8)
    log_odds = logit(p) + np.log(far)
    before = value("calibration_in_the_large", y, p, w)
    found = value("calibration_in_the_large", y, 1 / (1 + np.exp(-log_odds)), w)
    assert found == pytest.approx(before - np.log(far), abs=1e-9)  # 1e-9 of odds are told apart to 1e-12 of them


def test_sure_forecasts_of_which_many_are_wrong_have_a_shift() -> None:
    """Half of the sure events do not occur and half of the others do: no shift at all is right, and its size vague."""
    y, p = np.tile([True, False], 20), np.repeat([0.0, 1.0], 20)
    assert value("calibration_in_the_large", y, p, np.ones(40)) == pytest.approx(0, abs=1e-3)
    found = value("calibration_in_the_large", y, p, np.random.default_rng(0).gamma(0.3, 1, 40))
    assert abs(found) < 2 * math.log(1e12)


def expected_distance(y: Any, p: Any, w: Any, options: dict[str, Any]) -> float:
    """Return a calibration error by a loop over bins of rows, each repeated as often as it weighs."""
    bins, rows = options["bins"], np.repeat(np.arange(len(p)), w)
    y, p = y[rows], p[rows]
    if options["strategy"] == "uniform":
        place = np.array([next(k for k in range(bins) if one < (k + 1) / bins or k == bins - 1) for one in p])
    else:
        place = np.array([bins * int((p < one).sum()) // len(p) for one in p])
    found = []
    for k in sorted(set(place.tolist())):
        hits, chances = y[place == k], p[place == k]
        gap, n = abs(hits.mean() - chances.mean()), len(hits)
        noise = hits.var(ddof=1) / n if n > 1 else gap**2
        found.append((n / len(p), gap, gap**2 - noise))
    if options["debiased"]:
        return math.sqrt(max(0.0, sum(share * square for share, _, square in found)))
    if options["norm"] == "max":
        return max(gap for _, gap, _ in found)
    power = {"l1": 1, "l2": 2}[options["norm"]]
    return float(sum(share * gap**power for share, gap, _ in found) ** (1 / power))


@pytest.mark.metrics("ece")
@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize(("norm", "debiased"), [("l1", False), ("l2", False), ("max", False), ("l2", True)])
def test_a_loop_over_bins_agrees_on_the_calibration_error(strategy: str, norm: str, debiased: bool) -> None:
    compared = 0
    for seed in range(40):
        y, p, w = draw(seed)
        options = {"bins": 3 + seed % 9, "strategy": strategy, "norm": norm, "debiased": debiased}
        found = value("ece", y, p, w, **options)
        # The root of what is left of a square after its noise loses half of the digits near zero.
        assert found == pytest.approx(expected_distance(y, p, w, options), rel=1e-10, abs=1e-7 if debiased else CLOSE)
        compared += found > 0
    assert compared >= 15


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_scikit_learn_has_the_same_bins(strategy: Any) -> None:
    """Its quantile bins are those of equal weight where no probabilities are equal and bins divide the rows."""
    for seed in range(20):
        generator = np.random.default_rng(seed)
        p = generator.beta(2, 3, 200)
        y = generator.random(200) < p**1.5
        rate, mean = calibration_curve(y, p, n_bins=10, strategy=strategy)
        found = value("ece", y, p, np.ones(200), bins=10, strategy=strategy, norm="max")
        assert found == pytest.approx(np.abs(rate - mean).max(), rel=CLOSE)
        if strategy == "quantile":
            assert value("ace", y, p, np.ones(200), bins=10) == pytest.approx(np.abs(rate - mean).mean(), rel=CLOSE)


def test_the_named_errors_are_norms_of_one() -> None:
    y, p, w = draw(5)
    for name, options in (("mce", {"norm": "max"}), ("rmsce", {"norm": "l2"}), ("ace", {"strategy": "quantile"})):
        assert value(name, y, p, w, bins=9) == value("ece", y, p, w, bins=9, **options)


def test_only_the_bias_of_squares_is_known() -> None:
    options = registry["ece"].options
    assert options(norm="l2", debiased=True).model_dump()["debiased"] is True
    with pytest.raises(ValidationError, match="debiased is for norm l2, whose bias is known; the norm is max"):
        options(norm="max", debiased=True)


def test_the_debiased_error_of_calibrated_probabilities_is_about_zero() -> None:
    """Its square has mean zero; the plain one has that of the noise, 10 bins of 50 rows: about 0.0666 squared."""
    squares = []
    for seed in range(300):
        generator = np.random.default_rng(seed)
        p = generator.random(500)
        y = generator.random(500) < p
        plain, cut = (value("ece", y, p, np.ones(500), bins=10, norm="l2", debiased=one) for one in (False, True))
        squares.append((plain**2, cut**2))
    plain_mean, cut_mean = np.mean(squares, axis=0)
    assert plain_mean == pytest.approx(10 / 500 / 6, rel=0.05)  # the variance of a row is 1/6 on average
    assert cut_mean < plain_mean / 3  # of which the cut at zero leaves the positive half of the noise


@pytest.mark.metrics(*TEST)
@pytest.mark.parametrize("trained_on", [False, True])
@pytest.mark.parametrize("groups", [4, 10])
def test_a_loop_over_groups_agrees_on_hosmer_and_lemeshow(groups: int, trained_on: bool) -> None:
    """Pearson's chi-squared over events and non-events of each group, and scipy's distribution of it.

    A fit to these very rows takes two degrees of freedom off: Hosmer & Lemeshow (1980).
    """
    for seed in range(40):
        y, p, w = draw(seed)
        rows = np.repeat(np.arange(len(p)), w)
        y, p = y[rows], p[rows]
        place = np.array([groups * int((p < one).sum()) // len(p) for one in p])
        tables = [(np.array([y[held].sum(), (~y[held]).sum()]), np.array([p[held].sum(), (1 - p[held]).sum()]))
                  for held in (place == k for k in sorted(set(place.tolist())))]
        chi2 = sum(float(((seen - due) ** 2 / due).sum()) for seen, due in tables)
        data = Summary(Rows(y, p >= 0.5, p, trained_on=trained_on), np.ones(len(p)))
        found = [float(data.value(registry[name], {"groups": groups})) for name in TEST]
        tail = stats.chi2.sf(chi2, len(tables) - (2 if trained_on else 0))
        assert found == [pytest.approx(chi2, rel=1e-10), pytest.approx(tail, rel=1e-9)]


def logistic_fit(features: Any, y: Any) -> Any:
    """Return the probabilities of a logistic regression of largest likelihood, by ten of Newton's steps."""
    weights = np.zeros(features.shape[1])
    for _ in range(10):
        p = 1 / (1 + np.exp(-features @ weights))
        weights += np.linalg.solve((features.T * (p * (1 - p))) @ features, features.T @ (y - p))
    return 1 / (1 + np.exp(-features @ weights))


def rejected(n: int, sets: int, *, fitted: bool) -> float:
    """Return how often the test of probabilities that are right, or of a right model's fit to the rows, gives < 5 %."""
    low = 0
    for seed in range(sets):
        generator = np.random.default_rng([n, seed])
        features = generator.normal(size=(n, 3))
        p = 1 / (1 + np.exp(0.5 - features @ [1.0, 0.5, -0.5]))
        y = generator.random(n) < p
        if fitted:
            p = logistic_fit(np.column_stack([np.ones(n), features]), y)
        data = Summary(Rows(y, p >= 0.5, p, trained_on=fitted), np.ones(n))
        low += float(data.value(registry["hosmer_lemeshow_p"], {"groups": 10})) < 0.05
    return low / sets


@pytest.mark.parametrize("fitted", [False, True])
def test_hosmer_and_lemeshows_test_keeps_its_size(fitted: bool) -> None:
    """400 sets: a Monte-Carlo error of 0.011, four of which are allowed. With G - 2 for all rows it was 0.11."""
    assert rejected(300, 400, fitted=fitted) == pytest.approx(0.05, abs=0.044)


@pytest.mark.nightly
@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("n", [100, 300, 1_000, 5_000])
def test_hosmer_and_lemeshows_test_keeps_its_size_at_any_number_of_rows(n: int, fitted: bool) -> None:
    """4,000 sets: a Monte-Carlo error of 0.0034, four of which are allowed beside 0.01 of small groups."""
    share = rejected(n, 4_000, fitted=fitted)
    print(f"n = {n}, {'fitted to these rows' if fitted else 'other rows'}: p < 0.05 in {share:.4f}")
    assert share == pytest.approx(0.05, abs=0.024)


def test_the_parts_of_the_brier_score_add_up() -> None:
    for seed in range(20):
        y, p, w = draw(seed)
        parts = [value(f"brier_{part}", y, p, w) for part in ("miscalibration", "discrimination", "uncertainty")]
        assert parts[0] - parts[1] + parts[2] == pytest.approx(value("brier", y, p, w), rel=CLOSE)


@pytest.mark.metrics("top_label_ece")
def test_a_top_label_is_right_as_often_as_it_is_sure() -> None:
    for seed in range(20):
        generator = np.random.default_rng(seed)
        chances = generator.dirichlet(np.ones(4), 150)
        data = ClassRows(generator.integers(0, 4, 150), 4, chances.argmax(axis=1), chances)
        w = generator.integers(1, 4, 150)
        sure, right = chances.max(axis=1), data.truth == data.predicted
        expected = expected_distance(right, sure, w, {
            "bins": 12, "strategy": "uniform", "norm": "l1", "debiased": False,
        })
        metric = registry["top_label_ece"]
        assert float(Summary(data, w.astype(float)).value(metric, {"bins": 12})) == pytest.approx(expected, rel=CLOSE)


NETCAL = [
    (0.20445544554455441, 0.24801980198019802, 0.3543140028288543),
    (0.10133360274802988, 0.25085875934532226, 0.21852899575671852),
    (0.21577330146807785, 0.24786616592693753, 0.38613861386138615),
    (0.21819122210728537, 0.21937342988030145, 0.498019801980198),
    (0.08324648254299119, 0.21821261073475767, 0.14554455445544556),
    (0.20553290623179962, 0.24234129295282464, 0.3985148514851486),
    (0.18021908573836107, 0.20297029702970298, 0.42155369383092156),
    (0.11030471979236757, 0.1832644429491493, 0.21499292786421492),
    (0.2117220650636492, 0.24513790664780763, 0.3545792079207921),
    (0.16680304394075773, 0.20067915882497336, 0.3576732673267326),
]
"""What netcal 1.4.0 gives for ECE(7), ECE(15) and MCE(7) on the data sets of `test_netcal_agrees`."""


@pytest.mark.metrics("ece", "mce")
@pytest.mark.parametrize("number", range(10))
def test_netcal_agrees(number: int) -> None:
    place = np.arange(40 + 9 * number)
    p = ((place * 37 + number * 11) % 101 + 0.5) / 101
    y = (place * place * 7 + number * 13 + place) % 10 < 10 * p ** (0.6 + 0.1 * number)
    found = [value(name, y, p, np.ones(len(y)), bins=bins) for name, bins in (("ece", 7), ("ece", 15), ("mce", 7))]
    assert found == pytest.approx(NETCAL[number], rel=CLOSE)


AGAINST_THE_REST = (
    "calibration_in_the_large", "calibration_intercept", "calibration_slope", "ici", "e90", "emax", *TEST,
)
"""Measures whose value of several levels is that of each against the rest, which has a source of its own here."""


@pytest.mark.parametrize("name", AGAINST_THE_REST)
def test_of_several_levels_each_is_seen_against_the_rest(name: str) -> None:
    data, w = samples.rows("many"), samples.weights(97)
    metric = registry[name]
    filled = samples.filled(metric, {})
    each = [value(name, data.truth == k, np.ascontiguousarray(data.probabilities[:, k]), w) for k in range(4)]
    found = {average: values(Summary(data, w), MetricPlan(metric, filled, "none", "", average, (filled,) * 4))
             for average in ("none", "macro")}
    assert found["none"] == pytest.approx(each, rel=CLOSE)
    assert found["macro"] == pytest.approx(np.mean(each), rel=CLOSE)


MUSHROOM: dict[str, tuple[dict[str, Any], tuple[str, ...], float]] = {
    "calibration_intercept": ({}, ("val_prob", "Intercept"), 1e-6),
    "calibration_slope": ({}, ("val_prob", "Slope"), 1e-9),
    "spiegelhalter_z": ({}, ("val_prob", "S:z"), 1e-9),
    "spiegelhalter_p": ({}, ("val_prob", "S:p"), 1e-9),
    "hosmer_lemeshow": ({}, ("hosmer_lemeshow", "chisq"), 2e-4),
    "mce": ({"bins": 10}, ("ece", "equal_width_10_right_open", "mce"), 1e-9),
    "rmsce": ({"bins": 10}, ("ece", "equal_width_10_right_open", "rmsce"), 1e-9),
    "ace": ({"bins": 10}, ("ece", "equal_freq_10", "ece"), 1e-4),
}
"""Options, where R's value stands, and how close it is. R cuts at its quantiles of type 7, so that one row of 6,107 at
most is in another group of equal size: 1e-4 of the sums over them. Its intercept is from fewer steps of its fit."""


@pytest.mark.parametrize("name", MUSHROOM)
def test_r_agrees_on_the_mushrooms(reference: Path, name: str) -> None:
    theirs: Any = json.loads((reference / "mushroom" / "r_reference.json").read_text())["mushroom_val"]
    options, path, close = MUSHROOM[name]
    for key in path:
        theirs = theirs[key]
    data = pl.read_csv(reference / "mushroom" / "val.csv")
    y, p = (data["class"] == "poisonous").to_numpy(), data[".pred_poisonous"].to_numpy()
    assert value(name, y, p, np.ones(len(y)), **options) == pytest.approx(theirs, rel=close)
