"""Log the results of a run to a run of MLflow, and to a version of a registered model."""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evalpipe.base.formats import RESULTS
from evalpipe.errors import DataError, Problem, UsageError
from evalpipe.words.spelling import listed, quoted

if TYPE_CHECKING:
    from evalpipe.results import Estimate, Results
    from evalpipe.review.exports.declare import ExportedRun

FOLDER = "evalpipe"
"""The folder of the files among the artifacts of a run."""

IDENTITY = ("evalpipe.results_sha256", "evalpipe.model")
"""The tags by which results on a run of MLflow are recognised."""

LONGEST_KEY = 250
LONGEST_VALUE = 5_000
"""The most characters of a key, and of a tag's value, in all versions of MLflow."""

OF_METRIC = "evalpipe.metric."
METRICS_AT_ONCE = 900
TAGS_AT_ONCE = 100
"""Entries logged in one request, of which MLflow takes at most 1,000, of tags 100."""

VERDICTS = ("skipped", "pass", "inconclusive", "warn", "fail")
"""The verdicts of a gate, from the best to the worst."""

UNFIT = re.compile(r" *(?:[^\w.\- ]+ *)+")
"""Characters that names in MLflow may not have on every system, with spaces around them."""


class Logged(NamedTuple):
    """The id of MLflow's run, the metrics logged by name, and by name the reasons why others are undefined."""

    run_id: str
    metrics: dict[str, float]
    undefined: dict[str, str]


class ToLog(NamedTuple):
    """Entries to log: estimates with limits, and as metrics, by name; reasons why others are undefined; tags; files."""

    exported: ExportedRun
    values: dict[str, dict[str, float]]
    metrics: dict[str, float]
    undefined: dict[str, str]
    tags: dict[str, str]
    files: list[Path]


def log(
    results: Results | str | os.PathLike[str], *, run_id: str | None = None, model: str | None = None,
    registered_model: tuple[str, str | int] | None = None,
) -> Logged:
    """Log results, or an output folder with its card, to a run of MLflow: metrics, verdicts of gates, and files.

    The run is that of ``run_id``, else the active one, else one of the active experiment that has these results, else
    a new one. ``model`` logs this model alone, a variant as in ``forest+isotonic``; names of metrics are then without
    it. ``registered_model`` is the name and the version of a registered model, which gets the same as tags. Logging the
    same again adds nothing.
    Raises UsageError where MLflow is not installed or refuses, the run has other results, or there is no such model,
    run or version; DataError where the folder cannot be read or was changed.
    """
    to_log = _to_log(_read(results, model))
    with _mlflow() as mlflow:
        version = None if registered_model is None else _registered_version(mlflow, to_log.exported, registered_model)
        with _run_to_log_to(mlflow, to_log, run_id) as run:
            _refuse_other_results(run, to_log)
            _log_entries(mlflow.MlflowClient(), run, to_log)
        if version is not None:
            _tag(mlflow.MlflowClient(), version, to_log, run.info.run_id)
    return Logged(run.info.run_id, to_log.metrics, to_log.undefined)


@contextmanager
def _mlflow() -> Iterator[Any]:
    """Yield the module mlflow with its telemetry off.

    Errors that it raises in the block become UsageError, without the passwords in the URIs of its stores.
    """
    from sqlalchemy.exc import SQLAlchemyError

    from evalpipe.base.databases import DatabaseUri

    variable = "MLFLOW_DISABLE_TELEMETRY"
    earlier_value = os.environ.get(variable)
    os.environ[variable] = "true"
    try:
        try:
            import mlflow
        except ModuleNotFoundError:
            message = "evalpipe.mlflow needs the library MLflow, which is not installed"
            raise UsageError.of("missing-library", message, "pip install 'evalpipe[mlflow]'") from None
        try:
            yield mlflow
        except ModuleNotFoundError as error:
            library = str(error.name).partition(".")[0]
            message = f"this store of MLflow needs the library {library}, which is not installed"
            hint = f"pip install {library}, or name a tracking server by MLFLOW_TRACKING_URI"
            raise UsageError.of("missing-library", message, hint) from None
        except (mlflow.MlflowException, SQLAlchemyError, OSError) as error:
            reason = str(error).strip().partition("\n")[0]
            for uri in (mlflow.get_tracking_uri(), mlflow.get_registry_uri()):
                reason = DatabaseUri(uri).redacted(reason)
            hint = "mend that, and log again; nothing is doubled"
            raise UsageError.of("mlflow", f"MLflow ends with: {reason}", hint) from None
    finally:
        os.environ.pop(variable)
        os.environ |= {} if earlier_value is None else {variable: earlier_value}


def _read(results: Results | str | os.PathLike[str], model: str | None) -> ExportedRun:
    """Return results, or those of a folder, for export; ``model`` chooses one of their models."""
    from dataclasses import replace

    from evalpipe.results import Results
    from evalpipe.review.exports.declare import ExportedRun

    if not isinstance(results, Results):
        return ExportedRun.read(results, model)
    exported = ExportedRun(results, None, "the results")
    return exported if model is None else replace(exported, chosen=exported.predictor(model))


def _to_log(exported: ExportedRun) -> ToLog:
    """Return all entries to log; raises its errors before anything is logged."""
    rows = _estimates_by_name(exported)
    values = {name: {key: number for key, number in (("value", row.value), ("lower", row.lower), ("upper", row.upper))
                     if number is not None} for name, row in rows.items()}
    metrics = {name if key == "value" else f"{name}_{key}": number for name, numbers in values.items()
               for key, number in numbers.items()}
    undefined = {name: str(row.reason or row.status) for name, row in rows.items() if row.value is None}
    return ToLog(exported, values, metrics, undefined, _tags(exported, rows, undefined), _files(exported))


def _estimates_by_name(exported: ExportedRun) -> dict[str, Estimate]:
    """Return the headline estimates by the names of their metrics; raises UsageError for names MLflow refuses."""
    from evalpipe.review.exports.declare import Predictor, measure_name

    rows: dict[str, Estimate] = {}
    used_names: set[str] = set()
    problems = []
    for row in exported.headline:
        model = [] if exported.chosen is not None else [Predictor(row.model, row.variant).name]
        parts = row.dataset, *model, measure_name(row).removesuffix(")")
        name = "/".join(UNFIT.sub("_", part) for part in parts)
        names = {name, f"{name}_lower", f"{name}_upper"}
        if used_names & names:
            problems.append(_unfit(name, "is the name of two estimates", "log each model apart by model=, or"))
        elif posixpath.normpath(name) != name or max(map(len, names)) > LONGEST_KEY - len(OF_METRIC):
            problems.append(_unfit(name, "is none that MLflow takes for a metric", ""))
        used_names |= names
        rows[name] = row
    if problems:
        raise UsageError(*problems)
    return rows


def _unfit(name: str, what: str, before: str) -> Problem:
    """Return the problem of a metric's name; ``what`` is wrong with it, ``before`` begins the hint."""
    hint = f"{before} call the dataset or the model otherwise in the spec, and run again".strip()
    return Problem("unfit-name", f"{quoted(name)} {what}", hint=hint)


def _tags(exported: ExportedRun, rows: dict[str, Estimate], undefined: dict[str, str]) -> dict[str, str]:
    """Return the tags: facts on the run as a whole, and the verdict of each gate."""
    from evalpipe.review.exports.declare import judged

    kinds: dict[str, str] = {}
    for test in judged(exported, exported.chosen):
        parts = test.title.split(": ", 1)  # the dataset and the model, and the gate
        name = "/".join(UNFIT.sub("_", part) for part in parts)
        key = f"evalpipe.gate.{name}"[:LONGEST_KEY].rstrip()
        kinds[key] = max(kinds.get(key, test.kind), test.kind, key=VERDICTS.index)  # the worst, where names are cut
    worst = max(kinds.values(), key=VERDICTS.index, default=None)
    results = exported.results
    facts: dict[str, str | None] = {
        "name": results.name, "as_of": results.as_of, "results_sha256": results.evidence_sha256,
        "spec_sha256": results.spec_sha256, "version": results.evalpipe_version,
        "verdict": "pass" if worst == "skipped" else worst or "none",
        "model": None if exported.chosen is None else exported.chosen.name,
        "level": ", ".join(dict.fromkeys(json.dumps(row.level) for row in rows.values() if row.level is not None)),
        "undefined": "\n".join(f"{name}: {reason}" for name, reason in undefined.items())[:LONGEST_VALUE]}
    return {f"evalpipe.{key}": fact for key, fact in facts.items() if fact} | kinds


def _files(exported: ExportedRun) -> list[Path]:
    """Return the output folder's manifest, its signature and the files that it lists, except the file of rows.

    Raises DataError where one is missing or changed.
    """
    from evalpipe.base.digests import file_sha256
    from evalpipe.base.formats import KEY_SIGNATURE, MANIFEST
    from evalpipe.runs.folder import RunFolder

    manifest, folder = exported.manifest, RunFolder(Path(exported.place).parent)
    if manifest is None:
        return []
    rows = exported.results.row_file
    sha256_of = {name: digest for name, digest in manifest.sha256_of.items() if rows is None or name != rows.file}
    try:
        changed = [name for name, digest in sha256_of.items() if file_sha256(folder.file(name)) != digest]
    except OSError as error:
        message = f"cannot read {error.filename}: {error.strerror}"
        raise DataError.of("unreadable-file", message, "restore it, or run again") from None
    if changed:
        message = f"{folder.path} is not as its run left it: {listed(changed, 'and')}"
        raise DataError.of("changed-file", message, "restore it, or run again; `evalpipe verify` tells more")
    return [folder.file(name) for name in (*sha256_of, MANIFEST, KEY_SIGNATURE) if folder.file(name).is_file()]


def _registered_version(mlflow: Any, exported: ExportedRun, registered_model: tuple[str, str | int]) -> Any:
    """Return a version of a registered model; raises UsageError where there is none, or several models are logged."""
    name, number = registered_model
    if len(exported.predictors) > 1:
        names = listed(predictor.name for predictor in exported.predictors)
        raise UsageError.of("several-models", f"a registered model is one model, and {exported.place} has "
                            f"{len(exported.predictors):,}", f"say by model= which it is: {names}")
    try:
        return mlflow.MlflowClient().get_model_version(name, str(number))
    except mlflow.MlflowException as error:
        if error.error_code != "RESOURCE_DOES_NOT_EXIST":
            raise
        message = f"MLflow has no version {quoted(str(number))} of a registered model {quoted(name)}"
        raise UsageError.of("unknown-version", message, "register it first, as mlflow.register_model does") from None


@contextmanager
def _run_to_log_to(mlflow: Any, to_log: ToLog, run_id: str | None) -> Iterator[Any]:
    """Yield the run of MLflow to log to: ``run_id``, the active one, an earlier one with these results, or a new one.

    A run that is started here, or resumed after a failure, is ended after the block.
    """
    active = mlflow.active_run()
    known_id = run_id or (active and active.info.run_id) or os.environ.get("MLFLOW_RUN_ID")
    if known_id:
        yield _run(mlflow, known_id)
        return
    sha256 = to_log.exported.results.evidence_sha256
    earlier = [run for run in mlflow.search_runs(
        filter_string=f"tags.`{IDENTITY[0]}` = '{sha256}'", output_format="list") if _holds_these(run, to_log)]
    if earlier and earlier[0].info.status != "FAILED":
        yield earlier[0]
        return
    tags = {key: to_log.tags[key] for key in IDENTITY if key in to_log.tags}
    start = {"run_id": earlier[0].info.run_id} if earlier else {"run_name": to_log.exported.results.name, "tags": tags}
    with mlflow.start_run(**start) as run:
        yield _run(mlflow, run.info.run_id)


def _run(mlflow: Any, run_id: str) -> Any:
    """Return a run of MLflow by its id; raises UsageError where there is none."""
    try:
        return mlflow.MlflowClient().get_run(run_id)
    except mlflow.MlflowException as error:
        if error.error_code != "RESOURCE_DOES_NOT_EXIST":
            raise
        raise UsageError.of("unknown-run", f"MLflow has no run {quoted(run_id)}",
                            "give the run_id of a run in this tracking store, or none") from None


def _holds_these(run: Any, to_log: ToLog) -> bool:
    """Tell whether a run of MLflow has the tags of these results and this model."""
    return all(run.data.tags.get(key) == to_log.tags.get(key) for key in IDENTITY)


def _refuse_other_results(run: Any, to_log: ToLog) -> None:
    """Raise UsageError where the run has other results, or another value under the name of a metric."""
    hint = "log to a run of its own, such as one of mlflow.start_run(nested=True)"
    if IDENTITY[0] in run.data.tags and not _holds_these(run, to_log):
        message = f"the run {quoted(run.info.run_id)} of MLflow has other results, or those of another model"
        raise UsageError.of("other-results", message, hint)
    different = [name for name, value in to_log.metrics.items() if run.data.metrics.get(name, value) != value]
    if different:
        message = f"the run {quoted(run.info.run_id)} of MLflow has another value of {listed(different[:3], 'and')}"
        raise UsageError.of("other-results", message, hint)


def _log_entries(client: Any, run: Any, to_log: ToLog) -> None:
    """Log the tags, metrics and files that the MLflow run lacks; metrics are dated by the card's day, if any."""
    from mlflow.entities import Metric, RunTag

    results, run_id = to_log.exported.results, run.info.run_id
    time = run.info.start_time if results.as_of is None else int(to_log.exported.day.timestamp()) * 1_000
    metrics = [Metric(name, value, time, 0) for name, value in to_log.metrics.items() if name not in run.data.metrics]
    tags = [RunTag(key, value) for key, value in to_log.tags.items() if run.data.tags.get(key) != value]
    for start in range(0, len(tags), TAGS_AT_ONCE):
        client.log_batch(run_id, tags=tags[start:start + TAGS_AT_ONCE], synchronous=True)
    for start in range(0, len(metrics), METRICS_AT_ONCE):
        client.log_batch(run_id, metrics=metrics[start:start + METRICS_AT_ONCE], synchronous=True)
    for file in to_log.files:
        client.log_artifact(run_id, str(file), FOLDER)
    if not to_log.files:
        client.log_text(run_id, results.to_json(), f"{FOLDER}/{RESULTS}")


def _tag(client: Any, version: Any, to_log: ToLog, run_id: str) -> None:
    """Set the tags of a version of a registered model, and delete those of earlier results."""
    values = {f"{OF_METRIC}{name}": json.dumps(numbers) for name, numbers in to_log.values.items() if numbers}
    tags = values | to_log.tags | {"evalpipe.run_id": run_id}
    for key in version.tags:
        if key.startswith("evalpipe.") and key not in tags:
            client.delete_model_version_tag(version.name, version.version, key)
    for key, value in tags.items():
        if version.tags.get(key) != value:
            client.set_model_version_tag(version.name, version.version, key, value)
