"""How often intervals at 95 % hold the true value, of the measures that noise makes larger or smaller.

    python benchmarks/noise.py               draws the data sets and writes the section Noise of docs/methods.md
    python benchmarks/noise.py --sets 100    a quick look: prints the section, writes nothing

The population is that of `benchmarks/coverage.py`, and so are the data sets. Limits are made by the engine's own
functions: under `auto`, and percentile limits beside them.
"""

from __future__ import annotations

import argparse
import dataclasses
import multiprocessing
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import polars as pl
from coverage import HELD, LEVEL, PAGE, SEED, SEPARATION, UNTRIED, model, outcome, put, simulate, two_errors

import evalpipe
from evalpipe.data.sample import Sample
from evalpipe.engine.estimates import Scope, estimates
from evalpipe.engine.replicates import Replicates, draw
from evalpipe.engine.subsets import rows_of, subsets
from evalpipe.intervals.noise import range_limits
from evalpipe.plan.plan import Plan
from evalpipe.statistics import Summary

Array = np.ndarray[Any, Any]

BEGIN, END = "<!-- noise: begin -->", "<!-- noise: end -->"
PREVALENCE = 0.5
SETS = {100: 1000, 500: 1000, 5000: 1000}
DRAWN = {100: 300, 500: 300, 5000: 60}
"""The data sets of so many rows whose replicates are drawn; the others serve limits in closed form alone."""
REPLICATES = 200
SLICES = 4
CLUSTER = 4
"""The rows of a cluster, which share the noise of their truth in part."""

MEASURES: tuple[dict[str, Any], ...] = (
    {"metric": "ece"}, {"metric": "ece", "strategy": "quantile"}, {"metric": "ece", "norm": "l2"},
    {"metric": "ece", "norm": "l2", "debiased": True}, {"metric": "mce"}, {"metric": "ace"}, {"metric": "rmsce"},
    {"metric": "brier_reliability"}, {"metric": "brier_reliability", "digits": 1}, {"metric": "brier_refinement"},
    {"metric": "brier_resolution"}, {"metric": "brier_miscalibration"}, {"metric": "brier_discrimination"},
    {"metric": "ici"}, {"metric": "e90"}, {"metric": "emax"}, {"metric": "ici", "smooth": "isotonic"},
    {"metric": "ks"},
)
DESIGNS = ("rows", "weights", "clusters")
UNDER = ({"metric": "ece"}, {"metric": "ece", "strategy": "quantile"}, {"metric": "brier_reliability"})
"""The measures tried under importance weights and with clusters too."""

RANGE = "range of the accuracy over four slices that do not differ"

TEXT = """\
### Of measures that noise moves

The same population at a prevalence of {prevalence}; {sets} data sets of 100, 500 and 5,000 rows. Limits in closed form
are made of all of them, those from {replicates} replicates of the first {drawn}: two standard errors of a figure near
95 are {error:.1f} and {errors} points. Under *weights*, rows weigh as draws from an
exponential distribution say, whatever they are; with *clusters*, {cluster} rows of one truth and one score noise make a
cluster. A run marks the interval `degenerate` where bins have few independent units: of 100 rows with weights or
clusters for `ece`, and with clusters for `brier_reliability`. The disparity's true value is 0.
`python benchmarks/noise.py` writes this section.
"""


@cache
def planned(design: str = "rows", *, percentile: bool = False) -> Plan:
    """Plan the measures under a design, as a run would have them or all with percentile limits."""
    frame = pl.DataFrame({"y": [0, 1], "p": [0.2, 0.8], "w": [1.0, 2.0], "c": [1, 2]})
    spec: dict[str, Any] = {
        "evalpipe": 1, "name": "noise", "outcome": {"column": "y", "event": 1}, "task": "binary",
        "datasets": {"data": {"path": "memory"}}, "models": {"model": {"probability": "p"}}, "threshold": 0.5,
        "metrics": list(MEASURES if design == "rows" else UNDER), "seed": SEED,
        "intervals": {"level": LEVEL, "replicates": REPLICATES, "bands": False},
        "engine": {"mode": "exact", "workers": 1},
    }
    more = {"rows": {}, "weights": {"weight": "w"}, "clusters": {"cluster": "c"}}[design]
    plan = evalpipe.plan(spec | more, frames={"data": frame})
    if not percentile:
        return plan
    entries = tuple(dataclasses.replace(one, method="percentile") for one in plan.metrics)
    return dataclasses.replace(plan, metrics=entries)


@cache
def truths() -> tuple[float, ...]:
    """Return the true values by the midpoint rule over the score, as `coverage.truths` does; debiased adds nothing."""
    step, reach = 5e-5, 9.0
    score = SEPARATION / 2 + step * (np.arange(-round(reach / step), round(reach / step)) + 0.5)
    weights = np.concatenate([np.exp(-((score - SEPARATION) ** 2) / 2), np.exp(-(score**2) / 2)]) * step
    truth = np.repeat([True, False], len(score))
    summary = Summary(model(truth, np.tile(score, 2), PREVALENCE), weights / weights.sum())
    return tuple(float(summary.value(one.metric, {**one.params, **({"debiased": False} if "debiased" in one.params
                       else {})})) for one in planned().metrics)


def designed(n: int, index: int, design: str) -> Sample:
    """Draw a data set under a design."""
    if design != "clusters":
        sample, _ = simulate(n, PREVALENCE, index)
        weight = np.random.default_rng([SEED, n, index, 1]).exponential(size=n)
        return sample if design == "rows" else dataclasses.replace(sample, weight=weight, weight_kind="importance")
    small, _ = simulate(n // CLUSTER, PREVALENCE, index)
    held = np.repeat(np.arange(n // CLUSTER), CLUSTER)
    chances = {name: dataclasses.replace(one, **{
        field.name: getattr(one, field.name)[held] for field in dataclasses.fields(one)
        if isinstance(getattr(one, field.name), np.ndarray)}) for name, one in small.models.items()}
    return dataclasses.replace(small, truth=small.truth[held], models=chances, cluster=held)


def codes(task: tuple[int, int, str]) -> list[int]:
    """Return what became of each true value: under the methods of a run, then under percentile limits."""
    n, index, design = task
    sample, found = designed(n, index, design), []
    weights = np.ones(n) if sample.weight is None else sample.weight
    summary = Summary(rows_of(sample, sample.models["model"]), weights)
    plain, slow = planned(design, percentile=True), index < DRAWN[n]
    drawn = draw(plain, sample, {("model", 0): summary}) if slow else Replicates()
    known = {(str(e.metric.name), str(dict(e.params))): t for e, t in zip(planned().metrics, truths(), strict=True)}
    for plan in (planned(design), plain):
        scope = Scope(plan, sample, "model", 0, subsets(plan, sample)[0], summary)
        for entry in plan.metrics:
            if entry.drawn and not slow:
                found.append(UNTRIED)
                continue
            (row,) = estimates(scope, entry, drawn)
            limits = None if row.lower is None or row.upper is None else (row.lower, row.upper)
            found.append(outcome(limits, known[entry.metric.name, str(dict(entry.params))]))
    return found + (list(ranges(sample, index)) if design == "rows" else [])


def ranges(sample: Sample, index: int) -> Iterator[int]:
    """Yield what became of a true range of 0 under the limits of a disparity, then under percentile limits."""
    generator = np.random.default_rng([SEED, sample.n, index, 2])
    right = (np.asarray(sample.models["model"].probability) >= PREVALENCE) == sample.truth
    part = generator.integers(0, SLICES, sample.n)
    counts = np.concatenate([np.ones((1, sample.n), int), generator.multinomial(
        sample.n, np.full(sample.n, 1 / sample.n), REPLICATES)])
    with np.errstate(invalid="ignore"):
        shares = np.stack([counts[:, (part == k) & right].sum(1) / counts[:, part == k].sum(1) for k in range(SLICES)])
    apart = shares.max(0) - shares.min(0)
    defined = apart[1:][~np.isnan(apart[1:])]
    low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    yield outcome(range_limits(float(apart[0]), apart[1:], LEVEL), 0.0)
    yield outcome((float(low), float(high)), 0.0)


def held(sets: dict[int, int], workers: int) -> dict[str, Array]:
    """Return the share of data sets whose limits hold the true value, in per cent: [number of rows, columns]."""
    truths()
    found: dict[str, Array] = {}
    with multiprocessing.Pool(workers) as pool:
        for design in DESIGNS:
            lines = []
            for n, number in sets.items():
                tasks = [(n, index, design) for index in range(number)]
                became = np.array(pool.map(codes, tasks, chunksize=4))
                lines.append(100 * (became == HELD).sum(0) / (became != UNTRIED).sum(0))
                print(design, n, file=sys.stderr, flush=True)
            found[design] = np.array(lines)
    return found


def table(found: dict[str, Array], sets: dict[int, int]) -> Iterator[str]:
    """Yield the lines of the table."""
    columns = " | ".join(f"{n:,}" for n in sets)
    yield f"| measure | rows are | true value | method | {columns} | percentile: {columns} |"
    yield "|---|---|---|---|" + "---|" * 2 * len(sets)
    known = {(e.metric.name, str(dict(e.params))): t for e, t in zip(planned().metrics, truths(), strict=True)}
    for design, shares in found.items():
        entries = planned(design).metrics
        for i, entry in enumerate(entries):
            asked = (MEASURES if design == "rows" else UNDER)[i]
            options = ", ".join(f"{key}: {one}".lower() for key, one in asked.items() if key != "metric")
            name = f"`{entry.metric.name}`" + (f" ({options})" if options else "")
            cells = [f"{one:.1f}" for one in (*shares[:, i], *shares[:, len(entries) + i])]
            true = known[entry.metric.name, str(dict(entry.params))]
            yield f"| {name} | {design} | {true:.4f} | {entry.method} | {' | '.join(cells)} |"
        if design == "rows":
            cells = [f"{one:.1f}" for one in (*shares[:, -2], *shares[:, -1])]
            yield f"| {RANGE} | rows | 0 | bootstrap_noncentral | {' | '.join(cells)} |"


def main() -> None:
    """Simulate, print the section and, of the full number of data sets, write it."""
    parser = argparse.ArgumentParser(description="Coverage of the intervals of measures that noise moves.")
    parser.add_argument("--sets", type=int, help="data sets for each number of rows; prints alone")
    parser.add_argument("--workers", type=int, default=2, help="processes; they change no figure")
    asked = parser.parse_args()
    sets = SETS if asked.sets is None else dict.fromkeys(SETS, asked.sets)
    few = [min(number, DRAWN[n]) for n, number in sets.items()]
    text = TEXT.format(prevalence=PREVALENCE, replicates=REPLICATES, cluster=CLUSTER, drawn=", ".join(map(str, few)),
                       errors=", ".join(f"{two_errors(number):.1f}" for number in few),
                       error=two_errors(max(sets.values())), sets=", ".join(f"{one:,}" for one in sets.values()))
    text = "\n".join([BEGIN, "", text, *table(held(sets, asked.workers), sets), "", END])
    print(text)
    if asked.sets is None:
        put(PAGE, text, BEGIN, END)


if __name__ == "__main__":
    main()
