"""Confusion matrices: truth by row, prediction by column, one a model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evalpipe.card import wording
from evalpipe.card.names import names_of
from evalpipe.card.page import Aside, BlockGroup, Column, Heading, Line, Row, Strong, Styled, Table, Text
from evalpipe.chapters import functions
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.page import Block, Cell
    from evalpipe.results import Confusion, ModelSummary, Results

SHADED = 4
"""The levels from which on cells are shaded by their share of the row, and leave out that of the whole."""


@dataclass(frozen=True, slots=True)
class Shading:
    """What darkens the cells of matrices: their ``counts`` or their ``shares`` of the row, None where nothing does.

    ``many`` says that there are many levels, so that cells leave out their share of the whole.
    """

    by: Literal["counts", "shares"] | None
    many: bool

    @classmethod
    def of(cls, results: Results) -> Shading:
        """Read what the spec asks for; many levels are shaded by shares without being asked."""
        many, asked = len(results.levels) >= SHADED, results.spec.get("report", {}).get("confusion")
        return cls(asked or ("shares" if many else None), many)

    def style(self, count: float, row: float, most: float) -> str:
        """Return the class of a cell for its shade, from 0 to 10: its ``count``, of a ``row`` or of the ``most``."""
        whole = most if self.by == "counts" else row
        return "" if self.by is None else f" shade-{math.ceil(10 * count / whole) if whole else 0}"

    @property
    def said(self) -> str:
        """How the shade is to be read."""
        larger = {"counts": "its count", "shares": "its share of the row"}
        return "" if self.by is None else f"; the stronger the colour of a cell, the larger {larger[self.by]}"


def confusion_blocks(results: Results, dataset: str) -> Iterator[Block]:
    """Write the confusion matrices of a dataset; nothing where there are none."""
    matrices = [matrix for matrix in _matrices(results, dataset) if matrix.variant == "original"]
    yield from _blocks(results, matrices, f"Confusion {'matrix' if len(matrices) == 1 else 'matrices'}")


def variant_blocks(results: Results, dataset: str) -> Iterator[Block]:
    """Write the confusion matrices of a dataset's recalibrated variants; nothing where there are none."""
    matrices = [matrix for matrix in _matrices(results, dataset) if matrix.variant != "original"]
    yield from _blocks(results, matrices, "Confusion matrices of recalibrated variants")


def _matrices(results: Results, dataset: str) -> list[Confusion]:
    return [matrix for matrix in results.confusion if matrix.dataset == dataset and matrix.slice is None]


def _blocks(results: Results, matrices: Sequence[Confusion], title: str) -> Iterator[Block]:
    """Write matrices under a heading."""
    if not matrices:
        return
    shading, models = Shading.of(results), {model.name: model for model in results.models}
    yield Heading(title)
    yield Text(_lead(results, matrices, shading), "lead")
    yield BlockGroup(tuple(_table(results, matrix, models[matrix.model], shading) for matrix in matrices),
                     "wide" if shading.many else "matrices")


def _lead(results: Results, matrices: Sequence[Confusion], shading: Shading) -> str:
    weights = " (total weights)" if results.weight is not None else ""
    reportable = "reportable " if any(confusion.zone for confusion in matrices) else ""
    if shading.many:
        return f"Counts{weights} and per cent of the table's row{shading.said}."
    return f"Counts{weights}, per cent of all {reportable}rows, and per cent of the table's row{shading.said}."


def _table(results: Results, confusion: Confusion, model: ModelSummary, shading: Shading) -> Table:
    totals = [sum(row) for row in confusion.counts]
    sizes = sum(totals), max(map(max, confusion.counts))
    columns = (
        Column("Truth", style="corner"), *(Column(level, "num", over="Predicted") for level in confusion.levels),
        Column("Total", "num"),
    )
    rows = tuple(
        Row((level, *(_cell(count, total, sizes, shading, right=i == j) for j, count in enumerate(counts)),
             numbers.count(total)))
        for i, (level, counts, total) in enumerate(zip(confusion.levels, confusion.counts, totals, strict=True)))
    predicted = [numbers.count(sum(column)) for column in zip(*confusion.counts, strict=True)]
    called = names_of(results).model(model.name, confusion.variant)
    return Table(
        (called, *_rules(results, confusion, model)), columns, rows, "confusion many" if shading.many else "confusion",
        label=f"Confusion matrix of {called} on {confusion.dataset}",
        foot=Row(("Total", *predicted, numbers.count(sizes[0]))),
    )


def _cell(count: float, row: float, sizes: tuple[float, float], shading: Shading, *, right: bool) -> Styled:
    """Write a count with its shares of the ``row`` of the table and of the whole; ``sizes`` are whole and largest."""
    style, (whole, most) = "right" if right else "wrong", sizes
    style += shading.style(count, row, most)
    if not shading.many:
        return Styled((Strong(numbers.count(count)), Line(f"{numbers.percent(count, whole)} of all", "shares"),
                       Line(f"{numbers.percent(count, row)} of row", "shares")), style)
    text: Cell = (Strong(numbers.count(count)), Line(numbers.percent(count, row), "shares")) if count else (
        Aside(numbers.count(count), "none"))
    return Styled(text, style)


def _rules(results: Results, confusion: Confusion, model: ModelSummary) -> Iterator[Aside]:
    """Say how the levels were predicted, and which rows are in no cell."""
    ruled_by = _ruled_by(results, model, confusion.variant)
    yield Aside(wording.rule(confusion, ruled_by), "rule")
    for sentences in functions("card", "matrix"):
        yield from (Aside(sentence, "rule") for sentence in sentences(results, confusion, ruled_by))


def _ruled_by(results: Results, model: ModelSummary, variant: str) -> str:
    """Name what decides the predicted level: a given "prediction", the most probable "level", or what a cut is on.

    A variant has classes of its own probabilities, whatever the data give.
    """
    if variant == "original" and "prediction" in model.columns:
        return "prediction"
    if variant == "original" and "score" in model.columns and model.scale is None:
        return "score"
    return "probability" if results.task == "binary" else "level"
