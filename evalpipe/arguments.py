"""The problems of `evaluate` in the words of its arguments: its caller has written no spec and has no files."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from evalpipe.base.origin import path_keys

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.errors import EvalpipeError, Problem

_KEYS = {
    "outcome.event": "event", "outcome.levels": "levels", "outcome.column": "truth", "weight.kind": "weight_kind",
    "weight.column": "weight", "exposure.column": "exposure",
}
"""Keys of the spec that are arguments of another name."""

PHRASES = {
    r"with where: '.*'": "of every array",
    r", or leave those out with 'where'": ", or leave those out of every array",
    r"merge them in the data, or choose two with 'where'": "merge them, or leave the rows of the others out",
    r"declare the two under outcome\.levels": "give the two as levels=[…]",
    r"list both under outcome\.levels": "list both in levels",
    r"not among outcome\.levels": "not among levels",
    r"costs name levels, but 'outcome\.levels' is missing": "costs name levels, but 'levels' is missing",
    r"add 'levels: \[…, …\]' to the outcome": "give levels=[…, …]",
    r"(outcome: )?missing key '(event|levels)'": r"missing argument '\2'",
    r"^add '(event|levels): …' here": r"give \1=…",
    r"name the column under 'score' and add 'scale: logit'": "give them as score=…, with scale='logit'",
    r"add 'scale: percent' to the model": "divide them by 100",
    r"name the column under 'scores'": "turn them into probabilities by the softmax function first",
    r", or set 'renormalise: true' to divide by their sum": ", or divide each row by its sum",
    r"name the columns of all levels under 'probabilities'": "give an array of shape [n, K] as probabilities=…",
    r"name the column of the predicted number under 'prediction'": "give the predicted numbers as prediction=…",
    r"^the model '.*' has no 'prediction'": "there is no 'prediction'",
    r"^add 'prediction: …'": "give prediction=…",
    r"the model 'model' gives a rate, but no exposure is declared": "there is a rate, but no exposure",
    r"name the column of the expected count of each row under 'prediction'": "give the expected counts as prediction=…",
    r"with 'complete_case: all'": "with complete_case='all'",
    r"for other weights write kind: importance": "for other weights give weight_kind='importance'",
    r"name a column of 'probability', or add a 'scale' to the score": "give probability=…, or a scale=… with the score",
    r"or give the model a 'scale', a 'threshold' or a 'prediction'": "or give scale=…, threshold=… or prediction=…",
    r"or name their column under 'loo_prediction'": "or give loo_prediction=…",
    r", or the leverages of a linear fit under 'leverage'": " or leverage=…",
    r"give a dataset 'role: calibrate', or cross-fit: \{folds: 10\}": "cross-fit: on={'folds': 10}",
    r"no dataset is called '(.*)'": r"there are no rows called '\1'",
    r"add 'compare: \{baseline: …\}' to the spec": "give compare={'baseline': …}",
    r"add '(\w+): (.*)' to the spec": r"give \1=\2",
    r"^add it under 'characteristics' of .*": "remove this goal: models given as arrays have no characteristics",
    r"^dataset 'data' has no rows": "the arrays are empty",
    r"^was it written to the end\?$": "give one value a row",
    r"use 'task: regression'": "give task='regression'",
    r"write it as a column of numbers": "give an array of numbers",
}
"""What the way out is called where there is no spec: patterns of what is said of a spec, and what is said instead."""


def in_arguments(error: EvalpipeError, columns: Mapping[str, str]) -> EvalpipeError:
    """Return an error in the words of the arguments; ``columns`` are the arguments by the names of their columns."""
    return type(error)(*(_told(problem, columns) for problem in error.problems))


def _told(problem: Problem, columns: Mapping[str, str]) -> Problem:
    """Return a problem in the words of the arguments."""
    message = _message(problem.message, columns)
    hint = None if problem.hint is None else _said(problem.hint)
    notes = tuple(_note(note, columns) for note in problem.notes)
    return replace(problem, message=message, hint=hint, notes=notes, place=None)


def _message(text: str, columns: Mapping[str, str]) -> str:
    """Name arguments for the place in a spec that a message begins with, and for the columns that it names."""
    begun = re.match(r'([a-z_]+(?:[\w.\[\] -]|"(?:[^"]|"")*")*): ', text)
    if begun is not None:
        argument = _argument(begun[1], columns)
        text = f"{argument}: {text[begun.end():]}" if argument else text[begun.end():]
    # The longest first, for the name of a column may begin with that of another.
    names = "|".join(re.escape(column) for column in sorted(columns, key=len, reverse=True))
    text = re.sub(rf"(the (outcome|prediction|weight|exposure|cluster) )?column '({names}|.*?)'( of dataset 'data')?",
                  lambda match: _shown(columns.get(match[3], match[3])), text)
    return _said(text).replace(" of dataset 'data'", "").replace("of model 'model' ", "")


def _note(text: str, columns: Mapping[str, str]) -> str:
    """Name the argument for the place in a spec that a note names."""
    place = re.fullmatch(r"named at the spec, (.*)", text)
    return _said(text) if place is None else f"argument {_argument(place[1], columns)}"


def _argument(place: str, columns: Mapping[str, str]) -> str:
    """Return the argument behind a place in the spec; empty for that of a model or of all models."""
    key = next((start for start in _KEYS if place.startswith(start)), None)
    if key is not None:
        return _KEYS[key] + place.removeprefix(key)
    if place == "outcome" or re.match(r"models(\.|$)", place) is None:
        return "" if place == "outcome" else place
    _, *keys = path_keys(place)
    return columns.get(f"{keys[0]}.{keys[-1]}", keys[-1]) if len(keys) > 1 else ""


def _shown(argument: str) -> str:
    return argument if "[" in argument else f"'{argument}'"


def _said(text: str) -> str:
    """Replace what only a spec has."""
    for pattern, instead in PHRASES.items():
        text = re.sub(pattern, instead, text)
    return text
