"""How often intervals at 95 % hold the true value where there is little of anything: clusters, rows, events.

    python benchmarks/few.py               draws the data sets and writes its section of docs/methods.md
    python benchmarks/few.py --sets 50     a quick look: prints the section, writes nothing

Limits are made by the engine's own functions. Each data set has a random stream of its own.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import polars as pl
from coverage import LEVEL, PAGE, SEED, SEPARATION, chances, model, put, simulate, two_errors
from scipy.special import expit, logit, xlogy
from scipy.stats import rankdata

import evalpipe
from evalpipe.engine.estimates import Scope, estimates
from evalpipe.engine.replicates import draw
from evalpipe.engine.subsets import rows_of, subsets
from evalpipe.intervals.bootstrap import cluster_limits, percentile_limits
from evalpipe.intervals.contrasts import net_benefit_limits
from evalpipe.intervals.noise import Bins, mean_square_limits, scatter_limits
from evalpipe.metrics import registry as metrics
from evalpipe.metrics.calibration import EXPECTED, LEAST_EXPECTED
from evalpipe.plan.plan import Plan
from evalpipe.statistics import Rows, Summary
from evalpipe.words.spelling import joined

Array = np.ndarray[Any, Any]

BEGIN, END = "<!-- few: begin -->", "<!-- few: end -->"
SETS, ENGINE_SETS, EXPECTED_TIMES = 1000, 300, 4
"""The data sets of each cell; those whose replicates a run's engine draws; of the test, so many times as many."""
REPLICATES, ENGINE_REPLICATES = 1000, 500

CLUSTERS = (3, 5, 8, 12, 20, 40)
CORRELATIONS = {0.05: 0.173, 0.3: 1.41}
"""The intraclass correlation on the logit scale, and the variance of the intercepts of clusters that it comes from."""
CLUSTER_ROWS, STEEP = 20, 1.2
"""The rows of a cluster on average; the slope of the model."""
SIZES = {"equal": 0.0, "unequal": 0.6, "very unequal": 1.2}
"""The standard deviation of the logarithm of the rows of a cluster."""
CLUSTERED = {"accuracy": 1.0, "sensitivity": 1.0, "ROC AUC": 1.0, "Brier score": 1.0, "log loss": np.inf}
"""The measures of clusters, and the upper end of their range."""

ROWS, PREVALENCES = (20, 30, 50, 80, 120), (0.5, 0.2)
OF_ROWS = ("ici", "e90", "emax", "average_precision")

GROUPED = (100, 400, 1000, 5000)
PARTS = ("brier_reliability", "brier_resolution", "brier_refinement")

EVENTS, NET_ROWS = (5, 10, 20, 50), 1000
EXPECTED_ROWS, EXPECTED_SHARES, SPREAD = (200, 1000, 2000, 5000), (0.01, 0.02, 0.1, 0.3), 1.0
"""The rows and the typical probabilities of the test of Hosmer and Lemeshow; the standard deviation of log odds."""
MODELS = ((0.5, 0.2), (0.8, 0.1), (0.3, 0.02))
"""Shares of the events and of the other rows from the threshold up."""

TEXT = """\
### Few of anything

In per cent, with {sets:,} data sets a cell ({engine} where *rows* are few); two standard errors of a figure near 95 are
{error:.1f} points ({wide:.1f}). `python benchmarks/few.py` writes this section (seed {seed}).

**Few clusters**, of {rows} rows on average, whose intercepts on the logit scale give the intraclass correlation. The
logarithm of their rows has a standard deviation of {sizes}. Percentile
limits → Student's:

{clusters}

**Few rows** of the population above at two prevalences: coverage of the limits that a run gives, and in brackets the
share of the data sets in which their status is `ok`, where it is below 100 %:

{few}

**Small groups**: the parts of the Brier score over probabilities rounded to two digits, of the population above at a
prevalence of 0.5; in brackets the mean width of the limits. Of fewer than 20 rows a group the value lies outside them.

{parts}

**Few events** among {net_rows:,} rows: the net benefit at the prevalence as the threshold, of models that reach so much
of the events and of the others. Percentile limits → Newcombe's:

{events}

**Few expected events** in the 10 groups of the test of Hosmer and Lemeshow: p < 0.05 under perfect calibration, by rows
and the middle of the probabilities. Their log odds have a standard deviation of {spread:g}. In brackets are the
expected events a group. Fewer than {average} on average, or than {least} in a group, mark the test `degenerate`
(*few*, with the share of the data sets in which it is, where not all):

{expected}
"""


def clustered(generator: np.random.Generator, k: int, variance: float, sizes: str) -> tuple[Array, Array, Array]:
    """Draw the cluster, outcome and probability of rows of ``k`` clusters of ``sizes``, a key of `SIZES`."""
    logarithms = generator.normal(size=k) * SIZES[sizes] - SIZES[sizes] ** 2 / 2
    rows = np.maximum(np.round(CLUSTER_ROWS * np.exp(logarithms)), 2).astype(int)
    of = np.repeat(np.arange(k), rows)
    score = STEEP * generator.normal(size=len(of))
    shift = generator.normal(scale=np.sqrt(variance), size=k)[of]
    return of, generator.random(len(of)) < expit(score + shift), expit(score)


def losses(y: Array, p: Array) -> Array:
    """Return what measures are sums of, for each row: hits, events, hits among them, others, squared and log losses."""
    hit = (p >= 0.5) == y
    return np.array([hit, y, hit & y, ~y, (y - p) ** 2, -xlogy(y, p) - xlogy(~y, 1 - p)], float)


def measured(totals: Array, rows: Array, pairs: Array) -> Array:
    """Return the measures of `CLUSTERED` [B, 5] from totals [B, 6], rows [B] and ordered pairs [B]."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.stack([totals[:, 0] / rows, totals[:, 2] / totals[:, 1], pairs / (totals[:, 1] * totals[:, 3]),
                         totals[:, 4] / rows, totals[:, 5] / rows], axis=1)


@cache
def true_of_clusters(variance: float) -> Array:
    """Return the true values of the measures of `CLUSTERED`, from 60,000 clusters."""
    _, y, p = clustered(np.random.default_rng([SEED, 0]), 60_000, variance, "equal")
    events = int(y.sum())
    pairs = rankdata(p)[y].sum() - events * (events + 1) / 2
    return np.asarray(measured(losses(y, p).sum(1)[None], np.array([len(y)]), np.array([pairs]))[0])


def of_clusters(k: int, variance: float, index: int, sizes: str) -> Array:
    """Return whether percentile and Student's limits hold the true values, [2, 5]."""
    generator = np.random.default_rng([SEED, k, round(1000 * variance), list(SIZES).index(sizes), index])
    of, y, p = clustered(generator, k, variance, sizes)
    totals = np.stack([np.bincount(of, each, k) for each in losses(y, p)], axis=1)
    order = np.argsort(p)
    below = np.cumsum((~y)[order, None] * (of[order, None] == np.arange(k)), axis=0)
    pairs = np.zeros((k, k))  # events of a cluster above others of another
    np.add.at(pairs, of[order][y[order]], below[y[order]])
    counts = np.concatenate([np.ones((1, k)), generator.multinomial(k, np.full(k, 1 / k), REPLICATES)])
    values = measured(counts @ totals, counts @ np.bincount(of, minlength=k),
                      np.einsum("bk,kl,bl->b", counts, pairs, counts, optimize=True))
    true, held = true_of_clusters(variance), np.zeros((2, len(CLUSTERED)))
    for j, end in enumerate(CLUSTERED.values()):
        known = values[1:, j]
        for i, limits in enumerate((percentile_limits(known, LEVEL),
                                    cluster_limits(known, float(values[0, j]), k, (0.0, end), LEVEL))):
            held[i, j] = limits is not None and limits[0] <= true[j] <= limits[1]
    return held


def clusters_table(sets: int) -> Iterator[str]:
    """Yield the lines of the table of few clusters."""
    yield "| clusters | correlation | sizes | " + " | ".join(CLUSTERED) + " |"
    yield "|---|---|---|" + "---|" * len(CLUSTERED)
    for k in CLUSTERS:
        for correlation, variance in CORRELATIONS.items():
            for sizes in SIZES:
                held = np.mean([of_clusters(k, variance, index, sizes) for index in range(sets)], axis=0)
                cells = " | ".join(f"{100 * before:.1f} → {100 * after:.1f}" for before, after in held.T)
                yield f"| {k} | {correlation} | {sizes} | {cells} |"
        say(f"{k} clusters")


@cache
def planned(prevalence: float) -> Plan:
    """Plan the measures of few rows, as a run has them."""
    frame = pl.DataFrame({"y": [0, 1], "p": [0.2, 0.8]})
    return evalpipe.plan({
        "evalpipe": 1, "name": "few", "outcome": {"column": "y", "event": 1}, "task": "binary", "seed": SEED,
        "datasets": {"data": {"path": "memory"}}, "models": {"model": {"probability": "p"}}, "threshold": prevalence,
        "metrics": list(OF_ROWS), "intervals": {"level": LEVEL, "replicates": ENGINE_REPLICATES, "bands": False},
        "engine": {"mode": "exact", "workers": 1},
    }, frames={"data": frame})


@cache
def true_of_rows(prevalence: float) -> list[float]:
    """Return the true values of `OF_ROWS` by the midpoint rule over the score."""
    step = 1e-4
    score = SEPARATION / 2 + step * (np.arange(-90_000, 90_000) + 0.5)
    weights = np.concatenate([prevalence * np.exp(-((score - SEPARATION) ** 2) / 2),
                              (1 - prevalence) * np.exp(-(score**2) / 2)])
    truth = np.repeat([True, False], len(score))
    summary = Summary(model(truth, np.tile(score, 2), prevalence), weights / weights.sum())
    return [float(summary.value(entry.metric, entry.params)) for entry in planned(prevalence).metrics]


def of_rows(n: int, prevalence: float, index: int) -> Array | None:
    """Return whether the limits of a run hold the true values, and whether they are ok, [2, 4]; None of one class."""
    sample, plan = simulate(n, prevalence, index)[0], planned(prevalence)
    if sample.truth.all() or not sample.truth.any():
        return None
    summary = Summary(rows_of(sample, sample.models["model"]), np.ones(n))
    drawn = draw(plan, sample, {("model", 0): summary})
    scope = Scope(plan, sample, "model", 0, subsets(plan, sample)[0], summary)
    held = np.zeros((2, len(OF_ROWS)))
    for j, (entry, true) in enumerate(zip(plan.metrics, true_of_rows(prevalence), strict=True)):
        (row,) = estimates(scope, entry, drawn)
        held[:, j] = row.lower is not None and row.lower <= true <= (row.upper or 0), row.status == "ok"
    return held


def rows_table(sets: int) -> Iterator[str]:
    """Yield the lines of the table of few rows."""
    yield "| rows | prevalence | " + " | ".join(f"`{name}`" for name in OF_ROWS) + " |"
    yield "|---|---|" + "---|" * len(OF_ROWS)
    for prevalence in PREVALENCES:
        for n in ROWS:
            known = [one for index in range(sets) if (one := of_rows(n, prevalence, index)) is not None]
            cells = [f"{100 * held:.1f}" + (f" ({100 * ok:.0f})" if ok < 1 else "") for held, ok in np.mean(known, 0).T]
            yield f"| {n} | {prevalence} | {' | '.join(cells)} |"
            say(f"{n} rows at {prevalence}")


def grouped(score: Array, weight: Array, truth: Array) -> tuple[Array, Array, Array]:
    """Return the events, the others and the rounded probability of each group."""
    place = np.round(100 * chances(score, 0.5)).astype(int)
    events, others = (np.bincount(place, weight * one, 101) for one in (truth, ~truth))
    used = events + others > 0
    return events[used], others[used], np.arange(101)[used] / 100


def parts_of(events: Array, others: Array, said: Array) -> Iterator[tuple[float, Bins]]:
    """Yield each of `PARTS` with its bins."""
    rows = events + others
    gaps = events - rows * said, events - rows * events.sum() / rows.sum(), np.zeros(len(rows))
    for name, gap in zip(PARTS, gaps, strict=True):
        value = (events * others if name == "brier_refinement" else gap**2) / rows
        yield float(value.sum() / rows.sum()), Bins(events, others, gap, events, others)


def parts_table(sets: int) -> Iterator[str]:
    """Yield the lines of the table of the parts of the Brier score."""
    score = SEPARATION / 2 + 1e-4 * (np.arange(-90_000, 90_000) + 0.5)
    weight = np.concatenate([np.exp(-((score - SEPARATION) ** 2) / 2), np.exp(-(score**2) / 2)])
    known = grouped(np.tile(score, 2), weight, np.repeat([True, False], len(score)))
    true = [value for value, _ in parts_of(*known)]
    yield "| measure | true value | " + " | ".join(f"{n:,} rows" for n in GROUPED) + " |"
    yield "|---|---|" + "---|" * len(GROUPED)
    cells = np.zeros((len(PARTS), len(GROUPED), 2))
    for column, n in enumerate(GROUPED):
        for index in range(sets):
            generator = np.random.default_rng([SEED, n, index])
            truth = generator.random(n) < 0.5
            drawn = grouped(generator.normal(SEPARATION * truth), np.ones(n), truth)
            for i, (value, bins) in enumerate(parts_of(*drawn)):
                low, high = scatter_limits(bins, value, LEVEL) if PARTS[i] == "brier_refinement" else (
                    mean_square_limits(bins, "squared_gaps", value, LEVEL))
                cells[i, column] += low <= true[i] <= high, high - low
    for name, value, line in zip(PARTS, true, cells / sets, strict=True):
        yield f"| `{name}` | {value:.4f} | {' | '.join(f'{100 * held:.1f} ({width:.3f})' for held, width in line)} |"


def events_table(sets: int) -> Iterator[str]:
    """Yield the lines of the table of few events."""
    yield "| events | " + " | ".join(f"{of_events:.0%} and {of_others:.0%}" for of_events, of_others in MODELS) + " |"
    yield "|---|" + "---|" * len(MODELS)
    n = NET_ROWS
    for events in EVENTS:
        threshold, cells = events / n, []
        for of_events, of_others in MODELS:
            first, second = of_events * threshold, of_others * (1 - threshold)
            true = first - second * threshold / (1 - threshold)
            generator, held = np.random.default_rng([SEED, events, round(100 * of_events)]), np.zeros(2)
            for reached in generator.multinomial(n, [first, second, 1 - first - second], sets):
                again = generator.multinomial(n, reached / n, REPLICATES)
                values = (again[:, 0] - again[:, 1] * threshold / (1 - threshold)) / n
                closed = net_benefit_limits(np.array(n), reached[0], reached[1], {"threshold": threshold}, LEVEL)
                for i, limits in enumerate((percentile_limits(values, LEVEL), closed)):
                    held[i] += limits is not None and bool(limits[0] <= true <= limits[1])
            cells.append(" → ".join(f"{100 * one / sets:.1f}" for one in held))
        yield f"| {events} | {' | '.join(cells)} |"


def expected_table(sets: int) -> Iterator[str]:
    """Yield the lines of the table of the test of Hosmer and Lemeshow."""
    yield "| rows | " + " | ".join(f"{share:g}" for share in EXPECTED_SHARES) + " |"
    yield "|---|" + "---|" * len(EXPECTED_SHARES)
    test = metrics["hosmer_lemeshow_p"]
    for n in EXPECTED_ROWS:
        cells = []
        for share in EXPECTED_SHARES:
            generator, below, few, events = np.random.default_rng([SEED, n, round(1000 * share)]), 0, 0, 0.0
            for _ in range(sets):
                p = expit(logit(share) + SPREAD * generator.normal(size=n))
                summary = Summary(Rows(truth=generator.random(n) < p, predicted=None, probability=p), np.ones(n))
                below += bool(summary.value(test, {"groups": 10}) < 0.05)
                few += test.doubt(*(summary(name, {"groups": 10}) for name in test.takes), groups=10) is not None
                events += min(p.sum(), n - p.sum()) / 10
            told = {0: "", sets: ", *few*"}.get(few, f", *few* in {few / sets:.1%}")
            cells.append(f"{100 * below / sets:.1f} ({events / sets:.1f}{told})")
        yield f"| {n:,} | {' | '.join(cells)} |"


def say(done: str) -> None:
    """Tell how far it is."""
    print(done, file=sys.stderr, flush=True)


def main() -> None:
    """Simulate, print the section and, of the full number of data sets, write it."""
    parser = argparse.ArgumentParser(description="Coverage of intervals of little data.")
    parser.add_argument("--sets", type=int, help="data sets for each cell; prints alone")
    asked = parser.parse_args().sets
    sets, engine = asked or SETS, asked or ENGINE_SETS
    print(f"seed {SEED}", file=sys.stderr, flush=True)
    tables = {"parts": parts_table(sets), "events": events_table(sets),
              "expected": expected_table(EXPECTED_TIMES * sets), "clusters": clusters_table(sets),
              "few": rows_table(engine)}
    written = {}
    for name, lines in tables.items():
        written[name] = "\n".join(lines)
        say(f"{name}\n{written[name]}")
    text = TEXT.format(
        sets=sets, engine=engine, error=two_errors(sets), wide=two_errors(engine), seed=SEED, rows=CLUSTER_ROWS,
        sizes=joined([f"{deviation:g} where *{name}*" for name, deviation in SIZES.items() if deviation], "and"),
        net_rows=NET_ROWS, spread=SPREAD, average=EXPECTED, least=LEAST_EXPECTED, **written)
    text = f"{BEGIN}\n\n{text}\n{END}"
    print(text)
    if asked is None:
        put(PAGE, text, BEGIN, END)


if __name__ == "__main__":
    main()
