"""The gain table against Nicholson's example (decile table of 10,000 records and 2,400 events) and by hand."""

from __future__ import annotations

from functools import partial
from math import floor
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import ks_2samp

import evalpipe
from card.drawn import of_figure
from evalpipe.engine.curves.ranking import gain_table
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
    table = gain_table(nicholson(), 10, counted=True)
    assert table["population"].tolist() == [1000.0] * 10
    assert table["captured"] == pytest.approx(MODEL)
    assert table["random"] == pytest.approx([240.0] * 10)
    assert table["wizard"] == pytest.approx([1000, 1000, 400, 0, 0, 0, 0, 0, 0, 0])
    assert 100 * table["cumulative_captured"] == pytest.approx(CUMULATIVE, abs=1e-5)
    assert table["cumulative_lift"][:4] == pytest.approx([3.3, 2.75, 1752 / 720, 2.05])
    assert table["lift"][0] == pytest.approx(3.3)


def slides(**more: object) -> evalpipe.Results:
    """Evaluate Nicholson's deciles as twenty rows, one for the events and one for the others of each, by weight."""
    frame = pl.DataFrame({
        "happened": [True, False] * 10, "p": [1 - place / 10 - 0.05 for place in range(10) for _ in range(2)],
        "rows": [count for events in MODEL for count in (events, 1000 - events)]})
    return evalpipe.run({
        "evalpipe": 1, "name": "slides", "task": "binary", "outcome": {"column": "happened", "event": True},
        "datasets": {"scored": {"path": "held in memory"}}, "weight": {"column": "rows", "kind": "frequency"},
        "models": {"model": {"probability": "p"}}, "metrics": ["roc_auc"], "intervals": {"method": "none"}, **more,
    }, frames={"scored": frame})


def gains(results: evalpipe.Results) -> Any:
    return next(curve for curve in results.curves if curve.curve == "gain_table").points


@pytest.mark.parametrize(("name", "column", "up"), [
    ("gain", "cumulative_captured", "Share of events found"), ("lift", "cumulative_lift", "Lift")])
def test_the_groups_are_points_on_gain_and_lift_where_the_spec_asks_for_them(name: str, column: str, up: str) -> None:
    """As in the charts of the slides; without `groups` the figures are as they were."""
    said = "Points: all rows down to each cut of the gain table."
    (plain,), results = of_figure(slides(), "scored", name), slides(curves={"groups": 5})
    (drawing,), points = of_figure(results, "scored", name), gains(results).columns
    assert said not in plain.caption
    assert said in drawing.caption
    (groups,) = [series for series in drawing.points if series.name == "model, groups"]
    assert groups.columns == {"Group": [1.0, 2.0, 3.0, 4.0, 5.0], "Share of rows tested, highest scores first":
                              points["cumulative_population"], up: points[column]}
    assert [series for series in drawing.points if series.name != "model, groups"] == list(plain.points)
    assert drawing.svg != plain.svg


def test_weighted_rows_give_every_column_of_the_slides() -> None:
    # Counts and shares are exact but for the rounding of a division, so equal to 1e-12 of their size.
    points = gains(slides())
    near = partial(pytest.approx, rel=1e-12)
    assert points.group == [float(decile) for decile in range(1, 11)]
    assert points.population == [1000.0] * 10
    assert points.captured == near([float(events) for events in MODEL])
    assert points.random == near([240.0] * 10)
    assert points.wizard == [1000, 1000, 400, 0, 0, 0, 0, 0, 0, 0]
    assert points.population_so_far == [1000.0 * decile for decile in range(1, 11)]
    assert points.cumulative_population == near([decile / 10 for decile in range(1, 11)])
    assert points.captured_so_far == near([792, 1320, 1752, 1968, 2172, 2316, 2388, 2394, 2398, 2400])
    assert [floor(100 * share + 0.5 + 1e-9) for share in points.cumulative_captured] == [
        33, 55, 73, 82, 91, 97, 100, 100, 100, 100]  # halves upwards, as the slides print 90.5 and 96.5
    assert points.random_so_far == near([240.0 * decile for decile in range(1, 11)])
    assert points.wizard_so_far == [1000, 2000] + [2400] * 8
    assert points.cumulative_wizard == near([1000 / 2400, 2000 / 2400] + [1.0] * 8)
    assert [f"{lift:.2f}" for lift in points.cumulative_lift] == [
        "3.30", "2.75", "2.43", "2.05", "1.81", "1.61", "1.42", "1.25", "1.11", "1.00"]
    assert points.profit is None


def test_the_gain_table_tells_the_profit_of_contacting_the_rows_so_far() -> None:
    points = gains(slides(profit={"benefit": 10.0, "cost": 2.0, "fixed": 100.0, "groups": 5}))
    captured, random, wizard = points.captured_so_far, points.random_so_far, points.wizard_so_far
    for profit, events in ((points.profit, captured), (points.profit_random, random), (points.profit_wizard, wizard)):
        assert profit == pytest.approx([10 * found - 2000 * decile - 100 for decile, found in enumerate(events, 1)])
    assert points.profit[0] == pytest.approx(7920 - 2000 - 100)


def test_any_number_of_groups_shares_the_rows_of_a_score_in_proportion() -> None:
    # Twenty groups cut each decile, whose rows share one score: each half has half of its events, whatever the order.
    points = gains(slides(curves={"groups": 20}))
    assert points.population == [500.0] * 20
    assert points.captured == pytest.approx([events / 2 for events in MODEL for _ in range(2)])
    assert points.wizard_so_far == [min(500.0 * place, 2400) for place in range(1, 21)]


def test_rows_that_do_not_divide_are_cut_by_rank() -> None:
    truth, score = np.array([True] * 6 + [False] * 17), np.arange(23.0)[::-1] / 23
    table = gain_table(Summary(Rows(truth, truth, score), np.ones(23)), 10, counted=True)
    ranks = np.arange(23) * 10 // 23
    assert table["population"].tolist() == [float((ranks == group).sum()) for group in range(10)]
    assert table["captured"].tolist() == [float(truth[ranks == group].sum()) for group in range(10)]


def test_ties_across_a_cut_are_shared() -> None:
    truth = np.array([True, False] * 10)
    table = gain_table(Summary(Rows(truth, truth, np.full(20, 0.5)), np.ones(20)), 10, counted=True)
    assert table["captured"] == pytest.approx([1.0] * 10)
    assert table["separation"] == pytest.approx([0.0] * 10)


def test_importance_weights_are_cut_anywhere() -> None:
    truth, score = np.array([True, False, True]), np.array([0.9, 0.5, 0.1])
    table = gain_table(Summary(Rows(truth, truth, score), np.array([0.5, 1.0, 0.5])), 10, counted=False)
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
