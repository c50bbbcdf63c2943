"""What several metrics fit to the same statistics is fitted once for each batch of weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from evalpipe.metrics import Metric, metric, ratio, registry
from evalpipe.metrics.declare import shared_fit, shared_fits
from evalpipe.statistics import Summary, statistics
from laws import samples

FITTED: list[float] = []
"""The option of each toy fit so far."""


def share_at(events_at: Any, others_at: Any, *, power: float) -> Any:
    FITTED.append(power)
    return ratio(events_at, events_at + others_at) ** power


def highest_share(share_at: Any, *, power: float = 1.0) -> Any:  # noqa: ARG001 - an option of the fit
    return share_at.max(axis=-1)


def mean_share(total: Any, others_at: Any, share_at: Any, *, power: float = 1.0) -> Any:  # noqa: ARG001
    return ratio((others_at * share_at).sum(axis=-1), total)


@pytest.fixture
def toys() -> Iterator[list[Metric]]:
    """Return two metrics that take one fit."""
    FITTED.clear()
    shared_fit(share_at)
    declare = metric(needs="scores", direction="none", range=(0, 1), undefined="no rows", ref="Toymaker (2026)")
    entries = [declare(highest_share), declare(mean_share)]
    yield entries
    for entry in entries:
        registry.remove(entry.name)
    del shared_fits["share_at"]


def test_metrics_of_the_same_statistics_share_a_fit_for_each_of_its_options(toys: list[Metric]) -> None:
    data = samples.rows()
    weights = np.stack([samples.weights(97, seed) for seed in range(3)])
    summary = Summary(data, weights)
    for power in (1.0, 2.0, 1.0):
        values = [summary.value(entry, {"power": power}) for entry in toys]
        alone = [Summary(data, weights).value(entry, {"power": power}) for entry in toys]
        np.testing.assert_array_equal(values, alone)
    # Once for both metrics and twice alone, of each option; the second time only alone.
    assert FITTED == [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 1.0, 1.0]


def test_a_metric_rests_on_the_statistics_of_the_fits_that_it_takes(toys: list[Metric]) -> None:
    assert [entry.takes for entry in toys] == [("share_at",), ("total", "others_at", "share_at")]
    assert [entry.statistics for entry in toys] == [("events_at", "others_at"), ("total", "others_at", "events_at")]


@pytest.mark.parametrize("name", shared_fits)
def test_a_fit_has_a_name_of_its_own_and_is_shared(name: str) -> None:
    assert name not in statistics
    assert len([entry for entry in registry if name in entry.takes]) > 1
    assert set(shared_fits[name].statistics) <= set(statistics)


def test_a_forgotten_fit_is_computed_again_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalpipe.statistics.summary.KEPT", 5)
    summary = Summary(samples.rows(), samples.weights(97))
    line, curve = summary("calibration_line"), summary("curve_distance_at", {"smooth": "spline"})
    summary.forget()
    again = summary("curve_distance_at", {"smooth": "spline"})
    assert summary("calibration_line") is line
    assert again is not curve
    np.testing.assert_array_equal(again, curve)
