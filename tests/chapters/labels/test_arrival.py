"""Outcomes that come late: what counts on the day of the card, nights that are run again, and late against early."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import evalpipe
from evalpipe.chapters.labels.compute_arrival import late_contrast
from evalpipe.errors import DataError
from evalpipe.ledger.entries import LedgerPlace
from evalpipe.ledger.nights import runs_by_name
from evalpipe.ledger.store import Ledger

DAY = "2026-03-31"
ARRIVE = {"column": "decided", "since": "applied", "within": "40d"}
ALONE = {"selected": "random", "arrive": ARRIVE}
JUDGED = {"selected": "random", "judge": {"probability": "judge"}, "arrive": ARRIVE}
GATES = [{"metric": metric, "min": 0.6, "on": "sequence"} for metric in ("accuracy", "roc_auc")]


def rows(n: int = 900, seed: int = 3) -> pl.DataFrame:
    """Return rows of the days before `DAY`, whose outcomes become known within 40 days; events sooner than others."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n))
    event = rng.random(n) < 1 / (1 + np.exp(-1.5 * x - 0.8 * z + 1))
    age, delay = rng.integers(0, 90, n), np.where(event, rng.integers(0, 30, n), rng.integers(10, 40, n))
    applied = [date.fromisoformat(DAY) - timedelta(int(days)) for days in age]
    return pl.DataFrame({
        "y": np.where(event, "bad", "good"), "p": (1 / (1 + np.exp(0.8 - 1.8 * x))).round(4),
        "judge": (1 / (1 + np.exp(0.4 - 1.5 * x - 0.8 * z))).round(4), "region": rng.choice(["a", "b"], n),
        "applied": applied, "decided": [day + timedelta(int(days)) for day, days in zip(applied, delay, strict=True)]})


SETTLED = pl.col("applied") <= date.fromisoformat(DAY) - timedelta(40)


def run(frame: pl.DataFrame, labels: Any, as_of: str = DAY, out: Path | None = None, **keys: Any) -> Any:
    spec = {
        "evalpipe": 1, "name": "late", "as_of": as_of, "task": "binary", "outcome": {"column": "y", "event": "bad"},
        "datasets": {"rows": {"path": "memory"}}, "models": {"m": {"probability": "p"}},
        "metrics": ["accuracy", "sensitivity", "roc_auc"], "intervals": {"replicates": 200},
        "report": {"formats": ["html"]}, **({} if labels is None else {"labels": labels}), **keys}
    return evalpipe.run(spec, frames={"rows": frame}, out=out)


@pytest.mark.parametrize("labels", [ALONE, JUDGED])
def test_a_past_day_gives_the_same_results_once_later_outcomes_are_known(labels: Any) -> None:
    frame = rows()
    unknown = pl.col("decided") > date.fromisoformat(DAY)
    then = frame.with_columns(pl.when(~unknown).then(name).alias(name) for name in ("y", "decided"))
    assert then["y"].null_count() > 100
    assert run(then, labels, gates=GATES).model_dump_json() == run(frame, labels, gates=GATES).model_dump_json()


def test_without_a_judge_it_is_the_run_of_the_rows_that_are_settled() -> None:
    frame = rows()
    results, alone = run(frame, ALONE, slices=["region"]), run(frame.filter(SETTLED), None, slices=["region"])
    assert results.rows == alone.rows
    assert results.confusion == alone.confusion
    unsettled = frame.filter(~SETTLED).height
    assert (results.datasets[0].n, results.datasets[0].unsettled) == (frame.height - unsettled, unsettled)
    arrival = results.label_arrival[0]
    assert (arrival.rows, arrival.settled, arrival.unsettled, arrival.judged) == (
        900, 900 - unsettled, unsettled, False)
    assert (arrival.known_by, arrival.within) == (DAY, 40)


@pytest.mark.parametrize("labels", [ALONE, JUDGED])
def test_outcomes_that_are_early_in_rows_that_are_not_settled_do_not_count(labels: Any) -> None:
    frame = rows()
    other = pl.when(pl.col("y") == "bad").then(pl.lit("good")).otherwise(pl.lit("bad"))
    turned = frame.with_columns(pl.when(SETTLED).then("y").otherwise(other).alias("y"))
    assert run(turned, labels).rows == run(frame, labels).rows
    settled_too = frame.with_columns(pl.when(~SETTLED).then("y").otherwise(other).alias("y"))
    assert run(settled_too, labels).rows != run(frame, labels).rows


def test_rows_that_are_not_settled_count_by_the_judge() -> None:
    frame = rows()
    surer = frame.with_columns(pl.when(SETTLED).then("judge").otherwise(pl.col("judge") / 2).alias("judge"))
    first, second = (run(of, JUDGED) for of in (frame, surer))
    assert first.labelled[0].rows == 900
    assert second.labelled[0].prevalence < first.labelled[0].prevalence
    assert second.labelled[0].alone == first.labelled[0].alone
    assert first.judge_bias == second.judge_bias


def test_a_settled_row_without_an_outcome_is_simply_without_it() -> None:
    frame = rows().with_columns(pl.when(~SETTLED | (pl.col("region") == "a")).then("y").alias("y"))
    results = run(frame, {"selected": "random", "arrive": ARRIVE})
    assert results.datasets[0].n == frame.filter(SETTLED & (pl.col("region") == "a")).height
    assert results.label_arrival[0].settled == frame.filter(SETTLED).height


def test_strata_stand_for_settled_rows_and_with_a_judge_for_all() -> None:
    frame = rows()
    few = pl.int_range(pl.len()) % 3 == 0
    frame = frame.with_columns(pl.when((pl.col("region") == "a") | few).then("y").alias("y"))
    counted = frame.filter(SETTLED).group_by("region").agg(
        pl.len().alias("rows"), (pl.col("y") == "bad").mean().alias("share"))
    expected = float((counted["rows"] * counted["share"]).sum() / counted["rows"].sum())
    strata = {"selected": {"strata": ["region"]}, "arrive": ARRIVE}
    assert run(frame, strata).labelled[0].prevalence == pytest.approx(expected, rel=1e-12)
    fresh = frame.with_columns(pl.when(SETTLED).then("region").otherwise(pl.lit("new")).alias("region"))
    assert run(fresh, strata).labelled[0].known == counted["rows"].sum() - frame.filter(SETTLED)["y"].null_count()
    with pytest.raises(DataError, match="no outcome where region = 'new': nothing stands for this stratum"):
        run(fresh, {**strata, "judge": {"probability": "judge"}})


def test_rows_with_an_outcome_are_held_to_settled_rows_alone() -> None:
    some = pl.int_range(pl.len()) % 4 > 0
    frame = rows().with_columns(
        pl.when(some).then("y").alias("y"), pl.when(SETTLED).then("p").otherwise(pl.col("p") / 4).alias("p"))
    (test,) = run(frame, ALONE).selection_tests
    known = frame.filter(SETTLED).with_columns(pl.col("y").is_not_null().alias("known"))
    expected = stats.mannwhitneyu(
        known.filter("known")["p"], known.filter(~pl.col("known"))["p"], use_continuity=False, method="asymptotic")
    assert test.p_value == pytest.approx(expected.pvalue, rel=1e-9)


def test_gates_over_nights_read_settled_outcomes_alone() -> None:
    frame = rows()
    # One error is in closed form, the other of resamples: of 2,000, as few make one limit wider by their noise.
    alone, judged = (run(frame, labels, gates=GATES, intervals={"replicates": 2000}) for labels in (ALONE, JUDGED))
    assert [row.basis for row in judged.evidence] == ["exact", "asymptotic"]
    for first, second in zip(alone.evidence, judged.evidence, strict=True):
        assert (first.sequence, first.against, first.value, first.rows, first.support) == (
            second.sequence, second.against, second.value, second.rows, second.support)
        assert second.error == pytest.approx(first.error, rel=0.2)
    # The verdict shows the value with the judge, which is another one.
    assert judged.gates[1].observed != judged.evidence[1].value
    without = run(frame, {**JUDGED, "arrive": None}, gates=GATES)
    assert without.evidence[1].value == without.gates[1].observed


def test_the_judge_takes_no_part_in_evidence_even_where_it_turns() -> None:
    frame = rows()
    harsh = frame.with_columns(pl.when(SETTLED).then("judge").otherwise(1.0).alias("judge"))
    first, second = (run(of, JUDGED, gates=GATES) for of in (frame, harsh))
    assert first.gates[0].observed != second.gates[0].observed
    assert [row.against for row in first.evidence] == [row.against for row in second.evidence]
    assert [row.value for row in first.evidence] == [row.value for row in second.evidence]


def test_a_night_is_run_again_when_its_outcomes_have_arrived(tmp_path: Path) -> None:
    frame, later = rows(), {**ARRIVE, "known_by": "2026-05-20"}
    keys = {"gates": GATES, "trend": {"metrics": ["accuracy"], "control": False}}
    first = run(frame, JUDGED, out=tmp_path / "first", **keys)
    next_day = {**JUDGED, "arrive": {**ARRIVE, "known_by": "2026-05-20"}}
    before = run(rows(seed=5), next_day, as_of="2026-04-01", out=tmp_path / "next", **keys)
    assert before.trend.nights[0].unsettled == {"rows": first.label_arrival[0].unsettled}
    shaded = "Shaded: 1 night with rows whose outcomes were still waited for."
    assert shaded in (tmp_path / "next/card.html").read_text()

    again = run(frame, {**JUDGED, "arrive": later}, out=tmp_path / "again", **keys)
    assert (again.label_arrival[0].unsettled, again.label_arrival[0].known_by) == (0, "2026-05-20")
    assert again.labelled[0].known == 900
    after = run(rows(seed=5), next_day, as_of="2026-04-01", out=tmp_path / "next", **keys)
    assert [night.unsettled for night in after.trend.nights] == [None]
    assert after.trend.lines[0].value[0] == again.rows[0].value != first.rows[0].value
    assert "waited for" not in (tmp_path / "next/card.html").read_text()
    recorded = runs_by_name(Ledger.read(LedgerPlace.default_for(tmp_path / "next")))
    assert [row["as_of"] for row in recorded].count(DAY) == 2
    # The evidence of the night is now that of all its outcomes.
    assert [gate.sequence.nights for gate in after.gates] == [2, 2]
    assert after.gates[0].sequence.evidence != before.gates[0].sequence.evidence


def test_late_outcomes_are_compared_with_early_ones() -> None:
    frame = rows(3000)
    outcome, judge = run(frame, JUDGED).late_labels
    delay = (pl.col("decided") - pl.col("applied")).dt.total_days()
    settled = frame.filter(SETTLED).with_columns((delay > 20).alias("late"), (pl.col("y") == "bad").alias("bad"))
    early, late = (settled.filter(pl.col("late") == flag) for flag in (False, True))
    assert (outcome.judge, outcome.until) == (None, 20)
    assert (outcome.early_rows, outcome.late_rows) == (early.height, late.height)
    assert (outcome.early, outcome.late) == pytest.approx((early["bad"].mean(), late["bad"].mean()), rel=1e-12)
    assert outcome.lower < outcome.difference < outcome.upper < 0
    assert outcome.p_value < 1e-10
    biases = [(of["judge"] - of["bad"].cast(float)) for of in (early, late)]
    expected = stats.ttest_ind(biases[1], biases[0], equal_var=False)
    assert (judge.judge, judge.difference) == ("judge", pytest.approx(biases[1].mean() - biases[0].mean()))
    assert judge.p_value == pytest.approx(float(expected.pvalue), rel=0.5)
    assert judge.p_adjusted == pytest.approx(max(judge.p_value, 2 * outcome.p_value))


def test_late_outcomes_are_not_compared_where_they_are_few_and_clear_where_they_are_alike() -> None:
    frame = rows(60)
    assert run(frame, ALONE).late_labels == []
    by_turns = pl.duration(days=pl.int_range(pl.len()) % 40)
    alike = rows(3000).with_columns((pl.col("applied") + by_turns).alias("decided"))
    assert run(alike, ALONE).late_labels[0].p_value > 0.001


def test_a_contrast_of_means_has_the_error_of_welch_and_that_of_whole_clusters() -> None:
    rng = np.random.default_rng(1)
    values, late, ones = rng.normal(size=90), rng.random(90) < 0.4, np.ones(90)
    single = late_contrast(values, late, ones, None)
    welch = stats.ttest_ind(values[late], values[~late], equal_var=False)
    assert single.value / single.error == pytest.approx(float(welch.statistic), rel=1e-12)  # type: ignore[attr-defined]
    uneven = rng.random(90) + 0.5
    assert late_contrast(values, late, 7 * uneven, None).p(0.0) == pytest.approx(
        late_contrast(values, late, uneven, None).p(0.0), rel=1e-9)
    # Rows that stand twice, each pair a cluster, tell as much as they do once.
    twice = late_contrast(np.repeat(values, 2), np.repeat(late, 2), np.ones(180), np.repeat(np.arange(90), 2))
    assert twice.error == pytest.approx(single.error, rel=0.02)  # type: ignore[attr-defined]
