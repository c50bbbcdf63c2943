"""Files that hold the predictions of every step of a fit: divided by step, and which step the card shows."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from evalpipe.data.errors import Unreadable
from evalpipe.data.values import blank, numbers
from evalpipe.data.words import are, cells, counted, noun, rows_have
from evalpipe.plan.fits import Fit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import polars as pl

    from evalpipe.base.origin import Loc
    from evalpipe.data.block import RowBlock
    from evalpipe.data.columns import Columns
    from evalpipe.errors import Problem
    from evalpipe.plan.models import ModelPlan

LARGEST = 2**53
"""The largest step: whole numbers are exact in double precision up to it."""


def divided(rows: RowBlock, model: ModelPlan, *, evaluated: bool) -> tuple[dict[Fit, RowBlock], list[Problem]]:
    """Divide the rows of a file by step, ascending.

    Only rows that are ``evaluated`` need other steps than the one that is shown. A model without steps has one part.
    """
    shown_fit = Fit(model.name)
    if model.step is None:
        return {shown_fit: rows}, []
    steps, problems = _steps(rows, model, model.step)
    if problems or not len(steps):
        return {shown_fit: rows}, problems
    parts = {int(step): part.drop("\0step") for (step,), part in
             rows.frame.with_columns(steps.alias("\0step")).partition_by("\0step", as_dict=True).items()}
    shown = max(parts) if model.at is None else model.at
    if shown not in parts:
        return {}, [_unknown(rows, model.name, shown, sorted(parts))]
    asked = sorted(parts) if evaluated else [shown]
    return {shown_fit if step == shown else Fit(model.name, "step", step):
            replace(rows, frame=parts[step], step=step) for step in asked}, []


def _steps(rows: RowBlock, model: ModelPlan, column: str) -> tuple[pl.Series, list[Problem]]:
    """Read the step of each row, a whole number from 0 on."""
    import polars as pl

    loc: Loc = ("models", model.name, "step")
    written = rows.frame[column]
    try:
        values = numbers(rows.numeric(column), as_text=rows.as_text)
    except Unreadable as fault:
        message = f"column '{column}' of {rows.called} {fault.reason}"
        return pl.Series(), [rows.problem(fault.code, message, loc, fault.hint)]
    empty = blank(written) | values.is_nan().fill_null(value=False)
    fine = ((values >= 0) & (values <= LARGEST) & (values == values.floor())).fill_null(value=False)
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


def _unknown(rows: RowBlock, model: str, asked: int, steps: Sequence[int]) -> Problem:
    """Report a step to be shown that the file does not have."""
    closest = min(steps, key=lambda step: (abs(step - asked), step))
    message = f"{rows.called} has no step {asked}: it has {_listed(steps)}"
    return rows.problem("unknown-step", message, ("models", model, "step", "at"), f"did you mean {closest}?")


def _listed(steps: Sequence[int]) -> str:
    """Say which steps there are: their number, and the first and the last."""
    if len(steps) == 1:
        return f"step {steps[0]} alone"
    return f"{counted(len(steps), 'step')}, {steps[0]} to {steps[-1]}"


def in_short(faults: Mapping[Fit, list[Problem]], parts: Mapping[Fit, RowBlock]) -> list[Problem]:
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


def faults(columns: Columns) -> list[Problem]:
    """Return what is wrong with the values that models predict at their steps, in short."""
    by_fit = {fit: part.problems for fit, part in columns.models.items() if part.rows.step is not None}
    return in_short(by_fit, {fit: columns.models[fit].rows for fit in by_fit})


def shown_apart(predicted: Iterable[Columns]) -> Iterator[Problem]:
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
