"""The records of what is different since the run before."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from evalpipe.base.records import UNWRITTEN, Measured, Record


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


class SinceFields(Record):
    """What the results hold of it."""

    since: Annotated[Since | None, UNWRITTEN] = None
    """What is different since the run before; absent where the ledger has none."""
