"""The colours of models: told apart by every reader, and plain on their paper."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from evalpipe.base.arraytypes import Floats
from evalpipe.card.assets import text
from evalpipe.card.figures.panel import DASHES, DOTS
from evalpipe.card.html import html_page
from evalpipe.card.palette import (
    APART,
    LIGHTNESS_APART,
    MARKERS,
    MODELS,
    MODELS_DARK,
    OUTLINES,
    ROLES,
    STROKES,
    inks,
    style_sheet,
)
from evalpipe.results import Results

SEEN = {
    "by most": np.eye(3),
    "with protanopia": np.array([
        [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "with deuteranopia": np.array([
        [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
}
"""What linear sRGB is seen as: Machado, Oliveira & Fernandes (2009), severity 1."""

PAPERS = {"light": (MODELS, ROLES["paper"][0]), "dark": (MODELS_DARK, ROLES["paper"][1])}


def linear(colour: str) -> Floats:
    """Return the linear red, green and blue of a colour."""
    value = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def lab(rgb: Floats) -> Floats:
    """Return CIELAB of linear sRGB under D65."""
    to_xyz = np.array([
        [0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])
    ratio = to_xyz @ np.clip(rgb, 0, 1) / np.array([0.95047, 1.0, 1.08883])
    f = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def ciede2000(first: Floats, second: Floats) -> float:
    """Return the difference of two colours: Sharma, Wu & Dalal (2005)."""
    chroma = (np.hypot(*first[1:]) + np.hypot(*second[1:])) / 2
    g = 0.5 * (1 - np.sqrt(chroma**7 / (chroma**7 + 25.0**7)))
    a, b = np.array([first[1], second[1]]) * (1 + g), np.array([first[2], second[2]])
    c, h = np.hypot(a, b), np.degrees(np.arctan2(b, a)) % 360
    apart = 0.0 if c.prod() == 0 else (h[1] - h[0] + 180) % 360 - 180
    mean = h.sum() if c.prod() == 0 else h.mean() if abs(h[0] - h[1]) <= 180 else (h.sum() + 360) / 2 % 360
    light, chroma = (first[0] + second[0]) / 2, c.mean()
    t = 1 + sum(weight * np.cos(np.radians(k * mean + turn)) for weight, k, turn in (
        (-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.2, 4, -63)))
    rotation = -np.sin(np.radians(60 * np.exp(-(((mean - 275) / 25) ** 2)))) * 2 * np.sqrt(
        chroma**7 / (chroma**7 + 25.0**7))
    parts = np.array([
        (second[0] - first[0]) / (1 + 0.015 * (light - 50) ** 2 / np.sqrt(20 + (light - 50) ** 2)),
        (c[1] - c[0]) / (1 + 0.045 * chroma),
        2 * np.sqrt(c.prod()) * np.sin(np.radians(apart / 2)) / (1 + 0.015 * chroma * t)])
    return float(np.sqrt((parts**2).sum() + rotation * parts[1] * parts[2]))


@pytest.mark.parametrize(("first", "second", "difference"), [
    ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425), ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
    ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ((50.0, 2.5, 0.0), (50.0, 0.0, -2.5), 4.3065), ((90.8027, -2.0831, 1.4410), (91.1528, -1.6435, 0.0447), 1.4441),
])  # fmt: skip
def test_the_difference_of_colours_is_that_of_its_authors(
    first: tuple[float, ...], second: tuple[float, ...], difference: float
) -> None:
    # The published differences have four decimals.
    assert ciede2000(np.array(first), np.array(second)) == pytest.approx(difference, abs=5e-5)


@pytest.mark.parametrize("eyes", SEEN)
@pytest.mark.parametrize("paper", PAPERS)
def test_any_two_models_are_told_apart_by_colour(paper: str, eyes: str) -> None:
    seen = [lab(SEEN[eyes] @ linear(colour)) for colour in PAPERS[paper][0]]
    assert min(ciede2000(*pair) for pair in combinations(seen, 2)) >= APART == 10


def test_lines_of_two_models_are_told_apart_on_grey_paper() -> None:
    lightness = [float(lab(linear(colour))[0]) for colour in MODELS]
    alike = [(i, j) for i, j in combinations(range(len(MODELS)), 2)
             if abs(lightness[i] - lightness[j]) < LIGHTNESS_APART == 10]
    assert len(alike) > 5  # so that colours alone would not do
    assert [pair for pair in alike if STROKES[pair[0]] == STROKES[pair[1]]] == []
    assert len(set(STROKES)) == len(STROKES) == len(MODELS)
    assert STROKES[0] == ""
    assert not set(STROKES) & {DOTS, DASHES}  # those of lines to compare with


@pytest.mark.parametrize("paper", PAPERS)
def test_models_stand_out_from_their_paper(paper: str) -> None:
    models, ground = PAPERS[paper]
    lights = [float(linear(colour) @ (0.2126, 0.7152, 0.0722)) for colour in (ground, *models)]
    ratios = [(max(lights[0], light) + 0.05) / (min(lights[0], light) + 0.05) for light in lights[1:]]
    assert min(ratios) >= 4.5  # what text in a model's colour needs: WCAG 2.2, 1.4.3


def test_every_model_has_a_marker_of_its_own_and_every_ink_a_style_on_both_papers() -> None:
    assert len(set(MARKERS)) == len(MARKERS) == len(MODELS) == len(MODELS_DARK)
    assert set(MARKERS) == set(OUTLINES)
    sheet = style_sheet()
    for name, (light, dark) in inks().items():
        assert sheet.count(f"--{name}: {light};") == 1
        assert f"--{name}: {dark};" in sheet.split("prefers-color-scheme: dark")[1]


def coloured(sheet: str) -> set[str]:
    """Return the selectors of a style sheet that give a colour of their own."""
    rules = re.findall(r"([^{}@]+)\{([^{}]*)\}", text(sheet))
    return {selector.strip() for selectors, declared in rules if ":root" not in selectors
            and re.search(r"(?:color|background): *(?:#|rgb|var\(--warn\))", declared)
            for selector in selectors.split(",")}


def test_all_that_has_a_colour_of_its_own_has_one_in_the_dark() -> None:
    light = coloured("card.css") | coloured("page.css") | coloured("phone.css")
    assert len(light) > 30
    assert light - coloured("dark.css") - {".warnings"} == set()  # its colours are variables


def test_a_screen_may_be_dark_and_paper_never_is(small: Results) -> None:
    page = html_page(small).decode()
    medias = re.findall(r"<style(?: media=\"([^\"]*)\")?>(.*?)</style>", page, re.DOTALL)
    assert [media for media, sheet in medias if "#14191f" in sheet] == [
        "screen", "screen and (prefers-color-scheme: dark)"]
    assert "@media screen and (prefers-color-scheme: dark)" in dict(medias)["screen"]


@pytest.fixture(scope="module")
def small(build: Any) -> Results:
    return build(datasets=1, models=1).model_copy(update={"curves": []})
