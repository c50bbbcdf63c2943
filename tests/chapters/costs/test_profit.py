"""The profit of contacting rows: Nicholson's table by hand, loops over rows, and laws of its replicates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from engine.runs import BOTH, intervals, people, read_sample, run
from evalpipe.chapters.costs.compute_campaign import Campaign
from evalpipe.data.catalog import look
from evalpipe.data.sample import Sample
from evalpipe.engine.draws import design
from evalpipe.intervals.resampling import block_counts, blocks
from evalpipe.plan.resolve import plan
from evalpipe.plan.sources import sources
from evalpipe.results import BestProfit, Profit, Results
from evalpipe.run import load
from evalpipe.statistics import Rows, Summary

MODEL = [792, 528, 432, 216, 204, 144, 72, 6, 4, 2]
"""Nicholson's decile table: 10,000 records, 2,400 of them events."""

TERMS: dict[str, Any] = {"benefit": 50, "cost": 5, "fixed": 0}
FAST: dict[str, Any] = {"metrics": ["roc_auc"], "intervals": {"replicates": 100, "bands": False}}


def nicholson() -> pl.DataFrame:
    truth = [flag for events in MODEL for flag in [1] * events + [0] * (1000 - events)]
    score = [1 - place / 10 for place in range(10) for _ in range(1000)]
    return pl.DataFrame({"y": truth, "p": score})


def rows(results: Results, model: str = "p") -> list[Profit]:
    return [row for row in results.profit if row.model == model]


def test_nicholsons_profit_and_decile_figures_from_his_table() -> None:
    """By hand, exact; 50 an event less 5 a letter. His sixth tenth brings 7,200 for 5,000, the seventh loses."""
    table = rows(run(nicholson(), profit=TERMS, **FAST))
    assert [row.captured for row in table] == pytest.approx([0, *MODEL], rel=1e-12)
    assert [row.contacted for row in table] == [1000.0 * k for k in range(11)]
    assert [row.found for row in table] == pytest.approx(
        [0, 792, 1320, 1752, 1968, 2172, 2316, 2388, 2394, 2398, 2400], rel=1e-12)
    assert [row.profit for row in table] == pytest.approx(
        [0, 34600, 56000, 72600, 78400, 83600, 85800, 84400, 79700, 74900, 70000], rel=1e-12)
    assert [row.incremental for row in table] == pytest.approx(
        [0, 34600, 21400, 16600, 5800, 5200, 2200, -1400, -4700, -4800, -4900], rel=1e-9)
    assert [row.profit_random for row in table] == pytest.approx([7000.0 * k for k in range(11)], rel=1e-12)
    assert [row.profit_wizard for row in table] == pytest.approx(
        [0, 45000, 90000, 105000, 100000, 95000, 90000, 85000, 80000, 75000, 70000], rel=1e-12)
    assert [row.group for row in table if row.best] == [6]
    assert table[6].profit_per_row == pytest.approx(8.58, rel=1e-12)


def test_what_it_costs_to_begin_is_paid_once_and_not_where_nobody_is_contacted() -> None:
    table = rows(run(nicholson(), profit={**TERMS, "fixed": 86000}, **FAST))
    assert table[0].profit == table[0].profit_random == table[0].profit_wizard == 0
    assert table[6].profit == pytest.approx(-200, abs=1e-9)
    assert table[1].profit_wizard == pytest.approx(45000 - 86000)
    assert [row.group for row in table if row.best] == [0]


def by_hand(truth: Any, score: Any, groups: int) -> list[float]:
    """Return the profit after each group by going through rows without ties; 50 an event, 5 a row, 20 to begin."""
    order = np.argsort(-score)
    ranks = np.arange(len(truth)) * groups // len(truth)
    found, profit = 0.0, [0.0]
    for group in range(groups):
        found += truth[order][ranks == group].sum()
        profit.append(50 * found - 5 * (ranks <= group).sum() - 20)
    return profit


@pytest.mark.parametrize("groups", [2, 7, 20, 100])
@pytest.mark.parametrize("n", [23, 150])
def test_a_loop_over_ranked_rows_agrees_for_any_number_of_groups(groups: int, n: int) -> None:
    frame = people(n, seed=groups, digits=12)
    table = rows(run(frame, profit={"benefit": 50, "cost": 5, "fixed": 20, "groups": groups}, **FAST))
    assert [row.profit for row in table] == pytest.approx(by_hand(frame["y"].to_numpy(), frame["p"].to_numpy(), groups))


def test_rows_of_equal_score_share_what_a_cut_divides() -> None:
    frame = pl.DataFrame({"y": [1, 0] * 10, "p": [0.5] * 20})
    table = rows(run(frame, profit=TERMS, **FAST))
    assert [row.found for row in table] == pytest.approx(np.arange(11.0))
    assert [row.profit for row in table] == pytest.approx([row.profit_random for row in table])


def drawn(sample: Sample, results: Results, replicates: int = 100) -> np.ndarray:
    """Return the profit of each replicate by writing its rows out one by one, each with its own weight."""
    spec = load(results.spec)
    made = plan(spec, look(sources(spec), {"d": pl.DataFrame(schema=["y", "p", "q", "heavy"])}))
    how = design(made, sample)
    found = []
    for number, size in enumerate(blocks(replicates)):
        for counts in block_counts(how, number, size, made.seed, "d"):
            for one in counts:
                take = np.repeat(np.arange(sample.n), one)
                model = sample.models["p"]
                weight = np.ones(len(take)) if sample.weight is None else sample.weight[take]
                summary = Summary(Rows(sample.truth[take], None, model.probability[take]), weight)
                campaign = Campaign.of(made, sample)
                found.append(replace(campaign, total=float(weight.sum())).profits(summary) / weight.sum())
    return np.array(found) * sample.weights.sum()


@pytest.mark.parametrize("keys", [{}, {"weight": {"column": "heavy", "kind": "importance"}}], ids=["plain", "weighted"])
def test_replicates_are_the_profit_of_rows_drawn_one_by_one(keys: dict[str, Any]) -> None:
    """Limits, shares and the correction from replicates written out; to 1e-9, as weighted sums run in another order."""
    frame, terms = people(180), {"benefit": 50, "cost": 14, "groups": 8}
    results = run(frame, models=BOTH, profit=terms, **FAST, **keys)
    sample = read_sample(frame, models=BOTH, profit=terms, **FAST, **keys)
    heights, table = drawn(sample, results), rows(results)
    low, high = np.quantile(heights, [0.025, 0.975], axis=0)
    assert [row.lower for row in table] == pytest.approx(low, rel=1e-9)
    assert [row.upper for row in table] == pytest.approx(high, rel=1e-9)
    best = heights.argmax(axis=1)
    assert [row.share_best for row in table] == pytest.approx([np.mean(best == k) for k in range(9)])
    (summary,) = [row for row in results.best_profit if row.model == "p"]
    assert (summary.lower, summary.upper) == pytest.approx(tuple(np.quantile(heights.max(axis=1), [0.025, 0.975])))
    value = np.array([row.profit for row in table])
    assert summary.corrected == pytest.approx(value.max() - np.mean(heights.max(axis=1) - value[best]))
    assert summary.group_lower <= summary.group <= summary.group_upper
    assert summary.profit == value.max()


@pytest.mark.parametrize("sets", [25, pytest.param(100, marks=pytest.mark.nightly)])
def test_the_correction_takes_off_what_choosing_the_depth_adds(sets: int) -> None:
    """Where scores are noise and a contact costs its worth, no depth earns anything, yet the largest profit is above 0.

    Of sets of 200 rows its mean is more than five standard errors above it, and less than half of that is left.
    """
    found = []
    for seed in range(sets):
        generator = np.random.default_rng(seed)
        frame = pl.DataFrame({"y": generator.integers(0, 2, 200), "p": generator.random(200)})
        found += run(frame, profit={"benefit": 1.0, "cost": 0.5}, **FAST).best_profit
    raw = np.array([one.profit for one in found])
    assert raw.mean() > 5 * raw.std() / np.sqrt(sets)
    assert np.mean([one.corrected for one in found]) < raw.mean() / 2


def test_frequency_weights_are_repeated_rows() -> None:
    frame = people(200)
    none = {"intervals": {"method": "none"}, "metrics": ["roc_auc"]}
    repeated = frame.select(pl.all().repeat_by("times")).explode(pl.all())
    weighted = rows(run(frame, profit=TERMS, weight={"column": "times", "kind": "frequency"}, **none))
    assert weighted == rows(run(repeated, profit=TERMS, **none))
    assert weighted[0].lower is None
    assert weighted[0].share_best is None


def test_importance_weights_are_totals() -> None:
    frame = people(200)
    table = rows(run(frame, profit=TERMS, weight="heavy", **FAST))
    total = frame["heavy"].sum()
    assert [row.population for row in table[1:]] == pytest.approx([total / 10] * 10)
    events = frame.filter(pl.col("y") == 1)["heavy"].sum()
    assert table[-1].profit == pytest.approx(50 * events - 5 * total)
    assert table[-1].profit_per_row == pytest.approx(50 * events / total - 5)


@pytest.mark.parametrize("resampling", ["multinomial", "poisson"])
def test_replicates_are_profits_of_as_many_rows(resampling: str) -> None:
    """Contacting everybody at no cost finds all events, whose spread is binomial, however many rows are drawn."""
    frame = people(2000)
    settings = {"replicates": 1000, "bands": False, "resampling": resampling}
    table = rows(run(frame, profit={"benefit": 1, "cost": 0}, metrics=["roc_auc"], intervals=settings))
    events = frame["y"].sum()
    spread = 2 * 1.96 * np.sqrt(events * (1 - events / 2000))
    assert table[-1].upper - table[-1].lower == pytest.approx(spread, rel=0.12)  # four Monte-Carlo errors of 1000


def test_neither_order_nor_threads_change_a_byte() -> None:
    frame = people(300)
    one = run(frame, models=BOTH, profit=TERMS, engine={"workers": 1}, **FAST)
    other = run(frame.sample(300, shuffle=True, seed=1), models=BOTH, profit=TERMS, engine={"workers": 3}, **FAST)
    assert one.profit == other.profit
    assert one.best_profit == other.best_profit


def test_a_grid_gives_nearly_the_limits_of_rows() -> None:
    """Of two draws of 1,600, 2.5 % quantiles differ by a twentieth of the width of the interval at three errors."""
    frame, tables = people(20_000, digits=9), []
    for mode in ("grid", "exact"):
        keys: dict[str, Any] = {"metrics": ["roc_auc"], "intervals": intervals(1600), "engine": {"mode": mode}}
        tables.append(rows(run(frame, profit=TERMS, **keys))[1:])
    for grid, exact in zip(*tables, strict=True):
        assert grid.profit == exact.profit
        tolerated = 0.1 * (exact.upper - exact.lower)
        assert (grid.lower, grid.upper) == pytest.approx((exact.lower, exact.upper), abs=tolerated)


def test_models_of_classes_alone_have_no_profit() -> None:
    frame = people(100).with_columns((pl.col("q") >= 0.5).cast(int).alias("label"))
    models = {"p": {"probability": "p"}, "hard": {"prediction": "label"}}
    results = run(frame, models=models, profit=TERMS, intervals={"method": "none"}, metrics=["accuracy"])
    assert {row.model for row in results.profit} == {"p"}
    assert [type(row) for row in results.best_profit] == [BestProfit]


def test_without_events_a_campaign_only_costs() -> None:
    frame = people(50).with_columns(pl.lit(0).alias("y"))
    table = rows(run(frame, outcome={"column": "y", "event": 1, "levels": [1, 0]}, profit=TERMS, **FAST))
    assert [row.profit for row in table] == pytest.approx([-25.0 * k for k in range(11)])
    assert table[0].best


def test_profit_survives_json() -> None:
    results = run(people(60), profit=TERMS, **FAST)
    assert Results.from_json(results.to_json()).profit == results.profit
    assert Results.from_json(results.to_json()).best_profit == results.best_profit
