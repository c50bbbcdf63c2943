"""Formulas: LaTeX set by matplotlib's mathtext as one outline each; those of our own measures are set in advance.

Mathtext gives the letters of a formula, where each stands, and its lines. For the formulas of measures these are in
`templates/formulas.json`, written by `docs/build.py`, so that a card needs no matplotlib.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from evalpipe.card.assets import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FRACTION, DISPLAYED = r"\frac", r"\dfrac"
UNITS = 100
"""Units of the drawing in one em: its coordinates are whole numbers."""

PAD = 4
"""Units around a formula."""

FILE = "formulas.json"
COMMANDS = {1: ("M", 1), 2: ("L", 1), 3: ("Q", 2), 4: ("C", 3), 79: ("z", 1)}
"""The commands of matplotlib's paths: that of SVG, and how many vertices it takes."""

PIECE = re.compile(r"([MLQCz])([^MLQCz]*)")
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class SetFormula:
    """A formula as mathtext sets it: its letters as (name, x, y, scale), and its lines as (left, low, right, high)."""

    letters: tuple[tuple[str, float, float, float], ...]
    lines: tuple[tuple[float, float, float, float], ...]


@cache
def formula_svg(latex: str, key: str) -> str | None:
    r"""Draw a formula such as ``\frac{TP}{TP+FN}``; None where mathtext cannot. The LaTeX is the alternative text."""
    outlines, set_in_advance = read_preset_formulas()
    if latex in set_in_advance:
        formula = set_in_advance[latex]
        return None if formula is None else _typeset_svg(latex, key, formula, outlines)
    outlines, formulas = typeset_formulas([latex])
    formula = formulas[latex]
    return None if formula is None else _typeset_svg(latex, key, formula, outlines)


def formula_size(svg: str) -> str:
    """Return the width and height of the SVG of a formula as CSS declarations."""
    wide, high = re.findall(r' (?:width|height)="([^"]*)"', svg)[:2]
    return f"width: {wide}; height: {high}"


@cache
def read_preset_formulas() -> tuple[dict[str, str], dict[str, SetFormula | None]]:
    """Read from `FILE` the outlines of letters by name, and the formulas of evalpipe's measures by their LaTeX."""
    file_content = json.loads(text(FILE))
    return file_content["letters"], {
        latex: None if parts is None else SetFormula(*(tuple(map(tuple, part)) for part in parts))
        for latex, parts in file_content["formulas"].items()}


def typeset_formulas(formulas: Iterable[str]) -> tuple[dict[str, str], dict[str, SetFormula | None]]:
    """Typeset formulas by matplotlib's mathtext.

    Returns the outlines of their letters by name, and each formula by its LaTeX, None where it cannot be set.
    """
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    looks = FontProperties(family="DejaVu Sans", math_fontfamily="cm")
    outlines, by_latex = dict[str, str](), dict[str, SetFormula | None]()
    for latex in formulas:
        try:
            letters, glyphs, lines = text_to_path.get_glyphs_mathtext(looks, f"${latex.replace(FRACTION, DISPLAYED)}$")
        except ValueError:
            by_latex[latex] = None
            continue
        outlines |= {name: _letter_path(*path) for name, path in glyphs.items()}
        placed = tuple((name, *(round(float(x), 2), round(float(y), 2), round(float(scale), 3))) for name, x, y,
                       scale in letters)
        ends = []
        for corners, _ in lines:
            across, down = zip(*((float(x), float(y)) for x, y in corners[:4]), strict=True)
            ends.append((round(min(across), 1), round(min(down), 1), round(max(across), 1), round(max(down), 1)))
        by_latex[latex] = SetFormula(placed, tuple(ends))
    return outlines, by_latex


def preset_formulas_json(formulas: Iterable[str]) -> str:
    """Typeset formulas, and return them as the JSON text of `FILE`."""
    outlines, by_latex = typeset_formulas(sorted(set(formulas)))
    parts_by_name: dict[str, dict[str, object]] = {"letters": dict(sorted(outlines.items())), "formulas": {
        latex: None if formula is None else [formula.letters, formula.lines] for latex, formula in by_latex.items()}}
    parts = (f'"{name}": {{\n' + ",\n".join(
        f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in part.items()) + "\n}"
        for name, part in parts_by_name.items())
    return "{" + ",\n".join(parts) + "}\n"


def _letter_path(vertices: Any, codes: Any) -> str:
    """Return the SVG path of a letter from matplotlib's vertices and path codes; coordinates have one decimal."""
    vertex, path, numbered = 0, "", [int(code) for code in codes]
    while vertex < len(numbered):
        command, count = COMMANDS[numbered[vertex]]
        path += command
        if command != "z":
            path += " ".join(f"{round(float(value), 1):g}" for point in vertices[vertex : vertex + count]
                             for value in point)
        vertex += count
    return path


def _typeset_svg(latex: str, key: str, formula: SetFormula, outlines: dict[str, str]) -> str:
    """Return the SVG of a set formula as one path, with its LaTeX as title; ``outlines`` are letters by name."""
    pieces = list(_path_commands(formula, outlines))
    left, right = (end(x for _, points in pieces for x, _ in points) for end in (min, max))
    low, high = (end(y for _, points in pieces for _, y in points) for end in (min, max))
    wide, tall = round(right - left) + 2 * PAD, round(high - low) + 2 * PAD
    path = _short_path((command, [(round(x - left + PAD), round(high + PAD - y)) for x, y in points])
                       for command, points in pieces)
    size = f'width="{wide / UNITS:g}em" height="{tall / UNITS:g}em"'
    return (f'<svg class="formula" {size} viewBox="0 0 {wide} {tall}" role="img" '
            f'aria-labelledby="{key}-title"><title id="{key}-title">{escape(latex)}</title>'
            f'<path fill="currentColor" d="{path}"/></svg>')


def _short_path(commands: Iterable[tuple[str, list[tuple[int, int]]]]) -> str:
    """Return commands with absolute points as the text of a path, in which points are relative to the one before.

    That takes half the letters. What leads nowhere is left out, and a letter that repeats the one before.
    """
    path, at, letter_before = "", (0, 0), ""
    for command, points in commands:
        steps = [value for x, y in points for value in (x - at[0], y - at[1])]
        at = points[-1] if points else at
        if command in "Mz":
            letter, text = command, " ".join(str(value) for point in points for value in point)
        elif command == "L" and 0 in steps:
            letter, text = ("h", str(steps[0])) if steps[1] == 0 else ("v", str(steps[1]))
        else:
            letter, text = command.lower(), " ".join(map(str, steps)).replace(" -", "-")
        if command in {"M", "z"} or any(steps):
            repeats = letter == letter_before and letter in "lqc"
            path += (("" if text.startswith("-") else " ") if repeats else letter) + text
            letter_before = letter
    return path


def _path_commands(formula: SetFormula, outlines: dict[str, str]) -> Iterator[tuple[str, list[Point]]]:
    """Yield the commands of all letters and lines of a formula, each with its points; the vertical axis is upwards."""
    for name, x, y, scale in formula.letters:
        for command, coordinates in PIECE.findall(outlines[name]):
            values = [float(value) * scale for value in coordinates.split()]
            yield command, [(a + x, b + y) for a, b in zip(values[::2], values[1::2], strict=True)]
    for left, low, right, high in formula.lines:
        yield "M", [(left, low)]
        yield from (("L", [corner]) for corner in ((left, high), (right, high), (right, low)))
        yield "z", []
