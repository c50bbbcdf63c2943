"""Logs of Inspect (inspect-ai), version 2 of their format: `.json`, and `.eval`, which is a zip.

Of an `.eval` the header and the summaries of samples are read, never the samples with their transcripts. The format is
`EvalLog` and `EvalSampleSummary` of inspect-ai 0.3.285, at https://inspect.aisi.org.uk/eval-logs.html.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalpipe.data.logs.plain_values import arguments, count, finite, mapping, optional_text, tokens, total, within
from evalpipe.data.logs.reading import ERROR, LIMIT, NOT_SCORED, Document, LoggedSample, ModelLog
from evalpipe.data.logs.zipped_members import ZippedMembers
from evalpipe.plan.sources import LogFacts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalpipe.data.logs.reading import LogFile

VERSION = 2
_KEPT = ("id", "epoch", "scores", "metadata", "error", "limit", "model_usage", "total_time")
_WORDS = {"c": 1.0, "i": 0.0, "p": 0.5, "n": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_LETTERS = frozenset("CIPN")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
_SUMMARIES = re.compile(r"_journal/summaries/(\d+)\.json")


def read(file: LogFile) -> list[ModelLog]:
    """Return the log of a file; raises DataError where it is broken, of another version, or has no samples."""
    header, samples = _unzipped(file) if file.path.suffix == ".eval" else _whole(file)
    version = count(header.get("version"))
    if version is None:
        raise file.error("broken-log", f"{file.shown} has no 'version', which its format requires",
                         "check that the file is a log of Inspect")
    if version != VERSION:
        hint = ("write it again with a present version of Inspect: inspect log convert" if version < VERSION else
                "read it with a later version of evalpipe, or write it with Inspect 0.3")
        raise file.error("log-version", f"{file.shown} is of version {version} of Inspect's logs; version {VERSION} "
                         "is read", hint)
    facts = _facts(file, header)
    scorers = within(header, "eval", "scorers")
    names = [within(scorer, "name") for scorer in scorers] if isinstance(scorers, list) else []
    return [ModelLog(facts, tuple(_sample(file, sample, facts.model) for sample in samples),
                tuple(name for name in names if isinstance(name, str) and file.wants(name)))]


def _whole(file: LogFile) -> tuple[Document, list[Any]]:
    """Return the log of a `.json` and its samples, each without its transcript."""
    document = file.json(_without_transcript)
    samples = document.get("samples")
    return document, samples if isinstance(samples, list) else []


def _without_transcript(pairs: list[tuple[str, Any]]) -> Document:
    """Return an object, and of a sample only what the table needs, so that transcripts are never held together."""
    document = dict(pairs)
    is_sample = "epoch" in document and "id" in document and "input" in document
    return {key: document[key] for key in _KEPT if key in document} if is_sample else document


def _unzipped(file: LogFile) -> tuple[Document, Iterable[Any]]:
    """Return the header of an `.eval` and the summaries of its samples.

    A run that was stopped leaves a journal: what started, and summaries in batches. A later summary replaces an earlier
    one of the same sample and epoch, as in Inspect.
    """
    with ZippedMembers(file) as members:
        name = "header.json" if "header.json" in members.names else "_journal/start.json"
        if name not in members.names:
            raise file.error("broken-log", f"{file.shown} has neither 'header.json' nor '_journal/start.json'",
                             "check that the file is a log of Inspect")
        header = file.parsed(members.text(name), member=name)
        journal = {match: int(match[1]) for match in map(_SUMMARIES.fullmatch, members.names) if match}
        batches = ["summaries.json"] if "summaries.json" in members.names else [
            match[0] for match in sorted(journal, key=lambda match: journal[match])]
        samples: dict[object, Any] = {}
        for batch in batches:
            summaries = file.parsed(members.text(batch), member=batch, hook=_without_transcript)
            for sample in summaries if isinstance(summaries, list) else ():
                samples[repr((within(sample, "id"), within(sample, "epoch")))] = sample
    return mapping(header), samples.values()


def _facts(file: LogFile, header: Document) -> LogFacts:
    model = file.text(header, "eval", "model")
    usage = within(header, "stats", "model_usage", model)
    settings = within(header, "eval")
    return LogFacts(
        file=file.shown, sha256=file.sha256, tool="inspect_ai",
        version=optional_text(within(settings, "packages", "inspect_ai")), model=model,
        model_args=(arguments(settings.get("model_args")) | arguments(settings.get("model_generate_config"))
                    | arguments(within(header, "plan", "config"))),
        task=file.text(header, "eval", "task"), task_version=optional_text(settings.get("task_version")),
        dataset=optional_text(within(settings, "dataset", "name")),
        started=optional_text(within(header, "stats", "started_at")) or optional_text(settings.get("created")),
        ended=optional_text(within(header, "stats", "completed_at")),
        planned=count(within(header, "results", "total_samples")),
        input_tokens=_read_tokens(usage),
        output_tokens=count(within(usage, "output_tokens")), cost=total([within(usage, "total_cost")]),
        status=optional_text(header.get("status")) or "started")


def _sample(file: LogFile, sample: Any, model: str) -> LoggedSample:
    """Return a sample with its scores; a score of NaN is Inspect's mark of an answer that was not scored."""
    item = file.item(within(sample, "id"), "a sample")
    epoch = count(sample.get("epoch"))
    if not epoch:
        raise file.error("broken-log", f"sample {item} has no epoch", "check that the file is a log of Inspect")
    called = f"sample {item} of epoch {epoch}"
    if not isinstance(sample.get("scores"), dict | None):
        raise file.error("broken-log", f"{called} has no scores by scorer", "check that the file is a log of Inspect")
    scores: dict[str, float | str] = {}
    for scorer, score in mapping(sample.get("scores")).items():
        reason = optional_text(within(score, "reason")) or optional_text(within(score, "metadata", "unscored_reason"))
        for name, number in file.scores({scorer: within(score, "value")}, _number, called).items():
            scores[name] = reason or NOT_SCORED if isinstance(number, str) else number
    missing = ERROR if sample.get("error") else LIMIT if sample.get("limit") else NOT_SCORED
    used = within(sample, "model_usage", model)
    usage = {"input_tokens": _read_tokens(used), "output_tokens": count(within(used, "output_tokens")),
             "cost": finite(within(used, "total_cost")), "seconds": finite(sample.get("total_time"))}
    return LoggedSample(item, epoch, scores, missing, mapping(sample.get("metadata")), usage=usage)


def _read_tokens(usage: Any) -> int | None:
    """Return the tokens read; Inspect counts those from and to a cache apart: `ModelUsage.input_tokens`."""
    return tokens(within(usage, name) for name in (
        "input_tokens", "input_tokens_cache_read", "input_tokens_cache_write"))


def _number(value: Any) -> float | str | None:
    """Return a value as Inspect's `value_to_float` does; None where that would warn and give 0.

    NaN, and no value for a key of several, are answers without a score.
    """
    if value is None or (isinstance(value, float) and value != value):  # noqa: PLR0124 - NaN alone differs from itself
        return NOT_SCORED
    if isinstance(value, str):
        word = value.casefold()
        known = _WORDS.get(word) if len(word) > 1 or value in _LETTERS else None
        return float(value) if known is None and _NUMBER.fullmatch(value) else known
    return finite(value)
