"""How often control limits call a night unusual where nothing changed, and how late they see what did.

    python benchmarks/trend.py               simulates the series and writes the tables of docs/trend.md (four minutes)
    python benchmarks/trend.py --series 200  a quick look: prints the tables, writes nothing

Accuracies of nights are drawn here: a rate that varies between nights, from one to the next or alike, and rows of that
rate. Limits are the engine's own, `BaselineFit`; those of Laney's p' chart (2002), which were used before, stand
beside them.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from coverage import put

from evalpipe.chapters.trend.compute import BaselineFit, CountedNight

Array = np.ndarray[Any, Any]

PAGE = Path(__file__).parents[1] / "docs" / "trend.md"
BEGIN, END = "<!-- benchmark: begin -->", "<!-- benchmark: end -->"
SERIES, EARLIER, RATE, SIGMA, SEED = 4000, 60, 0.8, 3.0, 11
"""Series of each row, their earlier nights, the accuracy, how far limits are from the centre, and the seed."""
BETWEEN, RHO, NEVER = 0.02, 0.5, 10**6
SIZES = {"300": (300, 300), "50 to 5,000": (50, 5000)}
"""The rows of a night; where there is a range, sizes are even on the scale of logarithms."""
DELAYS, FALLS, MOST_NIGHTS = 200, (0.04, 0.08), 30
"""Series of each delay, the falls of the accuracy, and the nights that are waited for a signal."""

RATES = """\
Nights beyond limits per 1,000, with the Monte-Carlo error, in which the accuracy stays 0.8 on average: {series:,}
series of a night after so many earlier ones. Where nights vary, the rate of a night has a standard deviation of
{between} between them, or is also correlated with that of the night before by {rho}."""
DELAYED = """\
After {earlier} nights the accuracy falls for good. Nights until half of {series} series have a signal, the first of
them counted as 1. Limits are made of all earlier nights anew each night, or with `baseline` of the first {earlier}."""


class Nights(NamedTuple):
    """Series of nights [series, nights]: the share of rows that are right, and the rows."""

    value: Array
    rows: Array


def drawn(series: int, nights: int, sizes: tuple[int, int], between: float, rho: float, fall: float = 0.0,
          seed: int = SEED) -> Nights:
    """Draw the nights of many series; the accuracy is lower by ``fall`` after the first `EARLIER` of them."""
    rng = np.random.default_rng(seed)
    low, high = np.log(sizes)
    rows = np.rint(np.exp(rng.uniform(low, high, (series, nights)))).astype(int)
    noise = rng.standard_normal((series, nights))
    for night in range(1, nights):
        noise[:, night] = rho * noise[:, night - 1] + math.sqrt(1 - rho**2) * noise[:, night]
    rate = RATE + between * noise - fall * (np.arange(nights) >= EARLIER)
    return Nights(rng.binomial(rows, np.clip(rate, 0.0, 1.0)) / rows, rows)


def counted(values: Array, rows: Array) -> list[CountedNight]:
    """Return the nights of one series; Agresti and Coull's error, which is above zero where all rows are right."""
    middle = (values * rows + 2) / (rows + 4)
    errors = np.sqrt(middle * (1 - middle) / (rows + 4))
    return [CountedNight(*night) for night in zip(values.tolist(), errors.tolist(), rows.tolist(), strict=True)]


def added(nights: list[CountedNight], n: int) -> tuple[float, float]:
    """Return the limits of a night as they are made."""
    return BaselineFit.of(nights).about(n, SIGMA, 0.0, 1.0)


def multiplied(nights: list[CountedNight], n: int) -> tuple[float, float]:
    """Return the limits of Laney's chart: errors of sampling times the mean moving range in them over 1.128."""
    values, errors, sizes = map(np.array, zip(*((night.value, night.error, night.n) for night in nights), strict=True))
    centre, unit = np.average(values, weights=sizes), np.mean(sizes * errors**2)
    z = (values - centre) / np.sqrt(unit / sizes)
    reach = SIGMA * max(float(np.abs(np.diff(z)).mean()) / 1.128, 1.0) * math.sqrt(unit / n)
    return max(float(centre) - reach, 0.0), min(float(centre) + reach, 1.0)


def beyond(nights: Nights, count: int, limits: Any, baseline: int | None = None) -> Array:
    """Return whether the night after the first ``count`` of each series is beyond the limits of these.

    Limits are of the first ``baseline`` nights instead, where that is given.
    """
    said = []
    for values, rows in zip(nights.value, nights.rows, strict=True):
        made = count if baseline is None else baseline
        low, high = limits(counted(values[:made], rows[:made]), int(rows[count]))
        said.append(not low <= values[count] <= high)
    return np.array(said)


def per_thousand(said: Array) -> str:
    """Write a share in parts of a thousand, with its Monte-Carlo error, at least that of one night."""
    share = float(said.mean())
    error = math.sqrt(max(share, 1 / len(said)) * (1 - share) / len(said))
    return f"{1000 * share:.1f} ± {1000 * error:.1f}"


CASES = {"as sampling has it": (0.0, 0.0), "between nights": (BETWEEN, 0.0), "and alike": (BETWEEN, RHO)}


def rates(series: int) -> str:
    """Return the table of false signals."""
    lines = ["| rows of a night | nights vary | earlier nights | Laney's limits | now |",
             "|---|---|---|---|---|"]
    for label, sizes in SIZES.items():
        for case, (between, rho) in CASES.items():
            for earlier in (20, EARLIER):
                nights = drawn(series, earlier + 1, sizes, between, rho)
                cells = [per_thousand(beyond(nights, earlier, limits)) for limits in (multiplied, added)]
                lines.append(f"| {label} | {case} | {earlier} | {' | '.join(cells)} |")
                print(lines[-1], flush=True)
    return "\n".join(lines)


def delay(nights: Nights, limits: Any, baseline: int | None = None) -> str:
    """Return the nights until half of the series have a signal; limits are of the first ``baseline`` or of all."""
    waited = np.full(len(nights.value), NEVER)
    for count in range(EARLIER, nights.value.shape[1]):
        (quiet,) = np.nonzero(waited == NEVER)
        if len(quiet) <= len(waited) // 2:
            break
        said = beyond(Nights(nights.value[quiet], nights.rows[quiet]), count, limits, baseline)
        waited[quiet[said]] = count - EARLIER + 1
    median = int(np.sort(waited)[len(waited) // 2])
    return f"over {MOST_NIGHTS}" if median == NEVER else f"{median}"


def delays(series: int) -> str:
    """Return the table of delays."""
    lines = ["| rows of a night | nights vary | fall | Laney's limits | with `baseline` | now | with `baseline` |",
             "|---|---|---|---|---|---|---|"]
    for label, sizes in SIZES.items():
        for case, (between, rho) in CASES.items():
            for fall in FALLS:
                nights = drawn(series, EARLIER + MOST_NIGHTS, sizes, between, rho, fall)
                cells = [delay(nights, limits, made) for limits in (multiplied, added) for made in (None, EARLIER)]
                lines.append(f"| {label} | {case} | {fall:g} | {' | '.join(cells)} |")
                print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    """Simulate, and write the page or print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=SERIES)
    series = parser.parse_args().series
    waited = min(series, DELAYS)
    text = "\n\n".join([
        RATES.format(series=series, between=BETWEEN, rho=RHO), rates(series),
        DELAYED.format(earlier=EARLIER, series=waited), delays(waited)])
    if series == SERIES:
        put(PAGE, f"{BEGIN}\n{text}\n{END}", BEGIN, END)


if __name__ == "__main__":
    main()
