"""The tutorials and the pages by task run as they are written, from the first command to the last."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("docs/tutorials/*.md"), *ROOT.glob("docs/how/*.md")])
SAYS = {
    "first_card": ["Not settled: 1 of 2 requirements undecided", "✓ Good enough: both requirements are met"],
    "nightly_gate": ["✓ Good enough: 1 of 2 requirements met, 1 skipped", "2 of 2 requirements failed",
                     "it ended with 1", "2026-11-27  fail", "✓ Good enough: both requirements are met",
                     "2026-11-27  pass"],
    "validation_file": ["✓ Good enough: both requirements are met", "FINAL with 1 condition until 2027-11-27"],
}
"""What the commands of a page must print, in this order, for what it says of them to be true."""


@pytest.mark.nightly  # by day the tests of the demo, of verify and of sign run the same commands
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_runs_as_it_is_written(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```(sh|yaml)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    commands = "".join(body for language, body in blocks if language == "sh")
    for language, body in blocks:
        if language == "yaml" and body.startswith("# "):
            (tmp_path / body.splitlines()[0].removeprefix("# ")).write_text(body, encoding="utf-8")
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(["sh", "-e", "-c", commands], cwd=tmp_path, env=os.environ | {"PATH": path},
                          capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    places = [done.stdout.index(sentence) for sentence in SAYS.get(page.stem, [])]
    assert places == sorted(places)
    shown = re.findall(r"^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert [line for block in shown for line in block.splitlines() if line not in done.stdout.splitlines()] == []
