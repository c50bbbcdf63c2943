"""The register: one line for each card, the one that needs a person most first."""

from __future__ import annotations

import csv
import io
import json
import shutil
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import evalpipe
from evalpipe.errors import UsageError
from evalpipe.ledger.store import Ledger
from evalpipe.results import Results
from evalpipe.review.register.entries import Register, register
from evalpipe.review.register.page import write
from evalpipe.runs.folder import RunFolder

if TYPE_CHECKING:
    from cli.conftest import Command
    from conftest import Shared
    from evalpipe.ledger.entries import LedgerPlace

FIRST = date(2026, 11, 1)
NIGHTS = 6
APPROVED: dict[str, Any] = {"decision": "approved", "date": "2026-11-01"}


def day_of(night: int) -> str:
    return (FIRST + timedelta(night)).isoformat()


def rows(seed: int, *, good: bool = True) -> pl.DataFrame:
    """Return 60 rows whose probabilities rank well, or, not ``good``, the wrong way round."""
    noise = np.random.default_rng(seed).random(60) / 4
    truth = np.arange(60) % 2
    return pl.DataFrame({"y": truth, "p": noise + 0.7 * (truth if good else 1 - truth)})


def run_night(reports: Path, name: str, night: int, *, good: bool = True, **keys: Any) -> Path:
    """Run a night of a card, in a folder of its day, and return that."""
    spec = {
        "evalpipe": 1, "name": name, "title": f"Card {name}", "task": "binary", "as_of": day_of(night),
        "outcome": {"column": "y", "event": 1}, "datasets": {"d": {"path": "memory"}},
        "models": {"m": {"probability": "p"}}, "metrics": ["roc_auc"], "intervals": {"replicates": 100},
        "report": {"formats": ["html"]}, **keys}
    folder = reports / f"{name}-{day_of(night)}"
    evalpipe.run(spec, frames={"d": rows(night, good=good)}, out=folder)
    return folder


def approve(folder: Path, **changed: Any) -> None:
    for role in ("validator", "approver"):
        evalpipe.sign(folder, role=role, name=f"A {role}", **APPROVED | changed)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def ran(shared: Shared) -> Path:
    """Return a folder of nights: one card rejected, one expired, one that drifts, one unsigned, and one fine."""
    return shared("register", run_all)


def run_all(reports: Path) -> None:
    gate = {"gates": [{"metric": "roc_auc", "min": 0.6, "on": "value"}]}
    for name in ("rejected", "expired", "fine", "silent"):
        first = run_night(reports, name, 0, **gate)
        approve(first, expires=day_of(3) if name == "expired" else "2027-11-01")
    for night in range(1, 4):
        run_night(reports, "silent", night, **gate)
    run_night(reports, "fine", NIGHTS - 1, **gate)
    run_night(reports, "expired", NIGHTS - 1, **gate)
    last = run_night(reports, "rejected", NIGHTS - 1, **gate)
    evalpipe.sign(last, role="validator", name="V", decision="rejected", date=day_of(NIGHTS - 1))
    drifts = {"trend": {"metrics": ["roc_auc"], "control": {"min_nights": 4}}}
    for night in range(NIGHTS):
        folder = run_night(reports, "drifting", night, good=night < NIGHTS - 1, **drifts)
    approve(folder)
    run_night(reports, "unsigned", NIGHTS - 1, good=False, **gate)


def needs(result: Register) -> dict[str, list[str]]:
    return {entry.name: [f"{need.kind}: {need.text}" for need in entry.needs] for entry in result.entries}


DRIFT = ("drifting: ROC AUC fell to 0.00 (0.00–0.12), below its control limits of 0.90 to 1.00; it was 1.00 on 5 "
         "nights.")
EXPECTED = {
    "rejected": ["rejected: V (validator) rejected it on 2026-11-06."],
    "unsigned": ["failed: Not good enough: ROC AUC 0.00 (0.00–0.12), required at least 0.6.",
                 "unsigned: Not approved by validator and approver."],
    "expired": ["expired: The approval by validator and approver expired on 2026-11-04."],
    "drifting": [DRIFT],
    "fine": [], "silent": [],
}


def test_cards_are_sorted_by_what_needs_a_person(ran: Path) -> None:
    result = register([str(ran)])

    assert result.as_of == "2026-11-06"
    assert needs(result) == EXPECTED
    assert [len(entry.signatures) for entry in result.entries] == [2, 0, 2, 2, 2, 2]
    fine = result.entries[-2]
    assert (fine.verdict, fine.runs, fine.as_of, fine.signed_as_of) == ("pass", 2, "2026-11-06", "2026-11-01")
    assert fine.status == "FINAL until 2027-11-01: approved by validator and approver"
    assert fine.changes[0].startswith("Data since 2026-11-01: ")


def test_a_day_that_is_given_judges_approvals_and_silences(ran: Path) -> None:
    later = needs(register([str(ran)], "2026-11-20"))
    assert later["silent"] == ["stopped: No run since 2026-11-04, for 16 days; they came every day."]
    assert later["fine"] == []
    ending = needs(register([str(ran)], "2027-10-22"))
    assert ending["fine"] == ["expires: The approval by validator and approver expires on 2027-11-01, in 10 days."]
    assert needs(register([str(ran)], "2026-11-04"))["expired"] == [
        "expires: The approval by validator and approver expires on 2026-11-04, in 0 days."]


def test_a_ledger_in_a_database_has_the_same_cards(ran: Path, place: LedgerPlace) -> None:
    ledger = Ledger.open(place)
    for results in sorted(ran.glob("*/results.json")):
        ledger.record(Results.read(results), results.parent)
    address = str(place.file) if place.uri is None else place.uri.text

    assert needs(register([address])) == EXPECTED


def test_a_run_whose_card_is_gone_is_told_by_its_ledger(ran: Path, tmp_path: Path) -> None:
    shutil.copy(ran / "ledger.sqlite", tmp_path)
    result = needs(register([str(tmp_path)]))

    assert result["unsigned"] == ["failed: 1 of 1 limit failed.", (
        f"missing: The run of 2026-11-06 is in the ledger, and its card is not in '{tmp_path}/unsigned-2026-11-06'.")]
    shutil.copytree(ran / "fine-2026-11-01", tmp_path / "fine-2026-11-01")  # an older card is not the newest one's
    assert [need.partition(":")[0] for need in needs(register([str(tmp_path)]))["fine"]] == ["missing"]


def test_files_that_are_not_what_a_run_wrote_are_told(ran: Path, tmp_path: Path) -> None:
    for name in ("fine", "expired", "unsigned", "rejected"):
        shutil.copytree(ran / f"{name}-2026-11-06", tmp_path / name)
    (tmp_path / "fine" / "card.html").write_text("forged", encoding="utf-8")
    (tmp_path / "expired" / "results.json").write_text("{", encoding="utf-8")
    (tmp_path / "unsigned" / "manifest.json").unlink()
    shutil.copy(ran / "fine-2026-11-01" / "signatures.json", tmp_path / "unsigned")
    result = needs(register([str(tmp_path)]))

    assert result["fine"][0] == (
        f"changed: card.html is not what was written: see evalpipe verify {tmp_path}/fine.")
    assert result["expired"][0].startswith(f"unreadable: {tmp_path}/expired/results.json does not hold results")
    assert [need.partition(":")[0] for need in result["unsigned"]] == ["failed", "changed"]
    (tmp_path / "unsigned" / "signatures.json").unlink()
    assert "unverified: There is no manifest.json, by which its files could be verified." in needs(
        register([str(tmp_path)]))["unsigned"]


def test_an_approval_of_the_results_before_still_counts(tmp_path: Path) -> None:
    folder = run_night(tmp_path, "card", 0)
    approve(folder)
    evalpipe.run({**json.loads((folder / "results.json").read_text(encoding="utf-8"))["spec"], "as_of": day_of(1)},
                 frames={"d": rows(7)}, out=folder)

    (entry,) = register([str(tmp_path)]).entries
    assert not RunFolder(folder).has("signatures.json")
    assert (entry.needs, entry.signed_as_of, len(entry.signatures)) == ((), "2026-11-01", 2)
    assert write(register([str(tmp_path)]), "text", tmp_path).startswith("None of 1 card needs a person.\n")


def test_a_spec_that_was_changed_after_its_card_was_signed_is_told(tmp_path: Path) -> None:
    approve(run_night(tmp_path, "card", 0))
    run_night(tmp_path, "card", 1)
    assert needs(register([str(tmp_path)])) == {"card": []}

    run_night(tmp_path, "card", 2, metrics=["roc_auc", "brier"], gates=[{"metric": "brier", "max": 0.9}])
    assert needs(register([str(tmp_path)])) == {
        "card": ["amended: Since it was signed, the spec differs in gates and metrics."]}


def test_a_comment_without_an_answer_needs_a_person(tmp_path: Path) -> None:
    folder = run_night(tmp_path, "card", 0)
    approve(folder)
    evalpipe.comment(folder, "Too few rows?", on="verdict", name="C. Reader", date=day_of(0))
    assert needs(register([str(tmp_path)])) == {
        "card": ["challenged: 1 comment has no answer: C. Reader on verdict."]}

    evalpipe.comment(folder, "Sixty are enough here.", reply_to=1, name="D. Owner", date=day_of(1))
    assert needs(register([str(tmp_path)])) == {"card": []}


def test_page_csv_and_json_hold_the_same(ran: Path, command: Command, folder: Path) -> None:
    line = ("register", str(ran), "--out")
    summary = ("4 of 6 cards need a person: 1 rejected, 1 failed, 1 expired and 1 drifting.")
    for name in ("index.html", "index.csv", "index.json"):
        ended = command(*line, name)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, f"{summary}\n{name}\n", "")
    document = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    table = list(csv.DictReader(io.StringIO((folder / "index.csv").read_text(encoding="utf-8"))))
    page = (folder / "index.html").read_text(encoding="utf-8")

    assert document["summary"] == summary
    assert [row["name"] for row in table] == [entry["name"] for entry in document["entries"]] == list(EXPECTED)
    assert [row["needs"] for row in table] == ["rejected", "failed; unsigned", "expired", "drifting", "", ""]
    places = [page.index(f">Card {name}<") for name in EXPECTED]
    assert places == sorted(places)
    links = [part.partition('"')[0] for part in page.split('href="')[1:]]
    assert [(folder / link).resolve() for link in links if link.endswith("card.html")] == [
        (ran / f"{name}-{day_of(3 if name == 'silent' else NIGHTS - 1)}" / "card.html").resolve() for name in EXPECTED]
    assert command(*line, "again.html").returncode == 0
    assert (folder / "again.html").read_bytes() == (folder / "index.html").read_bytes()


def test_a_title_is_no_formula_of_a_spreadsheet(tmp_path: Path) -> None:
    run_night(tmp_path, "card", 0, title="=1+1")
    result = register([str(tmp_path)])

    (row,) = csv.DictReader(io.StringIO(write(result, "csv", tmp_path)))
    assert row["title"] == "'=1+1"


@pytest.mark.parametrize(("reports", "message"), [
    ([], "there is no run in '.'"),
    (["nowhere"], ("there is no folder and no ledger 'nowhere'\n  = help: name a folder of output folders, a ledger's "
                  "file, or its URI")),
])
def test_what_holds_no_run_is_refused(
    reports: list[str], message: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "empty").mkdir()
    monkeypatch.chdir(folder / "empty")
    with pytest.raises(UsageError) as refused:
        register(reports or ["."])
    assert message in str(refused.value)


def test_a_day_that_is_none_is_refused(command: Command) -> None:
    ended = command("register", ".", "--as-of", "yesterday")
    assert ended.returncode == 2
    assert "--as-of: 'yesterday' is not a day\n  = help: write it as in 2026-11-21" in ended.stderr
