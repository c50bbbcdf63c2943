"""The card's sections on each dataset that is evaluated: its measures, its calibration, and its decisions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalpipe.card.classes import class_blocks
from evalpipe.card.confusion import confusion_blocks
from evalpipe.card.figures import drawings
from evalpipe.card.figures.parts import has_curves
from evalpipe.card.measures import measure_tables
from evalpipe.card.page import Figures, Section, Text
from evalpipe.card.tables import evaluated
from evalpipe.chapters import functions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.card.page import Block
    from evalpipe.results import Results

COUNTED = (
    "n is the denominator of the measure: for sensitivity the events, for precision the predicted events. For "
    "measures that are not a share, and for means over classes, n is all observations used."
)


def sections(results: Results) -> Iterator[Section]:
    """Write for each dataset that is evaluated its results, its calibration and its predicted levels."""
    for anchor, dataset in evaluated(results):
        place, name = anchor.rpartition("-")[2], dataset.name
        yield Section(anchor, f"Results on {name}", (
            *_measures(results, name), *class_blocks(results, name),
            Figures(partial(drawings, results, name, "results"))))
        if has_curves(results, name, "calibration"):
            yield Section(f"calibration-{place}", f"Calibration on {name}", (
                Figures(partial(drawings, results, name, "calibration")),), part="calibration")
        matrices = tuple(confusion_blocks(results, name))
        if matrices or has_curves(results, name, "decisions"):
            yield Section(f"decisions-{place}", f"Predicted levels on {name}", (
                *matrices, Figures(partial(drawings, results, name, "decisions"))), part="decisions")


def _measures(results: Results, dataset: str) -> Iterator[Block]:
    for sentences in functions("card", "reading"):
        yield from (Text(sentence, "lead") for sentence in sentences(results, dataset))
    yield from measure_tables(results, dataset)
    if results.levels:
        yield Text(COUNTED, "small")
