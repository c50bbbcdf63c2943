"""The fixed rates that models are compared with."""

from __future__ import annotations

from typing import Annotated

from evalpipe.base.records import UNWRITTEN, After
from evalpipe.spec.field_types import EMPTY_AS_ABSENT, Key, SpecPart
from evalpipe.spec.measures import KnownValue


class ReferenceRate(KnownValue):
    """What a rival reached by a measure; every model is compared with it, on all rows of each evaluated dataset."""

    name: Key
    """What the rival is called, such as `last year's model`."""


class ReferenceRatesKeys(SpecPart):
    """Keys of a spec."""

    reference_rates: Annotated[tuple[ReferenceRate, ...] | None, After("compare"), UNWRITTEN, EMPTY_AS_ABSENT] = None
    """Fixed rates, such as last year's model reached elsewhere, that every model is compared with."""
