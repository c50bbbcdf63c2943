"""What is refused of templates before anything is rendered."""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalpipe.base.digests import text_sha256
from evalpipe.errors import UsageError
from evalpipe.templating.files import MOST_BYTES, Templates, read_templates
from evalpipe.templating.page_checks import Allowed, check_page
from evalpipe.templating.sandbox import check_templates

if TYPE_CHECKING:
    from pathlib import Path

HEAD = '{% extends "evalpipe/card.html" %}\n{% block footer %}\n'


def refused(text: str, name: str = "card.html", **others: str) -> str:
    with pytest.raises(UsageError) as caught:
        check_templates(Templates("ours", {name: text, **{f"{key}.html": other for key, other in others.items()}}))
    assert caught.value.exit_code == 2
    assert {problem.code for problem in caught.value.problems} == {"bad-template"}
    return str(caught.value)


def message(line: str) -> str:
    return refused(f"{HEAD}{line}\n{{% endblock %}}\n").partition("\n")[0].removeprefix("error[bad-template]: ")


def test_what_is_right_is_let_through() -> None:
    page = HEAD + "{{ super() }}<p>{{ page.title|upper }}, {% include 'address.html' %}</p>\n{% endblock %}"
    blocks = '{% from "evalpipe/blocks.html" import styled %}{% macro Text(b) %}{{ write(b.text) }}{% endmacro %}'
    styles = ("@media print { h1.ours { color: rgb(0 0 0 / 50%); } }\n"
              "@page { margin: 25mm; @bottom-center { content: 'x' attr(y); } }\n")
    check_templates(Templates("ours", {
        "card.html": page, "address.html": "1 Quay", "blocks.html": blocks, "theme.css": styles}))


def test_a_refusal_shows_its_line_and_the_way_out() -> None:
    assert refused(HEAD + "  {{ ''.__class__ }}\n{% endblock %}") == (
        "error[bad-template]: attributes that begin with '_' are refused, as '__class__' is\n"
        " --> ours/card.html:3:3\n"
        "  |\n"
        "3 |   {{ ''.__class__ }}\n"
        "  |   ^^^^^^^^^^^^^^^^^^ remove it: a template has the names that docs/theming.md lists")


@pytest.mark.parametrize("line", [
    "{{ ''.__class__ }}", "{{ ''['__class__'] }}", "{{ ''|attr('__class__') }}", "{{ page.title.__class__ }}",
    "{{ write.__globals__ }}", "{{ draw.__self__ }}", "{{ cycler.__init__ }}", "{{ self._TemplateReference__context }}",
    "{{ ().__class__ }}", "{% if x._y %}{% endif %}", "{% for a in b.__subclasses__() %}{% endfor %}",
])
def test_attributes_of_python_are_refused(line: str) -> None:
    assert message(line).startswith("attributes that begin with '_' are refused, as '_")


@pytest.mark.parametrize(("line", "named"), [
    ("{% include '/etc/passwd' %}", "/etc/passwd"), ("{% include '../x.html' %}", "../x.html"),
    ("{% include 'file:///etc/passwd' %}", "file:///etc/passwd"), ("{% import 'http://h/x' as x %}", "http://h/x"),
    ("{% from '//h/x' import y %}", "//h/x"), ("{% include ['evalpipe/blocks.html', 'a'] %}", "a"),
    ("{% include 'evalpipe/card.css' %}", "evalpipe/card.css"), ("{% include 'a' ignore missing %}", "a"),
    ("{% include 'evalpipe/../../x' %}", "evalpipe/../../x"), ("{% include 'theme.css' %}", "theme.css"),
])
def test_templates_from_elsewhere_are_refused(line: str, named: str) -> None:
    assert message(line) == f"'{named}' is no template of this folder"


@pytest.mark.parametrize(("line", "said"), [
    ("{% include page.title %}", "the name of a template must be a text in quotes"),
    ("{{ page.title|safe }}", "the filter 'safe' is refused: names of the data would become markup"),
    ("{{ [1]|random }}", "the filter 'random' is refused: the same results give the same bytes"),
    ("{{ '%9d'|format(1) }}", "the filter 'format' is refused: it may make a text of any length"),
    ("{% autoescape false %}{% endautoescape %}", "escaping is always on, or names of the data would become markup"),
    ("{{ safe_svg('<script>') }}", "'safe_svg' is for evalpipe's own templates alone"),
    ("{{ page.title|nope }}", "this is not valid in a template: No filter named 'nope'"),
    ("{% if %}", "this is not valid in a template: Expected an expression, got 'end of statement block'"),
])
def test_what_else_is_refused(line: str, said: str) -> None:
    assert message(line) == said


def test_every_fault_is_told_at_once_in_the_order_of_files_and_lines() -> None:
    text = refused(f"{HEAD}{{{{ a._b }}}}\n{{% include 'c' %}}\n{{% endblock %}}", more="{{ x|safe }}", twin="x")
    assert [line for line in text.splitlines() if "-->" in line] == [
        " --> ours/card.html:3:1", " --> ours/card.html:4:1", " --> ours/more.html", " --> ours/more.html:1:1",
        " --> ours/twin.html"]
    assert text.endswith(
        "error[bad-template]: no other template uses this one\n"
        " --> ours/twin.html\n  = help: include it from card.html, or remove it")


@pytest.mark.parametrize(("style", "line", "said"), [
    ("a { background: url(https://h/x.png) }", 1, "a style sheet may load nothing, whatever its address"),
    ("a {}\nb { background: URL('//h/x') }", 2, "a style sheet may load nothing, whatever its address"),
    ("a { background: u\\72l(file:///etc/passwd) }", 1, "a style sheet may load nothing, whatever its address"),
    ("a { background: image-set('x.png' 1x) }", 1, "a style sheet may load nothing, whatever its address"),
    ("@media print { a { --x: { y: src('x') } } }", 1, "a style sheet may load nothing, whatever its address"),
    ("a { background: url(data:image/png;base64,AA) }", 1, "a style sheet may load nothing, whatever its address"),
    ("@import 'x.css';", 1, "'@import' is refused in a style sheet of a card"),
    ("@IMPORT url(x.css);", 1, "'@import' is refused in a style sheet of a card"),
    ("@font-face { font-family: x }", 1, "'@font-face' is refused in a style sheet of a card"),
    ("a {}\n</style><script>alert(1)</script>", 2, "a style sheet holds no markup"),
    ("a {\ncolor red }", 2, "this is no declaration"),
    ("a { color: red } }", 1, "this is not valid CSS: EOF reached before {} block for a qualified rule"),
    ("a { color: 'x\n }", 1, "this is not valid CSS: Bad string token"),
    ("a { color: red }\nb", 2, "this is not valid CSS: EOF reached before {} block for a qualified rule"),
])
def test_a_style_sheet_loads_nothing(style: str, line: int, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_templates(Templates("ours", {"theme.css": style}))
    told_first = caught.value.problems[0]
    assert (told_first.message, told_first.place and told_first.place.line) == (said, line)


@pytest.mark.parametrize("style", [
    "* { display: none }", "body { color: #fff }", "@media screen { main { visibility: hidden } }",
    "@supports (display: grid) { td { opacity: 0 } }", ":root { --ink: #fff }", ".ours ~ * { display: none }",
    ".ours * { color: white }", ".ours, td { display: none }", "td:not(.ours) { display: none }", "p { font-size: 0 }",
    ".ours { position: fixed }", ".ours { outline: 9999px solid #fff }", ".ours { box-shadow: 0 0 0 99em #fff }",
    ".ours { transform: scale(99) }", ".ours::after { content: 'APPROVED' }", ".ours { z-index: 9 }",
    ".ours { animation: x 1s }", ".ours { font: 99px/0 x }", "p { text-indent: -99em }", "td { clip-path: circle(0) }",
    "@page { size: 1mm }", "@page { @top-center { font-size: 99in } }",
])
def test_a_theme_hides_nothing_that_evalpipe_writes(style: str) -> None:
    said = refused(style, "theme.css").partition("\n")[0]
    assert re.fullmatch(r"error\[bad-template\]: '[\w-]+' could hide what evalpipe writes", said)


@pytest.mark.parametrize("style", [
    "main { margin-left: 5000px }", "main { margin: -1px }", "main { padding: 0 50% }", "p { margin: 9vw }",
    "p { padding: calc(1px * 999) }", "p { border: 2in solid }", "td { letter-spacing: 1em }",
    ".ours { line-height: .1 }", ".ours { line-height: 1px }", "@page { margin: 9in }",
])
def test_no_length_of_a_theme_pushes_evidence_away(style: str) -> None:
    assert " could hide what evalpipe writes\n" in refused(style, "theme.css")
    assert "lengths of margins, paddings and borders are from 0 to an inch" in refused(style, "theme.css")


@pytest.mark.parametrize(("style", "said"), [
    ("@layer a { * { display: none } }", "'@layer' is refused in a theme: it could hide what evalpipe writes"),
    ("@keyframes a { to { opacity: 0 } }", "'@keyframes' is refused in a theme: it could hide what evalpipe writes"),
    (".ours { & ~ main { display: none } }", "rules within rules are refused in a theme"),
    ("@page { @bottom-left { content: none } }", "rules within rules are refused in a theme"),
])
def test_a_theme_has_plain_rules(style: str, said: str) -> None:
    assert refused(style, "theme.css").startswith(f"error[bad-template]: {said}\n")


def test_a_theme_is_free_with_what_its_templates_add() -> None:
    style = (".ours { color: var(--accent); background: #fff; display: flex; font-size: 2rem; width: 50% }\n"
             "h1 { font-family: serif; letter-spacing: .02em; border-bottom: 2px solid var(--accent); margin: 1em 0 }\n"
             "@media print { p .ours > b.mark:hover { color: red; line-height: 1.2 } }\n")
    check_templates(Templates("ours", {"theme.css": style}))


def test_what_could_hide_evidence_is_told_with_its_line() -> None:
    assert refused("h1 { margin: 0 }\nmain { color: #fff }", "theme.css") == (
        "error[bad-template]: 'color' could hide what evalpipe writes\n"
        " --> ours/theme.css:2:1\n"
        "  |\n"
        "2 | main { color: #fff }\n"
        "  | ^^^^^^^^^^^^^^^^^^^^ set it for elements that your templates add, by a class of their own, such as .house")


PIECES = [
    "<", ">", '"', "=", " ", "/", "!", "--", "?", "[", "svg", "style", "script", "img", "src", "href", "https://h",
    "meta", "data:image/svg+xml;base64,", "PHN2", "\n", "fill", "url(", "\0", "{{", "}}", "{%", "%}", "block x", "a",
    "endblock", "|", "for", "in", "set", "_", ".", "(", ")", "]", "~", "include", "{", "}", ";", ":", "@", "import",
    "\\", "/*", "*/", "<!--", "-->", "</", "%", "u+4",
]


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_whatever_stands_in_a_template_it_is_let_through_or_refused(text: str) -> None:
    templates = Templates("ours", {"card.html": text, "theme.css": text})
    for check in (check_templates, lambda held: check_page(held, text, Allowed(frozenset(), frozenset(), None))):
        with suppress(UsageError):
            check(templates)


def folder(tmp_path: Path, **files: str) -> Path:
    for name, text in files.items():
        (tmp_path / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return tmp_path


def told(path: Path) -> str:
    with pytest.raises(UsageError) as caught:
        read_templates(path, "ours")
    return str(caught.value)


def test_a_folder_is_read_with_what_is_for_people_left_out(tmp_path: Path) -> None:
    folder(tmp_path, card__html="é\n", theme__css="a {}", README__md="x", NOTES__txt="y", __hidden="z")
    templates = read_templates(tmp_path, "ours")
    assert templates == Templates("ours", {"card.html": "é\n", "theme.css": "a {}"})
    written = (tmp_path / "card.html").read_bytes()
    assert text_sha256(templates.texts["card.html"]) == hashlib.sha256(written).hexdigest()


def test_a_single_template_is_a_folder_of_one(tmp_path: Path) -> None:
    folder(tmp_path, card__html="x", theme__css="a {}")
    assert read_templates(tmp_path / "card.html", "a/b/card.html") == Templates("a/b", {"card.html": "x"})
    assert read_templates(tmp_path / "card.html", "card.html").shown("card.html") == "card.html"


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert told(tmp_path / "none") == (
        "error[missing-template]: cannot read the template folder 'ours': No such file or directory\n"
        "  = help: name a folder of templates; docs/theming.md says what is in it")


def test_links_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.html").write_text("x")
    (inside / "card.html").symlink_to(tmp_path / "secret.html")
    assert told(inside) == (
        "error[bad-template]: 'ours/card.html' is a link to a file outside the folder\n"
        "  = help: copy the file into the folder")
    (inside / "card.html").unlink()
    (inside / "theme.css").write_text("a {}")
    (inside / "card.html").symlink_to(inside / "theme.css")
    assert read_templates(inside, "ours").texts["card.html"] == "a {}"


def test_what_is_no_template_is_told_with_what_it_was_meant_for(tmp_path: Path) -> None:
    folder(tmp_path, themes__css="", logo__png="")
    assert told(tmp_path) == (
        "error[bad-template]: 'ours/logo.png' is no template: a folder has *.html and theme.css\n"
        "  = help: move it out of the folder\n\n"
        "error[bad-template]: 'ours/themes.css' is no template: a folder has *.html and theme.css\n"
        "  = help: did you mean 'theme.css'?\n\n"
        "error[bad-template]: 'ours' holds no template that is used\n"
        "  = help: it has card.html, blocks.html or theme.css")


def test_templates_are_text_of_a_size(tmp_path: Path) -> None:
    (tmp_path / "card.html").write_bytes(b"\xff")
    assert told(tmp_path) == "error[bad-template]: 'ours/card.html' is not UTF-8 text\n  = help: save it as UTF-8"
    folder(tmp_path, card__html="x" * (MOST_BYTES + 1))
    assert told(tmp_path) == (
        "error[bad-template]: the templates in 'ours' have more than 200,000 bytes\n"
        "  = help: templates hold words and markup; leave pictures out, or make them smaller")
