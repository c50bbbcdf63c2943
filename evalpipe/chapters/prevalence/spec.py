"""The prior probability of the event, or of each level, where the model will be used."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field, StrictStr

from evalpipe.base.records import UNWRITTEN, After
from evalpipe.spec.field_types import EachLevel, Only, Positive, Probability, Short, SpecPart
from evalpipe.tasks import CLASSES, MANY

EACH_PRIOR = EachLevel("no prior probability for {}", "give one for each level; 0 is one")


class Prevalence(SpecPart):
    """The prior probability of the event, or of each level, where the model will be used: known, or itself uncertain.

    Exactly one of `value`, `beta` and `from` for a binary outcome, of `levels`, `dirichlet` and `from` for more levels.
    """

    value: Annotated[Probability | None, Only("binary")] = None
    """The prior probability of the event of a binary outcome, 0 to 1."""
    beta: Annotated[
        Annotated[tuple[Positive, ...], Field(json_schema_extra={"minItems": 2, "maxItems": 2})] | None, Only("binary")
    ] = None
    """Instead, the two parameters a and b of a Beta distribution: what is believed of it, as if after a events and b
    non-events. Values are computed at its mean, a / (a + b); limits include its spread."""
    levels: Annotated[
        Annotated[dict[StrictStr, Probability], Field(min_length=1)] | None, Only(*MANY), EACH_PRIOR] = None
    """The prior probability of each level of a multiclass or ordinal outcome; they sum to 1."""
    dirichlet: Annotated[
        Annotated[dict[StrictStr, Positive], Field(min_length=1)] | None, Only(*MANY),
        EachLevel("no parameter for {}", "give one for each level, above 0"),
    ] = None
    """Instead, the parameter of each level in a Dirichlet distribution, as if after so many rows of each. Values are
    computed at its mean, each over their sum; limits include its spread."""
    from_: Annotated[StrictStr | None, UNWRITTEN] = Field(default=None, alias="from")
    """Instead, the dataset whose outcomes give it, such as the training data: one of role `reference` or `calibrate`,
    or one of several that are evaluated. Values are computed at the weighted share of its rows; limits include its
    sampling error. See [Prevalence from a dataset](methods.md#prevalence-from-a-dataset)."""
    source: StrictStr | None = None
    """Where the prior comes from; printed with every number that uses it. With `from`, the dataset where it is left
    out."""

    @property
    def mean(self) -> float | dict[str, float]:
        """The prior probability of the event, or of each level, its mean where it is uncertain; none from a dataset."""
        if self.value is not None:
            return self.value
        if self.beta is not None:
            return self.beta[0] / math.fsum(self.beta) if self.beta else math.nan
        if self.levels is not None:
            return self.levels
        parameters = self.dirichlet or {}
        return {level: parameter / math.fsum(parameters.values()) for level, parameter in parameters.items()}


class PrevalenceKeys(SpecPart):
    """Keys of a spec."""

    prevalence: Annotated[Annotated[Prevalence, Short("value")] | None, Only(*CLASSES), After("outcome")] = None
    """The prior probability of the event where the model will be used: a number, or a mapping with its source. For
    more levels, a mapping of level to number under `levels`; `beta` or `dirichlet` where it is uncertain, and
    `{from: training}` where a dataset gives it. `ppv` and `npv` need it, and so does every measure at
    `prevalence: declared`."""
