"""A column that is named for two things serves both as if it stood in the data twice."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest

from engine.runs import read_sample
from evalpipe.errors import EvalpipeError
from few_by_day import by_night

ROWS = 24
GENERATOR = np.random.default_rng(1207)
VALUES = {
    "flags": GENERATOR.integers(0, 2, ROWS).astype(float),
    "shares": GENERATOR.permutation(np.arange(1, ROWS + 1)) / (ROWS + 1),
    "counts": GENERATOR.permutation(np.arange(1, ROWS + 1)).astype(float),
    "large": np.logspace(-3, 40, ROWS),
    "signed": np.linspace(-3, 3, ROWS),
}
"""The values that the column has; some are refused in one role or in the other."""

USUAL = pl.DataFrame({
    "y": VALUES["flags"], "p": VALUES["shares"], "q": VALUES["shares"][::-1], "s": VALUES["signed"],
    "class": VALUES["flags"][::-1], "w": VALUES["counts"], "group": VALUES["counts"] // 5,
    "name": [f"row {i}" for i in range(ROWS)], "e": VALUES["counts"][::-1],
})

Roles = dict[str, tuple[str | int, ...]]
BINARY: Roles = {
    "y": ("outcome", "column"), "name": ("id",), "w": ("weight", "column"), "group": ("cluster",),
    "p": ("models", "a", "probability"), "class": ("models", "a", "prediction"), "q": ("models", "b", "probability"),
    "s": ("models", "c", "score"), "part": ("slices", 0),
}
COUNT: Roles = {
    "y": ("outcome", "column"), "name": ("id",), "w": ("weight", "column"), "group": ("cluster",),
    "e": ("exposure", "column"), "p": ("models", "a", "prediction"), "q": ("models", "b", "rate"),
    "part": ("slices", 0),
}
REFUSED = {"outcome-as-input", "outcome-as-slice"}


def sampled(task: str, names: dict[str, str], values: Any) -> str:
    """Return the sample that is read where roles have other columns than usual, or what is wrong with it, as text.

    The columns "x" and "copy" hold the same values; the text calls both "x".
    """
    column = {role: names.get(role, role) for role in (BINARY if task == "binary" else COUNT)}
    keys: dict[str, Any] = {
        "task": task, "outcome": {"column": column["y"]}, "id": column["name"], "weight": {"column": column["w"]},
        "cluster": column["group"], "slices": [column["part"]],
    }
    if task == "binary":
        keys["outcome"]["event"] = 1
        keys["metrics"] = ["accuracy", "roc_auc"]
        keys["models"] = {"a": {"probability": column["p"], "prediction": column["class"]},
                          "b": {"probability": column["q"]}, "c": {"score": column["s"], "threshold": 0.5}}
    else:
        keys["metrics"] = ["mean_poisson_deviance", "mae"]
        keys["exposure"] = {"column": column["e"]}
        keys["models"] = {"a": {"prediction": column["p"]}, "b": {"rate": column["q"]}}
    frame = USUAL.with_columns(part=pl.Series(["one", "two"] * (ROWS // 2)), x=values, copy=values)
    try:
        sample = read_sample(frame, **keys)
    except EvalpipeError as error:
        lines = str(error).replace("copy", "x").splitlines()
        return "\n".join(sorted({line for line in lines if line.startswith("error[")}))
    with np.printoptions(floatmode="unique"):
        return repr(replace(sample, files=(), contents=None)).replace("copy", "x")


PAIRS = [(task, *pair) for task, roles in (("binary", BINARY), ("count", COUNT)) for pair in combinations(roles, 2)]
OF_DAY = [[list(VALUES)[(place + step) % len(VALUES)] for step in range(2)] for place, _ in enumerate(PAIRS)]
"""The two values of five that each pair of roles is tried with by day."""


@pytest.mark.parametrize(("task", "first", "second", "names"), [
    *((*pair, names) for pair, names in zip(PAIRS, OF_DAY, strict=True)),
    *(by_night(*pair, [name for name in VALUES if name not in names])
      for pair, names in zip(PAIRS, OF_DAY, strict=True))])
def test_a_column_in_two_roles_is_as_two_columns(task: str, first: str, second: str, names: list[str]) -> None:
    for values in map(VALUES.__getitem__, names):
        once = sampled(task, {first: "x", second: "x"}, values)
        twice = sampled(task, {first: "x", second: "copy"}, values)
        assert once == twice or any(f"error[{code}]" in once for code in REFUSED)


def test_a_probability_that_is_no_level_is_no_prediction() -> None:
    names = {"p": "x", "class": "x"}
    assert sampled("binary", names, np.tile([0, 0.25], ROWS // 2)) == (
        "error[unknown-prediction]: 12 values of the prediction column 'x' are no level of the outcome: '0.25'")


def test_rows_are_compared_with_the_training_data_whatever_a_column_is_for() -> None:
    rows = USUAL.select("y", "p")
    training = rows[:3].with_columns(y=0.0, p=0.5).vstack(rows[4:5])
    datasets = {"d": {"path": "memory"}, "training": {"path": "memory", "role": "reference"}}
    with pytest.raises(EvalpipeError) as caught:
        read_sample({"d": rows, "training": training}, datasets=datasets, cluster="p")
    assert str(caught.value) == (
        "error[shared-rows]: 1 row of dataset 'd' is also in the reference dataset 'training'\n --> d (in memory)\n"
        "  |\n  | row 5: the same as row 4 of training (in memory)\n  = compared by y, p\n  = help: declare 'id': "
        "without it rows count as the same when all columns read are equal, and different cases can look alike")
