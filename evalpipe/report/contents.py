"""The sections of the card in their order, and the card that they make."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from evalpipe.report import desirability, figures, summary
from evalpipe.report.page import Card, Code, Figures, Heading, Section, Text
from evalpipe.report.view import CardView, card_view

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
    view = card_view(results)
    short = results.spec_sha256[:12]
    return Card(
        title=results.title, generator=f"evalpipe {results.evalpipe_version}",
        description=f"Evaluation of {', '.join(model.label for model in results.models)}; {view.subject}",
        masthead=(), sections=tuple(section for each in SECTIONS for section in _sections(each, results, view)),
        foot=(
            f"{results.name}, spec ", Code(short),
            f", evalpipe {results.evalpipe_version}. Every number on this card is in ", Code("results.json"), "."),
    )


def _sections(maker: Any, results: Results, view: CardView) -> Iterator[Any]:
    yield from maker(results, view) if maker.__module__ == __name__ else maker(results)


def _results(results: Results, view: CardView) -> Iterator[Partial]:
    why = ": no model gives probabilities on this dataset, or a level is absent" if results.levels else ""
    for dataset in view.evaluated:
        yield Partial(dataset.anchor, f"Results on {dataset.name}", "results.html", dataset, {dataset.anchor: Figures(
            partial(figures.drawings, results, dataset.name), instead=(Text(f"There are no curves{why}."),))})


def _prevalence(results: Results, view: CardView) -> Iterator[Partial]:
    if view.prevalence:
        yield Partial("prevalence", "Prevalence", "prevalence.html", None, {
            dataset.anchor: Figures(
                partial(figures.prevalence_drawings, results, dataset.name, first=place == 0),
                above=() if dataset.tables else (Heading(dataset.name),))
            for place, dataset in enumerate(view.prevalence.datasets)})


def _thresholds(results: Results, view: CardView) -> Iterator[Partial]:
    for chosen in view.thresholds:
        yield Partial(chosen.anchor, chosen.title, "thresholds.html", chosen, {
            chosen.anchor: Figures(partial(figures.threshold_drawings, results, chosen.dataset))})


def _costs(results: Results, view: CardView) -> Iterator[Partial]:
    if view.costs:
        yield Partial("costs", "Costs and profit", "costs.html", None, {
            worth.anchor: Figures(partial(figures.cost_drawings, results, worth.dataset))
            for worth in view.costs.datasets})


def _recalibrations(results: Results, view: CardView) -> Iterator[Partial]:
    for section in view.recalibrations:
        def draw(dataset: str = section.dataset, models: Any = section.models) -> Iterator[Any]:
            for model in models:
                yield from figures.recalibration_drawings(results, dataset, model.name)

        yield Partial(section.anchor, section.title, "recalibration.html", section, {section.anchor: Figures(draw)})


def _comparisons(results: Results, view: CardView) -> Iterator[Partial]:
    for place, comparison in enumerate(view.comparisons, 1):
        baseline = (comparison.across, comparison.baseline)
        yield Partial(comparison.anchor, comparison.title, "comparison.html", comparison, {
            table.anchor: Figures(partial(figures.difference_drawings, results, table.dataset, baseline, place))
            for table in comparison.tables})


def _slices(results: Results, view: CardView) -> Iterator[Partial]:
    def above(measures: int) -> tuple[Heading, Text]:
        said = f"Of the first {measures} key {'measure' if measures == 1 else 'measures'}; all are in "
        return Heading("Forest plots", 4), Text((said, Code("estimates.csv"), "."), "lead")

    from evalpipe.report.figures.slices import MOST_FORESTS
    from evalpipe.report.slices import sliced

    if view.slices:
        yield Partial("slices", "Slices", "slices.html", None, {
            slices.anchor: Figures(
                partial(figures.slice_drawings, results, slices.dataset),
                above=above(min(MOST_FORESTS, len(sliced(results, slices.dataset).measures))))
            for slices in view.slices})


def _last(_: Results, __: CardView) -> Iterator[Partial]:
    for anchor in ("data", "models", "method", "provenance"):
        yield Partial(anchor, anchor.capitalize(), f"{anchor}.html")


SECTIONS: tuple[Callable[..., Iterator[Section | Partial]], ...] = (
    summary.sections, _results, _prevalence, _thresholds, _costs, _recalibrations, _comparisons,
    desirability.sections, _slices, _last,
)
"""What makes the sections of the card, in their order: functions of `Results`."""
