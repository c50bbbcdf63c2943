"""What counts as a difference, and the laws of a comparison."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalpipe.errors import UsageError
from evalpipe.results import Individual, Overall, Results
from evalpipe.review.differences.compare import compare
from evalpipe.review.differences.page import write
from evalpipe.review.differences.records import Difference, Tolerance
from evalpipe.words.sentences import sentence
from review.differences.conftest import Pair, alone

SWAPPED = {"added": "removed", "removed": "added", "appeared": "went", "went": "appeared", "a": "b", "b": "a"}
ROWS = ("gates", "subjects", "estimates", "thresholds", "desirability", "findings", "spec", "data", "versions", "other")


def edited(results: Results, **tables: Any) -> Results:
    return results.model_copy(update=tables)


def values(results: Results, change: dict[int, dict[str, Any]]) -> Results:
    """Return results some of whose estimates have other fields."""
    return edited(results, rows=[row.model_copy(update=change.get(i, {})) for i, row in enumerate(results.rows)])


def verdict(a: Results, b: Results, **options: Any) -> tuple[bool, str]:
    difference = compare(alone(a), alone(b), paired=False, **options)
    return difference.same, difference.verdict


def mirrored(row: Any) -> Any:
    """Return a row of the other direction."""
    if not isinstance(row, dict):
        return row
    sides = {"a": row.get("b"), "b": row.get("a")} if "a" in row else {}
    ends = {"rows_a": row["rows_b"], "rows_b": row["rows_a"], "only_a": row["only_b"], "only_b": row["only_a"]} if (
        "rows_a" in row) else {}
    words = {name: SWAPPED.get(row[name], row[name]) for name in ("change", "only_in") if name in row}
    gap = {"difference": None if row["difference"] is None else 0.0 - row["difference"]} if "difference" in row else {}
    pair = row.get("paired")
    paired = {} if not pair else {"paired": pair | {
        "difference": 0.0 - pair["difference"], "lower": 0.0 - pair["upper"], "upper": 0.0 - pair["lower"]}}
    key = {"key": re.sub(r"\[\d+\]", "[]", row["key"])} if "key" in row else {}  # an item may have moved
    return row | sides | ends | words | gap | paired | key


def as_set(rows: list[Any]) -> list[str]:
    return sorted(repr(sorted(row.items())) for row in rows)


def assert_mirror(there: Difference, back: Difference) -> None:
    left, right = there.model_dump(by_alias=True), back.model_dump(by_alias=True)
    for table in ROWS:
        twice = [mirrored(mirrored(row)) for row in right[table]]
        assert as_set([mirrored(row) for row in left[table]]) == as_set(twice), table
    assert there.same == back.same
    assert there.counts.model_copy(update={"only_a": 0, "only_b": 0}) == (
        back.counts.model_copy(update={"only_a": 0, "only_b": 0}))
    assert (there.counts.only_a, there.counts.only_b) == (back.counts.only_b, back.counts.only_a)


def test_two_real_runs_mirror_each_other_paired_differences_included(pair: Pair) -> None:
    there, back = compare(pair.a, pair.b), compare(pair.b, pair.a)

    assert sum(change.paired is not None for change in there.estimates) == 4
    assert_mirror(there, back)


@st.composite
def runs(draw: st.DrawFn) -> dict[str, Any]:
    """Draw what to change: values, statuses, estimates left out, verdicts and limits of gates, findings, the spec."""
    places = st.integers(0, 11)
    number = st.floats(-1, 1, allow_nan=False) | st.none()
    return {
        "values": draw(st.dictionaries(places, st.fixed_dictionaries({"value": number, "lower": number}), max_size=4)),
        "left_out": draw(st.sets(places, max_size=3)),
        "verdicts": draw(st.tuples(*[st.sampled_from(["pass", "fail", "inconclusive", "skipped"])] * 2)),
        "limit": draw(st.sampled_from([0.8, 0.9])),
        "findings": draw(st.permutations(range(5)))[: draw(st.integers(0, 5))],
        "kind": draw(st.sampled_from(["passes", "fails", "note"])),
        "metrics": draw(st.lists(st.sampled_from(["a", "b", {"metric": "c"}, {"metric": "c", "beta": 2}]), max_size=4)),
        "seed": draw(st.sampled_from([None, 0, 1])),
        "rows": draw(st.integers(1, 3)),
    }


def run_of(results: Results, drawn: dict[str, Any]) -> Results:
    kept = [row.model_copy(update=drawn["values"].get(place, {})) for place, row in enumerate(results.rows)
            if place not in drawn["left_out"]]
    gates = [gate.model_copy(update={"verdict": said, "limit": {"min": drawn["limit"]}})
             for gate, said in zip(results.gates, drawn["verdicts"], strict=True)]
    findings = [results.findings[place].model_copy(update={"kind": drawn["kind"]}) for place in drawn["findings"]]
    inputs = [file.model_copy(update={"rows": drawn["rows"]}) for file in results.inputs]
    spec = results.spec | {"metrics": drawn["metrics"], "seed": drawn["seed"]}
    return edited(results, curves=[], what_if=[], confusion=[], rows=kept, gates=gates, findings=findings,
                  inputs=inputs, spec=spec)


@given(first=runs(), second=runs())
@settings(max_examples=60)
def test_any_two_runs_mirror_each_other_and_none_differs_from_itself(
    results: Results, first: dict[str, Any], second: dict[str, Any]
) -> None:
    a, b = alone(run_of(results, first)), alone(run_of(results, second))
    there, back = compare(a, b, paired=False), compare(b, a, paired=False)

    assert_mirror(there, back)
    assert there.same == (a.results.to_json() == b.results.to_json())  # nothing differs unseen
    itself = compare(a, a)
    assert (itself.identical, itself.same) == (True, True)
    assert not any(getattr(itself, table) for table in ROWS)


@given(first=runs(), second=runs())
@settings(max_examples=20)
def test_a_wider_tolerance_lists_no_more(results: Results, first: dict[str, Any], second: dict[str, Any]) -> None:
    a, b = alone(run_of(results, first)), alone(run_of(results, second))
    lengths = [len(compare(a, b, Tolerance(size), paired=False).estimates) for size in (0, 0.1, 0.5, 3)]

    assert lengths == sorted(lengths, reverse=True)


def test_a_difference_of_just_the_tolerance_is_within_it(results: Results) -> None:
    a, b = values(results, {0: {"value": 0.3}}), values(results, {0: {"value": 0.301}})

    assert verdict(a, b) == (False, "1 of 12 estimates differs.")
    assert verdict(a, b, tolerance=Tolerance(0.001)) == (True, "The results are the same within the tolerance.")
    assert verdict(a, b, tolerance=Tolerance(0.00099))[1] == "1 of 12 estimates differs by more than the tolerance."
    assert verdict(a, b, tolerance=Tolerance(0, 0.0034))[0]
    assert not verdict(a, b, tolerance=Tolerance(0, 0.0033))[0]
    assert verdict(a, b, tolerance=Tolerance(by_metric={"accuracy": 0.001}))[0]
    assert not verdict(a, b, tolerance=Tolerance(1, 1, {"accuracy": 0.0001}))[0]  # its own tolerance alone


def test_a_value_that_is_gone_differs_under_every_tolerance(results: Results) -> None:
    reason = sentence("undefined", when="no events")
    gone = values(results, {1: {"value": None, "status": "undefined", "reason": reason}})

    same, said = verdict(results, gone, tolerance=Tolerance(10))
    assert (same, said) == (False, "1 of 12 estimates differs by more than the tolerance.")


def test_an_interval_alone_is_counted_apart_and_may_be_ignored(results: Results) -> None:
    other = values(results, {1: {"lower": 0.1}})

    assert verdict(results, other) == (
        False, "None of 12 estimates differs; 1 estimate differs in the interval or its details alone.")
    assert verdict(results, other, ignored=["intervals"]) == (
        True, "The results are the same; not counted: 1 estimate differs in the interval or its details alone.")


def test_a_detail_is_named_in_the_table_of_numbers_that_are_the_same(results: Results) -> None:
    a, b = alone(results), alone(values(results, {0: {"lower": 0.7, "n": 299}, 1: {"monte_carlo_error": 0.5}}), "b")
    difference = compare(a, b, paired=False)

    assert [(change.differs_in, change.details) for change in difference.estimates] == [
        (["interval", "details"], ["n"]), (["details"], ["monte_carlo_error"])]
    shown = write(difference, a, b, "text").splitlines()
    place = shown.index("Estimates whose value is the same, and whose interval or details differ")
    assert shown[place + 1 : place + 5] == [
        "  Measure                        A                    B  Differs in",
        "  Forest on test",
        "  Accuracy        0.79 (0.74–0.83)     0.79 (0.70–0.83)  interval, n",
        "  Brier score  0.153 (0.139–0.166)  0.153 (0.139–0.166)  monte carlo error"]


def test_thresholds_and_desirability_have_tables_of_their_own(results: Results) -> None:
    (threshold,) = results.thresholds
    chosen = edited(results, thresholds=[threshold.model_copy(update={"value": 0.4, "lower": 0.3, "upper": 0.5})])
    a, b = alone(results), alone(chosen, "b")
    overall = Overall(dataset="test", model="a", value=0.5, lower=0.4, upper=0.6)
    goal = Individual(dataset="test", model="a", goal="minimize brier", value=0.15, desirability=0.5, weight=1.0)
    first, second = (edited(results, desirability=results.desirability.model_copy(update={
        "overall": [overall.model_copy(update={"value": value})],
        "individual": [goal.model_copy(update={"desirability": value})]})) for value in (0.5, 0.7))
    desired = compare(alone(first), alone(second), paired=False)

    assert verdict(results, chosen) == (False, "None of 12 estimates differs; 1 threshold differs.")
    assert "  Threshold  0.5  0.4 (0.30–0.50)  −0.10          –\n" in write(
        compare(a, b, paired=False), a, b, "text")
    assert desired.verdict == "None of 12 estimates differs; 2 desirabilities differ."
    assert [(change.goal, change.difference) for change in desired.desirability] == [
        ("overall", pytest.approx(0.2)), ("minimize brier", pytest.approx(0.2))]


def test_what_is_ignored_is_named_and_not_counted(results: Results) -> None:
    other = edited(results, spec=results.spec | {"seed": 5})

    assert verdict(results, other) == (False, "None of 12 estimates differs; 1 key of the spec differs.")
    assert verdict(results, other, ignored=["spec"]) == (
        True, "The results are the same; not counted: 1 key of the spec differs.")


def test_the_day_is_told_and_differs_as_the_key_of_the_spec_that_it_is(results: Results) -> None:
    days = [alone(edited(results, as_of=day, spec=results.spec | {"as_of": day}), day)
            for day in ("2026-11-21", "2026-11-22")]
    difference = compare(*days)

    assert difference.verdict == "None of 12 estimates differs; 1 key of the spec differs."
    assert "  B          2026-11-22: small, as of 2026-11-22, evalpipe" in write(difference, *days, "text")


def test_versions_alone_do_not_count(results: Results) -> None:
    difference = compare(alone(results), alone(edited(results, evalpipe_version="9.9")))

    assert (difference.same, difference.verdict) == (True, "The results are the same.")


@pytest.mark.parametrize(("before", "now", "said"), [
    (("pass", "fail"), ("fail", "fail"), "1 gate that held fails now"),
    (("fail", "fail"), ("pass", "fail"), "1 gate that failed holds now"),
    (("pass", "fail"), ("inconclusive", "fail"), "1 gate that held is inconclusive now"),
    (("inconclusive", "fail"), ("fail", "fail"), "1 gate that was inconclusive fails now"),
    (("pass", "fail"), ("skipped", "fail"), "1 gate that held is skipped now"),
    (("fail", "warn"), ("pass", "warn"), "1 gate that failed with severity warn holds now"),
    (("pass", "warn"), ("fail", "warn"), "1 gate that held fails with severity warn now"),
])
def test_a_gate_with_another_verdict_stands_in_the_first_line(
    results: Results, before: tuple[str, str], now: tuple[str, str], said: str
) -> None:
    def judged(verdict: str, severity: str) -> Results:
        first = results.gates[0].model_copy(update={"verdict": verdict, "severity": severity})
        return edited(results, gates=[first, *results.gates[1:]])

    assert verdict(judged(*before), judged(*now)) == (False, f"None of 12 estimates differs; {said}.")


def test_several_gates_are_told_in_the_plural_what_got_worse_most_first(results: Results) -> None:
    gate = results.gates[0]
    gates = [gate.model_copy(update={"name": name}) for name in "abcdef"]
    turned = [one.model_copy(update={"verdict": said}) for one, said in zip(
        gates, ("pass", "inconclusive", "inconclusive", "fail", "fail"), strict=False)]
    a, b = edited(results, gates=gates), edited(results, gates=turned)

    assert verdict(a, b)[1] == (
        "None of 12 estimates differs; 2 gates that held fail now; 1 gate that held is gone; "
        "2 gates that held are inconclusive now.")
    assert verdict(b, a)[1] == (
        "None of 12 estimates differs; 1 new gate holds; 2 gates that were inconclusive hold now; "
        "2 gates that failed hold now.")
    loud = [(change.name, change.b.kind if change.b else None) for change in compare(alone(a), alone(b)).gates]
    assert loud == [("d", "fail"), ("e", "fail"), ("f", None), ("b", "inconclusive"), ("c", "inconclusive")]


def test_a_relaxed_gate_is_a_difference_though_it_holds_as_before(results: Results) -> None:
    other = edited(results, gates=[results.gates[0].model_copy(update={"limit": {"min": 0.1}}), results.gates[1]])

    assert verdict(results, other) == (False, "None of 12 estimates differs; 1 gate has another limit.")


def test_models_and_estimates_of_one_run_alone_are_named(results: Results) -> None:
    renamed = edited(
        results, models=[results.models[0].model_copy(update={"name": "b", "label": "Boosting"})],
        rows=[row.model_copy(update={"model": "b"}) if row.slice is None else row for row in results.rows])
    difference = compare(alone(results), alone(renamed), paired=False)

    assert [(row.kind, row.name, row.only_in) for row in difference.subjects] == [
        ("model", "a", "a"), ("model", "b", "b")]
    assert (difference.counts.estimates, difference.counts.only_a, difference.counts.only_b) == (8, 4, 4)
    assert difference.verdict == (
        "None of 8 estimates differs; 4 estimates are in A alone; 4 estimates are in B alone; "
        "2 datasets, models or metrics are in one run alone.")


def test_the_tolerance_of_a_metric_that_neither_run_has_is_refused(pair: Pair) -> None:
    with pytest.raises(UsageError) as told:
        compare(pair.a, pair.a, Tolerance(by_metric={"brie": 0.1, "rmse": 0.1}))

    assert str(told.value) == (
        "error[unknown-metric]: neither run has an estimate of 'brie'\n  = help: did you mean 'brier'?\n\n"
        "error[unknown-metric]: neither run has an estimate of 'rmse'\n"
        "  = help: the runs have 'accuracy', 'brier', 'f_beta' and 'roc_auc'")
