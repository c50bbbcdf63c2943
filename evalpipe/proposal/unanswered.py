"""All questions that a command line leaves open, in one error: also those that follow from the answers to others."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evalpipe.errors import Problem, UsageError
from evalpipe.proposal.propose import from_first_rows
from evalpipe.proposal.questions import SHOWN, Question
from evalpipe.words.spelling import clipped, joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.proposal.look import Looked
    from evalpipe.proposal.questions import Answers

MOST_CASES = 6
"""The cases of a question that are shown, where it depends on the answer to another."""


@dataclass(frozen=True, slots=True)
class Path:
    """Questions that follow each other, and the flags that answer all of them."""

    questions: tuple[Question, ...]
    flags: tuple[str, ...]


def unanswered(looked: Looked, answers: Answers, first: Question) -> UsageError:
    """Return the error of a command line that leaves questions open, of which the ``first`` is known."""
    paths = list(_paths(looked, answers))
    if not paths:
        return UsageError(first.problem())
    by_key: dict[str, list[Question]] = {}
    for path in paths:
        for question in path.questions:
            same = by_key.setdefault(question.key, [])
            if question not in same:
                same.append(question)
    problems = [_problem(questions) for questions in by_key.values()]
    if len(problems) > 1:
        line = f"{problems[-1].hint}; all in one line, as in: {' '.join(paths[0].flags)}"
        problems[-1] = replace(problems[-1], hint=line)
    return UsageError(*problems)


def _paths(looked: Looked, answers: Answers) -> Iterator[Path]:
    """Yield the ways to answer all questions: each choice is tried, and what can be no answer is left out."""
    try:
        question = from_first_rows(looked, answers)
    except UsageError:
        return
    if not isinstance(question, Question):
        yield Path((), ())
        return
    if question.key == "model":  # the last one; a choice alone may not be an answer, as one of a set of columns
        yield Path((question,), (question.ways[0],))
        return
    order = ",".join(f'"{choice}"' if "," in choice else choice for choice, _ in question.choices)
    tried = [order] if question.key in ("levels", "order") else [choice for choice, _ in question.choices[:SHOWN]]
    for choice in tried:
        for rest in _paths(looked, question.answered(answers, choice)):
            yield Path((question, *rest.questions), (f"{question.flag} {shlex.quote(choice)}", *rest.flags))


def _problem(questions: list[Question]) -> Problem:
    """Return the problem of a question, or of one that is another one after each answer to those before."""
    first = questions[0]
    if len(questions) == 1:
        return first.problem()
    notes = [f"{question.known}: {joined([f'{clipped(name)} ({note})' for name, note in question.choices], 'or')}"
             for question in questions[:MOST_CASES]]
    more = [f"and {len(questions) - MOST_CASES:,} more"] if len(questions) > MOST_CASES else []
    return Problem(f"{first.key}-needed", f"depending on the answer above, {first.asks}", notes=(*notes, *more),
                   hint=f"add {first.flag} {first.example or 'with one of them'}")
