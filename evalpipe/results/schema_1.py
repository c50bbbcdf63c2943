"""Results of `schema_version` 1, which had sentences where there are codes now, as those of this version."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from evalpipe.words.reasons import FORMER_VERDICTS

KINDS = {"holds": "passes", "open": "undecided", "same": "equivalent"}
MARGINS = {"open": "undecided"}
"""The words of before, with those of now."""


def upgraded(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document of version 1 as one of version 2; its sentences stay, as texts.

    A part that is not as version 1 had it is left as it is, for the rules of this version to say what is wrong with it.
    """
    parts = {"gates": _gate, "findings": _finding, "warnings": _warning, "comparisons": _comparison}
    changed: dict[str, Any] = {"schema_version": 2}
    for name, upgrade in parts.items():
        with suppress(AttributeError, KeyError, TypeError):
            changed[name] = [upgrade(row) for row in document.get(name, ())]
    with suppress(AttributeError, KeyError, TypeError):
        intervals = document["intervals"]
        changed["intervals"] = intervals | {
            "methods": {metric: _methods(text) for metric, text in intervals["methods"].items()}}
    return document | changed


def _gate(row: dict[str, Any]) -> dict[str, Any]:
    """Return a gate with the verdict's present word, and its reason as a text."""
    verdict = FORMER_VERDICTS.get(row["verdict"], row["verdict"])
    return row | {"verdict": verdict, "reason": {"code": "text", "text": row["reason"]}}


def _finding(row: dict[str, Any]) -> dict[str, Any]:
    """Return a finding with the present word for its kind, and its sentence as a text."""
    return row | {"code": "text", "kind": KINDS.get(row["kind"], row["kind"])}


def _warning(row: dict[str, Any]) -> dict[str, Any]:
    """Return a warning with its sentence under the present key."""
    return {"code": row["code"], "text": row["message"]}


def _comparison(row: dict[str, Any]) -> dict[str, Any]:
    """Return a comparison with the present word for what its margin decides."""
    return row | {"margin_verdict": MARGINS.get(row["margin_verdict"], row["margin_verdict"])}


def _methods(text: str) -> list[dict[str, str]]:
    """Return the methods of a metric, written as "exact: a proportion; percentile: an average"."""
    parts = (part.partition(": ") for part in re.split(r"; (?=[a-z_]+: )", text))
    return [{"method": method, "reason": reason} for method, _, reason in parts]
