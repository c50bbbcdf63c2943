"""Measures of ranked lists of documents: means over queries of a number of each query's list.

Documents that share a score have no order: each measure is its expected value over their orders.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from evalpipe.metrics.declare import metric
from evalpipe.metrics.scores import SHARE, mean_of_complete_items

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats

Ranks = Annotated[int, Field(ge=1, le=1_000_000)]
"""How many documents of a list count."""

Relevance = Annotated[float, Field(gt=0)]
"""The least relevance of a relevant document."""

of_lists = partial(
    metric, needs="ranked_lists", sees="items", direction="maximize", range=SHARE, interval="score",
    undefined="a query has no relevant document", ref="McSherry & Najork (2008)")
"""Declare a mean over queries of a number of the ranked list."""


@of_lists(title="NDCG", aliases=("ndcg_at",), ref="Jarvelin & Kekalainen (2002)")
def ndcg(
    total: Floats, ndcg_of_query: Floats, without_gain: Floats, *, k: Ranks | None = None,  # noqa: ARG001
    gain: Literal["linear", "exponential"] = "linear",  # noqa: ARG001
) -> Floats:
    r"""Normalised discounted cumulative gain: the relevance of the first k documents, or all, over the binary logarithm
    of their rank plus 1, summed, as a share of that of the best order. An exponential gain is $2^{rel}-1$,
    $\frac{1}{N}\sum_q\frac{\sum_{i\leq k}rel_i/\log_2(i+1)}{\max\sum_{i\leq k}rel_i/\log_2(i+1)}$."""
    return mean_of_complete_items(total, ndcg_of_query, without_gain)


@of_lists(aliases=("map",))
def mean_average_precision(
    total: Floats, average_precision_of_query: Floats, without_relevant: Floats, *,
    k: Ranks | None = None, relevant_from: Relevance = 1.0,  # noqa: ARG001
) -> Floats:
    r"""Mean over queries of the mean precision at the rank of each relevant document, 0 for one that is not among the
    first k, or not retrieved, $\frac{1}{N}\sum_q\frac{1}{R_q}\sum_{i\leq k}I(rel_i)P_i$."""
    return mean_of_complete_items(total, average_precision_of_query, without_relevant)


@of_lists(aliases=("mrr",))
def mean_reciprocal_rank(
    total: Floats, reciprocal_rank_of_query: Floats, without_relevant: Floats, *,
    k: Ranks | None = None, relevant_from: Relevance = 1.0,  # noqa: ARG001
) -> Floats:
    r"""Mean over queries of 1 over the rank of the first relevant document, 0 where none is among the first k,
    $\frac{1}{N}\sum_q\frac{1}{r_q}$."""
    return mean_of_complete_items(total, reciprocal_rank_of_query, without_relevant)


@of_lists(title="Precision at k")
def precision_at(
    total: Floats, precision_at_of_query: Floats, without_relevant: Floats, *,
    k: Ranks, relevant_from: Relevance = 1.0,  # noqa: ARG001
) -> Floats:
    r"""Share of relevant documents among the first k of a query's list; a shorter list is divided by k too,
    $\frac{1}{N}\sum_q\frac{1}{k}\sum_{i\leq k}I(rel_i)$."""
    return mean_of_complete_items(total, precision_at_of_query, without_relevant)


@of_lists(title="Recall at k")
def recall_at(
    total: Floats, recall_at_of_query: Floats, without_relevant: Floats, *,
    k: Ranks, relevant_from: Relevance = 1.0,  # noqa: ARG001
) -> Floats:
    r"""Share of a query's relevant documents that is among the first k of its list,
    $\frac{1}{N}\sum_q\frac{1}{R_q}\sum_{i\leq k}I(rel_i)$."""
    return mean_of_complete_items(total, recall_at_of_query, without_relevant)


@of_lists(title="Hit rate at k", aliases=("success_at",))
def hit_rate_at(
    total: Floats, hit_at_of_query: Floats, without_relevant: Floats, *,
    k: Ranks, relevant_from: Relevance = 1.0,  # noqa: ARG001
) -> Floats:
    r"""Share of queries with a relevant document among the first k of the list,
    $\frac{1}{N}\sum_q I(r_q\leq k)$."""
    return mean_of_complete_items(total, hit_at_of_query, without_relevant)
