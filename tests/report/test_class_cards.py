"""The card of an outcome with several levels, made from a real evaluation."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

import evalpipe
from evalpipe.report.classes import class_tables
from evalpipe.report.figures import drawings
from evalpipe.report.html import html_page
from evalpipe.report.view import card_view
from evalpipe.results import Results

LEVELS = ["red", "green", "blue", "violet"]


@pytest.fixture(scope="module")
def results() -> Results:
    generator = np.random.default_rng(3)
    codes = generator.choice(4, 400, p=[0.4, 0.3, 0.2, 0.1])
    chances = generator.dirichlet(np.ones(4), 400)
    chances[np.arange(400), codes] += 0.4
    chances /= chances.sum(axis=1, keepdims=True)
    columns = {f"p_{level}": chances[:, k] for k, level in enumerate(LEVELS)}
    frame = pl.DataFrame({"y": np.array(LEVELS)[codes], **columns})
    spec = {
        "evalpipe": 1, "name": "colours", "task": "ordinal", "outcome": {"column": "y", "levels": LEVELS},
        "prevalence": {"levels": {"red": 0.25, "green": 0.25, "blue": 0.25, "violet": 0.25}, "source": "a guess"},
        "datasets": {"test": {"path": "memory"}}, "models": {"m": {"probabilities": "p_{level}", "label": "Model A"}},
        "costs": [{"truth": "red", "predicted": "violet", "cost": 4.5}],
        "metrics": [
            "accuracy", "cost", "weighted_kappa", {"metric": "precision", "average": ["macro", "micro", "none"]},
            {"metric": "roc_auc", "average": "none"},
        ],
        "intervals": {"replicates": 100}, "no_information": True,
    }
    return evalpipe.run(spec, frames={"test": frame})


def test_the_classes_have_a_table_of_their_own(results: Results) -> None:
    (table,) = class_tables(results, "test")
    assert (table.model, table.heads) == ("Model A", ("Precision", "ROC AUC"))
    assert [row[0] for row in table.rows] == LEVELS
    counts = {level.level: level.rows for level in results.datasets[0].levels}
    assert [row[1] for row in table.rows] == [f"{counts[level]:,}" for level in LEVELS]
    precision = next(row for row in results.rows if row.class_ == "blue" and row.metric == "precision")
    assert table.rows[2][2][0].value == f"{precision.value:.3f}"


def test_the_table_of_measures_has_averages_alone(results: Results) -> None:
    (table,) = card_view(results).datasets[0].metrics
    assert [(row.title, row.options) for row in table.rows] == [
        ("Accuracy", ""), ("Cost", ""), ("Weighted kappa", "weights = quadratic"), ("Precision", "mean over classes"),
        ("Precision", "classes pooled"),
    ]


def test_the_value_without_information_stands_beside_the_measure(results: Results) -> None:
    (table,) = card_view(results).datasets[0].metrics
    kappa = next(row for row in table.rows if row.title == "Weighted kappa")
    skill = next(row for row in results.rows if row.metric == "weighted_kappa").skill
    assert kappa.blind == f"Without information 0.000; skill {skill:.3f}"
    assert "over 200 random pairings" in html_page(results).decode()


def test_the_facts_name_levels_and_priors(results: Results) -> None:
    view = card_view(results)
    assert view.subject == "levels: red, green, blue, violet"
    assert ("Levels in ascending order", "red, green, blue, violet") in view.facts
    priors = "red: 0.25, green: 0.25, blue: 0.25, violet: 0.25 (source: a guess)"
    assert ("Declared prevalence", priors) in view.facts
    assert [head for head, _ in view.datasets[0].support] == ["n", "Levels that occur", "Largest", "Smallest"]
    assert [row.prior for row in view.datasets[0].levels] == ["25.0%"] * 4


def test_what_pairs_of_levels_weigh_is_shown(results: Results) -> None:
    matrices = {measure.name: measure.matrices for measure in card_view(results).measures}
    (title, rows), = matrices["weighted_kappa"]
    assert title == "quadratic weights"
    assert rows[0] == ("0", "1", "4", "9")
    assert matrices["cost"][0][1][0] == ("0", "0", "0", "4.5")
    page = html_page(results).decode()
    assert "Quadratic weights: true level by row, predicted level by column" in page


def test_the_confusion_matrix_is_shaded_by_the_share_of_its_row(results: Results) -> None:
    (table,) = card_view(results).datasets[0].confusions
    counts = results.confusion[0].counts
    assert table.cells[1][1].shade == int(np.ceil(10 * counts[1][1] / sum(counts[1])))
    assert table.rule == "The most probable level is predicted; no row has several, of which the first in order counts."
    page = html_page(results).decode()
    assert len(re.findall(r'class="num (?:right|wrong) shade-\d+"', page)) == 16


def test_every_model_has_its_curves_of_classes_and_cuts(results: Results) -> None:
    titles = [drawing.title for drawing in drawings(results, "test")]
    assert titles == [
        "Estimates with intervals",
        "ROC curves of each class, Model A",
        "Precision-recall curves of each class, Model A",
        "Reliability of each class, Model A",
        "Reliability at each cut between levels, Model A",
        "Reliability of the predicted level",
        "Levels of the outcome",
    ]
    roc = next(drawing for drawing in drawings(results, "test") if drawing.title.startswith("ROC"))
    area = next(row for row in results.rows if (row.metric, row.class_) == ("roc_auc", "green"))
    assert f"green: AUC {area.value:.3f}" in roc.alt
    levels = next(drawing for drawing in drawings(results, "test") if drawing.title == "Levels of the outcome")
    assert "declared 25.0%." in levels.alt
