"""What a run answers of standards, by hand on small cases."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import evalpipe
from chapters.standards.runs import FRAME, SPEC, run
from evalpipe.chapters.standards.compute import completeness
from evalpipe.chapters.standards.plan import StandardPlan
from evalpipe.chapters.standards.spec import Profile, ProfileItem, StandardRule
from evalpipe.chapters.statement.records import Stated
from evalpipe.results import Results

PROFILE = Profile("p", "P", "2026", "P-", "", (
    ProfileItem("1", "Values", (("evidence.values",),)),
    ProfileItem("2", "Risks and what is done", (("card.risks",), ("card.mitigation",))),
    ProfileItem("3", "Either", (("card.ethics", "evidence.gates"),)),
    ProfileItem("4", "Limits", (("card.limits",), ("evidence.values",))),
))


def assess(results: Results, require: float | None = None, left_out: dict[str, str] | None = None, **card: Any) -> Any:
    stated = results.model_copy(update={"statement": Stated(**card)})
    return completeness(StandardPlan(PROFILE, rule(require, left_out or {})), stated)


def rule(require: float | None, left_out: dict[str, str]) -> StandardRule:
    return StandardRule(profile="model_cards_2019", require=require, not_applicable=left_out)


def test_an_item_is_present_where_every_need_is_answered(results: Results) -> None:
    standard = assess(results, risks="Few.")

    assert [(item.id, item.label, item.status, item.where, item.missing) for item in standard.items] == [
        ("1", "P-1", "present", ["dataset-1"], []),
        ("2", "P-2", "missing", ["risks"], ["card.mitigation"]),
        ("3", "P-3", "missing", [], ["card.ethics | evidence.gates"]),
        ("4", "P-4", "missing", ["dataset-1"], ["card.limits"]),
    ]
    assert (standard.present, standard.missing, standard.not_applicable, standard.completeness) == (1, 3, 0, 0.25)
    assert standard.verdict is None


def test_either_of_two_names_answers_a_need(results: Results) -> None:
    assert assess(results, ethics="Asked.").items[2].where == ["risks"]
    assert assess(results, ethics="Asked.").completeness == 0.5


def test_a_list_answers_where_it_is_not_empty(results: Results) -> None:
    assert assess(results, limits=["One."]).items[3].status == "present"
    assert assess(results, limits=["One."]).items[3].where == ["use", "dataset-1"]


def test_what_does_not_apply_counts_neither_way_even_where_it_is_answered(results: Results) -> None:
    standard = assess(results, left_out={"1": "no numbers", "2": "no risk"}, ethics="Asked.", limits=["One."])

    assert (standard.present, standard.missing, standard.not_applicable, standard.completeness) == (2, 0, 2, 1.0)
    assert [(item.status, item.reason, item.where, item.missing) for item in standard.items[:2]] == [
        ("not_applicable", "no numbers", [], []), ("not_applicable", "no risk", [], [])]


@pytest.mark.parametrize(("require", "verdict"), [
    (0.0, "pass"), (0.49, "pass"), (0.5, "pass"), (0.51, "fail"), (1.0, "fail")])
def test_completeness_is_judged_below_at_and_above_what_is_required(
    results: Results, require: float, verdict: str
) -> None:
    assert assess(results, require, ethics="Asked.").verdict == verdict


@pytest.mark.parametrize("parts", range(1, 53))
def test_a_share_that_is_written_as_a_fraction_is_reached_by_that_fraction(results: Results, parts: int) -> None:
    items = tuple(ProfileItem(str(number), "x", (("evidence.values" if number < parts else "card.risks",),))
                  for number in range(52))
    profile = Profile("p", "P", "2026", "P-", "", items)

    assert completeness(StandardPlan(profile, rule(parts / 52, {})), results).verdict == "pass"


def test_a_run_holds_its_standards_and_results_come_back_from_json() -> None:
    results = run(["hugging_face", {"profile": "model_cards_2019", "not_applicable": {"6": "bought"}}])
    again = Results.from_json(results.to_json())

    assert [standard.profile for standard in again.standards] == ["hugging_face", "model_cards_2019"]
    assert again.standards == results.standards
    assert results.standards[1].not_applicable == 1
    assert (results.verdict, results.holds(), results.judged) == ("none", None, False)


def test_a_run_that_is_answered_less_than_is_required_fails_as_by_a_gate() -> None:
    results = run({"profile": "model_cards_2019", "require": 0.5})

    assert results.standards[0].verdict == "fail"
    assert results.verdict == "fail"
    assert results.judged
    assert "\n  model_cards_2019: 0 of 9 items answered, verdict fail\n" in repr(results)
    assert [results.holds(fail_on) for fail_on in ("fail", "warn", "inconclusive", "never")] == [
        False, False, False, True]


def test_rows_compared_with_training_and_runs_with_an_earlier_one_are_evidence(tmp_path: Path) -> None:
    from evalpipe.chapters.standards.evidence import EVIDENCE

    first = run("tripod_ai", out=tmp_path / "first")
    gate = {"metric": "roc_auc", "max_decrease": 0.5, "against": {"results": str(tmp_path / "first")}}
    second = run("tripod_ai", gates=[gate])
    datasets = [dataset.model_copy(update={"compared": {"training": ["id"]}}) for dataset in first.datasets]

    assert EVIDENCE["earlier_runs"].where(first) is None
    assert EVIDENCE["earlier_runs"].where(second) == "gates"
    assert EVIDENCE["leakage_check"].where(first) is None
    assert EVIDENCE["leakage_check"].where(first.model_copy(update={"datasets": datasets})) == "findings"


def test_evidence_of_the_data_is_in_the_section_that_it_points_to(tmp_path: Path) -> None:
    from evalpipe.card.html import html_page
    from evalpipe.chapters.standards.evidence import EVIDENCE

    FRAME.with_row_index("id").write_csv(tmp_path / "test.csv")
    FRAME.with_row_index("id", offset=500).write_csv(tmp_path / "train.csv")
    datasets = {"test": {"path": str(tmp_path / "test.csv")},
                "train": {"path": str(tmp_path / "train.csv"), "role": "reference"}}
    results = evalpipe.run(SPEC | {"id": "id", "datasets": datasets})
    page = html_page(results).decode()
    words = {
        "row_flow": "From the rows read to the rows used", "roles": "train (not evaluated)",
        "level_counts": "Levels of the outcome in test", "drift": "Levels of the outcome in train",
        "data_files": "Files read", "leakage_check": "in train", "software": "evalpipe",
    }
    for name, text in words.items():
        found = re.search(rf'id="{EVIDENCE[name].where(results)}".*?</section>', page, re.DOTALL)
        assert found is not None, name
        assert text in " ".join(re.sub(r"<[^>]*>", " ", found[0]).split()), name


@pytest.mark.parametrize(("keys", "names"), [
    ({}, {"values", "intervals", "confusion", "calibration", "decision_rule"}),
    ({"slices": ["sex"]}, {"slices"}),
    ({"slices": ["sex", ["sex", {"column": "q", "cuts": [0.5]}]], "slice_rules": {"min_rows": 5}},
     {"slices", "intersections"}),
    ({"gates": [{"metric": "roc_auc", "min": 0.1}]}, {"gates"}),
    ({"as_of": "2026-11-22"}, {"dated"}),
    ({"models": {"a": {"probability": "p"}, "b": {"probability": "q"}}, "compare": {"baseline": "a"}}, {"comparison"}),
    ({"reference_rates": [{"name": "old", "metric": "roc_auc", "value": 0.5}]}, {"reference_rates"}),
    ({"equivocal": 0.05}, {"equivocal"}),
    ({"recalibrate": {"fit_on": {"folds": 5}, "methods": ["logistic"]}}, {"recalibration"}),
    ({"intervals": {"method": "none"}}, {"values", "confusion"}),
])
def test_each_evidence_is_there_where_the_run_computed_it_and_stands_on_the_card(
    keys: dict[str, Any], names: set[str]
) -> None:
    from evalpipe.card.contents import card_of
    from evalpipe.chapters.standards.evidence import EVIDENCE

    results = run("sr_26_2", **keys)
    always = {"title", "definitions", "row_flow", "roles", "level_counts", "findings", "software", "reproduction"}
    measured = {"values", "confusion", "calibration", "decision_rule"} | (
        set() if keys.get("intervals") else {"intervals", "interval_methods"})
    there = {name: evidence.where(results) for name, evidence in EVIDENCE.items()}
    anchors = {section.anchor for section in card_of(results).sections} | {"verdict"}

    assert {name for name, anchor in there.items() if anchor is not None} == always | measured | names
    assert set(there.values()) - {None} <= anchors
