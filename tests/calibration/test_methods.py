"""What each method does, against its definition spelled out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from calibration.trainings import NEW, sample, training
from evalpipe.calibration import Fitted, Unfit, registry
from evalpipe.calibration.scales import solve
from evalpipe.calibration.spline import _cubic_matrices


def fit(method: str, truth: Any, prediction: Any, weight: Any = None, **options: Any) -> Fitted:
    return registry[method].fit(training(truth, prediction, weight), **options)


def drawn(n: int, slope: float, intercept: float = 0.0) -> tuple[Any, Any]:
    """Return outcomes and predictions whose true log odds are ``intercept + slope x logit p``."""
    generator = np.random.default_rng(12)
    odds = generator.normal(0, 1.5, n)
    return generator.random(n) < 1 / (1 + np.exp(-(intercept + slope * odds))), 1 / (1 + np.exp(-odds))


def isotonic(truth: Any, at: Any, weight: Any) -> Any:
    """Return the isotonic fit at each row by the min-max formula, from totals of equal predictions."""
    distinct = np.unique(at)
    sums, total = (np.array([(v * (at == x)).sum() for x in distinct]) for v in (truth * weight, weight))
    m = len(distinct)
    fitted = [max(min(sums[i : k + 1].sum() / total[i : k + 1].sum() for k in range(j, m)) for i in range(j + 1))
              for j in range(m)]
    return np.array(fitted)[np.searchsorted(distinct, at)]


TABLE = [(0, 0.00, 0), (0, 0.01, 0), (0, 0.10, 0), (1, 0.20, 1 / 3), (0, 0.40, 1 / 3), (0, 0.50, 1 / 3), (1, 0.60, 1),
         (1, 0.70, 1), (1, 0.80, 1), (1, 0.90, 1)]


def test_pava_gives_the_table_of_kuhns_chapter() -> None:
    truth, prediction, expected = map(np.array, zip(*TABLE, strict=True))
    for between in ("step", "linear"):
        assert fit("isotonic", truth == 1, prediction, interpolate=between)(prediction).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("between", "expected"),
    [("step", [0, 1 / 3, 1 / 3, 1, 1, 1]), ("linear", [0, 1 / 6, 1 / 3, 2 / 3, 1, 1])],
)
def test_a_new_prediction_lies_between_blocks_as_the_option_says(between: str, expected: list[float]) -> None:
    truth, prediction, _ = map(np.array, zip(*TABLE, strict=True))
    fitted = fit("isotonic", truth == 1, prediction, interpolate=between)

    # 1e-15: the line between two levels is rounded.
    assert fitted([0.0, 0.15, 0.3, 0.55, 0.65, 1.0]).tolist() == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("task", ["binary", "regression"])
def test_pava_is_the_min_max_formula(task: str) -> None:
    rows = sample(task, 60)
    fitted = registry["isotonic"].fit(rows)

    expected = isotonic(rows.truth.astype(float), rows.prediction, rows.weight)
    np.testing.assert_allclose(fitted(rows.prediction), expected, rtol=0, atol=1e-13)  # sums in another order


def test_bagged_isotonic_is_the_mean_of_the_bags_at_every_prediction() -> None:
    rows = sample("binary", 80)
    found = registry["isotonic_bagged"].fit(rows, bags=40)
    weights = np.vstack(list(rows.resampled(40)))
    bags = []
    for weight in weights:
        kept = weight > 0
        bags.append(fit("isotonic", np.r_[rows.truth[kept]], rows.prediction[kept], weight[kept])(NEW))

    np.testing.assert_allclose(found(NEW), np.mean(bags, axis=0), rtol=0, atol=1e-14)  # a sum of rises, not of levels


def test_a_bag_without_rows_is_left_out() -> None:
    rows = sample("binary", 50)
    empty = registry["isotonic_bagged"].fit(
        type(rows)(rows.truth, rows.prediction, rows.weight, lambda bags: [np.vstack([rows.weight, 0 * rows.weight])])
    )

    assert empty(NEW).tolist() == registry["isotonic"].fit(rows)(NEW).tolist()


@pytest.mark.parametrize("seed", range(8))
def test_venn_abers_is_its_definition(seed: int) -> None:
    generator = np.random.default_rng(seed)
    n = int(generator.integers(2, 30))
    prediction, weight = np.round(generator.random(n), 1), generator.integers(1, 4, n).astype(float)
    truth = generator.random(n) < prediction
    truth[:2] = [True, False]
    fitted = fit("venn_abers", truth, prediction, weight)
    for new in np.r_[0.0, np.unique(prediction), np.arange(0.05, 1, 0.1), 1.0]:
        p0, p1 = (isotonic(np.r_[truth, label], np.r_[prediction, new], np.r_[weight, 1.0])[-1] for label in (0, 1))
        assert float(fitted(new)) == pytest.approx(p1 / (1 - p0 + p1), abs=1e-14)  # differences of sums of 100


def test_logistic_recovers_a_known_distortion() -> None:
    truth, prediction = drawn(200_000, 0.7, -0.3)
    found = fit("logistic", truth, prediction).parameters

    # Four standard errors of 200,000 rows.
    assert found["slope"] == pytest.approx(0.7, abs=4 * 0.0045)
    assert found["intercept"] == pytest.approx(-0.3, abs=4 * 0.005)


def test_the_temperature_of_calibrated_predictions_is_near_1() -> None:
    truth, prediction = drawn(200_000, 1.0)
    levels = np.column_stack([1 - prediction, prediction])
    binary, several = fit("temperature", truth, prediction), fit("temperature", truth.astype(int), levels)

    assert binary.parameters["temperature"] == pytest.approx(1, abs=4 * 0.006)
    # 1e-9: ln(1 - p) of the one and of the other way to write it.
    assert several.parameters["temperature"] == pytest.approx(binary.parameters["temperature"], rel=1e-9)
    np.testing.assert_allclose(several(levels)[:, 1], binary(prediction), rtol=0, atol=1e-9)


def test_the_temperature_has_the_least_log_loss() -> None:
    rows = sample("multiclass")
    best = registry["temperature"].fit(rows).parameters["temperature"]

    def loss(temperature: float) -> float:
        odds = np.log(np.clip(rows.prediction, 1e-12, 1 - 1e-12)) / temperature
        chance = np.exp(odds - odds.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        return -float(np.sum(rows.weight * np.log(chance[np.arange(len(chance)), rows.truth])))

    assert loss(best) < min(loss(best * 1.001), loss(best / 1.001))


def test_multinomial_of_two_levels_is_beta_calibration() -> None:
    truth, prediction = drawn(2000, 0.8, 0.2)
    beta = fit("beta", truth, prediction)
    several = fit("multinomial", truth.astype(int), np.column_stack([1 - prediction, prediction]))

    assert min(beta.parameters["a"], beta.parameters["b"]) > 0
    # 1e-6: the ridge.
    found = several(np.column_stack([1 - NEW, NEW]))[:, 1]
    np.testing.assert_allclose(found, beta(NEW), rtol=0, atol=1e-6)


def test_beta_with_equal_terms_is_logistic_recalibration() -> None:
    truth, prediction = drawn(500, 0.8, 0.2)

    assert fit("beta", truth, prediction, parameters="am")(NEW).tolist() == pytest.approx(
        fit("logistic", truth, prediction)(NEW).tolist(), abs=1e-14)


def test_beta_leaves_a_term_out_that_would_be_negative() -> None:
    prediction = np.repeat([0.05, 0.2, 0.5, 0.8, 0.95], 10)
    # Events become more frequent towards both ends of the upper half, so that ln(1 - p) alone would be negative.
    truth = np.concatenate([np.arange(10) < events for events in (1, 3, 7, 7, 5)])
    found = fit("beta", truth, prediction).parameters
    alone = fit_alone(np.log(prediction), truth)

    assert found["b"] == 0
    np.testing.assert_allclose([found["intercept"], found["a"]], alone, rtol=1e-6)


def fit_alone(column: Any, truth: Any) -> Any:
    """Return intercept and slope of a logistic regression by statsmodels."""
    import statsmodels.api as sm

    return sm.GLM(truth.astype(float), sm.add_constant(column), family=sm.families.Binomial()).fit().params


def test_beta_with_its_midpoint_at_one_half_keeps_one_half() -> None:
    truth, prediction = drawn(500, 0.8, 0.7)

    assert float(fit("beta", truth, prediction, parameters="ab")(0.5)) == pytest.approx(0.5, abs=1e-15)


@pytest.mark.parametrize(("strategy", "bins"), [("uniform", 10), ("quantile", 10), ("quantile", 4)])
def test_histogram_binning_is_the_share_of_events_in_each_bin(strategy: str, bins: int) -> None:
    rows = sample("binary", 200)
    found = registry["histogram"].fit(rows, bins=bins, strategy=strategy)(rows.prediction)
    below = np.array([rows.weight[rows.prediction < x].sum() for x in rows.prediction])
    share = rows.prediction if strategy == "uniform" else below / rows.weight.sum()
    places = np.minimum(share * bins + 1e-9, bins - 1)
    for place in np.unique(places.astype(int)):
        inside = places.astype(int) == place
        share = rows.weight[inside & rows.truth].sum() / rows.weight[inside].sum()
        np.testing.assert_allclose(found[inside], share, rtol=0, atol=1e-15)


def test_an_empty_bin_joins_the_one_below_and_below_all_the_first() -> None:
    fitted = fit("histogram", [False, True, True, True], [0.31, 0.32, 0.71, 0.72], strategy="uniform")

    assert fitted([0.0, 0.3, 0.65, 0.7, 1.0]).tolist() == [0.5, 0.5, 0.5, 1.0, 1.0]


def test_the_spline_is_a_natural_cubic_spline_through_its_knots() -> None:
    from scipy.interpolate import CubicSpline

    rows = sample("binary", 500)
    fitted = registry["logistic_spline"].fit(rows)
    at, value = (np.array(fitted.parameters[name]) for name in ("at", "log_odds"))
    curve, x = CubicSpline(at, value, bc_type="natural"), np.linspace(at[0], at[-1], 99)
    beyond = np.array([at[0] - 0.1, at[-1] + 0.1])
    line = [value[0] - 0.1 * curve(at[0], 1), value[-1] + 0.1 * curve(at[-1], 1)]

    # 1e-12: other sums of the same cubics.
    np.testing.assert_allclose(fitted(x), 1 / (1 + np.exp(-curve(x))), rtol=0, atol=1e-12)
    np.testing.assert_allclose(fitted(beyond), 1 / (1 + np.exp(-np.array(line))), rtol=0, atol=1e-12)


def test_the_pieces_of_the_spline_are_its_taylor_coefficients() -> None:
    from scipy.interpolate import CubicSpline

    at, value = np.array([0.0, 0.1, 0.5, 0.6, 1.0]), np.array([1.0, -2.0, 0.5, 3.0, 2.0])
    width = np.diff(at)[:, None]
    expected = CubicSpline(at, value, bc_type="natural").c[::-1].T * width ** np.arange(4)

    np.testing.assert_allclose(np.sum(_cubic_matrices(at) * value, axis=-1), expected, rtol=0, atol=1e-12)


def test_the_spline_has_the_least_penalised_deviance_and_unbiased_risk() -> None:
    from scipy.interpolate import CubicSpline

    from evalpipe.calibration.scales import events_of
    from evalpipe.calibration.spline import _Smoother

    rows = sample("binary", 400)
    found = registry["logistic_spline"].fit(rows).parameters
    at, table = np.array(found["at"]), events_of(rows)

    def value(at_knots: Any) -> float:
        curve = CubicSpline(at, at_knots, bc_type="natural")
        odds = curve(table.at)
        fit = -np.sum(table.events * np.logaddexp(0, -odds) + table.others * np.logaddexp(0, odds))
        grid = np.linspace(at[0], at[-1], 20_001)
        return float(fit - 0.5 * found["lambda"] * np.trapezoid(curve(grid, 2) ** 2, grid))

    best = value(np.array(found["log_odds"]))
    for knot in range(len(at)):
        for move in (-0.05, 0.05):
            assert value(np.array(found["log_odds"]) + move * (np.arange(len(at)) == knot)) < best
    smoother = _Smoother(table, at)
    chosen = smoother.best()
    risks = [smoother.risk(chosen + step)[0] for step in (-0.3, 0, 0.3)]
    assert min(risks) == risks[1]


def test_the_knots_are_quantiles_and_a_heavy_tie_costs_none() -> None:
    from evalpipe.calibration.scales import Events
    from evalpipe.calibration.spline import _knots

    at, one = np.arange(91) / 90, np.ones(91)
    heavy = np.r_[1000.0, one[1:]]
    near = np.r_[0.0, 1e-6 * np.arange(1, 80), np.arange(1, 12) / 11]

    assert _knots(Events(at, one, one), 10).tolist() == at[::10].tolist()
    assert _knots(Events(at, heavy, heavy), 10).tolist() == at[::10].tolist()
    apart = _knots(Events(near, one, one), 10)
    assert (apart * 11).round(9).tolist() == [0, 1, 3, 5, 6, 7, 8, 9, 10, 11]


def test_the_spline_of_a_line_is_nearly_the_line() -> None:
    truth, prediction = drawn(20_000, 0.7, -0.3)
    spline = fit("logistic_spline", truth, prediction, on="logit")

    assert 2 <= spline.parameters["edf"] < 4
    x = np.linspace(0.05, 0.95, 19)
    np.testing.assert_allclose(spline(x), fit("logistic", truth, prediction)(x), rtol=0, atol=0.01)


def test_one_against_the_rest_is_each_part_divided_by_their_sum() -> None:
    rows = sample("multiclass")
    parts = np.column_stack([
        fit("platt", rows.truth == level, rows.prediction[:, level], rows.weight)(rows.prediction[:, level])
        for level in range(3)
    ])
    found = registry["one_vs_rest"].fit(rows, each="platt")(rows.prediction)

    np.testing.assert_allclose(found, parts / parts.sum(axis=1, keepdims=True), rtol=0, atol=1e-15)


def test_a_row_whose_parts_are_all_0_gets_equal_probabilities() -> None:
    truth = np.array([0, 1, 2, 0, 1, 2])
    prediction = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]] * 2)
    fitted = registry["one_vs_rest"].fit(training(truth, prediction), each="isotonic")

    assert fitted([[0.4, 0.3, 0.3], [0.9, 0.1, 0.0]]).tolist() == [[1 / 3, 1 / 3, 1 / 3], [1.0, 0.0, 0.0]]


def test_linear_is_weighted_least_squares() -> None:
    rows = sample("regression")
    slope, intercept = np.polyfit(rows.prediction, rows.truth, 1, w=np.sqrt(rows.weight))
    found = registry["linear"].fit(rows).parameters

    assert (found["intercept"], found["slope"]) == (pytest.approx(intercept), pytest.approx(slope))


LONG = np.arange(12) / 20 + 0.2
MIXED = np.arange(12) % 2 == 0
THREE = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]] * 4)
SEPARATED = "a threshold separates all events from all non-events, so the likelihood has no maximum"
BACKWARDS = "higher predictions have fewer events"
UNFIT: list[tuple[str, dict[str, Any], Any, Any, str]] = [
    *((method, {}, MIXED | True, LONG, "all rows are events") for method in sorted(registry) if method in {
        "logistic", "logistic_probability", "platt", "logistic_spline", "isotonic", "isotonic_bagged", "beta",
        "temperature", "histogram", "venn_abers"}),
    ("logistic", {}, MIXED & False, LONG, "no row is an event"),
    ("logistic", {}, MIXED, LONG * 0 + 0.3, "all predictions are equal"),
    ("platt", {}, MIXED, LONG * 0 + 0.3, "all predictions are equal"),
    ("beta", {}, MIXED, LONG * 0 + 0.3, "all predictions are equal"),
    ("beta", {}, MIXED, np.where(LONG < 0.4, 0.3, 0.4), "2 distinct predictions are too few for three coefficients"),
    ("linear", {}, MIXED * 1.0, LONG * 0 + 0.3, "all predictions are equal"),
    ("logistic", {}, LONG > 0.5, LONG, SEPARATED),
    ("logistic", {}, LONG < 0.5, LONG, SEPARATED),
    ("logistic", {}, MIXED, np.where(MIXED, 1.0, 1 - 1e-14 * np.arange(12)), "all predictions are equal"),
    ("logistic_probability", {}, LONG > 0.5, LONG, SEPARATED),
    ("logistic", {}, [False, False, True, True], [0.1, 0.2, 0.2, 0.3], SEPARATED),
    ("logistic_spline", {}, LONG > 0.5, LONG, SEPARATED),
    ("logistic_spline", {}, MIXED, np.round(LONG, 1), "7 distinct predictions are too few for 10 knots"),
    ("logistic_spline", {}, np.arange(1000) % 2 == 0, np.r_[0.3, 0.6 + np.arange(999) * 1e-8],
     "nearly all predictions are equal"),
    ("beta", {}, LONG > 0.5, LONG, SEPARATED),
    ("beta", {}, LONG < 0.5, LONG, BACKWARDS),
    ("beta", {"parameters": "am"}, LONG + MIXED * 0.2 < 0.6, LONG, BACKWARDS),
    ("beta", {"parameters": "ab"}, LONG > 0.48, LONG + 0.02, SEPARATED),
    ("temperature", {}, MIXED, LONG * 0 + 0.5, "all predictions are 0.5"),
    ("temperature", {}, LONG > 0.48, LONG + 0.02,
     "every row's outcome has at least half the probability, so the likelihood has no maximum"),
    ("temperature", {}, LONG < 0.5, LONG, BACKWARDS),
    ("temperature", {}, np.arange(12) % 3, THREE,
     "every row's outcome has the highest probability, so the likelihood has no maximum"),
    ("temperature", {}, np.arange(12) % 3, THREE * 0 + 1 / 3, "all levels have equal probabilities in every row"),
    ("temperature", {}, np.arange(12) % 2, THREE, "no row is of level 3 of 3"),
    ("multinomial", {}, np.arange(12) % 2 * 2, THREE, "no row is of level 2 of 3"),
    ("multinomial", {}, np.arange(12) % 3, THREE,
     "some levels are perfectly separated, so the likelihood has no maximum"),
    ("multinomial", {}, np.arange(62) % 31, np.full((62, 31), 1 / 31),
     "31 levels have 960 coefficients, and 30 levels are the most"),
    ("one_vs_rest", {}, np.arange(12) % 2 * 2, THREE, "no row is of level 2 of 3"),
    ("one_vs_rest", {}, np.arange(12) % 3, THREE, f"level 1 of 3 against the rest: {SEPARATED}"),
]


@pytest.mark.parametrize(("method", "options", "truth", "prediction", "text"), UNFIT)
def test_what_cannot_be_fitted_says_why(method: str, options: Any, truth: Any, prediction: Any, text: str) -> None:
    from evalpipe.calibration import Unfit

    with pytest.raises(Unfit) as caught:
        fit(method, truth, prediction, **options)
    assert str(caught.value) == text


def test_multinomial_notices_levels_that_are_parted_only_in_part() -> None:
    from evalpipe.calibration import Unfit

    rows = sample("multiclass")
    prediction = np.where((rows.truth == 2)[:, None], [0.05, 0.05, 0.9], [0.45, 0.45, 0.1])
    prediction[:, 0] += np.where(rows.truth == 2, 0, (rows.prediction[:, 0] - 0.5) / 2)
    prediction[:, 1] = 1 - prediction[:, 0] - prediction[:, 2]
    with pytest.raises(Unfit, match="some levels are perfectly separated"):
        fit("multinomial", rows.truth, prediction, rows.weight)


def test_multinomial_is_fitted_where_a_level_has_one_probability_in_all_rows() -> None:
    rows = sample("multiclass")
    prediction = np.column_stack([rows.prediction[:, 0] / 2 + 0.2, 0.6 - rows.prediction[:, 0] / 2, np.full(300, 0.2)])

    assert np.isfinite(fit("multinomial", rows.truth, prediction, rows.weight)(prediction)).all()


def test_a_prior_shift_is_bayes_rule_at_the_other_prevalence() -> None:
    """Against scores drawn from two normal distributions, whose probability at any prevalence is known; to 1e-12."""
    from scipy.stats import norm

    score = np.linspace(-3, 4, 50)

    def chance(prior: float) -> Any:
        event, other = prior * norm.pdf(score, 1), (1 - prior) * norm.pdf(score, 0)
        return event / (event + other)

    truth = np.r_[np.ones(15, bool), np.zeros(35, bool)]
    np.testing.assert_allclose(fit("prior_shift", truth, chance(0.3), to=0.02)(chance(0.3)), chance(0.02), rtol=1e-12)
    named = fit("prior_shift", truth, chance(0.4), to=0.8, **{"from": 0.4})
    np.testing.assert_allclose(named(chance(0.4)), chance(0.8), rtol=1e-12)
    assert named.parameters == {"from": [0.4, 0.6], "to": pytest.approx([0.8, 0.2])}


def test_a_prior_shift_of_levels_is_bayes_rule_row_by_row() -> None:
    rows = sample("multiclass", 60)
    fitted = registry["prior_shift"].fit(rows, to=[0.2, 0.5, 0.3])
    share = [float(rows.weight[rows.truth == k].sum() / rows.weight.sum()) for k in range(3)]
    for row, found in zip(rows.prediction, fitted(rows.prediction), strict=True):
        moved = [p * to / from_ for p, to, from_ in zip(row, (0.2, 0.5, 0.3), share, strict=True)]
        assert found.tolist() == pytest.approx([part / sum(moved) for part in moved], rel=1e-12)


def test_a_prior_shift_and_back_is_nothing() -> None:
    truth, prediction = drawn(500, 1.0)
    there = fit("prior_shift", truth, prediction, to=0.9, **{"from": 0.2})(prediction)
    back = fit("prior_shift", truth, there, to=0.2, **{"from": 0.9})(there)
    np.testing.assert_allclose(back, prediction, rtol=1e-12)


@pytest.mark.parametrize(("options", "reason"), [
    ({}, "no prevalence to shift to is given"),
    ({"to": [0.2, 0.3, 0.5]}, "'to' has 3 shares, and there are 2 levels"),
    ({"to": 0.2, "from": [0.2, 0.3]}, "the shares of 'from' are not above 0 with a sum of 1"),
])
def test_a_prior_shift_without_prevalences_is_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(Unfit, match=f"^{reason}$"):
        registry["prior_shift"].fit(sample("binary", 50), **options)
    with pytest.raises(Unfit, match="a level does not occur, so its share is unknown"):
        fit("prior_shift", [True, True], [0.2, 0.3], to=0.5)


def test_coefficients_that_the_rows_do_not_determine_are_refused() -> None:
    design = np.random.default_rng(3).normal(size=(40, 6)) * [1, 1e-6, 1e5, 1, 1, 1]
    design[:, 5] = design[:, 4]
    for singular in (design.T @ design, np.zeros((2, 2))):
        with pytest.raises(Unfit, match="do not determine all coefficients"):
            solve(singular, np.ones(len(singular)))
