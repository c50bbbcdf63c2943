"""The equivocal zone: the keys that say which rows get no predicted class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Discriminator, Field, StrictFloat, Tag

from evalpipe.base.records import After
from evalpipe.spec.field_types import COMPUTABLE, AnyOf, Only, Probability, SpecPart
from evalpipe.tasks import CLASSES

Distance = Annotated[StrictFloat, Field(ge=0, allow_inf_nan=False), COMPUTABLE]
"""How far from the threshold: a number of 0 or more."""


class Equivocal(SpecPart):
    """Where a prediction is too uncertain for a class."""

    below: Distance | None = None
    """How far below the threshold of a binary outcome the zone begins, its end included; 0 where only `above` is
    given."""
    above: Distance | None = None
    """How far above the threshold it ends, its end included; 0 where only `below` is given."""
    min_probability: Probability | None = None
    """Of a multiclass or ordinal outcome: rows whose highest probability is below this have no predicted class."""


EquivocalZone = Annotated[
    Annotated[Distance, Tag("a distance")] | Annotated[Equivocal, Tag("a zone")],
    Discriminator(lambda value: "a zone" if isinstance(value, Mapping | Equivocal) else "a distance"),
    AnyOf(),
]
"""One distance for either side of the threshold, or a mapping."""


class EquivocalKeys(SpecPart):
    """Keys of a spec."""

    equivocal: Annotated[EquivocalZone | None, Only(*CLASSES), After("threshold")] = None
    """The equivocal zone, whose rows have no predicted class: how far it reaches to either side of the threshold, or
    a mapping with `below` and `above`, or for several levels with `min_probability`. Measures of predicted classes
    then use only the other rows, the reportable ones, and a prevalence applies to those. Models whose predicted
    classes are given have no zone."""


class EquivocalModelKeys(SpecPart):
    """Keys of a model."""

    equivocal: Annotated[EquivocalZone | None, Only(*CLASSES), After("threshold")] = None
    """The model's own equivocal zone; overrides the spec's. In units of the score where that is a rank alone."""
