"""The gates of a run, as lines for people and as annotations of the spec."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from evalpipe.cli.app import annotation
from evalpipe.errors import Problem

if TYPE_CHECKING:
    from evalpipe.results import Gate, Results
    from evalpipe.spec.models import Spec

SEVERITIES = {"fail": "error", "warn": "warning", "indeterminate": "notice"}
"""What an annotation is called, by the outcome of the gate."""

WORDS = {"fail": "failed", "warn": "failed (severity warn)", "indeterminate": "inconclusive"}


def print_gates(results: Results) -> None:
    """Print how many gates held, and a line for each that did not or was skipped."""
    if not results.gates:
        return
    held = sum(gate.verdict == "pass" for gate in results.gates)
    click.echo(f"\ngates: {held:,} of {len(results.gates):,} held")
    for gate in results.gates:
        if gate.verdict != "pass":
            word = WORDS.get(gate.outcome, "skipped")
            click.echo(f"gate {gate.gate} {word}: {_where(results, gate)}: {gate.reason}")


def print_annotations(results: Results, spec: Spec) -> None:
    """Print each gate that did not hold as a GitHub workflow command at its place in the spec."""
    for gate in results.gates:
        if gate.outcome != "pass":
            place = spec.origin.place("gates", gate.gate - 1)
            message = f"{_where(results, gate)}: {gate.reason}"
            severity = SEVERITIES[gate.outcome]
            click.echo(annotation(Problem(f"gate {WORDS[gate.outcome]}", message, place, severity=severity)))


def _where(results: Results, gate: Gate) -> str:
    """Name the gate, where it has a name, the model, the dataset and the slice of a verdict."""
    label = next((model.label for model in results.models if model.name == gate.model), gate.model)
    variant = "" if gate.variant == "original" else f" ({gate.variant})"
    inside = "".join(f", {name} = {value}" for name, value in (gate.slice or {}).items())
    named = "" if gate.name is None else f"{gate.name}, "
    return f"{named}{label}{variant} on {gate.dataset}{inside}"
