"""Inputs at the edge, over all metrics: each value is a number in the declared range or undefined, and is said to be.

Limits of a range are held to 1e-12, relative or absolute: the rounding of a sum of a few float64 terms.
"""

from __future__ import annotations

import json
import math
import re
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

import evalpipe
from evalpipe.engine.averages import values
from evalpipe.metrics import Metric, calibration, recalibration, registry
from evalpipe.metrics.declare import AVERAGES
from evalpipe.plan.measures import MetricPlan
from evalpipe.results import Estimate
from evalpipe.statistics import ClassRows, Rows, Summary
from evalpipe.tasks import MANY, NUMBERS
from laws import samples
from laws import test_number_metrics as numbers

CLOSE = 1e-12
LEVELS = ["a", "b", "c", "d"]
PRIORS = {"a": 0.7, "b": 0.3, "c": 0.0, "d": 0.0}
SAME, ALIKE = [0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25]
SURE = np.eye(samples.LEVELS)

BINARY: dict[str, tuple[list[int], list[float]]] = {
    "one event, found": ([1], [0.8]),
    "one event, missed": ([1], [0.3]),
    "one non-event": ([0], [0.3]),
    "one row, surely wrong": ([1], [0.0]),
    "events alone": ([1, 1, 1], [0.2, 0.6, 0.9]),
    "non-events alone": ([0, 0, 0], [0.2, 0.6, 0.9]),
    "events alone, all found": ([1, 1, 1], [0.7, 0.6, 0.9]),
    "the same score, none predicted": ([1, 0, 1, 0, 0], [0.3] * 5),
    "the same score, all predicted": ([1, 0, 1, 0, 0], [0.5] * 5),
    "all rows alike": ([1, 1, 1], [0.5] * 3),
    "perfect": ([1, 0, 0, 1, 0], [1.0, 0.0, 0.0, 1.0, 0.0]),
    "always wrong": ([1, 0, 0, 1, 0], [0.0, 1.0, 1.0, 0.0, 1.0]),
    "perfect by classes alone": ([1, 0, 0, 1], [0.51, 0.49, 0.49, 0.51]),
    "two rows": ([1, 0], [0.4, 0.6]),
    "classes that overlap": ([0, 1, 0, 1, 1, 0, 1], [0.1, 0.2, 0.4, 0.6, 0.9, 0.7, 0.3]),
}
"""Whether each row is the event, and its probability of being one."""

MANY_KINDS: dict[str, tuple[list[int], Any]] = {
    "one row": ([2], [[0.1, 0.2, 0.6, 0.1]]),
    "one row, surely wrong": ([2], [SURE[0]]),
    "one class alone": ([1, 1, 1, 1], [SAME, [0.1, 0.7, 0.1, 0.1], [0.2, 0.5, 0.2, 0.1], [0.6, 0.2, 0.1, 0.1]]),
    "one class alone, all found": ([3, 3, 3], [SAME] * 3),
    "the same probabilities": ([0, 1, 2, 3, 0], [SAME] * 5),
    "all tied": ([0, 1, 2, 3, 0], [ALIKE] * 5),
    "all rows alike": ([1, 1, 1], [ALIKE] * 3),
    "perfect": ([0, 1, 2, 3, 1], SURE[[0, 1, 2, 3, 1]]),
    "always wrong": ([0, 1, 2, 3, 1], SURE[[3, 3, 0, 0, 3]]),
    "a class that never occurs": ([0, 1, 2, 0, 1], [SAME, [0.1, 0.7, 0.1, 0.1], [0.1, 0.2, 0.6, 0.1], SURE[0], SAME]),
    "a class that is never predicted": ([0, 1, 2, 3, 2, 2], SURE[[0, 1, 2, 1, 0, 2]] * 0.6 + 0.1),
    "a class that neither occurs nor is predicted": ([0, 1, 2, 1], SURE[[0, 2, 2, 1]]),
    "two rows": ([0, 3], [SAME, [0.4, 0.3, 0.2, 0.1]]),
}
"""The place of each row's class, and the probabilities of all; the most probable is predicted."""

THREE = [0.5, 1.5, 2.0]
COUNTS: dict[str, tuple[list[float], list[float], list[float]]] = {
    "one row": ([2.0], [3.0], [1.0]),
    "one exact row": ([2.0], [2.0], [1.0]),
    "constant truth": ([4.0, 4.0, 4.0], THREE, [1.0, 2.0, 0.3]),
    "constant prediction": ([0.0, 1.0, 7.0], [0.3] * 3, [1.0, 2.0, 0.3]),
    "all zero": ([0.0, 0.0, 0.0], THREE, [0.1, 0.2, 0.4]),
    "all tied and exact": ([3.0, 3.0, 3.0], [3.0, 3.0, 3.0], [0.1, 0.2, 0.4]),
    "hardly any expected": ([0.0, 1.0, 5.0], [1e-60, 1e-60, 1e-60], [1.0, 1.0, 1.0]),
}
"""Counts, their predictions, and weights."""

REAL = {kind: rows for kind, rows in numbers.DEGENERATE.items() if kind != "no weight"}
"""Truths, predictions and weights that the data step accepts of a regression."""

KINDS = {"binary": BINARY, "many": MANY_KINDS}
OF_KIND = [(task, kind) for task, kinds in KINDS.items() for kind in kinds]
every_kind = pytest.mark.parametrize(("task", "kind"), OF_KIND, ids=[f"{task}, {kind}" for task, kind in OF_KIND])


def rows(task: str, kind: str) -> Rows | ClassRows:
    truth, chances = (np.array(one) for one in KINDS[task][kind])
    if task == "binary":
        return Rows(truth == 1, chances >= 0.5, chances)
    return ClassRows(truth, samples.LEVELS, chances.argmax(axis=1), chances)


def weightings(n: int) -> list[Any]:
    """Return weights that count rows, that leave one row alone, that are all zero, and that products must round."""
    uneven = [np.random.default_rng(seed).gamma(1.0, 2.0, n) for seed in range(8)]
    return [np.ones(n), np.eye(n)[n - 1], np.zeros(n), *uneven]


def planned(entry: Metric, options: dict[str, Any], task: str) -> list[MetricPlan]:
    """Return the ways in which a metric is computed for a task."""
    levels = 2 if task == "binary" else samples.LEVELS
    filled = samples.filled(entry, options, levels)
    averages = AVERAGES if task == "many" and entry.sees == "event" else (None,)
    return [MetricPlan(entry, filled, "none", "", one, () if one is None else (filled,) * levels) for one in averages]


def within(value: float, limits: tuple[float, float]) -> bool:
    low, high = (limit + side * CLOSE * max(1.0, abs(limit)) if math.isfinite(limit) else limit
                 for limit, side in zip(limits, (-1, 1), strict=True))
    return math.isfinite(value) and low <= value <= high


@cache
def plans(task: str) -> list[tuple[str, dict[str, Any], list[MetricPlan]]]:
    """Return every metric of a task, its options, and the ways in which it is computed."""
    return [(name, options, planned(registry[name], options, of)) for name, options, of in samples.CASES if of == task]


@every_kind
def test_a_value_is_in_its_range_or_undefined(task: str, kind: str) -> None:
    data = rows(task, kind)
    for weight in weightings(len(data.truth)):
        summary = Summary(data, weight)
        for name, options, plans_of_metric in plans(task):
            for plan in plans_of_metric:
                found = np.atleast_1d(values(summary, plan))
                limits = registry[name].bounds(options)
                strange = [float(one) for one in found if not (np.isnan(one) or within(float(one), limits))]
                assert not strange, f"{name} {options} {plan.average}, weights {weight}"


@pytest.mark.parametrize("kind", numbers.DEGENERATE)
def test_a_value_of_numbers_is_in_its_range_or_undefined(kind: str) -> None:
    truth, guess, weight = (np.array(one, float) for one in numbers.DEGENERATE[kind])
    for baseline in (None, 2.0):
        data = numbers.NumberRows(truth, guess, guess, baseline)
        for name, options in numbers.CASES:
            found = float(numbers.value(name, options, data, weight))
            assert math.isnan(found) or within(found, registry[name].bounds(options)), f"{name} {options}"


class Cells:
    """Which cells of the confusion matrix of one class against the rest have weight, and which margins."""

    options: dict[str, Any]
    """Those of the metric whose reason is looked for."""

    def __init__(self, data: Rows, weight: Any) -> None:
        counted = weight > 0
        self.chances, self.hits, self.weight = data.event_probability[counted], data.truth[counted], weight[counted]
        truth, picked = data.truth[counted], data.classes[counted]
        self.tp, self.fp = bool((truth & picked).any()), bool((~truth & picked).any())
        self.fn, self.tn = bool((truth & ~picked).any()), bool((~truth & ~picked).any())
        self.events, self.others = self.tp or self.fn, self.fp or self.tn
        self.found, self.cleared = self.tp or self.fp, self.fn or self.tn

    @property
    def both(self) -> bool:
        return self.events and self.others

    @property
    def apart(self) -> bool:
        """Whether no event is scored below a non-event, or none above one."""
        yes, no = self.chances[self.hits].tolist(), self.chances[~self.hits].tolist()
        return not (any(a < b for a in yes for b in no) and any(a > b for a in yes for b in no))

    @property
    def sure(self) -> bool:
        return set(self.chances.tolist()) <= {0.0, 0.5, 1.0}

    @property
    def few_groups(self) -> bool:
        """Whether the rows make fewer than three groups of equal weight, or one of them is surely wrong."""
        groups: dict[int, list[tuple[float, bool]]] = {}
        for chance, hit in zip(self.chances.tolist(), self.hits.tolist(), strict=True):
            below = self.options["groups"] * self.weight[self.chances < chance].sum() / self.weight.sum()
            groups.setdefault(int(below + 1e-9), []).append((chance, hit))
        certain = [held for held in groups.values() if {p for p, _ in held} in ({0.0}, {1.0})]
        return len(groups) < 3 or any(hit != p for held in certain for p, hit in held)


REASONS: dict[str, Any] = {
    "no rows": lambda c: not (c.events or c.others),
    "no events": lambda c: not c.events,
    "no non-events": lambda c: not c.others,
    "no predicted events": lambda c: not c.found,
    "no predicted event at this prevalence": lambda c: not c.found,
    "none predicted": lambda c: not c.found,
    "no predicted non-events": lambda c: not c.cleared,
    "no predicted non-event at this prevalence": lambda c: not c.cleared,
    "no true positives": lambda c: not c.tp,
    "no false positives": lambda c: not c.fp,
    "no false negatives": lambda c: not c.fn,
    "no true negatives": lambda c: not c.tn,
    "a class does not occur": lambda c: not c.both,
    "only one class occurs": lambda c: not c.both,
    "truth and predictions are all of one class": lambda c: c.tp + c.fp + c.fn + c.tn < 2 and not (c.fp or c.fn),
    "truth or predictions are all of one class": lambda c: not (c.both and c.found and c.cleared),
    recalibration.APART: lambda c: c.apart,
    recalibration.NO_CURVE: lambda c: c.apart if c.options["smooth"] != "isotonic" else not (c.events or c.others),
    calibration.SURE: lambda c: c.sure,
    calibration.FEW: lambda c: c.few_groups,
}
"""What each reason of a metric of two classes for being undefined says of the confusion matrix; a metric may give
several, as in "no events, no non-events, or no false positives" or "no events and none predicted"."""


def undefined_because(text: str, cells: Cells) -> bool:
    """Tell whether a text says of the cells that a metric is undefined: a reason, or several with "or" or "and"."""
    if text in REASONS:
        return bool(REASONS[text](cells))
    joined, parts = (all, text.split(" and ")) if " and " in text else (any, re.split(", or |, | or ", text))
    unknown = [part for part in parts if part not in REASONS]
    assert not unknown, f"undefined={text!r}: say in REASONS what {unknown} means, or write it of {sorted(REASONS)}"
    return joined(REASONS[part](cells) for part in parts)


def seen(task: str, kind: str) -> list[Rows]:
    """Return rows of two classes: those of the kind, or each class of several against the rest."""
    data = rows(task, kind)
    return [data] if isinstance(data, Rows) else list(data.against_rest)


@cache
def summaries() -> list[Summary]:
    """Return the rows of every kind with every weighting, shared by all metrics, as a run shares them."""
    every = [data for task, kind in OF_KIND for data in seen(task, kind)]
    return [Summary(data, weight) for data in every for weight in weightings(len(data.truth))]


@cache
def cells_of_summaries() -> list[Cells]:
    """Return the cells of each of `summaries`."""
    return [Cells(summary.rows, summary.weights) for summary in summaries()]


@pytest.mark.parametrize(("name", "options"), [case[:2] for case in samples.CASES if "binary" in case[2]], ids=[
    identity for identity, case in zip(samples.IDS, samples.CASES, strict=True) if "binary" in case[2]
])
def test_a_metric_is_undefined_for_the_reason_that_it_gives(name: str, options: dict[str, Any]) -> None:
    metric, told = registry[name], []
    filled = samples.filled(metric, options)
    for summary, cells in zip(summaries(), cells_of_summaries(), strict=True):
        found = summary.value(metric, filled)
        cells.options = options
        because = undefined_because(metric.undefined, cells)
        told.append(because)
        grows = metric.extensive and options.get("scale") != "mean" and name != "hosmer_lemeshow"
        assert np.isnan(found) == (because and not grows), f"{found} {summary.rows} {summary.weights}"
    assert {True, False} == set(told)


def spec(task: str, metrics: list[Any], **more: Any) -> dict[str, Any]:
    return {
        "evalpipe": 1, "name": "edge", "task": task, "datasets": {"data": {"path": "memory"}}, "metrics": metrics,
        "intervals": {"method": "percentile", "replicates": 100}, "report": {"formats": []},
    } | more


def asked(task: str, variants: Any) -> list[Any]:
    """Return every metric of a task with each of its options; those of one class by every average."""
    entries = []
    for metric in (one for one in registry if task in one.tasks):
        prior = bool(metric.from_spec) and task in MANY
        for options in ({},) if metric.alone or prior else variants.get(metric.name, ({},)):
            averages = [one for one in AVERAGES if not (prior and one == "micro")]
            more = {"average": averages} if task in MANY and metric.sees == "event" else {}
            entries.append({"metric": metric.name} | options | more)
    return entries


def priced(levels: list[str]) -> list[dict[str, Any]]:
    return [{"truth": true, "predicted": other, "cost": samples.COSTS[i][j]}
            for i, true in enumerate(levels) for j, other in enumerate(levels) if i != j]


def of_classes(task: str, kind: str) -> tuple[dict[str, Any], pl.DataFrame]:
    """Return the spec and the frame of a kind of rows with two or four levels."""
    truth, chances = (np.array(one) for one in KINDS["binary" if task == "binary" else "many"][kind])
    metrics = asked(task, samples.VARIANTS)
    if task == "binary":
        frame = pl.DataFrame({"y": ["no" if one == 0 else "yes" for one in truth], "p": chances})
        levels, model = ["yes", "no"], {"probability": "p"}
        return spec(task, metrics, outcome={"column": "y", "event": "yes", "levels": levels}, models={"m": model},
                    costs=priced(levels)), frame
    columns = {f"p_{level}": chances[:, place] for place, level in enumerate(LEVELS)}
    frame = pl.DataFrame({"y": [LEVELS[place] for place in truth]} | columns)
    return spec(task, metrics, outcome={"column": "y", "levels": LEVELS}, models={"m": {"probabilities": "p_{level}"}},
                costs=priced(LEVELS), prevalence={"levels": PRIORS}), frame


def of_numbers(task: str, kind: str) -> tuple[dict[str, Any], pl.DataFrame]:
    """Return the spec and the frame of a kind of rows of numbers."""
    truth, guess, weight = (np.array(one, float) for one in (COUNTS if task == "count" else REAL)[kind])
    model = {"prediction": "p", "loo_prediction": "out"}
    frame = pl.DataFrame({"y": truth, "p": guess, "out": guess, "w": weight})
    return spec(task, asked(task, numbers.VARIANTS), outcome={"column": "y"}, models={"m": model}, weight="w"), frame


OF_TASK: dict[str, Any] = {
    "binary": BINARY, "multiclass": MANY_KINDS, "ordinal": MANY_KINDS, "regression": REAL, "count": COUNTS,
}
RUNS = [
    pytest.param(task, kind, id=f"{task}, {kind}",
                 marks=pytest.mark.nightly if place % (12 if task == "multiclass" else 6) else ())
    for task, kinds in OF_TASK.items() for place, kind in enumerate(kinds)
]
"""By day every sixth kind; of classes without an order, whose measures are also those of ordered ones, every twelfth;
`test_a_value_is_in_its_range_or_undefined` has every measure of every kind."""


def check_row(row: Estimate) -> None:
    """Check that an estimate is a number in its range with an interval in it, or that it says why it is not."""
    name, limits = row.metric, registry[row.metric].bounds(row.params)
    if row.value is None:
        assert (row.status, row.reason) == ("undefined", registry[name].undefined)
        assert (row.lower, row.upper, row.level, row.method) == (None, None, None, "none")
        return
    assert within(row.value, limits), row
    assert row.status in ("ok", "degenerate"), row
    assert (row.reason is None) == (row.status == "ok"), row
    assert (row.lower is None) == (row.upper is None) == (row.method == "none"), row
    if row.lower is not None and row.upper is not None:
        assert within(row.lower, limits), row
        assert within(row.upper, limits), row
        assert row.lower <= row.upper, row


def refuse(word: str) -> None:
    raise AssertionError(f"JSON has no {word}")


@pytest.mark.parametrize(("task", "kind"), RUNS)
def test_a_run_says_what_is_undefined(task: str, kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    written, frame = of_numbers(task, kind) if task in NUMBERS else of_classes(task, kind)
    results = evalpipe.run(written, frames={"data": frame})
    assert capfd.readouterr() == ("", "")
    for row in results.rows:
        check_row(row)
    assert {row.metric for row in results.rows} == {one.name for one in registry if task in one.tasks}
    document = json.loads(results.to_json(), parse_constant=refuse)
    stored = [(row["value"] is None, row["status"] == "undefined") for row in document["estimates"]]
    assert all(absent == undefined for absent, undefined in stored)
    assert any(absent for absent, _ in stored) == (kind != "classes that overlap")
