"""The columns of labels: which rows have an outcome, what judges say of each row, and how rows were chosen."""

from __future__ import annotations

from datetime import date
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalpipe.base.lazy_polars import pl
from evalpipe.chapters.labels.plan import labels_plan
from evalpipe.data.columns import fill_hint, read_dates, read_once, refuse
from evalpipe.data.sample import KnownRows
from evalpipe.data.values import days, noun, rows_have, shown, sql_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.base.origin import Loc
    from evalpipe.chapters.labels.plan import ArrivalPlan, LabelsPlan
    from evalpipe.data.columns import Columns

HERE: Loc = ("labels",)

SMALLEST_CHANCE = 1e-6
"""The smallest probability of being chosen: a row chosen with less would stand for more than a million others."""


def declared_labels(columns: Columns) -> LabelsPlan | None:
    """Return what is known of the outcome of a dataset's rows; None where every row has to have one."""
    return columns.rows.plan.part(labels_plan) if columns.rows.dataset.role == "evaluate" else None


def judge_columns(columns: Columns) -> Iterator[tuple[str, Loc]]:
    """Yield the column of each judge that gives classes, with the key that names it."""
    labels = declared_labels(columns)
    yield from ((judge.name, judge.loc) for judge in (() if labels is None else labels.judges)
                if judge.kind == "column")


def check_labels(columns: Columns) -> None:
    """Check the labels of judges and the probabilities of being chosen; at least one row must have an outcome."""
    labels, truth = declared_labels(columns), columns.truth
    if labels is None or truth is None:
        return
    known = truth.is_not_null()
    if not known.any():
        arrive = labels.arrive
        settled = "" if arrive is None else f" that was settled by {arrive.known_by}"
        message = f"no row of {columns.rows.called}{settled} has an outcome in column '{truth.name}'"
        hint = ("a judge alone is no evidence: find out the outcome of some rows" if arrive is None else
                f"wait until some rows are {arrive.within} days old and their outcomes are known")
        columns.report("no-outcome", message, ("outcome", "column"), hint)
    for judge in (judge for judge in labels.judges if judge.kind == "probability"):
        values = read_once(columns, judge.name, judge.loc, "missing-label", "label of the judge")
        if values is not None:
            outside = (~values.is_between(0, 1)).fill_null(value=False)
            refuse(columns, judge.name, judge.loc, outside, "probability-range",
                   f"not {noun(outside, 'probability')} from 0 to 1", "give the judge's probability of the event")
    if labels.chance is not None:
        _check_chances(columns, labels.chance)


class _Arrivals(NamedTuple):
    """The row's own day, that on which its outcome became known, and whether the row is settled; each [n]."""

    since: pl.Series
    known_on: pl.Series
    settled: pl.Series


def _arrivals(columns: Columns, arrive: ArrivalPlan) -> _Arrivals:
    since, known_on = (days(columns.rows.frame[column]) for column in (arrive.since, arrive.column))
    age = pl.lit(date.fromisoformat(arrive.known_by)) - since
    return _Arrivals(since, known_on, pl.select(age.dt.total_days() >= arrive.within).to_series())


def count_arrived(columns: Columns) -> None:
    """Take outcomes that came after the day of the card, and those of rows that are not settled, for unknown.

    Reports days that are missing or in a wrong order.
    """
    labels, truth = declared_labels(columns), columns.truth
    if labels is None or labels.arrive is None or truth is None:
        return
    arrive, loc = labels.arrive, (*HERE, "arrive")
    if any([read_dates(columns, arrive.since, (*loc, "since")) is None,
            read_dates(columns, arrive.column, (*loc, "column")) is None]):
        return
    arrivals, outcome = _arrivals(columns, arrive), columns.rows.plan.outcome.column
    _check_days(columns, arrive, arrivals, truth)
    counts = (arrivals.known_on <= date.fromisoformat(arrive.known_by)).fill_null(value=False) & arrivals.settled
    columns.levels[outcome] = truth.set(~counts.fill_null(value=False), None)


def _check_days(columns: Columns, arrive: ArrivalPlan, arrivals: _Arrivals, truth: pl.Series) -> None:
    """Report rows without a day, of a day after that of the card, and outcomes without a day or before their row's."""
    loc, as_of = (*HERE, "arrive"), date.fromisoformat(str(columns.rows.plan.as_of))
    frame, outcome = columns.rows.frame, columns.rows.plan.outcome.column
    day = "'${date}'" if frame[arrive.since].dtype == pl.String else "DATE '${date}'"
    later = (arrivals.since > as_of).fill_null(value=False)
    undated = truth.is_not_null() & arrivals.known_on.is_null()
    early = (arrivals.known_on < arrivals.since).fill_null(value=False)
    for mask, code, what, key, hint in (
        (arrivals.since.is_null(), "missing-day", f"no day in column '{arrive.since}'", "since",
         fill_hint(columns.rows, arrive.since, (*loc, "since"))),
        (later, "later-row", f"a day in column '{arrive.since}' after that of the card, {as_of}", "since",
         f'leave them out with where: "{sql_name(arrive.since)} <= {day}"'),
        (undated, "missing-day", f"an outcome in column '{outcome}', and no day in '{arrive.column}'", "column",
         "give the day on which it became known, or leave the outcome empty"),
        (early, "early-outcome", f"an outcome that became known before the row's own day in '{arrive.since}'", "column",
         "'since' is the row's own day, and 'column' that on which its outcome became known"),
    ):
        if mask.any():
            column = arrive.since if key == "since" else arrive.column
            columns.report(code, f"{rows_have(mask)} {what}", (*loc, key), hint, mask=mask,
                           values=frame[column].cast(pl.String))


def _check_chances(columns: Columns, column: str) -> None:
    """Check that every row had a chance, a probability above 0, of being chosen for its outcome."""
    loc: Loc = (*HERE, "selected", "probability")
    values = read_once(columns, column, loc, "missing-chance", "probability of being chosen")
    if values is None:
        return
    outside = (~values.is_between(SMALLEST_CHANCE, 1)).fill_null(value=False)
    refuse(columns, column, loc, outside, "probability-range",
           f"not {noun(outside, 'probability')} from {SMALLEST_CHANCE:g} to 1",
           "a row that could not be chosen stands for nothing; leave such rows out with 'where'")


def label_columns(columns: Columns, levels: Sequence[str]) -> dict[str, pl.Series]:
    """Return the columns of labels for the sample's table: whether the outcome is known, judges, chances and strata."""
    labels, truth = declared_labels(columns), columns.truth
    if labels is None or truth is None:
        return {}
    frame = {"known": truth.is_not_null()}
    if labels.arrive is not None:
        arrivals = _arrivals(columns, labels.arrive)
        delay = (arrivals.known_on - arrivals.since).dt.total_days().cast(pl.Float64)
        frame |= {"settled": arrivals.settled, "delay": delay.set(truth.is_null(), -1.0)}
    for judge in labels.judges:
        if judge.kind == "column":
            frame[f"judge {judge.name}"] = (columns.levels[judge.name] == levels[0]).cast(pl.Float64)
        elif judge.kind == "probability":
            frame[f"judge {judge.name}"] = columns.numbers[judge.name]
    if labels.chance is not None:
        frame["chance"] = columns.numbers[labels.chance]
    elif labels.strata:
        strata = pl.DataFrame([columns.rows.frame[name] for name in labels.strata])
        frame["stratum"] = (strata.select(pl.struct(pl.all()).rank("dense")).to_series() - 1).cast(pl.Int64)
    return frame


def check_strata(columns: Columns) -> None:
    """Report strata in which no row has an outcome, which then nothing stands for."""
    labels, truth = declared_labels(columns), columns.truth
    if labels is None or truth is None or not labels.strata:
        return
    names = list(labels.strata)
    table = columns.rows.frame.select(names).with_columns(truth.is_not_null().alias("\0known"))
    if labels.arrive is not None and labels.method != "prediction_powered":
        table = table.filter(_arrivals(columns, labels.arrive).settled)
    empty = table.group_by(names).agg(pl.col("\0known").sum(), pl.len().alias("\0rows")).filter(
        pl.col("\0known") == 0).sort(names, nulls_last=True)
    if empty.height:
        first = empty.row(0, named=True)
        values = ", ".join(f"{name} = {shown(first[name])}" for name in names)
        is_here = pl.all_horizontal([pl.col(name).eq_missing(pl.lit(first[name])) for name in names])
        mask = columns.rows.frame.select(is_here.alias("here"))["here"]
        message = f"{rows_have(mask)} no outcome where {values}: nothing stands for this stratum"
        columns.report("empty-stratum", message, (*HERE, "selected", "strata"),
                       "find out the outcome of some, name coarser strata, or leave them out with 'where'", mask=mask)


def known_rows(columns: Columns, frame: pl.DataFrame) -> KnownRows | None:
    """Return which rows of the sample's sorted ``frame`` have an outcome, with their labels; None where all have."""
    labels = declared_labels(columns)
    if labels is None or "known" not in frame.columns:
        return None
    judges = {judge.name: np.asarray(frame[f"judge {judge.name}"].to_numpy(), float)
              for judge in labels.judges if judge.kind != "model"}
    chance = np.asarray(frame["chance"].to_numpy(), float) if "chance" in frame.columns else None
    stratum = frame["stratum"].to_numpy() if "stratum" in frame.columns else np.zeros(frame.height, np.intp)
    settled, delay = (frame[name].to_numpy() if name in frame.columns else None for name in ("settled", "delay"))
    return KnownRows(frame["known"].to_numpy(), MappingProxyType(judges), chance, stratum, settled, delay)
