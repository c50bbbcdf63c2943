"""Every error of `evaluate` is in the words of its arguments: its caller has written no spec and has no files."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import evalpipe
from evalpipe import arrays
from evalpipe.arrays import PHRASES
from evalpipe.errors import EvalpipeError, Problem, UsageError

RANDOM = np.random.default_rng(4)
N = 60
Y = np.tile([1, 0, 1, 0, 0], 12)
P = np.clip(Y * 0.4 + RANDOM.random(N) * 0.5, 0.01, 0.99)
X = RANDOM.normal(size=N)
K = np.tile([0, 1, 2], 20)
TABLE = RANDOM.dirichlet([1, 1, 1], N)
NAN = np.where(np.arange(N) < 2, np.nan, 1.0)
SPEC_ONLY = re.compile(
    r"outcome\.|models\.|weight\.|'where'|where:|the spec|'scores'|renormalise|role:|column '|dataset '|memory|"
    r"rows left|\bkind:|'task:|under '|polars|Series|'name'|file")
"""What only a spec, its files or the library beneath has."""


def several(**given: Any) -> dict[str, Any]:
    return {"truth": K, "task": "multiclass", "levels": [0, 1, 2], "probabilities": TABLE} | given


def number(**given: Any) -> dict[str, Any]:
    return {"truth": X, "task": "regression", "event": None, "probability": None, "prediction": X} | given


CASES: dict[str, dict[str, Any]] = {
    "no event": {"event": None}, "event absent": {"truth": np.where(Y, "yes", "no"), "event": "Yes"},
    "event of three": {"truth": K + 3}, "event undeclared": {"event": 2, "levels": [0, 1]},
    "event of numbers": number(event=1), "event of levels": several(event=1),
    "levels of numbers": number(levels=[1, 2]),
    "no levels": several(levels=None, probabilities=None, prediction=K), "three levels": {"levels": [0, 1, 2]},
    "level twice": {"levels": [1, 1]}, "level undeclared": several(truth=K + 1, prediction=K, probabilities=None),
    "written twice": {"truth": np.where(np.arange(N) == 0, "1.0", Y.astype(str))},
    "truth nan": {"truth": NAN}, "truth of three": {"truth": K}, "truth none": {"truth": [None, *Y[1:].tolist()]},
    "truth numbers": number(truth=NAN), "truth infinite": number(truth=np.where(NAN == 1, 1, np.inf)),
    "count negative": number(task="count", truth=K, prediction=X), "count broken": number(task="count", prediction=P),
    "probability nan": {"probability": P * NAN}, "per cents": {"probability": P * 100}, "log odds": {"probability": X},
    "two models": {"probability": {"a": P, "b": P * NAN}}, "probability text": {"probability": P.astype(str)},
    "log odds of levels": several(probabilities=TABLE * 3 - 1), "sums": several(probabilities=TABLE * 0.9),
    "sums of a model": several(probabilities={"a": TABLE * 0.9}),
    "probability of levels": several(probabilities=None, probability=P), "prediction": {"prediction": Y + 3},
    "probability of numbers": number(probability=P, prediction=None), "left out alone": number(
        prediction=None, loo_prediction=X), "prediction infinite": number(prediction=np.where(NAN == 1, 1, np.inf)),
    "score nan": {"probability": None, "score": NAN}, "two scores": {"score": X},
    "scale": {"probability": None, "score": X, "scale": "logits"},
    "weight negative": {"weight": X}, "weight zero": {"weight": X * 0}, "weight nan": {"weight": NAN},
    "weight text": {"weight": ["a"] * N}, "weight broken": {"weight": P, "weight_kind": "frequency"},
    "weight kind": {"weight": P, "weight_kind": "freq"}, "cluster": {"cluster": [None] * N},
    "cluster stratified": {"cluster": K, "intervals": {"stratify": True}}, "seed": {"seed": -1},
    "metric": {"metrics": ["roc_acu"]}, "metric text": {"metrics": "brier"}, "prevalence": {"metrics": ["ppv"]},
    "needs probabilities": {"probability": None, "prediction": Y, "metrics": ["brier"]},
    "needs classes": {"probability": None, "score": X, "metrics": ["f1"]},
    "needs left out": number(metrics=["press"]), "costs": {"metrics": ["cost"], "levels": [0, 1]},
    "costs without levels": {"costs": [{"truth": 1, "predicted": 0, "cost": 2}]},
    "rule": {"threshold": {"maximize": "j_index", "on": "calibration"}}, "threshold": {"threshold": 50},
    "bayes": {"threshold": {"bayes": "costs"}}, "baseline": {"compare": {"baseline": "b"}},
    "gate": {"gates": [{"metric": "brier", "max_increase": 0.1, "against": "baseline"}]},
    "gate in slices": {"gates": [{"metric": "brier", "max": 0.1, "slices": "all"}]},
    "characteristic": {"desirability": [{"characteristic": "size", "minimize": {"low": 0, "high": 1}}]},
    "task": {"task": "binry"}, "nothing": {"probability": None}, "empty": {"truth": [], "probability": []},
    "levels text": {"levels": "01"}, "lengths": {"probability": P[1:]}, "number": {"weight": 2},
    "a table": {"probability": TABLE}, "a list of rows": {"probability": np.column_stack([1 - P, P]).tolist()},
    "a table of one": {"probability": P[:, None]}, "one-hot": {"truth": TABLE}, "a box": {"weight": np.ones((N, 2, 2))},
    "no levels of a table": several(levels=None), "other levels": several(levels=[0, 1]),
    "rate alone": number(task="count", truth=K, prediction=None, rate=P),
    "a table of a model": {"probability": {"forest": TABLE[:, :2]}},
    "scale alone": {"scale": "logit"}, "kind alone": {"weight_kind": "frequency"},
    "threshold of classes": {"probability": None, "prediction": {"a": Y, "b": 1 - Y}, "threshold": 0.3},
    "three alone": {"probability": None, "prediction": Y, "threshold": 0, "scale": "logit", "weight_kind": "frequency"},
}  # fmt: skip


def call(case: str) -> dict[str, Any]:
    given = CASES[case]
    start = {} if "task" in given and given["task"] == "multiclass" else {"event": 1, "probability": P}
    return {"truth": Y, "intervals": {"method": "none"}} | start | given


def problem(case: str) -> EvalpipeError:
    given = {key: value for key, value in call(case).items() if value is not None}
    with pytest.raises(EvalpipeError) as caught:
        evalpipe.evaluate(**given)
    return caught.value


@pytest.mark.parametrize("case", CASES)
def test_errors_name_arguments_alone(case: str) -> None:
    said = str(problem(case))
    assert SPEC_ONLY.search(said) is None, said
    assert "-->" not in said


def test_no_phrase_is_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    raw: list[str] = []
    translate: Callable[..., Problem] = arrays._in_arguments

    def spy(problem: Problem, arguments: dict[str, str]) -> Problem:
        message = re.sub(r"^[a-z_]+[\w.\[\]]*: ", "", problem.message)
        raw.extend((problem.message, message, problem.hint or "", *problem.notes))
        return translate(problem, arguments)

    monkeypatch.setattr(arrays, "_in_arguments", spy)
    for case in CASES:
        problem(case)
    assert [pattern for pattern in PHRASES if not any(re.search(pattern, text) for text in raw)] == []


@pytest.mark.parametrize(("case", "said"), [
    ("a list of rows", """\
error[not-a-column]: 'probability' is of shape [60, 2], not [n]
  = help: give the event's column alone: predict_proba(X)[:, 1] where the event is the second of the model's \
classes_"""),
    ("a table of a model", """\
error[not-a-column]: probability['forest'] is of shape [60, 2], not [n]
  = help: give the event's column alone: predict_proba(X)[:, 1] where the event is the second of the model's \
classes_"""),
    ("a table", """\
error[not-a-column]: 'probability' is of shape [60, 3], not [n]
  = help: give the event's column alone: predict_proba(X)[:, 1] where the event is the second of the model's classes_; \
of more than two levels, give probabilities=… with levels=[…] in the order of the columns"""),
    ("a table of one", """\
error[not-a-column]: 'probability' is of shape [60, 1], not [n]
  = help: give its only column: array[:, 0]"""),
    ("no event", """\
error[missing-key]: missing argument 'event'
  = event: the level that counts as the event
  = help: give event=…"""),
    ("truth nan", """\
error[missing-truth]: 2 rows have no value in 'truth'
  |
  | row 1: NaN
  | row 2: NaN
  = argument truth
  = help: fill them, or leave such rows out of every array"""),
    ("two models", """\
error[missing-probability]: 2 rows have no probability in probability['b']
  |
  | row 1: NaN
  | row 2: NaN
  = argument probability['b']
  = help: fill them, or leave such rows out for every model with complete_case='all'"""),
    ("scale alone", """\
error[unused-scale]: 'scale' has no effect: there is no 'score'
  = help: give the scores as score=…, or remove it"""),
    ("kind alone", """\
error[unused-weight-kind]: 'weight_kind' has no effect: there is no 'weight'
  = help: give weight=…, or remove it"""),
    ("threshold of classes", """\
error[unused-threshold]: 'threshold' has no effect: 'prediction' gives the predicted classes
  = help: remove one of the two"""),
    ("three alone", """\
error[unused-scale]: 'scale' has no effect: there is no 'score'
  = help: give the scores as score=…, or remove it

error[unused-weight-kind]: 'weight_kind' has no effect: there is no 'weight'
  = help: give weight=…, or remove it

error[unused-threshold]: 'threshold' has no effect: 'prediction' gives the predicted classes
  = help: remove one of the two"""),
    ("number", """\
error[not-a-column]: 'weight' is not an array of values: it is of type int
  = help: give one value a row, in an array of shape [n]"""),
])
def test_messages_are_these(case: str, said: str) -> None:
    assert str(problem(case)) == said


@pytest.mark.parametrize("given", [
    {"prediction": {"b": Y}, "threshold": 0.3}, {"score": {"b": X}, "scale": "logit"},
    {"weight": K + 1, "weight_kind": "frequency"},
])
def test_what_serves_one_model_is_no_fault(given: dict[str, Any]) -> None:
    results = evalpipe.evaluate(Y, {"a": P}, event=1, intervals={"method": "none"}, **given)
    assert results.models[0].name == "a"


@pytest.mark.parametrize(("among", "kinds"), [
    ("x", "int and str"), ({}, "dict and int"), (1j, "complex and int"), (b"a", "bytes and int"), ([1], "int and list"),
    (10**400, "int"),
])
def test_entries_of_several_types_are_told_by_those_of_python(among: object, kinds: str) -> None:
    with pytest.raises(UsageError) as caught:
        evalpipe.evaluate([0, 1, among, 1], [0.5] * 4, event=1)
    assert str(caught.value) == (
        f"error[not-a-column]: 'truth' is not an array of values: its entries are of type {kinds}\n"
        "  = help: give one value a row, in an array of shape [n]")


def test_a_list_of_whole_and_broken_numbers_is_of_numbers() -> None:
    mixed: list[Any] = [0, 0.25, np.int64(1), 1]
    results = evalpipe.evaluate([0, 0, 1, 1], mixed, event=1, weight=[1, 2.5, 1, 10**40], metrics=["brier"],
                                intervals={"method": "none"})
    arrays = evalpipe.evaluate([0, 0, 1, 1], np.array(mixed, float), event=1, weight=np.array([1, 2.5, 1, 1e40]),
                               metrics=["brier"], intervals={"method": "none"})
    assert results.estimates["value"].to_list() == arrays.estimates["value"].to_list()


def test_arrays_of_arrow_are_taken_as_they_are() -> None:
    pa = pytest.importorskip("pyarrow")
    texts = pa.array(["yes", "no"] * 6)
    expected = evalpipe.evaluate(["yes", "no"] * 6, P[:12], event="yes", intervals={"method": "none"}).to_json()
    for truth in (texts, texts.cast(pa.large_string()), texts.dictionary_encode(), pa.chunked_array([texts])):
        given = evalpipe.evaluate(truth, pa.array(P[:12]), event="yes", intervals={"method": "none"})
        assert given.to_json() == expected
    assert evalpipe.evaluate(pa.array([True, False] * 6), P[:12], event=True, intervals={"method": "none"})
    with pytest.raises(EvalpipeError, match="1 row has no probability in 'probability'"):
        evalpipe.evaluate(texts, pa.array([None, *P[1:12]]), event="yes")


def test_missing_values_of_pandas_are_missing() -> None:
    pd = pytest.importorskip("pandas")
    truth = pd.Series([True, False, None] * 4, dtype=object)
    for values in (truth, truth.astype("boolean"), truth.astype("boolean").astype("Int64")):
        with pytest.raises(EvalpipeError, match="4 rows have no value in 'truth'"):
            evalpipe.evaluate(values, [0.5] * 12, event=1)
    with pytest.raises(UsageError, match="'truth' is not an array of values"):
        evalpipe.evaluate({"a": 1}, [0.5], event=1)


def test_the_reason_of_a_library_is_its_first_line() -> None:
    with pytest.raises(UsageError) as caught:
        evalpipe.evaluate(np.array(["2026", "2027"], "datetime64[Y]"), P[:2], event="2026")
    first, second = str(caught.value).splitlines()  # the library's message, of any version, has several lines
    assert first.startswith("error[not-a-column]: 'truth' is not an array of values: ")
    assert second == "  = help: give one value a row, in an array of shape [n]"
