"""The checks of one evaluated dataset, column by column; each problem names the rows, the column and the way out.

Columns to plot residuals against, or to order them by, are read here too. Rows that datasets share and must not, with
the training data or with those that recalibrators are fitted on, are found at the end.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.base.lazy_polars import pl
from evalpipe.data import outcome_checks, slices
from evalpipe.data.columns import (
    EXACT_SUM,
    FILE,
    POSITION,
    Columns,
    Rounded,
    allowed_gap,
    decimals,
    fill_hint,
    gap_explained,
    percent_columns,
    read_once,
    refuse,
    wrong_type,
)
from evalpipe.data.labels import check_labels, check_strata, count_arrived, declared_labels, judge_columns
from evalpipe.data.outcome_checks import check_bounded
from evalpipe.data.sample import ColumnValues
from evalpipe.data.slices import MISSING, labels_of, ordered
from evalpipe.data.values import SHOWN, Unreadable, are, more, noun, numbers, probabilities, rows_have, shown, texts
from evalpipe.errors import Problem
from evalpipe.results import Warned
from evalpipe.tasks import NUMBERS, SCORES
from evalpipe.words.spelling import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.base.origin import Loc
    from evalpipe.data.columns import RowBlock
    from evalpipe.plan.plan import ModelPlan


MOST_LEVELS = 50
"""The most levels of a column to plot residuals against."""


def check_row_columns(columns: Columns) -> None:
    """Read the columns to plot residuals against into ``columns.row_columns``; report those that cannot be used."""
    residuals = columns.rows.plan.residuals
    for loc, name in () if residuals is None else residuals.columns:
        try:
            values = columns.rows.typed(name)
            values = values.fill_nan(None) if values.dtype.is_float() else values
            numeric = values.dtype.is_numeric()
            columns.row_columns[name] = ((), values.cast(pl.Float64)) if numeric else _level_codes(values)
        except Unreadable as fault:
            columns.problems.append(wrong_type(columns.rows, name, loc, fault))
            continue
        levels, codes = columns.row_columns[name]
        if numeric:
            check_bounded(columns, name, loc, codes)
        elif loc[2] == "against" and len(levels) > MOST_LEVELS:
            message = (f"column '{name}' of {columns.rows.called} has {len(levels):,} levels, more than the "
                       f"{MOST_LEVELS} that residuals are set against")
            columns.report("too-many-levels", message, loc, "group the levels in the data, or name a column of numbers")


def _level_codes(values: pl.Series) -> tuple[tuple[str, ...], pl.Series]:
    """Return the labels of a column in natural order, dates by time, and each row's label index [n], as float."""
    distinct = values.unique()
    labels = labels_of(distinct)  # of these, for there may be few of them and many rows
    levels = tuple(ordered({*labels} - {MISSING}))
    code_of_label = {label: float(index) for index, label in enumerate(levels)}
    codes = pl.Series([code_of_label.get(label) for label in labels], dtype=pl.Float64)
    return levels, values.replace_strict(distinct, codes, return_dtype=pl.Float64)


def numbered_row_columns(columns: Columns) -> dict[str, pl.Series]:
    """Return the columns that residuals are plotted against, by the names "column 0", … of the sample's table."""
    return {f"column {index}": values for index, (_, values) in enumerate(columns.row_columns.values())}


def row_column_values(columns: Columns, frame: pl.DataFrame) -> Mapping[str, ColumnValues]:
    """Return the columns that residuals are plotted against, by their own names, from the sample's sorted table.

    It has them under the names of `numbered_row_columns`.
    """
    return MappingProxyType({
        name: ColumnValues(levels, np.asarray(frame[f"column {index}"].fill_null(np.nan).to_numpy(), float))
        for index, (name, (levels, _)) in enumerate(columns.row_columns.items())})


def check(rows: RowBlock, *, whole: bool = True, outcome: pl.Series | None = None) -> Columns:
    """Read the columns of an evaluated dataset as values and check them; levels are checked later.

    Levels need all datasets. Where ``rows`` are a part of the dataset and not ``whole``, checks that need all
    rows, such as that of repeated ids, are left out. ``outcome`` [n] are the rows' levels where they are known
    already.
    """
    plan, columns = rows.plan, Columns(rows)
    if outcome is not None:
        columns.levels[plan.outcome.column] = outcome
    columns.models.update({
        key: Columns(block, problems=columns.problems if block.step is None else [])
        for key, block in rows.models.items()})
    if plan.task in SCORES:  # which were checked as they were read
        columns.numbers |= {column: rows.frame[column] for model in plan.models.values()
                            for column in model.columns.values()}
    elif plan.task in NUMBERS:
        outcome_checks.check_numbers(columns)
    else:
        loc: Loc = ("outcome", "column")
        code = None if declared_labels(columns) is not None else "missing-truth"
        _read_texts(columns, columns.levels, plan.outcome.column, loc, code, "the outcome column")
        for column, judge_loc in judge_columns(columns):
            _read_texts(columns, columns.levels, column, judge_loc, "missing-label", "the judge's column")
        count_arrived(columns)
        check_labels(columns)
        check_strata(columns)
        for _, predictions, model in columns.predicted():
            check_model_predictions(predictions, model.name, model)
    for fit, predictions, model in columns.predicted():
        if fit.kind == "bootstrap":
            _check_draw_counts(predictions, model)
    _check_keys_of_rows(columns, whole=whole)
    return columns


def _check_keys_of_rows(columns: Columns, *, whole: bool) -> None:
    """Check weights, exposures, clusters, slices and residual columns; ids only if the dataset is ``whole``."""
    rows, plan = columns.rows, columns.rows.plan
    # Weights before slices, which count only the rows that weigh something.
    if plan.weight is not None:
        counts = plan.weight.kind == "frequency"
        outcome_checks.check_weights(columns, plan.weight.column, counts=counts, part=not whole)
    if plan.exposure is not None:
        outcome_checks.check_exposure(columns, plan.exposure.column)
    if plan.cluster is not None:
        _read_texts(columns, columns.names, plan.cluster, ("cluster",), "missing-cluster", "the cluster column")
    if plan.id is not None and whole:
        _read_texts(columns, columns.names, plan.id, ("id",), "missing-id", "the id column")
        check_unique(columns, plan.id)
    if rows.dataset.role == "evaluate":
        slices.read_slice_columns(columns, whole=whole)
        check_row_columns(columns)


def _check_draw_counts(columns: Columns, model: ModelPlan) -> None:
    """Check the draw counts of rows in a bootstrap sample: whole numbers from 0 on, some above 0."""
    column, loc = str(model.draw_count_column), ("models", model.name, "optimism", "drawn")
    values = read_once(columns, column, loc, "missing-count", "count")
    if values is None:
        return
    wrong = ((values < 0) | (values != values.floor()) | values.is_infinite()).fill_null(value=False)
    refuse(columns, column, loc, wrong, "not-a-count", f"not {noun(wrong, 'whole number')} from 0 on",
           "give how often the row was drawn into the bootstrap sample: 0, 1, 2, …")
    if not (values > 0).any():
        message = f"no row of {columns.rows.called} was drawn into its sample: column '{column}' is 0 throughout"
        columns.report("nothing-drawn", message, loc, "give how often each row was drawn; 0 where it was not")


def check_model_predictions(columns: Columns, name: str, model: ModelPlan) -> None:
    """Check the columns of a classifier's predictions: classes, probabilities or scores; ``name`` is the model's."""
    if model.probability is not None:
        _read_probabilities(columns, model.probability, ("models", name, "probability"))
    if model.score is not None:
        _read_scores(columns, model.score, ("models", name, "score"))
    names = list(model.level_columns.values())
    key, read = ("scores", _read_scores) if model.scores else ("probabilities", _read_probabilities)
    for column in names:
        read(columns, column, ("models", name, key))
    if names and not model.scores:
        check_sums = _check_not_all_zero if model.renormalise else _check_sums
        check_sums(columns, name, names)
    if model.prediction is not None:
        loc: Loc = ("models", name, "prediction")
        _read_texts(columns, columns.levels, model.prediction, loc, "missing-prediction", "the prediction column")


def _check_sums(columns: Columns, name: str, names: list[str]) -> None:
    """Check that the probabilities in columns ``names`` of model ``name`` sum to 1 in each row, up to rounding."""
    if any(column not in columns.numbers for column in names):
        return
    total = pl.select(pl.sum_horizontal([columns.numbers[column].fill_nan(None) for column in names])).to_series()
    in_range_by_column = [columns.numbers[column].is_between(0, 1).fill_null(value=False) for column in names]
    in_range = pl.select(pl.all_horizontal(in_range_by_column)).to_series()  # others are reported already
    gap = (total - 1).abs()
    is_off = (gap > EXACT_SUM) & in_range
    if not is_off.any():
        return
    # Floats of 32 bits are looked at as stored: widened to 64, their decimals would have a tail of noise.
    stored = [columns.rows.frame[column] for column in names]
    decimal_places = decimals([written if written.dtype == pl.Float32 else columns.numbers[column]
                                for written, column in zip(stored, names, strict=True)])
    wrong = (gap > allowed_gap(len(names), decimal_places)) & in_range
    if not wrong.any():
        widest = float(gap.filter(is_off).max())  # type: ignore[arg-type]
        columns.rounded[name] = Rounded(decimal_places or 0, int(is_off.sum()), widest)
        return
    message = f"in {counted(int(wrong.sum()), 'row')} the probabilities of model '{name}' do not sum to 1"
    hint = "give the probabilities of all levels, or set 'renormalise: true' to divide by their sum"
    columns.report(
        "probability-sum", message, ("models", name, "probabilities"), hint, mask=wrong, values=total.round(6),
        notes=(gap_explained(len(names), decimal_places),))


def _check_not_all_zero(columns: Columns, name: str, names: list[str]) -> None:
    """Check that the probabilities in columns ``names`` of model ``name`` are not all 0 in a row: they are rescaled."""
    if any(column not in columns.numbers for column in names):
        return
    wrong = pl.select(pl.all_horizontal([columns.numbers[column] == 0 for column in names])).to_series()
    if wrong.fill_null(value=False).any():
        message = f"in {counted(int(wrong.sum()), 'row')} the probabilities of model '{name}' are all 0"
        columns.report(
            "probability-sum", message, ("models", name, "probabilities"), "give the probabilities of all levels",
            mask=wrong.fill_null(value=False), values=columns.numbers[names[0]])


def check_reference(rows: RowBlock, numbered: frozenset[str]) -> Columns:
    """Read the columns of a reference dataset, with which evaluated rows are compared; check ids and outcomes.

    ``numbered`` are the columns to read as numbers. Where the prevalence comes from this dataset, outcomes,
    weights and clusters are checked as in evaluated rows.
    """
    columns, plan = Columns(rows), rows.plan
    prevalence_columns = _check_prevalence_columns(columns) if plan.gives_prevalence(rows.name) else frozenset[str]()
    for column in rows.dataset.columns:
        if column in prevalence_columns:
            continue
        if column == plan.id and plan.task not in SCORES:
            _read_texts(columns, columns.names, column, ("id",), "missing-id", "the id column")
            if column not in {plan.outcome.column, *numbered}:
                continue
        try:
            if column in numbered:
                read = probabilities if column in percent_columns(plan) else numbers
                columns.numbers[column] = read(rows.numeric(column), as_text=rows.as_text)
            else:
                columns.levels[column] = texts(rows.frame[column])
        except Unreadable as fault:
            columns.problems.append(wrong_type(rows, column, ("datasets", rows.name, "path"), fault))
    if plan.task in NUMBERS and columns.truth is not None:
        outcome_checks.check_bounded(columns, plan.outcome.column, ("outcome", "column"), columns.truth)
    return columns


def _check_prevalence_columns(columns: Columns) -> frozenset[str]:
    """Check the columns a prevalence is estimated from: outcomes, weights and clusters; return their names."""
    plan = columns.rows.plan
    loc: Loc = ("outcome", "column")
    _read_texts(columns, columns.levels, plan.outcome.column, loc, "missing-truth", "the outcome column")
    if plan.weight is not None:
        outcome_checks.check_weights(columns, plan.weight.column, counts=plan.weight.kind == "frequency")
    if plan.cluster is not None:
        _read_texts(columns, columns.names, plan.cluster, ("cluster",), "missing-cluster", "the cluster column")
    weight = None if plan.weight is None else plan.weight.column
    return frozenset(filter(None, (plan.outcome.column, weight, plan.cluster))) - {plan.id}


def _read_texts(
    columns: Columns, texts_of: dict[str, pl.Series], column: str, loc: Loc, code: str | None, called: str
) -> None:
    """Read a column of levels, ids or clusters as texts into ``texts_of``, by column; report empty cells.

    ``code`` is the problem's code, None where cells may be empty; ``called`` the words for the column in its message,
    such as "the id column".
    """
    if column in texts_of:
        return
    rows, cells = columns.rows, columns.rows.frame[column]
    try:
        values = texts(cells)
    except Unreadable as fault:
        columns.problems.append(wrong_type(rows, column, loc, fault))
        return
    texts_of[column] = values
    is_empty = values.is_null()
    if code is not None and is_empty.any():
        message = f"{rows_have(is_empty)} no value in {called} '{column}'"
        hint = fill_hint(rows, column, loc)
        columns.report(code, message, loc, hint, mask=is_empty, values=cells)


def _read_probabilities(columns: Columns, column: str, loc: Loc) -> None:
    """Read a column of probabilities; every row must have one from 0 to 1."""
    values = read_once(columns, column, loc, "missing-probability", "probability")
    if values is not None and not values.is_between(0, 1).all():
        outside = (((values < 0) | (values > 1)) & values.is_not_nan()).fill_null(value=False)
        if column in percent_columns(columns.rows.plan):
            refuse(columns, column, loc, outside, "probability-range", f"not {noun(outside, 'percent')} from 0 to 100",
                   "give the model's probability in percent")
            return
        refuse(columns, column, loc, outside, "probability-range", f"not {noun(outside, 'probability')} from 0 to 1",
               _probability_hint(values, outside, str(loc[-1])))


def _read_scores(columns: Columns, column: str, loc: Loc) -> None:
    """Read a column of scores; every row must have a finite one."""
    values = read_once(columns, column, loc, "missing-score", "score")
    if values is not None and not values.is_finite().all():
        refuse(columns, column, loc, values.is_infinite().fill_null(value=False), "score-range", "infinite",
               "a score is a finite number; find out why it could not be computed")


def _probability_hint(values: pl.Series, outside: pl.Series, key: str) -> str:
    """Return a hint what a column holds instead of probabilities: percents, log odds, or something unknown.

    ``values`` [n] are its numbers, ``outside`` [n] flags those outside 0 to 1, ``key`` is its key in the spec.
    """
    finite = values.filter(values.is_finite().fill_null(value=False))
    share = int(outside.sum()) / max(1, len(values))
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)  # type: ignore[arg-type]
    if share >= 0.5 and low >= 0 and 1 < high <= 100:
        return "they look like percents: add 'scale: percent' to the model"
    if share >= 0.2 and low < 0:
        instead = "'scores'" if key == "probabilities" else "'score' and add 'scale: logit'"
        return f"they look like log odds: name the column under {instead}"
    return f"give the model's probability of the {'level' if key == 'probabilities' else 'event'}"


def check_ids(rows: RowBlock) -> Columns:
    """Read the ids of rows as texts, and check that each row has one."""
    columns = Columns(rows)
    _read_texts(columns, columns.names, str(rows.plan.id), ("id",), "missing-id", "the id column")
    return columns


def check_unique(columns: Columns, column: str) -> None:
    """Report ids that are in several rows; ``column`` is the id's."""
    ids = columns.names.get(column)
    if ids is None or ids.drop_nulls().n_unique() == len(ids) - ids.null_count():
        return
    rows = columns.rows
    frame = pl.DataFrame({"id": ids, "position": rows.frame[POSITION]})
    first_positions = frame.select(pl.col("position").first().over("id")).to_series()
    is_repeated = (first_positions != rows.frame[POSITION]) & ids.is_not_null()
    message = f"{rows_have(is_repeated)} an id that an earlier row has (column '{column}')"
    hint = "an id names one row; remove the copies, or name the column that tells the rows apart"
    earlier = [rows.row_in_file(int(position)) for position in first_positions.filter(is_repeated).head(5)]
    problem = rows.problem("duplicate-id", message, ("id",), hint, mask=is_repeated, values=ids)
    shown = tuple(
        (row, f"{value}, as in row {earlier_row}{suffix}")
        for (row, value), (earlier_row, suffix) in zip(problem.rows, earlier, strict=True)
    )
    columns.problems.append(replace(problem, rows=shown))


OTHER_POSITION = "\0there"
"""The column with the `POSITION` of a row's twin in the other dataset."""

ALIKE = 0.75
"""Of rows unlike all others of their dataset, the share with such a twin above which datasets without `id` count as
sharing rows. By chance it is at most exp(-1), 0.37: that is the largest probability of a Poisson count to be 1."""

FEWEST = 5
"""The fewest rows unlike all others of their dataset from which sharing is concluded."""


def shared_rows(columns: Columns, other: Columns) -> Iterator[Problem]:
    """Yield a problem where rows of a dataset are also in ``other``: by id, else by all columns read from both.

    Without an id, rows to calibrate on may only look like evaluated rows. Then rows at the same place of the same
    file are shared, and equal rows only where there are more than chance explains; fewer give a warning.
    """
    row_id = columns.rows.plan.id
    by_looks = row_id is None and other.rows.dataset.role == "calibrate"
    # Rows of one place in one file are the same whatever they look like; no chance is in that.
    if by_looks and (same_rows := _rows_of_one_file(columns, other)).height:
        yield _shared_rows_problem(columns, other, same_rows, [])
        return
    keys = list(other.rows.dataset.columns) if row_id is None else [row_id]
    if by_looks:
        keys = sorted(_column_values(other).keys() & _column_values(columns).keys())
    shared = _rows_in_both(columns, other, keys)
    if shared is None:
        return
    columns.compared[other.rows.name] = _shown_keys(keys)
    if shared.height and by_looks and not _more_twins_than_chance(columns, other, keys):
        columns.warnings.append(Warned.of(
            "alike-rows", case="recalibrators" if _fits_recalibrators(other) else "thresholds", rows=shared.height,
            dataset=columns.rows.name, other=other.rows.name))
    elif shared.height:
        yield _shared_rows_problem(columns, other, shared, keys)


def _more_twins_than_chance(columns: Columns, other: Columns, keys: list[str]) -> bool:
    """Tell whether more than `ALIKE` of the rows unique in their dataset equal a unique row of the other."""
    unique = [
        pl.DataFrame({key: _column_values(side)[key] for key in keys}).filter(pl.struct(keys).is_unique())
        for side in (columns, other)
    ]
    if unique[0].height < FEWEST:
        return False
    return unique[0].join(unique[1], on=keys, how="semi", nulls_equal=True).height > ALIKE * unique[0].height


def _column_values(columns: Columns) -> dict[str, pl.Series]:
    """Return all columns by name, those of files of predictions too; the id as text, if it is also read otherwise."""
    identity = columns.rows.plan.id
    values = columns.names | columns.levels | columns.numbers
    if identity in columns.names:
        values[identity] = columns.names[identity]
    for model, predictions in ((fit.model, part) for fit, part in columns.models.items() if fit.is_shown):
        # With NUL in it, which no column of the dataset has.
        values |= {f"{model}\0{name}": series for name, series in (predictions.levels | predictions.numbers).items()}
    return values


def _rows_in_both(columns: Columns, other: Columns, keys: list[str]) -> pl.DataFrame | None:
    """Return the positions in both datasets of rows that both have, by columns ``keys``; None where one is absent."""
    own_values, other_values = _column_values(columns), _column_values(other)
    if any(key not in values for key in keys for values in (own_values, other_values)):
        return None
    left = pl.DataFrame({key: own_values[key] for key in keys} | {POSITION: columns.rows.frame[POSITION]})
    right = pl.DataFrame({key: other_values[key] for key in keys} | {OTHER_POSITION: other.rows.frame[POSITION]})
    # Each row is reported once, with its first twin.
    right = right.unique(keys, keep="first", maintain_order=True)
    if columns.rows.plan.id is not None:
        left = left.filter(pl.col(columns.rows.plan.id).is_not_null())
    return left.join(right, on=keys, how="inner", nulls_equal=True).sort(POSITION)


def _rows_of_one_file(columns: Columns, other: Columns) -> pl.DataFrame:
    """Return the positions in both datasets of rows with the same row number in files of the same bytes."""
    sides: list[pl.DataFrame] = []
    for side, name in ((columns, POSITION), (other, OTHER_POSITION)):
        sha256 = pl.Series([source.sha256 for source in side.rows.sources], dtype=pl.String)
        positions = side.rows.frame[POSITION]
        rows = pl.DataFrame({"file": sha256.gather(positions // FILE), "row": positions % FILE, name: positions})
        sides.append(rows.filter(pl.col("file").is_not_null()))
    shared = sides[0].join(sides[1], on=["file", "row"], how="inner")
    return shared.select(pl.col(POSITION, OTHER_POSITION)).sort(POSITION)


def _shared_rows_problem(columns: Columns, other: Columns, shared: pl.DataFrame, keys: list[str]) -> Problem:
    """Return the problem of rows in both datasets: ``shared`` has their positions, ``keys`` the compared columns."""
    plan, other_rows = columns.rows.plan, other.rows
    rows = []
    for record in shared.head(SHOWN).iter_rows(named=True):
        row, suffix = columns.rows.row_in_file(record[POSITION])
        twin, file = other_rows.row_in_file(record[OTHER_POSITION])
        value = f"{shown(record[plan.id])}{suffix}, " if plan.id is not None else f"{suffix.strip()}, ".lstrip(", ")
        in_file = file or f" of {other_rows.place}"
        rows.append((row, f"{value}{'also ' if value else 'the same as '}row {twin}{in_file}"))
    count = shared.height
    calibrating = other_rows.dataset.role == "calibrate"
    use = "recalibrators are fitted" if _fits_recalibrators(other) else "thresholds are chosen"
    other_called = f"dataset '{other_rows.name}', on which {use}" if calibrating else (
        f"the reference dataset '{other_rows.name}'")
    message = f"{counted(count, 'row')} of dataset '{columns.rows.name}' {are(count)} also in {other_called}"
    hint, notes = _shared_rows_hint(columns, other), more(count)
    if plan.id is None and keys:
        hint = (
            "declare 'id': without it rows count as the same when all columns read are equal, and different cases can "
            "look alike"
        )
        notes += (f"compared by {', '.join(_shown_keys(keys))}",)
    place = plan.places.place("datasets", columns.rows.name)
    notes += (f"named at {place}",) if place is not None else ()
    return Problem("shared-rows", message, columns.rows.place, hint, tuple(rows), notes)


def _shown_keys(keys: list[str]) -> list[str]:
    """Return compared columns as messages name them: a column of a model's own file is "model.column"."""
    return [key.replace("\0", ".") for key in keys]


def _fits_recalibrators(other: Columns) -> bool:
    """Tell whether recalibrators are fitted on a dataset; on another one for calibration, thresholds are chosen."""
    return other.rows.plan.recalibrate.dataset == other.rows.name


def _shared_rows_hint(columns: Columns, other: Columns) -> str:
    """Return what to do about rows that ``columns`` shares with ``other``, by the roles of the two datasets."""
    if other.rows.dataset.role == "calibrate" and not _fits_recalibrators(other):
        return "choose on other rows, or cross-fit with on: {folds: 10}: no threshold is judged on rows that chose it"
    if other.rows.dataset.role == "calibrate":
        return "fit on other rows, or cross-fit with fit_on: {folds: 10}: nothing may be fitted and judged on one row"
    if columns.rows.dataset.role == "calibrate":
        return "remove them from the rows to calibrate on: a model looks too good on rows it was trained on"
    return "remove them from the evaluated data: a model must not be judged on rows it was trained on"
