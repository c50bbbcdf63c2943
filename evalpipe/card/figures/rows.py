"""RowPanel of a figure: a label at the left of each, and marks with intervals for each model at its right."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.card.figures.panel import BELOW, Panel
from evalpipe.card.figures.scales import LINE, Axis, width, wrap
from evalpipe.card.figures.sheet import KeyEntry, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.card.figures.canvas import Series
    from evalpipe.card.figures.sheet import Sheet

APART = 10.0
"""Pixels between the marks of two models in a row."""

ROOM = 3.0
"""Pixels that a row is higher than its label or its marks."""

SHARE = 0.42
"""The most of the width that labels take."""

Estimated = tuple[float, float | None, float | None]
"""A value with its limits, None where it has none."""


@dataclass(frozen=True, slots=True)
class RowLabel:
    """The label of a row; a ``heading`` has the whole width and no marks, ``indent`` are pixels."""

    text: str
    heading: bool = False
    indent: int = 0
    ink: str = "ink"


@dataclass(frozen=True, slots=True)
class RowPanel:
    """The panel of some rows, whose vertical axis is in pixels, and the middle of each row."""

    panel: Panel
    middles: list[float]

    def estimates(self, models: Sequence[Series], values: Sequence[Sequence[Estimated | None]],
                  names: Sequence[str] = ()) -> None:
        """Draw the values of each model in each row, one below the other, with their intervals.

        ``values`` are for each row those of every model, None where one has none; ``names`` are those of the rows.
        """
        for place, model in enumerate(models):
            shift = (place - (len(models) - 1) / 2) * APART
            of_model = [(y + shift, row[place], name) for y, row, name in zip(
                self.middles, values, names or [""] * len(values), strict=True) if row and row[place] is not None]
            at = [y for y, *_ in of_model]
            known = [estimated for _, estimated, _ in of_model if estimated is not None]
            low, high = ([math.nan if e[side] is None else float(e[side] or 0) for e in known] for side in (1, 2))
            self.panel.ranges(at, low, high, model.ink, upright=False)
            self.panel.marks([e[0] for e in known], at, model.ink, model.marker)
            for (*_, name), e, lower, upper in zip(of_model, known, low, high, strict=True):
                title = f"{name}, {model.label}" if name else model.label
                self.panel.record_values(title, value=[e[0]], lower=[lower], upper=[upper])


def rows(sheet: Sheet, labels: Sequence[RowLabel], axis: Axis, many: int = 1, beside: float = 0.0) -> RowPanel:
    """Draw the frame of rows with their labels, each high enough for its label and ``many`` marks.

    ``beside`` are pixels that are left free at the right.
    """
    room = min(SHARE * sheet.width, max((width(label.text) + label.indent for label in labels if not label.heading),
                                        default=0.0))
    written = [wrap(label.text, sheet.width if label.heading else room - label.indent) for label in labels]
    heights = [LINE * len(lines) + 8 if label.heading else max(LINE * len(lines), APART * many) + ROOM
               for label, lines in zip(labels, written, strict=True)]
    left = room + 12
    panel = Panel(sheet, axis, Axis("", sum(heights), 0), left, sheet.bottom + 4, sheet.width - left - 8 - beside,
                  sum(heights))
    panel.frame()
    middles, top, lines_between = [], 0.0, ""
    for label, lines, height in zip(labels, written, heights, strict=True):
        middle = panel.top + top + height / 2 + (2 if label.heading else 0)
        for place, line in enumerate(lines):
            sheet.write(label.indent, middle + 4.5 + (place - (len(lines) - 1) / 2) * LINE, line, label.ink,
                        kind="bold" if label.heading else "text")
        middles.append(top + height / 2)
        top += height
        lines_between += f"M0,{number(panel.top + top)}H{number(sheet.width)}"
    sheet.path(lines_between, "thin", "grid")
    _name_beneath(panel)
    return RowPanel(panel, middles)


def _name_beneath(panel: Panel) -> None:
    """Write the name of the axis below its numbers, in the middle of the panel as far as it fits."""
    sheet = panel.sheet
    sheet.bottom = panel.base + BELOW + 2
    for line in wrap(panel.x.name, sheet.width) if panel.x.name else ():
        sheet.bottom += LINE - 1
        middle = min(panel.left + panel.width / 2, sheet.width - width(line) / 2)
        sheet.write(middle, sheet.bottom, line, "muted", "middle")
    sheet.bottom += 3


def model_key(models: Sequence[Series]) -> list[KeyEntry]:
    """Return the key of models as marks with intervals."""
    return [KeyEntry(model.label, model.ink, "range", model.marker) for model in models]
