"""The card of an outcome with several levels, made from a real evaluation."""

from __future__ import annotations

import json
import re
from html import unescape

import numpy as np
import polars as pl
import pytest

import evalpipe
from card.blocks import column, facts, heads, lines, table, tables
from card.drawn import of_figure
from engine.runs import run
from evalpipe.card import appendix, data, wording
from evalpipe.card.contents import masthead, subject
from evalpipe.card.dataset_results import class_blocks, confusion_blocks, measure_tables
from evalpipe.card.figures import drawings
from evalpipe.card.html import html_page
from evalpipe.card.page import plain
from evalpipe.card.tables import shown
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


@pytest.fixture(scope="module")
def page(results: Results) -> str:
    return html_page(results).decode()


def test_the_classes_have_a_table_of_their_own(results: Results) -> None:
    classes = table(class_blocks(results, "test"), "Model A")
    assert heads(classes) == ["Class", "Rows", "Precision", "ROC AUC"]
    assert column(classes, "Class") == LEVELS
    counts = {level.level: level.rows for level in results.datasets[0].levels}
    assert column(classes, "Rows") == [f"{counts[level]:,}" for level in LEVELS]
    precision = next(row for row in results.rows if row.class_ == "blue" and row.metric == "precision")
    assert column(classes, "Precision")[2] == shown(precision)


def test_the_table_of_measures_has_averages_alone(results: Results) -> None:
    (measures,) = measure_tables(results, "test")
    named = [tuple(piece for piece in title if getattr(piece, "style", "").partition(" ")[0] != "definition")
             for title in column(measures, "Measure")]
    assert [plain(title) for title in named] == [
        "Accuracy", "Cost", "Weighted kappa (weights = quadratic)", "Precision (mean over classes)",
        "Precision (classes pooled)",
    ]


def test_the_value_without_information_stands_beside_the_measure(results: Results, page: str) -> None:
    (measures,) = measure_tables(results, "test")
    kappa = next(line[0] for line in lines(measures) if line[0].startswith("Weighted kappa"))
    skill = next(row for row in results.rows if row.metric == "weighted_kappa").skill
    assert kappa.endswith(f" Without information 0.000; skill {skill:.3f}")
    assert "over 200 random pairings" in page


def test_the_facts_name_levels_and_priors(results: Results) -> None:
    known = facts(masthead(results))
    assert subject(results) == "levels: red, green, blue, violet"
    assert known["Levels in ascending order"] == "red, green, blue, violet"
    priors = "red: 0.25, green: 0.25, blue: 0.25, violet: 0.25 (source: a guess)"
    assert known["Declared prevalence"] == priors
    assert column(table(data.data_sections(results), "Levels"), "Declared prior") == ["0.25"] * 4


def test_the_bar_of_a_level_stands_beside_its_name_though_another_takes_two_lines(results: Results) -> None:
    names = {"green": "a green that is neither that of grass nor that of the sea"}
    summary = results.datasets[0]
    levels = [level.model_copy(update={"level": names.get(level.level, level.level)}) for level in summary.levels]
    renamed = results.model_copy(update={
        "datasets": [summary.model_copy(update={"levels": levels})], "prevalence": None})
    (drawing,) = of_figure(renamed, "test", "levels")
    bars = [float(y) + 6 for y in re.findall(r'class="fill muted" d="M[\d.]+,([\d.]+)H', drawing.svg)]
    texts = re.findall(r'class="text ink" x="0" y="([\d.]+)">(\w+)', drawing.svg)
    heights = {word: float(y) - 4.5 for y, word in texts}
    assert [heights[level] for level in ("red", "blue", "violet")] == pytest.approx([bars[0], *bars[2:]], abs=0.2)


def test_what_pairs_of_levels_weigh_is_shown(results: Results, page: str) -> None:
    matrices = {matrix.region: lines(matrix) for matrix in tables(appendix.definition_sections(results))}
    assert matrices["Weighted kappa: quadratic weights"][0] == ["red", "0", "1", "4", "9"]
    assert next(rows for title, rows in matrices.items() if title.startswith("Cost"))[0] == [
        "red", "0", "0", "0", "4.5"]
    assert "Quadratic weights: true level by row, predicted level by column" in page


def test_the_confusion_matrix_is_shaded_by_the_share_of_its_row(results: Results, page: str) -> None:
    matrix = table(confusion_blocks(results, "test"))
    counts = results.confusion[0].counts
    assert column(matrix, "green")[1].style == f"right shade-{int(np.ceil(10 * counts[1][1] / sum(counts[1])))}"
    assert plain(matrix.caption) == (
        "Model A The most probable level is predicted. There were no ties.")
    for tied, said in ((1, "1 row had a tie"), (1200, "1,200 rows had ties")):
        confusion = results.confusion[0].model_copy(update={"tied": tied})
        assert wording.prediction_rule(confusion, "level") == (
            f"The most probable level is predicted. {said}: the first level in order is predicted.")
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
    roc = of_figure(results, "test", "roc_of_classes")[0]
    area = next(row for row in results.rows if (row.metric, row.class_) == ("roc_auc", "green"))
    assert f"green: AUC {shown(area).text}" in roc.alt
    (levels,) = of_figure(results, "test", "levels")
    assert "declared 0.25." in levels.alt


def test_figures_of_many_classes_say_how_many_they_draw_and_keep_numbers_off_the_curve() -> None:
    generator, names = np.random.default_rng(3), [f"c{k}" for k in range(8)]
    truth = generator.integers(0, 8, 400)
    scores = np.exp(generator.normal(size=(400, 8)) + 2 * np.eye(8)[truth])
    frame = pl.DataFrame({"y": [names[k] for k in truth],
                          **dict(zip(names, (scores / scores.sum(1, keepdims=True)).T, strict=True))})
    models = {"m": {"probabilities": {name: name for name in names}}}
    found = run(frame, task="multiclass", outcome={"column": "y", "levels": names}, metrics=["accuracy"],
                models=models, intervals={"method": "none"})
    for figure, words in (("roc_of_classes", "smallest areas"), ("precision_recall_of_classes", "smallest areas"),
                          ("reliability_of_classes", "widest gaps")):
        (drawing,) = of_figure(found, "d", figure)
        assert drawing.caption.endswith(f" Shown: the 6 of 8 classes with the {words}.")
    (curves,) = of_figure(found, "d", "precision_recall_of_classes")
    # Precision is lowest at the right, where recall is 1.
    texts = re.findall(r'<text [^>]*x="([\d.]+)"([^>]*)>AP', curves.svg)
    lefts = [panel[0] for panel in json.loads(unescape(re.findall(r'data-axes="([^"]+)"', curves.svg)[0]))]
    assert [float(x) for x, _ in texts] == pytest.approx([left + 4 for left in lefts], abs=0.06)
    assert not any("anchor" in more for _, more in texts)
