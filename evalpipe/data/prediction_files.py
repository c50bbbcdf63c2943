"""Predictions in files of their own: divided by step, matched with the rows of the dataset, split into levels.

Last, rows for which a model has no prediction are left out where the spec says so.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from itertools import pairwise
from operator import or_
from types import MappingProxyType
from typing import TYPE_CHECKING

from evalpipe.base.lazy_polars import pl
from evalpipe.data.columns import fill_hint, wrong_type
from evalpipe.data.problems import Unreadable, are, cells, counted, noun, rows_have
from evalpipe.data.values import blank, cells_differ, numbers, shown, texts
from evalpipe.errors import Problem
from evalpipe.plan.sources import Fit
from evalpipe.results import Warned
from evalpipe.tasks import NUMBERS
from evalpipe.words.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evalpipe.base.origin import Loc
    from evalpipe.data.columns import Columns, RowBlock
    from evalpipe.plan.models import ModelPlan


LARGEST_STEP = 2**53
"""The largest step: whole numbers are exact in double precision up to it."""


def split_by_step(rows: RowBlock, model: ModelPlan, *, evaluated: bool) -> tuple[dict[Fit, RowBlock], list[Problem]]:
    """Divide the rows of a file by step, ascending.

    Only rows that are ``evaluated`` need other steps than the one that is shown. A model without steps has one part.
    """
    shown_fit = Fit(model.name)
    if model.step is None:
        return {shown_fit: rows}, []
    steps, problems = _read_steps(rows, model, model.step)
    if problems or not len(steps):
        return {shown_fit: rows}, problems
    parts = {int(step): part.drop("\0step") for (step,), part in
             rows.frame.with_columns(steps.alias("\0step")).partition_by("\0step", as_dict=True).items()}
    shown = max(parts) if model.shown_step is None else model.shown_step
    if shown not in parts:
        known = sorted(parts)
        closest = min(known, key=lambda step: (abs(step - shown), step))
        has = f"step {known[0]} alone" if len(known) == 1 else (
            f"{counted(len(known), 'step')}, {known[0]} to {known[-1]}")
        message = f"{rows.called} has no step {shown}: it has {has}"
        loc = ("models", model.name, "step", "at")
        return {}, [rows.problem("unknown-step", message, loc, f"did you mean {closest}?")]
    asked = sorted(parts) if evaluated else [shown]
    return {shown_fit if step == shown else Fit(model.name, "step", step):
            replace(rows, frame=parts[step], step=step) for step in asked}, []


def _read_steps(rows: RowBlock, model: ModelPlan, column: str) -> tuple[pl.Series, list[Problem]]:
    loc: Loc = ("models", model.name, "step")
    written = rows.frame[column]
    try:
        values = numbers(rows.numeric(column), as_text=rows.as_text)
    except Unreadable as fault:
        message = f"column '{column}' of {rows.called} {fault.reason}"
        return pl.Series(), [rows.problem(fault.code, message, loc, fault.hint)]
    empty = blank(written) | values.is_nan().fill_null(value=False)
    fine = ((values >= 0) & (values <= LARGEST_STEP) & (values == values.floor())).fill_null(value=False)
    wrong = ~fine & ~empty
    problems = []
    if empty.any():
        message, hint = f"{rows_have(empty)} no step in column '{column}'", "number the step of every row"
        problems.append(rows.problem("missing-step", message, loc, hint, mask=empty, values=written))
    if wrong.any():
        message = f"{cells(wrong)} of column '{column}' {are(wrong)} not {noun(wrong, 'whole number')} from 0 on"
        hint = "number the steps 0, 1, 2, …; steps may be left out"
        problems.append(rows.problem("not-a-step", message, loc, hint, mask=wrong, values=written))
    return values.cast(pl.Int64, strict=False), problems


def first_step_faults(faults: Mapping[Fit, list[Problem]], parts: Mapping[Fit, RowBlock]) -> list[Problem]:
    """Return the faults of files, by the fit; of a model's steps, those of the first that has any."""
    problems: list[Problem] = []
    of_steps: dict[str, dict[int, list[Problem]]] = {}
    for fit, of_part in faults.items():
        step = parts[fit].step
        if step is None:
            problems += of_part
        elif of_part:
            of_steps.setdefault(fit.model, {})[step] = of_part
    for by_step in of_steps.values():
        first, *others = (by_step[step] for step in sorted(by_step))
        more = (f"{counted(len(others), 'other step')} {'has' if len(others) == 1 else 'have'} faults too",)
        problems += [replace(problem, notes=(*problem.notes, *more)) if others else problem for problem in first]
    return problems


def step_faults(columns: Columns) -> list[Problem]:
    """Return what is wrong with the values that models predict at their steps, in short."""
    by_fit = {fit: part.problems for fit, part in columns.models.items() if part.rows.step is not None}
    return first_step_faults(by_fit, {fit: columns.models[fit].rows for fit in by_fit})


def differing_last_steps(predicted: Iterable[Columns]) -> Iterator[Problem]:
    """Yield a problem for each model whose last step differs between datasets, which then would show two models."""
    last: dict[str, list[RowBlock]] = {}
    for columns in predicted:
        for fit, part in columns.models.items():
            if part.rows.step is not None and fit.is_shown:
                last.setdefault(fit.model, []).append(part.rows)
    for model, blocks in last.items():
        for first, second in pairwise(blocks):
            if first.step != second.step:
                message = (f"the last step of {first.called} is {first.step}, but that of {second.called} is "
                           f"{second.step}")
                hint = f"say which step to show: step: {{column: {first.plan.models[model].step}, at: …}}"
                yield replace(second, step=None).problem("steps-differ", message, ("models", model, "step"), hint)


_MISALIGNED = "misaligned-rows"


def match_rows(rows: RowBlock, files: Mapping[Fit, RowBlock]) -> tuple[RowBlock, list[Problem]]:
    """Find for each row of a dataset, before its ``where``, the row that each model's file has for it.

    Rows are matched by their id where the spec names one, else by position: then columns that both have must agree. The
    dataset's rows come back with a column for each model (`row_of`): the row of its file from 0, null where none is.
    """
    faults: dict[Fit, list[Problem]] = {}
    places: list[pl.Series] = []
    for fit, theirs in files.items():
        at, faults[fit] = (_match_by_position(rows, theirs) if rows.plan.id is None
                           else _match_by_id(rows, theirs, rows.plan.id))
        places += [] if at is None else [at.alias(row_of(fit))]
    return replace(rows, frame=rows.frame.with_columns(places)), first_step_faults(faults, files)


def attach_predictions(rows: RowBlock, files: Mapping[Fit, RowBlock]) -> tuple[RowBlock, list[Problem]]:
    """Give the rows that are left the predictions for them, row by row; a problem where a row has none."""
    faults: dict[Fit, list[Problem]] = {}
    models: dict[Fit, RowBlock] = {}
    for fit, theirs in files.items():
        at = rows.frame[row_of(fit)]
        if at.null_count():
            faults[fit] = _rows_without_prediction(rows, theirs, at.is_null())
        else:
            models[fit] = replace(theirs, frame=theirs.frame[at])
    return replace(rows, models=MappingProxyType(models)), first_step_faults(faults, files)


def row_of(fit: Fit) -> str:
    """Return the column that says which row of a model's file, or of a step there, belongs to a row of the dataset."""
    return f"\0row of {fit.model}\0{fit.kind} {fit.number}"


def _match_by_position(rows: RowBlock, theirs: RowBlock) -> tuple[pl.Series | None, list[Problem]]:
    """Match the first row with the first, and so on: as many rows, and the same values in every shared column."""
    here, there, loc = rows.frame.height, theirs.frame.height, theirs.dataset.table.named.loc
    if here != there:
        message = f"{theirs.called} has {counted(there, 'row')}, but the dataset has {here:,}"
        hint = f"{_id_hint(rows, theirs)}, or write one row for each"
        return None, [theirs.problem(_MISALIGNED, message, loc, hint)]
    # A file in another order would give each row the prediction of another, and nothing else would tell.
    for column in theirs.dataset.compared:
        differ = cells_differ(rows.frame[column], theirs.frame[column])
        if differ.any():
            return None, [_differing_rows(rows, theirs, column, differ)]
    return pl.int_range(here, dtype=pl.Int64, eager=True), []


def _differing_rows(rows: RowBlock, theirs: RowBlock, column: str, differ: pl.Series) -> Problem:
    """Report a shared column whose values differ between rows of the same position."""
    unfiled, written, count = rows.frame[column], theirs.frame[column], int(differ.sum())
    message = (f"{theirs.called} is matched row by row, but column '{column}', which both have, differs in {count:,} "
               f"of {counted(len(differ), 'row')}")
    hint = f"{_id_hint(rows, theirs)}, or write the file's rows in the order of the dataset"
    problem = theirs.problem(_MISALIGNED, message, theirs.dataset.table.named.loc, hint, mask=differ, values=written)
    pairs = zip(problem.rows, unfiled.filter(differ).head(len(problem.rows)), strict=True)
    return replace(problem, rows=tuple((row, f"{value}, but {shown(value_here)} in the dataset")
                                       for (row, value), value_here in pairs))


def _id_hint(rows: RowBlock, theirs: RowBlock) -> str:
    """Suggest the shared column that identifies a row: complete, and no value twice, on either side."""
    for column in theirs.dataset.compared:
        values = (rows.frame[column], theirs.frame[column])
        if all(not blank(series).any() and series.n_unique() == len(series) for series in values):
            return f"write 'id: {column}', so that rows are matched by it"
    return "name the column that identifies a row under 'id', so that rows are matched by it"


def _match_by_id(rows: RowBlock, theirs: RowBlock, column: str) -> tuple[pl.Series | None, list[Problem]]:
    wanted, fault = _read_ids(rows, column)
    ids, other = _read_ids(theirs, column)
    if wanted is None or ids is None:
        return None, [*fault, *other]
    present = ids.is_not_null()
    again = present & ~ids.is_first_distinct()
    # Looked for among all rows of the dataset, of which `where` has left out none yet.
    strange = present & ~ids.is_in(wanted.drop_nulls().implode())
    problems = _id_problems(theirs, column, ids, again=again, strange=strange)
    # A join promises no order unless it is told to keep that of its left side.
    places = pl.DataFrame({"id": ids, "at": pl.int_range(len(ids), dtype=pl.Int64, eager=True)}).filter(present)
    matched = pl.DataFrame({"id": wanted}).join(
        places.unique("id", keep="first", maintain_order=True), on="id", how="left", maintain_order="left"
    )
    return matched["at"], problems


def _read_ids(rows: RowBlock, column: str) -> tuple[pl.Series | None, list[Problem]]:
    try:
        return texts(rows.frame[column]), []
    except Unreadable as fault:
        return None, [wrong_type(rows, column, ("id",), fault)]


def _id_problems(
    theirs: RowBlock, column: str, ids: pl.Series, *, again: pl.Series, strange: pl.Series
) -> list[Problem]:
    """Report the rows of a file without an id, with one that stood there before, or with one of no row."""
    refused = (
        (ids.is_null(), f"no value in the id column '{column}' of {theirs.called}",
         f"each row needs the id of the row of dataset '{theirs.name}' that it predicts"),
        (again, f"an id that an earlier row of {theirs.called} has", "keep one prediction for each id"),
        (strange, f"an id in {theirs.called} that the dataset does not have",
         "remove them, or name the file that belongs to this dataset"),
    )
    loc = theirs.dataset.table.named.loc
    return [theirs.problem(_MISALIGNED, f"{rows_have(mask)} {what}", loc, hint, mask=mask, values=ids)
            for mask, what, hint in refused if mask.any()]


def _rows_without_prediction(rows: RowBlock, theirs: RowBlock, lacking: pl.Series) -> list[Problem]:
    """Report rows of the dataset for which a file has no prediction; they have an id, or are reported for that."""
    column = str(rows.plan.id)
    ids = texts(rows.frame[column])
    empty, loc = ids.is_null(), theirs.dataset.table.named.loc
    if empty.any():
        message = f"{rows_have(empty)} no value in the id column '{column}'"
        return [rows.problem("missing-id", message, ("id",), fill_hint(rows, column, ("id",)), mask=empty, values=ids)]
    message = f"{rows_have(lacking)} no prediction: their ids are not in {theirs.called}{theirs.at_step}"
    if int(lacking.sum()) == 1:
        message = f"1 row has no prediction: its id is not in {theirs.called}{theirs.at_step}"
    hint = "predict them, or leave such rows out for every model with 'complete_case: all'"
    return [rows.problem(_MISALIGNED, message, loc, hint, mask=lacking, values=ids)]


_NUMBER = r"(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|null|NaN|nan)"
_LIST_TEXT = rf"^\s*\[\s*(?:{_NUMBER}\s*(?:,\s*{_NUMBER}\s*)*)?\]\s*$"
"""A list as text: numbers with a decimal point between brackets, separated by commas; of null and NaN there is none."""

_EXAMPLE = "write the numbers of all levels between brackets, separated by commas: [0.7, 0.2, 0.1]"


def split_lists(
    rows: RowBlock, files: Mapping[Fit, RowBlock]
) -> tuple[RowBlock, Mapping[Fit, RowBlock], list[Problem]]:
    """Split the columns of lists of the rows that are left of a dataset, and of the files matched to them.

    A list of a row that counts has as many numbers as there are levels; else it is a problem.
    """
    rows, problems = _split_columns(rows, None)
    faults: dict[Fit, list[Problem]] = {}
    parts: dict[Fit, RowBlock] = {}
    for fit, theirs in files.items():
        parts[fit], faults[fit] = _split_columns(theirs, rows.frame[row_of(fit)])
    return rows, parts, problems + first_step_faults(faults, parts)


def _split_columns(rows: RowBlock, counting: pl.Series | None) -> tuple[RowBlock, list[Problem]]:
    """Split the columns of lists of some rows; of those that are ``counting``, from 0, lists must be whole."""
    problems: list[Problem] = []
    parts: dict[str, dict[str, pl.Series]] = {}
    for model in _models_of_lists(rows):
        column = str(model.list_column)
        if column in parts:
            continue
        lists, faults = _read_lists(rows, model, column)
        if not faults and lists is not None:
            asked = pl.repeat(value=True, n=len(lists), eager=True) if counting is None else (
                pl.int_range(len(lists), eager=True).is_in(counting.drop_nulls().implode()))
            faults = list(_wrong_length_lists(rows, model, column, lists, asked))
            parts[column] = {name: lists.list.get(place, null_on_oob=True).alias(name) for place, name in enumerate(
                model.level_columns[level] for level in model.order)}
        problems += faults
    if problems or not parts:
        return rows, problems
    names = [name for column in rows.dataset.columns for name in parts.get(column, {column: None})]
    frame = rows.frame.drop(list(parts)).with_columns(
        series for by_level in parts.values() for series in by_level.values())
    return replace(rows, frame=frame, dataset=replace(rows.dataset, columns=tuple(dict.fromkeys(names)))), []


def _models_of_lists(rows: RowBlock) -> Iterator[ModelPlan]:
    """Yield the models whose lists are in these rows: those of a file of predictions, or without one."""
    model_of_file = rows.dataset.table.named.model
    for model in rows.plan.models.values():
        here = not model.has_own_files if model_of_file is None else model.name == model_of_file
        if here and model.list_column in rows.frame.columns:
            yield model


def _read_lists(rows: RowBlock, model: ModelPlan, column: str) -> tuple[pl.Series | None, list[Problem]]:
    """Read a column as lists of single values, those that are written as text too; null where there is none."""
    written, loc = rows.frame[column], _lists_loc(model)
    clashing = [name for name in model.level_columns.values() if name in rows.frame.columns]
    if clashing:
        message = (f"column '{column}' of {rows.called} is read as a column for each level, but it has '{clashing[0]}' "
                   "too")
        return None, [rows.problem("taken-name", message, loc, "rename one of the two")]
    if written.dtype == pl.String:
        lists, strange = _lists_in_texts(written)
        if not strange.any():
            return lists, []
        message = f"{cells(strange)} of column '{column}' {are(strange)} not {noun(strange, 'list')} of numbers"
        return None, [rows.problem("not-a-list", message, loc, _EXAMPLE, mask=strange, values=written)]
    if written.dtype == pl.Null:
        return written.cast(pl.List(pl.Float64)), []
    kind = written.dtype
    if isinstance(kind, pl.List | pl.Array) and not kind.inner.is_nested():
        return written.cast(pl.List(kind.inner)), []
    holds = "lists of lists" if kind.is_nested() else f"values of type {kind}"
    return None, [wrong_type(rows, column, loc, Unreadable("wrong-type", f"holds {holds}, not lists of numbers",
                                                           _EXAMPLE))]


def _lists_in_texts(written: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return the lists that texts are, null for an empty cell, and which cells are neither."""
    empty = blank(written)
    strange = ~empty & ~written.str.contains(_LIST_TEXT).fill_null(value=False)
    inside = written.set(empty | strange, None).str.strip_chars().str.strip_prefix("[").str.strip_suffix("]")
    texts = inside.str.split(",").list.eval(pl.element().str.strip_chars())
    numbers = texts.list.eval(pl.element().replace(["null", ""], None).cast(pl.Float64))
    return numbers.set(inside.str.strip_chars() == "", pl.Series([[]], dtype=numbers.dtype)[0]), strange


def listed_numbers(cells: pl.Series) -> pl.Series | None:
    """Return the lists of floats that the cells of a column are, as values or texts; None where they are others."""
    if isinstance(cells.dtype, pl.List | pl.Array):
        return cells.cast(pl.List(pl.Float64)) if cells.dtype.inner.is_numeric() else None
    if cells.dtype != pl.String or blank(cells).all():
        return None
    lists, strange = _lists_in_texts(cells)
    return None if strange.any() else lists


def _wrong_length_lists(
    rows: RowBlock, model: ModelPlan, column: str, lists: pl.Series, asked: pl.Series
) -> Iterator[Problem]:
    lengths = lists.list.len()
    wrong = ((lengths != len(model.order)) & asked).fill_null(value=False)
    if wrong.any():
        count = int(wrong.sum())
        message = (f"{counted(count, 'list')} of column '{column}' {'does' if count == 1 else 'do'} not hold "
                   f"{counted(len(model.order), 'number')}, one for each level")
        hint = f"give one number for each level, in the order {listed(model.order, 'and')}"
        problem = rows.problem("list-length", message, _lists_loc(model), hint, mask=wrong, values=lengths)
        yield replace(problem, rows=tuple((row, f"a length of {length}") for row, length in problem.rows))


def _lists_loc(model: ModelPlan) -> Loc:
    return ("models", model.name, "scores" if model.scores else "probabilities")


def complete_cases(rows: RowBlock, files: Mapping[Fit, RowBlock]) -> RowBlock | Problem:
    """Keep the rows for which every model has a prediction, and count those that each model lacks.

    ``files`` are the files of predictions, matched to the rows. A prediction is absent where the file has no row for
    the id, and where one of the model's cells is empty or NaN, at any step and in any fit.
    """
    unfiled = {Fit(model): None for model in rows.plan.models if Fit(model) not in files}
    lacking = {model: reduce(or_, (_rows_lacking(rows, theirs, fit) for fit, theirs in {**files, **unfiled}.items()
                                   if fit.model == model)) for model in rows.plan.models}
    absent = reduce(or_, lacking.values())
    if absent.all():
        message = f"no row of dataset '{rows.name}' has a prediction of every model"
        place = rows.plan.places.place("complete_case")
        return Problem("no-rows-left", message, place, "find out why predictions are missing, or leave out a model")
    counts = {model: int(mask.sum()) for model, mask in lacking.items() if mask.any()}
    frame = rows.frame.filter(~absent)
    return replace(rows, frame=frame, incomplete=int(absent.sum()), lacking=MappingProxyType(counts))


def _rows_lacking(rows: RowBlock, theirs: RowBlock | None, fit: Fit) -> pl.Series:
    """Return for which rows a model has no prediction, at its step where it has steps; [n].

    A row without an id is another fault.
    """
    plan = rows.plan
    at = None if theirs is None else rows.frame[row_of(fit)]
    mask = pl.repeat(value=False, n=rows.frame.height, eager=True)
    # By position every row has a partner, or the files were refused for their lengths.
    if at is not None and plan.id is not None:
        mask = at.is_null() & texts(rows.frame[plan.id]).is_not_null()
    source = rows if theirs is None else theirs
    for kind, column in plan.models[fit.model].columns.items():
        cells = source.frame[column]
        empty = _without_value(cells, numeric=kind != "prediction" or plan.task in NUMBERS)
        mask |= empty if at is None else empty.gather(at).fill_null(value=False)
    return mask


def _without_value(cells: pl.Series, *, numeric: bool) -> pl.Series:
    """Return which cells hold no prediction, shape [n]: empty ones, and NaN where a number is expected."""
    if cells.dtype.is_float():
        return cells.is_null() | cells.is_nan().fill_null(value=False)
    if numeric and cells.dtype == pl.String:
        return blank(cells) | (cells.str.strip_chars().str.to_lowercase() == "nan").fill_null(value=False)
    return blank(cells)


def left_out_warning(rows: RowBlock) -> Warned:
    """Say how many rows were left out, and which models lack them."""
    return Warned.of("incomplete-rows", left_out=rows.incomplete, rows=rows.incomplete + rows.frame.height,
                     dataset=rows.name, lacking=dict(rows.lacking))
