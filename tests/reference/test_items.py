"""Every measure of items against an independent source, over 60 random benchmarks with whole weights.

The sources are numpy, scipy and statsmodels, or the epochs themselves, counted pair by pair; each item stands as often
as its weight says. Tolerance 1e-12, absolute and relative: both sides sum up a few hundred float64 terms in different
orders. What is undefined is not compared, and the number of comparisons is checked.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.stats import hypergeom

from evalpipe.metrics import registry
from evalpipe.statistics import ScoreRows, Summary

Items = list[Any]
SETS = 60


def draw(seed: int) -> tuple[Items, Any, Any]:
    """Return the scores of the epochs of each item, those of two other models, and whole weights."""
    rng = np.random.default_rng(seed)
    items = [(rng.random(int(rng.integers(1 + seed % 3, 6))) < rng.random()).astype(float)
             for _ in range(int(rng.integers(8, 40)))]
    return items, rng.integers(0, 3, (2, len(items))) / 2, rng.integers(1, 4, len(items))


def rows(items: Items, others: Any) -> ScoreRows:
    """Bring the epochs of items together."""
    mean = np.array([item.mean() for item in items])
    wins = [(mean > other) + (mean == other) / 2 for other in others]
    return ScoreRows(
        mean, np.array([float(len(item)) for item in items]),
        np.array([((item - item.mean()) ** 2).sum() for item in items]),
        np.array([float(sum(a == b for a, b in combinations(item, 2))) for item in items]),
        np.array([item.sum() for item in items]), np.mean(wins, axis=0))


def means(items: Items, _: Any) -> Any:
    return np.array([item.mean() for item in items])


def passes(items: Items, k: int, fewest: int) -> float:
    """Return the mean chance that at least so many of k epochs pass; NaN where an item has fewer than k."""
    if min(map(len, items)) < k:
        return math.nan
    return float(np.mean([hypergeom(len(item), int(item.sum()), k).sf(fewest - 1) for item in items]))


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
}
CASES = [(name, number) for name, sources in SOURCES.items() for number in range(len(sources))]


def test_every_measure_of_items_has_a_source() -> None:
    assert set(SOURCES) == {entry.name for entry in registry if entry.sees == "items"}


@pytest.mark.parametrize(("name", "number"), CASES)
def test_a_measure_is_that_of_its_source(name: str, number: int) -> None:
    (options, source), compared = SOURCES[name][number], 0
    metric = registry[name]
    options = metric.options(**options).model_dump()
    for seed in range(SETS):
        items, others, weight = draw(seed)
        summary = Summary(rows(items, others), weight)
        repeated = [item for item, times in zip(items, weight, strict=True) for _ in range(times)]
        expected = float(source(repeated, np.repeat(others, weight, axis=1)))
        if not math.isnan(expected):
            found = float(metric(*summary.inputs(metric, options), **options))
            assert found == pytest.approx(expected, rel=1e-12, abs=1e-12), seed
            compared += 1
    assert compared >= SETS / 3
