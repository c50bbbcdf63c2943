"""The standard set where models give different things: each has what it can serve, and what it lacks is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from engine.runs import people, run
from evalpipe.cli.plan import plan_document
from evalpipe.data.catalog import look
from evalpipe.plan.resolve import plan
from evalpipe.plan.sources import sources
from evalpipe.run import load

MODELS = {"full": {"probability": "p"}, "rules": {"prediction": "c"}, "rank": {"score": "r"}}
CHANCES, RANKS = ["log_loss", "brier"], ["roc_auc", "average_precision"]
CLASSES = ["accuracy", "balanced_accuracy", "mcc", "sensitivity", "specificity", "precision", "npv_sample", "f1"]


def mixed(n: int = 200) -> pl.DataFrame:
    return people(n).with_columns(c=(pl.col("q") >= 0.5).cast(int), r=pl.col("p") * 9)


def measured(**keys: Any) -> Any:
    base: dict[str, Any] = {"models": MODELS, "intervals": {"replicates": 100}, "outcome": {
        "column": "y", "event": 1, "levels": [0, 1]}}
    return run(mixed(), **base | keys)


def test_each_model_has_the_measures_of_the_standard_set_that_it_can_serve() -> None:
    results = measured(no_information=True)
    known = {name: [e.metric for e in results.rows if e.model == name and e.status == "ok"] for name in MODELS}
    assert known == {"full": [*CLASSES, *CHANCES, *RANKS], "rules": CLASSES, "rank": RANKS}
    alone = run(mixed(), intervals={"replicates": 100}, no_information=True, outcome={
        "column": "y", "event": 1, "levels": [0, 1]}, models={"full": MODELS["full"]})
    assert alone.rows == [e for e in results.rows if e.model == "full"]  # as if there were no other model


def test_a_measure_that_a_model_cannot_serve_has_no_value_and_the_reason() -> None:
    results = measured()
    said = {(e.model, e.metric): e.reason for e in results.rows if e.status == "undefined"}
    assert said == {
        **{("rules", name): "the model gives no probabilities" for name in CHANCES},
        **{("rules", name): "the model gives no scores" for name in RANKS},
        **{("rank", name): "the model gives no predicted classes" for name in CLASSES},
        **{("rank", name): "the model gives no probabilities" for name in CHANCES},
    }
    assert all((e.value, e.lower, e.n) == (None, None, 200) for e in results.rows if e.status == "undefined")
    assert [w.message for w in results.warnings if w.code == "not-served"] == [
        "d, rules: the model gives no probabilities for log_loss, brier; no scores for roc_auc, average_precision",
        f"d, rank: the model gives no predicted classes for {', '.join(CLASSES)}; no probabilities for log_loss, brier",
    ]


def test_only_what_both_models_serve_is_compared_and_slices_hold_no_gaps() -> None:
    results = measured(compare={"baseline": "full"}, slices=["h"])
    for name, served in (("rules", CLASSES), ("rank", RANKS)):
        assert [c.metric for c in results.comparisons if c.model == name and c.slice is None] == served
        assert {d.metric for d in results.slice_differences if d.model == name} == set(served)
        assert {e.metric for e in results.rows if e.model == name and e.slice is not None} == set(served)
    assert all(c.status == "ok" for c in results.comparisons if c.slice is None)


def test_the_plan_names_what_is_left_out() -> None:
    spec = load({
        "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1, "levels": [0, 1]},
        "datasets": {"d": {"path": "memory"}}, "models": MODELS,
    })
    document = plan_document(plan(spec, look(sources(spec), {"d": mixed()})))
    left = [(row["model"], row["metric"]) for row in document["not_served"]]
    assert left == [("rules", name) for name in (*CHANCES, *RANKS)] + [
        ("rank", name) for name in (*CLASSES, *CHANCES)]
    assert {row["reason"] for row in document["not_served"]} == {
        "the model gives no probabilities", "the model gives no scores", "the model gives no predicted classes"}
    assert not set(left) & {(row["model"], row["metric"]) for row in document["estimates"]}


def test_of_several_levels_and_of_numbers_it_is_the_same() -> None:
    generator = np.random.default_rng(1)
    chances = generator.dirichlet([1, 1, 1], 90)
    frame = pl.DataFrame({"y": generator.choice(list("abc"), 90), "c": generator.choice(list("abc"), 90),
                          **{f"p_{level}": chances[:, k] for k, level in enumerate("abc")}})
    levels = run(frame, task="multiclass", outcome={"column": "y", "levels": list("abc")}, intervals={
        "method": "none"}, models={"full": {"probabilities": "p_{level}"}, "rules": {"prediction": "c"}})
    reasons = {e.reason for e in levels.rows if e.model == "rules" and e.status == "undefined"}
    assert reasons == {"the model gives no probabilities", "the model gives no scores"}
    assert all(e.status == "ok" for e in levels.rows if e.model == "full")
    numbers = pl.DataFrame({name: generator.normal(size=60) for name in ("y", "a", "l")})
    found = run(numbers, task="regression", outcome={"column": "y"}, intervals={"method": "none"},
                models={"a": {"prediction": "a", "loo_prediction": "l"}, "b": {"prediction": "a"}})
    lost = [e.reason for e in found.rows if e.model == "b" and e.status == "undefined"]
    assert set(lost) <= {"the model gives no leave-one-out predictions"}
    assert len(found.rows) == 2 * len({e.metric for e in found.rows})
