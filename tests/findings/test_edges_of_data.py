"""Rules on groups, drift, zeros, goals and priors where they are so, where they are not, and on the edge."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import evalpipe
from evalpipe.findings.numbers import zeros
from evalpipe.results import Results
from findings.faults import FAULTS
from findings.rule import only

EDGE = 1e-6
NORMAL = 1.959963984540054
"""The 97.5% quantile of the standard normal distribution."""


@cache
def judged(name: str) -> Results:
    planted = FAULTS[name]()
    return evalpipe.run(planted.spec, frames=planted.frames)


def changed(results: Results, table: str, **numbers: Any) -> Results:
    """Return results in which all rows of a table have other numbers."""
    rows = [row.model_copy(update=numbers) for row in getattr(results, table)]
    return results.model_copy(update={table: rows})


@pytest.mark.parametrize(("value", "lower", "upper", "many"), [
    (0.2, 0.1, 0.4 - EDGE, 1), (0.2, 0.1, 0.4 + EDGE, 0), (0.5, 0.45, 0.6, 0), (None, None, None, 0),
])
def test_a_group_fails_a_gate_of_all_rows_by_its_interval(
    monkeypatch: pytest.MonkeyPatch, value: float | None, lower: float | None, upper: float | None, many: int,
) -> None:
    results = judged("a_group_below_a_gate")
    rows = [row.model_copy(update={"value": value, "lower": lower, "upper": upper}) if row.slice == {"g": "b"} else row
            for row in results.rows if row.slice in (None, {"g": "b"})]
    said = only(results.model_copy(update={"rows": rows}), "groups_against_gates", monkeypatch)
    assert [(kind, "p fails for g = b" in text) for kind, text in said] == [("fails", True)] * many


@pytest.mark.parametrize(("difference", "p_value", "many"), [
    (0.1, 0.05 - EDGE, 1), (0.1, 0.05 + EDGE, 0), (-0.1, 0.001, 0), (0.1, None, 0), (None, None, 0),
])
def test_a_group_is_worse_by_the_p_value_of_its_difference(
    monkeypatch: pytest.MonkeyPatch, difference: float | None, p_value: float | None, many: int,
) -> None:
    results = judged("a_bad_group")
    rows = [row for row in results.slice_differences if row.slice == {"g": "c"}]
    results = changed(results.model_copy(update={"slice_differences": rows}), "slice_differences",
                      difference=difference, p_value=p_value)
    assert [kind for kind, _ in only(results, "groups_against_others", monkeypatch)] == ["fails"] * many


@pytest.mark.parametrize(("p_value", "many"), [(0.05 - EDGE, 1), (0.05 + EDGE, 0), (None, 0)])
def test_a_group_that_a_search_found_counts_by_its_corrected_p_value(
    monkeypatch: pytest.MonkeyPatch, p_value: float | None, many: int
) -> None:
    results = judged("a_bad_group_found_by_a_search")
    results = changed(results.model_copy(update={"worst_slices": results.worst_slices[:1]}), "worst_slices",
                      p_adjusted=p_value)
    assert [kind for kind, _ in only(results, "groups_searched", monkeypatch)] == ["fails"] * many


def test_findings_on_groups_leave_room_for_others() -> None:
    results = judged("a_group_below_a_gate")
    groups = [finding for finding in results.findings if finding.section == "slices"]
    assert len([finding for finding in results.findings[:5] if finding.section == "slices"]) <= 2 or len(groups) <= 2
    assert [finding.weight for finding in results.findings] == sorted(
        (finding.weight for finding in results.findings), reverse=True)


@pytest.mark.parametrize(("p_value", "many"), [(0.0, 1), (0.05 - EDGE, 1), (0.05 + EDGE, 0), (None, 0)])
@pytest.mark.parametrize("fault", ["drift_of_the_prevalence", "drift_of_the_outcome"])
def test_outcomes_drift_by_the_p_value_of_their_difference(
    monkeypatch: pytest.MonkeyPatch, fault: str, p_value: float | None, many: int
) -> None:
    results = judged(fault)
    said = only(changed(results, "dataset_differences", p_value=p_value), "outcome_drift", monkeypatch)
    assert [kind for kind, _ in said] == ["note"] * many


@pytest.mark.parametrize("rule", ["performance_drift", "prediction_drift"])
@pytest.mark.parametrize(("gap", "many"), [(0.0, 0), (0.141, 0), (0.142, 1), (0.16, 1)])
def test_two_datasets_differ_beyond_the_error_of_both(
    monkeypatch: pytest.MonkeyPatch, rule: str, gap: float, many: int
) -> None:
    # halves of 0.1 each: together 0.1 * 2^0.5 = 0.1414
    results = judged("worse_on_later_rows" if rule == "performance_drift" else "predictions_that_drift")
    results = results.model_copy(update={table: [row.model_copy(update={
        "value": value, "lower": value - 0.1, "upper": value + 0.1, "level": 0.95, "status": "ok"})
        for row in getattr(results, table) for value in [0.3 + (gap if row.dataset == "late" else 0.0)]]
        for table in ("rows", "diagnostics")})
    said = only(results, rule, monkeypatch)
    # 0.142 may be the 2 % of 0.3 that count as none
    assert [kind for kind, _ in said] == ["fails" if rule == "performance_drift" and gap > 0.15 else "note"] * many


@pytest.mark.parametrize(("observed", "p_value", "words"), [
    (120.0, 0.05 - EDGE, ["More"]), (80.0, 0.05 - EDGE, ["Fewer"]), (120.0, 0.05 + EDGE, []), (80.0, 0.05 + EDGE, []),
    (120.0, None, []),
])
def test_zeros_are_more_or_fewer_by_the_p_value_of_their_number(
    monkeypatch: pytest.MonkeyPatch, observed: float, p_value: float | None, words: list[str]
) -> None:
    results = judged("excess_zeros")
    curves: list[Any] = []
    for curve in results.curves:
        if curve.curve == "rootogram":
            points: Any = curve.points
            update = {"observed": [observed, *points.observed[1:]], "expected": [100.0, *points.expected[1:]]}
            notes: Any = curve.notes
            curves.append(curve.model_copy(update={
                "points": points.model_copy(update=update),
                "notes": notes.model_copy(update={"zeros_p_value": p_value})}))
    said = only(results.model_copy(update={"curves": curves}), "zeros", monkeypatch)
    assert [text.split()[0] for _, text in said] == words


@pytest.mark.parametrize(("change", "expected"), [
    ({}, (1.2, 1.2 - 0.05 * NORMAL, 1.2 + 0.05 * NORMAL, "excess_zeros")),
    ({"observed": 90.0, "statistic": -2.0}, (0.9, 0.9 - 0.05 * NORMAL, 0.9 + 0.05 * NORMAL, "lacking_zeros")),
    ({"observed": None, "statistic": -2.0}, (0.0, -0.5 * NORMAL, 0.5 * NORMAL, "lacking_zeros")),
    ({"statistic": 0.0}, None), ({"statistic": None}, None), ({"expected": 0.0}, None), ({"expected": None}, None),
    ({"first": 1.0}, None), ({"slice": {"g": "a"}}, None),
])
def test_zeros_have_limits_from_their_test(
    change: dict[str, Any], expected: tuple[float, float, float, str] | None
) -> None:
    results = judged("excess_zeros")
    values = {"observed": 120.0, "expected": 100.0, "statistic": 4.0, "first": 0.0} | change
    curve: Any = next(curve for curve in results.curves if curve.curve == "rootogram")
    points = curve.points.model_copy(update={
        "count": [values["first"], *curve.points.count[1:]],
        "observed": [values["observed"], *curve.points.observed[1:]],
        "expected": [values["expected"], *curve.points.expected[1:]]})
    notes = curve.notes.model_copy(update={"zeros_statistic": values["statistic"], "zeros_p_value": 0.001})
    only_curve = curve.model_copy(update={"points": points, "notes": notes, "slice": values.get("slice")})
    claims = list(zeros(results.model_copy(update={"curves": [only_curve]})))
    if expected is None:
        assert claims == []
        return
    beyond, note = claims
    row: Any = beyond.row
    assert (row.value, row.lower, row.upper) == pytest.approx(expected[:3], abs=1e-12)  # of the same formula
    assert getattr(beyond.say, "__name__", "") == expected[3]
    assert (note.p_value, note.after) == (0.001, beyond)


@pytest.mark.parametrize(("desirability", "upper", "kinds"), [
    (0.0, 0.0, ["fails"]), (0.0, None, ["fails"]), (0.0, EDGE, ["undecided"]), (EDGE, 0.1, []), (None, None, []),
])
def test_a_goal_is_missed_for_certain_or_perhaps(
    monkeypatch: pytest.MonkeyPatch, desirability: float | None, upper: float | None, kinds: list[str]
) -> None:
    results = judged("a_goal_missed")
    goals = results.desirability
    rows = [row.model_copy(update={"desirability": desirability, "upper": upper}) for row in goals.individual]
    results = results.model_copy(update={"desirability": goals.model_copy(update={"individual": rows})})
    assert [kind for kind, _ in only(results, "goals_reached", monkeypatch)] == kinds


@pytest.mark.parametrize(("probability", "kinds"), [(0.95, ["passes"]), (0.95 - EDGE, ["undecided"]), (None, [])])
def test_the_first_is_the_most_desirable_where_resamples_agree(
    monkeypatch: pytest.MonkeyPatch, probability: float | None, kinds: list[str]
) -> None:
    results = judged("a_goal_missed")
    goals = results.desirability
    rows = [row.model_copy(update={"value": 0.5, "rank": 1, "probability_best": probability}) for row in goals.overall]
    results = results.model_copy(update={"desirability": goals.model_copy(update={"overall": rows})})
    assert [kind for kind, _ in only(results, "most_desirable", monkeypatch)] == kinds


@pytest.mark.parametrize(("lower", "many"), [(0.1 + EDGE, 1), (0.1 - EDGE, 0), (None, 0)])
def test_the_declared_prevalence_is_another_where_the_observed_interval_leaves_it_out(
    monkeypatch: pytest.MonkeyPatch, lower: float | None, many: int
) -> None:
    results = changed(judged("another_prevalence_than_declared"), "observed", value=0.2, lower=lower, upper=0.3)
    assert [kind for kind, _ in only(results, "prevalence_declared", monkeypatch)] == ["note"] * many


def test_what_rows_were_compared_with_is_said_only_where_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    results = judged("drift_of_the_prevalence")
    with monkeypatch.context() as patch:
        assert only(results, "rows_shared", patch) == [
            ("passes", "No evaluated row is also in reference (compared by the column id).")]
    with monkeypatch.context() as patch:
        assert only(changed(results, "datasets", compared={}), "rows_shared", patch) == []
    (_, text), = only(changed(results, "datasets", compared={}), "unchecked", monkeypatch)
    assert "no row was looked for in training (no column to compare by)" in text
