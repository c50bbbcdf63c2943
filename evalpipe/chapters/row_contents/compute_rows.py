"""Which rows are copies of others, or of rows of another dataset, told apart from rows that are alike by chance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic.functions import log
from evalpipe.chapters.row_contents.records import MEASURED, Copies, SharedContents

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from evalpipe.base.arraytypes import Floats, Wholes
    from evalpipe.data.sample import Sample

FEWEST, SHARE = 5, 0.01
"""The least number of copies, and their least share of the rows."""

DEVIANCE, REST = 18.0, 0.1
"""What speaks against chance: twice the log likelihood ratio of a Poisson count, 4.2 standard errors; and the most
pairs that may differ in the outcome, as a share of those that would by chance."""

NEAR = 50
"""The rows on each side, by the score, whose outcomes say how often those of honest rows differ."""

TOO_ALIKE = 0.5
"""The share of rows with a twin in their dataset beyond which twins in another one tell nothing."""

RARELY, OFTEN = 0.01, 0.1
"""Up to which share of them rows are rarely alike, so that as large a share of shared ones matters; else this one."""


def copies_in(sample: Sample, score: Floats) -> Iterator[Copies]:
    """Yield the record of copies among the rows of a sample, if there are any; ``score`` [n] puts rows in order.

    Rows may be the same in all columns by chance, where these have few values. Then some of those that are the same in
    all but the outcome differ in that, as neighbours by the score do; of copies none does. Or there are measured
    numbers that tell nearly all other rows apart.
    """
    contents, n = sample.contents, len(sample.truth)
    if contents is None or contents.alike is None or contents.copies is None:
        return
    copies = n - len(np.unique(contents.copies))
    if copies < max(FEWEST, SHARE * n):
        return
    expected, differ = differences(contents.alike, contents.copies, np.asarray(sample.truth), score)
    by_numbers = contents.measured >= MEASURED and 2 * copies <= n
    by_outcomes = differ <= REST * expected and deviance(differ, expected) >= DEVIANCE
    if by_numbers or by_outcomes:
        yield Copies(dataset=sample.dataset, n=n, copies=copies, columns=contents.compared, measured=contents.measured,
                     expected=round(expected, 1), differ=round(differ, 1))


def differences(alike: Wholes, copies: Wholes, truth: Floats, score: Floats) -> tuple[float, float]:
    """Return how many pairs of rows ``alike`` [n] would differ in the outcome by chance, and how many do.

    Of m rows that are alike, m - 1 pairs count. Rows of one score are in the order of the first row that is like them,
    for hashes are others on other processors.
    """
    _, first_rows, group, sizes = np.unique(alike, return_index=True, return_inverse=True, return_counts=True)
    order = np.lexsort((first_rows[group], score))
    is_pair = alike[order][1:] != alike[order][:-1]
    has_other = is_pair & (truth[order][1:] != truth[order][:-1])
    pairs, others = (np.concatenate([[0], np.cumsum(flags)]) for flags in (is_pair, has_other))
    first = np.maximum(np.arange(len(order)) - NEAR, 0)
    last = np.minimum(np.arange(len(order)) + NEAR, len(order) - 1)
    local = np.empty(len(order))
    local[order] = (others[last] - others[first]) / np.maximum(pairs[last] - pairs[first], 1)
    _, first_rows, same = np.unique(copies, return_index=True, return_counts=True)
    in_same = np.bincount(group[first_rows], same * (same - 1.0), len(sizes))
    several = sizes > 1
    sizes = sizes[several]
    expected = (np.bincount(group, local)[several] / sizes * (sizes - 1)).sum()
    return float(expected), float(((sizes - 1) - in_same[several] / sizes).sum())


def deviance(count: float, expected: float) -> float:
    """Return twice the log likelihood ratio of a Poisson count below what is expected; 0 of one above."""
    if count >= expected:
        return 0.0
    return 2 * ((count * float(log(np.asarray(count / expected))) if count > 0 else 0.0) - count + expected)


def shared_contents(sample: Sample) -> Iterator[SharedContents]:
    """Yield how many rows of a sample are in other datasets by their contents, and how many are so by chance.

    Where rows are drawn alike, as large a share has a twin in the other dataset as rows have within their own. The
    larger of the two shares is raised by four standard errors and, of rows that are rarely alike, nine rows.
    """
    for rows in () if sample.contents is None else sample.contents.shared:
        share = max(rows.repeated / max(1, rows.rows), rows.other_repeated / max(1, rows.other_rows))
        fewer = max(1, min(rows.rows, rows.other_rows))
        most = min(1.0, share + 4 * math.sqrt(share * (1 - share) / fewer) + 9 / fewer)
        least = RARELY if share <= RARELY else OFTEN
        beyond = (rows.twins / max(1, rows.rows) - most) / (1 - most) if most < 1 else 0.0
        verdict: Literal["shared", "clear"] = "shared" if beyond >= least else "clear"
        yield SharedContents(
            dataset=sample.dataset, other=rows.other, columns=list(rows.columns), rows=rows.rows, twins=rows.twins,
            by_chance=round(most * rows.rows, 1), verdict="too-alike" if share > TOO_ALIKE else verdict)
