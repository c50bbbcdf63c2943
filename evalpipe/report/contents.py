"""The sections of the card in their order, and the card that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.chapters import CHAPTERS, functions
from evalpipe.report import (
    data,
    dataset_results,
    method,
    models,
    provenance,
    summary,
    thresholds,
)
from evalpipe.report.masthead import masthead, short_spec, subject
from evalpipe.report.page import Card, Code, Section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalpipe.results import Results


def card_of(results: Results) -> Card:
    """Write the card: what stands above the contents, and every section that the results have something for."""
    version = f"evalpipe {results.evalpipe_version}"
    return Card(
        title=results.title, generator=version,
        description=f"Evaluation of {', '.join(model.label for model in results.models)}; {subject(results)}",
        masthead=tuple(masthead(results)),
        sections=tuple(section for sections in _sections() for section in sections(results)),
        foot=(f"{results.name}, spec ", short_spec(results), f", {version}. Every number on this card is in ",
              Code("results.json"), "."),
    )


OF_CHAPTERS: dict[str, Callable[[Results], Iterator[Section]]] = {
    "thresholds": thresholds.sections,
}
"""The sections of chapters that still stand outside their folders."""


def _sections() -> Iterator[Callable[[Results], Iterator[Section]]]:
    """Yield what makes the sections of the card, in their order."""
    yield from (summary.sections, dataset_results.sections)
    for chapter in CHAPTERS:
        yield from functions("card", "sections", chapter)
        if chapter in OF_CHAPTERS:
            yield OF_CHAPTERS[chapter]
    yield from (data.sections, models.sections, method.sections, provenance.sections)
