"""The models of an outcome of several levels: probabilities or scores of all levels, and predicted classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.errors import UsageError
from evalpipe.proposal.binary import class_model, with_classes
from evalpipe.proposal.families import Family, families
from evalpipe.proposal.models import MOST_MODELS, KeyLine, ModelChoice, ModelChoices, called, predicted_levels
from evalpipe.proposal.questions import Question
from evalpipe.words.spelling import listed, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalpipe.proposal.columns import ColumnLook

_EXACT = 1e-6


def level_models(
    outcome: ColumnLook, levels: Sequence[str], columns: Mapping[str, ColumnLook], lists: Sequence[ModelChoice]
) -> ModelChoices | Question:
    """Return the models of an outcome of several levels, those of ``lists`` first, or the question which they are."""
    named = families(levels, columns, without=outcome.name)
    taken = [column for family in named for column in family.columns.values()]
    models = [*lists, *(family_model(family) for family in named)]
    classes = predicted_levels(columns, levels, without=[outcome.name, *taken])
    if len(models) > MOST_MODELS:
        return _which(levels, [family.stem for family in named])
    models, unclear = with_classes(models, classes)
    return ModelChoices(tuple(models), unclear)


def family_model(family: Family) -> ModelChoice:
    """Return the model of columns that are named after the levels."""
    value: object = family.lists or family.pattern or dict(family.columns)
    size = len(family.columns)
    count = f"lists of {size} numbers" if family.lists else f"{size} columns named after the levels"
    columns = (family.lists,) if family.lists else tuple(family.columns.values())
    name = called(family.lists or family.stem)
    if family.kind == "scores":
        why = f"{count}; taken for log odds up to a constant, which softmax makes probabilities"
        note = (f"the numbers of {listed(columns[:3], 'and')} are not from 0 to 1: they are taken for log odds; "
                "check that they are")
        return ModelChoice(name, (KeyLine("scores", value, why),), columns, (note,))
    percent = family.kind == "percent"
    scale = (KeyLine("scale", "percent", "each is divided by 100"),) if percent else ()
    line = KeyLine("probabilities", value, f"{count}; they sum to {100 if percent else 1} in each row")
    if family.kind in ("probabilities", "percent") and family.widest <= _EXACT:
        return ModelChoice(name, (line, *scale), columns)
    line = KeyLine("probabilities", value, f"{count}; their sums differ from 1 by up to {family.widest:.2g}")
    again = KeyLine("renormalise", True, "each row is divided by its sum; else such rows are an error")  # noqa: FBT003
    note = (f"the probabilities of {listed(columns[:3], 'and')} do not sum to 1 (off by up to {family.widest:.2g}): "
            "'renormalise: true' divides each row by its sum; remove it if that is not what you want")
    return ModelChoice(name, (line, *scale, again), columns, (note,))


def _which(levels: Sequence[str], stems: Sequence[str]) -> Question:
    """Return the question which columns are models."""
    known = f"{len(stems):,} sets of columns are named after the {len(levels)} levels"
    return Question("model", known, "which of them are models? Give a pattern, or a column of predicted classes",
                    tuple((stem, "a set of columns") for stem in stems), "NAME=prefix_{level}")


def asked_levels(
    name: str, pattern: str, levels: Sequence[str], columns: Mapping[str, ColumnLook]
) -> ModelChoice:
    """Return the model of a flag: of a pattern with {level}, or of a column of predicted classes.

    Raises UsageError where the columns are not there, or hold something else.
    """
    from dataclasses import replace

    from evalpipe.proposal.outcome import column_of

    if "{level}" not in pattern:
        return class_model(name, column_of(pattern, columns, "--model"))
    by_level = {level: pattern.replace("{level}", level) for level in levels}
    looks = [column_of(column, columns, "--model") for column in by_level.values()]
    strange = [look.name for look in looks if look.kind != "number"]
    if strange:
        raise UsageError.of("not-predictions", f"the column {quoted(strange[0])} holds no numbers",
                            "name columns of probabilities")
    before, after = pattern.split("{level}", 1)
    same = [family for family in families(levels, {look.name: look for look in looks}, without="")
            if family.columns == by_level]
    family = same[0] if same else Family(by_level, "loose", f"{before}{{level}}{after}", float("inf"))
    return replace(family_model(family), name=name)
