"""Read the table of candidates: what tells them apart, and the values of the goals, with every fault at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.base.lazy_polars import pl
from evalpipe.chapters.candidates.compute import CandidateRows
from evalpipe.chapters.candidates.plan import candidates_plan
from evalpipe.data.columns import Columns, missing_hint, number_hint, refuse, wrong_type
from evalpipe.data.outcome_checks import check_bounded
from evalpipe.data.problems import Unreadable, counted, noun, rows_have
from evalpipe.data.rows import load_candidates
from evalpipe.data.summary import files_of
from evalpipe.data.values import MISSING_WORDS, blank, infer_type, numbers, texts, typed
from evalpipe.errors import DataError
from evalpipe.words.spelling import closest, listed

if TYPE_CHECKING:
    from evalpipe.base.origin import Loc
    from evalpipe.chapters.candidates.plan import CandidatesPlan, GoalColumn
    from evalpipe.data.columns import RowBlock
    from evalpipe.errors import Problem
    from evalpipe.plan.plan import Plan

ROUNDING = 1e-9
"""How far a mean of values may lie beyond the range of a measure by rounding alone."""

HERE: Loc = ("candidates",)


def read_candidates(plan: Plan) -> CandidateRows | None:
    """Return the candidates in the order of their ids; None where the plan has none.

    Raises DataError with every problem of the table.
    """
    asked = plan.part(candidates_plan)
    if asked is None:
        return None
    rows = load_candidates(plan, asked.rows)
    if isinstance(rows, list):
        raise DataError(*rows)
    columns, ids = Columns(rows), _read_ids(rows, asked)
    # The number of each row's candidate, in the order of the ids.
    distinct = ids.unique(maintain_order=True).sort(asked.ids, nulls_last=True)
    number = ids.join(distinct.with_row_index("\0n"), on=asked.ids, how="left", nulls_equal=True,
                      maintain_order="left")["\0n"]
    table = _GoalReader(columns, asked, number, distinct.height)
    _check_ids(columns, asked, ids, number)
    values = [table.of_goal(goal) for goal in asked.goals]
    if columns.problems:
        raise DataError(*dict.fromkeys(columns.problems))
    everything = pl.repeat(value=True, n=rows.frame.height, eager=True)
    return CandidateRows(
        tuple(distinct.to_dicts()), tuple(zip(*(column for column, _ in values), strict=True)),
        np.column_stack([error for _, error in values]), files_of(rows, everything))


def _read_ids(rows: RowBlock, asked: CandidatesPlan) -> pl.DataFrame:
    """Return the columns that tell candidates apart; raises DataError for those that hold no single values."""
    columns: list[pl.Series] = []
    problems: list[Problem] = []
    for place, name in enumerate(asked.ids):
        try:
            columns.append(_read_id(rows, name))
        except Unreadable as fault:
            problems.append(wrong_type(rows, name, (*HERE, "id", place), fault))
    if problems:
        raise DataError(*problems)
    return pl.DataFrame(columns)


def _read_id(rows: RowBlock, name: str) -> pl.Series:
    """Return a column of ids in the type that its values have: a number, true or false, or a text."""
    column = rows.frame[name]
    if rows.separated and column.dtype == pl.String:
        csv = rows.dataset.table.named.csv
        kind = csv.types.get(name) or infer_type(column, csv.decimal).type
        return typed(column, kind if kind in ("integer", "number", "boolean") else "text", csv.decimal).alias(name)
    if column.dtype.is_integer() or column.dtype in (pl.Boolean, pl.String):
        return column
    return column.cast(pl.Float64).fill_nan(None) if column.dtype.is_float() else texts(column).alias(name)


def _check_ids(columns: Columns, asked: CandidatesPlan, ids: pl.DataFrame, number: pl.Series) -> None:
    """Report rows without an id, and ids of several rows where each row is a candidate."""
    loc = (*HERE, "id")
    named = f"column{'s' if len(asked.ids) > 1 else ''} {listed(asked.ids, 'and')}"
    shown = pl.Series([", ".join("empty" if part is None else str(part) for part in row)
                       if any(part is not None for part in row) else None for row in ids.rows()], dtype=pl.String)
    empty = ids.select(pl.all_horizontal(pl.all().is_null()).alias("empty"))["empty"]
    if empty.any():
        hint = "fill them, or leave such rows out with 'where'"
        message = f"{rows_have(empty)} no id in {named}"
        columns.report("missing-id", message, loc, hint, mask=empty, values=shown)
    twice = pl.Series(number).is_duplicated() & ~empty
    if asked.long is None and twice.any():
        message = f"{rows_have(twice)} an id that another row has too, in {named}"
        hint = "name all columns that tell candidates apart, or leave rows out with 'where'"
        columns.report("duplicate-id", message, loc, hint, mask=twice, values=shown)


class _GoalReader:
    """Reads the goals of candidates: ``number`` [rows] is the candidate of each row, of ``count``."""

    def __init__(self, columns: Columns, asked: CandidatesPlan, number: pl.Series, count: int) -> None:
        self.columns, self.asked, self.number, self.count = columns, asked, number.to_numpy(), count

    def of_goal(self, goal: GoalColumn) -> tuple[list[Any], np.ndarray]:
        """Return the values of a goal [n], None where there is none, and their standard errors."""
        rows, long = self.columns.rows, self.asked.long
        if goal.column is None and long is not None:
            here = self._rows_of(goal)
            value, error, error_loc = long.value, long.std_err, (*HERE, "long", "std_err")
        else:
            here = pl.repeat(value=True, n=rows.frame.height, eager=True)
            value, error, error_loc = goal.column or "", goal.std_err, (*HERE, "std_err")
        read = self._levels if goal.goal.rule.kind == "category" else self._numbers
        given = read(value, here, goal, goal.loc)
        self._once(goal, given, here, value)
        errors = None if error is None else self._numbers(error, here, goal, error_loc, error=True)
        return self._placed(given, here), np.array(
            [math.nan if item is None else item for item in self._placed(errors, here)], float)

    def _rows_of(self, goal: GoalColumn) -> pl.Series:
        """Return which rows of a long table are of a goal; a problem where none is."""
        assert self.asked.long is not None  # noqa: S101 - the caller looks first
        name, rows = self.asked.long.metric, self.columns.rows
        written = texts(rows.frame[name])
        here = written.is_in(list(goal.names)).fill_null(value=False)
        if not here.any():
            known = written.drop_nulls().unique(maintain_order=True).to_list()
            close = next(filter(None, (closest(wanted, known) for wanted in goal.names)), None)
            subject = goal.names[0]
            hint = (f"did you mean '{close}'? Name it under 'candidates': columns: {{{subject}: {close}}}" if close
                    else f"the column has {listed(known[:12], 'and')}")
            message = f"no row of column '{name}' is of {subject}"
            self.columns.report("missing-measure", message, goal.loc, hint)
        return here

    def _numbers(
        self, column: str, here: pl.Series, goal: GoalColumn, loc: Loc, *, error: bool = False
    ) -> pl.Series | None:
        """Read a column of numbers in the rows that are ``here``; a cell may be empty."""
        rows = self.columns.rows
        written = rows.frame[column]
        try:
            values = numbers(rows.numeric(column), as_text=rows.as_text)
        except Unreadable as fault:
            self.columns.problems.append(wrong_type(rows, column, loc, fault))
            return None
        strange = values.is_null() & ~blank(written) & here
        refuse(self.columns, column, loc, strange, "not-a-number", f"not {noun(strange, 'number')}",
               _way_out_of_texts(written.filter(strange), rows))
        values = values.fill_nan(None).set(~here, None)
        check_bounded(self.columns, column, loc, values)
        if error:
            wrong = (values < 0).fill_null(value=False)
            refuse(self.columns, column, loc, wrong, "out-of-range", "below zero", "a standard error is 0 or more")
        else:
            self._in_range(column, values, goal)
        return values

    def _in_range(self, column: str, values: pl.Series, goal: GoalColumn) -> None:
        """Report values that the measure of a goal never has, and those beyond the points of a goal that forbids it."""
        entry, shape = goal.goal.entry, goal.goal.shape
        if entry is not None:
            low, high = entry.metric.bounds(entry.params)
            wrong = ((values < low - ROUNDING) | (values > high + ROUNDING)).fill_null(value=False)
            span = (f"below {low:g}" if math.isinf(high) else f"above {high:g}" if math.isinf(low)
                    else f"outside {low:g} to {high:g}")
            hint = f"{entry.metric.name} has no such values: is the column of another measure, or in per cent?"
            refuse(self.columns, column, goal.loc, wrong, "out-of-range", span, hint)
        if shape.get("extrapolate") == "error":
            ends = shape["values"][0], shape["values"][-1]
            beyond = ((values < ends[0]) | (values > ends[1])).fill_null(value=False)
            what = f"beyond the points of the goal '{goal.goal.name}', {ends[0]:g} to {ends[1]:g}"
            hint = "add a point, or write 'extrapolate: clamp' or 'zero'"
            refuse(self.columns, column, goal.loc, beyond, "beyond-points", what, hint)

    def _levels(self, column: str, here: pl.Series, goal: GoalColumn, loc: Loc) -> pl.Series | None:
        """Read a column of levels, each of them one that the goal names."""
        try:
            levels = texts(self.columns.rows.frame[column]).set(~here, None)
        except Unreadable as fault:
            self.columns.problems.append(wrong_type(self.columns.rows, column, loc, fault))
            return None
        known = list(goal.goal.shape)
        unknown = ~levels.is_in(known).fill_null(value=True)
        refuse(self.columns, column, loc, unknown, "unknown-level", f"no level of the goal '{goal.goal.name}'",
               f"add {'it' if int(unknown.sum()) == 1 else 'them'} there beside {listed(known, 'and')}")
        return levels

    def _once(self, goal: GoalColumn, given: pl.Series | None, here: pl.Series, column: str) -> None:
        """Report candidates that have several values of one goal in a long table."""
        if given is None or self.asked.long is None:
            return
        frame = pl.DataFrame({"n": self.number, "value": given, "here": here})
        several = pl.len() if goal.column is None else pl.col("value").n_unique()
        repeated = frame.filter("here").group_by("n").agg(several.alias("count")).filter(pl.col("count") > 1)["n"]
        wrong = frame["n"].is_in(repeated.implode()) & here
        if wrong.any():
            count = counted(int(wrong.sum()), "row")
            message = f"{count} give {goal.names[0]} of a candidate that has another row of it"
            if goal.column is not None:
                message = f"{goal.column} differs within candidates, in {int(wrong.sum()):,} rows"
            hint = "name all columns that tell candidates apart under 'id', or leave rows out with 'where'"
            values = self.columns.rows.frame[column]
            self.columns.report("duplicate-id", message, (*HERE, "id"), hint, mask=wrong, values=values)

    def _placed(self, given: pl.Series | None, here: pl.Series) -> list[Any]:
        """Return the value of each candidate [n], from the rows that are ``here``."""
        placed: list[Any] = [None] * self.count
        if given is not None:
            for number, value in zip(self.number[here.to_numpy()], given.filter(here), strict=True):
                placed[number] = value
        return placed


def _way_out_of_texts(strange: pl.Series, rows: RowBlock) -> str:
    """Return the way out of texts where numbers should stand; a cell may be empty."""
    words = strange.str.strip_chars().str.to_lowercase() if len(strange) else strange
    if len(strange) and words.is_in(list(MISSING_WORDS)).all():
        return missing_hint(strange, "value", missing=True, separated=rows.separated)
    return number_hint(strange, "value", missing=False, separated=rows.separated) if len(strange) else ""
