"""How often intervals at 95 % hold the true value, of measures of several levels and of numbers that noise moves.

    python benchmarks/noise_others.py             draws the data sets and writes its table into docs/methods.md
    python benchmarks/noise_others.py --sets 20   a quick look: prints the table, writes nothing

Three levels have normal scores; the model's scores are half as large again as the true ones, so it is too sure of
itself. Numbers are a normal prediction plus three times its variance of noise. Each data set is a call of `evaluate`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from coverage import LEVEL, PAGE, SEED, put, two_errors

import evalpipe

Array = np.ndarray[Any, Any]

BEGIN, END = "<!-- noise of others: begin -->", "<!-- noise of others: end -->"
SETS = {100: 300, 500: 300, 5000: 60}
REPLICATES = 200
LEVELS = 3
SCALE, SURE = 2.0, 1.5
"""The standard deviation of the true scores, and how many times larger the model's are."""
SHARE = 0.25
"""The squared correlation of numbers and their predictions."""
KNOWN = 2_000_000
"""The draws that true values of calibration errors come from; their own error is below 0.0005."""
BINS = 15
TEXT = """\
Of several levels and of numbers, from {sets} data sets of so many rows with {replicates} replicates each; two standard
errors are {errors} points. `python benchmarks/noise_others.py` writes this table.
"""
DRAWS = {"intervals": {"replicates": REPLICATES, "level": LEVEL}, "engine": {"workers": 1}}


def softmax(scores: Array) -> Array:
    """Return the probabilities of levels, [n, K]."""
    raised = np.exp(scores)
    return np.asarray(raised / raised.sum(1, keepdims=True))


def gap(chance: Array, rate: Array) -> float:
    """Return the mean distance of rate and probability in bins of equal width."""
    place = np.minimum((chance * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(place, rate - chance)).sum() / len(chance))


@cache
def errors() -> tuple[float, float]:
    """Return the true top-label error, and the true mean over classes of the expected calibration error."""
    scores = np.random.default_rng([SEED, 0]).normal(size=(KNOWN, LEVELS)) * SCALE
    true, said = softmax(scores), softmax(SURE * scores)
    top = said.argmax(1)
    rows = np.arange(KNOWN)
    return gap(said[rows, top], true[rows, top]), float(np.mean([gap(said[:, k], true[:, k]) for k in range(LEVELS)]))


def of_levels(generator: Any, n: int) -> evalpipe.Results:
    """Evaluate one data set of three levels."""
    scores = generator.normal(size=(n, LEVELS)) * SCALE
    truth = (softmax(scores).cumsum(1) < generator.random((n, 1))).sum(1)
    metrics = ["top_label_ece", {"metric": "ece", "average": "macro"}]
    return evalpipe.evaluate(truth, probabilities=softmax(SURE * scores), levels=list(range(LEVELS)),
                             task="multiclass", metrics=metrics, **DRAWS)


def of_numbers(generator: Any, n: int) -> evalpipe.Results:
    """Evaluate one data set of numbers."""
    said = generator.normal(size=n)
    truth = said + generator.normal(size=n) * np.sqrt(1 / SHARE - 1)
    return evalpipe.evaluate(truth, prediction=said, task="regression", metrics=["rsq"], **DRAWS)


def covered(run: Callable[[Any, int], evalpipe.Results], true: tuple[float, ...], sets: dict[int, int]) -> Array:
    """Return the share of data sets whose limits hold the true values, in per cent: [number of rows, measures]."""
    lines = []
    for n, number in sets.items():
        hits = np.zeros(len(true))
        for index in range(number):
            rows = run(np.random.default_rng([SEED, n, index, 3]), n).rows
            hits += [row.lower is not None and row.upper is not None and row.lower <= value <= row.upper
                     for row, value in zip(rows, true, strict=True)]
        lines.append(100 * hits / number)
    return np.array(lines)


def main() -> None:
    """Simulate, print the table and, of the full number of data sets, write it."""
    parser = argparse.ArgumentParser(description="Coverage of intervals of several levels and of numbers.")
    parser.add_argument("--sets", type=int, help="data sets for each number of rows; prints alone")
    asked = parser.parse_args()
    sets = SETS if asked.sets is None else dict.fromkeys(SETS, asked.sets)
    shares = np.hstack([covered(of_levels, errors(), sets), covered(of_numbers, (SHARE,), sets)])
    names = ("`top_label_ece`, three levels", "`ece`, mean over three levels", "`rsq`, numbers")
    columns = " | ".join(f"{n:,}" for n in sets)
    lines = [f"| {name} | {true:.4f} | bootstrap_noncentral | {' | '.join(f'{one:.1f}' for one in shares[:, k])} |"
             for k, (name, true) in enumerate(zip(names, (*errors(), SHARE), strict=True))]
    said = TEXT.format(sets=", ".join(map(str, sets.values())), replicates=REPLICATES,
                       errors=", ".join(f"{two_errors(number):.1f}" for number in sets.values()))
    head = [f"| measure | true value | method | {columns} |", "|---|---|---|" + "---|" * len(sets)]
    text = "\n".join([BEGIN, "", said, *head, *lines, "", END])
    print(text)
    if asked.sets is None:
        put(PAGE, text, BEGIN, END)


if __name__ == "__main__":
    main()
