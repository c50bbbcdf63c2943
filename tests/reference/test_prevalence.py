"""The naive Bayes model of Kuhn's chapter at other prevalences, against the closed form and a simulation."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evalpipe
from evalpipe.results import Estimate, Results

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "reference" / "mushroom"
SPEC = Path(__file__).with_name("mushroom.yaml")

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the reference data are not beside the project")

TP, FN, FP, TN = 2613, 750, 564, 2180
MEASURES = [
    "ppv", "npv", {"metric": "ppv", "prevalence": 0.05}, {"metric": "npv", "prevalence": 0.05},
    {"metric": "ppv", "prevalence": 0.001}, {"metric": "npv", "prevalence": 0.001},
    {"metric": "precision", "prevalence": ["declared", 0.05, 0.001]},
    {"metric": "npv_sample", "prevalence": ["declared", 0.05, 0.001]}, {"metric": "accuracy", "prevalence": "declared"},
]


@cache
def results(uncertain: bool = False) -> Results:  # noqa: FBT002 - a key of the cache
    import yaml

    spec = yaml.safe_load(SPEC.read_text(encoding="utf-8"))
    spec["datasets"]["validation"]["path"] = str(FOLDER / "val.csv")
    if uncertain:
        spec["prevalence"] = {"beta": [55.5, 44.5]}
    intervals = {"level": 0.95, "replicates": 5000, "bands": False}
    return evalpipe.run(spec | {"metrics": MEASURES, "intervals": intervals, "report": {"formats": []}})


def row(found: Results, metric: str, prevalence: float) -> Estimate:
    (one,) = [r for r in found.rows if r.metric == metric and r.params["prevalence"] == pytest.approx(prevalence)]
    return one


def closed(metric: str, prior: float) -> float:
    """Return a predictive value by Bayes' rule from the counts of the chapter."""
    se, sp = TP / (TP + FN), TN / (TN + FP)
    if metric in ("ppv", "precision"):
        return se * prior / (se * prior + (1 - sp) * (1 - prior))
    return sp * (1 - prior) / (sp * (1 - prior) + (1 - se) * prior)


def test_predictive_values_at_the_prevalence_of_the_training_set() -> None:
    """The chapter's own .822 and .744 are those of the sample; to 1e-6, the digits written here."""
    assert row(results(), "ppv", 0.555).value == pytest.approx(0.825012, abs=1e-6)
    assert row(results(), "npv", 0.555).value == pytest.approx(0.740685, abs=1e-6)


@pytest.mark.parametrize("prior", [0.555, 0.05, 0.001])
@pytest.mark.parametrize("metric", ["ppv", "npv", "precision", "npv_sample"])
def test_predictive_values_are_bayes_rule(metric: str, prior: float) -> None:
    """To 1e-12: the same numbers in another order."""
    assert row(results(), metric, prior).value == pytest.approx(closed(metric, prior), rel=1e-12)


def test_a_fixed_prior_has_the_limits_of_the_delta_method_and_the_bootstrap_agrees() -> None:
    """Percentiles of precision at the prior against the logit limits of ppv: within 5 Monte-Carlo errors."""
    for prior in (0.555, 0.05, 0.001):
        exact, drawn = row(results(), "ppv", prior), row(results(), "precision", prior)
        assert (exact.method, drawn.method) == ("logit", "percentile")
        assert (drawn.lower, drawn.upper) == pytest.approx(
            (exact.lower, exact.upper), abs=5 * (drawn.monte_carlo_error or 0) + 0.002 * closed("ppv", prior))


def simulated() -> dict[str, Any]:
    """Return a million draws: how many are poisonous, hits among them and among the others, and the prior.

    The bootstrap resamples all rows together, so the sizes of the classes are drawn too.
    """
    generator, times, n = np.random.default_rng(1), 1_000_000, TP + FN + FP + TN
    events = generator.binomial(n, (TP + FN) / n, times)
    se = generator.binomial(events, TP / (TP + FN)) / events
    sp = generator.binomial(n - events, TN / (TN + FP)) / (n - events)
    prior = generator.beta(55.5, 44.5, times)
    ppv = se * prior / (se * prior + (1 - sp) * (1 - prior))
    npv = sp * (1 - prior) / (sp * (1 - prior) + (1 - se) * prior)
    return {"ppv": ppv, "precision": ppv, "npv": npv, "npv_sample": npv, "accuracy": se * prior + sp * (1 - prior)}


def test_a_beta_prior_gives_the_limits_of_a_simulation() -> None:
    """Within 4.5 Monte-Carlo errors of 5,000 replicates, as the results state them; those of the simulation are 0.07 of
    that. Beta(55.5, 44.5) has the mean .555, so the values stay; the limits are several times as wide.
    """
    found = results(uncertain=True)
    for metric, drawn in simulated().items():
        one = row(found, metric, 0.555)
        assert one.method == "percentile"
        assert one.value == pytest.approx(row(results(), metric, 0.555).value, rel=1e-12)
        assert one.monte_carlo_error is not None
        assert one.monte_carlo_error < 0.005
        for limit, share in ((one.lower, 0.025), (one.upper, 0.975)):
            assert limit == pytest.approx(np.quantile(drawn, share), abs=4.5 * one.monte_carlo_error), metric
    wide, narrow = row(found, "ppv", 0.555), row(results(), "ppv", 0.555)
    assert None not in (wide.upper, wide.lower, narrow.upper, narrow.lower)
    assert wide.upper - wide.lower > 3 * (narrow.upper - narrow.lower)  # type: ignore[operator]
