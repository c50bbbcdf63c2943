"""The card's section on the prevalence."""

from __future__ import annotations

import re
from typing import Any

import polars as pl
import pytest

from card.blocks import column, heads, lines, paragraphs, table, tables
from card.many_levels import SHORT, of_levels
from chapters.prevalence.test_compute import WORDS, words
from engine.runs import BOTH, intervals, people, run
from evalpipe.card.html import html_page
from evalpipe.card.page import Table, plain
from evalpipe.card.palette import MODELS
from evalpipe.card.wording import names_of
from evalpipe.chapters.prevalence.card import outcome, prevalence_figures, sections
from evalpipe.chapters.recalibrate.card_verdict import conclusion
from evalpipe.results import Results

BETA: dict[str, Any] = {
    "prevalence": {"beta": [20.0, 80.0], "source": "a survey"}, "models": BOTH, "intervals": intervals(100),
    "metrics": ["accuracy", {"metric": "precision", "prevalence": ["sample", "declared", 0.05]}, "ppv",
                {"metric": "brier", "prevalence": "declared"}],
}


@pytest.fixture(scope="module")
def beta() -> Results:
    return run(people(300), **BETA)


def lead(results: Results) -> str:
    return paragraphs(sections(results))[0]


def test_the_declared_prevalence_is_told_with_its_form_and_source(beta: Results) -> None:
    assert lead(beta).startswith(
        "Where the models will be used, the share of 1 is uncertain: a Beta(20, 80) distribution with mean 0.2, 95% "
        "of it between 0.128 and 0.283. Source: a survey. Limits at the declared prevalence include both the "
        "sampling error and the uncertainty of the prior: each bootstrap replicate draws its own prevalence. "
        "Measures at a prevalence reweight each class "
    )
    assert lead(run(people(300), **BETA | {"prevalence": 0.2})).startswith(
        "Where the models will be used, the share of 1 is taken to be 0.2. Its source is not stated. Measures at a ")


def test_a_prevalence_from_a_dataset_is_told_with_its_rows_and_how_its_limits_are_made() -> None:
    frames = {"d": people(300).with_columns(id=pl.int_range(pl.len())),
              "training": pl.DataFrame({"y": [1] * 400 + [0] * 600, "id": range(1000, 2000)})}
    keys: dict[str, Any] = BETA | {"prevalence": {"from": "training"}, "id": "id", "datasets": {
        "d": {"path": "memory"}, "training": {"path": "memory", "role": "reference"}}}
    found = run(frames, **keys)
    said = "0.400 (0.370–0.431), estimated from the 1,000 rows of training"
    assert lead(found).startswith(
        f"Where the models will be used, the share of 1 is taken to be {said}. Source: the outcomes of training. Its "
        "95% limits are those of a Beta(400, 600) distribution, whose parameters are the rows of each level. Limits at "
        "the declared prevalence include both the sampling error and")
    assert dict(outcome(found))["Declared prevalence"] == f"{said} (source: the outcomes of training)"
    frames = {name: frame.with_columns(w=pl.lit(1.0)) for name, frame in frames.items()}
    weighted = run(frames, **keys, weight={"column": "w", "kind": "importance"})
    assert "whose parameters are as many independent rows of equal weight as leave it so uncertain." in lead(weighted)


def test_the_head_of_the_card_gives_the_declared_and_the_observed_prevalence(beta: Results) -> None:
    (share,) = beta.observed
    assert dict(outcome(beta)) == {
        "Declared prevalence": "uncertain: a Beta(20, 80) distribution with mean 0.2, 95% of it between 0.128 and "
                               "0.283 (source: a survey)",
        "Observed prevalence": f"{share.value:.3f} ({share.lower:.3f}–{share.upper:.3f}) in d",
    }
    undeclared = beta.model_copy(update={"prevalence": None})
    assert dict(outcome(undeclared)) == {
        "Prevalence": f"{share.value:.3f} ({share.lower:.3f}–{share.upper:.3f}) in d; none declared"}
    nothing = undeclared.model_copy(update={"observed": []})
    assert dict(outcome(nothing)) == {"Declared prevalence": "not declared"}


def test_of_many_levels_the_head_of_the_card_gives_the_number(beta: Results) -> None:
    shares = {f"level {k}": 0.125 for k in range(8)}
    assert beta.prevalence is not None
    many = beta.model_copy(update={
        "event": None, "levels": list(shares), "prevalence": beta.prevalence.model_copy(update={"levels": shares})})
    assert dict(outcome(many)) == {"Declared prevalence": "stated for each of 8 levels (source: a survey)"}


def test_measures_stand_side_by_side_by_measure_and_model(beta: Results) -> None:
    measures = table(sections(beta), "Measures by prevalence on d, with 95% intervals")
    assert heads(measures)[2:] == ["In the sample", "At prevalence 0.2 (declared)", "At prevalence 0.05"]
    assert [tuple(line[:2]) for line in lines(measures)] == [
        (measure, model) for measure in ("Precision", "PPV", "Brier score (scale = half)") for model in ("p", "q")]
    by_params = {(e.metric, e.model, e.params.get("prevalence")): e for e in beta.rows}
    for head, at in zip(heads(measures)[2:], (None, 0.2, 0.05), strict=True):
        assert float(column(measures, head)[1].exact) == by_params["precision", "q", at].value
    assert [cell == "–" for cell in lines(measures)[2][2:]] == [True, False, True]


def test_the_observed_share_stands_beside_the_declared_one(beta: Results) -> None:
    ((dataset, level, observed, declared),) = lines(table(sections(beta), "Observed and declared prevalence"))
    (share,) = beta.observed
    assert (dataset, level, declared) == ("d", "1", "0.200 (0.128–0.283)")
    assert observed.endswith(f"({share.lower:.3f}–{share.upper:.3f})")


@pytest.mark.parametrize(("levels", "part"), [(SHORT[:6], "decisions"), (SHORT, "appendix")])
def test_the_shares_of_many_levels_stand_in_the_annex(levels: tuple[str, ...], part: str) -> None:
    declared = {level: 1 / len(levels) for level in levels}
    found = list(sections(of_levels(levels, 200, prevalence={"levels": declared})))
    with_table = {section.anchor: section.part for section in found for block in section.blocks
                  if isinstance(block, Table) and plain(block.caption).startswith("Observed and declared prevalence")}
    assert list(with_table.values()) == [part]
    assert found[0].anchor == "prevalence"
    assert "are taken to be" in plain(found[0].blocks[0].text)  # type: ignore[union-attr]


def test_a_measure_at_a_prevalence_is_named_so_everywhere(beta: Results) -> None:
    names = names_of(beta)
    assert names.measure("brier", {"scale": "half", "prevalence": 0.2}) == "Brier score (at prevalence 0.2)"
    page = html_page(beta).decode()
    assert page.count('id="prevalence"') == 1
    assert '<a href="#prevalence">Prevalence</a>' in page
    assert "(at prevalence 0.2)" in page
    assert "Predictive values by prevalence." in page


def test_levels_have_a_row_each_and_classes_are_told_apart_by_prevalence() -> None:
    asked = [{"metric": "f1", "average": ["macro", "none"], "prevalence": ["sample", "declared"]}]
    found = run(words(), **WORDS, prevalence={"dirichlet": {"a": 4.0, "b": 9.0, "c": 7.0}}, metrics=asked,
                intervals={"replicates": 100})
    shares, measures = tables(sections(found))
    assert column(shares, "Level") == ["a", "b", "c"]
    assert heads(measures)[2] == "At prevalence a 0.2, b 0.45, c 0.35 (declared)"
    page = html_page(found).decode()
    assert page.count("F1 (at prevalence a 0.2, b 0.45, c 0.35)") >= 1


def test_without_a_prevalence_there_is_no_section() -> None:
    found = run(people(100), metrics=["brier"], intervals={"method": "none"})
    assert list(sections(found)) == []
    assert 'id="prevalence"' not in html_page(found.model_copy(update={"curves": []})).decode()
    asked = run(people(100), metrics=[{"metric": "brier", "prevalence": 0.1}], intervals={"method": "none"})
    assert lead(asked).startswith("No prevalence is declared for where the models will be used. ")


def test_a_prior_shift_is_not_judged_by_rows_of_the_sample() -> None:
    found = run(people(300), prevalence=0.1, metrics=["brier"], intervals=intervals(100),
                recalibrate={"fit_on": {"folds": 3}, "methods": ["prior_shift"]})
    said = conclusion(found, "d", "p")
    assert said.headline == "no verdict."
    assert said.sentences[0] == (
        "A prior shift is meant for another prevalence than that of these rows, so measures on these rows cannot "
        "judge it.")


@pytest.mark.parametrize("models", [{"p": {"probability": "p"}}, BOTH])
def test_no_marker_stands_beside_the_name_of_a_line(models: Any) -> None:
    found = run(people(200), models=models, metrics=["brier"], intervals={"method": "none"})
    drawing = next(d for d in prevalence_figures(found, "d") if d.key == "d1-predictive")
    assert 'class="mark ' not in drawing.svg
    assert all(len(re.findall(f">{model}<", svg)) == 1 for svg in drawing.svgs for model in models)


@pytest.mark.parametrize(("count", "named"), [(2, True), (len(MODELS) + 1, False)])
def test_marks_of_more_models_than_colours_have_numbers_in_figures_by_rate(count: int, named: bool) -> None:
    models = {f"model {k}": {"probability": "p" if k % 2 else "q"} for k in range(count)}
    found = run(people(200), models=models, prevalence=0.2, metrics=["ppv"], intervals={"method": "none"})
    drawn = [d for d in prevalence_figures(found, "d") if re.match("d1-predictive-", d.key)]
    assert len(drawn) == 2
    for drawing in drawn:
        assert ("model 1<" in drawing.svg) == named
        assert ("Marks: the models, 1 model 0, 2 model 1, " in drawing.caption) != named
        assert all((">2</text>" in svg) != named for svg in drawing.svgs)
        assert {f"model {k}" for k in range(count)} <= {points.name for points in drawing.points}
