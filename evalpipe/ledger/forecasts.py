"""What the gates of a plan are to be expected to do night after night, from the latest night in the ledger."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from evalpipe.chapters.gates.compute_sequence import (
    ENOUGH,
    SIDES,
    YEARS,
    Forecast,
    NightCheck,
    forecast,
    sides,
    threshold,
)
from evalpipe.chapters.gates.plan import evidence_kind, gates_plan, least_night, sequence_plan
from evalpipe.errors import UsageError
from evalpipe.ledger.entries import LedgerPlace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from evalpipe.plan.plan import Plan

    Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class GateForecast:
    """What to expect of a gate, by its ``number`` in the spec from 1, over all its checks together.

    ``alarms`` is the number of false alarms in a year of all ``checks``, ``error`` its standard error, ``delay`` the
    median delay of the slowest check, None where that is beyond a year. ``reason`` says why nothing is known of it.
    """

    number: int
    checks: int = 0
    alarms: float | None = None
    error: float | None = None
    delay: int | None = None
    reason: str | None = None

    def document(self) -> dict[str, Any]:
        """Return the forecast as plain JSON values; two runs of the same bytes never disagree."""
        return {
            "gate": self.number, "checks": self.checks, "false_alarms_a_year": self.alarms,
            "standard_error": self.error, "median_delay": self.delay, "years": YEARS, "identical_runs_disagree": 0,
            "reason": self.reason}


def gate_forecasts(plan: Plan, out: Path, margin: float, drop: float) -> list[GateForecast]:
    """Return the expected false alarms and delays of each gate, by simulation from the latest night in the ledger.

    True values lie ``margin`` inside their limits, and later fall by ``drop``. The error of a night is taken from the
    intervals of the latest nightly run of the spec.
    """
    rows, reason = _latest_verdicts(plan, out)
    verdicts_of_gates = [(number, gate, [row for row in rows if row["gate"] == number])
                         for number, gate in enumerate(plan.part(gates_plan), 1)]
    limit_count = sum(len(verdicts) * len(list(sides(gate))) for _, gate, verdicts in verdicts_of_gates
                      if gate.rule.on == "sequence")
    evidence_needed = threshold(plan.part(sequence_plan).level, max(limit_count, 1))
    return [_gate_forecast(plan, number, verdicts, evidence_needed, (margin, drop), reason)
            for number, _, verdicts in verdicts_of_gates]


def _latest_verdicts(plan: Plan, out: Path) -> tuple[Sequence[Row], str]:
    """Return the rows of gate verdicts of the latest nightly run, and the reason to state where a gate has none.

    Each row of a gate `on: sequence` gets its "support", the rows of the rarer outcome behind its evidence.
    """
    place = LedgerPlace.named(plan.ledger, out)
    if place is None:
        return (), "there is no ledger"
    try:
        place.found()  # before SQLAlchemy is imported, which a ledger that is not there does not need
        from evalpipe.ledger.nights import evidence_supports, nights, verdicts_of
        from evalpipe.ledger.store import Ledger

        ledger = Ledger.read(place)
    except UsageError as error:
        return (), f"{error.problems[0].message}; run once"
    latest = nights(ledger, plan.name, last=1)
    missing = f"the ledger has no interval of it; run {plan.name} once with a day"
    if not latest:
        return (), missing
    gates = plan.part(gates_plan)
    verdicts, supports = verdicts_of(ledger, latest[0]["run"]), iter(evidence_supports(ledger, latest[0]["run"]))
    for row in verdicts:  # the evidence of a night is in the order of its verdicts, a row for each limit
        gate = gates[row["gate"] - 1] if row["gate"] <= len(gates) else None
        for _ in sides(gate) if gate is not None and gate.rule.on == "sequence" else ():
            row["support"] = next(supports, None)
    return verdicts, missing


def _gate_forecast(
    plan: Plan, number: int, rows: Sequence[Row], evidence_needed: float, margin_and_drop: tuple[float, float],
    reason: str,
) -> GateForecast:
    """Return the forecast of gate ``number``, by simulating its checks; only with the ``reason`` where it has none.

    ``rows`` are its latest verdicts, ``evidence_needed`` is the threshold of gates `on: sequence`; ``margin_and_drop``
    say how far the true value is inside its limit, and by how much it then falls.
    """
    simulated: dict[NightCheck, Forecast] = {}
    checks = [check for row in rows for check in _gate_checks(plan, number, row, evidence_needed)]
    for check in checks:
        simulated[check] = simulated.get(check) or forecast(check, *margin_and_drop)
    if not checks:
        return GateForecast(number, reason=reason)
    alarms, errors, delays = zip(*(simulated[check] for check in checks), strict=True)
    slowest = None if None in delays else max(delays)
    return GateForecast(number, len(checks), math.fsum(alarms), math.hypot(*errors), slowest)


def _gate_checks(plan: Plan, number: int, row: Row, evidence_needed: float) -> Iterator[NightCheck]:
    """Yield a check to simulate for each limit of gate ``number``, from its verdict; none without an interval.

    The error of a night is that of its interval; a rate of rows, or of items, is simulated by as many trials as have
    this error.
    """
    value, lower, upper = row["observed"], row["lower"], row["upper"]
    if value is None or lower is None or upper is None or upper <= lower:
        return
    gate = plan.part(gates_plan)[number - 1]
    error = _rounded((upper - lower) / 2 / NormalDist().inv_cdf((1 + plan.level) / 2))
    entry = next((entry for entry in gate.entries if entry.metric.name == row["subject"]["metric"]), None)
    counts_rows = gate.rule.on != "sequence" or not plan.part(sequence_plan).between_nights
    is_of_rows = entry is not None and gate.against is None and (
        evidence_kind(entry) == "rows" or (entry.metric.sees, entry.metric.range) == ("items", (0, 1)))
    is_rate = counts_rows and is_of_rows and 0 < value < 1
    trials = max(round(_rounded(value * (1 - value) / error**2)), 1) if is_rate else None
    for side, limit in sides(gate):
        support = ENOUGH if row.get("support") is None else _rounded(row["support"])
        least = least_night(gate.entries)
        yield NightCheck(gate.rule.on, limit, SIDES[side], error, trials, plan.level, evidence_needed, support, least)


def _rounded(number: float) -> float:
    """Return a number rounded to two significant digits, so that similar checks are simulated once."""
    return float(f"{number:.1e}")
