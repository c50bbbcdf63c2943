"""Writes the logs of this folder again, each by its tool, without a network: `python make_logs.py inspect FOLDER`.

Each tool stands in an environment of its own: inspect (inspect-ai 0.3.285), lm_eval (lm_eval 0.4.13), promptfoo
(npm's promptfoo 0.121.20 on the path), openai_evals (evals 3.0.1.post1, with any OPENAI_API_KEY, which is never used)
and every_eval_ever (every-eval-ever 0.3.0, which converts what lm_eval wrote).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ANSWERS = {
    "model-a": {"1 + 1 =": "2", "2 * 3 =": "6", "3 + 3 =": "9"},
    "model-b": {"1 + 1 =": "2", "2 * 3 =": "5", "3 + 3 =": "6"},
}
QUESTIONS = [
    {"question": "1 + 1 =", "choices": ["2", "3"], "answer": 0, "subject": "sums"},
    {"question": "2 * 3 =", "choices": ["5", "6"], "answer": 1, "subject": "products"},
    {"question": "3 + 3 =", "choices": ["6", "9"], "answer": 0, "subject": "sums"},
]


def inspect(folder: Path) -> None:  # noqa: C901 - a task is made of small functions
    """Model a fails on item s3 in epoch 1 and is not scored on s2 in epoch 2; model b's run is cancelled."""
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.log import read_eval_log, write_eval_log
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import Score, match, mean, scorer
    from inspect_ai.solver import generate, solver

    @scorer(metrics={"*": [mean()]})
    def style() -> Any:
        async def score(state: Any, _: Any) -> Score:
            return Score(value={"characters": len(state.output.completion), "polite": False})
        return score

    @scorer(metrics=[mean()])
    def judge() -> Any:
        async def score(state: Any, _: Any) -> Score:
            is_refused = state.sample_id == "s2" and state.epoch == 2
            return Score.unscored(reason="refusal") if is_refused else Score(value="P")
        return score

    @solver
    def failing(item: str) -> Any:
        async def solve(state: Any, _: Any) -> Any:
            if state.sample_id == item and state.epoch == 1:
                raise ValueError("no connection")
            return state
        return solve

    def answering(name: str) -> Any:
        def answer(messages: Any, *_: Any) -> ModelOutput:
            output = ModelOutput.from_content(f"mockllm/{name}", ANSWERS[name][messages[-1].text])
            output.usage = ModelUsage(input_tokens=4, output_tokens=1, total_tokens=6, input_tokens_cache_read=1)
            return output
        return answer

    items = [Sample(id=f"s{number}", input=row["question"], target=row["choices"][row["answer"]],
                    metadata={"subject": row["subject"], "level": number, "tags": ["arithmetic"]})
             for number, row in enumerate(QUESTIONS, 1)]
    for name, format_, fails in (("model-a", "eval", "s3"), ("model-b", "json", "none")):
        task = Task(dataset=MemoryDataset(items, name="sums"), solver=[failing(fails), generate()], name="arithmetic",
                    scorer=[match(), style(), judge()] if name == "model-a" else match(), epochs=2, version=3,
                    fail_on_error=False)
        model = get_model(f"mockllm/{name}", custom_outputs=answering(name), memoize=False)
        logs = evaluate(task, model=model, log_format=format_, log_dir=str(folder), display="none", max_samples=1,
                        temperature=0.5, log_model_api=False)
        log = read_eval_log(logs[0].location)
        for sample in log.samples:  # transcripts are large, and tracebacks name folders of the machine
            sample.events, sample.timelines, sample.attachments = [], None, {}
            if sample.error is not None:
                sample.error.traceback = sample.error.traceback_ansi = "left out"
        log.eval.model_args, log.eval.task_file, log.eval.revision = {"device": "none"}, None, None
        if name == "model-b":
            log.status, log.samples = "cancelled", log.samples[:2]
        write_eval_log(log, str(folder / f"{name}.{format_}"), format_)
        Path(logs[0].location.removeprefix("file://")).unlink()


def lm_eval(folder: Path) -> None:
    """Two tasks: one of choices with two measures, one of texts with two filters; the dummy model guesses."""
    rows = "".join(json.dumps(row) + "\n" for row in QUESTIONS)
    (folder / "data.jsonl").write_text(rows, encoding="utf-8")
    shared = ("dataset_path: json\ndataset_kwargs: {data_files: {test: data.jsonl}}\ntest_split: test\n"
              "doc_to_text: '{{question}}'\n")
    (folder / "sums_choice.yaml").write_text(shared + (
        "task: sums_choice\noutput_type: multiple_choice\ndoc_to_choice: choices\ndoc_to_target: answer\n"
        "metric_list: [{metric: acc}, {metric: acc_norm}]\nmetadata: {version: 1.0}\n"), encoding="utf-8")
    (folder / "sums_text.yaml").write_text(shared + (
        "task: sums_text\noutput_type: generate_until\ndoc_to_target: '{{choices[answer]}}'\n"
        "filter_list: [{name: strict, filter: [{function: take_first}]}, {name: upper, filter: [{function: uppercase}, "
        "{function: take_first}]}]\nmetric_list: [{metric: exact_match}]\nmetadata: {version: 2.0}\n"),
        encoding="utf-8")
    subprocess.run([sys.executable, "-m", "lm_eval", "run", "--model", "dummy", "--model_args",
                    "pretrained=tests/dummy", "--tasks", "sums_choice,sums_text", "--include_path", ".",
                    "--output_path", "written", "--log_samples"],
                   cwd=folder, check=True, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    for file in folder.glob("written/*/*"):
        text = file.read_text(encoding="utf-8")
        if file.suffix == ".json":  # the processor and the system of the machine
            document = json.loads(text)
            document["pretty_env_info"] = "left out"
            text = json.dumps(document, indent=1)
        (folder / file.name).write_text(text, encoding="utf-8")
    shutil.rmtree(folder / "written")
    for name in ("data.jsonl", "sums_choice.yaml", "sums_text.yaml"):
        (folder / name).unlink()


def promptfoo(folder: Path) -> None:
    """Two runs: `echo`, which answers with the prompt, and a provider that fails, each test twice; then two prompts."""
    (folder / "failing.js").write_text(
        "module.exports = class { id() { return 'failing'; } async callApi() { return {error: 'no connection'}; } };\n",
        encoding="utf-8")
    contains = [{"type": "contains", "value": "2", "metric": "right"}, {"type": "not-contains", "value": "Q"}]
    tests = [{"vars": {"question": "1 + 1 = 2"}, "metadata": {"subject": "sums"}, "assert": contains},
             {"vars": {"question": "3 * 3 = 9"}, "metadata": {"subject": "products"},
              "assert": [{"type": "contains", "value": "9"}]}]
    runs = {"results.json": (["{{question}}"], ["echo", "file://failing.js"], tests, "2"),
            "results.jsonl": (["{{question}}", "Q: {{question}}"], ["echo"], tests[:1], "1")}
    environment = {**os.environ, "PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1",
                   "PROMPTFOO_CONFIG_DIR": str(folder / "state")}
    for file, (prompts, providers, cases, repeats) in runs.items():
        config = {"description": "arithmetic", "prompts": prompts, "providers": providers, "tests": cases}
        (folder / "promptfooconfig.json").write_text(json.dumps(config), encoding="utf-8")
        subprocess.run(["promptfoo", "eval", "-c", "promptfooconfig.json", "--no-cache", "--repeat", repeats,
                        "-j", "1", "-o", file, "--no-table"], cwd=folder, check=False, env=environment)
    document = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    (folder / "results.json").write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")
    shutil.rmtree(folder / "state")
    for name in ("failing.js", "promptfooconfig.json"):
        (folder / name).unlink()


def openai_evals(folder: Path) -> None:
    """A run of three samples by the tool's recorder: a match each, usage, a measure of two, and an error."""
    from evals.base import RunSpec
    from evals.record import LocalRecorder

    spec = RunSpec(completion_fns=["model-a"], eval_name="sums.dev.v0", base_eval="sums", split="dev", created_by="",
                   run_config={"completion_fns": ["model-a"], "seed": 7, "completion_fn_args": {"temperature": 0.5}})
    recorder = LocalRecorder(str(folder / "openai_evals.jsonl"), run_spec=spec)
    for number, row in enumerate(QUESTIONS):
        answer, expected = ANSWERS["model-a"][row["question"]], row["choices"][row["answer"]]
        with recorder.as_default_recorder(f"sums.dev.{number}"):
            if number == 1:
                recorder.record_error("no connection", error=ConnectionError("no connection"))
                continue
            recorder.record_sampling(row["question"], [answer], usage={"prompt_tokens": 4, "completion_tokens": 1})
            recorder.record_match(answer == expected, expected=expected, picked=answer)
            recorder.record_metrics(characters=len(answer), note="short")
    recorder.flush_events()
    recorder.record_final_report({"accuracy": 0.5})


def every_eval_ever(folder: Path) -> None:
    """What Every Eval Ever's converter makes of the results of lm-eval in `lm_eval` beside this folder."""
    results = next((folder.parent / "lm_eval").glob("results_*.json"))
    subprocess.run([sys.executable, "-m", "every_eval_ever", "convert", "lm_eval", "--log_path", str(results),
                    "--output_dir", str(folder / "data"), "--include_samples", "--source_organization_name", "tests",
                    "--evaluator_relationship", "other"], check=True)
    for file in folder.glob("data/sums_choice/**/*.json*"):
        file.rename(folder / file.name)
    shutil.rmtree(folder / "data")


if __name__ == "__main__":
    {"inspect": inspect, "lm_eval": lm_eval, "promptfoo": promptfoo, "openai_evals": openai_evals,
     "every_eval_ever": every_eval_ever}[sys.argv[1]](Path(sys.argv[2]).resolve())
