"""Laws that every registered metric and statistic obeys.

Tolerances: 1e-12 relative, since two orders of summing a hundred float64 terms differ by a few units in the last place.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

from evalpipe.engine.averages import values as averaged
from evalpipe.metrics import Metric, Proportion, metric, ratio, registry
from evalpipe.metrics.declare import AVERAGES, Registry
from evalpipe.plan.measures import MetricPlan
from evalpipe.statistics import ClassRows, Rows, Summary, statistics
from evalpipe.statistics.summary import column, pairs, table
from laws import samples

CLOSE = 1e-12
every_metric = pytest.mark.parametrize(("name", "options", "task"), samples.CASES, ids=samples.IDS)
OF_EVENTS = [case for case in samples.CASES if registry[case[0]].sees == "event"]
every_event_metric = pytest.mark.parametrize(("name", "options"), [case[:2] for case in OF_EVENTS], ids=[
    identity for identity, case in zip(samples.IDS, samples.CASES, strict=True) if case in OF_EVENTS
])
BINARY = [case for case in samples.CASES if case[2] == "binary"]
every_binary_metric = pytest.mark.parametrize(("name", "options"), [case[:2] for case in BINARY], ids=[
    identity for identity, case in zip(samples.IDS, samples.CASES, strict=True) if case in BINARY
])
every_class_metric = pytest.mark.parametrize("entry", samples.CLASSES, ids=lambda entry: entry.name)
OPTIONS = {"epsilon": 1e-15, "digits": 2, "bins": 7, "k": 2, "costs": samples.COSTS, "threshold": 0.4}
USED = sorted({(used, task) for name, _, task in samples.CASES for used in registry[name].statistics})
"""Every statistic that these metrics use, with the rows they use it on."""

SHORT_OF_THE_BOUND = {
    "positive_likelihood_ratio", "odds_ratio", "sedi", "brier_resolution", "precision_at_k", "recall_at_k", "gain",
    "lift", "brier_discrimination", "net_benefit", "cost_saved", "deviance_reduction",
}
"""Metrics whose bound a perfect forecast reaches only in a limit, or only for some prevalences."""

BLIND_TO_SIGN = {"ks", "brier_refinement", "negative_likelihood_ratio"}
"""Metrics to which an inverted forecast is as good as a perfect one, or undefined; a constant one is their worst."""


def assert_close(left: Any, right: Any, message: str = "") -> None:
    np.testing.assert_allclose(left, right, rtol=CLOSE, atol=CLOSE, err_msg=message)


@every_metric
@pytest.mark.parametrize("ties", [True, False])
def test_integer_weights_are_replication(name: str, options: dict[str, Any], task: str, ties: bool) -> None:
    data = samples.rows(task, ties=ties)
    weight = np.random.default_rng(3).integers(0, 4, len(data.truth))
    repeated = samples.take(data, np.repeat(np.arange(len(weight)), weight))
    replicated = samples.value(name, options, repeated, np.ones(weight.sum()))
    assert_close(samples.value(name, options, data, weight), replicated)


@every_metric
def test_the_order_of_rows_changes_nothing(name: str, options: dict[str, Any], task: str) -> None:
    data, weight = samples.rows(task), samples.weights(97)
    order = np.random.default_rng(5).permutation(97)
    moved = samples.value(name, options, samples.take(data, order), weight[order])
    assert_close(moved, samples.value(name, options, data, weight))


@every_metric
def test_a_row_of_weight_zero_is_no_row(name: str, options: dict[str, Any], task: str) -> None:
    data, weight = samples.rows(task, ties=False), samples.weights(97)
    weight[::3] = 0
    kept = np.flatnonzero(weight)
    dropped = samples.value(name, options, samples.take(data, kept), weight[kept])
    assert_close(dropped, samples.value(name, options, data, weight))


@every_metric
def test_the_scale_of_weights_changes_nothing_unless_declared(name: str, options: dict[str, Any], task: str) -> None:
    data, weight = samples.rows(task), samples.weights(97)
    before, after = (samples.value(name, options, data, scale * weight) for scale in (1, 7))
    if samples.counts_rows(name, options):
        seven = samples.take(data, np.repeat(np.arange(97), 7))
        assert_close(after, samples.value(name, options, seven, np.repeat(weight, 7)))
        assert after != pytest.approx(before, rel=1e-6)
        return
    factor = 7 if registry[name].extensive and options.get("scale") != "mean" else 1
    assert_close(after, factor * before)


@every_metric
def test_weights_do_something(name: str, options: dict[str, Any], task: str) -> None:
    data = samples.rows(task)
    # A median moves only by whole rows: of some samples it is the same row under weights that differ little.
    weight = samples.weights(97) ** (3 if name == "probability_mad" else 1)
    assert samples.value(name, options, data, weight) != samples.value(name, options, data, np.ones(97))


@every_metric
@pytest.mark.parametrize("ties", [True, False])
def test_a_batch_is_a_loop_to_the_last_bit(name: str, options: dict[str, Any], task: str, ties: bool) -> None:
    data = samples.rows(task, ties=ties)
    batch = np.stack([samples.weights(97, seed) for seed in range(5)])
    together = samples.value(name, options, data, batch)
    assert together.shape == (5,)
    assert together.tolist() == [float(samples.value(name, options, data, weight)) for weight in batch]


@every_metric
def test_a_value_lies_in_the_declared_range(name: str, options: dict[str, Any], task: str) -> None:
    low, high = registry[name].bounds(options)
    for seed in range(30):
        found = samples.value(name, options, samples.rows(task, 12, seed), samples.weights(12, seed))
        assert math.isnan(found) or low - CLOSE <= found <= high + CLOSE


def extremes(task: str) -> tuple[Any, Any, Any]:
    """Return a perfect forecast, one that is always wrong, and one that says the same of every row."""
    if task == "binary":
        truth = np.array([True, False, False, True, True])
        return (
            Rows(truth, truth, truth.astype(float)), Rows(truth, ~truth, (~truth).astype(float)),
            Rows(truth, np.ones(5, bool), np.full(5, 0.5)),
        )
    codes = np.array([0, 1, 2, 3, 1])
    far = np.array([3, 3, 0, 0, 3])
    sure = np.eye(samples.LEVELS)
    same = np.full((5, samples.LEVELS), 1 / samples.LEVELS)
    return tuple(ClassRows(codes, samples.LEVELS, predicted, chances)  # type: ignore[return-value]
                 for predicted, chances in ((codes, sure[codes]), (far, sure[far]), (np.zeros(5, int), same)))


@every_metric
def test_a_perfect_forecast_reaches_the_best_value(name: str, options: dict[str, Any], task: str) -> None:
    perfect, inverted, blind = extremes(task)
    entry = registry[name]
    best = samples.value(name, options, perfect, np.ones(5))
    if entry.direction == "none":
        assert best == pytest.approx(fact_of_the_data(name, options, perfect), nan_ok=True)
        return
    if options.get("smooth") in ("spline", "logistic"):  # which a perfect forecast leaves without a finite fit
        assert math.isnan(best)
        return
    if name in SHORT_OF_THE_BOUND or options.get("standardize") is False:
        assert math.isnan(best) or best >= samples.value(name, options, inverted, np.ones(5))
        return
    expected = entry.best if "epsilon" not in options else -math.log(1 - options["epsilon"])
    assert best == pytest.approx(expected, abs=1e-14), (
        f"a perfect forecast has {best}: if not every one can reach {expected}, name {name} in SHORT_OF_THE_BOUND")
    worst = samples.value(name, options, blind if name in BLIND_TO_SIGN else inverted, np.ones(5))
    assert math.isnan(worst) or (worst > best if entry.direction == "minimize" else worst < best)


NONE_IF_PERFECT = {
    "calibration_intercept", "calibration_slope", "spiegelhalter_z", "spiegelhalter_p", "hosmer_lemeshow",
    "hosmer_lemeshow_p",
}
"""Metrics that a perfect forecast leaves undefined: its log odds separate the classes, its variance is zero."""


def fact_of_the_data(name: str, options: dict[str, Any], data: Any) -> float:
    """Return what a measure of no direction comes to on a perfect forecast, from the shares of the classes."""
    share = np.bincount(data.codes) / len(data.codes)
    base = math.log(options["base"]) if options.get("base") in (2, 10) else 1.0
    return {
        "brier_uncertainty": share[0] * (1 - share[0]),
        "frequency_bias": 1.0,
        "detection_prevalence": share[0],
        "gini_impurity": 1 - (share**2).sum(),
        "entropy": -(share * np.log(share)).sum() / base,
        "majority_error": 1 - share.max(),
        "null_deviance": -2 * (share * np.log(share)).sum() * (
            1 if options.get("scale") == "mean" else len(data.codes)),
        "self_information": -math.log(share[0]) / base,
        # Expects e^-a 1e-12 non-events among the events and e^a 1e-12 events among the others, which must be equal.
        "calibration_in_the_large": math.log(share[0] / share[-1]) / 2,
    }.get(name, math.nan if name in NONE_IF_PERFECT else 0.0)


@every_binary_metric
def test_a_ranked_measure_sees_ranks_alone(name: str, options: dict[str, Any]) -> None:
    data, weight = samples.rows(), samples.weights(97)
    bent = Rows(data.truth, data.predicted, data.probability**3)
    same = samples.value(name, options, bent, weight) == samples.value(name, options, data, weight)
    assert same == (registry[name].needs != "probabilities" or name == "brier_uncertainty")


@every_metric
def test_classes_change_places(name: str, options: dict[str, Any], task: str) -> None:
    data, weight = samples.rows(task), samples.weights(97)
    if task == "many":
        permuted(name, options, data, weight)
        return
    swapped = Rows(~data.truth, ~data.predicted, 1 - data.probability)
    ties_go_down = options.get("strategy") == "quantile"  # wherever that is
    partner = None if ties_go_down else registry[name].swapped
    mine = samples.value(name, options, swapped, weight)
    if partner is None:
        same = pytest.approx(samples.value(name, options, data, weight), rel=1e-6)
        assert mine != same, f"{name} stays what it is where events and non-events change places: leave out `swapped`"
        return
    other = {key: 1 - value if key == "prevalence" else value for key, value in options.items()}
    assert registry[partner].swapped == name
    assert_close(mine, samples.value(partner, other | turned(options, np.array([1, 0])), data, weight),
                 f"{name} is not {partner} where events and non-events change places: declare what it is as `swapped`")


def turned(options: dict[str, Any], places: Any) -> dict[str, Any]:
    """Return the costs among some options with each level in the place of another."""
    return {key: tuple(map(tuple, np.asarray(value)[np.ix_(places, places)]))
            for key, value in options.items() if key == "costs"}


def permuted(name: str, options: dict[str, Any], data: Any, weight: Any) -> None:
    """Give the levels other places; ordered levels can only be turned round."""
    ordered = "multiclass" not in registry[name].tasks
    places = np.array([3, 2, 1, 0]) if ordered else np.array([2, 0, 3, 1])
    back = np.argsort(places)
    moved = ClassRows(places[data.truth], data.levels, places[data.predicted], data.probabilities[:, back])
    assert_close(samples.value(name, options | turned(options, back), moved, weight),
                 samples.value(name, options, data, weight))


@pytest.mark.parametrize("average", AVERAGES)
@every_event_metric
def test_an_average_is_a_loop_over_the_classes(name: str, options: dict[str, Any], average: str) -> None:
    entry = registry[name]
    data, weight = samples.rows("many"), samples.weights(97)
    found = averaged(Summary(data, weight), planned(entry, options, average))
    alone = [Rows(data.truth == k, data.predicted == k, data.probabilities[:, k]) for k in range(data.levels)]
    each = np.array([samples.value(name, options, one, weight) for one in alone])
    size = np.array([weight[data.truth == k].sum() for k in range(data.levels)])
    pooled = Rows(*(np.concatenate([getattr(one, kind) for one in alone])
                    for kind in ("truth", "predicted", "probability")))
    expected = {
        "none": each, "macro": each.mean(), "macro_weighted": (each * size).sum() / size.sum(),
        "micro": samples.value(name, options, pooled, np.tile(weight, data.levels)),
    }[average]
    assert_close(found, expected)


def planned(entry: Metric, options: dict[str, Any], average: str) -> MetricPlan:
    filled = samples.filled(entry, options)
    return MetricPlan(entry, filled, "none", "", average, tuple([filled] * samples.LEVELS))


@pytest.mark.parametrize("average", ["macro", "macro_weighted"])
def test_a_class_that_does_not_occur_is_left_out_of_a_mean(average: str) -> None:
    data = samples.rows("many")
    absent = samples.take(data, data.truth != 3)
    found = averaged(Summary(absent, np.ones(len(absent.truth))), planned(registry["sensitivity"], {}, average))
    each = [(absent.predicted == k)[absent.truth == k].mean() for k in range(3)]
    size = [1, 1, 1] if average == "macro" else [(absent.truth == k).sum() for k in range(3)]
    assert_close(found, np.average(each, weights=size))


OF_CLASSES = [case[:2] for case in BINARY if registry[case[0]].sees == "classes"]


@pytest.mark.parametrize(("name", "options"), OF_CLASSES)
def test_two_of_many_levels_are_a_binary_outcome(name: str, options: dict[str, Any]) -> None:
    """A measure of all classes is the same whether two levels are an event and its opposite or a list of two."""
    data, weight = samples.rows("binary"), samples.weights(97)
    chances = np.column_stack([data.probability, 1 - data.probability])
    as_list = ClassRows(data.codes, 2, data.predicted_codes, chances)
    assert_close(samples.value(name, options, as_list, weight), samples.value(name, options, data, weight))


@pytest.mark.parametrize(("name", "task"), USED)
def test_a_statistic_adds(name: str, task: str) -> None:
    """Two parts of the rows give the sum of their statistics; of pairs, also the products across the parts."""
    data, weight = samples.rows(task), samples.weights(97)
    mine = np.arange(97) % 3 == 0
    parts = [Summary(data, np.where(side, weight, 0.0))(name, OPTIONS) for side in (mine, ~mine)]
    whole = Summary(data, weight)(name, OPTIONS)
    if statistics[name].of_pairs:
        assert_close(Summary(data, 3 * weight)(name, OPTIONS), 9 * whole)
        assert (whole > sum(parts) - CLOSE).all()
        return
    assert_close(parts[0] + parts[1], whole)


@pytest.mark.parametrize("name", list(statistics))
def test_no_statistic_is_idle(name: str) -> None:
    assert name in {used for entry in registry for used in entry.statistics} | {"confusion"}


@every_class_metric
def test_a_proportion_is_declared_as_one(entry: Metric) -> None:
    cases = [*samples.CASES, ("reportable_rate", {}, "equivocal")]
    name, options, task = next(case for case in cases if case[0] == entry.name)
    data = samples.rows(task)
    filled = samples.filled(registry[name], options, data.levels)
    summary = Summary(data, np.ones(97))
    outcome = entry.function(*(summary(used, filled) for used in entry.takes), **filled)
    assert isinstance(outcome, Proportion) == entry.is_proportion


@pytest.mark.parametrize("entry", list(registry), ids=lambda entry: entry.name)
def test_a_metric_says_what_people_need(entry: Metric) -> None:
    assert entry.definition.endswith(".")
    assert entry.formula
    assert re.search(r"\(\d{4}\)", entry.ref)
    assert entry.undefined
    assert set(entry.statistics) <= set(statistics)
    assert set(entry.standard) <= set(entry.tasks)


def test_a_name_is_taken_once() -> None:
    own = Registry()
    own.add(registry["f1"])
    with pytest.raises(ValueError, match="the metric name 'f1' is taken by 'f1'"):
        own.add(registry["f1"])


def planted_rows(summary: Summary) -> Any:
    return (summary.weights > 0).sum(axis=-1).astype(float)


def planted_first(summary: Summary) -> Any:
    return summary.weights[..., 0]


def planted_square(summary: Summary) -> Any:
    return (summary.weights**2).sum(axis=-1)


def planted_batch(summary: Summary) -> Any:
    return np.broadcast_to(summary.weights.sum(), summary.weights.shape[:-1])


def planted_level(rows: Any) -> Any:
    return rows.truth * 1.0


def wrong_f1(tp: Any, fp: Any, fn: Any) -> Any:
    return ratio(tp, tp + fn + fp + 1)


def unweighted(tp: Any, fn: Any) -> Any:
    return ratio(tp > 0, (tp + fn) > 0)


def counting_rows(tp: Any, planted_rows: Any) -> Any:
    return ratio(tp, planted_rows)


def first_row(planted_first: Any, total: Any) -> Any:
    return ratio(planted_first, total)


def over_the_batch(tp: Any, planted_batch: Any) -> Any:
    return ratio(tp, planted_batch)


def out_of_range(tp: Any, total: Any) -> Any:
    return 1.5 + ratio(tp, total)


def never_best(tp: Any, total: Any) -> Any:
    return ratio(tp, total) / 2


def by_code(planted_level: Any, total: Any) -> Any:
    return ratio(planted_level, total)


PLANTED = [
    (wrong_f1, test_the_scale_of_weights_changes_nothing_unless_declared, "binary", ()),
    (unweighted, test_weights_do_something, "binary", ()),
    (counting_rows, test_integer_weights_are_replication, "binary", (True,)),
    (first_row, test_the_order_of_rows_changes_nothing, "binary", ()),
    (first_row, test_a_row_of_weight_zero_is_no_row, "binary", ()),
    (over_the_batch, test_a_batch_is_a_loop_to_the_last_bit, "binary", (True,)),
    (out_of_range, test_a_value_lies_in_the_declared_range, "binary", ()),
    (never_best, test_a_perfect_forecast_reaches_the_best_value, "binary", ()),
    (by_code, test_classes_change_places, "many", ()),
]


@pytest.mark.parametrize(("mutant", "law", "task", "more"), PLANTED, ids=[law.__name__ for _, law, *_ in PLANTED])
def test_a_law_can_fail(mutant: Any, law: Any, task: str, more: tuple[Any, ...]) -> None:
    for planted in (planted_rows, planted_first, planted_batch):
        table(planted)
    column(planted_level)
    declare = metric(needs="labels", sees="event" if task == "binary" else "classes", direction="maximize",
                     range=(0, 1), undefined="never", ref="nobody (2000)")
    entry = declare(mutant)
    try:
        with pytest.raises(AssertionError):
            law(entry.name, {}, task, *more)
    finally:
        registry.remove(entry.name)
        for name in ("planted_rows", "planted_first", "planted_batch", "planted_level"):
            del statistics[name]


@pytest.mark.parametrize("declare", [table, pairs])
def test_the_law_of_adding_can_fail(declare: Any) -> None:
    declare(planted_square if declare is table else planted_rows)
    name = "planted_square" if declare is table else "planted_rows"
    try:
        if declare is table:  # squares of weights of disjoint parts do add; of one row shared by both they do not
            left = Summary(samples.rows(), np.ones(97))(name)
            assert Summary(samples.rows(), np.full(97, 2.0))(name) != 2 * left
        else:
            with pytest.raises(AssertionError):
                test_a_statistic_adds(name, "binary")
    finally:
        del statistics[name]


def test_the_law_of_averages_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = lambda found, occurring, average: found.max(axis=-1)  # noqa: E731
    monkeypatch.setattr("evalpipe.engine.averages.mean_over_classes", wrong)
    with pytest.raises(AssertionError):
        test_an_average_is_a_loop_over_the_classes("sensitivity", {}, "macro")
