"""The decision curve on the card."""

from __future__ import annotations

import numpy as np

import evalpipe
from card.drawn import of_figure
from evalpipe.words.numbers import number


def test_the_decision_curve_says_where_a_model_is_of_use() -> None:
    generator = np.random.default_rng(2)
    chance = generator.random(400)
    truth = np.where(generator.random(400) < chance, "sick", "well")
    results = evalpipe.evaluate(
        truth, {"good": chance, "poor": generator.random(400)}, event="sick", metrics=["brier"],
        intervals={"replicates": 100})
    (drawing,) = of_figure(results, "data", "net_benefit")
    curve = next(c for c in results.curves if c.curve == "net_benefit" and c.model == "good")
    at = curve.notes.largest_gain_at
    gain = number(curve.notes.largest_gain or 0.0)
    assert f"good: largest gain over acting on all cases or on none {gain}, at threshold {at}." in drawing.alt
    assert drawing.title == "Decision curve"
    assert "Acting on all cases" in drawing.svg
    assert "95% interval at each point" in drawing.caption


def test_a_model_that_is_of_no_use_anywhere_is_said_to_be() -> None:
    truth = np.array([1, 0] * 100)
    found = evalpipe.evaluate(truth, 1 - truth * 0.98 - 0.01, event=1, metrics=["brier"], intervals={"method": "none"})
    (drawing,) = of_figure(found, "data", "net_benefit")
    assert "at no threshold better than acting on all cases or on none" in drawing.alt
    assert "interval" not in drawing.caption
