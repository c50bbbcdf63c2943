"""`evalpipe init`: five strange files give specs that run after one answer; what is asked, refused, and written."""

from __future__ import annotations

import os
import pty
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import evalpipe
from cli.conftest import Command
from evalpipe.proposal.spec_file import BY_SCHEMA

ROWS = 120
PROPOSED = Path(__file__).parent / "proposed"
"""The specs of the strange files, whole."""


def drawn() -> tuple[np.ndarray, np.ndarray]:
    """Return whether an event occurred, and its probability, with two decimals: from 0.01 to 0.99."""
    generator = np.random.default_rng(5)
    event = generator.random(ROWS) < 0.4
    probability = np.clip(generator.normal(0.3 + 0.3 * event, 0.2), 0.01, 0.99).round(2)
    probability[:2] = 0.01, 0.99
    return event, probability


def semicolons(file: Path) -> None:
    event, probability = drawn()
    lines = [f"{row};{'ja' if y else 'nein'};{p:.2f};{'mw'[row % 2]}".replace(".", ",")
             for row, (y, p) in enumerate(zip(event, probability, strict=True))]
    file.write_text("\n".join(["Patient ID;Verstorben;Risk RF;Geschlecht", *lines, ""]), encoding="utf-8")


def wide(file: Path, numbers: int = 30) -> None:
    event, probability = drawn()
    levels = np.array(["a", "b", "c"])
    pl.DataFrame({
        "row_id": [f"r{row}" for row in range(ROWS)], "patient_id": [f"p{row // 3}" for row in range(ROWS)],
        "default": event.astype(int),
        **{f"x{at}": column for at, column in enumerate(np.random.default_rng(6).normal(size=(numbers, ROWS)))},
        **{f"c{at}": levels[(np.arange(ROWS) + at) % 3] for at in range(20)}, "constant": ["k"] * ROWS,
        "day": [f"2024-01-{1 + row % 28:02}" for row in range(ROWS)], "note": [f"t{row}" for row in range(ROWS)],
        "ratio": (probability / 2), "case_weight": 1 + np.arange(ROWS) % 2 / 2, "empty": [None] * ROWS,
        "score_gbm": probability,
    }).write_csv(file)


def percents(file: Path) -> None:
    event, probability = drawn()
    pl.DataFrame({"truth": np.where(event, "sick", "well"), "risk_pct": (100 * probability).round(),
                  "age": np.arange(ROWS) % 70}).write_parquet(file)


def labels(file: Path) -> None:
    _, probability = drawn()
    levels = np.array(["no change", 'he said: "no"', "null"])[np.arange(ROWS) % 3]
    half = (1 - probability) / 2
    pl.DataFrame({"the state": levels, "prob no change": probability, 'prob he said: "no"': half, "prob null": half,
                  "predicted class": np.where(np.arange(ROWS) % 5, levels, levels[::-1])}).write_csv(file)


def two_columns(file: Path) -> None:
    event, probability = drawn()
    pl.DataFrame({"churned": np.where(event, "yes", "no"), ".pred_no": 1 - probability, ".pred_yes": probability,
                  ".pred_class": np.where(probability >= 0.5, "yes", "no")}).write_ndjson(file)


STRANGE = {
    "semi.csv": (semicolons, "ja"), "wide.csv": (wide, "1"), "percent.parquet": (percents, "sick"),
    "labels.csv": (labels, None), "two.ndjson": (two_columns, "yes"),
}
"""The files, and the answer to their question; one with several levels has none."""


@pytest.fixture(autouse=True)
def _here(folder: Path) -> None:
    assert Path.cwd() == folder


def binary(file: str, **columns: object) -> None:
    """Write a file with an outcome 'y' and further columns."""
    event, _ = drawn()
    pl.DataFrame({"y": np.where(event, "yes", "no"), **columns}).write_csv(file)


@pytest.mark.parametrize("name", STRANGE)
def test_a_strange_file_gives_a_spec_that_runs_as_it_is(name: str, command: Command, folder: Path) -> None:
    write, event = STRANGE[name]
    write(folder / name)
    target = f"{name.partition('.')[0]}.yaml"
    if event is not None:
        asked = command("init", name)
        assert (asked.returncode, asked.stdout) == (2, "")
        assert "--event" in asked.stderr or "--outcome" in asked.stderr
        assert not Path(target).exists()
    done = command("init", name, *(() if event is None else ("--event", event)))
    assert (done.returncode, done.stderr) == (0, "")
    assert Path(target).read_text(encoding="utf-8") == (PROPOSED / target).read_text(encoding="utf-8")
    checked = command("validate", target)
    assert (checked.returncode, checked.stderr) == (0, "")
    results = evalpipe.run(target)
    assert set(results.estimates["status"]) == {"ok"}
    assert results.inputs[0].used_rows == ROWS


def test_the_card_of_a_spec_as_it_was_written(command: Command, folder: Path) -> None:
    percents(folder / "percent.parquet")
    assert command("init", "percent.parquet", "--event", "sick").returncode == 0
    run = command("run", "percent.yaml", "--no-progress", "--set", "report.formats=[html]")
    assert (run.returncode, run.stderr) == (0, "")
    assert (folder / "reports" / "percent" / "card.html").exists()


def test_each_proposed_comment_runs_as_a_key(command: Command, folder: Path) -> None:
    wide(folder / "wide.csv")
    assert command("init", "wide.csv", "--event", "1").returncode == 0
    text = re.sub(r"^# (?=(slices|  - |cluster|weight))", "", Path("wide.yaml").read_text(), flags=re.MULTILINE)
    Path("wide.yaml").write_text(text)
    results = evalpipe.run("wide.yaml", overrides=["intervals.replicates=100", "metrics=[brier]"])
    assert results.estimates.height == 1 + 8 * 3


def test_dates_are_proposed_by_month_as_a_comment_and_for_the_command(command: Command, folder: Path) -> None:
    months = [f"2026-0{1 + row % 4}-1{row % 9}" for row in range(ROWS)]
    years = [f"{1990 + row % 30}-01-1{row % 9} 10:00:00" for row in range(ROWS)]
    days = [f"2026-01-1{row % 9}" for row in range(ROWS)]
    binary("data.csv", p=column("half"), decided_on=months, born=years, day=days)
    done = command("init", "data.csv", "--event", "yes")
    line = "slices=[{column: decided_on, by: month}]"
    assert (f"note     for each measure by month, remove the # before 'slices' and '{line[8:-1]}', or add "
            f"--set '{line}' to the run") in done.stdout
    text = (folder / "data.yaml").read_text()
    assert ("#   - {column: decided_on, by: month}  # 4 months\n"
            "#   - {column: born, by: year}         # 30 years\n") in text
    assert "dates; 'where' can keep a period): day" in text
    assert command("plan", "data.yaml", "--set", line).returncode == 0
    Path("data.yaml").write_text(text.replace("# slices:", "slices:").replace("#   - {", "  - {"))
    assert command("plan", "data.yaml").returncode == 0


def test_three_hundred_columns_are_told_in_few_lines(command: Command, folder: Path) -> None:
    wide(folder / "wide.csv", numbers=270)
    text = command("init", "wide.csv", "--event", "1", "-o", "-").stdout
    assert len(text.splitlines()) < 60
    assert "# - 270 columns (numbers; a slice needs cuts: {column: …, cuts: [18, 65]}): x0, x1, x2, x3 and 266" in text


def test_the_summary_says_what_was_proposed_and_what_to_know(command: Command, folder: Path) -> None:
    percents(folder / "percent.parquet")
    (folder / "specs").mkdir()
    done = command("init", "percent.parquet", "--event", "sick", "-o", "specs/my risk.yaml")
    assert done.stdout == """\
task     binary: the outcome has two levels
outcome  truth, event sick: its name is that of an outcome
model    model: probability risk_pct, scale percent
note     'risk_pct' looks like percents, from 1 to 99: 'scale: percent' divides it by 100. If it is another score, \
name it under 'score' and remove 'scale'

specs/my risk.yaml
run it: evalpipe run 'specs/my risk.yaml'
"""
    text = Path("specs/my risk.yaml").read_text()
    assert "name: my_risk" in text
    assert "path: ../percent.parquet" in text
    assert command("validate", "specs/my risk.yaml").returncode == 0


def test_the_standard_output_carries_the_spec_alone(command: Command, folder: Path) -> None:
    percents(folder / "percent.parquet")
    done = command("init", "percent.parquet", "--event", "sick", "-o", "-")
    expected = (PROPOSED / "percent.yaml").read_text().replace("evalpipe run percent.yaml", "evalpipe run SPEC")
    assert done.stdout == expected.removeprefix(BY_SCHEMA)
    assert done.stderr.startswith("task     binary: ")
    assert command("validate", "-", input=done.stdout).returncode == 0
    assert [file.name for file in folder.glob("*.yaml")] == ["small.yaml"]


ERRORS = {
    "an event": ({"p": "half"}, (), """\
error[event-needed]: the outcome 'y' has 2 levels; which of them is the event?
  = no: 74 rows
  = yes: 46 rows
  = help: add --event no or --event yes
"""),
    "a level that is none": ({"p": "half"}, ("--event", "Yes"), """\
error[unknown-level]: 'Yes' is no level of the outcome 'y'
  = no: 74 rows
  = yes: 46 rows
  = help: did you mean 'yes'?
"""),
    "an outcome": ({"truth": "event", "p": "half"}, (), """\
error[outcome-needed]: 2 columns may be the outcome; which column is the outcome?
  = y: 2 levels, 'no' and 'yes'
  = truth: 2 levels, '0' and '1'
  = help: add --outcome y or --outcome truth

error[event-needed]: depending on the answer above, which of them is the event?
  = the outcome 'y' has 2 levels: no (74 rows) or yes (46 rows)
  = the outcome 'truth' has 2 levels: 0 (74 rows) or 1 (46 rows)
  = help: add --event with one of them; all in one line, as in: --outcome y --event no

2 errors
"""),
    "an event and models": ({"p0": "half", "p1": "rest"}, (), """\
error[event-needed]: the outcome 'y' has 2 levels; which of them is the event?
  = no: 74 rows
  = yes: 46 rows
  = help: add --event no or --event yes

error[model-needed]: the columns 'p0' and 'p1' sum to 1: two levels' probabilities of a model; \
which of them is the probability of the event?
  = p0: from 0.005 to 0.495
  = p1: from 0.505 to 0.995
  = help: add --model NAME=p1; all in one line, as in: --event no --model NAME=p1

2 errors
"""),
    "a time to an event": ({"event": "event", "time": "third", "p": "half"}, ("--outcome", "event"), """\
error[task-needed]: 'time' may be the time to 'event': times to an event with censored rows are not evaluated; \
is the outcome of another kind?
  = binary: each row is known to have had the event or not; a censored row would count as one without it
  = help: add --task binary

error[event-needed]: the outcome 'event' has 2 levels; which of them is the event?
  = 0: 74 rows
  = 1: 46 rows
  = help: add --event 0 or --event 1; all in one line, as in: --task binary --event 0

2 errors
"""),
    "a column that is none": ({"p": "half"}, ("--outcome", "x"), """\
error[unknown-column]: --outcome names the column 'x', which the data do not have
  = help: the columns are 'y' and 'p'
"""),
    "a kind": ({"y": "number", "pred": "half"}, (), """\
error[task-needed]: the outcome 'y' holds whole numbers from 0 to 8; what are they?
  = count: how often something happened
  = regression: a number that was measured
  = ordinal: levels that have an order
  = multiclass: levels that have none
  = help: add --task count, --task regression, --task ordinal or --task multiclass
"""),
    "a kind that cannot be": ({"p": "half"}, ("--task", "count"), """\
error[wrong-task]: 'y' cannot be of the task count: it has 2 levels, 'no' and 'yes'
  = help: it can be 'binary'
"""),
    "a kind that is not evaluated": ({"p": "half"}, ("--task", "survival"), """\
error[unknown-choice]: expected 'binary', 'multiclass', 'ordinal', 'regression', 'count' or 'score' as the task, got \
'survival'
  = help: times to an event with censored rows are not evaluated
"""),
    "a kind by another name": ({"p": "half"}, ("--task", "Binary Classification"), """\
error[unknown-choice]: expected 'binary', 'multiclass', 'ordinal', 'regression', 'count' or 'score' as the task, got \
'Binary Classification'
  = help: say 'binary'
"""),
    "a kind misspelt": ({"p": "half"}, ("--task", "mulitclass"), """\
error[unknown-choice]: expected 'binary', 'multiclass', 'ordinal', 'regression', 'count' or 'score' as the task, got \
'mulitclass'
  = help: did you mean 'multiclass'?
"""),
    "an order": ({"y": "grade", "pred": "grade"}, ("--task", "ordinal"), """\
error[levels-needed]: the outcome 'y' has 3 levels; what is their order, from the lowest to the highest?
  = high, or so: 40 rows
  = low: 40 rows
  = medium: 40 rows
  = help: add --levels 'LOWEST,…,HIGHEST'
"""),
    "an order that lacks a level": (
        {"y": "grade", "pred": "grade"}, ("--task", "ordinal", "--levels", "low,medium"), """\
error[wrong-levels]: --levels lacks 'high, or so'
  = help: the levels of 'y' are 'high, or so', 'low' and 'medium'
"""),
    "an order with a level twice": (
        {"y": "grade", "pred": "grade"}, ("--task", "ordinal", "--levels", 'low,medium,"high, or so",low'), """\
error[wrong-levels]: --levels names a level twice
  = help: the levels of 'y' are 'high, or so', 'low' and 'medium'
"""),
    "an event of several levels": ({"y": "grade", "pred": "grade"}, ("--event", "low"), """\
error[not-for-task]: --event is for a binary outcome, not for one of the task multiclass
  = help: remove it, or give --outcome or --task too
"""),
    "models": ({"a": "half", "b": "third"}, ("--event", "yes"), """\
error[model-needed]: 2 columns may be predictions; which of them are probabilities of the event?
  = a: from 0.005 to 0.495
  = b: from 0.003333 to 0.33
  = help: add --model NAME=a
"""),
    "one of two columns": ({"p0": "half", "p1": "rest"}, ("--event", "yes"), """\
error[model-needed]: the columns 'p0' and 'p1' sum to 1: two levels' probabilities of a model; \
which of them is the probability of the event?
  = p0: from 0.005 to 0.495
  = p1: from 0.505 to 0.995
  = help: add --model NAME=p1
"""),
    "the other level": ({"prob_no": "half"}, ("--event", "yes"), """\
error[no-predictions]: no column of the data is a prediction of 'y' for the event 'yes'
  = prob_no: about 'no', not about the event
  = help: name its column, --model NAME=COLUMN, or another --event
"""),
    "numbers of an unknown name": ({"wert": "hundred", "group": "grade"}, ("--event", "yes"), """\
error[no-predictions]: no column of the data is a prediction of 'y' for the event 'yes'
  = help: name its column, --model NAME=COLUMN; the columns of numbers: 'wert'
"""),
    "a model without numbers": ({"p": "half", "t": "grade"}, ("--event", "yes", "--model", "m=t"), """\
error[not-predictions]: the column 't' holds no predictions of 'y'
  = help: name a column of probabilities, scores or its levels
"""),
    "a model twice": ({"p": "half", "q": "third"}, ("--event", "yes", "--model", "m=p", "--model", "m=q"), """\
error[model-twice]: --model gives 'm' two columns for probability
  = help: give the models different names
"""),
    "a name that is none": ({"p": "half"}, ("--event", "yes", "--model", "a+b=p"), """\
error[bad-name]: the name 'a+b' holds '+', which stands between a model and its recalibrated variant
  = help: write 'a_b'
"""),
    "a misspelt column": ({"prob": "half"}, ("--event", "yes", "--model", "m=prb"), """\
error[unknown-column]: --model names the column 'prb', which the data do not have
  = help: did you mean 'prob'?
"""),
}


def column(kind: str) -> object:
    """Return the values of a column of a test."""
    event, probability = drawn()
    return {
        "half": probability / 2, "third": probability / 3, "rest": 1 - probability / 2, "event": event.astype(int),
        "hundred": 100 * probability,
        "number": np.arange(ROWS) % 9, "grade": np.array(["low", "medium", "high, or so"])[np.arange(ROWS) % 3],
    }[kind]


@pytest.mark.parametrize("case", ERRORS)
def test_what_is_left_open_or_wrong_is_told_with_its_flag(case: str, command: Command, folder: Path) -> None:
    columns, flags, message = ERRORS[case]
    binary("data.csv", **{name: column(kind) for name, kind in columns.items()})
    done = command("init", "data.csv", *flags)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)
    assert not (folder / "data.yaml").exists()


@pytest.mark.parametrize("columns", [
    {"truth": "event", "a": "half", "b": "rest"}, {"group": "grade", "a": "event", "b": "third", "c": "half"},
    {"event": "event", "time": "third", "status": "event", "p": "half"},
    {"weeks": "number", "event": "event", "p": "half"},
])
def test_the_line_of_all_answers_is_one(columns: dict[str, str], command: Command, folder: Path) -> None:
    pl.DataFrame({name: column(kind) for name, kind in columns.items()}).write_csv("data.csv")
    asked = command("init", "data.csv")
    line = re.search(r"all in one line, as in: (.*)\n", asked.stderr)
    assert (asked.returncode, line is not None) == (2, True), asked.stderr
    done = command("init", "data.csv", *shlex.split(line[1] if line else ""))
    assert (done.returncode, done.stderr) == (0, "")
    assert (folder / "data.yaml").exists()


def test_a_spec_is_replaced_by_force_alone(command: Command, folder: Path) -> None:
    binary("data.csv", p=column("half"))
    (folder / "data.yaml").write_text("mine\n")
    refused = command("init", "data.csv", "--event", "yes")
    assert (refused.returncode, refused.stdout, refused.stderr) == (2, "", """\
error[spec-exists]: 'data.yaml' exists, and nothing was written
  = help: name another file with -o, or replace this one with --force
""")
    assert (folder / "data.yaml").read_text() == "mine\n"
    assert command("init", "data.csv", "--event", "yes", "--force").returncode == 0
    assert (folder / "data.yaml").read_text().startswith("# yaml-language-server: ")
    assert sorted(file.name for file in folder.iterdir()) == [
        "data.csv", "data.yaml", "evalpipe.schema.json", "small.yaml", "test.csv"]


@pytest.mark.parametrize(("out", "message"), [
    ("deep/spec.yaml", "error[missing-folder]: there is no folder 'deep'\n  = help: make it first\n"),
    (".", "error[not-a-file]: '.' is a folder\n  = help: name a file, as in -o spec.yaml\n"),
])
def test_a_place_that_is_none_is_refused_before_the_data_are_read(out: str, message: str, command: Command) -> None:
    done = command("init", "absent.csv", "-o", out)
    assert (done.returncode, done.stderr) == (2, message)


@pytest.mark.parametrize(("name", "content", "message"), [
    ("x.parquet", None, "error[missing-file]: there is no file x.parquet\n  = help: check the path\n"),
    ("empty.csv", "", """\
error[empty-file]: cannot read empty.csv: it is empty: not even the columns are there
 --> empty.csv
  = help: write it again: it was not written to the end
"""),
    ("header.csv", "y,p\n", """\
error[no-rows]: header.csv has columns but no rows
  = help: give a file with predictions
"""),
    ("ragged.csv", "y,p\n1,.5\n0,.2,3\n", """\
error[ragged-file]: cannot read ragged.csv: 1 row has more or fewer cells than the 2 columns of the header
 --> ragged.csv
  |
  | row 2: 3 cells
  = help: quote each cell that holds a separator or a line break
"""),
    ("sheet.xlsx", "", """\
error[unknown-format]: the name of sheet.xlsx shows no format that evalpipe reads
  = help: it reads csv, csv.gz, tsv, tsv.gz, parquet, ipc (feather, arrow) and ndjson (jsonl)
"""),
])
def test_data_that_cannot_be_read(name: str, content: str | None, message: str, command: Command, folder: Path) -> None:
    if content is not None:
        (folder / name).write_text(content)
    done = command("init", name, "--event", "1")
    assert (done.returncode, done.stdout, done.stderr) == (3, "", message)
    assert [file.name for file in folder.glob("*.yaml")] == ["small.yaml"]


def at_terminal(folder: Path, keys: str, *arguments: str) -> tuple[int, str]:
    """Run a command in a terminal in which keys are pressed; return the exit code and what is seen."""
    own, theirs = pty.openpty()
    line = [sys.executable, "-m", "evalpipe", *arguments]
    with subprocess.Popen(line, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        os.write(own, keys.encode())
        seen = b""
        while True:
            try:
                part = os.read(own, 4096)
            except OSError:  # how Linux says that the other side is closed
                break
            if not part:
                break
            seen += part
    os.close(own)
    return process.returncode, seen.decode().replace("\r\n", "\n")


def test_in_a_terminal_it_asks_until_the_answer_is_a_level(folder: Path) -> None:
    binary("data.csv", p=column("half"))
    code, seen = at_terminal(folder, "\nYes\nyes\n", "init", "data.csv")
    assert code == 0, seen
    assert """
the outcome 'y' has 2 levels:
  no   74 rows
  yes  46 rows
which of them is the event? """ in seen
    assert "'Yes' is no level of the outcome 'y'; did you mean 'yes'?" in seen
    assert seen.count("which of them is the event?") == 3
    assert seen.endswith("\ndata.yaml\nrun it: evalpipe run data.yaml\n")
    assert 'event: "yes"' in (folder / "data.yaml").read_text()


def test_one_question_follows_the_other(folder: Path) -> None:
    binary("data.csv", p0=column("half"), p1=column("rest"))
    code, seen = at_terminal(folder, "yes\nrf=p0\n", "init", "data.csv", "-o", "mine.yaml")
    assert code == 0, seen
    assert "  p0  from 0.005 to 0.495\n  p1  from 0.505 to 0.995\n" in seen
    assert "  rf:\n    probability: p0  # your answer" in (folder / "mine.yaml").read_text()


def test_a_kind_that_is_not_evaluated_is_answered_with_the_reason(folder: Path) -> None:
    binary("data.csv", time=column("third"), event=column("event"), p=column("half"))
    code, seen = at_terminal(folder, "survival\nbinary\nyes\n", "init", "data.csv")
    assert code == 0, seen
    assert ("expected 'binary', 'multiclass', 'ordinal', 'regression', 'count' or 'score' as the task, got 'survival'; "
            "times to an event with censored rows are not evaluated") in seen


def test_a_question_of_many_choices_shows_the_first(folder: Path) -> None:
    binary("data.csv", **{f"x{at}": column("half") / (at + 1) for at in range(15)})
    code, seen = at_terminal(folder, "yes\nx3\n", "init", "data.csv")
    assert code == 0, seen
    assert "  x11  from 0.0004167 to 0.04125\n  and 3 more\n" in seen
    assert "  x3:\n    probability: x3  # your answer" in (folder / "data.yaml").read_text()


def test_who_leaves_at_the_question_has_no_spec(folder: Path) -> None:
    binary("data.csv", p=column("half"))
    code, seen = at_terminal(folder, "\x04", "init", "data.csv")
    assert code == 130, seen
    assert not (folder / "data.yaml").exists()


def test_questions_that_nobody_reads_are_not_asked(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    binary("data.csv", p=column("half"))
    own, theirs = pty.openpty()
    terminal = os.fdopen(theirs)
    monkeypatch.setattr("io.TextIOWrapper", lambda _: terminal)  # what the command line's input is made of
    asked = command("init", "data.csv")
    assert terminal.isatty()
    terminal.close()
    os.close(own)
    assert (asked.returncode, asked.stderr.partition(":")[0]) == (2, "error[event-needed]")


def test_the_page_shows_what_is_written(root: Path) -> None:
    from evalpipe.proposal.columns import LOOK

    page = (root / "docs" / "init.md").read_text(encoding="utf-8")
    example = re.search(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert example is not None
    assert (PROPOSED / "semi.yaml").read_text(encoding="utf-8").endswith(f"#\n{HEAD}\n{example[1]}")
    assert ERRORS["an event"][2].replace("'y'", "'churned'") in page
    assert f"first {LOOK:,} rows" in page


HEAD = "# Each comment is the reason for its key: check it, and change what is not so.\n"
