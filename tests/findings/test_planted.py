"""Each planted fault is named among the first five findings of its run; each finding links to a section of the card."""

from __future__ import annotations

import pytest

import evalpipe
from evalpipe.card.contents import card_of
from evalpipe.card.first import MOST_FINDINGS
from findings.faults import FAULTS


@pytest.mark.parametrize("name", FAULTS)
def test_the_fault_is_named_among_the_first_findings(name: str) -> None:
    planted = FAULTS[name]()
    results = evalpipe.run(planted.spec, frames=planted.frames)
    first = results.findings[:MOST_FINDINGS]
    named = [finding for finding in first if all(words in finding.text for words in planted.words)]
    assert [(finding.kind, finding.section) for finding in named] == [(planted.kind, planted.section)], "\n".join(
        f"{finding.kind} {finding.section} {finding.text}" for finding in results.findings)
    anchors = {section.anchor for section in card_of(results).sections}
    assert anchors.issuperset(finding.section for finding in results.findings)


def test_the_catalogue_holds_so_many_faults() -> None:
    assert len(FAULTS) >= 30
