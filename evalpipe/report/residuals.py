"""The table of residual quantiles as frozen rows of finished text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.report.tables import MODELS_ABREAST
from evalpipe.results.curves.residuals import ResidualQuantiles

if TYPE_CHECKING:
    from evalpipe.results import Results
    from evalpipe.results.curves import Column

@dataclass(frozen=True, slots=True)
class ResidualTable:
    """Quantiles of residuals: a row for each share of the rows, with two cells for each model, plain and absolute.

    ``unit`` is the unit of all cells, None where it is not declared.
    """

    models: tuple[str, ...]
    unit: str | None
    rows: tuple[tuple[str, ...], ...]


def residual_tables(results: Results, dataset: str) -> tuple[ResidualTable, ...]:
    """Make the tables of a dataset's residual quantiles, at most `MODELS_ABREAST` models each."""
    found = {
        c.model: c
        for c in results.curves
        if isinstance(c, ResidualQuantiles) and (c.dataset, c.slice, c.variant) == (dataset, None, "original")
    }
    models = [model for model in results.models if model.name in found]
    starts = range(0, len(models), MODELS_ABREAST)
    return tuple(
        ResidualTable(
            models=tuple(model.label for model in abreast), unit=results.unit,
            rows=_rows([found[model.name] for model in abreast]),
        )
        for abreast in (models[start : start + MODELS_ABREAST] for start in starts)
    )


def _rows(curves: list[ResidualQuantiles]) -> tuple[tuple[str, ...], ...]:
    shares = [f"{100 * (share or 0):.0f}%" for share in curves[0].points.share]
    largest = max(abs(value) for curve in curves for value in curve.points.residual if value is not None)
    digits = numbers.decimals(largest, largest / 100)
    pairs = ((curve.points.residual, curve.points.absolute_residual) for curve in curves)
    columns = [_column(values, digits) for pair in pairs for values in pair]
    return tuple(zip(shares, *columns, strict=True))


def _column(values: Column, digits: int) -> list[str]:
    return ["–" if value is None else numbers.fixed(value, digits) for value in values]
