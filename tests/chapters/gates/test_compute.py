"""Gates from the spec to the table of results: which numbers they are on, and what they are against."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import evalpipe
from chapters.gates.sentences import sentence_of
from engine.runs import BOTH, intervals, people, run
from evalpipe.chapters.gates.compute import judged
from evalpipe.chapters.gates.compute_verdict import change
from evalpipe.chapters.gates.spec import GateRule
from evalpipe.data.catalog import look
from evalpipe.errors import DataError
from evalpipe.intervals.contrasts import recovered_limits
from evalpipe.plan.resolve import plan
from evalpipe.plan.sources import sources
from evalpipe.results import Desirability, Gate, Results, holds, worst
from evalpipe.results.observed import Observed
from evalpipe.run import load
from evalpipe.words.sentences import Sentence

FRAME = people(400)
CHEAP: dict[str, Any] = {"intervals": intervals(100), "metrics": ["accuracy", "brier"]}
SLICED: dict[str, Any] = CHEAP | {"slices": ["s", ["s", "h"], {"column": "age", "cuts": [50]}]}


def gates(*asked: dict[str, Any], frames: Any = FRAME, **keys: Any) -> list[Gate]:
    return run(frames, **(CHEAP | keys), gates=list(asked)).gates


def spots(rows: list[Gate]) -> list[tuple[str, str, str]]:
    return [(row.dataset, row.model, row.variant) for row in rows]


def test_a_gate_is_on_every_dataset_and_every_model_as_it_came() -> None:
    frames = {"d": FRAME, "e": people(300, 1)}
    recalibrate = {"fit_on": {"folds": 3}, "methods": ["isotonic"]}
    found = gates({"metric": "brier", "max": 0.3}, frames=frames, models=BOTH, recalibrate=recalibrate)
    assert spots(found) == [(d, m, "original") for d in "de" for m in "pq"]
    narrow = gates({"metric": "brier", "max": 0.3, "dataset": "e", "model": "q", "variant": "all"}, frames=frames,
                   models=BOTH, recalibrate=recalibrate)
    assert spots(narrow) == [("e", "q", "original"), ("e", "q", "isotonic")]


def test_a_gate_holds_what_the_table_of_estimates_holds() -> None:
    results = run(FRAME, **CHEAP, gates=[{"metric": "error_rate", "max": 0.5, "name": "wrong"}])
    (gate,), estimate = results.gates, results.rows[-1]
    assert (estimate.metric, gate.metric, gate.name, gate.gate) == ("error_rate", "error_rate", "wrong", 1)
    assert (gate.observed, gate.lower, gate.upper, gate.level, gate.method) == (
        estimate.value, estimate.lower, estimate.upper, 0.95, "exact")
    assert gate.limit == {"max": 0.5}
    assert sentence_of(gate).startswith("Error rate: 0.")


def test_measures_of_gates_are_measured_once() -> None:
    asked = [
        {"metric": "brier", "max": 0.3}, {"metric": "brier", "max": 0.4}, {"metric": "f_beta", "beta": 2, "min": 0},
        {"metric": {"metric": "f_beta", "beta": 2}, "max": 1}, {"metric": "f_beta", "beta": 0.5, "min": 0},
    ]
    results = run(FRAME, **CHEAP, gates=asked)
    measured = [(row.metric, row.params.get("beta")) for row in results.rows]
    assert measured == [("accuracy", None), ("brier", None), ("f_beta", 2.0), ("f_beta", 0.5)]
    assert [gate.params.get("beta") for gate in results.gates] == [None, None, 2.0, 2.0, 0.5]


@pytest.mark.parametrize(
    ("scope", "slices"),
    [
        ({}, [None]),
        ({"slices": "s"}, [{"s": "a"}, {"s": "b"}, {"s": "c"}]),
        ({"slices": ["h", "s"]}, [{"s": s, "h": h} for s in "abc" for h in "xz"]),
        ({"slices": "age"}, [{"age": "< 50"}, {"age": ">= 50"}]),
        ({"slice": {"s": "b"}}, [{"s": "b"}]),
        ({"slice": {"h": "z", "s": "b"}}, [{"s": "b", "h": "z"}]),
    ],
)
def test_slices_of_a_gate(scope: dict[str, Any], slices: list[dict[str, str] | None]) -> None:
    assert [row.slice for row in gates({"metric": "brier", "max": 0.3, **scope}, **SLICED)] == slices


def test_all_slices_are_those_of_every_slicing_and_small_ones_are_open() -> None:
    found = gates({"metric": "brier", "max": 1, "slices": "all"}, **SLICED, slice_rules={"min_rows": 60})
    assert len(found) == 3 + 6 + 2
    small = [row for row in found if row.observed is None]
    assert 0 < len(small) < len(found)
    assert {row.verdict for row in small} == {"inconclusive"}
    assert all("too few (60 needed)" in sentence_of(row) for row in small)


def test_without_an_interval_the_value_is_judged() -> None:
    plain, far, tested = gates(
        {"metric": "brier", "max": 1}, {"metric": "brier", "max": 0.01}, {"metric": "spiegelhalter_z", "max": 9},
        metrics=["accuracy"], intervals={"method": "none"})
    assert (plain.verdict, far.verdict, tested.verdict) == ("pass", "fail", "pass")
    assert sentence_of(far).endswith(
        ". There is no interval (the spec asks for none), so the value alone is judged: it is above 0.01.")
    assert "There is no interval (a hypothesis test" in sentence_of(tested)


def test_a_collapsed_model_fails_every_gate_that_it_cannot_keep() -> None:
    never = FRAME.with_columns(p=pl.lit(0.0001))
    asked = [{"metric": name, "min": 0.3} for name in ("f1", "balanced_accuracy", "mcc", "precision", "ks", "kappa")]
    results = run(never, **CHEAP, gates=asked)
    assert [gate.verdict for gate in results.gates] == ["fail"] * len(asked)
    assert (results.verdict, results.holds()) == ("fail", False)
    assert [sentence_of(gate) for gate in results.gates if gate.metric == "precision"] == [
        "Precision is undefined: no predicted events. This counts as failed."]
    left = run(never, **CHEAP, gates=[gate | {"undefined": "inconclusive"} for gate in asked]).gates
    assert {gate.verdict for gate in left} == {"inconclusive"}


def test_an_undefined_measure_fails_or_is_what_the_gate_says() -> None:
    never = FRAME.with_columns(p=pl.lit(0.01))
    asked = [{"metric": "precision", "min": 0.5, "undefined": way} for way in ("inconclusive", "fail", "pass")]
    found = gates(*asked, frames=never)
    assert [row.verdict for row in found] == ["inconclusive", "fail", "pass"]


def test_classes_are_judged_apart_or_together() -> None:
    generator = np.random.default_rng(3)
    truth = generator.choice(["a", "b", "c"], 300)
    shares = generator.dirichlet([1, 1, 1], 300) + 2 * (truth[:, None] == np.array(["a", "b", "c"]))
    shares = shares / shares.sum(1, keepdims=True)
    frame = pl.DataFrame({"y": truth} | {f"p_{level}": shares[:, k] for k, level in enumerate("abc")})
    keys: dict[str, Any] = {"task": "multiclass", "outcome": {"column": "y", "levels": ["a", "b", "c"]},
                            "models": {"m": {"probabilities": "p_{level}"}}, "metrics": ["accuracy"],
                            "intervals": {"replicates": 100}}
    one = {"metric": "sensitivity", "min": 0.1}
    of_all = {"metric": "accuracy", "min": 0.1}
    found = gates(
        one, one | {"average": "none"}, one | {"average": "none", "class": "b"}, of_all, frames=frame, **keys)
    assert [(row.gate, row.average, row.class_) for row in found] == [
        (1, "macro", None), (2, "none", "a"), (2, "none", "b"), (2, "none", "c"), (3, "none", "b"), (4, None, None)]
    assert sentence_of(found[2]).startswith("Sensitivity, b: 1.000 (")


def test_classes_are_judged_at_a_prevalence_too() -> None:
    generator = np.random.default_rng(3)
    truth = generator.choice(["a", "b"], 300)
    shares = generator.dirichlet([1, 1], 300)
    frame = pl.DataFrame({"y": truth, "p_a": shares[:, 0], "p_b": shares[:, 1]})
    found = gates(
        {"metric": "precision", "average": "none", "prevalence": "declared", "min": 0.1}, frames=frame,
        task="multiclass", outcome={"column": "y", "levels": ["a", "b"]}, models={"m": {"probabilities": "p_{level}"}},
        metrics=["accuracy"], prevalence={"levels": {"a": 0.2, "b": 0.8}}, intervals={"replicates": 100})
    assert [(row.class_, row.params, row.verdict) for row in found] == [
        (level, {"prevalence": "a 0.2, b 0.8"}, "pass") for level in "ab"]


def test_against_the_baseline_the_paired_difference_is_judged() -> None:
    results = run(FRAME, **CHEAP, models=BOTH, compare={"baseline": "p"}, slices=["s"], slice_rules={"min_rows": 100},
                  gates=[{"metric": "brier", "max_increase": 0.1, "against": "baseline", "slices": "s"},
                         {"metric": "brier", "max_increase": 0.1, "against": "baseline"}])
    rows = {str(row.slice): row for row in results.comparisons if row.metric == "brier"}
    assert {row.model for row in results.gates} == {"q"}
    assert [row.observed is None for row in results.gates] == [False, False, True, False]
    assert sentence_of(results.gates[2]).startswith("Brier score minus that of p is not given: ")
    whole, compared = results.gates[-1], rows["None"]
    assert (whole.observed, whole.lower, whole.upper) == (compared.difference, compared.lower, compared.upper)
    base = next(row.value for row in results.rows if (row.model, row.metric, row.slice) == ("p", "brier", None))
    assert (whole.against, whole.reference) == ("p", base)
    assert sentence_of(whole).startswith("Brier score minus that of p: +0.0")


def earlier(path: Path, **keys: Any) -> Results:
    found = run(people(300, 7), **(CHEAP | keys))
    path.mkdir()
    (path / "results.json").write_text(found.to_json())
    return found


def test_against_an_earlier_run_the_limits_are_recovered_from_both(tmp_path: Path) -> None:
    before = earlier(tmp_path / "night")
    asked = [{"metric": "accuracy", "max_decrease": 0.2, "against": {"results": str(path)}}
             for path in (tmp_path / "night", tmp_path / "night" / "results.json")]
    now = run(FRAME, **CHEAP, gates=asked)
    then, value = before.rows[0], now.rows[0]
    assert then.metric == value.metric == "accuracy"
    for gate in now.gates:
        assert gate.observed == value.value - then.value
        assert (gate.lower, gate.upper) == recovered_limits(
            (value.value, value.lower, value.upper), (then.value, then.lower, then.upper))
        assert (gate.reference, gate.method) == (then.value, "recovered")
        assert gate.against_sha256 == hashlib.sha256(before.to_json().encode()).hexdigest()
        assert sentence_of(gate).startswith("Accuracy minus that of the earlier run (two independent samples): ")
    assert [gate.against for gate in now.gates] == [asked[0]["against"]["results"], asked[1]["against"]["results"]]


def test_what_an_earlier_run_lacks_is_an_error_or_skipped(tmp_path: Path) -> None:
    earlier(tmp_path / "night")
    asked = {"metric": "accuracy", "max_decrease": 0.2, "against": {"results": str(tmp_path / "night")}}
    with pytest.raises(DataError) as caught:
        gates(asked, models=BOTH)
    assert str(caught.value) == (
        f"error[not-in-results]: the earlier run at {tmp_path / 'night'} has no model 'q'; it has 'p'\n"
        "  = help: run once without this gate, or add 'optional: true' to it, which skips it until there is something "
        "to compare"
    )
    found = gates(asked | {"optional": True}, models=BOTH)
    assert [row.verdict for row in found] == ["pass", "skipped"]
    night = tmp_path / "night"
    assert sentence_of(found[1]) == (
        f"Accuracy was not compared: the earlier run at {night} has no model 'q'; it has 'p'.")
    first = gates(asked | {"optional": True, "against": {"results": str(tmp_path / "never")}})
    assert [row.verdict for row in first] == ["skipped"]
    assert holds(found, "inconclusive")
    assert holds(first, "inconclusive")


def test_runs_whose_intervals_differ_are_left_open(tmp_path: Path) -> None:
    earlier(tmp_path / "night", intervals=intervals(100, level=0.9))
    earlier(tmp_path / "plain", intervals={"method": "none"})
    asked = [{"metric": "accuracy", "max_decrease": 0.2, "against": {"results": str(tmp_path / name)}}
             for name in ("night", "plain")]
    levels, bare = gates(*asked)
    judged_so = "), so the value alone is judged: it is at least −0.2."
    assert sentence_of(levels).endswith(
        f"There is no interval (the two runs have intervals of different levels, 0.95 and 0.9{judged_so}")
    assert sentence_of(bare).endswith(
        f"There is no interval (the earlier run has none: the spec asks for none{judged_so}")
    assert {levels.verdict, bare.verdict} == {"pass"}
    alone = gates(*(one | {"on": "value"} for one in asked))
    assert [row.verdict for row in alone] == ["pass", "pass"]


def test_a_difference_from_what_is_undefined_is_undefined() -> None:
    nothing = Observed(None, status="undefined", reason=Sentence.read("no predicted events"))
    found = change(nothing, Observed(0.8, 0.7, 0.9, 0.95, "exact"))
    assert (found.value, found.status, found.reason) == (None, "undefined", "in this run, no predicted events")


def test_gates_are_on_desirability_too() -> None:
    goals = [{"metric": "brier", "minimize": {"low": 0, "high": 0.3}},
             {"metric": "accuracy", "maximize": {"low": 0.4, "high": 1}}]
    asked = [{"desirability": "overall", "min": 0}, {"desirability": "minimize brier", "min": 0.99, "model": "q"}]
    results = run(FRAME, **CHEAP, models=BOTH, desirability=goals, gates=asked)
    found = [(row.model, row.observed, row.lower, row.upper, row.verdict) for row in results.gates]
    whole = [(row.model, row.value, row.lower, row.upper, "pass") for row in results.desirability.overall]
    single = [(row.model, row.desirability, row.lower, row.upper, "fail")
              for row in results.desirability.individual if (row.goal, row.model) == ("minimize brier", "q")]
    assert found == whole + single


@pytest.mark.parametrize(
    ("outcomes", "together", "held"),
    [
        ([], "pass", ["fail", "warn", "inconclusive", "never"]),
        ([("pass", "fail"), ("skipped", "fail")], "pass", ["fail", "warn", "inconclusive", "never"]),
        ([("inconclusive", "fail")], "inconclusive", ["fail", "warn", "never"]),
        ([("inconclusive", "warn")], "inconclusive", ["fail", "warn", "never"]),
        ([("fail", "warn"), ("inconclusive", "fail")], "warn", ["fail", "never"]),
        ([("fail", "fail"), ("fail", "warn")], "fail", ["never"]),
    ],
)
def test_verdicts_together(outcomes: list[tuple[str, str]], together: str, held: list[str]) -> None:
    (gate,) = gates({"metric": "brier", "max": 1})
    rows = [gate.model_copy(update={"verdict": verdict, "severity": severity}) for verdict, severity in outcomes]
    assert worst(rows) == together
    assert [way for way in ("fail", "warn", "inconclusive", "never") if holds(rows, way)] == held  # type: ignore[arg-type]


def test_results_of_arrays_have_gates_too() -> None:
    gate = {"metric": "brier", "max": 0.5}
    results = evalpipe.evaluate(FRAME["y"], FRAME["p"], event=1, metrics=["brier"], gates=[gate],
                                intervals={"replicates": 100})
    assert (results.verdict, results.holds(), results.gates[0].verdict) == ("pass", True, "pass")
    again = Results.from_json(results.to_json())
    assert again == results


def test_row_order_changes_no_verdict() -> None:
    asked = [{"metric": "brier", "max": 0.2}, {"metric": "accuracy", "min": 0.7, "slices": "s"}]
    assert gates(*asked, **SLICED) == gates(*asked, frames=FRAME.sample(fraction=1, shuffle=True, seed=2), **SLICED)


def test_a_gate_on_nothing_is_an_error_and_never_silence() -> None:
    results = run(FRAME, **CHEAP)
    spec = load(results.spec | {"gates": [{"metric": "brier", "max": 0.2}, {"metric": "accuracy", "min": 0.2}]})
    planned = plan(spec, look(sources(spec), {"d": FRAME}))
    bare = results.model_copy(update={"rows": []})
    with pytest.raises(DataError) as caught:
        judged(planned, bare, {})
    assert str(caught.value) == (
        "error[nothing-to-judge]: gate 1 matches no number of this run, so it cannot be judged\n  = help: check what "
        "it is on, or remove it\n\nerror[nothing-to-judge]: gate 2 matches no number of this run, so it cannot be "
        "judged\n  = help: check what it is on, or remove it"
    )


def test_counts_are_written_without_decimals() -> None:
    limit = {"metric": "misclassifications", "max": 300}
    found = gates(limit, limit | {"on": "value"})
    assert all(re.match(r"Misclassifications: \d+ \(\d+–\d+\)\. ", sentence_of(row)) for row in found)


def test_desirability_is_judged_like_a_measure() -> None:
    base = run(FRAME, **CHEAP, models=BOTH)
    overall = [{"dataset": "d", "model": model, "variant": "original", "value": value, "lower": low, "upper": high,
                "level": 0.95, "status": status, "reason": reason and Sentence.read(reason)}
               for model, value, low, high, status, reason in [
                   ("p", 0.6, 0.55, 0.7, "ok", None), ("q", None, None, None, "undefined", "no predicted events")]]
    results = base.model_copy(update={"desirability": Desirability(overall=overall)})
    spec = load(base.spec)
    declared = (GateRule(desirability="overall", min=0.5),)
    planned = plan(spec.model_copy(update={"gates": declared}), look(sources(spec), {"d": FRAME}))
    found = judged(planned, results, {}).gates
    assert [(row.desirability, row.metric, row.verdict) for row in found] == [
        ("overall", None, "pass"), ("overall", None, "fail")]
    assert sentence_of(found[0]) == "Overall desirability: 0.60 (0.55–0.70). The whole interval is above 0.5."
    assert sentence_of(found[1]) == "Overall desirability is undefined: no predicted events. This counts as failed."
