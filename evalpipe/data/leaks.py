"""Items whose text is also in another dataset: the same words, or a run of 13 of them.

That is the rule of Brown et al. (2020, Language models are few-shot learners, appendix C). Runs are compared by hashes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from unicodedata import normalize

import numpy as np

from evalpipe.base.lazy_polars import pl
from evalpipe.data.columns import wrong_type
from evalpipe.data.values import Unreadable, texts

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Keys, Wholes
    from evalpipe.data.columns import Columns

RUN = 13
"""The words of a run."""

MOST_ITEMS = 10
"""The most items that may have a run: one that more have is of their prompt, and tells nothing of them."""

AT_ONCE = 5_000
"""The texts of another dataset that are split into words at once."""

WORD = r"[\p{L}\p{M}\p{N}]+|\p{Sm}"
"""A word: letters and digits, or a sign of mathematics, without which 2 + 2 would be 2 = 2."""

FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""An odd number: the hash of a run is a polynomial in it, of the hashes of its words."""


def find_leaks(columns: Columns, other: Columns) -> None:
    """Add to the columns of evaluated items how these are in the ``other`` dataset, of which texts alone are read."""
    (column,) = other.rows.dataset.columns
    try:
        items = _words(texts(columns.rows.frame[column]))
    except Unreadable as fault:
        columns.problems.append(wrong_type(columns.rows, column, ("text",), fault))
        return
    if column in other.levels:
        names = columns.names[str(columns.rows.plan.id)]
        columns.leaks[other.rows.name] = _leaks(names, items, other.levels[column])


def _words(column: pl.Series) -> pl.Series:
    """Return the words of each text [n] as lists, in Unicode's form NFKC without case; null where there is none."""
    plain = [None if text is None else normalize("NFKC", normalize("NFKC", text).casefold()) for text in column]
    words = pl.Series(plain, dtype=pl.String).str.extract_all(WORD)
    return words.set(words.list.len() == 0, None)


def _runs(words: pl.Series) -> tuple[Keys, Wholes]:
    """Return a hash for each run of words of texts, and the index of the text that it is in, both [runs]."""
    lengths = words.list.len().fill_null(0).to_numpy()
    hashes = words.drop_nulls().explode().hash().to_numpy()
    text = np.repeat(np.arange(len(words)), lengths)
    runs = max(0, len(hashes) - RUN + 1)
    totals = np.zeros(runs, np.uint64)
    for place in range(RUN):
        totals = totals * FACTOR + hashes[place:place + runs]
    within = text[:runs] == text[RUN - 1:]
    return totals[within], text[:runs][within]


def _leaks(names: pl.Series, items: pl.Series, others: pl.Series) -> dict[str, str]:
    """Return how items, with ``names`` [n] and lists of words [n], are among ``others``: "same", "run" or "no text"."""
    whole = items.list.join(" ")
    runs = pl.DataFrame(_runs(items), ["run", "item"]).unique().filter(pl.len().over("run") <= MOST_ITEMS)
    same, shared = np.zeros(len(items), bool), np.zeros(runs.height, bool)
    for start in range(0, len(others), AT_ONCE):
        words = _words(others[start:start + AT_ONCE])
        same |= whole.is_in(words.list.join(" ").drop_nulls().implode()).fill_null(value=False).to_numpy()
        shared |= runs["run"].is_in(pl.Series(_runs(words)[0]).implode()).to_numpy()
    has_run = np.zeros(len(items), bool)
    has_run[runs["item"].to_numpy()[shared]] = True
    kinds = np.select([same, has_run, items.is_null().to_numpy()], ["same", "run", "no text"], "")
    return {name: kind for name, kind in zip(names, kinds.tolist(), strict=True) if kind}
