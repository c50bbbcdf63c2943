"""The curves in the results: a record for each, with the columns of its points and its notes as types.

To add one, declare its record in a file of this folder; what computes it stands in the engine, what draws it in the
figures of the card.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Union

from pydantic import Field

from evalpipe.results.curves import calibration, events, residuals
from evalpipe.results.curves.declare import Column, Curve, Notes, Points

CURVES: dict[str, type[Curve]] = {
    name: record
    for file in (events, calibration, residuals)  # in this order they stand in results.json
    for record in vars(file).values()
    if isinstance(record, type) and issubclass(record, Curve) and record.__module__ == file.__name__
    for name in record.names()
}
"""The record of each curve by the curve's name, in the order in which the curves of a model stand in the results."""

if TYPE_CHECKING:
    AnyCurve = Curve
else:
    AnyCurve = Annotated[Union[tuple(dict.fromkeys(CURVES.values()))], Field(discriminator="curve")]  # noqa: UP007

__all__ = ["CURVES", "AnyCurve", "Column", "Curve", "Notes", "Points", "calibration", "events", "residuals"]
