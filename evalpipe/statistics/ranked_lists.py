"""Ranked lists of documents, a list a query, and measures of retrieval: a number for each query.

Documents that share a score have no order. Each measure is its expected value if each order of them is as likely as
any other (McSherry, F. & Najork, M. (2008). Computing information retrieval performance measures efficiently in the
presence of tied scores. ECIR 2008, 414-421); without ties it is the plain measure. trec_eval breaks ties by the names
of documents; in ranx they fall as its sort leaves them, which hangs on the order of rows.

A document without a judgement is not relevant, as in trec_eval and ranx. A query without a relevant document has no
value of any measure, since all lists serve it alike; trec_eval, ranx and torchmetrics give it 0. With 0 in place of
NaN, lists without ties have the values of trec_eval.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from evalpipe.arithmetic import exp, log
from evalpipe.metrics.values import ratio
from evalpipe.statistics.rows import starts_of_runs, totals_of_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalpipe.base.arraytypes import Floats, Values, Wholes

LARGEST_EXPONENT = 1000
"""The largest relevance that has an exponential gain; 2 to the 1024 overflows."""

MOST = 2**31
"""More documents than any list has."""


class Ties(NamedTuple):
    """Runs of documents of one query that share a score, g in all; a document that shares it with none is a run.

    ``starts``, ``query`` and ``size`` [g] are the position of the first document, the query, and how many documents
    there are; ``above`` [g] is how many documents of the list have a higher score.
    """

    starts: Wholes
    query: Wholes
    size: Wholes
    above: Wholes


@dataclass(frozen=True)
class RankedLists:
    """The documents of n queries: m that the model retrieved, by query and descending score, and the best order.

    ``score`` and ``relevance`` [m] are those of the documents retrieved, tied ones by descending relevance, which is 0
    where there is no judgement; ``retrieved`` [n] is how many a query has. ``ideal`` [d] is each relevance above 0,
    retrieved or not, by query and descending; ``graded`` [n] is how many of these a query has. ``unjudged`` [n] is how
    many documents were retrieved that have no judgement.
    """

    score: Floats
    relevance: Floats
    retrieved: Wholes
    ideal: Floats
    graded: Wholes
    unjudged: Wholes

    @classmethod
    def of(cls, query: Wholes, relevance: Floats, score: Floats) -> RankedLists:
        """Rank m documents, in any order, by descending ``score`` [m] within each ``query`` [m], numbered from 0.

        A ``relevance`` [m] of NaN is no judgement. A document whose score is NaN was not retrieved: it has no rank, but
        counts among the relevant documents of its query. Raises ValueError where lengths differ, or where a relevance
        is infinite or below 0.
        """
        if not len(query) == len(relevance) == len(score):
            raise ValueError("queries, relevance and scores have different lengths")
        if np.any(relevance < 0) or np.any(np.isinf(relevance)):
            raise ValueError("relevance is below 0 or infinite")
        n = int(query.max(initial=-1)) + 1
        # Small integers are sorted by counting, several times faster.
        codes, known = query.astype(np.min_scalar_type(n)), np.nan_to_num(relevance)
        descending = np.argsort(-known, kind="stable")
        ideal = descending[: np.count_nonzero(known)]
        ideal = ideal[np.argsort(codes[ideal], kind="stable")]
        order = descending[~np.isnan(score[descending])]
        order = order[np.argsort(-score[order], kind="stable")]
        order = order[np.argsort(codes[order], kind="stable")]
        retrieved, graded, unjudged = (
            np.bincount(query[rows], minlength=n) for rows in (order, ideal, order[np.isnan(relevance[order])]))
        return cls(score[order], known[order], retrieved, known[ideal], graded, unjudged)

    def at(self, index: Wholes) -> RankedLists:
        """Return the lists of the queries at the positions ``index``, in this order and as often."""
        rows, ideal = _rows_of(self.retrieved, index), _rows_of(self.graded, index)
        return RankedLists(self.score[rows], self.relevance[rows], self.retrieved[index], self.ideal[ideal],
                           self.graded[index], self.unjudged[index])

    @cached_property
    def query(self) -> Wholes:
        """The query of each document retrieved, shape [m]."""
        return np.repeat(np.arange(len(self.retrieved)), self.retrieved)

    @cached_property
    def rank(self) -> Wholes:
        """The rank of each document retrieved, from 1 in each list, shape [m]; in ties, the ranks that they share."""
        return _places(self.retrieved) + 1

    @cached_property
    def ties(self) -> Ties:
        """The runs of documents that share a score."""
        starts = starts_of_runs(self.query, self.score)
        return Ties(starts, self.query[starts], np.diff(starts, append=len(self.score)), self.rank[starts] - 1)

    @cached_property
    def ideal_query(self) -> Wholes:
        """The query of each number in ``ideal``, shape [d]."""
        return np.repeat(np.arange(len(self.graded)), self.graded)

    def totals(self, query: Wholes, values: Values) -> Floats:
        """Return the totals [n] of ``values`` [j] that belong to the queries ``query`` [j], summed in this order."""
        return np.asarray(np.bincount(query, values, len(self.retrieved)), float)

    def relevant(self, relevant_from: float) -> Floats:
        """Return how many relevant documents each query has, retrieved or not, shape [n].

        Raises ValueError where ``relevant_from``, the least relevance of a relevant document, is not above 0.
        """
        if not relevant_from > 0:
            raise ValueError("the least relevance of a relevant document is above 0")
        return self.totals(self.ideal_query, self.ideal >= relevant_from)

    def relevant_of_ties(self, relevant_from: float) -> Values:
        """Return how many documents are relevant in each of the `ties`, shape [g]."""
        return totals_of_runs((self.relevance >= relevant_from).astype(np.intp), self.ties.starts)


@dataclass(frozen=True)
class Queries:
    """The ranked ``lists`` of a model, and what a query without a relevant document counts; None: it has no value."""

    lists: RankedLists
    without_relevant: float | None = None

    def filled(self, values: Floats) -> Floats:
        """Return the values of queries [q] with that in place of NaN; 0 where these have no value."""
        return np.nan_to_num(values, nan=self.without_relevant or 0.0)


def precision_at(lists: RankedLists, *, k: int, relevant_from: float = 1.0) -> Floats:
    """Return the share of relevant documents among the first ``k`` of each list, shape [n].

    A list of fewer than k documents is divided by k all the same, as in trec_eval and ranx. NaN without a relevant
    document.
    """
    return ratio(_relevant_within(lists, k, relevant_from), k * np.sign(lists.relevant(relevant_from)))


def recall_at(lists: RankedLists, *, k: int, relevant_from: float = 1.0) -> Floats:
    """Return the share of a query's relevant documents that is among the first ``k`` of its list, shape [n].

    Documents that were not retrieved count, as in trec_eval and ranx. NaN without a relevant document.
    """
    return ratio(_relevant_within(lists, k, relevant_from), lists.relevant(relevant_from))


def hit_at(lists: RankedLists, *, k: int, relevant_from: float = 1.0) -> Floats:
    """Return whether any of the first ``k`` documents of each list is relevant, 0 or 1, its chance in ties: shape [n].

    It is the success of trec_eval and the hit rate of ranx. NaN without a relevant document.
    """
    k, first = _cut(k), _first_relevant(lists, relevant_from)
    missed = (first.rank > k) & (first.is_first | (first.rank == k + 1))
    hit = lists.totals(first.query, first.is_first) - lists.totals(first.query, first.none_above * missed)
    return ratio(hit, np.sign(lists.relevant(relevant_from)))


def reciprocal_rank(lists: RankedLists, *, k: int | None = None, relevant_from: float = 1.0) -> Floats:
    """Return 1 / the rank of the first relevant document of each list, 0 where none is among the first ``k``: [n].

    The whole list counts where k is None, as in trec_eval, which has no cut; ranx has it. NaN without a relevant
    document.
    """
    k, first = _cut(k), _first_relevant(lists, relevant_from)
    chance = first.none_above * first.share * (first.rank <= k)
    return ratio(lists.totals(first.query, chance / first.rank), np.sign(lists.relevant(relevant_from)))


def average_precision(lists: RankedLists, *, k: int | None = None, relevant_from: float = 1.0) -> Floats:
    """Return the mean of the precision at the rank of each relevant document of a query, shape [n].

    It is 0 for a document that is not among the first ``k``, or not retrieved: the mean is over all relevant documents,
    also where k is below their number, as in trec_eval (map, map_cut) and ranx. NaN without a relevant document.
    """
    k, ties, relevant = _cut(k), lists.ties, lists.relevant_of_ties(relevant_from)
    before = np.cumsum(relevant) - relevant
    before -= np.append(0, np.cumsum(lists.totals(ties.query, relevant).astype(np.intp)))[ties.query]
    used = np.flatnonzero((relevant > 0) & (ties.above < k))
    size, run = ties.size[used], np.repeat(used, ties.size[used])
    place = _places(size)
    rank = ties.above[run] + place + 1
    # If the document at this place is relevant, so is each other of its tie with the same chance.
    others = place * (relevant[run] - 1) / np.maximum(ties.size[run] - 1, 1)
    precision = (before[run] + 1 + others) / rank * (rank <= k)
    return ratio(lists.totals(ties.query[run], precision * relevant[run] / ties.size[run]),
                 lists.relevant(relevant_from))


def ndcg(lists: RankedLists, *, k: int | None = None, gain: Literal["linear", "exponential"] = "linear") -> Floats:
    """Return the normalised discounted cumulative gain of the first ``k`` documents of each list, shape [n].

    The gains, the relevance or 2 to the relevance less 1 (exponential), are divided by the binary logarithm of the rank
    + 1 and summed; the sum is divided by that of the best order of all judged documents, cut at k as well (Järvelin, K.
    & Kekäläinen, J. (2002). ACM Transactions on Information Systems 20(4), 422-446). The linear one is trec_eval's and
    scikit-learn's, and ``ndcg`` of ranx; the exponential one is ``ndcg_burges`` of ranx. NaN where all gains are 0.
    Raises ValueError where a relevance above 1,000 has an exponential gain.
    """
    k, ties = _cut(k), lists.ties
    gained = np.add.reduceat(_gain(lists.relevance, gain), ties.starts) / ties.size
    ideal_rank = _places(lists.graded) + 1
    longest = max(lists.retrieved.max(initial=0), lists.graded.max(initial=0))
    discount = np.append(0.0, log(2.0) / log(np.arange(2.0, longest + 2)))
    discount[k + 1 :] = 0.0
    reached = lists.totals(lists.query, np.repeat(gained, ties.size) * discount[lists.rank])
    best = lists.totals(lists.ideal_query, _gain(lists.ideal, gain) * discount[ideal_rank])
    return np.asarray(np.minimum(ratio(reached, best), 1.0))  # a mean of equal gains may round up


OF_QUERIES: Mapping[str, Callable[..., Floats]] = {
    "ndcg": ndcg, "mean_average_precision": average_precision, "mean_reciprocal_rank": reciprocal_rank,
    "precision_at": precision_at, "recall_at": recall_at, "hit_rate_at": hit_at,
}
"""The number of a query of which each measure, by its name, is the mean."""


class _First(NamedTuple):
    """The ranks that the first relevant document of each list may have, j in all lists, ascending.

    ``none_above`` [j] is the chance that no document above the rank is relevant, ``share`` [j] the chance that the one
    at it is, if so; ``is_first`` [j] marks the first such rank of a list.
    """

    query: Wholes
    rank: Wholes
    is_first: Values
    none_above: Floats
    share: Floats


def _first_relevant(lists: RankedLists, relevant_from: float) -> _First:
    """Return where the first relevant document of each list may be: at ranks of the first tie that has any."""
    ties, relevant = lists.ties, lists.relevant_of_ties(relevant_from)
    used = np.flatnonzero(relevant)
    used = used[starts_of_runs(ties.query[used])]
    ranks = ties.size[used] - relevant[used] + 1
    run, place = np.repeat(used, ranks), _places(ranks)
    left = ties.size[run] - place  # documents of the tie at this rank and below
    none_above = np.where(place > 0, 1 - relevant[run] / (left + 1), 1.0)
    step = 1
    while step < ranks.max(initial=0):  # running products within each list, by doubling
        none_above[step:] *= np.where(place[step:] >= step, none_above[:-step], 1.0)
        step *= 2
    return _First(ties.query[run], ties.above[run] + place + 1, place == 0, none_above, relevant[run] / left)


def _relevant_within(lists: RankedLists, k: int, relevant_from: float) -> Floats:
    """Return how many relevant documents are expected among the first ``k`` of each list, shape [n]."""
    ties = lists.ties
    within = np.clip(_cut(k) - ties.above, 0, ties.size)
    return lists.totals(ties.query, lists.relevant_of_ties(relevant_from) * within / ties.size)


def _gain(relevance: Floats, gain: Literal["linear", "exponential"]) -> Floats:
    """Return the gain of each relevance; of whole numbers it is exact."""
    if gain == "linear":
        return relevance
    if np.any(relevance > LARGEST_EXPONENT):
        raise ValueError("relevance above 1000 has no exponential gain")
    whole = np.floor(relevance)
    return np.asarray(np.ldexp(exp((relevance - whole) * log(2.0)), whole.astype(np.intp)) - 1.0)


def _cut(k: int | None) -> int:
    """Return how many ranks count; all where ``k`` is None. Raises ValueError where it is below 1."""
    if k is not None and k < 1:
        raise ValueError("k is at least 1")
    return MOST if k is None else k


def _places(lengths: Wholes) -> Wholes:
    """Return the place of each element, from 0, in runs of these ``lengths``, one run after the other."""
    return np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def _rows_of(lengths: Wholes, index: Wholes) -> Wholes:
    """Return the positions of all elements of the runs ``index``, of runs of these ``lengths``."""
    return np.repeat((np.cumsum(lengths) - lengths)[index], lengths[index]) + _places(lengths[index])
