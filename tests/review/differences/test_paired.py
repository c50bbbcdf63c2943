"""Paired differences: those of one run with both models, and every reason why there are none."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import evalpipe
from evalpipe.review.differences.compare import compare
from evalpipe.review.differences.records import Difference, Run, read_run
from few_by_day import by_night
from review.differences.conftest import SPEC, Pair

BASE: dict[str, Any] = {
    "evalpipe": 1, "name": "small", "id": "row", "intervals": {"replicates": 100},
    "report": {"formats": [], "rows": "parquet"},
}


def compared(folder: Path, spec: dict[str, Any], first: dict[str, Any], second: dict[str, Any]) -> Difference:
    """Run a spec on two tables of rows and compare the runs."""
    for name, columns in (("a", first), ("b", second)):
        pl.DataFrame(columns).write_csv(folder / f"{name}.csv")
        data = {"datasets": {"test": {"path": str(folder / f"{name}.csv")}}}
        evalpipe.run(BASE | data | spec, out=folder / name)
    return compare(read_run(str(folder / "a")), read_run(str(folder / "b")))


def why(difference: Difference) -> list[str]:
    return [reason.reason for reason in difference.unpaired if not reason.slices]


def test_paired_differences_are_those_of_one_run_with_both_models(pair: Pair, tmp_path: Path) -> None:
    monday, tuesday = (pl.read_csv(pair.folder / f"{day}.csv") for day in ("monday", "tuesday"))
    monday.with_columns(tuesday["p"].alias("q")).write_csv(tmp_path / "both.csv")
    spec = SPEC.replace("FILE", "both.csv").replace("{a:", "{b: {probability: q}, a:")
    (tmp_path / "both.yaml").write_text(spec + "compare: {baseline: a}\n")
    results = evalpipe.run(tmp_path / "both.yaml")
    expected = {row.metric: row for row in results.comparisons if row.slice is None}
    difference = compare(pair.a, pair.b)
    paired = {change.metric: change.paired for change in difference.estimates if change.slice is None}

    assert paired.keys() == expected.keys() == {"accuracy", "brier", "roc_auc", "f_beta"}
    for metric, row in paired.items():
        other = expected[str(metric)]
        assert row is not None
        assert (row.method, row.n) == (other.method, other.n)
        assert row.difference == pytest.approx(other.difference)
        if metric != "f_beta":  # its error is of replicates, which are others
            assert (row.lower, row.upper, row.p_value) == pytest.approx((other.lower, other.upper, other.p_value))


def test_an_estimate_is_paired_where_its_value_differs_alone(pair: Pair) -> None:
    difference = compare(pair.a, pair.b)

    assert [change.metric for change in difference.estimates if change.paired] == [
        change.metric for change in difference.estimates if change.slice is None]
    assert why(difference) == []
    assert [reason.slices for reason in difference.unpaired] == [True]


def without(pair: Pair, folder: Path, change: Any = None) -> Run:
    """Return the second run, copied and changed."""
    copy = folder / "copy"
    shutil.copytree(pair.folder / "tuesday", copy)
    if change is not None:
        change(copy / "rows.parquet")
    return read_run(str(copy))


def test_a_file_that_is_not_there_or_was_changed_is_told(pair: Pair, tmp_path: Path) -> None:
    gone = without(pair, tmp_path, Path.unlink)
    assert why(compare(pair.a, gone)) == ["rows.parquet of run B is not beside its results"]
    assert why(compare(gone, pair.a)) == ["rows.parquet of run A is not beside its results"]
    shutil.rmtree(tmp_path / "copy")

    changed = without(pair, tmp_path, lambda file: file.write_bytes(file.read_bytes() + b" "))
    assert why(compare(pair.a, changed)) == ["rows.parquet of run B was changed after the run"]


def replaced(run: Run, **fields: Any) -> Run:
    return Run(run.source, run.results.model_copy(update=fields), run.folder)


def test_runs_without_rows_intervals_or_with_clusters_are_not_paired(pair: Pair) -> None:
    results, reasons = pair.b.results, []
    assert results.row_file is not None
    for fields in (
        {"row_file": None}, {"spec": results.spec | {"cluster": "patient"}},
        {"spec": results.spec | {"intervals": {"method": "none"}}}, {"event": "no"},
        {"row_file": results.row_file.model_copy(update={"id": "other"})},
    ):
        reasons += why(compare(pair.a, replaced(pair.b, **fields)))

    assert reasons == [
        "run B has no row-level file, which 'report: {rows: parquet}' in its spec lets it write",
        "run B resamples clusters, and the row-level file does not say which rows belong together",
        "run B has no intervals", "the runs have other outcomes or weights", "the runs name rows by other columns"]


def test_the_same_spec_and_files_need_no_pairs(pair: Pair) -> None:
    rows = [row.model_copy(update={"value": 0.5}) for row in pair.a.results.rows]

    said = ("both runs evaluated the same files by the same spec, so the rows are not the reason: evalpipe, its "
            "libraries or the machine are")
    assert why(compare(pair.a, replaced(pair.a, rows=rows))) == [said]


def test_values_that_the_rows_do_not_give_are_not_paired(pair: Pair) -> None:
    rows = [row.model_copy(update={"value": 0.123}) if row.metric == "brier" else row for row in pair.b.results.rows]
    difference = compare(pair.a, replaced(pair.b, rows=rows))

    assert [(reason.metrics, reason.reason) for reason in difference.unpaired if not reason.slices] == [
        (["brier"], "the rows do not give the values of the runs, so something else than the predictions is in them")]
    assert {change.metric for change in difference.estimates if change.paired} == {"accuracy", "roc_auc", "f_beta"}


Y = np.array(["u", "v"] * 20)
ROW = np.array([f"r{i}" for i in range(40)])
P = np.linspace(0.05, 0.95, 40).round(3)
EVENT = {"task": "binary", "outcome": {"column": "y", "event": "v", "levels": ["v", "u"]},
         "models": {"m": {"probability": "p"}}, "metrics": ["brier"]}


@pytest.mark.parametrize(("change", "reason"), [
    ({"row": np.array([*ROW[:-1], "new"])}, "the rows are not the same: 2 ids are in one run alone"),
    ({"y": Y[::-1]}, "rows of one id differ in 'truth'"),
])
def test_rows_that_are_not_the_same_are_told(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    first = {"row": ROW, "y": Y, "p": P}

    assert why(compared(tmp_path, EVENT, first, first | {"p": P**2} | change)) == [reason]


def test_rows_without_ids_are_known_by_their_numbers_in_the_same_file_alone(tmp_path: Path) -> None:
    first = {"row": ROW, "y": Y, "p": P, "q": P**2}
    spec = EVENT | {"id": None}
    other = compared(tmp_path, spec, first, first | {"p": P**2})
    assert why(other) == ["the spec names no 'id', and rows of other files are not known by their numbers"]

    data = {"datasets": {"test": {"path": str(tmp_path / "a.csv")}}}
    evalpipe.run(BASE | spec | data | {"models": {"m": {"probability": "q"}}}, out=tmp_path / "c")
    difference = compare(read_run(str(tmp_path / "a")), read_run(str(tmp_path / "c")))
    assert why(difference) == []
    assert [change.paired is not None for change in difference.estimates] == [True]


LEVELS = np.array(["u", "v", "w", "u"] * 10)
CHANCES = np.random.default_rng(1).dirichlet([2, 2, 2], 40).round(6)
NUMBERS = np.random.default_rng(2).normal(10, 3, 40).round(3)
COUNTS = np.random.default_rng(3).poisson(3, 40)


def three(chances: Any) -> dict[str, Any]:
    last = 1 - chances[:, 0] - chances[:, 1]
    return {"p.u": chances[:, 0], "p.v": chances[:, 1], "p.w": last.round(6)}


@pytest.mark.parametrize(("spec", "shared", "first", "second"), [
    (EVENT | {"models": {"m": {"score": "s"}}, "metrics": ["roc_auc"]}, {"y": Y}, {"s": P}, {"s": P**2 % 0.3}),
    (EVENT | {"weight": {"column": "w", "kind": "importance"}, "metrics": ["brier", "log_loss"]},
     {"y": Y, "w": P + 1}, {"p": P}, {"p": P**2}),
    by_night(EVENT | {
        "prevalence": 0.2, "metrics": ["ppv", {"metric": "brier", "prevalence": "declared"}], "threshold": 0.4},
        {"y": Y}, {"p": P}, {"p": (P * 7 % 1).round(3)}),
    by_night(EVENT | {"costs": [{"truth": "v", "predicted": "u", "cost": 5}], "metrics": ["cost"]}, {"y": Y}, {"p": P},
             {"p": P**2}),
    ({"task": "multiclass", "outcome": {"column": "y", "levels": ["u", "v", "w"]},
      "models": {"m": {"probabilities": "p.{level}"}},
      "metrics": ["log_loss", {"metric": "sensitivity", "average": ["macro", "none"]}]},
     {"y": LEVELS}, three(CHANCES), three(CHANCES[::-1])),
    ({"task": "regression", "outcome": {"column": "y"}, "models": {"m": {"prediction": "f"}},
      "metrics": ["rmse", "r2"]}, {"y": NUMBERS}, {"f": NUMBERS + P}, {"f": NUMBERS - 2 * P**2}),
    by_night({"task": "count", "outcome": {"column": "y"}, "exposure": "e", "models": {"m": {"prediction": "f"}},
              "metrics": ["poisson_deviance"]}, {"y": COUNTS, "e": P + 1}, {"f": P + 1}, {"f": P + 2}),
])
def test_every_kind_of_outcome_and_of_rows_is_paired(
    tmp_path: Path, spec: dict[str, Any], shared: dict[str, Any], first: dict[str, Any], second: dict[str, Any],
) -> None:
    difference = compared(tmp_path, spec, {"row": ROW} | shared | first, {"row": ROW} | shared | second)
    differ = [change for change in difference.estimates if "value" in change.differs_in]

    assert why(difference) == []
    assert {change.metric for change in differ} == {
        entry if isinstance(entry, str) else entry["metric"] for entry in spec["metrics"]}
    for change in differ:
        assert change.paired is not None
        assert change.paired.difference == pytest.approx(change.difference)


def test_measures_at_the_prevalence_of_a_dataset_are_paired(tmp_path: Path) -> None:
    """The dataset is not read again: what it came to is in the results."""
    pl.DataFrame({"row": range(1000, 1100), "y": ["u"] * 30 + ["v"] * 70}).write_csv(tmp_path / "training.csv")
    for name, chances in (("a", P), ("b", (P * 7 % 1).round(3))):
        pl.DataFrame({"row": ROW, "y": Y, "p": chances}).write_csv(tmp_path / f"{name}.csv")
        evalpipe.run(BASE | EVENT | {
            "datasets": {"test": {"path": str(tmp_path / f"{name}.csv")},
                         "training": {"path": str(tmp_path / "training.csv"), "role": "reference"}},
            "prevalence": {"from": "training"}, "metrics": ["ppv"], "threshold": 0.4}, out=tmp_path / name)
    (tmp_path / "training.csv").unlink()
    difference = compare(read_run(str(tmp_path / "a")), read_run(str(tmp_path / "b")))
    assert why(difference) == []
    (change,) = [change for change in difference.estimates if change.metric == "ppv"]
    assert change.paired is not None
    assert change.paired.difference == pytest.approx(change.difference)


def test_measures_of_classes_in_an_equivocal_zone_are_not_paired(tmp_path: Path) -> None:
    spec = EVENT | {"metrics": ["accuracy", "brier"], "equivocal": 0.1}
    rows = {"row": ROW, "y": Y, "p": P}
    difference = compared(tmp_path, spec, rows, rows | {"p": (P * 0.9).round(3)})

    assert {change.metric: change.paired is not None for change in difference.estimates} == {
        "accuracy": False, "brier": True, "reportable_rate": False}
    assert why(difference) == [
        "the rows do not give the values of the runs, so something else than the predictions is in them"]


def test_rows_in_csv_are_paired_too(tmp_path: Path) -> None:
    rows = {"row": ROW, "y": Y, "p": P}
    spec = EVENT | {"report": {"formats": [], "rows": "csv"}}
    difference = compared(tmp_path, spec, rows, rows | {"p": P**2})

    assert [change.paired is not None for change in difference.estimates] == [True]


def test_no_draw_hangs_on_the_last_digits_of_results(pair: Pair) -> None:
    def drawn(upper: int) -> list[tuple[float | None, ...]]:
        first, *rows = pair.a.results.rows
        moved = first.model_copy(update={"upper": first.upper + upper * 1e-16})
        a = pair.a.results.model_copy(update={"rows": [moved, *rows]})
        shown = compare(Run("monday", a, pair.folder / "monday"), pair.b).estimates
        return [(row.paired.lower, row.paired.upper) for row in shown if row.paired is not None]

    # Each of the hashes of nine results stands either way to that of the other run.
    assert all(drawn(upper) == drawn(0) for upper in range(1, 9))
