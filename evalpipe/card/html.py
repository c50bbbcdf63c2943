"""The card as one HTML page that needs nothing else: style, fonts and figures are inside it."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import TYPE_CHECKING

from evalpipe.card.assets import sheets, templates_folder, text
from evalpipe.card.edition import FIGURE_SCHEME, FORMULA_SCHEME, PLAIN, Edition, card_names
from evalpipe.card.figures.svg import data_tables
from evalpipe.card.page import Explorer
from evalpipe.chapters.appearance.records import Appearance
from evalpipe.templating.files import BLOCKS, PACKAGED, PAGE
from evalpipe.templating.page_checks import Allowed, check_evidence, check_page, has_pictures
from evalpipe.templating.sandbox import Bounded, Compiled, rendered
from evalpipe.words.spelling import isolated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jinja2 import Environment
    from markupsafe import Markup

    from evalpipe.card.contents import Card
    from evalpipe.card.page import Formula
    from evalpipe.results import Results
    from evalpipe.templating.files import Templates

LONG = 40
"""Letters from which on a word is broken."""

LONG_WORD, LETTERS = re.compile(rf"[^\s<>]{{{LONG},}}"), re.compile(r"(?:&[#\w]+;|.){1,20}")
"""Words that are broken where a column is narrow, and the letters between two places where they may be."""

ROW_LIMIT = 5_000
"""Rows of a table on the page; the files beside it have all."""

SECTIONS = "sections.html"
"""The template of a page of sections that is no card."""

SHORT = 5
"""Rows of a table up to which the PDF keeps it on one page."""


COMPILED = Compiled()
"""Evalpipe's own templates as they run by themselves."""

KEEP_IDENTITY, KEEP_SECTIONS = "{{ write(page.identity) }}", "{{ super() }} in the block 'sections'"
"""How a template keeps what tells a card from others."""


def document(edition: Edition) -> bytes:
    """Render the card as an HTML page, with at most `ROW_LIMIT` rows in a table."""
    return write_page(edition, ROW_LIMIT)


def html_page(results: Results, limit: int | None = None) -> bytes:
    """Render the card of unsigned results as an HTML page; see `write_page`."""
    return write_page(Edition(results), limit)


def write_page(edition: Edition, limit: int | None = None, *, linked: bool = False) -> bytes:
    """Render the card as an HTML page in UTF-8; tables stop after ``limit`` rows, None for no limit.

    ``linked`` figures are images at addresses of their own, as the PDF has them, and not part of the page.
    """
    templates = edition.templates
    styles = sheets(edition.results.appearance, templates, linked=linked)
    names = [] if linked else ["page.js", *(
        "what_if.js" for block in edition.card.masthead if isinstance(block, Explorer))]
    scripts = [_trusted_markup(text(name)) for name in names]
    sheet_texts = [sheet for _, sheet in styles]
    policy = None if linked else _policy(sheet_texts, scripts, pictures=has_pictures(templates))
    values = {"page": edition.card if linked else edition.card.on_screen,
              "page_styles": [(media, _trusted_markup(sheet)) for media, sheet in styles],
              "scripts": scripts, "policy": policy}
    plain_page = _with_card_functions(_environment(), edition, limit, linked=linked).get_template(PAGE).render(values)
    if not templates.texts:
        return plain_page.encode("utf-8")
    environment = _with_card_functions(Bounded(templates, templates_folder()), edition, limit, linked=linked)
    page = rendered(templates, environment, values)
    required = ((_block_writer(environment, templates)(edition.card.identity),
             "the line with its id, its evidence and its status", KEEP_IDENTITY),
            ('id="provenance"', "the section on its provenance", KEEP_SECTIONS))
    schemes = (FIGURE_SCHEME, FORMULA_SCHEME) if linked else ()
    allowed = Allowed(frozenset(sheet_texts), frozenset(map(str, scripts)), policy, required, schemes, inline=linked)
    check_page(templates, page, allowed)
    check_evidence(templates, page, plain_page, card_names())
    return page.encode("utf-8")


def _with_card_functions(environment: Environment, edition: Edition, limit: int | None, *, linked: bool) -> Environment:
    """Add the functions and values that templates of a card use to an environment, and return it."""
    templates = edition.templates if isinstance(environment, Bounded) else PLAIN
    environment.globals |= {
        "write": _block_writer(environment, templates), "draw": edition.drawn, "limit": limit, "linked": linked,
        "set_formula": _formula_setter(edition, linked=linked), "SHORT": SHORT, "addresses": edition.addresses,
        "figures_drawn": edition.figures_drawn,
        "safe_svg": _trusted_markup, "safe_json": _trusted_markup, "data_tables": data_tables}
    return environment


def write_sections(card: Card) -> bytes:
    """Render, in the styles of the card, sections that are no card, such as a comparison of two runs.

    The page has no figures, formulas or scripts.
    """
    environment = _environment()
    environment.globals |= {"write": _block_writer(environment, PLAIN), "limit": None, "linked": False, "SHORT": SHORT}
    styles = sheets(Appearance(), PLAIN, linked=False)
    values = {"page": card, "page_styles": [(media, _trusted_markup(sheet)) for media, sheet in styles],
              "policy": _policy([sheet for _, sheet in styles], [], pictures=False)}
    return environment.get_template(SECTIONS).render(values).encode("utf-8")


def _environment() -> Environment:
    from jinja2 import FileSystemLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    # Names from specs and data reach the templates, so these can neither run code nor write markup unescaped.
    return ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(templates_folder()), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True, bytecode_cache=COMPILED,
        optimized=False,  # it would fold constants, of which there are few, for a seventh of the time of compiling
        finalize=lambda value: isolated(value) if type(value) is str else value,
    )


def _block_writer(environment: Environment, templates: Templates) -> Callable[[object], Markup]:
    """Return a function that renders a piece, a block or a tuple of them by the macro of its class, strings escaped.

    A macro of the custom ``templates`` replaces evalpipe's own of the same name.
    """
    from markupsafe import Markup, escape

    has_blocks = BLOCKS in templates.texts
    names = ([BLOCKS] if has_blocks else []) + [f"{PACKAGED}{BLOCKS}" if templates.texts else BLOCKS]

    def write(part: object) -> Markup:
        """Render a piece, a block or a tuple of them; a text is escaped, and a long word may be broken."""
        if isinstance(part, str):  # a word may be broken that is too long for the column of a table
            escaped = escape(isolated(part))
            if len(escaped) < LONG:
                return escaped
            return Markup(LONG_WORD.sub(lambda word: "<wbr>".join(LETTERS.findall(word[0])), escaped))  # noqa: S704
        if isinstance(part, tuple):
            return Markup().join(map(write, part))
        kind = type(part).__name__
        modules = (environment.get_template(name).module for name in names)
        markup: Markup = next(getattr(module, kind) for module in modules if hasattr(module, kind))(part)
        return markup

    return write


def _policy(sheets: Sequence[str], scripts: Sequence[str], *, pictures: bool) -> str:
    """Return the content security policy of a page: its own styles and scripts, by their hashes, and nothing else.

    With ``pictures``, images inside the page (``data:``) are allowed too.
    """
    def allowed(parts: Sequence[str]) -> str:
        """Return the sha256 of parts as sources of the policy, or 'none' without any."""
        hashes = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in parts]
        return " ".join(f"'sha256-{digest}'" for digest in hashes) or "'none'"

    return (f"default-src 'none'; style-src {allowed(sheets)}; script-src {allowed(scripts)}; font-src data:; "
            f"{'img-src data:; ' if pictures else ''}base-uri 'none'; form-action 'none'")


def _trusted_markup(markup: str) -> Markup:
    """Mark markup made by evalpipe as safe: figures, styles, scripts and data, in which names are already escaped."""
    from markupsafe import Markup

    return Markup(markup)  # noqa: S704


def _formula_setter(edition: Edition, *, linked: bool) -> Callable[[Formula], Markup | None]:
    """Return a function that renders a formula as SVG, or ``linked`` as an image; None where it has LaTeX alone."""
    from markupsafe import Markup

    from evalpipe.card.figures import formula_size, formula_svg

    def set_formula(formula: Formula) -> Markup | None:
        """Render a formula; None where it cannot be set."""
        svg = formula_svg(formula.latex, f"formula-{formula.key}")
        if svg is None:
            return None
        if not linked:
            return Markup(svg)  # noqa: S704 - made from our own formulas
        address = edition.formula(formula.key, svg)
        return Markup('<img class="formula" style="{}" src="{}" alt="{}">').format(
            formula_size(svg), address, formula.latex)

    return set_formula
