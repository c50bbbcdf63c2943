"""A card that is rendered with templates of others: what they change, and what is refused of them."""

from __future__ import annotations

import base64
import io
import re
from dataclasses import fields
from typing import TYPE_CHECKING

import pytest
from pypdf import PdfReader

import evalpipe
from card.conftest import make
from evalpipe.base.digests import text_sha256
from evalpipe.card import check_renderable, render
from evalpipe.card.contents import Card
from evalpipe.card.edition import PLAIN
from evalpipe.chapters.appearance.records import Appearance, TemplateRecord
from evalpipe.errors import DataError, UsageError
from evalpipe.results import Results
from evalpipe.templating import sandbox
from evalpipe.templating.files import Templates

if TYPE_CHECKING:
    from pathlib import Path

HEAD = '{% extends "evalpipe/card.html" %}\n{% block title %}\n'
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9" fill="#b00020"/></svg>'


@pytest.fixture(scope="module")
def plain() -> Results:
    results: Results = make(datasets=1, models=1)
    return Results.from_json(results.model_copy(update={"curves": []}).to_json())


def holding(results: Results, **texts: str) -> Results:
    templates = [TemplateRecord(name=name.replace("__", "."), sha256=text_sha256(text), text=text)
                 for name, text in texts.items()]
    held = results.model_copy(update={"appearance": Appearance(templates=templates)})
    return Results.from_json(held.to_json())  # a copy would keep the hash of what it was copied from


def page(results: Results, line: str) -> str:
    return render(holding(results, card__html=f"{HEAD}{line}\n{{% endblock %}}\n"), ["html"])["card.html"].decode()


def refused(results: Results, line: str, form: str = "html") -> str:
    with pytest.raises(UsageError) as caught:
        render(holding(results, card__html=f"{HEAD}{line}\n{{% endblock %}}\n"), [form])
    assert {problem.code for problem in caught.value.problems} == {"bad-template"}
    assert caught.value.exit_code == 2
    return str(caught.value)


def message(results: Results, line: str) -> str:
    return refused(results, line).partition("\n")[0].removeprefix("error[bad-template]: ")


def test_one_block_is_overridden_and_all_else_is_as_it_was(plain: Results) -> None:
    before = render(plain, ["html"])["card.html"].decode()
    after = page(plain, "<p>Harbour Bank</p>\n{{ super() }}")
    removed = after.replace("<p>Harbour Bank</p>\n", "", 1).replace("</h1>\n\n<div", "</h1>\n<div", 1)
    removed = re.sub(r"<p>The page and the PDF are rendered with templates.*?</p>\n", "", removed, flags=re.DOTALL)
    removed = re.sub(r"<tr>\s*<th[^>]*>Template card\.html</th>.*?</tr>\n\n", "", removed, flags=re.DOTALL)
    hashes = r"evidence.*?</span>|results\.json</code>"  # the evidence holds the templates
    assert len(removed) < len(after)
    assert re.sub(hashes, "", removed, flags=re.DOTALL) == re.sub(hashes, "", before, flags=re.DOTALL)


def test_the_card_says_that_its_templates_are_not_its_own(plain: Results) -> None:
    shown = " ".join(re.sub("<[^>]*>", "", page(plain, "<p>x</p>")).split())
    assert ("The page and the PDF are rendered with templates of their own: 1 file. These can change the words and the "
            "layout around the numbers. evalpipe render DIR --no-template writes the card without them.") in shown
    assert f"Template card.html {text_sha256(f'{HEAD}<p>x</p>{chr(10)}{{% endblock %}}{chr(10)}')}" in shown


def test_a_macro_takes_the_place_of_the_one_of_its_name(plain: Results) -> None:
    ours = '{% macro Preformatted(block) %}<pre class="ours">{{ block.text }}</pre>{% endmacro %}'
    text = render(holding(plain, blocks__html=ours), ["html"])["card.html"].decode()
    assert text.count('<pre class="ours">') == 2
    assert "&lt;/pre&gt;&lt;b&gt;ü ≥" in text
    assert '<pre class="spec">' not in text


def test_a_macro_that_is_no_kind_of_block_is_told(plain: Results) -> None:
    text = "{% macro helper() %}{% endmacro %}\n{% macro Tabel(b) %}{% endmacro %}"
    for fails in (lambda: check_renderable([], Templates("ours", {"blocks.html": text})),
                  lambda: render(holding(plain, blocks__html=text), ["html"])):
        with pytest.raises(UsageError) as caught:
            fails()
        assert str(caught.value).splitlines()[0] == "error[bad-template]: no kind of block is called 'Tabel'"
        assert str(caught.value).splitlines()[-1].endswith("^ did you mean 'Table'?")


def test_a_style_sheet_is_the_last_and_enters_the_policy(plain: Results) -> None:
    sheet = "h1 { letter-spacing: .02em; }\n"
    text = render(holding(plain, theme__css=sheet), ["html"])["card.html"].decode()
    styles = re.findall(r"<style[^>]*>(.*?)</style>", text, re.DOTALL)
    assert styles[-1] == sheet
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert f"sha256-{base64.b64encode(bytes.fromhex(text_sha256(sheet))).decode()}" in policy[1]
    assert "img-src" not in policy[1]


def test_a_picture_may_stand_in_the_page_and_is_let_in_by_the_policy(plain: Results) -> None:
    picture = f'<img class="logo" src="data:image/svg+xml;base64,{base64.b64encode(SVG.encode()).decode()}" alt="">'
    text = page(plain, picture)
    assert picture in text
    assert "img-src data:; " in text
    assert "img-src" not in page(plain, "<p>x</p>")


@pytest.mark.parametrize("hostile", [
    "<svg><script>alert(1)</script></svg>", '<svg onload="alert(1)"></svg>', '<svg><image href="https://h/x"/></svg>',
    "<svg><style>@import 'https://h/x'</style></svg>", '<svg><rect style="fill: url(//h/x)"/></svg>',
    "<svg><foreignObject><iframe></iframe></foreignObject></svg>",
])
def test_a_picture_that_loads_or_runs_something_is_refused(plain: Results, hostile: str) -> None:
    address = f"data:image/svg+xml;base64,{base64.b64encode(hostile.encode()).decode()}"
    assert message(plain, f'<img src="{address}" alt="">').startswith("the address 'data:image/svg+xml;base64,")


@pytest.mark.parametrize(("line", "said"), [
    ("{% set a = '__cla' ~ 'ss__' %}{{ ''[a] }}",
     "the template asks for what it may not have: access to attribute '__class__' of 'str' object is unsafe"),
    ("{{ '{0.__class__}'.format(page) }}",
     "the template asks for what it may not have: access to attribute '__class__' of 'Card' object is unsafe"),
    ("{{ page.nope }}", "the template asks for what is not there: 'Card object' has no attribute 'nope'"),
    ("{{ config }}", "the template asks for what is not there: 'config' is undefined"),
    ("{{ lipsum() }}", "the template asks for what is not there: 'lipsum' is undefined"),
    ("{{ page }}", "a template prints texts and numbers, and this is a Card"),
    ("{{ 1 / 0 }}", "the template fails: ZeroDivisionError: division by zero"),
    ("{{ 'a' * 10**9 }}", "a template repeats nothing into more than 1,000,000 characters"),
    ("{{ 9**9**9 }}", "'**' is refused with texts and large numbers"),
    ("{% for i in range(10**9) %}x{% endfor %}",
     "the template does not end: Range too big. The sandbox blocks ranges larger than MAX_RANGE (100000)"),
    ("{% include 'card.html' %}", "the template does not end: maximum recursion depth exceeded"),
])
def test_what_goes_wrong_in_a_template_is_told_with_its_line(plain: Results, line: str, said: str) -> None:
    text = refused(plain, line)
    assert text.startswith(f"error[bad-template]: {said}")
    assert "results.json/card.html:3:1" in text or "card.html:1:1" in text


REACHES = "the template asks for what it may not have: "
SECTIONS = "{% for s in page.sections %}{% for b in s.blocks %}"
END = "{% endfor %}{% endfor %}"


@pytest.mark.parametrize(("line", "said"), [
    # The functions that draw figures hold the results, whose methods read files and pickles.
    (SECTIONS + "{% if b.draw is defined %}{{ b.draw.args[0].parse_raw('x', proto='pickle', allow_pickle=True) }}"
     "{% endif %}" + END, "access to attribute 'args' of 'partial' object is unsafe"),
    (SECTIONS + "{% if b.draw is defined %}{{ b.draw.func }}{% endif %}" + END,
     "access to attribute 'func' of 'partial' object is unsafe"),
    (SECTIONS + "{% if b.draw is defined %}{{ b.draw() }}{% endif %}" + END, "functools.partial("),
    (SECTIONS + "{% if b.draw is defined %}{{ [b]|map(attribute='draw.args')|first }}{% endif %}" + END,
     "access to attribute 'args' of 'partial' object is unsafe"),
    ("{{ draw.func_name }}", ""), ("{{ 'x'.encode().hex() }}", "access to attribute 'hex' of 'bytes' object is unsafe"),
    ("{{ write.func }}", ""), ("{{ range(3).start }}", "access to attribute 'start' of 'range' object is unsafe"),
])
def test_what_stands_behind_a_card_is_out_of_reach(plain: Results, line: str, said: str) -> None:
    text = message(plain, line)
    assert text.startswith(f"{REACHES}{said}") or (not said and " object' has no attribute" in text)


@pytest.mark.parametrize("line", [
    "{{ 'x'|center(10**9) }}", "{{ 'x'.ljust(2000000) }}", "{{ 'x'|indent(width=9000000) }}",
    "{% set n = namespace(x='x' * 99999) %}{% for i in range(40) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
    "{% set n = namespace(x='x' * 99999) %}{% for i in range(40) %}{% set n.x = n.x + n.x %}{% endfor %}",
    "{% set n = namespace(x=[1]) %}{% for i in range(40) %}{% set n.x = n.x + n.x %}{% endfor %}",
])
def test_a_template_makes_no_value_without_end(plain: Results, line: str) -> None:
    said = r"a template (makes|joins) nothing (of|to) more than 1,000,000 characters"
    assert re.fullmatch(said, message(plain, line))


@pytest.mark.parametrize("line", [
    "{% for i in range(999) %}{% for j in range(999) %}{% endfor %}{% endfor %}",
    "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(40) }}",
    "{% for a in [[1, [2]]] recursive %}{% for i in range(9999) %}{% endfor %}{% endfor %}",
])
def test_a_template_that_goes_on_and_on_is_ended(plain: Results, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "MOST_STEPS", 5_000)
    assert message(plain, line) == "the template goes round loops, and calls macros, more than 5,000 times"


def test_a_page_has_an_end(plain: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "MOST_OF_PAGE", 100_000)
    assert message(plain, "<p>x</p>") == "the page would have more than 100,000 characters"


@pytest.mark.parametrize(("line", "said"), [
    ("<script>alert(1)</script>", "a <script> of a template is refused by the policy of the page"),
    ("<style>p { color: red }</style>", "a <style> of a template is refused by the policy of the page"),
    ('<p style="color: red">x</p>', "the attribute 'style' is refused by the policy of the page"),
    ("<p onclick=alert(1)>x</p>", "the attribute 'onclick' is refused: it runs code"),
    ('<img alt="" src="https://h/x.png">', "the address 'https://h/x.png' is refused in 'src' of <img>"),
    ('<img alt="" src="file:///etc/passwd">', "the address 'file:///etc/passwd' is refused in 'src' of <img>"),
    ('<img alt="" src="//h/x.png">', "the address '//h/x.png' is refused in 'src' of <img>"),
    ('<img alt="" src="figure:1/0">', "the address 'figure:1/0' is refused in 'src' of <img>"),
    ('<img alt="" srcset="https://h/x 2x">', "the address 'https://h/x 2x' is refused in 'srcset' of <img>"),
    ('<img alt="" src="{{ page.title }}">',
     "the address 'Naive Bayes on secondary mushrooms & <i>friends</i>' is refused in 'src' of <img>"),
    ('<svg><image xlink:href="http://h/x"/></svg>', "the address 'http://h/x' is refused in 'xlink:href' of <image>"),
    ('<svg><rect fill="url(http://h/x#a)"/></svg>', "the attribute 'fill' loads something"),
    ('<svg><rect fill="u&#92;72l(//h/x)"/></svg>', "the attribute 'fill' loads something"),
    ('<svg><set attributeName="href" to="//h"/></svg>', "the element <set> is refused"),
    ('<img src="data:image/png;base64,AA==">', "a picture needs its words"),
    ("<!-- --!><iframe></iframe> -->", "comments of HTML are refused"), ("<!--x-->", "comments of HTML are refused"),
    ("<![)[[[", "'<![' is refused"),
    ('<img alt="" src="data:image/svg+xml;base64,A">',
     "the address 'data:image/svg+xml;base64,A' is refused in 'src' of <img>"),
    ("<?php x ?>", "'<?' is refused"), ("<![CDATA[<iframe>]]>", "'<![' is refused"),
    ('<a href="javascript:x" href="#">y</a>', "the address 'javascript:x' is refused in 'href' of <a>"),
    ("<svg><style><iframe></style></svg>", "a <style> of a template is refused by the policy of the page"),
    ('<svg><a xlink:href="javascript:x">y</a></svg>', "the address 'javascript:x' is refused in 'xlink:href' of <a>"),
    ("<iframe srcdoc=x></iframe>", "the element <iframe> is refused"),
    ('<object data="x"></object>', "the element <object> is refused"),
    ('<link rel="icon" href="x">', "the element <link> is refused"),
    ('<base href="https://h/">', "the element <base> is refused"),
    ('<form action="https://h/"></form>', "the element <form> is refused"),
    ('<a href="javascript:alert(1)">x</a>', "the address 'javascript:alert(1)' is refused in 'href' of <a>"),
    ('<a href=" java&#10;script:alert(1)">x</a>', "the address ' java\\nscript:alert(1)' is refused in 'href' of <a>"),
    ('<a href="file:///etc/passwd">x</a>', "the address 'file:///etc/passwd' is refused in 'href' of <a>"),
    ('<a href="#x" ping="https://h/">x</a>', "the address 'https://h/' is refused in 'ping' of <a>"),
    ('<meta http-equiv="refresh" content="0;url=https://h/">',
     "<meta http-equiv> is refused but for the policy of the page, once, at its head"),
    ('<meta http-equiv="Content-Security-Policy" content="{{ policy }}">',
     "<meta http-equiv> is refused but for the policy of the page, once, at its head"),
])
def test_a_page_that_would_load_or_run_something_is_refused_with_the_line(
    plain: Results, line: str, said: str
) -> None:
    text = refused(plain, line)
    assert " ".join(text.partition("\n")[0].split()) == f"error[bad-template]: {said}"
    assert " --> results.json/card.html:3:1\n" in text


@pytest.mark.parametrize("line", [
    '<img alt="" src="https://h/x.png">', "<iframe></iframe>", '<p style="fill: url(//h)">x</p>',
])
def test_the_pdf_refuses_the_same(plain: Results, line: str) -> None:
    assert " --> results.json/card.html:3:1\n" in refused(plain, line, "pdf")


@pytest.mark.parametrize("line", [
    '<a href="https://example.org/a?b=c">x</a>', '<a href="mailto:a@example.org">x</a>', '<a href="#spec">x</a>',
    '<svg width="9" height="9"><rect fill="url(#a)" width="9" height="9"/></svg>', "<p class='x'>{{ page.title }}</p>",
])
def test_what_loads_nothing_is_let_through(plain: Results, line: str) -> None:
    assert line.partition("{")[0] in page(plain, line)


@pytest.mark.parametrize("whole", [
    "<!doctype html><html><head><title>x</title></head><body>{{ page.title }}</body></html>",
    '<!doctype html><html><body><p>x</p><meta http-equiv="Content-Security-Policy" content="{{ policy }}">',
    'x<meta http-equiv="Content-Security-Policy" content="{{ policy }}">',
])
def test_a_page_without_its_policy_at_the_head_is_refused(plain: Results, whole: str) -> None:
    with pytest.raises(UsageError) as caught:
        render(holding(plain, card__html=whole), ["html"])
    assert caught.value.problems[0].message == "the page has no content security policy"
    assert caught.value.problems[0].hint == 'begin it with {% extends "evalpipe/card.html" %}'


def test_a_whole_page_of_ones_own_keeps_the_policy(plain: Results) -> None:
    whole = ('<!doctype html><html lang="en"><head><meta charset="utf-8">{% if policy %}'
             '<meta http-equiv="Content-Security-Policy" content="{{ policy }}">{% endif %}<title>x</title>'
             "</head><body><h1>{{ page.title }}</h1><p>{{ write(page.identity) }}</p>{{ write(page.masthead) }}"
             "{% for section in page.sections %}{{ write(section) }}{% endfor %}</body></html>")
    text = render(holding(plain, card__html=whole), ["html"])["card.html"].decode()
    assert "<h1>Naive Bayes on secondary mushrooms &amp; &lt;i&gt;friends&lt;/i&gt;</h1>" in text


def test_a_page_keeps_its_identity_and_its_provenance(plain: Results) -> None:
    bare = '{% extends "evalpipe/card.html" %}{% block header_line %}{% endblock %}{% block sections %}{% endblock %}'
    for form in ("html", "pdf"):
        with pytest.raises(UsageError) as caught:
            render(holding(plain, card__html=bare), [form])
        assert str(caught.value) == (
            "error[bad-template]: the page lacks the line with its id, its evidence and its status\n"
            " --> results.json/card.html\n"
            "  = help: keep it: {{ write(page.identity) }}\n\n"
            "error[bad-template]: the page lacks the section on its provenance\n"
            " --> results.json/card.html\n"
            "  = help: keep it: {{ super() }} in the block 'sections'")


@pytest.mark.parametrize("around", [
    "", "<div hidden>{{ super() }}</div>", "<template>{{ super() }}</template>", "<details>{{ super() }}</details>",
    '<div class="skip">{{ super() }}</div>', '<div class="ours">{{ super() }}</div>', "<xmp>{{ super() }}</xmp>",
    '<font color="white">{{ super() }}</font>', '<div dir="rtl">{{ super() }}</div>', "<dialog>{{ super() }}</dialog>",
    "<svg><foreignObject>{{ super() }}</foreignObject></svg>", '<div aria-hidden="true">{{ super() }}</div>',
    "<textarea>{{ super() }}</textarea>", "{{ super()|striptags|reverse }}",
    "{{ super()|replace('0.9', '0.99') }}",
])
def test_a_template_hides_no_evidence(plain: Results, around: str) -> None:
    text = f'{{% extends "evalpipe/card.html" %}}{{% block first_page %}}{around}{{% endblock %}}'
    with pytest.raises(UsageError) as caught:
        render(holding(plain, card__html=text, theme__css=".ours { color: #fff }"), ["html"])
    assert "the page lacks or hides what evalpipe writes: '" in str(caught.value)


def test_elements_are_closed_in_their_order(plain: Results) -> None:
    # A browser opens the hidden element again within the paragraph.
    assert message(plain, "<b hidden><p></b>{{ super() }}") == "</b> ends another element than the one that is open"


def test_the_pdf_hides_none_either(plain: Results) -> None:
    screens = "{% block first_page %}{% if not linked %}{{ super() }}{% endif %}{% endblock %}"
    held = holding(plain, card__html=f'{{% extends "evalpipe/card.html" %}}{screens}')
    assert render(held, ["html"])
    with pytest.raises(UsageError, match="the page lacks "):
        render(held, ["pdf"])


def test_the_words_that_are_missing_are_told_with_the_way_out(plain: Results) -> None:
    text = ('{% extends "evalpipe/card.html" %}{% block sections %}'
            "{% for section in page.sections[1:] %}{{ write(section) }}{% endfor %}{% endblock %}")
    with pytest.raises(UsageError) as caught:
        render(holding(plain, card__html=text), ["html"])
    assert str(caught.value) == (
        "error[bad-template]: the page lacks or hides what evalpipe writes: "
        "'Use and limits Intended use MISSING Not for'\n"
        " --> results.json/card.html\n"
        "  = help: keep {{ super() }} in each block, outside of elements that could hide it; docs/theming.md "
        "says which these are")


def test_a_macro_that_writes_nothing_is_refused(plain: Results) -> None:
    with pytest.raises(UsageError, match="the page lacks or hides what evalpipe writes: '"):
        render(holding(plain, blocks__html="{% macro Table(block) %}{% endmacro %}"), ["html"])


def test_a_class_of_evalpipe_that_a_theme_hides_is_told_before_anything_is_computed() -> None:
    with pytest.raises(UsageError, match="'display' could hide what evalpipe writes"):
        check_renderable([], Templates("ours", {"theme.css": ".measures, .ours { display: none }"}))


def test_a_height_is_for_pictures_alone(plain: Results) -> None:
    theme = ".ours { height: 1px }"
    boxed = f'{HEAD}<p class="ours">x</p>{{{{ super() }}}}{{% endblock %}}'
    drawn = boxed.replace("<p", "<svg").replace("</p>", "</svg>")
    assert render(holding(plain, theme__css=theme, card__html=drawn), ["html"])
    with pytest.raises(UsageError, match="an element 'ours' that is no picture has a height in "):
        render(holding(plain, theme__css=theme, card__html=boxed), ["html"])


def test_a_frame_around_evidence_is_let_through(plain: Results) -> None:
    text = '{% extends "evalpipe/card.html" %}{% block first_page %}<div class="ours">{{ super() }}</div>{% endblock %}'
    theme = ".ours { border: 1px solid var(--accent); padding: 1rem; font-family: serif }"
    assert b'<div class="ours">' in render(holding(plain, card__html=text, theme__css=theme), ["html"])["card.html"]


def test_the_document_has_every_block_and_every_name(root: Path) -> None:
    text = (root / "docs" / "theming.md").read_text(encoding="utf-8")
    names = re.search(r"The blocks of the page are.*?escaped\.", text, re.DOTALL)
    assert names is not None
    blocks = re.findall(r"{% block (\w+) %}", (root / "templates" / "card.html").read_text(encoding="utf-8"))
    shown = set(re.findall(r"`(\w+)(?:\(…\))?`", names[0]))
    assert shown == {*blocks, *(field.name for field in fields(Card)), "parts", "page", "policy", "page_styles",
                     "scripts", "linked", "write"}


@pytest.mark.parametrize("name", ["policy", "page_styles", "scripts", "linked", "page.parts", "write(page.foot)"])
def test_a_template_has_the_names_of_the_document(plain: Results, name: str) -> None:
    assert "<p>yes</p>" in page(plain, f"{{% if {name} is defined %}}<p>yes</p>{{% endif %}}")


@pytest.mark.usefixtures("drawn_once")
def test_results_hold_what_their_card_is_rendered_with(plain: Results, tmp_path: Path) -> None:
    results = holding(plain, card__html=f"{HEAD}<p>ours</p>{{% endblock %}}", theme__css="p { border-color: #b00020 }")
    (tmp_path / "results.json").write_text(results.to_json(), encoding="utf-8")
    again = evalpipe.render(tmp_path, ["html", "pdf"])
    assert again == render(results, ["html", "pdf"])
    assert "ours" in PdfReader(io.BytesIO(again["card.pdf"])).pages[0].extract_text()
    own = evalpipe.render(tmp_path, ["html"], template=False)["card.html"].decode()
    assert "ours" not in own
    assert "of their own" not in own
    assert own == render(results, ["html"], templates=PLAIN)["card.html"].decode()


def test_other_templates_are_taken_in_their_place(plain: Results, tmp_path: Path) -> None:
    results = holding(plain, card__html=f"{HEAD}<p>ours</p>{{% endblock %}}")
    theirs = f"{HEAD}<p>theirs</p>{{{{ super() }}}}{{% endblock %}}"
    (tmp_path / "card.html").write_text(theirs, encoding="utf-8")
    text = evalpipe.render(results, ["html"], template=tmp_path)["card.html"].decode()
    assert "<p>theirs</p>" in text
    assert "<p>ours</p>" not in text
    assert results.evidence_sha256[:8] in text


def test_results_whose_template_was_changed_by_hand_are_not_rendered(plain: Results) -> None:
    results = holding(plain, theme__css="a {}")
    changed = results.appearance.templates[0].model_copy(update={"text": "a { color: red }"})
    with pytest.raises(DataError) as caught:
        render(results.model_copy(update={"appearance": Appearance(templates=[changed])}), ["html"])
    assert str(caught.value) == (
        "error[not-results]: the template 'theme.css' in results.json is not the one whose sha256 it holds\n"
        "  = help: run the evaluation again, or render the card with --no-template")
