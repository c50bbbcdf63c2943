"""The rows of two row-level files as one table, or the reason why they cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evalpipe.base.digests import file_sha256

if TYPE_CHECKING:
    import polars as pl

    from evalpipe.results import Results
    from evalpipe.review.differences.reading import Run
    from evalpipe.review.differences.records import Difference

    Place = tuple[str | None, str, str]

PROBABILITY = "probability of "
"""What the names of columns of several levels' probabilities begin with."""

KINDS = {"text": "String", "number": "Float64", "whole number": "Int64", "true or false": "Boolean"}
"""The types of columns, as polars calls them."""

PREDICTIONS = {"probability": "probability", "predicted": "prediction", "prediction": "prediction"}
"""The columns of predictions, and the keys of a model in a spec."""

SHARED = ("id", "truth", "weight", "exposure")
"""The columns that say the same of a row in both files."""


class RefusedError(Exception):
    """The rows of two runs cannot be set side by side; ``{first}`` and ``{second}`` in the text are the runs."""


def refusal(difference: Difference, a: Run, b: Run) -> str | None:
    """Return why no two numbers of two runs can be compared as pairs; None where they may be."""
    known = all(file.sha256 is not None for file in a.results.inputs)  # data held in memory have no sha256
    if known and not difference.spec and not difference.data:
        return ("both runs evaluated the same files by the same spec, so the rows are not the reason: "
                "evalpipe, its libraries or the machine are")
    reasons = (_refusal_of(name, run) for name, run in (("A", a), ("B", b)))
    why = next((reason for reason in reasons if reason is not None), None)
    return why or (None if _outcome(a.results) == _outcome(b.results) else "the runs have other outcomes or weights")


def _refusal_of(name: str, run: Run) -> str | None:
    """Return why the rows of a run cannot be compared with those of another."""
    if run.results.row_file is None:
        return f"run {name} has no row-level file, which 'report: {{rows: parquet}}' in its spec lets it write"
    if run.results.spec.get("cluster") is not None:
        return f"run {name} resamples clusters, and the row-level file does not say which rows belong together"
    if (run.results.spec.get("intervals") or {}).get("method") == "none":
        return f"run {name} has no intervals"
    return _broken(name, run)


def _outcome(results: Results) -> tuple[object, ...]:
    weight = results.weight and results.weight.get("kind")
    return results.task, results.event, results.levels, weight


def _broken(name: str, run: Run) -> str | None:
    """Return why the row-level file of a run cannot be used."""
    file = run.results.row_file
    if file is None or run.folder is None:
        return f"run {name} has no row-level file"
    try:
        there = file_sha256(_path(run))
    except OSError:
        return f"{file.file} of run {name} is not beside its results"
    return None if there == file.sha256 else f"{file.file} of run {name} was changed after the run"


def _path(run: Run) -> Path:
    # A name in results may be of anyone's making: it is looked for beside them and nowhere else.
    name = Path(run.results.row_file.file).name if run.results.row_file is not None else ""
    return (run.folder or Path()) / name


def joined_rows(first: Run, second: Run, place: Place) -> pl.DataFrame:
    """Return the rows of a model on a dataset with the predictions of both runs.

    The columns are truth, weight and exposure where there are any, and the predictions behind "first." and "second.".
    Raises RefusedError where the rows are not the same.
    """
    _check_names(first.results, second.results, place[0])
    left, right = (_rows(run, place) for run in (first, second))
    for name, rows in (("{first}", left), ("{second}", right)):
        if rows["id"].null_count() or rows["id"].n_unique() != rows.height:
            raise RefusedError(f"ids occur more than once in run {name}")
    left, right = left.sort("id"), right.sort("id")
    if not left["id"].equals(right["id"]):
        lone = len(set(left["id"]) ^ set(right["id"]))
        ids = "id is" if lone == 1 else "ids are"
        raise RefusedError(f"the rows are not the same: {lone:,} {ids} in one run alone")
    shared = [name for name in SHARED if name != "id" and name in left.columns and name in right.columns]
    for name in shared:
        if not left[name].equals(right[name]):
            raise RefusedError(f"rows of one id differ in '{name}'")
    return _side_by_side(left, right, shared)


def _check_names(first: Results, second: Results, dataset: str | None) -> None:
    """Raise RefusedError where ids may not name the same rows."""
    ids = [results.row_file.id for results in (first, second) if results.row_file is not None]
    if ids == [None, None]:
        files = [sorted((str(file.sha256), file.rows) for file in results.inputs if file.dataset == dataset)
                 for results in (first, second)]
        if files[0] != files[1]:
            raise RefusedError("the spec names no 'id', and rows of other files are not known by their numbers")
    elif ids[0] != ids[1]:
        raise RefusedError("the runs name rows by other columns")


def _rows(run: Run, place: Place) -> pl.DataFrame:
    """Return the lines of a model on a dataset. Raises RefusedError where the file cannot be read."""
    import polars as pl

    file = run.results.row_file
    columns = {} if file is None else {column.name: getattr(pl, KINDS[column.type]) for column in file.columns}
    path = _path(run)
    try:
        lines = pl.scan_csv(path, schema=pl.Schema(columns), glob=False) if path.suffix == ".csv" else pl.scan_parquet(
            path, glob=False)
        dataset, model, variant = place
        rows = lines.filter(
            pl.col("dataset") == dataset, pl.col("model") == run.former.get(model, model),
            pl.col("variant") == variant).collect()
        return rows.select("id", "truth", pl.exclude("id", "truth"))  # raises where it lacks one of them
    except (pl.exceptions.PolarsError, OSError) as error:
        raise RefusedError(f"{path.name} cannot be read: {error}".replace("{", "(").replace("}", ")")) from None


def _side_by_side(left: pl.DataFrame, right: pl.DataFrame, shared: list[str]) -> pl.DataFrame:
    """Return shared columns that are not empty, then the predictions of each."""
    import polars as pl

    columns = [left[name] for name in shared if left[name].null_count() < left.height]
    for model, rows in (("first", left), ("second", right)):
        known = {name for name in rows.columns if rows[name].null_count() == 0}
        score = {"score": "score"} if "probability" in rows.columns and "probability" not in known else {}
        named = PREDICTIONS | score | {name: name for name in rows.columns if name.startswith(PROBABILITY)}
        columns += [rows[name].alias(f"{model}.{key}") for name, key in named.items() if name in known]
    return pl.DataFrame(columns)
