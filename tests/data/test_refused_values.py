"""What each kind of column may hold, at its edges, and the error where it holds something else."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from evalpipe.errors import DataError
from evalpipe.run import plan, read_all

if TYPE_CHECKING:
    from pathlib import Path

    from evalpipe.data.sample import Sample

SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1, "levels": [1, 0]},
    "datasets": {"d": {"path": "d.parquet"}}, "models": {"p": {"probability": "p"}}, "metrics": ["brier"],
}
DATA: dict[str, list[Any]] = {
    "y": [1, 0, 1, 0], "p": [0.1, 0.2, 0.3, 0.4], "w": [1.0, 2.0, 1.0, 1.0], "c": ["a", "a", "b", "b"],
    "id": ["1", "2", "3", "4"], "x": [1.0, 2.0, 3.0, 4.0],
}
SCORE = {"models": {"p": {"score": "p"}}, "metrics": ["roc_auc"]}
PERCENT = {"models": {"p": {"probability": "p", "scale": "percent"}}}
FREQUENCY = {"weight": {"column": "w", "kind": "frequency"}}
IMPORTANCE = {"weight": {"column": "w", "kind": "importance"}}
NUMBER = {"task": "regression", "outcome": {"column": "x"}, "models": {"p": {"prediction": "p"}}, "metrics": ["rmse"]}
COUNT = {"task": "count", "outcome": {"column": "y"}, "models": {"p": {"prediction": "p"}},
         "metrics": ["poisson_deviance"]}
ROUND = "a weight is a number from 0 on; rows of weight 0 are left out"
UNIT = "give them in another unit: 0, or in size from 1e-60 to 1e+60"


def read(folder: Path, keys: dict[str, Any], data: dict[str, list[Any]]) -> Sample:
    pl.DataFrame(DATA | data).write_parquet(folder / "d.parquet")
    (sample,), _ = read_all(plan(SPEC | keys))
    return sample


@pytest.mark.parametrize(("keys", "data", "field", "values"), [
    ({}, {"p": [0.0, 1.0, 0.5, 0.0]}, "probability", [0.0, 0.0, 0.5, 1.0]),
    (PERCENT, {"p": [0.0, 100.0, 50.0, 1.0]}, "probability", [0.0, 0.01, 0.5, 1.0]),
    (SCORE, {"p": [-1e9, 1e9, 0.0, 7.0]}, "score", [-1e9, 0.0, 7.0, 1e9]),
    (FREQUENCY, {"w": [0.0, 1.0, 3.0, 1.0]}, "weights", [1.0, 1.0, 3.0]),
    (IMPORTANCE, {"w": [0.0, 1.5, 0.1, 1.0]}, "weights", [0.1, 1.0, 1.5]),
    (NUMBER, {"x": [0.0, -1e60, 1e60, 1.0]}, "truth", [-1e60, 0.0, 1.0, 1e60]),
    (COUNT, {"y": [0, 7, 1, 0], "p": [1e-9, 1.0, 2.0, 3.0]}, "truth", [0.0, 0.0, 1.0, 7.0]),
    ({"id": "id", "cluster": "c"}, {}, "cluster", [0, 0, 1, 1]),
])
def test_values_at_the_edge_are_read_as_they_are(
    keys: dict[str, Any], data: dict[str, list[Any]], field: str, values: list[float], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rows of weight 0 are left out; percents become probabilities, to the last bit: each is a division by 100."""
    monkeypatch.chdir(tmp_path)
    sample = read(tmp_path, keys, data)
    owner = sample.models["p"] if field in ("probability", "score") else sample
    assert sorted(getattr(owner, field)) == values


@pytest.mark.parametrize(("keys", "data", "code", "message", "hint"), [
    ({"id": "id"}, {"id": ["1", None, "3", None]}, "missing-id", "2 rows have no value in the id column 'id'",
     "fill them, or leave such rows out with where: 'id IS NOT NULL'"),
    ({"id": "id"}, {"id": ["1", "2", "3", "1"]}, "duplicate-id",
     "1 row has an id that an earlier row has (column 'id')",
     "an id names one row; remove the copies, or name the column that tells the rows apart"),
    ({"cluster": "c"}, {"c": ["a", None, "a", "b"]}, "missing-cluster", "1 row has no value in the cluster column 'c'",
     "fill them, or leave such rows out with where: 'c IS NOT NULL'"),
    ({}, {"y": [1, None, 0, None]}, "missing-truth", "2 rows have no value in the outcome column 'y'",
     "fill them, or leave such rows out with where: 'y IS NOT NULL'"),
    ({}, {"y": [1, 2, 1, 2]}, "undeclared-level",
     "2 values of the outcome column 'y' are not among outcome.levels: '2'", "the levels are '1' and '0'"),
    ({}, {"p": [0.1, 1.2, 0.3, 0.4]}, "probability-range", "1 value of column 'p' is not a probability from 0 to 1",
     "give the model's probability of the event"),
    ({}, {"p": [10.0, 20.0, 30.0, 40.0]}, "probability-range",
     "4 values of column 'p' are not probabilities from 0 to 1",
     "they look like percents: add 'scale: percent' to the model"),
    (PERCENT, {"p": [100.5, -1.0, 30.0, 40.0]}, "probability-range",
     "2 values of column 'p' are not percents from 0 to 100", "give the model's probability in percent"),
    ({}, {"p": ["a", "b", "c", "d"]}, "wrong-type", "column 'p' of dataset 'd' holds text, not numbers",
     "write it as a column of numbers"),
    (SCORE, {"p": [1.0, math.inf, -math.inf, 3.0]}, "score-range", "2 values of column 'p' are infinite",
     "a score is a finite number; find out why it could not be computed"),
    (FREQUENCY, {"w": [-1.0, 1.0, math.inf, 1.0]}, "weight-range",
     "2 values of the weight column 'w' are negative or infinite", ROUND),
    (IMPORTANCE, {"w": [-0.5, 1.0, 1.0, 1.0]}, "weight-range",
     "1 value of the weight column 'w' is negative or infinite", ROUND),
    (FREQUENCY, {"w": [1.5, 1.0, 1.0, 1.0]}, "frequency-weight",
     "1 value of the weight column 'w' is not a whole number",
     "frequency weights count identical rows; for other weights write kind: importance"),
    (IMPORTANCE, {"w": [None, 1.0, 1.0, 1.0]}, "missing-weight", "1 row has no weight in column 'w'",
     "fill them, or leave such rows out with where: 'w IS NOT NULL'"),
    (IMPORTANCE, {"w": [0.0, 0.0, 0.0, 0.0]}, "weights-all-zero", "all weights of dataset 'd' are 0 (column 'w')",
     "at least one row must count"),
    (NUMBER, {"x": [1.0, math.inf, 2.0, 3.0]}, "infinite-value", "1 value of column 'x' is not finite",
     "find out why it could not be computed"),
    (NUMBER, {"x": [1e61, 1e-61, -1e61, 3.0]}, "extreme-value",
     "3 values of column 'x' are too large or too small to compute with", UNIT),
    (NUMBER, {"x": [1.0, None, 2.0, 3.0]}, "missing-truth", "1 row has no outcome in column 'x'",
     "fill them, or leave such rows out with where: 'x IS NOT NULL'"),
    (COUNT, {"y": [1, -1, 2, 3]}, "not-a-count", "1 value of column 'y' is not a whole number from 0 on",
     "a count is 0, 1, 2, …; for other numbers use 'task: regression'"),
    (COUNT, {"y": [1.5, 1.0, 2.0, 0.5]}, "not-a-count", "2 values of column 'y' are not whole numbers from 0 on",
     "a count is 0, 1, 2, …; for other numbers use 'task: regression'"),
    (COUNT, {"p": [0.0, 0.1, -1.0, 0.3]}, "prediction-range", "2 values of column 'p' are not above zero",
     "the expected count is a number above zero; was a logarithm written?"),
    *((keys, {"p": [gap, 0.1, 0.2, 0.3]}, f"missing-{what}", f"1 row has no {what} in column 'p'",
       "fill them, or leave such rows out for every model with 'complete_case: all' at the top of the spec")
      for gap in (None, math.nan) for keys, what in (({}, "probability"), (SCORE, "score"), (NUMBER, "prediction"))),
])
def test_a_value_that_cannot_be_is_counted_and_told_with_the_way_out(
    keys: dict[str, Any], data: dict[str, list[Any]], code: str, message: str, hint: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError) as caught:
        read(tmp_path, keys, data)
    assert [(problem.code, problem.message, problem.hint) for problem in caught.value.problems] == [
        (code, message, hint)]
