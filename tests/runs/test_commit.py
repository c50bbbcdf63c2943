"""The git commit of a spec's folder: told where git tells it, and no run fails or waits where it does not."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from evalpipe.runs import record
from evalpipe.runs.record import commit_of

IDENTITY = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, env=os.environ | IDENTITY, check=True, capture_output=True)
    return done.stdout.decode().strip()


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """Return a spec in a folder of a repository with a commit."""
    folder = tmp_path / "configs"
    folder.mkdir()
    (folder / "spec.yaml").write_text("evalpipe: 1\n")
    (tmp_path / "code.py").write_text("1\n")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    return folder / "spec.yaml"


def test_a_commit_is_told(spec: Path, tmp_path: Path) -> None:
    head = git(tmp_path, "rev-parse", "HEAD")

    assert commit_of(spec) == {"commit": head, "dirty": False}
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "card.html").write_text("a file that git does not track")
    assert commit_of(spec) == {"commit": head, "dirty": False}


def test_a_changed_file_anywhere_in_the_repository_is_told(spec: Path, tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("2\n")

    assert commit_of(spec) == {"commit": git(tmp_path, "rev-parse", "HEAD"), "dirty": True}


def test_a_spec_that_git_does_not_track_is_told(spec: Path, tmp_path: Path) -> None:
    (spec.parent / "new.yaml").write_text("evalpipe: 1\n")

    assert commit_of(spec.parent / "new.yaml") == {"commit": git(tmp_path, "rev-parse", "HEAD"), "dirty": True}


def test_without_a_repository_or_a_commit_there_is_none(tmp_path: Path) -> None:
    assert commit_of(None) is None
    assert commit_of(tmp_path / "spec.yaml") is None
    git(tmp_path, "init", "--quiet")
    assert commit_of(tmp_path / "spec.yaml") is None


def test_without_git_there_is_none(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")

    assert commit_of(spec) is None


def test_the_repository_of_a_hook_is_not_that_of_the_spec(
    spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "of a hook"))

    assert commit_of(spec) == {"commit": git_head(tmp_path), "dirty": False}


def git_head(folder: Path) -> str:
    head = (folder / ".git" / "HEAD").read_text().removeprefix("ref: ").strip()
    return (folder / ".git" / head).read_text().strip()


def test_a_git_that_hangs_is_not_waited_for(spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(f'#!/bin/sh\ncase "$*" in *rev-parse*) echo {"a" * 40};; *) exec sleep 60;; esac\n')
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(record, "PATIENCE", 0.3)

    began = time.monotonic()
    assert commit_of(spec) == {"commit": "a" * 40, "dirty": None}
    assert time.monotonic() - began < 5


def test_git_runs_no_command_that_a_folder_names(spec: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch '{tmp_path / 'sprung'}'\n")
    trap.chmod(0o755)
    git(tmp_path, "config", "core.fsmonitor", str(trap))
    bare = tmp_path / "bare"
    git(tmp_path, "init", "--quiet", "--bare", str(bare))
    git(bare, "config", "core.worktree", str(bare))
    git(bare, "config", "core.fsmonitor", str(trap))
    (bare / "spec.yaml").write_text("evalpipe: 1\n")

    assert commit_of(spec) is not None
    assert commit_of(bare / "spec.yaml") is None
    assert not (tmp_path / "sprung").exists()
