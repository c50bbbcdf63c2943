"""Thresholds chosen by a rule where the truth is known: what is reported of them, less what they truly achieve.

    python benchmarks/cuts.py               draws the data sets and writes the section of docs/methods.md
    python benchmarks/cuts.py --sets 20     a quick look: prints the section, writes nothing

Every data set is a whole run of evalpipe, with a random stream of its own: the table is the same for any number of
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
from scipy.special import expit, logit, ndtr, ndtri

import evalpipe
from evalpipe.chapters.recalibrate.compute import fold_of
from evalpipe.data.catalog import look
from evalpipe.data.read import read
from evalpipe.plan.resolve import plan
from evalpipe.plan.sources import sources
from evalpipe.run import load

PAGE = Path(__file__).resolve().parents[1] / "docs" / "methods.md"
BEGIN, END = "<!-- cuts: begin -->", "<!-- cuts: end -->"

SEED, SETS, ROWS, FOLDS, REPLICATES = 364, 500, 200, 10, 200
PREVALENCE, SEPARATION = 0.3, 1.0
"""The share of events; how far apart the mean scores of events and others are, in standard deviations."""

RULES: dict[str, dict[str, Any]] = {
    "maximize j_index": {"maximize": "j_index"},
    "maximize sensitivity subject to specificity >= 0.9": {
        "maximize": "sensitivity", "subject_to": {"specificity": {"min": 0.9}}},
}
BEST = {"maximize j_index": SEPARATION / 2, "maximize sensitivity subject to specificity >= 0.9": float(ndtri(0.9))}
"""The score at which each rule would cut the population."""

MEASURES = ("sensitivity", "specificity")

TEXT = """\
## Thresholds where the truth is known

{sets:,} simulated data sets of {rows} rows, about {prevalence:.0%} of them events; scores are normal with means
{separation} standard deviation apart, and probabilities are the true ones. A rule chooses the threshold; the table has
the mean of what is reported less what the thresholds truly achieve in the population, in percentage points, with one
standard error. Cross-fitted in {folds} folds, each row is classified by the threshold that the other folds choose, and
the truth is that of these thresholds, each counting as many events (or others) as its fold has. The naive threshold is
chosen and judged on the same rows; its corrected value is less the optimism of {replicates} replicates, of the measure
that the rule names. `python benchmarks/cuts.py` writes this section (seed {seed}).

The best threshold of the population, which no row has chosen, has no bias: its error is the chance of the draws. It is
subtracted from the other columns in each data set (a control variate, with coefficient 1).

| rule | measure | at the population's threshold | cross-fitted | naive | naive, corrected |
|---|---|---|---|---|---|
{table}

{verdict} A requirement holds on the rows that chose the threshold, not always on new data: there the specificity of the
second rule is {kept:.1f} % on average.
"""


def frame(generator: np.random.Generator) -> pl.DataFrame:
    """Draw outcomes and their true probabilities."""
    event = generator.random(ROWS) < PREVALENCE
    score = generator.normal(size=ROWS) + SEPARATION * event
    return pl.DataFrame({"y": event.astype(int), "p": expit(_odds(score))})


def _odds(score: Any) -> Any:
    """Return the log odds of an event at a score: those of the prevalence and the log ratio of two normal densities."""
    return logit(PREVALENCE) + SEPARATION * score - SEPARATION**2 / 2


def achieved(cut: Any) -> tuple[Any, Any]:
    """Return the true sensitivity and specificity of thresholds of the probability."""
    score = (logit(np.minimum(cut, 1.0)) - _odds(0.0)) / SEPARATION
    return 1 - ndtr(score - SEPARATION), ndtr(score)


def simulate(task: tuple[str, int]) -> dict[str, float]:
    """Run evalpipe on one data set under a rule; what is reported less the truth, cross-fitted and naive."""
    name, index = task
    frames = {"d": frame(np.random.default_rng([SEED, index]))}
    spec = {
        "evalpipe": 1, "name": "cuts", "task": "binary", "outcome": {"column": "y", "event": 1}, "seed": index,
        "datasets": {"d": {"path": "memory"}}, "models": {"m": {"probability": "p"}}, "metrics": [*MEASURES],
        "threshold": RULES[name] | {"on": {"folds": FOLDS}}, "engine": {"workers": 1}, "report": {"formats": []},
        "intervals": {"replicates": REPLICATES, "bands": False},
    }
    results = evalpipe.run(spec, frames=frames)
    loaded = load(spec)
    planned = plan(loaded, look(sources(loaded), frames))
    (sample,) = read(planned, frames)
    (threshold,) = results.thresholds
    cuts = np.array(threshold.cuts)[fold_of(planned, sample, FOLDS)]
    chances, truth = sample.models["m"].probability, sample.truth
    reported = {row.metric: row.value for row in results.rows}
    found: dict[str, float] = {}
    fixed = float(expit(_odds(BEST[name])))
    pairs = zip(MEASURES, (truth, ~truth), achieved(cuts), achieved(threshold.value), achieved(fixed), strict=True)
    for measure, rows, crossed, naive, there in pairs:
        chance = ((chances >= fixed) == truth)[rows].mean() - there
        found[f"fixed {measure}"] = chance
        found[measure] = reported[measure] - crossed[rows].mean() - chance
        found[f"naive {measure}"] = ((chances >= threshold.value) == truth)[rows].mean() - naive - chance
        found[f"true {measure}"] = naive
    luck = sum(found[f"fixed {measure}"] for measure in _goal_of(name))
    found["corrected"] = threshold.corrected - _goal(name, threshold.value) - luck
    return found


def _goal_of(rule: str) -> tuple[str, ...]:
    """Return the measures whose sum a rule maximizes."""
    return MEASURES if "j_index" in rule else MEASURES[:1]


def _goal(rule: str, cut: float) -> float:
    """Return the true value of the measure that a rule maximizes."""
    sensitivity, specificity = achieved(cut)
    return float(sensitivity + specificity - 1 if "j_index" in rule else sensitivity)


def mean(found: list[dict[str, float]], *keys: str) -> str:
    """Write the mean of the sum of some differences, in percentage points, with its Monte-Carlo error."""
    values = 100 * np.array([sum(one[key] for key in keys) for one in found])
    return f"{values.mean():+.2f} ± {values.std(ddof=1) / np.sqrt(len(values)):.2f}".replace("-", "−")


def section(found: dict[str, list[dict[str, float]]], sets: int) -> str:
    """Return the section of the page."""
    lines = []
    for rule, runs in found.items():
        goal = "j_index" if "j_index" in rule else "sensitivity"
        measures = {"sensitivity": ("sensitivity",), "specificity": ("specificity",), "j_index": MEASURES}
        for measure, keys in measures.items():
            corrected = mean(runs, "corrected") if measure == goal else "–"
            fixed, naive = (mean(runs, *(f"{kind} {key}" for key in keys)) for kind in ("fixed", "naive"))
            lines.append(f"| {rule} | {measure} | {fixed} | {mean(runs, *keys)} | {naive} | {corrected} |")
    far = max(abs(np.mean(one)) * np.sqrt(len(one)) / np.std(one, ddof=1)
              for runs in found.values() for one in [[run[key] for run in runs] for key in MEASURES])
    verdict = f"What is cross-fitted lies at most {far:.1f} standard errors from the truth; what is naive is too good."
    kept = [one["true specificity"] for one in list(found.values())[1]]
    text = TEXT.format(
        sets=sets, rows=ROWS, prevalence=PREVALENCE, separation=f"{SEPARATION:g}", folds=FOLDS, replicates=REPLICATES,
        verdict=verdict, seed=SEED, table="\n".join(lines), kept=100 * np.mean(kept),
    )
    return f"{BEGIN}\n\n{text.rstrip()}\n\n{END}"


def main() -> None:
    """Simulate, print the section and, of the full number of data sets, write it."""
    parser = argparse.ArgumentParser(description="Thresholds chosen by a rule where the truth is known.")
    parser.add_argument("--sets", type=int, default=SETS, help="data sets for each rule")
    parser.add_argument("--workers", type=int, default=1, help="processes; they change no figure")
    asked = parser.parse_args()
    found: dict[str, list[dict[str, float]]] = {}
    begun = time.perf_counter()
    with multiprocessing.Pool(asked.workers) as pool:
        for rule in RULES:
            found[rule] = pool.map(simulate, [(rule, index) for index in range(asked.sets)], chunksize=4)
            print(f"{rule}: {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
    text = section(found, asked.sets)
    print(text)
    if asked.sets == SETS:
        put(PAGE, text, BEGIN, END)


if __name__ == "__main__":
    main()
