"""Measures at a prevalence through the whole pipeline: values, limits, priors that are drawn, and what is undefined."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn import metrics as sk

from engine.runs import BOTH, intervals, numbers, people, read_sample, run
from evalpipe.intervals.resampling import Design, replicate_weights, stream
from evalpipe.results import Estimate, Results

DECLARED = {"metric": "precision", "prevalence": "declared"}
WORDS: dict[str, Any] = {
    "task": "multiclass", "outcome": {"column": "y", "levels": ["a", "b", "c"]},
    "models": {"m": {"probabilities": "p_{level}"}},
}


@cache
def words(n: int = 300) -> pl.DataFrame:
    generator = np.random.default_rng(8)
    truth = generator.choice(3, n, p=[0.5, 0.3, 0.2])
    chances = generator.dirichlet([1, 1, 1], n)
    chances[np.arange(n), truth] += 0.4
    chances = chances / chances.sum(axis=1, keepdims=True)
    named = {f"p_{level}": chances[:, k] for k, level in enumerate("abc")}
    return pl.DataFrame({"y": ["abc"[k] for k in truth], **named})


def rows(results: Results, metric: str, prevalence: Any = None, **keys: Any) -> list[Estimate]:
    return [
        row for row in results.rows
        if row.metric == metric and row.params.get("prevalence") == prevalence
        and all(getattr(row, key) == value for key, value in keys.items())
    ]


def only(results: Results, metric: str, prevalence: Any = None, **keys: Any) -> Estimate:
    found = rows(results, metric, prevalence, **keys)
    assert len(found) == 1
    return found[0]


ORACLES: dict[str, Any] = {
    "accuracy": lambda y, p, c, w: sk.accuracy_score(y, c, sample_weight=w),
    "balanced_accuracy": lambda y, p, c, w: sk.balanced_accuracy_score(y, c, sample_weight=w),
    "precision": lambda y, p, c, w: sk.precision_score(y, c, sample_weight=w),
    "sensitivity": lambda y, p, c, w: sk.recall_score(y, c, sample_weight=w),
    "f1": lambda y, p, c, w: sk.f1_score(y, c, sample_weight=w),
    "kappa": lambda y, p, c, w: sk.cohen_kappa_score(y, c, sample_weight=w),
    "mcc": lambda y, p, c, w: sk.matthews_corrcoef(y, c, sample_weight=w),
    "brier": lambda y, p, c, w: sk.brier_score_loss(y, p, sample_weight=w),
    "log_loss": lambda y, p, c, w: sk.log_loss(y, p, sample_weight=w),
    "roc_auc": lambda y, p, c, w: sk.roc_auc_score(y, p, sample_weight=w),
    "average_precision": lambda y, p, c, w: sk.average_precision_score(y, p, sample_weight=w),
    "critical_success_index": lambda y, p, c, w: sk.jaccard_score(y, c, sample_weight=w),
}


def test_scikit_learn_agrees_under_weights_of_the_classes() -> None:
    """Tolerance 1e-9: the same sums, in another order."""
    frame = people(400)
    found = run(frame, metrics=[{"metric": name, "prevalence": [0.1, 0.8]} for name in ORACLES],
                weight="heavy", intervals={"method": "none"})
    y, p, w = frame["y"].to_numpy(), np.clip(frame["p"].to_numpy(), 1e-15, 1 - 1e-15), frame["heavy"].to_numpy()
    for share in (0.1, 0.8):
        each = w * np.where(y == 1, share / w[y == 1].sum(), (1 - share) / w[y == 0].sum())
        for name, oracle in ORACLES.items():
            expected = oracle(y, p, (p >= 0.5).astype(int), each)
            assert only(found, name, share).value == pytest.approx(expected, rel=1e-9), name


@pytest.mark.parametrize("average", ["macro", "macro_weighted", "micro"])
def test_scikit_learn_agrees_on_averages_over_levels(average: str) -> None:
    frame, prior = words(), {"a": 0.2, "b": 0.7, "c": 0.1}
    found = run(frame, **WORDS, intervals={"method": "none"}, metrics=[
        {"metric": "f1", "average": average, "prevalence": prior},
        {"metric": "log_loss", "prevalence": prior}, {"metric": "kappa", "prevalence": prior}])
    chances = frame.select("p_a", "p_b", "p_c").to_numpy()
    y = np.array(["abc".index(level) for level in frame["y"]])
    w = np.array([0.2, 0.7, 0.1])[y] / np.bincount(y)[y]
    name = {"macro_weighted": "weighted"}.get(average, average)
    shown = "a 0.2, b 0.7, c 0.1"
    expected = {
        "f1": sk.f1_score(y, chances.argmax(1), average=name, sample_weight=w),
        "log_loss": sk.log_loss(y, chances, sample_weight=w),
        "kappa": sk.cohen_kappa_score(y, chances.argmax(1), sample_weight=w),
    }
    for metric, value in expected.items():
        assert only(found, metric, shown).value == pytest.approx(value, rel=1e-9)


def test_the_row_of_each_prevalence_is_that_of_a_spec_that_names_it_alone() -> None:
    listed = run(people(200), prevalence=0.3, intervals=intervals(100),
                 metrics=[{"metric": "brier", "prevalence": ["sample", "declared", 0.05]}])
    for share, asked in ((None, "sample"), (0.3, 0.3), (0.05, 0.05)):
        alone = run(people(200), intervals=intervals(100), metrics=[{"metric": "brier", "prevalence": asked}])
        assert only(listed, "brier", share) == only(alone, "brier", share)


@pytest.mark.parametrize(("metric", "method"), [
    ("precision", "percentile"), ("accuracy", "percentile"), ("roc_auc", "delong"), ("sensitivity", "exact"),
    ("average_precision", "bootstrap_logit"), ("ece", "bootstrap_noncentral"),
])
def test_limits_in_closed_form_are_kept_just_where_the_prevalence_changes_nothing(metric: str, method: str) -> None:
    found = run(people(300), prevalence=0.2, metrics=[{"metric": metric, "prevalence": "declared"}],
                intervals=intervals(100))
    assert only(found, metric, 0.2).method == method


def test_replicates_are_reweighed_to_the_prevalence_each_by_itself() -> None:
    """The limits are the quantiles of precision with each replicate's own sensitivity and specificity; to 1e-9."""
    frame = people(300)
    found = only(run(frame, metrics=[{"metric": "precision", "prevalence": 0.15}], intervals=intervals(500)),
                 "precision", 0.15)
    sample = read_sample(frame)
    hit, truth, drawn = np.asarray(sample.models["p"].predicted), sample.truth, []
    for weights in replicate_weights(Design(300), 500, 0, "d"):
        true = (weights * (hit & truth)).sum(1) / (weights * truth).sum(1)
        false = (weights * (hit & ~truth)).sum(1) / (weights * ~truth).sum(1)
        drawn.append(0.15 * true / (0.15 * true + 0.85 * false))
    expected = tuple(np.quantile(np.concatenate(drawn), [0.025, 0.975]))
    assert (found.lower, found.upper) == pytest.approx(expected, rel=1e-9)


def beta(**keys: Any) -> Results:
    metrics = ["ppv", "npv", DECLARED, {"metric": "npv_sample", "prevalence": "declared"},
               {"metric": "brier", "prevalence": ["sample", "declared", 0.4]}]
    given = {"prevalence": {"beta": [20.0, 60.0], "source": "a survey"}, "metrics": metrics,
             "intervals": intervals(2000)}
    return run(people(400), **given | keys)


def test_a_beta_prior_is_drawn_by_every_replicate_and_its_mean_gives_the_value() -> None:
    """Against binomial draws of both classes from scipy and a loop: 200,000 draws.

    The limits may differ by 4.5 Monte-Carlo errors of 2,000 replicates, which the results state.
    """
    found = beta()
    ppv = only(found, "ppv", 0.25)
    assert ppv.method == "percentile"
    assert only(found, "precision", 0.25).value == pytest.approx(ppv.value, rel=1e-12)
    assert (only(found, "precision", 0.25).lower, ppv.upper) == pytest.approx(
        (ppv.lower, only(found, "precision", 0.25).upper), rel=1e-9)
    (tp, fn), (fp, tn) = found.confusion[0].counts
    generator, n = np.random.default_rng(2), 200_000
    events = generator.binomial(400, (tp + fn) / 400, n)
    se = generator.binomial(events, tp / (tp + fn)) / events
    sp = generator.binomial(400 - events, tn / (fp + tn)) / (400 - events)
    prior = generator.beta(20, 60, n)
    simulated = {
        "ppv": se * prior / (se * prior + (1 - sp) * (1 - prior)),
        "npv": sp * (1 - prior) / (sp * (1 - prior) + (1 - se) * prior),
    }
    for name, drawn in simulated.items():
        row = only(found, name, 0.25)
        assert row.lower is not None
        assert row.upper is not None
        assert row.monte_carlo_error is not None
        assert row.lower == pytest.approx(np.quantile(drawn, 0.025), abs=4.5 * row.monte_carlo_error)
        assert row.upper == pytest.approx(np.quantile(drawn, 0.975), abs=4.5 * row.monte_carlo_error)
        narrow = only(beta(prevalence=0.25), name, 0.25)
        assert narrow.method == "logit"
        assert narrow.upper is not None
        assert narrow.lower is not None
        assert narrow.upper - narrow.lower < 0.8 * (row.upper - row.lower)


def test_a_number_beside_a_beta_prior_stays_a_number() -> None:
    found = run(people(300), prevalence={"beta": [2.0, 8.0]}, intervals=intervals(300), metrics=[
        {"metric": "ppv", "prevalence": 0.4}, {"metric": "precision", "prevalence": [0.4, "declared"]}])
    assert only(found, "ppv", 0.4).method == "logit"
    wide, narrow = only(found, "precision", 0.2), only(found, "precision", 0.4)
    plain = run(people(300), intervals=intervals(300), metrics=[{"metric": "precision", "prevalence": 0.4}])
    assert narrow == only(plain, "precision", 0.4)
    assert wide.upper is not None
    assert wide.lower is not None
    assert wide.upper - wide.lower > 0.3


def test_models_slices_and_measures_share_the_prior_that_is_drawn() -> None:
    """Of one model against itself under another name, all differences are zero."""
    twice = {"p": {"probability": "p"}, "q": {"probability": "p"}}
    found = beta(models=twice, compare={"baseline": "p"}, slices=["s"])
    at = [row for row in found.comparisons if row.params.get("prevalence") == 0.25]
    assert len(at) >= 5
    assert {(row.lower, row.difference, row.upper) for row in at} == {(0.0, 0.0, 0.0)}


def test_threads_and_the_order_of_rows_change_nothing() -> None:
    one = beta(engine={"workers": 1}, slices=["s"], models=BOTH)
    many = beta(engine={"workers": 3}, slices=["s"], models=BOTH)
    assert numbers(one) == numbers(many)
    frame, keys = people(300), {"metrics": [DECLARED, "ppv"], "prevalence": {"beta": [3.0, 9.0]},
                                "intervals": intervals(200)}
    shuffled = frame.sample(fraction=1, shuffle=True, seed=3)
    assert [r.model_dump() for r in run(frame, **keys).rows] == [r.model_dump() for r in run(shuffled, **keys).rows]


def test_three_batches_of_a_block_take_the_priors_that_one_batch_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = beta()
    monkeypatch.setattr("evalpipe.intervals.resampling.HELD", 400 * 25)
    monkeypatch.setattr("evalpipe.engine.draws.CELLS", 900)
    assert numbers(beta()) == numbers(whole)


def test_a_grid_gives_the_limits_of_exact_replicates_at_a_prevalence() -> None:
    """Within 5 Monte-Carlo errors of 400 replicates, which differ in the draw."""
    keys: dict[str, Any] = {"prevalence": {"beta": [50.0, 450.0]}, "intervals": intervals(400, method="percentile"),
                            "metrics": [{"metric": name, "prevalence": ["declared", 0.4]}
                                        for name in ("precision", "brier", "log_loss", "average_precision", "mcc")]}
    frame = people(10_000, digits=9)
    exact, grid = (run(frame, **keys, engine={"mode": mode}) for mode in ("exact", "grid"))
    assert grid.intervals.units["d"] < 10_000
    for one, other in zip(exact.rows, grid.rows, strict=True):
        assert one.value == other.value
        error = max(one.monte_carlo_error or 0, other.monte_carlo_error or 0)
        assert (other.lower, other.upper) == pytest.approx((one.lower, one.upper), abs=5 * error), one.metric


def test_a_dirichlet_prior_of_levels_against_a_plain_loop() -> None:
    """Limits of accuracy are quantiles of the drawn shares times the recalls of each replicate, and those of the ppv of
    class c go by its own drawn share; to 1e-9."""
    shape = {"a": 4.0, "b": 9.0, "c": 7.0}
    frame = words()
    found = run(frame, **WORDS, prevalence={"dirichlet": shape}, intervals={"replicates": 200},
                metrics=[{"metric": "accuracy", "prevalence": "declared"},
                         {"metric": "ppv", "average": ["macro", "none"]}])
    row = only(found, "accuracy", "a 0.2, b 0.45, c 0.35")
    sample = read_sample(frame, **WORDS)
    drawn, of_c = [], []
    picked = np.asarray(sample.models["m"].predicted) == 2
    for number, size in enumerate((64, 64, 64, 8)):
        priors = stream(0, "prior", "d", number).dirichlet([4.0, 9.0, 7.0], size)
        counts = stream(0, "bootstrap", "d", number)
        for prior in priors:
            w = np.bincount(counts.integers(0, 300, 300), minlength=300)
            right = np.asarray(sample.models["m"].predicted) == sample.truth
            recalls = [(w * right)[sample.truth == k].sum() / w[sample.truth == k].sum() for k in range(3)]
            drawn.append(float(np.dot(prior, recalls)))
            c = sample.truth == 2
            hit = prior[2] * (w * picked)[c].sum() / w[c].sum()
            of_c.append(hit / (hit + (1 - prior[2]) * (w * picked)[~c].sum() / w[~c].sum()))
    assert (row.lower, row.upper) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])), rel=1e-9)
    ppv = only(found, "ppv", 0.35, class_="c")
    assert (ppv.lower, ppv.upper) == pytest.approx(tuple(np.quantile(of_c, [0.025, 0.975])), rel=1e-9)
    assert {r.method for r in found.rows} == {"percentile"}
    assert [r.params["prevalence"] for r in found.rows if r.class_ is not None] == [0.2, 0.45, 0.35]


def test_without_rows_of_a_level_that_has_a_prior_there_is_no_value_and_the_reason() -> None:
    frame = words().filter(pl.col("y") != "b")
    found = run(frame, **WORDS, intervals={"method": "none"}, metrics=[
        {"metric": "accuracy", "prevalence": [{"a": 0.5, "b": 0.2, "c": 0.3}, {"a": 0.5, "b": 0, "c": 0.5}]}])
    first, second = found.rows
    assert (first.value, first.status) == (None, "undefined")
    assert first.reason == "no rows, or no row of a level that has a prior"
    assert second.value is not None


def test_no_information_at_a_prevalence_is_that_of_rows_weighed_so() -> None:
    """Exact where the measure is linear: the precision of a model that knows nothing is the prevalence."""
    found = run(people(400), no_information=True, intervals={"method": "none"}, metrics=[
        {"metric": name, "prevalence": 0.07} for name in ("precision", "average_precision", "accuracy", "sensitivity")])
    blind = {row.metric: row.no_information for row in found.rows}
    assert blind["precision"] == pytest.approx(0.07, rel=1e-9)
    assert blind["average_precision"] == pytest.approx(0.07, abs=0.02)  # a mean over random pairings, which lies higher
    frame = people(400)
    y, c = frame["y"].to_numpy() == 1, frame["p"].to_numpy() >= 0.5
    flagged = 0.07 * c[y].mean() + 0.93 * c[~y].mean()
    assert blind["sensitivity"] == pytest.approx(flagged, rel=1e-9)
    assert blind["accuracy"] == pytest.approx(0.07 * flagged + 0.93 * (1 - flagged), rel=1e-9)


def test_the_declared_prior_and_the_observed_shares_are_in_the_results() -> None:
    found = beta()
    assert found.prevalence is not None
    assert (found.prevalence.value, found.prevalence.source) == (0.25, "a survey")
    expected = stats.beta(20, 60).interval(0.95)
    assert found.prevalence.limits["1"] == pytest.approx(expected, rel=1e-9)
    (observed,) = found.observed
    events = int(people(400)["y"].sum())
    reference = stats.binomtest(events, 400).proportion_ci(0.95)
    assert (observed.level, observed.value, observed.method) == ("1", events / 400, "exact")
    assert (observed.lower, observed.upper) == pytest.approx((reference.low, reference.high), rel=1e-9)


@pytest.mark.parametrize("keys", [{"cluster": "who"}, {"weight": "heavy"}], ids=["clusters", "weights"])
def test_the_limits_of_observed_shares_hold_clusters_and_weights(keys: dict[str, Any]) -> None:
    """About as wide as percentiles of a bootstrap of 4,000: within a tenth of the width."""
    frame = people(600).with_columns(y=pl.col("y") | (pl.col("who") % 3 == 0).cast(pl.Int64))
    (observed,) = run(frame, **keys, metrics=["brier"], intervals=intervals(100)).observed
    generator, y = np.random.default_rng(1), frame["y"].to_numpy()
    w = frame["heavy"].to_numpy() if "weight" in keys else np.ones(600)
    units = frame["who"].to_numpy() if "cluster" in keys else np.arange(600)
    tops, bottoms = (np.bincount(units, values) for values in (w * y, w))
    draws = generator.integers(0, len(tops), (4000, len(tops)))
    lower, upper = np.quantile(tops[draws].sum(1) / bottoms[draws].sum(1), [0.025, 0.975])
    assert observed.lower is not None
    assert observed.upper is not None
    assert observed.upper - observed.lower == pytest.approx(upper - lower, rel=0.1)
    assert observed.value == pytest.approx((w * y).sum() / w.sum(), rel=1e-12)


def test_predictive_values_at_every_prevalence_are_those_of_ppv_and_npv() -> None:
    """Value and logit limits of the measures at 0.05, 0.3 and 0.9, each from a run of its own; to 1e-9."""
    frame = people(300)
    curve = next(c for c in run(frame, metrics=["brier"], intervals=intervals(100)).curves
                 if c.curve == "predictive_values")
    assert (curve.points.prevalence[0], curve.points.prevalence[-1], len(curve.points.ppv)) == (0.0, 1.0, 101)
    for place in (5, 30, 90):
        found = run(frame, prevalence=place / 100, metrics=["ppv", "npv"], intervals=intervals(100))
        for name in ("ppv", "npv"):
            row = only(found, name, place / 100)
            drawn = [curve.points.columns[f"{name}{end}"][place] for end in ("", "_lower", "_upper")]
            assert drawn == pytest.approx([row.value, row.lower, row.upper], rel=1e-9)
    assert [curve.points.columns[name][0] for name in ("ppv", "npv")] == [0.0, 1.0]
    assert [curve.points.columns[name][-1] for name in ("ppv", "npv")] == [1.0, 0.0]


def test_predictive_values_have_no_limits_where_rows_are_not_alike() -> None:
    for keys in ({"cluster": "who"}, {"weight": "heavy"}, {"intervals": {"method": "none"}}):
        found: dict[str, Any] = {"metrics": ["brier"], "intervals": intervals(100), "prevalence": 0.2} | keys
        curve = next(c for c in run(people(300), **found).curves if c.curve == "predictive_values")
        assert set(curve.points.ppv_lower) == {None}
        assert curve.notes.level is None
        assert curve.notes.declared == 0.2


def test_lines_of_predictive_values_are_bayes_rule() -> None:
    found = run(people(100), prevalence=0.1, metrics=["brier"], intervals={"method": "none"}).prevalence
    assert found is not None
    assert len(found.lines) == 10
    for line in found.lines:
        for rate, ppv, npv in zip(*(line.points[name] for name in ("rate", "ppv", "npv")), strict=True):
            assert rate is not None
            se, sp = (rate, line.at) if line.by == "sensitivity" else (line.at, rate)
            flagged, cleared = se * 0.1 + (1 - sp) * 0.9, sp * 0.9 + (1 - se) * 0.1
            assert ppv == (None if flagged == 0 else pytest.approx(se * 0.1 / flagged, rel=1e-12))
            assert npv == (None if cleared == 0 else pytest.approx(sp * 0.9 / cleared, rel=1e-12))


def test_the_worst_slice_at_a_prevalence_is_reweighed_within_itself() -> None:
    frame = people(600)
    found = run(frame, metrics=["brier"], intervals=intervals(100), worst_slices={
        "metric": {"metric": "precision", "prevalence": 0.1}, "columns": ["s", "h"], "depth": 1, "top": 2})
    assert {row.params["prevalence"] for row in found.worst_slices} == {0.1}
    for row in found.worst_slices:
        ((column, label),) = row.slice.items()
        part = frame.filter(pl.col(column) == label)
        y, c = part["y"].to_numpy() == 1, part["p"].to_numpy() >= 0.5
        expected = 0.1 * c[y].mean() / (0.1 * c[y].mean() + 0.9 * c[~y].mean())
        assert row.value == pytest.approx(expected, rel=1e-9)


def test_a_disparity_with_a_name_of_its_own_is_that_of_the_sample() -> None:
    """Demographic parity compares shares of the rows as they are, whatever prevalence is asked for beside."""
    asked: dict[str, Any] = {"slices": ["h"], "slice_rules": {"disparities": ["demographic_parity"]},
                             "intervals": {"method": "none"}}
    plain = run(people(300), metrics=["detection_prevalence"], **asked)
    beside = run(people(300), metrics=[{"metric": "detection_prevalence", "prevalence": 0.05}], **asked)
    assert beside.disparities[0].difference == plain.disparities[0].difference


def test_models_are_compared_at_a_prevalence_by_the_bootstrap() -> None:
    found = run(people(400), models=BOTH, compare={"baseline": "q"}, intervals=intervals(200), metrics=[
        {"metric": name, "prevalence": ["sample", 0.1]} for name in ("accuracy", "brier", "roc_auc")])
    tests = {(row.metric, row.params.get("prevalence")): row.test for row in found.comparisons}
    assert tests == {
        ("accuracy", None): "mcnemar", ("accuracy", 0.1): "bootstrap", ("brier", None): "diebold_mariano",
        ("brier", 0.1): "bootstrap", ("roc_auc", None): "delong", ("roc_auc", 0.1): "delong"}
    for row in found.comparisons:
        values = {e.model: e.value for e in found.rows if (e.metric, e.params) == (row.metric, row.params)}
        assert row.difference == pytest.approx((values["p"] or 0) - (values["q"] or 0), abs=1e-12)


def test_clusters_that_are_all_alike_tell_no_more_than_their_rows() -> None:
    frame = pl.DataFrame({"y": [0, 1] * 30, "p": [0.2, 0.7] * 30, "who": [i // 2 for i in range(60)]})
    (observed,) = run(frame, cluster="who", metrics=["brier"], intervals=intervals(100)).observed
    reference = stats.binomtest(30, 60).proportion_ci(0.95)
    assert (observed.lower, observed.upper) == pytest.approx((reference.low, reference.high), rel=1e-9)
