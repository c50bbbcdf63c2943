"""The key of labels: how rows came to have an outcome, who judges the rest, and what is made of both."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictStr

from evalpipe.base.records import UNWRITTEN, After
from evalpipe.spec.field_types import (
    ColumnName,
    Day,
    Days,
    Excludes,
    OneOrMore,
    Only,
    Refers,
    Sparse,
    SpecPart,
    Unique,
)

LabelMethod = Literal["known_only", "weighted", "prediction_powered"]


class Selection(Sparse):
    """How rows were chosen for their outcome, where not all had the same chance."""

    probability: Annotated[ColumnName | None, Excludes(
        ("strata",), "two-selections", "'selected' has a probability, and strata too", "keep one of the two")] = None
    """The column with the probability, above 0, with which a row was chosen to have its outcome found out."""
    strata: Annotated[Annotated[tuple[ColumnName, ...], Field(min_length=1), OneOrMore()] | None, Unique(
        "duplicate-stratum", "the column {} of strata is listed twice")] = None
    """The columns whose combinations are the strata: within each, rows with an outcome are a random part."""


class Judge(Sparse):
    """Who labels rows: a column of classes, a column of probabilities, or a model of the spec."""

    column: ColumnName | None = None
    """The column with the class that the judge gives each row."""
    probability: Annotated[ColumnName | None, Excludes(
        ("column", "model"), "two-judges", "a judge has one of 'column', 'probability' and 'model'",
        "make an entry of each")] = None
    """The column with the judge's probability of the event, from 0 to 1."""
    model: Annotated[StrictStr | None, Refers("model"), Excludes(
        ("column",), "two-judges", "a judge has one of 'column', 'probability' and 'model'",
        "make an entry of each")] = None
    """The name of a model of the spec, whose probability of the event judges."""


class Arrival(Sparse):
    """When outcomes become known, where that is days after their rows."""

    column: ColumnName
    """The column with the day on which the outcome of a row became known, empty where it has not."""
    since: ColumnName
    """The column with the row's own day, from which on its outcome is waited for."""
    within: Days
    """The days after its own day from which on a row is settled, such as `45d`: an outcome that is not known by then is
    not waited for. Outcomes of rows that are not settled do not count, for those that come early may be others."""
    known_by: Day | None = None
    """The last day whose outcomes count as known; that of the card where absent. A later day is for a night that is run
    again when its outcomes have arrived: it stays the night of its `as_of`."""


class Labels(Sparse):
    """What is known of the outcome, and how the rest is judged."""

    selected: Literal["random"] | Selection
    """How rows came to have an outcome: `random`, as a random part of all rows; `{probability: COLUMN}`; or
    `{strata: [COLUMN, …]}`, as a random part of each stratum. Required, never guessed."""
    judge: Annotated[Annotated[tuple[Judge, ...], Field(min_length=1), OneOrMore()] | None, Unique(
        "duplicate-judge", "the judge {} is listed twice")] = None
    """Who labels all rows, those with an outcome too: `{column: COLUMN}` of classes, `{probability: COLUMN}` of the
    event, or `{model: NAME}`, a model of the spec; or a list of such."""
    method: LabelMethod | None = None
    """`known_only`: rows with an outcome alone. `weighted`: these, each weighted by 1 / its probability of being
    chosen. `prediction_powered`: these, and the judge's labels of all rows, corrected by the rows with an outcome.
    Where absent: `prediction_powered` with a judge, else `known_only` of a random part, else `weighted`."""

    arrive: Arrival | None = None
    """When outcomes become known: those known later than the day of the card count as not known. Rows that are not
    settled on that day count by the labels of judges alone; without a judge they are left out. It needs `as_of`."""

    @property
    def used_method(self) -> LabelMethod:
        """The method, which the other keys give where the spec names none."""
        if self.method is not None:
            return self.method
        if self.judge:
            return "prediction_powered"
        return "known_only" if self.selected == "random" else "weighted"

    @property
    def chance(self) -> str | None:
        """The column of the probability of being chosen; None without one."""
        return None if isinstance(self.selected, str) else self.selected.probability

    @property
    def strata(self) -> tuple[str, ...]:
        """The columns of the strata; empty without any."""
        return () if isinstance(self.selected, str) else self.selected.strata or ()

    @property
    def reweights(self) -> bool:
        """Whether rows with an outcome weigh unequally, as they are no random part of all rows."""
        return self.selected != "random"


class LabelsKeys(SpecPart):
    """Keys of a spec."""

    labels: Annotated[Labels | None, After("outcome"), Only("binary"), UNWRITTEN] = None
    """What is known of the outcome where some evaluated rows have none: how rows came to have it, and who judges the
    others. Without this key a row without an outcome is an error. See [Labels](labels.md)."""
