"""Logs of OpenAI Evals: a line with the spec of the run, a line for each event, a line with the final report.

The format is what `LocalRecorder` of evals 3.0 writes (`evals/record.py`); it has no version and no published schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalpipe.data.logs.plain_values import arguments, finite, optional_text, tokens, within
from evalpipe.data.logs.reading import ERROR, NOT_SCORED, Document, LoggedSample, ModelLog
from evalpipe.plan.sources import LogFacts
from evalpipe.words.spelling import quoted

if TYPE_CHECKING:
    from evalpipe.data.logs.reading import LogFile


def read(file: LogFile) -> list[ModelLog]:
    """Return the log of a file: `match` gives the score `match`, a number among `metrics` one of its name."""
    spec: Document | None = None
    scores: dict[str, dict[str, float | str]] = {}
    reasons: dict[str, str] = {}
    usage: list[Any] = []
    times: list[str] = []
    is_finished = False
    for number, line in file.lines():
        if spec is None:
            spec = line.get("spec")
            if not isinstance(spec, dict):
                raise file.error("broken-log", f"line {number:,} is not the spec of a run",
                                 "give the file that oaieval writes, with its first line", number)
            continue
        if "final_report" in line:
            is_finished = True
            continue
        item = file.item(line.get("sample_id"), f"the event of line {number:,}", number)
        kind, event = line.get("type"), line.get("data")
        times += [time for time in [optional_text(line.get("created_at"))] if time]
        by_scorer = scores.setdefault(item, {})
        reasons[item] = ERROR if kind == "error" else reasons.get(item, NOT_SCORED)
        for name, value in _values(kind, event).items():
            if name in by_scorer:
                raise file.error("double-log", f"line {number:,} has a score {quoted(name)} of sample {item} again",
                                 "log such an event once for each sample", number)
            by_scorer |= file.scores({name: value}, finite, f"sample {item}", number)
        usage += [within(event, "usage")] if kind == "sampling" else []
    if spec is None:
        return []
    facts = _facts(file, spec, usage, times, is_finished=is_finished)
    samples = (LoggedSample(item, 1, by_scorer, reasons[item], {}) for item, by_scorer in scores.items())
    return [ModelLog(facts, tuple(samples))]


def _values(kind: object, event: Any) -> Document:
    """Return the scores of an event by name: whether a `match` is correct, and all of `metrics` but texts."""
    if kind == "match":
        return {"match": within(event, "correct")}
    if kind == "metrics" and isinstance(event, dict):
        return {name: value for name, value in event.items() if not isinstance(value, str)}
    return {}


def _facts(file: LogFile, spec: Document, usage: list[Any], times: list[str], *, is_finished: bool) -> LogFacts:
    models = spec.get("completion_fns")
    names = [name for name in models if isinstance(name, str)] if isinstance(models, list) else []
    return LogFacts(
        file=file.shown, sha256=file.sha256, tool="openai_evals", version=None,
        model=file.text({"spec": {"completion_fns": ", ".join(names)}}, "spec", "completion_fns", line=1),
        model_args=arguments(within(spec, "run_config", "completion_fn_args")),
        task=file.text({"spec": spec}, "spec", "base_eval", line=1), task_version=optional_text(spec.get("eval_name")),
        dataset=optional_text(spec.get("split")), started=optional_text(spec.get("created_at")),
        ended=max(times, default=None), planned=None,
        input_tokens=tokens(within(part, "prompt_tokens") for part in usage),
        output_tokens=tokens(within(part, "completion_tokens") for part in usage), cost=None,
        status="finished" if is_finished else "started")
