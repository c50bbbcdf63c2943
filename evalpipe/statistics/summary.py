"""From rows and weights to named statistics, each computed once per batch of weight rows.

A *column* statistic is declared as a function of `Rows` giving one value a row; the statistic is the weighted total.
A *table* statistic is declared as a function of a `Summary` giving a last axis of distinct scores. Keyword-only
parameters of either are filled from the metric's options of the same name. Every statistic is linear in the weights.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from evalpipe.metrics.declare import Metric
    from evalpipe.statistics.rows import Floats, Rows


@dataclass(frozen=True)
class Statistic:
    """One declared statistic."""

    function: Callable[..., Any]
    of_rows: bool
    options: tuple[str, ...]


statistics: dict[str, Statistic] = {}
"""Every declared statistic by name."""


def _declare(function: Callable[..., Any], *, of_rows: bool) -> Callable[..., Any]:
    parameters = inspect.signature(function).parameters.values()
    options = tuple(p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY)
    statistics[function.__name__] = Statistic(function, of_rows, options)
    return function


def column(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare the weighted total of a value per row, ``function(rows, **options)`` of shape [n]."""
    return _declare(function, of_rows=True)


def table(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare totals at each distinct score, ``function(summary, **options)`` of shape [..., m]."""
    return _declare(function, of_rows=False)


@dataclass(frozen=True)
class Summary:
    """The statistics of ``rows`` under ``weights`` [..., n]; each is computed when first asked for."""

    rows: Rows
    weights: Floats
    _known: dict[tuple[str, tuple[Any, ...]], Floats] = field(default_factory=dict)

    @cached_property
    def ordered_weights(self) -> Floats:
        """The weights in ascending order of score, shape [..., n]."""
        return self.weights[..., self.rows.order]

    def __call__(self, name: str, options: Mapping[str, Any] | None = None) -> Floats:
        """Return the statistic ``name``; of ``options`` it takes those that it declares."""
        statistic = statistics[name]
        taken = {key: (options or {})[key] for key in statistic.options}
        key = (name, tuple(taken.values()))
        if key not in self._known:
            self._known[key] = self._total(statistic, taken)
        return self._known[key]

    def _total(self, statistic: Statistic, options: Mapping[str, Any]) -> Floats:
        if statistic.of_rows:
            # Sums along the row axis, not a matrix product: the same bytes for any number of BLAS threads.
            return np.asarray((self.weights * statistic.function(self.rows, **options)).sum(axis=-1))
        return np.asarray(statistic.function(self, **options))

    def value(self, metric: Metric, options: Mapping[str, Any]) -> Floats:
        """Return a metric's value on these statistics, shape [...]."""
        return metric(*self._inputs(metric, options), **options)

    def proportion(self, metric: Metric, options: Mapping[str, Any]) -> tuple[Floats, Floats]:
        """Return successes and trials of a proportion."""
        return metric.proportion(*self._inputs(metric, options), **options)

    def _inputs(self, metric: Metric, options: Mapping[str, Any]) -> list[Floats]:
        return [self(name, options) for name in metric.statistics]
