"""The logistic model of Biecek & Burzykowski's chapter on the Titanic data, through the whole pipeline.

Counts exactly; values to half a unit of the last digit they are given to.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evalpipe
from evalpipe.metrics import registry
from evalpipe.results import Results
from evalpipe.statistics import Rows, Summary


@pytest.fixture(scope="module")
def results(reference: Path) -> Results:
    spec: dict[str, Any] = {
        "evalpipe": 1, "name": "titanic", "task": "binary", "outcome": {"column": "survived", "event": 1},
        "datasets": {"all": {"path": str(reference / "titanic" / "lrm.csv")}},
        "models": {"lrm": {"probability": "p_lrm"}},
        "metrics": ["recall", "precision", "f1", "accuracy", "specificity", "roc_auc"],
        "intervals": {"method": "none"}, "report": {"formats": []},
    }
    return evalpipe.run(spec)


def test_the_confusion_matrix(results: Results) -> None:
    matrix = results.confusion[0]
    assert (matrix.levels, matrix.threshold) == (["1", "0"], 0.5)
    assert matrix.counts == [[416, 295], [137, 1359]]  # the chapter adds 416 and 137 to 653; they are 553


FIGURES = [
    ("sensitivity", 0.5850914, 7), ("precision", 0.7522604, 7), ("f1", 0.6582278, 7), ("accuracy", 0.8042592, 7),
    ("specificity", 0.90842, 5), ("roc_auc", 0.8174, 4),
]


@pytest.mark.parametrize(("metric", "value", "digits"), FIGURES)
def test_the_figures_of_the_chapter(results: Results, metric: str, value: float, digits: int) -> None:
    found = next(row.value for row in results.rows if row.metric == metric)
    assert found is not None
    assert round(found, digits) == value


def test_the_forest_of_the_chapter_from_its_confusion_matrix() -> None:
    """454, 60, 257, 1436 of the chapter's forest: accuracy, precision, recall, F1, specificity as printed."""
    cells = (454, 60, 257, 1436)
    truth = np.repeat([True, False, True, False], cells)
    predicted = np.repeat([True, True, False, False], cells)
    summary = Summary(Rows(truth, predicted), np.ones(sum(cells)))
    names = ("accuracy", "precision", "sensitivity", "f1", "specificity")
    found = [float(summary.value(registry[name], {})) for name in names]
    assert found == pytest.approx([0.8564, 0.8833, 0.6385, 0.7412, 0.9599], abs=5e-5)
