"""What every table of results is made of."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

Status = Literal["ok", "undefined", "degenerate", "insufficient"]
Scalar = str | bool | int | float
Slice = dict[str, Scalar]


class Record(BaseModel):
    """A frozen row of a table of results."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, use_attribute_docstrings=True)
