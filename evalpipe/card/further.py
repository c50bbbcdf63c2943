"""The card's appendix of further figures and tables: what shows the results of a dataset in another form."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalpipe.card.confusion import variant_blocks
from evalpipe.card.figures import drawings
from evalpipe.card.figures.parts import has_curves
from evalpipe.card.gains import gain_blocks
from evalpipe.card.page import Figures, Section, Text
from evalpipe.card.residuals import residual_blocks
from evalpipe.card.tables import evaluated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.results import Results


def sections(results: Results) -> Iterator[Section]:
    """Write a section for each dataset that is evaluated."""
    for anchor, dataset in evaluated(results):
        why = "" if has_curves(results, dataset.name, "appendix") else (
            "There are no curves: no model gives probabilities on this dataset, or a level is absent."
            if results.levels else "There are no curves.")
        yield Section(f"further-{anchor.rpartition('-')[2]}", f"Further figures and tables on {dataset.name}", (
            *((Text(why),) if why else ()), Figures(partial(drawings, results, dataset.name, "appendix")),
            *gain_blocks(results, dataset.name), *residual_blocks(results, dataset.name),
            *variant_blocks(results, dataset.name)), part="appendix")
