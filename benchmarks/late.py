"""How late a gate over nights tells of a fall where outcomes come after 60 days, without a judge and with one.

    python benchmarks/late.py              simulates the years and writes the table of docs/labels.md
    python benchmarks/late.py --years 40   a quick look: prints the table, writes nothing

Nights are drawn here; bets and processes are the engine's own functions. The gate reads settled outcomes alone. Columns
with a judge are what it would be with the judge's labels of rows that are not settled: `judged` is the estimate of
prediction-powered inference, with the share of the judge at which it varies least. `--runs 30` holds both to real runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
from coverage import put

import evalpipe
from evalpipe.chapters.gates.compute_sequence import (
    Nights,
    e_process,
    evidence,
    group_nights,
    proportion_evidence,
    threshold,
)

Array = np.ndarray[Any, Any]

PAGE = Path(__file__).parents[1] / "docs" / "labels.md"
BEGIN, END = "<!-- benchmark: begin -->", "<!-- benchmark: end -->"
YEARS, NIGHTS, LATE, ROWS, LIMIT, CHANGED = 200, 365, 60, 100, 0.75, 151
"""Years, nights, the days after which outcomes come, rows of a night, the lowest accuracy, the night of a change."""
LEVEL = 0.05
JUDGE = (0.92, 0.15)
"""The shares of the rows predicted right, and of the others, that the judge calls right."""

HEAD = """\
{years} simulated years of {nights} nights with {rows} rows each, outcomes known after {late} days, accuracy at least \
{limit} at a level of
{level:.0%}. The judge agrees with the outcome on {right:.0%} of the rows that are predicted right and on {wrong:.0%} \
of the others. Nights until half of
the years have an alarm, where the night of the change counts as 1; and per cent of years with a false alarm.

| | settled outcomes | and a judge, rows of the day | and a judge, last {late} days | outcomes at once |
|---|---|---|---|---|"""


def judged(settled: Array, called_right: Array | float, rows: float) -> tuple[Array, Array]:
    """Return the accuracy with a judge, and its standard error.

    ``settled`` [..., 4] counts settled rows that are right and called right, right and not called so, wrong and called
    right, and neither; ``called_right`` counts those called right of so many other ``rows``.
    """
    n = settled.sum(-1)
    accuracy, calls = (settled[..., 0] + settled[..., 1]) / n, (settled[..., 0] + settled[..., 2]) / n
    common, variance = settled[..., 0] / n - accuracy * calls, calls * (1 - calls)
    share = np.rint(np.clip(common / np.where(variance > 0, variance, np.inf), 0, 1) * 20) / 20
    value = accuracy + share * ((n * calls + called_right) / (n + rows) - calls)
    explained = 2 * share * common - share**2 * variance
    return value, np.sqrt((accuracy * (1 - accuracy) - explained) / (n - 1) + np.maximum(explained, 0) / (n + rows))


def alarms(accuracy: Array, right: Array, wrong: Array, years: int, seed: int) -> Iterator[Array]:
    """Yield on which nights the gate fails [years, nights], by each column of the table.

    ``accuracy`` [days] is the true one, ``right`` and ``wrong`` [days] the shares that the judge calls right.
    """
    rng, needed = np.random.default_rng(seed), threshold(LEVEL, 1)
    shares = [accuracy * right, accuracy * (1 - right), (1 - accuracy) * wrong, (1 - accuracy) * (1 - wrong)]
    rows = rng.multinomial(ROWS, np.stack(shares, -1), (years, len(accuracy))).astype(float)
    tonight, settled, calls = rows[:, LATE:], rows[:, :-LATE], (rows[..., 0] + rows[..., 2]).cumsum(1)

    def by_outcomes(of: Array) -> Array:
        exact = proportion_evidence(of[..., 0] + of[..., 1], of.sum(-1), LIMIT, -1)
        return np.asarray(e_process(exact.against, needed) >= needed)

    def with_judge(called_right: Array, count: int) -> Array:
        value, error = judged(settled, called_right, count)
        all_rows = np.full(value.shape, float(ROWS))
        groups = group_nights(Nights(value, error, all_rows, all_rows), 0)
        return np.asarray(e_process(evidence(groups, LIMIT, -1).against, needed) >= needed)

    yield by_outcomes(settled)
    yield with_judge(tonight[..., 0] + tonight[..., 2], ROWS)
    yield with_judge(calls[:, LATE:] - calls[:, :-LATE], ROWS * LATE)
    yield by_outcomes(tonight)


def table(years: int) -> Iterator[str]:
    """Yield the lines of the table."""
    yield HEAD.format(years=years, nights=NIGHTS, rows=ROWS, late=LATE, limit=LIMIT, level=LEVEL, right=JUDGE[0],
                      wrong=1 - JUDGE[1])
    changed = np.arange(LATE + NIGHTS) >= LATE + CHANGED - 1
    start, (right, wrong) = LIMIT + 0.02, JUDGE
    for seed, (drop, unseen) in enumerate([(0.05, False), (0.1, False), (0.2, False), (0.2, True)]):
        accuracy = np.where(changed, start - drop, start)
        # Rows that the fall turns wrong go on being called right as often as before.
        blind = ((1 - start) * wrong + drop * right) / (1 - start + drop)
        calls = np.where(changed & unseen, blind, wrong)
        delays = []
        for fails in alarms(accuracy, np.full(len(changed), right), calls, years, seed):
            after = fails[:, CHANGED - 1:]
            delays.append(np.where(after.any(1), after.argmax(1) + 1, NIGHTS))
        what = f"accuracy falls from {start} by {drop}{', which the judge does not see' if unseen else ''}"
        yield f"| {what} | {' | '.join(f'{np.median(delay):.0f}' for delay in delays)} |"
    for seed, (accuracy_kept, right_after) in enumerate([(LIMIT, right), (LIMIT, 0.85), (start, 0.75)], 10):
        calls_right = np.where(changed, right_after, right)
        shares = [fails.any(1).mean() * 100 for fails in alarms(
            np.full(len(changed), accuracy_kept), calls_right, np.full(len(changed), wrong), years, seed)]
        turns = "" if right_after == right else (
            f"; the judge calls {right_after:.0%} of those right, not {right:.0%}, from night {CHANGED} on")
        yield f"| accuracy stays {accuracy_kept}{turns} | {' | '.join(f'{share:g} %' for share in shares)} |"


def compare_with_runs(nights: int) -> None:
    """Print how evidence, value and error of real runs differ from those that are simulated here."""
    rng, day = np.random.default_rng(11), date(2026, 6, 1)
    same, gaps, ratios = 0, [], []
    for _ in range(nights):
        frames, counts = [], []
        for applied in (day - timedelta(LATE), day):
            is_positive, is_right = rng.random(ROWS) < 0.4, rng.random(ROWS) < LIMIT + 0.02
            is_called = rng.random(ROWS) < np.where(is_right, *JUDGE)
            known = [applied + timedelta(int(days)) for days in rng.integers(1, LATE + 1, ROWS)]
            frames.append(pl.DataFrame({
                "y": np.where(is_positive == is_right, "bad", "good"), "p": np.where(is_positive, 0.9, 0.1),
                "judge": np.where(is_positive == is_called, "bad", "good"), "applied": [applied] * ROWS,
                "known": known}))
            counts.append([float((is_right & is_called).sum()), float((is_right & ~is_called).sum()),
                           float((~is_right & is_called).sum()), float((~is_right & ~is_called).sum())])
        arrive = {"column": "known", "since": "applied", "within": f"{LATE}d"}
        results = evalpipe.run({
            "evalpipe": 1, "name": "late", "as_of": day.isoformat(), "task": "binary",
            "outcome": {"column": "y", "event": "bad"}, "datasets": {"rows": {"path": "memory"}},
            "labels": {"selected": "random", "judge": {"column": "judge"}, "arrive": arrive},
            "models": {"m": {"probability": "p"}}, "metrics": ["accuracy"],
            "gates": [{"metric": "accuracy", "min": LIMIT, "on": "sequence"}]}, frames={"rows": pl.concat(frames)})
        settled, tonight = np.array(counts)
        expected = proportion_evidence(settled[:2].sum(), settled.sum(), LIMIT, -1)
        same += np.allclose(results.evidence[0].against, expected.against, rtol=0, atol=1e-12)
        value, error = judged(settled, tonight[0] + tonight[2], ROWS)
        row = results.rows[0]
        gaps.append(abs((row.value or 0.0) - value))
        ratios.append(((row.upper or 0.0) - (row.lower or 0.0)) / 2 / NormalDist().inv_cdf(0.975) / error)
        day += timedelta(1)
    print(f"{nights} runs: the same evidence on {same}; values with the judge differ by {max(gaps):.4f} at most, "
          f"their errors are {np.mean(ratios):.3f} times as large ({min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--years", type=int, default=YEARS)
    parser.add_argument("--runs", type=int, default=0, help="real runs to compare with, instead of the table")
    options = parser.parse_args()
    if options.runs:
        compare_with_runs(options.runs)
    elif options.years == YEARS:
        put(PAGE, "\n".join([BEGIN, "", *table(YEARS), "", END]), BEGIN, END)
    else:
        print("\n".join(table(options.years)))
