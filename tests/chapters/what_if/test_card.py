"""The block of sliders on the page: its data, its groups, and the policy under which it runs."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import Any

import pytest

from engine.runs import BOTH, intervals, people, run
from evalpipe.card.html import html_page
from evalpipe.card.page import Explorer
from evalpipe.chapters.what_if.card import beneath, procedures
from evalpipe.results import Results

HOSTILE = "</script><script>alert(1)</script>"


def sliced(**keys: Any) -> Results:
    """Return results with sliders for two models in all rows and in two groups."""
    return run(people(200), **{
        "models": BOTH, "metrics": ["accuracy"], "slices": ["h"], "intervals": intervals(100)} | keys)


def explorer(results: Results) -> Explorer:
    (block,) = beneath(results)
    return block


def test_the_block_has_every_model_and_every_group() -> None:
    block = explorer(sliced())
    assert [(model.key, model.label, model.look[0]) for model in block.models] == [("0", "p", "m0"), ("1", "q", "m1")]
    assert block.groups == ("All rows", "h = x", "h = z")
    assert [head for _, head in block.columns] == ["Sensitivity", "Specificity", "PPV", "NPV", "Net benefit"]
    assert block.description == (
        "Move the threshold and the prevalence, or choose a group. With 95% limits: Clopper-Pearson of sensitivity and "
        "specificity, the delta method of the others, at the prevalence that is set.")
    data = json.loads(block.data)
    assert data["datasets"]["d"]["start"] == data["datasets"]["d"]["thresholds"].index(0.5)
    assert data["groups"][0]["n"] == {"events": sum(people(200)["y"]), "others": 200 - sum(people(200)["y"])}
    assert (data["declared"], data["costs"]) == (None, None)


def test_the_sliders_start_at_the_threshold_of_the_first_model_that_has_one() -> None:
    data = json.loads(explorer(sliced(threshold=0.3)).data)
    assert data["datasets"]["d"]["thresholds"][data["datasets"]["d"]["start"]] == 0.3


def test_costs_and_a_declared_prevalence_are_taken_along() -> None:
    costs = [{"truth": 1, "predicted": 0, "cost": 5}]
    outcome = {"column": "y", "event": 1, "levels": [0, 1]}
    block = explorer(sliced(costs=costs, outcome=outcome, prevalence=0.2))
    data = json.loads(block.data)
    assert block.columns[-1] == ("cost", "Cost")
    assert (data["declared"], data["costs"], data["groups"][1]["prevalence"]) == (0.2, [[0, 5], [0, 0]], "0.2")


def test_weights_leave_no_limits_and_the_page_says_so() -> None:
    block = explorer(sliced(weight={"column": "heavy", "kind": "importance"}))
    assert json.loads(block.data)["limited"] is False
    assert block.description.endswith("Without limits: rows are weighted or clustered, so no closed form holds.")


def test_names_cannot_leave_the_data_and_nothing_but_our_scripts_may_run() -> None:
    results = sliced(models={"p": {"probability": "p", "label": HOSTILE}})
    page = html_page(results.model_copy(update={"curves": []})).decode()
    assert HOSTILE not in page
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    for kind, elements in (("style", re.findall(r"<style[^>]*>(.*?)</style>", page, re.DOTALL)),
                           ("script", re.findall(r"<script>(.*?)</script>", page, re.DOTALL))):
        hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in elements]
        assert f"{kind}-src {' '.join(f'&#39;sha256-{digest}&#39;' for digest in hashes)};" in policy
    assert policy.startswith("default-src &#39;none&#39;; ")
    assert ' style="' not in page


def test_a_page_without_sliders_runs_no_script_for_them() -> None:
    results = run(people(200), metrics=["accuracy"], report={"formats": [], "what_if": False})
    page = html_page(results.model_copy(update={"curves": []})).decode()
    assert list(beneath(results)) == []
    assert "what-if" not in re.sub(r"<(style|script)[^>]*>.*?</\1>", "", page, flags=re.DOTALL)
    assert len(re.findall("<script", page)) == 1


def test_the_method_says_how_the_page_computes() -> None:
    (said,) = procedures(sliced())
    assert "PPV and NPV those of the delta method on the logit (Mercaldo, Lau & Zhou 2007)" in said.text


def test_groups_have_their_own_prevalence_unless_one_is_declared_and_whole_counts_stand_as_such() -> None:
    results = sliced(models={"p": {"probability": "p"}})
    (table,) = results.what_if
    group = table.groups[0].model_copy(update={"hits": [25.0, 12.5, 0.0], "alarms": [75.0, 0.25, 0.0]})
    changed = table.model_copy(update={"groups": [group], "thresholds": [0.0, 0.5, 1.0]})
    for declared, prevalence in ((None, "0.25"), (run(people(200), prevalence=0.1).prevalence, "0.1")):
        given = results.model_copy(update={"what_if": [changed], "prevalence": declared})
        text = explorer(given).data
        data = json.loads(text)
        assert data["groups"] == [{
            "dataset": "d", "n": {"events": 25, "others": 75}, "prevalence": prevalence,
            "models": {"0": [[25, 12.5, 0], [75, 0.25, 0]]}}]
        assert '"events":25,' in text
        assert data["datasets"] == {"d": {"thresholds": [0.0, 0.5, 1.0], "start": 1, "place": 1}}
        assert (data["level"], data["z"]) == (0.95, pytest.approx(1.959963984540054, rel=1e-12))


def test_several_datasets_are_named_with_each_group_and_start_at_their_own_threshold() -> None:
    results = run({"d": people(200), "e": people(100)}, models=BOTH, metrics=["accuracy"], threshold=0.35)
    block = explorer(results)
    assert block.groups == ("All rows of d", "All rows of e")
    data = json.loads(block.data)
    assert {name: (part["thresholds"][part["start"]], part["place"]) for name, part in data["datasets"].items()} == {
        "d": (0.35, 1), "e": (0.35, 2)}
    bare = json.loads(explorer(results.model_copy(update={"confusion": []})).data)
    assert [part["thresholds"][part["start"]] for part in bare["datasets"].values()] == [0.5, 0.5]
