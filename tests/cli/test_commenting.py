"""`evalpipe comment` as its users run it: what it prints, where, and its exit codes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from cli.conftest import Command

COMMENT = ("comment", "out", "Why so few?", "--on", "verdict", "--by", "A. Reader", "--date", "2026-11-25")
ANSWER = ("comment", "out", "All.", "--reply-to", "1", "--by", "李", "--role", "owner", "--date", "2026-11-26")


@pytest.fixture
def evidence(out: Path) -> str:
    """Return the sha256 of the results of the small spec, which has run."""
    return hashlib.sha256((out / "results.json").read_bytes()).hexdigest()


def test_comment_prints_the_count_the_evidence_and_the_files(command: Command, folder: Path, evidence: str) -> None:
    done, answered = command(*COMMENT), command(*ANSWER, "--format", "json")

    assert (done.returncode, done.stderr, done.stdout) == (0, "", (
        "1 comment, without an answer.\n"
        f"evidence, unchanged: results.json, sha256 {evidence}\n\nout/card.html\nout/comments.json\n"))
    assert (answered.returncode, answered.stderr, json.loads(answered.stdout)) == (0, "", {
        "status": "1 comment, with an answer.",
        "comment": {"number": 2, "on": "verdict", "reply_to": 1, "name": "李", "role": "owner", "date": "2026-11-26",
                    "text": "All.", "signatures_sha256": None, "evidence_sha256": evidence},
        "files": ["out/card.html", "out/comments.json"], "unchecked": []})
    assert hashlib.sha256((folder / "out" / "results.json").read_bytes()).hexdigest() == evidence
    assert command("render", "out").returncode == 0
    verified = command("verify", "out", "--recompute")
    assert (verified.returncode, verified.stdout.count("  same         comments.json\n")) == (0, 1)
    assert verified.stdout.count("  same         card.html\n") == 2  # the run again has the comments too


@pytest.mark.usefixtures("evidence")
def test_wrong_options_end_with_2_and_a_changed_file_with_3(command: Command, folder: Path) -> None:
    wrong = command("comment", "out", "?", "--on", "verdict")
    assert (wrong.returncode, wrong.stdout, wrong.stderr) == (2, "", (
        "error[missing-option]: no name is given\n  = help: give the name of the person who comments with --by\n\n"
        "error[missing-option]: no date is given\n  = help: give the day of the comment, as in 2026-11-21\n\n"
        "error[bad-text]: the text '?' has no letter\n  = help: say what is in doubt, or the answer\n\n3 errors\n"))
    assert command(*COMMENT[:3], "--by", "A", "--date", "2026-11-25").returncode == 2
    assert not (folder / "out" / "comments.json").exists()
    command(*COMMENT)
    (folder / "out" / "comments.json").write_text("[]")
    assert [command(*arguments).returncode for arguments in (ANSWER, ("verify", "out"))] == [3, 1]


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_run_with_other_results_says_where_the_comments_are(
    command: Command, folder: Path, evidence: str, form: str
) -> None:
    command(*COMMENT)
    done = command("run", "small.yaml", "--out", "out", "--no-progress", "--set", "seed=1", "--format", form)
    moved = f"out/comments-{evidence[:8]}.json"

    assert (folder / moved).exists()
    if form == "json":
        assert json.loads(done.stdout)["comments_moved"] == moved
    else:
        assert f"\nthis card has no comments: those here were on other results, and are in {moved}\n" in done.stdout
