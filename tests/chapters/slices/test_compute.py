"""Slices against runs on their rows alone, and what is said of them: differences, ratios, disparities."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.special import chndtr, chndtrinc
from scipy.stats import norm
from scipy.stats import t as student
from statsmodels.stats.multitest import multipletests

import evalpipe
from engine.runs import BOTH, intervals, people, read_sample, run
from evalpipe.intervals.resampling import Design, replicate_weights
from evalpipe.results import Disparity, Results, SliceDifference

DRAWS = 300
MEASURES = ["accuracy", "sensitivity", "brier", "roc_auc", "average_precision"]
CLOSED = ["accuracy", "sensitivity", "roc_auc"]


def frame() -> pl.DataFrame:
    return people(900, digits=3)


@cache
def whole(reference: str = "overall") -> Results:
    levels: Any = {"s": "b"} if reference == "level" else reference
    return run(frame(), metrics=MEASURES, intervals=intervals(DRAWS), slices=["s", ["s", "h"]],
               slice_rules={"reference": levels, "min_rows": 60})


def inside(part: dict[str, Any]) -> Any:
    """Return the condition of a slice."""
    return pl.all_horizontal([pl.col(column) == label for column, label in part.items()])


def test_a_slice_has_the_values_of_a_run_on_its_rows() -> None:
    rows = whole().rows
    assert len(rows) == (1 + 3 + 6) * len(MEASURES)
    for part in [{"s": "a"}, {"s": "c"}, {"s": "a", "h": "x"}]:
        within = [row for row in rows if row.slice == part]
        alone = run(frame().filter(inside(part)), metrics=MEASURES, intervals=intervals(DRAWS)).rows
        for one, other in zip(within, alone, strict=True):
            assert (one.metric, one.method, one.status) == (other.metric, other.method, other.status)
            assert (one.value, one.n, one.events) == (other.value, other.n, other.events)
            if one.metric in CLOSED:
                assert (one.lower, one.upper) == (other.lower, other.upper)
                continue
            # Drawn apart, and in a slice the number of rows is left to chance: 5 standard errors of both limits, and a
            # tenth of their distance for the chance.
            error = 5 * np.hypot(one.monte_carlo_error or 0, other.monte_carlo_error or 0)
            away = error + ((other.upper or 0) - (other.lower or 0)) / 10
            assert (one.lower, one.upper) == pytest.approx((other.lower, other.upper), abs=away)


def test_bootstrap_limits_of_a_slice_are_those_of_the_same_draws_of_all_rows() -> None:
    sample = read_sample(frame(), slices=["s"])
    held, model = sample.slicings[0], sample.models["p"]
    assert model.probability is not None
    losses = (sample.truth - model.probability) ** 2
    within = held.codes == [label["s"] for label in held.labels].index("c")
    drawn = np.concatenate([
        (batch[:, within] * losses[within]).sum(axis=1) / batch[:, within].sum(axis=1)
        for batch in replicate_weights(Design(sample.n), DRAWS, 0, "d")
    ])
    row = next(row for row in whole().rows if (row.slice, row.metric) == ({"s": "c"}, "brier"))
    # 1e-12: the same sums in another order.
    assert (row.lower, row.upper) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])), abs=1e-12)


def test_a_slice_of_too_few_rows_has_no_numbers_and_says_why() -> None:
    rows = [row for row in whole().rows if row.slice == {"s": "c", "h": "x"}]
    few = frame().filter(inside({"s": "c", "h": "x"})).height
    assert few < 60
    for row in rows:
        assert (row.value, row.lower, row.upper, row.level, row.monte_carlo_error) == (None,) * 5
        assert (row.status, row.method, row.n) == ("insufficient", "none", few)
        assert row.reason == f"{few} rows: too few (60 needed)"
    given = [row for row in whole().slice_differences if row.slice == {"s": "c", "h": "x"}]
    assert len(given) == len(MEASURES)
    for gap in given:
        assert (gap.difference, gap.ratio, gap.lower, gap.p_value, gap.p_holm) == (None,) * 5
        assert (gap.status, gap.reason) == ("insufficient", "too few rows")


def without_events() -> Results:
    data = frame().with_columns(y=pl.when(pl.col("s") == "c").then(0).otherwise(pl.col("y")))
    return run(data, metrics=MEASURES, intervals=intervals(DRAWS), slices=["s"],
               slice_rules={"disparities": ["equal_opportunity", "demographic_parity"]})


def test_a_slice_without_events_leaves_what_needs_them_undefined() -> None:
    found = without_events()
    rows = {row.metric: row for row in found.rows if row.slice == {"s": "c"}}
    assert {rows[name].events for name in MEASURES} == {0}
    for name in ("sensitivity", "roc_auc", "average_precision"):
        assert (rows[name].value, rows[name].status) == (None, "undefined")
        assert rows[name].reason
    assert (rows["accuracy"].status, rows["brier"].status) == ("ok", "degenerate")
    gaps = {row.metric: row for row in found.slice_differences if row.slice == {"s": "c"}}
    assert (gaps["sensitivity"].difference, gaps["sensitivity"].status) == (None, "undefined")
    opportunity, parity = found.disparities
    assert (opportunity.slices, opportunity.used, opportunity.status) == (3, 2, "ok")
    assert (parity.slices, parity.used) == (3, 3)
    assert opportunity.lowest != {"s": "c"} != opportunity.highest


def test_the_card_shows_a_slice_without_events() -> None:
    html = evalpipe.render(without_events(), ["html"])["card.html"].decode()
    assert "sensitivity" in html


def values(data: pl.DataFrame, metric: str) -> float:
    """Return a measure of the rows by its definition."""
    y, p = data["y"].to_numpy(), data["p"].to_numpy()
    found = {
        "brier": ((y - p) ** 2).mean(), "accuracy": ((p >= 0.5) == y).mean(),
        "sensitivity": (p[y == 1] >= 0.5).mean(),
    }[metric]
    return float(found)


def beside(reference: str, part: dict[str, str]) -> tuple[Any, Any]:
    """Return what a slice is compared with, and the condition of its rows."""
    if reference == "rest":
        return "rest", ~inside(part)
    if reference == "level" and len(part) == 1:
        return {"s": "b"}, inside({"s": "b"})
    return "overall", pl.col("s").is_not_null()


@pytest.mark.parametrize("reference", ["overall", "rest", "level"])
def test_differences_and_ratios_are_those_of_the_slice_and_its_reference(reference: str) -> None:
    rows = [row for row in whole(reference).slice_differences if row.status == "ok"]
    assert len(rows) == (6 if reference == "level" else 7) * len(MEASURES)
    for row in rows:
        named, condition = beside(reference, {key: str(value) for key, value in row.slice.items()})
        assert row.reference == named
        if row.metric in ("roc_auc", "average_precision"):
            continue
        here, there = (values(frame().filter(rows), row.metric) for rows in (inside(dict(row.slice)), condition))
        assert row.difference == pytest.approx(here - there, abs=1e-12)  # sums in another order
        assert row.ratio == pytest.approx(here / there, rel=1e-12)


@pytest.mark.parametrize("reference", ["overall", "rest", "level"])
def test_limits_of_differences_and_ratios_come_from_common_draws(reference: str) -> None:
    sample = read_sample(frame(), slices=["s"])
    model, held = sample.models["p"], sample.slicings[0]
    assert model.probability is not None
    losses, names = (sample.truth - model.probability) ** 2, [label["s"] for label in held.labels]
    weights = np.concatenate(list(replicate_weights(Design(sample.n), DRAWS, 0, "d")))
    within = held.codes == names.index("a")
    others = {"overall": np.ones(sample.n, bool), "rest": ~within, "level": held.codes == names.index("b")}[reference]
    here, there = (
        (weights[:, rows] * losses[rows]).sum(axis=1) / weights[:, rows].sum(axis=1) for rows in (within, others))
    row = next(r for r in whole(reference).slice_differences if (r.slice, r.metric) == ({"s": "a"}, "brier"))
    # 1e-12: the same sums in another order.
    def error(gaps: Any) -> float:
        low, high = np.quantile(gaps, [0.025, 0.975])
        return float((high - low) / 2 / norm.ppf(0.975))

    assert (row.test, row.method) == ("bootstrap", "bootstrap_error")
    sides = [within] if reference == "overall" else [
        within, ~within if reference == "rest" else held.codes == names.index("b")]
    freedom = min(int(side.sum()) for side in sides) - 1
    limits = student.interval(0.95, freedom, row.difference, error(here - there))
    assert (row.lower, row.upper) == pytest.approx(limits, abs=1e-12)
    away = abs(row.difference or 0) / error(here - there)
    assert row.p_value == pytest.approx(2 * student.cdf(-away, freedom), rel=1e-9)
    ratio = np.exp(norm.interval(0.95, np.log(row.ratio), error(np.log(here / there))))
    assert (row.ratio_lower, row.ratio_upper) == pytest.approx(tuple(ratio), rel=1e-9)


def test_p_values_are_adjusted_over_the_slices_of_each_measure() -> None:
    families: dict[str, list[SliceDifference]] = {}
    for row in whole("rest").slice_differences:
        if row.p_value is not None:
            families.setdefault(row.metric, []).append(row)
    assert list(families) == MEASURES
    for rows in families.values():
        p = [row.p_value for row in rows]
        for method, mine in (("holm", "p_holm"), ("fdr_bh", "p_benjamini_hochberg")):
            theirs = multipletests(p, method=method)[1]
            assert [getattr(row, mine) for row in rows] == pytest.approx(list(theirs), abs=1e-12)


def test_a_ratio_to_a_reference_of_zero_has_no_value_but_the_difference_has() -> None:
    data = frame().with_columns(p=pl.when(pl.col("s") == "b").then(0.1).otherwise(pl.col("p")))
    rows = run(data, metrics=["sensitivity"], intervals=intervals(DRAWS), slices=["s"],
               slice_rules={"reference": {"s": "b"}}).slice_differences
    for row in rows:
        assert row.difference is not None
        assert (row.ratio, row.ratio_lower, row.ratio_upper, row.status) == (None, None, None, "ok")


def disparities(asked: str) -> list[Disparity]:
    return run(frame(), metrics=["brier"], intervals=intervals(DRAWS), slices=["s"],
               slice_rules={"disparities": [asked]}).disparities


def shares(truth: Any, predicted: Any, weight: Any) -> dict[str, float]:
    """Return three shares of predicted events by their definitions."""
    return {
        "detection_prevalence": float((weight * predicted).sum() / weight.sum()),
        "sensitivity": float((weight * predicted * truth).sum() / (weight * truth).sum()),
        "false_positive_rate": float((weight * predicted * ~truth).sum() / (weight * ~truth).sum()),
    }


FAIRNESS = {
    "demographic_parity": ["detection_prevalence"], "equal_opportunity": ["sensitivity"],
    "equalized_odds": ["sensitivity", "false_positive_rate"],
}


def inverted(value: float, drawn: Any) -> tuple[float, float]:
    """Return the roots of the noncentralities at whose quantiles the square of a range lies, the range among them.

    The upper one is at least the range at which 95 % lie as near to it as the value.
    """
    mean, variance = (drawn**2).mean() - value**2, (drawn**2).var(ddof=1)
    scale = variance / (4 * value**2 + 2 * mean)
    true = [float(chndtrinc(value**2 / scale, mean / scale, tail)) * scale for tail in (0.975, 0.025)]
    alone = float(chndtr(value**2 / scale, mean / scale, 0.0))
    lower = 0.0 if alone <= 0.975 else true[0] ** 0.5
    reach = np.linspace(value, value + 10 * mean**0.5, 200_001)
    ends = [chndtr(at**2 / scale, mean / scale, reach**2 / scale) for at in (value, 2 * reach - value)]
    symmetric = float(reach[np.argmax(ends[1] - ends[0] >= 0.95)])
    return min(lower, value), max(0.0 if alone <= 0.025 else true[1] ** 0.5, value, symmetric)


@pytest.mark.parametrize("name", FAIRNESS)
def test_disparities_are_the_range_and_the_smallest_share_over_slices(name: str) -> None:
    sample = read_sample(frame(), slices=["s"])
    codes, predicted = sample.slicings[0].codes, sample.models["p"].predicted

    def apart(weight: Any) -> tuple[float, float]:
        found = [shares(sample.truth[codes == k], predicted[codes == k], weight[codes == k]) for k in range(3)]  # type: ignore[index]
        columns = [[share[measure] for share in found] for measure in FAIRNESS[name]]
        return max(max(c) - min(c) for c in columns), min(min(c) / max(c) for c in columns)

    (row,) = disparities(name)
    assert (row.difference, row.ratio) == pytest.approx(apart(np.ones(sample.n)), abs=1e-12)
    drawn = np.array([
        apart(weight) for batch in replicate_weights(Design(sample.n), DRAWS, 0, "d") for weight in batch])
    ratio = row.ratio or 0.0
    assert (row.lower, row.upper) == pytest.approx(inverted(row.difference or 0.0, drawn[:, 0]), abs=1e-4)
    logs = inverted(-np.log(ratio), -np.log(drawn[:, 1]))
    assert (row.ratio_upper, row.ratio_lower) == pytest.approx(tuple(np.exp(np.negative(logs))), abs=1e-4)
    assert row.expected == pytest.approx(drawn[:, 0].mean() - (row.difference or 0), abs=1e-12)
    assert (row.slicing, row.slices, row.used, row.status) == ("s", 3, 3, "ok")
    assert (row.lowest is None) == (row.highest is None) == (name == "equalized_odds")


def test_a_measure_is_a_disparity_and_names_its_ends() -> None:
    (row,) = disparities("brier")
    found = {level: values(frame().filter(pl.col("s") == level), "brier") for level in "abc"}
    assert row.difference == pytest.approx(max(found.values()) - min(found.values()), abs=1e-12)
    assert row.lowest == {"s": min(found, key=lambda level: found[level])}
    assert row.highest == {"s": max(found, key=lambda level: found[level])}


def test_the_measures_behind_disparities_are_not_listed_themselves() -> None:
    found = run(frame(), metrics=["brier"], intervals=intervals(100), slices=["s"],
                slice_rules={"disparities": ["equalized_odds"]}, models=BOTH, compare={"baseline": "q"})
    assert {row.metric for row in (*found.rows, *found.slice_differences, *found.comparisons)} == {"brier"}
    assert [row.model for row in found.disparities] == ["p", "q"]


def test_a_single_slice_has_a_difference_but_no_disparity() -> None:
    found = run(frame(), metrics=["brier"], intervals=intervals(100), slice_rules={"disparities": ["brier"]},
                slices=[{"where": "age > 55", "name": "old"}])
    assert [row.slice for row in found.rows] == [None, {"old": "true"}]
    assert found.rows[1].n == frame().filter(pl.col("age") > 55).height
    assert len(found.slice_differences) == 1
    assert found.disparities == []


def test_where_all_rows_are_of_one_cluster_nothing_tells_what_chance_adds() -> None:
    (row,) = run(frame().with_columns(who=pl.lit("x")), metrics=["brier"], intervals=intervals(DRAWS), slices=["s"],
                 cluster="who", slice_rules={"disparities": ["brier"]}).disparities
    assert (row.expected, row.lower, row.status) == (None, None, "degenerate")
    assert row.difference is not None
    assert row.difference > 0


def test_too_few_slices_with_values_make_no_disparity() -> None:
    found = run(frame(), metrics=["brier"], intervals=intervals(100), slices=["s"],
                slice_rules={"disparities": ["brier"], "min_rows": 400})
    (row,) = found.disparities
    assert (row.slices, row.used, row.status) == (3, 1, "insufficient")
    assert (row.difference, row.lower, row.ratio, row.lowest, row.highest, row.expected) == (None,) * 6
    assert row.reason == "fewer than two slices have a value"


@pytest.mark.parametrize("reference", ["overall", "rest"])
def test_a_condition_that_no_row_or_every_row_meets_is_shown_without_numbers_where_it_has_none(reference: str) -> None:
    conditions = [{"where": "age > 500", "name": "none"}, {"where": "age < 500", "name": "all"}]
    found = run(frame(), metrics=["brier"], intervals=intervals(100), slices=conditions,
                slice_rules={"reference": reference})
    overall, nobody, everybody = found.rows
    assert (nobody.n, nobody.value, nobody.status) == (0, None, "insufficient")
    assert nobody.reason == "0 rows: too few (30 needed)"
    assert (everybody.n, everybody.value) == (overall.n, overall.value)
    first, second = found.slice_differences
    assert (first.status, first.reason) == ("insufficient", "too few rows")
    if reference == "rest":
        assert (second.status, second.reason) == ("insufficient", "the reference has too few rows")
    else:
        assert (second.difference, second.ratio, second.lower, second.upper, second.p_value) == (0, 1, 0, 0, None)


def test_frequency_weights_count_towards_the_least_rows_of_a_slice() -> None:
    data = frame().with_columns(times=pl.lit(10))
    keys: dict[str, Any] = {
        "metrics": ["brier"], "intervals": intervals(100), "slices": ["s"], "slice_rules": {"min_rows": 500}}
    few = [row.status for row in run(data, **keys).rows]
    many = [row.status for row in run(data, **keys, weight={"column": "times", "kind": "frequency"}).rows]
    assert (few, many) == (["ok", "ok", "insufficient", "insufficient"], ["ok"] * 4)


def test_a_disparity_without_noise_has_limits_that_are_not_to_be_trusted() -> None:
    """Both slices are right in every row, so each resample is too: no limits of [0, 0] without a word."""
    rows = frame().with_columns(p=pl.when(pl.col("y") == 1).then(0.9).otherwise(0.1))
    (disparity,) = run(rows, metrics=["accuracy"], intervals=intervals(100), slices=["s"],
                       slice_rules={"disparities": ["accuracy"]}).disparities
    assert (disparity.difference, disparity.status) == (0, "degenerate")
    assert disparity.reason == "it is the same in every resample, so its uncertainty is unknown"
