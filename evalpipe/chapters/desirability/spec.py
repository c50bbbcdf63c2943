"""Desirability: goals on a scale from 0 to 1, and a table of candidates of tuning that they rank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StrictStr, model_serializer, model_validator

from evalpipe.base.records import UNWRITTEN, After
from evalpipe.metrics import registry
from evalpipe.spec.datasets import Csv
from evalpipe.spec.field_types import (
    EMPTY_AS_ABSENT,
    ColumnName,
    Encoding,
    Excludes,
    FilePath,
    Number,
    OneOrMore,
    Positive,
    Probability,
    Sparse,
    SpecPart,
    Unique,
)
from evalpipe.spec.measures import MetricChoice, canonical_name

KINDS = ("minimize", "maximize", "target", "box", "category", "custom")
"""The forms of a goal, of which it has one."""

KEYS = ("characteristic", *KINDS, "weight", "missing")
"""The keys of a goal that are not of its measure."""


class Ramp(SpecPart):
    """Two limits, and how the desirability goes from one to the other."""

    low: Number
    """The lower limit."""
    high: Number
    """The upper limit."""
    scale: Positive = 1.0
    """The power between the limits: 1 is a straight line, above 1 the goal is harder to satisfy, below 1 easier."""


class Target(SpecPart):
    """A value to be met, and the limits beyond which nothing is acceptable."""

    low: Number
    """Up to here the desirability is 0."""
    target: Number
    """Here it is 1."""
    high: Number
    """From here on it is 0."""
    scale_low: Positive = 1.0
    """The power from `low` to `target`; above 1 is harder."""
    scale_high: Positive = 1.0
    """The power from `target` to `high`; above 1 is harder."""


class Box(SpecPart):
    """What is acceptable, all of it alike."""

    low: Number
    """The lowest acceptable value."""
    high: Number
    """The highest acceptable value."""


class Custom(SpecPart):
    """Points joined by straight lines."""

    values: Annotated[tuple[Number, ...], Field(min_length=2)]
    """The values, ascending."""
    desirability: Annotated[tuple[Probability, ...], Field(min_length=2)]
    """The desirability of each, 0 to 1."""
    extrapolate: Literal["clamp", "zero", "error"] = "clamp"
    """Beyond the ends: `clamp`, the desirability of the nearest end; `zero`, 0; `error`, the run ends with an error
    where a model's value lies there."""


class GoalRule(SpecPart):
    """One goal: of a measure or a characteristic, in one of six forms."""

    model_config = ConfigDict(title="Goal")

    metric: MetricChoice | None = None
    """The measure, with its options and `average` beside it as in `metrics`; or else a characteristic."""
    characteristic: StrictStr | None = None
    """The characteristic, by its key under `characteristics` of the models."""
    minimize: Ramp | None = None
    """Desirability 1 up to `low`, 0 from `high` on."""
    maximize: Ramp | None = None
    """Desirability 0 up to `low`, 1 from `high` on."""
    target: Target | None = None
    """Desirability 1 at `target`, 0 at `low` and `high` and beyond."""
    box: Box | None = None
    """Desirability 1 from `low` to `high`, both included, 0 outside."""
    category: Annotated[dict[StrictStr, Probability], Field(min_length=1)] | None = None
    """The desirability of each level of a characteristic; every model's level is among them."""
    custom: Custom | None = None
    """Points joined by straight lines."""
    weight: Positive = 1.0
    """How much the goal counts against the others, in the exponent of the geometric mean."""
    missing: Probability | None = None
    """The desirability of a value that does not exist. Without it an undefined measure leaves the overall desirability
    undefined, and a model that lacks a characteristic is an error."""

    @model_validator(mode="before")
    @classmethod
    def gathered(cls, value: object) -> object:
        """Move the options of the measure, which a spec writes beside the goal's keys, to the measure."""
        if not isinstance(value, Mapping) or "metric" not in value or isinstance(value["metric"], MetricChoice | None):
            return value
        measure = {key: item for key, item in value.items() if key not in KEYS}
        return {key: item for key, item in value.items() if key in KEYS} | {"metric": measure}

    @model_serializer(mode="wrap")
    def _written(self, handler: Any) -> dict[str, Any]:
        """Return the goal as a spec has it: options of its measure beside its keys, and no key without a value."""
        keys = {key: item for key, item in handler(self).items() if item is not None}
        measure = keys.pop("metric", {})
        return {**({"metric": measure} if isinstance(measure, str) else measure), **keys}

    @property
    def kinds(self) -> list[str]:
        """The forms that the goal is written in; a valid goal has exactly one."""
        return [kind for kind in KINDS if getattr(self, kind) is not None]

    @property
    def kind(self) -> str:
        """The form that the goal has."""
        return self.kinds[0]

    @property
    def shape(self) -> Any:
        """The limits, points or levels of the goal's form."""
        return getattr(self, self.kind)

    @property
    def name(self) -> str:
        """What the goal is called in results: "minimize brier", "maximize f_beta (beta=2)".

        Options are named where they are not the usual ones, so that a resolved spec gives the same names.
        """
        if self.metric is None:
            return f"{self.kind} {self.characteristic}"
        if self.metric.metric not in registry:  # an expression, which has no options
            return f"{self.kind} {self.metric.metric}"
        entry = registry[self.metric.metric]
        usual = {name: option.default for name, option in entry.option_types.items()}
        usual = {"average": "macro", "prevalence": "sample"} | usual
        options = dict(self.metric.options)
        options |= {"average": average for average in self.metric.averages}  # noqa: B035 - there is one at most
        options |= {"prevalence": share for share in self.metric.prevalences if share != "sample"}  # noqa: B035 - the same
        unusual = ", ".join(
            f"{name}={item:g}" if isinstance(item, int | float) and not isinstance(item, bool) else f"{name}={item}"
            for name, item in sorted(options.items()) if item != usual[name]
        )
        return f"{self.kind} {entry.name}{f' ({unusual})' if unusual else ''}"


def goal_names(goals: tuple[GoalRule, ...]) -> tuple[str, ...]:
    """Return a distinct name for each goal: "(characteristic)" marks one that is called like a measure."""
    measured = {goal.name for goal in goals if goal.metric is not None}
    return tuple(
        f"{goal.name} (characteristic)" if goal.metric is None and goal.name in measured else goal.name
        for goal in goals
    )


class LongTable(Sparse):
    """A table with a row for each candidate and measure, as tune's `collect_metrics()` in R returns."""

    metric: ColumnName
    """The column that names the measure of the row, such as `.metric`."""
    value: ColumnName
    """The column that holds its value, such as `mean`."""
    std_err: ColumnName | None = None
    """The column that holds the standard error of the value, such as `std_err`."""


class CandidateTable(Sparse):
    """Candidates with their finished metrics."""

    path: FilePath
    """A file, a folder or a glob, relative to the file it is written in: csv, csv.gz, tsv, parquet, ipc/feather,
    ndjson. A row is a candidate, or with `long` one measure of a candidate."""
    id: Annotated[
        tuple[ColumnName, ...], OneOrMore(), Field(min_length=1),
        Unique("duplicate-column", "the column {} is listed twice"),
    ]
    """The column, or the list of columns, that tell one candidate from another, such as its tuning parameters."""
    where: Annotated[StrictStr, Field(min_length=1)] | None = None
    """A condition in SQL on the columns; only rows that meet it are used. See [Conditions](#conditions)."""
    encoding: Encoding | None = None
    """The encoding of csv and tsv files, where it is not UTF-8."""
    csv: Csv | None = None
    """How csv and tsv files are written."""
    columns: dict[StrictStr, ColumnName] = Field(default_factory=dict)
    """The column of a measure or a characteristic, by its name in the goals; with `long`, the measure's name in the
    column `metric`. Without it, a goal is of the column that is called as its measure, or by an alias of it, or as its
    characteristic."""
    std_err: Annotated[
        dict[StrictStr, ColumnName],
        Excludes(("long",), "two-tables", "a table with a row for each measure has one column of standard errors",
                 "name it as 'std_err' under 'long'"),
    ] = Field(default_factory=dict)
    """The column of the standard error of a measure or a characteristic, by its name in the goals. The card then says
    which candidates lie within one standard error of the best; without any, it does not say which differences are
    noise."""
    long: LongTable | None = None
    """The columns of a table that has a row for each candidate and measure. A characteristic is a column of its own,
    with one value for each candidate, or is named in the column `metric` too."""
    pareto: Annotated[tuple[StrictStr, ...], Field(json_schema_extra={"minItems": 2, "maxItems": 2})] | None = None
    """The two goals of the Pareto figure, by measure or characteristic; without it, the two of the largest weight."""


def goal_subject(goal: GoalRule) -> str:
    """Return what a goal judges: the canonical name of its metric, or its characteristic; empty if it has neither."""
    return (goal.characteristic or "") if goal.metric is None else canonical_name(goal.metric.metric)


class DesirabilityKeys(SpecPart):
    """Keys of a spec."""

    desirability: Annotated[tuple[GoalRule, ...] | None, After("reference_rates"), EMPTY_AS_ABSENT] = None
    """Goals, each a measure or a characteristic on a scale from 0, unacceptable, to 1; their weighted geometric mean
    ranks the models. The measures are listed among the metrics."""
    candidates: Annotated[CandidateTable | None, After("desirability"), UNWRITTEN] = None
    """A table of candidates with finished metrics, such as the grid of a tuning, which the goals of `desirability`
    rank. A spec of candidates alone needs no predictions: it has neither `outcome` nor `datasets` nor `models`."""

    @property
    def names_of_goals(self) -> tuple[str, ...]:
        """The names of the goals; none where one of them has no name yet, which is told elsewhere."""
        goals = self.desirability or ()
        try:
            return goal_names(goals) if all(goal.kinds for goal in goals) else ()
        except KeyError:  # a measure or an option that does not exist
            return ()
