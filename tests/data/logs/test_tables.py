"""Logs that the tools wrote themselves (README.md of this folder) become whole tables and facts."""

from __future__ import annotations

import json
from pathlib import Path
from zipfile import ZipFile

import polars as pl
import pytest

from data.logs.written_logs import ZSTANDARD, header, sample, write, zipped
from evalpipe.base.digests import file_sha256
from evalpipe.data.logs import ScoreLogs, read_logs
from evalpipe.data.logs.reading import USED, LogFacts, LogFile
from evalpipe.data.logs.zipped_members import ZippedMembers

LOGS = Path(__file__).parent


def read(format_: str, pattern: str) -> ScoreLogs:
    """Return the logs of a format in this folder."""
    return read_logs(format_, [path.relative_to(LOGS) for path in sorted((LOGS / format_).glob(pattern))], LOGS)


def rows(logs: ScoreLogs, *left_out: str) -> list[str]:
    """Return the rows of a table as texts, without some columns and without usage."""
    return logs.table.drop(left_out).drop(USED, strict=False).write_csv().splitlines()


def facts(file: str, tool: str, model: str, task: str, **others: object) -> LogFacts:
    """Return facts of which most are not known."""
    unknown: dict[str, object] = dict.fromkeys(("version", "task_version", "dataset", "started", "ended", "planned",
                                                "input_tokens", "output_tokens", "cost", "status"))
    values = unknown | {"model_args": {}} | others
    return LogFacts(file=file, sha256=file_sha256(LOGS / file), tool=tool, model=model, task=task,
                    **values)  # type: ignore[arg-type]


def test_the_zip_of_inspect() -> None:
    logs = read("inspect", "*.eval")

    assert logs.table.drop(USED, strict=False).schema == {
        "model": pl.String, "task": pl.String, "item": pl.String, "epoch": pl.Int64, "scorer": pl.String,
        "score": pl.Float64, "missing": pl.String, "subject": pl.String, "level": pl.Int64}
    assert rows(logs, "model", "task") == [
        "item,epoch,scorer,score,missing,subject,level",
        "s1,1,match,1.0,,sums,1", "s1,1,style/characters,1.0,,sums,1", "s1,1,style/polite,0.0,,sums,1",
        "s1,1,judge,0.5,,sums,1",
        "s2,1,match,1.0,,products,2", "s2,1,style/characters,1.0,,products,2", "s2,1,style/polite,0.0,,products,2",
        "s2,1,judge,0.5,,products,2",
        "s3,1,match,,error,sums,3", "s3,1,style/characters,,error,sums,3", "s3,1,style/polite,,error,sums,3",
        "s3,1,judge,,error,sums,3",
        "s1,2,match,1.0,,sums,1", "s1,2,style/characters,1.0,,sums,1", "s1,2,style/polite,0.0,,sums,1",
        "s1,2,judge,0.5,,sums,1",
        "s2,2,match,1.0,,products,2", "s2,2,style/characters,1.0,,products,2", "s2,2,style/polite,0.0,,products,2",
        "s2,2,judge,,refusal,products,2",
        "s3,2,match,0.0,,sums,3", "s3,2,style/characters,1.0,,sums,3", "s3,2,style/polite,0.0,,sums,3",
        "s3,2,judge,0.5,,sums,3",
    ]
    assert set(logs.table["model"]) == {"mockllm/model-a"}
    assert set(logs.table["task"]) == {"arithmetic"}
    assert logs.left_out == ("tags",)
    assert logs.facts == (facts(
        "inspect/model-a.eval", "inspect_ai", "mockllm/model-a", "arithmetic", version="0.3.285",
        model_args={"device": "none", "temperature": 0.5}, task_version="3", dataset="sums",
        started="2026-11-27T17:38:44+00:00", ended="2026-11-27T17:38:45+00:00", planned=6, input_tokens=25,
        output_tokens=5, status="success", samples=6, errors=1),)


@pytest.mark.parametrize(("format_", "pattern"), [
    ("inspect", "*.eval"), ("inspect", "*.json"), ("promptfoo", "*.json")])
def test_what_answers_used_adds_up_to_what_the_run_used(format_: str, pattern: str) -> None:
    logs = read(format_, pattern)
    answers = logs.table.unique(["model", "item", "epoch"])
    totals = {model: (read_tokens, written) for model, read_tokens, written in answers.group_by("model").agg(
        pl.col("input_tokens", "output_tokens").sum()).rows()}
    # The run of model-b was stopped in its third item: of six tokens that it wrote two are of samples in the log.
    stopped = {"mockllm/model-b": (10, 2)}
    assert totals == {run.model: (run.input_tokens, run.output_tokens) for run in logs.facts} | {
        model: used for model, used in stopped.items() if model in totals}
    assert answers["seconds"].is_between(0, 1).all()  # promptfoo rounds to milliseconds


def test_the_zip_of_inspect_agrees_with_its_results() -> None:
    with ZipFile(LOGS / "inspect" / "model-a.eval") as members:
        assert {member.compress_type for member in members.infolist()} == {ZSTANDARD}
    with ZippedMembers(LogFile(LOGS / "inspect" / "model-a.eval", "a.eval", "")) as texts:
        results = json.loads(texts.text("header.json"))["results"]["scores"]
    table = read("inspect", "*.eval").table.drop_nulls("score")
    items = table.group_by("scorer", "item").agg(pl.col("score").mean()).group_by("scorer").agg(pl.col("score").mean())

    assert dict(items.rows()) == pytest.approx({
        score["scorer"] if score["scorer"] == score["name"] else f"{score['scorer']}/{score['name']}":
        next(iter(score["metrics"].values()))["value"] for score in results})


def test_a_cancelled_log_of_inspect_has_the_samples_that_are_there() -> None:
    logs = read("inspect", "*.json")

    assert rows(logs) == [
        "model,task,item,epoch,scorer,score,missing,subject,level",
        "mockllm/model-b,arithmetic,s1,1,match,1.0,,sums,1",
        "mockllm/model-b,arithmetic,s2,1,match,0.0,,products,2",
    ]
    assert logs.facts == (facts(
        "inspect/model-b.json", "inspect_ai", "mockllm/model-b", "arithmetic", version="0.3.285",
        model_args={"device": "none", "temperature": 0.5}, task_version="3", dataset="sums",
        started="2026-11-27T17:38:45+00:00", ended="2026-11-27T17:38:45+00:00", planned=6, input_tokens=30,
        output_tokens=6, status="cancelled", samples=2),)


def test_lm_eval_has_a_scorer_for_each_measure_and_filter() -> None:
    logs = read("lm_eval", "*.jsonl")

    assert rows(logs, "model") == [
        "task,item,epoch,scorer,score,missing,question,answer,subject",
        'sums_choice,0,1,"acc,none",1.0,,1 + 1 =,0,sums', 'sums_choice,0,1,"acc_norm,none",1.0,,1 + 1 =,0,sums',
        'sums_choice,1,1,"acc,none",1.0,,2 * 3 =,1,products', 'sums_choice,1,1,"acc_norm,none",1.0,,2 * 3 =,1,products',
        'sums_choice,2,1,"acc,none",1.0,,3 + 3 =,0,sums', 'sums_choice,2,1,"acc_norm,none",1.0,,3 + 3 =,0,sums',
        'sums_text,0,1,"exact_match,strict",0.0,,1 + 1 =,0,sums',
        'sums_text,0,1,"exact_match,upper",0.0,,1 + 1 =,0,sums',
        'sums_text,1,1,"exact_match,strict",0.0,,2 * 3 =,1,products',
        'sums_text,1,1,"exact_match,upper",0.0,,2 * 3 =,1,products',
        'sums_text,2,1,"exact_match,strict",0.0,,3 + 3 =,0,sums',
        'sums_text,2,1,"exact_match,upper",0.0,,3 + 3 =,0,sums',
    ]
    assert logs.left_out == ("choices",)
    assert logs.facts == tuple(facts(
        f"lm_eval/samples_{task}_2026-11-27T17-39-59.520627.jsonl", "lm_eval", "tests/dummy", task, version="0.4.13",
        model_args={"pretrained": "tests/dummy"}, task_version=version, dataset="json",
        started="2026-11-27T17:39:59+00:00", planned=3, samples=3) for task, version in (
            ("sums_choice", "1.0"), ("sums_text", "2.0")))


def test_lm_eval_agrees_with_its_results() -> None:
    results = json.loads(next((LOGS / "lm_eval").glob("results_*.json")).read_text(encoding="utf-8"))["results"]

    means = read("lm_eval", "*.jsonl").table.group_by("task", "scorer").agg(pl.col("score").mean()).rows()
    assert {(task, scorer): results[task][scorer] for task, scorer, _ in means} == {
        (task, scorer): mean for task, scorer, mean in means}


def test_promptfoo_has_repeats_as_epochs_and_errors_as_missing() -> None:
    logs = read("promptfoo", "*.json")

    sums, products = "1 + 1 = 2,sums", "3 * 3 = 9,products"
    assert rows(logs, "task") == ["model,item,epoch,scorer,score,missing,question,subject", *(
        f"{model},{item},{epoch},{scorer},{score},{fields}"
        for model, score in (("failing", ",error"), ("echo", "1.0,"))
        for item, fields in (("8bee344a60b7", sums), ("994779f8d4e3", products))
        for epoch in (1, 2)
        for scorer in ("score", "success", "score/right")[:3 if fields == sums else 2])]
    assert logs.facts == tuple(facts(
        "promptfoo/results.json", "promptfoo", model, "arithmetic", version="0.121.20", input_tokens=0, output_tokens=0,
        started="2026-11-27T17:39:32.108Z", cost=0.0, samples=4, errors=errors) for model, errors in (
            ("failing", 4), ("echo", 0)))


def test_each_prompt_of_promptfoo_is_a_model() -> None:
    logs = read("promptfoo", "*.jsonl")

    assert rows(logs, "task", "item") == [
        "model,epoch,scorer,score,missing,question,subject",
        "echo: Q: {{question}},1,score,0.5,,1 + 1 = 2,sums", "echo: Q: {{question}},1,success,0.0,,1 + 1 = 2,sums",
        "echo: Q: {{question}},1,score/right,1.0,,1 + 1 = 2,sums",
        "echo: {{question}},1,score,1.0,,1 + 1 = 2,sums", "echo: {{question}},1,success,1.0,,1 + 1 = 2,sums",
        "echo: {{question}},1,score/right,1.0,,1 + 1 = 2,sums",
    ]
    assert logs.facts[0] == facts(
        "promptfoo/results.jsonl", "promptfoo", "echo: Q: {{question}}", "results", input_tokens=0, output_tokens=0,
        cost=0.0, samples=1)


def test_openai_evals() -> None:
    logs = read("openai_evals", "*.jsonl")

    assert rows(logs) == [
        "model,task,item,epoch,scorer,score,missing",
        "model-a,sums,sums.dev.0,1,match,1.0,", "model-a,sums,sums.dev.0,1,characters,1.0,",
        "model-a,sums,sums.dev.1,1,match,,error", "model-a,sums,sums.dev.1,1,characters,,error",
        "model-a,sums,sums.dev.2,1,match,0.0,", "model-a,sums,sums.dev.2,1,characters,1.0,",
    ]
    assert logs.facts == (facts(
        "openai_evals/openai_evals.jsonl", "openai_evals", "model-a", "sums", model_args={"temperature": 0.5},
        task_version="sums.dev.v0", dataset="dev", started="2026-11-27 17:38:47.782827",
        ended="2026-11-27 17:38:47.783898+00:00", input_tokens=8, output_tokens=2, status="finished", samples=3,
        errors=1),)


def test_every_eval_ever_has_the_names_of_its_aggregate() -> None:
    logs = read("every_eval_ever", "*.jsonl")

    assert rows(logs, "doc_hash", "prompt_hash", "target_hash", "lm_eval_metrics") == [
        "model,task,item,epoch,scorer,score,missing,filter", *(
            f"tests/dummy,sums_choice,{item},1,{scorer},1.0,,none"
            for item in range(3) for scorer in ("accuracy", "lm-evaluation-harness.acc_norm"))]
    assert logs.facts == (facts(
        logs.facts[0].file, "lm_eval", "tests/dummy", "sums_choice", version="0.4.13", dataset="sums_choice",
        model_args={"model_args": "{'pretrained': 'tests/dummy'}", "deployment_type": "unknown",
                    "model_availability": "unknown"}, started="1795801199", samples=3),)


def test_every_eval_ever_is_valid_for_its_schema() -> None:
    schemas = pytest.importorskip(
        "every_eval_ever.schemas", reason="every-eval-ever is not here: `make test` installs it")

    from jsonschema import Draft7Validator

    schema = json.loads(Path(schemas.__file__).with_name("instance_level_eval.schema.json").read_text(encoding="utf-8"))
    lines = next((LOGS / "every_eval_ever").glob("*.jsonl")).read_text(encoding="utf-8").splitlines()
    faults = [fault.message for line in lines for fault in Draft7Validator(schema).iter_errors(json.loads(line))]

    assert len(lines) == 6
    assert faults == []


@pytest.mark.parametrize(("value", "score", "missing"), [
    ("C", 1.0, None), ("I", 0.0, None), ("P", 0.5, None), ("N", 0.0, None), (True, 1.0, None), (False, 0.0, None),
    ("yes", 1.0, None), ("False", 0.0, None), ("0.25", 0.25, None), (7, 7.0, None), (-0.5, -0.5, None),
    (float("nan"), None, "not scored"), (None, None, "not scored"), ({"a": "P"}, 0.5, None),
    ({"a": None}, None, "not scored"),
])
def test_values_of_inspect_become_numbers(
    tmp_path: Path, value: object, score: float | None, missing: str | None
) -> None:
    folder = write(tmp_path, {"a.eval": zipped({"header.json": header(), "summaries.json": [sample(match=value)]})})

    table = read_logs("inspect", [Path("a.eval")], folder).table

    assert table.select("scorer", "score", "missing").rows() == [
        ("match/a" if isinstance(value, dict) else "match", score, missing)]


def test_scorers_can_be_chosen() -> None:
    paths = [Path("inspect/model-a.eval")]

    assert [sorted(set(read_logs("inspect", paths, LOGS, chosen).table["scorer"])) for chosen in (
        ["match"], ["style"], ["style/polite", "judge"])] == [
            ["match"], ["style/characters", "style/polite"], ["judge", "style/polite"]]


def test_a_scorer_that_is_not_chosen_may_give_anything(tmp_path: Path) -> None:
    samples = [sample(match="C", notes=["a", "b"])]
    folder = write(tmp_path, {"a.eval": zipped({"header.json": header(), "summaries.json": samples})})

    assert read_logs("inspect", [Path("a.eval")], folder, ["match"]).table["score"].to_list() == [1.0]


def test_a_run_that_stopped_is_read_from_its_journal(tmp_path: Path) -> None:
    started = {name: value for name, value in header().items() if name != "status"}
    batches = {f"_journal/summaries/{number}.json": [sample("s1", match=number / 20)] for number in range(1, 21)}
    batches["_journal/summaries/2.json"].append(sample("s2", match="C"))
    folder = write(tmp_path, {"a.eval": zipped({"_journal/start.json": started, **batches})})

    logs = read_logs("inspect", [Path("a.eval")], folder)

    assert logs.table.select("item", "score").rows() == [("s1", 1.0), ("s2", 1.0)]
    assert logs.facts[0].status == "started"


def test_a_log_without_any_score_has_rows_for_the_scorers_that_it_lists(tmp_path: Path) -> None:
    log = header(status="error")
    log["eval"]["scorers"] = [{"name": "match"}]
    failed = [sample("s1") | {"error": "no connection"}, sample("s2") | {"limit": "token"}, sample("s3")]
    folder = write(tmp_path, {"a.eval": zipped({"header.json": log, "summaries.json": failed})})

    logs = read_logs("inspect", [Path("a.eval")], folder)

    assert logs.table.select("item", "scorer", "score", "missing").rows() == [
        ("s1", "match", None, "error"), ("s2", "match", None, "limit"), ("s3", "match", None, "not scored")]
    assert (logs.facts[0].status, logs.facts[0].samples, logs.facts[0].errors) == ("error", 3, 1)


def test_a_sample_with_an_error_and_a_score_keeps_the_score(tmp_path: Path) -> None:
    samples = [sample("s1", match="P") | {"error": "timeout"}, sample("s2", match="C", judge="C")]
    folder = write(tmp_path, {"a.json": header(samples=samples)})

    logs = read_logs("inspect", [Path("a.json")], folder)

    assert logs.table.select("item", "scorer", "score", "missing").rows() == [
        ("s1", "match", 0.5, None), ("s1", "judge", None, "error"),
        ("s2", "match", 1.0, None), ("s2", "judge", 1.0, None)]
    assert logs.facts[0].errors == 0


def test_fields_that_look_like_a_sample_are_kept(tmp_path: Path) -> None:
    fields = {"id": 7, "epoch": "ice age", "topic": "a", "item.epoch": "b"}
    folder = write(tmp_path, {"a.json": header(samples=[sample(match=1) | {"metadata": fields}])})

    assert read_logs("inspect", [Path("a.json")], folder).table.select(
        "id", "item.epoch", "topic", "item.item.epoch").rows() == [(7, "ice age", "a", "b")]


def test_epochs_of_promptfoo_are_in_the_order_of_tests_and_long_prompts_are_digests(tmp_path: Path) -> None:
    results = [{"provider": {"id": "p"}, "promptId": prompt * 64, "prompt": {"label": label}, "testIdx": test,
                "score": test, "success": True, "testCase": {"vars": {"q": 1}}}
               for prompt, label in (("a", "x" * 61), ("b", "short"), ("c", "twice"), ("d", "twice"))
               for test in (2, 10, 1)]
    folder = write(tmp_path, {"a.jsonl": [*results, ""]})

    table = read_logs("promptfoo", [Path("a.jsonl")], folder, ["score"]).table

    assert table.select("model", "epoch", "score").rows() == [
        (model, *pair) for model in ("p: aaaaaaaaaaaa", "p: short", "p: cccccccccccc", "p: dddddddddddd")
        for pair in ((1, 1.0), (2, 2.0), (3, 10.0))]


def test_fields_of_items_keep_their_kinds(tmp_path: Path) -> None:
    kinds = {"whole": (1, 2), "part": (1, 0.5), "flag": (True, False), "id": (2**53, 1), "mixed": ("a", 1),
             "long": ("a", "b" * 201), "task": ("t", "u"), "some": (None, "x")}
    samples = [sample(f"s{row}", match=1) | {"metadata": {name: values[row] for name, values in kinds.items()}}
               for row in (0, 1)]
    folder = write(tmp_path, {"a.json": header(samples=samples)})

    logs = read_logs("inspect", [Path("a.json")], folder)

    assert logs.table.select("whole", "part", "flag", "id", "mixed", "item.task", "some").to_dict(as_series=False) == {
        "whole": [1, 2], "part": [1.0, 0.5], "flag": [True, False], "id": ["9007199254740992", "1"],
        "mixed": ["a", "1"], "item.task": ["t", "u"], "some": [None, "x"]}
    assert logs.left_out == ("long",)


def test_no_secret_becomes_a_fact(tmp_path: Path) -> None:
    log = header()
    log["eval"]["model_args"] = {
        "api_key": "k1", "hf_token": "k2", "text": "{'password': 'k3'}", "max_tokens": 5, "dtype": "float16",
        "nested": {}}
    folder = write(tmp_path, {"a.json": log | {"samples": [sample(match=1)]}})

    assert read_logs("inspect", [Path("a.json")], folder).facts[0].model_args == {"max_tokens": 5, "dtype": "float16"}


def test_the_text_of_arguments_of_lm_eval_is_divided(tmp_path: Path) -> None:
    folder = write(tmp_path, {
        "samples_t_2026-01-01T00-00-00.jsonl": [{"doc_id": 0, "filter": "none", "metrics": ["acc"], "acc": 1}],
        "results_2026-01-01T00-00-00.json": {
            "model_name": "m", "config": {"model_args": "pretrained=m,token=x,dtype=auto"}}})

    logs = read_logs("lm_eval", [Path("samples_t_2026-01-01T00-00-00.jsonl")], folder)

    assert logs.facts[0].model_args == {"pretrained": "m", "dtype": "auto"}


def test_a_result_whose_metric_others_share_is_named_by_its_id(tmp_path: Path) -> None:
    results = [{"evaluation_result_id": id_, "evaluation_name": "sums", "metric_config": {"metric_id": metric}}
               for id_, metric in (("p1", "pass_at_k"), ("p5", "pass_at_k"), ("a", "accuracy"))]
    lines = [{"schema_version": "0.2.2", "model_id": "m", "evaluation_name": "sums", "evaluation_result_id": id_,
              "sample_id": "i", "evaluation": {"score": 1, "is_correct": True}, "error": error}
             for id_, error in (("p1", None), ("p5", "no connection"), ("a", None))]
    folder = write(tmp_path, {"u_samples.jsonl": lines, "u.json": {"evaluation_results": results}})

    logs = read_logs("every_eval_ever", [Path("u_samples.jsonl")], folder)

    assert logs.table.select("scorer", "score", "missing").rows() == [
        ("p1", 1.0, None), ("p5", None, "error"), ("accuracy", 1.0, None)]
