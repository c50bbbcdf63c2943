"""Which rows of a spec's datasets to label next, and how many more labels its verdicts need.

It stands beside `evalpipe.run`, not in the chapter: it loads a spec, plans and reads data, which chapters may not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from evalpipe.chapters.labels.compute_needed import NeededLabels
    from evalpipe.chapters.labels.compute_queue import QueuedRow
    from evalpipe.data.sample import Sample
    from evalpipe.plan.plan import Plan
    from evalpipe.run import Source

NAMES_OF_ROWS = "report.rows=csv"
"""The key of the spec with which rows keep their names."""


def queue(
    source: Source, count: int, *, overrides: Sequence[str] = (), as_of: str | None = None,
    frames: Mapping[str, pl.DataFrame] | None = None,
) -> pl.DataFrame:
    """Return all rows of the evaluated datasets with the probability of having been drawn, those to label next first.

    ``next`` numbers the ``count`` rows to label now, null of others. The rows are named by the id of the spec, else by
    their ``row`` number; of several datasets also by ``dataset``. Raises SpecError, DataError, and UsageError where
    the spec has no labels or fewer rows are without an outcome.
    """
    import polars as pl

    from evalpipe.chapters.labels.compute_queue import next_rows
    from evalpipe.chapters.labels.plan import labels_plan

    plan, samples = _read([*overrides, NAMES_OF_ROWS], source, as_of, frames)
    labels = plan.part(labels_plan)
    if labels is None:
        raise UsageError.of("no-labels", "the spec has no 'labels', so that every row has an outcome",
                            "add 'labels: {selected: random}', and leave the outcome empty where it is unknown")
    with_open = [sample for sample in samples if sample.known is not None and not sample.known.known.all()]
    rows_open = sum(int((~sample.known.known).sum()) for sample in with_open if sample.known is not None)
    if count > rows_open:
        message = f"{count:,} rows are to be labelled next, and {rows_open:,} have no outcome"
        raise UsageError.of("too-many-rows", message,
                            f"write --next {rows_open}" if rows_open else "every row has an outcome: run the spec")
    return _frame(plan, next_rows(plan, labels, with_open, count), several=len(with_open) > 1)


def _frame(plan: Plan, rows: Sequence[QueuedRow], *, several: bool) -> pl.DataFrame:
    """Return the rows as a table; ``several`` datasets have a column of their names."""
    import polars as pl

    columns: dict[str, list[object]] = {"dataset": [row.dataset for row in rows]} if several else {}
    columns |= {
        "row" if plan.id is None else plan.id: [row.name for row in rows],
        "next": [row.place or None for row in rows], "probability": [row.probability for row in rows]}
    return pl.DataFrame(columns, schema_overrides={"next": pl.Int64})


def needed(
    source: Source, *, overrides: Sequence[str] = (), as_of: str | None = None,
    frames: Mapping[str, pl.DataFrame] | None = None,
) -> list[NeededLabels]:
    """Return how many more labels each gate, comparison and slice needs for a verdict, by an evaluation of the spec.

    Nothing is written. Raises SpecError and DataError.
    """
    from evalpipe.chapters.labels.compute_needed import needed_labels
    from evalpipe.run import load_with_files, run

    spec = load_with_files(source, overrides, as_of=as_of, frames=frames)  # once: it may come from the standard input
    plan, samples = _read((), spec, None, frames)
    return needed_labels(plan, run(spec, frames=frames), samples)


def _read(
    overrides: Sequence[str], source: Source, as_of: str | None, frames: Mapping[str, pl.DataFrame] | None
) -> tuple[Plan, tuple[Sample, ...]]:
    """Return the plan, and the samples of the evaluated datasets with classes by thresholds, rows not left out."""
    from evalpipe.chapters import functions
    from evalpipe.run import plan, read_all

    planned = plan(source, overrides, frames, as_of)
    samples, _ = read_all(planned, frames)
    (changed,) = functions("compute", "changed", "thresholds")
    with_classes, _ = changed(planned, samples)
    return planned, tuple(sample for sample in with_classes if sample.role == "evaluate")
