"""The records of the trend, its nights and a line of each measure over them, and of what is new since the last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from evalpipe.base.records import UNWRITTEN, DescribedRow, Measured, OfModel, Record, Scalar, Subject
from evalpipe.words.sentences import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date


class TrendNight(DescribedRow):
    """An earlier night, as the ledger has it."""

    absent: ClassVar[tuple[str, ...]] = ("unsettled",)

    as_of: str
    """The day that it is about."""
    results_sha256: str
    """The hash of its `results.json`."""
    unsettled: dict[str, int] | None = None
    """How many rows of each dataset were not settled in that run, where outcomes come late; absent where all were."""


class TrendLine(OfModel):
    """A measure of a model night by night: each list has the earlier nights, oldest first, and tonight as the last.

    Null stands where a night has no such number.
    """

    metric: str
    params: dict[str, Scalar]
    average: str | None = None
    value: list[float | None]
    lower: list[float | None]
    upper: list[float | None]
    standard_error: list[float | None]
    """Half the width of each interval over the normal quantile of its level."""
    n: list[int | None]
    """The observations in its own denominator."""
    centre: float | None = None
    """The mean of the nights that limits are made of, each weighted by how precise it is; null without limits."""
    between: float | None = None
    """The standard deviation between the nights, beyond what their intervals explain; null without limits."""
    autocorrelation: float | None = None
    """That of each night that limits are made of with the next; null without limits."""
    autocorrelation_p_value: float | None = None
    """One-sided, of the test that nights are not alike one after the other."""
    dispersion: float | None = None
    """How much wider the variation between nights makes the limits of tonight than sampling alone: 1 where intervals
    explain all of it. Null without limits."""
    counted: int = 0
    """How many nights the centre and the limits are made of, or could be."""
    limit_lower: list[float | None] = Field(default_factory=list)
    limit_upper: list[float | None] = Field(default_factory=list)
    """The control limits of each night, which depend on its size; empty without limits."""
    position: Literal["within", "above", "below"] | None = None
    """Where tonight lies; null without limits, or where tonight has no value."""
    run: int = 0
    """How many nights in a row lie on one side of the centre, tonight the last of them."""
    reason: Sentence | None = None
    """Why there are no limits."""

    def is_of(self, subject: Subject) -> bool:
        """Tell whether a gate is on this measure, of all rows and classes."""
        return subject.slice is None and subject.class_ is None and (
            self.dataset, self.model, self.variant, self.metric, self.params, self.average) == (
            subject.dataset, subject.model, subject.variant, subject.metric, subject.params, subject.average)


class Trend(Record):
    """Measures over nights."""

    nights: list[TrendNight] = Field(default_factory=list)
    """The earlier nights, oldest first: of each day the run that was recorded last when this one ran."""
    sha256: str | None = None
    """The hash of the earlier nights with their numbers, in canonical JSON; null where no ledger was read."""
    sigma: float | None = None
    """How many standard errors the limits are from the centre; null where none were asked for."""
    min_nights: int | None = None
    """The fewest nights that make limits."""
    baseline: tuple[str, str] | None = None
    """The first and the last day of the nights that limits are made of; null where those are all earlier nights."""
    shown: int = 0
    """How many of the earlier nights the figure shows, the newest; the others are of the baseline alone."""
    shift: int | None = None
    """How many nights in a row on one side of the centre are a shift; null where that is not asked."""
    lines: list[TrendLine] = Field(default_factory=list)

    def unsettled_days(self, days: Sequence[date], *, tonight: bool) -> list[date]:
        """Return those of the last ``days``, tonight the last, whose nights had rows that were not settled."""
        nights = self.nights[len(self.nights) - len(days) + 1 :]
        flags = [*(night.unsettled is not None for night in nights), tonight]
        return [day for day, is_unsettled in zip(days, flags, strict=True) if is_unsettled]


class DatasetBefore(Record):
    """A dataset of the run before."""

    dataset: str
    rows: int
    """The observations that were used."""
    events: int | None
    """The events among them, of a binary outcome."""


class ChangedMeasure(Measured):
    """A measure on all rows of a dataset, and what it was in the run before."""

    before: float
    """Its value then."""
    distance: float
    """Its change as a multiple of what the intervals of both runs explain: the root of the sum of their squared arms
    towards each other, as of two independent samples. Above 1 the change is more than that."""


class ChangedKey(Record):
    """A key of the resolved spec that is new, gone or different: of the first level, or of the second in a mapping."""

    key: str
    change: Literal["new", "gone", "changed"]
    added: int = 0
    """Of a list in both runs: how many of its entries are new or different."""
    removed: int = 0
    """Of a list in both runs: how many of its entries before are gone or different."""


class Since(Record):
    """The run before, by the ledger, and what is different now.

    With a day that is the latest night before it; without one, the last run to the same folder of another spec, other
    data or other numbers.
    """

    as_of: str | None
    """The day that the run before is about."""
    results_sha256: str | None
    """The hash of its `results.json`; null with a day, so that the order in which nights are run changes no byte."""
    evalpipe_version: str
    same_files: bool | None
    """Whether it read the same files; null where some data were in memory."""
    datasets: list[DatasetBefore] | None
    """Its datasets; null where the ledger of an earlier version does not have them."""
    compared: int
    """How many measures on all rows have an interval in both runs."""
    unchanged: int
    """How many of these have the same value."""
    moved: int
    """How many of these moved by more than the intervals of both runs explain."""
    measures: list[ChangedMeasure] = Field(default_factory=list)
    """Those that moved most, the first the farthest: all of `moved`, at most three; else the one that moved most."""
    spec: list[ChangedKey] | None
    """The keys of the spec that are different, but for `as_of`; null where the ledger of an earlier version does not
    have them."""


class TrendFields(Record):
    """What the results hold of it."""

    trend: Trend = Trend.model_construct()
    """Measures over nights, this one the last."""
    since: Annotated[Since | None, UNWRITTEN] = None
    """What is different since the run before; absent where the ledger has none."""
