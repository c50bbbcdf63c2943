"""Confusion matrices: truth by row, prediction by column, one a model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card import wording
from evalpipe.card.page import Aside, BlockGroup, Column, Heading, Line, Row, Strong, Styled, Table, Text
from evalpipe.chapters import functions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.page import Block, Cell
    from evalpipe.results import Confusion, ModelSummary, Results

SHADED = 4
"""The levels from which on cells are shaded by their share of the row, and leave out that of the whole."""


def confusion_blocks(results: Results, dataset: str) -> Iterator[Block]:
    """Write the confusion matrices of a dataset; nothing where there are none."""
    models = {model.name: model for model in results.models}
    matrices = [
        confusion for confusion in results.confusion
        if confusion.dataset == dataset and confusion.slice is None and confusion.variant == "original"
    ]
    if not matrices:
        return
    many = len(results.levels) >= SHADED
    yield Heading(f"Confusion {'matrix' if len(matrices) == 1 else 'matrices'}")
    yield Text(_lead(results, matrices, many=many), "lead")
    yield BlockGroup(tuple(_table(results, confusion, models[confusion.model], many=many) for confusion in matrices),
              "wide" if many else "matrices")


def _lead(results: Results, matrices: Sequence[Confusion], *, many: bool) -> str:
    weights = " (total weights)" if results.weight is not None else ""
    reportable = "reportable " if any(confusion.zone for confusion in matrices) else ""
    if many:
        return (f"Counts{weights} and per cent of the table's row; the stronger the colour of a cell, the larger its "
                "share of the row.")
    return f"Counts{weights}, per cent of all {reportable}rows, and per cent of the table's row."


def _table(results: Results, confusion: Confusion, model: ModelSummary, *, many: bool) -> Table:
    totals = [sum(row) for row in confusion.counts]
    whole = sum(totals)
    columns = (
        Column("Truth", style="corner"), *(Column(level, "num", over="Predicted") for level in confusion.levels),
        Column("Total", "num"),
    )
    rows = tuple(
        Row((level, *(_cell(count, total, whole, right=i == j, many=many) for j, count in enumerate(counts)),
             numbers.count(total)))
        for i, (level, counts, total) in enumerate(zip(confusion.levels, confusion.counts, totals, strict=True)))
    predicted = [numbers.count(sum(column)) for column in zip(*confusion.counts, strict=True)]
    return Table(
        (model.label, *_rules(results, confusion, model)), columns, rows, "confusion many" if many else "confusion",
        label=f"Confusion matrix of {model.label} on {confusion.dataset}",
        foot=Row(("Total", *predicted, numbers.count(whole))),
    )


def _cell(count: float, row: float, whole: float, *, right: bool, many: bool) -> Styled:
    """Write a count with its shares of the ``row`` of the table and of the ``whole``."""
    side, tenths = "right" if right else "wrong", math.ceil(10 * count / row) if row else 0
    if not many:
        return Styled((Strong(numbers.count(count)), Line(f"{numbers.percent(count, whole)} of all", "shares"),
                       Line(f"{numbers.percent(count, row)} of row", "shares")), side)
    text: Cell = (Strong(numbers.count(count)), Line(numbers.percent(count, row), "shares")) if tenths else (
        Aside(numbers.count(count), "none"))
    return Styled(text, f"{side} shade-{tenths}")


def _rules(results: Results, confusion: Confusion, model: ModelSummary) -> Iterator[Aside]:
    """Say how the levels were predicted, and which rows are in no cell."""
    ruled_by = _ruled_by(model)
    yield Aside(wording.rule(confusion, ruled_by), "rule")
    for sentences in functions("card", "matrix"):
        yield from (Aside(sentence, "rule") for sentence in sentences(results, confusion, ruled_by))


def _ruled_by(model: ModelSummary) -> str:
    """Name what decides the predicted level: a given "prediction", the most probable "level", or what a cut is on."""
    if "prediction" in model.columns:
        return "prediction"
    if "score" in model.columns and model.scale is None:
        return "score"
    return "probability" if "probability" in model.columns or "score" in model.columns else "level"
