"""The verdicts of a run as JUnit XML, which the servers that run tests can show: one test case for each verdict."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple
from xml.etree import ElementTree as ET

from evalpipe.chapters import functions

if TYPE_CHECKING:
    from evalpipe.card.edition import Edition

UNSPEAKABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that XML 1.0 cannot hold."""


class Check(NamedTuple):
    """A test case: its name within a group, which readers tell cases apart by, what became of it, and why."""

    group: str
    name: str
    outcome: Literal["passed", "failed", "skipped"]
    message: str


def document(edition: Edition) -> bytes:
    """Return junit.xml, with the checks of all chapters: the same bytes for the same results, so without times."""
    checks: list[Check] = [check for write in functions("card", "checks") for check in write(edition.results)]
    outcomes = [check.outcome for check in checks]
    counts = {
        "tests": str(len(checks)), "failures": str(outcomes.count("failed")), "errors": "0",
        "skipped": str(outcomes.count("skipped")),
    }
    root = ET.Element("testsuites", {"name": "evalpipe", **counts})
    suite = ET.SubElement(root, "testsuite", {"name": speakable(edition.results.name), **counts})
    for check in checks:
        case = ET.SubElement(suite, "testcase", {"classname": speakable(check.group), "name": speakable(check.name)})
        message = speakable(check.message)
        if check.outcome == "failed":
            ET.SubElement(case, "failure", {"type": "fail", "message": message}).text = message
        elif check.outcome == "skipped":
            ET.SubElement(case, "skipped", {"message": message})
        else:
            ET.SubElement(case, "system-out").text = message
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def speakable(value: str) -> str:
    """Return a text with a mark in place of each character that XML cannot hold."""
    return UNSPEAKABLE.sub("\N{REPLACEMENT CHARACTER}", value)
