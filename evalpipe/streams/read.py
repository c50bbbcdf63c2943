"""Step 3 for datasets that are never held: sum their parts up, merge the sums, and return them as samples of cells."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.data.sample import Sample
from evalpipe.data.summary import absent_levels, unknown_conditions
from evalpipe.plan.all_at_once import workers_of
from evalpipe.streams import described
from evalpipe.streams.cache import Cache
from evalpipe.streams.local import Threads
from evalpipe.streams.merged import merged
from evalpipe.streams.samples import Samples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.streams.work import Work, Workers


def read_streamed(plan: Plan, work: Work) -> tuple[Sample, ...]:
    """Return a sample of cells for each dataset, in the plan's order; raises DataError."""
    with _workers(plan, work) as workers:
        samples = tuple(_sample(plan, dataset, work, workers) for dataset in plan.datasets)
    if work.cache is not None:
        Cache(work.cache).finish(work.used)
    return tuple(_compared(plan, sample, samples) for sample in samples)


def _compared(plan: Plan, sample: Sample, samples: Sequence[Sample]) -> Sample:
    """Warn that rows were not compared with those to calibrate on; raises DataError where a file is in both."""
    for other in samples if sample.role == "evaluate" else ():
        if other.role == "calibrate":
            sample = replace(sample, warnings=(*sample.warnings, described.not_compared(plan, sample, other)))
    return sample


def _workers(plan: Plan, work: Work) -> AbstractContextManager[Workers]:
    """Return those who read the files of a plan."""
    if plan.dask is None:
        return nullcontext(Threads(plan, workers_of(plan)))
    from evalpipe.streams.dask_backend import dask_workers

    return dask_workers(plan, work.spec, workers_of(plan))


def _sample(plan: Plan, dataset: DatasetPlan, work: Work, workers: Workers) -> Sample:
    assert dataset.role != "predictions" and dataset.role != "candidates"  # noqa: PLR1714, PT018, S101
    tables, sha256 = merged(plan, dataset, work, workers)
    levels = described.levels(plan, dataset, tables)
    sliced = plan.slices.slicings if dataset.role == "evaluate" else ()
    labels = tuple(described.labels(plan, dataset, slicing, number, tables) for number, slicing in enumerate(sliced))
    summary = described.summary(dataset, tables, levels, whole=plan.weight is not None)
    unknown = described.unknown(dataset, tables)
    warnings = (*unknown_conditions(dataset.name, unknown), *absent_levels(summary, plan.task))
    whole = Sample(dataset.name, dataset.role, plan.task, levels, np.zeros(0, bool), None, "frequency", summary,
                   described.files(dataset, tables, sha256), warnings=warnings)
    return Samples(plan, tables, whole, labels).sample()
