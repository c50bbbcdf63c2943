"""`evalpipe gc` beside `evalpipe verify --recompute`: nights that are kept stay verifiable, whatever they rest on."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import evalpipe
from conftest import Shared
from evalpipe.ledger.entries import LedgerPlace
from evalpipe.ledger.nights import nights
from evalpipe.ledger.store import Ledger
from evalpipe.results import Results

SPEC = """\
evalpipe: 1
name: churn
task: binary
outcome: {column: y, event: 1}
datasets: {night: {path: 'night-${date}.csv'}}
models: {m: {probability: p}}
metrics: [accuracy, roc_auc]
intervals: {replicates: 100}
trend: {metrics: [accuracy], nights: 2}
gates:
  - {metric: accuracy, min: 0.5, on: sequence}
  - {metric: roc_auc, max_decrease: 0.5, against: last}
report: {formats: [markdown]}
"""
DAYS = tuple(f"2026-11-{day:02}" for day in range(1, 7))


def run(day: str, **settings: Any) -> Results:
    return evalpipe.run("churn.yaml", out=f"reports/churn-{day}", as_of=day, **settings)


def five_nights(home: Path) -> None:
    """Run five nights in a folder, and write the data of a sixth."""
    home.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        Path("churn.yaml").write_text(SPEC)
        generator = np.random.default_rng(3)
        for day in DAYS:
            y = generator.integers(0, 2, 120)
            p = np.clip(0.3 * y + 0.7 * generator.random(120), 0, 1)
            pl.DataFrame({"y": y, "p": p}).write_csv(f"night-{day}.csv")
        for day in DAYS[:5]:
            run(day)


@pytest.fixture
def forgotten(
    shared: Shared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: Callable[..., tuple[int, str]]
) -> None:
    """Have five nights of which the ledger then keeps two."""
    shutil.copytree(shared("five-nights", five_nights), tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    assert printed("gc", "reports", "--keep-runs", "2") == (
        0, "reports/ledger.sqlite: removed 3 nights of churn; 2 stay\n")


@pytest.mark.usefixtures("forgotten")
def test_nights_that_are_kept_are_run_again_to_the_same_bytes() -> None:
    for day in DAYS[3:5]:
        verification = evalpipe.verify(f"reports/churn-{day}", recompute=True)
        again = [file for file in verification.files if file.kind == "recomputed"]
        assert {(file.status, file.reason) for file in again} == {("same", "")}
        assert "the earlier nights" in {file.file for file in again}
        assert verification.holds(inputs=True)


@pytest.mark.usefixtures("forgotten")
def test_a_night_that_is_kept_has_not_changed_and_the_next_one_counts_all() -> None:
    before = Path("reports/churn-2026-11-05/run.json").read_bytes()
    run(DAYS[4], if_changed=True)
    assert Path("reports/churn-2026-11-05/run.json").read_bytes() == before
    results = run(DAYS[5])
    (sequence,) = [gate.sequence for gate in results.gates if gate.sequence is not None]
    assert sequence.nights == 6
    assert [night.as_of for night in results.trend.nights] == list(DAYS[3:5])
    assert evalpipe.verify("reports/churn-2026-11-06", recompute=True).holds(inputs=True)


@pytest.mark.usefixtures("forgotten")
def test_a_trend_of_fewer_nights_than_the_ledger_forgot_since_is_the_same_too() -> None:
    Path("churn.yaml").write_text(SPEC.replace("nights: 2", "nights: 4"))
    charted = run(DAYS[5]).trend.nights  # which leave out those that were forgotten before
    assert [night.as_of for night in charted] == list(DAYS[3:5])
    assert evalpipe.verify("reports/churn-2026-11-06", recompute=True).holds(inputs=True)


@pytest.mark.usefixtures("forgotten")
def test_history_lists_the_nights_that_are_kept(printed: Callable[..., tuple[int, str]]) -> None:
    assert printed("history", "reports", "--metric", "accuracy")[1].splitlines()[0] == (
        "churn: 2 nights in reports/ledger.sqlite; accuracy with its interval")
    assert "forgotten" not in printed("history", "reports", "--format", "json")[1]
    ledger = Ledger.read(LedgerPlace.of("reports/ledger.sqlite"))
    assert [row["as_of"] for row in nights(ledger, "churn", forgotten=True)] == list(DAYS[:5])
