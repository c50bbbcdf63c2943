"""The levels of the outcome: which there are, and the values that are none of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from evalpipe.base.levels import find_level, level_value, meant_level, other_level
from evalpipe.data.errors import SHOWN, more
from evalpipe.data.values import shown
from evalpipe.data.words import are, cells, counted
from evalpipe.errors import Problem

if TYPE_CHECKING:
    import polars as pl

    from evalpipe.base.origin import Loc
    from evalpipe.data.columns import Columns
    from evalpipe.plan.plan import Plan

_OUTCOME: Loc = ("outcome", "column")
_EVENT: Loc = ("outcome", "event")


def settle(plan: Plan, evaluated: Sequence[Columns], references: Sequence[Columns] = ()) -> tuple[str, ...]:
    """Find the levels in order, of a binary outcome the event first; adds a problem to each dataset that disagrees.

    The level of a binary outcome that is not the event is the declared one, else the one found in the outcome, else in
    the predictions, else "not <event>". Values of the data that are a level stored in another way (1.0 or true for 1)
    are written as the level in all columns, also of ``references``.
    """
    settled = list(plan.outcome.levels)
    for columns in evaluated:
        _check_written_twice(columns, settled)
    event = settled[0] if settled else str(plan.outcome.event)
    # Before levels are compared: 1.0 and true stand for a declared 1, and are no levels of their own.
    _write_alike((*evaluated, *references), settled or [event])
    for columns in evaluated if settled else ():
        columns.problems.extend(_undeclared(columns, settled))
    if len(settled) < 2:
        settled = [event, f"not {event}" if settled else _found(plan, event, evaluated)]
        _write_alike((*evaluated, *references), settled)
    for columns in evaluated:
        _check_predictions(columns, settled)
    return tuple(settled)


def _level_columns(columns: Columns) -> Iterator[tuple[Columns, str, Loc, str]]:
    """Yield the columns that hold levels, each once: where its values are, its place in the spec, what it is called."""
    plan = columns.rows.plan
    yield columns, plan.outcome.column, _OUTCOME, "outcome"
    yielded: set[tuple[int, str]] = set()
    for _, holder, model in columns.predicted():
        if model.prediction is not None and (id(holder), model.prediction) not in yielded:
            yielded.add((id(holder), model.prediction))
            yield holder, model.prediction, ("models", model.name, "prediction"), "prediction"


def _write_alike(datasets: Sequence[Columns], levels: Sequence[str]) -> None:
    """Write values that are one of the levels stored in another way as that level."""
    for columns in datasets:
        for holder, column, _, _ in _level_columns(columns):
            if column not in holder.levels:
                continue
            values = holder.levels[column]
            stands_for = {value: find_level(value, levels) for value in values.drop_nulls().unique()}
            other = {value: level for value, level in stands_for.items() if level is not None and level != value}
            holder.levels[column] = values.replace(other) if other else values


def _check_written_twice(columns: Columns, declared: Sequence[str]) -> None:
    """Report columns in which the same value stands in two ways, as '1' and '1.0', that are not levels of their own."""
    for holder, column, loc, called in _level_columns(columns):
        if column not in holder.levels:
            continue
        values, first = holder.levels[column], dict[str, str]()
        for value in values.drop_nulls().unique().sort():
            same = first.setdefault(level_value(value), value)
            if same == value or {same, value} <= set(declared):
                continue
            message = (f"the {called} column '{column}' of {holder.rows.called} holds {shown(same)} and "
                       f"{shown(value)}, which are the same value")
            hint = "write it in one way, or list both under outcome.levels if they are different levels"
            mask = (values == value).fill_null(value=False)
            holder.problems.append(
                holder.rows.problem("level-written-twice", message, loc, hint, mask=mask, values=values))
            break


def _undeclared(columns: Columns, declared: Sequence[str]) -> Iterator[Problem]:
    """Find values of the outcome that are none of the declared levels."""
    truth = columns.truth
    if truth is None:
        return
    wrong = (~truth.is_in(list(declared))).fill_null(value=False)
    if wrong.any():
        column = columns.rows.plan.outcome.column
        what = _listed(truth.filter(wrong))
        message = f"{cells(wrong)} of the outcome column '{column}' {are(wrong)} not among outcome.levels: {what}"
        hint = _meant(truth.filter(wrong), declared)
        yield columns.rows.problem("undeclared-level", message, _OUTCOME, hint, mask=wrong, values=truth)


def _found(plan: Plan, event: str, evaluated: Sequence[Columns]) -> str:
    """Tell the other level from the data, when the spec does not declare it."""
    first: dict[str, str] = {}
    for columns in evaluated:
        truth = columns.truth
        if truth is None:
            continue
        # Sorted, so that the order of rows changes no message.
        there = {level: other_level(event, level) for level in truth.drop_nulls().unique().sort() if level != event}
        there = {level: find_level(other, list(first)) or other for level, other in there.items()}
        truth = columns.levels[plan.outcome.column] = truth.replace(there)
        others = list(dict.fromkeys(there.values()))
        problem = _event_absent(columns, event, others) or _too_many(columns, event, others)
        if problem is not None:
            columns.problems.append(problem)
            continue
        for level in others:
            if first and level not in first:
                columns.problems.append(_differ(columns, level, *next(iter(first.items()))))
            first.setdefault(level, columns.rows.name)
    return next(iter(first), None) or _predicted(plan, event, evaluated) or f"not {event}"


def _event_absent(columns: Columns, event: str, others: Sequence[str]) -> Problem | None:
    """Find an event that never occurs though it should: two other levels, or one that differs in case or spaces."""
    truth = columns.levels[columns.rows.plan.outcome.column]
    same = next((level for level in others if level.strip().casefold() == event.strip().casefold()), None)
    if (truth == event).any() or (len(others) < 2 and same is None):
        return None
    column = columns.rows.plan.outcome.column
    message = f"the event {shown(event)} never occurs in the outcome column '{column}' of dataset '{columns.rows.name}'"
    guess = same or meant_level(event, others)
    hint = f"did you mean {shown(guess)}?" if guess else "name the level that counts as the event"
    notes = _levels(columns, truth, others)
    return columns.rows.problem("event-absent", message, _EVENT, hint, notes=notes)


def _too_many(columns: Columns, event: str, others: Sequence[str]) -> Problem | None:
    """Find an outcome that has more than two levels though it is binary."""
    if len(others) < 2:
        return None
    truth, column = columns.levels[columns.rows.plan.outcome.column], columns.rows.plan.outcome.column
    message = f"the outcome column '{column}' of dataset '{columns.rows.name}' has {len(others) + 1:,} levels, not two"
    like = next((level for level in others if level.strip().casefold() == event.strip().casefold()), None)
    hint = f"{shown(like)} and {shown(event)} are different levels: write them alike" if like else (
        "declare the two under outcome.levels to find the rows that have another, or leave those out with 'where'")
    levels = _levels(columns, truth, [event, *others])
    return columns.rows.problem("too-many-levels", message, _OUTCOME, hint, notes=levels)


def _levels(columns: Columns, truth: pl.Series, levels: Sequence[str]) -> tuple[str, ...]:
    """Say how often each level occurs, and where first."""
    from evalpipe.data.block import POSITION

    notes = []
    for level in levels[:SHOWN]:
        mask = (truth == level).fill_null(value=False)
        row, suffix = columns.rows.cell(int(columns.rows.frame[POSITION][int(mask.arg_max() or 0)]))
        notes.append(f"{shown(level)}: {counted(int(mask.sum()), 'row')}, the first is row {row}{suffix}")
    return (*notes, *more(len(levels)))


def _differ(columns: Columns, level: str, other: str, dataset: str) -> Problem:
    truth = columns.levels[columns.rows.plan.outcome.column]
    message = (f"the outcome has the level {shown(level)} in dataset '{columns.rows.name}'"
               f" but {shown(other)} in dataset '{dataset}'")
    mask = (truth == level).fill_null(value=False)
    hint = "a binary outcome has the same two levels in all datasets; write them alike"
    return columns.rows.problem("levels-differ", message, _OUTCOME, hint, mask=mask, values=truth)


def _predicted(plan: Plan, event: str, evaluated: Sequence[Columns]) -> str | None:
    """Return the level that the models predict beside the event, if it is one."""
    named = [(name, model.prediction) for name, model in plan.models.items() if model.prediction is not None]
    sources = [(columns.of(name).levels, column) for columns in evaluated for name, column in named]
    series = [values[column] for values, column in sources if column in values]
    levels = {level for values in series for level in values.drop_nulls().unique()} - {event}
    return levels.pop() if len(levels) == 1 else None


def _check_predictions(columns: Columns, levels: Sequence[str]) -> None:
    """Report predicted levels that the outcome does not have."""
    for holder, column, loc, called in _level_columns(columns):
        values = holder.levels.get(column) if called == "prediction" else None
        wrong = (~values.is_in(list(levels))).fill_null(value=False) if values is not None else None
        if values is not None and wrong is not None and wrong.any():
            what = _listed(values.filter(wrong))
            message = f"{cells(wrong)} of the prediction column '{column}' {are(wrong)} no level of the outcome: {what}"
            hint = _meant(values.filter(wrong), levels)
            holder.problems.append(
                holder.rows.problem("unknown-prediction", message, loc, hint, mask=wrong, values=values))


def _meant(wrong: pl.Series, levels: Sequence[str]) -> str:
    """Suggest the level that the first strange value comes nearest to."""
    first = str(wrong[0])
    guess = meant_level(first, levels)
    if guess is None:
        return f"the levels are {_joined([shown(level) for level in levels])}"
    if first.strip() == guess.strip():
        return f"did you mean {shown(guess)}" + (", without the space?" if first != first.strip() else "?")
    same = first.strip().casefold() == guess.strip().casefold()
    return f"did you mean {shown(guess)}?" + (" Capital letters count" if same else "")


def _joined(words: Sequence[str]) -> str:
    """Join words: "a, b and c"; where there are very many, the first."""
    named = [*words[:12], "others"] if len(words) > 13 else words
    return f"{', '.join(named[:-1])} and {named[-1]}"


def _listed(values: pl.Series) -> str:
    """Return the first of the values that occur, for a message."""
    levels = values.unique().sort().to_list()
    return ", ".join(shown(level) for level in levels[:SHOWN]) + (", …" if len(levels) > SHOWN else "")
