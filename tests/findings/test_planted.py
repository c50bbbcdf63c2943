"""Each planted fault that fails is named by the first three findings of its run, others by the first five.

Each finding links to a section of the card.

Every rule, and every function that writes sentences, is heard of a fault at least once.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from evalpipe.card.contents import card_of
from evalpipe.card.summary import MOST_FINDINGS
from evalpipe.findings import rules
from evalpipe.findings.claims import registry
from findings.conftest import name_of
from findings.faults import FAULTS
from findings.test_checks import results_of

FIRST_LINES = 3
"""The findings that a busy reader reads."""


@pytest.mark.parametrize("name", FAULTS)
def test_the_fault_is_named_among_the_first_findings(name: str, planted_run: Callable[[str], Path]) -> None:
    planted = FAULTS[name]()
    results = results_of(planted_run(name))
    first = results.findings[: FIRST_LINES if planted.kind == "fails" else MOST_FINDINGS if planted.early else None]
    named = [finding for finding in first if all(words in finding.text for words in planted.words)]
    assert [(finding.kind, finding.section) for finding in named] == [(planted.kind, planted.section)], "\n".join(
        f"{finding.kind} {finding.section} {finding.text}" for finding in results.findings)
    anchors = {section.anchor for section in card_of(results).sections}
    assert anchors.issuperset(finding.section for finding in results.findings)


def writes_sentences(thing: Any) -> bool:
    """Tell whether something takes the results and rows of them, and gives findings."""
    function = thing if inspect.isfunction(thing) else vars(type(thing)).get("__call__")
    return inspect.isfunction(function) and function.__annotations__.get("return") == "Iterator[Finding]" and len(
        set(inspect.signature(function).parameters) - {"self"}) == 2


def test_every_rule_and_every_sentence_is_heard(planted_run: Callable[[str], Path]) -> None:
    rules()
    modules = {rule.claims.__module__ for rule in registry.values()}
    declared = [thing for module in modules for thing in vars(sys.modules[module]).values()]
    declared += [thing for table in declared if isinstance(table, Mapping) for thing in table.values()]
    sentences = {name_of(thing) for thing in declared if writes_sentences(thing) and thing.__module__ in modules}
    assert len(sentences) >= len(registry)
    said = [pair for name in FAULTS for pair in json.loads((planted_run(name) / "said.json").read_text("utf-8"))]
    assert set(registry) - {rule for rule, _ in said} == set(), "rules of which no fault is planted"
    assert sentences - {sentence for _, sentence in said} == set(), "sentences of which no fault is planted"


def test_the_catalogue_holds_so_many_faults() -> None:
    assert len(FAULTS) >= 80
