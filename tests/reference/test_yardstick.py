"""Every number yardstick asserts whose metric exists here. Tolerance 1e-9: its values are printed to 15 digits."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from evalpipe.engine.averages import values
from evalpipe.engine.curves.declare import CurveRows
from evalpipe.engine.curves.ranking import gain, lift, precision_recall, roc
from evalpipe.metrics import registry
from evalpipe.plan.measures import MetricPlan
from evalpipe.statistics import ClassRows, Summary
from reference.yardstick import CURVES, FOLDER, Case, NotApplicable, convert, read_cases, solubility

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the reference data are not beside the project")

def computed(case: Case) -> float:
    metric = registry[case.metric]
    return float(Summary(case.rows, case.weights).value(metric, metric.options(**case.options).model_dump()))

COMPUTED = {"gain_curve": gain, "lift_curve": lift, "pr_curve": precision_recall, "roc_curve": roc}


def assert_agrees(case: Case) -> None:
    if case.metric in CURVES:
        check_curve(case)
    else:
        # Where yardstick compares a literal of few digits loosely, all the digits it prints must agree.
        digits = len(str(case.expected).partition(".")[2])
        found = round(computed(case), digits) if case.loose else computed(case)
        assert found == pytest.approx(case.expected, rel=1e-9, abs=1e-9)


def check_curve(case: Case) -> None:
    kept = case.weights > 0
    rows = type(case.rows)(case.rows.truth[kept], case.rows.predicted[kept], case.rows.scored[kept])
    of_event = CurveRows("event", None, None, Summary(rows, case.weights[kept]))  # type: ignore[arg-type]
    made = COMPUTED[case.metric](of_event)
    assert made is not None
    points = made[0]
    expected = case.expected
    if case.metric == "lift_curve":
        assert points["lift"] == pytest.approx(expected[1:], abs=1e-9)  # its first point, 0/0, is no point of ours
        return
    highest_first = slice(None) if case.metric == "pr_curve" else slice(None, 0, -1)  # its ROC ends below every score
    assert [np.inf if x is None else x for x in points["threshold"]] == [
        float(str(x).lower()) for x in expected[".threshold"][highest_first]
    ]
    if case.metric == "pr_curve":
        assert points["recall"] == pytest.approx(expected["recall"], abs=1e-9)
        assert points["precision"] == pytest.approx(expected["precision"], abs=1e-9)
    else:
        assert points["sensitivity"] == pytest.approx(expected["sensitivity"][highest_first], abs=1e-9)
        specificity = [1 - (x or 0.0) for x in points["false_positive_rate"]]
        assert specificity == pytest.approx(expected["specificity"][highest_first], abs=1e-9)


def sorted_out() -> tuple[list[tuple[dict[str, Any], Case]], Counter[str]]:
    applicable, aside = [], Counter[str]()
    for raw in read_cases():
        try:
            applicable.append((raw, convert(raw)))
        except NotApplicable as reason:
            aside[str(reason)] += 1
    return applicable, aside


CASES, ASIDE = sorted_out() if FOLDER.exists() else ([], Counter())


@pytest.mark.parametrize("case", [case for _, case in CASES], ids=[raw["object"][:70] for raw, _ in CASES])
def test_yardstick_agrees(case: Case) -> None:
    assert_agrees(case)


def test_its_weights_of_the_two_ratios_are_no_counts() -> None:
    """Weighted, its variance takes weights for reliabilities and its quartiles are of type 4: neither repeats rows."""
    rows, weights = solubility()
    error, ours = (float(Summary(rows, weights).value(registry[name], {})) for name in ("rmse", "rpd"))
    total = weights.sum()
    reliable = np.sqrt((total - 1) / total / (1 - ((weights / total) ** 2).sum()))
    order = np.argsort(rows.truth, kind="stable")
    low, high = np.interp([0.25, 0.75], np.cumsum(weights[order]) / total, rows.truth[order])
    expected = {raw["metric"]: raw["expected"] for raw in read_cases() if raw["dataset"] == "solubility_test"}
    assert ours * reliable == pytest.approx(expected["rpd"], rel=1e-9)
    assert (high - low) / error == pytest.approx(expected["rpiq"], rel=1e-9)


MEANS = [
    ("sensitivity", "add", "adc", 0.75),  # of a and d; b and c do not occur
    ("precision", "abc", "ddd", 0.0),  # of d alone; the others are never predicted
    ("precision", "abc", "adb", 1 / 3),
    # yardstick leaves c out and says 5/6, since recall is undefined; the F measure itself is 0 there, not undefined.
    ("f1", "abb", "abc", (1 + 2 / 3 + 0) / 3),
]
"""Its tests of means over classes some of which have no value (#98), whose inputs the cases lack."""


@pytest.mark.parametrize(("name", "truth", "predicted", "mean"), MEANS)
def test_a_class_without_a_value_is_left_out_of_the_mean(name: str, truth: str, predicted: str, mean: float) -> None:
    levels, entry = "abcd"[: 3 if name == "f1" else 4], registry[name]
    codes, picked = (np.array([levels.index(letter) for letter in letters]) for letters in (truth, predicted))
    rows = ClassRows(codes, len(levels), picked)
    plan = MetricPlan(entry, {}, "none", "", "macro", ({},) * len(levels))
    assert float(values(Summary(rows, np.ones(3)), plan)) == pytest.approx(mean, rel=1e-12)


def test_every_case_is_accounted_for() -> None:
    print(f"agreed with yardstick: {len(CASES)} of {len(CASES)} applicable; aside: {dict(ASIDE)}")
    assert len(CASES) + ASIDE.total() == len(read_cases()) == 250
    assert len(CASES) >= 160
