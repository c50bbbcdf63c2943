"""Measures that a spec declares as expressions of others, and every measure of a spec by its name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Discriminator, Field, SerializerFunctionWrapHandler, StrictStr, Tag, model_serializer

from evalpipe.metrics import registry
from evalpipe.metrics.declare import Advice
from evalpipe.metrics.expressions import PartOfExpression, expression_metric
from evalpipe.metrics.grammar import ExpressionFault, names_in, read_expression
from evalpipe.spec.choices import MetricChoice
from evalpipe.spec.kinds import AnyOf, Identifier, Number, Shown, SpecPart
from evalpipe.words.spelling import closest

if TYPE_CHECKING:
    from evalpipe.metrics import Metric
    from evalpipe.metrics.expressions import ExpressionMetric
    from evalpipe.metrics.grammar import Node
    from evalpipe.tasks import Task


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
    def _written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: item for key, item in handler(self).items() if item not in (None, {})}

    @property
    def tree(self) -> Node | None:
        """The expression as it is read; None where it cannot be."""
        try:
            return read_expression(self.expression)
        except ExpressionFault:
            return None

    @property
    def choices(self) -> dict[str, MetricChoice]:
        """The measures that it is of, by their names in it, each once."""
        names = dict.fromkeys(node.name for node in names_in(self.tree)) if self.tree is not None else {}
        return {name: self.of.get(name, MetricChoice(name)) for name in names}

    @property
    def reference(self) -> MetricChoice:
        """The choice of this measure, as if the spec referred to it."""
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

    def __contains__(self, name: object) -> bool:
        return name in registry or name in self.declared

    def __getitem__(self, name: str) -> Metric:
        """Return the measure of a name; raises KeyError."""
        return registry[name] if name in registry else self.declared[name]

    def __iter__(self) -> Iterator[Metric]:
        yield from registry
        yield from self.declared.values()

    @property
    def names(self) -> list[str]:
        """All names and aliases."""
        return [*(name for metric in registry for name in (metric.name, *metric.aliases)), *self.declared]

    def advice(self, name: str, others: Iterable[str] = ()) -> Advice:
        """Return what helps where nothing is called ``name``: the ``others`` and expressions come before metrics."""
        guess = closest(name, others) or closest(name, self.declared)
        return Advice(f"did you mean '{guess}'?") if guess else registry.advice(name, self.task)


def expressed(written: MeasureExpression, task: Task) -> ExpressionMetric:
    """Return the measure that an expression declares; parts that name no metric are left out."""
    parts = tuple(
        PartOfExpression(name, registry[choice.metric], _label(choice) if name in written.of else name)
        for name, choice in written.choices.items() if choice.metric in registry)
    span = written.range if written.range is not None and len(written.range) == 2 else None
    title = written.title or written.name.replace("_", " ").capitalize()
    return expression_metric(
        written.name, title, task, written.direction or "none", span, written.tree, parts)


def _label(choice: MetricChoice) -> str:
    """Write a measure with the options that are written beside it: ``f_beta, beta = 2``."""
    given = choice.written()
    options = [] if isinstance(given, str) else [f"{key} = {item}" for key, item in given.items() if key != "metric"]
    return ", ".join([registry[choice.metric].name, *options])
