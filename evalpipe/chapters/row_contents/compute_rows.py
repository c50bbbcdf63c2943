"""Which rows are copies of others, or of rows of another dataset, told apart from rows that are alike by chance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe.chapters.row_contents.records import Copies, SharedContents

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from evalpipe.data.sample import Sample

FEWEST, SHARE = 5, 0.01
"""The least number of copies, and their least share of the rows."""

TOO_ALIKE = 0.5
"""The share of rows with a twin in their dataset beyond which twins in another one tell nothing."""

RARELY, OFTEN = 0.01, 0.1
"""Up to which share of them rows are rarely alike, so that as large a share of shared ones matters; else this one."""


def copies_in(sample: Sample) -> Iterator[Copies]:
    """Yield the record of copies among the rows of a sample, if they are many."""
    contents, n = sample.contents, len(sample.truth)
    if contents is not None and contents.copies >= max(FEWEST, SHARE * n):
        yield Copies(dataset=sample.dataset, n=n, copies=contents.copies, columns=contents.compared)


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
