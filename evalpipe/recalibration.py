"""Recalibration of new predictions by a recalibrator that a run has fitted.

It stands beside `evalpipe.run`, not in the chapter: it loads a spec, plans and reads data, which chapters may not.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalpipe.calibration import Fitted
from evalpipe.errors import DataError, UsageError
from evalpipe.tasks import NUMBERS

if TYPE_CHECKING:
    import polars as pl

    from evalpipe.plan.plan import Plan
    from evalpipe.results import Recalibration, Results

KEPT = ("evalpipe", "name", "task", "outcome", "threshold")
"""The keys of the run's spec that say how its predictions are read."""


def recalibrate(
    results: Results | str | os.PathLike[str], model: str, data: Any, fitted_on: str | None = None
) -> pl.DataFrame:
    """Recalibrate predictions by a recalibrator that a run has fitted, and return the rows with them beside.

    ``results`` are those of the run, its output folder or its ``results.json``; ``model`` is a model and a variant as
    in "naive_bayes+isotonic"; ``data`` a path, or a frame with the columns that the run read of that model. The new
    column is called like ``model``; of several levels there is one for each, called "model.level". ``fitted_on`` names
    the dataset, where a variant was cross-fitted on several. The same rows get the same numbers as in the run, but for
    cross-fitted variants, of which the fit on all rows is applied.

    Raises DataError for data that cannot be used, UsageError where there is no such recalibrator.
    """
    from evalpipe.data.read import read_predictions

    run = _read(results)
    record = _record(run, model, fitted_on)
    path = data if isinstance(data, str | os.PathLike) else None
    frame = None if path is not None else _frame(data)
    frame, values, score = read_predictions(_plan(run, record, path, frame), frame)
    recalibrated = _fitted(record)(values, score)
    columns = {model: recalibrated} if recalibrated.ndim == 1 else {
        f"{model}.{level}": recalibrated[:, index] for index, level in enumerate(run.levels)}
    existing = [name for name in columns if name in frame.columns]
    if existing:
        hint = "rename it, or leave it out"
        raise DataError.of("taken-name", f"the data have a column '{existing[0]}' already", hint)
    return frame.with_columns(**columns)


def _frame(data: Any) -> pl.DataFrame:
    """Return data in memory as a polars frame; raises UsageError for values that are no table."""
    import polars as pl

    try:
        return data if isinstance(data, pl.DataFrame) else pl.DataFrame(data)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        message = f"the data are no table: {str(error).splitlines()[0]}"
        raise UsageError.of("not-a-table", message, hint="give a path or a data frame") from None


def _read(results: Results | str | os.PathLike[str]) -> Results:
    from evalpipe.results import Results
    from evalpipe.runs.folder import RunFolder

    return results if isinstance(results, Results) else RunFolder.named(results).results


def _record(results: Results, model: str, fitted_on: str | None) -> Recalibration:
    """Return the record of a variant's recalibrator, such as "a+isotonic"; raises UsageError for none, or several."""
    by_name = {f"{record.model}+{record.variant}": record for record in results.recalibration}
    if not by_name:
        message = f"the run '{results.name}' fitted no recalibrator"
        raise UsageError.of("no-recalibration", message, hint="add 'recalibrate' to its spec")
    if model not in by_name:
        hint = f"the recalibrators of the run are {', '.join(by_name)}"
        raise UsageError.of("unknown-variant", f"the run has no recalibrator '{model}'", hint=hint)
    matching = [record for record in results.recalibration if f"{record.model}+{record.variant}" == model]
    datasets = [record.fitted_on for record in matching]
    is_unclear = len(matching) > 1 if fitted_on is None else fitted_on not in datasets
    if is_unclear:
        message = f"'{model}' was fitted on {' and on '.join(datasets)}"
        raise UsageError.of("which-fit", message, hint="name one of these datasets as the one it was fitted on")
    return matching[0] if fitted_on is None else matching[datasets.index(fitted_on)]


def _plan(
    results: Results, record: Recalibration, path: str | os.PathLike[str] | None, frame: pl.DataFrame | None
) -> Plan:
    """Return a plan that reads the predictions of the record's model from ``path`` or ``frame``, and nothing else.

    Predicted classes are left out, for it is numbers that are recalibrated.
    """
    from evalpipe.data.catalog import look
    from evalpipe.plan.resolve import plan_predictions
    from evalpipe.plan.sources import sources
    from evalpipe.run import load

    file_keys = {"predictions", "step", "optimism"}
    unused_keys = file_keys if results.task in NUMBERS else {*file_keys, "prediction", "fitted"}
    declared = results.spec["models"][record.model]
    model = {key: value for key, value in declared.items() if key not in unused_keys and value is not None}
    spec_keys = {key: results.spec[key] for key in KEPT if key in results.spec}
    for mapping in (model, spec_keys):
        if isinstance(mapping.get("threshold"), dict):  # a rule that chose among other rows
            del mapping["threshold"]
    if "score" in model and "scale" not in model:  # the spec's threshold is of the probabilities made of it
        spec_keys.pop("threshold", None)
    # In memory there is no path, but a dataset of the spec has one.
    datasets = {"data": {"path": "memory" if path is None else os.fspath(path)}}
    spec = load(spec_keys | {"datasets": datasets, "models": {record.model: model}, "metrics": None})
    return plan_predictions(spec, look(sources(spec), None if frame is None else {"data": frame}))


def _fitted(record: Recalibration) -> Fitted:
    """Return the recalibrator of a record; raises DataError where the record cannot be read."""
    from evalpipe.calibration import fitted_from

    try:
        return fitted_from(record.method, record.options, record.parameters)
    except ValueError as error:
        message = f"the recalibrator '{record.model}+{record.variant}' cannot be read: {error}"
        raise DataError.of("not-results", message, hint="give the results as the run wrote them") from None


def write(frame: pl.DataFrame, path: Path) -> None:
    """Write a table in the format that the file's name ends with; an earlier file is replaced atomically.

    Raises UsageError for another name, and where it cannot be written.
    """
    from evalpipe.base.folders import TemporaryFolder
    from evalpipe.data.files import format_of
    from evalpipe.runs.folder import refuse_to_replace

    refuse_to_replace(path)
    form = format_of(path.name)
    if form is None or path.name.lower().endswith(".gz"):
        hint = "end it in .csv, .tsv, .parquet, .feather or .ndjson"
        raise UsageError.of("unknown-format", f"'{path}' names no format that evalpipe writes", hint=hint)
    nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
    if nested and form in ("csv", "tsv"):
        hint = "end it in .parquet, .feather or .ndjson"
        raise UsageError.of("output-file", f"column '{nested[0]}' holds lists, and a {form} file has none", hint=hint)
    try:
        with TemporaryFolder(".recalibrated-", path.parent) as folder:
            temporary = Path(folder) / path.name
            if form in ("csv", "tsv"):
                frame.write_csv(temporary, separator="," if form == "csv" else "\t")
            else:
                getattr(frame, f"write_{form}")(temporary)
            temporary.replace(path)
    except OSError as error:
        message = f"cannot write '{path}': {error.strerror or error}"
        raise UsageError.of("output-file", message, hint="name a file in a folder that can be written") from None
