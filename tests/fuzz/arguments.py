"""Cases of `evalpipe.evaluate`: its arguments, a few of them hostile."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from fuzz.values import NUMBERS, TEXTS

Arguments = dict[str, Any]


def call(rng: random.Random) -> Arguments:
    """Make the arguments of a call."""
    n = rng.choice([1, 2, 3, 8, 20, 60, 60, 60, 200])
    made = _sound(rng, n)
    if rng.random() < 0.5:
        made["metrics"] = _measures(rng, made["task"])
    for name, make in OPTIONAL.items():
        if rng.random() < (0.2 if name in ARRAYS or name in {"weight_kind", "no_information", "seed"} else 0.06):
            made[name] = make(rng, n)
    if "weight" not in made and rng.random() < 0.9:
        made.pop("weight_kind", None)
    if "compare" in made and not isinstance(made.get("probability"), dict):
        made["compare"] = rng.choice([{"baseline": "model"}, {}, "model"])
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
        arrays = sorted({*ARRAYS} & {*made})
        name = rng.choice(arrays if rng.random() < 0.7 else sorted(made))
        made[name] = _hostile(made[name], rng, n)
    return made


def _sound(rng: random.Random, n: int) -> Arguments:
    """Make the arguments that every call has, for one of the tasks."""
    task = rng.choice(["binary", "binary", "binary", "multiclass", "ordinal", "regression", "count"])
    noise = np.random.default_rng(rng.getrandbits(32))
    made: Arguments = {"task": task, "intervals": {"replicates": 100}, "engine": {"workers": 1}}
    if task == "binary":
        kind = rng.choice(["probability", "probability", "score", "prediction"])
        p = noise.random(n)
        made |= {
            "truth": (noise.random(n) < p).astype(int),
            "event": 1,
            kind: (p > 0.5).astype(int) if kind == "prediction" else p,
        }
        if rng.random() < 0.3 and kind != "prediction":
            made[kind] = {"old": p, "new": 1 - p}
    elif task in {"multiclass", "ordinal"}:
        made |= {
            "truth": noise.choice(["a", "b", "c"], n),
            "levels": ["a", "b", "c"],
            "probabilities": noise.dirichlet([1, 1, 1], n),
        }
    else:
        made |= {"truth": noise.poisson(3, n), "prediction": noise.gamma(3, 1, n)}
    return made


def _measures(rng: random.Random, task: str) -> list[str]:
    from evalpipe.metrics import registry

    any_task = rng.random() < 0.1
    names = sorted(metric.name for metric in registry if any_task or task in metric.tasks)
    return rng.sample(names, k=rng.choice([1, 2, 5]))


ARRAYS = (
    "truth",
    "probability",
    "score",
    "prediction",
    "probabilities",
    "weight",
    "cluster",
    "slices",
    "loo_prediction",
    "leverage",
)
"""The arguments that are arrays, or mappings of names to arrays."""


OPTIONAL: dict[str, Callable[[random.Random, int], Any]] = {
    "weight": lambda rng, n: [rng.choice([1, 2, 3, 0]) or 1 for _ in range(n)],
    "weight_kind": lambda rng, n: rng.choice(["frequency", "importance"]),
    "cluster": lambda rng, n: [i // 3 for i in range(n)],
    "slices": lambda rng, n: {"group": [rng.choice("ab") for _ in range(n)]},
    "threshold": lambda rng, n: rng.choice([0.0, 0.5, 1.0, 0.3, {"maximize": "j_index", "on": {"folds": 2}}]),
    "equivocal": lambda rng, n: rng.choice([0, 0.1, {"below": 0.1, "above": 0.2}, {"min_probability": 0.5}, 1]),
    "prevalence": lambda rng, n: rng.choice(
        [0.1, 0, 1, {"beta": [2, 8]}, {"levels": {"a": 0.2, "b": 0.3, "c": 0.5}}]
    ),
    "costs": lambda rng, n: [{"truth": 1, "predicted": 0, "cost": 5}],
    "profit": lambda rng, n: {"benefit": 5, "cost": 1},
    "no_information": lambda rng, n: True,
    "compare": lambda rng, n: {"baseline": "old"},
    "desirability": lambda rng, n: [{"metric": "brier", "minimize": {"low": 0, "high": 0.5}}],
    "gates": lambda rng, n: [{"metric": rng.choice(["brier", "accuracy", "rmse", "log_loss"]), "max": 0.5}],
    "scale": lambda rng, n: rng.choice(["logit", "margin"]),
    "seed": lambda rng, n: rng.choice([0, 1, 2**40]),
    "loo_prediction": lambda rng, n: [rng.gauss(3, 1) for _ in range(n)],
    "leverage": lambda rng, n: [rng.random() for _ in range(n)],
    "levels": lambda rng, n: rng.choice([[0, 1], [1, 0], ["a", "b", "c"], ["c", "b", "a"]]),
    "intervals": lambda rng, n: {
        "replicates": 100,
        "method": rng.choice(["percentile", "bca", "studentised", "none", "basic"]),
    },
}
"""Arguments that a call may have, for any task: whether they suit it is evalpipe's to say."""


def _hostile(value: Any, rng: random.Random, n: int) -> Any:
    """Return something else in place of an argument: its values changed, its shape, its type."""
    if isinstance(value, dict) and value and rng.random() < 0.6:
        name = rng.choice(sorted(value))
        return value | {name: _hostile(value[name], rng, n)}
    array = np.asarray(value, dtype=object).ravel()
    if array.size > 1 and rng.random() < 0.7:
        return _extreme(array, rng) if rng.random() < 0.6 else _misshapen(array, rng)
    return rng.choice(
        [
            None,
            "",
            "x",
            0,
            -1,
            1e308,
            float("nan"),
            float("inf"),
            1 + 2j,
            True,
            b"\xff",
            object(),
            [],
            {},
            (),
            set(),
            [[]],
            {"a": 1},
            {1: [1]},
            [None] * n,
            [1] * n,
            {"x": None},
            np.zeros(n),
            np.zeros((n, 2)),
            np.float64(0.5),
            np.int64(1),
            np.array("x"),
            np.array(3),
            range(n),
            (i for i in range(n)),
            pl.DataFrame({"a": [1] * n}),
            pd.DataFrame({"a": [1] * n}),
            pl.Series([1] * n),
            pl.LazyFrame({"a": [1]}),
            dt.date(2026, 11, 21),
            ["accuracy"],
            {"metric": "brier"},
            10**30,
            "\0",
            "é",
            rng.choice(TEXTS),
        ]
    )


def _extreme(array: Any, rng: random.Random) -> Any:
    """Put extreme numbers, texts or gaps into some entries."""
    hostile = rng.choice([rng.choice(NUMBERS), rng.choice(NUMBERS), None, rng.choice(TEXTS), 10**15])
    share = rng.choice([0.02, 0.3, 1.0])
    values = [hostile if rng.random() < share else value for value in array]
    if rng.random() < 0.3:
        factor = rng.choice([1e154, 1e-154, 1e308, 1e-308, -1.0, 0.0])
        values = [value * factor if isinstance(value, int | float) else value for value in array]
    return values


def _misshapen(array: Any, rng: random.Random) -> Any:
    """Change the length, the dimensions or the container of an array."""
    values = list(array)
    numbers = [value if isinstance(value, int | float) else i for i, value in enumerate(values)]
    return rng.choice(SHAPES)(rng.choice([values, values, numbers]))


SHAPES: tuple[Callable[[list[Any]], Any], ...] = (
    lambda values: values[:-1],
    lambda values: [*values, values[0]],
    lambda values: values[:0],
    lambda values: np.array(values)[:, None],
    lambda values: np.array(values)[None],
    tuple,
    iter,
    lambda values: np.array(range(len(values)), np.float16),
    lambda values: np.array(range(len(values)), np.float32),
    lambda values: np.array(range(len(values)), np.longdouble),
    lambda values: np.array(range(len(values)), complex),
    lambda values: np.array(range(len(values)), "datetime64[D]"),
    lambda values: np.array(values, object),
    lambda values: np.array(values, str),
    lambda values: np.array([str(value).encode() for value in values]),
    lambda values: np.array(range(len(values))) > 0,
    lambda values: np.ma.masked_array(range(len(values)), mask=[i == 0 for i in range(len(values))]),
    lambda values: pl.Series(values, strict=False),
    lambda values: pl.Series(values, strict=False).to_frame(),
    lambda values: pl.Series(values, strict=False).cast(pl.String).cast(pl.Categorical),
    pd.Series,
    lambda values: pd.Series(values).astype("category"),
    lambda values: pd.Series(values, index=range(5, 5 + len(values))),
    lambda values: pd.Series(values).to_frame(),
    lambda values: pd.Series(values).astype("string"),
    pd.Index,
    lambda values: dict(enumerate(values)),
    lambda values: {str(value) for value in values},
    lambda values: [[value] for value in values],
)
"""Ways to hold values that are wrong, or right but rare."""
