"""What every table of results is made of."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import ConfigDict, Field

from evalpipe.base.documented import Documented

Status = Literal["ok", "undefined", "degenerate", "insufficient"]
Scalar = str | bool | int | float
Slice = dict[str, Scalar]


class Record(Documented):
    """A frozen row of a table of results."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, defer_build=True)

    absent: ClassVar[tuple[str, ...]] = ()
    """The fields that a row is written without where they are None."""


class OfModel(Record):
    """What is of a model, or of a variant of it, on a dataset."""

    dataset: str
    model: str
    variant: str = "original"


class Measured(OfModel):
    """What was measured, of what, and where."""

    slice: Slice | None = None
    metric: str
    params: dict[str, Scalar]
    average: str | None = None
    class_: str | None = Field(default=None, alias="class")

    @property
    def about(self) -> tuple[object, ...]:
        """What tells the number from others: where it was measured, and what."""
        return (self.dataset, self.model, self.variant, self.slice, self.metric, self.params, self.average,
                self.class_)
