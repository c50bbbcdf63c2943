"""What is stated, as later steps hold it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.spec.models import Spec


def statement_plan(spec: Spec) -> Mapping[str, Any]:
    """Return what the spec states, by the keys of `card`, with the day that the card is about under `as_of`."""
    return MappingProxyType({"as_of": spec.as_of, **spec.card.model_dump()})
