"""The rows that a model was fitted on, and how many coefficients it has."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictInt

from evalpipe.spec.field_types import Key, SpecPart


class FittedOn(SpecPart):
    """The rows that a model was fitted on by maximum likelihood, without a penalty."""

    on: Key
    """The evaluated dataset that holds exactly these rows."""
    parameters: Annotated[StrictInt, Field(ge=1)]
    """The number of its coefficients, intercepts not counted."""
