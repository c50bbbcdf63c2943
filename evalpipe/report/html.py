"""The card as one HTML page that needs nothing else: style, fonts and figures are inside it."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalpipe.report.locate import templates, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from jinja2 import Environment

    from evalpipe.report.figures import Drawing
    from evalpipe.report.view import CardView
    from evalpipe.results import Results

FACES = (
    ("Source Sans 3", 400, "source-sans-3-latin-400-normal.woff2"),
    ("Source Sans 3", 600, "source-sans-3-latin-600-normal.woff2"),
    ("Source Code Pro", 400, "source-code-pro-latin-400-normal.woff2"),
)
"""Family, weight and file of the fonts inside the page."""

MOST_ROWS = 60
"""Rows of the tables that grow with slices times measures; beyond, nobody reads them on a card."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """A figure with its number on the card."""

    number: int
    drawing: Drawing


def html_page(results: Results, limit: int | None = None) -> bytes:
    """Render the card as an HTML page in UTF-8; tables stop after ``limit`` rows, None for no limit."""
    from evalpipe.report.view import card_view

    view = card_view(results)
    page = _environment().get_template("card.html").render(
        card=view, figures=_figures(results, view), formulas=_formulas(view), limit=limit,
        most=min(limit or MOST_ROWS, MOST_ROWS), css=_css(),
    )
    return page.encode("utf-8")


def _environment() -> Environment:
    from jinja2 import FileSystemLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(templates()), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True,
    )


def _css() -> dict[str, Any]:
    from markupsafe import Markup

    sheets = {"screen": _faces(FACES) + text("card.css"), "phone": text("phone.css"), "print": text("print.css")}
    return {name: Markup(sheet) for name, sheet in sheets.items()}  # noqa: S704 - our own files


def _faces(faces: Iterable[tuple[str, int, str]]) -> str:
    rules = []
    for family, weight, name in faces:
        data = base64.b64encode((templates() / "fonts" / name).read_bytes()).decode("ascii")
        source = f"url(data:font/woff2;base64,{data}) format('woff2')"
        rules.append(f"@font-face {{ font-family: '{family}'; font-weight: {weight}; src: {source}; }}\n")
    return "".join(rules)


def _figures(results: Results, view: CardView) -> dict[str, list[tuple[Numbered, Any]]]:
    """Return the figures by the anchor of what they belong to, numbered through the card, each with its SVG."""
    from markupsafe import Markup

    found: dict[str, list[tuple[Numbered, Any]]] = {}
    before = 0
    for anchor, drawn in _drawn(results, view):
        # Names are escaped by the makers of the SVG, which is the only markup let through.
        found[anchor] = [(Numbered(before + i, d), Markup(d.svg)) for i, d in enumerate(drawn, 1)]  # noqa: S704
        before += len(drawn)
    return found


def _drawn(results: Results, view: CardView) -> Iterator[tuple[str, tuple[Drawing, ...]]]:
    """Draw the figures of every section, in the order of the card."""
    from evalpipe.report.figures import (
        cost_drawings,
        desirability_drawings,
        difference_drawings,
        drawings,
        prevalence_drawings,
        recalibration_drawings,
        slice_drawings,
        threshold_drawings,
    )

    for dataset in view.evaluated:
        yield dataset.anchor, drawings(results, dataset.name)
    for place, dataset_at in enumerate(view.prevalence.datasets if view.prevalence else ()):
        yield dataset_at.anchor, prevalence_drawings(results, dataset_at.name, first=place == 0)
    for chosen in view.thresholds:
        yield chosen.anchor, threshold_drawings(results, chosen.dataset)
    for worth in view.costs.datasets if view.costs else ():
        yield worth.anchor, cost_drawings(results, worth.dataset)
    for section in view.recalibrations:
        drawn = (recalibration_drawings(results, section.dataset, model.name) for model in section.models)
        yield section.anchor, tuple(drawing for each in drawn for drawing in each)
    for place, comparison in enumerate(view.comparisons, 1):
        baseline = (comparison.across, comparison.baseline)
        for table in comparison.tables:
            yield table.anchor, difference_drawings(results, table.dataset, baseline, place)
    for part in view.desirability.datasets if view.desirability is not None else ():
        yield part.anchor, desirability_drawings(results, part.dataset)
    for slices in view.slices:
        yield slices.anchor, slice_drawings(results, slices.dataset)


def _formulas(view: CardView) -> dict[str, Any]:
    """Set the formula of each measure; None where only its LaTeX can be shown."""
    from markupsafe import Markup

    from evalpipe.report.figures import formula_svg

    drawn = {m.name: formula_svg(m.formula, f"formula-{m.name}") if m.formula else None for m in view.measures}
    return {name: Markup(svg) if svg else None for name, svg in drawn.items()}  # noqa: S704 - made from our own formulas
