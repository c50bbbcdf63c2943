"""How a curve is computed: a function of rows that returns its points and its notes, declared for its record.

`curve` names the record in `results.curves`, the kinds of rows that have the curve, and what the model must give for
it. Whatever asks for curves walks `registry`, in the order in which the records are declared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import numpy as np

from evalpipe.intervals.bands import pointwise_band
from evalpipe.intervals.declare import registry as interval_methods
from evalpipe.results.curves import CURVES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.base.arraytypes import Floats, Values
    from evalpipe.data.sample import Sample
    from evalpipe.plan.plan import Plan
    from evalpipe.results.curves import Column, Curve, Notes
    from evalpipe.statistics import Summary

Kind = Literal["event", "levels", "class", "top_label", "cut", "numbers"]
"""Rows of a binary outcome; of several levels at once; of one class of several against the rest; of the predicted
class, whether it is the true one; of ordered levels, whether they lie above a cut; of numbers."""

Needs = Literal["labels", "scores", "probabilities", "values", "residuals"]
"""What the model must give: residuals are those of values, or where the plan asks for them of probabilities."""
Computed = tuple[Mapping[str, "Floats"], "Notes"]
"""The columns of a curve's points by name, each [k], and the notes."""

T = TypeVar("T")

PREFIXES: Mapping[Kind, str] = MappingProxyType({"top_label": "top_label_", "cut": "cumulative_"})
"""What stands before the name of a curve of such rows."""

VERTICES: Mapping[Kind, int] = MappingProxyType({"event": 500, "class": 120})
"""About the most points of a stored curve; measures are computed from all of them. Of classes each has fewer."""


@dataclass(frozen=True)
class CurveRows:
    """The rows that a curve is computed from: ``summary`` has their statistics, with one row of weights [n].

    ``drawn`` are replicates by curve, [B, k], where there are any: the heights of the curve at k fixed positions.
    """

    kind: Kind
    plan: Plan
    sample: Sample
    summary: Summary
    drawn: Mapping[str, Floats] = field(default_factory=dict)
    _shared: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def vertices(self) -> int:
        """About the most points of a stored curve."""
        return VERTICES[self.kind]

    def once(self, make: Callable[[CurveRows], T]) -> T:
        """Return the result of ``make`` for these rows, which several curves share and the first computes."""
        if make not in self._shared:
            self._shared[make] = make(self)
        return cast("T", self._shared[make])

    def limits(self, name: str, k: int) -> tuple[Floats, Floats]:
        """Return the limits of each of the ``k`` heights of a curve; NaN where it has no replicates."""
        drawn, nowhere = self.drawn.get(name), np.full(k, np.nan)
        return (nowhere, nowhere) if drawn is None else pointwise_band(drawn, self.plan.level)


@dataclass(frozen=True)
class Heights:
    """The heights of a curve of an event in every replicate: ``compute(summary, positions)`` returns them, [..., k].

    ``places`` returns the positions [k] by the plan and the data, once, so that they are the same in all replicates.
    ``binned`` heights are shares of rows, such as event rates in bins: only some interval methods of proportions need
    their replicates. With ``divides_rows`` the positions divide the rows by score, so that no cell of a grid may lie
    across one.
    """

    compute: Callable[[Summary, Floats], Floats]
    places: Callable[[Plan, Summary], Floats]
    binned: bool = False
    divides_rows: bool = False


Compute = Callable[[CurveRows], Computed | None]


@dataclass(frozen=True)
class CurveDeclaration:
    """One declared curve: its name, the kinds of rows that have it, what it needs, and what computes it.

    ``compute`` returns None where the rows have no such curve, as where a class is absent. ``heights`` are what it has
    replicates of, None where its limits, if any, are computed without.
    """

    name: str
    of: frozenset[Kind]
    needs: Needs
    compute: Compute
    heights: Heights | None


_declared: dict[str, CurveDeclaration] = {}

registry: Mapping[str, CurveDeclaration] = MappingProxyType(_declared)
"""Every declared curve by name."""


def curve(
    record: type[Curve], *, of: tuple[Kind, ...], needs: Needs, name: str | None = None, heights: Heights | None = None
) -> Callable[[Compute], Compute]:
    """Declare the decorated function as what computes a curve; ``name`` says which, of a record of several.

    Raises ValueError where the record has no such curve, or the curve is declared already.
    """
    name = name or record.names()[0]
    if name not in record.names() or name in _declared:
        raise ValueError(f"the curve {name!r} is declared twice, or is none of {', '.join(record.names())}")

    def declare(compute: Compute) -> Compute:
        _declared[name] = CurveDeclaration(name, frozenset(of), needs, compute, heights)
        return compute

    return declare


def interval_method_of(plan: Plan, name: str) -> str:
    """Return the interval method of the shares in a curve; the spec sets that of calibration curves apart."""
    return plan.calibration.interval if name.startswith("calibration_") else plan.bins


def drawn_heights(plan: Plan, summary: Summary) -> dict[str, tuple[Heights, Floats]]:
    """Return the heights of each curve of an event that needs replicates, with their positions [k], by its name."""
    if not plan.banded:
        return {}
    return {
        name: (declared.heights, declared.heights.places(plan, summary)) for name, declared in registry.items()
        if declared.heights is not None and declared.needs in summary.rows.gives
        and name not in plan.calibration.left_out
        and (interval_methods[interval_method_of(plan, name)].drawn or not declared.heights.binned)
    }


def computed_curves(rows: CurveRows) -> Iterator[tuple[str, dict[str, Column], Notes]]:
    """Yield the name, the points and the notes of every curve that rows have, in the order of the results."""
    # The order of the records and not that in which files were imported: it is the order of results.json.
    gives = rows.summary.rows.gives
    for name in (name for name in CURVES if name in registry and name not in rows.plan.calibration.left_out):
        declared = registry[name]
        if declared.needs != "residuals":
            is_possible = declared.needs in gives
        elif rows.kind == "numbers":
            is_possible = "values" in gives
        else:
            is_possible = rows.plan.residuals is not None and "probabilities" in gives
        result = declared.compute(rows) if is_possible and rows.kind in declared.of else None
        if result is not None:
            points = {coordinate: listed(values) for coordinate, values in result[0].items()}
            yield PREFIXES.get(rows.kind, "") + name, points, result[1]


def listed(values: Sequence[float] | Values) -> Column:
    """Return an array [k] as a column of results, with None where a number is not finite."""
    column = np.asarray(values, float)
    listed_column: Column = column.tolist()
    for index in np.flatnonzero(~np.isfinite(column)).tolist():
        listed_column[index] = None
    return listed_column
