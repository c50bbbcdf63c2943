"""Where templates, styles and fonts are, and the style sheets of a card with what the tokens of its spec change."""

from __future__ import annotations

import base64
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from evalpipe.base.colours import DARK, readable_shade
from evalpipe.card.palette import style_sheet
from evalpipe.errors import InternalError
from evalpipe.templating.files import STYLES

if TYPE_CHECKING:

    from evalpipe.chapters.appearance.records import Appearance
    from evalpipe.templating.files import Templates


PACKAGE = Path(__file__).resolve().parent.parent


@cache
def templates_folder() -> Path:
    """Return the folder of the templates; raises InternalError when the installation lacks it."""
    for folder in (PACKAGE / "templates", PACKAGE.parent / "templates"):
        if (folder / "card.html").is_file():
            return folder
    raise InternalError.of(
        "missing-templates", "the templates of the card are missing from this installation",
        hint="install evalpipe again",
    )


def text(name: str) -> str:
    """Return the text of a template file, such as ``card.css``."""
    return (templates_folder() / name).read_text(encoding="utf-8")


FACES = (
    ("Source Sans 3", 400, "source-sans-3-latin-400-normal.woff2"),
    ("Source Sans 3", 600, "source-sans-3-latin-600-normal.woff2"),
    ("Source Code Pro", 400, "source-code-pro-latin-400-normal.woff2"),
)
"""Family, weight and file of the fonts inside the page."""

FALLBACKS = (
    ("DejaVu Sans", 400, "DejaVuSans.ttf"),
    ("DejaVu Sans", 600, "DejaVuSans-Bold.ttf"),
    ("DejaVu Sans Mono", 400, "DejaVuSansMono.ttf"),
)
"""Fonts that matplotlib carries, for letters and symbols that the card's own fonts lack, in the PDF."""

SCHEME = "packaged:"
"""What the addresses of fonts and files begin with, where the PDF is made."""

DARK_SCREEN = "screen and (prefers-color-scheme: dark)"

Sheet = tuple[str, str]
"""The media that a style sheet is for, and its text."""


def _font_face(family: str, weight: int, source: str) -> str:
    return f"@font-face {{ font-family: '{family}'; font-weight: {weight}; src: {source}; }}\n"


def font_file(name: str) -> bytes:
    """Return the bytes of a font file, by its name in `FACES`."""
    return (templates_folder() / "fonts" / name).read_bytes()


def sheets(appearance: Appearance, templates: Templates, *, linked: bool) -> list[Sheet]:
    """Return the style sheets of a page as (media query, CSS), in their order: that of its templates is last.

    Colours and paper that the spec sets follow evalpipe's own sheets. A PDF, whose figures are ``linked``, has the
    sheets for print alone, as one, for WeasyPrint looks for the rules of each element in each sheet.
    """
    if linked:
        faces = "".join(_font_face(*face[:2], f"url({SCHEME}{face[2]})") for face in (*FACES, *FALLBACKS))
        page_sheets = [("print", faces + text("card.css") + text("print.css"))]
    else:
        faces = "".join(
            _font_face(family, weight, "url(data:font/woff2;base64,"
                       f"{base64.b64encode(font_file(name)).decode('ascii')}) format('woff2')")
            for family, weight, name in FACES)
        page_sheets = [("", faces + text("card.css")), ("print", text("print.css"))]
        page_sheets += [("print", text("unfold.css")), ("screen", text("page.css") + style_sheet()),
                        ("screen and (min-width: 64rem)", text("wide.css")),
                        ("screen and (min-width: 87.5rem)", text("rail.css")),
                        ("screen and (max-width: 52rem)", text("phone.css")), (DARK_SCREEN, text("dark.css"))]
    if appearance.paper == "letter":
        page_sheets.append(("print", text("letter.css")))
    if appearance.accent is not None:
        page_sheets.append(("", f":root {{ --accent: {appearance.accent}; }}\n"))
        if not linked:
            page_sheets.append((DARK_SCREEN, f":root {{ --accent: {readable_shade(appearance.accent, DARK)}; }}\n"))
    if STYLES in templates.texts:
        page_sheets.append(("", templates.texts[STYLES]))
    return page_sheets
