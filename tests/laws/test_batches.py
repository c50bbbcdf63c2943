"""A batch of weights with any leading axes is a loop, to the last bit, where some of its rows leave a metric undefined.

The other laws take one leading axis of weights that are all positive. Here there are two, and beside such weights
there are none at all, those of one row, of one class or truth, and of every other row. No tolerance: the sums of a
batch run in the order of a single one's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evalpipe.metrics import metric, ratio, registry
from laws import samples
from laws import test_number_metrics as numbers

N = 97


def batch(truth: Any) -> Any:
    """Return weights [2, 3, n] with gaps, so that each row of them lacks something else."""
    weights = np.stack([samples.weights(N, seed) for seed in range(6)])
    weights[1] = 0
    weights[2, np.arange(N) != 40] = 0
    weights[3, truth != truth[3]] = 0
    weights[4, ::2] = 0
    return weights.reshape(2, 3, N)


def assert_equal(together: Any, alone: list[float]) -> None:
    assert together.shape == (2, 3)
    np.testing.assert_array_equal(together.ravel(), alone)


@pytest.mark.parametrize(("name", "options", "task"), samples.CASES, ids=samples.IDS)
def test_a_batch_with_gaps_is_a_loop(name: str, options: dict[str, Any], task: str) -> None:
    data = samples.rows(task)
    weights = batch(data.truth)
    each = [float(samples.value(name, options, data, weight)) for weight in weights.reshape(6, N)]
    assert_equal(samples.value(name, options, data, weights), each)


@numbers.every_metric
@pytest.mark.parametrize("ties", [True, False])
def test_a_batch_of_numbers_with_gaps_is_a_loop(name: str, options: dict[str, Any], ties: bool) -> None:
    data = numbers.rows(ties=ties)
    weights = batch(data.truth)
    each = [float(numbers.value(name, options, data, weight)) for weight in weights.reshape(6, N)]
    assert_equal(numbers.value(name, options, data, weights), each)


def _over_the_batch(total: Any) -> Any:
    return ratio(total, total.max())


def _second_axis(confusion: Any) -> Any:
    return confusion.trace(axis1=1, axis2=2).sum(axis=-1)


@pytest.mark.parametrize("mutant", [_over_the_batch, _second_axis])
def test_the_law_can_fail(mutant: Any) -> None:
    entry = metric(needs="labels", sees="classes", direction="maximize", range=(0, 1), undefined="never",
                   ref="nobody (2000)")(mutant)
    try:
        with pytest.raises((AssertionError, ValueError)):
            test_a_batch_with_gaps_is_a_loop(entry.name, {}, "many")
    finally:
        registry.remove(entry.name)
