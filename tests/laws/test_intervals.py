"""A value lies within its interval, or its status says that it does not: over the registry, tasks, methods and parts.

Random data sets for each task and method, eight at night and of every second pair one by day; small, so that
resampling moves measures far. Four
share the measures of their task among them, each with all its options and with one average after the other. A value may
miss its limits by 1e-9 of them: the rounding of sums in another order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import evalpipe
from evalpipe.intervals import registry as methods
from evalpipe.metrics import registry
from evalpipe.metrics.declare import AVERAGES
from evalpipe.results import Results
from evalpipe.tasks import NUMBERS, Task
from laws import samples
from laws import test_number_metrics as numbers
from laws.test_degenerate import LEVELS, asked, priced

ROUNDING = 1e-9
METHODS = ("auto", *(name for name, method in methods.items() if method.asked and method.drawn))
"""Those of replicates; how far limits lie from the value is told of every method in `test_widths`."""
SETS = 4
TASKS: tuple[Task, ...] = ("binary", "multiclass", "ordinal", "regression", "count")


def by_day(turn: int, number: int) -> bool:
    """Tell whether a data set is looked at by day: of pairs in turn as on a chessboard, of kinds in turn."""
    return turn % 2 == 0 and number == turn // 2 % SETS


RUNS = [
    pytest.param(task, method, number, id=f"{task}-{method}-{number}",
                 marks=() if by_day(METHODS.index(method) + TASKS.index(task), number) else pytest.mark.nightly)
    for task in TASKS for method in METHODS for number in range(2 * SETS)
]
"""By day a data set for every second pair of task and method; by night every measure by every method, twice."""
EVENTS = ["yes", "no"]
PRICED = ("ppv", "npv")
"""Measures with a prior for each class, which cannot be pooled."""
RECALIBRATED = {"binary": ["isotonic"], "multiclass": ["temperature"], "ordinal": ["temperature"],
                "regression": ["isotonic"]}


def classes(task: str, generator: np.random.Generator) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return the rows of two models of classes, one of which guesses more, and what a spec says of them."""
    names = EVENTS if task == "binary" else LEVELS
    n = int(generator.integers(30, 90))
    chances = generator.dirichlet(np.full(len(names), generator.choice([0.3, 1.0, 3.0])), n)
    truth = [names[generator.choice(len(names), p=row)] for row in chances]
    other = generator.dirichlet(np.ones(len(names)), n) / 2 + chances / 2
    columns: dict[str, Any] = {"y": truth}
    if task == "binary":
        columns |= {"first": chances[:, 0].round(2), "second": other[:, 0]}
        models = {name: {"probability": name} for name in ("first", "second")}
    else:
        columns |= {f"first_{name}": chances[:, k] for k, name in enumerate(names)}
        columns |= {f"second_{name}": other[:, k] for k, name in enumerate(names)}
        models = {name: {"probabilities": f"{name}_{{level}}"} for name in ("first", "second")}
    outcome = {"column": "y", "levels": names} | ({"event": "yes"} if task == "binary" else {})
    more = {"costs": priced(names), "outcome": outcome, "models": models,
            "prevalence": 0.3 if task == "binary" else {"levels": dict(zip(names, (0.4, 0.3, 0.2, 0.1), strict=True))}}
    return pl.DataFrame(columns), more


def amounts(task: str, generator: np.random.Generator) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return the rows of two models of numbers, and what a spec says of them."""
    n = int(generator.integers(30, 90))
    mean = generator.gamma(2.0, 2.0, n) + 0.1
    truth = generator.poisson(mean) if task == "count" else mean + generator.normal(size=n)
    other = mean * generator.uniform(0.5, 2.0, n)
    frame = pl.DataFrame({"y": truth, "first": mean, "second": other, "out": mean * 1.01})
    models = {name: {"prediction": name, "loo_prediction": "out"} for name in ("first", "second")}
    return frame, {"outcome": {"column": "y"}, "models": models}


def results(task: str, method: str, number: int) -> Results:
    """Return the results of a random data set: slices, variants, averages, differences, weights now and then."""
    generator = np.random.default_rng([TASKS.index(task), METHODS.index(method), number])
    frame, more = (amounts if task in NUMBERS else classes)(task, generator)
    frame = frame.with_columns(group=pl.Series(generator.choice(["a", "b", "c"], frame.height)))
    variants = numbers.VARIANTS if task in NUMBERS else samples.VARIANTS
    if number % 4 == 1:
        frame, more["weight"] = frame.with_columns(w=pl.Series(generator.gamma(2.0, 1.0, frame.height))), "w"
    if number % 4 == 2:
        frame, more["cluster"] = frame.with_columns(c=pl.Series(np.arange(frame.height) % 25)), "c"
    turn = number % SETS * len(METHODS) + METHODS.index(method)
    metrics = [one | ({"average": AVERAGES[number % 4]} if one["metric"] not in PRICED and "average" in one else {})
               for one in asked(task, variants)[turn :: SETS * len(METHODS)]][: 2 if method == "studentised" else None]
    disparities = [one.name for one in registry if any(one.name == each["metric"] for each in metrics)
                   and not one.option_types and one.bounds({})[0] == 0][::3]
    written = {
        "evalpipe": 1, "name": "law", "task": task, "datasets": {"data": {"path": "memory"}}, "metrics": metrics,
        "slices": ["group"], "slice_rules": {"min_rows": 5, "disparities": disparities or None},
        "compare": {"baseline": "second"},
        "intervals": {"method": method, "replicates": 100, **({"bands": False} if task == "binary" else {})},
        "recalibrate": {"fit_on": {"folds": 3}, "methods": RECALIBRATED[task]}
        if number % 4 == 0 and task in RECALIBRATED else None,
        # The law is on numbers with an interval; curves of calibration are no such rows, and the spline takes long.
        "calibration": None if task in NUMBERS else {"smoother": "isotonic"},
        "seed": number, "report": {"formats": []},
    }
    return evalpipe.run({key: one for key, one in (written | more).items() if one is not None}, frames={"data": frame})


def outside(value: float | None, lower: float | None, upper: float | None) -> bool:
    if value is None or lower is None or upper is None:
        return False
    slack = ROUNDING * max(abs(value), abs(lower), abs(upper))
    return not lower - slack <= value <= upper + slack


def told(found: Results) -> list[Any]:
    """Return every number with an interval: its value, limits, and what else is said of it."""
    gaps = [*found.comparisons, *found.slice_differences, *found.disparities]
    rows = [(row.value, row.lower, row.upper, row) for row in found.rows]
    rows += [(row.difference, row.lower, row.upper, row) for row in gaps]
    return rows + [(row.ratio, row.ratio_lower, row.ratio_upper, row)
                   for row in (*found.slice_differences, *found.disparities)]


@pytest.mark.parametrize(("task", "method", "number"), RUNS)
def test_a_value_lies_in_its_interval_or_its_status_says_why(task: str, method: str, number: int) -> None:
    for value, lower, upper, row in told(results(task, method, number)):
        assert (row.reason is None) == (row.status == "ok"), row
        if row.status == "ok":
            assert not outside(value, lower, upper), row
