"""What all formats of a card share: its sections, its figures, which are drawn once, and the templates of others."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evalpipe.base.digests import text_sha256
from evalpipe.base.formats import COMMENTS, ESTIMATES, RESULTS, SIGNATURES
from evalpipe.card.assets import templates_folder, text
from evalpipe.card.data import spec_text
from evalpipe.errors import DataError, UsageError
from evalpipe.results.frames import estimates_csv
from evalpipe.results.signatures import records_json
from evalpipe.templating.files import BLOCKS, STYLES, Templates, folder_of, problem_at, read_templates
from evalpipe.templating.styles import hiding_problems, selector_names
from evalpipe.words.spelling import closest, listed, quoted

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from jinja2 import nodes

    from evalpipe.card.contents import Card
    from evalpipe.card.figures.svg import Drawing
    from evalpipe.card.page import Figures
    from evalpipe.results import Results
    from evalpipe.results.comments import Comment
    from evalpipe.results.signatures import Signature


FIGURE_SCHEME, FORMULA_SCHEME = "figure:", "formula:"
"""What the addresses of figures and of formulas begin with, where a page only points to them."""


@dataclass
class Edition:
    """The card of some results and of those who signed them, on its way into one or more formats."""

    results: Results
    signatures: tuple[Signature, ...] = ()
    custom_templates: Templates | None = None
    """Templates in place of those that the results hold."""
    comments: tuple[Comment, ...] = ()
    letters_without_font: list[str] = field(default_factory=list)
    """The letters that the PDF, once it is made, shows boxes for."""
    _drawn: dict[int, tuple[Figures, list[tuple[int, Drawing]]]] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    _formulas: dict[str, str] = field(default_factory=dict)

    @cached_property
    def card(self) -> Card:
        """The card in sections of blocks, its figures not yet drawn."""
        from evalpipe.card.contents import card_of

        return card_of(self.results, self.signatures, self.templates, self.comments)

    @cached_property
    def templates(self) -> Templates:
        """The custom templates of the page and the PDF; where empty, these are made with evalpipe's own."""
        return templates_in_results(self.results) if self.custom_templates is None else self.custom_templates

    def drawn(self, figures: Figures) -> list[tuple[int, Drawing]]:
        """Return (number in the card, drawing) of the figures of a block, which are drawn on the first call alone.

        Every format calls in the order of the page, so the first format numbers the figures for all.
        """
        # The block is kept with its drawings, as its id may be that of another object once it is deleted.
        numbered = self._drawn.get(id(figures))
        if numbered is None:
            numbered = figures, [(next(self._numbers), drawing) for drawing in figures.draw()]
            self._drawn[id(figures)] = numbered
        return numbered[1]

    def figures_drawn(self) -> list[tuple[int, Drawing]]:
        """Return (number in the card, drawing) of all figures drawn so far, by number."""
        drawn = [pair for _, numbered in self._drawn.values() for pair in numbered]
        return sorted(drawn, key=lambda pair: pair[0])

    def addresses(self, drawing: Drawing) -> list[str]:
        """Return the addresses of a figure's images, one for each of its sheets."""
        return [f"{FIGURE_SCHEME}{drawing.key}/{sheet_index}" for sheet_index in range(len(drawing.images))]

    def formula(self, key: str, svg: str) -> str:
        """Store the SVG of a formula as an image, and return the address by which a page shows it."""
        address = f"{FORMULA_SCHEME}{key}"
        self._formulas[address] = svg
        return address

    def images(self) -> dict[str, str]:
        """Return the SVG of all figures and formulas of the pages written so far, for WeasyPrint, by address."""
        drawings = [drawing for _, numbered in self._drawn.values() for _, drawing in numbered]
        return {address: image for drawing in drawings
                for address, image in zip(self.addresses(drawing), drawing.images, strict=True)} | self._formulas


NAMES = re.compile(r'\b(?:class|id)="([^"]*)"')

PLAIN = Templates("", {})
"""No templates of others: evalpipe's own alone."""


def templates_in_results(results: Results) -> Templates:
    """Return the custom templates in results, with the same checks as those of a folder.

    Raises DataError where a text does not have the sha256 that the results name, UsageError where one is refused.
    """
    for template in results.appearance.templates:
        if text_sha256(template.text) != template.sha256:
            message = f"the template {quoted(template.name)} in results.json is not the one whose sha256 it holds"
            hint = "run the evaluation again, or render the card with --no-template"
            raise DataError.of("not-results", message, hint)
    texts = {template.name: template.text for template in results.appearance.templates}
    folder_name = results.spec.get("report", {}).get("template") or "results.json"
    return _validated(Templates(folder_of(str(folder_name), next(iter(texts))), texts)) if texts else PLAIN


def templates_in_folder(folder: str | os.PathLike[str]) -> Templates:
    """Read the custom templates of a folder, or one file; raises UsageError where there is none, or one is refused."""
    return _validated(read_templates(Path(folder), str(folder)))


def _validated(templates: Templates) -> Templates:
    """Return the templates if they are valid and fit evalpipe's; raises UsageError with what is wrong."""
    from evalpipe.templating.sandbox import check_templates

    check_templates(templates)
    check_fit(templates)
    return templates


@cache
def card_names() -> frozenset[str]:
    """Return the classes and ids that evalpipe's own templates name and its style sheets style."""
    pages = [file.read_text(encoding="utf-8") for file in templates_folder().glob("*.html")]
    in_sheets = [selector_names(file.read_text(encoding="utf-8")) for file in templates_folder().glob("*.css")]
    in_pages = [name for page in pages for names in NAMES.findall(page) for name in names.split()]
    return frozenset(in_pages).union(*in_sheets)


def check_fit(templates: Templates) -> None:
    """Raise UsageError where custom templates do not fit evalpipe's own.

    That is where rules of a theme could hide elements of evalpipe, or a macro of ``blocks.html`` is named like a kind
    of block that does not exist.
    """
    faults = hiding_problems(templates.texts.get(STYLES, ""), card_names())
    problems = [problem_at(templates, STYLES, *fault) for fault in faults]
    macro_names = [macro.name for macro in _macros(text(BLOCKS))]
    for macro in _macros(templates.texts.get(BLOCKS, "")):
        if macro.name[0].isupper() and macro.name not in macro_names:
            guess = closest(macro.name, macro_names)
            kinds = [name for name in macro_names if name[0].isupper()]
            hint = f"did you mean '{guess}'?" if guess else f"the kinds are {listed(kinds, 'and')}"
            message = f"no kind of block is called {quoted(macro.name)}"
            problems.append(problem_at(templates, BLOCKS, macro.lineno, message, hint))
    if problems:
        raise UsageError(*problems)


def _macros(source: str) -> list[nodes.Macro]:
    """Return the macros that a Jinja template defines at its top level."""
    from jinja2 import Environment, nodes

    return [node for node in Environment(autoescape=True).parse(source).body if isinstance(node, nodes.Macro)]


JSON = "application/json"


class AttachedFile(NamedTuple):
    """A file with its kind, which machines take from its name differently, and its relationship to the card."""

    name: str
    content: bytes
    kind: str
    relationship: str
    description: str


def attached_files(edition: Edition) -> Iterator[AttachedFile]:
    """Yield the files attached to a PDF, sorted by name, with the same bytes as in the output folder.

    ``spec.yaml`` is the resolved spec; it reads back as the same spec where its paths lead to the same files.
    """
    results = edition.results
    if edition.comments:
        yield AttachedFile(COMMENTS, records_json(edition.comments), JSON, "Data", "Comments on this card")
    yield AttachedFile(ESTIMATES, estimates_csv(results).encode(), "text/csv", "Data",
                       "Every estimate of this card")
    yield AttachedFile(RESULTS, results.to_json().encode(), JSON, "Data", "Every number of this card")
    if edition.signatures:
        yield AttachedFile(SIGNATURES, records_json(edition.signatures), JSON, "Data", "Who signed this card")
    yield AttachedFile("spec.yaml", spec_text(results.spec).encode(), "application/yaml", "Source",
                       "The spec that this card was made from")


STREAM = re.compile(rb"(\d+) 0 obj\s*<<((?:(?!endobj).)*?)>>\s*stream\r?\n", re.DOTALL)
"""Where a stream begins: the number of its object, and its dictionary."""

NAMED = re.compile(r"/Type /Filespec/F \(([\w.-]+)\).{0,200}?/EF <</F (\d+) 0 R>>", re.DOTALL)
"""The name of an attached file, and the number of the object that holds it."""


CREATOR = re.compile(rb"<xmp:CreatorTool>([^<]*)</xmp:CreatorTool>")
"""Where the metadata of a PDF say what drew it."""


def files_in(pdf: bytes) -> dict[str, bytes]:
    """Return the files attached to a card in PDF, by name; empty where it has not the form that evalpipe writes."""
    streams = dict(_decoded_streams(pdf))
    objects = [content for dictionary, content in streams.values() if b"/ObjStm" in dictionary]
    names_and_numbers = [match for text in (pdf, *objects) for match in NAMED.findall(text.decode("latin-1"))]
    return {name: streams[number][1] for name, number in names_and_numbers if number in streams}


def drawing_programs(pdf: bytes) -> dict[str, str]:
    """Return the versions of the programs that a card in PDF was drawn with, by program; empty where it names none."""
    metadata = b"".join(content for _, (dictionary, content) in _decoded_streams(pdf) if b"/Metadata" in dictionary)
    creator = CREATOR.search(metadata)
    if creator is None:
        return {}
    parts = [part.partition(" ") for part in creator[1].decode("utf-8", "replace").split(", ")]
    return {name: version for name, _, version in parts}


def _decoded_streams(pdf: bytes) -> Iterator[tuple[str, tuple[bytes, bytes]]]:
    """Yield (number, (dictionary, content)) of each stream with an attached file, with objects or with metadata."""
    for match in STREAM.finditer(pdf):
        length = re.search(rb"/Length (\d+)", match[2])
        if length is None or not re.search(rb"/EmbeddedFile|/ObjStm|/Metadata", match[2]):
            continue
        content = pdf[match.end():match.end() + int(length[1])]
        try:
            yield match[1].decode(), (match[2], zlib.decompress(content) if b"/FlateDecode" in match[2] else content)
        except zlib.error:
            continue
