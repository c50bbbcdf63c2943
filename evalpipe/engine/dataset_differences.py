"""How the outcome differs between datasets: the shares of its levels, or its mean, with tests."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe.results.datasets import DatasetDifference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.data.sample import Sample
    from evalpipe.results import DatasetSummary


def dataset_differences(samples: Sequence[Sample]) -> Iterator[DatasetDifference]:
    """Yield the difference of each further dataset from the first: of the event, of every level, or of the mean."""
    if not samples:
        return
    first, *others = samples
    levels = first.levels[:1] if first.task == "binary" else first.levels
    for other in others:
        pair = first.summary, other.summary
        for level in levels:
            yield from _of_shares(level, *pair)
        if not levels and all({"mean", "sd"} <= summary.outcome.keys() for summary in pair):
            yield _of_means(*pair)


def _of_shares(level: str, first: DatasetSummary, other: DatasetSummary) -> Iterator[DatasetDifference]:
    """Yield the difference of two shares with the z-test of their pooled share; nothing of a dataset without rows."""
    if not (first.total_weight and other.total_weight):
        return
    shares = [math.fsum(count.weight for count in dataset.levels if count.level == level) / dataset.total_weight
              for dataset in (first, other)]
    sizes = [independent_rows(dataset) for dataset in (first, other)]
    pooled = math.fsum(share * size for share, size in zip(shares, sizes, strict=True)) / math.fsum(sizes)
    yield _row(level, (first, other), shares, math.sqrt(pooled * (1 - pooled) * math.fsum(1 / size for size in sizes)))


def _of_means(first: DatasetSummary, other: DatasetSummary) -> DatasetDifference:
    """Return the difference of two means with the z-test of unequal variances (Welch 1938)."""
    # The sd is that of the rows, which is smaller than that of what they are drawn from.
    sizes = [max(independent_rows(dataset) - 1, 0.0) for dataset in (first, other)]
    spreads = [dataset.outcome["sd"] for dataset in (first, other)]
    variance = math.fsum(sd**2 / size for sd, size in zip(spreads, sizes, strict=True)) if all(sizes) else 0.0
    return _row(None, (first, other), [dataset.outcome["mean"] for dataset in (first, other)], math.sqrt(variance))


def independent_rows(dataset: DatasetSummary) -> float:
    """Return how many independent observations the rows amount to, at least: clusters where there are any."""
    return min(size for size in (dataset.n, dataset.n_effective, dataset.clusters) if size is not None)


def _row(
    level: str | None, datasets: tuple[DatasetSummary, DatasetSummary], values: Sequence[float], error: float
) -> DatasetDifference:
    from scipy.special import ndtr

    statistic = (values[1] - values[0]) / error if error else None
    return DatasetDifference(
        dataset=datasets[1].name, baseline=datasets[0].name, level=level, value=values[1], baseline_value=values[0],
        statistic=statistic, p_value=None if statistic is None else 2 * float(ndtr(-abs(statistic))))
