"""The card's sections on each dataset that is evaluated: measures, classes, confusion, figures, gains, residuals."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalpipe.card.classes import class_blocks
from evalpipe.card.confusion import confusion_blocks
from evalpipe.card.figures import drawings
from evalpipe.card.gains import gain_blocks
from evalpipe.card.measures import measure_tables
from evalpipe.card.page import Figures, Heading, Section, Text
from evalpipe.card.residuals import residual_blocks
from evalpipe.card.tables import evaluated
from evalpipe.chapters import functions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.card.page import Block
    from evalpipe.results import Results

COUNTED = (
    "n counts the observations that a measure is a share of: for sensitivity the events, for precision the predicted "
    "events. For a measure that is no such share, and for a mean over classes, it counts all observations that the "
    "measure sees."
)


def sections(results: Results) -> Iterator[Section]:
    """Write a section for each dataset that is evaluated."""
    for anchor, dataset in evaluated(results):
        yield Section(anchor, f"Results on {dataset.name}", (
            *_measures(results, dataset.name), *class_blocks(results, dataset.name),
            *confusion_blocks(results, dataset.name), *_figures(results, dataset.name),
            *gain_blocks(results, dataset.name), *residual_blocks(results, dataset.name)))


def _measures(results: Results, dataset: str) -> Iterator[Block]:
    yield Heading("Measures")
    for sentences in functions("card", "reading"):
        yield from (Text(sentence, "lead") for sentence in sentences(results, dataset))
    yield from measure_tables(results, dataset)
    if results.levels:
        yield Text(COUNTED, "small")


def _figures(results: Results, dataset: str) -> Iterator[Block]:
    why = ": no model gives probabilities on this dataset, or a level is absent" if results.levels else ""
    yield Heading("Figures")
    yield Figures(partial(drawings, results, dataset), instead=(Text(f"There are no curves{why}."),))
