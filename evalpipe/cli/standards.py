"""How much of each standard a card answers, as lines for people and as annotations of the spec."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from evalpipe.chapters.standards.card import in_words
from evalpipe.cli.annotations import annotation
from evalpipe.errors import Problem

if TYPE_CHECKING:
    from evalpipe.results import Results
    from evalpipe.spec.spec import Spec

MOST_GAPS = 6
"""The gaps of a standard that the terminal names."""

WORDS = {"fail": "failed", "pass": "held", None: "documented"}
"""What became of a standard, by its verdict."""


def print_standards(results: Results) -> None:
    """Print a line for each standard: what became of it, how many items are answered, and which are missing."""
    if results.standards:
        click.echo("\nevidence for standards, which is no statement of conformity:")
    for standard in results.standards:
        click.echo(f"standard {standard.profile} {WORDS[standard.verdict]}: {in_words(standard, MOST_GAPS)}")


def annotate_standards(results: Results, spec: Spec) -> None:
    """Print each standard that is answered less than is required as a GitHub workflow command at its place."""
    for number, standard in enumerate(results.standards):
        if standard.verdict == "fail":
            words = f"{standard.title}: {in_words(standard, MOST_GAPS)}"
            click.echo(annotation(Problem("standard failed", words, spec.origin.place("standards", number))))
