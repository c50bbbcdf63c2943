"""How much memory a run takes, what needs the rows of a dataset all at once, and what is read part by part instead."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from evalpipe.chapters.deviance.plan import deviance_plan
from evalpipe.chapters.labels.plan import labels_plan
from evalpipe.chapters.row_file.plan import row_file_plan
from evalpipe.errors import Problem, SpecError
from evalpipe.plan.plan import StreamingPlan
from evalpipe.words.numbers import bytes_text
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.words.sentences import Sentence


Reading = Literal["held", "parts", "scores"]
"""All rows in memory, rows part by part, and beside the latter every score."""

UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
"""The bytes of each unit."""

PROGRAM, USUAL = 290 * 10**6, 2000
"""Bytes that the program takes, with so many replicates of two models and a card, whatever the rows are."""

PDF = 30 * 10**6
"""Bytes that what makes a PDF takes besides: it is loaded before anything is read, so that it is known to work."""

READING, COUNTS = 245 * 10**6, 10 * 10**6
"""Bytes that the program takes while it reads part by part, and those of each model's counts in each thread."""

BANDS, LIMITS = 3600, 80 * 10**6
"""Bytes that a replicate of a model's curves takes, 424 numbers; and to compute limits of more replicates than that."""

CLUSTERED = 25 * 10**6
"""Bytes that the clusters of rows that are read part by part take for each model, in parts and in replicates."""

IN_MEMORY = 150
"""Bytes that each value of a column takes at most where all rows are in memory, at the highest point of a run."""

READ = 60
"""Bytes that each value takes of the rows that are read at once and counted."""

TEXT = 60 * 10**6
"""Bytes that a block of a file of text takes at least, whatever the batch: it is cut by bytes and not by rows."""

BINARY = ("parquet", "ipc", "query")
"""Formats that are read by ranges of rows."""

BATCH, QUICK, FEWEST = 131_072, 65_536, 10_000
"""The rows of a part that are read at once; the fewest for which a second thread pays, and that are not too slow."""


def bytes_from_text(text: str) -> int:
    """Return the bytes that a text such as "2GB" or "1.5 GiB" means."""
    unit = next(name for name in UNITS if text.endswith(name))
    return int(float(text.removesuffix(unit)) * UNITS[unit])


def replicate_bytes(plan: Plan) -> int:
    """Return the bytes of a replicate of all measures and curves of all rows, for each dataset, model and variant.

    Slices are not counted, as how many there are is not known before data are read.
    """
    replicated_measures = sum(plan.draws(entry) for entry in plan.entries)
    models = len(plan.models) * (1 + len(plan.recalibrate.methods))
    evaluated = sum(dataset.role == "evaluate" for dataset in plan.datasets)
    binary = plan.task == "binary"
    bands = BANDS if plan.banded and binary else 0
    numbers = 8 * replicated_measures * (1 if binary else max(1, len(plan.outcome.levels)))
    return evaluated * models * (numbers + bands)


def replicates_bytes(plan: Plan) -> int:
    """Return the bytes of the replicates of a plan beyond the `USUAL` number, which `PROGRAM` includes."""
    return LIMITS + replicate_bytes(plan) * (plan.replicates - USUAL) if plan.replicates > USUAL else 0


def least_bytes(plan: Plan) -> int:
    """Return the bytes of a run with the `USUAL` replicates, whatever it reads."""
    return PROGRAM + _pdf_bytes(plan)


def _pdf_bytes(plan: Plan) -> int:
    """Return the bytes that the PDF of a plan takes, if it has one."""
    return PDF if "pdf" in plan.formats else 0


def replicates_within(plan: Plan, memory: int) -> int:
    """Return how many replicates fit into ``memory`` bytes, without the rows."""
    return max(0, memory - least_bytes(plan) - LIMITS) // max(1, replicate_bytes(plan)) + USUAL


def rows_in_memory_bytes(plan: Plan) -> float:
    """Return the bytes of a run with all rows in memory; unknown numbers of rows count as 0."""
    return least_bytes(plan) + replicates_bytes(plan) + IN_MEMORY * sum(
        (dataset.table.rows or 0) * len(dataset.columns) for dataset in plan.datasets)


def program_bytes(plan: Plan) -> int:
    """Return the bytes of a run that reads part by part, once it has read all rows."""
    return least_bytes(plan) + replicates_bytes(plan) + _cluster_bytes(plan)


def _cluster_bytes(plan: Plan) -> int:
    """Return the bytes that the clusters of rows take which are read part by part."""
    return 0 if plan.cluster is None else CLUSTERED * len(plan.models)


def _counts_bytes(plan: Plan, threads: int) -> int:
    """Return the bytes of a run that reads part by part in so many ``threads``, without the rows."""
    return READING + _pdf_bytes(plan) + _cluster_bytes(plan) + threads * COUNTS * len(plan.models)


def fewest_bytes(plan: Plan, datasets: list[DatasetPlan], threads: int) -> float:
    """Return the bytes of a run that counts the `FEWEST` rows at once in each of its ``threads``."""
    read = READ * FEWEST * max((len(dataset.columns) for dataset in datasets), default=1)
    text = any(dataset.table.format not in BINARY for dataset in datasets)
    return max(program_bytes(plan), _counts_bytes(plan, threads) + threads * max(read, TEXT if text else 0))


def batch_within(plan: Plan, datasets: list[DatasetPlan], threads: int) -> int | None:
    """Return how many rows may be read at once; None where even the fewest take more than the plan allows."""
    if plan.memory is None:
        return BATCH
    if fewest_bytes(plan, datasets, threads) > plan.memory:
        return None
    of_row = READ * threads * max((len(dataset.columns) for dataset in datasets), default=1)
    return int(min(BATCH, (plan.memory - _counts_bytes(plan, threads)) / of_row))


def threads_within(plan: Plan, datasets: list[DatasetPlan]) -> int:
    """Return how many threads read: as many as there may be, but under ``auto`` none that may not read `QUICK` rows."""
    threads = workers_of(plan)
    while plan.workers == "auto" and threads > 1 and (batch_within(plan, datasets, threads) or 0) < QUICK:
        threads -= 1
    return threads


HELD, SLICED = 1.8, 2.1
"""Processor seconds that a million held rows take for each model with scores, and for each of its slicings."""

READ_IN_PARTS, COUNTED = 0.12, 0.09
"""Those that a million rows take for each model where they are read part by part, and for each of its slicings."""

CELLS = 0.4
"""Processor seconds that the cells of a model take, and again those of each of its slicings, whatever the rows are."""

SCORED_ROWS, SCORED_BYTES = 0.35, 85
"""Processor seconds of a million rows, and bytes of each, that every score takes, by model and slicing."""

MILLION = 10**6

MOST_HELD = 20 * MILLION
"""The most rows of a file that are held unless the spec asks for it."""

SEPARATED = ("csv", "tsv")
"""Formats that are text, in which no file says what its columns are."""

SCORED = 3
"""The most models with scores whose joint cells can be counted."""

DIGITS = 2
"""The most digits that probabilities are rounded to where clusters are counted: a cell ends at each border."""


def streaming_plan(plan: Plan) -> StreamingPlan:
    """Decide whether rows are read part by part; raises SpecError where the spec asks for the impossible.

    That is, for reading part by part where something needs all rows at once, for less memory than the rows take, or for
    a Dask cluster where nothing is read part by part.
    """
    place, allowed = plan.places.place("engine", "memory"), f"engine.memory is {bytes_text(plan.memory or 0)}"
    if plan.memory is not None and plan.memory < least_bytes(plan):
        needed = bytes_text(least_bytes(plan))
        without = f", or {bytes_text(PROGRAM)} without pdf in report.formats" if _pdf_bytes(plan) else ""
        raise SpecError(Problem(
            "too-little-memory", f"{allowed}, but a run takes about {needed}, whatever it reads", place,
            f"allow {needed}{without}"))
    if plan.memory is not None and least_bytes(plan) + replicates_bytes(plan) > plan.memory:
        needed = bytes_text(least_bytes(plan) + replicates_bytes(plan))
        hint = f"allow {needed}, or at most {replicates_within(plan, plan.memory):,} intervals.replicates"
        raise SpecError(Problem(
            "too-little-memory", f"{allowed}, but {plan.replicates:,} replicates take about {needed}", place,
            f"{hint}; intervals.bands: false takes less" if plan.banded else hint))
    stored = [dataset for dataset in plan.datasets if not dataset.table.is_in_memory]
    blockers = list(streaming_blockers(plan)) if stored else []
    if plan.mode == "grid" and blockers:
        raise SpecError(*(
            Problem("needs-all-rows",
                    f"{what} needs all rows at once, but engine.mode is grid, which reads them part by part",
                    plan.places.place(*loc) or plan.places.place("engine", "mode"),
                    "remove it, or set engine.mode to auto or exact, which hold the rows") for loc, what in blockers))
    most_rows = max((dataset.table.rows or 0 for dataset in stored), default=0)
    needed_bytes = rows_in_memory_bytes(plan)
    fits_in_memory = plan.memory is None or needed_bytes <= plan.memory
    must_be_in_memory = bool(blockers) or plan.mode == "exact" or not stored
    reason = None
    if stored and plan.mode == "grid":
        reason = sentence("mode-asked", mode="grid")
    elif must_be_in_memory and not fits_in_memory:
        blocker = blockers[0][1] if blockers else "engine.mode: exact"
        message = (f"{allowed}, but to hold {most_rows:,} rows takes about {bytes_text(needed_bytes)}, and "
                   f"{blocker.rstrip(',')} needs them all at once")
        raise SpecError(Problem("too-little-memory", message, place,
                                "allow more, or remove it, so that rows are read part by part"))
    elif not must_be_in_memory and not fits_in_memory:
        reason = sentence("too-large", rows=most_rows, bytes=needed_bytes)
    elif not must_be_in_memory and most_rows > most_held(plan):
        reason = sentence("too-many", rows=most_rows, most=most_held(plan))
    if reason is None:
        decided = StreamingPlan(_why_in_memory(plan, most_rows, blockers))
    else:
        threads = threads_within(plan, stored)
        batch = _rows_per_batch(plan, stored, threads)
        decided = StreamingPlan(reason, batch, keeps_all_scores(plan, stored, threads), threads)
    _check_cluster(plan, decided, stored)
    return decided


def reading_seconds(plan: Plan, rows: int) -> dict[Reading, float]:
    """Return about how many processor seconds each way to read ``rows`` takes, without what is the same for all.

    They are those of the machine of docs/scale.md, on others in about the same proportions.
    """
    millions, models, slicings = rows / MILLION, len(_scored_models(plan)), len(plan.slices.slicings)
    return {
        "held": models * millions * (HELD + SLICED * slicings),
        "parts": models * (CELLS * (1 + slicings) + millions * (READ_IN_PARTS + COUNTED * slicings)),
        "scores": models * millions * SCORED_ROWS * max(1, slicings)}


def most_held(plan: Plan) -> int:
    """Return the rows, to two digits, beyond which `auto` reads part by part: from there it takes less time.

    The time that every score takes counts as of reading part by part, so that values are exact on both sides.
    """
    fixed, million = (reading_seconds(plan, rows) for rows in (0, MILLION))
    more = million["held"] - million["scores"] - (million["parts"] - fixed["parts"])
    return int(float(f"{MILLION * fixed['parts'] / more:.1e}")) if more else MILLION


def plan_in_memory(plan: Plan, model: str, share: float) -> Plan | None:
    """Return the plan with all rows in memory, for a ``share`` of them has scores of a model in one cell of the grid.

    None where the spec, a limit of memory or a cluster asks for parts, or there are more than `MOST_HELD` rows.
    """
    rows = max((dataset.table.rows or 0 for dataset in plan.datasets), default=0)
    if not plan.streaming.streamed or plan.mode != "auto" or plan.memory or plan.dask or rows > MOST_HELD:
        return None
    return replace(plan, streaming=StreamingPlan(
        sentence("scores-in-few-cells", share=float(f"{share:.2g}"), model=model)))


def keeps_all_scores(plan: Plan, stored: list[DatasetPlan], threads: int) -> bool:
    """Tell whether every score of rows read part by part is kept: under `auto`, while time and memory at most double.

    A cluster would have to send them.
    """
    rows = sum(dataset.table.rows or 0 for dataset in stored if dataset.role == "evaluate")
    seconds, slicings = reading_seconds(plan, rows), max(1, len(plan.slices.slicings))
    needed = SCORED_BYTES * rows * len(_scored_models(plan)) * slicings
    known = all(dataset.table.rows is not None for dataset in stored)
    free = program_bytes(plan) if plan.memory is None else plan.memory - fewest_bytes(plan, stored, threads)
    return plan.mode == "auto" and plan.dask is None and known and (
        seconds["scores"] <= seconds["parts"] and needed <= free)


def _scored_models(plan: Plan) -> list[str]:
    """Return the models with scores."""
    return [name for name, model in plan.models.items() if "scores" in model.gives]


def _why_in_memory(plan: Plan, most_rows: int, blockers: list[tuple[Loc, str]]) -> Sentence:
    """Return why all rows are in memory; ``most_rows`` is the number of rows of the largest dataset."""
    if all(dataset.table.is_in_memory for dataset in plan.datasets):
        return sentence("in-memory")
    if plan.mode == "exact":
        return sentence("mode-asked", mode="exact")
    if most_rows <= most_held(plan):
        return sentence("few-enough", most=most_held(plan))
    return sentence("all-at-once", what=blockers[0][1].rstrip(","), rows=most_rows)


def _rows_per_batch(plan: Plan, stored: list[DatasetPlan], threads: int) -> int:
    """Return how many rows are read at once; raises SpecError where the memory is too little for any."""
    batch = batch_within(plan, stored, threads)
    if batch is None:
        least = bytes_text(fewest_bytes(plan, stored, threads))
        message = f"engine.memory is {bytes_text(plan.memory or 0)}, but to read part by part takes about {least}"
        raise SpecError(Problem("too-little-memory", message, plan.places.place("engine", "memory"),
                                f"allow {least}, or fewer engine.workers" if threads > 1 else f"allow {least}"))
    return batch


def _check_cluster(plan: Plan, decided: StreamingPlan, stored: list[DatasetPlan]) -> None:
    """Raise SpecError where a Dask cluster is asked for that has no files to read part by part."""
    if plan.dask is None:
        return
    place = plan.places.place("engine", "backend", key=True)
    queries = [dataset.name for dataset in plan.datasets if dataset.table.format == "query"]
    if queries:
        message = f"dataset '{queries[0]}' is a query, whose rows are stored where the workers of a cluster see none"
        raise SpecError(Problem(
            "query-on-cluster", message, place, "remove 'backend': this process reads the rows of queries"))
    if not decided.streamed:
        message = f"'backend: dask' has no files to read part by part: {decided.reason}"
        hint = "set engine.mode to grid, or remove it" if stored else "remove it"
        raise SpecError(Problem("nothing-for-dask", message, place, hint))


def workers_of(plan: Plan) -> int:
    """Return the number of threads that a plan allows: as declared, or the processors that this process may use."""
    if plan.workers != "auto":
        return plan.workers
    # Not `os.cpu_count`, which also counts processors that this process may not use.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads_of(plan: Plan) -> int:
    """Return the number of threads of a run: as many as the plan allows, fewer where parts have little memory."""
    return plan.streaming.threads or workers_of(plan)


def streaming_blockers(plan: Plan) -> Iterator[tuple[Loc, str]]:
    """Yield the features of a plan that need all rows at once: the keys in the spec, and what messages call them."""
    if plan.task != "binary":
        yield ("task",), f"the task {plan.task}"
    yield from _row_blockers(plan)
    for name in plan.models:
        yield from _model_blockers(plan, name)
    scored = _scored_models(plan)
    if len(scored) > SCORED:
        yield ("models", scored[SCORED]), f"a comparison of {len(scored)} models with scores, more than {SCORED},"
    for dataset in plan.datasets:
        yield from _dataset_blockers(plan, dataset)
    if plan.recalibrate.folds is not None:
        yield ("recalibrate", "fit_on"), "cross-fitting of recalibrators"
    if plan.slices.worst is not None:
        yield ("worst_slices",), "the search for the worst slices"
    if plan.slices.folds is not None:
        yield ("folds",), "the spread over folds"
    fitted = plan.part(deviance_plan)
    if fitted is not None:
        yield ("models", next(iter(fitted)), "fitted") if fitted else ("metrics",), "the analysis of deviance"


def _row_blockers(plan: Plan) -> Iterator[tuple[Loc, str]]:
    """Yield the features of weights, clusters and columns that need all rows at once: their keys and their words."""
    if plan.part(labels_plan) is not None:
        yield ("labels",), "looking for rows without an outcome"
    elif plan.importance:
        yield ("weight",), "weighting by importance"
    if plan.cluster is not None:
        yield from _cluster_blockers(plan)
    if plan.complete_case and plan.id is not None:
        yield ("complete_case",), "leaving out incomplete rows whose ids are compared"
    if plan.residuals is not None:
        yield from ((loc, f"the residual against column '{column}'") for loc, column in plan.residuals.columns)
    if plan.part(row_file_plan) is not None:
        yield ("report", "rows"), "the row-level file"


def _cluster_blockers(plan: Plan) -> Iterator[tuple[Loc, str]]:
    """Yield the features that need more of each cluster of rows than its counts in about 330 cells of a score."""
    measures = [*plan.entries, *plan.goal_measures]
    growing = next((entry for entry in measures if plan.draws(entry) and entry.metric.extensive), None)
    if growing is not None:
        yield ("cluster",), f"the interval of {growing.metric.name}, which grows with the rows, over clusters"
    fine = next((leaf for entry in measures for leaf in entry.leaves if leaf.params.get("digits", 0) > DIGITS), None)
    if fine is not None:
        yield ("cluster",), f"{fine.metric.name} of probabilities of {fine.params['digits']} digits over clusters"
    for name, model in plan.models.items():
        chosen = any(rule is not None for rule in (model.threshold.rule, model.threshold.variant_rule))
        if chosen and plan.interval_method != "none":
            yield ("models", name, "threshold"), f"the interval of the chosen threshold of model '{name}' over clusters"
    drawing = [method.name for method in plan.recalibrate.methods if method.method == "isotonic_bagged"]
    if drawing:
        yield ("recalibrate", "methods"), f"the recalibrator {drawing[0]}, which draws clusters,"


def _model_blockers(plan: Plan, name: str) -> Iterator[tuple[Loc, str]]:
    """Yield the features of a model that need all rows at once: their keys and their words."""
    model = plan.models[name]
    if model.has_own_files:
        yield ("models", name, "predictions"), f"the file of predictions of model '{name}'"
    if model.level_columns:
        of_levels = "scores" if model.scores else "probabilities"
        yield ("models", name, of_levels), f"reading the {of_levels} of both levels of model '{name}'"
    if model.raw:
        yield ("models", name, "score"), f"the score of model '{name}', which is no probability and has no 'scale',"
    rules = (model.threshold.rule, model.threshold.variant_rule)
    if any(rule is not None and rule.folds is not None for rule in rules):
        yield ("models", name, "threshold"), f"the cross-fitted threshold of model '{name}'"


def _dataset_blockers(plan: Plan, dataset: DatasetPlan) -> Iterator[tuple[Loc, str]]:
    """Yield the features of a dataset that need all rows at once: their keys and their words."""
    if dataset.role == "reference" and plan.gives_prevalence(dataset.name):
        yield ("prevalence", "from"), f"the prevalence of the reference dataset '{dataset.name}'"
    if dataset.role == "reference" and plan.id is None:
        yield ("datasets", dataset.name), f"the comparison with the reference dataset '{dataset.name}' without an 'id'"
    if dataset.table.format in (*SEPARATED, "ndjson") and dataset.conditions:
        yield ("datasets", dataset.name), f"a condition on dataset '{dataset.name}', whose format has no types,"
    untyped = [column for column in plan.slices.typed if column not in dataset.table.named.csv.types]
    if dataset.table.format in SEPARATED and len(dataset.table.files) > 1 and untyped and dataset.role == "evaluate":
        yield ("slices",), f"the type of column '{untyped[0]}', unless 'csv: {{types}}' declares it,"
