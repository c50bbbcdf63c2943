"""Laws of every measure at a prevalence, over the whole registry.

At a prevalence is with each class's weights multiplied so that it has its share; tolerance 1e-9 of the value, as sums
are taken of other numbers in the same order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evalpipe.chapters.prevalence.plan import PriorPlan
from evalpipe.engine.averages import values
from evalpipe.metrics import registry
from evalpipe.plan.measures import MetricPlan
from evalpipe.statistics import Summary
from laws import samples

CASES = [(case, name) for case, name in zip(samples.CASES, samples.IDS, strict=True) if registry[case[0]].reweighed]
SHARES = {"binary": (0.55, 0.45), "many": (0.1, 0.2, 0.3, 0.4)}

at_each = pytest.mark.parametrize(
    ("name", "options", "task"), [case for case, _ in CASES], ids=[name for _, name in CASES])


def summary(task: str, n: int = 97) -> Summary:
    return Summary(samples.rows(task, n), samples.weights(n))


def entry(name: str, options: dict[str, Any], levels: int, shares: tuple[float, ...] | None) -> MetricPlan:
    metric = registry[name]
    filled = samples.filled(metric, options, levels)
    average = "macro" if metric.sees == "event" and levels > 2 else None
    of_class = (filled,) * levels if average else ()
    return MetricPlan(metric, filled, "none", "", average, of_class, PriorPlan(shares, shares))


def at(found: Summary, case: tuple[str, dict[str, Any], str], shares: tuple[float, ...] | None) -> Any:
    return values(found, entry(case[0], case[1], found.rows.levels, shares))


@at_each
def test_at_the_samples_own_prevalence_a_measure_is_itself(name: str, options: dict[str, Any], task: str) -> None:
    found = summary(task)
    occurring = found("occurring")
    own = tuple(float(share) for share in occurring / occurring.sum())
    assert at(found, (name, options, task), own) == pytest.approx(
        at(found, (name, options, task), None), rel=1e-9, abs=1e-12)


@at_each
def test_at_a_prevalence_is_under_weights_multiplied_by_hand(name: str, options: dict[str, Any], task: str) -> None:
    found, shares = summary(task), SHARES[task]
    by_hand = np.array(found.weights, float)
    for k, share in enumerate(shares):
        held = found.rows.codes == k
        by_hand[held] *= share * found.weights.sum() / found.weights[held].sum()
    assert by_hand.sum() == pytest.approx(found.weights.sum(), rel=1e-12)
    plain = at(Summary(found.rows, by_hand), (name, options, task), None)
    assert at(found, (name, options, task), shares) == pytest.approx(plain, rel=1e-9, abs=1e-12)


@at_each
def test_each_row_of_weights_is_reweighed_by_itself(name: str, options: dict[str, Any], task: str) -> None:
    data, generator = samples.rows(task), np.random.default_rng(3)
    counts = generator.multinomial(97, np.full(97, 1 / 97), 4)
    together = at(Summary(data, counts), (name, options, task), SHARES[task])
    alone = [at(Summary(data, row), (name, options, task), SHARES[task]) for row in counts]
    np.testing.assert_allclose(together, alone, rtol=1e-9, atol=1e-12)


@at_each
def test_a_weight_of_three_is_three_rows_in_any_order(name: str, options: dict[str, Any], task: str) -> None:
    data, times = samples.rows(task), np.random.default_rng(5).integers(1, 4, 97)
    order = np.random.default_rng(6).permutation(times.sum())
    repeated = samples.take(data, np.repeat(np.arange(97), times)[order])
    shares, case = SHARES[task], (name, options, task)
    many = at(Summary(repeated, np.ones(len(order))), case, shares)
    assert at(Summary(data, times.astype(float)), case, shares) == pytest.approx(many, rel=1e-9, abs=1e-12)


def test_a_measure_is_the_same_at_any_prevalence_just_where_it_says_so() -> None:
    found, same = summary("binary"), set()
    for name, options, task in samples.CASES:
        metric = registry[name]
        if task != "binary" or not metric.reweighed:
            continue
        seen = [float(at(found, (name, options, task), shares)) for shares in (None, (0.1, 0.9), (0.7, 0.3))]
        same |= {name} if seen == pytest.approx([seen[0]] * 3, rel=1e-9) else set()
    # of two classes only
    assert same - {"bal_accuracy_ovr"} == {metric.name for metric in registry if metric.within_classes}


@pytest.mark.parametrize("share", [0.001, 0.05, 0.555, 1.0])
def test_precision_at_a_prevalence_is_ppv_and_sample_npv_is_npv(share: float) -> None:
    found = summary("binary")
    for plain, adjusted in (("precision", "ppv"), ("npv_sample", "npv")):
        value = float(at(found, (plain, {}, "binary"), (share, 1 - share)))
        prior = float(found.value(registry[adjusted], {"prevalence": share}))
        assert value == pytest.approx(prior, rel=1e-12)


def test_without_a_class_that_has_a_share_nothing_is_known() -> None:
    data = samples.rows("many")
    found = Summary(data, samples.weights(97) * (data.truth != 2))
    assert np.isnan(at(found, ("accuracy", {}, "many"), SHARES["many"]))
    assert np.isfinite(at(found, ("accuracy", {}, "many"), (0.5, 0.2, 0.0, 0.3)))
