"""The sections of the card in their order, and the card that they make."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from evalpipe.chapters import CHAPTERS, functions
from evalpipe.report import (
    data,
    dataset_results,
    figures,
    method,
    models,
    provenance,
    summary,
    thresholds,
)
from evalpipe.report.masthead import masthead, short_spec, subject
from evalpipe.report.page import Card, Code, Figures, Heading, Section, Text
from evalpipe.report.slices import slices_views

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalpipe.results import Results


@dataclass(frozen=True, slots=True)
class Partial:
    """A section that is still a template of its own, with its figures by the anchors that it asks for."""

    kind: ClassVar[str] = "partial"
    anchor: str
    title: str
    template: str
    view: Any = None
    figures: dict[str, Figures] = field(default_factory=dict)


def card_of(results: Results) -> Card:
    """Write the card: what stands above the contents, and every section that the results have something for."""
    version = f"evalpipe {results.evalpipe_version}"
    return Card(
        title=results.title, generator=version,
        description=f"Evaluation of {', '.join(model.label for model in results.models)}; {subject(results)}",
        masthead=tuple(masthead(results)),
        sections=tuple(section for sections in _sections() for section in sections(results)),  # type: ignore[misc]
        foot=(f"{results.name}, spec ", short_spec(results), f", {version}. Every number on this card is in ",
              Code("results.json"), "."),
    )


def _slices(results: Results) -> Iterator[Partial]:
    def above(measures: int) -> tuple[Heading, Text]:
        said = f"Of the first {measures} key {'measure' if measures == 1 else 'measures'}; all are in "
        return Heading("Forest plots", 4), Text((said, Code("estimates.csv"), "."), "lead")

    from evalpipe.report.figures.slices import MOST_FORESTS
    from evalpipe.report.slices import sliced

    view = slices_views(results)
    if view:
        yield Partial("slices", "Slices", "slices.html", view, {
            slices.anchor: Figures(
                partial(figures.slice_drawings, results, slices.dataset),
                above=above(min(MOST_FORESTS, len(sliced(results, slices.dataset).measures))))
            for slices in view})


OF_CHAPTERS: dict[str, Callable[[Results], Iterator[Section | Partial]]] = {
    "thresholds": thresholds.sections, "slices": _slices,
}
"""The sections of chapters that still stand outside their folders."""


def _sections() -> Iterator[Callable[[Results], Iterator[Section | Partial]]]:
    """Yield what makes the sections of the card, in their order."""
    yield from (summary.sections, dataset_results.sections)
    for chapter in CHAPTERS:
        yield from functions("card", "sections", chapter)
        if chapter in OF_CHAPTERS:
            yield OF_CHAPTERS[chapter]
    yield from (data.sections, models.sections, method.sections, provenance.sections)
