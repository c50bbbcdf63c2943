"""What the card, the findings and the plan say of steps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import evalpipe
from chapters.steps.fits import N, descent, long, rows, run_of, written
from evalpipe.card.contents import card_of
from evalpipe.card.figures.svg import SWATCH, data_tables
from evalpipe.card.page import Group, Row, Section, Table, Text, plain
from evalpipe.chapters.steps.card import MOST_PANELS, facts, procedures, reading, sections, step_figures
from evalpipe.cli import main
from evalpipe.findings import findings

if TYPE_CHECKING:
    from pathlib import Path

    from evalpipe.results import Results

OPTIMISTIC = "A best step is chosen on the rows that judge it, so its value is optimistic."
MEANS = ("Log loss judges the probabilities, Accuracy the predicted levels alone: choose the step by what will be "
         "used.")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return run_of(tmp_path_factory.mktemp("steps"))


def texts(section: Section) -> list[str]:
    return [plain(block.text) for block in section.blocks if isinstance(block, Text)]


def table(section: Section) -> Table:
    return next(block for block in section.blocks if isinstance(block, Table))


def of_steps(results: Results) -> list[str]:
    return [finding.text for finding in findings(results) if finding.section.startswith("steps-")]


def with_values(results: Results, *changes: dict[str, Any]) -> Results:
    """Return the results with other histories."""
    return results.model_copy(update={"steps": [
        row.model_copy(update=change) for row, change in zip(results.steps, changes, strict=False)]})


def test_the_section_says_what_is_shown_and_what_is_not_known(results: Results) -> None:
    (section,) = sections(results)
    assert (section.anchor, section.title, section.part) == ("steps-1", "Measures per step on test", "results")
    assert texts(section) == [
        ("Measures of each model at every step of its fit, on all rows of test, without intervals. All other parts of "
         "this card show slow at step 30, its last; quick at step 15, its last."),
        ("slow: Log loss is best at step 30 (0.563), Accuracy at step 15 (0.717; 0.708 at step 30). "
         f"{MEANS} {OPTIMISTIC}")]


def test_the_table_has_first_last_and_best(results: Results) -> None:
    (section,) = sections(results)
    assert table(section).caption == "Measures at the first, the last and the best step on test"
    assert [column.head for column in table(section).columns if column.shown] == [
        "Measure", "First step", "Last step", "Best", "Best step"]
    assert [plain(row.heading) if isinstance(row, Group) else [plain(cell) for cell in row.cells]
            for row in table(section).rows] == [
        "slow:  31 steps, 0–30; step 30 shown",
        ["Log loss lower is better", "1.583", "0.563", "0.563", "0.563", "30"],
        ["Accuracy higher is better", "0.317", "0.708", "0.708", "0.717", "15"],
        "quick:  16 steps, 0–15; step 15 shown",
        ["Log loss lower is better", "0.839", "0.670", "0.670", "0.670", "15"],
        ["Accuracy higher is better", "0.700", "0.708", "0.708", "0.708", "1 and 14 more"]]


def test_the_figure_states_its_finding_and_has_its_data(results: Results) -> None:
    (drawing,) = step_figures(results, "test")
    said = ("Log loss: lowest at step 30 for slow (0.563) and at step 15 for quick (0.670). Accuracy: highest at "
            "step 15 for slow (0.717) and first at step 1 for quick (0.708).")
    assert drawing.finding == said
    assert drawing.alt == f"Measures per step on test. {said}"
    assert drawing.caption == ("Each measure at every step, on test; no intervals. A marker is the first step with the "
                               "best value.")
    assert len(drawing.svgs) == 2
    for svg in drawing.svgs:  # each model is named at its line, and in no key
        assert all(svg.count(f">{name}<") == 1 for name in ("slow", "quick"))
        assert f"h{SWATCH}" not in svg
    losses, shares = data_tables(drawing)
    assert losses.heads == ("Series", "Step", "Log loss (lower is better)")
    assert [row for row in losses.rows if row[1] in ("0", "30")] == [
        ("slow", "0", "1.583"), ("slow", "30", "0.5631"), ("quick", "0", "0.8389"),
        ("slow, best step", "30", "0.5631")]
    assert shares.heads == ("Series", "Step", "Accuracy (higher is better)")
    assert ("quick, best step", "1", "0.7083") in shares.rows


def test_the_card_says_at_three_places_which_step_it_shows(results: Results) -> None:
    assert list(facts(results, results.models[0])) == [("Step", "30, the last of 31 steps, 0–30")]
    assert list(reading(results, "test")) == [
        "Models that have steps are shown at one of them: slow at step 30, its last; quick at step 15, its last."]
    (procedure,) = procedures(results)
    assert procedure.text == (
        "Every step has all rows of the dataset once, and is measured as the shown step is, with the same threshold. "
        "The values have no intervals. The best step is the first whose value no other step betters; values that "
        "differ by rounding alone tie. It is chosen on the rows that judge it: to choose a step for use, take rows of "
        "their own, and judge it on others.")


def test_a_card_without_steps_has_no_word_of_them(results: Results) -> None:
    without = results.model_copy(update={"steps": []})
    assert list(sections(without)) == list(reading(without, "test")) == list(procedures(without)) == []
    assert list(facts(without, without.models[0])) == []
    assert of_steps(without.model_copy(update={"findings": []})) == []


def test_a_step_that_is_not_the_last_is_a_ring_and_told_where_it_is_worse(tmp_path: Path) -> None:
    frame = rows()
    spec = written(tmp_path, frame, net=long(frame, descent(frame, (-2.0, 1.0))))
    spec["models"]["net"]["step"] = {"column": "epoch", "at": 4}
    results = evalpipe.run(spec)
    (section,) = sections(results)
    (drawing,) = step_figures(results, "test")
    assert "Shown step" in [column.head for column in table(section).columns if column.shown]
    assert drawing.caption.endswith("A ring is the step that the rest of the card shows.")
    assert list(facts(results, results.models[0])) == [("Step", "4 of 31 steps, 0–30")]
    assert of_steps(results)[0] == (
        "The step that this card shows is not the best by Log loss: net 0.963 at step 4, 0.563 at step 30.")


def test_steps_that_are_best_by_both_measures_are_no_conflict(results: Results) -> None:
    losses, shares = results.steps[:2]
    alike = with_values(results, {}, {"values": losses.values, "best": losses.best, "best_value": losses.best_value})
    tied = with_values(results, {}, {"values": [*shares.values[:-1], shares.best_value], "ties": 1})
    assert of_steps(alike) == of_steps(tied) == []


def test_several_models_in_conflict_are_told_together(results: Results) -> None:
    slow, shares = results.steps[:2]
    both = [slow, shares, *(row.model_copy(update={"model": "quick"}) for row in (slow, shares))]
    assert of_steps(results.model_copy(update={"steps": both})) == [
        ("Log loss and Accuracy are best at different steps: 30 and 15 for slow; 30 and 15 for quick. "
         f"{MEANS} {OPTIMISTIC}")]


def test_a_step_that_is_worse_by_less_than_is_written_is_not_told(results: Results) -> None:
    losses = results.steps[0]
    values = [*losses.values[:-2], 0.5630, 0.5631]
    assert of_steps(with_values(results, {"values": values, "best": 29, "best_value": 0.5630})) == []
    further = [*losses.values[:-2], 0.5530, 0.5631]
    assert of_steps(with_values(results, {"values": further, "best": 29, "best_value": 0.5530})) == [
        "The step that this card shows is not the best by Log loss: slow 0.563 at step 30, 0.553 at step 29."]


def test_the_measures_of_steps_alone_are_defined_and_named_without_their_usual_options(tmp_path: Path) -> None:
    results = run_of(tmp_path, steps={"metrics": ["misclassifications", {"metric": "f_beta", "beta": 2},
                                                  {"metric": "f_beta", "beta": 1}, "detection_prevalence"]})
    (section,) = sections(results)
    named = [plain(row.cells[0]) for row in table(section).rows if isinstance(row, Row)]
    assert named[:4] == [
        "Misclassifications lower is better", "F-beta (beta = 2) higher is better",
        "F-beta (beta = 1) higher is better",
        "Detection prevalence neither side is better"]
    assert [plain(cell) for cell in table(section).rows[1].cells][1:4] == ["82", "35", "35"]  # type: ignore[union-attr]
    assert {"misclassifications", "f_beta", "detection_prevalence"} <= {metric.name for metric in results.metrics}
    assert texts(section)[-1] == OPTIMISTIC
    (drawing,) = step_figures(results, "test")
    assert "Detection prevalence: neither side is better." in drawing.alt


def test_many_measures_are_drawn_in_several_figures(tmp_path: Path) -> None:
    results = run_of(tmp_path, steps={"metrics": [
        "log_loss", "brier", "accuracy", "roc_auc", "sensitivity", "specificity", "f1"]})
    drawings = list(step_figures(results, "test"))
    assert len(drawings) == 2
    assert len(data_tables(drawings[0])) == MOST_PANELS
    assert len({drawing.key for drawing in drawings}) == 2


def test_one_step_is_drawn_and_told(tmp_path: Path) -> None:
    frame = rows()
    results = evalpipe.run(written(tmp_path, frame, net=long(frame, np.ones((1, N)), [7])))
    (section,) = sections(results)
    assert list(facts(results, results.models[0])) == [("Step", "7, the only one")]
    (group, *_) = (row for row in table(section).rows if isinstance(row, Group))
    assert plain(group.heading) == "net:  1 step; step 7 shown"
    (drawing,) = step_figures(results, "test")
    assert ">7</text>" in drawing.svg


def test_the_section_stands_after_the_results_of_the_dataset(results: Results) -> None:
    anchors = [section.anchor for section in card_of(results).sections]
    assert anchors[anchors.index("dataset-1") + 1] == "steps-1"


def test_the_plan_names_the_column_of_steps_and_what_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = rows()
    spec = written(tmp_path, frame, a=long(frame, np.ones((2, N))), b=long(frame, np.ones((2, N))))
    spec["models"]["b"]["step"] = {"column": "epoch", "at": 1}
    (tmp_path / "spec.yaml").write_text(json.dumps(spec).replace(f"{tmp_path}/", ""), encoding="utf-8")

    def told(*arguments: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["plan", "spec.yaml", *arguments])
        assert ended.value.code == 0
        return capsys.readouterr().out

    lines = told().splitlines()
    assert ("  reads margin, epoch, id of a from a.parquet, rows matched by id id at each step of epoch; shown is the "
            "last") in lines
    assert ("  reads margin, epoch, id of b from b.parquet, rows matched by id id at each step of epoch; shown is step "
            "1") in lines
    assert "at every step: log_loss(base=e, epsilon=1e-15), accuracy" in lines
    document = json.loads(told("--format", "json"))
    assert document["steps"] == {
        "models": ["a", "b"], "measures": ["log_loss(base=e, epsilon=1e-15)", "accuracy"]}
    assert [document["datasets"][0]["predictions"][name]["at"] for name in "ab"] == [None, 1]


def of_many(results: Results, count: int) -> Results:
    """Return the results with the first model so many times, m1, m2, …, stopped before its best step."""
    losses, shares = results.steps[:2]
    model = results.models[0]
    early = [losses.model_copy(update={"shown": 20}), shares.model_copy(update={"shown": 20})]
    names = [f"m{k}" for k in range(1, count + 1)]
    return results.model_copy(update={
        "models": [model.model_copy(update={"name": name, "label": name}) for name in names],
        "steps": [row.model_copy(update={"model": name}) for name in names for row in early]})


def test_a_sentence_names_six_models_and_counts_the_others(results: Results) -> None:
    named = "m1, m2, m3, m4, m5 and m6 at step 20"
    six, seven = of_many(results, 6), of_many(results, 7)
    assert list(reading(six, "test")) == [f"Models that have steps are shown at one of them: {named}."]
    assert list(reading(seven, "test")) == ["Models that have steps are shown at one of them: 7 models at step 20."]
    worse, differ = (
        "; ".join(text.format(f"m{k}") for k in range(1, 7))
        for text in ("{} 0.569 at step 20, 0.563 at step 30", "30 and 15 for {}"))
    assert [text.partition(" Log loss judges")[0] for text in of_steps(six)] == [
        f"The step that this card shows is not the best by Log loss: {worse}.",
        f"Log loss and Accuracy are best at different steps: {differ}."]
    assert [text.partition(" Log loss judges")[0] for text in of_steps(seven)] == [
        f"The step that this card shows is not the best by Log loss: {worse}; 1 more model.",
        f"Log loss and Accuracy are best at different steps: {differ}; 1 more model."]
    (drawing,) = step_figures(seven, "test")
    best = ", ".join(f"at step 30 for m{k} (0.563)" for k in range(1, 6))
    assert drawing.finding.startswith(f"Log loss: lowest {best} and at step 30 for m6 (0.563), and 1 more model.")


def test_models_at_many_steps_of_their_own_are_not_listed(results: Results) -> None:
    many = of_many(results, 7)
    apart = [row.model_copy(update={"shown": 5 + int(row.model[1:])}) for row in many.steps]
    last = [row.model_copy(update={"shown": row.steps[-1 - k // 2], "steps": row.steps[: 31 - k // 2],
                                   "values": row.values[: 31 - k // 2]}) for k, row in enumerate(many.steps)]
    for histories, said in ((apart, "each model at a step of its own"), (last, "each model at its last step")):
        assert list(reading(many.model_copy(update={"steps": histories}), "test")) == [
            f"Models that have steps are shown at one of them: {said}."]


def test_each_dataset_has_a_section_of_its_own(results: Results) -> None:
    (test,) = results.datasets
    rows = [row.model_copy(update={"dataset": name}) for name in ("test", "later") for row in results.steps]
    two = results.model_copy(update={
        "datasets": [test, test.model_copy(update={"name": "later"})], "steps": rows, "findings": []})
    assert [(section.anchor, section.title) for section in sections(two)] == [
        ("steps-1", "Measures per step on test"), ("steps-2", "Measures per step on later")]
    assert [finding.section for finding in findings(two) if "different steps" in finding.text or (
        "is best at step" in finding.text)] == ["steps-1", "steps-2"]
    assert [drawing.key for drawing in step_figures(two, "later")] == ["d2-steps-0"]


def test_few_steps_have_whole_numbers_below_their_axis(tmp_path: Path) -> None:
    frame = rows()
    results = evalpipe.run(written(tmp_path, frame, net=long(frame, descent(frame, (-2.0, 1.0), 3))))
    (drawing,) = step_figures(results, "test")
    below = drawing.svgs[0].split(">Step<")[0]
    assert [f">{tick}</text>" in below for tick in ("0", "0.5", "1", "1.5", "2")] == [True, False, True, False, True]
