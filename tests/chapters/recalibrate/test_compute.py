"""Variants of models: what they are fitted on, what they are judged on, and how they differ from their originals."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import brier_score_loss, log_loss

from engine.runs import BOTH, intervals, numbers, people, run
from evalpipe.calibration import Training, registry
from evalpipe.chapters.recalibrate.compute import changed, fold_of
from evalpipe.data.catalog import look
from evalpipe.data.read import read
from evalpipe.errors import DataError
from evalpipe.plan.resolve import plan
from evalpipe.plan.sources import sources
from evalpipe.results import Results
from evalpipe.run import load

DATASETS = {"d": {"path": "memory"}, "cal": {"path": "memory", "role": "calibrate"}}
PLAIN = {"method": "none"}
MEASURES = ["accuracy", "brier", "log_loss", "roc_auc"]


def frames(n: int = 400, digits: int = 3) -> dict[str, pl.DataFrame]:
    """Return rows to evaluate and others to calibrate on; both models are too sure of themselves."""
    found = {}
    for seed, name in enumerate(("d", "cal")):
        frame = people(n, seed, digits)
        odds = [(pl.col(c).clip(0.001, 0.999) / (1 - pl.col(c).clip(0.001, 0.999))).log() for c in ("p", "q")]
        found[name] = frame.with_columns(**{
            c: (1 / (1 + (-2 * odd - 0.5).exp())).round(digits + 2) for c, odd in zip(("p", "q"), odds, strict=True)})
    return found


def recalibrated(given: dict[str, pl.DataFrame], methods: list[Any], **keys: Any) -> Results:
    asked = {"datasets": DATASETS, "recalibrate": {"fit_on": "cal", "methods": methods}, "intervals": PLAIN,
             "metrics": MEASURES}
    return run(given, **asked | keys)


def crossed(frame: pl.DataFrame, folds: int, methods: list[Any], **keys: Any) -> Results:
    asked = {"recalibrate": {"fit_on": {"folds": folds}, "methods": methods}, "intervals": PLAIN, "metrics": MEASURES}
    return run(frame, **asked | keys)


def value(results: Results, metric: str, variant: str, model: str = "p") -> float:
    (row,) = [e for e in results.rows if (e.metric, e.variant, e.model, e.slice) == (metric, variant, model, None)]
    assert row.value is not None
    return row.value


def by_hand(method: str, frame: pl.DataFrame, column: str = "p", **options: Any) -> Any:
    """Fit a recalibrator on the rows of a frame."""
    y, p = frame["y"].to_numpy() == 1, frame[column].to_numpy()
    return registry[method].fit(Training(y, p, np.ones(len(y)), lambda _: ()), **options)


@pytest.mark.parametrize("method", ["logistic", "isotonic", "beta"])
@pytest.mark.parametrize("model", ["p", "q"])
def test_a_variant_is_fitted_on_the_calibration_rows_and_judged_on_the_others(method: str, model: str) -> None:
    given = frames()
    results = recalibrated(given, [method], models=BOTH)
    y, made = given["d"]["y"].to_numpy(), by_hand(method, given["cal"], model)(given["d"][model].to_numpy())
    assert value(results, "brier", method, model) == pytest.approx(brier_score_loss(y, made), rel=1e-12)
    assert value(results, "accuracy", method, model) == pytest.approx(((made >= 0.5) == y).mean(), rel=1e-12)
    plain = run(given["d"], models=BOTH, intervals=PLAIN, metrics=MEASURES)
    assert value(results, "brier", "original", model) == value(plain, "brier", "original", model)


def test_recalibration_mends_what_is_too_sure() -> None:
    results = recalibrated(frames(2000), ["logistic"], intervals=intervals(400))
    (row,) = [c for c in results.comparisons if c.metric == "log_loss"]
    assert (row.model, row.variant, row.baseline, row.baseline_variant) == ("p", "logistic", "p", "original")
    assert row.difference == value(results, "log_loss", "logistic") - value(results, "log_loss", "original")
    assert (row.verdict, row.test) == ("better", "diebold_mariano")
    (fitted,) = results.recalibration
    assert (fitted.fitted_on, fitted.folds, fitted.n, fitted.clipped) == ("cal", None, 2000, 0)
    assert fitted.parameters["slope"] == pytest.approx(0.5, abs=0.1)  # the log odds were doubled; two standard errors


def test_differences_of_variants_are_of_the_same_draws() -> None:
    """Both are resampled alike: the error of the difference is that of the replicates' differences."""
    from scipy.stats import t

    from evalpipe.intervals.bootstrap import bootstrap_error
    from evalpipe.intervals.resampling import Design, replicate_weights

    given, measures = frames(300), ["log_likelihood"]
    results = recalibrated(given, ["logistic"], intervals=intervals(300), engine={"mode": "exact"}, metrics=measures)
    loaded = load({"evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1},
                   "datasets": DATASETS, "models": {"p": {"probability": "p"}}, "metrics": measures,
                   "recalibrate": {"fit_on": "cal", "methods": ["logistic"]}})
    planned = plan(loaded, look(sources(loaded), given))
    sample = changed(planned, read(planned, given))[0][0]
    weights = np.concatenate(list(replicate_weights(Design(sample.n), 300, 0, "d")))
    chances = [sample.models[name].probability for name in ("p+logistic", "p")]
    logs = [np.log(np.where(sample.truth, chance, 1 - chance)) for chance in chances if chance is not None]
    drawn = (weights * (logs[0] - logs[1])).sum(axis=1)
    (row,) = results.comparisons
    reach = t.ppf(0.975, 299) * bootstrap_error(drawn)
    assert row.test == "bootstrap"
    assert (row.lower, row.upper) == pytest.approx((row.difference - reach, row.difference + reach), rel=1e-10)


def test_cross_fitted_rows_are_recalibrated_by_the_other_folds_alone() -> None:
    frame = frames()["d"]
    loaded = load({"evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1},
                   "datasets": {"d": {"path": "memory"}}, "models": {"p": {"probability": "p"}}, "metrics": ["brier"],
                   "recalibrate": {"fit_on": {"folds": 5}, "methods": ["logistic"]}, "seed": 3})
    planned = plan(loaded, look(sources(loaded), {"d": frame}))
    sample = read(planned, {"d": frame})[0]
    made = changed(planned, (sample,))[0][0].models["p+logistic"]
    folds, p = fold_of(planned, sample, 5), sample.models["p"].probability
    assert made.probability is not None
    assert p is not None
    assert sorted(np.bincount(folds)) == [80] * 5
    for fold in range(5):
        kept, inside = folds != fold, folds == fold
        one = registry["logistic"].fit(Training(sample.truth[kept], p[kept], np.ones(kept.sum()), lambda _: ()))
        assert (made.probability[inside] == one(p[inside])).all()


def test_a_cluster_is_in_one_fold() -> None:
    frame = frames()["d"]
    results = crossed(frame, 5, ["isotonic"], cluster="who")
    loaded = load({"evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1},
                   "datasets": {"d": {"path": "memory"}}, "models": {"p": {"probability": "p"}}, "cluster": "who",
                   "recalibrate": {"fit_on": {"folds": 5}, "methods": ["isotonic"]}})
    planned = plan(loaded, look(sources(loaded), {"d": frame}))
    sample = read(planned, {"d": frame})[0]
    folds, cluster = fold_of(planned, sample, 5), sample.cluster
    assert cluster is not None
    assert all(len(set(folds[cluster == one])) == 1 for one in np.unique(cluster))
    assert len(set(folds)) == 5
    assert results.recalibration[0].folds == 5


def test_rows_that_lack_events_outside_a_fold_are_named_by_it() -> None:
    first = pl.int_range(pl.len()) < 20
    frame = frames()["d"].with_columns(
        y=first.cast(int), who=pl.when(first).then(pl.lit("with events")).otherwise(pl.col("who")))
    with pytest.raises(DataError) as error:
        crossed(frame, 2, ["logistic"], cluster="who")
    (problem,) = error.value.problems
    assert (problem.code, problem.message, problem.hint) == (
        "cannot-recalibrate",
        "'logistic' of model 'p' cannot be fitted on the rows of dataset 'd' outside fold 1: no row is an event",
        "remove the method, or fit it on other rows")


def test_cross_fitting_does_not_see_the_row_itself() -> None:
    """Isotonic steps fitted and judged on the same rows of pure noise gain; cross-fitted they must not."""
    generator = np.random.default_rng(5)
    frame = pl.DataFrame({"y": generator.integers(0, 2, 300), "p": generator.random(300)})
    same = by_hand("isotonic", frame)(frame["p"].to_numpy())
    honest = crossed(frame, 10, ["isotonic"])
    assert brier_score_loss(frame["y"], same) < 0.25
    assert value(honest, "brier", "isotonic") > 0.25


@pytest.mark.parametrize("fit_on", ["cal", {"folds": 4}])
def test_threads_and_the_order_of_rows_change_no_byte(fit_on: Any) -> None:
    given = frames(200)
    asked = {
        "recalibrate": {"fit_on": fit_on, "methods": ["logistic", {"method": "isotonic_bagged", "bags": 20}]},
        "intervals": intervals(130), "datasets": DATASETS if fit_on == "cal" else {"d": {"path": "memory"}},
        "metrics": MEASURES, "slices": ["s"],
    }
    kept = given if fit_on == "cal" else {"d": given["d"]}
    first = numbers(run(kept, engine={"workers": 1}, **asked))
    shuffled = {name: frame.sample(fraction=1.0, shuffle=True, seed=1) for name, frame in kept.items()}
    assert numbers(run(shuffled, engine={"workers": 2}, **asked)) == first


@pytest.mark.parametrize("fit_on", ["cal", {"folds": 4}])
def test_limits_of_variants_on_a_grid_are_those_of_rows(fit_on: Any) -> None:
    """Within 5 Monte-Carlo errors of both; a variant follows the cells of its original's score and the fold."""
    given = frames(4000, 6)
    kept = given if fit_on == "cal" else {"d": given["d"]}
    asked = {"recalibrate": {"fit_on": fit_on, "methods": ["logistic", "isotonic"]}, "intervals": intervals(1000),
             "datasets": DATASETS if fit_on == "cal" else {"d": {"path": "memory"}}, "metrics": MEASURES}
    exact, grid = (run(kept, engine={"mode": mode}, **asked) for mode in ("exact", "grid"))
    assert grid.intervals.units["d"] < 4000
    for one, other in zip(exact.rows, grid.rows, strict=True):
        assert one.value == other.value
        if one.monte_carlo_error is not None:
            noise = 5 * np.hypot(one.monte_carlo_error, other.monte_carlo_error or 0)
            assert (one.lower, one.upper) == pytest.approx((other.lower, other.upper), abs=noise)
    for left, right in zip(exact.comparisons, grid.comparisons, strict=True):
        width = (left.upper or 0) - (left.lower or 0)
        assert (left.lower, left.upper) == pytest.approx((right.lower, right.upper), abs=0.25 * width + 1e-12)


def test_distinct_predictions_are_counted_before_and_after() -> None:
    given = frames(300)
    results = recalibrated(given, ["isotonic"])
    made = by_hand("isotonic", given["cal"])(given["d"]["p"].to_numpy())
    (applied,) = results.recalibration[0].applied
    assert (applied.distinct_before, applied.distinct_after) == (given["d"]["p"].n_unique(), len(np.unique(made)))


def test_probabilities_of_zero_and_one_are_counted() -> None:
    given = frames(300)
    edge = pl.when(pl.int_range(pl.len()) < 3).then(0.0).when(pl.int_range(pl.len()) < 5).then(1.0)
    given = {name: frame.with_columns(p=edge.otherwise(pl.col("p"))) for name, frame in given.items()}
    (fitted,) = recalibrated(given, ["logistic"]).recalibration
    assert (fitted.clipped, fitted.applied[0].clipped) == (5, 5)


def test_levels_are_recalibrated_and_their_classes_anew() -> None:
    generator = np.random.default_rng(1)
    given = {}
    for name in ("d", "cal"):
        chances = generator.dirichlet([1, 1, 1], 500)
        truth = [generator.choice(3, p=row) for row in chances]
        sure = chances**3 / (chances**3).sum(axis=1, keepdims=True)
        columns = {f"p_{c}": sure[:, i] for i, c in enumerate("abc")}
        given[name] = pl.DataFrame({"y": ["abc"[t] for t in truth]} | columns)
    keys = {"task": "multiclass", "outcome": {"column": "y", "levels": list("abc")},
            "models": {"p": {"probabilities": "p_{level}"}}, "metrics": ["log_loss", "accuracy", "brier"]}
    results = recalibrated(given, ["temperature", "multinomial", "one_vs_rest"], **keys)
    temperature = results.recalibration[0].parameters["temperature"]
    assert temperature == pytest.approx(3, rel=0.15)  # the power taken; 15 % are three standard errors of 500 rows
    truth = ["abc".index(y) for y in given["d"]["y"]]
    table = given["d"].select("p_a", "p_b", "p_c").to_numpy() ** (1 / temperature)
    table /= table.sum(axis=1, keepdims=True)
    assert value(results, "log_loss", "temperature") == pytest.approx(log_loss(truth, table), rel=1e-9)
    assert value(results, "accuracy", "temperature") == value(results, "accuracy", "original")
    for method in ("temperature", "multinomial", "one_vs_rest"):
        assert value(results, "log_loss", method) < value(results, "log_loss", "original")


def test_numbers_are_recalibrated_and_their_left_out_predictions_too() -> None:
    generator = np.random.default_rng(2)
    given = {}
    for name in ("d", "cal"):
        x = generator.normal(10, 3, 300)
        given[name] = pl.DataFrame({"y": x + generator.normal(0, 1, 300), "p": 2 * x + 5, "l": 2 * x + 5.1})
    keys = {"task": "regression", "outcome": {"column": "y"}, "metrics": ["rmse", "sep"],
            "models": {"p": {"prediction": "p", "loo_prediction": "l"}}}
    results = recalibrated(given, ["linear", "isotonic"], **keys)
    assert value(results, "rmse", "linear") == pytest.approx(1, abs=0.13)  # 3 standard errors of an RMSE of 300
    assert value(results, "sep", "linear") == pytest.approx(value(results, "rmse", "linear"), abs=0.06)
    assert value(results, "rmse", "original") > 10


def test_variants_are_measured_in_every_slice_and_against_nothing_but_their_original() -> None:
    results = recalibrated(
        frames(), ["logistic"], models=BOTH, slices=["s"], compare={"baseline": "q"}, intervals=intervals(100))
    assert {(e.model, e.variant) for e in results.rows if e.slice == {"s": "a"}} == {
        (m, v) for m in "pq" for v in ("original", "logistic")}
    assert {(c.model, c.variant, c.baseline, c.baseline_variant) for c in results.comparisons} == {
        ("p", "original", "q", "original"), ("p", "logistic", "p", "original"), ("q", "logistic", "q", "original")}


@pytest.mark.parametrize(("digits", "shared"), [(6, 5), (6, 250), (1, 0)])
def test_rows_that_only_look_alike_are_a_warning(digits: int, shared: int) -> None:
    given = frames(digits=digits)
    some = pl.concat([given["cal"], given["d"].head(shared)])
    results = recalibrated(given | {"cal": some}, ["logistic"])
    count = given["d"].join(some, on=["y", "p"], how="semi").height
    assert count >= shared
    (warned,) = [w.message for w in results.warnings if w.code == "alike-rows"]
    assert warned == (f"{count} rows of dataset 'd' look like rows of dataset 'cal', on which recalibrators are "
                      "fitted, in all columns read; declare 'id' to decide whether they are the same")


@pytest.mark.parametrize("digits", [3, 6])
def test_copies_of_evaluated_rows_are_found_without_an_id(digits: int) -> None:
    given = frames(digits=digits)
    with pytest.raises(DataError, match="400 rows of dataset 'd' are also in dataset 'cal'"):
        recalibrated(given | {"cal": given["d"].reverse()}, ["logistic"])


@pytest.mark.parametrize("mode", ["exact", "grid"])
def test_the_worst_slices_are_those_of_the_models_themselves(mode: str) -> None:
    given = frames(2000, 6)
    asked = {"worst_slices": {"metric": "brier", "columns": ["s", "h"]}, "intervals": intervals(100),
             "metrics": ["brier"], "engine": {"mode": mode}}
    results = recalibrated(given, ["logistic"], **asked)
    plain = run(given["d"], **asked)
    assert {found.variant for found in results.worst_slices} == {"original"}
    assert results.worst_slices == plain.worst_slices


@pytest.mark.parametrize("prior", [0.1, {"beta": [2.0, 18.0]}])
def test_a_prior_shift_goes_to_the_declared_prevalence(prior: Any) -> None:
    given = frames()
    found = recalibrated(given, ["prior_shift", {"method": "prior_shift", "to": 0.6, "name": "more"}], prevalence=prior)
    expected = by_hand("prior_shift", given["cal"], to=0.1)(given["d"]["p"].to_numpy())
    assert value(found, "brier", "prior_shift") == pytest.approx(
        brier_score_loss(given["d"]["y"].to_numpy(), expected), rel=1e-9)
    assert [record.options for record in found.recalibration[:2]] == [{"to": pytest.approx(0.1)}, {"to": 0.6}]
    share = given["cal"]["y"].mean()
    assert found.recalibration[0].parameters["from"] == pytest.approx([share, 1 - share], rel=1e-12)  # type: ignore[operator]
    assert value(found, "roc_auc", "more") == pytest.approx(value(found, "roc_auc", "original"), rel=1e-12)
    assert Results.from_json(found.to_json()) == found
