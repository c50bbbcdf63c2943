"""Gates `against: last` of a night that is run again: never against itself, and with the same bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import yaml

import evalpipe
from chapters.gates.sentences import sentence_of
from evalpipe.ledger.since_last_run import changes
from evalpipe.review.signing import accept
from evalpipe.run import load

if TYPE_CHECKING:
    from pathlib import Path

    from evalpipe.results import Results

SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "churn", "task": "binary", "outcome": {"column": "y", "event": 1},
    "datasets": {"d": {"path": "d.csv"}}, "models": {"m": {"probability": "p"}}, "metrics": ["accuracy"],
    "gates": [{"metric": "accuracy", "max_decrease": 0.05, "against": "last", "on": "value"}],
    "intervals": {"method": "none"}, "calibration": {"smoother": "logistic"}, "report": {"formats": []},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path)
    return tmp_path


def write(folder: Path, **keys: Any) -> None:
    (folder / "spec.yaml").write_text(yaml.safe_dump(SPEC | keys), encoding="utf-8")


def night(folder: Path, day: str | None, right: int, out: str = "churn") -> Results:
    """Run a night of 100 rows of which so many are predicted right, of no day or of one in November 2026."""
    truth = [place % 2 for place in range(100)]
    p = [float(event == (place < right)) for place, event in enumerate(truth)]
    pl.DataFrame({"y": truth, "p": p}).write_csv(folder / "d.csv")
    as_of = None if day is None else f"2026-11-{day}"
    return evalpipe.run(folder / "spec.yaml", out=folder / "reports" / out, as_of=as_of)


def judged(results: Results) -> tuple[str, float | None, str | None]:
    gate = results.gates[0]
    return gate.verdict, gate.reference, gate.against_as_of


SAME_FOLDER, FOLDERS = ("churn",) * 3, ("a", "b", "c")


@pytest.mark.parametrize(("day", "before", "folders"), [
    ("21", True, FOLDERS), (None, True, SAME_FOLDER), ("21", False, SAME_FOLDER), *(
        pytest.param(*case, marks=pytest.mark.nightly) for case in (
            ("21", True, SAME_FOLDER), ("21", False, FOLDERS), (None, True, FOLDERS), (None, False, SAME_FOLDER),
            (None, False, FOLDERS)))])
def test_a_night_three_times_is_the_same_bytes_three_times(
    folder: Path, day: str | None, before: bool, folders: tuple[str, ...]
) -> None:
    if before:
        night(folder, None if day is None else "20", 80)
    runs = [night(folder, day, 78, out) for out in folders]
    assert len({run.to_json() for run in runs}) == 1
    known = before and (day is not None or folders[0] == "churn")
    assert judged(runs[2]) == (("pass", 0.8, day and "2026-11-20") if known else ("skipped", None, None))
    if not known:
        assert sentence_of(runs[2].gates[0]) == "Accuracy was not compared: no earlier run that held is kept."


def test_without_a_day_another_spec_or_other_data_make_another_run(folder: Path) -> None:
    night(folder, None, 80)
    assert judged(night(folder, None, 78)) == ("pass", 0.8, None)
    write(folder, threshold=0.7)
    assert judged(night(folder, None, 78)) == ("pass", 0.78, None)
    assert judged(night(folder, None, 80)) == ("pass", 0.78, None)


@pytest.mark.parametrize("out", ["churn", None])
def test_an_old_night_again_sees_the_nights_before_it_alone(folder: Path, out: str | None) -> None:
    for day, right in (("19", 79), ("20", 80), ("21", 77)):
        night(folder, day, right, out or day)
    again = night(folder, "20", 80, out or "20")
    assert judged(again) == (("skipped", None, None) if out else ("pass", 0.79, "2026-11-19"))
    assert judged(night(folder, "22", 76, out or "22")) == ("pass", 0.77, "2026-11-21")
    if out:
        assert sentence_of(again.gates[0]) == "Accuracy was not compared: no earlier run that held is kept."


@pytest.mark.parametrize("out", ["churn", None])
def test_a_night_whose_data_were_corrected_takes_the_place_of_the_first(folder: Path, out: str | None) -> None:
    night(folder, "20", 80, out or "20")
    night(folder, "21", 78, out or "21")
    corrected = night(folder, "21", 76, out or "21")
    assert judged(corrected) == ("pass", 0.8, "2026-11-20")
    after = night(folder, "22", 75, out or "22")
    assert after.gates[0].against_sha256 == corrected.evidence_sha256


def test_a_night_that_failed_is_judged_by_the_corrected_night_before(folder: Path) -> None:
    night(folder, "20", 80, "20")
    assert judged(night(folder, "21", 70, "21")) == ("fail", 0.8, "2026-11-20")
    night(folder, "20", 72, "20")
    assert judged(night(folder, "21", 70, "21")) == ("pass", 0.72, "2026-11-20")


@pytest.mark.parametrize("out", ["churn", None])
def test_a_corrected_night_that_fails_is_no_reference(folder: Path, out: str | None) -> None:
    write(folder, gates=[*SPEC["gates"], {"metric": "accuracy", "min": 0.6, "on": "value"}])
    night(folder, "20", 80, out or "20")
    night(folder, "20", 50, out or "20")
    assert judged(night(folder, "21", 70, out or "21")) == ("skipped", None, None)


def test_another_folder_of_the_same_name_does_not_change_what_a_folder_holds(folder: Path) -> None:
    night(folder, "20", 80, "one")
    night(folder, "21", 60, "other")
    assert judged(night(folder, "22", 79, "one")) == ("pass", 0.8, "2026-11-20")


def test_what_is_accepted_is_for_later_nights(folder: Path) -> None:
    night(folder, "20", 80)
    fell = night(folder, "21", 70)
    accept(folder / "reports" / "churn")
    assert night(folder, "21", 70).to_json() == fell.to_json()
    assert changes(load(folder / "spec.yaml", as_of="2026-11-21"), folder / "reports" / "churn")[1] == []
    assert judged(night(folder, "22", 70)) == ("pass", 0.7, "2026-11-21")


def test_without_a_day_what_is_accepted_is_for_every_run_after(folder: Path) -> None:
    night(folder, None, 80)
    assert judged(night(folder, None, 70)) == ("fail", 0.8, None)
    accept(folder / "reports" / "churn")
    after = [night(folder, None, 70).to_json() for _ in range(3)]
    assert len(set(after)) == 1
    assert judged(night(folder, None, 66)) == ("pass", 0.7, None)


def test_the_rows_of_an_earlier_night_are_told(folder: Path) -> None:
    night(folder, "20", 80, "20")
    same = night(folder, "21", 80, "21")
    assert [(warning.code, warning.message) for warning in same.warnings] == [("same-data", (
        "the rows of d are those of 2026-11-20, so gates 'against: last' compare rows with themselves"))]
    assert not night(folder, "22", 79, "22").warnings


def test_verify_runs_a_night_again_whose_folder_later_nights_share(folder: Path) -> None:
    for day in ("20", "21"):
        night(folder, day, 80 - int(day))
    files = evalpipe.verify(folder / "reports" / "churn", recompute=True).files
    assert {file.status for file in files if file.kind == "recomputed"} == {"same"}
