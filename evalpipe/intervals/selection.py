"""What was chosen for being the largest of many: limits that hold for all of them, a value that allows for the choice.

Differences are taken as normal about the truth, with known errors.
"""

from __future__ import annotations

import math

HELD_BACK = 0.1
"""The part of the error level at which all true values are taken to lie within limits that hold for all at once."""

HALVINGS = 60
"""Of the width of these limits, after which a median is found to the last digits."""


def reach_of_all(searched: int, level: float) -> float:
    """Return how many errors limits reach that hold for so many differences at once (Bonferroni)."""
    from scipy.special import ndtri

    return -float(ndtri((1 - level) / 2 / searched))


def without_selection(difference: float, error: float, ahead: float, searched: int, level: float) -> float:
    """Return a difference, the larger the more likely chosen, corrected for being ``ahead`` of the next by so much.

    It is the true difference of which, among draws that are chosen too, half lie below the one drawn: where none is
    near, hardly any correction. True differences are looked for within limits that hold for all: the hybrid estimate of
    Andrews, Kitagawa & McCloskey (2024). It takes what is compared as independent. A correction stops at 0.
    """
    from scipy.special import ndtr

    reach = reach_of_all(searched, 1 - HELD_BACK * (1 - level))
    low, high = difference - reach * error, difference + reach * error
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        least = float(ndtr(max((difference - ahead - middle) / error, -reach)))
        most = float(ndtr(reach))
        below = float(ndtr((difference - middle) / error)) - least
        low, high = (middle, high) if 2 * below > most - least else (low, middle)
    return min(difference, max(0.0, (low + high) / 2)) if math.isfinite(ahead) else difference
