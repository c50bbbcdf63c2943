"""What an evaluation holds in memory once a model is done, and that the results know nothing of it."""

from __future__ import annotations

from typing import Any

import pytest

from engine.runs import numbers, people, run
from evalpipe.engine.estimates import Evaluated
from evalpipe.statistics import summary

TWO = {"models": {"p": {"probability": "p"}, "q": {"probability": "q"}}, "metrics": ["roc_auc", "brier", "ks"],
       "intervals": {"replicates": 128}}


def test_large_tables_of_a_model_are_forgotten_once_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    expected, estimates_of = numbers(run(people(120), **TWO)), Evaluated.estimates_of
    held: dict[str, dict[str, int]] = {}

    def estimated(dataset: Evaluated, name: str) -> Any:
        held.setdefault(name, {
            model: max(values.size for values in summarised._computed.values())
            for (model, _), summarised in dataset.summaries.items()})
        return estimates_of(dataset, name)

    monkeypatch.setattr(Evaluated, "estimates_of", estimated)
    monkeypatch.setattr(summary, "KEPT", 10)
    assert numbers(run(people(120), **TWO)) == expected
    assert list(held) == ["p", "q"]
    assert max(size for sizes in held.values() for size in sizes.values()) <= 10
