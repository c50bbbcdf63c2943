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

MEASURE = "a measure"
"""What marks the place of a measure in a schema that pydantic makes."""


@dataclass(frozen=True, slots=True)
class MetricChoice:
    """A metric's name as written, the options written beside it, and how it is averaged over classes.

    The registry is looked up when a spec is read, never when this module is imported, so metrics registered later
    are known. Names and options are checked by `evalpipe.spec.check`, which can report all faults with their places.
    """

    metric: str
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    average: str | tuple[str, ...] | None = None
    prevalence: Any = None
    """At which prevalence: "sample", "declared", a number, a mapping of level to number, or a list of these."""

    @classmethod
    def read(cls, value: object) -> MetricChoice:
        """Accept ``"f1"``, ``{"metric": "f_beta", "beta": 2}`` or a choice."""
        if isinstance(value, MetricChoice):
            return value
        if isinstance(value, str):
            return cls(value)
        if isinstance(value, Mapping) and isinstance(value.get("metric"), str):
            common = common_keys(value["metric"])
            options = {k: v for k, v in value.items() if k not in common}
            average, at = (value.get(key) if key in common else None for key in ("average", "prevalence"))
            return cls(
                value["metric"], MappingProxyType(options), tuple(average) if isinstance(average, list) else average,
                tuple(at) if isinstance(at, list) else at,
            )
        raise ValueError("a metric is a name, or a mapping with the key 'metric' and the metric's options")

    def written(self) -> str | dict[str, Any]:
        """Return the choice as it stands in a spec."""
        common = {"average": self.average, "prevalence": self.prevalence}
        given = {**self.options, **{key: value for key, value in common.items() if value is not None}}
        return {"metric": self.metric, **given} if given else self.metric

    @property
    def averages(self) -> tuple[str, ...]:
        """The averages asked for, one by one; none where the entry names none."""
        return (self.average,) if isinstance(self.average, str) else self.average or ()

    @property
    def prevalences(self) -> tuple[Any, ...]:
        """The prevalences asked for, one by one; that of the sample where the entry names none."""
        if self.prevalence is None:
            return ("sample",)
        return self.prevalence if isinstance(self.prevalence, tuple) else (self.prevalence,)

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
        """Mark the place of a measure: its forms are long, and `evalpipe.spec.schema` puts them in, made once."""
        return {"$comment": MEASURE}


def common_keys(metric: str) -> tuple[str, ...]:
    """Return the keys of an entry that are no options of its metric: `ppv` and `npv` have a prevalence of their own."""
    registry = declare.registry
    own = metric in registry and "prevalence" in registry[metric].option_types
    return ("metric", "average") if own else ("metric", "average", "prevalence")
