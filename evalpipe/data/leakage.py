"""Rows that datasets share and must not: with the training data, or with those that recalibrators are fitted on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.base.lazy_polars import pl
from evalpipe.data.columns import FILE, POSITION
from evalpipe.data.problems import SHOWN, are, more
from evalpipe.data.values import shown
from evalpipe.errors import Problem
from evalpipe.results import Warned
from evalpipe.words.spelling import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.data.columns import Columns

OTHER_POSITION = "\0there"
"""The column with the `POSITION` of a row's twin in the other dataset."""

ALIKE = 0.75
"""Of rows unlike all others of their dataset, the share with such a twin above which datasets without `id` count as
sharing rows. By chance it is at most exp(-1), 0.37: that is the largest probability of a Poisson count to be 1."""

FEWEST = 5
"""The fewest rows unlike all others of their dataset from which sharing is concluded."""


def shared_rows(columns: Columns, other: Columns) -> Iterator[Problem]:
    """Yield a problem where rows are in the dataset ``other`` too: by id, else by all columns read from both.

    Rows to calibrate on may look like evaluated ones without being the same: without an id those of one file count, and
    twins only where more have one than chance explains; fewer are a warning.
    """
    calibrating = other.rows.dataset.role == "calibrate"
    if columns.rows.plan.id is None and calibrating:
        yield from _shared_without_id(columns, other)
        return
    keys = list(other.rows.dataset.columns) if columns.rows.plan.id is None else [columns.rows.plan.id]
    shared = _rows_in_both(columns, other, keys)
    if shared is None:
        return
    columns.compared[other.rows.name] = _shown_keys(keys)
    if shared.height:
        yield _shared_rows_problem(columns, other, shared, keys)


def _shared_without_id(columns: Columns, other: Columns) -> Iterator[Problem]:
    """Yield a problem where rows are shared though none has an id; rows that only look alike are a warning."""
    # Rows of one place in one file are the same whatever they look like; no chance is in that.
    same_rows = _rows_of_one_file(columns, other)
    if same_rows.height:
        yield _shared_rows_problem(columns, other, same_rows, [])
        return
    keys = sorted(_column_values(other).keys() & _column_values(columns).keys())
    shared = _rows_in_both(columns, other, keys)
    if shared is None:
        return
    columns.compared[other.rows.name] = _shown_keys(keys)
    if not shared.height:
        return
    if _more_twins_than_chance(columns, other, keys):
        yield _shared_rows_problem(columns, other, shared, keys)
        return
    columns.warnings.append(Warned.of(
        "alike-rows", case="recalibrators" if _fits_recalibrators(other) else "thresholds", rows=shared.height,
        dataset=columns.rows.name, other=other.rows.name))


def _more_twins_than_chance(columns: Columns, other: Columns, keys: list[str]) -> bool:
    """Tell whether more than `ALIKE` of the rows unlike all others of their dataset have such a twin in the other."""
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
    other_called = f"dataset '{other_rows.name}', on which {_calibration_use(other)}" if calibrating else (
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


def _calibration_use(other: Columns) -> str:
    return "recalibrators are fitted" if _fits_recalibrators(other) else "thresholds are chosen"


def _shared_rows_hint(columns: Columns, other: Columns) -> str:
    if other.rows.dataset.role == "calibrate" and not _fits_recalibrators(other):
        return "choose on other rows, or cross-fit with on: {folds: 10}: no threshold is judged on rows that chose it"
    if other.rows.dataset.role == "calibrate":
        return "fit on other rows, or cross-fit with fit_on: {folds: 10}: nothing may be fitted and judged on one row"
    if columns.rows.dataset.role == "calibrate":
        return "remove them from the rows to calibrate on: a model looks too good on rows it was trained on"
    return "remove them from the evaluated data: a model must not be judged on rows it was trained on"
