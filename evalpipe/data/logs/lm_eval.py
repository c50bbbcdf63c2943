"""Logs of lm-evaluation-harness: `samples_TASK_TIME.jsonl` of `--log_samples`, with the `results_TIME.json` beside it.

The format is what `EvaluationTracker` of lm-eval 0.4.13 writes; no schema is published.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from evalpipe.base.digests import file_sha256
from evalpipe.data.logs.plain_values import arguments, count, finite, mapping, optional_text, within
from evalpipe.data.logs.reading import NOT_SCORED, Document, LogFile, LoggedSample, ModelLog
from evalpipe.plan.sources import LogFacts
from evalpipe.words.spelling import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

_YEAR_9999 = 253_370_764_800
_NOT_MEASURED = "bypass"
"""The measure of `--predict_only`: 999 for each document."""
_NAME = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(\.\d+)?)\.jsonl")


def read(file: LogFile) -> list[ModelLog]:
    """Return the log of a file of samples; raises DataError where it or its results are missing or broken."""
    name = _NAME.fullmatch(file.path.name)
    if name is None:
        raise file.error("broken-log", f"{file.shown} is not named as lm-eval names samples",
                         "give the files samples_TASK_TIME.jsonl that --log_samples writes, under their names")
    results = _results(file, name["time"])
    facts = _facts(file, results, name["task"])
    return [ModelLog(facts, tuple(_samples(file)))]


def _results(file: LogFile, time: str) -> Document:
    """Return the results that were written with the samples: the file whose name ends in the same time."""
    matching = sorted(file.path.parent.glob(f"*_{time}.json"))
    if len(matching) != 1:
        number = len(matching) or "no"
        raise file.error("missing-file", f"{file.shown} has {number} results of its run beside it",
                         f"put results_{time}.json beside it: it names the model")
    path = matching[0]
    return LogFile(path, file.shown.removesuffix(file.path.name) + path.name, file_sha256(path)).json()


def _facts(file: LogFile, results: Document, task: str) -> LogFacts:
    config, date = mapping(within(results, "configs", task)), finite(results.get("date")) or 0
    dataset = [optional_text(config.get(key)) for key in ("dataset_path", "dataset_name")]
    model_args = within(results, "config", "model_args")
    if isinstance(model_args, str):  # as it was given on the command line
        model_args = dict(pair.partition("=")[::2] for pair in model_args.split(",") if "=" in pair)
    return LogFacts(
        file=file.shown, sha256=file.sha256, tool="lm_eval", version=optional_text(results.get("lm_eval_version")),
        model=file.text(results, "model_name"), model_args=arguments(model_args), task=task,
        task_version=optional_text(within(results, "versions", task)),
        dataset="/".join(name for name in dataset if name) or None,
        started=datetime.fromtimestamp(date, UTC).isoformat(timespec="seconds") if 0 < date < _YEAR_9999 else None,
        ended=None,
        planned=count(within(results, "n-samples", task, "effective")), input_tokens=None, output_tokens=None,
        cost=None, status=None)


def _samples(file: LogFile) -> Iterator[LoggedSample]:
    """Yield the samples: a document has a line for each filter, whose scores are `metric,filter` as in the results."""
    by_item: dict[str, LoggedSample] = {}
    for number, line in file.lines():
        item = file.item(line.get("doc_id"), f"line {number:,}", number)
        metrics, answers_by = line.get("metrics"), line.get("filter")
        if not isinstance(metrics, list) or not all(isinstance(name, str) for name in [*metrics, answers_by]):
            raise file.error("log-version", f"line {number:,} has no 'metrics' and 'filter', which lm-eval writes now",
                             "log the samples with a present version of lm-eval", number)
        metrics = [metric for metric in metrics if metric != _NOT_MEASURED]
        absent = [metric for metric in metrics if metric not in line]
        if absent:
            raise file.error("broken-log", f"line {number:,} has no score of {quoted(absent[0])}, which it lists",
                             "log the run again", number)
        scores = file.scores({f"{metric},{answers_by}": line[metric] for metric in metrics}, finite,
                             f"document {item}", number)
        earlier = by_item.get(item)
        if earlier is not None and scores.keys() & earlier.scores.keys():
            raise file.error("double-log", f"line {number:,} has scores of document {item}, which an earlier line has",
                             "keep one run in a file: lm-eval appends to a file that exists", number)
        content = [optional_text(line.get(name)) or "" for name in ("doc_hash", "target_hash")]
        by_item[item] = LoggedSample(
            item, 1, {**(earlier.scores if earlier else {}), **scores}, NOT_SCORED, mapping(line.get("doc")),
            " ".join(content).strip() or None)
    yield from by_item.values()
