"""Results at a prompt: short to look at, easy to find, and every table a data frame."""

from __future__ import annotations

import json

import polars as pl
import pytest

import evalpipe
from evalpipe.results import Results, Warned
from tests.engine.runs import BOTH, intervals, people, run


@pytest.fixture(scope="module")
def results() -> Results:
    return run(people(300), models=BOTH, metrics=["roc_auc", {"metric": "f_beta", "beta": 2}, "precision"],
               threshold=0.5, slices=["s", "h"], compare={"baseline": "p"}, gates=[{"metric": "roc_auc", "min": 0.5}],
               desirability=[{"metric": "roc_auc", "maximize": {"low": 0.5, "high": 1}}], intervals=intervals(100))


def test_results_are_short_to_look_at(results: Results) -> None:
    assert repr(results) == str(results)
    assert len(repr(results).encode()) < 2000
    assert repr(results).startswith("Results of 'x', binary\n  models: p, q\n  datasets: d (n = 300)\n"
                                    "  gates: 2 of 2 held, verdict pass\n  p on d: roc_auc 0.")
    more = len(results.rows) - 6
    assert f"\n  {more} more in .estimates" in repr(results)
    assert "f_beta(beta=2.0) 0." in repr(results)


def test_rows_of_slices_are_among_those_that_are_not_shown(results: Results) -> None:
    overall = [row for row in results.rows if row.model == "p" and row.slice is None and row.class_ is None]
    in_slices = [row for row in results.rows if row.slice is not None]
    few = results.model_copy(update={"rows": [*overall, *in_slices]})
    assert len(overall) < 6
    assert f"\n  {len(in_slices)} more in .estimates" in repr(few)


def test_long_names_and_many_models_stay_short(results: Results) -> None:
    many = [results.models[0].model_copy(update={"name": f"model_{k}_" + "x" * 200}) for k in range(50)]
    rows = [row.model_copy(update={"model": "é" * 500, "dataset": "d" * 500}) for row in results.rows]
    long = results.model_copy(update={"models": many, "rows": rows, "name": "n" * 500})
    assert len(repr(long)) < 2000
    assert "44 more" in repr(long)


def test_what_is_public_is_found_by_completion() -> None:
    assert {name for name in dir(evalpipe) if not name.startswith("__")} == {*evalpipe.__all__} - {"__version__"}
    assert {"evaluate", "run", "Results", "recalibrate", "metric"} <= set(dir(evalpipe))


def test_every_table_is_a_frame_with_a_row_for_each_record(results: Results) -> None:
    document = json.loads(results.to_json())
    for name, rows in document.items():
        if isinstance(rows, list) and rows and isinstance(rows[0], dict):
            frame = results.frame(name)
            known = [column for column in frame.columns if (name, column) != ("findings", "text")]
            assert (frame.height, known) == (len(rows), list(rows[0]))
    assert results.frame("findings")["text"].to_list() == [finding.text for finding in results.findings]
    assert results.frame("estimates")["value"].to_list() == results.estimates["value"].to_list()
    assert results.frame("desirability.overall")["rank"].to_list() == [1, 2]


def test_a_frame_has_the_sentences_of_codes(results: Results) -> None:
    warned = results.model_copy(update={"warnings": [
        Warned.of("unknown-was", was="old", model="p"), Warned.of_text("markup", "a <b>bold</b> warning")]})
    first, second = json.loads(warned.to_json())["warnings"]
    assert first == {"code": "unknown-was", "was": "old", "model": "p"}
    assert second == {"code": "markup", "text": "a <b>bold</b> warning"}
    assert warned.frame("warnings").to_dict(as_series=False) == {
        "code": ["unknown-was", "markup"], "message": [
            "no earlier run in the ledger has the model 'old', which 'p' was called before", "a <b>bold</b> warning"]}


def test_results_without_gates_neither_hold_nor_fail(results: Results) -> None:
    bare = results.model_copy(update={"gates": []})
    gone = bare.model_copy(update={"warnings": [Warned.of("dataset-gone", as_of=None, dataset="d")]})
    assert (bare.verdict, bare.holds(), bare.holds("warn")) == ("none", None, None)
    assert (gone.holds(), gone.holds("warn")) == (None, False)


def test_the_word_of_before_for_gates_that_are_left_open_is_taken_with_a_warning(results: Results) -> None:
    undecided = results.model_copy(update={"gates": [
        gate.model_copy(update={"verdict": "inconclusive"}) for gate in results.gates]})
    for held in (results, undecided):
        with pytest.warns(FutureWarning, match="'inconclusive' now; evalpipe 2.0 no longer reads it"):
            assert held.holds("indeterminate") is held.holds("inconclusive")  # type: ignore[arg-type]
    assert (results.holds("inconclusive"), undecided.holds("inconclusive")) == (True, False)


def test_the_types_of_a_frame_do_not_hang_on_its_values(results: Results) -> None:
    found = results.frame("comparisons")
    empty = results.model_copy(update={"comparisons": []}).frame("comparisons")
    assert found.schema == empty.schema
    assert found.schema["p_value"] == empty.schema["margin"] == pl.Float64
    assert found.schema["n"] == pl.Int64
    assert json.loads(found["params"][0]) == dict(results.comparisons[0].params)
    assert found["difference"].to_list() == [row.difference for row in results.comparisons]
    assert {json.loads(text)["s"] for text in found["slice"].drop_nulls() if "s" in json.loads(text)} == {"a", "b"}


def test_a_table_that_is_not_there_is_named_with_those_that_are(results: Results) -> None:
    with pytest.raises(KeyError) as caught:
        results.frame("comparison")
    assert str(caught.value.args[0]) == (
        "the results have no table 'comparison'; there are inputs, datasets, dataset_differences, models, metrics, "
        "estimates, diagnostics, confusion, curves, findings, warnings, standards, labelled, judge_bias, label_worth, "
        "unweighted, selection_tests, label_arrival, late_labels, log_runs, scored, score_errors, "
        "judges, score_pairs, tied_sets, deciding_items, item_agreement, strengths, leaked_items, observed, "
        "thresholds, costs, "
        "cost_references, profit, best_profit, deviances, recalibration, comparisons, folds, repeated, repeats, "
        "optimism, reference_rates, slices, slice_differences, disparities, worst_slices, steps, per_thousand, "
        "what_if, looked_at, copies, shared_contents, undeclared_clusters, undeclared_groups, shared_values, gates, "
        "evidence, checks, desirability.goals, "
        "desirability.individual, desirability.overall, desirability.sensitivity, candidates.goals, candidates.ranking")


def test_what_json_does_not_have_is_null_and_nothing_else_changes(results: Results) -> None:
    first, *others = results.rows
    broken = results.model_copy(update={"rows": [first.model_copy(update={"value": float("nan")}), *others]})
    infinite = results.model_copy(update={"spec": results.spec | {"level": [float("inf"), 0.5]}})
    assert json.loads(broken.to_json())["estimates"][0]["value"] is None
    assert json.loads(broken.to_json())["estimates"][1:] == json.loads(results.to_json())["estimates"][1:]
    assert json.loads(infinite.to_json())["spec"]["level"] == [None, 0.5]
    assert len({each.evidence_sha256 for each in (results, broken, infinite)}) == 3
