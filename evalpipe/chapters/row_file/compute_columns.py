"""The columns of the row-level file: name, type and meaning, by task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.chapters.row_file.records import RowColumn
from evalpipe.tasks import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.tasks import Task

NUMBERED = ("The row's number in its file, from 1, as the spec names no id; where a dataset has several files, the "
            "number of the file and a colon stand before it.")
TRUTH = {"regression": "The true number.", "count": "The true count."}


def chance_of(level: str) -> str:
    """Return the name of the column of a level's probability."""
    return f"probability of {level}"


def columns(task: Task, levels: Sequence[str], identity: str | None) -> tuple[RowColumn, ...]:
    """Return the columns of the file, in order; ``identity`` is the column that names a row, None without."""
    named = NUMBERED if identity is None else f"The row's value in column '{identity}'."
    of_task = _of_numbers(task) if task in NUMBERS else _of_event() if task == "binary" else _of_levels(levels)
    return tuple(RowColumn.model_validate({"name": name, "type": kind, "meaning": meaning}) for name, kind, meaning in (
        ("id", "text", named),
        ("dataset", "text", "The name of the dataset."),
        ("model", "text", "The name of the model."),
        ("variant", "text", "original, or the name of the recalibrated variant."),
        *of_task,
        ("weight", "number", "What the row weighs; empty where rows have no weights."),
    ))


def _of_event() -> Iterator[tuple[str, str, str]]:
    yield "truth", "text", "The true level."
    yield "probability", "number", "The probability of the event; empty where the model gives none."
    yield "score", "number", "The score, where the model gives one: a rank, or what the probability was made of."
    yield "predicted", "text", "The predicted level; empty in the equivocal zone, and where there is no threshold."
    yield "threshold", "number", ("The threshold in use for this row, of the probability where there is one; empty for "
                                  "classes that the model gives.")
    yield "residual", "number", "1 − probability for an event, −probability for the others."
    yield "confidence", "number", "The larger of the probabilities of the two levels."
    yield "gain_group", "whole number", ("The group of the gain table that the row is in, 1 for the highest scores. Of "
                                         "tied rows that a cut divides: the first group that has a part of them.")
    yield "gain_group_last", "whole number", "The last group that has a part of the rows tied with this one."
    yield "equivocal", "true or false", "Whether the row is in the equivocal zone; empty where none is declared."


def _of_levels(levels: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    yield "truth", "text", "The true level."
    for level in levels:
        yield chance_of(level), "number", "The probability of this level; empty where the model gives none."
    yield "predicted", "text", "The predicted level; empty in the equivocal zone."
    yield "residual", "number", "1 − the probability of the true level."
    yield "confidence", "number", "The largest of the probabilities of the levels."
    yield "equivocal", "true or false", "Whether the row is in the equivocal zone; empty where none is declared."


def _of_numbers(task: Task) -> Iterator[tuple[str, str, str]]:
    yield "truth", "number", TRUTH[task]
    yield "prediction", "number", "The predicted number; of a count with an exposure, the expected count in it."
    yield "residual", "number", "truth − prediction."
    if task == "count":
        yield "exposure", "number", "What the count was counted in; empty where the spec names no exposure."
