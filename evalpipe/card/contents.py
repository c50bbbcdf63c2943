"""The whole card: what stands above its contents, its parts, and its sections in their order."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, get_args

from evalpipe.base.plugins import load_plugin_function, plugin_errors, plugins_of, refuse
from evalpipe.card import appendix, data, dataset_results, method, sign_off, summary
from evalpipe.card.comments import Discussion
from evalpipe.card.data import SHORT_HASH
from evalpipe.card.figures import Drawing
from evalpipe.card.figures.context import context_of
from evalpipe.card.page import (
    Block,
    BlockGroup,
    Code,
    Column,
    Dot,
    Figures,
    Group,
    ModelBoxes,
    Part,
    Piece,
    ReaderQuestion,
    Row,
    Section,
    Text,
)
from evalpipe.card.palette import MODELS, model_look
from evalpipe.card.summary import at_a_glance, identity, verdict
from evalpipe.card.tables import NO_LINKS, EvidenceLinks, evaluated
from evalpipe.chapters import functions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evalpipe.base.plugins import Plugin
    from evalpipe.card.page import Cell
    from evalpipe.results import Results
    from evalpipe.results.comments import Comment
    from evalpipe.results.signatures import Signature
    from evalpipe.templating.files import Templates


def masthead(
    results: Results, signatures: Sequence[Signature] = (), evidence: EvidenceLinks = NO_LINKS,
    comments: Sequence[Comment] = (),
) -> Iterator[Block | Section]:
    """Yield the blocks below the title: signers, verdict, key measures, facts, boxes of models, blocks of chapters."""
    yield sign_off.signature_boxes(results, signatures, comments)
    yield verdict(results, signatures, evidence, comments)
    yield at_a_glance(results)
    if 1 < len(results.models) <= len(MODELS):
        yield ModelBoxes(tuple((model_look(index)[0], model.label) for index, model in enumerate(results.models)))
    for beneath in functions("card", "beneath"):
        yield from beneath(results)


def subject(results: Results) -> str:
    """Return what is predicted: the event, the levels, or the kind of outcome and its unit."""
    if results.event is not None:
        return f"event: {results.event}"
    if results.levels:
        return f"levels: {', '.join(results.levels)}"
    if results.spec.get("score"):
        return "scores of items"
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

ANNEX_HEAD = Section(ANNEX, TITLES["appendix"], (Text(
    "What the pages before rest on: further figures and tables, the method, the definitions of the measures, "
    "references, the spec, and where each number comes from.", "lead"),), "opening", part="appendix")
"""The heading over the annex, with a sentence on what is in it."""


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
        """Pairs of the title of a part of the card and its sections; the annex begins with its heading section."""
        return tuple((TITLES[part], tuple(sections))
                     for part, sections in groupby(self.sections, key=lambda section: section.part))


def card_of(
    results: Results, signatures: Sequence[Signature] = (), templates: Templates | None = None,
    comments: Sequence[Comment] = (),
) -> Card:
    """Return the card of some results: what stands above the contents, and every section that is not empty.

    ``templates`` are the custom templates of its page and PDF, which its provenance lists.
    """
    version = f"evalpipe {results.evalpipe_version}"
    sections, evidence = _sections(results, signatures, templates, comments)
    models = ", ".join(model.label for model in results.models)
    about = f"Evaluation of {models}" if models else f"Ranking of {len(results.candidates.ranking):,} candidates"
    return Card(
        title=results.title, generator=version,
        description=f"{about}; {subject(results)}",
        identity=identity(results, signatures),
        masthead=tuple(masthead(results, signatures, evidence, comments)),
        sections=tuple(sections),
        foot=(f"{results.name}, spec ", Code(results.spec_sha256[:SHORT_HASH], results.spec_sha256, "hash"),
              f", {version}. Every number on this card is in ", Code("results.json"), "."),
    )


def _sections(
    results: Results, signatures: Sequence[Signature], templates: Templates | None, comments: Sequence[Comment]
) -> tuple[list[Section], EvidenceLinks]:
    """Return the sections of the card in the order of its parts, and the links into them.

    Within a part sections are in the order of the lists below.
    """
    discussion = Discussion(results, signatures, comments)
    before, after = ([section for sections in lists for section in sections(results)] for lists in (
        (dataset_results.sections, *functions("card", "sections"), data.data_sections, data.model_sections),
        (summary.warning_sections, appendix.further_sections, appendix.finding_sections, method.sections,
         appendix.definition_sections, appendix.reference_sections)))
    after += [*data.provenance_sections(results, templates), sign_off.section(results, signatures, comments)]
    evidence = EvidenceLinks.of((*before, *after))
    all_sections = [
        ANNEX_HEAD, *map(discussion.on_gates, before), *summary.finding_sections(results, evidence, discussion), *after]
    all_sections += sections_of_plugins(results, [section.anchor for section in all_sections])
    order, asked = get_args(Part), dict(QUESTIONS)
    return [replace(section, question=asked.pop(section.part)) if section.part in asked else section
            for section in sorted(all_sections, key=lambda section: order.index(section.part))], evidence


QUESTIONS: dict[Part, ReaderQuestion] = {
    "groups": ReaderQuestion("For whom?", "for-whom"), "comparison": ReaderQuestion("Which model?", "which-model"),
}
"""The question that the first section of a part answers."""


ANCHOR = re.compile(r"[a-z][a-z0-9-]*")


def sections_of_plugins(results: Results, anchors: Iterable[str]) -> Iterator[Section]:
    """Yield the sections of plugins, and in the appendix their figures on each dataset; ``anchors`` exist already.

    Raises UsageError where a plugin fails, gives what is no section, or repeats an anchor.
    """
    anchors = set(anchors)
    for plugin in plugins_of(results.appearance.plugins):
        for section in (*_plugin_sections(plugin, results), *_plugin_figure_sections(plugin, results)):
            if section.anchor in anchors:
                raise refuse(plugin, f"has a section '{section.anchor}', and there is one of that anchor already")
            anchors.add(section.anchor)
            yield section
    for finding in results.findings:
        if finding.plugin is not None and finding.section not in anchors:
            plugin = next(plugin for plugin in plugins_of(results.appearance.plugins) if plugin.name == finding.plugin)
            raise refuse(plugin, f"has a finding whose evidence is in '{finding.section}', and no section is called so")


def _plugin_sections(plugin: Plugin, results: Results) -> Iterator[Section]:
    """Yield the sections of a plugin, marked as written by it; raises UsageError for one that cannot be written."""
    if "sections" in plugin.gives:
        write = load_plugin_function(plugin, "sections")
        with plugin_errors(plugin, "in its sections"):
            sections = list(write(results.model_copy(deep=True)))
        for section in sections:
            fault = _fault_of_section(section)
            if fault is not None:
                raise refuse(plugin, fault)
            blocks = tuple(_with_checked_figures(plugin, block) for block in section.blocks)
            yield replace(section, blocks=(_byline(plugin), *blocks))


def _plugin_figure_sections(plugin: Plugin, results: Results) -> Iterator[Section]:
    if "figures" in plugin.gives:
        draw = load_plugin_function(plugin, "figures")
        for anchor, dataset in evaluated(results):
            instead = (Text("There is no figure here."),)

            def drawings(dataset: str = dataset.name) -> list[Drawing]:
                drawing = draw(context_of(results.model_copy(deep=True), dataset))
                return [] if drawing is None else [drawing]

            figures = Figures(drawings, instead=instead)
            yield Section(
                f"{plugin.name}-figure-{anchor.rpartition('-')[2]}", f"Figure of {plugin.name} on {dataset.name}",
                (_byline(plugin), _with_checked_figures(plugin, figures)), part="appendix")


def _byline(plugin: Plugin) -> Text:
    """Return the line that says which plugin wrote a section."""
    return Text(f"Written by {plugin}, not by evalpipe.", "small")


def _with_checked_figures(plugin: Plugin, block: Any) -> Any:
    """Return a block whose figures, drawn later, are checked and have the plugin's name in their keys and errors."""
    if isinstance(block, BlockGroup):
        return replace(block, blocks=tuple(_with_checked_figures(plugin, inner) for inner in block.blocks))
    return replace(block, draw=partial(_checked_drawings, plugin, block.draw)) if isinstance(block, Figures) else block


def _checked_drawings(plugin: Plugin, draw: Callable[[], Iterable[Drawing]]) -> list[Drawing]:
    """Draw the figures of a plugin, and put its name before their keys; raises UsageError for a fault."""
    with plugin_errors(plugin, "in its figures"):
        drawings = list(draw())
    for drawing in drawings:
        if not isinstance(drawing, Drawing):
            raise refuse(plugin, f"draws {type(drawing).__name__} in place of Drawing")
    return [replace(drawing, key=f"{plugin.name}-{drawing.key}") for drawing in drawings]


def _fault_of_section(section: Any) -> str | None:
    """Return why a plugin's object is no section or cannot be written; None where nothing is wrong."""
    if not isinstance(section, Section):
        return f"gives {type(section).__name__} in place of Section"
    if not ANCHOR.fullmatch(section.anchor):
        return f"has a section with the anchor {section.anchor!r}; an anchor has small letters, digits and '-'"
    if section.part not in get_args(Part):
        return f"has a section in the part {section.part!r}; the parts are {', '.join(get_args(Part))}"
    kind = _unwritable_type([section.title, section.blocks])
    return None if kind is None else f"has {kind} in the section '{section.anchor}', which cannot be written"


WRITTEN = frozenset({*get_args(Block), *get_args(Piece), Column, Row, Group, Dot}) - {str}
"""The classes that templates can write."""


def _unwritable_type(parts: Sequence[Any]) -> str | None:
    """Return the type name of the first part, at any depth, that no template can write; None where all can be."""
    for part in parts:
        if isinstance(part, tuple):
            unwritable = _unwritable_type(part)
        elif type(part) in WRITTEN:
            unwritable = _unwritable_type([getattr(part, field.name) for field in fields(part)])
        else:
            unwritable = None if isinstance(part, str | int | float | None) or callable(part) else type(part).__name__
        if unwritable is not None:
            return unwritable
    return None
