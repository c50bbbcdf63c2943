"""The verdicts of gates as JUnit XML, which the servers that run tests can show: one test case for each verdict."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from evalpipe.report.gates import gate_place, gate_title
from evalpipe.report.names import names_of

if TYPE_CHECKING:
    from evalpipe.report.names import Names
    from evalpipe.results import Gate, Results

UNSPEAKABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that XML 1.0 cannot hold."""

LEFT_OPEN = {"warn": "warning", "indeterminate": "indeterminate"}
"""What stands before the reason of a case that is marked as skipped, by the outcome of its gate."""


def document(results: Results) -> bytes:
    """Return junit.xml: the same bytes for the same results, so without times.

    A gate that failed is a failure. One that failed with severity warn, is indeterminate or was skipped counts as
    skipped, with the reason as its message, so that a reader agrees with the exit code of `evalpipe run`.
    """
    names = names_of(results)
    counts = {
        "tests": str(len(results.gates)), "failures": str(sum(gate.outcome == "fail" for gate in results.gates)),
        "errors": "0", "skipped": str(sum(_is_skipped(gate) for gate in results.gates)),
    }
    root = ET.Element("testsuites", {"name": "evalpipe", **counts})
    suite = ET.SubElement(root, "testsuite", {"name": _text(results.name), **counts})
    taken: set[tuple[str, str]] = set()
    for gate in results.gates:
        _case(suite, _identity(names, gate, taken), gate)
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _is_skipped(gate: Gate) -> bool:
    return gate.verdict == "skipped" or gate.outcome in LEFT_OPEN


def _identity(names: Names, gate: Gate, taken: set[tuple[str, str]]) -> tuple[str, str]:
    """Return class and name of a case, which readers tell cases apart by; the number of the gate where they clash."""
    variant = "" if gate.variant == "original" else f"+{gate.variant}"
    of, place = f"{gate.dataset}.{gate.model}{variant}", gate_place(names, gate)
    name = f"{gate_title(names, gate)}, {place}" if place else gate_title(names, gate)
    identity = (of, name) if (of, name) not in taken else (of, f"{name} (gate {gate.gate})")
    taken.add(identity)
    return identity


def _case(suite: ET.Element, identity: tuple[str, str], gate: Gate) -> None:
    case = ET.SubElement(suite, "testcase", {"classname": _text(identity[0]), "name": _text(identity[1])})
    reason = _text(gate.reason)
    if gate.outcome == "fail":
        ET.SubElement(case, "failure", {"type": "fail", "message": reason}).text = reason
    elif _is_skipped(gate):
        ET.SubElement(case, "skipped", {"message": f"{LEFT_OPEN.get(gate.outcome, 'skipped')}: {reason}"})
    else:
        ET.SubElement(case, "system-out").text = reason


def _text(value: str) -> str:
    return UNSPEAKABLE.sub("\N{REPLACEMENT CHARACTER}", value)
