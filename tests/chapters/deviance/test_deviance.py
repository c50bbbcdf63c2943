"""Deviances beside that of no model against statsmodels, and when their difference is tested."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from click.testing import CliRunner

import evalpipe
from card.blocks import column, paragraphs, table
from engine.runs import run
from evalpipe.chapters.deviance.card import procedures, sections
from evalpipe.chapters.deviance.plan import deviance_plan
from evalpipe.cli.app import app
from evalpipe.results import Results

PLAIN: dict[str, Any] = {"intervals": {"method": "none"}, "metrics": ["roc_auc"]}


def fitted(n: int, seed: int, effect: float = 0.8) -> tuple[pl.DataFrame, pl.DataFrame, Any]:
    """Return the rows that a logistic regression of three features was fitted on, others, and the fit."""
    generator = np.random.default_rng(seed)
    x = sm.add_constant(generator.normal(size=(2 * n, 3)))
    y = (generator.random(2 * n) < 1 / (1 + np.exp(0.7 - effect * x[:, 1]))).astype(int)
    fit = sm.Logit(y[:n], x[:n]).fit(disp=0)
    frame = pl.DataFrame({"y": y, "p": fit.predict(x), "times": np.ones(2 * n, int), "who": np.arange(2 * n) // 2})
    return frame.head(n), frame.tail(n), fit


def test_the_test_on_its_own_rows_is_that_of_statsmodels() -> None:
    own, other, fit = fitted(300, 1)
    results = run({"training": own, "test": other}, models={"p": {"probability": "p", "fitted": {
        "on": "training", "parameters": 3}}}, **PLAIN)
    here, there = results.deviances
    # statsmodels stops when a step no longer changes the likelihood by much, so the last digits are its own.
    assert here.null_deviance == pytest.approx(-2 * fit.llnull, rel=1e-9)
    assert here.deviance == pytest.approx(-2 * fit.llf, rel=1e-9)
    assert here.difference == pytest.approx(fit.llr, rel=1e-7)
    assert here.mcfadden_r2 == pytest.approx(fit.prsquared, rel=1e-7)
    assert (here.parameters, here.reason) == (3, None)
    assert here.p_value == pytest.approx(fit.llr_pvalue, rel=1e-6)
    assert (there.parameters, there.p_value) == (None, None)
    assert there.reason == "the model was fitted on training, not on these rows"


def test_the_test_of_several_levels_is_that_of_statsmodels() -> None:
    generator = np.random.default_rng(3)
    x = sm.add_constant(generator.normal(size=(400, 2)))
    y = (generator.gumbel(size=(400, 3)) + np.outer(x[:, 1], [0, 0.4, -0.3])).argmax(axis=1)
    fit = sm.MNLogit(y, x).fit(disp=0)
    frame = pl.DataFrame({"y": np.array(["a", "b", "c"])[y]} | {
        f"p_{level}": fit.predict(x)[:, k] for k, level in enumerate("abc")})
    results = run(frame, task="multiclass", outcome={"column": "y", "levels": ["a", "b", "c"]}, models={
        "m": {"probabilities": "p_{level}", "fitted": {"on": "d", "parameters": 4}}}, metrics=["log_loss"],
        intervals={"method": "none"})
    row, = results.deviances
    assert row.difference == pytest.approx(fit.llr, rel=1e-6)
    assert row.p_value == pytest.approx(fit.llr_pvalue, rel=1e-6)


@pytest.mark.parametrize(("keys", "spoilt", "reason"), [
    ({}, "p", None),
    ({"weight": {"column": "times", "kind": "frequency"}}, "p", None),
    ({"weight": {"column": "times", "kind": "importance"}}, "p", "importance-weights"),
    ({"cluster": "who"}, "p", "dependent-rows"),
    ({}, "raised", "means-differ"),
    ({}, "shuffled", "worse-than-none"),
])
def test_no_test_is_claimed_where_its_conditions_fail(keys: dict[str, Any], spoilt: str, reason: str | None) -> None:
    own, _, _ = fitted(300, 2)
    frame = own.with_columns(raised=pl.col("p") ** 0.8, shuffled=pl.col("p").shuffle(seed=4))
    results = run(frame, models={"m": {"probability": spoilt, "fitted": {"on": "d", "parameters": 3}}}, **PLAIN, **keys)
    row, = results.deviances
    assert (row.reason and row.reason.code) == reason
    assert (row.p_value is None) == (row.parameters is None) == (reason is not None)


def test_a_variant_and_a_model_that_says_nothing_have_no_test() -> None:
    own, _, _ = fitted(300, 5)
    results = run(own, models={"p": {"probability": "p"}}, recalibrate={"fit_on": {"folds": 3}, "methods": ["platt"]},
                  metrics=["deviance"], intervals={"replicates": 100, "bands": False})
    assert [row.reason and row.reason.code for row in results.deviances] == ["fit-unknown", "recalibrated"]
    deviance = next(row for row in results.rows if row.metric == "deviance" and row.variant == "original")
    assert results.deviances[0].deviance == deviance.value


def test_noise_passes_as_often_as_it_should_on_its_own_rows_and_loses_on_others() -> None:
    # 60 fits of three features without effect: their p-values are uniform, with a mean of 0.5 and an error of 0.04; on
    # other rows the mean difference is about minus the number of coefficients, with an error of 0.5.
    p_values, elsewhere = [], []
    for seed in range(60):
        own, other, _ = fitted(150, 100 + seed, effect=0.0)
        results = run({"training": own, "test": other}, models={"p": {"probability": "p", "fitted": {
            "on": "training", "parameters": 3}}}, calibration={"smoother": "logistic"}, **PLAIN)
        p_values.append(results.deviances[0].p_value)
        elsewhere.append(results.deviances[1].difference)
    assert np.mean(p_values) == pytest.approx(0.5, abs=0.13)
    assert np.mean(elsewhere) < -2


def both() -> Results:
    own, other, _ = fitted(300, 1)
    return run({"training": own, "test": other}, models={
        "p": {"probability": "p", "label": "Logit", "fitted": {"on": "training", "parameters": 3}}}, **PLAIN)


def test_the_card_gives_the_test_where_there_is_one_and_the_reason_where_there_is_none() -> None:
    training, test = sections(both())
    assert (training.title, test.title) == ("Deviance on training", "Deviance on test")
    of_training, of_test = (table(list(section.blocks), f"Deviances on {name}")
                            for section, name in ((training, "training"), (test, "test")))
    assert column(of_training, "df") == ["3"]
    assert column(of_training, "p") == ["< 0.001"]
    assert (column(of_test, "df"), column(of_test, "p")) == (["–"], ["no test"])
    assert paragraphs([test])[-1] == "No test for Logit: the model was fitted on training, not on these rows."
    procedure, = procedures(both())
    assert "only on the rows that it was fitted on by maximum likelihood" in procedure.text
    assert list(sections(run(fitted(60, 1)[0], **PLAIN))) == []


def test_the_plan_says_what_is_tested_where(tmp_path: Path) -> None:
    fitted(60, 1)[0].write_parquet(tmp_path / "d.parquet")
    spec = tmp_path / "x.yaml"
    spec.write_text(json.dumps({
        "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1},
        "datasets": {"training": {"path": "d.parquet"}},
        "models": {"p": {"probability": "p", "fitted": {"on": "training", "parameters": 3}}}}), encoding="utf-8")
    said = CliRunner().invoke(app, ["plan", str(spec)]).output.splitlines()
    assert "deviance of each model beside that of no model" in said
    assert "  p: chi-squared test on training, which it was fitted on, with 3 parameters" in said
    assert evalpipe.plan(spec).part(deviance_plan) is not None
