"""Laws of the equivocal zone: measures of predicted classes are those of the reportable rows, all others of all rows.

Tolerances: 1e-12 relative, since two orders of summing a hundred float64 terms differ by a few units in the last place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evalpipe.engine.averages import values as averaged
from evalpipe.metrics import registry
from evalpipe.metrics.declare import AVERAGES
from evalpipe.statistics import Draws, Stack, Summary, view
from laws import samples, test_metrics

TASKS = {"binary": "equivocal", "many": "equivocal many"}
RATE = [("reportable_rate", {}, task) for task in TASKS]
OF_CLASSES = [case for case in samples.CASES if registry[case[0]].needs == "labels"] + RATE
BY_CLASS = [case for case in samples.CASES if registry[case[0]].sees == "event"]
every_metric = pytest.mark.parametrize(("name", "options", "task"), samples.CASES, ids=samples.IDS)
every_label_metric = pytest.mark.parametrize(
    ("name", "options", "task"), OF_CLASSES, ids=[f"{n}-{t}-{i}" for i, (n, _, t) in enumerate(OF_CLASSES)])


def ties(law: Callable[..., None]) -> Callable[..., None]:
    return lambda *case: law(*case, ties=True)


LAWS = {
    "replication": ties(test_metrics.test_integer_weights_are_replication),
    "order": test_metrics.test_the_order_of_rows_changes_nothing,
    "zero weight": test_metrics.test_a_row_of_weight_zero_is_no_row,
    "scale": test_metrics.test_the_scale_of_weights_changes_nothing_unless_declared,
    "weights": test_metrics.test_weights_do_something,
    "batch": ties(test_metrics.test_a_batch_is_a_loop_to_the_last_bit),
    "range": test_metrics.test_a_value_lies_in_the_declared_range,
}


@pytest.mark.parametrize("law", LAWS)
@every_label_metric
def test_the_laws_of_all_metrics_hold_with_a_zone(law: str, name: str, options: dict[str, Any], task: str) -> None:
    # An empty zone would leave the law no more than it says of all metrics, and a full one nothing.
    assert 0 < samples.rows(TASKS[task]).reportable.mean() < 1
    LAWS[law](name, options, TASKS[task])


@pytest.mark.parametrize("task", TASKS.values())
@pytest.mark.parametrize("name", ["reportable", "total", "confusion"])
def test_statistics_of_rows_with_a_zone_add_up(name: str, task: str) -> None:
    data, weight = samples.rows(task), samples.weights(97)
    mine = np.arange(97) % 3 == 0
    first, second = (Summary(data, np.where(part, weight, 0.0))(name) for part in (mine, ~mine))
    assert first + second == pytest.approx(Summary(data, weight)(name), rel=1e-12)


@every_metric
def test_a_measure_of_classes_is_of_the_reportable_rows_and_any_other_of_all(
    name: str, options: dict[str, Any], task: str
) -> None:
    data, weight = samples.rows(TASKS[task]), samples.weights(97)
    whole = replace(data, reportable=None)
    kept = np.flatnonzero(data.reportable)
    left = samples.value(name, options, samples.take(whole, kept), weight[kept])
    everything = samples.value(name, options, whole, weight)
    of_classes = registry[name].needs == "labels"
    found = samples.value(name, options, data, weight)
    test_metrics.assert_close(found, left if of_classes else everything)
    assert not of_classes or found != everything


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize(("name", "options"), [case[:2] for case in BY_CLASS], ids=[
    identity for identity, case in zip(samples.IDS, samples.CASES, strict=True) if case in BY_CLASS
])
def test_averages_over_classes_see_the_same_rows(name: str, options: dict[str, Any], average: str) -> None:
    data, weight = samples.rows("equivocal many"), samples.weights(97)
    entry = test_metrics.planned(registry[name], options, average)
    whole = replace(data, reportable=None)
    kept = np.flatnonzero(data.reportable) if registry[name].needs == "labels" else np.arange(97)
    found = averaged(Summary(data, weight), entry)
    test_metrics.assert_close(found, averaged(Summary(samples.take(whole, kept), weight[kept]), entry))


@pytest.mark.parametrize("task", TASKS.values())
def test_the_reportable_rate_is_the_weighted_share_of_rows_with_a_class(task: str) -> None:
    data, weight = samples.rows(task), samples.weights(97)
    found = samples.value("reportable_rate", {}, data, weight)
    assert found == pytest.approx(np.average(data.reportable, weights=weight), rel=1e-12)
    assert samples.value("reportable_rate", {}, replace(data, reportable=None), weight) == 1


@pytest.mark.parametrize("task", TASKS.values())
@pytest.mark.parametrize("exact", [True, False])
def test_cells_of_a_view_keep_rows_with_and_without_a_class_apart(task: str, exact: bool) -> None:
    data = samples.rows(task, 6000, ties=False)  # more scores than a view keeps apart unless it is to be exact
    counts = np.random.default_rng(1).integers(0, 4, (3, 6000))
    made = view(data, np.arange(6000), exact=exact)
    found = dict.fromkeys(range(3))
    for _, chosen, weights in Stack((made,)).weights(Draws(counts), 10**6):
        summary = Summary(made.rows, weights)
        for i in range(*chosen.indices(3)):
            found[i] = [summary(name)[i] for name in ("reportable", "total")], summary.reportable("confusion")[i]
    direct = Summary(data, counts)
    for i in range(3):
        assert found[i][0] == [direct(name)[i] for name in ("reportable", "total")]
        assert found[i][1].tolist() == direct.reportable("confusion")[i].tolist()  # counts, so exactly


def test_one_level_beyond_a_cut_and_stacked_rows_keep_the_zone() -> None:
    data = samples.rows("equivocal many")
    assert data.beyond(1).reportable.tolist() == data.against_rest[1].reportable.tolist() == data.reportable.tolist()
    assert Summary(data, np.ones(97)).pooled.rows.reportable.tolist() == np.tile(data.reportable, 4).tolist()


@pytest.mark.parametrize("task", TASKS.values())
def test_no_reportable_row_leaves_measures_of_classes_undefined(task: str) -> None:
    data = replace(samples.rows(task), reportable=np.zeros(97, bool))
    batch = np.stack([samples.weights(97, seed) for seed in range(3)])
    assert np.isnan(samples.value("accuracy", {}, data, batch)).all()
    assert np.isnan(samples.value("kappa", {}, data, batch)).all()
    assert samples.value("reportable_rate", {}, data, batch).tolist() == [0, 0, 0]
    assert (samples.value("misclassifications", {}, data, batch) == 0).all()
