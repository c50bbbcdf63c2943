"""What one rule says."""

from __future__ import annotations

import pytest

from evalpipe import findings
from evalpipe.results import Results


def only(results: Results, rule: str, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Return what one rule says of results, as kinds and texts."""
    asked = tuple(each for each in findings.rules() if each.name == rule)
    monkeypatch.setattr(findings, "rules", lambda: asked)
    return [(finding.kind, finding.text) for finding in findings.findings(results)]
