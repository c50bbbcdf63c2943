"""The fixed rates that models are compared with."""

from __future__ import annotations

from evalpipe.spec.core_keys import KnownValue
from evalpipe.spec.field_types import Key


class ReferenceRate(KnownValue):
    """What a rival reached by a measure; every model is compared with it, on all rows of each evaluated dataset."""

    name: Key
    """What the rival is called, such as `last year's model`."""
