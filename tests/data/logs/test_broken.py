"""Every broken log is refused with a message that names the file, the place and the way out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from data.logs.written_logs import DEFLATED, LOGS, header, message, packed, sample, write, zipped
from evalpipe.data.logs.reading import LARGEST_TEXT
from few_by_day import by_night

AGAIN = "copy the file again, or log the run again"
STOPPED = f"the run was stopped or the copy is not whole: {AGAIN}"
NAMED = "check that the file is a log of the format that was named"
WHOLE = (LOGS / "inspect" / "model-a.eval").read_bytes()
TIME = "2026-01-01T00-00-00"
SAMPLES = f"samples_t_{TIME}.jsonl"
LINE = {"doc_id": 0, "filter": "none", "metrics": ["acc"], "acc": 1.0, "doc_hash": "d", "target_hash": "t"}
RESULTS = {f"results_{TIME}.json": {"model_name": "m"}}
RECORD = {"schema_version": "0.3.0", "model_id": "m", "evaluation_name": "sums", "sample_id": "i",
          "evaluation": {"score": 1, "is_correct": True}}
RUN = {"spec": {"completion_fns": ["m"], "base_eval": "sums"}}
EVENT = {"sample_id": "s.1", "type": "match", "data": {"correct": True}}


def log(*samples: object, **changes: Any) -> bytes:
    """Return the zip of an Inspect log of some samples."""
    return zipped({"header.json": header(**changes), "summaries.json": list(samples)})


def whole(code: str, sentence: str, place: str, hint: str) -> str:
    """Return a message as people read it."""
    return f"error[{code}]: {sentence}\n --> {place}\n  = help: {hint}"


INSPECT: list[tuple[Mapping[str, Any], str, str, str]] = [
    ({"a.eval": WHOLE[:4000]}, "broken-log", "a.eval is a zip without its end", STOPPED),
    ({"a.eval": b"text"}, "broken-log", "a.eval is no zip", "an Inspect log ends in .json, or in .eval and is a zip"),
    ({"a.eval": b""}, "broken-log", "a.eval is no zip", "an Inspect log ends in .json, or in .eval and is a zip"),
    ({}, "missing-file", "cannot read a.eval: no such file or directory",
     "check the path, and that the file may be read"),
    ({"a.eval": zipped({"header.json": header()}, 99)}, "broken-log",
     "'header.json' in a.eval has compression method 99, which is not read",
     "write the log with Zstandard or deflate, as Inspect does"),
    ({"a.eval": zipped({"header.json": header()}, flags=1)}, "broken-log",
     "'header.json' in a.eval is encrypted", AGAIN),
    ({"a.eval": log(sample(match=1)).replace(b"PK\x03\x04", b"PK\x00\x00", 1)}, "broken-log",
     "'header.json' in a.eval has no header", AGAIN),
    ({"a.eval": zipped({"samples/s1.json": {}})}, "broken-log",
     "a.eval has neither 'header.json' nor '_journal/start.json'", "check that the file is a log of Inspect"),
    ({"a.eval": zipped({"header.json": '{"version": 2'})}, "broken-log",
     "'header.json' in a.eval is no JSON: Expecting ',' delimiter (line 1, column 14)", STOPPED),
    ({"a.eval": zipped({"header.json": "[" * 100_000})}, "broken-log",
     "'header.json' in a.eval is no JSON: it is nested too deeply", STOPPED),
    ({"a.eval": log(sample(match=1), version=1)}, "log-version",
     "a.eval is of version 1 of Inspect's logs; version 2 is read",
     "write it again with a present version of Inspect: inspect log convert"),
    ({"a.eval": log(sample(match=1), version=3)}, "log-version",
     "a.eval is of version 3 of Inspect's logs; version 2 is read",
     "read it with a later version of evalpipe, or write it with Inspect 0.3"),
    ({"a.eval": log(sample(match=1), version=None)}, "broken-log",
     "a.eval has no 'version', which its format requires", "check that the file is a log of Inspect"),
    ({"a.eval": log(sample(), eval={"task": "sums", "model": "m", "scorers": [{"name": "match"}]})}, "no-scores",
     "a.eval has no scores of model 'm'", "score the samples and log them again"),
    ({"a.eval": log(sample(match=1), eval={"task": "sums"})}, "broken-log",
     "a.eval has no 'eval.model', which its format requires", NAMED),
    ({"a.eval": log()}, "no-samples", "a.eval has no samples", "log the samples too, or leave the file out"),
    ({"a.eval": log(sample())}, "no-scores", "a.eval has no scores of model 'openai/a'",
     "score the samples and log them again"),
    ({"a.eval": log(sample(None, match=1))}, "no-item-id", "a sample has no id of its item",
     "items are paired between models by their id: log it for all"),
    ({"a.eval": log(sample(" ", match=1))}, "no-item-id", "a sample has no id of its item",
     "items are paired between models by their id: log it for all"),
    ({"a.eval": log(sample(epoch=0, match=1))}, "broken-log", "sample s1 has no epoch",
     "check that the file is a log of Inspect"),
    ({"a.eval": log(sample(match=1) | {"scores": ["C"]})}, "broken-log", "sample s1 of epoch 1 has no scores by scorer",
     "check that the file is a log of Inspect"),
    ({"a.eval": log(sample("\ud800", match=1))}, "broken-log",
     "'summaries.json' in a.eval is no JSON: it escapes half a character", STOPPED),
    ({"a.eval": log(sample(match="grade B"))}, "not-a-score",
     "scorer 'match' gives sample s1 of epoch 1 'grade B', which is no number",
     "let the scorer give a number, or name the scorers to read without this one"),
    ({"a.eval": log(sample(match="c"))}, "not-a-score",
     "scorer 'match' gives sample s1 of epoch 1 'c', which is no number",
     "let the scorer give a number, or name the scorers to read without this one"),
    ({"a.eval": log(sample(match=["C", "I"]))}, "not-a-score",
     "scorer 'match' gives sample s1 of epoch 1 a list of 2 values, which is no number",
     "let the scorer give a number, or name the scorers to read without this one"),
    ({"a.eval": log(sample(match={"a": {"b": 1}}))}, "not-a-score",
     "scorer 'match/a' gives sample s1 of epoch 1 an object, which is no number",
     "let the scorer give a number, or name the scorers to read without this one"),
    ({"a.eval": log(sample(match=float("inf")))}, "not-a-score",
     "scorer 'match' gives sample s1 of epoch 1 inf, which is no number",
     "let the scorer give a number, or name the scorers to read without this one"),
    ({"a.eval": log(sample(1, match=1), sample("1", match=0))}, "double-log",
     "a.eval has twice item '1', epoch 1, of model 'openai/a' and task 'sums'",
     "give each item an id of its own, and log it once in an epoch"),
]


@pytest.mark.parametrize(("files", "code", "sentence", "hint"), INSPECT, ids=range(len(INSPECT)))
def test_inspect(tmp_path: Path, files: Mapping[str, Any], code: str, sentence: str, hint: str) -> None:
    assert message("inspect", write(tmp_path, files), "a.eval") == whole(code, sentence, "a.eval", hint)


LINES: list[tuple[str, Mapping[str, Any], str, int | None, str, str, str]] = [
    ("lm_eval", {SAMPLES: [LINE, '{"doc_id": 1, "acc'], **RESULTS}, SAMPLES, 2, "broken-log",
     "line 2 is no JSON: Unterminated string starting at (column 15)", STOPPED),
    ("lm_eval", {SAMPLES: [LINE, "[1]"], **RESULTS}, SAMPLES, 2, "broken-log",
     "line 2 holds a list of 1 value, not an object", NAMED),
    ("lm_eval", {SAMPLES: [LINE]}, SAMPLES, None, "missing-file", f"{SAMPLES} has no results of its run beside it",
     f"put results_{TIME}.json beside it: it names the model"),
    ("lm_eval", {"samples.jsonl": [LINE]}, "samples.jsonl", None, "broken-log",
     "samples.jsonl is not named as lm-eval names samples",
     "give the files samples_TASK_TIME.jsonl that --log_samples writes, under their names"),
    ("lm_eval", {SAMPLES: [LINE], f"results_{TIME}.json": {}}, SAMPLES, None, "broken-log",
     f"{SAMPLES} has no 'model_name', which its format requires", NAMED),
    ("lm_eval", {SAMPLES: [LINE, {**LINE, "doc_id": None}], **RESULTS}, SAMPLES, 2, "no-item-id",
     "line 2 has no id of its item", "items are paired between models by their id: log it for all"),
    ("lm_eval", {SAMPLES: [{"doc_id": 0, "acc": 1.0}], **RESULTS}, SAMPLES, 1, "log-version",
     "line 1 has no 'metrics' and 'filter', which lm-eval writes now",
     "log the samples with a present version of lm-eval"),
    ("lm_eval", {SAMPLES: [{**LINE, "acc": float("nan")}], **RESULTS}, SAMPLES, 1, "not-a-score",
     "scorer 'acc,none' gives document 0 NaN, which is no number",
     "let the scorer give a number, or name the scorers to read without this one"),
    ("lm_eval", {SAMPLES: [{**LINE, "metrics": ["f1"]}], **RESULTS}, SAMPLES, 1, "broken-log",
     "line 1 has no score of 'f1', which it lists", "log the run again"),
    ("lm_eval", {SAMPLES: [LINE, LINE], **RESULTS}, SAMPLES, 2, "double-log",
     "line 2 has scores of document 0, which an earlier line has",
     "keep one run in a file: lm-eval appends to a file that exists"),
    ("lm_eval", {SAMPLES: [{**LINE, "metrics": ["bypass"], "bypass": 999}], **RESULTS}, SAMPLES, None, "no-scores",
     f"{SAMPLES} has no scores of model 'm'", "score the samples and log them again"),
    ("lm_eval", {SAMPLES: [], **RESULTS}, SAMPLES, None, "no-samples", f"{SAMPLES} has no samples",
     "log the samples too, or leave the file out"),
    ("every_eval_ever", {"a_samples.jsonl": [{**RECORD, "schema_version": "0.1.0"}]}, "a_samples.jsonl", 1,
     "log-version",
     "line 1 is of version 0.1.0 of the schema; versions 0.2 and 0.3 are read",
     "write the records again by such a version"),
    ("every_eval_ever", {"a_samples.jsonl": [RECORD, RECORD]}, "a_samples.jsonl", 2, "double-log",
     "line 2 has a score of item i again", "give each result of an item its 'evaluation_result_id'"),
    ("every_eval_ever", {"a_samples.jsonl": [{**RECORD, "evaluation": {}}]}, "a_samples.jsonl", 1, "not-a-score",
     "scorer 'score' gives item i nothing, which is no number",
     "let the scorer give a number, or name the scorers to read without this one"),
    ("every_eval_ever", {"a_samples.jsonl": [RECORD], "a.json": {"detailed_evaluation_results": {"checksum": "0"}}},
     "a_samples.jsonl", None, "broken-log", "a_samples.jsonl has another sha256 than the record beside it says",
     "copy both files again, or take the record away to read the samples without it"),
    ("promptfoo", {"a.json": {"results": {"version": 2}}}, "a.json", None, "log-version",
     "a.json is of version 2 of promptfoo's results, and version 3 is read",
     "write the results again with a present version: promptfoo export"),
    ("promptfoo", {"a.json": {"results": {"version": 3, "results": []}}}, "a.json", None, "no-samples",
     "a.json has no samples", "log the samples too, or leave the file out"),
    ("promptfoo", {"a.json": ["[]"]}, "a.json", None, "broken-log",
     "a.json holds a list of 0 values, not an object with the log", NAMED),
    ("promptfoo", {"a.jsonl": [{"provider": {"id": "echo"}, "promptId": "p", "score": "high"}]}, "a.jsonl", 1,
     "not-a-score", "scorer 'score' gives test d779e3593e71 'high', which is no number",
     "let the scorer give a number, or name the scorers to read without this one"),
    ("promptfoo", {"a.jsonl": [{"provider": "echo"}]}, "a.jsonl", 1, "broken-log",
     "a.jsonl has no 'provider.id', which its format requires", NAMED),
    ("openai_evals", {"a.jsonl": [EVENT]}, "a.jsonl", 1, "broken-log", "line 1 is not the spec of a run",
     "give the file that oaieval writes, with its first line"),
    ("openai_evals", {"a.jsonl": [RUN, EVENT, EVENT]}, "a.jsonl", 3, "double-log",
     "line 3 has a score 'match' of sample s.1 again", "log such an event once for each sample"),
    ("openai_evals", {"a.jsonl": [RUN, {**EVENT, "sample_id": None}]}, "a.jsonl", 2, "no-item-id",
     "the event of line 2 has no id of its item", "items are paired between models by their id: log it for all"),
    ("openai_evals", {"a.jsonl": [RUN, {**EVENT, "type": "raw"}]}, "a.jsonl", None, "no-scores",
     "a.jsonl has no scores of model 'm'", "score the samples and log them again"),
]


@pytest.mark.parametrize(("format_", "files", "name", "line", "code", "sentence", "hint"), LINES, ids=range(len(LINES)))
def test_lines(tmp_path: Path, format_: str, files: Mapping[str, Any], name: str, line: int | None, code: str,
               sentence: str, hint: str) -> None:
    place = name if line is None else f"{name}:{line}"

    assert message(format_, write(tmp_path, files), name) == whole(code, sentence, place, hint)


@pytest.mark.parametrize(("format_", "name", "part", "place"), [
    ("inspect", "a.json", "a.json", "a.json"), by_night("openai_evals", "a.jsonl", "line 1", "a.jsonl:1")])
def test_what_is_too_large_to_read_at_once(tmp_path: Path, format_: str, name: str, part: str, place: str) -> None:
    with (tmp_path / name).open("wb") as file:
        file.truncate(LARGEST_TEXT + 1)

    assert message(format_, tmp_path, name) == whole(
        "too-large", f"{part} has more than 536,870,912 bytes, the most that is read at once", place,
        "divide the log, or write it in a format that keeps samples apart, as Inspect's .eval")


def test_two_logs_of_the_same_run_are_double(tmp_path: Path) -> None:
    folder = write(tmp_path, {"a.eval": log(sample(match="C")), "b.json": header(samples=[sample(match="I")])})

    assert message("inspect", folder, "a.eval", "b.json") == whole(
        "double-log", "a.eval and b.json both have item 's1', epoch 1, of model 'openai/a' and task 'sums'", "b.json",
        "keep the log that counts and leave the other out")


def test_an_item_with_another_text_is_no_pair(tmp_path: Path) -> None:
    folder = write(tmp_path, {
        f"{model}/{name}": content for model, doc in (("a", "d"), ("b", "e")) for name, content in {
            SAMPLES: [{**LINE, "doc_hash": doc}], f"results_{TIME}.json": {"model_name": model}}.items()})

    assert message("lm_eval", folder, f"a/{SAMPLES}", f"b/{SAMPLES}") == whole(
        "items-differ", f"item '0' of task 't' has another text or target in b/{SAMPLES} than in a/{SAMPLES}",
        f"b/{SAMPLES}", "run all models on the same version of the dataset")


def test_all_broken_files_are_told_at_once(tmp_path: Path) -> None:
    folder = write(tmp_path, {"a.eval": b"text", "b.eval": log(sample(match=1)), "c.eval": log()})

    assert message("inspect", folder, "a.eval", "b.eval", "c.eval") == "\n\n".join([
        whole("broken-log", "a.eval is no zip", "a.eval", "an Inspect log ends in .json, or in .eval and is a zip"),
        whole("no-samples", "c.eval has no samples", "c.eval", "log the samples too, or leave the file out")])


def test_a_scorer_that_no_sample_has(tmp_path: Path) -> None:
    folder = write(tmp_path, {"a.eval": log(sample(match=1))})

    assert message("inspect", folder, "a.eval", scorers=["judge"]) == whole(
        "no-scores", "a.eval has no scores by 'judge' of model 'openai/a'", "a.eval", "name scorers that it has")


@pytest.mark.parametrize("name", ["inspect/model-a.eval", "inspect/model-b.json", "promptfoo/results.json"])
def test_a_log_that_is_cut_anywhere_is_refused(tmp_path: Path, name: str) -> None:
    content = (LOGS / name).read_bytes()
    for end in range(0, len(content) - 1, 397):
        folder = write(tmp_path, {Path(name).name: content[:end]})

        assert message(name.partition("/")[0], folder, Path(name).name).startswith("error[broken-log]")


def test_a_member_that_is_damaged_anywhere_is_refused(tmp_path: Path) -> None:
    summaries = json.dumps([sample(f"s{number}", match=number) for number in range(200)])
    for method in (DEFLATED, 93):
        body = packed(summaries.encode(), method)
        for at in range(0, len(body), len(body) // 40):
            changed = body[:at] + bytes([body[at] ^ 0x10]) + body[at + 1:]
            members = {"header.json": json.dumps(header()), "summaries.json": summaries}
            raw = {"header.json": packed(members["header.json"].encode(), method), "summaries.json": changed}
            folder = write(tmp_path, {"a.eval": zipped(members, method, raw)})

            assert message("inspect", folder, "a.eval").startswith("error[broken-log]: 'summaries.json' in a.eval ")
