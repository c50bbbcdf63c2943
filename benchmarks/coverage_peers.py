"""How often intervals at 95 % hold the true value, evalpipe's and its peers', on the same simulated data sets.

    python benchmarks/coverage_peers.py               in 15 minutes: the section of RESULTS.md and coverage_peers.svg
    python benchmarks/coverage_peers.py --sets 20     a quick look: draws nothing

True values come from the populations: from their parameters, or integrals over the score. Each data set has random
streams of its own: the table is the same for any number of processes. A peer that is missing is said to be.
"""

from __future__ import annotations

import argparse
import multiprocessing
import warnings
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import numpy as np
import peers
from coverage_others import BINS, FEWER_REPLICATES, LOOP, REPLICATES, TOOLS, Array, Limits
from scipy.special import expit, logit, ndtr

SEED, STATED, SETS = 364, 95.0, 216
FIGURE = Path(__file__).with_suffix(".svg")


@dataclass(frozen=True)
class Groups:
    """Groups of as many rows, by their shares of events and by the shares of both classes that are predicted right."""

    title: str
    rows: int
    prevalences: tuple[float, ...]
    rates: tuple[float, ...]
    measures: tuple[str, ...]

    def truths(self) -> dict[str, float]:
        """Return the true disparities: the ranges over the groups."""
        rates, prevalences = np.array(self.rates), np.array(self.prevalences)
        selected = prevalences * rates + (1 - prevalences) * (1 - rates)
        return {"accuracy": float(np.ptp(rates)), "equal_opportunity": float(np.ptp(rates)),
                "demographic_parity": float(np.ptp(selected))}

    def draw(self, generator: np.random.Generator) -> dict[str, Array]:
        """Return columns ``y``, ``predicted`` and ``group`` of a data set."""
        group = np.repeat(np.arange(len(self.rates)), self.rows)
        event = generator.random(len(group)) < np.array(self.prevalences)[group]
        right = generator.random(len(group)) < np.array(self.rates)[group]
        return {"y": event.astype(int), "predicted": (event == right).astype(int), "group": group}


@dataclass(frozen=True)
class Scores:
    """Normal scores, ``separation`` apart by outcome; probabilities so many times too steep on the logit scale.

    The rows of a cluster have the same outcome, and a normal shift of standard deviation 1 in common.
    """

    title: str
    rows: int
    prevalence: float
    separation: float
    steepness: float
    measures: tuple[str, ...]
    clusters: int = 0

    @property
    def variance(self) -> float:
        """The variance of the scores of rows of the same outcome."""
        return 2.0 if self.clusters else 1.0

    def probability(self, score: Array) -> Array:
        """Return the model's probabilities; those of steepness 1 are the population's."""
        slope = self.steepness * self.separation / self.variance
        return np.asarray(expit(logit(self.prevalence) + slope * (score - self.separation / 2)))

    def truths(self) -> dict[str, float]:
        """Return the true values, by the midpoint rule over the score; the AUC of normal scores has a closed form."""
        step, reach = 1e-4, 9 * self.variance + self.separation
        score = self.separation / 2 + step * (np.arange(-round(reach / step), round(reach / step)) + 0.5)
        scale = step / np.sqrt(2 * np.pi * self.variance)
        events = self.prevalence * scale * np.exp(-((score - self.separation) ** 2) / (2 * self.variance))
        others = (1 - self.prevalence) * scale * np.exp(-(score**2) / (2 * self.variance))
        above = [np.cumsum(share[::-1])[::-1] - share / 2 for share in (events, others)]
        p = self.probability(score)
        gaps = np.bincount((p * BINS).astype(int).clip(max=BINS - 1), events - p * (events + others))
        return {"roc_auc": float(ndtr(self.separation / np.sqrt(2 * self.variance))),
                "average_precision": float(events @ (above[0] / (above[0] + above[1]))) / self.prevalence,
                "ece": float(np.abs(gaps).sum()), "accuracy": float(np.where(p >= 0.5, events, others).sum())}

    def draw(self, generator: np.random.Generator) -> dict[str, Array]:
        """Return columns ``y``, ``p`` and, of clusters, ``cluster`` of a data set."""
        units = self.clusters or self.rows
        unit = np.repeat(np.arange(units), self.rows // units)
        event = (generator.random(units) < self.prevalence)[unit]
        score = generator.normal(self.separation * event)
        if not self.clusters:
            return {"y": event.astype(int), "p": self.probability(score)}
        shift = generator.normal(size=units)
        return {"y": event.astype(int), "p": self.probability(score + shift[unit]), "cluster": unit}


RANKED = ("roc_auc", "average_precision", "ece")
JOBS: tuple[Groups | Scores, ...] = (
    Groups("3 groups of 100 rows (10, 10, 40 events)", 100, (0.1, 0.1, 0.4), (0.8,) * 3,
           ("accuracy", "equal_opportunity", "demographic_parity")),
    Groups("20 groups of 50 rows (one differs)", 50, (0.5,) * 20, (0.85,) * 19 + (0.65,),
           ("accuracy", "equal_opportunity")),
    Scores("1,000 rows (30 events)", 1000, 0.03, 1.2, 1.5, RANKED),
    Scores("200 rows (10 events), calibrated", 200, 0.05, 3.0, 1.0, RANKED),
    Scores("40 clusters of 20 rows", 800, 0.5, 1.2, 1.5, ("accuracy", "roc_auc", "ece"), clusters=40),
)
CASES = [(place, name, tool) for place, job in enumerate(JOBS) for name in job.measures for tool in TOOLS]


def limits(task: tuple[int, int, Sequence[str]]) -> dict[str, Limits]:
    """Return the limits that tools give on a data set, by the place of its job and its number."""
    place, index, tools = task
    job = JOBS[place]
    streams = np.random.SeedSequence([SEED, place, index]).spawn(2)
    columns, seed = job.draw(np.random.default_rng(streams[0])), int(streams[1].generate_state(1)[0]) >> 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of draws without events, and of defaults that will change
        return {tool: TOOLS[tool](job.measures, columns, seed) for tool in tools}


Tally = dict[tuple[int, str, str], Array]


def simulate(sets: int, tools: Sequence[str], workers: int = 1) -> Tally:
    """Return the limits [sets, 2] of every job, measure and tool that has any; those that a data set lacks are NaN."""
    tasks = [(place, index, tools) for place in range(len(JOBS)) for index in range(sets)]
    tally: Tally = defaultdict(lambda: np.full((sets, 2), np.nan))
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        for (place, index, _), of_tools in zip(tasks, pool.imap(limits, tasks, chunksize=4), strict=True):
            for tool, of_measures in of_tools.items():
                for name, ends in of_measures.items():
                    tally[place, name, tool][index] = ends
    return dict(tally)


def covered(ends: Array, truth: float) -> tuple[float, float]:
    """Return how often limits hold the true value, and the standard error, in per cent; none hold nothing.

    Limits that end at the value within rounding hold it.
    """
    share = float(np.mean((ends[:, 0] <= truth + 1e-9) & (ends[:, 1] >= truth - 1e-9)))
    return 100 * share, 100 * float(np.sqrt(share * (1 - share) / len(ends)))


def table(tally: Tally) -> list[str]:
    """Return the table, and a sentence on where evalpipe falls short."""
    lines = ["| data | measure | true value | limits of | hold it, % | standard error | median width to evalpipe's |",
             "|---|---|---|---|---|---|---|"]
    short = [case for case in tally if case[2] == "evalpipe" and falls_short(case, tally[case])]
    for place, name, tool in (case for case in CASES if case in tally):
        share, error = covered(tally[place, name, tool], JOBS[place].truths()[name])
        width, ours = (np.nanmedian(np.ptp(tally[place, name, side], axis=1)) for side in (tool, "evalpipe"))
        shown = f"**{share:.1f}**" if (place, name, tool) in short else f"{share:.1f}"
        lines.append(f"| {JOBS[place].title} | `{name}` | {JOBS[place].truths()[name]:.4f} | {label(tool)} | {shown} | "
                     f"{error:.1f} | {width / ours:.2f} |")
    rows = sum(tool == "evalpipe" for _, _, tool in tally)
    seldom = f"evalpipe's intervals hold it too seldom in {len(short)} of {rows} rows, in bold: below {STATED:g} % by "
    return [*lines, "", f"{seldom}over two standard errors of that."]


def falls_short(case: tuple[int, str, str], ends: Array) -> bool:
    """Say whether limits hold the true value less often than is stated, by more than chance explains."""
    share, _ = covered(ends, JOBS[case[0]].truths()[case[1]])
    return share < STATED - 2 * np.sqrt(STATED * (100 - STATED) / len(ends))


def label(tool: str) -> str:
    """Return a tool's name and version."""
    return tool if tool == LOOP else f"{tool} {metadata.version(tool)}"


def draw(tally: Tally, file: Path) -> None:
    """Draw the shares, with two standard errors: a row for each measure of each job, a colour for each tool."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "coverage", "svg.fonttype": "none", "font.size": 9})
    from matplotlib import pyplot as plt

    rows = list(dict.fromkeys((place, name) for place, name, _ in tally))
    rows = [(place, name) for place, job in enumerate(JOBS) for name in job.measures if (place, name) in rows]
    drawing, axis = plt.subplots(figsize=(10, 7), layout="constrained")
    for number, tool in enumerate(TOOLS):
        cases = [(y, case) for y, row in enumerate(rows) if (case := (*row, tool)) in tally]
        shares = [covered(tally[case], JOBS[case[0]].truths()[case[1]]) for _, case in cases]
        if cases:
            axis.errorbar([share for share, _ in shares], [y + 0.14 * (number - 2) for y, _ in cases],
                          xerr=[2 * error for _, error in shares], fmt="o", markersize=4, label=label(tool))
    axis.axvline(STATED, color="#444444", linewidth=0.8)
    axis.set(xlim=(-2, 102), xlabel="data sets in which the interval at 95 % holds the true value, %",
             yticks=range(len(rows)), yticklabels=[f"{JOBS[place].title}: {name}" for place, name in rows])
    axis.invert_yaxis()
    axis.grid(axis="x", color="#e6e6e6", linewidth=0.5)
    drawing.legend(loc="outside upper center", ncols=len(TOOLS))
    drawing.savefig(file, metadata={"Date": None})


def section(sets: int = SETS, figure: Path | None = FIGURE, workers: int = 1) -> list[str]:
    """Return the section on coverage, in Markdown, and draw the figure."""
    missing = {tool: lacks for tool in TOOLS if tool not in ("evalpipe", LOOP) and (lacks := peers.lacks(tool))}
    tally = simulate(sets, [tool for tool in TOOLS if tool not in missing], workers)
    job = (
        f"How often an interval stated at {STATED:g} % holds the true value: {sets} simulated data sets a job, the "
        f"same for every tool. Replicates are {REPLICATES}, of fairlearn {FEWER_REPLICATES} for its time; quantiles of "
        "so few hold it one point (two) less often than those of many. The numbers of events are random, with these "
        "means. The measures of groups are ranges over them, so equal groups have a true value of 0. Scores of events "
        f"and of others are normal; the ECE has {BINS} bins. True values are parameters of the population, or "
        "integrals over it. evalpipe and `confidenceinterval` have their default methods; evalpipe alone has an "
        "argument for the clusters. The loop draws rows and calls scikit-learn, which has no ECE. fairlearn is left "
        "out of 20 groups. A data set without limits counts as one in which they do not hold the value. Bars in the "
        "figure are two standard errors."
    )
    lines = ["## Coverage", "", job, ""]
    if figure is not None:
        draw(tally, figure)
        lines += [f"![Stated and true coverage of evalpipe and its peers]({figure.name})", ""]
    return [*lines, *table(tally), *(f"\n{tool}: {reason}." for tool, reason in missing.items())]


def main() -> None:
    """Print the section, and draw the figure of the full number of data sets."""
    parser = argparse.ArgumentParser(description="Coverage of evalpipe's intervals and its peers'.")
    parser.add_argument("--sets", type=int, default=SETS, help="data sets for each job")
    parser.add_argument("--workers", type=int, default=1, help="processes; they change no figure")
    asked = parser.parse_args()
    print("\n".join(section(asked.sets, FIGURE if asked.sets == SETS else None, asked.workers)))


if __name__ == "__main__":
    main()
