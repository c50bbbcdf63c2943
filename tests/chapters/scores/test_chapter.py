"""What the results and the card say of items, epochs and ties."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest

from evalpipe.card.contents import card_of
from evalpipe.card.summary import dot_plots
from evalpipe.chapters.scores.card import glance
from evalpipe.chapters.scores.compute_strength import bradley_terry
from evalpipe.errors import SpecError
from evalpipe.intervals.contrasts import PairedProportions
from evalpipe.metrics import registry
from evalpipe.results import Results
from evalpipe.run import run

RNG = np.random.default_rng(36)
ITEMS, EPOCHS = 60, 3
CHANCE = {"good": 0.85, "same": 0.85, "poor": 0.3}


def table() -> pl.DataFrame:
    """Return scores of three models, of which the first two are as good as each other."""
    luck = RNG.random((ITEMS, EPOCHS))
    right = {name: (np.where(luck < 0.7, luck / 0.7, RNG.random((ITEMS, EPOCHS))) < chance).astype(int).ravel()
             for name, chance in CHANCE.items()}
    return pl.DataFrame({
        "q": np.repeat([f"q{number:02}" for number in range(ITEMS)], EPOCHS), "run": np.tile([1, 2, 3], ITEMS),
        "topic": np.repeat([f"t{number % 12}" for number in range(ITEMS)], EPOCHS), **right})


TABLE = table()


def results_spec() -> dict[str, Any]:
    """Return the keys of a spec of these scores."""
    return {
        "evalpipe": 1, "name": "scores", "task": "score", "score": {"better": "higher", "range": [0, 1]}, "item": "q",
        "epoch": "run", "datasets": {"bench": {"path": "memory"}}, "models": {name: {"score": name} for name in CHANCE},
        "intervals": {"replicates": 200}, "report": {"formats": []}}


def results_of(frame: pl.DataFrame = TABLE, **keys: Any) -> Results:
    return run(results_spec() | keys, frames={"bench": frame})


@pytest.fixture(scope="module")
def results() -> Results:
    return results_of(rank={"method": "bradley_terry"})


def test_models_that_are_alike_are_tied_and_a_poor_one_is_apart(results: Results) -> None:
    (tied,) = results.tied_sets
    assert [set(members) for members in tied.sets] == [{"good", "same"}, {"poor"}]
    assert tied.ranked[-1] == "poor"
    assert tied.complete


def test_a_model_that_is_told_apart_from_all_is_not_among_the_tied(results: Results) -> None:
    card = card_of(results)
    (section,) = (section for section in card.sections if section.anchor == "scores")
    assert "Not told apart, the best first: good and same. Told apart from all others: poor." in str(section.blocks)


def test_the_first_screen_has_each_model_against_the_next(results: Results) -> None:
    (differences,) = glance(results)
    (tied,) = results.tied_sets
    assert [row.cells[0] for row in differences.rows] == [f"{a} minus {b}" for a, b in pairwise(tied.ranked)]
    means = {row.model: row.value for row in results.score_errors}
    for row, (first, second) in zip(differences.rows, pairwise(tied.ranked), strict=True):
        _, number, verdict = row.cells
        assert float(number.exact.replace("−", "-")) == pytest.approx(means[first] - means[second])
        assert verdict == ("undecided" if {first, second} == {"good", "same"} else "better")
        low, high = number.interval.strip("()").replace("−", "-").split(" to ")
        assert float(low) < means[first] - means[second] < float(high)


def test_too_many_tied_sets_are_neither_listed_nor_lettered(results: Results) -> None:
    many = results.model_copy(update={"tied_sets": [results.tied_sets[0].model_copy(
        update={"sets": [], "complete": False})]})
    assert "The sets of models that are not told apart are too many to list." in str(card_of(many))
    assert "share a letter" not in str(dot_plots(many))


def test_where_lower_is_better_the_best_comes_first(results: Results) -> None:
    turned = results_of(TABLE.with_columns(-pl.col(*CHANCE) + 1), score={"better": "lower", "range": [0, 1]},
                        rank={"method": "bradley_terry"})
    assert turned.tied_sets == results.tied_sets
    assert [row.log_strength for row in turned.strengths] == pytest.approx(
        [row.log_strength for row in results.strengths])
    assert turned.item_agreement == results.item_agreement


def test_the_error_on_this_benchmark_is_of_epochs_alone(results: Results) -> None:
    row = results.score_errors[0]
    by_item = TABLE.group_by("q", maintain_order=True).agg(pl.col("good").mean().alias("mean"), pl.col("good").var())
    # Miller (2024), section 3.1: the mean conditional variance over items, epochs and items; sums of 60 numbers.
    assert row.benchmark_error == pytest.approx(float(np.sqrt(by_item["good"].mean() / EPOCHS / ITEMS)), rel=1e-12)
    assert row.items_error == pytest.approx(float(by_item["mean"].std() / np.sqrt(ITEMS)), rel=1e-12)
    assert row.benchmark_lower < row.value < row.benchmark_upper
    assert row.correlation == pytest.approx(row.items_variance / (row.items_variance + row.epochs_variance))


def test_without_repeats_there_is_no_error_on_this_benchmark() -> None:
    single = results_of(TABLE.filter(pl.col("run") == 1))
    assert {row.benchmark_error for row in single.score_errors} == {None}
    assert {row.epochs for row in single.score_pairs} == {None}
    assert all(row.items_error is not None for row in single.score_errors)


def test_a_topic_that_turns_a_difference_is_named() -> None:
    # The first model is better on the five items of one topic alone, and worse on one other item.
    is_of_topic, is_other = pl.col("topic") == "t3", pl.col("q") == "q00"
    frame = TABLE.with_columns(
        good=pl.when(is_of_topic).then(1).when(is_other).then(0).otherwise(pl.col("good")),
        same=pl.when(is_of_topic).then(0).when(is_other).then(1).otherwise(pl.col("good")))
    turned = results_of(frame, cluster="topic")
    (pair,) = (row for row in turned.score_pairs if (row.model, row.other) == ("good", "same"))
    assert pair.difference == pytest.approx(4 / ITEMS)
    assert pair.turning == ["t3"]
    assert pair.carriers == 2


def test_the_deciding_items_are_those_on_which_models_differ(results: Results) -> None:
    spread = TABLE.group_by("q").agg(pl.col(*CHANCE).mean())
    variance = {row["q"]: np.var([row[name] for name in CHANCE]) for row in spread.iter_rows(named=True)}
    largest = sorted(variance, key=lambda item: (-round(variance[item], 12), item))
    assert [row.item for row in results.deciding_items] == largest[: len(results.deciding_items)]
    assert sum(row.share for row in results.deciding_items) <= 1


def test_the_card_has_a_section_on_items_and_says_what_a_score_means(results: Results) -> None:
    text = str(card_of(results))
    for said in ("Items and epochs", "Not told apart, the best first", "What it takes to tell two models apart",
                 "Bradley-Terry strengths", "The items that decide",
                 "a number for each item, from 0 to 1; higher is better"):
        assert said in text
    assert "Bradley-Terry strengths" not in str(card_of(results_of()))


QUERY_SCORES = {
    "ndcg": "NDCG of the first 2 documents of each query",
    "mean_average_precision": "Average precision of the first 2 documents of each query",
    "mean_reciprocal_rank": "Reciprocal rank of the first 2 documents of each query",
    "precision_at": "Precision of the first 2 documents of each query",
    "recall_at": "Recall of the first 2 documents of each query",
    "hit_rate_at": "Hit rate of the first 2 documents of each query",
}


@pytest.mark.parametrize(("measure", "what"), [
    *(({"metric": name, "k": 2}, what) for name, what in QUERY_SCORES.items()),
    ("ndcg", "NDCG of each query"),
    ({"metric": "hit_rate_at", "k": 1}, "Hit rate of the first document of each query"),
    ({"metric": "ndcg", "k": 1000, "gain": "exponential"},
     "NDCG of the first 1,000 documents of each query (gain = exponential)"),
    ({"metric": "map", "relevant_from": 2}, "Average precision of each query (relevant_from = 2)"),
])
def test_the_first_screen_says_what_the_score_of_a_query_is(measure: Any, what: str) -> None:
    documents = pl.DataFrame({"q": [1, 1, 2, 2], "rel": [0, 2, 2, 0], "search": [1.0, 2.0, 1.0, 2.0]})
    ranked = results_of(
        documents, score={"better": "higher", "range": [0, 1], "of": measure}, epoch=None,
        models={"search": {"ranking": {"relevance": "rel", "score": "search"}}})
    assert f"'{what}, from 0 to 1; higher is better'" in str(card_of(ranked))


def test_every_measure_of_ranked_lists_has_its_words() -> None:
    assert {metric.name for metric in registry if metric.needs == "ranked_lists"} == set(QUERY_SCORES)


def test_a_model_alone_has_no_pairs() -> None:
    alone = results_of(models={"good": {"score": "good"}})
    assert (alone.score_pairs, alone.tied_sets, alone.deciding_items) == ([], [], [])
    assert len(alone.score_errors) == 1


def test_a_ranking_by_another_method_is_refused() -> None:
    with pytest.raises(SpecError, match="expected 'bradley_terry'"):
        results_of(rank={"method": "elo"})


def test_the_first_screen_ranks_models_with_letters_for_ties(results: Results) -> None:
    plots = [plot for plot in dot_plots(results) if plot.title.startswith("Mean")]
    labels = [dot.label for dot in plots[0].dots]
    assert [label[-3:] for label in labels] == ["(a)", "(a)", "(b)"]
    assert labels[-1] == "poor (b)"
    assert "Models that share a letter are not told apart." in str(plots[0])


def test_of_many_models_only_neighbours_are_set_side_by_side() -> None:
    models = [f"m{number:02}" for number in range(12)]
    frame = pl.DataFrame({"q": [str(item) for item in range(30)]}).with_columns(
        pl.Series(name, [int(item < 8 + 2 * number) for item in range(30)]) for number, name in enumerate(models))
    spread = run({**{key: value for key, value in results_spec().items() if key != "epoch"},
                  "models": {name: {"score": name} for name in models}}, frames={"bench": frame})
    assert [(row.model, row.other) for row in spread.score_pairs] == list(pairwise(models))


ALIKE = pl.DataFrame({"q": np.arange(20), "a": [1] * 15 + [0] * 5, "b": [1] * 15 + [0] * 5})


def of_alike(frame: pl.DataFrame = ALIKE, **keys: Any) -> Results:
    models = {name: {"score": name} for name in "ab"}
    return results_of(frame, **{"epoch": None, "models": models, "compare": {"pairs": "all"}} | keys)


def test_models_that_score_the_same_on_all_items_may_differ_on_others() -> None:
    for scores, method, most in (([1] * 15 + [0] * 5, "tango", 0.1611), ([0.5] * 20, "none_differs", 0.1684)):
        (row,) = of_alike(pl.DataFrame({"q": np.arange(20), "a": scores, "b": scores})).comparisons
        assert (row.difference, row.verdict, row.method, row.status) == (0, "undecided", method, "ok")
        # z^2 / (n + z^2), and the exact limit of none of 20.
        assert (row.lower, row.upper) == (pytest.approx(-most, abs=5e-5), pytest.approx(most, abs=5e-5))
        assert row.p_value == 1


def test_enough_items_that_are_alike_show_a_difference_within_the_margin() -> None:
    for items, verdict in ((367, "undecided"), (368, "equivalent")):  # 0.99^367 = 0.02501, 0.99^368 = 0.02476
        frame = pl.DataFrame({"q": np.arange(items), "a": [0.5] * items, "b": [0.5] * items})
        (row,) = of_alike(frame, compare={"pairs": "all", "margins": {"mean": 0.01}}).comparisons
        assert row.verdict == verdict


def test_items_of_one_cluster_count_as_one() -> None:
    frame = pl.DataFrame({"q": np.arange(120), "topic": np.repeat(np.arange(30), 4), "a": [1, 0] * 60,
                          "b": [1, 0] * 60})
    (row,) = of_alike(frame, cluster="topic").comparisons
    assert row.upper == pytest.approx(1 - 0.025 ** (1 / 30))


def test_few_clusters_that_are_alike_decide_nothing() -> None:
    frame = pl.DataFrame({"q": np.arange(100), "topic": np.repeat(np.arange(10), 10), "a": [1, 0] * 50,
                          "b": [1, 0] * 50})
    (row,) = of_alike(frame, cluster="topic", compare={"pairs": "all", "margins": {"mean": 0.3}}).comparisons
    assert (row.status, row.verdict, row.margin_verdict) == ("degenerate", "untested", None)


def test_scores_of_0_and_1_are_two_proportions_of_the_same_items() -> None:
    frame = pl.DataFrame({"q": np.arange(100), "a": [1] * 100, "b": [1] * 97 + [0] * 3})
    (row,) = of_alike(frame, compare={"pairs": "all", "margins": {"mean": 0.03}}).comparisons
    assert (row.method, row.test) == ("tango", "mcnemar")
    # Tango (1998), eq. 13, with b = 0, c = 3 and n = 100; Student's limits would be -0.064 and 0.004.
    expected = PairedProportions(0, 3, 100).limits(0.95)
    assert (row.lower, row.upper) == expected == (pytest.approx(-0.0845, abs=5e-5), pytest.approx(0.0081, abs=5e-5))
    (continuous,) = of_alike(frame.with_columns(pl.col("b") * 0.9)).comparisons
    assert continuous.method == "paired_t"


@pytest.mark.parametrize("keys", [{"metrics": ["median"]}, {"score": {"better": "higher"}}])
def test_without_a_mean_or_a_range_nothing_is_known_of_other_items(keys: dict[str, Any]) -> None:
    (row,) = of_alike(**keys).comparisons
    assert (row.difference, row.lower, row.upper, row.status, row.verdict) == (0, None, None, "degenerate", "untested")


def test_without_epochs_the_error_on_this_benchmark_is_not_known() -> None:
    results = results_of(epoch=None, item=None)
    assert {(row.benchmark_error, row.benchmark_lower, row.benchmark_upper) for row in results.score_errors} == {
        (None, None, None)}


def test_items_that_decide_more_than_others_are_on_the_first_screen() -> None:
    frame = pl.DataFrame({"q": np.arange(40), "a": [1] * 20 + [0] * 20, "b": [1] * 15 + [0] * 25})
    assert len(list(glance(of_alike(frame)))) == 1  # all five items on which these differ decide as much
    _, items = glance(of_alike(frame.with_columns(b=pl.Series([0.1, 0.2, 0.3, 0.9] + [1] * 16 + [0] * 20))))
    assert [row.cells[0] for row in items.rows] == ["0", "1", "2"]


def test_strengths_use_items_that_some_model_lacks() -> None:
    rng = np.random.default_rng(5)
    scores = np.round(rng.random((60, 3)) + np.array([0, 0.1, 0.2]), 1)
    scores[:20, 0] = scores[20:35, 2] = np.nan
    frame = pl.DataFrame(scores, schema=list("abc")).fill_nan(None).with_columns(
        q=pl.format("q{}", pl.int_range(60)), topic=pl.int_range(60) % 24)
    spec = {"score": {"better": "higher", "missing": "leave_out"}, "rank": {"method": "bradley_terry"}, "epoch": None,
            "models": {name: {"score": name} for name in "abc"}}
    for cluster, numbers in ((None, None), ("topic", np.arange(60) % 24)):
        results = results_of(frame, cluster=cluster, **spec)
        expected = bradley_terry(scores, numbers)
        assert [row.log_strength for row in results.strengths] == pytest.approx(expected.log_strength.tolist())
        assert [row.upper - row.log_strength for row in results.strengths] == pytest.approx(
            (1.959963984540054 * expected.error).tolist())
        assert [row.n for row in results.rows[:1]] == [25]
    without = frame.with_columns(pl.when(pl.col("q") != "q3").then("topic"))  # of an item that model a lacks
    some = np.arange(60) != 3
    expected = bradley_terry(scores[some], (np.arange(60) % 24)[some])
    assert [row.log_strength for row in results_of(without, cluster="topic", **spec).strengths] == pytest.approx(
        expected.log_strength.tolist())
    kept = results_of(frame, **spec, datasets={"bench": {"path": "memory", "where": "topic < 20"}})
    assert kept.strengths[0].log_strength != pytest.approx(expected.log_strength[0])
