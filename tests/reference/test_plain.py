"""Measures that libraries lack, against their definitions spelled out as plain loops over rows.

Tolerance 1e-12: sums of a few hundred terms in another order.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.isotonic import IsotonicRegression

from evalpipe.metrics import registry
from evalpipe.statistics import Rows, Summary


def draw(seed: int) -> tuple[Any, Any, Any, Any]:
    generator = np.random.default_rng(seed)
    n = int(generator.integers(10, 200))
    y = generator.random(n) < 0.4
    y[:2] = [True, False]
    p = np.round(np.clip(generator.normal(0.4 + 0.2 * y, 0.25), 0, 1), int(generator.integers(1, 4)))
    return y, p >= 0.45, p, generator.integers(1, 4, n).astype(float)


def found_among(y: Any, p: Any, w: Any, rows: float) -> float:
    """Return the expected events among the rows scored highest when ties are broken by chance."""
    found, room = 0.0, rows
    for score in sorted(set(p.tolist()), reverse=True):
        here = p == score
        taken = min(room, float(w[here].sum()))
        found += taken * float(w[here & y].sum()) / float(w[here].sum())
        room -= taken
    return found


def brier_parts(y: Any, p: Any, w: Any, digits: int) -> tuple[float, float, float]:
    total, rate = float(w.sum()), float(w[y].sum() / w.sum())
    reliability = refinement = resolution = 0.0
    rounded = np.round(p, digits)  # numpy's rule for halves, which differs from Python's
    for stated in sorted(set(rounded.tolist())):
        here = rounded == stated
        weight = float(w[here].sum())
        share = float(w[here & y].sum()) / weight
        reliability += weight * (stated - share) ** 2 / total
        refinement += weight * share * (1 - share) / total
        resolution += weight * (share - rate) ** 2 / total
    return reliability, refinement, resolution


COSTS = ((0.5, 2.0), (7.0, 0.25))
"""What each true class (outer) costs by predicted class, event first; a right prediction is not free here."""


def cost(y: Any, d: Any, w: Any) -> float:
    """Return the mean cost of the predicted classes."""
    return sum(one * COSTS[1 - a][1 - b] for a, b, one in zip(y, d, w, strict=True)) / float(w.sum())


def cost_saved(y: Any, d: Any, w: Any) -> float:
    """Return the mean cost of the better of two constant predictions less that of the predicted classes."""
    return min(cost(y, np.full(len(y), constant), w) for constant in (0, 1)) - cost(y, d, w)


def expected_cost(y: Any, p: Any, w: Any) -> float:
    """Return the mean cost of classes drawn by their probabilities."""
    rows = zip(y, p, w, strict=True)
    return sum(one * (COSTS[1 - a][0] * b + COSTS[1 - a][1] * (1 - b)) for a, b, one in rows) / float(w.sum())


def gaps(y: Any, p: Any, w: Any, bins: int) -> float:
    """Return the mean distance of event rate and mean probability over bins of equal width."""
    inside = [min(int(np.searchsorted(np.arange(bins + 1) / bins, one, side="right")) - 1, bins - 1) for one in p]
    found = 0.0
    for k in set(inside):
        held = np.array(inside) == k
        found += w[held].sum() * abs(np.average(y[held], weights=w[held]) - np.average(p[held], weights=w[held]))
    return found / float(w.sum())


def held_by_weight(p: Any, w: Any, bins: int) -> list[Any]:
    """Return the rows of bins of equal weight: each repeated as often as it weighs, sorted, ties where they begin."""
    place = [int(bins * w[p < one].sum() / w.sum()) for one in p]
    return [np.array(place) == k for k in sorted(set(place))]


def held_by_width(p: Any, bins: int) -> list[Any]:
    """Return the rows of the bins of equal width that hold any."""
    place = [next(k for k in range(bins) if one < (k + 1) / bins or k == bins - 1) for one in p]
    return [np.array(place) == k for k in sorted(set(place))]


def distances(y: Any, p: Any, w: Any, held: list[Any]) -> list[tuple[float, float]]:
    """Return the weight of each bin, and the distance of its event rate from its mean probability."""
    return [(float(w[one].sum()), abs(np.average(y[one] - p[one], weights=w[one]))) for one in held]


def spiegelhalter(y: Any, p: Any, w: Any) -> float:
    rows = list(zip(y, p, w, strict=True))
    variance = sum(one * (1 - 2 * b) ** 2 * b * (1 - b) for _, b, one in rows)
    return float(sum(one * (a - b) * (1 - 2 * b) for a, b, one in rows) / np.sqrt(variance))


def hosmer_lemeshow(y: Any, p: Any, w: Any, groups: int) -> tuple[float, int]:
    """Return chi-squared by both cells of each group, as in Pearson's table, and its degrees of freedom."""
    found, held = 0.0, held_by_weight(p, w, groups)
    for one in held:
        for hit, chance in ((y[one], p[one]), (~y[one], 1 - p[one])):
            expected = float((w[one] * chance).sum())
            found += (float(w[one][hit].sum()) - expected) ** 2 / expected if expected else 0.0
    return found, len(held)


def isotonic(y: Any, p: Any, w: Any) -> Any:
    rank = np.unique(p, return_inverse=True)[1]  # scores that differ in their last bit would be joined
    return IsotonicRegression().fit(rank, y, sample_weight=w).predict(rank)


def corp(y: Any, p: Any, w: Any) -> tuple[float, float]:
    """Return miscalibration and discrimination: what isotonic recalibration takes off, and what it has learnt."""
    left, prevalence = np.average((y - isotonic(y, p, w)) ** 2, weights=w), np.average(y, weights=w)
    return np.average((y - p) ** 2, weights=w) - left, np.average((y - prevalence) ** 2, weights=w) - left


def best(y: Any, p: Any, w: Any, at: float, *, sensitivity: bool) -> float:
    """Return the best of one rate over the cuts at which the other is at least ``at``."""
    rates = [(w[y & (p >= cut)].sum() / w[y].sum(), w[~y & (p < cut)].sum() / w[~y].sum()) for cut in [*p, 2]]
    return max((se, sp)[not sensitivity] for se, sp in rates if (sp, se)[not sensitivity] >= at - 1e-12)


def odds(y: Any, d: Any, w: Any) -> float:
    return float(w[y & d].sum() * w[~y & ~d].sum() / (w[~y & d].sum() * w[y & ~d].sum()))


def above_chance(y: Any, d: Any, w: Any) -> float:
    found, chance = w[y & d].sum(), w.sum() * (w[y].sum() / w.sum()) * (w[d].sum() / w.sum())
    return float((found - chance) / (w[y | d].sum() - chance))


def true_rates(y: Any, d: Any, w: Any) -> tuple[float, float]:
    """Return the sensitivity and the specificity."""
    return np.average(d[y], weights=w[y]), np.average(~d[~y], weights=w[~y])


def sedi(y: Any, d: Any, w: Any) -> float:
    hit, alarm = (min(max(rate, 1e-9), 1 - 1e-9) for rate in (true_rates(y, d, w)[0], 1 - true_rates(y, d, w)[1]))
    ups, downs = math.log(alarm) - math.log(hit), math.log(1 - hit) - math.log(1 - alarm)
    return (ups + downs) / (math.log(alarm) + math.log(hit) + math.log(1 - hit) + math.log(1 - alarm))


PLAIN: dict[str, tuple[dict[str, Any], Any]] = {
    "precision_at_k": ({"k": 9}, lambda y, d, p, w: found_among(y, p, w, min(9, w.sum())) / min(9, w.sum())),
    "recall_at_k": ({"k": 9}, lambda y, d, p, w: found_among(y, p, w, 9) / w[y].sum()),
    "gain": ({"at": 0.15}, lambda y, d, p, w: found_among(y, p, w, 0.15 * w.sum()) / w[y].sum()),
    "lift": ({"at": 0.15}, lambda y, d, p, w: found_among(y, p, w, 0.15 * w.sum()) / w[y].sum() / 0.15),
    "roc_distance": ({}, lambda y, d, p, w: math.dist(true_rates(y, d, w), (1, 1))),
    "sedi": ({}, lambda y, d, p, w: sedi(y, d, w)),
    "tjur_r2": ({}, lambda y, d, p, w: np.average(p[y], weights=w[y]) - np.average(p[~y], weights=w[~y])),
    "odds_ratio": ({}, lambda y, d, p, w: odds(y, d, w)),
    "yule_q": ({}, lambda y, d, p, w: (odds(y, d, w) - 1) / (odds(y, d, w) + 1)),
    "frequency_bias": ({}, lambda y, d, p, w: w[d].sum() / w[y].sum()),
    "equitable_threat_score": ({}, lambda y, d, p, w: above_chance(y, d, w)),
    "detection_prevalence": ({}, lambda y, d, p, w: np.average(d, weights=w)),
    "brier_reliability": ({"digits": 1}, lambda y, d, p, w: brier_parts(y, p, w, 1)[0]),
    "brier_refinement": ({"digits": 1}, lambda y, d, p, w: brier_parts(y, p, w, 1)[1]),
    "brier_resolution": ({"digits": 1}, lambda y, d, p, w: brier_parts(y, p, w, 1)[2]),
    "brier_uncertainty": ({}, lambda y, d, p, w: np.average(y, weights=w) * np.average(~y, weights=w)),
    "brier_residual": ({"digits": 1}, lambda y, d, p, w: np.average((y - p) ** 2, weights=w)
                       - sum(brier_parts(y, p, w, 1)[:2])),
    "ece": ({"bins": 15}, lambda y, d, p, w: gaps(y, p, w, 15)),
    "mce": ({"bins": 12}, lambda y, d, p, w: max(gap for _, gap in distances(y, p, w, held_by_width(p, 12)))),
    "ace": ({"bins": 8}, lambda y, d, p, w: sum(n * gap for n, gap in distances(y, p, w, held_by_weight(p, w, 8)))
            / w.sum()),
    "rmsce": ({"bins": 12}, lambda y, d, p, w: np.sqrt(
        sum(n * gap**2 for n, gap in distances(y, p, w, held_by_width(p, 12))) / w.sum())),
    "spiegelhalter_z": ({}, lambda y, d, p, w: spiegelhalter(y, p, w)),
    "spiegelhalter_p": ({}, lambda y, d, p, w: 2 * stats.norm.sf(abs(spiegelhalter(y, p, w)))),
    "brier_miscalibration": ({}, lambda y, d, p, w: corp(y, p, w)[0]),
    "brier_discrimination": ({}, lambda y, d, p, w: corp(y, p, w)[1]),
    "sensitivity_at_specificity": ({"at": 0.8}, lambda y, d, p, w: best(y, p, w, 0.8, sensitivity=True)),
    "specificity_at_sensitivity": ({"at": 0.7}, lambda y, d, p, w: best(y, p, w, 0.7, sensitivity=False)),
    "net_benefit": ({"threshold": 0.3}, lambda y, d, p, w: (
        w[y & (p >= 0.3)].sum() - w[~y & (p >= 0.3)].sum() * 0.3 / 0.7) / w.sum()),
    "cost": ({"costs": COSTS}, lambda y, d, p, w: cost(y, d, w)),
    "cost_saved": ({"costs": COSTS}, lambda y, d, p, w: cost_saved(y, d, w)),
    "expected_cost": ({"costs": COSTS}, lambda y, d, p, w: expected_cost(y, p, w)),
}


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # an odds ratio that is infinite is not compared
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # nor what an infinite one comes to
@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_loop_agrees(name: str) -> None:
    metric, (options, plain) = registry[name], PLAIN[name]
    compared = 0
    for seed in range(60):
        y, d, p, w = draw(seed)
        found = float(Summary(Rows(y, d, p), w).value(metric, metric.options(**options).model_dump()))
        expected = float(plain(y, d, p, w))
        if not np.isnan(found) and np.isfinite(expected):
            compared += 1
            assert found == pytest.approx(expected, rel=1e-12, abs=1e-12), f"data set {seed}"
    assert compared >= 50


def test_a_tie_across_the_border_is_shared() -> None:
    rows = Rows(np.array([True, False, True, False]), np.ones(4, bool), np.array([0.9, 0.5, 0.5, 0.5]))
    value = Summary(rows, np.ones(4)).value(registry["precision_at_k"], {"k": 2})
    assert value == pytest.approx((1 + 1 / 3) / 2)


@pytest.mark.parametrize(("probability", "loss"), [(0.999, 0.0004), (0.501, 0.3002), (0.25, 0.6021), (0.001, 3.0)])
def test_the_log_losses_of_nicholson(probability: float, loss: float) -> None:
    """His table, printed to four decimals, is in base 10; the measure's default is the natural logarithm."""
    rows, log_loss = Rows(np.array([True]), np.array([True]), np.array([probability])), registry["log_loss"]
    value = {base: float(Summary(rows, np.ones(1)).value(log_loss, {"base": base, "epsilon": 1e-15}))
             for base in (10, "e")}
    assert round(value[10], 4) == loss
    assert value["e"] == pytest.approx(-np.log(probability), rel=1e-12)
