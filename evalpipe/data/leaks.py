"""Items whose text is also in another dataset: the same words, or a run of 13 of them.

A shared run of 13 words is what Brown et al. (2020, Language models are few-shot learners, appendix C) take for an
overlap, unless it is in more than 10 texts, as instructions are. Runs are compared by hashes of 64 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from unicodedata import normalize

import numpy as np

from evalpipe.base.lazy_polars import pl
from evalpipe.chapters.leaks.plan import text_plan
from evalpipe.data.columns import wrong_type
from evalpipe.data.sample import Leaks
from evalpipe.data.values import Unreadable, texts

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def find_leaks(evaluated: Sequence[Columns], references: Sequence[Columns]) -> None:
    """Add to the columns of each evaluated dataset which of its items are in each reference dataset."""
    for columns in evaluated:
        column = str(columns.rows.plan.part(text_plan))
        try:
            items = _words(texts(columns.rows.frame[column]))
        except Unreadable as fault:
            columns.problems.append(wrong_type(columns.rows, column, ("text",), fault))
            continue
        names = columns.names[str(columns.rows.plan.id)]
        columns.leaks += [_leaks(other.rows.name, names, items, other.levels[column])
                          for other in references if column in other.levels]


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


def _leaks(other: str, names: pl.Series, items: pl.Series, others: pl.Series) -> Leaks:
    """Return which items, with ``names`` [n] and lists of words [n], are among the texts ``others`` of a dataset."""
    whole = items.list.join(" ")
    runs = pl.DataFrame(_runs(items), ["run", "item"]).unique().filter(pl.len().over("run") <= MOST_ITEMS)
    same, shared = np.zeros(len(items), bool), np.zeros(runs.height, bool)
    for start in range(0, len(others), AT_ONCE):
        words = _words(others[start:start + AT_ONCE])
        same |= whole.is_in(words.list.join(" ").drop_nulls().implode()).fill_null(value=False).to_numpy()
        shared |= runs["run"].is_in(pl.Series(_runs(words)[0]).implode()).to_numpy()
    has_run = np.zeros(len(items), bool)
    has_run[runs["item"].to_numpy()[shared]] = True
    in_same, in_run, without = (frozenset(names.filter(pl.Series(mask)).to_list())
                                for mask in (same, has_run & ~same, items.is_null()))
    return Leaks(other, in_same, in_run, without)
