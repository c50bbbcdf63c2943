"""The numbers at marked thresholds, against counts of rows and against the estimates at the same threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sklearn.metrics import roc_auc_score

from engine.runs import intervals, numbers, people, run
from evalpipe.results.curves.events import MarkedMeasures, Marks

if TYPE_CHECKING:
    import polars as pl

    from evalpipe.results import Results

MARKS = (0.1, 0.5, 0.9)
HARD = ["sensitivity", "specificity", "precision", "f1"]


def marks(results: Results, model: str = "p") -> Marks:
    (curve,) = (curve for curve in results.curves if isinstance(curve, Marks) and curve.model == model)
    return curve


def marked(frame: pl.DataFrame, **keys: Any) -> Results:
    return run(frame, **{"curves": {"marks": [0.5, 0.9, 0.1]}, "metrics": HARD, "intervals": {"method": "auto"}} | keys)


def test_rates_at_marks_are_those_of_counted_rows() -> None:
    frame = people(400)
    points = marks(marked(frame)).points
    truth, score = frame["y"].to_numpy(), frame["p"].to_numpy()
    assert points.threshold == list(MARKS)  # in order, whatever the order of the spec
    for place, cut in enumerate(MARKS):
        said = score >= cut
        sensitivity, tested = said[truth == 1].mean(), said.mean()
        # Ratios of the same whole numbers, so equal to rounding.
        assert points.sensitivity[place] == pytest.approx(sensitivity, abs=1e-15)
        assert points.specificity[place] == pytest.approx(1 - said[truth == 0].mean(), abs=1e-15)
        assert points.false_positive_rate[place] == pytest.approx(said[truth == 0].mean(), abs=1e-15)
        assert points.precision[place] == pytest.approx(truth[said].mean(), abs=1e-15)
        assert points.tested[place] == pytest.approx(tested, abs=1e-15)
        assert points.lift[place] == pytest.approx(sensitivity / tested, abs=1e-14)


def test_the_area_and_gini_are_noted() -> None:
    frame = people(400)
    notes, area = marks(marked(frame)).notes, roc_auc_score(frame["y"], frame["p"])
    assert (notes.roc_auc, notes.gini) == pytest.approx((area, 2 * area - 1), abs=1e-12)


@pytest.mark.parametrize("name", ["sensitivity", "specificity", "precision"])
@pytest.mark.parametrize("keys", [{}, {"weight": {"column": "times", "kind": "frequency"}}])
def test_limits_at_the_threshold_in_use_are_those_of_the_estimates(name: str, keys: dict[str, Any]) -> None:
    results = marked(people(400), **keys)
    columns, row = marks(results).points.columns, next(row for row in results.rows if row.metric == name)
    at = MARKS.index(0.5)
    assert (columns[name][at], columns[f"{name}_lower"][at], columns[f"{name}_upper"][at]) == pytest.approx(
        (row.value, row.lower, row.upper), abs=1e-15)
    assert marks(results).notes.method == row.method == "exact"


def test_clusters_draw_the_limits() -> None:
    results = run(people(300), curves={"marks": [0.5]}, metrics=["sensitivity"], cluster="who",
                  intervals={"replicates": 200})
    curve, row = marks(results), results.rows[0]
    assert (curve.notes.method, row.method) == ("percentile", "percentile")
    # The same replicates at the same threshold.
    assert (curve.points.sensitivity_lower[0], curve.points.sensitivity_upper[0]) == pytest.approx(
        (row.lower, row.upper), abs=1e-12)


def test_marks_without_intervals_have_none() -> None:
    curve = marks(marked(people(200), intervals={"method": "none"}))
    assert curve.notes.method == "none"
    assert curve.points.sensitivity_lower == curve.points.tested_upper == [None] * 3


def test_every_measure_of_classes_has_its_value_at_the_marks() -> None:
    results = marked(people(400))
    (curve,) = (curve for curve in results.curves if isinstance(curve, MarkedMeasures))
    assert list(curve.points.measures) == HARD
    for name, column in curve.points.measures.items():
        row = next(row for row in results.rows if row.metric == name)
        assert column[MARKS.index(0.5)] == row.value


def test_above_all_scores_nothing_is_predicted() -> None:
    points = marks(marked(people(200), curves={"marks": [1.0]})).points
    assert (points.sensitivity, points.tested, points.precision, points.lift) == ([0.0], [0.0], [None], [None])


def test_marks_of_a_rank_are_in_its_units() -> None:
    frame = people(300)
    as_rank = run(frame.with_columns(r=50 * frame["p"]), models={"p": {"score": "r"}}, metrics=["roc_auc"],
                  curves={"marks": [5, 25, 45]}, intervals=intervals(100))
    assert marks(as_rank).points.sensitivity == marks(marked(frame)).points.sensitivity


def test_a_grid_never_divides_a_mark() -> None:
    # On a grid of cells rows are joined; a mark inside a cell would give replicates another rate than the value's.
    frame = people(4000, digits=6)
    keys: dict[str, Any] = {"curves": {"marks": [0.123456]}, "metrics": ["sensitivity"],
                            "intervals": {"method": "percentile", "replicates": 200}}
    coarse, exact = (marks(run(frame, engine={"mode": mode}, **keys)).points for mode in ("grid", "exact"))
    assert coarse.sensitivity == exact.sensitivity
    # Both draw the same law: limits from 200 replicates differ by Monte-Carlo error, below a third of their width.
    width = (exact.sensitivity_upper[0] or 0) - (exact.sensitivity_lower[0] or 0)
    assert coarse.sensitivity_lower[0] == pytest.approx(exact.sensitivity_lower[0], abs=width / 3)


def test_without_the_key_nothing_changes() -> None:
    frame = people(200)
    plain, with_marks = (run(frame, metrics=HARD, intervals=intervals(100), **keys)
                         for keys in ({}, {"curves": {"marks": [0.3]}}))
    assert "curves" not in plain.spec
    kept = with_marks.model_copy(update={"curves": [
        curve for curve in with_marks.curves if not isinstance(curve, Marks | MarkedMeasures)]})
    assert numbers(kept) == numbers(plain)
