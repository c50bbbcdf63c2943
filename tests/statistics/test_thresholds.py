"""Measures at every cut at once, against the same measures of classes made by one cut after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evalpipe.metrics import registry
from evalpipe.statistics import Rows, Summary, cut_values, of_cells, sweep, swept_in_parts

COSTS = ((0.0, 5.0), (1.0, 0.5))
HARD = [metric for metric in registry if metric.needs == "labels" and "binary" in metric.tasks]
OF_REPORTABLE = [metric for metric in HARD if metric.of_reportable]
OPTIONS: dict[str, dict[str, Any]] = {"cost": {"costs": COSTS}, "cost_saved": {"costs": COSTS},
                                      "ppv": {"prevalence": 0.3}, "npv": {"prevalence": 0.3},
                                      "f_beta": {"beta": 2.0}}


def rows(seed: int = 0, n: int = 60) -> Rows:
    """Return rows whose scores tie and overlap."""
    generator = np.random.default_rng(seed)
    truth = generator.random(n) < 0.4
    score = np.round(np.clip(generator.normal(0.4 + 0.2 * truth, 0.25), 0, 1), 1)
    return Rows(truth, None, score)


def weights(kind: str, n: int = 60) -> Any:
    generator = np.random.default_rng(1)
    return {"none": np.ones(n), "whole": generator.integers(1, 5, n), "real": generator.gamma(2, 1, n),
            "batch": generator.integers(0, 3, (4, n))}[kind]


@pytest.mark.parametrize("kind", ["none", "whole", "real", "batch"])
@pytest.mark.parametrize("metric", HARD, ids=lambda metric: metric.name)
def test_every_measure_of_classes_is_that_of_each_cut_alone(metric: Any, kind: str) -> None:
    held, given = rows(), weights(kind)
    options = metric.options(**OPTIONS.get(metric.name, {})).model_dump()
    found = sweep(Summary(held, given)).value(metric, options)
    cuts = cut_values(held.distinct)
    assert found.shape == (*given.shape[:-1], len(cuts))
    for place, cut in enumerate(cuts):
        one = Rows(held.truth, held.event_probability >= cut, held.probability)
        # Sums in another order: 1e-9 of the value, where measures divide small differences.
        np.testing.assert_allclose(found[..., place], Summary(one, given).value(metric, options), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("most", [1, 3, 100])
def test_cuts_in_parts_are_those_of_all(most: int) -> None:
    held, cuts = Summary(rows(), weights("real")), np.array([5, 0, 3, 7])
    parts = [part("confusion") for part in swept_in_parts(held, cuts, most)]
    assert all(len(part) <= most for part in parts)
    assert np.concatenate(parts).tolist() == sweep(held, cuts)("confusion").tolist()


@pytest.mark.parametrize("kind", ["none", "real", "batch"])
@pytest.mark.parametrize("metric", OF_REPORTABLE, ids=lambda metric: metric.name)
def test_the_four_cells_have_every_measure_of_the_rows_that_have_a_class(metric: Any, kind: str) -> None:
    options = metric.options(**OPTIONS.get(metric.name, {})).model_dump()
    reportable = np.random.default_rng(5).random(60) < 0.7
    held = rows()
    predicted = held.event_probability >= 0.5
    summary = Summary(Rows(held.truth, predicted, held.probability, None, reportable), weights(kind))
    # Sums in another order: 1e-9 of the value, where measures divide small differences.
    np.testing.assert_allclose(of_cells(summary.reportable).value(metric, options), summary.value(metric, options),
                               rtol=1e-9, atol=1e-12)


def test_some_cuts_are_those_of_all() -> None:
    held, given = Summary(rows(), weights("real")), np.array([0, 3, 7])
    whole = sweep(held)("confusion")
    assert (sweep(held, given)("confusion") == whole[given]).all()
    assert (whole >= 0).all()


def test_no_cell_is_below_zero_or_lost_under_any_weights() -> None:
    cells = sweep(Summary(rows(3), weights("real") * 1e-9))("confusion")
    assert (cells >= 0).all()
    assert (cells[0, :, 1] == 0).all()  # the lowest cut predicts every row as an event, the last none
    assert (cells[-1, :, 0] == 0).all()


def test_a_threshold_parts_the_scores_as_its_cut_does() -> None:
    near = np.array([0.0, 5e-324, 0.1, np.nextafter(0.1, 1), 0.5, 1.0])
    cuts = cut_values(near)
    assert [int((near >= cut).sum()) for cut in cuts] == [6, 5, 4, 3, 2, 1, 0]
    assert cuts[4] == pytest.approx(0.3)
    assert (cuts[0], cuts[5]) == (0.0, 0.75)
    assert np.isfinite(cuts).all()


def test_one_score_leaves_two_cuts() -> None:
    held = Rows(np.array([True, False]), None, np.array([0.5, 0.5]))
    assert len(cut_values(held.distinct)) == 2
    assert sweep(Summary(held, np.ones(2)))("confusion").tolist() == [[[1, 0], [1, 0]], [[0, 1], [0, 1]]]
