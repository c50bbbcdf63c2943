"""A folder and a ledger that were written before 1.0.0, in `schema_version` 2 and format 5, are read by every version.

They are never written again: a later version that cannot read, render, verify or compare them breaks a promise of
docs/stability.md. `evalpipe run spec.yaml --out run` wrote them, on 27 November 2026.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

import evalpipe
from evalpipe.cli.app import app
from evalpipe.results import Results
from evalpipe.review.checking import verify
from evalpipe.review.differences.compare import compare
from evalpipe.review.differences.records import Run, Tolerance

HERE = Path(__file__).parent / "schema_2"
ROUNDING = 1e-9
"""How far a number of another processor may be from one of the folder."""


@pytest.fixture
def loans(tmp_path: Path) -> Path:
    """Return a copy of the folder: the spec, the data, the run and the ledger."""
    return Path(shutil.copytree(HERE, tmp_path / "loans"))


def test_it_is_read_and_rendered(loans: Path) -> None:
    document = json.loads((loans / "run" / "results.json").read_text(encoding="utf-8"))
    results = Results.read(loans / "run")

    assert document["schema_version"] == 2
    assert (results.verdict, len(results.rows), len(results.gates)) == (
        "fail", len(document["estimates"]), len(document["gates"]))
    assert results.evidence_sha256 in evalpipe.render(loans / "run", ["html"])["card.html"].decode()


def test_its_files_and_its_ledger_are_verified(loans: Path) -> None:
    checked = verify(loans / "run")
    status = {(file.kind, file.file): file.status for file in checked.files}

    assert {name for name, state in status.items() if state not in ("same", "not checked")} == set()
    assert {Path(file).name for (_, file), state in status.items() if state == "same"} >= {
        "results.json", "estimates.csv", "manifest.json", "ledger.sqlite"}


def test_its_ledger_is_listed_and_a_new_run_goes_on_in_it(loans: Path) -> None:
    listed = CliRunner().invoke(app, ["history", str(loans / "run"), "--format", "json"])
    assert [run["as_of"] for run in json.loads(listed.stdout)["runs"]] == ["2026-11-20"]
    rows = (loans / "loans.csv").read_text(encoding="utf-8").splitlines()
    (loans / "loans.csv").write_text("\n".join(rows[:-3]) + "\n", encoding="utf-8")

    results = evalpipe.run(loans / "spec.yaml", out=loans / "run", as_of="2026-11-21")
    assert results.since is not None  # what is different from the run of then
    again = CliRunner().invoke(app, ["history", str(loans / "run"), "--format", "json"])
    assert len(json.loads(again.stdout)["runs"]) == 2


def test_a_run_of_now_is_the_same(loans: Path) -> None:
    then = Results.read(loans / "run")
    now = evalpipe.run(loans / "spec.yaml", out=loans / "again")
    difference = compare(Run("then", then), Run("now", now), Tolerance(ROUNDING))

    assert (difference.spec, difference.estimates, difference.gates) == ([], [], [])
