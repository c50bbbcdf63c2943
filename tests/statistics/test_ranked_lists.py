"""Measures of ranked lists against every order of tied documents, trec_eval, ranx and scikit-learn, and their laws.

Tolerance 1e-12, relative: the sources sum up to a few hundred float64 terms in other orders.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, label_ranking_average_precision_score, ndcg_score

from evalpipe.statistics.ranked_lists import (
    RankedLists,
    average_precision,
    hit_at,
    ndcg,
    precision_at,
    recall_at,
    reciprocal_rank,
)

CLOSE = 1e-12
NAN = math.nan
List = tuple[list[float], list[float]]
"""The relevance and the scores of the documents of a query."""

CUTS = (1, 2, 3, 5, 9)
MEASURES: dict[str, Callable[[RankedLists], Any]] = {
    **{f"precision_at {k}": lambda lists, k=k: precision_at(lists, k=k) for k in CUTS},
    **{f"recall_at {k} from 2": lambda lists, k=k: recall_at(lists, k=k, relevant_from=2) for k in CUTS},
    **{f"hit_at {k}": lambda lists, k=k: hit_at(lists, k=k) for k in CUTS},
    **{f"reciprocal_rank {k}": lambda lists, k=k: reciprocal_rank(lists, k=k) for k in (None, *CUTS)},
    **{f"average_precision {k}": lambda lists, k=k: average_precision(lists, k=k) for k in (None, *CUTS)},
    "average_precision from 2": lambda lists: average_precision(lists, relevant_from=2),
    **{f"ndcg {k}": lambda lists, k=k: ndcg(lists, k=k) for k in (None, *CUTS)},
    **{f"exponential ndcg {k}": lambda lists, k=k: ndcg(lists, k=k, gain="exponential") for k in (None, *CUTS)},
}
every_measure = pytest.mark.parametrize("name", MEASURES)


def ranked(*lists: List) -> RankedLists:
    """Return the ranked lists of these queries."""
    query = np.repeat(np.arange(len(lists)), [len(relevance) for relevance, _ in lists])
    relevance, score = (np.array([value for parts in lists for value in parts[i]], float) for i in (0, 1))
    return RankedLists.of(query, relevance, score)


def long(seed: int, queries: int = 40, levels: int = 6) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return queries, relevance and scores, in a random order: ties, fractions, documents not judged, not retrieved."""
    generator = np.random.default_rng(seed)
    query = generator.permutation(np.repeat(np.arange(queries), generator.integers(1, 30, queries)))
    relevance = generator.choice([0, 0, 0, 0.3, 1, 1, 1.7, 2, 3, NAN], len(query))
    score = generator.integers(0, levels, len(query)).astype(float)
    score[generator.random(len(query)) < 0.1] = NAN
    return query, relevance, score


def orders(score: list[float]) -> Iterator[tuple[int, ...]]:
    """Yield each order of the documents retrieved, as positions, in which no score rises."""
    retrieved = [i for i, value in enumerate(score) if not math.isnan(value)]
    for order in itertools.permutations(retrieved):
        if all(score[a] >= score[b] for a, b in itertools.pairwise(order)):
            yield order


def plain(name: str, relevance: list[float], order: tuple[int, ...]) -> float:
    """Return a measure of one list without ties, by its definition."""
    measure, _, rest = name.partition(" ")
    level = 2 if "from 2" in name else 1
    numbers = [int(word) for word in rest.replace("from 2", "").split() if word.isdigit()]
    k = numbers[0] if numbers else len(order)
    graded = [0.0 if math.isnan(value) else value for value in relevance]
    listed, total = [graded[i] for i in order][:k], sum(value >= level for value in graded)
    ranks = [rank for rank, value in enumerate(listed, 1) if value >= level]
    if "ndcg" in name:
        gain: Callable[[float], float] = (lambda x: 2**x - 1) if measure == "exponential" else (lambda x: x)
        dcg, ideal = (sum(gain(value) / math.log2(rank + 1) for rank, value in enumerate(values, 1))
                      for values in (listed, sorted(graded, reverse=True)[: k if numbers else None]))
        return dcg / ideal if ideal else NAN
    if not total:
        return NAN
    return {
        "precision_at": len(ranks) / k, "recall_at": len(ranks) / total, "hit_at": float(bool(ranks)),
        "reciprocal_rank": 1 / ranks[0] if ranks else 0.0,
        "average_precision": sum(place / rank for place, rank in enumerate(ranks, 1)) / total,
    }[measure]


@every_measure
def test_ties_have_the_mean_of_all_orders(name: str) -> None:
    generator = np.random.default_rng(36)
    lists: list[List] = []
    for _ in range(60):
        size = int(generator.integers(1, 7))
        score = generator.choice([1, 2, 3], size).astype(float)
        score[generator.random(size) < 0.1] = NAN
        lists.append((generator.choice([0, 0, 0.5, 1, 2, 3, NAN], size).tolist(), score.tolist()))
    expected = [np.mean([plain(name, relevance, order) for order in orders(score)]) for relevance, score in lists]
    assert 20 < np.isfinite(expected).sum() < 60
    np.testing.assert_allclose(MEASURES[name](ranked(*lists)), expected, rtol=CLOSE, atol=CLOSE)


FROZEN: list[List] = [
    ([1, 0, NAN, 2], [9, 8, 7, 6]),
    ([0, 2, 0, 1, NAN], [5, 5, 5, 5, 5]),
    ([1, 0, 0, 3, 1, 2], [9, 9, 9, 4, 4, NAN]),
    ([0, 0, 1, 0, 3], [5, 4, 4, 4, 1]),
    ([2, 1, 1, 0, 2], [3, 3, NAN, NAN, NAN]),
    ([0, 3, 1, 1, NAN], [2, 1, 1, 1, 1]),
    ([0, NAN], [3, 2]),
]
OF_OTHERS: dict[str, tuple[Callable[[RankedLists], Any], list[float]]] = {
    "P_2": (lambda lists: precision_at(lists, k=2), [
        0.5, 0.4, 0.3333333333333333, 0.16666666666666666, 1.0, 0.375, 0.0]),
    "P_2 -l 2": (lambda lists: precision_at(lists, k=2, relevant_from=2), [0.0, 0.2, 0.0, 0.0, 0.5, 0.125, 0.0]),
    "recall_2": (lambda lists: recall_at(lists, k=2), [
        0.5, 0.4, 0.16666666666666666, 0.16666666666666666, 0.5, 0.25, 0.0]),
    "recall_2 -l 2": (lambda lists: recall_at(lists, k=2, relevant_from=2), [0.0, 0.4, 0.0, 0.0, 0.5, 0.25, 0.0]),
    "success_2": (lambda lists: hit_at(lists, k=2), [
        1.0, 0.7, 0.6666666666666666, 0.3333333333333333, 1.0, 0.75, 0.0]),
    "success_2 -l 2": (lambda lists: hit_at(lists, k=2, relevant_from=2), [0.0, 0.4, 0.0, 0.0, 1.0, 0.25, 0.0]),
    "recip_rank": (reciprocal_rank, [
        1.0, 0.6416666666666667, 0.611111111111111, 0.3611111111111111, 1.0, 0.4583333333333333, 0.0]),
    "recip_rank -l 2": (lambda lists: reciprocal_rank(lists, relevant_from=2), [
        0.25, 0.45666666666666667, 0.225, 0.19999999999999998, 0.75, 0.32083333333333325, 0.0]),
    "mrr@2 of ranx": (lambda lists: reciprocal_rank(lists, k=2), [
        1.0, 0.55, 0.5, 0.16666666666666666, 1.0, 0.375, 0.0]),
    "map": (average_precision, [
        0.75, 0.5924999999999999, 0.4277777777777778, 0.38055555555555554, 0.5, 0.5597222222222221, 0.0]),
    "map -l 2": (lambda lists: average_precision(lists, relevant_from=2), [
        0.25, 0.45666666666666667, 0.1125, 0.19999999999999998, 0.375, 0.32083333333333325, 0.0]),
    "map_cut_2": (lambda lists: average_precision(lists, k=2), [
        0.5, 0.325, 0.125, 0.08333333333333333, 0.5, 0.125, 0.0]),
    "ndcg": (ndcg, [0.7074887171046738, 0.6724145595016876, 0.4516807623512038, 0.4629926693748389, 0.5835118869110951,
                    0.5895946055469784, 0.0]),
    "ndcg_cut_2": (lambda lists: ndcg(lists, k=2), [
        0.38009376671593426, 0.3719437399704394, 0.1275601061647703, 0.057921780957146674, 0.75, 0.2172066785893, 0.0]),
    "ndcg_burges of ranx": (lambda lists: ndcg(lists, gain="exponential"), [
        0.631251450669265, 0.6496317624386375, 0.4051958293045787, 0.42308148444764865, 0.5601234056563787,
        0.539179792514254, 0.0]),
    "ndcg_burges@2 of ranx": (lambda lists: ndcg(lists, k=2, gain="exponential"), [
        0.27541155237618664, 0.3593415161981014, 0.061133041079938284, 0.027560195762347625, 0.6666666666666667,
        0.18603132139584647, 0.0]),
}


@pytest.mark.parametrize("name", OF_OTHERS)
def test_values_are_those_of_trec_eval_and_ranx_over_all_orders(name: str) -> None:
    """Hold frozen values of trec_eval, by pytrec_eval-terrier 0.5.11, and ranx 0.3.21.

    Both break ties by rules of their own, so each order was a list without ties, and the mean of their values is the
    expected one. Those of ranx for the other names are within 1e-15 of trec_eval's::

        of_trec = {"P.2", "recall.2", "success.2", "recip_rank", "map", "map_cut.2", "ndcg", "ndcg_cut.2"}
        of_ranx = ["mrr@2", "ndcg_burges", "ndcg_burges@2"]
        for relevance, score in FROZEN:
            judged = {f"d{i}": int(value) for i, value in enumerate(relevance) if value == value}
            runs = [{f"d{i}": float(len(order) - place) for place, i in enumerate(order)} for order in orders(score)]
            run = {f"o{j:03}": scores for j, scores in enumerate(runs)}
            qrels = dict.fromkeys(run, judged)
            for level in (1, 2):
                evaluator = pytrec_eval.RelevanceEvaluator(qrels, of_trec, relevance_level=level)
                by_order = list(evaluator.evaluate(run).values())
                print(level, {name: float(np.mean([row[name] for row in by_order])) for name in by_order[0]})
            values = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), of_ranx, return_mean=False)
            print({name: float(np.mean(values[name])) for name in of_ranx})
    """
    measure, expected = OF_OTHERS[name]
    values = measure(ranked(*FROZEN))
    assert np.isnan(values).tolist() == [False] * 6 + [True]  # without a relevant document, where they say 0
    np.testing.assert_allclose(np.nan_to_num(values), expected, rtol=CLOSE)


@pytest.mark.parametrize("k", [None, 1, 4, 30])
def test_ndcg_is_that_of_scikit_learn_which_averages_ties_too(k: int | None) -> None:
    generator = np.random.default_rng(1)
    relevance = generator.choice([0, 0, 0.5, 1, 2, 4], (50, 20))
    score = generator.integers(0, 8, (50, 20)).astype(float)
    lists = RankedLists.of(np.repeat(np.arange(50), 20), relevance.ravel(), score.ravel())
    expected = [ndcg_score(relevance[[row]], score[[row]], k=k) for row in range(50)]
    np.testing.assert_allclose(ndcg(lists, k=k), expected, rtol=CLOSE)


def test_average_precision_is_that_of_scikit_learn_without_ties_alone() -> None:
    generator = np.random.default_rng(2)
    relevant, score = generator.random((30, 25)) < 0.3, generator.random((30, 25))
    values = average_precision(RankedLists.of(np.repeat(np.arange(30), 25), relevant.ravel() + 0.0, score.ravel()))
    pairs = list(zip(relevant, score, strict=True))
    np.testing.assert_allclose(values, [average_precision_score(*pair) for pair in pairs], rtol=CLOSE)
    np.testing.assert_allclose(
        values, [label_ranking_average_precision_score(*np.array(pair)[:, None]) for pair in pairs], rtol=CLOSE)
    # A tie is one threshold there, at which half are relevant; in its two orders the average precision is 1 and 1/2.
    assert average_precision_score([1, 0], [3, 3]) == 0.5
    assert label_ranking_average_precision_score([[1, 0]], [[3, 3]]) == 0.5
    assert average_precision(ranked(([1, 0], [3, 3]))).tolist() == [0.75]


@every_measure
def test_rows_in_another_order_and_other_scores_of_that_order_have_the_same_bits(name: str) -> None:
    query, relevance, score = long(3)
    values = MEASURES[name](RankedLists.of(query, relevance, score))
    index = np.random.default_rng(4).permutation(len(query))
    moved = MEASURES[name](RankedLists.of(query[index], relevance[index], score[index]))
    assert values.tobytes() == moved.tobytes()
    assert values.tobytes() == MEASURES[name](RankedLists.of(query, relevance, np.exp(score) - 9)).tobytes()


@every_measure
def test_each_query_is_measured_alone(name: str) -> None:
    query, relevance, score = long(5, levels=2)  # long ties, whose sums hang on their order
    lists = RankedLists.of(query, relevance, score)
    values = MEASURES[name](lists)
    for index in ([7], [3, 0, 3], np.arange(39, -1, -1), []):
        chosen = lists.at(np.array(index, np.intp))
        assert MEASURES[name](chosen).tobytes() == values[np.array(index, np.intp)].tobytes()
        assert chosen.unjudged.tolist() == lists.unjudged[np.array(index, np.intp)].tolist()
    alone = RankedLists.of(0 * query[query == 7], relevance[query == 7], score[query == 7])
    assert MEASURES[name](alone).tobytes() == values[7:8].tobytes()


@every_measure
@pytest.mark.parametrize("relevance", [0.0, NAN])
def test_a_last_document_that_is_not_relevant_changes_nothing(name: str, relevance: float) -> None:
    before = long(6)
    added = (np.arange(40), np.full(40, relevance), np.full(40, -1.0))
    after = [np.concatenate(pair) for pair in zip(before, added, strict=True)]
    assert MEASURES[name](RankedLists.of(*before)).tobytes() == MEASURES[name](RankedLists.of(*after)).tobytes()


@every_measure
def test_measures_lie_between_0_and_1_and_the_best_order_has_1(name: str) -> None:
    query, relevance, score = long(7)
    values = MEASURES[name](RankedLists.of(query, relevance, score))
    assert np.nanmin(values) >= 0
    assert np.nanmax(values) <= 1
    best = MEASURES[name](RankedLists.of(query, relevance, np.nan_to_num(relevance)))
    defined = np.isfinite(values)
    assert (np.isfinite(best) == defined).all()
    assert (best[defined] >= values[defined]).all()
    if name.startswith(("ndcg", "exponential", "reciprocal", "hit", "average_precision None", "average_precision f")):
        assert (best[defined] == 1).all()


def test_judgements_that_are_missing_are_counted_of_documents_retrieved() -> None:
    lists = ranked(([NAN, 1, NAN, NAN], [1, 2, 3, NAN]), ([0], [1]), ([NAN], [NAN]))
    assert lists.unjudged.tolist() == [2, 0, 0]
    assert reciprocal_rank(lists).tolist()[0] == 0.5


def test_a_query_of_which_nothing_was_retrieved_has_0_where_a_document_is_relevant() -> None:
    lists = ranked(([1, 0], [NAN, NAN]), ([0, NAN], [NAN, NAN]))
    for name, measure in MEASURES.items():
        first, second = measure(lists)
        np.testing.assert_array_equal([first, second], [NAN if "from 2" in name else 0, NAN])
    assert all(measure(RankedLists.of(np.zeros(0, int), np.zeros(0), np.zeros(0))).shape == (0,)
               for measure in MEASURES.values())


def test_a_number_without_rows_is_a_query_without_documents() -> None:
    lists = RankedLists.of(np.array([2, 0]), np.ones(2), np.ones(2))
    assert lists.retrieved.tolist() == [1, 0, 1]
    np.testing.assert_array_equal(precision_at(lists, k=1), [1, NAN, 1])


def test_long_ties_have_their_closed_forms() -> None:
    n, relevant = 20_000, 40
    harmonic = math.fsum(1 / rank for rank in range(1, n + 1)) / n
    one, many = (ranked(([1.0] * count + [0.0] * (n - count), [0.0] * n)) for count in (1, relevant))
    for measure in (reciprocal_rank, average_precision):
        assert measure(one)[0] == pytest.approx(harmonic, rel=CLOSE)
    assert hit_at(one, k=500)[0] == pytest.approx(500 / n, rel=CLOSE)
    assert recall_at(many, k=500)[0] == pytest.approx(500 / n, rel=CLOSE)
    none = math.comb(n - relevant, 500) / math.comb(n, 500)
    assert hit_at(many, k=500)[0] == pytest.approx(1 - none, rel=CLOSE)
    assert hit_at(many, k=n - relevant + 1)[0] == 1


def test_rounding_lifts_no_gain_above_the_best() -> None:
    assert (0.1 + 0.1 + 0.1) / 3 > 0.1
    assert ndcg(ranked(([0.1, 0.1, 0.1], [1, 1, 1]))).tolist() == [1.0]


def test_infinite_scores_are_ranked_and_tied_as_others() -> None:
    lists = ranked(([0, 1, 0, 0], [math.inf, math.inf, 3, -math.inf]))
    assert reciprocal_rank(lists).tolist() == [0.75]


def test_whole_relevance_has_exact_exponential_gains_and_others_nearly() -> None:
    lists = ranked(([1000, 0], [1, 2]), ([3, 2], [1, 2]), ([0.5, 0], [1, 2]))
    expected = [1 / math.log2(3), (3 + 7 / math.log2(3)) / (7 + 3 / math.log2(3)), 1 / math.log2(3)]
    np.testing.assert_allclose(ndcg(lists, gain="exponential"), expected, rtol=CLOSE)


@pytest.mark.parametrize(("call", "message"), [
    (lambda: RankedLists.of(np.zeros(2, int), np.zeros(2), np.zeros(1)),
     "queries, relevance and scores have different lengths"),
    (lambda: ranked(([1, -1], [1, 2])), "relevance is below 0 or infinite"),
    (lambda: ranked(([1, math.inf], [1, 2])), "relevance is below 0 or infinite"),
    *((lambda measure=measure: measure(ranked(([1], [1])), k=0), "k is at least 1")
      for measure in (precision_at, recall_at, hit_at, reciprocal_rank, average_precision, ndcg)),
    (lambda: hit_at(ranked(([1], [1])), k=1, relevant_from=0), "the least relevance of a relevant document is above 0"),
    (lambda: ndcg(ranked(([1001], [1])), gain="exponential"), "relevance above 1000 has no exponential gain"),
])
def test_what_cannot_be_ranked_is_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole message is compared
        call()
    assert str(error.value) == message
