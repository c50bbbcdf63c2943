"""What stands above the contents of the card: its title, the verdict of the gates, and what was evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.data import SHORT_HASH
from evalpipe.card.first import at_a_glance, verdict
from evalpipe.card.page import Code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.card.page import Block, Section
    from evalpipe.results import Results


def masthead(results: Results) -> Iterator[Block | Section]:
    """Write what follows the title: the verdict with what matters most, the key measures, the facts."""
    yield verdict(results)
    yield at_a_glance(results)


def short_spec(results: Results) -> Code:
    """Write the fingerprint of the resolved spec, shortened."""
    return Code(results.spec_sha256[:SHORT_HASH], results.spec_sha256, "hash")


def subject(results: Results) -> str:
    """Say what is predicted."""
    if results.event is not None:
        return f"event: {results.event}"
    if results.levels:
        return f"levels: {', '.join(results.levels)}"
    return f"outcome: {results.task}" + (f" in {results.unit}" if results.unit else "")
