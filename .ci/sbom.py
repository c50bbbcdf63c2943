"""Reads the SBOM of an environment from the standard input and prints what is the same on every machine.

It leaves out who made it, when, and addresses: what is in the environment, with versions, licences and what needs what.
"""

from __future__ import annotations

import json
import sys
from typing import Any

KEPT = ("type", "bom-ref", "name", "version", "purl", "description", "licenses")
"""What is kept of a component."""


def reduced(document: dict[str, Any]) -> dict[str, Any]:
    """Return the SBOM with its components by name, and what each needs."""
    components = [{key: component[key] for key in KEPT if key in component} for component in document["components"]]
    return {
        "bomFormat": document["bomFormat"], "specVersion": document["specVersion"], "version": 1,
        "components": sorted(components, key=lambda component: component["purl"]),
        "dependencies": sorted(document["dependencies"], key=lambda needed: needed["ref"]),
    }


if __name__ == "__main__":
    json.dump(reduced(json.load(sys.stdin)), sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")
