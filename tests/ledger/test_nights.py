"""The nights of a name: the latest run of each day, in whatever folders, in either database."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

import evalpipe
from evalpipe.ledger.entries import LedgerPlace
from evalpipe.ledger.nights import estimates_of, nights
from evalpipe.ledger.store import Ledger
from evalpipe.results import Results


@pytest.fixture(scope="module")
def results() -> Results:
    truth = np.arange(40) % 2
    return evalpipe.evaluate(
        truth, np.linspace(0.1, 0.9, 40), event=1, metrics=["brier", "roc_auc"], intervals={"replicates": 100})


@pytest.fixture
def ledger(place: LedgerPlace) -> Ledger:
    return Ledger.open(place)


def entered(ledger: Ledger, results: Results, day: str | None, folder: str, hour: int, **changed: str) -> Results:
    """Record results of a day in a folder of ``reports``, at an hour, and return them."""
    of_day = results.model_copy(update={"name": "churn", "as_of": day, **changed})
    ledger.record(of_day, Path("reports") / folder, datetime(2026, 11, 23, hour, tzinfo=UTC))
    return of_day


def test_the_nights_are_the_latest_run_of_each_day_in_all_folders(ledger: Ledger, results: Results) -> None:
    third = entered(ledger, results, "2026-11-03", "churn-2026-11-03", 1)
    entered(ledger, results, "2026-11-01", "churn-2026-11-01", 2)
    again = entered(ledger, results, "2026-11-01", "churn/2026-11-01", 5, title="again")
    entered(ledger, results, "2026-11-01", "churn-2026-11-01", 4, title="before that")
    second = entered(ledger, results, "2026-11-02", "churn", 3)
    entered(ledger, results, "2026-11-02", "fraud", 9, name="fraud")
    entered(ledger, results, None, "undated", 9)

    rows = nights(ledger, "churn")
    assert [(row["as_of"], row["results_sha256"]) for row in rows] == [
        ("2026-11-01", again.evidence_sha256), ("2026-11-02", second.evidence_sha256),
        ("2026-11-03", third.evidence_sha256)]
    assert [row["as_of"] for row in nights(ledger, "churn", "2026-11-03")] == ["2026-11-01", "2026-11-02"]
    assert [row["as_of"] for row in nights(ledger, "churn", "2026-11-03", 1)] == ["2026-11-02"]
    assert nights(ledger, "churn", "2026-11-01") == nights(ledger, "other") == []


def test_the_estimates_of_nights_are_those_of_their_results(ledger: Ledger, results: Results) -> None:
    entered(ledger, results, "2026-11-01", "a", 1)
    entered(ledger, results, "2026-11-02", "b", 2)

    runs = [row["run"] for row in nights(ledger, "churn")]
    of_all, of_one = estimates_of(ledger, runs), estimates_of(ledger, runs, ["brier"])
    assert list(of_all) == list(of_one) == runs
    assert [(row["metric"], row["value"], row["lower"]) for row in of_all[runs[0]]] == [
        (row.metric, row.value, row.lower) for row in results.rows]
    assert [[row["metric"] for row in rows] for rows in of_one.values()] == [["brier"], ["brier"]]
    assert estimates_of(ledger, []) == {}
