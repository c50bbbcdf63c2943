"""Gates `against: last` where each night has a folder of its own: the ledger leads to the night before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

import evalpipe
from chapters.gates.sentences import sentence_of
from evalpipe.ledger.since_last_run import changes
from evalpipe.results import Results
from evalpipe.review.signing import accept
from evalpipe.run import load

SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "churn", "task": "binary", "outcome": {"column": "y", "event": 1},
    "datasets": {"d": {"path": "d.csv"}}, "models": {"m": {"probability": "p"}}, "metrics": ["accuracy"],
    "gates": [{"metric": "accuracy", "max_decrease": 0.05, "against": "last", "on": "value"}],
    "intervals": {"replicates": 100, "bands": False}, "calibration": {"smoother": "logistic"},
    "report": {"formats": []},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(SPEC), encoding="utf-8")
    return tmp_path


def night(folder: Path, day: str, right: int, *, if_changed: bool = False) -> Results:
    """Run a night of 100 rows of which so many are predicted right, into a folder of its own."""
    truth = [place % 2 for place in range(100)]
    p = [float(event == (place < right)) for place, event in enumerate(truth)]
    pl.DataFrame({"y": truth, "p": p}).write_csv(folder / "d.csv")
    return evalpipe.run(folder / "spec.yaml", out=folder / f"churn-{day}", as_of=day, if_changed=if_changed)


def judged(results: Results) -> tuple[str, float | None, str | None]:
    gate = results.gates[0]
    return gate.verdict, gate.reference, gate.against_as_of


def test_a_night_is_against_the_night_before(folder: Path) -> None:
    first, second = night(folder, "2026-11-20", 80), night(folder, "2026-11-21", 78)
    assert judged(first) == ("skipped", None, None)
    assert judged(second) == ("pass", 0.8, "2026-11-20")
    assert second.gates[0].against_sha256 == first.evidence_sha256
    assert sentence_of(second.gates[0]).startswith(
        "Accuracy minus that of the reference as of 2026-11-20 (two independent samples)")


def test_a_fall_is_reported_every_night_until_it_is_accepted(folder: Path) -> None:
    good = night(folder, "2026-11-20", 80)
    assert [judged(night(folder, f"2026-11-2{day}", 70)) for day in (1, 2)] == [("fail", 0.8, "2026-11-20")] * 2
    accept(folder / "churn-2026-11-22")
    after = night(folder, "2026-11-23", 70)
    assert judged(after) == ("pass", 0.7, "2026-11-22")
    assert after.gates[0].against_sha256 != good.evidence_sha256


def test_the_same_night_again_is_against_the_night_before_again(folder: Path) -> None:
    night(folder, "2026-11-20", 80)
    once = night(folder, "2026-11-21", 79)
    assert night(folder, "2026-11-21", 79).to_json() == once.to_json()


def test_another_night_before_is_a_change(folder: Path) -> None:
    """With `if_changed`, a run is left out only where it would be against the same results again."""
    night(folder, "2026-11-20", 80)
    once = night(folder, "2026-11-21", 78)
    written = (folder / "churn-2026-11-21" / "run.json").stat().st_mtime_ns
    assert night(folder, "2026-11-21", 78, if_changed=True).to_json() == once.to_json()
    assert (folder / "churn-2026-11-21" / "run.json").stat().st_mtime_ns == written
    corrected = night(folder, "2026-11-20", 76)
    now, then = corrected.evidence_sha256[:8], str(once.gates[0].against_sha256)[:8]
    other = f"the reference is the run as of 2026-11-20 with a sha256 that begins with {now}, not {then}"
    reasons = changes(load(folder / "spec.yaml", as_of="2026-11-21"), folder / "churn-2026-11-21")[1]
    changed = "the night of 2026-11-20 has other rows, numbers or keys"
    assert reasons == ["d: d.csv has other bytes", changed, other]
    again = night(folder, "2026-11-21", 78, if_changed=True)
    assert judged(again) == ("pass", 0.76, "2026-11-20")


def test_the_first_night_again_is_no_change(folder: Path) -> None:
    """Its own results are the reference of its folder by then, but no earlier ones."""
    first = night(folder, "2026-11-20", 80)
    assert night(folder, "2026-11-20", 80, if_changed=True).to_json() == first.to_json()


def test_a_night_whose_folder_was_changed_or_removed_is_passed_over(folder: Path) -> None:
    night(folder, "2026-11-19", 90)
    night(folder, "2026-11-20", 80)
    broken = folder / "churn-2026-11-20" / "results.json"
    broken.write_bytes(broken.read_bytes() + b"\n")
    assert judged(night(folder, "2026-11-21", 86)) == ("pass", 0.9, "2026-11-19")


def test_nights_of_another_name_are_none_before(folder: Path) -> None:
    night(folder, "2026-11-20", 80)
    (folder / "spec.yaml").write_text(yaml.safe_dump(SPEC | {"name": "fraud"}), encoding="utf-8")
    assert judged(night(folder, "2026-11-21", 70)) == ("skipped", None, None)


def test_verify_runs_it_again_while_the_reference_is_somewhere_and_says_when_it_is_not(folder: Path) -> None:
    for day, right in (("2026-11-20", 80), ("2026-11-21", 79), ("2026-11-22", 78)):
        night(folder, day, right)
    out = folder / "churn-2026-11-22"

    def recomputed() -> dict[str, tuple[str, str]]:
        files = evalpipe.verify(out, recompute=True).files
        return {file.file: (file.status, file.reason) for file in files if file.kind == "recomputed"}

    assert recomputed()["results.json"] == ("same", "")
    reference = Results.read(out).gates[0].against_sha256 or ""
    (folder / "churn-2026-11-21" / "results.json").unlink()
    assert recomputed() == {"results.json": ("not checked", (
        "its gates `against: last` were judged against results that are no longer here, those as of 2026-11-21, "
        f"with a sha256 that begins with {reference[:8]}: a later run has replaced them"))}
