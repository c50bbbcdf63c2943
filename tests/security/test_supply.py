"""The lock file and the SBOM are those of pyproject.toml, and name no machine and no registry."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

FOR_DEVELOPERS = {"test", "dev"}


class Pin(NamedTuple):
    """A version of a package, how many hashes it has, and where it is needed: everywhere where that is empty."""

    version: str
    hashes: int
    where: str


@pytest.fixture(scope="module")
def project(root: Path) -> dict[str, list[str]]:
    """Return what pyproject.toml asks for: the extras that users install, by name; under "" what all need."""
    document = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {name: asked for name, asked in document["optional-dependencies"].items() if name not in FOR_DEVELOPERS}
    return {"": document["dependencies"], **extras}


@pytest.fixture(scope="module")
def locked(root: Path) -> dict[str, list[Pin]]:
    """Return what the lock file pins, by name: a package may have a version for each Python."""
    entries = re.split(r"\n(?=\S)", (root / ".ci" / "requirements.lock").read_text(encoding="utf-8").strip())
    pins: dict[str, list[Pin]] = {}
    for entry in entries:
        match = re.match(r"([A-Za-z0-9._-]+)==([^\s;\\]+)(?: ; ([^\\\n]+))?", entry)
        assert match is not None, entry
        pin = Pin(match[2], entry.count("--hash=sha256:"), (match[3] or "").strip())
        pins.setdefault(canonicalize_name(match[1]), []).append(pin)
    return pins


def test_every_requirement_is_pinned_within_its_bounds_with_hashes(
    project: dict[str, list[str]], locked: dict[str, list[Pin]]
) -> None:
    asked = [requirement for texts in project.values() for text in texts
             if (requirement := Requirement(text)).name != "evalpipe"]
    assert {canonicalize_name(requirement.name) for requirement in asked} - set(locked) == set()
    assert [
        f"{requirement} is locked at {pin.version}" for requirement in asked
        for pin in locked[canonicalize_name(requirement.name)] if not requirement.specifier.contains(pin.version)
    ] == []
    assert [name for name, pins in locked.items() for pin in pins if pin.hashes == 0] == []


def test_make_locks_what_users_install(root: Path, project: dict[str, list[str]]) -> None:
    line = re.search(r"^LOCKED := (.*)$", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert line is not None
    assert set(line[1].split()) == set(project) - {""}


def test_the_sbom_lists_what_the_lock_file_installs(root: Path, locked: dict[str, list[Pin]]) -> None:
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator  # which imports jsonschema

    text = (root / ".ci" / "sbom.cdx.json").read_text(encoding="utf-8")
    document = json.loads(text)
    listed = {canonicalize_name(part["name"]): part["version"] for part in document["components"]}
    assert {name: version for name, version in listed.items()
            if version not in [pin.version for pin in locked.get(name, ())]} == {}
    everywhere = {name for name, pins in locked.items() if not all(pin.where for pin in pins)}
    assert everywhere - set(listed) == set()
    assert JsonStrictValidator(SchemaVersion.from_version(document["specVersion"])).validate_str(text) is None
    refs = {part["bom-ref"] for part in document["components"]}
    assert {needed["ref"] for needed in document["dependencies"]} == refs
    assert {ref for needed in document["dependencies"] for ref in needed.get("dependsOn", ())} <= refs


@pytest.mark.parametrize("name", ["requirements.lock", "sbom.cdx.json"])
def test_they_name_no_host_and_no_folder_of_a_machine(root: Path, name: str) -> None:
    text = (root / ".ci" / name).read_text(encoding="utf-8")
    assert re.findall(r"https?://|file:|--index-url|/(?:home|tmp|root)/", text) == []
