"""The lines on what is different since the run before, from the ledger alone."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import yaml

import evalpipe
from engine.runs import people
from evalpipe.card.contents import masthead
from evalpipe.card.page import Bullets, Section, plain
from evalpipe.chapters.trend.card import after_findings
from evalpipe.ledger.entries import LedgerPlace
from evalpipe.ledger.since_last_run import changes
from evalpipe.ledger.store import LEDGER_FORMAT, Ledger
from evalpipe.run import load

if TYPE_CHECKING:
    from pathlib import Path

    from evalpipe.results import Results

SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "churn", "task": "binary", "outcome": {"column": "y", "event": 1},
    "datasets": {"d": {"path": "d.parquet"}}, "models": {"m": {"probability": "p", "label": "Forest"}},
    "metrics": ["accuracy", "brier"], "intervals": {"method": "auto", "replicates": 100},
    "calibration": {"smoother": "logistic"}, "report": {"formats": []},
}


def run(folder: Path, data: pl.DataFrame | int = 200, out: str = "out", **keys: Any) -> Results:
    """Run the spec with further keys on some rows of `people`, or on a frame, into a folder beside others."""
    (people(data) if isinstance(data, int) else data).write_parquet(folder / "d.parquet")
    path = folder / "spec.yaml"
    path.write_text(yaml.safe_dump({key: item for key, item in (SPEC | keys).items() if item is not None}))
    return evalpipe.run(path, out=folder / "reports" / out)


def said(results: Results) -> list[str]:
    return [plain(item) for block in after_findings(results) for item in block.items]  # type: ignore[arg-type]


def test_the_first_run_and_the_same_run_again_compare_with_nothing(tmp_path: Path) -> None:
    first, again = run(tmp_path), run(tmp_path)
    assert said(first) == []
    assert first.to_json() == again.to_json()
    assert '"since"' not in first.to_json()


def test_three_lines_stand_below_the_findings_and_stay_when_the_run_is_repeated(tmp_path: Path) -> None:
    first = run(tmp_path)
    results = run(tmp_path, 230, seed=2)
    digits = first.evidence_sha256[:8]
    assert said(results) == [
        f"Data since the last run ({digits}): 30 more rows (200 → 230), events 33.5% → 32.6%.",
        "Numbers: no measure moved by more than the intervals explain; the most: Accuracy 0.74 → 0.68 (0.62–0.74).",
        "Spec: differs in seed."]
    box = next(block for block in masthead(results) if isinstance(block, Section) and block.anchor == "verdict")
    assert isinstance(box.blocks[-1], Bullets)
    assert [plain(item) for item in box.blocks[-1].items] == said(results)  # type: ignore[arg-type]
    markdown = evalpipe.render(results, ["markdown"])["card.md"].decode()
    assert "**Data since the last run" in markdown

    again = run(tmp_path, 230, seed=2)
    assert again.to_json() == results.to_json()
    assert evalpipe.verify(tmp_path / "reports" / "out", recompute=True).holds()
    back = run(tmp_path)  # the first inputs once more, after others
    assert said(back)[0].startswith(f"Data since the last run ({results.evidence_sha256[:8]}): 30 fewer rows")


def test_a_night_compares_with_the_latest_day_before_it_in_whatever_folder(tmp_path: Path) -> None:
    run(tmp_path, out="a", as_of="2026-03-01")
    third = run(tmp_path, 240, out="c", as_of="2026-03-03")
    second = run(tmp_path, 220, out="b", as_of="2026-03-02")
    assert said(second)[0] == "Data since 2026-03-01: 20 more rows (200 → 220), events 33.5% → 33.2%."
    assert said(third)[0].startswith("Data since 2026-03-01: 40 more rows")
    assert said(third)[2] == "Spec: the same."  # the day is no difference
    assert "the night before is that of 2026-03-02, not of 2026-03-01" in (
        changes(load(str(tmp_path / "spec.yaml"), as_of="2026-03-03"), tmp_path / "reports" / "c")[1])
    corrected = run(tmp_path, 240, out="c", as_of="2026-03-03")
    assert said(corrected)[0].startswith("Data since 2026-03-02: 20 more rows")
    run(tmp_path, 230, out="b", as_of="2026-03-02")
    assert "the night of 2026-03-02 has other rows, numbers or keys" in (
        changes(load(str(tmp_path / "spec.yaml"), as_of="2026-03-03"), tmp_path / "reports" / "c")[1])


def test_a_day_in_a_path_is_no_difference(tmp_path: Path) -> None:
    for day in ("2026-03-01", "2026-03-02"):
        people(200).write_parquet(tmp_path / f"d-{day}.parquet")
        changes_of_card = [{"date": "2026-03-01", "text": "A day that is no day of the run."}]
        results = run(tmp_path, as_of=day, datasets={"d": {"path": "d-${date}.parquet"}},
                      card={"changes": changes_of_card})
    assert said(results) == ["Data since 2026-03-01: the same 200 rows.", "Numbers: all 2 measures are the same.",
                             "Spec: the same."]


def noisy(accuracy: float, seed: int) -> pl.DataFrame:
    """Return 1,000 rows whose predicted class is right with a probability."""
    generator = np.random.default_rng(seed)
    y = generator.random(1000) < 0.5
    right = generator.random(1000) < accuracy
    return pl.DataFrame({"y": y.astype(int), "p": np.where(y == right, 0.7, 0.3)})


def test_measures_that_moved_are_named_with_both_values_the_farthest_first(tmp_path: Path) -> None:
    run(tmp_path, noisy(0.9, 1), words={"row": "person", "event": "survivor"})
    results = run(tmp_path, noisy(0.7, 2), words={"row": "person", "event": "survivor"})
    data, moved, spec = said(results)
    assert "1,000 people as before, in other files, survivors " in data
    assert moved == ("Numbers: 2 of 2 measures moved by more than the intervals explain: Accuracy 0.90 → 0.70 "
                     "(0.67–0.73) and Brier score 0.129 → 0.210 (0.196–0.221).")
    assert spec == "Spec: the same."


@pytest.mark.nightly
def test_one_measure_in_twenty_moves_where_nothing_changes() -> None:
    from evalpipe.chapters.trend.compute import compared_with_run_before

    runs = [evalpipe.run(SPEC | {"metrics": ["accuracy"]}, frames={"d": noisy(0.8, seed)}) for seed in range(400)]
    moved = 0
    for earlier, later in zip(runs[::2], runs[1::2], strict=True):
        row = earlier.rows[0]
        estimate = {"dataset": row.dataset, "model": row.model, "variant": row.variant, "metric": row.metric,
                    "params": row.params, "average": row.average, "value": row.value, "lower": row.lower,
                    "upper": row.upper}
        before = {"facts": None, "as_of": None, "results_sha256": "", "evalpipe_version": "", "inputs_sha256": None}
        moved += compared_with_run_before(later, {"inputs_sha256": None}, before, [estimate]).moved
    assert 2 <= moved <= 20  # 200 pairs: 10 of them, and what chance allows


def test_lists_count_their_entries_and_mappings_name_their_keys(tmp_path: Path) -> None:
    gates = [{"metric": "accuracy", "min": 0.5}, {"metric": "brier", "max": 0.3}]
    run(tmp_path, gates=gates, seed=1, slices=["s"])
    results = run(tmp_path, gates=[gates[1], {"metric": "accuracy", "min": 0.6}], seed=1,
                  intervals=SPEC["intervals"] | {"replicates": 120})
    assert said(results)[2] == (
        "Spec: differs in intervals.replicates, gates (1 new, 1 gone), slices (gone) and slice_rules (gone).")
    swapped = run(tmp_path, gates=[{"metric": "accuracy", "min": 0.6}, gates[1]], seed=1,
                  intervals=SPEC["intervals"] | {"replicates": 120})
    assert said(swapped)[2] == "Spec: differs in gates."


def test_a_renamed_model_goes_on(tmp_path: Path) -> None:
    run(tmp_path)
    results = run(tmp_path, models={"new": {"probability": "p", "label": "Forest", "was": "m"}})
    assert said(results)[1:] == ["Numbers: all 2 measures are the same.",
                                 "Spec: differs in models.new (new) and models.m (gone)."]


def test_data_in_memory_are_others_where_the_numbers_are(tmp_path: Path) -> None:
    out = tmp_path / "reports" / "out"
    texts = [said(evalpipe.run(SPEC, out=out, frames={"d": people(rows)})) for rows in (200, 200, 210, 210)]
    assert texts[:2] == [[], []]
    assert texts[2] == texts[3]
    assert "10 more rows (200 → 210)" in texts[2][0]


def test_a_run_of_an_older_ledger_has_its_numbers_alone(tmp_path: Path) -> None:
    run(tmp_path, as_of="2026-03-01")
    file = tmp_path / "reports" / "ledger.sqlite"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("ALTER TABLE evalpipe_runs DROP COLUMN facts")
        connection.execute("UPDATE evalpipe_ledger SET format = 4")
    shutil.rmtree(tmp_path / "reports" / "out")
    results = run(tmp_path, 210, as_of="2026-03-02")
    assert said(results)[0] == "Data since 2026-03-01: not compared; the ledger does not have the rows of that run."
    assert said(results)[1].startswith("Numbers: no measure moved")
    assert said(results)[2] == "Spec: not compared; the ledger does not have the keys of that run."
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT format FROM evalpipe_ledger").fetchone() == (LEDGER_FORMAT,)
    assert evalpipe.verify(tmp_path / "reports" / "out", recompute=True).holds()


def test_a_night_that_gc_has_forgotten_is_no_run_before_and_no_reason_to_run_again(tmp_path: Path) -> None:
    from evalpipe.ledger.store import Keep, forget_nights

    run(tmp_path, out="a", as_of="2026-03-01")
    run(tmp_path, 210, out="b", as_of="2026-03-02")
    spec = load(str(tmp_path / "spec.yaml"), as_of="2026-03-02")
    assert changes(spec, tmp_path / "reports" / "b")[1] == []
    forget_nights(Ledger.open(LedgerPlace.default_for(tmp_path / "reports" / "b")), "churn", Keep(1, None))
    assert changes(spec, tmp_path / "reports" / "b")[1] == []
    assert said(run(tmp_path, 210, out="b", as_of="2026-03-02")) == []
