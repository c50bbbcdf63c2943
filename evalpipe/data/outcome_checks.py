"""The checks of the outcome (levels or numbers), of its exposure, and of the weights of rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.base.constants import LARGEST, SMALLEST
from evalpipe.base.lazy_polars import pl
from evalpipe.base.levels import find_level, level_value, meant_level, other_level
from evalpipe.data.columns import POSITION, read_once, refuse
from evalpipe.data.labels import judge_columns
from evalpipe.data.values import SHOWN, are, cells, more, noun, shown, sql_name
from evalpipe.errors import Problem
from evalpipe.results import DatasetSummary, Warned
from evalpipe.words.spelling import counted

if TYPE_CHECKING:
    from evalpipe.base.origin import Loc
    from evalpipe.data.columns import Columns
    from evalpipe.plan.plan import ModelPlan, Plan


_OUTCOME: Loc = ("outcome", "column")
_EVENT: Loc = ("outcome", "event")


def settle_levels(plan: Plan, evaluated: Sequence[Columns], references: Sequence[Columns] = ()) -> tuple[str, ...]:
    """Return the outcome's levels in order, the event of a binary one first; add a problem to datasets that disagree.

    The level of a binary outcome that is not the event is the declared one, else the one found in the outcome, else in
    the predictions, else "not <event>". Values of the data that are a level stored in another way (1.0 or true for 1)
    are written as the level in all columns, also of ``references``.
    """
    levels = list(plan.outcome.levels)
    for columns in evaluated:
        _check_written_twice(columns, levels)
    event = levels[0] if levels else str(plan.outcome.event)
    # Before levels are compared: 1.0 and true stand for a declared 1, and are no levels of their own.
    _write_as_declared_levels((*evaluated, *references), levels or [event])
    for columns in evaluated if levels else ():
        columns.problems.extend(_undeclared_levels(columns, levels))
    if len(levels) < 2:
        levels = [event, f"not {event}" if levels else _other_level(plan, event, evaluated)]
        _write_as_declared_levels((*evaluated, *references), levels)
    for columns in evaluated:
        _check_predicted_levels(columns, levels)
    return tuple(levels)


def _level_columns(columns: Columns) -> Iterator[tuple[Columns, str, Loc, str]]:
    """Yield each column of levels once: the columns with it, its name, its key in the spec, its word in messages."""
    plan = columns.rows.plan
    yield columns, plan.outcome.column, _OUTCOME, "outcome"
    yield from ((columns, column, loc, "judge's") for column, loc in judge_columns(columns))
    yielded: set[tuple[int, str]] = set()
    for _, holder, model in columns.predicted():
        if model.prediction is not None and (id(holder), model.prediction) not in yielded:
            yielded.add((id(holder), model.prediction))
            yield holder, model.prediction, ("models", model.name, "prediction"), "prediction"


def _check_written_twice(columns: Columns, declared: Sequence[str]) -> None:
    """Report columns that have the same value in two forms, as '1' and '1.0', unless both are declared levels."""
    for holder, column, loc, called in _level_columns(columns):
        if column not in holder.levels:
            continue
        values, first_forms = holder.levels[column], dict[str, str]()
        for value in values.drop_nulls().unique().sort():
            first_form = first_forms.setdefault(level_value(value), value)
            if first_form == value or {first_form, value} <= set(declared):
                continue
            message = (f"the {called} column '{column}' of {holder.rows.called} holds {shown(first_form)} and "
                       f"{shown(value)}, which are the same value")
            hint = "write it in one way, or list both under outcome.levels if they are different levels"
            mask = (values == value).fill_null(value=False)
            holder.report("level-written-twice", message, loc, hint, mask=mask, values=values)
            break


def _write_as_declared_levels(datasets: Sequence[Columns], levels: Sequence[str]) -> None:
    """Replace values that are a level stored in another way, such as 1.0 or true for 1, by that level."""
    for columns in datasets:
        for holder, column, _, _ in _level_columns(columns):
            if column not in holder.levels:
                continue
            values = holder.levels[column]
            stands_for = {value: find_level(value, levels) for value in values.drop_nulls().unique()}
            replacements = {value: level for value, level in stands_for.items() if level is not None and level != value}
            holder.levels[column] = values.replace(replacements) if replacements else values


def _undeclared_levels(columns: Columns, declared: Sequence[str]) -> Iterator[Problem]:
    """Yield a problem where the outcome has values that are no declared level."""
    truth = columns.truth
    if truth is None:
        return
    wrong = (~truth.is_in(list(declared))).fill_null(value=False)
    if wrong.any():
        column = columns.rows.plan.outcome.column
        what = _first_values(truth.filter(wrong))
        message = f"{cells(wrong)} of the outcome column '{column}' {are(wrong)} not among outcome.levels: {what}"
        hint = _closest_level_hint(truth.filter(wrong), declared)
        yield columns.rows.problem("undeclared-level", message, _OUTCOME, hint, mask=wrong, values=truth)


def _other_level(plan: Plan, event: str, evaluated: Sequence[Columns]) -> str:
    """Return the level of a binary outcome that is not the event, from the data; report datasets that disagree."""
    dataset_of_level: dict[str, str] = {}
    for columns in evaluated:
        truth = columns.truth
        if truth is None:
            continue
        # Sorted, so that the order of rows changes no message.
        levels = {value: other_level(event, value) for value in truth.drop_nulls().unique().sort() if value != event}
        # Written as in an earlier dataset, where it is the same level in another form.
        levels = {value: find_level(level, list(dataset_of_level)) or level for value, level in levels.items()}
        truth = columns.levels[plan.outcome.column] = truth.replace(levels)
        others = list(dict.fromkeys(levels.values()))
        problem = _event_absent(columns, event, others) or _more_than_two_levels(columns, event, others)
        if problem is not None:
            columns.problems.append(problem)
            continue
        for level in others:
            if dataset_of_level and level not in dataset_of_level:
                other, dataset = next(iter(dataset_of_level.items()))
                message = (f"the outcome has the level {shown(level)} in dataset '{columns.rows.name}'"
                           f" but {shown(other)} in dataset '{dataset}'")
                hint = "a binary outcome has the same two levels in all datasets; write them alike"
                mask = (truth == level).fill_null(value=False)
                columns.report("levels-differ", message, _OUTCOME, hint, mask=mask, values=truth)
            dataset_of_level.setdefault(level, columns.rows.name)
    return next(iter(dataset_of_level), None) or _other_predicted_level(plan, event, evaluated) or f"not {event}"


def _event_absent(columns: Columns, event: str, others: Sequence[str]) -> Problem | None:
    """Return the problem of an event that never occurs; None where it occurs, or a lone other level is unlike it.

    A lone level is a problem only if it differs from the event in case or spaces alone.
    """
    truth = columns.levels[columns.rows.plan.outcome.column]
    alike = next((level for level in others if level.strip().casefold() == event.strip().casefold()), None)
    if (truth == event).any() or (len(others) < 2 and alike is None):
        return None
    column = columns.rows.plan.outcome.column
    message = f"the event {shown(event)} never occurs in the outcome column '{column}' of dataset '{columns.rows.name}'"
    guess = alike or meant_level(event, others)
    hint = f"did you mean {shown(guess)}?" if guess else "name the level that counts as the event"
    notes = _level_notes(columns, truth, others)
    return columns.rows.problem("event-absent", message, _EVENT, hint, notes=notes)


def _more_than_two_levels(columns: Columns, event: str, others: Sequence[str]) -> Problem | None:
    """Return the problem of a binary outcome with several levels, ``others``, that are not the event.

    None where it has at most one such level.
    """
    if len(others) < 2:
        return None
    truth, column = columns.levels[columns.rows.plan.outcome.column], columns.rows.plan.outcome.column
    message = f"the outcome column '{column}' of dataset '{columns.rows.name}' has {len(others) + 1:,} levels, not two"
    alike = next((level for level in others if level.strip().casefold() == event.strip().casefold()), None)
    hint = f"{shown(alike)} and {shown(event)} are different levels: write them alike" if alike else (
        "declare the two under outcome.levels to find the rows that have another, or leave those out with 'where'")
    levels = _level_notes(columns, truth, [event, *others])
    return columns.rows.problem("too-many-levels", message, _OUTCOME, hint, notes=levels)


def _level_notes(columns: Columns, truth: pl.Series, levels: Sequence[str]) -> tuple[str, ...]:
    """Return a note for each level: its number of rows, and the first of them."""
    notes = []
    for level in levels[:SHOWN]:
        mask = (truth == level).fill_null(value=False)
        row, suffix = columns.rows.row_in_file(int(columns.rows.frame[POSITION][int(mask.arg_max() or 0)]))
        notes.append(f"{shown(level)}: {counted(int(mask.sum()), 'row')}, the first is row {row}{suffix}")
    return (*notes, *more(len(levels)))


def _other_predicted_level(plan: Plan, event: str, evaluated: Sequence[Columns]) -> str | None:
    """Return the only level other than the event that models predict; None where there is none, or several."""
    named = [(name, model.prediction) for name, model in plan.models.items() if model.prediction is not None]
    sources = [(columns.of(name).levels, column) for columns in evaluated for name, column in named]
    series = [values[column] for values, column in sources if column in values]
    levels = {level for values in series for level in values.drop_nulls().unique()} - {event}
    return levels.pop() if len(levels) == 1 else None


def _check_predicted_levels(columns: Columns, levels: Sequence[str]) -> None:
    """Report predicted classes that are no level of the outcome."""
    for holder, column, loc, called in _level_columns(columns):
        values = holder.levels.get(column)
        if values is None or called == "outcome":
            continue
        wrong = (~values.is_in(list(levels))).fill_null(value=False)
        if wrong.any():
            what = _first_values(values.filter(wrong))
            message = f"{cells(wrong)} of the {called} column '{column}' {are(wrong)} no level of the outcome: {what}"
            hint = _closest_level_hint(values.filter(wrong), levels)
            code = "unknown-prediction" if called == "prediction" else "unknown-label"
            holder.report(code, message, loc, hint, mask=wrong, values=values)


def _closest_level_hint(wrong: pl.Series, levels: Sequence[str]) -> str:
    """Return a hint with the level most like the first of the wrong values, or with all levels."""
    first = str(wrong[0])
    guess = meant_level(first, levels)
    if guess is None:
        names = [shown(level) for level in levels]
        names = [*names[:12], "others"] if len(names) > 13 else names
        return f"the levels are {', '.join(names[:-1])} and {names[-1]}"
    if first.strip() == guess.strip():
        return f"did you mean {shown(guess)}" + (", without the space?" if first != first.strip() else "?")
    differs_in_case = first.strip().casefold() == guess.strip().casefold()
    return f"did you mean {shown(guess)}?" + (" Capital letters count" if differs_in_case else "")


def _first_values(values: pl.Series) -> str:
    """Return the first distinct values, sorted, as text for a message: "'a', 'b', …"."""
    levels = values.unique().sort().to_list()
    return ", ".join(shown(level) for level in levels[:SHOWN]) + (", …" if len(levels) > SHOWN else "")


_MEANT_NUMBER = {"prediction": "the expected count", "rate": "a rate", "loo_prediction": "the expected count"}

EXTREME = "too large or too small to compute with"


def check_numbers(columns: Columns) -> None:
    """Check the outcome and every model's predictions: finite numbers; counts, and predictions of counts above zero."""
    plan = columns.rows.plan
    truth = _read_finite_numbers(columns, plan.outcome.column, ("outcome", "column"), "missing-truth", "outcome")
    if truth is not None and plan.task == "count":
        wrong = ((truth < 0) | (truth != truth.floor())).fill_null(value=False)
        refuse(columns, plan.outcome.column, ("outcome", "column"), wrong, "not-a-count",
               f"not {noun(wrong, 'whole number')} from 0 on",
               "a count is 0, 1, 2, …; for other numbers use 'task: regression'")
    for _, predictions, model in columns.predicted():
        check_predicted_numbers(predictions, model.name, model)


def check_predicted_numbers(columns: Columns, name: str, model: ModelPlan) -> None:
    """Check a model's predicted numbers, rates and leverages; ``name`` is the model's."""
    for kind in ("prediction", "rate", "loo_prediction"):
        column = model.columns.get(kind)
        if column is None:
            continue
        loc: Loc = ("models", name, kind)
        called = "rate" if kind == "rate" else "prediction"
        values = _read_finite_numbers(columns, column, loc, "missing-prediction", called)
        if values is not None and columns.rows.plan.task == "count":
            wrong = (values <= 0).fill_null(value=False)
            refuse(columns, column, loc, wrong, "prediction-range", "not above zero",
                   f"{_MEANT_NUMBER[kind]} is a number above zero; was a logarithm written?")
    if model.leverage is not None:
        loc = ("models", name, "leverage")
        values = read_once(columns, model.leverage, loc, "missing-leverage", "leverage")
        if values is not None:
            # A row of leverage 1 alone decides its prediction.
            wrong = ~values.fill_nan(None).is_between(0, 1, closed="left").fill_null(value=True)
            refuse(columns, model.leverage, loc, wrong, "leverage-range",
                   "no leverage, which is at least 0 and below 1",
                   "name the diagonal of the hat matrix; a row of leverage 1 has no leave-one-out residual")


def _read_finite_numbers(columns: Columns, column: str, loc: Loc, code: str, called: str) -> pl.Series | None:
    """Read a column of finite numbers and report others; None where it cannot be read, or was checked before."""
    values = read_once(columns, column, loc, code, called)
    if values is not None:
        check_bounded(columns, column, loc, values)
    return values


def check_bounded(columns: Columns, column: str, loc: Loc, values: pl.Series) -> None:
    """Report numbers that are not finite, or too large or too small to compute with."""
    is_infinite = values.is_infinite().fill_null(value=False)
    refuse(columns, column, loc, is_infinite, "infinite-value", "not finite", "find out why it could not be computed")
    refuse(columns, column, loc, is_extreme(values), "extreme-value", EXTREME,
           f"give them in another unit: 0, or in size from {SMALLEST:g} to {LARGEST:g}")


def is_extreme(values: pl.Series) -> pl.Series:
    """Return flags [n] of finite values too large or too small to compute with; zeros and missing values are not."""
    size = values.fill_nan(None).abs()
    return (((size > LARGEST) & size.is_finite()) | ((size < SMALLEST) & (size > 0))).fill_null(value=False)


def check_exposure(columns: Columns, column: str) -> None:
    """Check that every row has an exposure above zero, and that every rate times it is a number above zero."""
    loc: Loc = ("exposure", "column")
    values = read_once(columns, column, loc, "missing-exposure", "exposure")
    if values is None:
        return
    defined = values.fill_nan(None)
    wrong = ((defined <= 0) | defined.is_infinite()).fill_null(value=False)
    called = "the exposure column"
    refuse(columns, column, loc, wrong, "exposure-range", f"not {noun(wrong, 'positive finite number')}",
           f"a row without exposure says nothing; leave such rows out with where: '{sql_name(column)} > 0'", called)
    refuse(columns, column, loc, is_extreme(defined) & ~wrong, "extreme-value", EXTREME,
           "give the exposure in another unit, and rates per that unit", called)
    # Rates and exposures that were refused by themselves give no products worth a second problem.
    if columns.problems:
        return
    for _, predictions, model in columns.predicted():
        if model.rate is None or (predictions.problems is not columns.problems and predictions.problems):
            continue
        wrong = is_extreme(predictions.numbers[model.rate] * values)
        if wrong.any():
            message = f"{cells(wrong)} of column '{model.rate}' times the exposure {are(wrong)} {EXTREME}"
            hint = f"expected counts are from {SMALLEST:g} to {LARGEST:g}; is the rate per unit of the exposure?"
            predictions.report(
                "extreme-value", message, ("models", model.name, "rate"), hint, mask=wrong,
                values=predictions.rows.frame[model.rate])


COUNTED = 2**53
"""The most observations that frequency weights may stand for: whole numbers are exact in double precision up to it."""

USUAL = 100
"""Weights are not rescaled where the largest is between 2 to the power of minus this and of this."""

NEGLIGIBLE = 1e-60
"""The share of the largest weight below which a weight counts as 0: its square would vanish beside the largest."""

FEW_EFFECTIVE = 0.1
"""The share of the rows below which an effective sample size is warned of."""

COUNTS = f"frequency weights count rows, {COUNTED:,} at most; for other weights write kind: importance"
"""The hint for frequency weights that are too large."""


def sums_to(column: str, total: float) -> str:
    """Return the message that the frequency weights of a column have too large a sum."""
    return f"the weight column '{column}' sums to {total:.4g}, more than can be counted one by one"


def check_weights(columns: Columns, column: str, *, counts: bool, part: bool = False) -> None:
    """Check the weights, and scale importance weights so that sums do not overflow.

    With ``counts`` they are frequency weights, whole numbers. In a ``part`` of a dataset all may be 0.
    """
    loc: Loc = ("weight", "column")
    values = read_once(columns, column, loc, "missing-weight", "weight")
    if values is None:
        return
    rows, problems, called = columns.rows, columns.problems, "the weight column"
    problem_count = len(problems)
    defined = values.fill_nan(None)
    wrong = ((defined < 0) | defined.is_infinite()).fill_null(value=False)
    refuse(columns, column, loc, wrong, "weight-range", "negative or infinite",
           "a weight is a number from 0 on; rows of weight 0 are left out", called)
    is_fraction = ((defined != defined.floor()) & ~wrong).fill_null(value=False)
    if counts:
        refuse(columns, column, loc, is_fraction, "frequency-weight", f"not {noun(is_fraction, 'whole number')}",
               "frequency weights count identical rows; for other weights write kind: importance", called)
    if counts and not wrong.any() and (defined.sum() or 0) > COUNTED:
        problems.append(rows.problem("frequency-weight", sums_to(column, float(defined.sum())), loc, COUNTS))
    if not part and defined.null_count() == 0 and not (defined != 0).any():
        message = f"all weights of dataset '{rows.name}' are 0 (column '{column}')"
        problems.append(rows.problem("weights-all-zero", message, loc, "at least one row must count"))
    columns.weight = values if counts or len(problems) > problem_count else _scaled_weights(columns, values)


def _scaled_weights(columns: Columns, values: pl.Series) -> pl.Series:
    """Return importance weights divided by a power of two where the largest is extreme; negligible ones become 0.

    Only the ratios of importance weights count.
    """
    largest = float(values.max() or 0.0)  # type: ignore[arg-type]
    power = math.frexp(largest)[1]
    if abs(power) <= USUAL:
        power = 0
    else:
        columns.warnings.append(Warned.of("weights-scaled", dataset=columns.rows.name, power=power))
    # By a power of two no digit of a weight changes, so ratios stay exact.
    scaled = np.ldexp(values.to_numpy(), -power)
    # Squares of weights are summed too, and 1e-60 squared is still held beside 1.
    is_negligible = (values.to_numpy() > 0) & (scaled < NEGLIGIBLE * math.ldexp(largest, -power))
    if is_negligible.any():
        columns.warnings.append(Warned.of(
            "weights-negligible", rows=int(is_negligible.sum()), least=NEGLIGIBLE, dataset=columns.rows.name))
    return pl.Series(values.name, np.where(is_negligible, 0.0, scaled)) if power or is_negligible.any() else values


def uneven_weights(summary: DatasetSummary) -> tuple[Warned, ...]:
    """Return a warning where weights are so uneven that the effective sample size is very small. Kish (1965)."""
    effective = summary.n_effective
    if effective is None or not effective < min(summary.n / 2, max(2.0, FEW_EFFECTIVE * summary.n)):
        return ()
    return (Warned.of("few-effective-rows", dataset=summary.name, rows=summary.n, effective=effective),)
