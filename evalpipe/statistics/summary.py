"""From rows and weights to named statistics, each computed once per batch of weight rows.

A *column* statistic is declared as a function of rows giving one value a row; the statistic is the weighted total.
A *table* statistic is declared as a function of a `Summary` giving last axes of distinct scores or classes.
Keyword-only parameters of either are filled from the metric's options of the same name. Both are linear in the
weights; a *pairs* statistic, declared like a table, totals products of two rows' weights. What metrics fit to
statistics (`evalpipe.metrics.declare`) is computed once in the same way.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from evalpipe.metrics.declare import SharedFit, shared_fits
from evalpipe.statistics.labels import combined_weights
from evalpipe.statistics.rows import starts_of_runs, totals_of_runs

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Flags, Floats, Values, Wholes
    from evalpipe.metrics.declare import Metric
    from evalpipe.metrics.values import Gaps


Declared = TypeVar("Declared", bound="Callable[..., Values]")


@dataclass(frozen=True)
class Statistic:
    """One declared statistic: its function, and the names of the options that it takes.

    ``of_rows``: the function gives a value for each row, to be totalled. ``of_pairs``: it totals over pairs of rows.
    """

    function: Callable[..., Values]
    of_rows: bool
    options: tuple[str, ...]
    of_pairs: bool = False


statistics: dict[str, Statistic] = {}
"""Every declared statistic by name."""


def _declare(function: Declared, *, of_rows: bool, of_pairs: bool = False) -> Declared:
    """Add a function to `statistics` under its name and return it; its keyword-only parameters are the options.

    ``of_rows``: it gives a value for each row, to be totalled. ``of_pairs``: it totals over pairs of rows.
    """
    parameters = inspect.signature(function).parameters.values()
    options = tuple(p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY)
    statistics[function.__name__] = Statistic(function, of_rows, options, of_pairs)
    return function


def column(function: Declared) -> Declared:
    """Declare the weighted total of a value per row, ``function(rows, **options)`` of shape [n]."""
    return _declare(function, of_rows=True)


def table(function: Declared) -> Declared:
    """Declare totals at each distinct score or class, ``function(summary, **options)`` of shape [..., m]."""
    return _declare(function, of_rows=False)


def pairs(function: Declared) -> Declared:
    """Declare a statistic that totals pairs of rows, ``function(summary, **options)``.

    It is quadratic in the weights, so that totals of parts of the data do not add up.
    """
    return _declare(function, of_rows=False, of_pairs=True)


KEPT = 10_000
"""The most numbers of a table that `Summary.forget` keeps."""

COLUMNS = 2**22
"""The most values of rows, of all columns together, that are kept for further weights (32 MB)."""

Key = tuple[str, tuple[object, ...]]
"""The name of a statistic and the values of its options."""


@dataclass(frozen=True)
class Summary:
    """The statistics of ``rows`` under ``weights`` [..., n], floats or integers, each computed once, when needed.

    ``rows`` are `Rows`, `ClassRows` or `NumberRows`; only statistics that these have the columns for may be called.
    ``columns`` keeps the values that columns give for each row, for other weights of the same rows; None keeps none.
    ``shares`` are those of judges, where rows have a ``source``.
    """

    rows: Any  # one of the three kinds, and each statistic is declared for those that have what it reads
    weights: Floats
    _computed: dict[Key, Floats] = field(default_factory=dict)
    columns: dict[Key, Values] | None = field(default=None, repr=False, compare=False)
    _reweighted: dict[object, tuple[object, Summary]] = field(default_factory=dict, repr=False, compare=False)
    shares: tuple[float, ...] = ()
    _labelled: tuple[Any, Values] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Combine the weights of rows whose truth has several sources, judges with their ``shares``, by default 0."""
        source = getattr(self.rows, "source", None)
        if source is not None:
            judges = int(source.max(initial=0)) // 2
            object.__setattr__(self, "_labelled", (self.rows, self.weights))
            object.__setattr__(self, "shares", self.shares or (0.0,) * judges)
            rows, starts = self.rows.without_source
            combined = combined_weights(self.weights, source, self.shares)
            object.__setattr__(self, "weights", totals_of_runs(combined, starts))
            object.__setattr__(self, "rows", rows)

    def with_judges(self, shares: tuple[float, ...]) -> Summary:
        """Return the statistics of the same rows in which each judge takes part by its share in ``shares``.

        Unchanged where no judge labels rows.
        """
        if self._labelled is None or shares == self.shares:
            return self
        key = "judges", shares
        if key not in self._reweighted:
            rows, weights = self._labelled
            self._reweighted[key] = key, Summary(rows, weights, columns=self.columns, shares=shares)
        return self._reweighted[key][1]

    def at(self, shares: tuple[float, ...] | Floats) -> Summary:
        """Return the statistics of the same rows, reweighted so that each class has its share of the total weight.

        ``shares`` of the classes are [K], as a tuple, or an array [..., K] with a row for each row of weights; results
        are cached by ``shares``. An absent class stays absent; see `lacks`. Saerens, Latinne & Decaestecker (2002), eq.
        2.4.
        """
        # Arrays cannot be keys by value; the same array is asked for again and again.
        key = shares if isinstance(shares, tuple) else id(shares)
        if key not in self._reweighted:
            occurring = self("occurring")
            wanted_weight = np.asarray(shares) * occurring.sum(axis=-1, keepdims=True)
            factors = np.divide(wanted_weight, occurring, out=np.zeros_like(occurring), where=occurring > 0)
            weights = self.weights * np.take(factors, self.rows.codes, axis=-1)
            # Kept with its key, whose id must stay taken.
            self._reweighted[key] = shares, Summary(self.rows, weights, columns=self.columns)
        return self._reweighted[key][1]

    def lacks(self, shares: tuple[float, ...] | Floats) -> Flags:
        """Tell whether a class with a share above 0 is absent, [...]: then no value is defined at these shares."""
        return np.asarray(((np.asarray(shares) > 0) & (self("occurring") == 0)).any(axis=-1))

    @cached_property
    def by_score(self) -> tuple[Floats, Floats]:
        """The weight of events and of non-events at each distinct score, each [..., m]; integers where weights are."""
        rows = self.rows
        if len(rows.starts) == len(rows.order):  # each score is of one row
            weights = self.weights if rows.ordered else np.take(self.weights, rows.order, axis=-1)
            events = weights * rows.ordered_truth
            return events, weights - events
        positions = rows.positions_by_class
        return self._at_scores(*positions[True]), self._at_scores(*positions[False])

    def _at_scores(self, row_indices: Wholes, score_index: Wholes) -> Floats:
        """Return the weight [..., m], at each of m distinct scores, of the rows at the positions ``row_indices`` [k].

        ``score_index`` [k] is the index of each of these rows' scores among the distinct ones, ascending.
        """
        weights = np.take(self.weights, row_indices, axis=-1)
        totals = np.zeros((*self.weights.shape[:-1], len(self.rows.distinct)), self.weights.dtype)
        starts = starts_of_runs(score_index)
        totals[..., score_index[starts]] = totals_of_runs(weights, starts)
        return totals

    def shares_from(self, *names: str) -> Floats:
        """Return the share of the rows that some tables count, such as "events_from", at or above each score.

        From 0 above the highest score down, [..., m + 1]; NaN where the total is 0. Computed once.
        """
        key = ("shares_from", names)
        if key not in self._computed:
            totals = sum(map(self, names[1:]), start=self(names[0]))
            shares = np.zeros((*totals.shape[:-1], totals.shape[-1] + 1))
            with np.errstate(invalid="ignore"):
                np.divide(totals[..., ::-1], totals[..., :1], out=shares[..., 1:])
            self._computed[key] = shares
        return self._computed[key]

    @cached_property
    def floats(self) -> Floats:
        """The weights as floats, shape [..., n]."""
        return self.weights.astype(float, copy=False)

    @property
    def celled(self) -> bool:
        """Whether each row stands for many rows of the data, which were counted in cells."""
        return getattr(self.rows, "ends", None) is not None

    @property
    def row_counts(self) -> Floats:
        """The number of rows of the data that each row stands for, [n]: 1, or the weight of a cell.

        For a single row of weights.
        """
        return self.floats if self.celled else np.ones(self.weights.shape[-1])

    def forget(self) -> None:
        """Free the memory of large tables; they are computed again when they are needed."""
        for key in [key for key, values in self._computed.items() if values.size > KEPT]:
            del self._computed[key]
        for name in ("by_score", "floats", "_reportable", "_ranked", "classes", "pooled"):
            self.__dict__.pop(name, None)
        self._reweighted.clear()
        if self.weights.shape[-1] > KEPT:
            # What rows have computed of themselves: their order by score, for one.
            for name in self.rows.__dict__.keys() - {field.name for field in fields(self.rows)}:
                del self.rows.__dict__[name]

    @property
    def reportable(self) -> Summary:
        """The statistics without the rows in the equivocal zone; these statistics where there is no zone."""
        return self if self.rows.reportable is None else self._reportable  # never kept in itself, which holds memory

    @cached_property
    def _reportable(self) -> Summary:
        """The statistics of the rows that have a predicted class."""
        kept, rows = self.rows.with_predicted_class
        return Summary(rows, np.take(self.weights, kept, axis=-1))

    @property
    def ranked(self) -> Summary:
        """The statistics by the ranks of rows; these statistics where rows are ranked by their scores."""
        return self if self.rows.by_rank is self.rows else self._ranked

    @cached_property
    def _ranked(self) -> Summary:
        """The statistics with the ranks of rows in place of their scores."""
        return Summary(self.rows.by_rank, self.weights)

    def seen_by(self, metric: Metric) -> Summary:
        """Return the statistics of the rows that a metric uses.

        A metric of predicted classes uses only rows that have one, a metric of ranking orders rows by their ranks.
        """
        if metric.of_reportable:
            return self.reportable
        return self.ranked if metric.of_ranks else self

    @cached_property
    def classes(self) -> tuple[Summary, ...]:
        """The statistics of each level against the rest, that level being the event; for rows of K levels."""
        return tuple(self._one_against_rest(level) for level in range(self.rows.levels))

    def _one_against_rest(self, level: int) -> Summary:
        """Return the statistics of one level against the rest, with its four cells from the matrix of all levels."""
        cells: dict[str, Floats] = {}
        if self.rows.predicted is not None:
            matrix = self("confusion")
            others = np.delete(matrix, level, axis=-1)  # sums without the level, never differences: no cell below zero
            cells = {
                "tp": matrix[..., level, level],
                "fp": np.delete(matrix[..., level], level, axis=-1).sum(axis=-1),
                "fn": others[..., level, :].sum(axis=-1),
                "tn": np.delete(others, level, axis=-2).sum(axis=(-2, -1)),
            }
        computed: dict[Key, Floats] = {(name, ()): np.asarray(cell) for name, cell in cells.items()}
        return Summary(self.rows.against_rest[level], self.weights, computed)

    @cached_property
    def pooled(self) -> Summary:
        """The statistics of all levels against the rest together, each row once for each level: for micro averages."""
        return Summary(self.rows.pooled, np.tile(self.weights, self.rows.levels))

    def __call__(self, name: str, options: Mapping[str, object] | None = None) -> Floats:
        """Return the statistic or the shared fit ``name`` [...] or [..., m], with the ``options`` that it declares."""
        declared = shared_fits[name] if name in shared_fits else statistics[name]
        own_options = {key: (options or {})[key] for key in declared.options}
        key = (name, tuple(own_options.values()))
        if key in self._computed:
            return self._computed[key]
        if isinstance(declared, SharedFit):
            tables = (self(statistic, own_options) for statistic in declared.statistics)
            self._computed[key] = declared.function(*tables, **own_options)
        elif declared.of_rows:
            # Sums along the row axis, not a matrix product: the same bytes for any number of BLAS threads.
            values = self._column(name, own_options)
            weights = self.weights if values.dtype.kind == "b" else self.floats
            self._computed[key] = np.asarray((weights * values).sum(axis=-1), dtype=float)
        else:
            # Counts stay integers while they are summed; a metric multiplies them, where integers would overflow.
            self._computed[key] = np.asarray(declared.function(self, **own_options), dtype=float)
        return self._computed[key]

    def of_each_row(self, metric: Metric, options: Mapping[str, object]) -> Floats:
        """Return the value [n] that a metric of column statistics and the total has of each row alone."""
        values = (np.ones(len(self.rows.truth)) if name == "total" else
                  self._column(name, {key: options[key] for key in statistics[name].options}) for name in metric.takes)
        return metric(*values, **options)

    def _column(self, name: str, options: Mapping[str, object]) -> Values:
        """Return the value of a column statistic for each row, [n]."""
        key, columns = (name, tuple(options.values())), {} if self.columns is None else self.columns
        if key in columns:
            return columns[key]
        values = statistics[name].function(self.rows, **options)
        if getattr(self.rows, "remainders", None):
            values = self.rows.exactly(name, options, values)
        if (len(columns) + 1) * len(values) <= COLUMNS:
            columns[key] = values
        return values

    def value(self, metric: Metric, options: Mapping[str, object]) -> Floats:
        """Return a metric's value on these statistics, shape [...]."""
        return metric(*self.inputs(metric, options), **options)

    def proportion(self, metric: Metric, options: Mapping[str, object]) -> tuple[Floats, Floats]:
        """Return the successes and the trials of a proportion on these statistics, each [...]."""
        return metric.proportion(*self.inputs(metric, options), **options)

    def gaps(self, metric: Metric, options: Mapping[str, object]) -> Gaps:
        """Return the events, non-events and gaps (events less those expected) of each bin of a metric of bins."""
        return metric.gaps(*self.inputs(metric, options), **options)

    def inputs(self, metric: Metric, options: Mapping[str, object]) -> list[Floats]:
        """Return the statistics and fits that a metric's function takes, in order."""
        summary = self.seen_by(metric)
        return [summary(name, options) for name in metric.takes]
