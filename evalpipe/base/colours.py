"""Colours as `#rrggbb`: the contrast of two of them, and the nearest readable shade."""

from __future__ import annotations

import colorsys
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

COLOUR = r"^#[0-9A-Fa-f]{6}$"
READABLE = 4.5
"""The contrast that text needs by level AA of WCAG 2.2 (criterion 1.4.3)."""

LIGHT = ("#ffffff", "#f4f6f8", "#f1f8f3", "#fff8e8", "#fdf2f0")
DARK = ("#14191f", "#1c232b", "#14261b", "#2b2413", "#2c1716")
"""Backgrounds of links and headings, in light and in dark mode: the page, its boxes, the verdicts of gates."""

STEPS = 1000
"""The shades of a colour, from black to white, among which a readable one is chosen."""


def is_colour(text: str) -> bool:
    """Tell whether a text is a colour in the form `#rrggbb`."""
    return re.fullmatch(COLOUR.removesuffix("$"), text) is not None


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour, 0 to 1 (WCAG 2.2)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in _rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    """Return the contrast of two colours, 1 to 21 (WCAG 2.2)."""
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def hardest(colour: str, backgrounds: Iterable[str]) -> str:
    """Return the background with the lowest contrast to a colour."""
    return min(backgrounds, key=lambda background: contrast(colour, background))


def readable_shade(colour: str, backgrounds: tuple[str, ...]) -> str:
    """Return the nearest shade of a colour that is readable on all backgrounds; the colour itself where it is.

    Shades differ in lightness alone (HSL). Backgrounds are all light or all dark, so black or white is readable.
    """
    if _is_readable(colour, backgrounds):
        return colour
    hue, lightness, saturation = colorsys.rgb_to_hls(*_rgb(colour))
    shades = [(abs(step / STEPS - lightness), _hex(colorsys.hls_to_rgb(hue, step / STEPS, saturation)))
              for step in range(STEPS + 1)]
    return min((distance, shade) for distance, shade in shades if _is_readable(shade, backgrounds))[1]


def _is_readable(colour: str, backgrounds: tuple[str, ...]) -> bool:
    """Tell whether a colour has at least the contrast `READABLE` to all backgrounds."""
    return all(contrast(colour, background) >= READABLE for background in backgrounds)


def _rgb(colour: str) -> tuple[float, float, float]:
    """Return red, green and blue, 0 to 1."""
    red, green, blue = (int(colour[start:start + 2], 16) / 255 for start in (1, 3, 5))
    return red, green, blue


def _hex(channels: tuple[float, float, float]) -> str:
    """Return `#rrggbb` for red, green and blue from 0 to 1."""
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in channels)
