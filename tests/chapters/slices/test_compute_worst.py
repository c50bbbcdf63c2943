"""The search for the worst slices: it finds what was planted, counts what it searched, and stops at its bounds."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

from engine.runs import BOTH, intervals, people, run
from evalpipe.intervals.multiplicity import reach_of_all, true_differences
from evalpipe.results import Results, WorstSlice

DRAWS = 400
COLUMNS = ["s", "h", {"column": "age", "cuts": [45, 55]}]
LABELS = ["s", "h", "band"]


def planted(n: int = 2000) -> pl.DataFrame:
    """Return rows in which the model is told the opposite of half of those in s = b and h = z, and nowhere else."""
    frame = people(n, seed=7, digits=3)
    hit = ((frame["s"] == "b") & (frame["h"] == "z")).to_numpy() & (np.arange(n) % 2 == 0)
    band = pl.when(pl.col("age") < 45).then(pl.lit("< 45")).when(pl.col("age") < 55).then(pl.lit("45 to < 55"))
    return frame.with_columns(
        p=pl.when(pl.Series(hit)).then(1 - pl.col("y") * 0.98 - 0.01).otherwise(pl.col("p")),
        band=band.otherwise(pl.lit(">= 55")),
    )


def search(frame: pl.DataFrame, *, rules: Any = None, replicates: int = DRAWS, **keys: Any) -> Results:
    asked = {"metric": "brier", "columns": COLUMNS} | {
        key: keys.pop(key) for key in ("metric", "columns", "depth", "top") if key in keys}
    given = {} if rules is None else {"slice_rules": rules}
    return run(frame, metrics=["accuracy"], intervals=intervals(replicates), worst_slices=asked, **given, **keys)


def combined(frame: pl.DataFrame, depth: int, least: int = 30, weight: str | None = None) -> dict[Any, int]:
    """Return every combination of levels with its observations, of those that are large enough and not everything."""
    each = pl.len() if weight is None else pl.col(weight).sum()
    total = frame.select(each).item()
    found: dict[Any, int] = {}
    for size in range(1, depth + 1):
        for columns in combinations(LABELS, size):
            for *levels, n in frame.group_by(columns).agg(each.alias("n")).iter_rows():
                if least <= n < total:
                    found[frozenset(zip(columns, levels, strict=True))] = n
    return found


def key(row: WorstSlice) -> Any:
    return frozenset(("band" if column == "age" else column, level) for column, level in row.slice.items())


@pytest.mark.parametrize("metric", ["brier", "accuracy", "log_loss", "roc_auc"])
def test_a_planted_slice_is_found_first_whichever_side_of_the_measure_is_good(metric: str) -> None:
    found = search(planted(), metric=metric).worst_slices
    assert found[0].slice == {"s": "b", "h": "z"}
    assert (found[0].rank, found[0].metric) == (1, metric)
    assert found[0].p_value is not None
    assert found[0].p_value < 1e-6
    worse = 1 if metric in ("brier", "log_loss") else -1
    assert worse * found[0].difference > 0
    parts = [row.slice for row in found[1:4]]
    assert all({"s": "b", "h": "z"}.items() & part.items() for part in parts)  # those that share rows with it


def test_numbers_of_a_slice_are_those_of_its_rows() -> None:
    frame = planted()
    loss = ((frame["y"] - frame["p"]) ** 2).to_numpy()
    known = combined(frame, 2)
    for row in search(frame).worst_slices:
        inside = np.ones(frame.height, bool)
        for column, level in key(row):
            inside &= (frame[column] == level).to_numpy()
        assert row.n == inside.sum() == known[key(row)]
        assert row.events == frame["y"].to_numpy()[inside].sum()
        assert row.value == pytest.approx(loss[inside].mean(), rel=1e-12)  # sums in another order
        assert row.overall == pytest.approx(loss.mean(), rel=1e-12)
        assert row.difference == pytest.approx(row.value - row.overall, abs=1e-15)
        # A mean of losses varies by their spread over sqrt(n): a fifth for so few draws of a skewed mean's limits.
        width = 2 * 1.96 * loss[inside].std() / np.sqrt(inside.sum())
        assert (row.upper or 0) - (row.lower or 0) == pytest.approx(width, rel=0.2)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_every_combination_up_to_the_depth_is_searched(depth: int) -> None:
    frame = planted()
    known = combined(frame, depth)
    found = search(frame, depth=depth, top=50).worst_slices
    assert {row.searched for row in found} == {len(known)}
    assert len(found) == min(50, len(known))
    assert {key(row) for row in found} <= known.keys()
    assert max(len(row.slice) for row in found) == depth
    assert len({key(row) for row in found}) == len(found)


@pytest.mark.parametrize("least", [1, 150, 400])
def test_slices_of_fewer_rows_are_not_searched(least: int) -> None:
    frame = planted()
    known = combined(frame, 2, least)
    found = search(frame, rules={"min_rows": least}, top=50).worst_slices
    assert found[0].searched == len(known)
    assert min(row.n for row in found) >= least
    assert len(found) == min(50, len(known))


def test_frequency_weights_count_towards_the_least_rows() -> None:
    frame = planted()
    known = combined(frame, 2, 300, "times")
    assert len(known) > len(combined(frame, 2, 300))
    found = search(frame, rules={"min_rows": 300}, weight={"column": "times", "kind": "frequency"}).worst_slices
    assert found[0].searched == len(known)
    assert found[0].n == known[key(found[0])]


def test_p_values_are_normal_and_multiplied_by_the_slices_searched() -> None:
    frame = planted()
    of_all = float(((frame["p"] - frame["y"]) ** 2).std() or 0) / np.sqrt(len(frame))
    for row in search(frame, top=50).worst_slices:
        assert row.p_value is not None
        assert row.p_adjusted == min(1.0, row.p_value * row.searched)
        # The test and the limits come from the same draws, but the test is of the difference from all rows: the two
        # errors are within a third of each other where a slice holds at most half of the rows.
        if row.n < 1000 and row.p_value > 1e-12:
            error = abs(row.difference) / norm.isf(row.p_value / 2)
            least = of_all * np.sqrt(2000 / row.n)  # the error of as many rows drawn from all
            assert error == pytest.approx(max(((row.upper or 0) - (row.lower or 0)) / 3.92, least), rel=1 / 3)


@pytest.mark.parametrize(("metric", "method"), [
    ("accuracy", "exact"), ("roc_auc", "delong"), ("ece", "folded"), ("brier", "percentile")])
def test_a_slice_has_the_limits_that_its_measure_has_there(metric: str, method: str) -> None:
    frame, asked = planted(), {"metric": metric, "columns": ["s"], "depth": 1}
    results = run(frame, metrics=[metric], intervals=intervals(DRAWS), slices=["s"], worst_slices=asked)
    known = {str(row.slice): row for row in results.rows if row.slice is not None}
    for row in results.worst_slices:
        same = known[str(row.slice)]
        assert same.method == method
        assert (row.value, row.status, row.reason) == (same.value, same.status, same.reason)
        # Replicates of a percentile limit are drawn anew for the search, but from the same streams.
        assert (row.lower, row.upper) == pytest.approx((same.lower, same.upper), rel=1e-12)


def test_a_slice_of_few_clusters_says_so_and_is_not_tested() -> None:
    frame = planted().with_columns(who=pl.arange(2000) % 12)
    found = search(frame, cluster="who", columns=["s"], depth=1).worst_slices
    assert {(row.status, row.reason, row.p_value) for row in found} == {(
        "degenerate", "12 clusters, fewer than 20: limits from so few cover the true value less often than 95%", None)}
    assert all(row.lower is not None for row in found)


def test_the_first_slices_are_the_same_however_many_are_asked_for() -> None:
    few, many = (search(planted(), top=top).worst_slices for top in (2, 8))
    assert [row.slice for row in few] == [row.slice for row in many[:2]]
    assert [row.rank for row in many] == list(range(1, 9))
    assert few == many[:2]  # the draws are of the same rows


def test_each_model_has_a_list_of_its_own() -> None:
    found = search(planted(), models=BOTH, top=3).worst_slices
    assert [(row.model, row.rank) for row in found] == [(model, rank) for model in "pq" for rank in (1, 2, 3)]
    assert found[0].slice == {"s": "b", "h": "z"}
    assert found[3].value < found[0].value  # the other model was told the truth everywhere


def test_without_intervals_slices_are_ranked_but_not_tested() -> None:
    frame = planted()
    found = run(frame, metrics=["accuracy"], intervals={"method": "none"},
                worst_slices={"metric": "brier", "columns": COLUMNS, "top": 3}).worst_slices
    assert found[0].slice == {"s": "b", "h": "z"}
    for row in found:
        assert (row.lower, row.upper, row.level, row.p_value, row.p_adjusted) == (None,) * 5


def test_where_the_measure_is_undefined_a_slice_is_searched_and_left_out() -> None:
    frame = planted().with_columns(y=pl.when(pl.col("s") == "c").then(0).otherwise(pl.col("y")))
    found = search(frame, metric="sensitivity", columns=["s"], depth=1).worst_slices
    assert {row.slice["s"] for row in found} == {"a", "b"}
    assert {row.searched for row in found} == {3}


def test_columns_of_a_single_level_leave_nothing_to_search() -> None:
    frame = people(100).with_columns(s=pl.lit("a"))
    found = search(frame, columns=["s"], depth=1)
    assert found.worst_slices == []
    assert [warning.code for warning in found.warnings if warning.code == "search-bounded"] == []


def test_of_too_many_slices_the_largest_are_searched_and_a_warning_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = planted()
    known = combined(frame, 3)
    plain = search(frame, depth=3)
    assert [warning for warning in plain.warnings if warning.code == "search-bounded"] == []
    monkeypatch.setattr("evalpipe.chapters.slices.compute.CANDIDATES", 10)
    cut = search(frame, depth=3, top=50)
    least = sorted(known.values(), reverse=True)[9]
    assert {row.searched for row in cut.worst_slices} == {10}
    assert len(cut.worst_slices) == 10
    assert min(row.n for row in cut.worst_slices) == least
    (warning,) = (warning for warning in cut.warnings if warning.code == "search-bounded")
    assert warning.message == f"d: only the 10 largest of {len(known)} slices were searched for the worst"


def test_the_search_on_a_grid_finds_what_it_finds_in_all_rows() -> None:
    frame = planted(6000).with_columns(pl.col("p").round(2))
    exact, grid = (search(frame, engine={"mode": mode}, top=4).worst_slices for mode in ("exact", "grid"))
    assert search(frame, engine={"mode": "grid"}, replicates=100).intervals.units["d"] <= 3000
    assert [(row.slice, row.value, row.n) for row in exact] == [(row.slice, row.value, row.n) for row in grid]
    for one, other in zip(exact, grid, strict=True):
        # The standard error of each limit: see test_grid.
        error = 0.68 * ((one.upper or 0) - (one.lower or 0)) * np.sqrt(2 / DRAWS)
        assert (one.lower, one.upper) == pytest.approx((other.lower, other.upper), abs=5 * error)


@pytest.mark.parametrize("weight", [None, {"column": "one"}, {"column": "one", "kind": "frequency"}])
def test_a_slice_that_is_worse_for_sure_comes_before_a_smaller_one_that_may_be_so_by_chance(weight: Any) -> None:
    sizes, wrong = {"big": 4000, "small": 800, "rest": 6000}, {"big": 840, "small": 176, "rest": 900}
    generator, n = np.random.default_rng(8), 10_800
    truth = generator.integers(0, 2, n)
    right = np.concatenate([np.arange(size) >= wrong[name] for name, size in sizes.items()])
    frame = pl.DataFrame({
        "y": truth, "p": np.where(right == truth, 0.75, 0.25) + generator.uniform(-0.2, 0.2, n),
        "g": np.repeat(list(sizes), list(sizes.values())), "one": np.ones(n)})
    found = run(
        frame, metrics=["brier"], intervals=intervals(100), **({} if weight is None else {"weight": weight}),
        worst_slices={"metric": "accuracy", "columns": ["g"], "depth": 1}).worst_slices
    # Of all rows 0.823 are right. The big slice has 0.033 less, at least 0.020 with 1.96 of its standard errors of
    # sqrt(0.79 * 0.21 / 4000) taken off; the small one has 0.043 less, but by the same rule at least 0.014.
    assert [row.slice["g"] for row in found] == ["big", "small", "rest"]
    assert found[1].difference < found[0].difference < 0


def alike(
    groups: int, size: int, seed: int, spread: float = 0.0, bad: float = 0.0, mean: float = 0.8
) -> tuple[pl.DataFrame, Any]:
    """Return rows of groups and the accuracy in each: ``mean``, ``spread`` apart, one lower by ``bad``."""
    generator = np.random.default_rng(seed)
    accuracy = np.clip(mean + spread * generator.normal(size=groups), 0.02, 0.98)
    accuracy[0] -= bad
    group = np.repeat(np.arange(groups), size)
    truth = generator.integers(0, 2, groups * size)
    hit = generator.random(groups * size) < accuracy[group]
    return pl.DataFrame({"y": truth, "g": group.astype(str), "p": np.where(hit == (truth == 1), 0.9, 0.1)}), accuracy


def test_corrections_do_not_leap_from_one_slice_to_the_next() -> None:
    """15 groups of 200 rows, 5 of them alike and worse: their corrected differences are as near as those found."""
    generator = np.random.default_rng(4)
    group, truth = np.repeat(np.arange(15), 200), generator.integers(0, 2, 3000)
    wrong = np.tile(np.arange(200), 15) < np.where(group < 5, 60 - 2 * group, 20)
    frame = pl.DataFrame({"y": truth, "g": group.astype(str), "p": np.where(wrong == (truth == 0), 0.9, 0.1)})
    found = run(frame, metrics=["accuracy"], intervals=intervals(400), slice_rules={"max_levels": 15},
                worst_slices={"metric": "accuracy", "columns": ["g"], "depth": 1, "top": 5}).worst_slices
    assert [row.slice["g"] for row in found] == list("01234")
    corrected = [row.difference_corrected or 0.0 for row in found]
    assert corrected == sorted(corrected)  # the worst stays the worst
    for row, value in zip(found, corrected, strict=True):
        assert row.difference <= value <= row.difference / 2
    assert np.diff(corrected).max() < 0.02  # 0.01 is between those found


@pytest.mark.parametrize("true", [(), (4.0,), (3.0, 3.0, 3.0), (2.5, 2.0, 1.5, 1.0)])
@pytest.mark.parametrize("groups", [5, 60])
def test_a_corrected_difference_grows_with_the_one_found(true: tuple[float, ...], groups: int) -> None:
    """At every error, and at most ten times as fast; a leap would be a step of the length of the correction."""
    generator = np.random.default_rng(6)
    errors = generator.uniform(0.5, 2, groups)
    found = np.array([*true, *[0.0] * (groups - len(true))]) + errors * generator.normal(size=groups)
    spread, differences = true_differences(found, errors), np.linspace(-1, 8, 901)
    for error in (0.5, 1.0, 2.0):
        corrected = [spread.corrected(float(difference), error, groups) for difference in differences]
        steps = np.diff(corrected)
        assert steps.min() >= 0
        assert steps.max() <= 10 * 0.01
        assert all(min(0.0, d) <= c <= max(0.0, d) for d, c in zip(differences, corrected, strict=True))


def test_a_slice_that_was_not_chosen_is_not_corrected() -> None:
    spread = true_differences(np.array([0.3]), np.array([0.2]))
    assert spread.corrected(0.3, 0.2, 1) == 0.3


def test_a_lone_bad_slice_stays_bad_and_those_that_are_alike_do_not() -> None:
    """60 groups: one is 4 errors worse than all; the worst of the rest lie where 59 like groups put them."""
    quantiles = norm.ppf((np.arange(59) + 0.5) / 59)
    errors = np.ones(60)
    spread = true_differences(np.append(quantiles, 4.0), errors)
    assert spread.corrected(4.0, 1.0, 60) > 3.5
    assert spread.corrected(float(quantiles.max()), 1.0, 60) < 1.0


def test_slices_without_an_error_say_nothing_of_true_differences() -> None:
    found, errors = np.array([0.1, -0.2, 0.3, 5.0]), np.array([0.1, 0.1, 0.2, 0.0])
    with_it, without = true_differences(found, errors), true_differences(found[:3], errors[:3])
    assert (with_it.values.tolist(), with_it.weights.tolist()) == (without.values.tolist(), without.weights.tolist())
    none = true_differences(np.array([]), np.array([]))
    assert (none.values.tolist(), none.weights.tolist()) == ([0.0], [1.0])
    assert with_it.corrected(5.0, 1e-9, 60) == pytest.approx(5.0, abs=1e-8)  # the errors that it was made of are larger


def test_the_winner_among_groups_that_are_alike_is_corrected() -> None:
    """60 groups of 50 rows, all alike: the worst looks 0.1 to 0.2 too bad, and its own limits may miss the truth."""
    frame, _ = alike(60, 50, seed=2)
    (worst,) = run(frame, metrics=["accuracy"], intervals=intervals(200), slice_rules={"max_levels": 60},
                   worst_slices={"metric": "accuracy", "columns": ["g"], "depth": 1, "top": 1}).worst_slices
    assert worst.searched == 60
    assert worst.difference < -0.1
    assert worst.value + 0.8 - worst.overall < 0.8 - 0.1
    assert worst.difference_corrected == pytest.approx(0.0, abs=0.1)
    assert worst.difference <= worst.difference_corrected <= 0
    assert (worst.difference_lower or 0) < 0 < (worst.difference_upper or 0)
    reach = norm.isf(0.025 / 60)  # Bonferroni, with the error that the p-value has
    error = -worst.difference / norm.isf((worst.p_value or 0) / 2)
    assert worst.difference_upper == pytest.approx(worst.difference + reach * error, rel=1e-9)


def test_a_group_without_a_fault_is_not_the_worst_for_having_no_error() -> None:
    """Of 60 groups of 30 rows about 24 have no fault at an accuracy of 0.97: their rows seem to have no error."""
    frame, _ = alike(60, 30, seed=3, mean=0.97)
    found = run(frame, metrics=["accuracy"], intervals=intervals(200), slice_rules={"max_levels": 60},
                worst_slices={"metric": "accuracy", "columns": ["g"], "depth": 1, "top": 3}).worst_slices
    assert all(row.difference < -0.05 for row in found)


def winners(size: int, spread: float, bad: float, mean: float, sets: int = 2000) -> dict[str, Any]:
    """Return by how much the worst of 60 groups is found too bad, raw and corrected, and what covers the truth."""
    generator, groups = np.random.default_rng(12), 60
    accuracy = np.clip(mean + spread * generator.normal(size=(sets, groups)), 0.02, 0.98)
    accuracy[:, 0] -= bad
    value = generator.binomial(size, accuracy) / size
    overall = value.mean(axis=1, keepdims=True)
    error = np.sqrt(np.maximum(value * (1 - value), overall * (1 - overall)) / (size - 1))
    gap, true = overall - value, accuracy.mean(axis=1, keepdims=True) - accuracy
    score = gap - 1.96 * error
    rows, first = np.arange(sets), score.argmax(axis=1)
    found, noise = gap[rows, first], error[rows, first]
    corrected = np.array([
        true_differences(gap[k], error[k]).corrected(float(found[k]), float(noise[k]), groups) for k in rows])
    away = found - true[rows, first]
    return {"raw": away.mean(), "corrected": (corrected - true[rows, first]).mean(),
            "error": np.sqrt((away**2).mean()), "error corrected": np.sqrt(((corrected - true[rows, first])**2).mean()),
            "limits as if not chosen": (abs(away) <= 1.96 * noise).mean(),
            "limits for all": (abs(away) <= reach_of_all(groups, 0.95) * noise).mean()}


@pytest.mark.nightly
@pytest.mark.parametrize(("size", "spread", "bad", "mean"), [
    (25, 0.0, 0.0, 0.8), (50, 0.0, 0.0, 0.8), (200, 0.0, 0.0, 0.8), (50, 0.05, 0.0, 0.8), (200, 0.05, 0.0, 0.8),
    (50, 0.0, 0.2, 0.8), (200, 0.0, 0.2, 0.8), (25, 0.0, 0.0, 0.97), (50, 0.0, 0.0, 0.97),
])
def test_the_winner_is_corrected_and_its_limits_cover(size: int, spread: float, bad: float, mean: float) -> None:
    """2,000 sets of 60 groups: alike, apart by 0.05, or one worse by 0.2; standard errors are at most 1.1 %."""
    simulated = winners(size, spread, bad, mean)
    print(size, spread, bad, mean, {name: round(float(value), 3) for name, value in simulated.items()})
    assert simulated["limits for all"] > 0.95
    assert abs(simulated["corrected"]) < max(0.035, abs(simulated["raw"]) / 4)
    assert simulated["error corrected"] < 1.2 * simulated["error"]
