"""Each planted fault is named among the first five findings of its run; each finding links to a section of the card."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

import evalpipe
from evalpipe.card.contents import card_of
from evalpipe.card.first import MOST_FINDINGS
from findings.faults import FAULTS


@pytest.mark.parametrize("name", FAULTS)
def test_the_fault_is_named_among_the_first_findings(name: str, tmp_path: Path) -> None:
    planted = FAULTS[name]()
    days = [f"{date(2026, 11, 1) + timedelta(number)}" for number in range(len(planted.nights) + 1)]
    for day, frames in zip(days, planted.nights, strict=False):
        evalpipe.run(planted.spec | (planted.before or {}), frames=frames, out=tmp_path / day, as_of=day)
    night = {"out": tmp_path / days[-1], "as_of": days[-1]} if planted.nights else {}
    results = evalpipe.run(planted.spec, frames=planted.frames, **night)
    first = results.findings[:MOST_FINDINGS]
    named = [finding for finding in first if all(words in finding.text for words in planted.words)]
    assert [(finding.kind, finding.section) for finding in named] == [(planted.kind, planted.section)], "\n".join(
        f"{finding.kind} {finding.section} {finding.text}" for finding in results.findings)
    anchors = {section.anchor for section in card_of(results).sections}
    assert anchors.issuperset(finding.section for finding in results.findings)


def test_the_catalogue_holds_so_many_faults() -> None:
    assert len(FAULTS) >= 30
