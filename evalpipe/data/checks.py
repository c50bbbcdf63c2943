"""The checks of one evaluated dataset, column by column; each problem names the rows, the column and the way out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from evalpipe.data.errors import Unreadable
from evalpipe.data.values import blank, numbers, texts

if TYPE_CHECKING:
    import polars as pl

    from evalpipe.data.rows import Rows
    from evalpipe.errors import Problem
    from evalpipe.spec.origin import Loc

_MISSING = frozenset({"na", "n/a", "#n/a", "null", "none", "missing", "nil", "-", ".", "?"})


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a dataset as values, each shape [n]: texts of outcome, predictions and ids, numbers of the rest.

    A column that could not be used is absent; ``problems`` says why.
    """

    rows: Rows
    values: dict[str, pl.Series] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def check(rows: Rows) -> Columns:
    """Turn the columns of an evaluated dataset into values and check all but the levels, which need every dataset."""
    spec, found = rows.spec, Columns(rows)
    _text(found, spec.outcome.column, ("outcome", "column"), "missing-truth", "the outcome column")
    for name, model in spec.models.items():
        if model.probability is not None:
            _probability(found, model.probability, ("models", name, "probability"))
        if model.score is not None:
            _score(found, model.score, ("models", name, "score"))
        if model.prediction is not None:
            loc = ("models", name, "prediction")
            _text(found, model.prediction, loc, "missing-prediction", "the prediction column")
    if spec.weight is not None:
        _weight(found, spec.weight.column, whole=spec.weight.kind == "frequency")
    if spec.id is not None:
        _text(found, spec.id, ("id",), "missing-id", "the id column")
        _unique(found, spec.id)
    return found


def loose(rows: Rows, numeric: frozenset[str]) -> Columns:
    """Turn the columns of a reference dataset into values to compare with; only ids are checked."""
    found = Columns(rows)
    for column in rows.plan.columns:
        if column == rows.spec.id:
            _text(found, column, ("id",), "missing-id", "the id column")
            continue
        try:
            values = rows.frame[column]
            found.values[column] = numbers(values, as_text=rows.as_text) if column in numeric else texts(values)
        except Unreadable as fault:
            found.problems.append(_wrong_type(rows, column, ("datasets", rows.name, "path"), fault))
    return found


def _text(found: Columns, column: str, loc: Loc, code: str, called: str) -> None:
    """Read a column of levels or ids; every row must have one."""
    if column in found.values:
        return
    rows, written = found.rows, found.rows.frame[column]
    try:
        values = texts(written)
    except Unreadable as fault:
        found.problems.append(_wrong_type(rows, column, loc, fault))
        return
    found.values[column] = values
    empty = values.is_null()
    if empty.any():
        message = f"{_rows(empty)} no value in {called} '{column}'"
        hint = f"fill them, or leave such rows out with where: '{_quoted(column)} IS NOT NULL'"
        found.problems.append(rows.problem(code, message, loc, hint, mask=empty, values=written))


def _numbers(found: Columns, column: str, loc: Loc, code: str, called: str) -> pl.Series | None:
    """Read a column of numbers; a cell must hold one and not be empty. Returns None when the column is unusable."""
    rows, written = found.rows, found.rows.frame[column]
    try:
        values = numbers(written, as_text=rows.as_text)
    except Unreadable as fault:
        found.problems.append(_wrong_type(rows, column, loc, fault))
        return None
    empty = blank(written) | values.is_nan().fill_null(value=False)
    strange = values.is_null() & ~empty
    if empty.any():
        message = f"{_rows(empty)} no {called} in column '{column}'"
        hint = f"fill them, or leave such rows out with where: '{_quoted(column)} IS NOT NULL'"
        if values.is_nan().any():
            hint = f"every row needs a {called}; find out why it could not be computed"
        found.problems.append(rows.problem(code, message, loc, hint, mask=empty, values=written))
    if strange.any():
        message = f"{_cells(strange)} of column '{column}' {_are(strange)} not {_a(strange, 'number')}"
        hint = _number_hint(written.filter(strange), called)
        found.problems.append(rows.problem("not-a-number", message, loc, hint, mask=strange, values=written))
    return values


def _probability(found: Columns, column: str, loc: Loc) -> None:
    if column in found.values:
        return
    values = _numbers(found, column, loc, "missing-probability", "probability")
    if values is None:
        return
    found.values[column] = values
    outside = (((values < 0) | (values > 1)) & values.is_not_nan()).fill_null(value=False)
    if outside.any():
        message = f"{_cells(outside)} of column '{column}' {_are(outside)} not {_a(outside, 'probability')} from 0 to 1"
        written = found.rows.frame[column]
        problem = found.rows.problem(
            "probability-range", message, loc, _scale_hint(values, outside), mask=outside, values=written
        )
        found.problems.append(problem)


def _score(found: Columns, column: str, loc: Loc) -> None:
    if column in found.values:
        return
    values = _numbers(found, column, loc, "missing-score", "score")
    if values is None:
        return
    found.values[column] = values
    endless = values.is_infinite().fill_null(value=False)
    if endless.any():
        message = f"{_cells(endless)} of column '{column}' {_are(endless)} infinite"
        hint = "a score is a finite number; find out why it could not be computed"
        written = found.rows.frame[column]
        found.problems.append(found.rows.problem("score-range", message, loc, hint, mask=endless, values=written))


def _scale_hint(values: pl.Series, outside: pl.Series) -> str:
    """Guess from all values what the column may hold instead of probabilities."""
    known = values.filter(values.is_finite().fill_null(value=False))
    share = int(outside.sum()) / max(1, len(values))
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)  # type: ignore[arg-type]
    if share >= 0.5 and low >= 0 and 1 < high <= 100:
        return "they look like percents: divide them by 100"
    if share >= 0.2 and low < 0:
        return "they look like log odds: name the column under 'score' and add 'scale: logit'"
    return "give the model's probability of the event"


def _weight(found: Columns, column: str, *, whole: bool) -> None:
    loc: Loc = ("weight", "column")
    if column in found.values:
        return
    values = _numbers(found, column, loc, "missing-weight", "weight")
    if values is None:
        return
    found.values[column] = values
    rows, written, problems = found.rows, found.rows.frame[column], found.problems
    known = values.fill_nan(None)
    wrong = ((known < 0) | known.is_infinite()).fill_null(value=False)
    if wrong.any():
        message = f"{_cells(wrong)} of the weight column '{column}' {_are(wrong)} negative or infinite"
        hint = "a weight is a number from 0 on; rows of weight 0 are left out"
        problems.append(rows.problem("weight-range", message, loc, hint, mask=wrong, values=written))
    broken = ((known != known.floor()) & ~wrong).fill_null(value=False)
    if whole and broken.any():
        message = f"{_cells(broken)} of the weight column '{column}' {_are(broken)} not {_a(broken, 'whole number')}"
        hint = "frequency weights count identical rows; for other weights write kind: importance"
        problems.append(rows.problem("frequency-weight", message, loc, hint, mask=broken, values=written))
    if known.null_count() == 0 and not (known != 0).any():
        message = f"all weights of dataset '{rows.name}' are 0 (column '{column}')"
        problems.append(rows.problem("weights-all-zero", message, loc, "at least one row must count"))


def _unique(found: Columns, column: str) -> None:
    """Every id stands in one row only."""
    import polars as pl

    from evalpipe.data.rows import POSITION

    ids = found.values.get(column)
    if ids is None or ids.drop_nulls().n_unique() == len(ids) - ids.null_count():
        return
    rows = found.rows
    frame = pl.DataFrame({"id": ids, "at": rows.frame[POSITION]})
    first = frame.select(pl.col("at").first().over("id")).to_series()
    again = (first != rows.frame[POSITION]) & ids.is_not_null()
    message = f"{_rows(again)} an id that an earlier row has (column '{column}')"
    hint = "an id names one row; remove the copies, or name the column that tells the rows apart"
    earlier = [rows.cell(int(at)) for at in first.filter(again).head(5)]
    problem = rows.problem("duplicate-id", message, ("id",), hint, mask=again, values=ids)
    shown = tuple(
        (row, f"{value}, as in row {was}{suffix}")
        for (row, value), (was, suffix) in zip(problem.rows, earlier, strict=True)
    )
    found.problems.append(replace(problem, rows=shown))


def _number_hint(cells: pl.Series, called: str) -> str:
    words = cells.str.strip_chars().str.to_lowercase()
    if words.is_in(list(_MISSING)).all():
        return f"only an empty cell counts as missing, and every row needs a {called}"
    if words.str.contains(r"^[+-]?\d*,\d+$").all():
        return "write decimals with a point, as in 0.5"
    if words.str.contains(r"^[+-]?[\d.]+\s*%$").all():
        return "write 0.5 instead of 50 %"
    return "write numbers as 0.5 or 5e-1"


def _wrong_type(rows: Rows, column: str, loc: Loc, fault: Unreadable) -> Problem:
    return rows.problem(fault.code, f"column '{column}' of dataset '{rows.name}' {fault.reason}", loc, fault.hint)


def _quoted(column: str) -> str:
    return column if column.isidentifier() else f'"{column}"'


def _rows(mask: pl.Series) -> str:
    count = int(mask.sum())
    return f"{count:,} row has" if count == 1 else f"{count:,} rows have"


def _cells(mask: pl.Series) -> str:
    count = int(mask.sum())
    return f"{count:,} value" if count == 1 else f"{count:,} values"


def _are(mask: pl.Series) -> str:
    return "is" if int(mask.sum()) == 1 else "are"


def _a(mask: pl.Series, noun: str) -> str:
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"a {noun}" if int(mask.sum()) == 1 else plural
