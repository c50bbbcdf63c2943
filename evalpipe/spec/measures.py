"""The measures of a spec: metrics asked for with their options, expressions of others, and every measure by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import (
    Discriminator,
    Field,
    PlainSerializer,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    StrictStr,
    Tag,
    model_serializer,
)
from pydantic_core import PydanticCustomError, core_schema

from evalpipe.metrics import registry
from evalpipe.metrics.declare import Advice
from evalpipe.metrics.expressions import PartOfExpression, expression_metric
from evalpipe.metrics.grammar import IDENTIFIER, ExpressionFault, names_in, read_expression
from evalpipe.spec.field_types import AnyOf, Identifier, Needs, Number, Shown, SpecPart
from evalpipe.words.spelling import closest

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler

    from evalpipe.base.origin import Loc
    from evalpipe.metrics import Metric
    from evalpipe.metrics.declare import Direction
    from evalpipe.metrics.expressions import ExpressionMetric
    from evalpipe.metrics.grammar import Node
    from evalpipe.tasks import Task


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
        """Return the choice that ``"f1"``, ``{"metric": "f_beta", "beta": 2}`` or a choice stands for."""
        if isinstance(value, MetricChoice):
            return value
        if isinstance(value, str):
            return cls(value)
        if isinstance(value, Mapping) and isinstance(value.get("metric"), str):
            common = common_keys(value["metric"])
            options = {k: v for k, v in value.items() if k not in common}
            average, prevalence = (
                tuple(item) if isinstance(item, list) else item
                for item in (value.get(key) if key in common else None for key in ("average", "prevalence")))
            return cls(value["metric"], MappingProxyType(options), average, prevalence)
        fault = NOT_A_MEASURE if not isinstance(value, Mapping) else NOT_A_NAME if "metric" in value else UNNAMED
        raise PydanticCustomError(fault, "a metric is a name, or a mapping with the key 'metric' and its options")

    @classmethod
    def blank(cls) -> MetricChoice:
        """Return the placeholder for a measure that cannot be read."""
        return cls("")

    def written(self) -> str | dict[str, object]:
        """Return the measure as a spec has it: its name, or a mapping of the name and the options."""
        common = {"average": self.average, "prevalence": self.prevalence}
        options = {**self.options, **{key: value for key, value in common.items() if value is not None}}
        return {"metric": self.metric, **options} if options else self.metric

    def canonical(self) -> str | dict[str, object]:
        """Return the choice under the metric's canonical name, with the defaults of its options.

        Options that the metric takes from the spec stay absent where none are written.
        """
        if self.metric not in registry:  # an expression that the spec declares, which has no options
            return self.written()
        metric, written = registry[self.metric], dict(self.options)
        options = {name for name in metric.option_types if name in written or name not in metric.from_spec}
        # Options from the spec are required of the model that fills in defaults, so they get placeholders.
        stand_ins = {name: ((0.0,),) if name in metric.alone else 0.5 for name in metric.from_spec}
        filled = metric.options.model_validate(stand_ins | written).model_dump(mode="json", include=options)
        return MetricChoice(metric.name, filled, self.average, self.prevalence).written()

    def _dumped(self, info: SerializationInfo) -> str | dict[str, object]:
        """Write the canonical form in JSON, which is what results hold and hash; else what was written."""
        return self.canonical() if info.mode == "json" else self.written()

    @property
    def averages(self) -> tuple[str, ...]:
        """The averages over classes that the entry names, as a tuple; empty where it names none."""
        if self.average is None:
            return ()
        return self.average if isinstance(self.average, tuple) else (self.average,)

    @property
    def prevalences(self) -> tuple[Any, ...]:
        """The prevalences that the entry names, as a tuple; ("sample",), the data's own, where it names none."""
        if self.prevalence is None:
            return ("sample",)
        return self.prevalence if isinstance(self.prevalence, tuple) else (self.prevalence,)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Return the core schema that reads a choice with `read` and writes it with `canonical` or `written`."""
        dumped = core_schema.plain_serializer_function_ser_schema(cls._dumped, info_arg=True)
        return core_schema.no_info_plain_validator_function(cls.read, serialization=dumped)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return a placeholder for the schema of a measure, which `evalpipe.spec.schema` defines once."""
        return {"$comment": MEASURE}


@dataclass(frozen=True, slots=True)
class OrExpression:
    """Marks a measure that may also be an expression which the spec declares, by its name."""

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Describe the measure and the name of an expression as alternatives in the JSON Schema."""
        return {"anyOf": [handler(schema), EXPRESSION_NAME]}


MeasureOfSpec = Annotated[MetricChoice, OrExpression()]
"""A measure where the spec refers to one: a metric, with its options, or the name of a declared expression."""


def canonical_name(name: str) -> str:
    """Return the canonical name of a metric; unknown names unchanged."""
    return registry[name].name if name in registry else name


MetricName = Annotated[StrictStr, PlainSerializer(canonical_name, when_used="json")]
"""A metric by its name or one of its aliases, without options."""


def located_items(loc: Loc, value: Any) -> list[tuple[Loc, Any]]:
    """Return the items of the list at ``loc``, each with its location; a single value is at ``loc`` itself."""
    return [((*loc, index), item) for index, item in enumerate(value)] if isinstance(value, tuple) else [(loc, value)]


def common_keys(metric: str) -> tuple[str, ...]:
    """Return the keys of an entry that are no options of its metric: `ppv` and `npv` have a prevalence of their own."""
    own_prevalence = metric in registry and "prevalence" in registry[metric].option_types
    return ("metric", "average") if own_prevalence else ("metric", "average", "prevalence")


class MeasureExpression(SpecPart):
    """A measure that is an expression of others: their sum, ratio and the like."""

    name: Identifier
    """The name of the measure, by which gates, goals and the rest of the spec refer to it: letters, digits and `_`."""
    expression: StrictStr
    """The expression, such as `sensitivity / specificity`: names of measures, numbers, `+ - * / **`, brackets, and
    `sqrt`, `log`, `exp`, `abs`, `min` and `max`. See [Expressions](methods.md#expressions)."""
    of: dict[Identifier, MetricChoice] = Field(default_factory=dict)
    """Measures with options, by the names that they have in the expression: `{f2: {metric: f_beta, beta: 2}}`. A name
    that is not listed here is that of a metric with its usual options."""
    direction: Literal["maximize", "minimize"] | None = None
    """Which way is better. Without it the measure has no better side: differences are told, and no winner."""
    range: tuple[Number | None, ...] | None = None
    """The lowest and the highest value that it can have, null for none, as in `[0, null]`. Limits of intervals lie
    within it, and a value that does not is called unreliable."""
    title: Shown | None = None
    """What it is called on the card; made of its name where absent."""

    @model_serializer(mode="wrap")
    def _without_absent_keys(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write the expression without the keys that are None or an empty mapping."""
        return {key: item for key, item in handler(self).items() if item not in (None, {})}

    @property
    def tree(self) -> Node | None:
        """The parsed expression; None where it cannot be parsed."""
        try:
            return read_expression(self.expression)
        except ExpressionFault:
            return None

    @property
    def choices(self) -> dict[str, MetricChoice]:
        """The measures in the expression, by their names in it."""
        names = dict.fromkeys(node.name for node in names_in(self.tree)) if self.tree is not None else {}
        return {name: self.of.get(name, MetricChoice(name)) for name in names}

    @property
    def reference(self) -> MetricChoice:
        """The choice by which other keys of the spec refer to this expression: its name."""
        return MetricChoice(self.name)


MeasureEntry = Annotated[
    Annotated[MetricChoice, Tag("a metric")] | Annotated[MeasureExpression, Tag("an expression")],
    Discriminator(lambda entry: "an expression" if isinstance(entry, MeasureExpression)
                  or (isinstance(entry, Mapping) and "expression" in entry) else "a metric"),
    AnyOf(),
]
"""An entry of `metrics`: a metric with its options, or an expression."""


@dataclass(frozen=True, slots=True)
class Measures:
    """Every measure of a spec by name: the metrics under all their names, and the expressions that it declares."""

    declared: Mapping[str, ExpressionMetric]
    task: Task
    """That of the spec, blank where it cannot be read."""
    scores: tuple[str, tuple[float, ...] | None] | None = None
    """Which scores are better, and their range, where the task is of these."""

    def __contains__(self, name: object) -> bool:
        return name in registry or name in self.declared

    def __getitem__(self, name: str) -> Metric:
        """Return the measure of a name, turned as scores are better; raises KeyError."""
        return self._turned(registry[name]) if name in registry else self.declared[name]

    def _turned(self, metric: Metric) -> Metric:
        """Return a metric with the direction and the range that the spec gives scores, where it takes these."""
        return metric if self.scores is None or not metric.from_score else _turned(metric, *self.scores)

    def __iter__(self) -> Iterator[Metric]:
        yield from map(self._turned, registry)
        yield from self.declared.values()

    @property
    def names(self) -> list[str]:
        """All names and aliases of the metrics, and the names of the declared expressions."""
        return [*(name for metric in registry for name in (metric.name, *metric.aliases)), *self.declared]

    def advice(self, name: str, others: Iterable[str] = ()) -> Advice:
        """Return the hint for an unknown measure ``name``: a similar one of ``others``, expressions or metrics."""
        guess = closest(name, others) or closest(name, self.declared)
        return Advice(f"did you mean '{guess}'?") if guess else registry.advice(name, self.task)


@cache
def _turned(metric: Metric, better: str, scores: tuple[float, ...] | None) -> Metric:
    """Return a metric of items with the direction and the range of scores, where it takes these."""
    turned: dict[Direction, Direction] = {"maximize": "minimize", "minimize": "maximize", "none": "none"}
    lower = better == "lower" and "direction" in metric.from_score
    ends = scores if "range" in metric.from_score else None
    return replace(metric, direction=turned[metric.direction] if lower else metric.direction,
                   range=metric.range if ends is None else (float(ends[0]), float(ends[1])))


def expression_measure(written: MeasureExpression, task: Task) -> ExpressionMetric:
    """Return the measure that an expression declares; parts that name no metric are left out."""
    parts = tuple(
        PartOfExpression(name, registry[choice.metric], _metric_with_options(choice) if name in written.of else name)
        for name, choice in written.choices.items() if choice.metric in registry)
    span = written.range if written.range is not None and len(written.range) == 2 else None
    title = written.title or written.name.replace("_", " ").capitalize()
    return expression_metric(
        written.name, title, task, written.direction or "none", span, written.tree, parts)


def _metric_with_options(choice: MetricChoice) -> str:
    """Write a measure with the options that are written beside it: ``f_beta, beta = 2``."""
    written = choice.written()
    options = [] if isinstance(written, str) else [
        f"{key} = {item}" for key, item in written.items() if key != "metric"]
    return ", ".join([registry[choice.metric].name, *options])


@dataclass(frozen=True, slots=True)
class Entry:
    """A measure that the spec asks for: where it stands, where its name stands, its metric and what was written."""

    loc: Loc
    named: Loc
    metric: Metric
    choice: MetricChoice


class KnownValue(SpecPart):
    """A value of a measure that was found elsewhere."""

    metric: MeasureOfSpec
    """The measure, one of `metrics`: a name, or a mapping of a name and its options."""
    value: Number
    """Its value."""
    lower: Annotated[
        Number | None, Needs(("upper",), "one-limit", "'lower' needs 'upper'", "add 'upper: …', or remove it")] = None
    """The lower limit of the value, at the level of this run's intervals. Without limits the value is taken as known
    without error."""
    upper: Annotated[
        Number | None, Needs(("lower",), "one-limit", "'upper' needs 'lower'", "add 'lower: …', or remove it")] = None
    """The upper limit of the value; both limits are given, or neither."""
