"""Every measure of items against an independent source, over random benchmarks with whole weights: 21, by night 60.

The sources are numpy, scipy, statsmodels and scikit-learn, or epochs and documents, counted one by one; each item
stands as often as its weight says. Tolerance 1e-12, absolute and relative: both sides sum up a few hundred float64
terms in different orders. What is undefined is not compared, and the number of comparisons is checked.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.stats import hypergeom
from sklearn.metrics import ndcg_score

from evalpipe.metrics import registry
from evalpipe.statistics import ScoreRows, Summary
from evalpipe.statistics.ranked_lists import Queries, RankedLists

Items = list[Any]


def draw(seed: int) -> tuple[Items, Any, Any]:
    """Return the scores of the epochs of each item, those of two other models, and whole weights."""
    rng = np.random.default_rng(seed)
    items = [(rng.random(int(rng.integers(1 + seed % 3, 6))) < rng.random()).astype(float)
             for _ in range(int(rng.integers(8, 40)))]
    return items, rng.integers(0, 3, (2, len(items))) / 2, rng.integers(1, 4, len(items))


@cache
def benchmark(seed: int) -> tuple[Summary, Items, Any]:
    """Return the statistics of a random benchmark, and its items and other models, as often as their weights say."""
    items, others, weight = draw(seed)
    repeated = [item for item, times in zip(items, weight, strict=True) for _ in range(times)]
    return Summary(rows(items, others), weight), repeated, np.repeat(others, weight, axis=1)


def rows(items: Items, others: Any) -> ScoreRows:
    """Bring the epochs of items together."""
    mean = means(items, None)
    wins = [(mean > other) + (mean == other) / 2 for other in others]
    return ScoreRows(
        mean, np.array([float(len(item)) for item in items]),
        np.array([((item - item.mean()) ** 2).sum() for item in items]),
        np.array([float(sum(a == b for a, b in combinations(item, 2))) for item in items]),
        np.array([item.sum() for item in items]), np.mean(wins, axis=0), np.arange(float(len(items))),
        Queries(RankedLists.of(*map(np.concatenate, zip(*(
            (np.full(len(relevance), query), relevance, score)
            for query, (relevance, score) in enumerate(map(documents, items))), strict=True)))),
        np.column_stack([np.array([amounts(item).mean() for item in items]), mean]), ("cost", "score"))


def amounts(item: Any) -> Any:
    """Return what each epoch of an item used."""
    return np.random.default_rng([3, len(item), int(item.sum())]).lognormal(size=len(item))


def documents(item: Any) -> tuple[Any, Any]:
    """Return relevance and scores of the documents of a query, made of an item's epochs; without ties, none empty."""
    rng = np.random.default_rng([len(item), int(item.sum())])
    relevance, score = rng.integers(0, 4, 12).astype(float), rng.permutation(12).astype(float)
    relevance[rng.integers(12)] = 3
    return relevance, score


def in_order(item: Any) -> Any:
    """Return the relevance of the documents of a query, the highest score first."""
    relevance, score = documents(item)
    return relevance[np.argsort(-score)]


def gain(items: Items, k: int | None, base: float | None = None) -> float:
    """Return the mean NDCG of queries by scikit-learn, with gains of relevance, or of ``base`` to it less 1."""
    relevance, scores = map(np.array, zip(*map(documents, items), strict=True))
    return float(ndcg_score(relevance if base is None else base**relevance - 1, scores, k=k))


def over_queries(value: Any) -> Any:
    """Return the source of a mean over queries of the value of a list of relevances, the highest score first."""
    return lambda items, _: np.mean([value(in_order(item)) for item in items])


def precision_at_relevant(relevance: Any, k: int = 12, least: float = 1) -> float:
    """Return the mean precision at the ranks of relevant documents."""
    hits = [rank for rank, value in enumerate(relevance, 1) if value >= least]
    return sum(place / rank for place, rank in enumerate(hits, 1) if rank <= k) / len(hits)


def first_relevant(relevance: Any, least: float = 1) -> int:
    """Return the rank of the first relevant document."""
    return next(rank for rank, value in enumerate(relevance, 1) if value >= least)


def means(items: Items, _: Any) -> Any:
    return np.array([item.mean() for item in items])


def passes(items: Items, k: int, fewest: int) -> float:
    """Return the mean chance that at least so many of k epochs pass; NaN where an item has fewer than k."""
    if min(map(len, items)) < k:
        return math.nan
    return float(hypergeom.sf(fewest - 1, [len(item) for item in items], [item.sum() for item in items], k).mean())


def of_pairs(items: Items, *, equal: bool) -> float:
    """Return the mean share of pairs of epochs that are equal, or differ, over items with two epochs."""
    shares = [np.mean([(a == b) == equal for a, b in combinations(item, 2)]) for item in items if len(item) > 1]
    return float(np.mean(shares)) if shares else math.nan


def correlation(items: Items, _: Any) -> float:
    """Return the intraclass correlation by the table of an analysis of variance: statsmodels."""
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    scores = np.concatenate(items)
    lengths = np.array([len(item) for item in items])
    if (lengths < 2).all() or not scores.std():
        return math.nan
    frame = pd.DataFrame({"s": scores, "i": np.repeat(np.arange(len(items)), lengths)})
    between, within = anova_lm(ols("s ~ C(i)", frame).fit())["mean_sq"]
    per_item = (lengths.sum() - (lengths**2).sum() / lengths.sum()) / (len(items) - 1)
    return float((between - within) / (between + (per_item - 1) * within))


def quantile(share: float) -> Any:
    return lambda items, _: np.quantile(means(items, _), share, method="averaged_inverted_cdf")


SOURCES: dict[str, list[tuple[dict[str, Any], Any]]] = {
    "mean": [({}, lambda items, _: means(items, _).mean())],
    "median": [({}, lambda items, _: np.median(means(items, _)))],
    "quantile": [({"q": share}, quantile(share)) for share in (0.1, 0.25, 0.8)],
    "standard_deviation": [({}, lambda items, _: means(items, _).std(ddof=1))],
    "share_at_least": [({"limit": limit}, lambda items, _, limit=limit: (means(items, _) >= limit).mean())
                       for limit in (0.4, 1.0)],
    "pass_at": [({"k": k}, lambda items, _, k=k: passes(items, k, 1)) for k in (1, 2, 3)],
    "pass_all": [({"k": k}, lambda items, _, k=k: passes(items, k, k)) for k in (1, 2, 3)],
    "flip_rate": [({}, lambda items, _: of_pairs(items, equal=False))],
    "agreement": [({}, lambda items, _: of_pairs(items, equal=True))],
    "intraclass_correlation": [({}, correlation)],
    "win_rate": [({}, lambda items, others: np.mean([
        np.mean([(score > other) + (score == other) / 2 for other in others[:, number]])
        for number, score in enumerate(means(items, others))]))],
    "mean_usage": [({"usage": "cost"}, lambda items, _: np.mean([amounts(item).mean() for item in items])),
                   ({"usage": "score"}, lambda items, _: means(items, _).mean())],
    "usage_per_success": [({"usage": "cost"}, lambda items, _: (
        np.sum([amounts(item).mean() for item in items]) / means(items, _).sum()))],
    "ndcg": [({"k": k}, lambda items, _, k=k: gain(items, k)) for k in (None, 3)] + [
        ({"gain": "exponential"}, lambda items, _: gain(items, None, 2.0))],
    "mean_average_precision": [
        ({}, over_queries(precision_at_relevant)),
        ({"k": 5, "relevant_from": 2}, over_queries(lambda r: precision_at_relevant(r, 5, 2)))],
    "mean_reciprocal_rank": [
        ({}, over_queries(lambda r: 1 / first_relevant(r))),
        ({"k": 2, "relevant_from": 3}, over_queries(lambda r: (first_relevant(r, 3) <= 2) / first_relevant(r, 3)))],
    "precision_at": [({"k": 5}, over_queries(lambda r: (r[:5] >= 1).mean()))],
    "recall_at": [({"k": 4, "relevant_from": 2}, over_queries(lambda r: (r[:4] >= 2).sum() / (r >= 2).sum()))],
    "hit_rate_at": [({"k": 1}, over_queries(lambda r: r[0] >= 1))],
}
CASES = [(name, number) for name, sources in SOURCES.items() for number in range(len(sources))]


def test_every_measure_of_items_has_a_source() -> None:
    assert set(SOURCES) == {entry.name for entry in registry if entry.sees == "items"}


@pytest.mark.parametrize("sets", [21, pytest.param(60, marks=pytest.mark.nightly)])
@pytest.mark.parametrize(("name", "number"), CASES)
def test_a_measure_is_that_of_its_source(name: str, number: int, sets: int) -> None:
    (options, source), compared = SOURCES[name][number], 0
    metric = registry[name]
    options = metric.options(**options).model_dump()
    for seed in range(sets):
        summary, repeated, others = benchmark(seed)
        expected = float(source(repeated, others))
        if not math.isnan(expected):
            found = float(metric(*summary.inputs(metric, options), **options))
            assert found == pytest.approx(expected, rel=1e-12, abs=1e-12), seed
            compared += 1
    assert compared >= sets / 3
