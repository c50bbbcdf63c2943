from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalpipe.base.colours import DARK, LIGHT, READABLE, contrast, hardest, is_colour, luminance, readable_shade
from evalpipe.chapters.appearance.spec import ACCENT

if TYPE_CHECKING:
    from pathlib import Path

colours = st.integers(0, 0xFFFFFF).map("#{:06x}".format)


@pytest.mark.parametrize(("first", "second", "ratio"), [
    ("#000000", "#ffffff", 21.0), ("#ffffff", "#ffffff", 1.0),
    # The three greys about the limit that WebAIM's checker and others give as examples, and a blue by hand.
    ("#767676", "#ffffff", 4.54), ("#777777", "#ffffff", 4.48), ("#0000ff", "#ffffff", 8.59),
])
def test_contrast_is_that_of_wcag(first: str, second: str, ratio: float) -> None:
    assert contrast(first, second) == contrast(second, first) == pytest.approx(ratio, abs=0.005)


def test_luminance_of_the_primaries_is_their_share() -> None:
    assert [luminance(c) for c in ("#ff0000", "#00ff00", "#0000ff")] == pytest.approx([0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("text", ["#1F5fa8", "#000000"])
def test_a_colour_is_six_digits(text: str) -> None:
    assert is_colour(text)


@pytest.mark.parametrize("text", ["red", "#fff", "#12345g", "#123456\n", " #123456", "#123456;}", "#1234567", ""])
def test_nothing_else_is_a_colour(text: str) -> None:
    assert not is_colour(text)


@given(colours)
def test_the_nearest_shade_can_be_read_on_every_ground(colour: str) -> None:
    for grounds in (LIGHT, DARK):
        shade = readable_shade(colour, grounds)
        assert is_colour(shade)
        assert contrast(shade, hardest(shade, grounds)) >= READABLE
        assert readable_shade(shade, grounds) == shade


def test_a_shade_keeps_the_hue() -> None:
    assert readable_shade("#b00020", DARK) == "#ff4063"
    assert readable_shade("#7db8ec", LIGHT) == "#1c72be"


def test_the_usual_accent_can_be_read() -> None:
    assert readable_shade(ACCENT, LIGHT) == ACCENT


def test_the_grounds_are_those_of_the_style_sheets(root: Path) -> None:
    """What the accent is measured on is what the page has: its paper, its boxes, the verdicts of gates."""
    light, dark = ((root / "templates" / name).read_text() for name in ("card.css", "dark.css"))
    for grounds, sheet in ((LIGHT, light), (DARK, dark)):
        page = re.search(r"(?m)^ *(?:margin: 0 auto; .*|body, .*)background: (#\w+);", sheet)
        soft, warn = (re.search(rf"--{name}: (#\w+);", sheet) for name in ("soft", "warn"))
        passed, failed = (re.search(rf"\.gates\.{name} {{[^}}]*background: (#\w+)", sheet) for name in ("pass", "fail"))
        assert page is not None
        assert None not in (soft, warn, passed, failed)
        whole = "#ffffff" if page[1] == "#fff" else page[1]
        assert grounds == (whole, *(shade[1] for shade in (soft, passed, warn, failed) if shade))
    assert f"--accent: {ACCENT};" in light
