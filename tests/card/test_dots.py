from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.runs import intervals, people, run
from evalpipe.card.page import plain
from evalpipe.card.summary import MOST_LINES, _non_overlapping_ticks, dot_plots
from evalpipe.chapters.gates.records import Gate, GateReason
from evalpipe.results import Results
from evalpipe.words.spelling import clipped


def gate(metric: str, **limit: float) -> Gate:
    return Gate(metric=metric, dataset="validation", model="model_0", gate=1, on="interval", limit=limit,
                observed=0.1, lower=None, upper=None, level=None, method="none", verdict="pass",
                severity="fail", reason=GateReason(code="text", text="r"))


def with_groups(results: Results, metric: str, values: dict[str, float]) -> Results:
    """Return the results with the measure of the first model in a group of each name."""
    whole = next(row for row in results.rows if row.metric == metric)
    rows = [whole.model_copy(update={"slice": {"season": name}, "value": value, "lower": None, "upper": None})
            for name, value in values.items()]
    return results.model_copy(update={"rows": [*results.rows, *rows]})


def test_the_key_measures_of_all_rows_are_drawn_where_nothing_is_required(results: Results) -> None:
    plots = dot_plots(results)
    titles = ["ROC AUC, validation", "Brier score, validation", "Log loss, validation"]
    assert [plot.title for plot in plots] == titles
    names = [clipped(model.label) for model in results.models]
    assert [[dot.label for dot in plot.dots] for plot in plots] == [names] * 3
    assert all(plot.caption == "" and plot.limits == () for plot in plots)


def test_a_measure_that_is_required_is_drawn_with_its_limit(results: Results) -> None:
    (plot,) = dot_plots(results.model_copy(update={"gates": [gate("brier", max=0.2)]}))
    assert (plot.title, plot.caption) == ("Brier score, validation", "Dashed line: required limit, 0.2.")
    assert 0 <= plot.limits[0] <= 100


def test_of_a_group_that_failed_the_measure_is_drawn_alone_worst_first() -> None:
    frame = people(1500)
    bad = frame.with_columns(p=frame["p"].zip_with(frame["s"] != "b", 1 - frame["p"]))
    keys = {"metrics": ["roc_auc", "sensitivity"], "intervals": intervals(100), "slices": ["s"], "gates": [
        {"metric": "roc_auc", "min": 0.1}, {"metric": "sensitivity", "min": 0.55, "slices": "all"}]}
    (plot,) = dot_plots(run(bad, **keys))
    values = [dot.at for dot in plot.dots[1:]]
    assert (plot.title, plot.dots[0].label, plot.dots[1].label) == ("Sensitivity", "All", "B")
    assert values == sorted(values)
    # Where several datasets are evaluated, the one is drawn where the gate failed, and named.
    (later,) = dot_plots(run({"good": frame.filter(frame["s"] != "b"), "bad": bad}, **keys))
    assert later.title == "Sensitivity, bad"


def test_without_gates_the_measure_of_the_first_failure_is_drawn_its_group_first(
    example: Callable[[str], Path],
) -> None:
    results = Results.read(example("slices") / "results.json")
    first = next(finding for finding in results.findings if finding.kind == "fails")
    assert "finds 0 of 32 events for gender = male, class = 3rd" in first.text
    (plot,) = dot_plots(results)
    assert (plot.title, plot.dots[0].label) == ("Sensitivity", "All, Logistic regression")
    assert [dot.label for dot in plot.dots[2:4]] == ["Male, 3rd, Logistic regression", "Male, 3rd, Random forest"]


def test_measures_of_failed_gates_come_first() -> None:
    gates = [{"metric": "roc_auc", "min": 0.1}, {"metric": "accuracy", "min": 0.99}]
    plots = dot_plots(run(people(300), metrics=["roc_auc", "accuracy"], intervals=intervals(100), gates=gates))
    assert [plot.title for plot in plots] == ["Accuracy", "ROC AUC"]


def test_all_of_many_models_are_drawn(build: Any) -> None:
    (plot, *others) = dot_plots(build(datasets=1, models=7))
    assert len(plot.dots) == 7
    assert others == []


@pytest.mark.parametrize(("metric", "worst"), [("brier", "g11"), ("accuracy", "g0")])
def test_of_many_groups_the_worst_are_drawn_and_the_others_counted(results: Results, metric: str, worst: str) -> None:
    many = with_groups(results, metric, {f"g{k}": 0.3 + k / 100 for k in range(12)})
    (plot,) = dot_plots(many.model_copy(update={"gates": [gate(metric, max=0.2)]}))
    labels = [dot.label for dot in plot.dots]
    assert labels[:2] == [f"All, {clipped(model.label)}" for model in results.models]
    assert f"{worst.capitalize()}, Naive Bayes" in labels
    assert len(labels) == 2 + (MOST_LINES - 2) // 2
    assert plot.caption == "Dashed line: required limit, 0.2. The 4 worst of 12 groups are drawn."


def test_one_group_alone_is_said_to_be_one(results: Results) -> None:
    groups = {f"g{k}": 0.3 + k / 100 for k in range(12)}
    many = with_groups(with_groups(results, "brier", groups), "accuracy", groups)
    gates = [gate("brier", max=0.2), gate("accuracy", min=0.2)]
    captions = [plot.caption for plot in dot_plots(many.model_copy(update={"gates": gates}))]
    assert captions == ["Dashed line: required limit, 0.2. The worst of 12 groups is drawn."] * 2


def test_every_dot_and_its_limits_lie_on_the_axis_and_small_differences_are_not_drawn_large(results: Results) -> None:
    for plot in dot_plots(results):
        places = [place for dot in plot.dots for place in (dot.low, dot.at, dot.high) if place is not None]
        assert all(0 <= place <= 100 for place in places)
        assert [text for _, text in plot.ticks]
    same = [row.model_copy(update={"value": 0.5, "lower": 0.499, "upper": 0.501}) for row in results.rows
            if row.metric == "roc_auc"]
    (plot,) = dot_plots(results.model_copy(update={"rows": same}))
    (low,), (high,) = ({dot.low for dot in plot.dots}, {dot.high for dot in plot.dots})
    assert low is not None
    assert high is not None
    assert high - low == pytest.approx(2, abs=0.02)  # 0.002 of an axis that is 0.1 wide, in per cent, rounded to 0.01
    assert plain(plot.dots[0].text).startswith("0.500")


@pytest.mark.parametrize(("places", "kept"), [
    ((7, 34, 61, 88), (34, 61, 88)), ((20, 47, 74, 96), (20, 47, 74)), ((7, 60), (7, 60)), ((3, 50, 97), (3, 50, 97)),
])
def test_numbers_of_ticks_that_are_set_inward_do_not_meet_the_next(
    places: tuple[float, ...], kept: tuple[float, ...]
) -> None:
    assert _non_overlapping_ticks([(place, "0.175") for place in places]) == tuple((place, "0.175") for place in kept)


def test_nothing_is_drawn_where_no_measure_has_a_value(results: Results) -> None:
    none = [row.model_copy(update={"value": None, "lower": None, "upper": None, "status": "undefined"})
            for row in results.rows]
    assert dot_plots(results.model_copy(update={"rows": none})) == ()


def test_values_that_nearly_agree_have_a_wide_axis_whatever_the_measure(results: Results) -> None:
    loss = next(metric for metric in results.metrics if metric.name == "brier").model_copy(update={
        "name": "log_loss", "range": (0.0, None)})
    row = next(row for row in results.rows if row.metric == "brier" and row.slice is None and row.value is not None)
    rows = [row.model_copy(update={"metric": "log_loss", "model": model.name, "value": 0.591 + k * 1e-5,
                                   "lower": None, "upper": None}) for k, model in enumerate(results.models)]
    (plot,) = dot_plots(results.model_copy(update={"metrics": [loss], "rows": rows}))

    assert [round(dot.at) for dot in plot.dots] == [50] * len(rows)
    assert [text for _, text in plot.ticks] == ["0.58", "0.6", "0.62"]
