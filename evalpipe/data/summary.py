"""The summary of a dataset: numbers of rows, input files, levels and spread of the outcome, and warnings on these."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.base.lazy_polars import pl
from evalpipe.data.columns import FILE, POSITION
from evalpipe.data.labels import declared_labels
from evalpipe.results import DatasetSummary, InputFile, LevelCount, Matched, Warned
from evalpipe.tasks import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.base.arraytypes import Floats, Values
    from evalpipe.data.columns import Columns, RowBlock


def input_files(columns: Columns) -> tuple[InputFile, ...]:
    """Return the files of a dataset with their numbers of used rows; a file of several models is there once."""
    has_weight = weighted_above_zero(columns)
    by_path: dict[tuple[str, str | None], InputFile] = {}
    for rows, repeats in ((columns.rows, 1), *_blocks_of_models(columns.rows)):
        for file in files_of(rows, pl.concat([has_weight] * repeats)):
            known_file = by_path.setdefault((file.role, file.path), file)
            merged = list(dict.fromkeys((*known_file.columns, *file.columns)))
            by_path[file.role, file.path] = known_file.model_copy(update={"columns": merged})
    return tuple(by_path.values())


def _blocks_of_models(rows: RowBlock) -> Iterator[tuple[RowBlock, int]]:
    """Yield the rows of each model's file, and how often it has each row of the dataset: once for every step."""
    for fit, block in rows.models.items():
        if block.step is None:
            yield block, 1
        elif fit.is_shown:
            parts = [part.frame.select(POSITION) for other, part in rows.models.items() if other.model == fit.model]
            yield replace(block, frame=pl.concat(parts)), len(parts)


def files_of(rows: RowBlock, is_counted: pl.Series) -> tuple[InputFile, ...]:
    """Return the files of rows, each with the number of its rows where ``is_counted`` [n] is true."""
    columns = (*rows.dataset.columns, *rows.dataset.table.where_columns, *rows.dataset.compared)
    list_columns = {part: model.list_column for model in rows.plan.models.values() if model.list_column is not None
             for part in model.level_columns.values()}
    read = list(dict.fromkeys(list_columns.get(column, column) for column in columns))
    # Files have row counts of their own, so rows are counted by the file in their position.
    used = rows.frame.select(pl.col(POSITION) // FILE)[POSITION].filter(is_counted)
    counts = np.bincount(used.to_numpy(), minlength=len(rows.sources)).tolist()
    if rows.dataset.table.scores is not None:  # each of whose rows may be brought together with some of another file
        counts = [source.rows for source in rows.sources]
    return tuple(
        InputFile(dataset=rows.name, role=rows.dataset.role, path=source.path, sha256=source.sha256, rows=source.rows,
                  used_rows=count, columns=read, query_sha256=rows.dataset.table.named.query_sha256)
        for source, count in zip(rows.sources, counts, strict=True)
    )


def weighted_above_zero(columns: Columns) -> pl.Series:
    """Return flags [n] of the rows with a weight above zero; all are true where there are no weights."""
    if columns.weight is None:
        return pl.repeat(value=True, n=columns.rows.frame.height, eager=True)
    return (columns.weight > 0).fill_null(value=False)


def summarise(columns: Columns, frame: pl.DataFrame, levels: tuple[str, ...], *, counted: bool) -> DatasetSummary:
    """Summarise a sample; ``frame`` is its table of truth and weights, ``counted`` says that weights count rows."""
    rows, plan, order = columns.rows, columns.rows.plan, columns.rows.plan.outcome.written
    has_outcome = columns.truth is not None
    height = frame.height if has_outcome else rows.frame.height
    unsettled = int((~frame["settled"]).sum()) if "settled" in frame.columns else None
    frame = _with_outcome(columns, frame)
    unknown = height - frame.height if has_outcome else 0
    weights = frame["weight"].to_numpy() if "weight" in frame.columns else np.ones(frame.height)
    total = float(weights.sum()) if has_outcome else float(height)
    counts = _level_counts(frame, levels, weights, plan.task) if has_outcome else []
    events = counts[0].weight if plan.task == "binary" and has_outcome else 0.0
    scores = rows.dataset.table.scores
    # A row is an item, of which a file has several rows where there are epochs.
    read_rows = sum(source.rows for source in rows.sources) if scores is None else scores.frame.height
    is_only_compared = rows.dataset.role == "reference" and columns.weight is None
    used = rows.frame.height if is_only_compared else height
    event_count = None
    if plan.task == "binary":
        event_rows = counts[0].rows if counts else 0
        event_count = round(events) if counted else event_rows
    return DatasetSummary(
        name=rows.name, role=rows.dataset.role, trained_on=rows.dataset.trained_on, where=rows.dataset.where,
        rows=read_rows, excluded_where=read_rows - rows.frame.height - rows.incomplete,
        unknown_where=rows.unknown.get("where", 0), excluded_zero_weight=rows.frame.height - used,
        n=round(total) if counted else used - unknown,
        without_outcome=unknown if declared_labels(columns) is not None else None, unsettled=unsettled,
        events=event_count,
        total_weight=float(used) if is_only_compared else total,
        prevalence=events / total if plan.task == "binary" and has_outcome and total else None,
        levels=counts if not order else sorted(counts, key=lambda count: order.index(count.level)),
        clusters=frame["cluster"].n_unique() if "cluster" in frame.columns else None,
        # Kish (1965): so many rows of equal weight tell as much as these; counts are rows themselves.
        n_effective=None if counted or "weight" not in frame.columns else float(weights.sum()**2 / (weights**2).sum()),
        outcome=spread(frame["truth"].to_numpy(), weights) if plan.task in NUMBERS and has_outcome else {},
        **_exposure_summary(frame, weights),
        matched=[
            Matched(model=fit.model, by="position" if plan.id is None else "id", agree=list(block.dataset.compared))
            for fit, block in rows.models.items() if fit.is_shown],
        excluded_incomplete=rows.incomplete, lacking_predictions=dict(rows.lacking),
        compared=dict(columns.compared) if rows.dataset.role == "evaluate" else {},
    )


def _with_outcome(columns: Columns, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of a sample's table that have an outcome, weighted where they are no random part of all rows.

    The weight is 1 / the probability of being chosen, or the rows of a stratum over those with an outcome.
    """
    labels = declared_labels(columns)
    if labels is None or "known" not in frame.columns:
        return frame
    if "settled" in frame.columns and labels.method != "prediction_powered":
        frame = frame.filter(pl.col("settled"))
    stands_for = None
    if "chance" in frame.columns:
        stands_for = 1 / pl.col("chance")
    elif "stratum" in frame.columns:
        stands_for = (pl.len() / pl.col("known").sum()).over("stratum")
    if stands_for is not None:
        case_weight = pl.col("weight") if "weight" in frame.columns else 1.0
        frame = frame.with_columns((stands_for * case_weight).alias("weight"))
    return frame.filter(pl.col("known"))


def _exposure_summary(frame: pl.DataFrame, weights: Floats) -> dict[str, float]:
    """Return "total_exposure" and "rate", the count per unit of it; empty without exposures."""
    if "exposure" not in frame.columns or not len(weights):
        return {}
    total = float((weights * frame["exposure"].to_numpy()).sum())
    return {"total_exposure": total, "rate": float((weights * frame["truth"].to_numpy()).sum()) / total}


def _level_counts(frame: pl.DataFrame, levels: tuple[str, ...], weights: Floats, task: str) -> list[LevelCount]:
    """Return the rows and the total weight of each level, in the order of ``levels``."""
    truth = frame["truth"].to_numpy()
    codes = np.where(truth.astype(bool), 0, 1) if task == "binary" else truth
    masks = [codes == index for index in range(len(levels))]
    return [
        LevelCount(level=level, rows=int(mask.sum()), weight=float(weights[mask].sum()))
        for level, mask in zip(levels, masks, strict=True)
    ]


def spread(values: Floats, weights: Floats) -> dict[str, float]:
    """Return weighted mean, sd, minimum, quartiles and maximum of numbers [n], by name; empty without weight.

    A quartile is the middle of the values at which the weight reaches its share (R's type 2).
    """
    if not len(values) or not weights.sum():
        return {}
    mean = float(np.average(values, weights=weights))
    # Sorting and summing rather than repeating rows: weights need not be whole.
    order = np.argsort(values, kind="stable")
    ordered, shares = values[order], np.cumsum(weights[order]) / weights.sum()
    sides = [np.searchsorted(shares, np.array([0.25, 0.5, 0.75]), side=side) for side in ("left", "right")]
    first, last = (ordered[np.minimum(indices, len(ordered) - 1)] for indices in sides)
    lower, median, upper = (first + last) / 2
    return {
        "mean": mean, "sd": float(np.sqrt(np.average((values - mean) ** 2, weights=weights))),
        "min": float(ordered[0]), "lower_quartile": float(lower), "median": float(median),
        "upper_quartile": float(upper), "max": float(ordered[-1]),
    }


def absent_levels(summary: DatasetSummary, task: str) -> tuple[Warned, ...]:
    """Return a warning of levels that no row has, if there are any."""
    absent = [count.level for count in summary.levels if not count.rows]
    if not absent:
        return ()
    if task == "binary":
        occurring = next(count for count in summary.levels if count.rows).level
        case, level = ("event", occurring) if summary.events else ("other", absent[0])
        return (Warned.of("one-class", case=case, dataset=summary.name, level=level),)
    return (Warned.of("absent-level", dataset=summary.name, levels=absent),)


def unknown_conditions(dataset: str, unknown: Mapping[str, int]) -> tuple[Warned, ...]:
    """Return warnings of rows for which a condition is unknown, as a value is missing, counted by its key."""
    warnings: list[Warned] = []
    for key, count in unknown.items():
        if not count:
            continue
        case = {"case": "dataset"} if key == "where" else {"case": "slice", "slice": key.removeprefix("slice ")}
        warnings.append(Warned.of("missing-in-condition", **case, rows=count, dataset=dataset))
    return tuple(warnings)


def one_cluster(dataset: str, cluster: Values | None) -> tuple[Warned, ...]:
    """Return a warning where all rows are of one cluster, which cannot be resampled."""
    if cluster is None or len(np.unique(cluster)) != 1:
        return ()
    return (Warned.of("one-cluster", case="dataset", dataset=dataset),)
