"""What a curve is in the results: where it was measured, its points as named columns, and facts about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Self, TypeVar, get_args

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator
from pydantic_core import PydanticCustomError

from evalpipe.base.records import Record, Slice

if TYPE_CHECKING:
    from collections.abc import Mapping

Column = list[float | None]
"""One coordinate of every point; null where it has no value."""


class Brief(Record):
    """A record that leaves out what it does not have, instead of writing null."""

    @model_serializer(mode="wrap")
    def _without_absent(self, write: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Return the record's fields for JSON, without those that are None."""
        return {name: value for name, value in write(self).items() if value is not None}


class Points(Brief):
    """The points of a curve: a column for each coordinate, all of one length."""

    @property
    def columns(self) -> Mapping[str, Column]:
        """The columns by name, in order; those that the results do not have are left out."""
        return {name: column for name, column in self if column is not None}

    @model_validator(mode="after")
    def _of_one_length(self) -> Self:
        """Check that all columns have the same length."""
        if len({len(column) for column in self.columns.values()}) > 1:
            raise PydanticCustomError("unequal", "the columns of a curve differ in length")
        return self


class Notes(Brief):
    """Facts about a curve as a whole."""


class Thinned(Notes):
    """Facts about a curve whose points need not all be stored."""

    points_of: int | None = None
    """The number of points, where not all are stored."""


class LinePoints(Points):
    """The points of a line, which is drawn through the two columns that follow those of thresholds."""

    @property
    def path(self) -> tuple[Column, Column]:
        """The x and y coordinates of the line: the first two columns but the threshold."""
        across, up, *_ = (column for name, column in self.columns.items() if name != "threshold")
        return across, up


class Curve(Record):
    """One curve of a model; the record of each is a `CurveOf`."""

    dataset: str
    model: str
    variant: str = "original"
    slice: Slice | None = None
    class_: str | None = Field(default=None, alias="class")
    """Of several levels: the one that counts as the event; for cumulative curves, the highest level below the cut."""
    curve: str
    points: Points
    notes: Notes

    @property
    def method(self) -> str | None:
        """The interval method of the limits, from the notes; None where the notes name none."""
        return getattr(self.notes, "method", None)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names that a curve of this class may have: one, or several that differ in their rows or bins."""
        return get_args(cls.model_fields["curve"].annotation)


Name = TypeVar("Name", bound=str)
P = TypeVar("P", bound=Points)
N = TypeVar("N", bound=Notes)


class CurveOf(Curve, Generic[Name, P, N]):
    """The record of a curve, ``CurveOf[name, points, notes]``; of one name or of several, as a `Literal`."""

    curve: Name
    points: P
    notes: N
