"""The probability of being best where it is known who is: it should hold as often as it says.

    python benchmarks/best.py                draws the pairs and writes the section of docs/methods.md
    python benchmarks/best.py --pairs 100    a quick look: prints the section, writes nothing

Every pair is a whole run of evalpipe, with a random stream of its own: the table is the same for any number of
workers.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from coverage import put
from scipy.special import expit, logit
from scipy.stats import norm

import evalpipe
from evalpipe.intervals.binomial import clopper_pearson

PAGE = Path(__file__).resolve().parents[1] / "docs" / "methods.md"
BEGIN, END = "<!-- best: begin -->", "<!-- best: end -->"

SEED, PAIRS, ROWS, REPLICATES = 1980, 2000, 400, 500
PREVALENCE = 0.4
SHARED = 0.5
"""The correlation of the two models' scores within a level of the outcome."""

DISTANCES, FEATURES = (0.9, 2.1), (1, 12)
"""The range of a model's distance between the levels, in standard deviations, and of its number of features."""

BINS = 10
GOALS: list[dict[str, Any]] = [
    {"metric": "brier", "minimize": {"low": 0.05, "high": 0.3}},
    {"metric": "roc_auc", "maximize": {"low": 0.5, "high": 1.0, "scale": 2}},
    {"metric": "sensitivity", "maximize": {"low": 0.2, "high": 1.0}, "weight": 2},
    {"characteristic": "features", "minimize": {"low": 0, "high": 30}},
]

TEXT = """\
## The probability of being best

{pairs:,} simulated pairs of models on {rows:,} rows each. The score of a model is normal in either level of the outcome
(prevalence {prevalence:.0%}); how far apart the levels are (from {near} to {far} standard deviations), and how many
features the model has, are drawn anew for each model, so that either is as likely to be the better one; the differences
are wide against the noise. The overall desirability of four goals (Brier score, ROC AUC with scale 2, sensitivity with
weight 2, number of features) is known from the distributions. The stated probability is the share of {replicates}
replicates in which the first model has the higher D. `python benchmarks/best.py` writes this section (seed {seed}).

| stated probability | pairs | mean stated, % | the first model truly is better, % | 95 % limits |
|---|---|---|---|---|
{table}

In all, the model that was said to be better truly is in {right:.1f} % of the pairs; the stated probabilities
promise {promised:.1f} %. Two standard errors are {error:.1f} points.
"""


def ramp(value: float, low: float, high: float) -> float:
    """Return how far a value is from ``low`` to ``high``, 0 to 1."""
    return min(max((value - low) / (high - low), 0.0), 1.0)


def truth(distance: float, features: int) -> float:
    """Return the overall desirability of a model in the population, by the formulas of the normal distribution."""
    z = np.linspace(-9, 9, 20_001)
    p, step = expit(logit(PREVALENCE) + distance * z), z[1] - z[0]
    events, others = norm.pdf(z - distance / 2), norm.pdf(z + distance / 2)
    brier = float(step * (PREVALENCE * (1 - p) ** 2 * events + (1 - PREVALENCE) * p**2 * others).sum())
    area = float(norm.cdf(distance / np.sqrt(2)))
    sensitivity = float(norm.cdf(distance / 2 + logit(PREVALENCE) / distance))
    parts = (1 - ramp(brier, 0.05, 0.3), ramp(area, 0.5, 1.0) ** 2, ramp(sensitivity, 0.2, 1.0),
             1 - ramp(features, 0, 30))
    return float((parts[0] * parts[1] * parts[2] ** 2 * parts[3]) ** (1 / 5))


def frame(generator: np.random.Generator, distances: Any) -> pl.DataFrame:
    """Draw outcomes and the calibrated probabilities of two models."""
    y = generator.random(ROWS) < PREVALENCE
    noise = generator.multivariate_normal([0, 0], [[1, SHARED], [SHARED, 1]], ROWS)
    columns = {
        name: expit(logit(PREVALENCE) + d * (d * (y - 0.5) + noise[:, i]))
        for i, (name, d) in enumerate(zip("ab", distances, strict=True))
    }
    return pl.DataFrame({"y": y.astype(int), **columns})


def simulate(index: int) -> tuple[float, bool]:
    """Return the stated probability that the first model of a pair is the better one, and whether it is."""
    generator = np.random.default_rng([SEED, index])
    distances = generator.uniform(*DISTANCES, 2)
    features = generator.integers(FEATURES[0], FEATURES[1], 2, endpoint=True)
    results = evalpipe.run({
        "evalpipe": 1, "name": "best", "task": "binary", "outcome": {"column": "y", "event": 1}, "seed": index,
        "datasets": {"d": {"path": "memory"}},
        "models": {name: {"probability": name, "characteristics": {"features": int(count)}}
                   for name, count in zip("ab", features, strict=True)},
        "metrics": ["brier"], "desirability": GOALS, "report": {"formats": []}, "engine": {"workers": 1},
        "intervals": {"replicates": REPLICATES, "bands": False},
    }, frames={"d": frame(generator, distances)})
    stated = results.desirability.overall[0].probability_best
    assert stated is not None  # noqa: S101 - no replicate of so many rows lacks a level
    first, second = (truth(float(d), int(count)) for d, count in zip(distances, features, strict=True))
    return stated, first > second


def section(found: list[tuple[float, bool]]) -> str:
    """Return the section of the page."""
    stated, better = (np.array(column) for column in zip(*found, strict=True))
    place = np.minimum((stated * BINS).astype(int), BINS - 1)
    rows = []
    for k in range(BINS):
        here = place == k
        n, hits = int(here.sum()), int(better[here].sum())
        low, high = clopper_pearson(hits, n, 0.95) if n else (0.0, 1.0)
        shares = f"{100 * stated[here].mean():.1f} | {100 * hits / n:.1f}" if n else "– | –"
        limits = f"{100 * low:.1f} to {100 * high:.1f}"
        rows.append(f"| {k / BINS:.1f} to {(k + 1) / BINS:.1f} | {n} | {shares} | {limits} |")
    sure = np.maximum(stated, 1 - stated)
    text = TEXT.format(
        pairs=len(found), rows=ROWS, prevalence=PREVALENCE, near=DISTANCES[0], far=DISTANCES[1],
        replicates=REPLICATES, seed=SEED, table="\n".join(rows), right=100 * np.mean((stated > 0.5) == better),
        promised=100 * sure.mean(), error=200 * np.sqrt((sure * (1 - sure)).mean() / len(found)),
    )
    return f"{BEGIN}\n\n{text.rstrip()}\n\n{END}"


def main() -> None:
    """Simulate, print the section and, of the full number of pairs, write it."""
    parser = argparse.ArgumentParser(description="The probability of being best, where it is known who is.")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="pairs of models")
    parser.add_argument("--workers", type=int, default=2, help="processes; they change no figure")
    asked = parser.parse_args()
    begun = time.perf_counter()
    with multiprocessing.Pool(asked.workers) as pool:
        found = pool.map(simulate, range(asked.pairs), chunksize=4)
    print(f"{time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
    text = section(found)
    print(text)
    if asked.pairs == PAIRS:
        put(PAGE, text, BEGIN, END)


if __name__ == "__main__":
    main()
