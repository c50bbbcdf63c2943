"""How often intervals at 95 % hold the true value: every method of twelve measures, on simulated data.

    python benchmarks/coverage.py               draws the data sets and writes the section Coverage of docs/methods.md
    python benchmarks/coverage.py --sets 100    a quick look: prints the section, writes nothing

The population is binormal, so every true value is an integral. Limits are made by the engine's own functions from one
draw of replicates a data set. Each data set has a random stream of its own: the table is the same for any number of
workers.
"""

from __future__ import annotations

import argparse
import dataclasses
import multiprocessing
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.special import expit, logit, ndtr

import evalpipe
from evalpipe.data.read import read
from evalpipe.data.sample import Predictions, Sample
from evalpipe.engine.estimates import Scope, estimates
from evalpipe.engine.replicates import Replicates, draw
from evalpipe.engine.subsets import rows_of, subsets
from evalpipe.intervals.bootstrap import percentile_limits
from evalpipe.intervals.contrasts import paired_auc
from evalpipe.plan.plan import Plan
from evalpipe.statistics import Rows, Summary
from evalpipe.statistics.rows import present

Array = np.ndarray[Any, Any]
Limits = tuple[float, float] | None

PAGE = Path(__file__).resolve().parents[1] / "docs" / "methods.md"
BEGIN, END = "<!-- coverage: begin -->", "<!-- coverage: end -->"

SEED = 364
LEVEL = 0.95
CELLS = tuple((n, prevalence) for prevalence in (0.5, 0.05) for n in (100, 500, 5000))
SETS = 2000
REPLICATES = 1000
STUDENTISED, DRAWS = {100: 400, 500: 400, 5000: 100}, 400
"""The data sets of so many rows that studentised limits are made of, and their replicates: each costs 41 values."""

SEPARATION, STEEPNESS, NOISE = 1.2, 1.5, 0.6
"""Between the mean scores of events and others, in standard deviations; how much too steep the probabilities are on
the logit scale; the standard deviation of what the second model adds to the score."""

BOOTSTRAP: tuple[str, ...] = ("percentile", "basic", "bca", "studentised")
BINOMIAL: tuple[str, ...] = ("exact", "wilson", "jeffreys")
MEASURES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("accuracy", "sensitivity", "precision"), BINOMIAL + BOOTSTRAP),
    **dict.fromkeys(("f1", "kappa", "mcc", "brier", "log_loss"), BOOTSTRAP),
    "roc_auc": ("delong", *BOOTSTRAP),
    "average_precision": ("bootstrap_logit", *BOOTSTRAP),
    "ece": ("folded", *BOOTSTRAP),
}
PAIRED = "difference of two AUC"
METHODS = [(name, method) for name, methods in MEASURES.items() for method in methods]
ROWS = [*METHODS, (PAIRED, "delong"), (PAIRED, "percentile")]

HELD, BELOW, ABOVE, NONE, UNTRIED = 0, 1, 2, 3, 4
"""What became of the true value: within the limits, below or above them, there were none, or none were tried."""


TEXT = """\
## Coverage

How often, in per cent, an interval at 95 % holds the true value: {sets:,} simulated data sets for each number of rows
and prevalence (the columns). The number of events is random; rows are independent and have no weights. Scores of events
and of others are normal, {separation} standard deviations apart. The probabilities are overconfident: {steepness} times
too steep about the prevalence on the logit scale. A row is predicted as the event where its probability is at least the
prevalence. The second model ranks by the same score plus noise (standard deviation {noise}). The true values are
integrals over the population, right to five digits.

All measures and methods share {replicates:,} replicates a data set; studentised limits come from {draws} replicates of
the first {few} data sets (of {most:,} rows: {fewest}). Quantiles of so few replicates cover a little less than of many:
by 0.2 points of {replicates:,}, by 0.5 of {draws}. Two standard errors of a figure near 95 are {error:.1f} points, of
studentised limits {least:.1f} to {largest:.1f}. Where a method has no limits, those that a run falls back to count.
Where there are none at all they do not cover, and "none" is their share, if it is above 1 %. A dash stands for what was
not tried.

The expected calibration error has 15 bins. It is too large where few rows share one, in the replicates still more, so
limits from the replicates miss the true value. `python benchmarks/coverage.py` writes this section (seed {seed}).
"""


def chances(score: Array, prevalence: float) -> Array:
    """Return the model's probabilities: those of the population, made too steep about the prevalence."""
    return np.asarray(expit(logit(prevalence) + STEEPNESS * SEPARATION * (score - SEPARATION / 2)))


def model(truth: Array, score: Array, prevalence: float) -> Rows:
    """Return the rows of the first model; an event is predicted from the prevalence on."""
    return Rows(truth, score >= SEPARATION / 2, chances(score, prevalence))


@cache
def planned(prevalence: float = 0.5, method: str | None = None, replicates: int = REPLICATES) -> Plan:
    """Plan the measures with a method, by default that of `auto`; an event is predicted from the prevalence on."""
    frame = pl.DataFrame({"y": [0, 1], "p": [0.2, 0.8]})
    spec = {
        "evalpipe": 1, "name": "coverage", "outcome": {"column": "y", "event": 1}, "task": "binary",
        "datasets": {"data": {"path": "memory"}}, "models": {"model": {"probability": "p"}}, "threshold": prevalence,
        "metrics": list(MEASURES), "intervals": {"level": LEVEL, "replicates": replicates, "bands": False},
        "seed": SEED, "engine": {"mode": "exact", "workers": 1},
    }
    plan = evalpipe.plan(spec, frames={"data": frame})
    entries = plan.metrics if method is None else [dataclasses.replace(one, method=method) for one in plan.metrics]
    return dataclasses.replace(plan, metrics=tuple(entries))


@cache
def asked(prevalence: float) -> Plan:
    """Plan every measure with every one of its methods."""
    known = {entry.metric.name: entry for entry in planned(prevalence).metrics}
    entries = [dataclasses.replace(known[name], method=method) for name, method in METHODS]
    return dataclasses.replace(planned(prevalence), metrics=tuple(entries))


@cache
def truths(prevalence: float) -> dict[str, float]:
    """Return the true values: the measures of the population, by the midpoint rule over the score.

    The steps, 1/20,000 of a standard deviation, begin at the threshold. Halving them moves no value by 1e-5.
    """
    step, reach = 5e-5, 9.0
    score = SEPARATION / 2 + step * (np.arange(-round(reach / step), round(reach / step)) + 0.5)
    event = prevalence * np.exp(-((score - SEPARATION) ** 2) / 2)
    other = (1 - prevalence) * np.exp(-(score**2) / 2)
    weights = np.concatenate([event, other]) * step / np.sqrt(2 * np.pi)
    truth = np.repeat([True, False], len(score))
    summary = Summary(model(truth, np.tile(score, 2), prevalence), weights)
    return {entry.metric.name: float(summary.value(entry.metric, entry.params)) for entry in planned().metrics}


def true_difference() -> float:
    """Return the true difference of the areas under the two ROC curves."""
    return float(ndtr(SEPARATION / np.sqrt(2)) - ndtr(SEPARATION / np.sqrt(2 + 2 * NOISE**2)))


def simulate(n: int, prevalence: float, index: int) -> tuple[Sample, Sample]:
    """Draw a data set, as each of the two models sees it; the number of events is random.

    Its name makes the random stream of its replicates, so that both samples are resampled alike.
    """
    generator = np.random.default_rng([SEED, n, round(1000 * prevalence), index])
    truth = generator.random(n) < prevalence
    score = generator.normal(SEPARATION * truth)
    second = score + generator.normal(scale=NOISE, size=n)
    order = np.lexsort((score, truth))  # that of the sample's rows
    frame = pl.DataFrame({"y": truth[order].astype(int), "p": chances(score[order], prevalence)})
    (found,) = read(planned(prevalence), {"data": frame})
    first = dataclasses.replace(found, dataset=f"{n}/{prevalence}/{index}")
    return first, dataclasses.replace(first, models={"model": Predictions(second[order])})


def drawn(sample: Sample, plan: Plan) -> Replicates:
    """Return the engine's replicates of what a plan lists."""
    summary = Summary(rows_of(sample, sample.models["model"]), np.ones(sample.n))
    return draw(plan, sample, {("model", 0): summary})


def shared(sample: Sample, prevalence: float, *, slow: bool) -> tuple[Plan, Replicates]:
    """Return a plan of every measure and method of `ROWS`, and the replicates that all of them share.

    Those of studentised limits are drawn where they are asked for: ``slow``.
    """
    fast = drawn(sample, planned(prevalence, "bca"))
    late = drawn(sample, planned(prevalence, "studentised", DRAWS)) if slow else Replicates()
    tables: dict[str, dict[Any, Array]] = {"metrics": {}, "jackknife": {}, "errors": {}, "error": {}}
    for i, (name, method) in enumerate(METHODS):
        source, key = ("model", 0, list(MEASURES).index(name)), ("model", 0, i)
        for kind, table in tables.items():
            values = getattr(late if method == "studentised" else fast, kind)
            if source in values:
                table[key] = values[source]
    return asked(prevalence), Replicates(
        tables["metrics"], jackknife=tables["jackknife"], errors=tables["errors"], error=tables["error"])


def intervals(first: Sample, second: Sample, prevalence: float, *, slow: bool) -> Iterator[Limits | tuple[()]]:
    """Yield the limits of each of `ROWS` in turn, as a run has them; () where they are not tried."""
    plan, found = shared(first, prevalence, slow=slow)
    summary = Summary(rows_of(first, first.models["model"]), np.ones(first.n))
    scope = Scope(plan, first, "model", 0, subsets(plan, first)[0], summary)
    for entry in plan.metrics:
        if entry.method == "studentised" and not slow:
            yield ()
        else:
            (estimate,) = estimates(scope, entry, found)
            yield None if estimate.lower is None or estimate.upper is None else (estimate.lower, estimate.upper)
    area = planned(prevalence).metrics[list(MEASURES).index("roc_auc")]
    alone = dataclasses.replace(planned(prevalence), metrics=(dataclasses.replace(area, method="percentile"),))
    gaps = found.metrics["model", 0, METHODS.index(("roc_auc", "percentile"))]
    percentile = percentile_limits(gaps - drawn(second, alone).metrics["model", 0, 0], LEVEL)
    scores = [present(sample.models["model"].score, "scores") for sample in (first, second)]
    yield paired_auc(first.truth, scores[0], scores[1]).limits(LEVEL) or percentile
    yield percentile


def outcomes(task: tuple[int, float, int]) -> list[int]:
    """Return what became of the true value in each of `ROWS` on one data set."""
    n, prevalence, index = task
    true = truths(prevalence) | {PAIRED: true_difference()}
    found = intervals(*simulate(*task), prevalence, slow=index < STUDENTISED[n])
    return [outcome(limits, true[name]) for limits, (name, _) in zip(found, ROWS, strict=True)]


def outcome(limits: Limits | tuple[()], truth: float) -> int:
    """Say where the true value lies."""
    if limits is None:
        return NONE
    if len(limits) != 2:
        return UNTRIED
    if np.isnan(limits).any():
        return NONE
    return BELOW if truth < limits[0] else ABOVE if truth > limits[1] else HELD


def tally(sets: int, workers: int) -> Array:
    """Return how often each outcome occurred: [cells, rows, outcomes]."""
    found = np.zeros((len(CELLS), len(ROWS), 5), int)
    for prevalence in {prevalence for _, prevalence in CELLS}:
        truths(prevalence)  # before the processes part, which then all have them
    with multiprocessing.Pool(workers) as pool:
        for place, (n, prevalence) in enumerate(CELLS):
            begun = time.perf_counter()
            tasks = [(n, prevalence, index) for index in range(sets)]
            for done, codes in enumerate(pool.imap_unordered(outcomes, tasks, chunksize=4), 1):
                found[place, range(len(ROWS)), codes] += 1
                if done % 200 == 0 or done == sets:
                    taken = f"{done} sets in {time.perf_counter() - begun:.0f} s"
                    print(f"n = {n}, prevalence {prevalence}: {taken}", file=sys.stderr, flush=True)
    return found[..., :UNTRIED]


def shown(counts: Array) -> str:
    """Return the coverage of one row in one cell, in per cent; the share without limits where it is above 1 %."""
    tried = counts.sum()
    if not tried:
        return "–"
    covered, none = 100 * counts[HELD] / tried, 100 * counts[NONE] / tried
    return f"{covered:.1f}" + (f" ({none:.0f} none)" if none > 1 else "")


def table(found: Array) -> Iterator[str]:
    """Yield the lines of the table from the tally [cells, rows, outcomes]."""
    chosen = {entry.metric.name: entry.method for entry in planned().metrics} | {PAIRED: "delong"}
    titles = {entry.metric.name: entry.metric.title for entry in planned().metrics}
    yield "| measure | method | " + " | ".join(f"{n:,}, {prevalence:g}" for n, prevalence in CELLS) + " |"
    yield "|---|---|" + "---|" * len(CELLS)
    before = ""
    for place, (name, method) in enumerate(ROWS):
        auto = f"**{method}** (`auto`)" if chosen[name] == method else method
        title = "" if name == before else titles.get(name, PAIRED)
        yield f"| {title} | {auto} | " + " | ".join(shown(cell[place]) for cell in found) + " |"
        before = name


def section(found: Array, sets: int) -> str:
    """Return the section of the page."""
    few, fewest = (min(sets, tried) for tried in (max(STUDENTISED.values()), min(STUDENTISED.values())))
    text = TEXT.format(
        sets=sets, replicates=REPLICATES, seed=SEED, separation=SEPARATION, steepness=STEEPNESS, noise=NOISE,
        few=few, fewest=fewest, most=max(STUDENTISED), draws=DRAWS,
        error=two_errors(sets), least=two_errors(few), largest=two_errors(fewest),
    )
    return "\n".join([BEGIN, "", text, *table(found), "", END])


def two_errors(sets: int) -> float:
    """Return two standard errors of a coverage of 95 %, in points."""
    return float(200 * np.sqrt(LEVEL * (1 - LEVEL) / sets))


def put(path: Path, text: str, begin: str, end: str) -> None:
    """Put a section between its markers, or at the end of the page."""
    page = path.read_text(encoding="utf-8")
    if begin in page:
        before, rest = page.split(begin)
        path.write_text(before + text + rest.split(end)[1], encoding="utf-8")
    else:
        path.write_text(f"{page.rstrip()}\n\n{text}\n", encoding="utf-8")


def main() -> None:
    """Simulate, print the section and, of the full number of data sets, write it."""
    parser = argparse.ArgumentParser(description="Coverage of intervals on simulated data.")
    parser.add_argument("--sets", type=int, default=SETS, help="data sets for each number of rows and prevalence")
    parser.add_argument("--workers", type=int, default=2, help="processes; they change no figure")
    asked = parser.parse_args()
    text = section(tally(asked.sets, asked.workers), asked.sets)
    print(text)
    if asked.sets == SETS:
        put(PAGE, text, BEGIN, END)


if __name__ == "__main__":
    main()
