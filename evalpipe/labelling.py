"""Which rows of a spec's datasets to label next, and how many more labels its verdicts need.

It stands beside `evalpipe.run`, not in the chapter: it loads a spec, plans and reads data, which chapters may not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from evalpipe.chapters.labels.compute_needed import NeededLabels
    from evalpipe.data.sample import Sample
    from evalpipe.plan.plan import Plan
    from evalpipe.run import Source


def queue(source: Source, count: int, overrides: Sequence[str] = ()) -> pl.DataFrame:
    """Return all rows of the evaluated datasets with the probability of having been drawn, those to label next first.

    ``next`` numbers the ``count`` rows to label now, null of others. Rows are named by the id of the spec, else by
    their ``row`` number; of several datasets also by ``dataset``. Raises SpecError, DataError, and UsageError where
    the spec has no labels or fewer rows are without an outcome.
    """
    import polars as pl

    from evalpipe.chapters.labels.compute_queue import next_rows
    from evalpipe.chapters.labels.plan import labels_plan

    plan, samples = _read(source, [*overrides, "report.rows=csv"])  # with which rows keep their names
    labels = plan.part(labels_plan)
    if labels is None:
        raise UsageError.of("no-labels", "the spec has no 'labels', so that each row has an outcome",
                            "add 'labels: {selected: random}', and leave the outcome empty where it is unknown")
    open_rows = {sample.dataset: int((~sample.known.known).sum()) for sample in samples if sample.known is not None}
    if count > sum(open_rows.values()):
        message = f"{count:,} rows are to be labelled next, and {sum(open_rows.values()):,} have no outcome"
        raise UsageError.of("too-many-rows", message, "ask for fewer; where each row has an outcome, run the spec")
    drawn = next_rows(plan, labels, [sample for sample in samples if open_rows.get(sample.dataset)], count)
    datasets, names = zip(*drawn.rows, strict=True)
    places = [place if place <= count else None for place in range(1, len(names) + 1)]
    frame = pl.DataFrame({"dataset": datasets, plan.id or "row": names, "next": places,
                          "probability": drawn.probability})
    return frame if len(set(datasets)) > 1 else frame.drop("dataset")


def needed(source: Source, overrides: Sequence[str] = ()) -> list[NeededLabels]:
    """Return how many more labels each gate, comparison and slice needs for a verdict, by an evaluation of the spec.

    Nothing is written. Raises SpecError and DataError.
    """
    from evalpipe.chapters.labels.compute_needed import needed_labels
    from evalpipe.run import load_with_files, run

    spec = load_with_files(source, overrides)  # once: it may come from the standard input
    plan, samples = _read(spec)
    return list(needed_labels(plan, run(spec), samples))


def _read(source: Source, overrides: Sequence[str] = ()) -> tuple[Plan, tuple[Sample, ...]]:
    """Return the plan, and the samples with classes by thresholds, from which no row is left out."""
    from evalpipe.chapters import functions
    from evalpipe.run import plan, read_all

    planned = plan(source, overrides)
    (classified,) = functions("compute", "changed", "thresholds")
    samples, _ = classified(planned, read_all(planned)[0])
    return planned, tuple(sample for sample in samples if sample.role == "evaluate")
