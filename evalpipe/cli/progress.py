"""Progress on stderr: a live bar on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Self

import click

from evalpipe.run import STEPS, Progress

if TYPE_CHECKING:
    from rich.progress import TaskID

class Lines(Progress):
    """One line a step; it does not count replicates."""

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """End."""

    def step(self, number: int, title: str) -> None:
        """Print the step's line."""
        click.echo(f"{number}/{len(STEPS)} {title}", err=True)


class Bar(Progress):
    """A live bar that vanishes when the run ends."""

    def __init__(self) -> None:
        """Draw on stderr."""
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        share = TextColumn("{task.percentage:>3.0f} %")
        columns = (TextColumn("{task.description}"), BarColumn(), share, TimeElapsedColumn())
        # Wiped at the end, so that the summary below it stands alone.
        self._rich = RichProgress(*columns, console=Console(file=sys.stderr), transient=True)
        self._task: TaskID | None = None
        self._replicates = 0

    def __enter__(self) -> Self:
        """Begin to draw."""
        self._rich.start()
        self._task = self._rich.add_task("", total=len(STEPS))
        return self

    def __exit__(self, *_: object) -> None:
        """Wipe the bar."""
        self._rich.stop()

    def step(self, number: int, title: str) -> None:
        """Show the step; steps before it are done."""
        if self._task is not None:
            self._rich.update(self._task, description=f"{number}/{len(STEPS)} {title}", completed=number - 1)

    def expect(self, replicates: int) -> None:
        """Let step 4 fill its share of the bar replicate by replicate."""
        self._replicates = replicates

    def advance(self, replicates: int) -> None:
        """Move the bar."""
        if self._task is not None and self._replicates:
            self._rich.advance(self._task, replicates / self._replicates)
