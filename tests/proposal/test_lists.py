"""Columns of lists: models whose order of levels is asked for, and lists that are no predictions."""

from __future__ import annotations

import json
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
GRADE = np.array(["low", "mid", "high"])[AT % 3]
YES = np.where(AT % 3 == 0, "yes", "no")
THREE = np.stack([P / 2, P / 4, 1 - P * 0.75], axis=1)
TWO = np.stack([P, 1 - P], axis=1)
FORMATS = ["parquet", "feather", "ndjson", "csv", "tsv"]


def proposed(
    folder: Path, columns: dict[str, object], ending: str = "parquet", limit: int = 20_000, **answers: object
) -> Proposal | Question:
    path = folder / f"data.{ending}"
    frame = pl.DataFrame({name: value.tolist() if isinstance(value, np.ndarray) and value.ndim == 2 else value
                          for name, value in columns.items()})
    if ending in ("csv", "tsv"):
        texts = [pl.Series(name, [None if row is None else json.dumps(list(row)) for row in frame[name]])
                 for name in frame.columns if frame[name].dtype.is_nested()]
        frame.with_columns(texts).write_csv(path, separator="," if ending == "csv" else "\t")
    else:
        {"parquet": frame.write_parquet, "feather": frame.write_ipc, "ndjson": frame.write_ndjson}[ending](path)
    return propose(look_at_datasets([str(path)], limit), Answers(**answers))  # type: ignore[arg-type]


def run(folder: Path, proposal: Proposal | Question) -> str:
    """Return the text of a spec whose data can be read."""
    assert isinstance(proposal, Proposal), proposal
    text = spec_text(proposal, str(folder / "spec.yaml"))
    read_all(try_spec(text, str(folder / "spec.yaml")))
    return text


def keys(proposal: Proposal | Question) -> dict[str, dict[str, object]]:
    assert isinstance(proposal, Proposal), proposal
    return {model.name: {line.key: line.value for line in model.lines} for model in proposal.models}


@pytest.mark.parametrize("ending", FORMATS)
def test_lists_of_probabilities_ask_for_the_order_of_the_levels(ending: str, tmp_path: Path) -> None:
    columns = {"y": GRADE, "softmax": THREE}
    question = proposed(tmp_path, columns, ending)
    assert isinstance(question, Question)
    assert question.problem().message == ("'softmax' holds lists of 3 numbers, one for each level; "
                                          "in which order do they hold the levels?")
    assert question.problem().hint == "add --order 'FIRST,…,LAST'"
    assert [choice for choice, _ in question.choices] == ["high", "low", "mid"]
    proposal = proposed(tmp_path, columns, ending, limit=20, order="low,mid,high")
    assert keys(proposal) == {"softmax": {"probabilities": "softmax", "order": ("low", "mid", "high")}}
    text = run(tmp_path, proposal)
    assert "    order: [low, mid, high]" in text
    assert "threshold" not in text


LISTS: dict[str, tuple[dict[str, object], dict[str, object], dict[str, dict[str, object]]]] = {
    "a binary outcome": ({"y": YES, "proba": TWO, "age": P}, {"event": "yes", "order": "no,yes"},
                         {"model": {"probabilities": "proba", "order": ("no", "yes")}}),
    "two models": ({"y": GRADE, "cnn_probs": THREE, "mlp_probs": THREE[::-1]}, {"order": "low,mid,high"}, {
        "cnn": {"probabilities": "cnn_probs", "order": ("low", "mid", "high")},
        "mlp": {"probabilities": "mlp_probs", "order": ("low", "mid", "high")}}),
    "one of two by flag": ({"y": GRADE, "cnn_probs": THREE, "mlp_probs": THREE[::-1]},
                           {"order": "low,mid,high", "models": ("net=mlp_probs",)},
                           {"net": {"probabilities": "mlp_probs", "order": ("low", "mid", "high")}}),
    "raw scores": ({"y": GRADE, "logits": THREE * 9 - 4}, {"order": "mid,low,high"},
                   {"model": {"scores": "logits", "order": ("mid", "low", "high")}}),
    "sums that are not 1": ({"y": GRADE, "probs": THREE * 0.8}, {"order": "low,mid,high"}, {
        "model": {"probabilities": "probs", "renormalise": True, "order": ("low", "mid", "high")}}),
    "percents": ({"y": GRADE, "probs": THREE * 100}, {"order": "low,mid,high"}, {
        "model": {"probabilities": "probs", "scale": "percent", "order": ("low", "mid", "high")}}),
    "with predicted classes": ({"y": GRADE, "probs": THREE, "pred": GRADE[::-1]}, {"order": "low,mid,high"}, {
        "model": {"probabilities": "probs", "order": ("low", "mid", "high"), "prediction": "pred"}}),
    "an order of grades": ({"y": GRADE, "probs": THREE},
                           {"task": "ordinal", "levels": "low,mid,high", "order": "high,low,mid"},
                           {"model": {"probabilities": "probs", "order": ("high", "low", "mid")}}),
    "an array": ({"y": GRADE, "probs": pl.Series(THREE, dtype=pl.Array(pl.Float64, 3))}, {"order": "low,mid,high"},
                 {"model": {"probabilities": "probs", "order": ("low", "mid", "high")}}),
    "by flag alone": ({"y": GRADE, "v": THREE * 9 - 4}, {"order": "low,mid,high", "models": ("v",)},
                      {"v": {"scores": "v", "order": ("low", "mid", "high")}}),
}


@pytest.mark.parametrize("case", LISTS)
def test_models_of_lists_are_proposed(case: str, tmp_path: Path) -> None:
    columns, answers, models = LISTS[case]
    proposal = proposed(tmp_path, columns, **answers)
    assert keys(proposal) == models
    run(tmp_path, proposal)


def test_a_binary_outcome_of_lists_has_a_threshold(tmp_path: Path) -> None:
    columns, answers, _ = LISTS["a binary outcome"]
    assert "threshold: 0.5" in run(tmp_path, proposed(tmp_path, columns, **answers))


@pytest.mark.parametrize("ending", FORMATS)
def test_rows_without_a_list_are_no_complete_cases(ending: str, tmp_path: Path) -> None:
    lists = [None if at == 7 else row for at, row in enumerate(THREE.tolist())]
    proposal = proposed(tmp_path, {"y": GRADE, "probs": lists}, ending, order="low,mid,high")
    assert "complete_case: all  # 1 row without probs" in run(tmp_path, proposal)


REFUSED: dict[str, tuple[dict[str, object], dict[str, object], str, tuple[str, ...]]] = {
    "another length": ({"y": GRADE, "probs": TWO}, {}, "no column of the data is a prediction of 'y'",
                       ("probs: lists of 2 numbers, but the outcome has 3 levels",)),
    "two lengths": ({"y": GRADE, "probs": [[0.5] * (2 + at % 2) for at in AT]}, {},
                    "no column of the data is a prediction of 'y'",
                    ("probs: lists of 2 to 3 numbers, but the outcome has 3 levels",)),
    "an embedding": ({"y": GRADE, "v": THREE * 9 - 4}, {}, "no column of the data is a prediction of 'y'",
                     ("v: lists of 3 numbers, which do not sum to 1",)),
    "arrays as numpy prints them": (
        {"y": GRADE, "probs": [str(row) for row in THREE]}, {}, "no column of the data is a prediction of 'y'",
        ("probs: arrays as numpy prints them; write lists with commas, as [0.7, 0.2, 0.1]",)),
    "another length by flag": (
        {"y": GRADE, "probs": TWO}, {"models": ("m=probs",)},
        "the column 'probs' holds no predictions of 'y': lists of 2 numbers, but the outcome has 3 levels", ()),
    "an order that lacks a level": ({"y": GRADE, "probs": THREE}, {"order": "low,mid"}, "--order lacks 'high'", ()),
    "an order without lists": (
        {"y": GRADE, "pred": GRADE}, {"order": "low,mid,high"},
        "--order is for columns of lists with a number for each level, which the data do not have", ()),
    "an order of numbers": (
        {"y": P * 9, "pred": P}, {"order": "a"},
        "--order is for lists with a number for each level, not for an outcome of the task regression", ()),
}


@pytest.mark.parametrize("case", REFUSED)
def test_lists_that_are_no_predictions(case: str, tmp_path: Path) -> None:
    columns, answers, message, notes = REFUSED[case]
    with pytest.raises(UsageError) as caught:
        proposed(tmp_path, columns, **answers)
    problem, = caught.value.problems
    assert (problem.message, problem.notes) == (message, notes)


def test_an_order_that_the_outcomes_contradict_is_noted(tmp_path: Path) -> None:
    good = 0.2 + 0.4 * (np.array(["low", "mid", "high"])[None, :] == GRADE[:, None])
    right = proposed(tmp_path, {"y": GRADE, "probs": good}, order="low,mid,high")
    assert isinstance(right, Proposal)
    assert right.notes == ()
    wrong = proposed(tmp_path, {"y": GRADE, "probs": good}, order="mid,low,high")
    assert isinstance(wrong, Proposal)
    note, = wrong.notes
    assert note == (
        "the numbers of 'probs' are lower for 'mid' and 'low' where that is the outcome: check the order of the levels")
