"""The section of desirability: words, tables and figures, from results made by hand on small runs."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest

from card.blocks import column, heads, lines, paragraphs, table, tables
from engine.runs import people, run
from evalpipe.card import wording
from evalpipe.card.figures.svg import SWATCH
from evalpipe.card.html import html_page
from evalpipe.chapters.desirability.card_models import desirability_figures, form, models_by_rank, sections, verdict
from evalpipe.chapters.desirability.records import Goal
from evalpipe.results import Results
from evalpipe.words import numbers

GOALS: list[dict[str, Any]] = [
    {"metric": "brier", "minimize": {"low": 0.1, "high": 0.25, "scale": 2}},
    {"metric": "sensitivity", "maximize": {"low": 0.2, "high": 0.9}, "weight": 3},
    {"characteristic": "in_use", "category": {"true": 1.0, "false": 0.4}, "missing": 0.5},
    {"metric": "roc_auc", "custom": {"values": [0.5, 1], "desirability": [0, 1]}},
    {"metric": "specificity", "box": {"low": 0.7, "high": 1}},
    {"characteristic": "active_features", "target": {"low": 0, "target": 10, "high": 20, "scale_high": 3}},
]


def models(count: int) -> dict[str, Any]:
    return {
        f"m{i}": {"probability": "q" if i else "p", "label": f"Model <{i}>",
                  "characteristics": {"in_use": i % 2 == 0, "active_features": 9 + i}}
        for i in range(count)
    }


@cache
def whole(count: int = 2, method: str = "auto") -> Results:
    intervals = {"replicates": 100, "bands": False} if method == "auto" else {"method": method}
    return run(people(300), models=models(count), metrics=["accuracy"], desirability=GOALS, intervals=intervals)


def changed(results: Results, **rows: list[dict[str, Any]]) -> Results:
    """Return results in which rows of the tables of desirability have other values."""
    tables = {
        name: [row.model_copy(update=update) for row, update in zip(
            getattr(results.desirability, name), each, strict=True)]
        for name, each in rows.items()
    }
    return results.model_copy(update={"desirability": results.desirability.model_copy(update=tables)})


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (0, "Minimize: 1 up to 0.1, 0 from 0.25, scale 2"),
        (1, "Maximize: 0 up to 0.2, 1 from 0.9"),
        (2, "Category: true 1, false 0.4"),
        (3, "Custom: 0 at 0.5, 1 at 1; level beyond"),
        (4, "Box: 1 from 0.7 to 1, 0 outside"),
        (5, "Target: 1 at 10, 0 at 0 and 20, scale high 3"),
    ],
)
def test_each_form_is_said_in_words(place: int, expected: str) -> None:
    assert form(whole().desirability.goals[place]) == expected


def test_points_say_what_lies_beyond_them() -> None:
    said = [
        form(Goal(goal="g", kind="custom", shape={"values": [0, 1], "desirability": [1, 0], "extrapolate": beyond},
                  weight=1)).split("; ")[1]
        for beyond in ("clamp", "zero", "error")
    ]

    assert said == ["level beyond", "0 beyond", "nothing may lie beyond"]


def test_the_tables_hold_the_numbers_of_the_results() -> None:
    section, found = list(sections(whole())), whole().desirability
    goals, overall = table(section, "Goals"), table(section, "Overall desirability on d, with 95% intervals")
    individual = tables(section, "Individual desirabilities on d")
    best = models_by_rank(whole(), "d")

    assert column(goals, "Goal") == [
        "Brier score", "Sensitivity", "In use", "ROC AUC", "Specificity", "Active features"]
    assert column(goals, "Weight")[1:3] == ["3", "1"]
    assert column(goals, "If missing")[1:3] == ["–", "0.5"]
    assert column(overall, "Model") == [f"Model <{row.model[1]}>" for row in best]
    assert [float(number.exact or "nan") for number in column(overall, "D")] == [row.value for row in best]
    for line, row in zip(lines(overall), best, strict=True):
        firsts = [c.first for c in found.sensitivity if c.model == row.model]
        assert line[2].endswith(f"({numbers.interval(row.value, row.lower, row.upper)[1]})")
        assert line[3] == f"{100 * (row.probability_best or 0):.1f}%"
        assert line[5:] == [f"{sum(firsts)} of 12", {True: "yes", False: "no"}[bool(row.pareto)]]
    assert [len(heads(each)) - 1 for each in individual] == [3, 3]
    assert lines(individual[0])[0][3].endswith("at yes" if best[0].model == "m0" else "at no")


def test_without_replicates_nothing_is_said_of_them() -> None:
    section = list(sections(whole(method="none")))

    assert "Best in replicates" not in heads(table(section, "Overall"))
    assert "replicates" not in " ".join(paragraphs(section))


def test_a_card_without_goals_has_no_section() -> None:
    without = run(people(50), metrics=["accuracy"], intervals={"method": "none"})
    page = html_page(without.model_copy(update={"curves": []})).decode()

    assert 'id="desirability"' not in page
    assert "#desirability" not in page


def test_the_section_is_in_the_contents_and_names_are_escaped() -> None:
    page = html_page(whole().model_copy(update={"curves": []})).decode()

    (contents,) = re.findall(r'<nav class="contents".*?</nav>', page, re.DOTALL)
    assert contents.count('href="#desirability"') == 1
    assert "Model <0>" not in page
    assert "Model &lt;0&gt;" in page
    assert "First by changed weights" in page


def test_the_verdict_names_the_first_how_sure_it_is_and_the_weights_it_hangs_on() -> None:
    base = whole()
    first = {"value": 0.7, "lower": 0.6, "upper": 0.8, "rank": 1, "probability_best": 0.75}
    second = {"value": 0.6, "lower": 0.5, "upper": 0.7, "rank": 2, "probability_best": 0.25}
    places = [(c.goal, c.factor, c.model) for c in base.desirability.sensitivity]
    lost = {("minimize brier", 0.5), ("category in_use", 2.0)}
    changes = [{"first": (model == "m1") == ((goal, factor) in lost)} for goal, factor, model in places]
    sure = [{**first, "probability_best": 0.96}, {**second, "probability_best": 0.04}]
    held = [{"first": model == "m0"} for _, _, model in places]

    assert verdict(changed(base, overall=[first, second], sensitivity=changes), "d") == (
        ("Model <0> is the most desirable, with D = 0.70 (95% interval 0.60–0.80); it is the best in 75.0% of the "
         "replicates, so these data do not decide which is best."),
        ("First place depends on the weights: Model <1> would be first if the weight of Brier score were halved or "
         "that of In use doubled."),
    )
    assert verdict(changed(base, overall=sure, sensitivity=held), "d") == (
        ("Model <0> is the most desirable, with D = 0.70 (95% interval 0.60–0.80); it is the best in 96.0% of the "
         "replicates, so these data decide which is best."),
        "First place does not change when the weight of any one goal is halved or doubled.",
    )


def test_the_verdict_names_ties_what_is_unacceptable_and_what_is_undefined() -> None:
    base = whole(3)
    tie = {"value": 0.7, "lower": None, "upper": None, "rank": 1, "probability_best": 0.5}
    gone = {"value": None, "rank": None, "status": "undefined", "reason": "no desirability in: box specificity"}
    zero = {"value": 0.0, "lower": None, "upper": None, "rank": 1, "probability_best": 1 / 3}
    held = [{"first": c.model != "m2"} for c in base.desirability.sensitivity]
    bad = [{"desirability": 0.0 if row.goal == "box specificity" else 0.5} for row in base.desirability.individual]
    fine = [{"desirability": 0.5} for _ in bad]

    assert verdict(changed(base, overall=[tie, tie, gone], sensitivity=held, individual=fine), "d") == (
        "Model <0> and Model <1> are equally the most desirable, with D = 0.700.",
        "First place does not change when the weight of any one goal is halved or doubled.",
        "Model <2> has no overall desirability: no desirability in: box specificity.",
    )
    assert verdict(changed(base, overall=[zero] * 3, individual=bad), "d") == (
        "No model is acceptable: each has a goal whose desirability is 0.",
        "Model <0>, Model <1> and Model <2> are unacceptable, with desirability 0 for Specificity.",
    )
    assert verdict(changed(base, overall=[gone] * 3, individual=fine), "d")[0] == (
        "No model has an overall desirability.")


def test_a_single_model_is_not_ranked() -> None:
    section = list(sections(whole(1)))

    assert heads(table(section, "Overall")) == ["Model", "D"]
    assert paragraphs(section)[2].startswith("Model <0> has an overall desirability of D = 0.")
    assert [drawing.title for drawing in desirability_figures(whole(1), "d")] == ["Goals"]


def test_figures_say_every_desirability_and_are_the_same_bytes_again() -> None:
    goals, overall = desirability_figures(whole(), "d")
    found = whole().desirability

    for row in found.individual:
        assert numbers.number(row.desirability) in goals.alt
    for row in found.overall:
        assert "{} ({})".format(*numbers.interval(row.value, row.lower, row.upper)) in overall.alt
    assert [drawing.svg for drawing in desirability_figures(whole(), "d")] == [goals.svg, overall.svg]


def test_many_models_are_all_drawn_and_the_most_desirable_told_apart() -> None:
    goals, overall = desirability_figures(whole(20), "d")

    assert "grey: 13 less desirable models" in goals.in_short
    for i in range(20):
        assert f"Model &lt;{i}&gt;" in overall.svg
    named = [i for i in range(20) if f"Model &lt;{i}&gt;" in goals.svg]
    first = [int(row.model[1:]) for row in models_by_rank(whole(20), "d")[:7]]
    assert set(named) <= set(first)
    # What has no room for its name is told where its mark is named.
    assert (len(named) < 7) == ("marks without a name: see the figure Overall desirability" in goals.in_short)
    assert f"h{SWATCH}" not in goals.svg  # no key


def test_lists_are_written_in_words() -> None:
    assert [wording.joined(list("abc"[:n])) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]
