"""What counts as missing: what `init` counts is what a run of its spec uses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from evalpipe.errors import UsageError
from evalpipe.proposal.columns import look_at_datasets
from evalpipe.proposal.propose import Proposal, propose
from evalpipe.proposal.questions import Answers, Question
from evalpipe.proposal.spec_file import spec_text, try_spec
from evalpipe.run import read_all

N = 60
AT = np.arange(N)
P = (AT * 7 % N + 0.5) / N
YES = np.where(AT % 3 == 0, "yes", "no")
GRADES = np.array(["a", "b", "c"])[AT % 3]
GONE = int((AT % 10 == 3).sum())
WORDS = ["NA", "", "N/A", "NULL", "?", "-", "."]


def gaps(values: Sequence[object], word: str) -> list[str]:
    return [word if at % 10 == 3 else str(value) for at, value in enumerate(values)]


def proposed(folder: Path, columns: dict[str, Sequence[object]], **answers: str) -> Proposal | Question:
    path = folder / "d.csv"
    lines = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    path.write_text("\n".join([",".join(columns), *lines, ""]))
    return propose(look_at_datasets([str(path)]), Answers(**answers))  # type: ignore[arg-type]


def used(folder: Path, columns: dict[str, Sequence[object]], **answers: str) -> tuple[Proposal, int]:
    """Return a proposal and the number of rows that a run of its spec uses."""
    proposal = proposed(folder, columns, **answers)
    assert isinstance(proposal, Proposal), proposal
    text = spec_text(proposal, str(folder / "s.yaml"))
    sample, = read_all(try_spec(text, str(folder / "s.yaml")))[0]
    left = proposal.outcome.column.rows - proposal.outcome.column.missing
    assert len(sample.truth) == left - max(look.missing for look in proposal.predicted), text
    return proposal, len(sample.truth)


@pytest.mark.parametrize("word", [*WORDS, "None", "-99", "-999.0"])
def test_a_cell_of_probabilities_that_is_none(word: str, tmp_path: Path) -> None:
    proposal, rows = used(tmp_path, {"y": YES, "p": gaps(P, word)}, event="yes")
    assert [line.key for line in proposal.models[0].lines] == ["probability"]
    assert (rows, proposal.predicted[0].missing) == (N - GONE, GONE)
    assert proposal.predicted[0].nulls == ((word,) if word else ())


def test_numbers_below_zero_are_no_codes_elsewhere(tmp_path: Path) -> None:
    proposal, rows = used(tmp_path, {"y": YES, "score": gaps(P * 9, "-99"), "x": gaps(AT % 2, "-9")}, event="yes")
    assert ({line.key for line in proposal.models[0].lines}, rows) == ({"score"}, N)
    assert not proposal.looked.columns["x"].nulls


@pytest.mark.parametrize("word", ["NULL", "?", "-", "missing", "None"])
def test_a_word_beside_two_levels_is_asked_about(word: str, tmp_path: Path) -> None:
    columns: dict[str, Sequence[object]] = {"y": gaps(YES, word), "p": P}
    question = proposed(tmp_path, columns, event="yes")
    assert isinstance(question, Question)
    assert question.key == "task"
    assert question.choices[0] == ("binary", f"two levels; '{word}' means that the outcome is missing")
    assert {"multiclass", "ordinal"} <= {choice for choice, _ in question.choices}
    proposal, rows = used(tmp_path, columns, event="yes", task="binary")
    assert (rows, proposal.outcome.column.nulls) == (N - GONE, (word,))
    assert proposal.notes == (f"{GONE} rows without a value of 'y' ('{word}'): left out by 'where'",)
    proposal, rows = used(tmp_path, columns | {"pred": gaps(YES[::-1], word)}, task="multiclass")
    assert (rows, len(proposal.levels.levels)) == (N, 3)


@pytest.mark.parametrize("code", ["9", "-99"])
def test_a_code_beside_0_and_1_is_asked_about(code: str, tmp_path: Path) -> None:
    columns: dict[str, Sequence[object]] = {"y": gaps(AT % 2, code), "p": P}
    question = proposed(tmp_path, columns)
    assert isinstance(question, Question)
    assert question.choices[0] == ("binary", f"two levels; '{code}' means that the outcome is missing")
    assert used(tmp_path, columns, event="1", task="binary")[1] == N - GONE


@pytest.mark.parametrize("word", ["NA", "", "N/A"])
def test_a_word_that_is_missing_beside_two_levels(word: str, tmp_path: Path) -> None:
    for values, event in ((YES, "yes"), (AT % 2, "1")):
        proposal, rows = used(tmp_path, {"y": gaps(values, word), "p": P}, event=event)
        assert (proposal.outcome.task, rows) == ("binary", N - GONE)


@pytest.mark.parametrize("word", WORDS)
def test_predicted_classes_that_are_missing(word: str, tmp_path: Path) -> None:
    proposal, rows = used(tmp_path, {"y": YES, "pred": gaps(YES[::-1], word)}, event="yes")
    assert (rows, proposal.predicted[0].nulls) == (N - GONE, (word,) if word else ())
    assert used(tmp_path, {"y": GRADES, "pred": gaps(GRADES[::-1], word)})[1] == N - GONE


@pytest.mark.parametrize("word", ["NA", "NULL", "?"])
def test_a_level_that_may_be_missing_is_noted(word: str, tmp_path: Path) -> None:
    proposal, rows = used(tmp_path, {"y": gaps(GRADES, word), "pred": gaps(GRADES[::-1], word)})
    assert (rows, proposal.levels.levels) == (N, tuple(sorted({*"abc", word})))
    assert proposal.notes == (
        f"'{word}' is a level of 'y', in {GONE} rows: check that it does not mean a missing value",)


def test_a_word_in_files_that_can_declare_none_is_a_level(tmp_path: Path) -> None:
    import polars as pl

    pl.DataFrame({"y": gaps(YES, "NULL"), "p": P}).write_parquet(tmp_path / "d.parquet")
    with pytest.raises(UsageError, match="'y' cannot be of the task binary"):
        propose(look_at_datasets([str(tmp_path / "d.parquet")]), Answers(task="binary"))


@pytest.mark.parametrize("ending", ["parquet", "ndjson"])
def test_a_code_that_no_spec_can_declare_missing_is_said(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"d.{ending}"
    frame = pl.DataFrame({"y": YES, "p": np.where(AT % 10 == 3, -99.0, P)})
    (frame.write_parquet if ending == "parquet" else frame.write_ndjson)(path)
    with pytest.raises(UsageError) as caught:
        propose(look_at_datasets([str(path)]), Answers(event="yes"))
    problem, = caught.value.problems
    assert (problem.message, problem.notes, problem.hint) == (
        "no column of the data is a prediction of 'y' for the event 'yes'",
        (f"p: -99 in {GONE} rows, beside numbers from 0 to 1",),
        "write a missing value as null in the data; if it is a score, name its column, --model NAME=p")
    proposal = propose(look_at_datasets([str(path)]), Answers(event="yes", models=("m=p",)))
    assert isinstance(proposal, Proposal)
    assert [line.key for line in proposal.models[0].lines] == ["score"]


def test_codes_of_several_levels_make_no_scores(tmp_path: Path) -> None:
    levels = {f"p_{level}": np.where(AT % 10 == 3, -99.0, 1 / 3 + 0.01 * at) for at, level in enumerate("abc", -1)}
    pl.DataFrame({"y": GRADES, **levels}).write_parquet(tmp_path / "d.parquet")
    with pytest.raises(UsageError, match="no column of the data is a prediction of 'y'"):
        propose(look_at_datasets([str(tmp_path / "d.parquet")]), Answers())
