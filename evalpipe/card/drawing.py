"""What replicates drew, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import Draw, Results

KINDS = {"rows": "row by row", "clusters": "in whole clusters", "groups": "in random groups of whole clusters",
         "cells": "in cells of like rows"}


def drawn(results: Results) -> Iterator[str]:
    """Yield a sentence or two for each dataset that replicates were drawn of."""
    for name in dict.fromkeys(draw.dataset for draw in results.intervals.draws):
        yield _dataset(name, [draw for draw in results.intervals.draws if draw.dataset == name])


def _dataset(name: str, draws: Sequence[Draw]) -> str:
    """Say how one dataset was drawn, and what lies within its cells."""
    first = f"Replicates of {name} are drawn {KINDS[draws[0].mode]}: {draws[0].reason}."
    lost = max(draw.lost for draw in draws)
    within = f" At most {100 * lost:.2g}% of the variance of any model’s predictions lies within cells." if lost else ""
    if draws[0].mode != "cells":
        return f"{first}{within}"
    whole, slices = ([draw.units for draw in draws if (draw.slicing is None) is all_rows] for all_rows in (True, False))
    apart = " for each model" if len(draws[0].models) < len({model for draw in draws for model in draw.models}) else ""
    counted = f" All rows are {numbers.count(max(whole))} cells{apart}"
    if slices:
        counted += f"; each slicing is drawn apart, in up to {numbers.count(max(slices))}"
    return f"{first}{counted}.{within}"
