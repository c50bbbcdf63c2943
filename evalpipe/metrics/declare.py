"""How a metric is declared: a pure function of named statistics, with what people need to know about it.

The positional parameters of the function name statistics (see `evalpipe.statistics`) and fits to them (see
`SharedFit`); its keyword-only parameters are the options a user may set in the spec, with pydantic types. All arrays
may have leading axes (replicates); a metric works on the last axis of tables and broadcasts over the rest.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Required, TypedDict, Unpack

import numpy as np
from pydantic import BaseModel, ConfigDict, create_model, model_validator
from pydantic_core import PydanticCustomError

from evalpipe.metrics.other_names import COUNTERPARTS, OTHER_NAMES
from evalpipe.metrics.values import Gaps, Proportion, ratio
from evalpipe.tasks import CLASSES, NUMBERS, SCORES, Task
from evalpipe.words.spelling import closest, joined

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats
    from evalpipe.metrics.values import BinRanges
    from evalpipe.words.sentences import Sentence


AVERAGES = ("macro", "macro_weighted", "micro", "none")
"""How a measure that sees one class is brought together over all: its plain mean, its mean by the classes' true shares,
one value of all classes' ingredients pooled, or not at all."""

AVERAGE: dict[str, Any] = {
    "title": "Average",
    "description": "How the measure is averaged over the levels of a multiclass or ordinal outcome; macro by default.",
    "anyOf": [
        {"enum": list(AVERAGES)},
        {"type": "array", "items": {"enum": list(AVERAGES)}, "minItems": 1, "uniqueItems": True},
    ],
}
"""The JSON Schema of the averages of an entry."""

_AT = {"anyOf": [
    {"enum": ["sample", "declared"]},
    {"type": "number", "minimum": 0, "maximum": 1},
    {"type": "object", "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1}, "minProperties": 1},
]}

PREVALENCE: dict[str, Any] = {
    "title": "Prevalence",
    "description": "The prevalence at which the measure is taken, by reweighting the classes: `sample` (the "
                   "default), `declared`, a number (for more than two levels, a mapping of level to number), or a "
                   "list of these.",
    "anyOf": [*_AT["anyOf"], {"type": "array", "items": _AT, "minItems": 1}],
}
"""The JSON Schema of the prevalence at which an entry asks for its measure."""


@dataclass(frozen=True)
class SharedFit:
    """One declared fit: its function, the names of the statistics that it is of, and those of its options."""

    function: Callable[..., Floats]
    statistics: tuple[str, ...]
    options: tuple[str, ...]


shared_fits: dict[str, SharedFit] = {}
"""Every declared fit by name."""


def shared_fit(function: Callable[..., Floats]) -> Callable[..., Floats]:
    """Register a fit that several metrics share; its positional parameters name the statistics that it takes.

    Keyword-only parameters of the fit are filled from the metric's options of the same names. The options of a
    statistic that the fit takes are filled from those of the fit.
    """
    parameters = inspect.signature(function).parameters.values()
    options = tuple(p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY)
    shared_fits[function.__name__] = SharedFit(function, positional(function), options)
    return function


def positional(function: Callable[..., object]) -> tuple[str, ...]:
    """Return the names of a function's positional parameters."""
    parameters = inspect.signature(function).parameters.values()
    return tuple(p.name for p in parameters if p.kind is not inspect.Parameter.KEYWORD_ONLY)


def statistics_of(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the statistics that ``names`` stand for, without repeats: a shared fit stands for those that it takes."""
    of_each = (shared_fits[name].statistics if name in shared_fits else (name,) for name in names)
    return tuple(dict.fromkeys(statistic for several in of_each for statistic in several))


Needs = Literal[
    "truth", "labels", "probabilities", "scores", "values", "loo_values", "item_scores", "successes", "wins",
    "ranked_lists", "usage", "usage_of_successes"]
Sees = Literal["event", "classes", "numbers", "items"]
Direction = Literal["maximize", "minimize", "none"]
Interval = Literal[
    "proportion", "auc", "predictive", "coefficient", "net_benefit", "skewed", "test", "extreme",
    "gaps", "squared_gaps", "scatter", "distance", "squared_distance", "searched", "searched_square", "score",
]
"""What is known of a measure's noise, by which its interval is made; see `metric`."""

SEEN: dict[Sees, tuple[Task, ...]] = {"event": CLASSES, "classes": CLASSES, "numbers": NUMBERS, "items": SCORES}
"""The tasks that have what a metric sees, unless it names its tasks."""


class FromSpec(NamedTuple):
    """Marks an option that takes the value of a key of the spec where the metric's entry does not give one.

    ``alone`` says that only the spec can give it.
    """

    key: str
    alone: bool = False


@dataclass(frozen=True)
class Metric:
    """One declared metric: the facts that `MetricFacts` describes, complete, and the function.

    Built by `metric`; everything that lists, checks or prints metrics reads it. ``takes`` names what the function
    takes, in order: statistics and fits. ``statistics`` are those, with the statistics of the fits.
    """

    name: str
    function: Callable[..., Any]
    needs: Needs
    direction: Direction
    range: tuple[float, float]
    undefined: str
    ref: str
    title: str
    sees: Sees = "event"
    tasks: tuple[Task, ...] = CLASSES
    aliases: tuple[str, ...] = ()
    interval: Interval | None = None
    standard: tuple[Task, ...] = ()
    extensive: bool = False
    every_class: bool = False
    linear: bool = False
    no_information: float | None = None
    swapped: str | None = None
    within_classes: bool = False
    tied_range: Callable[..., tuple[Floats, Floats]] | None = None
    binned_range: Callable[[BinRanges], tuple[float, float]] | None = None
    even_bins: Callable[[Mapping[str, Any]], int] | None = None
    freedom: Callable[..., Floats] | None = None
    doubt: Callable[..., Sentence | None] | None = None
    range_of: Callable[[Mapping[str, Any]], tuple[float, float]] | None = None
    matrix: Callable[[Mapping[str, Any], int], tuple[str, Floats]] | None = None
    from_score: tuple[Literal["direction", "range"], ...] = ()
    check: Callable[[Any], str | None] | None = None
    takes: tuple[str, ...] = field(init=False)
    statistics: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Read the names of the statistics off the function."""
        object.__setattr__(self, "takes", positional(self.function))
        object.__setattr__(self, "statistics", statistics_of(self.takes))

    def __call__(self, *tables: Floats, **options: object) -> Floats:
        """Return the metric's value [...] from its statistics and fits; NaN where it is undefined."""
        outcome = self.function(*tables, **options)
        value = ratio(*outcome) if isinstance(outcome, Proportion) else outcome
        value = np.asarray(value.value if isinstance(value, Gaps) else value, float)
        return np.asarray(value + 0.0)  # turns -0 into 0

    def proportion(self, *tables: Floats, **options: object) -> Proportion:
        """Return successes and trials of a metric whose ``interval`` is "proportion"."""
        outcome = self.function(*tables, **options)
        if not isinstance(outcome, Proportion):
            raise TypeError(f"{self.name} is declared as a proportion but does not return one")
        return outcome

    def gaps(self, *tables: Floats, **options: object) -> Gaps:
        """Return events, non-events and events less expected events in bins, of a metric that is computed from them.

        These are the metrics whose ``interval`` is "gaps", "squared_gaps" or "scatter"; raises TypeError for others.
        """
        outcome = self.function(*tables, **options)
        if not isinstance(outcome, Gaps):
            raise TypeError(f"{self.name} is declared as of gaps but does not return them")
        return outcome

    @property
    def of_gaps(self) -> bool:
        """Whether the metric is computed from events less expected events in bins (`Gaps`), as the ECE is."""
        return self.interval in ("gaps", "squared_gaps", "scatter")

    def norm(self, options: Mapping[str, object]) -> str:
        """Return how the gaps of bins are combined: "l1", "l2", "debiased", "square", "max" or "within".

        It is the same for any rows, so none are needed.
        """
        return self.gaps(*[np.zeros((1, 1))] * len(self.takes), **options).norm

    @cached_property
    def option_types(self) -> dict[str, inspect.Parameter]:
        """The keyword-only parameters by name."""
        parameters = inspect.signature(self.function).parameters
        return {n: p for n, p in parameters.items() if p.kind is inspect.Parameter.KEYWORD_ONLY}

    @cached_property
    def _hints(self) -> dict[str, Any]:
        """The types of the options; those of statistics are not looked up, as they may be imported for types alone."""
        annotations = {name: parameter.annotation for name, parameter in self.option_types.items()}
        names = getattr(inspect.unwrap(self.function), "__globals__", {})
        return typing.get_type_hints(SimpleNamespace(__annotations__=annotations), names, include_extras=True)

    @cached_property
    def options(self) -> type[BaseModel]:
        """The pydantic model of the options: frozen, strict about unknown keys."""
        required = inspect.Parameter.empty
        fields: dict[str, Any] = {
            name: (self._hints[name], ... if parameter.default is required else parameter.default)
            for name, parameter in self.option_types.items()
        }
        config = ConfigDict(extra="forbid", frozen=True, strict=True)
        check = self.check
        validators: dict[str, Any] = {}

        def agree(options: Any) -> Any:
            fault = None if check is None else check(options)
            if fault is not None:
                raise PydanticCustomError("options_disagree", "{fault}", {"fault": fault})
            return options

        if check is not None:
            validators["agree"] = model_validator(mode="after")(agree)
        return create_model(f"{self.name}_options", __config__=config, __validators__=validators, **fields)

    @cached_property
    def from_spec(self) -> dict[str, str]:
        """The key of the spec that each option falls back to where an entry does not set it."""
        return {name: mark.key for name, mark in self._marks.items()}

    @cached_property
    def alone(self) -> frozenset[str]:
        """The names of options that an entry cannot set: their value comes from a key of the spec alone."""
        return frozenset(name for name, mark in self._marks.items() if mark.alone)

    @cached_property
    def _marks(self) -> dict[str, FromSpec]:
        """The `FromSpec` mark of each option that may take its value from a key of the spec, by the option's name."""
        extras = {name: typing.get_args(hint)[1:] for name, hint in self._hints.items()}
        return {name: mark for name, marks in extras.items() for mark in marks if isinstance(mark, FromSpec)}

    @cached_property
    def is_proportion(self) -> bool:
        """Whether the function returns a `Proportion`, whose trials are the rows that the value is a share of."""
        returned = inspect.signature(self.function).return_annotation
        return self.interval == "proportion" or returned in (Proportion, "Proportion")

    @property
    def averages_items(self) -> bool:
        """Whether the metric is a mean over all items of a benchmark, or a share of them."""
        return self.sees == "items" and self.interval in ("score", "proportion") and "total" in self.takes

    @property
    def of_reportable(self) -> bool:
        """Whether rows in the equivocal zone, which have no predicted class, are left out.

        So for every measure of predicted classes but the share of the rows that have one.
        """
        return self.needs == "labels" and "reportable" not in self.statistics

    @property
    def of_ranks(self) -> bool:
        """Whether the metric depends on how the scores rank the rows, with or without their probabilities."""
        return self.needs == "scores" or "squared_error_after_isotonic" in self.takes

    @property
    def reweighed(self) -> bool:
        """Whether its value at another prevalence is its value with the classes reweighted.

        Not where there are no classes, nor where the prevalence is an option of its own; nor of a test, which assumes
        that each row counts once.
        """
        has_classes = self.sees in ("event", "classes")
        return has_classes and self.interval != "test" and "prevalence" not in self.option_types

    def bounds(self, options: Mapping[str, object]) -> tuple[float, float]:
        """Return the least and the largest possible value under ``options``."""
        return self.range if self.range_of is None else self.range_of(options)

    @property
    def best(self) -> float | None:
        """The best value, or None where neither end is better."""
        return {"maximize": self.range[1], "minimize": self.range[0], "none": None}[self.direction]

    @property
    def definition(self) -> str:
        """The docstring without its formula: what the metric means."""
        text = " ".join(re.sub(r",?\s*\$[^$]*\$", "", inspect.getdoc(self.function) or "").split())
        return text.replace(" .", ".")

    @property
    def formula(self) -> str:
        """The LaTeX formula of the docstring, without dollar signs."""
        formula = re.search(r"\$([^$]*)\$", inspect.getdoc(self.function) or "")
        return " ".join(formula.group(1).split()) if formula else ""


class Advice(NamedTuple):
    """The way out where no metric has a name, if there is one, and what else is to be known of the name."""

    hint: str | None
    notes: tuple[str, ...] = ()


def _normalised(name: str) -> str:
    """Return a name that someone wrote in small letters with underscores, as metrics are named."""
    return name.strip().lower().replace(" ", "_").replace("-", "_")


class Registry:
    """All metrics by canonical name, found by alias too."""

    def __init__(self) -> None:
        """Start empty."""
        self._metrics: dict[str, Metric] = {}
        self._aliases: dict[str, str] = {}
        self._schema: dict[str, Any] | None = None

    def add(self, entry: Metric) -> None:
        """Register a metric; its name and aliases must be new."""
        for name in (entry.name, *entry.aliases):
            if name in self._aliases:
                raise ValueError(f"the metric name {name!r} is taken by {self._aliases[name]!r}")
        self._schema = None
        self._metrics[entry.name] = entry
        self._aliases.update(dict.fromkeys((entry.name, *entry.aliases), entry.name))

    def remove(self, name: str) -> None:
        """Forget a metric and its aliases."""
        self._schema = None
        entry = self._metrics.pop(name)
        for alias in (entry.name, *entry.aliases):
            del self._aliases[alias]

    def __iter__(self) -> Iterator[Metric]:
        return iter(tuple(self._metrics.values()))

    def __contains__(self, name: object) -> bool:
        return name in self._aliases

    def __getitem__(self, name: str) -> Metric:
        """Return the metric of a canonical name or alias; raises KeyError."""
        return self._metrics[self._aliases[name]]

    def closest(self, name: str, task: str = "") -> str | None:
        """Return the known name or alias most like ``name``, if any is close; of another task, its counterpart."""
        guess = closest(_normalised(name), self._aliases)
        if guess is None or not task or task in self[guess].tasks:
            return guess
        return self.counterpart(self[guess].name, task) or guess

    def advice(self, name: str, task: str = "") -> Advice:
        """Return a hint for a metric name that does not exist: the metrics it usually means, or similar names."""
        other = OTHER_NAMES.get(_normalised(name))
        if other is None:
            guess = self.closest(name, task)
            return Advice(f"did you mean '{guess}'?" if guess else None)
        meant = [measure for measure in other.measures if not task or task in self[measure].tasks]
        hint = f"choose {joined(meant, 'or')}" if len(meant) > 1 else f"did you mean '{meant[0]}'?" if meant else None
        if meant and other.expression is not None:
            hint = f"declare it under 'metrics': {{name: {_normalised(name)}, expression: {other.expression}}}"
        return Advice(hint, (f"{_normalised(name)}: {other.meaning}",))

    def counterpart(self, name: str, task: str) -> str | None:
        """Return the metric of a task that corresponds to the metric ``name`` of another task, if there is one."""
        counterparts = next((names for names in COUNTERPARTS if name in names), ())
        return next((measure for measure in counterparts if task in self[measure].tasks), None)

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of one entry of the spec's ``metrics``."""
        if self._schema is None:
            bare = sorted(name for name in self._aliases if not self._required(self[name]))
            self._schema = {"anyOf": [{"enum": bare}, *(self._entry_schema(entry) for entry in self)]}
        return self._schema

    @staticmethod
    def _required(entry: Metric) -> list[str]:
        """Name the options that have neither a default nor a key of the spec to fall back to."""
        empty = inspect.Parameter.empty
        return [n for n, p in entry.option_types.items() if p.default is empty and n not in entry.from_spec]

    def _entry_schema(self, entry: Metric) -> Mapping[str, Any]:
        """Return the JSON Schema of an entry of the spec that asks for this metric, with its options."""
        options = entry.options.model_json_schema()
        return {
            "type": "object",
            "title": entry.title,
            "description": entry.definition,
            "properties": {
                "metric": {"enum": [entry.name, *entry.aliases]},
                **{name: part for name, part in options.get("properties", {}).items() if name not in entry.alone},
                **({"average": AVERAGE} if entry.sees == "event" else {}),
                **({"prevalence": PREVALENCE} if entry.reweighed else {}),
            },
            "required": ["metric", *self._required(entry)],
            "additionalProperties": False,
        }


registry = Registry()
"""Every metric of this process."""


class MetricFacts(TypedDict, total=False):
    """What `metric` is told of a metric."""

    needs: Required[Needs]
    """What a model must provide."""
    direction: Required[Direction]
    """Which way is better."""
    range: Required[tuple[float, float]]
    """The smallest and the largest value that it can have."""
    undefined: Required[str]
    """When there is no value, to follow "undefined: "."""
    ref: Required[str]
    """Its source: author and year, as the bibliography of `card/references.py` has it, or else the full reference."""
    sees: Sees
    """What rows look like to it: "event" one class against the rest (of more classes it is averaged over them),
    "classes" all classes at once, "numbers" a number for truth and prediction, "items" the
    scores of each item."""
    tasks: tuple[Task, ...]
    """The tasks it is for, by default all that have what it sees."""
    interval: Interval | None
    """What is known of its noise: "proportion", the function returns a `Proportion`; "auc", it is the area under the
    ROC curve; "predictive", it comes from sensitivity, specificity and a prevalence; "coefficient", it is one of the
    logistic line; "skewed", a share whose bootstrap error on the logit scale is better than the bootstrap's quantiles;
    "score", a mean over items of numbers in a known range;
    "test", it tests a hypothesis and has no limits; "extreme", an extreme of the rows, which resamples cannot exceed.
    Where noise makes it larger: "gaps" and "squared_gaps", the function returns `Gaps`, for a distance or a squared
    one; "distance" and "squared_distance", any other; "searched" and "searched_square", the largest of many, or fitted
    to follow the rows. "scatter", it returns `Gaps` and noise makes it smaller."""
    aliases: tuple[str, ...]
    """Other names that a spec may use."""
    title: str
    """Its name in tables, by default made of the function's."""
    standard: bool | tuple[Task, ...]
    """Whether it is reported where a spec lists no metrics: of all its tasks, or of those listed."""
    extensive: bool
    """Whether it grows with the number of rows."""
    every_class: bool
    """Whether it is a mean over classes that should all occur."""
    linear: bool
    """Whether its mean over all pairings of truths with predictions is its value at the mean statistics."""
    no_information: float | None
    """That mean, where it is one number for all data."""
    swapped: str | None
    """The metric that it becomes where events and non-events change places, by default itself; None where that is no
    metric here."""
    within_classes: bool
    """Whether it sees rates within each class alone, so that of two classes it is the same at any prevalence."""

    tied_range: Callable[..., tuple[Floats, Floats]]
    """Of the same statistics, the least and the largest value if the rows that share a score were ranked apart, but
    those of the scores that are ``single`` [m]; without it, they are those with the events of each score above its
    other rows, and below them."""
    binned_range: Callable[[BinRanges], tuple[float, float]]
    """The least and the largest value where bins hold what lies in a range; of `Gaps` these are known."""
    even_bins: Callable[[Mapping[str, Any]], int]
    """The number of bins of equal weight that scores are cut into under some options; 0 where they are not."""
    freedom: Callable[..., Floats]
    """Of the same statistics, the degrees of freedom of the chi-squared distribution that a test takes."""
    doubt: Callable[..., Sentence | None]
    """Of the same statistics, why the value cannot be relied on; None where nothing speaks against it."""
    range_of: Callable[[Mapping[str, Any]], tuple[float, float]]
    """The range under some options, where it is not ``range``."""
    matrix: Callable[[Mapping[str, Any], int], tuple[str, Floats]]
    """The name and the values [K, K] of how much each pair of levels counts, from the options and K."""
    from_score: tuple[Literal["direction", "range"], ...]
    """What the spec's `score` gives of a measure of items: its direction, where the measure is better as scores are,
    and its range, where its values are scores."""
    check: Callable[[Any], str | None]
    """What is wrong with options that do not fit each other, or None."""


def metric(**facts: Unpack[MetricFacts]) -> Callable[[Callable[..., Any]], Metric]:
    """Declare the decorated function as a metric under its own name; raises ValueError when a name is taken."""
    tasks, standard = facts.get("tasks", SEEN[facts.get("sees", "event")]), facts.get("standard", False)
    if not isinstance(standard, tuple):
        standard = tasks if standard else ()

    def declare(function: Callable[..., Any]) -> Metric:
        title = function.__name__.replace("_", " ").capitalize()
        defaults = {"title": title, "swapped": function.__name__}
        complete: dict[str, Any] = {**defaults, **facts, "tasks": tasks, "standard": standard}
        entry = Metric(name=function.__name__, function=function, **complete)
        registry.add(entry)
        return entry

    return declare
