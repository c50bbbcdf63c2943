"""What a gate is to be expected to do night after night: false alarms in a year, and how late it tells of a fall."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalpipe.chapters.gates.compute_bets import of_a_proportion
from evalpipe.chapters.gates.compute_groups import ENOUGH, Nights, evidence, gathered
from evalpipe.chapters.gates.compute_sequence import process
from evalpipe.intervals.binomial import clopper_pearson

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Flags, Floats
    from evalpipe.chapters.gates.compute_verdict import On

YEARS = 200
"""The simulated years of each check."""

NIGHTS = 365
"""The nights of a year."""

BEFORE = 200
"""The nights before a fall."""

SEED = 17


@dataclass(frozen=True, slots=True)
class NightCheck:
    """One limit of a gate on one number: what a night tells of it.

    ``side`` is -1 for a lowest number allowed, 1 for a highest; ``error`` the standard error of a night. ``trials`` are
    those of a proportion, None for any other measure; ``support`` its rows of the rarer outcome, which nights are
    gathered by, and ``least`` how many a night needs, see `gathered`. ``needed`` is the evidence that fails a gate
    `on: sequence`.
    """

    on: On
    limit: float
    side: int
    error: float
    trials: int | None
    level: float
    needed: float
    support: float = ENOUGH
    least: int = 0


class Forecast(NamedTuple):
    """What is to be expected of a check, simulated: false alarms in a year with their standard error, and the delay.

    ``delay`` is the median number of nights until it fails after a fall; None where it does not within a year.
    """

    alarms: float
    error: float
    delay: int | None


def forecast(check: NightCheck, margin: float, drop: float) -> Forecast:
    """Return what to expect of a check whose true value is a margin inside its limit, and then falls by a drop.

    A false alarm is a night on which the gate turns to fail. The rules are those of the gate itself, on nights that
    are drawn: binomial of a proportion, else normal with the error of a night.
    """
    rng = np.random.default_rng(SEED)
    inside = check.limit - check.side * margin
    quiet = _fails(check, np.full(NIGHTS, inside), rng)
    turns = (quiet & ~np.pad(quiet, ((0, 0), (1, 0)))[:, :-1]).sum(axis=1)
    beyond = np.where(np.arange(BEFORE + NIGHTS) < BEFORE, inside, inside + check.side * drop)
    late = _fails(check, beyond, rng)[:, BEFORE:]
    delays = np.where(late.any(axis=1), late.argmax(axis=1) + 1, NIGHTS + 1)
    delay = int(np.median(delays))
    error = float(turns.std(ddof=1)) / math.sqrt(YEARS)
    return Forecast(float(turns.mean()), error, delay if delay <= NIGHTS else None)


def _fails(check: NightCheck, true: Floats, rng: np.random.Generator) -> Flags:
    """Return on which nights of each year [years, nights] a gate fails of which these are the true values [nights]."""
    shape = YEARS, len(true)
    if check.trials is not None:
        hits = rng.binomial(check.trials, np.clip(true, 0, 1), shape).astype(float)
        value, (lower, upper) = hits / check.trials, clopper_pearson(hits, check.trials, check.level)
        against = of_a_proportion(hits, np.array(check.trials), check.limit, check.side).against
    else:
        value = rng.normal(true, check.error, shape)
        half = NormalDist().inv_cdf((1 + check.level) / 2) * check.error
        lower, upper = value - half, value + half
        nights = Nights(value, *(np.full(shape, number) for number in (check.error, 1.0, check.support)))
        groups = gathered(nights, check.least)
        against = evidence(groups, check.limit, check.side).against
    if check.on == "sequence":
        return np.asarray(process(against, check.needed) >= check.needed)
    nearest = upper if check.side < 0 else lower
    number = {"interval": nearest, "value": value, "lower": lower, "upper": upper}[check.on]
    return np.asarray(check.side * (number - check.limit) > 0)
