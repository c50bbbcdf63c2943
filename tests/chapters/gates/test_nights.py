"""Gates `on: sequence` night after night: their evidence, their verdicts, and what the ledger makes of the nights."""

from __future__ import annotations

import datetime as dt
import math
import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import yaml

import evalpipe
from chapters.gates.sentences import sentence_of
from evalpipe.chapters.gates.compute_sequence import (
    SHARES,
    evidence_after_last,
    of_a_mean,
    proportion_evidence,
    ratio_evidence,
    value_evidence,
)
from evalpipe.ledger import store
from evalpipe.ledger.entries import LedgerPlace
from evalpipe.ledger.nights import evidence_before
from evalpipe.ledger.since_last_run import changes
from evalpipe.ledger.store import Ledger
from evalpipe.results import Gate, Results
from evalpipe.review.signing import accept
from evalpipe.run import load

if TYPE_CHECKING:
    from pathlib import Path

FIRST = dt.date(2026, 11, 1)
SENSITIVITY = {"metric": "sensitivity", "min": 0.75, "on": "sequence"}
SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "nightly", "task": "binary", "outcome": {"column": "y", "event": 1},
    "datasets": {"d": {"path": "d-${date}.parquet"}}, "models": {"m": {"prediction": "hit"}},
    "metrics": ["sensitivity"], "intervals": {"replicates": 100}, "report": {"formats": []},
    "gates": [SENSITIVITY],
}
LINE: dict[str, Any] = {"calibration": {"smoother": "logistic"}}
SCORED: dict[str, Any] = {"models": {"m": {"probability": "p"}}} | LINE
BOTH: dict[str, Any] = {"models": {"m": {"probability": "p"}, "k": {"probability": "q"}}} | LINE


def day(number: int) -> dt.date:
    return FIRST + dt.timedelta(number)


def data(number: int, sensitivity: float = 0.85, n: int = 400) -> pl.DataFrame:
    """Return the rows of a night; the model is right about so many of the events."""
    rng = np.random.default_rng(number)
    event = rng.random(n) < 0.5
    found = np.where(event, rng.random(n) < sensitivity, rng.random(n) < 0.2)
    p = np.where(found, 0.5 + rng.random(n) / 2, rng.random(n) / 2)
    q = np.clip(p + rng.normal(0, 0.1, n), 0, 1)
    return pl.DataFrame({
        "y": event.astype(int), "hit": found.astype(int), "p": p, "q": q, "s": rng.choice(["a", "b"], n),
        "c": rng.integers(0, 80, n), "w": rng.random(n) + 0.5})


def night(root: Path, number: int, frame: pl.DataFrame | None = None, **keys: Any) -> Results:
    """Run a night, in a folder of its own."""
    root.mkdir(exist_ok=True)
    file = root / f"d-{day(number)}.parquet"
    if frame is not None or not file.exists():
        (data(number) if frame is None else frame).write_parquet(file)
    (root / "spec.yaml").write_text(yaml.safe_dump(SPEC | keys), encoding="utf-8")
    return evalpipe.run(root / "spec.yaml", out=root / "reports" / f"nightly-{day(number)}", as_of=day(number))


def only(results: Results) -> Gate:
    (gate,) = results.gates
    return gate


def test_nights_add_up_to_a_verdict_and_a_drop_turns_it(tmp_path: Path) -> None:
    sensitivities = [0.8] * 6 + [0.6] * 4
    gates = [only(night(tmp_path, number, data(number, share))) for number, share in enumerate(sensitivities)]
    assert gates[0].verdict == "inconclusive"
    assert gates[5].verdict == "pass"
    assert gates[-1].verdict == "fail"
    known = [gate.sequence for gate in gates if gate.sequence is not None]
    assert [sequence.nights for sequence in known] == list(range(1, 11))
    assert {sequence.since for sequence in known} == {str(FIRST)}
    assert {(sequence.threshold, sequence.alarms, sequence.level, sequence.basis) for sequence in known} == {
        (20.0, 1, 0.05, "exact")}
    assert re.search(r"It is below 0\.75: odds of \d+ to 1 against chance, 20 suffice "
                     r"\(evidence of 10 nights since 2026-11-01\)\.$", sentence_of(gates[-1]))


def test_the_evidence_in_the_results_is_that_of_the_nights(tmp_path: Path) -> None:
    """By the counts of events alone, of three nights."""
    logs = []
    for number in range(3):
        results = night(tmp_path, number)
        (estimate,) = results.rows
        hits = np.array(round((estimate.value or 0) * estimate.n))
        logs.append(proportion_evidence(hits, np.array(estimate.n), 0.75, -1))
        (row,) = results.evidence
        assert row.against == pytest.approx(logs[-1].against.tolist(), rel=1e-12)  # of the same two products
    sequence = only(results).sequence
    assert sequence is not None
    against, kept = (np.array([getattr(one, side) for one in logs]) for side in ("against", "kept"))
    assert sequence.evidence == pytest.approx(evidence_after_last(against, 20), rel=1e-12)
    assert sequence.kept == pytest.approx(evidence_after_last(kept, 20), rel=1e-12)


def test_twenty_rows_do_not_decide(tmp_path: Path) -> None:
    gate = only(night(tmp_path, 0, data(0, 0.7, n=20)))
    assert gate.verdict == "inconclusive"
    assert sentence_of(gate).endswith("either decides at 20, so these nights do not decide.")


def test_small_nights_wait_for_others_and_count_together(tmp_path: Path) -> None:
    keys: dict[str, Any] = {**SCORED, "metrics": ["roc_auc"],
                            "gates": [{"metric": "roc_auc", "min": 0.7, "on": "sequence"}]}
    first, second = (only(night(tmp_path, number, data(number, n=70), **keys)) for number in range(2))
    assert sentence_of(first).endswith(
        "1 night has too few rows for evidence: that takes 50 of the rarer outcome and an interval, so these nights do "
        "not decide.")
    assert [gate.sequence and (gate.sequence.nights, gate.sequence.waiting) for gate in (first, second)] == [
        (1, 1), (2, 0)]
    assert first.sequence is not None
    assert second.sequence is not None
    assert (first.sequence.evidence, first.sequence.kept) == (1, 1)
    assert second.sequence.kept > 1


def test_average_precision_needs_nights_of_100_events(tmp_path: Path) -> None:
    """With 50 it is up to a quarter of its error too high, which many nights would add up."""
    keys: dict[str, Any] = {**SCORED, "metrics": ["average_precision", "kappa"], "gates": [
        {"metric": name, "min": 0.3, "on": "sequence"} for name in ("average_precision", "kappa")]}
    for sizes, waiting in (((180, 180), [2, 0]), ((400, 400), [0, 0])):
        root = tmp_path / str(sizes[0])
        *_, evidence_after_last = (night(root, number, data(number, n=n), **keys) for number, n in enumerate(sizes))
        assert [gate.sequence and gate.sequence.waiting for gate in evidence_after_last.gates] == waiting
        if waiting[0]:
            assert "that takes 100 of the rarer outcome" in sentence_of(evidence_after_last.gates[0])


def test_a_pass_asks_that_recent_nights_agree(tmp_path: Path) -> None:
    sensitivities = [0.9] * 8 + [0.6]
    gates = [only(night(tmp_path, number, data(number, share))) for number, share in enumerate(sensitivities)]
    assert gates[-2].verdict == "pass"
    last_ = gates[-1]
    assert last_.verdict == "inconclusive"
    assert last_.sequence is not None
    assert last_.sequence.kept >= last_.sequence.threshold
    assert ", but that of recent nights that it is below 0.75 is " in sentence_of(last_)
    assert sentence_of(last_).endswith("; the gate passes while that is at most 3.")


def test_the_order_in_which_nights_arrive_changes_no_byte(tmp_path: Path) -> None:
    for root, order in ((tmp_path / "a", (0, 1, 2, 3)), (tmp_path / "b", (2, 0, 1, 3))):
        for number in order:
            night(root, number)
    texts = [(root / "reports" / f"nightly-{day(3)}" / "results.json").read_bytes() for root in (
        tmp_path / "a", tmp_path / "b")]
    assert texts[0] == texts[1]


def test_a_night_that_is_run_again_takes_the_place_of_the_first(tmp_path: Path) -> None:
    for number in range(2):
        night(tmp_path / "a", number)
        night(tmp_path / "b", number, data(70 + number) if number == 0 else None)
    night(tmp_path / "b", 0, data(0))
    texts = [only(night(root, 2)).sequence for root in (tmp_path / "a", tmp_path / "b")]
    assert texts[0] == texts[1]
    assert only(night(tmp_path / "a", 2)).sequence == texts[0]


def test_the_same_data_of_two_days_count_once(tmp_path: Path) -> None:
    frame = data(0)
    night(tmp_path, 0, frame)
    first = night(tmp_path, 1)
    again = night(tmp_path, 2, frame)
    after = night(tmp_path, 3)
    known = [only(results).sequence for results in (first, again, after)]
    assert [sequence and sequence.nights for sequence in known] == [2, 2, 3]
    assert [sequence and sequence.same_data for sequence in known] == [[], [str(day(2))], [str(day(2))]]
    assert known[1] is not None
    assert known[0] is not None
    assert known[1].evidence == known[0].evidence
    (warning,) = again.warnings
    assert (warning.code, warning.message) == (
        "same-data", "the rows of d are those of an earlier night, so gates 'on: sequence' do not count 2026-11-03")
    assert after.warnings == []


def test_another_limit_begins_a_new_sequence_and_counts_alone(tmp_path: Path) -> None:
    night(tmp_path, 0)
    night(tmp_path, 1)
    gate = only(night(tmp_path, 2, gates=[SENSITIVITY | {"min": 0.7}]))
    assert gate.sequence is not None
    assert (gate.sequence.nights, gate.sequence.alarms, gate.sequence.since) == (1, 1, str(day(2)))


def test_every_limit_that_is_judged_raises_what_an_alarm_needs(tmp_path: Path) -> None:
    """Two models on two slices and a gate of two limits on one of them: 2 * 2 + 2 limits."""
    keys: dict[str, Any] = {
        **BOTH, "slices": ["s"], "sequence": {"level": 0.1},
        "gates": [SENSITIVITY | {"slices": "s"}, SENSITIVITY | {"max": 0.99, "model": "k"}]}
    results = night(tmp_path, 0, **keys)
    assert len(results.evidence) == 6
    assert {gate.sequence and (gate.sequence.alarms, gate.sequence.threshold) for gate in results.gates} == {(6, 60.0)}
    other = data(1).with_columns(s=pl.lit("a"))  # a night without a slice is no reason to ask for less
    assert {gate.sequence and gate.sequence.alarms for gate in night(tmp_path, 1, other, **keys).gates} == {6}


def test_to_accept_a_run_begins_the_sequences_anew(tmp_path: Path) -> None:
    for number in range(3):
        results = night(tmp_path, number, data(number, 0.6))
    assert only(results).verdict == "fail"
    accept(tmp_path / "reports" / f"nightly-{day(2)}")
    gate = only(night(tmp_path, 3))
    assert gate.sequence is not None
    assert (gate.verdict, gate.sequence.nights, gate.sequence.since) == ("inconclusive", 1, str(day(3)))
    assert only(night(tmp_path, 2, data(2, 0.6))).verdict == "fail"  # the night itself is what it was


def test_other_evidence_of_earlier_nights_is_a_change(tmp_path: Path) -> None:
    night(tmp_path, 0)
    night(tmp_path, 2)
    spec, out = tmp_path / "spec.yaml", tmp_path / "reports" / f"nightly-{day(2)}"

    def again() -> Results:
        return evalpipe.run(spec, out=out, as_of=day(2), if_changed=True)

    written = (out / "run.json").stat().st_mtime_ns
    assert again().evidence_sha256 == Results.read(out).evidence_sha256
    assert (out / "run.json").stat().st_mtime_ns == written
    night(tmp_path, 1)
    assert changes(load(spec, as_of=day(2)), out)[1] == [
        f"the night before is that of {day(1)}, not of {day(0)}", "the evidence of earlier nights on gate 1"]
    sequence = only(again()).sequence
    assert sequence is not None
    assert sequence.nights == 3
    assert changes(load(spec, as_of=day(2)), out)[1] == []


def test_a_ledger_that_is_gone_is_a_change(tmp_path: Path) -> None:
    night(tmp_path, 0)
    night(tmp_path, 1)
    for file in (tmp_path / "reports").glob("ledger.sqlite*"):
        file.unlink()
    out = tmp_path / "reports" / f"nightly-{day(1)}"
    again = evalpipe.run(tmp_path / "spec.yaml", out=out, as_of=day(1), if_changed=True)
    sequence = only(again).sequence
    assert sequence is not None
    assert sequence.nights == 1


def test_a_run_without_an_output_folder_is_a_night_alone(tmp_path: Path) -> None:
    night(tmp_path, 0)
    night(tmp_path, 1)
    sequence = only(evalpipe.run(tmp_path / "spec.yaml", as_of=day(1))).sequence
    assert sequence is not None
    assert sequence.nights == 1


@pytest.mark.parametrize(("keys", "basis"), [
    ({}, "exact"),
    ({"weight": {"column": "w", "kind": "importance"}}, "asymptotic"),
    ({"cluster": "c"}, "asymptotic"),
    ({"sequence": {"between_nights": True}}, "asymptotic"),
    ({**SCORED, "recalibrate": {"fit_on": {"folds": 2}, "methods": ["logistic"]}}, "asymptotic"),
    ({**SCORED, "threshold": {"maximize": "j_index", "on": {"folds": 2}}}, "asymptotic"),
])
def test_evidence_is_exact_of_independent_rows_that_nothing_was_fitted_on(
    tmp_path: Path, keys: dict[str, Any], basis: str
) -> None:
    variant = "logistic" if "recalibrate" in keys else "original"
    results = night(tmp_path, 0, gates=[SENSITIVITY | {"variant": variant}], **keys)
    (row,) = results.evidence
    assert row.basis == basis
    assert len(row.against) == len(row.kept) == (len(SHARES) if basis == "exact" else 0)
    (estimate,) = (one for one in results.rows if one.variant == variant)
    assert (row.value, row.rows) == (estimate.value, estimate.n)
    (dataset,) = (dataset for dataset in results.datasets if dataset.role == "evaluate")
    independent = dataset.clusters or dataset.n_effective or dataset.n
    assert row.support == pytest.approx(row.rows * independent / dataset.n)
    assert ("cluster" in keys) == (independent == dataset.clusters)
    assert row.error == pytest.approx((estimate.upper - estimate.lower) / 2 / 1.959963984540054)  # type: ignore[operator]


def test_the_evidence_of_each_kind_is_that_of_its_rows(tmp_path: Path) -> None:
    """Brier score, F1, log loss and differences of models, from the rows by hand; the AUC from its interval."""
    frame = data(0)
    results = night(tmp_path, 0, frame, **BOTH, metrics=["brier"], compare={"baseline": "m"}, gates=[
        {"metric": "brier", "max": 0.25, "on": "sequence", "model": "m"},
        {"metric": "f1", "min": 0.7, "on": "sequence", "model": "m"},
        {"metric": "brier", "max_increase": 0.01, "against": "baseline", "on": "sequence"},
        {"metric": "sensitivity", "max_decrease": 0.1, "against": "baseline", "on": "sequence"},
        {"metric": "log_loss", "max": 0.5, "on": "sequence", "model": "m"},
        {"metric": "roc_auc", "min": 0.8, "on": "sequence", "model": "m"},
    ])
    y, p, q = (frame[name].to_numpy().astype(float) for name in "ypq")
    losses, others = (p - y) ** 2, (q - y) ** 2
    hit, other_hit, event = p >= 0.5, q >= 0.5, y == 1
    cells = np.array([(hit & event).sum(), (hit & ~event).sum(), (~hit & event).sum()], float)
    changes = np.array([(other_hit & ~hit & event).sum(), (hit & ~other_hit & event).sum(),
                        ((hit == other_hit) & event).sum()], float)
    area = next(row for row in results.rows if row.metric == "roc_auc" and row.model == "m")
    error = (area.upper - area.lower) / 2 / 1.959963984540054  # type: ignore[operator]
    expected = [
        of_a_mean(losses, np.ones(len(y)), 0.25, 1, (0, 1)),
        ratio_evidence([(2, 2), (0, 1), (0, 1)], cells, 0.7, -1),
        of_a_mean(others - losses, np.ones(len(y)), 0.01, 1, (-1, 1)),
        of_a_mean(np.array([1.0, -1.0, 0.0]), changes, -0.1, -1, (-1, 1)),
        of_a_mean(-np.log(np.where(event, p, 1 - p)), np.ones(len(y)), 0.5, 1, (1e-15, -math.log(1e-15))),
    ]
    assert [row.basis for row in results.evidence] == ["exact"] * 5 + ["asymptotic"]
    gate = results.gates[-1].sequence
    assert gate is not None
    evidence = value_evidence(area.value or 0.0, error, 0.8, -1)
    assert gate.evidence == pytest.approx(evidence_after_last(evidence.against[None], gate.threshold), rel=1e-9)
    assert gate.kept == pytest.approx(evidence_after_last(evidence.kept[None], gate.threshold), rel=1e-9)
    for row, night_evidence in zip(results.evidence, expected, strict=False):
        # Sums of 400 terms in another order.
        assert row.against == pytest.approx(night_evidence.against.tolist(), rel=1e-9, abs=1e-12)
        assert row.kept == pytest.approx(night_evidence.kept.tolist(), rel=1e-9, abs=1e-12)


def test_a_night_without_a_number_adds_nothing(tmp_path: Path) -> None:
    """No events, so no sensitivity: the nights before stand."""
    before = only(night(tmp_path, 0)).sequence
    outcome = {"column": "y", "event": 1, "levels": [1, 0]}
    quiet = only(night(tmp_path, 1, data(1).with_columns(y=pl.lit(0)), outcome=outcome))
    assert before is not None
    assert quiet.sequence is not None
    assert (quiet.sequence.nights, quiet.sequence.evidence) == (1, before.evidence)
    assert sentence_of(quiet).startswith("Sensitivity is not given: ")


def test_the_evidence_of_a_ledger_of_format_2_counts_on_where_it_is_exact(tmp_path: Path) -> None:
    for number in range(2):
        night(tmp_path / "a", number)
        night(tmp_path / "b", number)
    file = tmp_path / "a" / "reports" / "ledger.sqlite"
    with closing(sqlite3.connect(file)) as connection, connection:
        for column in ("value", "error", "rows", "support"):
            connection.execute(f"ALTER TABLE evalpipe_evidence DROP COLUMN {column}")
        connection.execute("UPDATE evalpipe_ledger SET format = 2")
    known = [only(night(tmp_path / root, 2)).sequence for root in "ab"]
    assert known[0] is not None
    assert known[1] is not None
    assert (known[0].evidence, known[0].nights) == (known[1].evidence, 3)
    ledger = Ledger.read(LedgerPlace.of(str(file)))
    assert [row["rows"] is None for row in evidence_before(ledger, "nightly", "2027-01-01")] == [True, True, False]


def test_the_ledger_of_format_1_is_brought_up_to_date(tmp_path: Path) -> None:
    night(tmp_path, 0, gates=[{"metric": "sensitivity", "min": 0.5}])
    file = tmp_path / "reports" / "ledger.sqlite"
    with closing(sqlite3.connect(file)) as connection, connection:
        for statement in ("DROP TABLE evalpipe_evidence", "DROP TABLE evalpipe_restarts",
                          "DROP INDEX evalpipe_runs_by_name", "UPDATE evalpipe_ledger SET format = 1"):
            connection.execute(statement)
    assert only(night(tmp_path, 1)).verdict == "inconclusive"
    ledger = Ledger.read(LedgerPlace.of(str(file)))
    assert [row["as_of"] for row in evidence_before(ledger, "nightly", "2027-01-01")] == [str(day(1))]
    with closing(sqlite3.connect(file)) as connection, connection:
        indexes = [row[1] for row in connection.execute("PRAGMA index_list(evalpipe_runs)")]
        assert connection.execute("SELECT format FROM evalpipe_ledger").fetchone() == (store.LEDGER_FORMAT,)
    assert "evalpipe_runs_by_name" in indexes


def test_the_run_again_gives_the_same_bytes_and_tells_that_nights_have_changed(tmp_path: Path) -> None:
    for number in range(3):
        night(tmp_path, number)
    folder = tmp_path / "reports" / f"nightly-{day(2)}"
    ledger = Ledger.read(LedgerPlace.default_for(folder))
    before = len(evidence_before(ledger, "nightly", "2027-01-01"))
    assert evalpipe.verify(folder, recompute=True).holds()
    assert len(evidence_before(ledger, "nightly", "2027-01-01")) == before

    night(tmp_path, 0, data(99))
    (changed,) = [file for file in evalpipe.verify(folder, recompute=True).files
                  if (file.kind, file.file) == ("recomputed", "results.json")]
    assert changed.status == "differs"
    assert changed.reason == "the run again gives other bytes; the ledger has other earlier nights than then"
