"""Parts summed up by threads of this process."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from evalpipe.errors import DataError
from evalpipe.streams.asked import asked
from evalpipe.streams.codec import encode
from evalpipe.streams.stamps import digest, unchanged
from evalpipe.streams.summarise import summarise
from evalpipe.streams.work import Summed

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from evalpipe.plan.plan import Plan
    from evalpipe.streams.asked import Asked
    from evalpipe.streams.parts import Part
    from evalpipe.streams.tables import Tables
    from evalpipe.streams.work import File

Task = TypeVar("Task")
Answer = TypeVar("Answer")

AHEAD = 2
"""Tasks for each worker that are begun before the first of them is fetched; each holds its tables meanwhile."""


@dataclass(frozen=True)
class Threads:
    """The threads that read the files of a plan, ``number`` at once."""

    plan: Plan
    number: int

    def digests(self, files: Sequence[File]) -> Iterator[str]:
        """Yield the sha256 of each file, in their order; raises DataError."""
        return in_order(lambda file: digest(file.path, file.stamp, file.shown, file.place), files, self.number)

    def tables(self, parts: Sequence[tuple[Part, File]], *, encoded: bool) -> Generator[Summed]:
        """Yield the tables of each part, in their order, as bytes too where these are asked for; raises DataError."""
        wanted = asked(self.plan)

        def summed(task: tuple[Part, File]) -> Summed:
            tables = summed_up(self.plan, *task, wanted)
            return Summed(tables, encode(tables) if encoded else b"")

        return in_order(summed, parts, self.number)


def summed_up(plan: Plan, part: Part, file: File, asked: Asked) -> Tables:
    """Return what the rows of a part come to; raises DataError, also where its file changes meanwhile."""
    try:
        tables = summarise(plan, part, asked)
    except DataError:
        # A file that is being written reads like a broken one, so this is looked at first.
        unchanged(file.path, file.stamp, file.shown, file.place)
        raise
    unchanged(file.path, file.stamp, file.shown, file.place)
    return tables


def in_order(function: Callable[[Task], Answer], tasks: Iterable[Task], workers: int) -> Generator[Answer]:
    """Yield what a function makes of tasks, in their order; where one fails, those not yet begun are left out."""
    begun: deque[Future[Answer]] = deque()
    pool = ThreadPoolExecutor(workers)
    try:
        for task in tasks:
            begun.append(pool.submit(function, task))
            if len(begun) > AHEAD * workers:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
