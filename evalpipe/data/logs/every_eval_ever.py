"""Records of Every Eval Ever, versions 0.2 and 0.3 of its schema: `ID_samples.jsonl`, a line for each item.

The schema is `instance_level_eval.schema.json` of https://github.com/evaleval/every_eval_ever. The aggregate `ID.json`
beside the file, where it is there, gives names to the scorers and facts of the run.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from evalpipe.base.digests import file_sha256
from evalpipe.data.logs.plain_values import arguments, count, finite, mapping, optional_text, tokens, within
from evalpipe.data.logs.reading import ERROR, NOT_SCORED, Document, LogFile, LoggedSample, ModelLog
from evalpipe.plan.sources import LogFacts

if TYPE_CHECKING:
    from collections.abc import Mapping

_VERSIONS = ("0.2", "0.3")
_SUFFIX = "_samples.jsonl"


def read(file: LogFile) -> list[ModelLog]:
    """Return a log for each model and evaluation of a file; raises DataError where a line breaks the schema."""
    aggregate = _aggregate(file)
    if within(aggregate, "detailed_evaluation_results", "checksum") not in (None, file.sha256):
        raise file.error("broken-log", f"{file.shown} has another sha256 than the record beside it says",
                         "copy both files again, or take the record away to read the samples without it")
    results = aggregate.get("evaluation_results")
    by_id = {optional_text(within(result, "evaluation_result_id")): mapping(result)
             for result in results} if isinstance(results, list) else {}
    names = _scorers(by_id)
    samples: dict[tuple[str, str], dict[str, LoggedSample]] = {}
    usage: dict[tuple[str, str], dict[str, Any]] = {}
    for number, line in file.lines():
        version = str(line.get("schema_version"))
        if ".".join(version.split(".")[:2]) not in _VERSIONS:
            raise file.error("log-version", f"line {number:,} is of version {version} of the schema; versions "
                             f"{' and '.join(_VERSIONS)} are read", "write the records again by such a version", number)
        key = (file.text(line, "model_id", line=number), file.text(line, "evaluation_name", line=number))
        sample = _sample(file, number, line, names)
        earlier = samples.setdefault(key, {}).get(sample.item)
        if earlier is not None and sample.scores.keys() & earlier.scores.keys():
            raise file.error("double-log", f"line {number:,} has a score of item {sample.item} again",
                             "give each result of an item its 'evaluation_result_id'", number)
        scores = {**(earlier.scores if earlier else {}), **sample.scores}
        samples[key][sample.item] = LoggedSample(
            sample.item, 1, scores, sample.missing, sample.fields, sample.content, sample.usage)
        usage.setdefault(key, {})[sample.item] = line.get("token_usage")
    return [ModelLog(_facts(file, aggregate, key, list(usage[key].values()), by_id), tuple(rows.values()))
            for key, rows in samples.items()]


def _aggregate(file: LogFile) -> Document:
    """Return the aggregate record beside the file; empty where there is none."""
    path = file.path.with_name(file.path.name.removesuffix(_SUFFIX) + ".json")
    shown = file.shown.removesuffix(file.path.name) + path.name
    return LogFile(path, shown, file_sha256(path)).json() if path != file.path and path.is_file() else {}


def _scorers(by_id: Mapping[str | None, Document]) -> dict[str | None, str]:
    """Return the name of the scorer by the id of a result: of its metric, or the id where others have that metric too.

    Models share the name of a metric, and not always the ids of results.
    """
    metrics = {id_: (optional_text(result.get("evaluation_name")),
                     optional_text(within(result, "metric_config", "metric_id"))) for id_, result in by_id.items()}
    number = Counter(metrics.values())
    return {id_: name for id_, (evaluation, name) in metrics.items()
            if name is not None and number[evaluation, name] == 1}


def _sample(file: LogFile, number: int, line: Document, names: Mapping[str | None, str]) -> LoggedSample:
    item = file.item(line.get("sample_id"), f"line {number:,}", number)
    result = optional_text(line.get("evaluation_result_id"))
    scorer = names.get(result, result or "score")
    scores: dict[str, float | str] = {}
    if line.get("error"):
        scores = {scorer: ERROR} if file.wants(scorer) else {}
    else:
        scores = file.scores({scorer: within(line, "evaluation", "score")}, finite, f"item {item}", number)
    return LoggedSample(item, 1, scores, ERROR if line.get("error") else NOT_SCORED, mapping(line.get("metadata")),
                        optional_text(line.get("sample_hash")), _usage(line))


def _usage(line: Document) -> dict[str, float | None]:
    """Return what an answer used: tokens, and the seconds of its latency in milliseconds."""
    latency = finite(within(line, "performance", "latency_ms"))
    return {"input_tokens": count(within(line, "token_usage", "input_tokens")),
            "output_tokens": count(within(line, "token_usage", "output_tokens")),
            "seconds": None if latency is None else latency / 1000}


def _facts(file: LogFile, aggregate: Document, key: tuple[str, str], usage: list[Any],
           by_id: Mapping[str | None, Document]) -> LogFacts:
    model, task = key
    datasets = {optional_text(within(result, "source_data", "dataset_name")) for result in by_id.values()
                if result.get("evaluation_name") == task}
    return LogFacts(
        file=file.shown, sha256=file.sha256,
        tool=optional_text(within(aggregate, "eval_library", "name")) or "every_eval_ever",
        version=optional_text(within(aggregate, "eval_library", "version")), model=model,
        model_args=arguments(within(aggregate, "model_info", "additional_details")), task=task, task_version=None,
        dataset=datasets.pop() if len(datasets) == 1 else None,
        started=optional_text(aggregate.get("evaluation_timestamp")), ended=None, planned=None,
        input_tokens=tokens(within(part, "input_tokens") for part in usage),
        output_tokens=tokens(within(part, "output_tokens") for part in usage), cost=None, status=None)
