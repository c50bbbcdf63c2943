"""The whole card: what stands above its contents, its parts, and its sections in their order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, get_args

from evalpipe.card import appendix, data, dataset_results, method, provenance, sign_off, summary
from evalpipe.card.data import SHORT_HASH
from evalpipe.card.page import Code, ModelBoxes, Part, ReaderQuestion, Section, Text
from evalpipe.card.palette import MODELS, look_of
from evalpipe.card.plugins import sections_of_plugins
from evalpipe.card.row_anchors import NO_LINKS, EvidenceLinks
from evalpipe.card.summary import at_a_glance, identity, verdict
from evalpipe.chapters import functions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.page import Block, Cell
    from evalpipe.results import Results
    from evalpipe.results.signatures import Signature
    from evalpipe.templating.files import Templates


def masthead(
    results: Results, signatures: Sequence[Signature] = (), evidence: EvidenceLinks = NO_LINKS
) -> Iterator[Block | Section]:
    """Yield the blocks below the title: signers, verdict, key measures, facts, boxes of models, blocks of chapters."""
    yield sign_off.boxes(results, signatures)
    yield verdict(results, signatures, evidence)
    yield at_a_glance(results)
    if 1 < len(results.models) <= len(MODELS):
        yield _boxes(results)
    for beneath in functions("card", "beneath"):
        yield from beneath(results)


def _boxes(results: Results) -> ModelBoxes:
    """Return the boxes that show or hide models, by their inks; of more models than inks there are none."""
    return ModelBoxes(tuple((look_of(index)[0], model.label) for index, model in enumerate(results.models)))


def short_spec(results: Results) -> Code:
    """Return the sha256 of the resolved spec, shortened."""
    return Code(results.spec_sha256[:SHORT_HASH], results.spec_sha256, "hash")


def subject(results: Results) -> str:
    """Return what is predicted: the event, the levels, or the kind of outcome and its unit."""
    if results.event is not None:
        return f"event: {results.event}"
    if results.levels:
        return f"levels: {', '.join(results.levels)}"
    return f"outcome: {results.task}" + (f" in {results.unit}" if results.unit else "")


TITLES: dict[Part, str] = {
    "use": "Use and limits", "requirements": "Gates", "results": "Results", "groups": "Groups",
    "calibration": "Calibration", "comparison": "Comparison", "decisions": "Decisions", "data": "Data",
    "model": "Model", "risks": "Risks and oversight", "monitoring": "Monitoring",
    "findings": "Findings and limitations", "changes": "Change log", "sign_off": "Sign-off", "appendix": "Annex",
}
"""What the parts are called in the contents."""

ANNEX = "annex"
"""The anchor of the heading over the annex."""


def annex_head() -> Section:
    """Return the heading over the annex, with a sentence on what is in it."""
    return Section(ANNEX, TITLES["appendix"], (Text(
        "What the pages before rest on: further figures and tables, the method, the definitions of the measures, "
        "references, the spec, and where each number comes from.", "lead"),), "opening", part="appendix")


@dataclass(frozen=True, slots=True)
class Card:
    """A card: what stands above the contents, and the sections in their order."""

    title: str
    description: str
    generator: str
    identity: Cell
    masthead: tuple[Block | Section, ...]
    sections: tuple[Section, ...]
    foot: Cell

    @property
    def on_screen(self) -> Card:
        """The card without the sections that the PDF alone has."""
        return replace(self, sections=tuple(section for section in self.sections if not section.paper))

    @property
    def questions(self) -> tuple[ReaderQuestion, ...]:
        """The questions that sections answer, in their order."""
        return tuple(section.question for section in self.sections if section.question is not None)

    @property
    def parts(self) -> tuple[tuple[str, tuple[Section, ...]], ...]:
        """The parts that have sections, with their titles; the annex begins with the section that heads it."""
        return tuple((TITLES[part], tuple(sections))
                     for part, sections in groupby(self.sections, key=lambda section: section.part))


def card_of(results: Results, signatures: Sequence[Signature] = (), templates: Templates | None = None) -> Card:
    """Return the card of some results: what stands above the contents, and every section that is not empty.

    ``templates`` are the custom templates of its page and PDF, which its provenance lists.
    """
    version = f"evalpipe {results.evalpipe_version}"
    sections, evidence = _sections(results, signatures, templates)
    return Card(
        title=results.title, generator=version,
        description=f"{_described(results)}; {subject(results)}",
        identity=identity(results, signatures),
        masthead=tuple(masthead(results, signatures, evidence)),
        sections=tuple(sections),
        foot=(f"{results.name}, spec ", short_spec(results), f", {version}. Every number on this card is in ",
              Code("results.json"), "."),
    )


def _described(results: Results) -> str:
    """Return what the card is about: the models, or the number of candidates where there are no predictions."""
    models = ", ".join(model.label for model in results.models)
    return f"Evaluation of {models}" if models else f"Ranking of {len(results.candidates.ranking):,} candidates"


def _sections(
    results: Results, signatures: Sequence[Signature], templates: Templates | None
) -> tuple[list[Section], EvidenceLinks]:
    """Return the sections of the card in the order of its parts, and the links into them.

    Within a part sections are in the order of the lists below.
    """
    before, after = ([section for sections in lists for section in sections(results)] for lists in (
        (dataset_results.sections, *functions("card", "sections"), data.data_sections, data.model_sections),
        (summary.warning_sections, appendix.further_sections, appendix.finding_sections, method.sections,
         appendix.definition_sections, appendix.reference_sections)))
    after += [*provenance.sections(results, templates), sign_off.section(results, signatures)]
    evidence = EvidenceLinks.of((*before, *after))
    all_sections = [annex_head(), *before, *summary.finding_sections(results, evidence), *after]
    all_sections += sections_of_plugins(results, [section.anchor for section in all_sections])
    order = get_args(Part)
    return _with_questions(sorted(all_sections, key=lambda section: order.index(section.part))), evidence


QUESTIONS: dict[Part, ReaderQuestion] = {
    "groups": ReaderQuestion("For whom?", "for-whom"), "comparison": ReaderQuestion("Which model?", "which-model"),
}
"""The question that the first section of a part answers."""


def _with_questions(sections: Sequence[Section]) -> list[Section]:
    """Return sections in their order, the first of each part with the question that it answers."""
    first = {id(next(of_part)) for _, of_part in groupby(sections, key=lambda section: section.part)}
    return [replace(section, question=QUESTIONS.get(section.part)) if id(section) in first else section
            for section in sections]
