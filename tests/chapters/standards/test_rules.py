"""What is wrong with the standards of a spec is told with its place and the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

import evalpipe
from evalpipe.errors import SpecError

SPEC = """evalpipe: 1
name: told
task: binary
outcome: {column: y, event: 1}
datasets: {test: {path: test.csv}}
models: {a: {probability: p}}
"""
PROFILES = ("'model_cards_2019', 'eu_ai_act_annex_iv', 'nist_ai_rmf', 'sr_26_2', 'tripod_ai', 'stard_2015', "
            "'iso_42001' or 'hugging_face'")
MAPPING = "a mapping with 'profile', 'require' and 'not_applicable'"
MC = "'1', '2', '3', '4', '5', '6', '7', '8' and '9'"


@pytest.mark.parametrize(("line", "code", "message", "at", "hint"), [
    ("standards: eu_ai_act", "unknown-choice",
     f"expected {PROFILES}, {MAPPING} or a list, got the text 'eu_ai_act'",
     "eu_ai_act", "did you mean 'eu_ai_act_annex_iv'?"),
    ("standards: [tripod_ai, stard]", "unknown-choice",
     f"expected {PROFILES} or {MAPPING}, got the text 'stard'",
     "stard", "did you mean 'stard_2015'?"),
    ("standards: {profile: tripod, require: 1}", "unknown-choice", f"expected {PROFILES}, got the text 'tripod'",
     "tripod", "did you mean 'tripod_ai'?"),
    ("standards: {profile: tripod_ai, requires: 1}", "unknown-key", "unknown key 'requires'", "requires",
     "did you mean 'require'?"),
    ("standards: {profile: tripod_ai, require: 90}", "out-of-range", "expected a number from 0 to 1, got 90", "90",
     "did you mean 0.9?"),
    ("standards: [tripod_ai, tripod_ai]", "duplicate-standard", "tripod_ai is named twice", "tripod_ai]",
     "remove one of them"),
    ("standards: {profile: model_cards_2019, not_applicable: {10: no}}", "unknown-item",
     "model_cards_2019 has no item '10'", "10", f"its items are {MC}"),
    ("standards: [{profile: eu_ai_act_annex_iv, not_applicable: {2E: no}}]", "unknown-item",
     "eu_ai_act_annex_iv has no item '2E'", "2E", "did you mean '2e'?"),
    ("standards: {profile: model_cards_2019, not_applicable: {1: ''}}", "empty-value", "this text must not be empty",
     "''", "fill it in"),
    ("standards: {profile: model_cards_2019, not_applicable: {1: a, 2: a, 3: a, 4: a, 5: a, 6: a, 7: a, 8: a, 9: a}}",
     "nothing-to-answer", "no item of model_cards_2019 is left", "not_applicable", "remove the standard"),
])
def test_a_fault_is_told_at_its_place(
    tmp_path: Path, line: str, code: str, message: str, at: str, hint: str
) -> None:
    (tmp_path / "spec.yaml").write_text(f"{SPEC}{line}\n", encoding="utf-8")
    (tmp_path / "test.csv").touch()
    with pytest.raises(SpecError) as caught:
        evalpipe.plan(tmp_path / "spec.yaml")
    start, length = line.rindex(at), len(at.rstrip("]"))

    assert str(caught.value).replace(f"{tmp_path}/", "") == (
        f"error[{code}]: {message}\n --> spec.yaml:7:{start + 1}\n  |\n7 | {line}\n"
        f"  | {' ' * start}{'^' * length} {hint}")


@pytest.mark.parametrize(("written", "expected"), [
    ("tripod_ai", [("tripod_ai", None, {})]),
    ({"profile": "tripod_ai", "require": 1}, [("tripod_ai", 1.0, {})]),
    (["tripod_ai", {"profile": "stard_2015", "not_applicable": {"3": "no"}}],
     [("tripod_ai", None, {}), ("stard_2015", None, {"3": "no"})]),
    ([], []), (None, []),
])
def test_a_name_a_mapping_and_a_list_are_read(written: object, expected: object) -> None:
    from evalpipe.chapters.standards.plan import standards_plan
    from evalpipe.spec.load import load

    spec = load({"evalpipe": 1, "name": "told", "task": "binary", "outcome": {"column": "y", "event": 1},
                 "datasets": {"test": {"path": "x.csv"}}, "models": {"a": {"probability": "p"}}, "standards": written})

    planned = standards_plan(spec)
    assert [(one.profile.name, one.rule.require, one.rule.not_applicable) for one in planned] == expected
