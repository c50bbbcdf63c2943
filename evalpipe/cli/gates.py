"""The gates of a run, as lines for people and as annotations of the spec."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from evalpipe.card.wording import names_of
from evalpipe.chapters.gates.card import called, word_and_reason
from evalpipe.cli.annotations import annotation
from evalpipe.errors import Problem
from evalpipe.review.acceptance import begins_anew
from evalpipe.words.numbers import number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evalpipe.chapters.gates.earlier import ReferenceChange
    from evalpipe.results import Gate, Results
    from evalpipe.spec.spec import Spec

SEVERITIES = {"fail": "error", "warn": "warning"}
"""What an annotation is called, by what became of the gate; "notice" where it did not fail."""


def print_gates(results: Results, spec: Spec, folder: Path) -> None:
    """Print how many gates held, and a line for each that did not or was skipped, with the path it looked for."""
    if not results.gates:
        return
    passed, names = len(results.gates) - len(not_held(results)), names_of(results)
    click.echo(f"\ngates: {passed:,} of {len(results.gates):,} held")
    for gate in not_held(results):
        word, reason = word_and_reason(names, gate)
        alone = gate.verdict == "skipped" and gate.against_sha256 is None
        sought = f" Looked for {_sought(gate, spec, folder)}." if alone else ""
        click.echo(f"gate {gate.gate} {word}: {reason}{sought}")


def not_held(results: Results) -> list[Gate]:
    """Return the gates that did not hold, or were skipped."""
    return [gate for gate in results.gates if gate.verdict != "pass"]


def _sought(gate: Gate, spec: Spec, folder: Path) -> Path:
    """Return the path of the results that a gate is against, as the working directory sees it."""
    if gate.against == "last":
        return folder / "reference.json"
    return spec.origin.folder_of("gates", gate.gate - 1, "against", "results") / str(gate.against)


def print_annotations(results: Results, spec: Spec) -> None:
    """Print each gate that did not hold or was skipped as a GitHub workflow command at its place in the spec."""
    names = names_of(results)
    for gate in not_held(results):
        word, reason = word_and_reason(names, gate)
        place, severity = spec.origin.place("gates", gate.gate - 1), SEVERITIES.get(gate.kind, "notice")
        click.echo(annotation(Problem(f"gate {word}", reason, place, severity=severity)))


def print_accepted(folder: str, results: Results, changes: Sequence[ReferenceChange]) -> None:
    """Print that a run is the reference now, which of its gates had failed, and each value before and from now on."""
    names = names_of(results)
    click.echo(f"{folder}: this run is now the reference of gates 'against: last'")
    for gate in results.gates:
        if gate.verdict == "fail":
            click.echo(f"gate {gate.gate} had failed: {word_and_reason(names, gate)[1]}")
    for change in changes:
        gate = change.gate
        click.echo(f"{called(names, gate)}: {names.subject(gate)}, reference before {_value(change.before)}, "
                   f"from now on {_value(change.after)}")
    if begins_anew(results):
        click.echo(f"gates 'on: sequence' of {results.name} begin anew after {results.as_of}")
    elif not changes:
        click.echo("no gate of this run is 'against: last', so nothing is compared with it")


def _value(value: float | None) -> str:
    return "none" if value is None else number(value)
