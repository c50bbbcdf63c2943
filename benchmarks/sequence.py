"""How often gates cry wolf in a year of nights, by their intervals and as a sequence, and how late they tell of a fall.

    python benchmarks/sequence.py               simulates the years and writes the tables of docs/sequence.md
    python benchmarks/sequence.py --years 200   a quick look: prints the tables, writes nothing

Nights are drawn here; limits, bets and processes are the engine's own functions. `truescore`, where it is installed,
stands beside them: the nights after which its confidence sequence of all rows leaves the limit.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from coverage import put
from scipy.stats import norm

from evalpipe.chapters.gates.compute_sequence import (
    NightEvidence,
    e_process,
    of_a_mean,
    proportion_evidence,
    threshold,
    value_evidence,
)
from evalpipe.intervals.binomial import clopper_pearson

Array = np.ndarray[Any, Any]

PAGE = Path(__file__).parents[1] / "docs" / "sequence.md"
BEGIN, END = "<!-- benchmark: begin -->", "<!-- benchmark: end -->"
YEARS, NIGHTS, EVENTS, CHANGED = 2000, 365, 300, 200
"""Years, their nights, events of each night, and the night from which on a fall lasts."""
MARGIN, FALLS, LEVEL, CONFIDENCE = 0.01, (0.05, 0.1), 0.05, 0.95
SENSITIVITY, BRIER, AUC = 0.75, 0.15, 0.8
"""The limits: at least, at most, at least."""
PREVALENCE = 0.3
"""Of the nights of the area under the ROC curve."""
NEVER = 10**6

QUIET = """\
{years:,} years of {nights} nights with {events} events each (rows, of the Brier score and the AUC), in which nothing
changes. Per cent of years with at least one false alarm; two standard errors of 5 % are {error:.1f} %."""
DELAYED = """\
The same years, but the value falls on night {night}, from 0.01 inside its limit. Nights until half of the years have
an alarm; that night counts as 1."""
BESIDE = """\
The sensitivity is below its limit from the first night on. Nights until half of 200 years have an alarm, beside the
empirical-Bernstein confidence sequence of truescore 0.7.4, one-sided at the same level, which sees each row in turn."""


@dataclass(frozen=True)
class Nights:
    """Nights of many years [years, nights]: their evidence on a limit, and whether the whole interval misses it."""

    evidence: NightEvidence
    missed: Array


def sensitivity(years: int, gap: Array, rng: np.random.Generator) -> Nights:
    """Draw a sensitivity, above its limit by the gap of each night."""
    hits = rng.binomial(EVENTS, SENSITIVITY + gap, (years, NIGHTS))
    upper = clopper_pearson(hits, EVENTS, CONFIDENCE)[1]
    return Nights(proportion_evidence(hits, np.array(EVENTS), SENSITIVITY, -1), upper < SENSITIVITY)


def brier(years: int, gap: Array, rng: np.random.Generator) -> Nights:
    """Draw a Brier score whose squared errors have a beta distribution, below its limit by the gap of each night."""
    against, kept, missed = [], [], []
    for night in range(NIGHTS):
        mean = BRIER - gap[night]
        errors = rng.beta(mean * 4, (1 - mean) * 4, (years, EVENTS))
        night_evidence = of_a_mean(errors, np.ones(EVENTS), BRIER, 1, (0.0, 1.0))
        against.append(night_evidence.against)
        kept.append(night_evidence.kept)
        half = norm.ppf((1 + CONFIDENCE) / 2) * errors.std(axis=1, ddof=1) / math.sqrt(EVENTS)
        missed.append(errors.mean(axis=1) - half > BRIER)
    return Nights(NightEvidence(np.swapaxes(against, 0, 1), np.swapaxes(kept, 0, 1)), np.transpose(missed))


def area(years: int, gap: Array, rng: np.random.Generator) -> Nights:
    """Draw an area under the ROC curve of normal scores, above its limit by the gap of each night."""
    values, errors = np.empty((years, NIGHTS)), np.empty((years, NIGHTS))
    missed = np.empty((years, NIGHTS), bool)
    for night in range(NIGHTS):
        truth = rng.random((years, EVENTS)) < PREVALENCE
        scores = rng.normal(size=truth.shape) + truth * math.sqrt(2) * norm.ppf(AUC + gap[night])
        value, error = delong(scores, truth)
        low, high = on_the_logit(value, error)
        # The error is that of half the interval, as in the engine; each night has enough events to count by itself.
        values[:, night], errors[:, night] = value, (high - low) / 2 / norm.ppf((1 + CONFIDENCE) / 2)
        missed[:, night] = high < AUC
    return Nights(value_evidence(values, errors, AUC, -1), missed)


def delong(scores: Array, truth: Array) -> tuple[Array, Array]:
    """Return areas [years] and DeLong's errors of scores [years, n] without ties."""
    order = np.argsort(scores, axis=1)
    event = np.take_along_axis(truth, order, axis=1)
    events, others = event.sum(axis=1), (~event).sum(axis=1)
    of_events = np.cumsum(~event, axis=1) / others[:, None]
    of_others = 1 - np.cumsum(event, axis=1) / events[:, None]
    value = (of_events * event).sum(axis=1) / events
    spread = [((part - value[:, None]) ** 2 * kind).sum(axis=1) / (number - 1) / number
              for part, kind, number in ((of_events, event, events), (of_others, ~event, others))]
    return value, np.sqrt(sum(spread))


def on_the_logit(value: Array, error: Array) -> tuple[Array, Array]:
    """Return limits symmetric on the logit."""
    centre, half = np.log(value / (1 - value)), norm.ppf((1 + CONFIDENCE) / 2) * error / (value * (1 - value))
    return 1 / (1 + np.exp(half - centre)), 1 / (1 + np.exp(-half - centre))


KINDS: dict[str, Callable[[int, Array, np.random.Generator], Nights]] = {
    f"sensitivity at least {SENSITIVITY} (exact)": sensitivity,
    f"Brier score at most {BRIER} (exact)": brier,
    f"ROC AUC at least {AUC} (asymptotic)": area,
}


def share(reached: Array) -> float:
    """Return the share of years in which something was reached, in per cent."""
    return 100 * float(reached.any(axis=1).mean())


def first(reached: Array, since: int = CHANGED) -> Array:
    """Return the nights after the change until something is first reached; `NEVER` in years in which it is not."""
    late = reached[:, since:]
    return np.where(late.any(axis=1), late.argmax(axis=1) + 1, NEVER)


def alarms(nights: Nights, gates: int) -> Array:
    """Return whether the evidence against the limit is what an alarm of one of so many gates needs."""
    needed = threshold(LEVEL, gates)
    return e_process(nights.evidence.against, needed) >= needed


def quiet(years: int, rng: np.random.Generator) -> Iterator[list[str]]:
    """Yield the shares of years with a false alarm, in per cent, of each kind of gate at each gap from its limit."""
    for name, draw in KINDS.items():
        for gap in (MARGIN, 0.0):
            nights = draw(years, np.full(NIGHTS, gap), rng)
            shares = [share(nights.missed), *(share(alarms(nights, gates)) for gates in (1, 10))]
            yield [name, "0.01 inside" if gap else "on the limit", *(f"{one:.1f}" for one in shares)]


def delayed(years: int, rng: np.random.Generator) -> Iterator[list[str]]:
    """Yield the nights after which half of the years have an alarm, of each kind of gate and each fall."""
    for name, draw in KINDS.items():
        for fall in FALLS:
            nights = draw(years, np.where(np.arange(NIGHTS) < CHANGED, MARGIN, MARGIN - fall), rng)
            found = [first(nights.missed), *(first(alarms(nights, gates)) for gates in (1, 10))]
            yield [name, f"{fall:g}", *(f"{np.median(nights_):.0f}" for nights_ in found)]


def beside(years: int, rng: np.random.Generator) -> Iterator[list[str]]:
    """Yield the nights until a sensitivity that is below its limit from the first night on is told, by both."""
    from truescore import confidence_sequence

    for fall in FALLS:
        nights = 60
        rows = rng.random((years, nights * EVENTS)) < SENSITIVITY + MARGIN - fall
        hits = rows.reshape(years, nights, EVENTS).sum(axis=2)
        needed = threshold(LEVEL, 1)
        own = e_process(proportion_evidence(hits, np.array(EVENTS), SENSITIVITY, -1).against, needed) >= needed
        uppers = [confidence_sequence(row, alpha=LEVEL, one_sided=True).upper_bounds for row in rows.astype(float)]
        theirs = np.array(uppers)[:, EVENTS - 1 :: EVENTS] < SENSITIVITY
        yield [f"{fall:g}", *(f"{np.median(first(reached, 0)):.0f}" for reached in (own, theirs))]


def table(head: list[str], lines: Iterator[list[str]]) -> list[str]:
    """Return the lines of a table."""
    return [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(f"| {' | '.join(line)} |" for line in lines)]


def section(years: int) -> str:
    """Return the tables."""
    # A generator for each table: without truescore the others come out the same.
    of_quiet, of_delayed, of_beside = np.random.default_rng(17).spawn(3)
    rules = ["`on: interval`", "`on: sequence`, 1 gate", "`on: sequence`, 10 gates"]
    error = 100 * 2 * math.sqrt(LEVEL * (1 - LEVEL) / years)
    try:
        compared = table(["fall", "`on: sequence`", "truescore"], beside(min(years, 200), of_beside))
    except ModuleNotFoundError:
        compared = ["(truescore is not installed)"]
    return "\n".join([
        BEGIN, "",
        QUIET.format(years=years, nights=NIGHTS, events=EVENTS, error=error), "",
        *table(["gate", "true value", *rules], quiet(years, of_quiet)), "",
        DELAYED.format(night=CHANGED + 1), "",
        *table(["gate", "fall", *rules], delayed(years, of_delayed)), "",
        BESIDE, "",
        *compared, "", END])


def main() -> None:
    """Simulate, print the tables and, of the full number of years, write them."""
    parser = argparse.ArgumentParser(description="False alarms and delays of gates in simulated years.")
    parser.add_argument("--years", type=int, default=YEARS, help="years of each row of the tables")
    asked = parser.parse_args()
    text = section(asked.years)
    print(text)
    if asked.years == YEARS:
        put(PAGE, text, BEGIN, END)


if __name__ == "__main__":
    main()
