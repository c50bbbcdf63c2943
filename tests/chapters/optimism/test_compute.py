"""Optimism of measures on the rows of the training, against hand computation, and what the card says of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, brier_score_loss, roc_auc_score

import evalpipe
from card.blocks import heads, lines, paragraphs, tables
from evalpipe.card import data
from evalpipe.card.contents import card_of
from evalpipe.chapters.optimism.card import procedures, reading, sections
from evalpipe.chapters.optimism.compute import UNKNOWN
from evalpipe.chapters.optimism.records import Optimism
from evalpipe.cli.plan import print_plan
from evalpipe.findings import findings
from evalpipe.results import Results

ROWS = 60
FITS = 90
FEW = 9
"""Fits where an interval, which takes 80, is not looked at."""
FUNCTIONS = {
    "brier": brier_score_loss, "roc_auc": roc_auc_score,
    "accuracy": lambda y, p, sample_weight=None: accuracy_score(y, p >= 0.5, sample_weight=sample_weight),
}


def drawn_rows(seed: int = 1, fits: int = FITS) -> tuple[pl.DataFrame, list[pl.DataFrame]]:
    """Return rows with a model's probabilities, and for each bootstrap fit the predictions and the counts.

    A fit is nearer to the truth in the rows that it drew.
    """
    generator = np.random.default_rng(seed)
    truth, signal = generator.integers(0, 2, ROWS), generator.normal(0, 1, ROWS)
    own = expit(1.2 * signal + 1.5 * (2 * truth - 1))
    files = []
    for _ in range(fits):
        counts = np.bincount(generator.integers(0, ROWS, ROWS), minlength=ROWS)
        pull = np.where(counts > 0, 1.6, 0.7) * (2 * truth - 1)
        files.append(pl.DataFrame({
            "id": np.arange(ROWS), "p": np.round(expit(1.2 * signal + generator.normal(0, 0.5, ROWS) + pull), 4),
            "times": counts}))
    frame = pl.DataFrame({"id": np.arange(ROWS), "y": truth, "p": np.round(own, 4),
                          "w": np.round(generator.gamma(2, 1, ROWS), 3), "n": generator.integers(1, 4, ROWS)})
    return frame, files


def fitted_rows(seed: int = 1, n: int = 120) -> tuple[pl.DataFrame, list[pl.DataFrame]]:
    """Return rows with the probabilities of a logistic regression, and its fits to bootstrap samples."""
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(n, 3))
    truth = (generator.random(n) < expit(x[:, 0])).astype(int)
    samples = [np.arange(n), *generator.integers(0, n, (FITS, n))]
    said = [LogisticRegression(C=np.inf).fit(x[one], truth[one]).predict_proba(x)[:, 1] for one in samples]
    files = [pl.DataFrame({"id": np.arange(n), "p": p, "times": np.bincount(one, minlength=n)})
             for p, one in zip(said[1:], samples[1:], strict=True)]
    return pl.DataFrame({"id": np.arange(n), "y": truth, "p": said[0]}), files


def document(folder: Path, frame: pl.DataFrame, files: list[pl.DataFrame], **keys: Any) -> dict[str, Any]:
    frame.write_parquet(folder / "rows.parquet")
    for number, file in enumerate(files):
        file.sample(fraction=1, shuffle=True, seed=number).write_parquet(folder / f"b-{number:03}.parquet")
    return {
        "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1}, "id": "id",
        "datasets": {"d": {"path": str(folder / "rows.parquet"), "trained_on": True}},
        "models": {"m": {"label": "Tree", "probability": "p", "optimism": {
            "predictions": str(folder / "b-*.parquet"), "drawn": "times"}}},
        "metrics": list(FUNCTIONS), "report": {"formats": []}, "intervals": {"replicates": 100, "bands": False},
    } | keys


def rows_of(results: Results) -> dict[str, Optimism]:
    return {row.metric: row for row in results.optimism}


@pytest.mark.parametrize("weight", [None, pytest.param("w", marks=pytest.mark.nightly), "n"])
def test_optimism_is_that_of_scikit_learn(tmp_path: Path, weight: str | None) -> None:
    frame, files = drawn_rows()
    kind = {"w": "importance", "n": "frequency"}
    keys = {} if weight is None else {"weight": {"column": weight, "kind": kind[weight]}}
    rows = rows_of(evalpipe.run(document(tmp_path, frame, files, **keys)))
    truth, own = frame["y"].to_numpy(), np.ones(ROWS) if weight is None else frame[weight].to_numpy()
    for metric, function in FUNCTIONS.items():
        within, original, outside = [], [], []
        for file in files:
            p, times = file["p"].to_numpy(), file["times"].to_numpy()
            left = times == 0
            # Counts of rows of a frequency weight are of observations.
            within.append(function(truth, p, sample_weight=times if weight == "n" else times * own))
            original.append(function(truth, p, sample_weight=own))
            outside.append(function(truth[left], p[left], sample_weight=own[left]))
        optimism = np.mean(np.subtract(within, original))
        apparent, row = function(truth, frame["p"].to_numpy(), sample_weight=own), rows[metric]
        value, mean = apparent - optimism, np.mean(within)
        reach = 1.959963984540054 * np.std(within, ddof=1) / (mean * (1 - mean))
        limits = expit(logit(value) - reach), expit(logit(value) + reach)
        # Sums of 60 terms in another order.
        assert (row.apparent, row.optimism, row.out_of_bag) == pytest.approx(
            (apparent, optimism, np.mean(outside)), abs=1e-12)
        assert row.corrected == pytest.approx(apparent - optimism, abs=1e-12)
        assert (row.lower, row.upper) == pytest.approx(limits, abs=1e-12)
        assert (row.fits, row.n, row.method, row.level) == (
            FITS, own.sum() if weight == "n" else ROWS, "bootstrap_fits", 0.95)


def test_too_few_fits_have_no_interval(tmp_path: Path) -> None:
    row = rows_of(evalpipe.run(document(tmp_path, *drawn_rows(fits=79))))["brier"]
    assert row.corrected is not None
    assert (row.lower, row.method, row.status) == (None, "none", "ok")
    assert row.reason == "79 bootstrap fits: an interval at 95% needs 80 or more"
    assert rows_of(evalpipe.run(document(tmp_path, *drawn_rows(fits=80))))["brier"].lower is not None


def test_limits_hold_the_corrected_value_though_bootstrap_fits_are_more_optimistic(tmp_path: Path) -> None:
    frame, files = drawn_rows()
    worse = frame.with_columns(p=pl.lit(0.5) + (pl.col("p") - 0.5) * 0.1)  # the model itself is far less sure
    row = rows_of(evalpipe.run(document(tmp_path, worse, files)))["brier"]
    assert (row.status, row.reason) == ("ok", None)
    assert row.lower is not None
    assert row.lower < (row.corrected or 0) < (row.upper or 0)


def test_a_corrected_value_stays_within_the_range_of_the_measure(tmp_path: Path) -> None:
    frame, files = drawn_rows()
    poor = frame.with_columns(p=1 - pl.col("y").cast(float))
    row = rows_of(evalpipe.run(document(tmp_path, poor, files)))["roc_auc"]
    assert row.optimism is not None
    assert row.optimism > 0
    assert (row.apparent, row.corrected) == (0, 0)
    assert (row.lower, row.method, row.reason) == (
        None, "none", UNKNOWN)


def test_a_slope_that_every_fit_has_in_its_own_sample_has_no_interval(tmp_path: Path) -> None:
    row = rows_of(evalpipe.run(document(tmp_path, *fitted_rows(), metrics=["calibration_slope"])))["calibration_slope"]
    assert row.corrected is not None
    assert (row.lower, row.method, row.reason) == (None, "none", UNKNOWN)


def test_fits_without_a_value_are_left_out_and_counted(tmp_path: Path) -> None:
    frame, files = drawn_rows()
    files[:10] = [file.with_columns(p=pl.lit(0.1)) for file in files[:10]]  # no predicted event
    row = rows_of(evalpipe.run(document(tmp_path, frame, files, metrics=["precision"])))["precision"]
    assert (row.undefined_fits, row.undefined_out_of_bag, row.status) == (10, 10, "degenerate")
    assert row.reason == "undefined in 10 of 90 bootstrap fits"
    none = [file.with_columns(p=pl.lit(0.1)) for file in files]
    row = rows_of(evalpipe.run(document(tmp_path, frame, none, metrics=["precision"])))["precision"]
    assert (row.optimism, row.corrected, row.out_of_bag, row.status) == (None, None, None, "undefined")
    assert row.apparent is not None


def test_fits_that_drew_every_row_have_nothing_out_of_bag(tmp_path: Path) -> None:
    frame, files = drawn_rows(fits=FEW)
    files = [file.with_columns(times=pl.lit(1)) for file in files]
    row = rows_of(evalpipe.run(document(tmp_path, frame, files)))["brier"]
    assert (row.optimism, row.out_of_bag, row.undefined_out_of_bag) == (0, None, FEW)


def test_noise_and_no_intervals_leave_the_correction(tmp_path: Path) -> None:
    frame, files = drawn_rows()
    row = rows_of(evalpipe.run(document(tmp_path, frame, files, metrics=["ece"])))["ece"]
    assert row.corrected is not None
    assert (row.lower, row.reason) == (
        None, "noise makes the measure larger, and every bootstrap sample adds the same noise once more")
    row = rows_of(evalpipe.run(document(tmp_path, frame, files, intervals={"method": "none"})))["brier"]
    assert (row.lower, row.reason) == (None, "the spec asks for none")


def test_numbers_and_levels_have_optimism_too(tmp_path: Path) -> None:
    frame, files = drawn_rows(fits=FEW)
    numbers = evalpipe.run(document(
        tmp_path, frame.with_columns(y=pl.col("y") * 2.5), files, task="regression", outcome={"column": "y"},
        metrics=["rmse"], intervals={"replicates": 100}, models={"m": {"prediction": "p", "optimism": {
            "predictions": str(tmp_path / "b-*.parquet"), "drawn": "times"}}}))
    truth = frame["y"].to_numpy() * 2.5
    errors = [(truth - file["p"].to_numpy()) ** 2 for file in files]
    expected = np.mean([np.sqrt(np.average(error, weights=file["times"])) - np.sqrt(error.mean())
                        for error, file in zip(errors, files, strict=True)])
    assert rows_of(numbers)["rmse"].optimism == pytest.approx(expected, abs=1e-12)
    both = [table.with_columns(p1="p", p0=1 - pl.col("p")) for table in (frame, *files)]
    levels = evalpipe.run(document(
        tmp_path, both[0], both[1:], task="multiclass", outcome={"column": "y", "levels": ["1", "0"]},
        metrics=[{"metric": "sensitivity", "average": ["none", "macro"]}], intervals={"replicates": 100},
        models={"m": {"probabilities": "p{level}", "optimism": {
            "predictions": str(tmp_path / "b-*.parquet"), "drawn": "times"}}}))
    assert [(row.average, row.class_) for row in levels.optimism] == [("none", "1"), ("none", "0"), ("macro", None)]
    first, second, macro = levels.optimism
    assert macro.optimism == pytest.approx(((first.optimism or 0) + (second.optimism or 0)) / 2, abs=1e-12)


def test_the_bootstrap_fits_change_nothing_else(tmp_path: Path) -> None:
    source = document(tmp_path, *drawn_rows(fits=FEW), slices=["n"])
    with_fits = evalpipe.run(source)
    plain = evalpipe.run(source | {"models": {"m": {"label": "Tree", "probability": "p"}}})
    assert (with_fits.rows, with_fits.curves, with_fits.confusion) == (plain.rows, plain.curves, plain.confusion)
    assert plain.optimism == []
    assert len(with_fits.inputs) == 1 + FEW


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return evalpipe.run(document(tmp_path_factory.mktemp("fits"), *drawn_rows()))


def test_the_section_corrects_each_measure(card: Results) -> None:
    (section,) = sections(card)
    (table,) = tables([section])
    row = card.optimism[0]
    assert table.caption == "Tree on d by 90 bootstrap fits, with 95% intervals"
    assert heads(table) == ["Measure", "Apparent", "Optimism", "Corrected", "Interval", "Out of bag"]
    assert lines(table)[0] == [
        "Brier score", f"{row.apparent:.2f}", f"{row.optimism:.2f}".replace("-", "−"), f"{row.corrected:.2f}",
        f"{row.lower:.2f}–{row.upper:.2f}", f"{row.out_of_bag:.2f}"]
    assert paragraphs([section])[1:] == ["Tree on d"]
    assert [procedure.name for procedure in procedures(card)] == ["Optimism"]
    assert list(reading(card, "d")) == [(
        "The models were fitted to these rows: their measures here are apparent, and too good. The section on "
        "optimism corrects them.")]
    assert "d (the models were fitted to it)" in paragraphs(data.data_sections(card))
    assert "optimism" in {section.anchor for section in card_of(card).sections}


def test_what_is_apparent_is_among_the_findings(card: Results, tmp_path: Path) -> None:
    row = card.optimism[0]
    text = next(finding.text for finding in card.findings if finding.section == "optimism")
    assert text.startswith(
        f"Tree was fitted to the rows of d. Corrected for optimism: Brier score {row.corrected:.2f} "
        f"({row.lower:.2f}–{row.upper:.2f}) instead of {row.apparent:.2f}")
    source = document(tmp_path, drawn_rows()[0], [])
    source["models"] = {"m": {"label": "Tree", "probability": "p"}}
    said = "Tree was fitted to the rows of d: measures there are too good, and no bootstrap fits say by how much."
    assert said in [finding.text for finding in evalpipe.run(source).findings]
    assert list(reading(evalpipe.run(source), "d")) == [
        "The models were fitted to these rows: their measures here are apparent, and too good."]
    source["datasets"] = {"d": {"path": str(tmp_path / "rows.parquet")}}
    results = evalpipe.run(source)
    assert (list(sections(results)), list(reading(results, "d")), list(procedures(results))) == ([], [], [])
    assert said not in [finding.text for finding in results.findings]


def test_the_plan_shows_the_bootstrap_fits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    print_plan(document(tmp_path, *drawn_rows()), (), None, "text")  # type: ignore[arg-type]  # a mapping is a spec too
    said = capsys.readouterr().out
    assert f"dataset d (evaluate): {tmp_path / 'rows.parquet'}, 60 rows, which the models were fitted to\n" in said
    assert (f"  reads 90 bootstrap fits of m, {tmp_path / 'b-000.parquet'} to {tmp_path / 'b-089.parquet'}, rows drawn "
            "as often as times says, for its optimism\n") in said


def test_a_recalibrator_of_a_model_with_bootstrap_fits_is_applied_to_new_predictions(tmp_path: Path) -> None:
    frame, files = drawn_rows(fits=FEW)
    source = document(tmp_path, frame, files)
    frame.with_columns(pl.col("id") + 1000).write_parquet(tmp_path / "cal.parquet")
    source["datasets"]["cal"] = {"path": str(tmp_path / "cal.parquet"), "role": "calibrate"}
    source["recalibrate"] = {"fit_on": "cal", "methods": ["platt"]}
    evalpipe.run(source, out=tmp_path / "out")
    recalibrated = evalpipe.recalibrate(tmp_path / "out", "m+platt", frame)
    assert (recalibrated.height, recalibrated.columns[-1]) == (ROWS, "m+platt")


def test_each_cell_of_the_table_is_what_its_record_says(card: Results) -> None:
    known = {"metric": "brier", "params": {}, "average": None, "class_": None, "apparent": 0.1234, "optimism": -0.0123,
             "corrected": 0.1357, "lower": 0.11, "upper": 0.16, "out_of_bag": 0.1401, "fits": 90}
    whole = known | {"lower": None, "upper": None}
    uncorrected = whole | dict.fromkeys(("optimism", "corrected", "out_of_bag"))
    undefined = uncorrected | {"apparent": None}

    def table(*changes: dict[str, Any]) -> Any:
        records = [card.optimism[0].model_copy(update=change) for change in changes]
        (only,) = tables(sections(card.model_copy(update={"optimism": records})))
        return only

    assert lines(table(known, uncorrected, undefined)) == [
        ["Brier score", "0.12", "−0.01", "0.14", "0.11–0.16", "0.14"], ["Brier score", "0.123", "–", "–", "–", "–"],
        ["Brier score", "–", "–", "–", "–", "–"]]
    without = table(whole, uncorrected)
    assert without.caption == "Tree on d by 90 bootstrap fits"
    assert lines(without) == [
        ["Brier score", "0.123", "−0.012", "0.136", "0.140"], ["Brier score", "0.123", "–", "–", "–"]]


def test_the_finding_names_the_first_three_measures_with_a_correction(card: Results) -> None:
    metrics = ["brier", "roc_auc", "accuracy", "log_loss"]
    rows = [card.optimism[0].model_copy(update={
        "metric": metric, "params": {}, "corrected": 0.25, "lower": 0.2, "upper": 0.3, "apparent": 0.2})
        for metric in metrics]
    lacking = rows[0].model_copy(update={"corrected": None})
    of_class = rows[0].model_copy(update={"class_": "a"})
    changed = card.model_copy(update={"optimism": [lacking, of_class, *rows]})
    (text,) = [finding.text for finding in findings(changed) if finding.code == "measures-apparent"]
    said = [f"{name} 0.25 (0.20–0.30) instead of 0.20" for name in ("Brier score", "ROC AUC", "Accuracy")]
    assert text == f"Tree was fitted to the rows of d. Corrected for optimism: {said[0]}, {said[1]} and {said[2]}."
