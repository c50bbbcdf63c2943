"""Files of predictions: their rows are divided by step, matched with the dataset's, and lists split into levels.

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
from evalpipe.data.values import Unreadable, are, blank, cells, cells_differ, noun, numbers, rows_have, shown, texts
from evalpipe.errors import Problem
from evalpipe.plan.sources import Fit
from evalpipe.results import Warned
from evalpipe.tasks import NUMBERS
from evalpipe.words.spelling import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evalpipe.base.origin import Loc
    from evalpipe.data.columns import Columns, RowBlock
    from evalpipe.plan.plan import ModelPlan, Plan


LARGEST_STEP = 2**53
"""The largest step: whole numbers are exact in double precision up to it."""


def split_by_step(rows: RowBlock, model: ModelPlan, *, evaluated: bool) -> tuple[dict[Fit, RowBlock], list[Problem]]:
    """Divide the rows of a model's file by training step, ascending; return them by fit, and problems.

    Other steps than the one that the card shows are kept only for rows that are ``evaluated``. A model without steps
    has one part.
    """
    shown_fit = Fit(model.name)
    if model.step is None:
        return {shown_fit: rows}, []
    steps, problems = _read_steps(rows, model, model.step)
    if problems or not len(steps):
        return {shown_fit: rows}, problems
    parts = {int(step): part.drop("\0step") for (step,), part in
             rows.frame.with_columns(steps.alias("\0step")).partition_by("\0step", as_dict=True).items()}
    shown_step = max(parts) if model.shown_step is None else model.shown_step
    if shown_step not in parts:
        step_numbers = sorted(parts)
        closest = min(step_numbers, key=lambda step: (abs(step - shown_step), step))
        has_steps = f"step {step_numbers[0]} alone" if len(step_numbers) == 1 else (
            f"{counted(len(step_numbers), 'step')}, {step_numbers[0]} to {step_numbers[-1]}")
        message = f"{rows.called} has no step {shown_step}: it has {has_steps}"
        loc = ("models", model.name, "step", "at")
        return {}, [rows.problem("unknown-step", message, loc, f"did you mean {closest}?")]
    kept_steps = sorted(parts) if evaluated else [shown_step]
    return {shown_fit if step == shown_step else Fit(model.name, "step", step):
            replace(rows, frame=parts[step], step=step) for step in kept_steps}, []


def _read_steps(rows: RowBlock, model: ModelPlan, column: str) -> tuple[pl.Series, list[Problem]]:
    """Return the step of each row [n] as an integer, and the problems of empty or wrong cells."""
    loc: Loc = ("models", model.name, "step")
    written = rows.frame[column]
    try:
        values = numbers(rows.numeric(column), as_text=rows.as_text)
    except Unreadable as fault:
        message = f"column '{column}' of {rows.called} {fault.reason}"
        return pl.Series(), [rows.problem(fault.code, message, loc, fault.hint)]
    is_empty = blank(written) | values.is_nan().fill_null(value=False)
    is_step = ((values >= 0) & (values <= LARGEST_STEP) & (values == values.floor())).fill_null(value=False)
    wrong = ~is_step & ~is_empty
    problems = []
    if is_empty.any():
        message, hint = f"{rows_have(is_empty)} no step in column '{column}'", "number the step of every row"
        problems.append(rows.problem("missing-step", message, loc, hint, mask=is_empty, values=written))
    if wrong.any():
        message = f"{cells(wrong)} of column '{column}' {are(wrong)} not {noun(wrong, 'whole number')} from 0 on"
        hint = "number the steps 0, 1, 2, …; steps may be left out"
        problems.append(rows.problem("not-a-step", message, loc, hint, mask=wrong, values=written))
    return values.cast(pl.Int64, strict=False), problems


def first_step_faults(faults: Mapping[Fit, list[Problem]], parts: Mapping[Fit, RowBlock]) -> list[Problem]:
    """Return the problems of all fits; of a model's training steps only those of the first step that has any.

    ``faults`` are the problems by fit, ``parts`` the rows of each fit. A note counts the other steps with
    problems.
    """
    problems: list[Problem] = []
    by_model_and_step: dict[str, dict[int, list[Problem]]] = {}
    for fit, problems_of_fit in faults.items():
        step = parts[fit].step
        if step is None:
            problems += problems_of_fit
        elif problems_of_fit:
            by_model_and_step.setdefault(fit.model, {})[step] = problems_of_fit
    for by_step in by_model_and_step.values():
        first, *others = (by_step[step] for step in sorted(by_step))
        more = (f"{counted(len(others), 'other step')} {'has' if len(others) == 1 else 'have'} faults too",)
        problems += [replace(problem, notes=(*problem.notes, *more)) if others else problem for problem in first]
    return problems


def step_faults(columns: Columns) -> list[Problem]:
    """Return the problems of predictions at training steps, by model those of the first step that has any."""
    by_fit = {fit: fit_columns.problems for fit, fit_columns in columns.models.items()
              if fit_columns.rows.step is not None}
    return first_step_faults(by_fit, {fit: columns.models[fit].rows for fit in by_fit})


def differing_last_steps(predicted: Iterable[Columns]) -> Iterator[Problem]:
    """Yield a problem for each model whose last step differs between datasets: each would show another model."""
    last: dict[str, list[RowBlock]] = {}
    for columns in predicted:
        for fit, fit_columns in columns.models.items():
            if fit_columns.rows.step is not None and fit.is_shown:
                last.setdefault(fit.model, []).append(fit_columns.rows)
    for model, blocks in last.items():
        for first, second in pairwise(blocks):
            if first.step != second.step:
                message = (f"the last step of {first.called} is {first.step}, but that of {second.called} is "
                           f"{second.step}")
                hint = f"say which step to show: step: {{column: {first.plan.models[model].step}, at: …}}"
                yield replace(second, step=None).problem("steps-differ", message, ("models", model, "step"), hint)


_MISALIGNED = "misaligned-rows"


def match_rows(rows: RowBlock, files: Mapping[Fit, RowBlock]) -> tuple[RowBlock, list[Problem]]:
    """Match the rows of a dataset, before its ``where``, with those of each file of predictions; return problems too.

    Rows are matched by their id where the spec names one, else by position: then columns that both have must agree. The
    dataset's rows get a column for each fit with the matching row of its file, from 0, null where there is none.
    """
    faults: dict[Fit, list[Problem]] = {}
    row_columns: list[pl.Series] = []
    for fit, file_rows in files.items():
        row_numbers, faults[fit] = (_match_by_position(rows, file_rows) if rows.plan.id is None
                           else _match_by_id(rows, file_rows, rows.plan.id))
        row_columns += [] if row_numbers is None else [row_numbers.alias(row_number_column(fit))]
    return replace(rows, frame=rows.frame.with_columns(row_columns)), first_step_faults(faults, files)


def attach_predictions(rows: RowBlock, files: Mapping[Fit, RowBlock]) -> tuple[RowBlock, list[Problem]]:
    """Put the matching rows of prediction files into ``models`` of the dataset's rows; return problems too.

    A row without a prediction is a problem.
    """
    faults: dict[Fit, list[Problem]] = {}
    models: dict[Fit, RowBlock] = {}
    for fit, file_rows in files.items():
        row_numbers = rows.frame[row_number_column(fit)]
        if row_numbers.null_count():
            faults[fit] = _rows_without_prediction(rows, file_rows, row_numbers.is_null())
        else:
            models[fit] = replace(file_rows, frame=file_rows.frame[row_numbers])
    return replace(rows, models=MappingProxyType(models)), first_step_faults(faults, files)


def row_number_column(fit: Fit) -> str:
    """Return the name of the column with the number of the row in a fit's prediction file that matches a row."""
    return f"\0row of {fit.model}\0{fit.kind} {fit.number}"


def _match_by_position(rows: RowBlock, file_rows: RowBlock) -> tuple[pl.Series | None, list[Problem]]:
    """Return the row of the file for each row [n], in order; None, and a problem, where the two do not agree.

    They have to have the same number of rows, and the same values in the columns that both have.
    """
    own_count, file_count, loc = rows.frame.height, file_rows.frame.height, file_rows.dataset.table.named.loc
    if own_count != file_count:
        message = f"{file_rows.called} has {counted(file_count, 'row')}, but the dataset has {own_count:,}"
        hint = f"{_id_hint(rows, file_rows)}, or write one row for each"
        return None, [file_rows.problem(_MISALIGNED, message, loc, hint)]
    # A file in another order would give each row the prediction of another, and nothing else would tell.
    for column in file_rows.dataset.compared:
        differ = cells_differ(rows.frame[column], file_rows.frame[column])
        if differ.any():
            return None, [_differing_rows(rows, file_rows, column, differ)]
    return pl.int_range(own_count, dtype=pl.Int64, eager=True), []


def _differing_rows(rows: RowBlock, file_rows: RowBlock, column: str, differ: pl.Series) -> Problem:
    """Return the problem of a shared column whose values differ in rows of the same position, where ``differ`` [n]."""
    own_cells, file_cells, count = rows.frame[column], file_rows.frame[column], int(differ.sum())
    loc = file_rows.dataset.table.named.loc
    message = (f"{file_rows.called} is matched row by row, but column '{column}', which both have, differs in "
               f"{count:,} of {counted(len(differ), 'row')}")
    hint = f"{_id_hint(rows, file_rows)}, or write the file's rows in the order of the dataset"
    problem = file_rows.problem(_MISALIGNED, message, loc, hint, mask=differ, values=file_cells)
    pairs = zip(problem.rows, own_cells.filter(differ).head(len(problem.rows)), strict=True)
    return replace(problem, rows=tuple((row, f"{value}, but {shown(own_value)} in the dataset")
                                       for (row, value), own_value in pairs))


def _id_hint(rows: RowBlock, file_rows: RowBlock) -> str:
    """Return a hint to match by id, with a shared column that identifies rows: no empty cell, no value twice."""
    for column in file_rows.dataset.compared:
        values = (rows.frame[column], file_rows.frame[column])
        if all(not blank(series).any() and series.n_unique() == len(series) for series in values):
            return f"write 'id: {column}', so that rows are matched by it"
    return "name the column that identifies a row under 'id', so that rows are matched by it"


def _match_by_id(rows: RowBlock, file_rows: RowBlock, column: str) -> tuple[pl.Series | None, list[Problem]]:
    """Return the matching row of the file for each row [n] by id, null where there is none, and problems of ids."""
    own_ids, fault = _read_ids(rows, column)
    ids, file_fault = _read_ids(file_rows, column)
    if own_ids is None or ids is None:
        return None, [*fault, *file_fault]
    has_id = ids.is_not_null()
    is_repeated = has_id & ~ids.is_first_distinct()
    # Looked for among all rows of the dataset, of which `where` has left out none yet.
    is_unknown = has_id & ~ids.is_in(own_ids.drop_nulls().implode())
    refused = (
        (ids.is_null(), f"no value in the id column '{column}' of {file_rows.called}",
         f"each row needs the id of the row of dataset '{file_rows.name}' that it predicts"),
        (is_repeated, f"an id that an earlier row of {file_rows.called} has", "keep one prediction for each id"),
        (is_unknown, f"an id in {file_rows.called} that the dataset does not have",
         "remove them, or name the file that belongs to this dataset"),
    )
    loc = file_rows.dataset.table.named.loc
    problems = [file_rows.problem(_MISALIGNED, f"{rows_have(mask)} {what}", loc, hint, mask=mask, values=ids)
            for mask, what, hint in refused if mask.any()]
    # A join promises no order unless it is told to keep that of its left side.
    row_of_id = pl.DataFrame({"id": ids, "at": pl.int_range(len(ids), dtype=pl.Int64, eager=True)}).filter(has_id)
    matched = pl.DataFrame({"id": own_ids}).join(
        row_of_id.unique("id", keep="first", maintain_order=True), on="id", how="left", maintain_order="left"
    )
    return matched["at"], problems


def _read_ids(rows: RowBlock, column: str) -> tuple[pl.Series | None, list[Problem]]:
    """Return the ids of rows as texts [n]; None, and a problem, where the column's type cannot be used."""
    try:
        return texts(rows.frame[column]), []
    except Unreadable as fault:
        return None, [wrong_type(rows, column, ("id",), fault)]


def _rows_without_prediction(rows: RowBlock, file_rows: RowBlock, lacking: pl.Series) -> list[Problem]:
    """Return the problem of rows without an id; where all have one, of rows ``lacking`` [n] a prediction."""
    column = str(rows.plan.id)
    ids = texts(rows.frame[column])
    empty, loc = ids.is_null(), file_rows.dataset.table.named.loc
    if empty.any():
        message = f"{rows_have(empty)} no value in the id column '{column}'"
        return [rows.problem("missing-id", message, ("id",), fill_hint(rows, column, ("id",)), mask=empty, values=ids)]
    message = f"{rows_have(lacking)} no prediction: their ids are not in {file_rows.called}{file_rows.at_step}"
    if int(lacking.sum()) == 1:
        message = f"1 row has no prediction: its id is not in {file_rows.called}{file_rows.at_step}"
    hint = "predict them, or leave such rows out for every model with 'complete_case: all' at the top of the spec"
    return [rows.problem(_MISALIGNED, message, loc, hint, mask=lacking, values=ids)]


_NUMBER = r"(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|null|NaN|nan)"
_LIST_TEXT = rf"^\s*\[\s*(?:{_NUMBER}\s*(?:,\s*{_NUMBER}\s*)*)?\]\s*$"
"""A list as text: numbers with a decimal point, null or NaN, between brackets and separated by commas."""

_EXAMPLE = "write the numbers of all levels between brackets, separated by commas: [0.7, 0.2, 0.1]"


def split_lists(
    rows: RowBlock, files: Mapping[Fit, RowBlock]
) -> tuple[RowBlock, Mapping[Fit, RowBlock], list[Problem]]:
    """Split columns of lists, of a dataset's rows and of files of predictions, into a column for each level.

    A list of a row that is used must have as many numbers as there are levels; else it is a problem.
    """
    rows, problems = _split_columns(rows, None)
    faults: dict[Fit, list[Problem]] = {}
    parts: dict[Fit, RowBlock] = {}
    for fit, file_rows in files.items():
        parts[fit], faults[fit] = _split_columns(file_rows, rows.frame[row_number_column(fit)])
    return rows, parts, problems + first_step_faults(faults, parts)


def _split_columns(rows: RowBlock, used_rows: pl.Series | None) -> tuple[RowBlock, list[Problem]]:
    """Split each column of lists into a column for each level; return the rows and problems.

    Lists of the rows numbered in ``used_rows`` must have a number for each level; None for all rows.
    """
    problems: list[Problem] = []
    parts: dict[str, dict[str, pl.Series]] = {}
    for model in _models_of_lists(rows):
        column = str(model.list_column)
        if column in parts:
            continue
        lists, faults = _read_lists(rows, model, column)
        if not faults and lists is not None:
            is_used = pl.repeat(value=True, n=len(lists), eager=True)
            if used_rows is not None:
                is_used = pl.int_range(len(lists), eager=True).is_in(used_rows.drop_nulls().implode())
            faults = list(_wrong_length_lists(rows, model, column, lists, is_used))
            parts[column] = {name: lists.list.get(index, null_on_oob=True).alias(name) for index, name in enumerate(
                model.level_columns[level] for level in model.order)}
        problems += faults
    if problems or not parts:
        return rows, problems
    names = [name for column in rows.dataset.columns for name in parts.get(column, {column: None})]
    frame = rows.frame.drop(list(parts)).with_columns(
        series for by_level in parts.values() for series in by_level.values())
    return replace(rows, frame=frame, dataset=replace(rows.dataset, columns=tuple(dict.fromkeys(names)))), []


def _models_of_lists(rows: RowBlock) -> Iterator[ModelPlan]:
    """Yield the models with a column of lists in these rows."""
    model_of_file = rows.dataset.table.named.model
    for model in rows.plan.models.values():
        # A model's predictions stand in files of its own, or else among the dataset's columns.
        is_in_rows = model.name == model_of_file if model_of_file is not None else not model.has_own_files
        if is_in_rows and model.list_column in rows.frame.columns:
            yield model


def _read_lists(rows: RowBlock, model: ModelPlan, column: str) -> tuple[pl.Series | None, list[Problem]]:
    """Read a column of lists, also of lists written as texts; null for empty cells. None, and problems, for others."""
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
    contents = "lists of lists" if kind.is_nested() else f"values of type {kind}"
    return None, [wrong_type(rows, column, loc, Unreadable("wrong-type", f"holds {contents}, not lists of numbers",
                                                           _EXAMPLE))]


def _lists_in_texts(written: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Parse texts as lists of floats [n], null for an empty cell; also return flags [n] of cells that are no lists."""
    empty = blank(written)
    strange = ~empty & ~written.str.contains(_LIST_TEXT).fill_null(value=False)
    inside = written.set(empty | strange, None).str.strip_chars().str.strip_prefix("[").str.strip_suffix("]")
    texts = inside.str.split(",").list.eval(pl.element().str.strip_chars())
    numbers = texts.list.eval(pl.element().replace(["null", ""], None).cast(pl.Float64))
    # Brackets with nothing inside are an empty list, where splitting makes a list of one empty text.
    return numbers.set(inside.str.strip_chars() == "", pl.Series([[]], dtype=numbers.dtype)[0]), strange


def listed_numbers(cells: pl.Series) -> pl.Series | None:
    """Return a column of lists of numbers, or of such lists as texts, as lists of floats; None for other columns."""
    if isinstance(cells.dtype, pl.List | pl.Array):
        return cells.cast(pl.List(pl.Float64)) if cells.dtype.inner.is_numeric() else None
    if cells.dtype != pl.String or blank(cells).all():
        return None
    lists, strange = _lists_in_texts(cells)
    return None if strange.any() else lists


def _wrong_length_lists(
    rows: RowBlock, model: ModelPlan, column: str, lists: pl.Series, is_used: pl.Series
) -> Iterator[Problem]:
    """Yield the problem of lists of used rows that have more or fewer numbers than there are levels."""
    lengths = lists.list.len()
    wrong = ((lengths != len(model.order)) & is_used).fill_null(value=False)
    if wrong.any():
        count = int(wrong.sum())
        message = (f"{counted(count, 'list')} of column '{column}' {'does' if count == 1 else 'do'} not hold "
                   f"{counted(len(model.order), 'number')}, one for each level")
        hint = f"give one number for each level, in the order {listed(model.order, 'and')}"
        problem = rows.problem("list-length", message, _lists_loc(model), hint, mask=wrong, values=lengths)
        yield replace(problem, rows=tuple((row, f"a length of {length}") for row, length in problem.rows))


def _lists_loc(model: ModelPlan) -> Loc:
    """Return the key of the spec that names a model's column of lists."""
    return ("models", model.name, "scores" if model.scores else "probabilities")


def complete_cases(rows: RowBlock, files: Mapping[Fit, RowBlock]) -> RowBlock:
    """Keep the rows for which every model has a prediction, perhaps none, and count the rows that each model lacks.

    ``files`` are the files of predictions, matched to the rows. A prediction is absent where the file has no row for
    the id, and where one of the model's cells is empty or NaN, at any step and in any fit.
    """
    models_without_file = {Fit(model): None for model in rows.plan.models if Fit(model) not in files}
    all_files = {**files, **models_without_file}
    lacking = {model: reduce(or_, (_rows_lacking(rows, file_rows, fit) for fit, file_rows in all_files.items()
                                   if fit.model == model)) for model in rows.plan.models}
    is_lacking = reduce(or_, lacking.values())
    counts = {model: int(mask.sum()) for model, mask in lacking.items() if mask.any()}
    frame = rows.frame.filter(~is_lacking)
    return replace(rows, frame=frame, incomplete=int(is_lacking.sum()), lacking=MappingProxyType(counts))


def none_complete(plan: Plan, dataset: str) -> Problem:
    """Return the problem that no row of a dataset has a prediction of every model."""
    return Problem("no-rows-left", f"no row of dataset '{dataset}' has a prediction of every model",
                   plan.places.place("complete_case"), "find out why predictions are missing, or leave out a model")


def _rows_lacking(rows: RowBlock, file_rows: RowBlock | None, fit: Fit) -> pl.Series:
    """Return flags [n] of rows for which a fit has no prediction, in the file ``file_rows`` or in the dataset.

    A row without an id is not flagged: it is another problem, reported by itself.
    """
    plan = rows.plan
    row_numbers = None if file_rows is None else rows.frame[row_number_column(fit)]
    mask = pl.repeat(value=False, n=rows.frame.height, eager=True)
    # By position every row has a partner, or the files were refused for their lengths.
    if row_numbers is not None and plan.id is not None:
        mask = row_numbers.is_null() & texts(rows.frame[plan.id]).is_not_null()
    source = rows if file_rows is None else file_rows
    for kind, column in plan.models[fit.model].columns.items():
        cells = source.frame[column]
        is_empty = _without_value(cells, numeric=kind != "prediction" or plan.task in NUMBERS)
        mask |= is_empty if row_numbers is None else is_empty.gather(row_numbers).fill_null(value=False)
    return mask


def _without_value(cells: pl.Series, *, numeric: bool) -> pl.Series:
    """Return flags [n] of cells without a prediction: empty ones, and NaN where a number is expected."""
    if cells.dtype.is_float():
        return cells.is_null() | cells.is_nan().fill_null(value=False)
    if numeric and cells.dtype == pl.String:
        return blank(cells) | (cells.str.strip_chars().str.to_lowercase() == "nan").fill_null(value=False)
    return blank(cells)


def left_out_warning(dataset: str, left_out: int, rows: int, lacking: Mapping[str, int]) -> Warned:
    """Return the warning of rows left out because models have no prediction for them; ``lacking`` counts by model."""
    return Warned.of("incomplete-rows", left_out=left_out, rows=rows, dataset=dataset, lacking=dict(lacking))
