"""How a command ends that did not go through: its problems where they belong, and its exit code."""

from __future__ import annotations

import errno
import json
from typing import TYPE_CHECKING

import click

from evalpipe.cli.annotations import annotation
from evalpipe.cli.interrupt import ending
from evalpipe.cli.output import tell_person
from evalpipe.errors import EvalpipeError, InternalError, Problem
from evalpipe.words.spelling import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence


def asked_format(arguments: Sequence[str]) -> str:
    """Return the value of ``--format`` on a command line that may not parse."""
    for i, argument in enumerate(arguments):
        if argument == "--format":
            return arguments[i + 1] if i + 1 < len(arguments) else "text"
        if argument.startswith("--format="):
            return argument.partition("=")[2]
    return "text"


def tell(*problems: Problem, code: int, form: str) -> int:
    """Print problems where they belong: on stderr for people; as JSON or annotations on stdout. Returns ``code``."""
    if form == "json":
        document = {"ok": False, "exit_code": code, "problems": [problem.as_dict() for problem in problems]}
        click.echo(json.dumps(document, indent=1, ensure_ascii=False))
        return code
    if form == "github":
        for problem in problems:
            click.echo(annotation(problem))
    tell_person("\n\n".join(str(problem) for problem in problems))
    if len(problems) > 1:
        tell_person(f"\n{len(problems)} errors")
    return code


def long_path(error: Exception) -> Problem | None:
    """Return the problem of a path that is too long for the system; None for any other error."""
    if not isinstance(error, OSError) or error.errno != errno.ENAMETOOLONG:
        return None
    return Problem("long-path", f"the path {quoted(str(error.filename))} is longer than this system allows",
                   hint="give a shorter one")


def fault(error: Exception) -> Problem:
    """Return the problem of an error that nobody expected, with the line that raised it."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    place = f"{last.tb_frame.f_globals.get('__name__', '?')}, line {last.tb_lineno}" if last else "unknown place"
    return Problem(
        "internal", f"a fault of evalpipe itself: {type(error).__name__}: {error}", notes=(f"raised in {place}",),
        hint="please report it with the spec; EVALPIPE_DEBUG=1 shows the traceback",
    )


def code_of(error: BaseException | None) -> int:
    """Return the exit code of a command that ends with an error; 0 where there is none."""
    if error is None:
        return 0
    if isinstance(error, KeyboardInterrupt):
        return ending()[1]
    return error.exit_code if isinstance(error, EvalpipeError) else InternalError.exit_code


def problems_of(error: BaseException) -> tuple[Problem, ...]:
    """Return what an error tells; nothing of an interrupt."""
    if isinstance(error, EvalpipeError):
        return error.problems
    return (fault(error),) if isinstance(error, Exception) else ()
