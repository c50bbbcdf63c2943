"""Make the rows of the specs of configs/books that follow Nicholson's slides.

    python configs/books/data/make_nicholson.py [folder]

`nicholson_deciles.csv`: the counts of his example of cumulative gains, 10,000 rows of which 2,400 are positive, as one
row for the positive and one for the negative rows of each decile. `nicholson_log_loss.csv`: the four predictions of his
table of log losses. `nicholson_records.csv`: 20 records, of which the first eight have the
probabilities that he lists. `nicholson_rare.csv`: one ill person in 100, and a prediction that nobody is ill.
`nicholson_classifiers.csv`: scores of three classifiers of our own; those of events and non-events
are evenly spaced quantiles of two normal distributions with the same spread, so that no chance is in their curves.
"""

from __future__ import annotations

import csv
import math
import sys
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

CAPTURED = (792, 528, 432, 216, 204, 144, 72, 6, 4, 2)
"""The positive rows of each decile of 1,000."""

PROBABILITIES = (0.999, 0.501, 0.250, 0.001)
RECORDS = (
    0.999, 0.987, 0.986, 0.981, 0.785, 0.769, 0.742, 0.741, 0.52, 0.46, 0.41, 0.4, 0.35, 0.31, 0.22, 0.2, 0.12, 0.08,
    0.03, 0.01,
)
ANSWERED = (1, 2, 4, 5, 8, 9, 13)
"""The records that are positive."""

APART = {"weak": 0.6, "fair": 1.4, "strong": 2.6}
"""How many standard deviations the scores of events lie above those of non-events, for each classifier."""

ROWS = 1000
"""Events and non-events each."""


def deciles() -> Iterable[tuple[object, ...]]:
    """Yield the heads, then a row for each decile and outcome; the score falls from decile to decile."""
    yield "decile", "score", "target", "rows"
    for decile, captured in enumerate(CAPTURED, 1):
        yield decile, 11 - decile, "yes", captured
        yield decile, 11 - decile, "no", 1000 - captured


def log_loss() -> Iterable[tuple[object, ...]]:
    """Yield the heads, the four predictions of positive cases, and one of a negative case."""
    yield "case", "target", "probability"
    for probability in PROBABILITIES:
        yield f"{probability:.3f}", "yes", probability
    yield "negative", "no", 0.5


def records() -> Iterable[tuple[object, ...]]:
    """Yield the heads, then the records in the order of their probabilities."""
    yield "record", "target", "probability"
    for record, probability in enumerate(RECORDS, 1):
        yield record, "yes" if record in ANSWERED else "no", probability


def rare() -> Iterable[tuple[object, ...]]:
    """Yield the heads, then the ill and the healthy persons."""
    yield "ill", "predicted", "persons"
    yield "yes", "no", 1
    yield "no", "no", 99


def classifiers() -> Iterable[tuple[object, ...]]:
    """Yield the heads, then the probabilities of each classifier at equal shares of events and non-events."""
    yield "target", *APART
    for target, side in (("yes", 0.5), ("no", -0.5)):
        for place in range(ROWS):
            z = NormalDist().inv_cdf((place + 0.5) / ROWS)
            yield target, *(round(1 / (1 + math.exp(-d * (z + d * side))), 4) for d in APART.values())


def main(folder: Path) -> None:
    """Write the files."""
    tables = {"deciles": deciles, "log_loss": log_loss, "records": records, "rare": rare, "classifiers": classifiers}
    for name, rows in tables.items():
        with (folder / f"nicholson_{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows())


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
