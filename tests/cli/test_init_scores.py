"""`evalpipe init` for logs of other tools and tables of scores: whole specs, that run; what is asked and refused."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import polars as pl
import pytest
import yaml

import evalpipe
from cli.conftest import Command
from cli.test_init import at_terminal
from data.logs.written_logs import header, sample, write
from evalpipe.data.logs import format_of_log

LOGS = Path(__file__).parents[1] / "data" / "logs"
PROPOSED = Path(__file__).parent / "proposed"
SAMPLES = "samples_sums_{}_2026-11-27T17-39-59.520627.jsonl"
UUID = "9a6d9e0f-9ec3-42c8-be5a-dbad66ef2514"
HIGHER, TABLE = ("--better", "higher"), ("--task", "score", "--better", "higher")

CASES = {
    "inspect": (("model-a.eval", "model-b.json"), ("--scorer", "match", "--missing", "0", *HIGHER), {"mean"}),
    "lm_eval": ((SAMPLES.format("choice"), SAMPLES.format("text")),
                ("--log-task", "sums_text", "--scorer", "exact_match,strict", *HIGHER), {"mean"}),
    "promptfoo": (("results.json",), ("--scorer", "score", "--missing", "0", *HIGHER),
                  {"mean", "pass_at", "flip_rate"}),
    "openai_evals": (("openai_evals.jsonl",), ("--scorer", "match", "--missing", "leave_out", "--better", "lower"),
                     {"mean"}),
    "every_eval_ever": ((f"{UUID}_samples.jsonl",), ("--scorer", "accuracy", *HIGHER), {"mean"}),
}
"""By tool: its logs, the answers to all questions, and the measures of the spec."""


@pytest.fixture(autouse=True)
def _here(folder: Path) -> None:
    assert Path.cwd() == folder


def proposed(command: Command, *arguments: str) -> str:
    """Return the spec that `evalpipe init` prints; it must pass."""
    done = command("init", *arguments, "-o", "-")
    assert done.returncode == 0, done.stderr
    return done.stdout


def uncommented(text: str) -> str:
    """Return a spec with the slices and clusters that it proposes."""
    return re.sub(r"^# (?=(slices|  - |cluster))", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("tool", CASES)
def test_logs_of_a_tool_give_a_spec_that_runs_as_it_is(tool: str, command: Command, folder: Path) -> None:
    names, answers, measures = CASES[tool]
    shutil.copytree(LOGS / tool, folder / "logs")
    paths = [f"logs/{name}" for name in names]
    asked = command("init", *paths)
    assert (asked.returncode, asked.stdout) == (2, "")

    done = command("init", *paths, "-o", f"{tool}.yaml", "--no-schema", *answers)

    assert (done.returncode, done.stderr) == (0, "")
    text = Path(f"{tool}.yaml").read_text(encoding="utf-8")
    assert text == (PROPOSED / f"{tool}.yaml").read_text(encoding="utf-8")
    assert command("plan", f"{tool}.yaml").returncode == 0
    overrides = ["report.formats=[html]", "intervals.replicates=100"]
    assert set(evalpipe.run(f"{tool}.yaml", overrides=overrides).estimates["metric"]) == measures
    Path("sliced.yaml").write_text(uncommented(text), encoding="utf-8")
    checked = command("validate", "sliced.yaml")
    assert (checked.returncode, checked.stderr) == (0, "")


def test_all_that_logs_leave_open_is_asked_at_once(command: Command, folder: Path) -> None:
    shutil.copytree(LOGS / "inspect", folder / "logs")

    done = command("init", "logs/*")

    assert (done.returncode, done.stdout, done.stderr) == (2, "", """\
error[scorer-needed]: the logs have 4 scorers; which scorer is evaluated?
  = match: 8 scores of 2 models
  = style/characters: 6 scores of 1 model
  = style/polite: 6 scores of 1 model
  = judge: 6 scores of 1 model
  = help: add --scorer match, --scorer style/characters, --scorer style/polite or --scorer judge

error[better-needed]: the data do not say which scores are better; is it the higher or the lower ones?
  = higher: as of right answers
  = lower: as of errors
  = help: add --better higher or --better lower

error[missing-needed]: depending on the answer above, what does a missing score count?
  = 1 of 8 scores are missing (1 for error): 0 (as a score of 0) or leave_out (not at all)
  = 1 of 6 scores are missing (1 for error): 0 (as a score of 0) or leave_out (not at all)
  = 2 of 6 scores are missing (1 for error and 1 for refusal): 0 (as a score of 0) or leave_out (not at all)
  = help: add --missing with one of them; all in one line, as in: --scorer match --better higher --missing 0

3 errors
""")


def test_in_a_terminal_what_logs_leave_open_is_asked_in_turn(folder: Path) -> None:
    shutil.copytree(LOGS / "openai_evals", folder / "logs")

    code, seen = at_terminal(folder, "characters\nup\nhigher\n0\n", "init", "logs/openai_evals.jsonl")

    assert code == 0, seen
    assert "which scorer is evaluated? \n" in seen
    assert "--better names 'up', which is none of the ends; the ends are 'higher' and 'lower'\n" in seen
    spec = yaml.safe_load(Path("openai_evals.yaml").read_text(encoding="utf-8"))
    assert spec["score"] == {"better": "higher", "range": [0, 1], "missing": 0}
    assert spec["models"] == {"model-a": {"log": {"model": "model-a", "scorer": "characters"}}}


def test_a_glob_of_logs_of_several_tasks_stays_one_and_names_the_task(command: Command, folder: Path) -> None:
    shutil.copytree(LOGS / "lm_eval", folder / "logs")

    spec = yaml.safe_load(proposed(command, "logs/samples_*", "--log-task", "sums_choice", "--scorer", "acc,none",
                                   "--model", "guess=tests/dummy", *HIGHER))

    assert spec["datasets"] == {"sums_choice": {"lm_eval": ["logs/samples_*"]}}
    assert spec["models"] == {
        "guess": {"log": {"model": "tests/dummy", "scorer": "acc,none", "task": "sums_choice"}}}


def test_a_model_without_scores_by_the_scorer_is_left_out_with_a_note(command: Command, folder: Path) -> None:
    shutil.copytree(LOGS / "inspect", folder / "logs")

    text = proposed(command, "logs/model-a.eval", "logs/model-b.json", "--scorer", "judge", "--missing", "0", *HIGHER)

    assert list(yaml.safe_load(text)["models"]) == ["model-a"]
    assert "# Note: the model 'mockllm/model-b' has no scores by 'judge', and is left out.\n" in text


def test_a_score_beyond_1_leaves_the_range_open(command: Command, folder: Path) -> None:
    samples = [sample(item, epoch, points=3) for item in "ab" for epoch in (1, 2)]
    write(folder, {"a.json": header(samples=samples)})

    text = proposed(command, "a.json", *HIGHER)

    assert yaml.safe_load(text)["score"] == {"better": "higher"}
    assert yaml.safe_load(text)["metrics"] == ["mean"]
    assert "  # range: [0, 100]  # where there is a lowest and a highest score that there can be\n" in text
    assert "metrics:  # there are epochs: pass_at and flip_rate need two of each item" in text


def test_a_column_that_differs_within_an_item_is_no_slice(command: Command, folder: Path) -> None:
    samples = [sample(item, epoch, match=1) | {"metadata": {"try": epoch, "level": level, "many": f"{item}{level}"}}
               for item, level in (("a", 1), ("b", 2)) for epoch in (1, 2)]
    write(folder, {"a.json": header(samples=samples)})

    text = proposed(command, "a.json", *HIGHER)

    assert "#   - level  # 2 levels\n" in text
    assert "# - 1 column (differs within an item): try\n" in text


@pytest.mark.parametrize(("name", "content", "message"), [
    ("a.eval", b"PK\x03\x04", "error[broken-log]: a.eval is a zip without its end"),
    ("a.json", '{"version": 2, "eval": {', "error[broken-log]: a.json is no JSON"),
    ("samples_t_2026-01-01T00-00-00.jsonl", "{", "error[missing-file]: samples_t_2026-01-01T00-00-00.jsonl has no "),
    ("a.jsonl", ['{"spec": {"completion_fns": ["m"], "base_eval": "t"}}', "{"], "error[broken-log]: line 2 is no JSON"),
    ("r.json", {"evalId": "e", "results": {"version": 2}}, "error[log-version]: r.json is of version 2 of promptfoo's"),
    ("u_samples.jsonl", {"schema_version": "0.1.0", "evaluation_name": "t"}, "error[log-version]: line 1 is of "),
])
def test_a_broken_log_is_refused_by_its_reader(
    name: str, content: object, message: str, command: Command, folder: Path
) -> None:
    write(folder, {name: content})

    done = command("init", name, *HIGHER)

    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(message)
    assert done.stderr.count("error[") == 1


def test_no_predictions_are_taken_for_a_log(folder: Path) -> None:
    rows = [{"y": 1, "p": 0.5, "doc_id": 3, "spec": "a", "text": '{"evalId": "x", "eval": {"a": 1}}'}]
    files = {"samples_x.jsonl": rows, "x_samples.jsonl": rows, "a.json": {"y": [1]}, "eval.csv": '{"eval": {"a": 1}}'}
    write(folder, files)

    assert {name: format_of_log(folder / name) for name in files} == dict.fromkeys(files)


TABLE_SPEC = """\
evalpipe: 1   # the version of this file's format
name: scores  # also the name of the output folder, reports/scores
task: score   # your answer

score:
  better: higher  # your answer
  range: [0, 1]   # read from the data: all scores lie in it; check that no others can be
  missing: 0.5    # your answer

item: image         # your answer
epoch: epoch        # your answer
# cluster: text id  # 2 values in 2 items: if rows that share one belong together, intervals resample these

datasets:             # paths start from the folder of this file
  scores:
    path: scores.csv  # 4 rows, 7 columns
    csv: {separator: ";", decimal: ",", null: {tree: ["?"]}}  # how the file is written; null: what counts as missing

models:
  a b:
    score: a b   # 4 scores from 0 to 1
  tree:
    score: tree  # 4 scores from 0 to 0.5, 1 of them missing

metrics:
  - mean
  - {metric: pass_at, k: 1}  # the chance that one of k epochs scores 1
  - {metric: pass_at, k: 2}  # the chance that one of k epochs scores 1
  - flip_rate                # the chance that two epochs of an item differ in it

# slices:    # columns of few levels; each measure is then given for each level too
#   - digit  # 2 levels
"""


def test_a_table_with_a_column_for_each_model(command: Command, folder: Path) -> None:
    rows = ["x;1;7;s;1;0,5;", "x;2;7;s;0;?;", "y;1;8;t;0,25;0;", "y;2;8;t;1;0;"]
    write(folder, {"scores.csv": ["image;epoch;digit;text id;a b;tree;when", *rows]})

    done = command("init", "scores.csv", *TABLE, "--item", "image", "--epoch", "epoch", "--missing", "0.5",
                   "--no-schema")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == """\
task     score: your answer
score    higher is better, from 0 to 1, which was read from the data: check it
model    a b: score a b
model    tree: score tree

scores.yaml
run it: evalpipe run scores.yaml
"""
    text = Path("scores.yaml").read_text(encoding="utf-8")
    assert text.partition("\n\n")[2].partition("\n# Not used:\n")[0] == TABLE_SPEC
    Path("scores.yaml").write_text(uncommented(text), encoding="utf-8")
    results = evalpipe.run("scores.yaml", overrides=["report.formats=[html]", "intervals.replicates=100"])
    means = results.estimates.filter((pl.col("metric") == "mean") & pl.col("slice").is_null())
    assert dict(means.select("model", "value").iter_rows()) == {"a b": (0.5 + 0.625) / 2, "tree": 0.25}


def test_a_table_with_a_row_for_each_model_and_item(command: Command, folder: Path) -> None:
    frame = pl.DataFrame({"q": ["x", "y", "x", "y"], "model": ["A", "A", "B/c", "B/c"], "score": [1, 0, 1, 1]})
    frame.write_parquet(folder / "long.parquet")
    asked = command("init", "long.parquet", *TABLE)
    assert asked.stderr.startswith(
        "error[item-needed]: the table has a row for each model and item; which column names the item?\n")

    spec = yaml.safe_load(proposed(command, "long.parquet", *TABLE, "--item", "q"))

    assert spec["datasets"] == {"long": {"path": "long.parquet", "long": {"model": "model", "score": "score"}}}
    assert spec["models"] == {"A": {"log": {"model": "A"}}, "c": {"log": {"model": "B/c"}}}


def test_items_of_one_name_in_two_tables_are_no_epochs(command: Command, folder: Path) -> None:
    for name in ("one", "two"):
        write(folder, {f"{name}.csv": ["q,a", "x,1", "y,0"]})

    spec = yaml.safe_load(proposed(command, "one.csv", "two.csv", *TABLE, "--item", "q"))

    assert (list(spec["datasets"]), spec["metrics"]) == (["one", "two"], ["mean"])


REFUSED = {
    "a flag of predictions": (("a.json", "--event", "yes"), """\
error[not-for-task]: --event has no meaning for logs of a tool
  = help: remove it
"""),
    "another task": (("a.json", "--task", "binary"), """\
error[not-for-task]: logs of a tool hold scores of items, and --task is binary
  = help: remove it
"""),
    "a flag of logs": (("s.csv", *TABLE, "--log-task", "t"), """\
error[not-for-task]: --log-task has no meaning for a table of scores
  = help: remove it
"""),
    "a flag of scores": (("s.csv", "--item", "q"), """\
error[not-for-task]: --item has no meaning for predictions of an outcome
  = help: remove it
"""),
    "a log and a table": (("a.json", "s.csv"), """\
error[mixed-formats]: a.json is a log of inspect, and s.csv is none
  = help: name logs of one tool, and no other files
"""),
    "an end": (("a.json", "--better", "hihger"), """\
error[unknown-choice]: --better names 'hihger', which is none of the ends
  = help: did you mean 'higher'?
"""),
    "a scorer": (("a.json", "--scorer", "judge"), """\
error[unknown-choice]: --scorer names 'judge', which is none of the scorers in the logs
  = help: the scorers in the logs are 'match'
"""),
    "a model": (("a.json", *HIGHER, "--model", "a=openai/b"), """\
error[unknown-choice]: --model names 'openai/b', which is none of the models in the logs
  = help: did you mean 'openai/a'?
"""),
    "a missing score": (("a.json", *HIGHER, "--missing", "none"), """\
error[unknown-choice]: expected a number or leave_out as --missing, got 'none'
  = help: add --missing 0 or --missing leave_out
"""),
    "no numbers": (("t.csv", *TABLE), """\
error[no-scores]: no column of the data holds numbers
  = help: name a table of scores
"""),
    "no scores from 0 to 1": (("s.csv", *TABLE), """\
error[model-needed]: 0 columns have numbers from 0 to 1 alone; which columns are scores of a model?
  = a: 2 values
  = help: add --model NAME=a
"""),
    "a cluster": (("a.json", *HIGHER, "--cluster", "text"), """\
error[unknown-column]: --cluster names the column 'text', which the data do not have
  = help: the columns are 'level' and 'subject'
"""),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_meaning_for_scores_is_refused(case: str, command: Command, folder: Path) -> None:
    arguments, message = REFUSED[case]
    fields = {"metadata": {"level": 1, "subject": "sums"}}
    write(folder, {"a.json": header(samples=[sample(item, match=1) | fields for item in "ab"]),
                   "s.csv": ["q,a", "x,7", "y,8"], "t.csv": ["q,a", "x,b", "y,c"]})

    done = command("init", *arguments)

    code = 3 if case == "a log and a table" else 2  # which is in the data, and not in the flags
    assert (done.returncode, done.stdout, done.stderr) == (code, "", message)
