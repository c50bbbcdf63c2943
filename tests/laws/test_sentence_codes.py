"""Laws of the sentences that results hold as codes: each has a place that says it, its numbers, and a way back."""

from __future__ import annotations

import ast
import json
import pickle
import re
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any, NamedTuple

import pytest

import evalpipe
from evalpipe.card.page import Text
from evalpipe.errors import DataError
from evalpipe.results import Results, Warned
from evalpipe.words import sentences
from evalpipe.words.sentences import NEEDS, TEMPLATES, Sentence, in_words, sentence

PACKAGE = Path(evalpipe.__file__).parent
SAMPLES: dict[str, Any] = {
    "need": "labels", "needs": {"labels": ["accuracy", "kappa"]}, "bounds": [0.0, None], "lacks": {"new": 3},
    "some": ["a", "b"], "list": ["a", "b"], "semicolons": ["a", "b"], "named": ["a", "b"], "represented": ["a", "b"],
    "quoted": "a",
}
"""A number for each writer that takes no plain number."""


class Said(NamedTuple):
    """A call that makes a sentence: the code, or the beginning of one, and the names of its numbers."""

    code: str
    case: str | None
    numbers: frozenset[str]
    open_ended: bool
    """Whether numbers come from a mapping, too."""


@cache
def calls() -> tuple[Said, ...]:
    """Return every call of `sentence` and `Warned.of` in the package whose code is written there."""
    found = []
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            function = ast.unparse(node.func)
            if function not in ("sentence", "Warned.of") or not isinstance(node.args[0], ast.Constant):
                continue
            keys = {key.arg: key.value for key in node.keywords}
            case = keys.pop("case", None)
            found.append(Said(node.args[0].value, case.value if isinstance(case, ast.Constant) else None,
                              frozenset(filter(None, keys)), None in keys or case is not None))
    return tuple(found)


def fields(template: str) -> dict[str, str]:
    return {name: form or "" for _, name, form, _ in Formatter().parse(template) if name is not None}


def numbers_of(name: str) -> dict[str, Any]:
    """Return a number for each that a template names."""
    made: dict[str, Any] = {}
    for field, form in fields(TEMPLATES[name]).items():
        made[field] = "x" if "%" in form or (not form and field != "because") else SAMPLES.get(form, 2)
    made |= {"because": sentence("one-level")} if "because" in made and not isinstance(made["because"], list) else {}
    return made | ({"case": name.partition("/")[2]} if "/" in name else {})


def made(name: str) -> Sentence:
    return sentence(name.partition("/")[0], **numbers_of(name))


@pytest.mark.parametrize("said", calls(), ids=lambda said: f"{said.code}/{said.case}" if said.case else said.code)
def test_what_is_said_has_a_template_with_its_numbers(said: Said) -> None:
    names = [name for name in TEMPLATES if name == said.code or name.startswith(f"{said.code}/")]
    names = [name for name in names if said.case is None or name == f"{said.code}/{said.case}"]
    assert names
    if not said.open_ended:
        assert said.numbers == frozenset(fields(TEMPLATES[names[0]]))
    else:
        assert said.numbers <= frozenset().union(*(fields(TEMPLATES[name]) for name in names)) | {"slice"}


def test_every_code_is_said_somewhere() -> None:
    """A code is a text of the package outside the templates, whole or made of two parts."""
    texts = "\n".join(file.read_text(encoding="utf-8") for file in sorted(PACKAGE.rglob("*.py"))
                      if file.name != "reasons.py")
    made_of_parts = {"few-clusters-with-success", "few-clusters-with-failure", "few-clusters-with-rarer-level",
                     "degenerate-slices", "undefined-slices"}
    for name in TEMPLATES:
        code, _, case = name.partition("/")
        assert code in made_of_parts or f'"{code}"' in texts, code
        assert not case or f'"{case}"' in texts, name


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_sentence_is_read_back_from_its_code_and_numbers(name: str) -> None:
    said = made(name)
    assert not re.search(r"[{}]|None|  | $", said)
    document = json.loads(json.dumps(said.document))
    read = Sentence.read(document)
    assert (read, read.code, read.document) == (said, said.code, document)
    assert in_words({"reason": document, "rows": [document]}) == {"reason": said, "rows": [said]}
    assert pickle.loads(pickle.dumps(said)).document == document  # noqa: S301 - our own, as Dask sends it


@pytest.mark.parametrize("name", [name for name in TEMPLATES if fields(TEMPLATES[name])])
def test_a_sentence_that_lacks_a_number_is_refused(name: str) -> None:
    document = made(name).document
    lacking = next(iter(fields(TEMPLATES[name])))
    with pytest.raises(ValueError, match=f"'{document['code']}' lacks a number"):
        Sentence.read({key: value for key, value in document.items() if key != lacking})


def test_a_code_of_a_later_version_is_read() -> None:
    assert Sentence.read({"code": "new-in-9", "rows": 3}) == "new-in-9 (rows = 3)"
    assert Warned.model_validate({"code": "new-in-9", "rows": 3}).message == "new-in-9 (rows = 3)"
    with pytest.raises(KeyError, match="new-in-9"):
        sentence("new-in-9", rows=3)


@pytest.mark.parametrize("value", [3, None, [], {"rows": 3}, {"code": 3}])
def test_what_is_no_sentence_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="neither a code with its numbers nor a text"):
        Sentence.read(value)


def test_a_text_is_a_sentence_too() -> None:
    assert Sentence.read("as it is").document == {"code": "text", "text": "as it is"}
    assert Text(Sentence.read("as it is")) == Text("as it is")


def test_needs_of_models_have_words() -> None:
    from evalpipe.metrics import registry

    assert {entry.needs for entry in registry} - {"truth"} == set(NEEDS)


@pytest.fixture(scope="module")
def results() -> Results:
    truth = [0, 1, 1, 0, 1, 0, 1, 1] * 12
    chance = [0.2, 0.9, 0.4, 0.3, 0.0, 0.6, 0.8, 0.7] * 12
    return evalpipe.evaluate(
        truth, chance, event=1, metrics=["roc_auc", "log_loss", "precision"], intervals={"replicates": 100},
        gates=[{"metric": "roc_auc", "min": 0.6}, {"metric": "log_loss", "max": 0.1}])


def test_other_words_change_no_byte_of_results(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    """The words of every template and of gates are changed: the evidence stays, and the sentences are others."""
    from evalpipe.card.wording import names_of
    from evalpipe.chapters.gates import card_sentences

    text, warning = results.to_json(), results.warnings[0].message
    assert "Log loss would be infinite" in warning
    others = {name: f"In other words: {template}" for name, template in TEMPLATES.items()}
    monkeypatch.setattr(sentences, "TEMPLATES", others)
    monkeypatch.setattr(card_sentences, "capital", lambda name: f"In other words, {name}")
    read = Results.from_json(text)
    assert read.warnings[0].message == f"In other words: {warning}"
    assert card_sentences.gate_sentence(names_of(read), read.gates[0]).startswith("In other words, ROC AUC: ")
    assert (read.to_json(), read.evidence_sha256) == (text, results.evidence_sha256)


def test_no_sentence_of_ours_is_in_results(results: Results) -> None:
    document = json.loads(results.to_json())
    assert all(finding.text and finding.text not in results.to_json() for finding in results.findings)
    assert all("text" not in finding for finding in document["findings"])
    assert {"code", "dataset", "model"} < document["warnings"][0].keys()
    assert document["gates"][0]["reason"] == {"code": "interval-within"}


def test_a_broken_sentence_is_told_with_its_place(results: Results) -> None:
    document = json.loads(results.to_json())
    del document["warnings"][0]["rows"]
    with pytest.raises(DataError, match=r"warnings\.0.*'clipped' lacks a number"):
        Results.from_json(json.dumps(document))


def test_findings_have_sentences_where_a_plugin_of_the_run_is_gone(results: Results) -> None:
    document = json.loads(results.to_json())
    document["appearance"]["plugins"] = [
        {"name": "house", "package": "house-rules", "version": "1.0", "gives": ["findings"]}]
    document["findings"].append(document["findings"][-1] | {
        "code": "plugin-house", "plugin": "house", "text": "The plugin's own words."})
    read = Results.from_json(json.dumps(document))
    assert [finding.text for finding in read.findings] == [
        *(finding.text for finding in results.findings), "The plugin's own words."]


def test_a_finding_that_this_version_does_not_make_says_what_was_checked(results: Results) -> None:
    document = json.loads(results.to_json())
    first = document["findings"][0]
    document["findings"][0] = first | {"code": "better-than-trivial", "kind": "fails", "estimates": []}
    document["findings"][1] |= {"code": "of-a-later-version"}
    texts = [finding.text for finding in Results.from_json(json.dumps(document)).findings]
    assert texts[:2] == ["Whether predictions are better than a constant prediction: fails.",
                         f"of-a-later-version: {document['findings'][1]['kind']}."]
    assert texts[2:] == [finding.text for finding in results.findings[2:]]
