"""What stands above the contents of the card: its title, the verdict of the gates, and what was evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.data import SHORT_HASH
from evalpipe.card.explorer import ModelBoxes
from evalpipe.card.first import at_a_glance, verdict
from evalpipe.card.page import Code
from evalpipe.card.palette import look_of
from evalpipe.chapters import functions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.page import Block, Section
    from evalpipe.results import Results
    from evalpipe.results.signatures import Signature


def masthead(results: Results, signatures: Sequence[Signature] = ()) -> Iterator[Block | Section]:
    """Write what follows the title: the verdict, the key measures, the facts, and what chapters add."""
    yield verdict(results)
    yield at_a_glance(results, signatures)
    if len(results.models) > 1:
        yield _boxes(results)
    for beneath in functions("card", "beneath"):
        yield from beneath(results)


def _boxes(results: Results) -> ModelBoxes:
    """Write the boxes of the models; those that share an ink share a box."""
    inks: dict[str, list[str]] = {}
    for place, model in enumerate(results.models):
        inks.setdefault(look_of(place)[0], []).append(model.label)
    return ModelBoxes(tuple((ink, ", ".join(labels)) for ink, labels in inks.items()))


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
