"""Every pair of models without a baseline: what is compared, which sentence says which model is best, and the card."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import evalpipe
from card.blocks import column, heads, tables
from engine.runs import intervals, people, run
from evalpipe.card.page import Table, Text, plain
from evalpipe.chapters.compare.card import sections
from evalpipe.errors import SpecError
from evalpipe.results import Comparison, Results
from findings.rule import only

N = 400


def frame() -> pl.DataFrame:
    """Return rows with a good score, one that is as good, a poor one, and one that is wrong."""
    rng = np.random.default_rng(7)
    x = rng.normal(0, 2, N)
    y = (rng.random(N) < 1 / (1 + np.exp(-x))).astype(int)
    noisy = {"good": 0.0, "like": 0.9, "poor": 4.0}
    scores = {name: 1 / (1 + np.exp(-(x + rng.normal(0, noise, N)))) for name, noise in noisy.items()}
    return pl.DataFrame({"y": y, **scores, "wrong": 1 - scores["good"]})


def results_of(*models: str, **keys: Any) -> Results:
    return run(frame(), **{"models": {name: {"probability": name} for name in models}, "metrics": ["roc_auc", "brier"],
                           "intervals": intervals(200)} | keys)


def pairs(results: Results) -> list[tuple[str, str]]:
    return list(dict.fromkeys((row.baseline, row.model) for row in results.comparisons))


def test_every_pair_is_compared_once_on_all_rows() -> None:
    names = ("good", "like", "poor")
    results = results_of(*names, slices=[{"name": "early", "where": "good < 0.5"}])
    assert pairs(results) == list(combinations(names, 2))
    assert {row.slice for row in results.comparisons} == {None}


def test_a_pair_has_the_numbers_of_a_comparison_with_the_first_as_baseline() -> None:
    by_default, with_baseline = results_of("good", "poor"), results_of("good", "poor", compare={"baseline": "good"})
    assert by_default.comparisons == with_baseline.comparisons
    assert by_default.rows == with_baseline.rows


def test_all_pairs_are_one_family_of_tests() -> None:
    results = results_of("good", "like", "poor")
    p_values = sorted(row.p_value for row in results.comparisons if row.p_value is not None)
    smallest = min(row.p_adjusted for row in results.comparisons if row.p_adjusted is not None)
    assert smallest == pytest.approx(len(p_values) * p_values[0])


@pytest.mark.parametrize(("keys", "expected"), [
    ({"compare": {"baseline": "like"}}, [("like", "good"), ("like", "poor")]),
    ({"compare": {"pairs": "none"}}, []),
    ({"compare": {"margins": {"roc_auc": 0.01}}}, [("good", "like"), ("good", "poor"), ("like", "poor")]),
    ({"compare": {"baseline": "like", "pairs": "all"}},
     [("like", "good"), ("like", "poor"), ("good", "like"), ("good", "poor")]),
    ({"engine": {"mode": "grid"}}, []),
    ({"engine": {"mode": "grid"}, "compare": {"pairs": "all"}}, [("good", "like"), ("good", "poor"), ("like", "poor")]),
])
def test_what_is_compared_follows_the_keys(keys: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert pairs(results_of("good", "like", "poor", **keys)) == expected


def test_seven_models_are_compared_when_the_spec_asks() -> None:
    data = frame()
    names = [f"m{k}" for k in range(7)]
    data = data.with_columns(**dict.fromkeys(names, data["good"]))
    models = {name: {"probability": name} for name in names}
    keys: dict[str, Any] = {"models": models, "metrics": ["brier"], "intervals": intervals(100)}
    assert run(data, **keys).comparisons == []
    assert len(run(data, **keys, compare={"pairs": "all"}).comparisons) == 21


def test_one_model_has_no_pairs() -> None:
    assert run(people(100), metrics=["brier"]).comparisons == []
    with pytest.raises(SpecError) as caught:
        run(people(100), metrics=["brier"], compare={"pairs": "all"})
    assert "there is only one model, 'p', so there are no pairs to compare" in str(caught.value)


def test_pairs_without_a_baseline_are_something_to_compare(tmp_path: Path) -> None:
    frame().write_csv(tmp_path / "d.csv")
    spec = {"evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1},
            "datasets": {"d": {"path": str(tmp_path / "d.csv")}}, "models": {"good": {"probability": "good"}},
            "compare": {}, "report": {"formats": []}}
    with pytest.raises(SpecError) as caught:
        evalpipe.run(spec)
    assert "add 'baseline: …', a model, 'pairs: all', or 'baseline_dataset: …', a dataset" in str(caught.value)


def best(results: Results, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    with monkeypatch.context() as patch:
        (sentence,) = only(results, "pairs_compared", patch)
    return sentence


def judged(results: Results, **verdicts: str) -> Results:
    """Return results with other verdicts, by "first_second" for the ROC AUC of a pair."""
    def verdict_of(row: Comparison) -> str:
        return verdicts.get(f"{row.baseline}_{row.model}", row.verdict) if row.metric == "roc_auc" else "undecided"
    return results.model_copy(update={"comparisons": [
        row.model_copy(update={"verdict": verdict_of(row)}) for row in results.comparisons]})


def test_the_sentence_names_the_better_of_two_whichever_is_first(monkeypatch: pytest.MonkeyPatch) -> None:
    for models in (("good", "wrong"), ("wrong", "good")):
        kind, text = best(results_of(*models), monkeypatch)
        assert kind == "passes"
        assert text.startswith("good is better than wrong: difference in ROC AUC +0.")


def test_a_label_may_hold_braces(monkeypatch: pytest.MonkeyPatch) -> None:
    models = {name: {"probability": name, "label": f"{{{name}}} {{0}}"} for name in ("good", "wrong")}
    _, text = best(results_of(models=models), monkeypatch)
    assert text.startswith("{good} {0} is better than {wrong} {0}: difference in ROC AUC +0.")


def test_two_that_are_alike_are_not_ranked(monkeypatch: pytest.MonkeyPatch) -> None:
    kind, text = best(judged(results_of("good", "like"), good_like="undecided"), monkeypatch)
    assert (kind, text.partition(":")[0]) == ("undecided", "By ROC AUC these data do not rank good and like")


@pytest.mark.parametrize(("verdicts", "kind", "expected"), [
    ({"good_like": "worse", "good_poor": "worse"}, "passes", ": better than like and poor."),
    ({"good_like": "undecided", "good_poor": "worse"}, "undecided",
     ": better than poor; these data do not rank it against like."),
    ({"good_like": "equivalent", "good_poor": "worse"}, "equivalent", ": better than poor; equivalent to like."),
    ({"good_like": "same", "good_poor": "undecided"}, "undecided",
     ": equivalent to like; these data do not rank it against poor."),
])
def test_the_best_of_several_stands_beside_each_other(
    monkeypatch: pytest.MonkeyPatch, verdicts: dict[str, str], kind: str, expected: str
) -> None:
    said, text = best(judged(results_of("good", "like", "poor"), **verdicts), monkeypatch)
    assert said == kind
    assert text.startswith("good has the best ROC AUC, ")
    assert text.endswith(expected)


def test_none_of_several_may_be_shown_best(monkeypatch: pytest.MonkeyPatch) -> None:
    results = judged(results_of("good", "like", "poor"), good_like="undecided", good_poor="undecided")
    kind, text = best(results, monkeypatch)
    assert kind == "undecided"
    assert text.startswith("These data do not rank the three models by ROC AUC: good has the best value, 0.")
    assert text.endswith("but is shown better than none.")


def test_a_model_that_is_better_by_another_measure_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    results = results_of("good", "poor")
    rows = [row.model_copy(update={"verdict": "better" if row.metric == "brier" else "worse"})
            for row in results.comparisons]
    _, text = best(results.model_copy(update={"comparisons": rows}), monkeypatch)
    assert text.endswith("poor is better by Brier score.")


def test_models_that_are_better_by_the_same_measure_share_a_clause(monkeypatch: pytest.MonkeyPatch) -> None:
    results = judged(results_of("good", "like", "poor"), good_like="better", good_poor="better")
    rows = [row if row.metric != "brier" or "good" not in (row.model, row.baseline) else
            row.model_copy(update={"verdict": "worse" if row.model == "good" else "better"})
            for row in results.comparisons]
    _, text = best(results.model_copy(update={"comparisons": rows}), monkeypatch)
    assert text.endswith(" like and poor are better by Brier score.")


def test_the_card_has_a_section_of_all_pairs() -> None:
    (section,) = sections(results_of("good", "like", "poor"))
    assert (section.anchor, section.title) == ("comparison-1", "Comparison of models")
    (table,) = tables([section])
    assert heads(table)[:2] == ["Measure", "Models"]
    assert set(column(table, "Models")) == {"like minus good", "poor minus good", "poor minus like"}
    section, differences = sections(results_of("good", "like"))
    assert (differences.anchor, differences.title) == ("differences-1", "Differences from good")
    (table,) = tables([section])
    assert plain(table.caption) == "like minus good on d"


def test_differences_of_single_classes_stand_in_the_annex(example: Callable[[str], Path]) -> None:
    results = Results.read(example("digits") / "results.json")
    main, classes, *_ = sections(results)
    assert (main.part, classes.part, classes.title) == (
        "comparison", "appendix", "Comparison of models: single classes")
    named = {section.anchor: [plain(row.cells[0]) for block in section.blocks if isinstance(block, Table)
                              for row in block.rows] for section in (main, classes)}
    assert any(name.startswith("Sensitivity, 3") for name in named[classes.anchor])
    assert not any(name.startswith(("Sensitivity, ", "Precision, ")) for name in named[main.anchor])
    of_classes = [row for row in results.comparisons if row.slice is None and row.class_ is not None]
    assert len(named[classes.anchor]) == len(of_classes)
    assert f"{len(of_classes)} differences of single classes." in [
        plain(block.text) for block in main.blocks if isinstance(block, Text)]
