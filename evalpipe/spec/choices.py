"""A metric asked for in the spec: its canonical name and its checked options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import PlainSerializer, SerializationInfo, StrictStr
from pydantic_core import PydanticCustomError, core_schema

from evalpipe.metrics import registry
from evalpipe.metrics.grammar import IDENTIFIER

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler

    from evalpipe.base.origin import Loc

MEASURE = "a measure"
"""What marks the place of a measure in a schema that pydantic makes."""

EXPRESSION_NAME: Final = {
    "type": "string", "pattern": IDENTIFIER, "description": "The name of an expression that `metrics` declares."}
"""The schema of a reference to an expression."""

NOT_A_MEASURE: Final = "not_a_measure"
UNNAMED: Final = "unnamed_measure"
NOT_A_NAME: Final = "no_name_of_a_measure"
"""The types of pydantic's errors where a measure stands: neither a name nor a mapping; a mapping without the key
'metric'; one where that is no text."""


@dataclass(frozen=True, slots=True)
class MetricChoice:
    """A metric's name as written, the options written beside it, and how it is averaged over classes.

    The registry is looked up when a spec is read, never when this module is imported, so metrics registered later
    are known. Names and options are checked by `evalpipe.spec.rules`, which can report all faults with their places.
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
            given = (value.get(key) if key in common else None for key in ("average", "prevalence"))
            average, at = (tuple(item) if isinstance(item, list) else item for item in given)
            return cls(value["metric"], MappingProxyType(options), average, at)
        named = NOT_A_NAME if isinstance(value, Mapping) and "metric" in value else UNNAMED
        fault = named if isinstance(value, Mapping) else NOT_A_MEASURE
        raise PydanticCustomError(fault, "a metric is a name, or a mapping with the key 'metric' and its options")

    def written(self) -> str | dict[str, object]:
        """Return the choice as it stands in a spec."""
        common = {"average": self.average, "prevalence": self.prevalence}
        given = {**self.options, **{key: value for key, value in common.items() if value is not None}}
        return {"metric": self.metric, **given} if given else self.metric

    def canonical(self) -> str | dict[str, object]:
        """Return the choice under the metric's canonical name, with the defaults of its options.

        Options that the metric takes from the spec stay absent where none are written.
        """
        if self.metric not in registry:  # an expression that the spec declares, which has no options
            return self.written()
        entry, given = registry[self.metric], dict(self.options)
        own = {name for name in entry.option_types if name in given or name not in entry.from_spec}
        # Options from the spec are required of the model that fills in defaults, so they get values of no account.
        stand_ins = {name: ((0.0,),) if name in entry.alone else 0.5 for name in entry.from_spec}
        options = entry.options.model_validate(stand_ins | given).model_dump(mode="json", include=own)
        return MetricChoice(entry.name, options, self.average, self.prevalence).written()

    def _dumped(self, info: SerializationInfo) -> str | dict[str, object]:
        """Write the canonical form in JSON, which is what results hold and hash; else what was written."""
        return self.canonical() if info.mode == "json" else self.written()

    @property
    def averages(self) -> tuple[str, ...]:
        """The averages asked for, one by one; none where the entry names none."""
        return () if self.average is None else tuple(average for _, average in items((), self.average))

    @property
    def prevalences(self) -> tuple[Any, ...]:
        """The prevalences asked for, one by one; that of the sample where the entry names none."""
        return ("sample",) if self.prevalence is None else tuple(at for _, at in items((), self.prevalence))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Read with `read`, write with `canonical` or `written`."""
        dumped = core_schema.plain_serializer_function_ser_schema(cls._dumped, info_arg=True)
        return core_schema.no_info_plain_validator_function(cls.read, serialization=dumped)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Mark the place of a measure: its forms are long, and `evalpipe.spec.schema` puts them in, made once."""
        return {"$comment": MEASURE}


@dataclass(frozen=True, slots=True)
class OrExpression:
    """Marks a measure that may also be an expression which the spec declares, by its name."""

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Describe both."""
        return {"anyOf": [handler(schema), EXPRESSION_NAME]}


MeasureOfSpec = Annotated[MetricChoice, OrExpression()]
"""A measure where the spec refers to one: a metric, with its options, or the name of a declared expression."""


def canonical_name(name: str) -> str:
    """Return the canonical name of a metric; a name that is none, as it is."""
    return registry[name].name if name in registry else name


MetricName = Annotated[StrictStr, PlainSerializer(canonical_name, when_used="json")]
"""A metric by its name or one of its aliases, without options."""


def items(loc: Loc, value: Any) -> list[tuple[Loc, Any]]:
    """Return each item of a list that was written at ``loc`` with its place; a single value stands there itself."""
    return [((*loc, index), item) for index, item in enumerate(value)] if isinstance(value, tuple) else [(loc, value)]


def common_keys(metric: str) -> tuple[str, ...]:
    """Return the keys of an entry that are no options of its metric: `ppv` and `npv` have a prevalence of their own."""
    own = metric in registry and "prevalence" in registry[metric].option_types
    return ("metric", "average") if own else ("metric", "average", "prevalence")
