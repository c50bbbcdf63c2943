"""The logistic model of Biecek & Burzykowski's chapter on the Titanic data, through the whole pipeline.

Counts exactly; values to half a unit of the last digit they are given to.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import evalpipe
from evalpipe.results import Results


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
