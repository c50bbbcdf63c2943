"""The gain table against Nicholson's example (decile table of 10,000 records and 2,400 events) and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ks_2samp

import evalpipe
from evalpipe.engine.curves.groups import gain_table
from evalpipe.results import Curve
from evalpipe.statistics import Rows, Summary

MODEL = [792, 528, 432, 216, 204, 144, 72, 6, 4, 2]
CUMULATIVE = [33, 55, 73, 82, 90.5, 96.5, 99.5, 99.75, 99.916667, 100]  # printed as whole per cent


def nicholson() -> Summary:
    truth, score = [], []
    for place, events in enumerate(MODEL):
        truth += [True] * events + [False] * (1000 - events)
        score += [1 - place / 10] * 1000
    flags, scores = np.array(truth), np.array(score)
    return Summary(Rows(flags, scores >= 0.5, scores), np.ones(10_000))


def test_the_decile_table_of_nicholson() -> None:
    table = gain_table(nicholson(), whole=True)
    assert table["population"].tolist() == [1000.0] * 10
    assert table["captured"] == pytest.approx(MODEL)
    assert table["random"] == pytest.approx([240.0] * 10)
    assert table["wizard"] == pytest.approx([1000, 1000, 400, 0, 0, 0, 0, 0, 0, 0])
    assert 100 * table["cumulative_captured"] == pytest.approx(CUMULATIVE, abs=1e-5)
    assert table["cumulative_lift"][:4] == pytest.approx([3.3, 2.75, 1752 / 720, 2.05])
    assert table["lift"][0] == pytest.approx(3.3)


def test_rows_that_do_not_divide_are_cut_by_rank() -> None:
    truth, score = np.array([True] * 6 + [False] * 17), np.arange(23.0)[::-1] / 23
    table = gain_table(Summary(Rows(truth, truth, score), np.ones(23)), whole=True)
    ranks = np.arange(23) * 10 // 23
    assert table["population"].tolist() == [float((ranks == group).sum()) for group in range(10)]
    assert table["captured"].tolist() == [float(truth[ranks == group].sum()) for group in range(10)]


def test_ties_across_a_cut_are_shared() -> None:
    truth = np.array([True, False] * 10)
    table = gain_table(Summary(Rows(truth, truth, np.full(20, 0.5)), np.ones(20)), whole=True)
    assert table["captured"] == pytest.approx([1.0] * 10)
    assert table["separation"] == pytest.approx([0.0] * 10)


def test_importance_weights_are_cut_anywhere() -> None:
    truth, score = np.array([True, False, True]), np.array([0.9, 0.5, 0.1])
    table = gain_table(Summary(Rows(truth, truth, score), np.array([0.5, 1.0, 0.5])), whole=False)
    assert table["population"] == pytest.approx([0.2] * 10)
    assert table["captured"].sum() == pytest.approx(1.0)


def ks_curve(y: np.ndarray, p: np.ndarray) -> Curve:
    results = evalpipe.evaluate(y, p, event=1, metrics=["ks"], intervals={"method": "none"})
    assert results.rows[0].value == pytest.approx(
        next(curve for curve in results.curves if curve.curve == "ks").notes.statistic
    )
    return next(curve for curve in results.curves if curve.curve == "ks")


@pytest.mark.parametrize("digits", [1, 12])
def test_the_ks_curve_is_scipys(digits: int) -> None:
    generator = np.random.default_rng(4)
    y = (generator.random(900) < 0.3).astype(int)
    p = np.round(np.clip(generator.normal(0.35 + 0.2 * y, 0.2), 0, 1), digits)
    theirs = ks_2samp(p[y == 1], p[y == 0])
    notes = ks_curve(y, p).notes
    assert notes.statistic == pytest.approx(theirs.statistic, rel=1e-12)
    score = float(notes.score)
    assert abs((p[y == 1] < score).mean() - (p[y == 0] < score).mean()) == pytest.approx(theirs.statistic, rel=1e-12)
