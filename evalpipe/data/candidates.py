"""Read the table of candidates: their ids and the values of the goals; report all problems at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.base.lazy_polars import pl
from evalpipe.chapters.desirability.plan import candidates_plan
from evalpipe.data.columns import Columns, missing_hint, number_hint, refuse, wrong_type
from evalpipe.data.outcome_checks import check_bounded
from evalpipe.data.rows import load_candidates
from evalpipe.data.sample import CandidateRows
from evalpipe.data.summary import files_of
from evalpipe.data.values import MISSING_WORDS, Unreadable, blank, infer_type, noun, numbers, rows_have, texts, typed
from evalpipe.errors import DataError
from evalpipe.words.spelling import closest, counted, listed

if TYPE_CHECKING:
    from evalpipe.base.origin import Loc
    from evalpipe.chapters.desirability.plan import CandidatesPlan, GoalColumn
    from evalpipe.data.columns import RowBlock
    from evalpipe.errors import Problem
    from evalpipe.plan.plan import Plan

ROUNDING = 1e-9
"""How far a mean of values may lie beyond the range of a measure by rounding alone."""

SPEC_KEY: Loc = ("candidates",)


def read_candidates(plan: Plan) -> CandidateRows | None:
    """Return the candidates, sorted by their ids; None where the plan has none.

    Raises DataError with every problem of the table.
    """
    candidates = plan.part(candidates_plan)
    if candidates is None:
        return None
    rows = load_candidates(plan, candidates.rows)
    if isinstance(rows, list):
        raise DataError(*rows)
    columns, ids = Columns(rows), _read_ids(rows, candidates)
    # The number of each row's candidate, in the order of the ids.
    distinct = ids.unique(maintain_order=True).sort(candidates.ids, nulls_last=True)
    number = ids.join(distinct.with_row_index("\0n"), on=candidates.ids, how="left", nulls_equal=True,
                      maintain_order="left")["\0n"]
    table = _GoalReader(columns, candidates, number, distinct.height)
    _check_ids(columns, candidates, ids, number)
    values = [table.read_goal(goal) for goal in candidates.goals]
    if columns.problems:
        raise DataError(*dict.fromkeys(columns.problems))
    all_rows = pl.repeat(value=True, n=rows.frame.height, eager=True)
    return CandidateRows(
        tuple(distinct.to_dicts()), tuple(zip(*(column for column, _ in values), strict=True)),
        np.column_stack([error for _, error in values]), files_of(rows, all_rows))


def _read_ids(rows: RowBlock, candidates: CandidatesPlan) -> pl.DataFrame:
    """Return the columns of ids; raises DataError for columns of lists or mappings."""
    columns: list[pl.Series] = []
    problems: list[Problem] = []
    for index, name in enumerate(candidates.ids):
        try:
            columns.append(_read_id(rows, name))
        except Unreadable as fault:
            problems.append(wrong_type(rows, name, (*SPEC_KEY, "id", index), fault))
    if problems:
        raise DataError(*problems)
    return pl.DataFrame(columns)


def _read_id(rows: RowBlock, name: str) -> pl.Series:
    """Return a column of ids [rows] as numbers, true and false, or texts, whichever its values are."""
    column = rows.frame[name]
    if rows.separated and column.dtype == pl.String:
        csv = rows.dataset.table.named.csv
        kind = csv.types.get(name) or infer_type(column, csv.decimal).type
        return typed(column, kind if kind in ("integer", "number", "boolean") else "text", csv.decimal).alias(name)
    if column.dtype.is_integer() or column.dtype in (pl.Boolean, pl.String):
        return column
    return column.cast(pl.Float64).fill_nan(None) if column.dtype.is_float() else texts(column).alias(name)


def _check_ids(columns: Columns, candidates: CandidatesPlan, ids: pl.DataFrame, number: pl.Series) -> None:
    """Report rows without an id and, unless the table is long, rows with an id that another row has.

    ``ids`` are the columns of ids, ``number`` [rows] is the number of each row's candidate.
    """
    loc = (*SPEC_KEY, "id")
    id_columns = f"column{'s' if len(candidates.ids) > 1 else ''} {listed(candidates.ids, 'and')}"
    shown = pl.Series([", ".join("empty" if part is None else str(part) for part in row)
                       if any(part is not None for part in row) else None for row in ids.rows()], dtype=pl.String)
    is_empty = ids.select(pl.all_horizontal(pl.all().is_null()).alias("empty"))["empty"]
    if is_empty.any():
        hint = "fill them, or leave such rows out with 'where'"
        message = f"{rows_have(is_empty)} no id in {id_columns}"
        columns.report("missing-id", message, loc, hint, mask=is_empty, values=shown)
    is_repeated = pl.Series(number).is_duplicated() & ~is_empty
    if candidates.long is None and is_repeated.any():
        message = f"{rows_have(is_repeated)} an id that another row has too, in {id_columns}"
        hint = "name all columns that tell candidates apart, or leave rows out with 'where'"
        columns.report("duplicate-id", message, loc, hint, mask=is_repeated, values=shown)


class _GoalReader:
    """Reads the values of goals; ``number`` [rows] is the number of each row's candidate, of ``count`` candidates."""

    def __init__(self, columns: Columns, candidates: CandidatesPlan, number: pl.Series, count: int) -> None:
        """Keep the columns; ``number`` [rows] is the number of each row's candidate, of ``count`` candidates."""
        self.columns, self.candidates, self.number, self.count = columns, candidates, number.to_numpy(), count

    def read_goal(self, goal: GoalColumn) -> tuple[list[Any], np.ndarray]:
        """Return a goal's value for each candidate [n], None where there is none, and the standard errors [n]."""
        rows, long = self.columns.rows, self.candidates.long
        if goal.column is None and long is not None:
            is_of_goal = self._rows_of_goal(goal)
            value, error, error_loc = long.value, long.std_err, (*SPEC_KEY, "long", "std_err")
        else:
            is_of_goal = pl.repeat(value=True, n=rows.frame.height, eager=True)
            value, error, error_loc = goal.column or "", goal.std_err, (*SPEC_KEY, "std_err")
        read_column = self._read_levels if goal.goal.rule.kind == "category" else self._read_numbers
        values = read_column(value, is_of_goal, goal, goal.loc)
        self._check_repeated(goal, values, is_of_goal, value)
        errors = None if error is None else self._read_numbers(error, is_of_goal, goal, error_loc, error=True)
        return self._values_by_candidate(values, is_of_goal), np.array(
            [math.nan if item is None else item for item in self._values_by_candidate(errors, is_of_goal)], float)

    def _rows_of_goal(self, goal: GoalColumn) -> pl.Series:
        """Return flags [rows] of those of a long table that have a goal's measure; report where none has."""
        assert self.candidates.long is not None  # noqa: S101 - the caller looks first
        name, rows = self.candidates.long.metric, self.columns.rows
        measures = texts(rows.frame[name])
        is_of_goal = measures.is_in(list(goal.names)).fill_null(value=False)
        if not is_of_goal.any():
            known = measures.drop_nulls().unique(maintain_order=True).to_list()
            close = next(filter(None, (closest(wanted, known) for wanted in goal.names)), None)
            subject = goal.names[0]
            hint = (f"did you mean '{close}'? Name it under 'candidates': columns: {{{subject}: {close}}}" if close
                    else f"the column has {listed(known[:12], 'and')}")
            message = f"no row of column '{name}' is of {subject}"
            self.columns.report("missing-measure", message, goal.loc, hint)
        return is_of_goal

    def _read_numbers(
        self, column: str, is_of_goal: pl.Series, goal: GoalColumn, loc: Loc, *, error: bool = False
    ) -> pl.Series | None:
        """Read a column of numbers [rows], null outside the goal's rows ``is_of_goal``; cells may be empty.

        With ``error`` they are standard errors. None where the column has another type.
        """
        rows = self.columns.rows
        cells = rows.frame[column]
        try:
            values = numbers(rows.numeric(column), as_text=rows.as_text)
        except Unreadable as fault:
            self.columns.problems.append(wrong_type(rows, column, loc, fault))
            return None
        is_strange = values.is_null() & ~blank(cells) & is_of_goal
        refuse(self.columns, column, loc, is_strange, "not-a-number", f"not {noun(is_strange, 'number')}",
               _hint_for_texts(cells.filter(is_strange), rows))
        values = values.fill_nan(None).set(~is_of_goal, None)
        check_bounded(self.columns, column, loc, values)
        if error:
            wrong = (values < 0).fill_null(value=False)
            refuse(self.columns, column, loc, wrong, "out-of-range", "below zero", "a standard error is 0 or more")
        else:
            self._check_range(column, values, goal)
        return values

    def _check_range(self, column: str, values: pl.Series, goal: GoalColumn) -> None:
        """Report values outside the range of the goal's measure, or beyond the goal's points where it forbids that."""
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

    def _read_levels(self, column: str, is_of_goal: pl.Series, goal: GoalColumn, loc: Loc) -> pl.Series | None:
        """Read a column of levels [rows], null outside the goal's rows; report levels that the goal does not name.

        ``is_of_goal`` flags the goal's rows. None where the column cannot be read as texts.
        """
        try:
            levels = texts(self.columns.rows.frame[column]).set(~is_of_goal, None)
        except Unreadable as fault:
            self.columns.problems.append(wrong_type(self.columns.rows, column, loc, fault))
            return None
        goal_levels = list(goal.goal.shape)
        is_unknown = ~levels.is_in(goal_levels).fill_null(value=True)
        refuse(self.columns, column, loc, is_unknown, "unknown-level", f"no level of the goal '{goal.goal.name}'",
               f"add {'it' if int(is_unknown.sum()) == 1 else 'them'} there beside {listed(goal_levels, 'and')}")
        return levels

    def _check_repeated(
        self, goal: GoalColumn, goal_values: pl.Series | None, is_of_goal: pl.Series, column: str
    ) -> None:
        """Report candidates of a long table that give a goal several times.

        A goal read from rows of the table needs a single row for a candidate. A goal with a column needs a single
        value, which is repeated in the candidate's rows. The values were read from ``column``.
        """
        if goal_values is None or self.candidates.long is None:
            return
        frame = pl.DataFrame({"n": self.number, "value": goal_values, "is_of_goal": is_of_goal})
        several = pl.len() if goal.column is None else pl.col("value").n_unique()
        repeated = frame.filter("is_of_goal").group_by("n").agg(several.alias("count")).filter(pl.col("count") > 1)["n"]
        wrong = frame["n"].is_in(repeated.implode()) & is_of_goal
        if wrong.any():
            count = counted(int(wrong.sum()), "row")
            message = f"{count} give {goal.names[0]} of a candidate that has another row of it"
            if goal.column is not None:
                message = f"{goal.column} differs within candidates, in {int(wrong.sum()):,} rows"
            hint = "name all columns that tell candidates apart under 'id', or leave rows out with 'where'"
            values = self.columns.rows.frame[column]
            self.columns.report("duplicate-id", message, (*SPEC_KEY, "id"), hint, mask=wrong, values=values)

    def _values_by_candidate(self, goal_values: pl.Series | None, is_of_goal: pl.Series) -> list[Any]:
        """Return the value of each candidate [n], from the values of the goal's rows; None where there is none."""
        by_candidate: list[Any] = [None] * self.count
        if goal_values is not None:
            for number, value in zip(self.number[is_of_goal.to_numpy()], goal_values.filter(is_of_goal), strict=True):
                by_candidate[number] = value
        return by_candidate


def _hint_for_texts(strange: pl.Series, rows: RowBlock) -> str:
    """Return how to correct ``strange``, cells of text in a column of numbers; "" where there are none."""
    if not len(strange):
        return ""
    if strange.str.strip_chars().str.to_lowercase().is_in(list(MISSING_WORDS)).all():
        return missing_hint(strange, "value", missing=True, separated=rows.separated)
    return number_hint(strange, "value", missing=False, separated=rows.separated)
