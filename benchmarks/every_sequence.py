"""How often gates `on: sequence` are wrong in a year, for every measure that they take and four sizes of night.

    python benchmarks/nights.py FOLDER             measures nights without any change, by the engine
    python benchmarks/every_sequence.py FOLDER     draws years of these nights and writes the tables of docs/sequence.md

Exact evidence is made of rows that are drawn here; the other tables are of rows drawn here as well. Evidence, groups of
nights and processes are the engine's own functions.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from coverage import put
from nights import KINDS, SIZES
from scipy.stats import norm

from evalpipe.chapters.gates.compute_sequence import (
    RECENT,
    NightEvidence,
    Nights,
    e_process,
    evidence,
    group_nights,
    of_a_mean,
    proportion_evidence,
    ratio_evidence,
    recent_evidence,
    threshold,
)
from evalpipe.chapters.gates.spec import LARGE_NIGHTS
from evalpipe.metrics import registry

Array = np.ndarray[Any, Any]

PAGE = Path(__file__).parents[1] / "docs" / "sequence.md"
BEGIN, END = "<!-- every measure: begin -->", "<!-- every measure: end -->"
YEARS, NIGHTS, LEVEL = 400, 365, 0.05
NEEDED = threshold(LEVEL, 1)
TWO_SIDED = norm.ppf(0.975)
"""The standard errors in half an interval of 95 %."""
COMMON = 300
"""The size of night whose standard error is the distance from the limit, inside and beyond."""
FALLEN = 80
"""The night on which a value falls."""

Evidence = Callable[[float, int], NightEvidence]
"""The evidence of years [years, nights, bets] on a limit and a side."""


class Wrong(NamedTuple):
    """The shares of years, in per cent, in which a gate ever fails, and ever passes."""

    fails: float
    passes: float


def wrong(night: NightEvidence) -> Wrong:
    """Return how often evidence on a limit [years, nights, bets] decides. Recent nights are not looked at."""
    return Wrong(*(100 * float((e_process(_first(logs), NEEDED) >= NEEDED).any(axis=1).mean()) for logs in night))


def _first(logs: Array) -> Array:
    """Move the nights that have evidence before those that have none, as the engine leaves these out."""
    order = np.argsort(~logs.any(axis=-1), axis=1, kind="stable")
    return np.take_along_axis(logs, order[..., None], axis=1)


def nights_of(metric: str, table: Array, years: int, rng: np.random.Generator) -> Nights:
    """Draw years of nights that the engine measured."""
    value, lower, upper, rows, events = table.T
    error = (upper - lower) / 2 / TWO_SIDED
    support = rows
    if registry[metric].interval != "proportion":
        # Of three levels the engine counts the rarest of the dataset; a quarter of the rows is about that here.
        support = np.where(np.isnan(events), rows / 4, np.minimum(events, rows - events))
    drawn = rng.integers(len(table), size=(years, NIGHTS))
    return Nights(*(column[drawn] for column in (value, np.where(error > 0, error, np.nan), rows, support)))


def asymptotic(metric: str, table: Array, years: int, rng: np.random.Generator) -> Evidence:
    """Return the evidence on a measure by its values."""
    groups = group_nights(nights_of(metric, table, years, rng), LARGE_NIGHTS.get(metric, 0))
    return lambda limit, side: evidence(groups, limit, side)


def exact(kind: str, metric: str, rows: int, years: int, rng: np.random.Generator) -> tuple[Evidence, float]:
    """Return the evidence on a measure by rows, of nights of which years are drawn, and the value of all nights.

    Exact evidence allows for nothing: the true value of the years is that of the nights which they are drawn from.
    """
    nights = max(2000, 400_000 // rows)
    frame = KINDS[kind].rows(rng, nights * rows)
    truth, chance = (frame[name].to_numpy().astype(float).reshape(nights, rows) for name in ("y", "p"))
    found = chance >= KINDS[kind].spec.get("threshold", 0.5)
    hits = [np.sum(cell, axis=1) for cell in (found & (truth == 1), found & (truth == 0), ~found & (truth == 1))]
    drawn = rng.integers(nights, size=(years, NIGHTS))
    counts = {"sensitivity": (hits[0], hits[0] + hits[2]), "precision": (hits[0], hits[0] + hits[1]),
              "accuracy": (rows - hits[1] - hits[2], np.full(nights, rows)),
              "f1": (2 * hits[0], 2 * hits[0] + hits[1] + hits[2])}
    losses = LOSSES[metric](truth, chance) if metric in LOSSES else np.zeros(0)

    def night(limit: float, side: int) -> NightEvidence:
        if metric in LOSSES:
            return of_a_mean(losses, np.ones(rows), limit, side, BOUNDS[metric])
        if metric == "f1":
            return ratio_evidence([(2, 2), (0, 1), (0, 1)], np.stack(hits, axis=-1), limit, side)
        return proportion_evidence(*counts[metric], limit, side)

    value = losses.mean() if metric in LOSSES else np.divide(*(np.sum(count) for count in counts[metric]))
    return lambda limit, side: NightEvidence(*(logs[drawn] for logs in night(limit, side))), float(value)


LOSSES: dict[str, Callable[[Array, Array], Array]] = {
    "brier": lambda truth, chance: (truth - chance) ** 2,
    "log_loss": lambda truth, chance: -np.log(np.where(truth == 1, chance, 1 - chance)),
}
BOUNDS = {"brier": (0.0, 1.0), "log_loss": (0.0, -math.log(1e-15))}
EXACT = ("accuracy", "sensitivity", "precision", "f1", "brier", "log_loss")


def measures(folder: Path, years: int) -> Iterator[list[str]]:
    """Yield a line of each measure: how often it is wrong on its limit, inside and beyond, in nights of each size."""
    for kind in KINDS:
        true = np.load(folder / f"{kind}.npz")
        tables = {rows: np.load(folder / f"{kind}-{rows}.npz") for rows in SIZES}
        for metric in KINDS[kind].metrics:
            common = tables[COMMON][metric]
            step = float(np.nanmedian(common[:, 2] - common[:, 1])) / 2 / TWO_SIDED
            side = 1 if registry[metric].direction == "minimize" else -1
            for exactly in (True, False) if kind in ("calibrated", "rare") and metric in EXACT else (False,):
                rng = np.random.default_rng([17, list(KINDS).index(kind), KINDS[kind].metrics.index(metric)])
                known = [exact(kind, metric, rows, years, rng) if exactly else (
                    asymptotic(metric, tables[rows][metric], years, rng), float(true[metric])) for rows in SIZES]
                on, inside, beyond = ([wrong(one(value + side * far, side)) for one, value in known]
                                      for far in (0.0, step, -step))
                yield [f"`{metric}`", kind, "exact" if exactly else "asymptotic",
                       *map(_together, ([one.fails for one in on], [one.passes for one in on],
                                        [one.fails for one in inside], [one.passes for one in inside],
                                        [one.passes for one in beyond], [one.fails for one in beyond]))]


def _together(shares: list[float]) -> str:
    return " · ".join(f"{share:.0f}" if share in (0.0, 100.0) else f"{share:.1f}" for share in shares)


def dependent(years: int, rng: np.random.Generator) -> Iterator[list[str]]:
    """Yield how often gates on a sensitivity on its limit are wrong where nights of 300 events are not independent."""
    chance, rows = 0.75, 300
    alike = np.full((years, NIGHTS), chance)
    kinds = {
        "independent nights": rng.binomial(rows, alike),
        "a normal effect of each night, of standard deviation 0.03": rng.binomial(
            rows, np.clip(rng.normal(alike, 0.03), 0, 1)),
        "the same, and each night's effect half that of the night before": rng.binomial(
            rows, np.clip(chance + _following(rng.normal(0, 0.03, alike.shape), 0.5), 0, 1)),
        "the same 300 customers each night, whose outcomes correlate by 0.2": np.stack([
            _same_customers(rows, chance, rng) for _ in range(years)]),
    }
    for name, hits in kinds.items():
        share, whole = hits / rows, np.full(hits.shape, float(rows))
        error = np.sqrt(share * (1 - share) / rows)
        groups = group_nights(Nights(share, error, whole, whole), 0)
        both = (proportion_evidence(hits.astype(float), whole, chance, -1), evidence(groups, chance, -1),
                evidence(groups, chance, -1, between=True))
        yield [name, *(f"{one.fails:.1f} · {one.passes:.1f}" for one in map(wrong, both))]


def _following(effects: Array, correlation: float) -> Array:
    """Return effects that correlate from night to night, of the same spread."""
    for night in range(1, effects.shape[1]):
        effects[:, night] *= math.sqrt(1 - correlation**2)
        effects[:, night] += correlation * effects[:, night - 1]
    return effects


def _same_customers(rows: int, chance: float, rng: np.random.Generator) -> Array:
    """Return the hits of each night among rows whose own chances have a beta distribution: they correlate by 0.2."""
    own = rng.beta(chance * 4, (1 - chance) * 4, rows)
    return np.asarray((rng.random((NIGHTS, rows)) < own).sum(axis=1))


def fallen(years: int, rng: np.random.Generator) -> Iterator[list[str]]:
    """Yield for how many nights after a fall a gate on a sensitivity of at least 0.75 says that it passes."""
    for events in (100, 300, 1000):
        for fall in (0.05, 0.1):
            true = np.where(np.arange(1, NIGHTS + 1) < FALLEN, 0.78, 0.78 - fall)
            hits = rng.binomial(events, true, (years, NIGHTS)).astype(float)
            night = proportion_evidence(hits, np.array(float(events)), 0.75, -1)
            kept, failed = (e_process(logs, NEEDED) >= NEEDED for logs in (night.kept, night.against))
            speak = [recent_evidence(night.against[:, : end + 1], NEEDED) for end in range(FALLEN + 120)]
            passed = kept[:, : FALLEN + 120] & (np.stack(speak, axis=1) <= RECENT)
            counts = [np.median(_until(~one[before, FALLEN - 1 :])) for one, before in (
                (kept, kept[:, FALLEN - 2]), (passed, passed[:, FALLEN - 2]))]
            yield [f"{events:,}", f"{fall:g}", f"{100 * passed[:, FALLEN - 2].mean():.0f}",
                   *(f"{count:.0f}" for count in counts), f"{np.median(_until(failed[:, FALLEN - 1 :])) + 1:.0f}"]


def _until(reached: Array) -> Array:
    """Return the nights before something is first reached."""
    return np.asarray(np.where(reached.any(axis=1), reached.argmax(axis=1), reached.shape[1]))


def table(head: list[str], lines: Iterator[list[str]]) -> list[str]:
    """Return the lines of a table."""
    return [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(f"| {' | '.join(line)} |" for line in lines)]


MEASURES = """\
{years:,} years of {nights} nights in which nothing changes, one gate at a level of {level:.0f} %. Per cent of years
in which the gate ever fails, and ever passes, with {sizes} rows a night. *On it*: the true value is on the
limit, so both are false. *Inside* and *beyond*: it is one standard error of {common} rows away, where a failure and a
pass are false. Two standard errors of 5 % are {error:.1f} %. Exact evidence is of rows; asymptotic of values and
intervals that the engine gave of at least 450 nights (150 of 2,000 rows) with 120,000 rows together, of which years are
drawn. Data are *calibrated*, with three events in ten, or *rare*, with one in ten and overconfident. *levels* are three
in order. That recent nights must agree makes passes fewer still, and is left out."""
DEPENDENT = """\
A sensitivity of 0.75, on its limit, with 300 events a night: per cent of years in which the gate fails · passes, by
evidence of rows, by that of values, and with `between_nights`."""
FALL = """\
A sensitivity of 0.78 that falls on night {fallen}, and a limit of 0.75. The years are those in
which the gate passed on the night before. Medians of the nights from the fall on: those on which it goes on passing, by
its evidence alone and with the look at recent nights, and the one on which it fails."""


def section(folder: Path, years: int) -> str:
    """Return the tables."""
    generators = np.random.default_rng(18).spawn(2)
    sizes = ", ".join(f"{rows:,}" for rows in SIZES[:-1]) + f" and {SIZES[-1]:,}"
    error = 100 * 2 * math.sqrt(LEVEL * (1 - LEVEL) / years)
    return "\n".join([
        BEGIN, "",
        MEASURES.format(years=years, nights=NIGHTS, level=100 * LEVEL, sizes=sizes, common=COMMON, error=error), "",
        *table(["measure", "data", "evidence", "on it: fails", "on it: passes", "inside: fails", "inside: passes",
                "beyond: passes", "beyond: fails"], measures(folder, years)), "",
        DEPENDENT, "",
        *table(["nights", "exact", "asymptotic", "`between_nights`"], dependent(years, generators[0])), "",
        FALL.format(fallen=FALLEN), "",
        *table(["events a night", "fall", "% that passed", "by evidence alone", "with recent nights", "fails on night"],
               fallen(years, generators[1])), "", END])


def main() -> None:
    """Draw the years, print the tables and, of the full number of years, write them."""
    parser = argparse.ArgumentParser(description="How often gates on: sequence are wrong in simulated years.")
    parser.add_argument("folder", type=Path, help="the nights that benchmarks/nights.py wrote")
    parser.add_argument("--years", type=int, default=YEARS)
    asked = parser.parse_args()
    text = section(asked.folder, asked.years)
    print(text)
    if asked.years == YEARS:
        put(PAGE, text, BEGIN, END)


if __name__ == "__main__":
    main()
