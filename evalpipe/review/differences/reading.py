"""The two runs as they lie on the disk: an output folder, or its `results.json` alone."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalpipe.errors import DataError
from evalpipe.results import Results
from evalpipe.runs.run_facts import run_facts_of

if TYPE_CHECKING:
    from collections.abc import Mapping

OF_MODELS = ("model", "models", "baseline", "against")
"""The keys of results under which names of models stand."""

VERSION = 1
"""The version of the format of `results.json` that is read here."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run: its results, the folder that they lie in, and the versions of what computed them by name.

    ``source`` is how the command line names it. ``folder`` is where files beside the results are looked for.
    ``former`` are the names that models have in these files, by those in the results, where they are others.
    """

    source: str
    results: Results
    folder: Path | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    former: Mapping[str, str] = field(default_factory=dict)

    def under_new_names(self, renamed: Mapping[str, str]) -> Run:
        """Return the run with its models under the names that they have in another run.

        ``renamed`` are their former names, by the new ones; those that the run does not have are left out.
        """
        there = {model.name for model in self.results.models}
        names = {was: name for name, was in renamed.items() if was in there and name not in there}
        if not names:
            return self
        document = _renamed(json.loads(self.results.to_json()), names)
        results = Results.from_json(json.dumps(document), self.source)
        results.__dict__["evidence_sha256"] = self.results.evidence_sha256  # it is the same run
        return replace(self, results=results, former={name: was for was, name in names.items()})


def _renamed(node: Any, names: Mapping[str, str], key: str = "") -> Any:
    """Copy a part of results, which stands under a key, with models under their new names."""
    if isinstance(node, list):
        return [_renamed(item, names, key) for item in node]
    if isinstance(node, dict):
        of_model = key == "models" and "name" in node and isinstance(node["name"], str)
        return {(names.get(name, name) if key == "models" else name):
                _renamed(item, names, "model" if of_model and name in ("name", "label") else name)
                for name, item in node.items()}
    return names.get(node, node) if key in OF_MODELS and isinstance(node, str) else node


def read_run(source: str) -> Run:
    """Read an output folder or a `results.json`; raises DataError where it cannot, or is of another format version."""
    path = Path(source)
    file = path / "results.json" if path.is_dir() else path
    try:
        results = Results.read(path)
    except DataError:
        _refuse_other_version(file)
        raise
    shown = source.encode("utf-8", "replace").decode()  # a path may have bytes that are no text
    return Run(shown, results, file.parent, _versions(file.parent, results))


def _refuse_other_version(file: Path) -> None:
    """Raise DataError where a file holds results of another version of the format."""
    try:
        document = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return
    version = document.get("schema_version") if isinstance(document, dict) else None
    if isinstance(version, int) and version != VERSION:
        message = f"{file} holds results of format version {version}, and this evalpipe reads version {VERSION}"
        raise DataError.of("results-version", message, hint="run both specs with one evalpipe, and compare these runs")


def _versions(folder: Path, results: Results) -> dict[str, str]:
    """Return the versions of evalpipe, and of Python and libraries where `run.json` is of these results."""
    versions = {"evalpipe": results.evalpipe_version}
    facts = run_facts_of(folder, results.evidence_sha256)
    libraries = facts.get("libraries")
    named = {"python": facts.get("python"), **(libraries if isinstance(libraries, dict) else {})}
    return versions | {name: version for name, version in named.items() if isinstance(version, str)}
