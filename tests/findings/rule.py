"""What one rule says."""

from __future__ import annotations

import pytest

from evalpipe.findings import findings
from evalpipe.findings.claims import registry
from evalpipe.results import Results


def only(results: Results, rule: str, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Return what one rule says of results, as kinds and texts."""
    findings(results)  # all rules are declared
    for name in [name for name in registry if name != rule]:
        monkeypatch.delitem(registry, name)
    return [(finding.kind, finding.text) for finding in findings(results)]
