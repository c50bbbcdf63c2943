"""Results of promptfoo: the `.json` of `promptfoo eval --output`, version 3, or its `.jsonl`, a line for each result.

The format is `OutputFile` and `EvaluateResult` of promptfoo 0.121 (`src/types/index.ts`). A `.jsonl` has no version, no
times and no name of the evaluation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.base.digests import json_sha256
from evalpipe.data.logs.plain_values import arguments, count, finite, mapping, optional_text, tokens, total, within
from evalpipe.data.logs.reading import ERROR, Document, LoggedSample, ModelLog
from evalpipe.plan.sources import LogFacts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.data.logs.reading import LogFile

VERSION = 3
_FAILED_BY_ERROR = 2
"""`ResultFailureReason.ERROR`; 1 is an assertion that failed, which is a score."""
_LONGEST_LABEL = 60
_Numbered = tuple[int | None, Document]


def read(file: LogFile) -> list[ModelLog]:
    """Return a log for each provider and prompt of a file; raises DataError where it is broken or of another version.

    Scores are `score`, `success` (1 or 0) and, where assertions name metrics, `score/METRIC`. An item is a test: its
    id is a digest of its variables and assertions, so that repeats are epochs, in the order of the tests.
    """
    document: Document = {}
    if file.path.suffix == ".jsonl":
        results: list[_Numbered] = list(file.lines())
    else:
        document = file.json()
        version = within(document, "results", "version")
        if version != VERSION:
            raise file.error("log-version", f"{file.shown} is of version {version} of promptfoo's results, and version "
                             f"{VERSION} is read", "write the results again with a present version: promptfoo export")
        listed = within(document, "results", "results")
        results = [(None, result) for result in listed] if isinstance(listed, list) else []
    by_model: dict[tuple[str, str], list[_Numbered]] = {}
    labels: dict[str, dict[str, str]] = {}
    for line, result in results:
        provider = optional_text(within(result, "provider", "label")) or file.text(result, "provider", "id", line=line)
        prompt = file.text(result, "promptId", line=line)
        by_model.setdefault((provider, prompt), []).append((line, result))
        labels.setdefault(provider, {})[prompt] = optional_text(within(result, "prompt", "label")) or ""
    return [_log(file, document, _model(provider, prompt, labels[provider]), numbered)
            for (provider, prompt), numbered in by_model.items()]


def _model(provider: str, prompt: str, labels: Mapping[str, str]) -> str:
    """Return the name of a model: its provider and, of several prompts, the label, or its id where that says less."""
    if len(labels) == 1:
        return provider
    label = labels[prompt]
    is_name = len(label) <= _LONGEST_LABEL and [*labels.values()].count(label) == 1
    return f"{provider}: {label if is_name else prompt[:12]}"


def _log(file: LogFile, document: Document, model: str, results: list[_Numbered]) -> ModelLog:
    """Return the samples and the facts of one model."""
    epochs: dict[str, int] = {}
    samples = []
    for line, result in sorted(results, key=lambda numbered: count(numbered[1].get("testIdx")) or 0):
        test = {name: within(result, "testCase", name) for name in ("vars", "assert")}
        item = json_sha256(test)[:12]
        epochs[item] = epochs.get(item, 0) + 1
        samples.append(_sample(file, line, result, item, epochs[item]))
    usage = [within(result, "tokenUsage") for _, result in results]
    facts = LogFacts(
        file=file.shown, sha256=file.sha256, tool="promptfoo",
        version=optional_text(within(document, "metadata", "promptfooVersion")), model=model,
        model_args=arguments(within(results[0][1], "prompt", "config")),
        task=optional_text(within(document, "config", "description")) or file.path.stem, task_version=None,
        dataset=None, started=optional_text(within(document, "results", "timestamp")), ended=None, planned=None,
        input_tokens=tokens(within(part, "prompt") for part in usage),
        output_tokens=tokens(within(part, "completion") for part in usage),
        cost=total(result.get("cost") for _, result in results), status=None)
    return ModelLog(facts, tuple(samples))


def _sample(file: LogFile, line: int | None, result: Document, item: str, epoch: int) -> LoggedSample:
    """Return one result; where the provider gave an error it has no score, though promptfoo writes 0."""
    values: Document = {name: result.get(name) for name in ("score", "success")}
    scores = {**file.scores(values, finite, f"test {item}", line),
              **file.scores({"score": mapping(result.get("namedScores"))}, finite, f"test {item}", line)}
    if result.get("failureReason") == _FAILED_BY_ERROR:
        assertions = within(result, "testCase", "assert")
        metrics = [within(part, "metric") for part in assertions] if isinstance(assertions, list) else []
        scores = dict.fromkeys(filter(file.wants, [*values, *(f"score/{name}" for name in metrics if name)]), ERROR)
    fields = mapping(result.get("vars")) | mapping(within(result, "testCase", "metadata"))
    latency = finite(result.get("latencyMs"))
    usage = {"input_tokens": count(within(result, "tokenUsage", "prompt")),
             "output_tokens": count(within(result, "tokenUsage", "completion")), "cost": finite(result.get("cost")),
             "seconds": None if latency is None else latency / 1000}
    return LoggedSample(item, epoch, scores, None, fields, usage=usage)
