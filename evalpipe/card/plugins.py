"""Sections and figures of plugins: checked, and marked as theirs."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

from evalpipe.base.plugins import failing, load, plugins_of, refuse
from evalpipe.card.figures import Drawing
from evalpipe.card.figures.context import context_of
from evalpipe.card.page import Block, BlockGroup, Column, Dot, Figures, Group, Part, Piece, Row, Section, Text
from evalpipe.card.tables import evaluated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evalpipe.base.plugins import Plugin
    from evalpipe.results import Results

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
        write = load(plugin, "sections")
        with failing(plugin, "in its sections"):
            sections = list(write(results.model_copy(deep=True)))
        for section in sections:
            fault = _fault_of_section(section)
            if fault is not None:
                raise refuse(plugin, fault)
            blocks = tuple(_attributed(plugin, block) for block in section.blocks)
            yield replace(section, blocks=(_byline(plugin), *blocks))


def _plugin_figure_sections(plugin: Plugin, results: Results) -> Iterator[Section]:
    """Yield for each evaluated dataset a section with the plugin's figure."""
    if "figures" in plugin.gives:
        draw = load(plugin, "figures")
        for anchor, dataset in evaluated(results):
            instead = (Text("There is no figure here."),)
            figures = Figures(partial(_plugin_drawings, draw, results, dataset.name), instead=instead)
            yield Section(
                f"{plugin.name}-figure-{anchor.rpartition('-')[2]}", f"Figure of {plugin.name} on {dataset.name}",
                (_byline(plugin), _attributed(plugin, figures)), part="appendix")


def _plugin_drawings(draw: Callable[[Any], Drawing | None], results: Results, dataset: str) -> list[Drawing]:
    """Return the drawing of a plugin on a dataset as a list; empty where it draws none."""
    drawing = draw(context_of(results.model_copy(deep=True), dataset))
    return [] if drawing is None else [drawing]


def _byline(plugin: Plugin) -> Text:
    return Text(f"Written by {plugin}, not by evalpipe.", "small")


def _attributed(plugin: Plugin, block: Any) -> Any:
    """Return a block whose figures, drawn later, are checked and have the plugin's name in their keys and errors."""
    if isinstance(block, BlockGroup):
        return replace(block, blocks=tuple(_attributed(plugin, inner) for inner in block.blocks))
    return replace(block, draw=partial(_checked_drawings, plugin, block.draw)) if isinstance(block, Figures) else block


def _checked_drawings(plugin: Plugin, draw: Callable[[], Iterable[Drawing]]) -> list[Drawing]:
    """Draw the figures of a plugin, and put its name before their keys; raises UsageError for a fault."""
    with failing(plugin, "in its figures"):
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
