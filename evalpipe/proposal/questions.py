"""What only a person can say of the data: the questions, the answers, and the flags that give them."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import Any

from evalpipe.errors import Problem
from evalpipe.tasks import known_task
from evalpipe.words.spelling import clipped, joined

SHOWN = 12
"""The choices that a question shows."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What was answered: the outcome's column, its kind, its event or its levels in order, and columns of models.

    ``order`` are the levels in the order in which columns of lists hold them.

    ``weight``, ``exposure`` and ``cluster`` are columns that nobody is asked for. A kind that is no task raises
    UsageError.
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

    def __post_init__(self) -> None:
        if self.task is not None:
            known_task(self.task)

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """The keys of rows that flags give, each with its column."""
        keys = (("cluster", self.cluster), ("weight", self.weight), ("exposure", self.exposure))
        return tuple((key, column) for key, column in keys if column is not None)


@dataclass(frozen=True, slots=True)
class Question:
    """A question that the data leave open: which answer it asks for, what is known, and the choices with their notes.

    ``known`` is a clause of what is seen, ``asks`` the question itself, ``example`` the argument of the flag where it
    is no choice.
    """

    key: str
    known: str
    asks: str
    choices: tuple[tuple[str, str], ...]
    example: str = ""

    @property
    def flag(self) -> str:
        """The flag that answers it."""
        return f"--{self.key}"

    @property
    def ways(self) -> list[str]:
        """The flags that answer it, each as it is typed."""
        ways = [self.example] if self.example else [choice for choice, _ in self.choices[:SHOWN]]
        return [f"{self.flag} {shlex.quote(way)}" for way in ways]

    def problem(self) -> Problem:
        """Return the problem of a command line that leaves it open."""
        notes = tuple(f"{clipped(choice)}: {note}" for choice, note in self.choices[:SHOWN])
        more = (f"and {len(self.choices) - SHOWN:,} more",) if len(self.choices) > SHOWN else ()
        return Problem(f"{self.key}-needed", f"{self.known}; {self.asks}", hint=f"add {joined(self.ways, 'or')}",
                       notes=(*notes, *more))

    def answered(self, answers: Answers, text: str) -> Answers:
        """Return the answers with this one."""
        if self.key == "model":
            return replace(answers, models=(*answers.models, *filter(None, (part.strip() for part in text.split(",")))))
        given: dict[str, Any] = {self.key: text}
        return replace(answers, **given)
