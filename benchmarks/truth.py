"""Recalibration where the truth is known: what is distorted is put right, and nothing mended that is not broken.

    python benchmarks/truth.py               draws the data sets and writes the section of docs/methods.md
    python benchmarks/truth.py --sets 20     a quick look: prints the section, writes nothing

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
from scipy.special import expit

import evalpipe

PAGE = Path(__file__).resolve().parents[1] / "docs" / "methods.md"
BEGIN, END = "<!-- truth: begin -->", "<!-- truth: end -->"

SEED, SETS, ROWS, REPLICATES = 364, 500, 1000, 400
SLOPE, SHIFT = 0.5, 0.3
"""The distortion: the log odds of an event are the shift plus the slope times those that the model says."""

SPREAD = 1.5
"""The standard deviation of the true log odds, which are normal about 0."""

METHODS = (
    "logistic", "logistic_probability", "logistic_spline", "platt", "isotonic", "isotonic_bagged", "beta",
    "temperature", "histogram", "venn_abers",
)
BAGS = 100
LOSSES = ("brier", "log_loss")
CASES = ("distorted", "held out", "cross-fitted")

TEXT = """\
## Recalibration where the truth is known

{sets:,} simulated data sets of {rows:,} rows to fit on and {rows:,} to judge on; true log odds are normal (standard
deviation {spread}), intervals at 95 % from {replicates} replicates. `python benchmarks/truth.py` writes this section
(seed {seed}); two standard errors of a share near 95 % or 5 % are {error:.1f} points.

**A known distortion.** The log odds of an event are {shift} + {slope} times those of the model. Its calibration slope
and intercept are in their intervals in {slope_held:.1f} % and {shift_held:.1f} % of the data sets. How often the
interval of the log loss holds that of the true probabilities, which in the population is {entropy:.4f}, and its mean:

| variant | holds the log loss of the truth, % | mean log loss |
|---|---|---|
{restored}

Methods whose family holds the truth (a line on the logit) restore it; `logistic_probability` and `temperature` cannot,
and of a step function 0 and 1 are part, whose logarithm is clipped where an event is said to be impossible.

**Nothing to mend.** The model's probabilities are the true ones. How often a method is said to be better than the
original, in per cent, by the interval of the Brier score's and of the log loss's difference; a real gain by chance
should be below 5:

| method | held out: Brier score | log loss | cross-fitted: Brier score | log loss |
|---|---|---|---|---|
{gains}
"""


def frame(generator: np.random.Generator, *, distorted: bool) -> pl.DataFrame:
    """Draw outcomes, the true probabilities and those of the model."""
    odds = generator.normal(scale=SPREAD, size=ROWS)
    said = (odds - SHIFT) / SLOPE if distorted else odds
    return pl.DataFrame({"y": (generator.random(ROWS) < expit(odds)).astype(int), "p": expit(said)})


def simulate(task: tuple[int, int]) -> dict[str, Any]:
    """Run evalpipe on one data set of a case; what became of slope, intercept, log losses and verdicts."""
    case, index = task
    generator = np.random.default_rng([SEED, case, index])
    frames = {"d": frame(generator, distorted=case == 0), "cal": frame(generator, distorted=case == 0)}
    crossed = CASES[case] == "cross-fitted"
    datasets: dict[str, Any] = {"d": {"path": "memory"}, "cal": {"path": "memory", "role": "calibrate"}}
    methods = [{"method": name, "bags": BAGS} if name == "isotonic_bagged" else name for name in METHODS]
    measures = [*LOSSES, "calibration_slope", "calibration_intercept"] if case == 0 else [*LOSSES]
    results = evalpipe.run({
        "evalpipe": 1, "name": "truth", "task": "binary", "outcome": {"column": "y", "event": 1}, "seed": index,
        "datasets": {"d": datasets["d"]} if crossed else datasets, "models": {"m": {"probability": "p"}},
        "metrics": measures, "intervals": {"replicates": REPLICATES, "bands": False},
        "recalibrate": {"fit_on": {"folds": 10} if crossed else "cal", "methods": methods},
        "report": {"formats": []}, "engine": {"workers": 1},
    }, frames={"d": frames["d"]} if crossed else frames)
    rows = {(e.metric, e.variant): (e.value, e.lower, e.upper) for e in results.rows}
    verdicts = {(c.variant, c.metric): c.verdict for c in results.comparisons}
    return {"rows": rows, "verdicts": verdicts}


def entropy() -> float:
    """Return the log loss of the true probabilities in the population."""
    odds = np.linspace(-10 * SPREAD, 10 * SPREAD, 200_001)
    density = np.exp(-((odds / SPREAD) ** 2) / 2)
    loss = expit(odds) * np.logaddexp(0, -odds) + expit(-odds) * np.logaddexp(0, odds)
    return float((density * loss).sum() / density.sum())


def held(found: list[dict[str, Any]], key: tuple[str, str], truth: float) -> float:
    """Return in how many per cent of the data sets the interval of an estimate holds the truth."""
    limits = [one["rows"][key][1:] for one in found]
    return 100 * float(np.mean([low is not None and low <= truth <= high for low, high in limits]))


def section(found: dict[str, list[dict[str, Any]]], sets: int) -> str:
    """Return the section of the page."""
    distorted, truth = found["distorted"], entropy()
    restored = [
        f"| {name} | {held(distorted, ('log_loss', name), truth):.1f} | "
        f"{np.mean([one['rows']['log_loss', name][0] for one in distorted]):.4f} |"
        for name in ("original", *METHODS)
    ]
    gains = []
    for name in METHODS:
        shares = [
            100 * float(np.mean([one["verdicts"][name, loss] == "better" for one in found[case]]))
            for case in CASES[1:] for loss in LOSSES
        ]
        gains.append(f"| {name} | " + " | ".join(f"{share:.1f}" for share in shares) + " |")
    text = TEXT.format(
        sets=sets, rows=ROWS, spread=SPREAD, replicates=REPLICATES, seed=SEED, shift=SHIFT, slope=SLOPE,
        error=200 * np.sqrt(0.05 * 0.95 / sets), entropy=truth, restored="\n".join(restored), gains="\n".join(gains),
        slope_held=held(distorted, ("calibration_slope", "original"), SLOPE),
        shift_held=held(distorted, ("calibration_intercept", "original"), SHIFT),
    )
    return f"{BEGIN}\n\n{text.rstrip()}\n\n{END}"


def main() -> None:
    """Simulate, print the section and, of the full number of data sets, write it."""
    parser = argparse.ArgumentParser(description="Recalibration where the truth is known.")
    parser.add_argument("--sets", type=int, default=SETS, help="data sets of each case")
    parser.add_argument("--workers", type=int, default=2, help="processes; they change no figure")
    asked = parser.parse_args()
    found: dict[str, list[dict[str, Any]]] = {}
    begun = time.perf_counter()
    with multiprocessing.Pool(asked.workers) as pool:
        for case, name in enumerate(CASES):
            found[name] = pool.map(simulate, [(case, index) for index in range(asked.sets)], chunksize=4)
            print(f"{name}: {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
    text = section(found, asked.sets)
    print(text)
    if asked.sets == SETS:
        put(PAGE, text, BEGIN, END)


if __name__ == "__main__":
    main()
