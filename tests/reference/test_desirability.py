"""Desirability against the cases of the R package desirability2, and against eq. 15.28 to 15.30 of Kuhn's chapter.

desirability2 and evalpipe agree on all of these cases. They differ, by choice, elsewhere: a custom function holds its
ends here (desirability2: 0 below and 1 above, whichever way the curve goes), a missing value never drops out of the
overall desirability, no limit is taken from the data, and a scale of 0 is refused.
"""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evalpipe.chapters.desirability.compute_scale import custom, maximize, minimize, overall, ranks, target

FUNCTIONS = {"d_max": maximize, "d_min": minimize, "d_target": target}
CASES = 12


@pytest.fixture(scope="module")
def expected(reference: Path) -> Any:
    return json.loads((reference / "desirability" / "expected.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("place", range(CASES))
def test_the_cases_of_desirability2(expected: Any, place: int) -> None:
    case = expected["cases"][place]
    found = FUNCTIONS[case["fn"]](case["x"], **case["args"])

    # The exact values are written with 15 digits.
    assert found == pytest.approx(case["exact_by_formula"], abs=1e-12)
    assert found == pytest.approx(case["expected"], abs=case["tolerance"])


def test_no_case_is_left_out(expected: Any) -> None:
    assert len(expected["cases"]) == CASES
    assert {case["fn"] for case in expected["cases"]} == set(FUNCTIONS)


def test_beyond_its_ends_a_custom_function_stays_where_desirability2_jumps() -> None:
    # d_custom(c(-1, 2), c(0, 1), c(1, 0.5)) of desirability2 is 0 and 1: worse than 1 below, better than 0.5 above.
    assert custom([-1, 2], [0, 1], [1, 0.5]) == pytest.approx([1, 0.5])


def by_the_book(features: float, area: float) -> float:
    """Return D of a candidate by eq. 15.28 (fewer features), 15.29 (more area) and 15.30 (their geometric mean)."""
    low, high = 1.0, 200.0
    few = 1.0 if features < low else 0.0 if features > high else (features - high) / (low - high)
    low, high = 0.5, 0.9
    good = 0.0 if area < low else 1.0 if area > high else (area - low) / (high - low)
    return math.sqrt(few * good)


def test_the_300_candidates_are_ranked_as_by_the_book(expected: Any, reference: Path) -> None:
    with (reference / "desirability" / "classification_results.csv").open(encoding="utf-8") as lines:
        rows = [(float(row["num_features"]), float(row["roc_auc"])) for row in csv.DictReader(lines)]
    features, area = np.array(rows).T
    known = expected["overall"]
    found = overall(np.stack([minimize(features, 1, 200), maximize(area, 0.5, 0.9)], axis=-1), [1.0, 1.0])
    places = ranks(found)
    plain = [by_the_book(*row) for row in rows]

    # Two square roots and a product of double precision.
    assert found == pytest.approx(plain, abs=1e-12)
    assert len(found) == known["n"]
    assert found.sum() == pytest.approx(known["sum_overall"], abs=1e-9)
    assert [1 + int(i) for i in np.argsort(-found, kind="stable")[:5]] == known["top5_row_1based"]
    assert np.sort(found)[::-1][:5] == pytest.approx(known["top5_value"], abs=1e-12)
    assert places == [1 + sum(other > one + 1e-12 for other in plain) for one in plain]
