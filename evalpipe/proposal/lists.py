"""Columns whose lists hold a number for each level: their models, and the order, which only a person knows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evalpipe.data.problems import counted
from evalpipe.errors import UsageError
from evalpipe.proposal.binary import direction
from evalpipe.proposal.columns import number_look
from evalpipe.proposal.families import Family, family_of
from evalpipe.proposal.many import family_model
from evalpipe.proposal.models import KeyLine, ModelChoice
from evalpipe.proposal.outcome import in_order
from evalpipe.proposal.questions import Answers, Question
from evalpipe.words.spelling import listed, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalpipe.proposal.columns import ColumnLook

_FIRST_TO_LAST = "FIRST,…,LAST"

_PRINTED = r"^\s*\[[\s\d.eE+-]*\s[\s\d.eE+-]*\]\s*$"
"""An array as numpy prints it: numbers between brackets, without commas."""


def list_models(
    outcome: ColumnLook, columns: Mapping[str, ColumnLook], answers: Answers
) -> tuple[ModelChoice, ...] | Question:
    """Return the models of columns of lists, or the question in which order they hold the levels.

    With columns of models in the ``answers``, those of lists among these alone. Raises UsageError for a wrong order.
    """
    levels = tuple(outcome.levels)
    named = {column: name or None for name, _, column in (text.rpartition("=") for text in answers.models)}
    lists = [look for look in columns.values() if look.kind == "list" and look.lengths == (len(levels), len(levels))
             and (look.name in named if answers.models else True)]
    families = [family for look in lists if (family := _family(look, levels, sure=look.name in named))]
    if not families:
        if answers.order is not None:
            raise UsageError.of("not-for-data", "--order is for columns of lists with a number for each level, which "
                                "the data do not have", "remove it")
        return ()
    if answers.order is None:
        counts = tuple((level, counted(rows, "row")) for level, rows in outcome.levels.items())
        what = listed([str(family.lists) for family in families[:3]], "and")
        return Question("order", f"{what} {'holds' if len(families) == 1 else 'hold'} lists of {len(levels)} numbers, "
                        "one for each level", "in which order do they hold the levels?", counts, _FIRST_TO_LAST)
    order = in_order("--order", answers.order, outcome)
    return tuple(_model(outcome, family, columns[str(family.lists)], order, named.get(str(family.lists)))
                 for family in families)


def refused_lists(levels: Sequence[str], columns: Mapping[str, ColumnLook]) -> dict[str, str]:
    """Return why columns of lists are no predictions of the levels, by column."""
    refused = dict[str, str]()
    for look in columns.values():
        if look.kind == "text" and look.texts.drop_nulls().str.contains(_PRINTED).all():
            refused[look.name] = "arrays as numpy prints them; write lists with commas, as [0.7, 0.2, 0.1]"
        least, most = look.lengths
        if look.kind != "list" or (least == most == len(levels) and _family(look, levels, sure=False)):
            continue
        size = counted(least, "number") if least == most else f"{least} to {counted(most, 'number')}"
        why = "which do not sum to 1" if least == most == len(levels) else f"but the outcome has {len(levels)} levels"
        refused[look.name] = f"lists of {size}, {why}"
    return refused


def _family(look: ColumnLook, levels: Sequence[str], *, sure: bool) -> Family | None:
    """Tell what the numbers of lists are; None where nothing says that they are predictions, unless it is ``sure``."""
    by_level = {level: f"{look.name}[{level}]" for level in levels}
    parts = dict(zip(by_level.values(), _parts(look, len(levels)), strict=True))
    family = family_of(by_level, None, parts)
    if family is None and sure:
        inside = all(part.within(0, 1) for part in parts.values())
        family = Family(by_level, "loose" if inside else "scores", None, float("inf"))
    return None if family is None else replace(family, lists=look.name)


def _parts(look: ColumnLook, size: int) -> list[ColumnLook]:
    """Return what is seen of each place of lists."""
    import polars as pl

    places = [] if look.lists is None else [look.lists.list.get(place) for place in range(size)]
    return [number_look(look.name, values.cast(pl.String), values.fill_nan(None)) for values in places]


def _model(
    outcome: ColumnLook, family: Family, look: ColumnLook, order: Sequence[str], name: str | None
) -> ModelChoice:
    """Return the model of a column of lists, with the order of the levels in them, and a note where it looks wrong."""
    model = family_model(family)
    lower = [level for level, part in zip(order, _parts(look, len(order)), strict=True)
             if direction(outcome, level, part)]
    note = (f"the numbers of {quoted(look.name)} are lower for {listed(lower, 'and')} where that is the outcome: check "
            "the order of the levels")
    lines = (*model.lines, KeyLine("order", tuple(order), "your answer: the levels as the lists hold them"))
    return replace(model, lines=lines, name=name or model.name, notes=(*model.notes, *([note] if lower else [])))
