"""How many more rows would decide what an interval leaves open, and with which probability."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalpipe.results import Results

MOST_MORE = 100
"""How many times the rows at hand it may take to decide, for their number to be given."""

MOST_DECIMALS, CLOSE = 6, 0.05
"""Decimals of the true value at most, and how far it may be rounded, as a share of its distance from the limit."""

CHANCE = 0.8
"""The probability with which so many more rows decide."""

HALF_A_ROW = 0.5
"""How closely their number is sought."""

LOGIT = frozenset({"delong", "logit", "bootstrap_logit"})
"""The interval methods whose limits are as far from the value on either side on the logit scale."""

FEW = 30
"""Events from which on the number holds: of eight, 74 to 88 in 100 runs were decided and not 80."""

STEP = 0.5
"""Of a count of events, what its exact limits allow for its being whole."""


def more_rows(row: Any, bound: float, n: int) -> float | None:
    """Return about how many more rows would decide with probability `CHANCE` if the value is the true one.

    To two digits; infinite beyond `MOST_MORE` times those at hand, None where the interval is decided or no number can
    be told. ``n`` are the rows at hand, to which the others are added: an interval of
    all is narrower by the square root of their number, and its value varies by the rows that are new.
    """
    value = row.observed if hasattr(row, "observed") else row.value
    if value is None or row.lower is None or row.upper is None or row.level is None or value == bound or (
            not row.lower <= bound <= row.upper):
        return None
    limit, z = row.lower if value > bound else row.upper, NormalDist().inv_cdf((1 + row.level) / 2)
    inside = all(0 < number < 1 for number in (value, limit, bound))
    if row.method == "exact" and 0 < bound < 1 and 0 < limit < 1:
        decides = _of_proportion(value, limit, bound, z)
    elif row.method in LOGIT and inside:
        decides = _of_distance(abs(_logit(value) - _logit(limit)), abs(_logit(value) - _logit(bound)), z)
    else:
        decides = _of_distance(abs(value - limit), abs(value - bound), z)
    if not decides(1.0 + MOST_MORE):
        return math.inf
    enough, too_few = float(MOST_MORE * n), 0.0
    while enough - too_few > HALF_A_ROW:
        middle = (enough + too_few) / 2
        enough, too_few = (middle, too_few) if decides(1 + middle / n) else (enough, middle)
    step: int = 10 ** max(len(str(math.ceil(enough))) - 2, 1)
    return max(round(enough / step), 1) * step


def _of_distance(half: float, distance: float, z: float) -> Callable[[float], bool]:
    """Return a function that tells whether so many times the rows decide, of an interval that is normal.

    ``half`` is that towards the bound, which is at a ``distance`` from the value.
    """
    power = NormalDist().inv_cdf(CHANCE) / z

    def decides(times: float) -> bool:
        return distance >= half / math.sqrt(times) * (1 + power * math.sqrt(1 - 1 / times))

    return decides


def _of_proportion(value: float, limit: float, bound: float, z: float) -> Callable[[float], bool]:
    """Return a function that tells whether so many times the rows decide, of a proportion with exact limits.

    These are taken as those of the score test with a correction for continuity: Fleiss, Levin & Paik (2003). How many
    trials the rows at hand have follows from the limit.
    """
    power, gap, spread = NormalDist().inv_cdf(CHANCE), abs(value - limit), z * math.sqrt(limit * (1 - limit))
    trials = ((spread + math.sqrt(spread**2 + 4 * STEP * gap)) / (2 * gap)) ** 2

    def decides(times: float) -> bool:
        needed = z * math.sqrt(bound * (1 - bound) * times * trials) + STEP
        return abs(value - bound) * times * trials >= needed + power * math.sqrt(
            value * (1 - value) * (times - 1) * trials)

    return decides


def _logit(probability: float) -> float:
    return math.log(probability / (1 - probability))


def few_events(results: Results, row: Any) -> bool:
    """Tell whether a dataset has so few events, or non-events, that numbers of rows to come are rough."""
    dataset = next(dataset for dataset in results.datasets if dataset.name == row.dataset)
    return dataset.events is not None and min(dataset.events, dataset.n - dataset.events) < FEW


def more_rows_sentence(results: Results, rows: Sequence[Any], needed: Sequence[tuple[float, float]]) -> str:
    """Return " About 1,300 more rows of this group would decide with 80% probability, if the true value is 0.546.".

    ``needed`` are of each of the rows the limit in its interval and how many more rows decide; the most is named.
    """
    count, truth = max(number for _, number in needed), "these values are true"
    if len(rows) == 1:
        value = rows[0].observed if hasattr(rows[0], "observed") else rows[0].value
        distance = abs(value - needed[0][0])
        places = next((k for k in range(MOST_DECIMALS) if abs(round(value, k) - value) <= CLOSE * distance),
                      MOST_DECIMALS)
        truth = f"the true value is {numbers.number(value, places)}"
    if math.isinf(count):
        return f" Even {MOST_MORE} times as many rows would decide with less than {CHANCE:.0%} probability, if {truth}."
    is_sum_of_weights = results.weight is not None and results.weight.get("kind") == "frequency"
    what = "observations (the sum of weights)" if is_sum_of_weights else "rows"
    group = "" if rows[0].slice is None else " of this group" if len(rows) == 1 else " of each group"
    rough = any(few_events(results, row) for row in rows)
    return (f" {'Very roughly' if rough else 'About'} {numbers.count(int(count))} more {what}{group} would decide with "
            f"{CHANCE:.0%} probability, if {truth}.")
