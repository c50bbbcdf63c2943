"""How a curve is computed: a function of rows that returns its points and its notes, declared for its record.

`curve` names the record in `results.curves`, the kinds of rows that have the curve, and what the model must give for
it. Whatever asks for curves walks `registry`, in the order in which the records are declared. Bands about the curves of
one event come from their heights at fixed places, in the data and in every replicate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import numpy as np

from evalpipe.intervals.bootstrap import pointwise_band, simultaneous_band
from evalpipe.intervals.declare import registry as interval_methods
from evalpipe.metrics.values import ratio
from evalpipe.results.curves import CURVES, calibration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.base.arraytypes import Floats, Values, Wholes
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
        """The number of points, roughly, that a curve is thinned to when it is stored."""
        return VERTICES[self.kind]

    def once(self, make: Callable[[CurveRows], T]) -> T:
        """Return ``make(self)``, which is computed once and kept for the other curves of these rows."""
        if make not in self._shared:
            self._shared[make] = make(self)
        return cast("T", self._shared[make])

    def limits(self, name: str, k: int) -> tuple[Floats, Floats]:
        """Return the lower and upper limits [k] of a curve from its replicates; NaN where it has none."""
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
    """Return a decorator that registers a function as the computation of a curve of ``record``.

    ``of`` are the kinds of rows that have the curve, ``needs`` what predictions it needs, ``heights`` how the
    heights of its replicates are computed. ``name`` says which curve, where the record is of several. Raises
    ValueError where the record has no such curve, or the curve is declared already.
    """
    name = name or record.names()[0]
    if name not in record.names() or name in _declared:
        raise ValueError(f"the curve {name!r} is declared twice, or is none of {', '.join(record.names())}")

    def declare(compute: Compute) -> Compute:
        _declared[name] = CurveDeclaration(name, frozenset(of), needs, compute, heights)
        return compute

    return declare


def interval_method_of(plan: Plan, name: str) -> str:
    """Return the interval method of the proportions in a curve; the spec has a key for calibration curves."""
    return plan.calibration.interval if name.startswith("calibration_") else plan.bins


def drawn_heights(plan: Plan, summary: Summary) -> dict[str, tuple[Heights, Floats]]:
    """Return how heights of each curve that needs replicates are computed, and their positions [k], by name."""
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


PLACES = np.arange(101) / 100
"""The positions on the horizontal axis at which a band is given."""


def roc_heights(summary: Summary, places: Floats) -> Floats:
    """Return the sensitivity at false positive rates ``places`` [k], [..., k]; NaN where a class is missing."""
    summary = summary.ranked
    events, others = (_flat(summary.shares_from(name)) for name in ("events_from", "others_from"))
    return _shaped(_interpolated(others, events, places), summary)


def pr_heights(summary: Summary, places: Floats) -> Floats:
    """Return the precision of the highest threshold that reaches each recall, [..., k]; NaN without a class."""
    summary = summary.ranked
    # A recall that is reached may come out a rounding below it, as weights are summed. No score reaches no recall.
    events, others = _flat(summary("events_from")), _flat(summary("others_from"))
    recalls = _flat(summary.shares_from("events_from"))
    point_index = np.clip(_positions(recalls, places - 1e-12, "left"), 1, events.shape[-1])
    flat_index = _flat_positions(events.shape[-1] - point_index, events.shape[-1])
    hits, alarms = np.take(events, flat_index), np.take(others, flat_index)
    return _shaped(ratio(hits, hits + alarms, empty=1.0), summary)


def gain_heights(summary: Summary, places: Floats) -> Floats:
    """Return the share of events among the highest-scored rows, at shares ``places`` [k] of the rows, [..., k].

    NaN where a class is missing.
    """
    summary = summary.ranked
    events, tested = summary.shares_from("events_from"), summary.shares_from("events_from", "others_from")
    return _shaped(_interpolated(_flat(tested), _flat(events), places), summary)


def _flat(values: Floats) -> Floats:
    """Reshape values [..., m] to [c, m], with a row for each curve."""
    return values.reshape(-1, values.shape[-1])


def _shaped(heights: Floats, summary: Summary) -> Floats:
    """Reshape heights [c, k] to [..., k], the leading axes of the weights; NaN where a class is missing."""
    both = (summary("events_from")[..., 0] > 0) & (summary("others_from")[..., 0] > 0)
    shaped = heights.reshape(*both.shape, -1)
    return shaped if both.all() else np.where(both[..., None], shaped, np.nan)


def _interpolated(x: Floats, y: Floats, places: Floats) -> Floats:
    """Return heights [c, k] at ``places`` [k] of curves ``x``, ``y`` [c, m] from (0, 0) to (1, 1), interpolated."""
    # A curve may step up at a place: from the last point there. One search a curve, and the rest for all at once.
    left = _positions(x, places, "right") - 1
    right = np.minimum(left + 1, x.shape[-1] - 1)
    left_index, right_index = _flat_positions(left, x.shape[-1]), _flat_positions(right, x.shape[-1])
    x0, y0 = np.take(x, left_index), np.take(y, left_index)
    gap, rise = np.take(x, right_index), np.take(y, right_index)
    gap -= x0
    rise -= y0
    rise /= np.where(gap > 0, gap, 1.0)
    rise *= places - x0
    return np.asarray(y0 + rise)


def _positions(x: Floats, places: Floats, side: Literal["left", "right"]) -> Wholes:
    """Return the index of each of ``places`` [k] among the ascending numbers ``x`` [c, m] of each curve, [c, k]."""
    position = np.empty((len(x), len(places)), np.intp)
    for row, curve_x in zip(position, x, strict=True):
        row[:] = curve_x.searchsorted(places, side)
    return position


def _flat_positions(position: Wholes, m: int) -> Wholes:
    """Return positions [c, k] in curves of ``m`` points each as positions in the flat array of all curves."""
    return position + np.arange(len(position))[:, None] * m


def _band(
    rows: CurveRows, name: str, heights: Callable[[Summary, Floats], Floats], axes: tuple[str, str]
) -> Computed | None:
    """Return a curve with its pointwise and simultaneous band as columns; None without replicates or a class.

    ``heights`` returns the heights at some positions, ``axes`` are the names of the columns of positions and
    heights.
    """
    drawn, height, level = rows.drawn.get(name), heights(rows.summary, PLACES), rows.plan.level
    if drawn is None or np.isnan(height).all():
        return None
    lower, upper = rows.limits(name, len(height))
    low, high = simultaneous_band(drawn, height, level, (0.0, 1.0))
    return {
        axes[0]: PLACES, axes[1]: height, "lower": lower, "upper": upper, "simultaneous_lower": low,
        "simultaneous_upper": high,
    }, calibration.BandNotes(level=level)


_BANDS: dict[type[Curve], tuple[str, Callable[[Summary, Floats], Floats], tuple[str, str]]] = {
    calibration.RocBand: ("roc_band", roc_heights, ("false_positive_rate", "sensitivity")),
    calibration.PrBand: ("pr_band", pr_heights, ("recall", "precision")),
    calibration.GainBand: ("gain_band", gain_heights, ("tested", "found")),
}
for _record, (_name, _heights, _axes) in _BANDS.items():
    curve(_record, of=("event",), needs="scores", heights=Heights(_heights, lambda *_: PLACES))(
        partial(_band, name=_name, heights=_heights, axes=_axes))
