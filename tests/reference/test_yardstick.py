"""Every number yardstick asserts whose metric exists here. Tolerance 1e-9: its values are printed to 15 digits."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from evalpipe.engine.curves import threshold_curves
from evalpipe.metrics import registry
from evalpipe.statistics import Summary
from reference.yardstick import CURVES, FOLDER, Case, NotApplicable, convert, read_cases

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the reference data are not beside the project")

def computed(case: Case) -> float:
    metric = registry[case.metric]
    return float(Summary(case.rows, case.weights).value(metric, metric.options(**case.options).model_dump()))


def check(case: Case) -> None:
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
    points = next(p for name, p, _ in threshold_curves(Summary(rows, case.weights[kept])) if name == case.metric[:-6])
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
    check(case)


def test_every_case_is_accounted_for() -> None:
    print(f"agreed with yardstick: {len(CASES)} of {len(CASES)} applicable; aside: {dict(ASIDE)}")
    assert len(CASES) + ASIDE.total() == len(read_cases()) == 250
    assert len(CASES) >= 100
