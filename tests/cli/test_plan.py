"""`evalpipe plan` prints what was resolved: thresholds, zones, goals, what gates are on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import yaml

import evalpipe
from evalpipe.cli import main
from evalpipe.errors import SpecError

if TYPE_CHECKING:
    from pathlib import Path

SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "ward", "task": "binary", "outcome": {"column": "y", "event": 1, "levels": [0, 1]},
    "datasets": {"cal": {"path": "rows.csv", "role": "calibrate", "where": "part = 'cal'"},
                 "test": {"path": "rows.csv", "where": "part = 'test'"}},
    "models": {"a": {"probability": "p", "equivocal": {"below": 0.1, "above": 0.05}},
               "b": {"probability": "q", "threshold": 0.3}},
    "metrics": ["sensitivity", "brier"], "slices": ["part"],
    "threshold": {"maximize": "j_index", "subject_to": {"specificity": {"min": 0.9}}, "on": "cal"},
    "compare": {"baseline": "b", "margins": {"recall": 0.02}},
    "reference_rates": [{"name": "last year", "metric": "recall", "value": 0.8, "lower": 0.75, "upper": 0.85}],
    "recalibrate": {"fit_on": "cal", "methods": ["logistic"]},
    "worst_slices": {"metric": "brier", "columns": ["part"], "depth": 1, "top": 3},
    "desirability": [{"metric": "recall", "maximize": {"low": 0.2, "high": 1}}],
    "gates": [
        {"metric": "brier", "max": 0.2},
        {"name": "no worse", "metric": "recall", "max_decrease": 0.01, "against": "baseline", "model": "a",
         "dataset": "test", "slices": "part", "severity": "warn"},
        {"desirability": "overall", "min": 0.5, "variant": "all"},
        {"metric": "brier", "min": 0, "variant": "logistic"},
        {"metric": "f_beta", "beta": 2, "min": 0.1, "max": 0.9, "slice": {"part": "test"}},
    ],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = {"y": [0, 1] * 10, "p": [0.2, 0.7] * 10, "q": [0.4, 0.6] * 10, "part": ["cal"] * 10 + ["test"] * 10}
    pl.DataFrame(rows).write_csv(tmp_path / "rows.csv")
    (tmp_path / "ward.yaml").write_text(yaml.safe_dump(SPEC, sort_keys=False))
    return tmp_path


def printed(folder: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["plan", str(folder / "ward.yaml"), *arguments])
    assert ended.value.code == 0
    return capsys.readouterr().out


def test_the_text_says_what_was_resolved(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(folder, capsys)

    assert text.split("\n\n")[3].splitlines() == [
        "in slices by part",
        "the 3 slices of worst brier, of up to 1 columns combined",
        "every model recalibrated by logistic, fitted on cal, minus the original on the same rows",
        "threshold of a: maximize j_index subject to specificity >= 0.9, on cal",
        "equivocal zone of a: rows from 0.1 below to 0.05 above the threshold have no class",
        "every model minus b, on the same rows",
        "every model minus last year: sensitivity 0.8",
        "desirability by 1 goal: maximize sensitivity",
        "judged by 5 gates",
        "  gate 1: brier(scale=half) max 0.2, of every model on every dataset",
        "  gate 2: sensitivity max_decrease 0.01 against b, of a on test, in every slice by part",
        "  gate 3: desirability overall min 0.5, of every model and its variants on every dataset",
        "  gate 4: brier(scale=half) min 0, of every model recalibrated by logistic on every dataset",
        "  gate 5: f_beta(beta=2.0) min 0.1 and max 0.9, of every model on every dataset, in the slice part=test",
    ]


def test_the_document_holds_what_was_resolved(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(printed(folder, capsys, "--format", "json"))

    assert document["exposure"] is None
    assert document["thresholds"] == [
        {"model": "a", "value": None, "rule": "maximize j_index subject to specificity >= 0.9, on cal",
         "chosen_on": "cal", "folds": None},
        {"model": "b", "value": 0.3, "rule": None, "chosen_on": None, "folds": None},
    ]
    assert document["zones"] == [{"model": "a", "below": 0.1, "above": 0.05, "min_probability": None}]
    assert document["slices"] == ["part"]
    assert document["worst_slices"] == {
        "metric": "brier", "params": {"scale": "half"}, "average": None, "columns": ["part"], "depth": 1, "top": 3}
    assert document["recalibration"] == {
        "methods": [{"variant": "logistic", "method": "logistic", "options": {}}], "fitted_on": "cal", "folds": None}
    assert document["reference_rates"] == [{"name": "last year", "metric": "sensitivity", "params": {}, "average": None,
                                            "value": 0.8, "limits": [0.75, 0.85]}]
    assert document["compare"] == {
        "baseline": "b", "pairs": "none", "baseline_dataset": None, "margins": {"sensitivity": 0.02}}
    assert document["goals"] == [
        {"goal": "maximize sensitivity", "kind": "maximize", "metric": "sensitivity", "params": {}, "average": None,
         "shape": {"low": 0.2, "high": 1, "scale": 1.0}, "weight": 1.0, "missing": None}]
    assert document["gates"][1] == {
        "gate": 2, "name": "no worse", "measures": [{"metric": "sensitivity", "params": {}, "average": None}],
        "desirability": None, "class": None, "dataset": "test", "model": "a", "variant": "original", "slice": None,
        "slices": ["part"], "limit": {"max_decrease": 0.01}, "against": "b", "on": "interval", "undefined": "fail",
        "severity": "warn",
    }
    assert [gate["slice"] for gate in document["gates"]] == [None, None, None, None, {"part": "test"}]
    assert [gate["desirability"] for gate in document["gates"]] == [None, None, "overall", None, None]


def test_an_expression_is_told_with_its_measures(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    of = {"f2": {"metric": "f_beta", "beta": 2}, "low": {"metric": "ppv", "prevalence": 0.05}}
    spec = SPEC | {"metrics": ["recall", {"name": "ratio", "expression": "recall/specificity"},
                               {"name": "mixed", "expression": "(f2-low) / 2", "of": of}]}
    (folder / "ward.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))

    text, document = printed(folder, capsys), json.loads(printed(folder, capsys, "--format", "json"))

    together = "percentile computed anew in every replicate from its measures, which are drawn together"
    assert [" ".join(line.split()) for line in text.splitlines() if "ratio" in line or "mixed" in line] == [
        f"ratio {together}", f"mixed {together}",
        "ratio is recall / specificity, with recall = sensitivity",
        "mixed is (f2 - low) / 2, with f2 = f_beta(beta=2.0), low = ppv(prevalence=0.05)"]
    assert document["estimates"][1] == {
        "dataset": "test", "model": "a", "variant": "original", "metric": "ratio", "params": {}, "average": None,
        "expression": "recall / specificity", "method": "percentile",
        "reason": "computed anew in every replicate from its measures, which are drawn together"}


def test_the_settings_of_figures_of_calibration_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = {"bins": 20, "strategy": "equal_count", "position": "midpoint",
                "window": {"width": 0.2, "step": 0.02, "recalibrated": {"step": 0.05}}}
    before = json.loads(printed(folder, capsys, "--format", "json"))["calibration"]
    (folder / "ward.yaml").write_text(yaml.safe_dump(SPEC | {"calibration": settings}, sort_keys=False))

    text, document = printed(folder, capsys), json.loads(printed(folder, capsys, "--format", "json"))

    assert ("figures of calibration: 20 bins of equal count (limits: exact) at their midpoints, windows of width 0.2 "
            "every 0.02, after recalibration of width 0.2 every 0.05, all smooth curves, a rug") in text.splitlines()
    assert document["calibration"] == {
        "bins": 20, "strategy": "equal_count", "position": "midpoint",
        "window": {"width": 0.2, "step": 0.02, "recalibrated": {"width": 0.2, "step": 0.05}}, "smoother": None,
        "interval": "exact", "rug": True}
    assert before == {
        "bins": 10, "strategy": None, "position": "mean", "window": {"width": 0.1, "step": 0.05, "recalibrated": None},
        "smoother": None, "interval": "exact", "rug": False}


@pytest.mark.parametrize(("mode", "cost"), [
    # 20 rows of the file, 2 models, each as it is and recalibrated, 2,000 replicates and the values themselves.
    ("auto", "expected cost (rows x replicates x models): 160,080 row sums"),
    ("grid", "expected cost (rows x models): 40 row sums"),
])
def test_the_cost_is_that_of_rows_that_are_drawn(
    folder: Path, capsys: pytest.CaptureFixture[str], mode: str, cost: str
) -> None:
    pl.read_csv(folder / "rows.csv").write_parquet(folder / "rows.parquet")
    spec = SPEC | {"datasets": {name: {**keys, "path": "rows.parquet"} for name, keys in SPEC["datasets"].items()},
                   "engine": {"mode": mode}}
    del spec["worst_slices"]
    (folder / "ward.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    assert printed(folder, capsys).splitlines()[-1] == cost


def test_a_missing_file_is_told_with_the_faults_of_the_spec(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They were told one after the other: first those of the spec, then the file."""
    (tmp_path / "there.csv").write_text("y,p\n1,0.5\n0,0.2\n")
    spec = tmp_path / "spec.yaml"
    spec.write_text("""evalpipe: 1
name: both
task: binary
outcome: {column: y, event: 1}
datasets: {there: {path: there.csv}, absent: {path: absent.csv}}
models:
  m: {probability: p, predictions: {there: p.csv, absent: there.csv}}
metrics: [acuracy]
""")
    for name in ("validate", "plan", "run"):
        with pytest.raises(SystemExit) as ended:
            main([name, str(spec)])
        assert ended.value.code == 2
        assert [line for line in capsys.readouterr().err.splitlines() if line.startswith("error")] == [
            "error[missing-file]: there is no file absent.csv", "error[missing-file]: there is no file p.csv",
            "error[unknown-metric]: unknown metric 'acuracy'"]


def test_a_dataset_in_memory_has_no_missing_file() -> None:
    frames = {"d": pl.DataFrame({"y": [1, 0], "p": [0.5, 0.2]})}
    with pytest.raises(SpecError) as caught:
        evalpipe.plan({"evalpipe": 1, "name": "m", "task": "binary", "outcome": {"column": "y", "event": 1},
                       "datasets": {"d": {"path": "memory"}}, "models": {"m": {"probability": "p"}},
                       "metrics": ["acuracy"]}, frames=frames)
    assert [problem.code for problem in caught.value.problems] == ["unknown-metric"]
