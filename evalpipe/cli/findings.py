"""The findings that matter most, as lines for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from evalpipe.card.summary import MOST_FINDINGS, SIGNS

if TYPE_CHECKING:
    from evalpipe.results import Results


def print_findings(results: Results) -> None:
    """Print the first findings, each with the sign of its kind, and how many there are."""
    first = results.findings[:MOST_FINDINGS]
    if not first:
        return
    more = f", {len(first)} of {len(results.findings):,}" if len(first) < len(results.findings) else ""
    click.echo(f"\nfindings{more}:")
    for finding in first:
        click.echo(f"{SIGNS[finding.kind][0]} {finding.text}")
