"""Raw scores: probabilities made of them by Platt and by order alone, whatever their units, and what is judged then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from sklearn.calibration import _sigmoid_calibration
from sklearn.isotonic import IsotonicRegression

import evalpipe
from card.blocks import facts
from engine.runs import run
from evalpipe.chapters.recalibrate.card import drawings, sections
from evalpipe.cli.app import app
from evalpipe.results import Results

METHODS = ["platt", "isotonic", "venn_abers"]
RAW: dict[str, Any] = {
    "models": {"once": {"score": "s"}, "fifty": {"score": "t"}}, "metrics": ["roc_auc", "brier", "sensitivity"],
    "recalibrate": {"fit_on": "fit", "methods": METHODS}, "intervals": {"method": "none"}, "threshold": 0.4}
"""A score and 50 times the score."""


def rows(n: int, seed: int) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    score = generator.normal(0.3, 1.0, n)
    y = (generator.random(n) < 1 / (1 + np.exp(0.5 - 1.4 * score))).astype(int)
    return pl.DataFrame({"y": y, "s": score, "t": 50 * score, "id": [f"{seed}-{k}" for k in range(n)]})


def recalibrated(**keys: Any) -> Results:
    evaluated, fit = rows(300, 1), rows(400, 2)
    datasets = {"d": {"path": "m"}, "fit": {"path": "m", "role": "calibrate"}}
    return run({"d": evaluated, "fit": fit}, **RAW | {"datasets": datasets} | keys)


def test_a_score_and_fifty_times_it_come_to_the_same(tmp_path: Path) -> None:
    datasets = {"d": {"path": "m"}, "fit": {"path": "m", "role": "calibrate"}}
    results = evalpipe.run(
        {"evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1}, "id": "id",
         "report": {"formats": [], "rows": "parquet"}, **RAW, "datasets": datasets},
        frames={"d": rows(300, 1), "fit": rows(400, 2)}, out=tmp_path / "out")
    table = pl.read_parquet(tmp_path / "out" / "rows.parquet").sort("id")
    for variant in METHODS:
        once, fifty = (table.filter(model=model, variant=variant)["probability"].to_numpy()
                       for model in ("once", "fifty"))
        # The sums of a fit are of standardised scores, so units leave rounding alone.
        assert once == pytest.approx(fifty, rel=1e-12, abs=1e-12)
    for variant in ("original", *METHODS):
        values = [{row.metric: row.value for row in results.rows
                   if (row.model, row.variant) == (model, variant) and row.value is not None}
                  for model in ("once", "fifty")]
        assert len(values[0]) == (1 if variant == "original" else 3)
        assert values[0] == pytest.approx(values[1], rel=1e-12)
        rocs = [next(c.points for c in results.curves if (c.model, c.variant, c.curve) == (model, variant, "roc"))
                for model in ("once", "fifty")]
        assert rocs[0].sensitivity == pytest.approx(rocs[1].sensitivity, rel=1e-12)
        assert rocs[0].false_positive_rate == pytest.approx(rocs[1].false_positive_rate, rel=1e-12)


def test_platt_is_the_curve_of_scikit_learn_and_isotonic_its_steps() -> None:
    results, fit = recalibrated(), rows(400, 2)
    slope, intercept = _sigmoid_calibration(fit["s"].to_numpy(), fit["y"].to_numpy())
    platt, isotonic = (next(record for record in results.recalibration
                            if (record.model, record.variant) == ("once", variant)) for variant in METHODS[:2])
    # scikit-learn has the sign turned round, and stops its search earlier.
    assert platt.parameters == {"on": "score", "intercept": pytest.approx(-intercept, rel=1e-4),
                                "slope": pytest.approx(-slope, rel=1e-4)}
    theirs = IsotonicRegression(out_of_bounds="clip").fit(fit["s"].to_numpy(), fit["y"].to_numpy())
    assert isotonic.parameters["value"] == pytest.approx(np.unique(theirs.y_thresholds_), abs=1e-12)


def test_a_score_with_a_scale_and_one_without_have_the_same_platt() -> None:
    results = recalibrated(models={"raw": {"score": "s"}, "odds": {"score": "s", "scale": "logit"}})
    raw, odds = (next(record.parameters for record in results.recalibration
                      if (record.model, record.variant) == (model, "platt")) for model in ("raw", "odds"))
    assert (raw["on"], odds["on"]) == ("score", "logit")
    assert [raw["intercept"], raw["slope"]] == [odds["intercept"], odds["slope"]]


def test_far_scores_stay_apart_where_their_probabilities_round_to_one() -> None:
    evaluated, fit = rows(300, 1), rows(400, 2)
    far = evaluated.with_columns(pl.col("s") * 1000)  # most probabilities are 0 or 1 in double precision
    results = run({"d": far, "fit": fit}, **RAW | {
        "datasets": {"d": {"path": "m"}, "fit": {"path": "m", "role": "calibrate"}},
        "models": {"m": {"score": "s"}}, "metrics": ["roc_auc"]})
    areas = {row.variant: row.value for row in results.rows}
    assert areas["platt"] == areas["original"]
    platt = next(record for record in results.recalibration if record.variant == "platt")
    assert [applied.distinct_after for applied in platt.applied] == [300]


def test_the_spec_s_threshold_is_of_the_variants_and_the_model_s_own_of_the_score() -> None:
    results = recalibrated(models={"m": {"score": "s", "threshold": 1.5}})
    evaluated = rows(300, 1)
    y, score = evaluated["y"].to_numpy(), evaluated["s"].to_numpy()
    of_variant = {row.variant: row.value for row in results.rows if row.metric == "sensitivity"}
    assert of_variant["original"] == pytest.approx((score[y == 1] >= 1.5).mean(), rel=1e-12)
    platt = next(record.parameters for record in results.recalibration if record.variant == "platt")
    cut = (np.log(0.4 / 0.6) - platt["intercept"]) / platt["slope"]
    assert of_variant["platt"] == pytest.approx((score[y == 1] >= cut).mean(), rel=1e-12)


def test_measures_of_probabilities_are_of_the_variants_alone() -> None:
    results = recalibrated()
    briers = {row.variant: row for row in results.rows if (row.model, row.metric) == ("once", "brier")}
    assert (briers["original"].value, briers["original"].reason) == (None, "the model gives no probabilities")
    assert all(briers[variant].value is not None for variant in METHODS)
    assert {c.metric for c in results.comparisons} == {"roc_auc"}
    assert [warning for warning in results.warnings if warning.code == "not-served"] == []


def test_the_plan_leaves_measures_of_probabilities_to_the_variants(tmp_path: Path) -> None:
    rows(60, 1).write_parquet(tmp_path / "d.parquet")
    spec = tmp_path / "x.yaml"
    spec.write_text(
        "evalpipe: 1\nname: x\ntask: binary\noutcome: {column: y, event: 1}\ndatasets: {d: {path: d.parquet}}\n"
        "models: {m: {score: s}}\nmetrics: [roc_auc, brier, sensitivity]\n"
        "recalibrate: {fit_on: {folds: 3}, methods: [platt]}\n", encoding="utf-8")
    said = CliRunner().invoke(app, ["plan", str(spec)]).output.splitlines()
    assert "not for m, as the model gives no probabilities, which its variants have: brier" in said
    assert "not for m, as the model gives no predicted classes, which its variants have: sensitivity" in said


def test_a_stored_fit_serves_new_scores() -> None:
    results, evaluated = recalibrated(), rows(300, 1)
    for variant in METHODS:
        new = evalpipe.recalibrate(results, f"once+{variant}", evaluated)[f"once+{variant}"].to_numpy()
        brier = next(row.value for row in results.rows
                     if (row.model, row.variant, row.metric) == ("once", variant, "brier"))
        assert ((new - evaluated["y"].to_numpy()) ** 2).mean() == pytest.approx(brier, rel=1e-12)


def test_the_card_shows_the_variants_and_says_that_there_is_no_before() -> None:
    results = recalibrated()
    first, *_ = sections(results)
    assert facts([first])["once: recalibration gives it probabilities."] == (
        "The score is a rank alone: it has no probabilities that those of its variants could be compared with.")
    drawn = list(drawings(results, "d"))
    assert [drawing.title for drawing in drawn] == ["once after recalibration", "fifty after recalibration"]
    assert drawn[0].alt.startswith("Reliability of once on d after recalibration")
