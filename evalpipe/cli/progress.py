"""Progress on stderr: a live bar on a terminal, lines elsewhere."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Self, TextIO

import click

from evalpipe.cli.cache import parts_line
from evalpipe.run import STEPS, Progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.progress import TaskID


class Quiet(Progress):
    """Progress of which only the reason for a run is printed."""

    def changed(self, reasons: Sequence[str]) -> None:
        """Print what has changed since the run before."""
        if reasons:
            click.echo(reason_for_run(reasons), err=True)


def reason_for_run(reasons: Sequence[str]) -> str:
    """Return the sentence that says why a run is needed, from what has changed since the run before."""
    return f"runs because {'; '.join(reasons)}"


class Lines(Quiet):
    """Progress in lines: one for each step, and one for each dataset read in parts; replicates are not counted."""

    def __enter__(self) -> Self:
        """Return these lines, which need no beginning, as a live bar does."""
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: lines need no end, as a live bar does."""

    def step(self, number: int, title: str) -> None:
        """Print the step's line."""
        click.echo(f"{number}/{len(STEPS)} {title}", err=True)

    def expect_parts(self, dataset: str, parts: int, cached: int, why: str) -> None:
        """Print how many parts a dataset has, how many the cache has, and ``why`` the others are read."""
        click.echo(f"    {parts_line(dataset, parts, cached, why)}", err=True)


def _terminal() -> TextIO:
    """Return standard error under a second descriptor, as the usual one is redirected while files are read."""
    try:
        return os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding=sys.stderr.encoding, errors="replace")
    except (OSError, ValueError):
        return sys.stderr


class Bar(Progress):
    """A live bar that vanishes when the run ends."""

    def __init__(self) -> None:
        """Make a bar on stderr, of which nothing is drawn yet."""
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        share = TextColumn("{task.percentage:>3.0f} %")
        columns = (TextColumn("{task.description}"), BarColumn(), share, TimeElapsedColumn())
        self._file = _terminal()
        # Wiped at the end, so that the summary below it stands alone.
        self._rich = RichProgress(*columns, console=Console(file=self._file), transient=True)
        self._task: TaskID | None = None
        self._replicates = self._parts = self._read = 0
        self._step = ""

    def __enter__(self) -> Self:
        """Begin to draw."""
        self._rich.start()
        self._task = self._rich.add_task("", total=len(STEPS))
        return self

    def __exit__(self, *_: object) -> None:
        """Wipe the bar."""
        self._rich.stop()
        if self._file is not sys.stderr:
            self._file.close()

    def step(self, number: int, title: str) -> None:
        """Show the step; steps before it are done."""
        self._step = f"{number}/{len(STEPS)} {title}"
        if self._task is not None:
            self._rich.update(self._task, description=self._step, completed=number - 1)

    def expect_parts(self, dataset: str, parts: int, cached: int, why: str) -> None:
        """Print a dataset's parts, those cached and ``why`` the others are read; count the latter in the bar."""
        self._rich.console.print(parts_line(dataset, parts, cached, why), markup=False, highlight=False)
        self._parts, self._read = parts - cached, 0

    def part_read(self) -> None:
        """Show one more part as read beside the step."""
        self._read += 1
        if self._task is not None:
            self._rich.update(self._task, description=f"{self._step}: {self._read:,} of {self._parts:,} parts")

    def changed(self, reasons: Sequence[str]) -> None:
        """Print what has changed above the bar."""
        if reasons:
            self._rich.console.print(reason_for_run(reasons), markup=False, highlight=False)

    def expect(self, replicates: int) -> None:
        """Note how many replicates fill the share of step 4 in the bar."""
        self._replicates = replicates

    def advance(self, replicates: int) -> None:
        """Move the bar by the share of ``replicates`` in all of step 4."""
        if self._task is not None and self._replicates:
            self._rich.advance(self._task, replicates / self._replicates)
