"""Whatever stands in a log in place of a value, it is read or refused: nothing ends in a traceback."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from data.logs.written_logs import LOGS, header, sample, write, zipped
from evalpipe.data.logs import read_logs
from evalpipe.errors import DataError
from few_by_day import by_night

OTHERS = (None, True, -1, 1.5, float("nan"), 10**30, "", "x", [], [[1]], {}, {"a": {"b": None}})
TIME = "2026-01-01T00-00-00"


def lines(name: str) -> list[Any]:
    """Return the first two lines of a log of this folder."""
    return [json.loads(line) for line in next(LOGS.glob(name)).read_text(encoding="utf-8").splitlines()[:2]]


def document(name: str) -> Any:
    """Return a JSON log of this folder."""
    return json.loads(next(LOGS.glob(name)).read_text(encoding="utf-8"))


def logs() -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Return the format, the file that is read, and all files of a log, by a name."""
    summaries = [sample("s1", match="C", style={"a": 1}) | {"metadata": {"topic": "a"}, "error": None}]
    record = document("every_eval_ever/*[0-9a-f].json")
    del record["detailed_evaluation_results"]
    return {
        "eval": ("inspect", "a.eval", {"header.json": header(stats={"model_usage": {"openai/a": {"input_tokens": 1}}}),
                                       "summaries.json": summaries}),
        "json": ("inspect", "a.json", {"a.json": document("inspect/*.json")}),
        "lm_eval": ("lm_eval", f"samples_sums_text_{TIME}.jsonl", {
            f"samples_sums_text_{TIME}.jsonl": lines("lm_eval/samples_sums_text*"),
            f"results_{TIME}.json": document("lm_eval/results*")}),
        "every_eval_ever": ("every_eval_ever", "u_samples.jsonl", {
            "u_samples.jsonl": lines("every_eval_ever/*.jsonl"), "u.json": record}),
        "promptfoo": ("promptfoo", "a.jsonl", {"a.jsonl": lines("promptfoo/*.jsonl")}),
        "openai_evals": ("openai_evals", "a.jsonl", {"a.jsonl": lines("openai_evals/*")}),
    }


def changed(node: Any) -> Iterator[Any]:
    """Yield a JSON value with each part in turn left out, or replaced by values of other kinds."""
    parts = list(node.items()) if isinstance(node, dict) else list(enumerate(node)) if isinstance(node, list) else []
    for number, (key, part) in enumerate(parts):
        without = copy.copy(node)
        del without[key]
        yield without
        for value in [*OTHERS[number % 4::4], *changed(part)]:
            other = copy.copy(node)
            other[key] = value
            yield other


@pytest.mark.parametrize("every", [by_night(1), 3])
@pytest.mark.parametrize("name", list(logs()))
def test_a_log_with_another_value_is_read_or_refused(tmp_path: Path, name: str, every: int) -> None:
    format_, path, files = logs()[name]
    refused = 0
    for file, content in files.items():
        for other in islice(changed(content), 0, None, every):
            all_files = files | {file: other}
            write(tmp_path, {"a.eval": zipped(all_files)} if name == "eval" else all_files)
            try:
                table = read_logs(format_, [Path(path)], tmp_path).table
            except DataError as error:
                refused += str(error).startswith("error[")
            else:
                assert table.height > 0
    assert refused * every > 10
