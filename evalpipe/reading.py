"""Step 3: read all that a plan names: datasets, in memory or part by part, and the table of candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.data.candidates import read_candidates
from evalpipe.data.query_rows import stored_queries
from evalpipe.data.read import read
from evalpipe.errors import DataError
from evalpipe.streams.read import read_streamed
from evalpipe.streams.tables import Work

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from evalpipe.data.sample import CandidateRows, Sample
    from evalpipe.errors import Problem
    from evalpipe.plan.plan import Plan


def read_all(
    plan: Plan, frames: Mapping[str, pl.DataFrame] | None = None, work: Work | None = None
) -> tuple[tuple[Sample, ...], CandidateRows | None]:
    """Return a sample for each dataset, and the candidates; ``frames`` are datasets in memory, by name.

    ``work`` says how to read datasets part by part, and counts the parts. Raises DataError with every problem of
    datasets and candidates.
    """
    samples: tuple[Sample, ...] = ()
    candidates: CandidateRows | None = None
    problems: list[Problem] = []
    parts = work or Work()
    try:
        with stored_queries(plan, parts.scratch) as stored_plan:
            if plan.datasets:
                samples = read_streamed(stored_plan, parts) if plan.streaming.streamed else read(stored_plan, frames)
    except DataError as error:
        problems += error.problems
    try:
        candidates = read_candidates(plan)
    except DataError as error:
        problems += error.problems
    if problems:
        raise DataError(*problems)
    return samples, candidates
