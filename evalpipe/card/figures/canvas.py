"""What figures are made of: how each model is drawn in all of them, and a finished figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.card.palette import MARKERS, MODELS

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_POINTS, LEAST_POINTS = 48, 6
"""Rows of the table behind a figure, and the fewest of each series in it."""


@dataclass(frozen=True, slots=True)
class Series:
    """How one model is drawn in every figure: its ink and its marker."""

    name: str
    label: str
    ink: str
    marker: str


@dataclass(frozen=True, slots=True)
class PointSeries:
    """PointSeries that a figure draws, for its table: whose they are, and their columns by name, days as texts."""

    name: str
    columns: dict[str, list[float] | list[str]]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A finished figure.

    ``finding`` is what it says, ``caption`` how to read it, ``alt`` the alternative text; ``svgs`` are its sheets for
    the screen, ``images`` those for print; ``points`` are what it draws.
    """

    key: str
    title: str
    finding: str
    caption: str
    alt: str
    svgs: tuple[str, ...]
    images: tuple[str, ...]
    points: tuple[PointSeries, ...] = ()

    @property
    def svg(self) -> str:
        """All sheets of the figure, for the screen."""
        return "".join(self.svgs)


@dataclass(frozen=True, slots=True)
class PointTable:
    """PointSeries of a figure as a table: its heads, and its rows as text; ``left_out`` points are not in it."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left_out: int


def data_tables(drawing: Drawing) -> list[PointTable]:
    """Return the points that a figure draws as tables, one for each set of columns, long series thinned evenly."""
    groups: dict[tuple[str, ...], list[PointSeries]] = {}
    for points in drawing.points:
        groups.setdefault(tuple(points.columns), []).append(points)
    tables = []
    for columns, members in groups.items():
        most = max(LEAST_POINTS, MOST_POINTS // len(members))
        rows = [(member.name, *map(_written, values)) for member in members
                for values in _thinned(list(zip(*member.columns.values(), strict=True)), most)]
        whole = sum(len(next(iter(member.columns.values()))) for member in members)
        tables.append(PointTable(("Series", *columns), tuple(rows), whole - len(rows)))
    return tables


def _thinned(rows: list[tuple[float | str, ...]], most: int) -> list[tuple[float | str, ...]]:
    if len(rows) <= most:
        return rows
    return [rows[round(k * (len(rows) - 1) / (most - 1))] for k in range(most)]


def _written(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return "–" if value != value else f"{value:.4g}".replace("-", "−")  # noqa: PLR0124 - NaN differs from itself


def series_of(models: Sequence[tuple[str, str]]) -> tuple[Series, ...]:
    """Give every model, as (name, label), its ink and marker by its place in the spec."""
    return tuple(
        Series(name, label, f"m{i % len(MODELS)}", MARKERS[i % len(MARKERS)]) for i, (name, label) in enumerate(models)
    )
