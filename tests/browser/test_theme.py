"""What a browser makes of a theme: the policy of the page lets in its styles and pictures, and they are seen."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

import evalpipe
from evalpipe.base.colours import DARK, readable_shade

ACCENT = "#8a1538"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24"><rect width="24" height="24" fill="red"/></svg>'
PAGE = f"""{{% extends "evalpipe/card.html" %}}
{{% block title %}}
<img id="logo" alt="A square" src="data:image/svg+xml;base64,{base64.b64encode(SVG.encode()).decode()}">
<p id="ours">{{{{ page.title }}}}</p>
{{{{ super() }}}}
{{% endblock %}}
"""


@pytest.fixture(scope="module")
def card(example: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the themed example's page with a picture."""
    folder = tmp_path_factory.mktemp("theme")
    (folder / "card.html").write_text(PAGE, encoding="utf-8")
    (folder / "theme.css").write_text("#ours { letter-spacing: 3px; color: var(--accent); }\n", encoding="utf-8")
    written = folder / "out.html"
    written.write_bytes(evalpipe.render(example("themed"), ["html"], template=folder)["card.html"])
    return written


@pytest.fixture(scope="module")
def page(browser: Browser, card: Path) -> Iterator[Page]:
    """Return the page in a browser; what its console says, or asks for, is an error."""
    context = browser.new_context(viewport={"width": 1200, "height": 900}, offline=True)
    said, asked = list[str](), list[str]()
    page = context.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(card.as_uri())
    yield page
    context.close()
    assert said == []
    assert [url for url in asked if not url.startswith("data:")] == [card.as_uri()]


def style(page: Page, selector: str, name: str) -> str:
    """Return the computed value of a property."""
    value: str = page.evaluate("([s, n]) => getComputedStyle(document.querySelector(s))[n]", [selector, name])
    return value


def rgb(colour: str) -> str:
    return f"rgb({', '.join(str(int(colour[place:place + 2], 16)) for place in (1, 3, 5))})"


def test_the_styles_of_a_theme_are_let_in(page: Page) -> None:
    assert style(page, "#ours", "letterSpacing") == "3px"


def test_the_accent_is_that_of_the_spec_and_its_shade_in_the_dark(page: Page) -> None:
    shades = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        shades.append({style(page, "#ours", "color"), style(page, ".contents a", "color"),
                       style(page, "#data h2", "borderTopColor")})
    page.emulate_media(color_scheme="light")
    assert shades == [{rgb(ACCENT)}, {rgb(readable_shade(ACCENT, DARK))}]


def test_a_picture_in_the_page_is_let_in(page: Page) -> None:
    assert page.evaluate("document.querySelector('#logo').naturalWidth") == 24


def test_what_a_template_could_not_have_written_would_not_run_or_load_either(
    browser: Browser, card: Path
) -> None:
    """The policy holds without the check of the page: what is put in later is not let in."""
    page = browser.new_page(offline=True)
    page.goto(card.as_uri())
    refused: list[str] = page.evaluate("""async () => {
      const said = [];
      document.addEventListener("securitypolicyviolation", event => said.push(event.effectiveDirective));
      document.body.insertAdjacentHTML("beforeend",
        "<p style='color: red'>x</p><style>p { color: red }</style>" +
        "<img src='https://example.org/x.png'><img src=x onerror='1'>");
      const script = document.createElement("script");
      script.textContent = "window.ran = true";
      document.body.append(script);
      await new Promise(done => setTimeout(done, 300));
      return [...new Set(said)].sort().concat(String(window.ran));
    }""")
    page.close()
    assert refused == ["img-src", "script-src-attr", "script-src-elem", "style-src-attr", "style-src-elem", "undefined"]
