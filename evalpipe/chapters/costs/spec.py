"""Costs of wrong predictions, and the profit of contacting rows."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field, StrictFloat, StrictInt

from evalpipe.spec.field_types import COMPUTABLE, Level, SpecPart


class Cost(SpecPart):
    """What one kind of prediction costs."""

    truth: Level
    """The true level."""
    predicted: Level
    """The predicted level."""
    cost: Annotated[StrictFloat, Field(ge=0, allow_inf_nan=False), COMPUTABLE]
    """The cost of a row of that true level predicted as that level; 0 for pairs that are not named."""


class ProfitRule(SpecPart):
    """What contacting rows brings, from the highest score down."""

    model_config = ConfigDict(title="Profit")

    benefit: Annotated[StrictFloat, Field(gt=0, allow_inf_nan=False), COMPUTABLE]
    """What an event that is contacted brings."""
    cost: Annotated[StrictFloat, Field(ge=0, allow_inf_nan=False), COMPUTABLE]
    """What contacting a row costs, whether it is an event or not."""
    fixed: Annotated[StrictFloat, Field(ge=0, allow_inf_nan=False), COMPUTABLE] = 0.0
    """What it costs to contact any row at all."""
    groups: Annotated[StrictInt, Field(ge=2, le=100)] = 10
    """The number of groups of equal size that the ranked rows are cut into: 10 for tenths."""
