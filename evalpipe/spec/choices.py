"""A metric asked for in the spec: its canonical name and its checked options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic_core import core_schema

from evalpipe.metrics import declare

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler


@dataclass(frozen=True, slots=True)
class MetricChoice:
    """A metric's name as written and the options written beside it.

    The registry is looked up when a spec is read, never when this module is imported, so metrics registered later
    are known. Names and options are checked by `evalpipe.spec.check`, which can report all faults with their places.
    """

    metric: str
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def read(cls, value: object) -> MetricChoice:
        """Accept ``"f1"``, ``{"metric": "f_beta", "beta": 2}`` or a choice."""
        if isinstance(value, MetricChoice):
            return value
        if isinstance(value, str):
            return cls(value)
        if isinstance(value, Mapping) and isinstance(value.get("metric"), str):
            return cls(value["metric"], MappingProxyType({k: v for k, v in value.items() if k != "metric"}))
        raise ValueError("a metric is a name, or a mapping with the key 'metric' and the metric's options")

    def written(self) -> str | dict[str, Any]:
        """Return the choice as it stands in a spec."""
        return {"metric": self.metric, **self.options} if self.options else self.metric

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Read with `read`, write with `written`."""
        return core_schema.no_info_plain_validator_function(
            cls.read, serialization=core_schema.plain_serializer_function_ser_schema(cls.written)
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Describe every registered metric with its options."""
        return declare.registry.json_schema()
