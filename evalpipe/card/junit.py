"""The verdicts of a run as JUnit XML, which the servers that run tests can show: one test case for each verdict."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree as ET

from evalpipe.chapters import functions

if TYPE_CHECKING:
    from evalpipe.card.edition import Edition
    from evalpipe.results import Gate, Results

UNSPEAKABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that XML 1.0 cannot hold."""


OUTCOMES = {
    "pass": ("passed", ""), "fail": ("failed", ""), "warn": ("skipped", "warning: "),
    "inconclusive": ("skipped", "inconclusive: "), "skipped": ("skipped", "skipped: "),
}
"""What becomes of a test case by its verdict, and what stands before its reason: a reader agrees with the exit code of
`evalpipe run`, so a gate that failed with severity warn, is inconclusive or was skipped counts as skipped."""


class Case(NamedTuple):
    """A verdict as a test case: its name within a group, which readers tell cases apart by, what it is, and why."""

    group: str
    name: str
    kind: str
    """pass, skipped, inconclusive, warn or fail."""
    reason: str
    gate: Gate | None = None
    """The gate that it is of; None of a standard."""

    @property
    def title(self) -> str:
        """The name to show without its group; that of a gate has the group, dataset and model, before it."""
        return self.name if self.gate is None else f"{self.group}: {self.name}"

    @property
    def severity(self) -> str:
        """What a failure of the check means for the run: "fail" or "warn"."""
        return "fail" if self.gate is None else self.gate.severity


def test_cases(results: Results) -> list[Case]:
    """Return the test cases of all chapters that judge anything, such as gates, in the order of chapters."""
    return [check for write in functions("card", "checks") for check in write(results)]


def document(edition: Edition) -> bytes:
    """Return junit.xml, with a case for each check: the same bytes for the same results, so without times."""
    checks = test_cases(edition.results)
    outcomes = [OUTCOMES[check.kind][0] for check in checks]
    counts = {
        "tests": str(len(checks)), "failures": str(outcomes.count("failed")), "errors": "0",
        "skipped": str(outcomes.count("skipped")),
    }
    root = ET.Element("testsuites", {"name": "evalpipe", **counts})
    suite = ET.SubElement(root, "testsuite", {"name": xml_safe(edition.results.name), **counts})
    for check in checks:
        outcome, before = OUTCOMES[check.kind]
        case = ET.SubElement(suite, "testcase", {"classname": xml_safe(check.group), "name": xml_safe(check.name)})
        message = xml_safe(f"{before}{check.reason}")
        if outcome == "failed":
            ET.SubElement(case, "failure", {"type": "fail", "message": message}).text = message
        elif outcome == "skipped":
            ET.SubElement(case, "skipped", {"message": message})
        else:
            ET.SubElement(case, "system-out").text = message
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def xml_safe(value: str) -> str:
    """Return a text with a mark in place of each character that XML cannot hold."""
    return UNSPEAKABLE.sub("\N{REPLACEMENT CHARACTER}", value)
