"""Which columns become what: by values and names together; where these leave it open, a question."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from evalpipe.errors import UsageError
from evalpipe.proposal.columns import look_at_datasets
from evalpipe.proposal.names import like_id, like_outcome, like_prediction, mentions, model_name, words
from evalpipe.proposal.propose import Proposal, propose
from evalpipe.proposal.questions import Answers, Question
from evalpipe.proposal.spec_file import spec_text, try_spec

N = 60
AT = np.arange(N)
P = (AT * 7 % N + 0.5) / N
YES = np.where(AT % 3 == 0, "yes", "no")
GRADE = np.array(["low", "mid", "high"])[AT % 3]
THIRDS = {"low": P / 2, "mid": P / 2, "high": 1 - P}


def proposed(folder: Path, columns: dict[str, object], **answers: object) -> Proposal | Question:
    path = folder / "data.parquet"
    pl.DataFrame(columns).write_parquet(path)
    proposal = propose(look_at_datasets([str(path)]), Answers(**answers))  # type: ignore[arg-type]
    if isinstance(proposal, Proposal):
        try_spec(spec_text(proposal, str(folder / "spec.yaml")), str(folder / "spec.yaml"))
    return proposal


CASES: dict[str, tuple[dict[str, object], dict[str, object], dict[str, dict[str, object]]]] = {
    "a probability by its name": ({"y": YES, "x": P, "prob_rf": P}, {}, {"rf": {"probability": "prob_rf"}}),
    "two models": ({"y": YES, "rf_prob": P, "logistic_regression": P**2}, {},
                   {"rf": {"probability": "rf_prob"}, "logistic_regression": {"probability": "logistic_regression"}}),
    "the only one from 0 to 1": ({"y": YES, "a": P, "age": AT}, {}, {"a": {"probability": "a"}}),
    "named after levels": ({"y": YES, "rf_no": 1 - P, "rf_yes": P}, {}, {"rf": {"probability": "rf_yes"}}),
    "named after levels alone": ({"y": YES, "no": 1 - P, "yes": P}, {}, {"model": {"probability": "yes"}}),
    "in other letters": ({"y": YES, "P(No)": 1 - P, "P(Yes)": P}, {}, {"model": {"probability": "P(Yes)"}}),
    "named after numbers": ({"y": AT % 2, "p_0": 1 - P, "p_1": P}, {"event": "1"}, {"model": {"probability": "p_1"}}),
    "with predicted classes": ({"y": YES, ".pred_yes": P, ".pred_class": YES[::-1]}, {},
                               {"model": {"probability": ".pred_yes", "prediction": ".pred_class"}}),
    "classes by model": ({"y": YES, "rf_prob": P, "nb_prob": P, "nb_pred": YES[::-1]}, {},
                         {"rf": {"probability": "rf_prob"}, "nb": {"probability": "nb_prob", "prediction": "nb_pred"}}),
    "classes alone": ({"y": YES, "pred": YES[::-1], "gbm_pred": YES}, {},
                      {"model": {"prediction": "pred"}, "gbm": {"prediction": "gbm_pred"}}),
    "percents": ({"y": YES, "risk": (P * 100).round()}, {}, {"model": {"probability": "risk", "scale": "percent"}}),
    "percents of both levels": ({"y": YES, "pct_no": 100 - P * 100, "pct_yes": P * 100}, {},
                                {"model": {"probability": "pct_yes", "scale": "percent"}}),
    "few percents by name": ({"y": YES, "risk_pct": P * 9}, {},
                             {"model": {"probability": "risk_pct", "scale": "percent"}}),
    "percents with signs": ({"y": YES, "risk": [f"{p:.1%}" for p in P], "prob_rf": P}, {},
                            {"model": {"probability": "risk", "scale": "percent"}, "rf": {"probability": "prob_rf"}}),
    "percents of all levels": (
        {"y": GRADE, **{f"p_{level}": p * 100 for level, p in THIRDS.items()}}, {"event": None},
        {"model": {"probabilities": "p_{level}", "scale": "percent"}}),
    "percents of all levels with signs": (
        {"y": GRADE, **{f"p_{level}": [f"{part:.2%}" for part in p] for level, p in
                        {"low": np.full(N, 0.25), "mid": np.full(N, 0.5), "high": np.full(N, 0.25)}.items()}},
        {"event": None}, {"model": {"probabilities": "p_{level}", "scale": "percent"}}),
    "numbers that may be anything": ({"y": YES, "risk": P * 9}, {}, {"model": {"score": "risk"}}),
    "a score": ({"y": YES, "logit": P * 8 - 4}, {}, {"model": {"score": "logit"}}),
    "flags": ({"y": YES, "a": P, "b": P * 9 - 4, "c": YES}, {"models": ("m=a", "m=c", "n=b")},
              {"m": {"probability": "a", "prediction": "c"}, "n": {"score": "b"}}),
    "a pattern": ({"y": GRADE, **{f".pred_{level}": p for level, p in THIRDS.items()}}, {"event": None},
                  {"model": {"probabilities": ".pred_{level}"}}),
    "a mapping": ({"y": GRADE, **{f"p_{level.upper()}": p for level, p in THIRDS.items()}}, {"event": None},
                  {"model": {"probabilities": {"high": "p_HIGH", "low": "p_LOW", "mid": "p_MID"}}}),
    "two sets": ({"y": GRADE, **{f"{model}_{level}": p for model in ("rf", "nb") for level, p in THIRDS.items()}},
                 {"event": None}, {"rf": {"probabilities": "rf_{level}"}, "nb": {"probabilities": "nb_{level}"}}),
    "sums that are not 1": ({"y": GRADE, **{f"p_{level}": p * 0.8 for level, p in THIRDS.items()}}, {"event": None},
                            {"model": {"probabilities": "p_{level}", "renormalise": True}}),
    "scores of levels": ({"y": GRADE, **{f"logit_{level}": p * 9 - 4 for level, p in THIRDS.items()}}, {"event": None},
                         {"model": {"scores": "logit_{level}"}}),
    "scores of levels above 1": ({"y": GRADE, **{f"pred_{level}": p * 9 for level, p in THIRDS.items()}},
                                 {"event": None}, {"model": {"scores": "pred_{level}"}}),
    "scores of levels below 0": ({"y": GRADE, **{f"pred_{level}": p - 0.5 for level, p in THIRDS.items()}},
                                 {"event": None}, {"model": {"scores": "pred_{level}"}}),
    "scores of levels by name": ({"y": GRADE, **{f"score_{level}": p * 0.8 for level, p in THIRDS.items()}},
                                 {"event": None}, {"model": {"scores": "score_{level}"}}),
    "in order": ({"y": GRADE, "pred": GRADE[::-1]}, {"event": None, "task": "ordinal", "levels": "low, mid,high"},
                 {"model": {"prediction": "pred"}}),
    "a pattern by flag": ({"y": GRADE, **{f"{level}!": p for level, p in THIRDS.items()}},
                          {"event": None, "models": ("m={level}!",)}, {"m": {"probabilities": "{level}!"}}),
    "a number": ({"y": P * 9, "fitted": P * 8, "loo": P * 7, "x": P}, {"event": None},
                 {"model": {"prediction": "fitted", "loo_prediction": "loo"}}),
    "the only other number": ({"y": P * 9, "z": P * 8}, {"event": None}, {"z": {"prediction": "z"}}),
    "a count": ({"y": AT % 7, "expected": P + 1, "exposure": P}, {"event": None, "task": "count"},
                {"model": {"prediction": "expected"}}),
    "a number by flag": ({"y": P * 9, "a": P, "b": P}, {"event": None, "models": ("b",)}, {"b": {"prediction": "b"}}),
}


@pytest.mark.parametrize("case", CASES)
def test_models_are_proposed(case: str, tmp_path: Path) -> None:
    columns, answers, models = CASES[case]
    proposal = proposed(tmp_path, columns, **{"event": "yes", **answers})
    assert isinstance(proposal, Proposal), proposal
    assert {model.name: {line.key: line.value for line in model.lines} for model in proposal.models} == models


QUESTIONS: dict[str, tuple[dict[str, object], dict[str, object], str, list[str]]] = {
    "two outcomes": ({"truth": YES, "target": AT % 2, "p": P}, {}, "outcome", ["truth", "target"]),
    "no outcome by name": ({"a": YES, "b": AT % 2, "p": P}, {}, "outcome", ["a", "b"]),
    "an event": ({"y": YES, "p": P}, {}, "event", ["no", "yes"]),
    "a kind": ({"y": AT, "pred": P}, {}, "task", ["count", "regression"]),
    "an order": ({"y": GRADE, "pred": GRADE}, {"task": "ordinal"}, "levels", ["high", "low", "mid"]),
    "columns from 0 to 1": ({"y": YES, "a": P, "b": P**2}, {"event": "yes"}, "model", ["a", "b"]),
    "two that sum to 1": ({"y": YES, "p0": 1 - P, "p1": P}, {"event": "yes"}, "model", ["p0", "p1"]),
    "numbers": ({"y": P * 9, "a": P, "b": P}, {}, "model", ["a", "b"]),
    "very many": ({"y": YES, **{f"pred_{at}": P ** (at + 1) for at in range(20)}}, {"event": "yes"}, "model",
                  [f"pred_{at}" for at in range(20)]),
}


@pytest.mark.parametrize("case", QUESTIONS)
def test_what_is_open_is_asked(case: str, tmp_path: Path) -> None:
    columns, answers, key, choices = QUESTIONS[case]
    question = proposed(tmp_path, columns, **answers)
    assert isinstance(question, Question)
    assert (question.key, [choice for choice, _ in question.choices]) == (key, choices)
    assert question.problem().code == f"{key}-needed"


def test_the_event_says_which_column_is_the_outcome(tmp_path: Path) -> None:
    proposal = proposed(tmp_path, {"sex": np.where(AT % 2, "f", "m"), "died": YES, "p": P}, event="yes")
    assert isinstance(proposal, Proposal)
    assert proposal.outcome.column.name == "died"


def test_a_column_that_is_lower_where_the_event_occurred_is_noted(tmp_path: Path) -> None:
    proposal = proposed(tmp_path, {"y": YES, "p": np.where(YES == "yes", P / 2, (1 + P) / 2)}, event="yes")
    assert isinstance(proposal, Proposal)
    assert proposal.notes == (
        "'p' is lower where 'yes' occurred, 0.242 against 0.754 on average: check that it is about this event",)


def test_words_in_names() -> None:
    assert words("predProb_RFModel.2") == ["pred", "prob", "rf", "model", "2"]
    assert [name for name in ("y", "y_true", "Actual Class", "truth", "pred_class", "age", "class_weight", "value")
            if like_outcome(name)] == ["y", "y_true", "Actual Class", "truth"]
    assert [name for name in ("p", "p1", ".pred_yes", "price", "yhat", "rf", "person", "Risk RF") if
            like_prediction(name)] == ["p", "p1", ".pred_yes", "yhat", "rf", "Risk RF"]
    assert [name for name in ("id", "PatientID", "row_id", "valid", "index", "row", "number of rooms", "") if
            like_id(name)] == ["id", "PatientID", "row_id", "index", "row"]
    assert mentions("prob_very_high", "very high")
    assert not mentions("notes", "no")


@pytest.mark.parametrize(("column", "level", "name"), [
    (".pred_yes", "yes", ""), ("prob_rf", "yes", "rf"), ("rf_prob_yes", "yes", "rf"), ("p", "yes", ""),
    ("Risk RF", "ja", "RF"), ("random_forest", "1", "random_forest"), ("xgb.prob.very high", "very high", "xgb"),
])
def test_a_model_is_called_after_its_column(column: str, level: str, name: str) -> None:
    assert model_name(column, level) == name


def test_columns_that_flags_name_are_keys_of_the_spec(tmp_path: Path) -> None:
    columns = {"y": AT % 7, "expected": P + 1, "hours": P, "times": P + 2, "group": AT // 3}
    answers = {"task": "count", "exposure": "hours", "weight": "times", "cluster": "group"}
    proposal = proposed(tmp_path, columns, **answers)
    assert isinstance(proposal, Proposal)
    lines = spec_text(proposal, str(tmp_path / "spec.yaml")).splitlines()
    assert [" ".join(line.split()) for line in lines if "# your answer" in line][1:] == [
        "cluster: group # your answer", "weight: times # your answer", "exposure: hours # your answer"]
    assert [model.columns for model in proposal.models] == [("expected",)]


@pytest.mark.parametrize(("answers", "message"), [
    ({"exposure": "x"}, "--exposure is for the task count, not for an outcome of the task regression"),
    ({"weight": "z"}, "--weight names the column 'z', which the data do not have"),
    ({"weight": "t"}, "--weight names the column 't', which holds no numbers"),
])
def test_columns_that_cannot_be_what_a_flag_says(answers: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        proposed(tmp_path, {"y": P * 9, "pred": P * 8, "x": P, "t": YES}, **answers)
