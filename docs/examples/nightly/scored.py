"""Scores of claims to try the nightly job with: python scored.py FIRST_DAY NIGHTS [CHANGED_NIGHT].

Writes a file of simulated claims for each night. From the changed night on, counted from 1, the score no longer sees
much of the fraud. The rows are made here and are nobody's.
"""

import csv
import math
import random
import sys
from datetime import date, timedelta
from pathlib import Path

CLAIMS, FRAUD = 400, 0.25
"""Claims of a night, and the share of fraud among them."""


def night(day: date, shift: float) -> list[tuple[int, float]]:
    """Return for each claim of a day whether it is fraud, and its score; fraud scores higher by a shift."""
    chance = random.Random(day.toordinal())  # noqa: S311 - of simulated claims
    events = [chance.random() < FRAUD for _ in range(CLAIMS)]
    return [(int(event), round(1 / (1 + math.exp(-chance.gauss(shift * event - 0.9, 1))), 4)) for event in events]


def main(first: str, nights: str, changed: str = "") -> None:
    """Write the files."""
    Path("scored").mkdir(exist_ok=True)
    for number in range(int(nights)):
        day = date.fromisoformat(first) + timedelta(number)
        shift = 0.5 if changed and number + 1 >= int(changed) else 2.0
        with Path(f"scored/claims-{day}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("fraud", "p_fraud"), *night(day, shift)])


if __name__ == "__main__":
    main(*sys.argv[1:])
