"""The benchmark of small and repeated jobs: its commands do what their rows say."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import starts
import yaml

import evalpipe


def test_jobs_make_the_cards_and_slices_that_their_names_say(tmp_path: Path) -> None:
    jobs = starts.processes(tmp_path, 3)
    specs = {name: yaml.safe_load(Path(line[4]).read_text()) for name, (line, _) in jobs.items() if "run" in line}

    assert {name: spec["report"]["formats"] for name, spec in specs.items()} == {
        "titanic, no card": [], "titanic, card as HTML": ["html"], "titanic, card as HTML and PDF": ["html", "pdf"],
        "3 slices of 200 rows, three measures, card": ["html"]}
    assert evalpipe.run(tmp_path / "groups.yaml", out=tmp_path / "out").datasets[0].rows == 600


def test_nights_are_of_the_first_and_of_the_last(tmp_path: Path) -> None:
    first, last = starts.nights(tmp_path, 3)

    assert (first[0], last[0]) == ("nights 2 to 11 of a ledger, 600 rows", "its last ten nights, of 3")
    assert len(list((tmp_path / "reports").iterdir())) == 3 + 1  # and the ledger
