"""Costs of wrong predictions, and the profit of contacting rows."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field, StrictFloat, StrictInt

from evalpipe.base.records import After
from evalpipe.spec.field_types import COMPUTABLE, EMPTY_AS_ABSENT, Level, Only, Refers, SpecPart
from evalpipe.tasks import CLASSES


class Cost(SpecPart):
    """What one kind of prediction costs."""

    truth: Annotated[Level, Refers("level")]
    """The true level."""
    predicted: Annotated[Level, Refers("level")]
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


class CostsKeys(SpecPart):
    """Keys of a spec."""

    costs: Annotated[tuple[Cost, ...] | None, Only(*CLASSES), After("no_information"), EMPTY_AS_ABSENT] = None
    """What wrong predictions cost, as named triples; the measures `cost` and `expected_cost` need them."""
    profit: Annotated[ProfitRule | None, Only("binary"), After("curves")] = None
    """The cost of contacting a row and the benefit of contacting an event. The results then give the profit of
    contacting the rows of a binary outcome from the highest score down, for each model that gives scores."""
