"""Slices of the evaluated rows, and what is asked of them.

A slice is the rows that share a level of a column, an interval of a number, a period of time, a combination of these,
or a condition.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, RootModel, StrictInt, StrictStr, Tag

from evalpipe.base.levels import PeriodLength
from evalpipe.base.records import After
from evalpipe.spec.field_types import EMPTY_AS_ABSENT, AnyOf, ColumnName, IdleWithout, Level, Name, Number, SpecPart
from evalpipe.spec.measures import MeasureOfSpec, MetricName

DISPARITIES = {
    "demographic_parity": ("detection_prevalence",),
    "equal_opportunity": ("sensitivity",),
    "equalized_odds": ("sensitivity", "false_positive_rate"),
}
"""The disparities with names of their own, and the measures that each is of: all of the predicted classes of two
levels. Any other disparity is named as its measure is."""


class Cut(SpecPart):
    """A column of numbers, cut into intervals."""

    column: ColumnName
    """The column that holds the numbers."""
    cuts: Annotated[tuple[Number, ...], Field(min_length=1)]
    """Where an interval begins, in ascending order: `[5, 10]` makes "< 5", "5 to < 10" and ">= 10"."""


class DatePeriod(SpecPart):
    """A column of dates or times, by the period of time that each is in."""

    column: ColumnName
    """The column that holds the dates or times."""
    by: PeriodLength
    """How long a period is: `day` makes "2026-03-05", `week` (ISO 8601, from Monday on) "2026-W10", `month` "2026-03",
    `quarter` "2026-Q1" and `year` "2026". A time counts on its day: with a zone, the day in that zone; of a text, the
    day that is written. See [Slices by period](methods.md#slices-by-period)."""


class Expression(SpecPart):
    """The rows that meet a condition, as one slice."""

    where: Annotated[StrictStr, Field(min_length=1)]
    """A condition in SQL on the columns of the dataset. A missing value, null or NaN, meets none: see
    [Conditions](#conditions)."""
    name: Name
    """The name of the slice."""


def _slicing_form(value: object) -> str:
    """Return the form that a slicing seems meant in, such as "a cut": pydantic then checks that form alone."""
    if isinstance(value, list | tuple):
        return "an intersection"
    if not isinstance(value, Mapping | BaseModel):
        return "a column"
    keys = set(value if isinstance(value, Mapping) else type(value).model_fields)
    if "where" in keys or ("name" in keys and "column" not in keys):
        return "an expression"
    return "a period" if "by" in keys else "a cut"


def _column_form(value: object) -> str:
    """Return the form that a part of a combined slicing seems meant in: a column, a cut or a period."""
    return form if (form := _slicing_form(value)) in ("a cut", "a period") else "a column"


SliceColumn = Annotated[
    Annotated[ColumnName, Tag("a column")] | Annotated[Cut, Tag("a cut")] | Annotated[DatePeriod, Tag("a period")],
    Discriminator(_column_form),
    AnyOf(),
]
"""A column by its levels, by intervals of its numbers, or by periods of its dates."""


class SlicingRule(
    RootModel[
        Annotated[
            Annotated[ColumnName, Tag("a column")]
            | Annotated[Cut, Tag("a cut")]
            | Annotated[DatePeriod, Tag("a period")]
            | Annotated[Expression, Tag("an expression")]
            | Annotated[tuple[SliceColumn, ...], Field(min_length=1), Tag("an intersection")],
            Discriminator(_slicing_form),
            AnyOf(),
        ]
    ]
):
    """One way to slice: a column, a column with `cuts` or with `by`, a list of these, or a condition with a `name`."""

    model_config = ConfigDict(title="Slicing", frozen=True)

    @property
    def expression(self) -> Expression | None:
        """The condition, where the slice is one."""
        return self.root if isinstance(self.root, Expression) else None

    @property
    def parts(self) -> tuple[str | Cut | DatePeriod, ...]:
        """The columns, cuts and periods that are combined, in order; none of a condition."""
        if isinstance(self.root, Expression):
            return ()
        return self.root if isinstance(self.root, tuple) else (self.root,)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order; none of a condition, whose columns are known where the data are."""
        return tuple(part_column(part) for part in self.parts)

    @property
    def title(self) -> str:
        """The name shown: "season", "season × habitat", or that of the condition."""
        return self.root.name if isinstance(self.root, Expression) else " × ".join(self.columns)


def part_column(part: str | Cut | DatePeriod) -> str:
    """Return the name of the column of a part of a slicing, be it a plain column, with cuts, or of dates."""
    return part if isinstance(part, str) else part.column


class SliceRules(SpecPart):
    """What holds for all slices."""

    min_rows: Annotated[StrictInt, Field(ge=1)] = 30
    """Slices with fewer rows are shown without numbers."""
    max_levels: Annotated[StrictInt, Field(ge=2, le=10_000)] = 50
    """A column with more levels or periods than this is refused as a slice; cut a column of numbers, and take longer
    periods of dates."""
    reference: Annotated[
        Annotated[Literal["overall", "rest"], Tag("a word")]
        | Annotated[dict[StrictStr, Level], Field(min_length=1), Tag("levels")],
        Discriminator(lambda value: "levels" if isinstance(value, Mapping) else "a word"),
        AnyOf(),
    ] = "overall"
    """What a slice is compared with: `overall`, all rows; `rest`, the rows outside it; or a mapping of column to
    level, for slices by that column alone. Other slices are then compared with all rows."""
    disparities: Annotated[tuple[MetricName, ...] | None, EMPTY_AS_ABSENT] = None
    """The disparities to report: `demographic_parity`, `equal_opportunity`, `equalized_odds` (binary outcomes), or
    names of measures of this evaluation."""


class WorstSlices(SpecPart):
    """A bounded search for the slices in which a measure is worst."""

    metric: MeasureOfSpec
    """The measure: a name, or a mapping of a name and its options."""
    columns: Annotated[tuple[SliceColumn, ...], Field(min_length=1)]
    """The columns to combine: names, or columns with `cuts` or with `by`."""
    depth: Annotated[StrictInt, Field(ge=1, le=3)] = 2
    """How many columns are combined at most."""
    top: Annotated[StrictInt, Field(ge=1, le=50)] = 10
    """How many slices are shown."""


class SlicesKeys(SpecPart):
    """Keys of a spec."""

    slices: Annotated[tuple[SlicingRule, ...] | None, After("steps"), EMPTY_AS_ABSENT] = None
    """The slices in which every measure is given as well: columns, columns of numbers with `cuts`, columns of dates
    with `by`, lists of these for their combinations, and conditions. Rows whose value is missing (null or NaN) are the
    slice `(missing)`, rows with the empty text `(empty)`; a level that is called so is shown in double quotes."""
    slice_rules: Annotated[SliceRules, IdleWithout("slices", "worst_slices", "folds")] = SliceRules()
    """What holds for all slices."""
    worst_slices: WorstSlices | None = None
    """A bounded search for the slices in which a measure is worst."""
