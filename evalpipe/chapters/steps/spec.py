"""The column that numbers the steps of a fit, and the measures that are taken at every step."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictInt

from evalpipe.spec.field_types import ColumnName, Sparse
from evalpipe.spec.measures import MeasureOfSpec


class StepColumn(Sparse):
    """The column of the steps of a model, and the step that the card shows."""

    column: ColumnName
    """The column that numbers the step of each row: whole numbers from 0 on."""
    at: Annotated[StrictInt, Field(ge=0)] | None = None
    """The step that the other parts of the card show; the last one where absent."""


class StepMeasures(Sparse):
    """What is measured at every step."""

    metrics: Annotated[tuple[MeasureOfSpec, ...], Field(min_length=1)]
    """The measures, each a name, or a mapping of a name and its options; they need not be among `metrics`."""
