"""The gates of a run, as lines for people and as annotations of the spec."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from evalpipe.cli.annotations import annotation
from evalpipe.errors import Problem
from evalpipe.numbers import number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evalpipe.gates.reference import Change
    from evalpipe.results import Gate, Results
    from evalpipe.spec.models import Spec

SEVERITIES = {"fail": "error", "warn": "warning", "indeterminate": "notice"}
"""What an annotation is called, by the outcome of the gate."""

WORDS = {"fail": "failed", "warn": "failed (severity warn)", "indeterminate": "inconclusive"}


def print_gates(results: Results, spec: Spec, folder: Path) -> None:
    """Print how many gates held, and a line for each that did not or was skipped, with the path it looked for."""
    if not results.gates:
        return
    passed = sum(gate.verdict == "pass" for gate in results.gates)
    click.echo(f"\ngates: {passed:,} of {len(results.gates):,} held")
    for gate in results.gates:
        if gate.verdict != "pass":
            sought = f" Looked for {_sought(gate, spec, folder)}." if gate.verdict == "skipped" else ""
            click.echo(f"gate {gate.gate} {_word(gate)}: {_where(results, gate)}: {gate.reason}{sought}")


def _word(gate: Gate) -> str:
    return WORDS.get(gate.outcome, "skipped")


def _sought(gate: Gate, spec: Spec, folder: Path) -> Path:
    """Return the path of the results that a gate is against, as the working directory sees it."""
    if gate.against == "last":
        return folder / "reference.json"
    return spec.origin.folder_of("gates", gate.gate - 1, "against", "results") / str(gate.against)


def print_annotations(results: Results, spec: Spec) -> None:
    """Print each gate that did not hold or was skipped as a GitHub workflow command at its place in the spec."""
    for gate in results.gates:
        if gate.verdict != "pass":
            place = spec.origin.place("gates", gate.gate - 1)
            message = f"{_where(results, gate)}: {gate.reason}"
            severity = SEVERITIES.get(gate.outcome, "notice")
            click.echo(annotation(Problem(f"gate {_word(gate)}", message, place, severity=severity)))


def print_accepted(folder: str, results: Results, changes: Sequence[Change]) -> None:
    """Print that a run is the reference now, which of its gates had failed, and each value before and from now on."""
    click.echo(f"{folder}: this run is now the reference of gates 'against: last'")
    for gate in results.gates:
        if gate.verdict == "fail":
            click.echo(f"gate {gate.gate} had failed: {_where(results, gate)}: {gate.reason}")
    for change in changes:
        click.echo(f"{_where(results, change.gate)}: {_measured(results, change.gate)}, reference before "
                   f"{_value(change.before)}, from now on {_value(change.after)}")
    if not changes:
        click.echo("no gate of this run is 'against: last', so nothing is compared with it")


def _measured(results: Results, gate: Gate) -> str:
    return next((metric.title for metric in results.metrics if metric.name == gate.metric), "desirability")


def _value(value: float | None) -> str:
    return "none" if value is None else number(value)


def _where(results: Results, gate: Gate) -> str:
    """Name the gate, where it has a name, the model, the dataset and the slice of a verdict."""
    label = next((model.label for model in results.models if model.name == gate.model), gate.model)
    variant = "" if gate.variant == "original" else f" ({gate.variant})"
    inside = "".join(f", {name} = {value}" for name, value in (gate.slice or {}).items())
    named = "" if gate.name is None else f"{gate.name}, "
    return f"{named}{label}{variant} on {gate.dataset}{inside}"
