"""Of several outcomes one is proposed, with its own predictions; what is not certain is asked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from evalpipe.errors import UsageError
from evalpipe.proposal.columns import look_at_datasets
from evalpipe.proposal.propose import Proposal, propose
from evalpipe.proposal.questions import Answers, Question

N = 60
AT = np.arange(N)
P = (AT * 7 % N + 0.5) / N
LABELS = {"label_a": AT % 2, "label_b": AT % 3 // 2, "label_c": AT % 5 // 4}
PROBABILITIES = {f"prob_{name}": P ** power for name, power in (("a", 1), ("b", 2), ("c", 3))}


def proposed(folder: Path, columns: dict[str, object], **answers: str) -> Proposal | Question:
    pl.DataFrame(columns).write_parquet(folder / "data.parquet")
    return propose(look_at_datasets([str(folder / "data.parquet")]), Answers(**answers))  # type: ignore[arg-type]


def models(proposal: Proposal | Question) -> dict[str, list[str]]:
    assert isinstance(proposal, Proposal), proposal
    return {model.name: list(model.columns) for model in proposal.models}


def test_which_of_several_labels_is_asked(tmp_path: Path) -> None:
    question = proposed(tmp_path, {**LABELS, **PROBABILITIES})
    assert isinstance(question, Question)
    assert question.known == "each of 3 columns has predictions of its own: write a spec for each"
    assert [choice for choice, _ in question.choices] == list(LABELS)


def test_a_label_has_its_own_predictions_alone_and_the_commands_for_the_others(tmp_path: Path) -> None:
    proposal = proposed(tmp_path, {**LABELS, **PROBABILITIES, "rf_b": P, "note": ["x"] * N}, outcome="label_b",
                        event="1")
    assert models(proposal) == {"b": ["prob_b"], "rf_b": ["rf_b"]}
    assert isinstance(proposal, Proposal)
    path = tmp_path / "data.parquet"
    assert proposal.notes == tuple(
        f"'label_{name}' has predictions of its own; a spec for it: evalpipe init {path} --outcome label_{name} "
        f"--event 1 -o label_{name}.yaml" for name in "ac")
    assert "2 columns (named after 'label_a', another outcome)" not in proposal.others.left_out
    assert "1 column (named after 'label_a', another outcome): prob_a" in proposal.others.left_out


def test_a_label_without_predictions_is_told_whose_they_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        proposed(tmp_path, {**LABELS, "prob_a": P}, outcome="label_b", event="1")
    assert "  = prob_a: named after 'label_a', another outcome\n" in str(caught.value)


def test_columns_that_are_named_after_levels_are_of_that_outcome(tmp_path: Path) -> None:
    animals = np.array(["cat", "dog", "fox"])[AT % 3]
    dummies = {name: (animals == name).astype(int) for name in ("cat", "dog", "fox")}
    thirds = {"prob_cat": P / 2, "prob_dog": P / 2, "prob_fox": 1 - P}
    assert models(proposed(tmp_path, {"label": animals, **dummies, **thirds})) == {"model": list(thirds)}


@pytest.mark.parametrize(("columns", "outcome", "reason"), [
    ({"price": P * 90, "size": P * 80, "price_rf": P * 70}, "price", "predictions are named after it"),
    ({"converted": AT % 2, "new": AT % 3 // 2, "prob_converted": P}, "converted", "predictions are named after it"),
    ({"category": ["a", "b", "c"] * 20, "size": P, "pred": ["b", "a", "c"] * 20}, "category",
     "predicted classes have its levels"),
])
def test_what_predictions_say_of_the_outcome(
    columns: dict[str, object], outcome: str, reason: str, tmp_path: Path
) -> None:
    proposal = proposed(tmp_path, columns, **({"event": "1"} if outcome == "converted" else {}))
    assert isinstance(proposal, Proposal), proposal
    assert (proposal.outcome.column.name, proposal.outcome.reason) == (outcome, reason)


@pytest.mark.parametrize(("columns", "choices"), [
    ({"category": ["a", "b"] * 30, "p": P}, ["category"]),
    ({"category": ["a", "b"] * 30, "amount": P * 90, "p": P}, ["category", "amount"]),
    ({"category": ["a", "b", "c"] * 20, "pred": P * 90}, ["category"]),
    ({"category": ["a", "b", "c"] * 20, "amount": P * 90, "weight": P + 1, "pred": P * 90}, ["category", "amount"]),
])
def test_a_column_that_nothing_calls_the_outcome_is_asked_about(
    columns: dict[str, object], choices: list[str], tmp_path: Path
) -> None:
    question = proposed(tmp_path, columns)
    assert isinstance(question, Question)
    assert (question.key, [choice for choice, _ in question.choices]) == ("outcome", choices)
