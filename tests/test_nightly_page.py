"""docs/nightly.md: its files stand there as they are, and the night on which the score breaks comes out as it says."""

from __future__ import annotations

import datetime as dt
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import evalpipe

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "docs" / "examples" / "nightly"
PAGE = (ROOT / "docs" / "nightly.md").read_text(encoding="utf-8")
FIRST, BROKEN = dt.date(2026, 11, 1), dt.date(2026, 11, 24)


@pytest.mark.parametrize("name", ["claims.yaml", "night.sh"])
def test_the_page_shows_each_file_as_it_is(name: str) -> None:
    assert f"\n{(EXAMPLE / name).read_text(encoding='utf-8')}```" in PAGE


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, check=False,
                          env=os.environ | {"PATH": path})


def nights_before(folder: Path, first: dt.date) -> None:
    """Make the scores of the page, and run the nights from one on up to the broken one, but for that."""
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
    scored = next(line.partition("#")[0] for line in PAGE.splitlines() if line.startswith("python scored.py"))
    assert shell(scored, folder).returncode == 0
    for number in range((BROKEN - first).days):
        day = first + dt.timedelta(number)
        evalpipe.run(folder / "claims.yaml", out=folder / "reports" / f"claims-{day}", as_of=day,
                     overrides=["report.formats=[]"])


def test_the_job_tells_of_the_night_on_which_the_score_breaks(tmp_path: Path) -> None:
    nights_before(tmp_path, BROKEN - dt.timedelta(1))
    done = shell(f"sh night.sh {BROKEN}", tmp_path)
    assert (done.returncode, done.stderr) == (1, "runs because there is no earlier run\n")
    assert 'evalpipe_verdict{run="claims",verdict="fail"} 1.0' in (tmp_path / "claims.prom").read_text()
    *_, counts, status = (tmp_path / "verified.txt").read_text().splitlines()
    assert " 0 differ" in counts
    assert status == "sign-off: DRAFT, not signed"
    assert '"exit_code": 1' in (tmp_path / "evalpipe.jsonl").read_text().splitlines()[-1]


@pytest.mark.nightly
def test_the_page_says_what_comes_out(tmp_path: Path) -> None:
    nights_before(tmp_path, FIRST)
    blocks = re.findall(r"^```\n\$ (.*?)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 3
    for command, shown in blocks:
        printed = shell(command, tmp_path).stdout
        for part in shown.split("…\n"):
            # The first digits of the sha256 of results change with each version of a library.
            between = re.split(r"\b[0-9a-f]{8}$", part, flags=re.MULTILINE)
            assert re.search("[0-9a-f]{8}".join(map(re.escape, between)), printed), part
    recomputed = evalpipe.verify(tmp_path / "reports" / f"claims-{BROKEN}", recompute=True)
    assert {file.status for file in recomputed.files if file.kind == "recomputed"} == {"same"}
