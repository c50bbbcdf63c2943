"""The file that a proposal is written to, the questions that are left open, and columns that make a family."""

from __future__ import annotations

import stat
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from evalpipe.errors import UsageError
from evalpipe.proposal.columns import look_at_datasets
from evalpipe.proposal.models import family_of
from evalpipe.proposal.outcome import levels_of_flag
from evalpipe.proposal.propose import open_questions_error, parts_from_first_rows, propose
from evalpipe.proposal.questions import Answers, Question
from evalpipe.proposal.spec_file import refuse_existing, spec_name, target_path, write_spec_file

AT = np.arange(60)
P = (AT * 7 % 60 + 0.5) / 60
YES = np.where(AT % 3 == 0, "yes", "no")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("out", "data", "target"), [
    ("x.yaml", "d.csv", "x.yaml"), (None, "a/d.csv", "d.yaml"), (None, "d.parquet", "d.yaml"),
    (None, "D.CSV", "D.yaml"), (None, "night.2026.csv", "night.yaml"), (None, "my data.csv", "my_data.yaml"),
])
def test_a_spec_is_called_after_its_data(out: str | None, data: str, target: str) -> None:
    assert target_path(out, data) == target
    assert spec_name("-", data) == spec_name(target_path(None, data), "other.csv")


def test_a_file_is_replaced_only_by_force_and_has_the_rights_of_a_new_one() -> None:
    write_spec_file("s.yaml", "one", force=False)
    Path("other").touch()
    assert stat.S_IMODE(Path("s.yaml").stat().st_mode) == stat.S_IMODE(Path("other").stat().st_mode)
    with pytest.raises(UsageError) as caught:
        write_spec_file("s.yaml", "two", force=False)
    assert (caught.value.problems[0].message, caught.value.problems[0].hint) == (
        "'s.yaml' exists, and nothing was written", "name another file with -o, or replace this one with --force")
    assert Path("s.yaml").read_text() == "one"
    write_spec_file("s.yaml", "two\n", force=True)
    assert Path("s.yaml").read_bytes() == b"two\n"
    assert sorted(path.name for path in Path().iterdir()) == ["other", "s.yaml"]


def test_what_is_no_file_to_write_is_refused() -> None:
    refuse_existing("-", force=False)
    Path("-").touch()
    refuse_existing("-", force=False)
    Path("folder").mkdir()
    Path("way").symlink_to("nowhere")
    for target, force, message, hint in (
        ("folder", True, "'folder' is a folder", "name a file, as in -o spec.yaml"),
        ("way", False, "'way' exists, and nothing was written",
         "name another file with -o, or replace this one with --force"),
        ("gone/s.yaml", False, "there is no folder 'gone'", "make it first"),
    ):
        with pytest.raises(UsageError) as caught:
            refuse_existing(target, force=force)
        assert (caught.value.problems[0].message, caught.value.problems[0].hint) == (message, hint)


def open_questions(columns: dict[str, object], **answers: object) -> str:
    """Return what is told where answers leave questions open."""
    pl.DataFrame(columns).write_parquet("data.parquet")
    looked, given = look_at_datasets(["data.parquet"]), Answers(**answers)  # type: ignore[arg-type]
    question = propose(looked, given)
    assert isinstance(question, Question)
    return str(open_questions_error(partial(parts_from_first_rows, looked), given, question))


EVENT = """\
error[event-needed]: the outcome 'y' has 2 levels; which of them is the event?
  = no: 40 rows
  = yes: 20 rows
  = help: add --event no or --event yes"""
MODEL = """\
error[model-needed]: the columns 'p' and 'q' sum to 1: two levels' probabilities of a model; which of them is the \
probability of the event?
  = p: from 0.008333 to 0.9917
  = q: from 0.008333 to 0.9917
  = help: add --model NAME=q"""


def test_all_questions_that_are_open_are_told_at_once() -> None:
    assert open_questions({"y": YES, "p": P}) == EVENT
    both = {"y": YES, "p": P, "q": 1 - P}
    assert open_questions(both, event="yes") == MODEL
    assert open_questions(both) == (
        f"{EVENT}\n\n{MODEL}; all in one line, as in: --event no --model NAME=q")


@pytest.mark.parametrize(("columns", "kind"), [
    ({"p_a": [0.2, 0.5], "p_b": [0.8, 0.5]}, "probabilities"), ({"a": [0.2, 0.5], "b": [0.8, 0.5]}, "probabilities"),
    ({"p_a": [20.0, 50.0], "p_b": [80.0, 50.0]}, "percent"), ({"p_a": [20.0, 50.0], "p_b": [80.0, 40.0]}, "percent"),
    ({"p_a": [20.0, 50.0], "p_b": [80.0, 30.0]}, "scores"),
    ({"p_a": [100.5, 0.5], "p_b": [0.0, 99.0]}, "scores"), ({"p_a": [100.0, 0.5], "p_b": [0.0, 99.5]}, "percent"),
    ({"p_a": [-0.1, 0.5], "p_b": [1.1, 0.5]}, "scores"), ({"p_a": [0.1, 0.5], "p_b": [0.1, 0.5]}, "loose"),
    ({"p_a": [-1.0, 50.0], "p_b": [100.0, 51.0]}, "scores"), ({"score_a": [0.1, 0.5], "score_b": [0.1, 0.5]}, "scores"),
    ({"a": [0.1, 0.5], "b": [0.1, 0.5]}, None), ({"a": [0, 1], "b": [1, 0]}, None),
    ({"p_a": [0, 1], "p_b": [1, 0]}, "probabilities"), ({"a": [0, 2], "b": [2, 0]}, None),
])
def test_columns_of_all_levels_are_a_family_by_their_sums_and_names(
    columns: dict[str, list[float]], kind: str | None
) -> None:
    pl.DataFrame(columns).write_parquet("data.parquet")
    looks = look_at_datasets(["data.parquet"]).columns
    family = family_of(dict(zip("ab", columns, strict=True)), None, looks)
    assert (None if family is None else family.kind) == kind


def test_levels_of_a_flag_are_found_by_their_value_and_are_all_there_once() -> None:
    pl.DataFrame({"y": AT % 3}).write_parquet("data.parquet")
    look = look_at_datasets(["data.parquet"]).columns["y"]
    assert levels_of_flag("--levels", "2.0, 1,0.0", look) == ("2", "1", "0")
    for text, message in (("2,1", "--levels lacks '0'"), ("2,1,0,1", "--levels names a level twice"),
                          ("2,1,0,x", "--levels names 'x', which the data do not have")):
        with pytest.raises(UsageError, match=f"{message}\\n"):
            levels_of_flag("--levels", text, look)
