"""Views: rows that are alike gathered into cells, under any draw, give the statistics of the rows themselves."""

from __future__ import annotations

import gc
import weakref
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from evalpipe.metrics import registry
from evalpipe.statistics import ClassRows, Draws, Rows, Stack, Summary, view
from evalpipe.statistics.rows import FEW, Groups, runs_within, totals_of_runs

MODULE = import_module("evalpipe.statistics.view")  # its function has the same name

N = 400
LABELS = ["accuracy", "sensitivity", "precision", "f1", "kappa", "mcc"]
SCORES = ["roc_auc", "average_precision", "ks"]
CHANCES = ["brier", "log_loss"]


def rows(digits: int, seed: int = 0) -> Rows:
    generator = np.random.default_rng(seed)
    probability = np.round(generator.beta(1, 1, N), digits)
    return Rows(generator.random(N) < probability, probability >= 0.5, probability)


def draws(seed: int = 1) -> Any:
    return np.random.default_rng(seed).multinomial(N, np.full(N, 1 / N), 20)


def value(name: str, summary: Summary) -> Any:
    metric = registry[name]
    return summary.value(metric, metric.options().model_dump())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("digits", [1, 2, 9])
def test_cells_of_equal_scores_lose_nothing(digits: int, weighted: bool) -> None:
    given, factor = rows(digits), np.random.default_rng(2).gamma(2, 1, N) if weighted else None
    seen = view(given, np.arange(N), factor)
    assert len(seen.starts) == len(np.unique(np.c_[given.scored, given.truth], axis=0))
    weights = draws() if factor is None else draws() * factor
    for name in [*LABELS, *SCORES, *CHANCES]:
        # 1e-12: the same sums in another order.
        expected = value(name, Summary(given, weights))
        assert value(name, Summary(seen.rows, seen.weights(draws()))) == pytest.approx(expected, rel=1e-12), name


def test_rows_of_a_cluster_are_drawn_together() -> None:
    given, cluster = rows(2), np.random.default_rng(3).integers(0, 30, N)
    counts = np.random.default_rng(4).integers(0, 4, (5, 30))
    seen = view(given, cluster)
    for name in (*LABELS, *SCORES, *CHANCES):
        expected = value(name, Summary(given, counts[:, cluster]))
        assert value(name, Summary(seen.rows, seen.weights(counts))) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("digits", [1, 9])
def test_small_counts_give_the_statistics_of_large_ones(digits: int) -> None:
    given, counts = rows(digits), np.full((3, N), 100)
    seen = view(given, np.arange(N))
    weights = seen.weights(counts.astype(np.int8))
    assert weights.dtype.itemsize >= 4  # a hundred rows of one cell are beyond a small integer
    for name in (*LABELS, *SCORES, *CHANCES):
        assert (value(name, Summary(seen.rows, weights)) == value(name, Summary(seen.rows, seen.weights(counts)))).all()


@pytest.mark.parametrize("kept", [0, 2 * N, 2**22])
def test_kept_columns_change_no_statistic(kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalpipe.statistics.summary.COLUMNS", kept)
    seen, options = view(rows(9), np.arange(N)), [{"epsilon": epsilon} for epsilon in (1e-15, 0.1)]
    for counts in (draws(1), draws(2)):
        weights = seen.weights(counts)
        summary = seen.summary(weights)
        for name, taken in (("negative_log", options[0]), ("negative_log", options[1]), ("squared_error", {})):
            assert (summary(name, taken) == Summary(seen.rows, weights)(name, taken)).all()
    assert seen.summary(weights).columns is summary.columns
    assert len(summary.columns or {}) == min(kept // N, 3)


@pytest.mark.parametrize("digits", [1, 9])
@pytest.mark.parametrize("predicted", ["above a cut", "none", "all", "at random"])
def test_whole_weights_are_counted_in_the_matrix_as_floats_are(predicted: str, digits: int) -> None:
    given = rows(digits)
    classes = {"above a cut": given.probability >= 0.3, "none": np.zeros(N, bool), "all": np.ones(N, bool),  # type: ignore[operator]
               "at random": np.random.default_rng(7).random(N) < 0.5}[predicted]
    changed = Rows(given.truth, classes, given.probability)
    assert (changed.cut is None) == (digits == 1 or predicted == "at random")
    seen = view(changed, np.arange(N))
    for cells in (changed, seen.rows):
        weights = draws()[:, : len(cells.truth)]
        whole, floats = Summary(cells, weights), Summary(cells, weights.astype(float))
        for name in ("confusion", "occurring", "agreed", "total"):
            np.testing.assert_array_equal(whole(name), floats(name), strict=True)


def test_classes_without_scores_become_the_cells_of_the_confusion_matrix() -> None:
    generator = np.random.default_rng(5)
    truth, picked = generator.integers(0, 3, (2, N))
    event = Rows(truth == 0, picked == 0)
    classes = ClassRows(truth, 3, picked)
    for given, cells in ((event, 4), (classes, 9)):
        seen = view(given, np.arange(N))
        assert len(seen.starts) == cells
        for name in ("accuracy", "kappa", "mcc"):
            expected = value(name, Summary(given, draws()))
            assert value(name, Summary(seen.rows, seen.weights(draws()))) == pytest.approx(expected, rel=1e-12)


def test_beyond_so_many_scores_neighbours_are_tied_unless_all_are_to_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    given, edges = rows(9), np.array([0.123])
    monkeypatch.setattr(MODULE, "EXACT", 100)
    monkeypatch.setattr(MODULE, "CELLS", 10)
    exact, coarse = view(given, np.arange(N), exact=True), view(given, np.arange(N), edges=edges)
    assert len(exact.starts) == N
    assert 100 < len(coarse.starts) < 350  # ten cells, and those between hundredths, of events and of non-events
    for name in LABELS:  # the threshold is a hundredth, and predicted classes are never joined
        expected = value(name, Summary(given, draws()))
        assert value(name, Summary(coarse.rows, coarse.weights(draws()))) == pytest.approx(expected, rel=1e-12)
    for name in (*SCORES, *CHANCES):  # cells no wider than a hundredth change no value by more
        expected = value(name, Summary(given, draws()))
        assert value(name, Summary(coarse.rows, coarse.weights(draws()))) == pytest.approx(expected, abs=0.02), name
    score, held = given.scored, coarse.rows.scored
    below = coarse.weights(np.eye(N, dtype=int))[:, held < 0.123].sum(axis=1)
    assert (below == (score < 0.123)).all()  # so no cell lies on both sides of the edge


def test_probabilities_of_a_coarse_cell_are_the_means_of_its_events_and_of_its_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given, sizes = rows(9), np.random.default_rng(6).integers(1, 5, N).astype(float)
    monkeypatch.setattr(MODULE, "EXACT", 100)
    monkeypatch.setattr(MODULE, "CELLS", 10)
    seen = view(given, np.arange(N), sizes=sizes)
    assert len(seen.starts) < N
    for truth in (True, False):
        chosen = given.truth == truth
        there = seen.rows.truth == truth
        weight = seen.weights(sizes.astype(int)[None])[0]
        total = (weight * seen.rows.event_probability)[there].sum()
        assert total == pytest.approx((sizes * given.event_probability)[chosen].sum(), rel=1e-12)


@pytest.mark.parametrize("kind", [int, float])
@pytest.mark.parametrize("runs", [1, FEW, FEW + 1, 60, 100])
def test_runs_are_totalled_alike_by_every_way(runs: int, kind: type) -> None:
    generator = np.random.default_rng(runs)
    values = generator.integers(0, 9, (3, 2, 100)).astype(kind)
    starts = np.sort(np.r_[0, 1 + generator.permutation(99)[: runs - 1]])
    expected = np.stack([part.sum(axis=-1) for part in np.split(values, starts[1:], axis=-1)], axis=-1)
    found = totals_of_runs(values, starts)
    assert (found == expected).all()  # sums of small whole numbers are exact, as floats too
    assert found.dtype.kind == values.dtype.kind


def test_groups_are_in_the_order_of_their_keys() -> None:
    first, second = np.array([1, 0, 1, 0, 1]), np.array([0.5, 0.2, 0.1, 0.2, 0.5])
    groups = Groups.by(first, second)
    assert groups.order.tolist() == [1, 3, 2, 0, 4]
    assert groups.starts.tolist() == [0, 2, 3]
    assert groups.first.tolist() == [1, 2, 0]
    assert groups.totals(np.array([[1, 2, 3, 4, 5]])).tolist() == [[6, 3, 6]]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("digits", [1, 9])  # few cells of many rows, which are totalled at once, and many of few
@pytest.mark.parametrize("most", [1, 50, 100_000])
def test_a_stack_gives_the_weights_of_its_views(digits: int, weighted: bool, most: int) -> None:
    given, factor = rows(digits), np.random.default_rng(2).gamma(2, 1, N) if weighted else None
    part = np.random.default_rng(5).integers(0, 3, N)
    held = [np.flatnonzero(part == k) for k in range(2)]  # the third part is in no view
    views = tuple(view(given.at(at), at, None if factor is None else factor[at]) for at in held)
    stack, counts = Stack(views), draws()
    found: dict[int, list[Any]] = {0: [], 1: []}
    for number, chosen, weights in stack.weights(Draws(counts), most):
        assert len(weights) == len(counts[chosen])
        found[number].append(weights)
    for number, seen in enumerate(views):
        tolerance = 1e-12 if weighted else 0  # whole numbers are exact; sums of weights run in another order
        np.testing.assert_allclose(np.concatenate(found[number]), seen.weights(counts), rtol=tolerance)


def test_counts_too_large_for_single_precision_are_held_in_double() -> None:
    assert Draws(np.array([[2**23, 2**23 - 1]])).columns.dtype == np.float32
    assert Draws(np.array([[2**23, 2**23]])).columns.dtype == np.float64


def test_a_batch_is_forgotten_with_its_last_use() -> None:
    """A summary that held itself would keep its weights until memory is cleared up: twice as much, and slower."""
    summary = Summary(rows(2), np.ones((3, N)))
    for entry in (registry["accuracy"], registry["roc_auc"]):
        summary.seen_by(entry).value(entry, {})
    gone = weakref.ref(summary)
    gc.disable()
    try:
        del summary
        assert gone() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("edges", [[0.0, 0.25, 0.5, 0.75], [0.1, 0.1, 0.2], [0.5], [2.0], [-1.0, 0.3]])
@pytest.mark.parametrize("decimals", [1, 17])
def test_runs_within_intervals_are_those_of_the_interval_of_each_value(edges: list[float], decimals: int) -> None:
    values = np.sort(np.round(np.random.default_rng(2).random(50), decimals))
    interval = np.searchsorted(edges, values, side="right") - 1
    starts, numbers = runs_within(values, np.array(edges))
    assert starts.tolist() == [0, *(np.flatnonzero(np.diff(interval)) + 1)]
    assert numbers.tolist() == interval[starts].tolist()
