"""Expressions of measures: value, limits and differences are those of the replicates of their measures."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtri, stdtrit

from engine.runs import BOTH, intervals, people, read_sample, run
from evalpipe.card.wording import names_of
from evalpipe.chapters.gates.card_sentences import gate_sentence
from evalpipe.data.catalog import look
from evalpipe.engine.estimates import Evaluated, evaluate_sample
from evalpipe.errors import SpecError
from evalpipe.plan.resolve import plan
from evalpipe.plan.sources import sources
from evalpipe.results import Estimate, Results
from evalpipe.run import load

N, DRAWS = 300, 400
EXACT = {"rel": 1e-12, "abs": 1e-12}
"""Both sides do the same arithmetic on the same replicates; what differs is the order of a few roundings, each 1e-16 of
numbers of the order of 1."""

RATIO = {"name": "ratio", "expression": "sensitivity / specificity", "direction": "maximize", "range": [0, None]}
MIXED = {
    "name": "mixed", "expression": "log(f2 + 1) - 0.5 * sqrt(low) * roc_auc ** 2",
    "of": {"f2": {"metric": "f_beta", "beta": 2}, "low": {"metric": "ppv", "prevalence": 0.05}},
}
PARTS = [
    "sensitivity", "specificity", {"metric": "f_beta", "beta": 2}, {"metric": "ppv", "prevalence": 0.05}, "roc_auc"]
SPEC: dict[str, Any] = {
    "models": BOTH, "metrics": [*PARTS, RATIO, MIXED], "intervals": intervals(DRAWS), "slices": ["s"],
    "compare": {"baseline": "q"}, "seed": 7,
}


def by_hand(values: list[Any]) -> tuple[Any, Any]:
    """Return ratio and mixed from the values, or the replicates, of their measures."""
    sensitivity, specificity, f2, low, auc = values
    return sensitivity / specificity, np.log(f2 + 1) - 0.5 * np.sqrt(low) * auc**2


@cache
def dataset() -> Evaluated:
    """Return the engine's own statistics and replicates of the measures and the expressions."""
    spec = {"evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1},
            "datasets": {"d": {"path": "memory"}}, "report": {"formats": []}, **SPEC}
    loaded, frames = load(spec), {"d": people(N)}
    return evaluate_sample(plan(loaded, look(sources(loaded), frames)), read_sample(people(N), **SPEC))


@cache
def results() -> Results:
    return run(people(N), **SPEC)


def of(rows: list[Estimate], metric: str, model: str, slice_: dict[str, str] | None = None) -> Estimate:
    (row,) = [row for row in rows if (row.metric, row.model, row.slice) == (metric, model, slice_)]
    return row


@pytest.mark.parametrize("slice_", [None, {"s": "a"}, {"s": "b"}])
@pytest.mark.parametrize("model", ["p", "q"])
@pytest.mark.parametrize("number", [0, 1])
def test_value_and_interval_are_those_of_the_measures_replicates(
    number: int, model: str, slice_: dict[str, str] | None
) -> None:
    subset = next(k for k, subset in enumerate(dataset().subsets) if subset.slice == slice_)
    parts = [of(results().rows, metric, model, slice_).value
             for metric in ("sensitivity", "specificity", "f_beta", "ppv", "roc_auc")]
    drawn = [dataset().replicates.metrics[model, subset, i] for i in range(len(PARTS))]

    row = of(results().rows, ("ratio", "mixed")[number], model, slice_)
    replicates = by_hand(drawn)[number]

    assert row.value == pytest.approx(float(by_hand(parts)[number]), **EXACT)
    assert (row.lower, row.upper) == pytest.approx(
        tuple(np.quantile(replicates[~np.isnan(replicates)], [0.025, 0.975])), **EXACT)
    assert (row.method, row.status, row.undefined_replicates) == ("percentile", "ok", 0)
    np.testing.assert_allclose(
        dataset().replicates.metrics[model, subset, len(PARTS) + number], replicates, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("number", [0, 1])
def test_the_paired_difference_is_that_of_replicates_drawn_together(number: int) -> None:
    name = ("ratio", "mixed")[number]
    values, drawn = ([by_hand(parts)[number] for parts in pair] for pair in (
        [[of(results().rows, metric, model).value
          for metric in ("sensitivity", "specificity", "f_beta", "ppv", "roc_auc")] for model in "pq"],
        [[dataset().replicates.metrics[model, 0, i] for i in range(len(PARTS))] for model in "pq"]))
    low, high = np.quantile(drawn[0] - drawn[1], [0.025, 0.975])
    reach = stdtrit(N - 1, 0.975) * (high - low) / (2 * ndtri(0.975))

    (row,) = [row for row in results().comparisons if row.metric == name and row.slice is None]

    difference = float(values[0] - values[1])
    assert (row.model, row.baseline, row.method) == ("p", "q", "bootstrap_error")
    assert row.difference == pytest.approx(difference, **EXACT)
    assert (row.lower, row.upper) == pytest.approx((difference - reach, difference + reach), **EXACT)
    decided = "better" if difference > reach else "worse" if -difference > reach else "undecided"
    assert row.verdict == (decided if number == 0 else "no_direction")


def test_the_difference_of_a_slice_is_that_of_replicates_drawn_together() -> None:
    subset = next(k for k, subset in enumerate(dataset().subsets) if subset.slice == {"s": "a"})
    inside, whole = (by_hand([dataset().replicates.metrics["p", k, i] for i in range(len(PARTS))])[0]
                     for k in (subset, 0))
    low, high = np.quantile(inside - whole, [0.025, 0.975])
    n = min(dataset().subsets[subset].n, N)
    reach = stdtrit(n - 1, 0.975) * (high - low) / (2 * ndtri(0.975))

    (row,) = [row for row in results().slice_differences
              if (row.metric, row.model, row.slice) == ("ratio", "p", {"s": "a"})]

    value = of(results().rows, "ratio", "p", {"s": "a"}).value, of(results().rows, "ratio", "p").value
    assert row.difference == pytest.approx(value[0] - value[1], **EXACT)  # type: ignore[operator]
    assert (row.lower, row.upper) == pytest.approx((row.difference - reach, row.difference + reach), **EXACT)  # type: ignore[operator]


@pytest.mark.parametrize("method", ["basic", "bca", "studentised"])
def test_an_expression_of_one_measure_has_that_measures_limits(method: str) -> None:
    twice = {"name": "same", "expression": "mcc * 1"}
    rows = run(people(N), metrics=["mcc", twice], intervals=intervals(DRAWS, method=method)).rows

    first, second = rows
    assert (second.value, second.lower, second.upper, second.method) == (
        first.value, first.lower, first.upper, first.method)


def test_frequency_weights_count_as_repeated_rows() -> None:
    frame = people(120).with_columns(times=pl.col("times").clip(1, 3))
    repeated = frame.select(pl.all().repeat_by("times").explode())
    keys: dict[str, Any] = {"metrics": [RATIO, MIXED], "intervals": intervals(100, method="none")}

    weighted = run(frame, **keys, weight={"column": "times", "kind": "frequency"}).rows
    assert [row.value for row in weighted] == pytest.approx([row.value for row in run(repeated, **keys).rows], **EXACT)


def test_a_measure_that_grows_with_the_rows_is_scaled_within_an_expression() -> None:
    share = {"name": "share", "expression": "misclassifications / 300"}
    keys: dict[str, Any] = {"intervals": intervals(DRAWS, resampling="poisson")}

    counted, divided = run(people(N), metrics=["misclassifications", share], **keys, compare={"baseline": "q"},
                           models=BOTH).comparisons
    assert divided.lower == pytest.approx(counted.lower / 300, **EXACT)  # type: ignore[operator]


def test_an_uncertain_prevalence_is_drawn_for_the_measures_of_an_expression() -> None:
    doubled = {"name": "doubled", "expression": "2 * ppv"}
    plain, twice = run(people(N), metrics=["ppv", doubled], prevalence={"beta": [4, 36]},
                       intervals=intervals(DRAWS)).rows

    assert (twice.value, twice.lower, twice.upper) == pytest.approx(
        tuple(2 * number for number in (plain.value, plain.lower, plain.upper)), **EXACT)  # type: ignore[operator]


def test_on_a_grid_the_expression_is_of_the_measures_on_it() -> None:
    same = {"name": "same", "expression": "1 * roc_auc"}
    percentile = intervals(DRAWS, method="percentile")
    plain, expressed = run(people(3000, digits=6), metrics=["roc_auc", same], intervals=percentile,
                           engine={"mode": "grid"}).rows

    assert (expressed.value, expressed.lower, expressed.upper) == (plain.value, plain.lower, plain.upper)
    assert expressed.error_bound == plain.error_bound


def test_a_value_that_does_not_exist_is_undefined_with_the_expression() -> None:
    gone = {"name": "gone", "expression": "sensitivity / (specificity - specificity)"}
    (row,) = run(people(N), metrics=[gone], intervals=intervals(DRAWS)).rows

    assert (row.value, row.lower, row.status) == (None, None, "undefined")
    assert row.reason == ("sensitivity / (specificity - specificity): one of its measures is undefined or it divides "
                          "by zero")


def test_replicates_without_a_value_make_an_interval_unreliable() -> None:
    often = {"name": "often", "expression": "log(sensitivity - 0.7)"}
    (value,) = run(people(N), metrics=["sensitivity"], intervals=intervals(DRAWS)).rows
    assert value.value is not None
    often["expression"] = f"log(sensitivity - {value.value - 0.02!r})"
    (row,) = run(people(N), metrics=[often], intervals=intervals(DRAWS)).rows

    assert row.status == "degenerate"
    assert row.reason == (
        f"undefined in {row.undefined_replicates} of {DRAWS} replicates: {often['expression']}: one of its measures is "
        "undefined or log is taken of a number not above zero")
    assert row.undefined_replicates > DRAWS / 20


def test_a_value_beyond_its_range_is_unreliable_and_has_no_limits() -> None:
    wrong = {"name": "wrong", "expression": "sensitivity + 1", "range": [0, 1]}
    (row,) = run(people(N), metrics=[wrong], intervals=intervals(DRAWS)).rows

    assert (row.status, row.lower, row.reason) == (
        "degenerate", None, "beyond the range that the spec gives it, 0 to 1")


def test_no_information_pairs_the_measures_of_an_expression_alike() -> None:
    rows = run(people(N), metrics=["accuracy", {"name": "same", "expression": "accuracy ** 1", "direction": "maximize",
                                                "range": [0, 1]},
                                     {"name": "apart", "expression": "rare / accuracy", "of": {
                                         "rare": {"metric": "accuracy", "prevalence": 0.05}}}],
               intervals=intervals(DRAWS, method="none"), no_information=True).rows

    plain, same, apart = (row.no_information for row in rows)
    # The one is exact, the other the mean of 200 random pairings, whose standard deviation is sqrt(p q r s / n) < 0.03.
    assert same == pytest.approx(plain, abs=4 * 0.03 / 200**0.5)
    assert rows[1].skill is not None
    assert apart is None  # of a measure at a prevalence of its own


def test_several_levels_are_averaged_measure_by_measure() -> None:
    frame = people(N).with_columns(k=pl.col("s"), c=pl.when(pl.col("p") > 0.4).then(pl.col("s")).otherwise(pl.lit("a")))
    spread = {"name": "spread", "expression": "plain - pooled", "of": {
        "plain": {"metric": "recall", "average": "macro"}, "pooled": {"metric": "recall", "average": "micro"}}}
    rows = run(frame, task="multiclass", outcome={"column": "k", "levels": ["a", "b", "c"]},
               models={"m": {"prediction": "c"}}, metrics=[{"metric": "recall", "average": ["macro", "micro"]}, spread],
               intervals={"replicates": DRAWS}).rows

    assert rows[2].value == pytest.approx(rows[0].value - rows[1].value, **EXACT)  # type: ignore[operator]
    assert (rows[2].average, rows[2].class_) == (None, None)


def test_numbers_have_expressions_too() -> None:
    metrics = ["rmse", "mae", {"name": "tail", "expression": "rmse / mae", "title": "Weight of the tails"}]
    judged = run(people(N), task="regression", outcome={"column": "age"}, models={"m": {"prediction": "heavy"}},
                metrics=metrics, intervals={"replicates": DRAWS})

    rmse, mae, tail = (row.value for row in judged.rows)
    assert tail == pytest.approx(rmse / mae, **EXACT)  # type: ignore[operator]


def test_no_limits_where_those_of_a_measure_invert_its_noise() -> None:
    (row,) = run(people(N), metrics=[{"name": "share", "expression": "ece / brier"}], intervals=intervals(DRAWS)).rows

    assert (row.lower, row.method, row.status) == (None, "none", "ok")
    (chosen,) = run(people(N), metrics=[{"name": "share", "expression": "ece / brier"}],
                    intervals=intervals(DRAWS)).intervals.methods["share"]
    assert (chosen.method, chosen.reason) == (
        "none", ("no limits of an expression of ece are known: a sum of distances; noise makes it larger, and "
                 "resampling larger still: the limits invert the noise"))


def test_results_say_what_an_expression_is() -> None:
    summary = {metric.name: metric for metric in results().metrics}["mixed"]

    assert summary.expression == "log(f2 + 1) - 0.5 * sqrt(low) * roc_auc ** 2"
    assert summary.measures == {
        "f2": "f_beta, beta = 2", "low": "ppv, prevalence = 0.05", "roc_auc": "roc_auc"}
    assert summary.definition == (
        "Computed from f2 (f_beta, beta = 2), low (ppv, prevalence = 0.05) and ROC AUC as log(f2 + 1) - 0.5 * "
        "sqrt(low) * roc_auc ** 2.")
    assert (summary.title, summary.direction, summary.range) == ("Mixed", "none", (None, None))
    (chosen,) = results().intervals.methods["ratio"]
    assert (chosen.method, chosen.reason) == (
        "percentile", "computed anew in every replicate from its measures, which are drawn together")


def test_goals_gates_rates_disparities_and_the_search_take_an_expression_by_its_name() -> None:
    judged = run(
        people(N), models=BOTH, metrics=[RATIO], intervals=intervals(100), slices=["s"],
        slice_rules={"disparities": ["ratio"], "min_rows": 10}, worst_slices={"metric": "ratio", "columns": ["h"]},
        compare={"baseline": "q", "margins": {"ratio": 0.5}},
        threshold={"maximize": "ratio", "subject_to": {"specificity": {"min": 0.8}}, "on": {"folds": 3}},
        reference_rates=[{"name": "rival", "metric": "ratio", "value": 0.8}],
        desirability=[{"metric": "ratio", "maximize": {"low": 0, "high": 2}}],
        gates=[{"metric": "ratio", "min": 0.01}, {"desirability": "maximize ratio", "min": 0.01}],
        card={"intended_use": "Of {{ value('ratio', model='p') }}."})

    assert [(gate.metric, gate.desirability, gate.verdict) for gate in judged.gates] == [
        ("ratio", None, "pass")] * 2 + [(None, "maximize ratio", "pass")] * 2
    assert {row.metric for table in (judged.reference_rates, judged.worst_slices, judged.comparisons)
            for row in table} == {"ratio"}
    assert {row.disparity for row in judged.disparities} == {"ratio"}
    assert [number.metric for number in judged.statement.numbers] == ["ratio"]
    assert judged.thresholds[0].metric == "ratio"


def test_a_gate_against_an_earlier_run_is_skipped_where_the_expression_was_another(tmp_path: Any) -> None:
    keys: dict[str, Any] = {"intervals": intervals(100)}
    earlier = run(people(N), metrics=[RATIO], **keys)
    (tmp_path / "results.json").write_text(earlier.to_json())
    gate = {"metric": "ratio", "max_decrease": 1.0, "against": {"results": str(tmp_path)}, "optional": True}

    (same,) = run(people(N), metrics=[RATIO], gates=[gate], **keys).gates
    other = RATIO | {"expression": "specificity / sensitivity"}
    later = run(people(N), metrics=[other], gates=[gate], **keys)
    (changed,) = later.gates

    assert same.verdict == "pass"
    assert changed.verdict == "skipped"
    assert gate_sentence(names_of(later), changed) == (
        f"Ratio was not compared: in the earlier run at {tmp_path}, Ratio is another expression.")


def test_an_expression_that_cannot_be_read_is_refused_without_a_file() -> None:
    with pytest.raises(SpecError) as refused:
        run(people(N), metrics=[RATIO | {"expression": "sensitivity / specificity.real"}])

    assert str(refused.value) == (
        "error[bad-expression]: metrics[0].expression: '.' cannot stand in an expression, at character 26 of the "
        "expression\n  = help: a measure has no parts; its options stand under 'of'")
