"""The trend: which measures, how many nights, and what control limits are made of."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Discriminator, Field, StrictBool, StrictInt, Tag

from evalpipe.base.records import UNWRITTEN, After
from evalpipe.spec.field_types import AnyOf, Day, Number, Sparse, SpecPart
from evalpipe.spec.measures import MeasureOfSpec

NIGHTS, MIN_NIGHTS, SIGMA = 90, 20, 3
"""Earlier nights that are read, the fewest that make limits, and how far these are from the centre, where not said."""

MOST_NIGHTS = 3660
"""Nights of ten years, the most that are read."""


class Period(SpecPart):
    """The days from the first to the last, both among them."""

    first: Day
    """The first day, such as 2026-01-01."""
    last: Day
    """The last day."""


class Control(Sparse):
    """What control limits are made of."""

    baseline: Period | None = None
    """The days whose nights give the centre and the limits. All earlier nights of the trend where absent."""
    min_nights: Annotated[StrictInt, Field(ge=2, le=MOST_NIGHTS)] = MIN_NIGHTS
    """The fewest nights that make limits; with fewer there are none, and the card says so."""
    sigma: Annotated[Number, Field(gt=0, le=10)] = SIGMA
    """How many standard errors the limits are from the centre."""
    run: Annotated[StrictInt, Field(ge=5, le=100)] | None = None
    """How many nights in a row on one side of the centre make a shift, this night the last of them; 8 is the rule of
    Western Electric. Without this key no finding names a shift."""

    @property
    def period(self) -> tuple[str, str] | None:
        """The first and the last day of the nights that give limits; None where they are all earlier nights."""
        return None if self.baseline is None else (self.baseline.first, self.baseline.last)


def _form(value: object) -> str:
    """Return the form that a setting seems meant in, a flag or a mapping: pydantic checks that form alone."""
    return "a flag" if value is None or isinstance(value, bool) else "a mapping"


class TrendRule(Sparse):
    """The figure of measures over nights."""

    model_config = ConfigDict(title="Trend")

    metrics: Annotated[tuple[MeasureOfSpec, ...], Field(min_length=1)] | None = None
    """The measures, each a name, or a mapping of a name and its options. Those of the gates where absent, or without
    gates the first four of `metrics`. Each has one value for a model: no measure of single classes."""
    nights: Annotated[StrictInt, Field(ge=1, le=MOST_NIGHTS)] = NIGHTS
    """The most earlier nights that are read, the newest; those of the baseline come on top."""
    control: Annotated[
        Annotated[StrictBool, Tag("a flag")] | Annotated[Control, Tag("a mapping")], Discriminator(_form), AnyOf()
    ] = True
    """Control limits: `false` for none, or a mapping of what they are made of."""

    @property
    def limits(self) -> Control | None:
        """The settings of the control limits; None where the spec wants none."""
        return Control() if self.control is True else self.control or None


TrendKey = Annotated[
    Annotated[StrictBool, Tag("a flag")] | Annotated[TrendRule, Tag("a mapping")], Discriminator(_form), AnyOf()]
"""`true` for the usual trend, or a mapping; `false` for none."""


class TrendKeys(SpecPart):
    """Keys of a spec."""

    trend: Annotated[TrendKey, After("gates"), UNWRITTEN] = False
    """Measures over nights: `true`, or a mapping with `metrics`, `nights` and `control`. The card then shows this night
    after the earlier nights of the same `name` that the ledger has, with control limits. It needs `as_of`. See
    [trend.md](trend.md)."""

    @property
    def asked_trend(self) -> TrendRule | None:
        """The trend that the spec asks for, with its defaults where that is `true`; None for none."""
        return TrendRule() if self.trend is True else self.trend or None
