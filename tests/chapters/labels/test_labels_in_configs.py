"""The examples with labels: every outcome is known to the script of their data, so that what they say can be held."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from sklearn import metrics as sk

from evalpipe.results import Results

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(__file__).resolve().parents[3] / "configs" / "data"
EXAMPLES = {  # by config: file, outcome, event, columns of the models by name, threshold
    "labels_judge": ("checked_digits", "digit", "odd", {"forest": "forest", "logistic": "logistic"}, 0.5),
    "labels_rejects": ("applications", "default", "yes", {"scorecard": "scorecard"}, 0.2),
    "labels_verified": ("biopsies", "diagnosis", "malignant", {"test": "probability"}, 0.3),
    "labels_nightly": ("disputes", "fraud", "fraud", {"fraud_model": "model"}, 0.1),
}
PREDICTED = ("logistic", "forest", "second_reader", "probability")
"""Columns that a fitted model gives, which another version may change."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the same tables, in which every row has an outcome."""
    folder = tmp_path_factory.mktemp("whole")
    subprocess.run([sys.executable, DATA / "make_labels.py", folder, "--all-outcomes"], check=True)
    return folder


def values_of(table: pl.DataFrame, outcome: str, event: str, column: str, threshold: float) -> dict[str, float]:
    """Return measures of a column of probabilities on the rows of a table that have an outcome."""
    known = table.filter(pl.col(outcome).is_not_null())
    truth, p = (known[outcome] == event).to_numpy(), known[column].to_numpy()
    predicted = p >= threshold
    return {
        "accuracy": sk.accuracy_score(truth, predicted),
        "sensitivity": sk.recall_score(truth, predicted),
        "specificity": sk.recall_score(truth, predicted, pos_label=False),
        "precision": sk.precision_score(truth, predicted),
        "npv_sample": sk.precision_score(truth, predicted, pos_label=False),
        "roc_auc": sk.roc_auc_score(truth, p),
        "brier": sk.brier_score_loss(truth, p),
    }


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_measures_of_all_rows_lie_within_the_limits(
    name: str, example: Callable[[str], Path], whole: Path
) -> None:
    file, outcome, event, models, threshold = EXAMPLES[name]
    # The predictions are those committed, and the outcomes are those of the script, which no library's version changes.
    table = pl.read_csv(DATA / f"{file}.csv").with_columns(pl.read_csv(whole / f"{file}.csv")[outcome])
    rows = [row for row in Results.read(example(name) / "results.json").rows if row.slice is None]
    for model, column in models.items():
        truth = values_of(table, outcome, event, column, threshold)
        seen = {row.metric: row for row in rows if row.model == model and row.metric in truth}
        assert len(seen) >= 4
        for metric, row in seen.items():
            assert row.lower is not None
            assert row.upper is not None
            assert row.lower <= truth[metric] <= row.upper, (model, metric)


@pytest.mark.parametrize(("name", "metrics"), [
    ("labels_rejects", ("sensitivity", "specificity", "brier")), ("labels_verified", ("specificity",)),
])
def test_rows_with_an_outcome_alone_say_what_is_wrong(
    name: str, metrics: tuple[str, ...], example: Callable[[str], Path]
) -> None:
    file, outcome, event, models, threshold = EXAMPLES[name]
    ((model, column),) = models.items()
    alone = values_of(pl.read_csv(DATA / f"{file}.csv"), outcome, event, column, threshold)
    rows = {row.metric: row for row in Results.read(example(name) / "results.json").rows
            if row.slice is None and row.model == model}

    for metric in metrics:
        lower, upper = rows[metric].lower, rows[metric].upper
        assert lower is not None
        assert upper is not None
        assert not lower <= alone[metric] <= upper
    stated = {  # by the comments of the configs
        "labels_rejects": {"roc_auc": 0.78, "sensitivity": 0.33},
        "labels_verified": {"sensitivity": 0.95, "specificity": 0.45},
    }[name]
    assert {metric: round(alone[metric], 2) for metric in stated} == stated


def test_the_results_say_what_would_be_without_weights(example: Callable[[str], Path]) -> None:
    file, outcome, event, models, threshold = EXAMPLES["labels_verified"]
    expected = values_of(pl.read_csv(DATA / f"{file}.csv"), outcome, event, models["test"], threshold)
    results = Results.read(example("labels_verified") / "results.json")

    assert [row.metric for row in results.unweighted] == [row.metric for row in results.rows if row.slice is None]
    for row in results.unweighted:
        assert row.unweighted == pytest.approx(expected[row.metric], abs=1e-12)  # the rounding of sums
    assert not Results.read(example("labels_rejects") / "results.json").unweighted  # a judge's, which says it otherwise


def test_the_second_reader_is_as_the_config_says(whole: Path) -> None:
    table = pl.read_csv(DATA / "checked_digits.csv").with_columns(pl.read_csv(whole / "checked_digits.csv")["digit"])
    wrong = table.filter(pl.col("digit") != pl.col("second_reader"))

    assert round(1 - len(wrong) / len(table), 2) == 0.95
    assert (wrong["digit"] == "odd").sum() > 2 * (wrong["digit"] == "even").sum()


def test_gates_of_the_examples_are_as_their_comments_say(example: Callable[[str], Path]) -> None:
    verdicts = {name: [gate.outcome for gate in Results.read(example(name) / "results.json").gates]
                for name in EXAMPLES}

    assert verdicts == {
        "labels_judge": ["pass", "pass", "pass", "inconclusive"],
        "labels_rejects": ["pass"] * 4,
        "labels_verified": ["inconclusive", "pass"],
        "labels_nightly": ["pass", "pass"],
    }


def test_early_outcomes_of_the_nightly_example_are_often_fraud(example: Callable[[str], Path]) -> None:
    """Of payments that are not settled; the card of all that is known by its day would say so of all."""
    day, table = dt.date(2026, 3, 31), pl.read_csv(DATA / "disputes.csv", try_parse_dates=True)
    waiting = table.filter(pl.col("paid_on") > day - dt.timedelta(days=45))
    early = waiting.filter(pl.col("known_on") <= day)
    (row,) = Results.read(example("labels_nightly") / "results.json").labelled

    assert (early["fraud"] == "fraud").mean() > 3 * (waiting["fraud"] == "fraud").mean()
    assert row.lower is not None
    assert row.upper is not None
    assert row.lower <= (table["fraud"] == "fraud").mean() <= row.upper
    assert (row.rows, row.known) == (len(table), len(table) - len(waiting))


def test_the_script_makes_the_committed_tables(tmp_path: Path) -> None:
    subprocess.run([sys.executable, DATA / "make_labels.py", tmp_path], check=True)

    for file in ("applications", "disputes"):
        assert (tmp_path / f"{file}.csv").read_bytes() == (DATA / f"{file}.csv").read_bytes()
    for file in ("checked_digits", "biopsies"):
        fresh, kept = (pl.read_csv(folder / f"{file}.csv") for folder in (tmp_path, DATA))
        assert fresh.columns == kept.columns
        observed = [column for column in kept.columns if column not in PREDICTED]
        assert fresh.select(observed).equals(kept.select(observed))
        for column in set(kept.columns) & set(PREDICTED):
            if column == "second_reader":
                assert (fresh[column] == kept[column]).mean() > 0.99  # neighbours at nearly equal distance
            else:
                assert (fresh[column] - kept[column]).abs().mean() < (0.02 if column == "forest" else 2e-4)
