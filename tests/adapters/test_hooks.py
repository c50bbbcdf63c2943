"""The hook for pre-commit by the real pre-commit, and the steps of the GitHub Action by the shell that runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
SPEC = """\
evalpipe: 1
name: small
task: binary
outcome: {column: y, event: 1}
datasets: {test: {path: test.csv}}
models: {a: {probability: p}}
metrics: [brier]
intervals: {method: none}
gates: [{metric: brier, max: 0.3}]
report: {formats: []}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "user").mkdir()
    pl.DataFrame({"y": [1, 0] * 20, "p": [0.8, 0.3] * 20}).write_csv(tmp_path / "user" / "test.csv")
    (tmp_path / "user" / "small.yaml").write_text(SPEC, encoding="utf-8")
    return tmp_path


def called(*line: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run([str(part) for part in line], cwd=cwd, capture_output=True, text=True, check=False,
                          env={**os.environ, "PATH": path, **environment})


def committed(repository: Path) -> str:
    """Make a git repository of a folder, and return its commit."""
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    for line in (("init", "-q"), ("add", "-A"), (*who, "commit", "-qm", "Begin")):
        done = called("git", *line, cwd=repository)
        assert done.returncode == 0, done.stderr
    return called("git", "rev-parse", "HEAD", cwd=repository).stdout.strip()


def test_pre_commit_validates_the_spec(folder: Path) -> None:
    hooks, user = folder / "hooks", folder / "user"
    hooks.mkdir()
    (hooks / ".pre-commit-hooks.yaml").write_bytes((ROOT / ".pre-commit-hooks.yaml").read_bytes())
    hook = {"id": "evalpipe-validate", "args": ["small.yaml"], "files": r"^(small\.yaml|test\.csv)$"}
    config = {"repos": [{"repo": str(hooks), "rev": committed(hooks), "hooks": [hook]}]}
    (user / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    committed(user)

    def run() -> subprocess.CompletedProcess[str]:
        line = (sys.executable, "-m", "pre_commit", "run", "--all-files")
        return called(*line, cwd=user, PRE_COMMIT_HOME=str(folder / "home"))

    held = run()
    assert (held.returncode, "Passed" in held.stdout) == (0, True), held.stdout
    (user / "small.yaml").write_text(SPEC.replace("brier", "brierr"), encoding="utf-8")
    failed = run()
    assert failed.returncode == 1
    assert "unknown metric 'brierr'" in failed.stdout


@pytest.mark.parametrize(("given", "code"), [
    pytest.param({}, 0, marks=pytest.mark.nightly), ({"as-of": "2026-11-21"}, 0), ({"spec": "; exit 7"}, 2)])
def test_the_action_runs_the_spec_and_no_text_of_an_input(folder: Path, given: dict[str, str], code: int) -> None:
    action = yaml.safe_load((ROOT / "docs/examples/github_action/action.yml").read_text(encoding="utf-8"))
    inputs = {name: declared.get("default", "") for name, declared in action["inputs"].items()}
    inputs |= {"spec": "small.yaml", "out": "card", **given}
    (step,) = action["runs"]["steps"]
    assert "${{" not in step["run"]
    variables = {name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda name: inputs[name[1]], text)
                 for name, text in step["env"].items()}
    files = {"GITHUB_OUTPUT": str(folder / "output"), "GITHUB_STEP_SUMMARY": str(folder / "summary")}
    done = called("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"], cwd=folder / "user",
                  **variables, **files)
    assert done.returncode == code, done.stderr
    assert (folder / "output").read_text() == "card=card\n"
    assert (folder / "user" / "card" / "results.json").exists() == (code == 0)
