"""What `run.json` says of a run beside its results: times, versions, the commit, and where its spec lay."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def run_facts(folder: Path) -> dict[str, Any]:
    """Return what `run.json` in an output folder says; nothing where it is missing or cannot be read."""
    try:
        document = json.loads((folder / "run.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def run_facts_of(folder: Path, evidence_sha256: str) -> dict[str, Any]:
    """Return the same where it is of results with this sha256; nothing where it is of others."""
    facts = run_facts(folder)
    return facts if facts.get("evidence_sha256") == evidence_sha256 else {}
