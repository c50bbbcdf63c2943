"""The value without information: against R's exact expectations, every permutation of small data, and plain loops."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import evalpipe
from card.blocks import facts
from engine.runs import BOTH, people, read_sample, run
from evalpipe.card import method
from evalpipe.engine.averages import values
from evalpipe.engine.no_information import Independent, exact
from evalpipe.errors import SpecError
from evalpipe.intervals.resampling import stream
from evalpipe.metrics import registry
from evalpipe.metrics.declare import AVERAGES
from evalpipe.plan.measures import MetricPlan
from evalpipe.spec.core_keys import PERMUTATIONS
from evalpipe.statistics import NumberRows, Summary
from evalpipe.statistics.rows import RowsOfLevels
from laws import samples
from laws.test_number_metrics import VARIANTS

LIKE_LINEAR = {"brier_residual", "calibration_in_the_large", "cost_saved", "smape"}
"""Measures that are not linear, but of the rows here have the mean that a linear one would."""

CLOSED_FORMS = {"average_precision", "pr_auc", "rsq"}
"""Measures that are not linear and not of the cells alone, whose exact mean is known."""

N = 5
ORDERS = [np.array(order) for order in itertools.permutations(range(N))]


def small(task: str, *, ties: bool) -> Any:
    """Return five rows: all levels, hits and misses of two levels, and repeated scores where they have ties."""
    return samples.take(samples.rows(task, 60, 3, ties=ties), np.array([15, 22, 31, 32, 43]))


def planned(name: str, options: dict[str, Any], levels: int, average: str | None = None) -> MetricPlan:
    filled = samples.filled(registry[name], options, levels)
    return MetricPlan(registry[name], filled, "none", "", average, (filled,) * levels if average else ())


@cache
def pairings(task: str, *, ties: bool) -> list[Summary]:
    """Return all 120 pairings of five rows, whose statistics all measures share."""
    data = numbers() if task == "numbers" else small(task, ties=ties)
    return [Summary(data.paired(order), np.ones(N)) for order in ORDERS]


def by_hand(asked: MetricPlan, task: str, *, ties: bool = True) -> Any:
    """Return the mean of a measure over all 120 pairings of five rows in which it has a value."""
    found = np.stack([values(pairing, asked) for pairing in pairings(task, ties=ties)])
    known = ~np.isnan(found)
    total = np.where(known, found, 0.0).sum(axis=0)
    return np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(("name", "options", "task"), samples.CASES, ids=samples.IDS)
def test_the_exact_mean_is_that_of_all_pairings(name: str, options: dict[str, Any], task: str, ties: bool) -> None:
    """Tolerance 1e-10: the mean is over 120 sums, and a kappa of them cancels."""
    data = small(task, ties=ties)
    asked = planned(name, options, data.levels)
    check_exact(data, asked, by_hand(asked, task, ties=ties))


def check_exact(data: Any, asked: MetricPlan, expected: Any) -> None:
    """Check the exact mean, or that there is none: of a measure that must be drawn, declared linear it would differ."""
    entry = asked.metric
    found = exact(Summary(data, np.ones(N)), asked, counted=True)
    if found is not None:
        assert found == pytest.approx(expected, abs=1e-10, rel=1e-10, nan_ok=True)
        return
    assert entry.name not in CLOSED_FORMS
    assert not set(entry.statistics) <= {"tp", "fp", "fn", "tn"}
    try:
        of_linear = exact(Summary(data, np.ones(N)), replace(asked, metric=replace(entry, linear=True)), counted=True)
    except (KeyError, TypeError, ValueError):  # of fits, and of tables that have no mean
        of_linear = None
    like_linear = of_linear is not None and of_linear == pytest.approx(expected, abs=1e-10, rel=1e-10)
    assert not like_linear or entry.name in LIKE_LINEAR, f"declare {entry.name} with linear=True"


EACH = sorted({(name, tuple(options.items())) for name, options, task in samples.CASES if task == "binary"
               and registry[name].sees == "event"}, key=str)


@pytest.mark.parametrize(("name", "options"), EACH, ids=[f"{n}-{i}" for i, (n, _) in enumerate(EACH)])
def test_the_exact_mean_of_an_average_is_that_of_all_pairings(name: str, options: tuple[Any, ...]) -> None:
    data = small("many", ties=True)
    if "many" not in {"many" for task in registry[name].tasks if task != "binary"}:
        pytest.skip("is of two levels alone")
    for average in AVERAGES:
        asked = planned(name, dict(options), data.levels, average)
        found = exact(Summary(data, np.ones(N)), asked, counted=True)
        if registry[name].linear:
            assert found is not None
        if found is not None:
            assert found == pytest.approx(by_hand(asked, "many"), abs=1e-10, rel=1e-10, nan_ok=True)


@cache
def numbers() -> NumberRows:
    """Return five rows of counts with unequal predictions, one of them tied."""
    return NumberRows(
        np.array([1.0, 3, 2, 2, 5]), np.array([0.7, 3.1, 2.2, 0.7, 2.9]), np.array([0.9, 2.8, 2, 1.1, 2.5]),
        baseline=2.1,
    )


NUMBERS = [(entry.name, options) for entry in registry if entry.sees == "numbers"
           for options in VARIANTS.get(entry.name, ({},))]


@pytest.mark.parametrize(("name", "options"), NUMBERS, ids=[f"{n}-{i}" for i, (n, _) in enumerate(NUMBERS)])
def test_the_exact_mean_of_numbers_is_that_of_all_pairings(name: str, options: dict[str, Any]) -> None:
    asked = MetricPlan(registry[name], registry[name].options(**options).model_dump(), "none", "")
    check_exact(numbers(), asked, by_hand(asked, "numbers"))


def test_the_exact_mean_follows_the_weights() -> None:
    """Frequency weights are repeated rows to every exact mean."""
    times = np.array([2, 1, 3, 1, 2])
    for data, cases in (
        (small("binary", ties=True), [(n, o) for n, o, task in samples.CASES if task == "binary"]),
        (small("many", ties=True), [(n, o) for n, o, task in samples.CASES if task == "many"]),
        (numbers(), NUMBERS),
    ):
        repeated = data.at(np.repeat(np.arange(N), times))
        for name, options in cases:
            filled = samples.filled(registry[name], options, getattr(data, "levels", 2))
            asked = MetricPlan(registry[name], filled, "none", "")
            weighted = exact(Summary(data, times.astype(float)), asked, counted=True)
            plain = exact(Summary(repeated, np.ones(times.sum())), asked, counted=True)
            assert (weighted is None) == (plain is None)
            if weighted is not None:
                assert weighted == pytest.approx(plain, rel=1e-9, abs=1e-12, nan_ok=True), name


def test_importance_weights_leave_to_be_drawn_what_counts_rows() -> None:
    data, weights = small("binary", ties=True), np.array([0.3, 1.7, 1.1, 0.4, 2.2])
    for name, expected in (("odds_ratio", True), ("average_precision", True), ("sensitivity", False), ("brier", False)):
        asked = planned(name, {}, 2)
        assert (exact(Summary(data, weights), asked, counted=False) is None) == expected


def test_the_micro_average_without_information_is_known_exactly() -> None:
    """The micro sensitivity is then the chance that a random truth is a random prediction."""
    data = samples.rows("many")
    found = exact(Summary(data, np.ones(97)), planned("sensitivity", {}, 4, "micro"), counted=True)
    truth, predicted = (np.bincount(each, minlength=4) / 97 for each in (data.truth, data.predicted))
    assert found == pytest.approx(float((truth * predicted).sum()), rel=1e-12)


@pytest.mark.parametrize("average", ["macro", "macro_weighted", "none"])
def test_averages_are_over_what_each_class_would_be(average: str) -> None:
    data, entry = samples.rows("many"), registry["sensitivity"]
    asked = MetricPlan(entry, {}, "none", "", average, ({},) * 4)
    found = values(Independent(data, np.ones(97)), asked)  # type: ignore[arg-type]
    each = [(data.predicted == k).mean() for k in range(4)]  # a blind sensitivity is the share predicted
    by_size = np.average(each, weights=np.bincount(data.truth))
    expected = {"none": each, "macro": np.mean(each), "macro_weighted": by_size}
    assert found == pytest.approx(expected[average], rel=1e-12)


def test_r_agrees_on_the_mushrooms(reference: Path) -> None:
    r = json.loads((reference / "mushroom" / "r_reference.json").read_text())["permutation_exact"]
    data = pl.read_csv(reference / "mushroom" / "val.csv")
    results = evalpipe.evaluate(
        data["class"], data[".pred_poisonous"], event="poisonous", metrics=["log_loss", "brier", "roc_auc"],
        intervals={"method": "none"}, no_information=True,
    )
    found = {row.metric: row for row in results.rows}
    assert found["log_loss"].no_information == pytest.approx(r["logloss"], rel=1e-9)
    assert found["brier"].no_information == pytest.approx(r["brier"], rel=1e-9)
    assert found["roc_auc"].no_information == pytest.approx(0.5, rel=1e-12)
    assert found["roc_auc"].skill == pytest.approx(2 * found["roc_auc"].value - 1, rel=1e-12)
    assert found["brier"].skill == pytest.approx(1 - found["brier"].value / r["brier"], rel=1e-9)


def regression(**options: Any) -> Any:
    generator = np.random.default_rng(2)
    y = generator.normal(5, 2, 300)
    given = {"task": "regression", "metrics": ["mse", "rmse", "c_index", "r2"], "intervals": {"method": "none"}}
    return evalpipe.evaluate(y, prediction=y + generator.normal(0, 1, 300), no_information=True, **(given | options)), y


def test_other_measures_are_averaged_over_random_pairings() -> None:
    results, y = regression()
    p = results.rows[0]
    found = {row.metric: row for row in results.rows}
    assert p.no_information is not None
    generator = np.random.default_rng(2)
    y = generator.normal(5, 2, 300)
    prediction = y + generator.normal(0, 1, 300)
    mean = ((y[:, None] - prediction) ** 2).mean()
    assert found["mse"].no_information == pytest.approx(mean, rel=1e-12)
    assert found["c_index"].no_information == 0.5
    # 200 pairings of 300 rows: about 0.5 %.
    assert found["rmse"].no_information == pytest.approx(math.sqrt(mean), rel=0.01)
    assert found["r2"].skill is not None
    assert found["r2"].skill > 0


def test_random_pairings_are_the_same_every_time_and_follow_the_seed() -> None:
    assert regression()[0].to_json() == regression()[0].to_json()
    found = [regression(seed=seed)[0].rows[:2] for seed in (1, 2)]
    mean, root = ([rows[place].no_information for rows in found] for place in (0, 1))
    assert mean[0] == mean[1]  # exact
    assert root[0] != root[1]


@pytest.mark.parametrize(("asked", "pairings"), [
    (True, PERMUTATIONS), ({"permutations": 300}, 300), ({}, PERMUTATIONS)])
def test_as_many_pairings_are_drawn_as_the_spec_says(asked: Any, pairings: int) -> None:
    """The mean over the pairings of a plain loop; to 1e-12, for the sums are in another order."""
    generator = np.random.default_rng(2)
    frame = pl.DataFrame({"y": generator.normal(5, 2, 60)}).with_columns(p=pl.col("y") + generator.normal(0, 1, 60))
    keys: dict[str, Any] = {"task": "regression", "outcome": {"column": "y"}, "models": {"p": {"prediction": "p"}},
                            "metrics": ["rmse", "mse"], "intervals": {"method": "none"}, "no_information": asked}
    results, sample = run(frame, **keys), read_sample(frame, **keys)
    predicted = sample.models["p"].predicted
    assert predicted is not None
    drawn = [np.sqrt(np.mean((sample.truth[stream(0, "pairing", "d", number).permutation(60)] - predicted) ** 2))
             for number in range(pairings)]
    rmse, mse = results.rows
    assert rmse.no_information == pytest.approx(np.mean(drawn), rel=1e-12)
    assert mse.no_information == pytest.approx(np.mean((sample.truth[:, None] - predicted) ** 2), rel=1e-12)
    assert results.intervals.pairings == pairings
    said = facts(method.sections(results))["Without information"]
    assert f"otherwise over {pairings} random pairings" in said


def test_all_measures_share_the_statistics_of_one_pairing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many pairings as the spec says for each model, and again where rows are weighed to a prevalence.

    Measures that only findings rest on are drawn too, and each value is that of a run of the one measure.
    """
    paired, pairings = RowsOfLevels.paired, []

    def counted(rows: Any, index: Any) -> Any:
        pairings.append(len(index))
        return paired(rows, index)

    monkeypatch.setattr(RowsOfLevels, "paired", counted)
    at_prevalence = {"metric": "brier_refinement", "prevalence": 0.2}
    names = ["calibration_slope", "brier_reliability", "partial_roc_auc", "ks"]
    keys: dict[str, Any] = {"models": BOTH, "intervals": {"method": "none"}, "no_information": {"permutations": 20}}

    together = run(people(120), metrics=[*names, at_prevalence], **keys)
    assert pairings == [120] * 20 * 2 * len(BOTH)
    alone = [run(people(120), metrics=[measure], **keys).rows for measure in [*names, at_prevalence]]
    expected = {(row.model, row.metric): row.no_information for rows in alone for row in rows}
    assert {(row.model, row.metric): row.no_information for row in together.rows} == expected
    assert None not in expected.values()
    assert any(row.no_information is not None for row in together.diagnostics)


@pytest.mark.parametrize(("asked", "message"), [
    ({"permutations": 3}, "no_information.permutations: expected a whole number from 10 to 100,000, got 3"),
    ({"permutation": 300}, "no_information.permutation: unknown key 'permutation'"),
    (200, "no_information: expected true or false or a mapping with 'permutations', got 200"),
])
def test_other_settings_of_pairings_are_refused(asked: Any, message: str) -> None:
    with pytest.raises(SpecError) as fault:
        run(pl.DataFrame({"y": [0, 1], "p": [0.1, 0.9]}), no_information=asked)
    assert [problem.message for problem in fault.value.problems] == [message]


def test_the_page_on_methods_has_the_number_of_pairings(root: Path) -> None:
    assert f"over {PERMUTATIONS} random pairings" in (root / "docs" / "methods.md").read_text()


def test_without_the_key_nothing_is_said() -> None:
    given = {"event": 1, "metrics": ["brier"], "intervals": {"method": "none"}}
    row = evalpipe.evaluate([1, 0, 1], [0.9, 0.2, 0.4], **given).rows[0]
    assert (row.no_information, row.skill) == (None, None)
