"""Weights of rows whose outcome is known and of the labels that judges give, as one sample.

Where outcomes of some rows alone are known, a statistic is that of these rows plus, for each judge, a share of what its
labels of all rows are above its labels of these rows (Angelopoulos, Duchi & Zrnic 2023, PPI++, section 6). All three
are weights of rows, so that every statistic and every measure is taken as of any rows. Weights may be below 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.metrics.values import ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.base.arraytypes import Floats, Values, Wholes

KNOWN = 0
"""The source of a row whose truth is its outcome."""


def source_of_judge(judge: int, *, all_rows: bool) -> int:
    """Return the source of rows whose truth is the label of a judge, by number: of all rows, or of those known."""
    return 2 * judge + (2 if all_rows else 1)


def combined_weights(weights: Values, source: Wholes, shares: Sequence[float]) -> Floats:
    """Return the weights [..., n] of rows for statistics that judges take part in, each by its share in ``shares``.

    ``weights`` [..., n] are those of the rows by themselves; ``source`` [n] says whose label the truth of a row is. The
    rows with an outcome are brought to the weight of all rows (Hájek 1971), in each row of weights by itself; without
    any, weights are NaN. A share of 0 leaves a judge out.
    """
    weights = np.asarray(weights, float)
    known = (weights * (source == KNOWN)).sum(axis=-1)
    everyone = (weights * (source == source_of_judge(0, all_rows=True))).sum(axis=-1)
    scale = ratio(everyone, known)
    factors = np.zeros((*weights.shape[:-1], 1 + 2 * len(shares)))
    factors[~(known > 0)] = np.nan
    factors[..., KNOWN] = scale
    for judge, share in enumerate(shares):
        factors[..., source_of_judge(judge, all_rows=False)] = -share * scale
        factors[..., source_of_judge(judge, all_rows=True)] += share
    return np.asarray(weights * np.take(factors, source, axis=-1))
