"""Measures over several fits of one model: by hand on the same replicates, and where the truth is known."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.special import expit, logit
from scipy.stats import t
from sklearn.metrics import roc_curve

import evalpipe
from engine.runs import with_line
from evalpipe.chapters.repeats.compute import repeat_records
from evalpipe.chapters.repeats.records import Repeat
from evalpipe.data.catalog import look
from evalpipe.data.read import read
from evalpipe.data.sample import Predictions, Refit
from evalpipe.errors import DataError
from evalpipe.intervals.resampling import Design, replicate_weights
from evalpipe.plan.resolve import plan
from evalpipe.plan.sources import sources
from evalpipe.results import Results
from evalpipe.run import load

ROWS = 80
FITS = 6
REPLICATES = 200


def people(seed: int = 1) -> pl.DataFrame:
    """Return rows with an outcome and the probabilities of several noisy fits, f0, f1 and so on."""
    generator = np.random.default_rng(seed)
    signal = generator.normal(0, 1.5, ROWS)
    return pl.DataFrame({
        "id": np.arange(ROWS), "y": (generator.random(ROWS) < expit(signal)).astype(int),
        "w": generator.integers(1, 4, ROWS), "who": generator.integers(0, 30, ROWS),
        **{f"f{k}": np.round(expit(signal + generator.normal(0, 1, ROWS)), 3) for k in range(FITS)},
    })


def document(folder: Path, frame: pl.DataFrame, fits: int = FITS, **keys: Any) -> dict[str, Any]:
    """Write rows and fits as files; return a spec of them, to which ``keys`` are added."""
    frame.select("id", "y", "w", "who").write_parquet(folder / "rows.parquet")
    for k in range(fits):
        frame.select("id", pl.col(f"f{k}").alias("p")).write_parquet(folder / f"fit-{k}.parquet")
    return with_line({
        "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1}, "id": "id",
        "datasets": {"d": {"path": str(folder / "rows.parquet")}},
        "models": {"m": {"predictions": str(folder / "fit-*.parquet"), "probability": "p"}},
        "metrics": ["brier", "accuracy", "roc_auc"], "report": {"formats": []},
        "intervals": {"replicates": REPLICATES, "bands": False},
    } | keys)


def repeats(results: Results) -> dict[str, Repeat]:
    return {row.metric: row for row in results.repeats}


def by_hand(frame: pl.DataFrame, weights: np.ndarray, units: int) -> dict[str, float | tuple[float, float]]:
    """Work the Brier score over fits out from its definition; ``weights`` [B, n] are those of the replicates."""
    losses = np.stack([(frame[f"f{k}"].to_numpy() - frame["y"].to_numpy()) ** 2 for k in range(FITS)])
    values = losses.mean(axis=1)
    drawn = np.array([[float((w * loss).sum() / w.sum()) for loss in losses] for w in weights])
    cov = np.cov(drawn.T)
    v = np.diag(cov).mean()
    c = cov[~np.eye(FITS, dtype=bool)].mean()
    mean, s2 = values.mean(), values.var(ddof=1)
    between = max(0.0, s2 - (v - c))
    of_rows = v / FITS + c * (FITS - 1) / FITS
    told: dict[str, float | tuple[float, float]] = {
        "mean": mean, "sd": math.sqrt(s2), "between": math.sqrt(between), "within": math.sqrt(v), "correlation": c / v}
    for name, times in (("of_mean", 1 / FITS), ("of_new", 1 + 1 / FITS)):
        variance = between * times + of_rows
        df = variance**2 / ((s2 * times) ** 2 / (FITS - 1) + of_rows**2 / (units - 1))
        df = min(max(df, min(FITS, units) - 1), FITS + units - 2)
        reach = t.ppf(0.975, df) * math.sqrt(variance) / (mean * (1 - mean))
        told[name] = tuple(expit(logit(mean) + sign * reach) for sign in (-1, 1))
    return told


def sorted_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows in the order in which they are drawn: by truth, then by the fits."""
    return frame.sort("y", *(f"f{k}" for k in range(FITS)))


def assert_as_by_hand(row: Repeat, expected: dict[str, float | tuple[float, float]]) -> None:
    # The same sums in another order: 1e-12 leaves room for nothing but rounding.
    for name in ("mean", "sd", "between", "within", "correlation"):
        assert getattr(row, name) == pytest.approx(expected[name], abs=1e-12), name
    assert (row.lower, row.upper) == pytest.approx(expected["of_mean"], abs=1e-12)
    assert (row.new_lower, row.new_upper) == pytest.approx(expected["of_new"], abs=1e-12)


def test_parts_and_limits_are_those_worked_out_by_hand(tmp_path: Path) -> None:
    frame = people()
    results = evalpipe.run(document(tmp_path, frame, seed=5))
    weights = np.concatenate(list(replicate_weights(Design(ROWS), REPLICATES, 5, "d")))
    brier = repeats(results)["brier"]
    assert_as_by_hand(brier, by_hand(sorted_rows(frame), weights, ROWS))
    assert (brier.fits, brier.n, brier.status, brier.method, brier.level) == (FITS, ROWS, "ok", "fits", 0.95)
    assert (brier.lowest, brier.highest) == (min(brier.values), max(brier.values))  # type: ignore[type-var]
    assert results.repeated[0].files == [str(tmp_path / f"fit-{k}.parquet") for k in range(FITS)]


def test_clusters_are_the_units_where_there_are_any(tmp_path: Path) -> None:
    frame = people(2)
    brier = repeats(evalpipe.run(document(tmp_path, frame, cluster="who")))["brier"]
    names = frame["who"].unique()
    # Clusters are numbered by their names, as texts.
    ordered = frame.with_columns(pl.col("who").cast(pl.String)).sort("y", "who", *(f"f{k}" for k in range(FITS)))
    numbers = ordered["who"].rank("dense").to_numpy().astype(int) - 1
    weights = np.concatenate(list(replicate_weights(Design(ROWS, cluster=numbers), REPLICATES, 0, "d")))
    assert_as_by_hand(brier, by_hand(ordered, weights, len(names)))


def test_the_values_of_the_fits_are_those_of_each_file_alone(tmp_path: Path) -> None:
    source = document(tmp_path, people(3), weight={"column": "w", "kind": "frequency"})
    together = repeats(evalpipe.run(source))
    for k in range(FITS):
        source["models"] = {"m": {"predictions": str(tmp_path / f"fit-{k}.parquet"), "probability": "p"}}
        alone = {row.metric: row.value for row in evalpipe.run(source).rows}
        assert {name: row.values[k] for name, row in together.items()} == alone


def test_all_that_is_not_about_fits_is_of_the_first_file(tmp_path: Path) -> None:
    source = document(tmp_path, people(4), curves={"marks": [0.3]}, calibration=None)
    several = evalpipe.run(source)
    alone = evalpipe.run(source | {"models": {"m": {
        "predictions": str(tmp_path / "fit-0.parquet"), "probability": "p"}}})
    # The order of the files decides, and never a result: every table but those about fits is the same, bit by bit.
    assert (several.rows, several.confusion, several.curves) == (alone.rows, alone.confusion, alone.curves)
    assert (alone.repeats, alone.repeated) == ([], [])


def test_without_intervals_there_is_the_spread_alone_and_the_reason(tmp_path: Path) -> None:
    row = repeats(evalpipe.run(document(tmp_path, people(), intervals={"method": "none"})))["brier"]
    assert row.mean == pytest.approx(np.mean(row.values), abs=1e-15)  # type: ignore[arg-type]
    assert row.sd == pytest.approx(np.std(row.values, ddof=1), abs=1e-15)  # type: ignore[arg-type]
    assert [row.lower, row.new_upper, row.between, row.within, row.level, row.freedom] == [None] * 6
    assert (row.method, row.status, row.reason) == ("none", "ok", "the spec asks for none")


def test_a_measure_that_noise_makes_larger_has_no_limits(tmp_path: Path) -> None:
    row = repeats(evalpipe.run(document(tmp_path, people(), metrics=["ece", "brier"])))["ece"]
    assert (row.lower, row.new_lower, row.between) == (None, None, None)
    assert row.reason == ("noise of the rows makes the measure larger than the truth in every fit, so limits about the "
                          "mean would miss it")


def test_limits_from_few_fits_are_marked(tmp_path: Path) -> None:
    row = repeats(evalpipe.run(document(tmp_path, people(), fits=3)))["brier"]
    assert row.lower is not None
    assert (row.status, row.reason) == (
        "degenerate", "3 fits, fewer than 5: limits from so few cover the true value less often than 95%")


def test_a_measure_without_a_value_in_a_fit_has_no_mean(tmp_path: Path) -> None:
    frame = people().with_columns(f2=pl.lit(0.1))  # no predicted event
    row = repeats(evalpipe.run(document(tmp_path, frame, metrics=["precision"])))["precision"]
    assert row.values[2] is None
    assert (row.mean, row.sd, row.lower, row.status) == (None, None, None, "undefined")
    assert row.reason == "no value in 1 of 6 fits: no predicted events"


def test_the_roc_curves_of_the_fits_are_those_of_scikit_learn(tmp_path: Path) -> None:
    frame = people()
    (repeated,) = evalpipe.run(document(tmp_path, frame)).repeated
    assert repeated.false_positive_rate == [k / 50 for k in range(51)]
    for k in range(FITS):
        rates, sensitivities, _ = roc_curve(frame["y"], frame[f"f{k}"], drop_intermediate=False)
        # Straight between the points, from shares of the same counts.
        expected = np.interp(repeated.false_positive_rate, rates, sensitivities)
        assert repeated.sensitivity[k] == pytest.approx(expected.tolist(), abs=1e-12)


def test_scores_of_numbers_have_no_roc_curve(tmp_path: Path) -> None:
    source = document(tmp_path, people(), task="regression", outcome={"column": "y"}, metrics=["rmse"], models={
        "m": {"predictions": str(tmp_path / "fit-*.parquet"), "prediction": "p"}}, intervals={"method": "none"})
    (repeated,) = evalpipe.run(source).repeated
    assert (repeated.false_positive_rate, repeated.sensitivity) == ([], [])


def test_equal_fits_have_no_spread_and_the_error_of_the_rows(tmp_path: Path) -> None:
    frame = people().with_columns(**{f"f{k}": pl.col("f0") for k in range(FITS)})
    row = repeats(evalpipe.run(document(tmp_path, frame)))["brier"]
    assert (row.sd, row.between) == (pytest.approx(0, abs=1e-15), pytest.approx(0, abs=1e-9))
    assert row.correlation == pytest.approx(1, abs=1e-12)
    assert (row.new_lower, row.new_upper) == pytest.approx((row.lower, row.upper), abs=1e-9)


def test_classes_that_are_not_averaged_have_a_row_each(tmp_path: Path) -> None:
    frame = people()
    frame.select("id", "y").write_parquet(tmp_path / "rows.parquet")
    for k in range(FITS):
        chances = frame.select("id", p1=f"f{k}").with_columns(p0=1 - pl.col("p1"))
        chances.write_parquet(tmp_path / f"fit-{k}.parquet")
    results = evalpipe.run(document(tmp_path, frame, fits=0) | {
        "task": "multiclass", "outcome": {"column": "y", "levels": ["1", "0"]}, "metrics": [
            {"metric": "sensitivity", "average": ["none", "macro"]}], "intervals": {"replicates": REPLICATES},
        "models": {"m": {"predictions": str(tmp_path / "fit-*.parquet"), "probabilities": "p{level}"}}})
    assert [(row.average, row.class_) for row in results.repeats] == [("none", "1"), ("none", "0"), ("macro", None)]
    single = {row.class_: row.value for row in results.rows}
    assert {row.class_: row.values[0] for row in results.repeats} == single


def test_a_rule_chooses_a_threshold_for_every_fit(tmp_path: Path) -> None:
    frame = people()
    calibration = people(9).with_columns(pl.col("id") + 1000)
    source = document(tmp_path, frame, metrics=["accuracy", "sensitivity"])
    calibration.select("id", "y").write_parquet(tmp_path / "cal.parquet")
    for k in range(FITS):
        calibration.select("id", p=f"f{k}").write_parquet(tmp_path / f"cal-{k}.parquet")
    source["datasets"]["cal"] = {"path": str(tmp_path / "cal.parquet"), "role": "calibrate"}
    source["threshold"] = {"maximize": "accuracy", "on": "cal"}

    def of(fit: str) -> dict[str, Any]:
        files = {"d": str(tmp_path / f"fit-{fit}.parquet"), "cal": str(tmp_path / f"cal-{fit}.parquet")}
        return source | {"models": {"m": {"predictions": files, "probability": "p"}}}

    together = repeats(evalpipe.run(of("*")))
    single = [evalpipe.run(of(str(k))) for k in range(FITS)]
    assert len({results.thresholds[0].value for results in single}) > 1
    for name, row in together.items():
        assert row.values == [next(e.value for e in results.rows if e.metric == name) for results in single]


def test_a_fit_without_a_threshold_is_named(tmp_path: Path) -> None:
    frame = people().with_columns(f3=pl.lit(0.5))
    rule = {"maximize": "sensitivity", "subject_to": {"specificity": {"min": 0.4, "max": 0.95}}, "on": {"folds": 2}}
    with pytest.raises(DataError) as caught:
        evalpipe.run(document(tmp_path, frame, threshold=rule))
    assert f"= of the fit {tmp_path / 'fit-3.parquet'}" in str(caught.value)


# Coverage where the truth is known.

SIMULATIONS = 2000
FITS_SIMULATED = 10
SD_BETWEEN = 0.02
SHARED = 0.8


def simulated(generator: np.random.Generator, rows: int, between: float) -> tuple[np.ndarray, np.ndarray]:
    """Return whether each fit is right on each row [R + 1, n], and how often it is in the population [R + 1].

    On a share of the rows, `SHARED`, all fits are right together, with probability 0.8; on the others each by itself,
    with a probability of its own of mean 0.8, so that the standard deviation of the fits is ``between``. The
    variance of the share of right rows is then 0.16 / n less that of the fits, the covariance of two 0.16 / n times
    `SHARED`.
    """
    size = 0.16 * ((1 - SHARED) / between) ** 2 - 1
    chances = generator.beta(0.8 * size, 0.2 * size, FITS_SIMULATED + 1)
    together, alike = generator.random(rows) < 0.8, generator.random(rows) < SHARED
    right = np.where(alike, together, generator.random((FITS_SIMULATED + 1, rows)) < chances[:, None])
    return right, 0.8 * SHARED + (1 - SHARED) * chances


@pytest.mark.nightly
@pytest.mark.parametrize(("rows", "between"), [(400, SD_BETWEEN), (2000, SD_BETWEEN), (400, 0.0001)])
def test_limits_cover_the_mean_and_a_new_fit_as_often_as_they_say(tmp_path: Path, rows: int, between: float) -> None:
    spec = load(document(tmp_path, people(), metrics=["accuracy"]))
    planned = plan(spec, look(sources(spec)))
    (template,) = read(planned)
    generator = np.random.default_rng(20)
    truth = np.arange(rows) % 2 == 0
    covered, told = [], []
    for _ in range(SIMULATIONS):
        right, accuracy = simulated(generator, rows, between)
        fits = [Predictions(predicted=truth == row, score=None) for row in right]
        sample = replace(
            template, truth=truth, models=MappingProxyType({"m": fits[0]}),
            summary=template.summary.model_copy(update={"n": rows}),
            refits=MappingProxyType({"m": tuple(Refit("", fit) for fit in fits[1:-1])}))
        (row,) = repeat_records(planned, sample, "m")
        assert row.status == "ok"
        covered.append((row.lower <= 0.8 <= row.upper, row.new_lower <= accuracy[-1] <= row.new_upper))  # type: ignore[operator]
        told.append((row.sd, row.between, row.within, row.correlation))
    of_mean, of_new = np.mean(covered, axis=0)
    squares = np.mean(np.square(np.array(told, float)[:, :3]), axis=0)
    print(f"n {rows}, sd {between}: mean {of_mean:.3f}, new fit {of_new:.3f}, parts {np.sqrt(squares)}")
    # 3.5 Monte Carlo standard errors, of which 2,000 simulations have 0.49 %: 1.7 %. Where fits do not differ the
    # variance between them is floored at zero and so too large, and the limits may cover more.
    tolerance = 3.5 * math.sqrt(0.95 * 0.05 / SIMULATIONS)
    assert of_mean == pytest.approx(0.95, abs=tolerance)
    assert 0.95 - tolerance < of_new < 0.95 + tolerance + (0.015 if between < 0.001 else 0)
    own, shared = (0.16 - between**2) / rows, SHARED * 0.16 / rows
    # Mean variances over the simulations. That of the fits, which are ten, has a standard error of 1.1 % or less, as
    # 2,000 variances of nine degrees of freedom have; that of the rows less.
    assert squares[0] == pytest.approx(between**2 + own - shared, rel=0.04)
    assert squares[2] == pytest.approx(own, rel=0.04)
