"""How often intervals of measures corrected for optimism hold the true value of the model.

    python benchmarks/optimism.py               draws the data sets and writes its section of docs/methods.md
    python benchmarks/optimism.py --sets 20     a quick look: prints the section, writes nothing

Each data set has a logistic regression, its fits to bootstrap samples, and the true values of that regression in the
population. Limits are made by the engine's own function; those of the location shift of Noma et al. (2021) beside them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from coverage import LEVEL, PAGE, SEED, put, two_errors
from scipy.special import expit

from evalpipe.intervals.fits import corrected_limits_of_fits

Array = np.ndarray[Any, Any]

BEGIN, END = "<!-- optimism: begin -->", "<!-- optimism: end -->"
SETS, FITS, POPULATION = 400, 200, 20_000


class Case(NamedTuple):
    """So many predictors, half of which have this coefficient and half none, and so many rows."""

    predictors: int
    coefficient: float
    rows: int


CASES = (Case(10, 0.5, 100), Case(10, 0.5, 200), Case(10, 0.5, 500), Case(4, 0.5, 100), Case(10, 0.2, 200),
         Case(20, 0.4, 300))

TEXT = """\
Coverage of 95% intervals, in per cent, in {sets} data sets of each line, with {fits} bootstrap fits of a logistic
regression each. Half of the predictors have the coefficient, half have none; about 40 % of the rows are events. The
true value is that of the fitted model in the population. Location shift → the limits of a run; two standard errors of
a figure near 95 are {error:.1f} points. `python benchmarks/optimism.py` writes this table (seed {seed}).
"""


def fitted(x: Array, y: Array, counts: Array) -> Array:
    """Return the coefficients [B, q] of logistic regressions on rows x [n, q] that count so often [B, n]."""
    beta = np.zeros((len(counts), x.shape[1]))
    for _ in range(12):
        chance = expit(np.clip(beta @ x.T, -30, 30))
        bend = np.einsum("bn,ni,nj->bij", counts * chance * (1 - chance), x, x, optimize=True)
        step = np.linalg.solve(bend + 1e-6 * np.eye(x.shape[1]), ((counts * (y - chance)) @ x)[..., None])[..., 0]
        beta += step * np.minimum(1, 3 / np.maximum(np.abs(step).max(1, keepdims=True), 1e-12))
    return beta


def area(line: Array, share: Array, weight: Array) -> Array:
    """Return the ROC AUC [B] of lines [B, n], where so large a share [n] of a row is an event."""
    order = np.argsort(line, axis=1)
    weight, share = np.take_along_axis(weight, order, 1), share[order]
    others = weight * (1 - share)
    below = np.cumsum(others, 1) - others / 2
    return np.asarray((weight * share * below).sum(1) / ((weight * share).sum(1) * others.sum(1)))


def brier(line: Array, share: Array, weight: Array) -> Array:
    """Return the Brier score [B]."""
    chance = expit(line)
    return np.asarray((weight * (share * (1 - chance) ** 2 + (1 - share) * chance**2)).sum(1) / weight.sum(1))


def log_loss(line: Array, share: Array, weight: Array) -> Array:
    """Return the log loss [B]."""
    return np.asarray((weight * (np.logaddexp(0, line) - share * line)).sum(1) / weight.sum(1))


MEASURES: dict[str, tuple[Callable[[Array, Array, Array], Array], tuple[float, float]]] = {
    "ROC AUC": (area, (0.0, 1.0)), "Brier score": (brier, (0.0, 1.0)), "log loss": (log_loss, (0.0, np.inf))}


def held(case: Case, index: int) -> Array:
    """Return whether the limits of the location shift and those of a run hold the true values, [2, measures]."""
    generator = np.random.default_rng([SEED, *case[::2], round(100 * case.coefficient), index])
    half = case.predictors // 2
    beta = np.concatenate([[-0.5], np.full(half, case.coefficient), np.zeros(case.predictors - half)])
    x, many = (np.column_stack([np.ones(n), generator.normal(size=(n, case.predictors))])
               for n in (case.rows, POPULATION))
    y = (generator.random(case.rows) < expit(x @ beta)).astype(float)
    counts = generator.multinomial(case.rows, np.full(case.rows, 1 / case.rows), FITS).astype(float)
    once = np.ones((1, case.rows))
    own, fits = fitted(x, y, once), fitted(x, y, counts)
    found = np.zeros((2, len(MEASURES)))
    for j, (measure, bounds) in enumerate(MEASURES.values()):
        true = float(measure(own @ many.T, expit(many @ beta), np.ones((1, POPULATION)))[0])
        values = np.stack([measure(fits @ x.T, y, weight) for weight in (counts, np.ones_like(counts))], axis=1)
        optimism = float((values[:, 0] - values[:, 1]).mean())
        low, high = np.quantile(values[:, 0], [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) - optimism
        corrected = float(np.clip(measure(own @ x.T, y, once)[0] - optimism, *bounds))
        limits = corrected_limits_of_fits(values, corrected, bounds, LEVEL)
        found[:, j] = low <= true <= high, limits is not None and limits[0] <= true <= limits[1]
    return found


def table(sets: int) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| predictors | coefficient | rows | " + " | ".join(MEASURES) + " |"
    yield "|---|---|---|" + "---|" * len(MEASURES)
    for case in CASES:
        shares = 100 * np.mean([held(case, index) for index in range(sets)], axis=0)
        yield f"| {' | '.join(map(str, case))} | {' | '.join(f'{a:.1f} → {b:.1f}' for a, b in shares.T)} |"
        print(case, shares, file=sys.stderr, flush=True)


def main() -> None:
    """Simulate, print the section and, of the full number of data sets, write it."""
    parser = argparse.ArgumentParser(description="Coverage of intervals of measures corrected for optimism.")
    parser.add_argument("--sets", type=int, help="data sets for each line; prints alone")
    asked = parser.parse_args().sets
    sets = asked or SETS
    text = TEXT.format(sets=sets, fits=FITS, error=two_errors(sets), seed=SEED)
    text = "\n".join([BEGIN, "", text, *table(sets), "", END])
    print(text)
    if asked is None:
        put(PAGE, text, BEGIN, END)


if __name__ == "__main__":
    main()
