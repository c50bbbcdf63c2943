"""The table of residual quantiles as frozen rows of finished text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.report.tables import MODELS_ABREAST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.results import Curve, Results

COORDINATES = ("residual", "absolute_residual")


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
        if (c.dataset, c.curve, c.slice, c.variant) == (dataset, "residual_quantiles", None, "original")
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


def _rows(curves: list[Curve]) -> tuple[tuple[str, ...], ...]:
    shares = [f"{100 * (share or 0):.0f}%" for share in curves[0].points["share"]]
    largest = max(abs(value) for curve in curves for value in curve.points["residual"] if value is not None)
    digits = numbers.decimals(largest, largest / 100)
    columns = [_column(curve.points[name], digits) for curve in curves for name in COORDINATES]
    return tuple(zip(shares, *columns, strict=True))


def _column(values: Sequence[float | None], digits: int) -> list[str]:
    return ["–" if value is None else numbers.fixed(value, digits) for value in values]
