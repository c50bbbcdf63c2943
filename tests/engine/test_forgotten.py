"""What an evaluation holds in memory once a model is done, and that the results know nothing of it."""

from __future__ import annotations

from typing import Any

import pytest

import evalpipe.engine.evaluate as engine
from engine.runs import numbers, people, run
from evalpipe.engine.estimates import Evaluated
from evalpipe.statistics import summary

TWO = {"models": {"p": {"probability": "p"}, "q": {"probability": "q"}}, "metrics": ["roc_auc", "brier", "ks"],
       "intervals": {"replicates": 128}}


def test_large_tables_of_a_model_are_forgotten_once_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    expected, add_model, held = numbers(run(people(120), **TWO)), engine._add_model, {}

    def added(evaluation: Any, dataset: Evaluated, name: str) -> None:
        held[name] = {
            model: max(values.size for values in summarised._computed.values())
            for (model, _), summarised in dataset.summaries.items()}
        add_model(evaluation, dataset, name)

    monkeypatch.setattr(engine, "_add_model", added)
    monkeypatch.setattr(summary, "KEPT", 10)
    assert numbers(run(people(120), **TWO)) == expected
    assert list(held) == ["p", "q"]
    assert max(size for sizes in held.values() for size in sizes.values()) <= 10
