"""Slices that no row is in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.wording import slice_name
from evalpipe.words.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.data.sample import Sample

MOST_SLICES = 8
"""Slices that an error about one that does not exist lists at most."""


def absent_slice(sample: Sample, labels: Mapping[str, str]) -> tuple[str, str] | None:
    """Return that no row of a dataset is in a slice, and the slices that it has; None where a row is."""
    wanted = dict(labels)
    known = [dict(labels) for slicing in sample.slicings for labels in slicing.labels if set(labels) == set(wanted)]
    if wanted in known:
        return None
    more = ", …" if len(known) > MOST_SLICES else ""
    return (f"no row of dataset '{sample.dataset}' is in the slice {slice_name(wanted)}",
            f"its slices are {listed([slice_name(labels) for labels in known[:MOST_SLICES]], 'and')}{more}")
