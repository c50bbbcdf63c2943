"""The evidence of many nights: a mixture over the size of a fall and over the night on which it began."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic.functions import exp, log_add_exp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.base.arraytypes import Floats

AT_ONCE = 0.25
"""The share of the stake for a limit that was missed from the first night on."""

NIGHTS = 365
"""The nights after which the share of the stake that is left for later falls has come down by 1 / sqrt(2)."""

REACH = 10.0
"""How many times the evidence that a verdict needs a bet keeps at most: so nights that say otherwise are heard soon.

After 30 nights far below a limit, 11 as far above it take the evidence down again; without a bound it would be 30.
"""


def staked(night: int) -> float:
    """Return the share of the stake, below 1, on falls that begin on a night or before; nights count from 1."""
    return AT_ONCE + (1 - AT_ONCE) * (1 - 1 / math.sqrt(1 + night / NIGHTS)) if night else 0.0


def threshold(level: float, alarms: int) -> float:
    """Return the evidence at which one of so many alarms is given, so that all keep the level together.

    An e-process that has mean 1 or less reaches 1 / p with a probability of p at most, in whatever time: Ville (1939).
    The probabilities of several add up at most, whatever depends on what.
    """
    return alarms / level


def process(logs: Floats, needed: float) -> Floats:
    """Return an e-process [..., nights] of the logarithms of e-values [..., nights, bets] in the order of nights.

    ``needed`` is the evidence at which a verdict is given.
    On each night, what is staked on a fall that begins then joins each bet, and all is multiplied by the e-value of the
    night; the process is the mean over bets, with what is not staked yet. So its mean is at most 1 while the limit is
    kept. It is a detector as of Shin, Ramdas & Rinaldo (2024), of which the stakes add up to 1. What a bet
    has come to is kept up to `REACH` times what a verdict needs of all; that makes the mean smaller, never larger.
    """
    bets = logs.shape[-1]
    most = math.log(REACH * bets * needed)
    worth = np.full((*logs.shape[:-2], bets), -np.inf)
    after = np.empty(logs.shape[:-1])
    for night in range(logs.shape[-2]):
        joined = log_add_exp(worth, math.log(staked(night + 1) - staked(night)))
        worth = np.minimum(joined + logs[..., night, :], most)
        after[..., night] = exp(worth).mean(axis=-1) + 1 - staked(night + 1)
    return after


RECENT = 3.0
"""The evidence of recent nights that a limit is missed, above which a gate does not pass."""

MONTH = 30
"""The nights that are recent."""


def recent(logs: Floats, needed: float) -> Floats:
    """Return the evidence [...] of recent nights of the logarithms of e-values [..., nights, bets].

    Of each bet, of the nights from that on where it is largest, as in the cumulative sums of Page (1954), within a
    month. A stake of 1 begins anew on each night, so it is no e-value; to ask for little of it makes passes fewer.
    """
    most, total = math.log(REACH * logs.shape[-1] * needed), np.zeros((*logs.shape[:-2], logs.shape[-1]))
    for night in range(max(logs.shape[-2] - MONTH, 0), logs.shape[-2]):
        total = np.minimum(np.maximum(total, 0.0) + logs[..., night, :], most)
    return np.asarray(exp(total).mean(axis=-1))


def last(nights: Floats | Sequence[Sequence[float]], needed: float) -> float:
    """Return the evidence after the last night of the logarithms of e-values; 1 before the first."""
    return float(process(np.asarray(nights, float), needed)[-1]) if len(nights) else 1.0
