"""The scores of one model for the items of one dataset, and their statistics.

An item may have been answered in several epochs. Epochs are brought together when data are read, so that a row is an
item: what its epochs say is a few numbers of the row.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, wraps
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.base.constants import USAGE
from evalpipe.statistics.ranked_lists import OF_QUERIES
from evalpipe.statistics.rows import Groups, present, rows_at
from evalpipe.statistics.summary import column, table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalpipe.base.arraytypes import Flags, Floats, Values, Wholes
    from evalpipe.statistics.ranked_lists import Queries
    from evalpipe.statistics.summary import Summary


@dataclass(frozen=True)
class ScoreRows:
    """What a model scored in n items, all [n]: the mean ``score`` over an item's ``epochs``, and how these differ.

    ``within`` is the sum of squared deviations of the epochs' scores from their mean; ``agreeing`` the number of pairs
    of epochs with equal scores. ``successes`` are the epochs whose score counts as a success, None where it is not
    known what does; ``wins`` the share of the other models that scored less, ties one half, None of a single model.
    Where an item is a query, ``query`` is its place in the ranked lists of ``queries``. ``usage`` [n, u] is the mean
    over the epochs of what each of them used, by the names ``uses`` [u].
    """

    score: Floats
    epochs: Floats
    within: Floats
    agreeing: Floats
    successes: Floats | None = None
    wins: Floats | None = None
    query: Floats | None = None
    queries: Queries | None = None
    usage: Floats | None = None
    uses: tuple[str, ...] = ()

    @classmethod
    def of(cls, score: Floats, items: Mapping[str, Floats], queries: Queries | None) -> ScoreRows:
        """Return the rows of a model's scores, with what ``items`` says of their epochs by kind, each [n]."""
        usage = {kind.removeprefix(USAGE): used for kind, used in items.items() if kind.startswith(USAGE)}
        kinds = {kind: values for kind, values in items.items() if not kind.startswith(USAGE)}
        return cls(score, **kinds, queries=queries, uses=tuple(usage),
                   usage=np.column_stack([*usage.values()]) if usage else None)

    @property
    def gives(self) -> frozenset[str]:
        """What the rows provide for metrics."""
        known = {"successes": self.successes, "wins": self.wins, "ranked_lists": self.queries, "usage": self.usage,
                 "usage_of_successes": None if self.usage is None else self.successes}
        return frozenset({"truth", "item_scores", *(name for name, part in known.items() if part is not None)})

    @property
    def truth(self) -> Floats:
        """Zeros [n]: an item has a score, and no outcome."""
        return np.zeros(len(self.score))

    @property
    def reportable(self) -> None:
        """Always None: there is no equivocal zone."""
        return

    @property
    def ranked(self) -> bool:
        """Always False: scores of items are no scores of an event."""
        return False

    @cached_property
    def by_score(self) -> Groups:
        """The items grouped by their scores."""
        return Groups.by(self.score)

    @cached_property
    def deviation(self) -> Floats:
        """Score less the plain mean of the scores, so that large means do not cancel."""
        return np.asarray(self.score - self.score.mean())

    @cached_property
    def repeated(self) -> Flags:
        """Whether an item has two epochs or more."""
        return np.asarray(self.epochs >= 2)

    def at(self, index: Wholes) -> ScoreRows:
        """Return the items at the positions ``index``."""
        return rows_at(self, index)


@column
def item_score(rows: ScoreRows) -> Floats:
    """Score of an item, the mean over its epochs."""
    return rows.score


@column
def score_deviation(rows: ScoreRows) -> Floats:
    """Score less the plain mean of the scores."""
    return rows.deviation


@column
def squared_score_deviation(rows: ScoreRows) -> Floats:
    """The square of the score less the plain mean of the scores."""
    return rows.deviation**2


@column
def at_or_above(rows: ScoreRows, *, limit: float) -> Flags:
    """Items whose score is at the limit or above it."""
    return np.asarray(rows.score >= limit)


@column
def passes_in_some(rows: ScoreRows, *, k: int) -> Floats:
    """The probability that k epochs, drawn from those of an item without replacement, have a success among them."""
    return 1 - _none_of(rows.epochs, rows.epochs - present(rows.successes, "successes"), k)


@column
def passes_in_all(rows: ScoreRows, *, k: int) -> Floats:
    """The probability that k epochs, drawn from those of an item without replacement, are all successes."""
    return _none_of(rows.epochs, present(rows.successes, "successes"), k)


def _none_of(total: Floats, part: Floats, k: int) -> Floats:
    """Return the probability [n] that k draws without replacement from ``total`` all fall into ``part``, both [n]."""
    chance = np.ones(len(total))
    for drawn in range(k):
        chance *= np.maximum(part - drawn, 0.0) / np.maximum(total - drawn, 1.0)
    return chance


@column
def too_few_epochs(rows: ScoreRows, *, k: int) -> Flags:
    """Items with fewer than k epochs."""
    return np.asarray(rows.epochs < k)


@column
def repeated_items(rows: ScoreRows) -> Flags:
    """Items with two epochs or more."""
    return rows.repeated


@column
def flips(rows: ScoreRows) -> Floats:
    """The share of an item's pairs of epochs of which one is a success and the other is not."""
    successes = present(rows.successes, "successes")
    return _of_pairs(rows, successes * (rows.epochs - successes))


@column
def agreeing_pairs(rows: ScoreRows) -> Floats:
    """The share of an item's pairs of epochs that have equal scores."""
    return _of_pairs(rows, rows.agreeing)


def _of_pairs(rows: ScoreRows, counted: Floats) -> Floats:
    """Return ``counted`` pairs of epochs of each item as a share of all its pairs, [n]; 0 without any."""
    pairs_of_epochs = rows.epochs * (rows.epochs - 1) / 2
    return np.where(rows.repeated, counted / np.maximum(pairs_of_epochs, 1.0), 0.0)


@column
def success_share(rows: ScoreRows) -> Floats:
    """The share of an item's epochs that succeed."""
    return np.asarray(present(rows.successes, "successes") / rows.epochs)


@column
def usage_of_item(rows: ScoreRows, *, usage: str) -> Floats:
    """The mean over an item's epochs of what each used."""
    return np.asarray(present(rows.usage, "usage")[:, rows.uses.index(usage)])


@column
def wins(rows: ScoreRows) -> Floats:
    """The share of the other models that scored less in an item, ties one half."""
    return present(rows.wins, "other models")


def _queries(rows: ScoreRows) -> Queries:
    """Return the ranked lists that rows are of; raises TypeError without any."""
    if rows.queries is None:
        raise TypeError("these rows have no ranked lists")
    return rows.queries


def _of_rows(rows: ScoreRows, of_queries: Values) -> Values:
    """Return the values [n] of the queries of rows, from those of all queries."""
    return np.asarray(of_queries[present(rows.query, "queries").astype(np.intp)])


def _declare_query_column(number: Callable[..., Floats]) -> None:
    """Declare the column `NAME_of_query` of a number that each ranked list has, with the options of its function."""

    @wraps(number)
    def of_query(rows: ScoreRows, **options: object) -> Values:
        queries = _queries(rows)
        return _of_rows(rows, queries.filled(number(queries.lists, **options)))

    of_query.__name__ = f"{number.__name__}_of_query"
    column(of_query)


for _number in OF_QUERIES.values():
    _declare_query_column(_number)


@column
def without_gain(rows: ScoreRows) -> Values:
    """Queries that have no value, for no document has a relevance above 0."""
    return _without_value(rows, _queries(rows).lists.graded)


@column
def without_relevant(rows: ScoreRows, *, relevant_from: float) -> Values:
    """Queries that have no value, for no document is relevant."""
    return _without_value(rows, _queries(rows).lists.relevant(relevant_from))


def _without_value(rows: ScoreRows, relevant: Floats | Wholes) -> Values:
    """Return the rows [n] of queries without ``relevant`` documents, if these have no value."""
    is_empty = (relevant == 0) & (_queries(rows).without_relevant is None)
    return _of_rows(rows, is_empty)


@table
def score_at(summary: Summary) -> Floats:
    """Weight at each distinct score of an item."""
    return np.asarray(summary.rows.by_score.totals(summary.weights))


@table
def score_total(summary: Summary) -> Floats:
    """Total of the scores at each distinct one."""
    return np.asarray(summary.rows.by_score.totals(summary.weights * summary.rows.score))


@table
def epoch_moments(summary: Summary) -> Floats:
    """Totals [..., 6] over items of one, n, n squared, n d, n d squared, and the squares within.

    n are an item's epochs, d its score less the plain mean of the scores.
    """
    rows = summary.rows
    n, d = rows.epochs, rows.deviation
    terms = (np.ones(len(n)), n, n * n, n * d, n * d * d, rows.within)
    return np.stack([(summary.weights * term).sum(axis=-1) for term in terms], axis=-1)
