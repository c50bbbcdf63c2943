"""What `evalpipe plan` says to expect of gates night after night."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from evalpipe.base.constants import LARGEST
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MARGIN = 0.01
"""How far inside its limit a true value is taken to stand, where the command line says nothing."""

DROP = 0.05
"""By how much it is taken to fall then."""

Command = TypeVar("Command", bound="Callable[..., object]")


def margin_and_drop(command: Command) -> Command:
    """Add the options `--margin` and `--drop`, which set the true values that gates are simulated with."""
    margin = click.option("--margin", type=click.FloatRange(min=0), default=MARGIN, show_default=True,
                          callback=_computable, help="How far inside their limits true values stand.")
    drop = click.option("--drop", type=click.FloatRange(min=0, min_open=True), default=DROP, show_default=True,
                        callback=_computable, help="By how much they fall then.")
    return margin(drop(command))


def _computable(_context: click.Context, _option: click.Parameter, value: float) -> float:
    """Return the value of an option; raise click.BadParameter for NaN and for numbers above `LARGEST`."""
    if not value <= LARGEST:
        raise click.BadParameter(f"{value:g} is no number up to {LARGEST:g}.")
    return value


def expected_lines(expected: Mapping[str, Any]) -> list[str]:
    """Return the lines on what to expect of each gate, from the forecast in JSON values; empty without gates."""
    gates = expected["gates"]
    if not gates:
        return []
    heading = (f"expected of nights like the latest in the ledger, with true values {expected['margin']:g} inside "
               f"their limits that then fall by {expected['drop']:g} ({gates[0]['years']} simulated years)")
    return ["", heading, *(f"  gate {gate['gate']}: {_gate_text(gate)}" for gate in gates),
            "  two runs of the same bytes disagree: never"]


def _gate_text(gate: Mapping[str, Any]) -> str:
    """Return the false alarms a year and the median delay of a gate as text, or why they are not known."""
    if gate["false_alarms_a_year"] is None:
        return f"not known: {gate['reason']}"
    nights = gate["median_delay"]
    delay = "over a year" if nights is None else "1 night" if nights == 1 else f"{numbers.count(nights)} nights"
    alarms = f"{gate['false_alarms_a_year']:.2g} false alarms a year (standard error {gate['standard_error']:.1g})"
    if gate["checks"] == 1:
        return f"{alarms}, median delay {delay}"
    return f"{alarms} in {gate['checks']} checks, median delay of the slowest {delay}"
