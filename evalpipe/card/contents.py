"""The sections of the card in their order, and the card that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card import data, dataset_results, findings, method, models, provenance, summary
from evalpipe.card.first import identity
from evalpipe.card.masthead import masthead, short_spec, subject
from evalpipe.card.page import Card, Code
from evalpipe.chapters import functions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.card.page import Section
    from evalpipe.results import Results


def card_of(results: Results) -> Card:
    """Write the card: what stands above the contents, and every section that the results have something for."""
    version = f"evalpipe {results.evalpipe_version}"
    return Card(
        title=results.title, generator=version,
        description=f"Evaluation of {', '.join(model.label for model in results.models)}; {subject(results)}",
        identity=identity(results),
        masthead=tuple(masthead(results)),
        sections=tuple(_sections(results)),
        foot=(f"{results.name}, spec ", short_spec(results), f", {version}. Every number on this card is in ",
              Code("results.json"), "."),
    )


def _sections(results: Results) -> Iterator[Section]:
    """Yield the sections of the card, in their order."""
    before, after = (summary, dataset_results), (data, findings, models, method, provenance)
    for sections in (*(room.sections for room in before), *functions("card", "sections"),
                     *(room.sections for room in after)):
        yield from sections(results)
