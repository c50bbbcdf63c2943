"""Rows without an outcome, judges and selections, by whole runs in memory."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import evalpipe
from evalpipe.chapters.labels import compute as labels_compute
from evalpipe.chapters.labels.compute_judges import mean_with_judges
from evalpipe.data.sample import KnownRows
from evalpipe.engine.judges import shares_of_judges
from evalpipe.errors import DataError, SpecError
from evalpipe.intervals.judged import unseen_errors

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Flags, Wholes


def expit(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def rows(n: int = 600, known: int = 120, seed: int = 4) -> pl.DataFrame:
    """Return rows of which some at random have an outcome, a model, a good judge and a useless one."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n))
    chance = expit(1.5 * x + 0.8 * z - 1)
    event = rng.random(n) < chance
    has_outcome = np.zeros(n, bool)
    has_outcome[rng.choice(n, known, replace=False)] = True
    return pl.DataFrame({
        "y": [("bad" if y else "good") if k else None for y, k in zip(event, has_outcome, strict=True)],
        "all": ["bad" if y else "good" for y in event], "p": expit(1.8 * x - 0.8).round(4),
        "judge": expit(1.5 * x + 0.8 * z - 0.4).round(4), "noise": rng.random(n).round(4),
        "verdict": np.where(chance > 0.5, "bad", "good"), "region": rng.choice(["a", "b"], n),
        "person": rng.integers(0, 60, n)})


def run(frame: pl.DataFrame | None, labels: Any, **keys: Any) -> Any:
    spec = {
        "evalpipe": 1, "name": "labels", "task": "binary", "outcome": {"column": "y", "event": "bad"},
        "datasets": {"rows": {"path": "memory"}}, "models": {"m": {"probability": "p"}},
        "metrics": ["accuracy", "sensitivity", "roc_auc"],
        "intervals": {"replicates": 200}, **({} if labels is None else {"labels": labels}), **keys}
    return evalpipe.run(spec, frames=None if frame is None else {"rows": frame})


JUDGED = {"selected": "random", "judge": {"probability": "judge"}}


def values(results: Any, slice_: Any = None) -> dict[str, tuple[Any, Any, Any]]:
    return {row.metric: (row.value, row.lower, row.upper) for row in results.rows if row.slice == slice_}


def test_known_only_is_the_run_of_the_rows_with_an_outcome() -> None:
    frame = rows()
    alone = run(frame.filter(pl.col("y").is_not_null()), None, slices=["region"])
    known_only = run(frame, {"selected": "random"}, slices=["region"])
    assert known_only.rows == alone.rows
    assert known_only.confusion == alone.confusion
    assert (known_only.datasets[0].n, known_only.datasets[0].without_outcome) == (120, 480)


def test_a_row_without_an_outcome_is_an_error_without_the_key() -> None:
    with pytest.raises(DataError, match="480 rows have no value in the outcome column 'y'"):
        run(rows(), None)


def test_the_order_of_rows_and_the_number_of_threads_change_nothing() -> None:
    frame = rows()
    first = run(frame, JUDGED, slices=["region"])
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=1)
    assert run(shuffled, JUDGED, slices=["region"], engine={"workers": 2}).rows == first.rows


def test_a_good_judge_narrows_and_a_useless_one_does_not_widen() -> None:
    frame = rows()
    # A ratio of variances over 1,000 replicates each is known to 6 %.
    for judge, least, most in (("judge", 1.0, 9.0), ("noise", 0.85, 1.2)):
        results = run(frame, {"selected": "random", "judge": {"probability": judge}}, intervals={"replicates": 1000})
        worths = [row.worth / 120 for row in results.label_worth]
        assert len(worths) == 3
        assert all(least < worth < most for worth in worths), (judge, worths)


def test_two_judges_take_part_by_shares_of_their_own() -> None:
    results = run(rows(), {"selected": "random", "judge": [{"probability": "judge"}, {"probability": "noise"}]})
    shares = next(row.shares for row in results.label_worth if row.metric == "sensitivity")
    assert shares["judge"] >= 0.4
    assert shares["noise"] < 0.3
    assert {row.judge for row in results.judge_bias} == {"judge", "noise"}


def test_a_judge_may_give_classes_or_be_a_model() -> None:
    frame = rows()
    classes = run(frame, {"selected": "random", "judge": {"column": "verdict"}})
    assert classes.judge_bias[0].agreement is not None
    of_model = run(frame, {"selected": "random", "judge": {"model": "m"}})
    with_column = run(frame.with_columns(copy=pl.col("p")), {"selected": "random", "judge": {"probability": "copy"}})
    assert values(of_model) == values(with_column)


def test_where_every_outcome_is_known_judges_change_no_value() -> None:
    frame = rows().with_columns(y=pl.col("all"))
    judged, plain = values(run(frame, JUDGED)), values(run(frame, None))
    for metric, (value, _, _) in plain.items():
        assert judged[metric][0] == pytest.approx(value, abs=1e-12)


def test_whole_clusters_are_drawn() -> None:
    results = run(rows(), JUDGED, cluster="person")
    assert results.intervals.draws[0].mode == "clusters"
    assert results.intervals.draws[0].units == 60


def test_models_are_compared_on_outcomes_and_labels() -> None:
    frame = rows().with_columns(worse=(pl.col("p") * 0.3 + 0.35 * pl.col("noise")).round(4))
    results = run(frame, JUDGED, models={"m": {"probability": "p"}, "worse": {"probability": "worse"}},
                  compare={"baseline": "m"})
    by_model = {(row.model, row.metric): row.value for row in results.rows}
    for row in results.comparisons:
        assert row.method == "bootstrap_error"
        difference = by_model["worse", row.metric] - by_model["m", row.metric]
        assert row.difference == pytest.approx(difference, abs=1e-12)


def test_a_gate_judges_the_measure_with_labels() -> None:
    results = run(rows(), JUDGED, gates=[{"metric": "roc_auc", "min": 0.6}])
    row = next(row for row in results.rows if row.metric == "roc_auc")
    gate = results.gates[0]
    assert (gate.verdict, gate.observed, gate.lower) == ("pass", row.value, row.lower)


def test_a_part_that_is_not_random_is_told() -> None:
    rng = np.random.default_rng(1)
    frame = rows().with_columns(y=pl.when(pl.Series(rng.random(600)) < pl.col("p")).then("all"))
    results = run(frame, JUDGED)
    assert next(check for check in results.checks if check.code == "labels-not-random").outcome == "fails"
    sound = run(rows(), JUDGED)
    assert next(check for check in sound.checks if check.code == "labels-not-random").outcome == "clear"


def test_a_mean_with_a_judge_has_the_variance_of_simulated_means() -> None:
    rng, found = np.random.default_rng(3), []
    for _ in range(600):
        q = rng.random(400)
        y, is_known = (rng.random(400) < q).astype(float), np.zeros(400, bool)
        is_known[:80] = True
        found.append(mean_with_judges(y[is_known], np.ones(80), [q], known_rows(is_known)))
    means, errors = np.array(found).T
    # The standard deviation of 600 means is known to 3 %.
    assert means.std() == pytest.approx(np.sqrt((errors**2).mean()), rel=0.1)
    assert means.mean() == pytest.approx(0.5, abs=0.01)
    assert (errors**2).mean() < 0.85 * 0.25 / 80


@pytest.mark.parametrize("strata", [False, True])
def test_a_mean_has_the_variance_of_simulated_means_of_clusters_and_of_strata(*, strata: bool) -> None:
    rng, moments = np.random.default_rng(4), []
    for _ in range(600):
        if strata:  # by whether a row is rather an event; of one stratum one half is known, of the other a tenth
            q = rng.random(400)
            y, stratum = (rng.random(400) < q).astype(float), (q > 0.5).astype(int)
            is_known = rng.random(400) < np.where(stratum, 0.5, 0.1)
            weights = (np.bincount(stratum) / np.bincount(stratum, is_known))[stratum][is_known]
            moments.append(mean_with_judges(y[is_known], weights, [], known_rows(is_known, stratum)))
        else:  # all rows of a cluster have one outcome
            cluster, q = np.repeat(np.arange(100), 4), np.repeat(rng.random(100), 4)
            y, is_known = np.repeat(rng.random(100) < q[::4], 4).astype(float), cluster < 40
            moments.append(mean_with_judges(y[is_known], np.ones(160), [q], known_rows(is_known), cluster))
    means, errors = np.array(moments).T
    assert means.mean() == pytest.approx(0.5, abs=0.015)
    # The standard deviation is known to 3 %; errors of clusters allow for outcomes that the judge is not seen to miss.
    assert means.std() == pytest.approx(np.sqrt((errors**2).mean()), rel=0.12)


def known_rows(is_known: Flags, stratum: Wholes | None = None) -> KnownRows:
    """Return what is known of rows that are a random part, or one of each stratum."""
    stratum = np.zeros(len(is_known), np.intp) if stratum is None else stratum
    return KnownRows(is_known, MappingProxyType({}), None, stratum, None, None)


UNBOUNDED = {0: (-np.inf, np.inf)}


def test_shares_are_those_of_least_squares() -> None:
    rng = np.random.default_rng(2)
    a, b, rest = rng.normal(size=(3, 4000))
    pilot = {("m", 0, 0): (2 + 0.4 * a + 0.3 * b + 0.1 * rest, np.stack([2 + 0.4 * a + 0.3 * b + 0.1 * rest - 0.5 * a,
                                                                        2 + 0.4 * a + 0.3 * b + 0.1 * rest - 0.5 * b]))}
    assert shares_of_judges(pilot, {}, UNBOUNDED) == {("m", 0, 0): (0.4, 0.3)}
    # As if the judges were wrong on more than outcomes show, they take part less.
    with_unseen = shares_of_judges(pilot, {("m", 0): 1.0}, UNBOUNDED)["m", 0, 0]
    assert with_unseen[0] < 0.4
    assert shares_of_judges(pilot, {("m", 0): np.inf}, UNBOUNDED) == {("m", 0, 0): (0.0, 0.0)}
    # Replicates of a share are compared on the logit scale, on which its limits are, unless one of them is at an end.
    of_share = {("m", 0, 0): tuple(expit(of) for of in pilot["m", 0, 0])}
    assert shares_of_judges(of_share, {}, {0: (0.0, 1.0)}) == {("m", 0, 0): (0.4, 0.3)}
    at_an_end = {key: tuple(np.where(of > 0.95, 1.0, of) for of in value) for key, value in of_share.items()}
    assert shares_of_judges(at_an_end, {}, {0: (0.0, 1.0)}) == shares_of_judges(at_an_end, {}, UNBOUNDED)
    useless = {("m", 0, 0): (rest, (rest + 0.5 * a)[None])}
    assert shares_of_judges(useless, {}, UNBOUNDED) == {("m", 0, 0): (0.0,)}
    undefined = {("m", 0, 0): (np.full(4, np.nan), np.full((1, 4), np.nan))}
    assert shares_of_judges(undefined, {}, UNBOUNDED) == {("m", 0, 0): (0.0,)}


def test_rows_that_are_read_part_by_part_are_refused(tmp_path: Path) -> None:
    rows().write_parquet(tmp_path / "rows.parquet")
    with pytest.raises(SpecError, match="looking for rows without an outcome needs all rows at once"):
        run(None, {"selected": "random"}, datasets={"rows": {"path": str(tmp_path / "rows.parquet")}},
            engine={"mode": "grid"})


def test_many_rows_without_an_outcome_are_drawn_in_random_groups_with_the_same_variance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frame = rows(n=4000, known=400)
    by_rows = run(frame, JUDGED, intervals={"replicates": 2000})
    monkeypatch.setattr(labels_compute, "ROWS", 1000)
    by_groups = run(frame, JUDGED, intervals={"replicates": 2000})
    assert (by_rows.intervals.draws[0].units, by_groups.intervals.draws[0].units) == (4000, 400 + 900)  # of 4 rows
    # Each width is known to 2 % by its 2,000 replicates.
    for (value, lower, upper), (same, low, high) in zip(
            values(by_rows).values(), values(by_groups).values(), strict=True):
        assert value == pytest.approx(same, abs=0.01)  # a share of the judge may be another
        assert upper - lower == pytest.approx(high - low, rel=0.12)


def test_a_judge_that_agrees_with_every_outcome_is_not_taken_for_right_everywhere() -> None:
    frame = rows(n=4000, known=100).with_columns(sure=(pl.col("all") == "bad").cast(float))
    row = run(frame, {"selected": "random", "judge": {"probability": "sure"}}).labelled[0]
    assert row.lower is not None
    assert row.upper is not None
    share = row.prevalence
    # As if it were wrong on one event and one non-event more, of which 100 random outcomes have so many.
    events = round(100 * row.alone)
    unseen = (1 / events + 1 / (100 - events)) * row.alone * (1 - row.alone) / 99
    assert row.upper - row.lower > 2 * 1.96 * np.sqrt(unseen + share * (1 - share) / 4000)


def test_case_weights_and_the_selection_weigh_together() -> None:
    frame = rows().with_columns(w=pl.col("person") + 1, chance=0.2 + 0.5 * pl.col("p"))
    results = run(frame, {"selected": {"probability": "chance"}}, weight={"column": "w"})
    known = frame.filter(pl.col("y").is_not_null())
    weight = (known["w"] / known["chance"]).to_numpy()
    events = (known["y"] == "bad").to_numpy()
    assert results.datasets[0].prevalence == pytest.approx(weight[events].sum() / weight.sum(), abs=1e-12)


def test_hits_in_every_row_that_was_chosen_are_no_proof_of_those_that_stand_for_many() -> None:
    frame = rows(n=2000, known=2000).with_columns(chance=pl.when(pl.col("p") >= 0.5).then(0.9).otherwise(0.02))
    drawn = np.random.default_rng(3).random(2000) < frame["chance"].to_numpy()
    missed = (frame["y"] == "bad").to_numpy() & (frame["p"].to_numpy() < 0.5)
    frame = frame.with_columns(y=pl.when(pl.Series(drawn & ~missed)).then("y"))  # no missed event was chosen
    row = next(row for row in run(frame, {"selected": {"probability": "chance"}}).rows if row.metric == "sensitivity")
    assert (row.value, row.method) == (1.0, "weighted_score")
    assert row.lower is not None
    assert row.lower < 1.0


def test_what_one_event_and_one_non_event_more_would_add() -> None:
    alike = unseen_errors(1.0, np.array([20.0, 80.0]), 100.0, None)
    assert alike == pytest.approx(1 / 20 + 1 / 80)
    # Of two levels out of three, the rarest counts against all others.
    assert unseen_errors(1.0, np.array([20.0, 30.0, 50.0]), 100.0, None) == pytest.approx(alike)
    assert unseen_errors(1.0, np.array([20.0, 80.0]), 100.0, 25) == pytest.approx(4**2 * alike)
    assert unseen_errors(1.0, np.array([20.0, 80.0]), 100.0, 400) == pytest.approx(alike)
    # Ten events of weight 1 and one of weight 10: one more of these adds nearly the variance again.
    assert unseen_errors(10.0, np.array([110.0, 1e9]), 100.0, None) == pytest.approx(100 / 110)
    assert unseen_errors(1.0, np.array([0.0, 80.0]), 80.0, None) == np.inf


def test_a_judge_whose_labels_add_nothing_is_not_said_to_be_worth_less_than_the_outcomes() -> None:
    results = run(rows(seed=5), {"selected": "random", "judge": {"probability": "noise"}})
    worth = {row.metric: row.worth for row in results.label_worth}
    text = next(found.text for found in results.findings if found.code == "labels-worth")
    card = " ".join(evalpipe.render(results, ["markdown"])["card.md"].decode().split())
    # Resamples of 120 rows tell an error in steps of whole rows; with 200 resamples three errors are 57 %.
    assert max(worth.values()) < 180
    assert text == "The labels of noise add nothing to the 120 outcomes for ROC AUC, Accuracy and Sensitivity."
    assert "no more" in card


def test_strata_that_are_known_of_all_rows_make_limits_narrower_than_probabilities() -> None:
    frame = rows(n=3000, known=3000).with_columns(t=pl.col("p") >= 0.5, chance=pl.when(
        pl.col("p") >= 0.5).then(0.9).otherwise(0.1))
    drawn = pl.Series(np.random.default_rng(8).random(3000) < frame["chance"].to_numpy())
    frame = frame.with_columns(y=pl.when(drawn).then("y"))
    widths = {}
    for name, selected in (("strata", {"strata": ["t"]}), ("chance", {"probability": "chance"})):
        row = next(row for row in run(frame, {"selected": selected}, metrics=["specificity"]).rows if row.slice is None)
        assert row.method == "weighted_score"
        widths[name] = row.upper - row.lower
    # In simulations of such rows 0.033 and 0.045; each is known to 5 % by its 200 resamples.
    assert widths["strata"] < 0.85 * widths["chance"], widths


def test_a_judge_is_held_wrong_on_whole_clusters_of_rows_with_an_outcome() -> None:
    frame = rows(n=2000, known=2000).with_columns(person=pl.int_range(2000) // 5)
    wrong = pl.Series(np.random.default_rng(6).random(400) < 0.02).gather(frame["person"])
    label = pl.when(wrong).then(1 - (pl.col("y") == "bad").cast(float)).otherwise((pl.col("y") == "bad").cast(float))
    frame = frame.with_columns(judge=label).with_columns(y=pl.when(pl.col("person") < 40).then("y"))
    shares = {}
    for name, keys in (("rows", {}), ("clusters", {"cluster": "person"})):
        worth = run(frame, JUDGED, **keys).label_worth
        shares[name] = np.mean([share for row in worth for share in row.shares.values()])
    # 40 of the 400 clusters have an outcome, and few of these show the judge wrong.
    assert shares["clusters"] < 0.8 * shares["rows"], shares
