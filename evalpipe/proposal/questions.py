"""Questions about the data that only a person can answer, the answers, and the flags that give them."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import Any

from evalpipe.errors import Problem
from evalpipe.tasks import known_task
from evalpipe.words.spelling import clipped, joined

SHOWN = 12
"""The most choices that a question shows."""


@dataclass(frozen=True, slots=True)
class Answers:
    """A person's answers: the outcome's column, its task, its event or its levels in order, and columns of models.

    ``order`` are the levels in the order of the numbers in columns of lists. ``weight``, ``exposure`` and ``cluster``
    are columns given by flags alone. ``item`` to ``missing`` are of scores: the columns of a table, the task and the
    scorer of logs, which scores are better, and what a missing one counts. An unknown task raises UsageError.
    """

    outcome: str | None = None
    task: str | None = None
    event: str | None = None
    levels: str | None = None
    models: tuple[str, ...] = ()
    order: str | None = None
    weight: str | None = None
    exposure: str | None = None
    cluster: str | None = None
    item: str | None = None
    epoch: str | None = None
    log_task: str | None = None
    scorer: str | None = None
    better: str | None = None
    missing: str | None = None

    def __post_init__(self) -> None:
        """Refuse an unknown task with the error that any command gives."""
        if self.task is not None:
            known_task(self.task)

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """The keys "cluster", "weight" and "exposure" of the spec that flags of `init` give, each with its column."""
        keys = (("cluster", self.cluster), ("weight", self.weight), ("exposure", self.exposure))
        return tuple((key, column) for key, column in keys if column is not None)


@dataclass(frozen=True, slots=True)
class Question:
    """An open question: the ``key`` of `Answers` that it is for, as its flag, and the ``choices``, each with a note.

    ``known`` is a clause on what the data show, ``asks`` the question itself, ``example`` an argument of the flag where
    the answer is none of the choices.
    """

    key: str
    known: str
    asks: str
    choices: tuple[tuple[str, str], ...]
    example: str = ""

    @property
    def flag(self) -> str:
        """The flag of `evalpipe init` that answers the question, such as "--outcome"."""
        return f"--{self.key}"

    @property
    def ways(self) -> list[str]:
        """The flags with arguments that answer the question, quoted for a shell."""
        arguments = [self.example] if self.example else [choice for choice, _ in self.choices[:SHOWN]]
        return [f"{self.flag} {shlex.quote(argument)}" for argument in arguments]

    def problem(self) -> Problem:
        """Return the problem of a command line that leaves this question open."""
        notes = tuple(f"{clipped(choice)}: {note}" for choice, note in self.choices[:SHOWN])
        more = (f"and {len(self.choices) - SHOWN:,} more",) if len(self.choices) > SHOWN else ()
        return Problem(f"{self.key}-needed", f"{self.known}; {self.asks}", hint=f"add {joined(self.ways, 'or')}",
                       notes=(*notes, *more))

    def answered(self, answers: Answers, text: str) -> Answers:
        """Return ``answers`` with ``text``, the answer to this question, added."""
        if self.key == "model":
            return replace(answers, models=(*answers.models, *filter(None, (part.strip() for part in text.split(",")))))
        change: dict[str, Any] = {self.key.replace("-", "_"): text}
        return replace(answers, **change)
