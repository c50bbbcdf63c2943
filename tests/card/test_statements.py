"""Texts of people end as blocks of the card: what Markdown says, and whatever is hostile as the text that it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from card.test_html import Page
from evalpipe.card.html import html_page
from evalpipe.card.page import (
    Aside,
    BlockGroup,
    Bullets,
    Code,
    Emphasis,
    ExternalLink,
    Heading,
    Line,
    Link,
    Number,
    Preformatted,
    Strong,
    Text,
    plain,
)
from evalpipe.card.statements import ROOM, blocks, one_line, opening
from evalpipe.card.tables import shown
from evalpipe.chapters.statement.records import ReferredNumber, Stated

if TYPE_CHECKING:
    from evalpipe.results import Results

AUC = '{{ value("roc_auc", model="gb") }}'


@pytest.fixture
def referring(undrawn: Results) -> Results:
    """Return results in which a text may refer to the first ROC AUC, and to a number that is not there."""
    row = next(row for row in undrawn.rows if row.metric == "roc_auc")
    named = {name: getattr(row, name) for name in ReferredNumber.model_fields if hasattr(row, name)}
    numbers = [ReferredNumber(reference=AUC, **named), ReferredNumber(
        reference='{{ value("brier") }}', **(named | {"metric": "brier", "model": "none"}))]
    return undrawn.model_copy(update={"statement": Stated(numbers=numbers)})


def as_tables_show_it(results: Results) -> Number:
    return shown(next(row for row in results.rows if row.metric == "roc_auc"))


@pytest.mark.parametrize(("text", "expected"), [
    ("One *two* **three *four*** `five`.", (Text((
        "One ", Emphasis(("two",)), " ", Strong(("three ", Emphasis(("four",)))), " ", Code("five"), ".")),)),
    ("One\ntwo\\\nthree\n\nfour", (Text(("One", " ", "two", Line(""), "three")), Text(("four",)))),
    ("# A *title*\n\n- one\n- two", (Heading(("A ", Emphasis(("title",)))), Bullets((("one",), ("two",))))),
    ("3. one\n4. two\n\n   more", (Bullets(
        (("one",), (Text(("two",)), Text(("more",)))), start=3),)),
    (r"\{{ results.x }} and `\{{ y }}`", (Text(("{{ results.x }} and ", Code("{{ y }}"))),)),
    ("> said", (BlockGroup((Text(("said",)),), "quote"),)),
    ("```\na  b\n```\n\n    c", (Preformatted("a  b", "spec"), Preformatted("c", "spec"))),
    ("one\n\n---\n\ntwo", (Text(("one",)), Text("* * *"), Text(("two",)))),
    ("See [the *law*](https://a.org/?b=1&c=2 'x') and <mailto:a@b.org>.", (Text((
        "See ", ExternalLink(("the ", Emphasis(("law",))), "https://a.org/?b=1&c=2"), " and ",
        ExternalLink(("mailto:a@b.org",), "mailto:a@b.org"), ".")),)),
    ("[](http://a.org)", (Text((ExternalLink("http://a.org", "http://a.org"),)),)),
    ("&lt;b&gt; &amp; \\*", (Text(("<b>", " ", "&", " ", "*")),)),
])
def test_markdown_becomes_blocks(results: Results, text: str, expected: tuple[Any, ...]) -> None:
    assert _merged(blocks(results, text)) == _merged(expected)


def active(page: Page) -> list[tuple[str, list[str]]]:
    """Return the elements that run or load something, with their attributes."""
    return [(tag, sorted(attributes)) for tag, attributes in page.tags
            if tag in ("script", "iframe", "object", "img") or any(name.startswith("on") for name in attributes)]


@pytest.fixture(scope="module")
def undrawn(results: Results) -> Results:
    """Return results without curves, whose card is written in a fifth of the time."""
    return results.model_copy(update={"curves": []})


@pytest.fixture(scope="module")
def active_of_any_card(undrawn: Results) -> list[tuple[str, list[str]]]:
    """Return the elements that run or load something on a card that states nothing."""
    return active(Page(html_page(undrawn).decode()))


def _merged(parts: Any) -> str:
    """Write blocks so that texts side by side are one."""
    return re.sub(r"', '", "", repr(parts)).replace(",)", ")")


@pytest.mark.parametrize("text", [
    "<script>alert(1)</script>", "<b onclick='x()'>b</b>", "a <img src=x onerror=alert(1)> b", "<!-- x -->", "]]>",
    "{{7*7}}", "{{ ''.__class__ }}", "{% include '/etc/passwd' %}", "{# x #}", "=cmd|'/c calc'!A0",
    "[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))", "[x](data:text/html,x)", "[x](file:///etc/passwd)",
    "[x](//evil.example)", "[x](#use)", "<javascript:alert(1)>", "![](http://evil.example/x.png)",
    "![alt](https://evil.example/x.png)", "x" * 10_000, "שלום \u200b\u200d\ufeff end", "&#0; &#x202e;",
])
def test_what_is_hostile_ends_as_text(
    undrawn: Results, active_of_any_card: list[tuple[str, list[str]]], text: str
) -> None:
    stated = undrawn.model_copy(update={"statement": Stated(risks=text, intended_use=text, limits=[text])})
    page = html_page(stated).decode()
    parsed = Page(page)
    words = re.sub("[\u2068\u2069]", "", "".join(parsed.words))  # which isolate what runs from right to left
    seen = text.replace("&#0; &#x202e;", "\ufffd \ufffd").replace("__", "")  # which is strong

    assert parsed.open == []
    assert words.count(seen) >= (4 if len(seen) < ROOM else 3), "first screen, where there is room, use, risks, limits"
    assert len(seen) < ROOM or f"{seen[:ROOM]}… More" in words
    assert active(parsed) == active_of_any_card
    assert not [attributes["href"] for tag, attributes in parsed.tags
                if tag == "a" and not re.match(r"#", str(attributes["href"]))]


@pytest.mark.parametrize("mark", list("\u202e\u202a\u2066\u0000\u001b\x7f\ue000\ue001\uffff"))
def test_marks_that_deceive_are_replaced(results: Results, mark: str) -> None:
    assert plain(one_line(results, f"to {mark}evas")) == "to \ufffdevas"


def test_a_link_that_leaves_the_card_tells_nobody_where_it_came_from(results: Results) -> None:
    stated = results.model_copy(update={"statement": Stated(risks='[law](https://a.org/?b=1&c="2")')})

    assert '<a href="https://a.org/?b=1&amp;c=%222%22" rel="noopener noreferrer">law</a>' in html_page(stated).decode()


def test_a_reference_is_the_number_with_its_interval_in_the_digits_of_the_card(referring: Results) -> None:
    (block,) = blocks(referring, f"It is **{AUC}**.")
    assert isinstance(block, Text)
    number = block.text[1].text[0]  # type: ignore[index, union-attr]

    assert number == as_tables_show_it(referring)
    assert number.interval is not None  # type: ignore[union-attr]


@pytest.mark.parametrize("text", [f"`{AUC}`", f"```\n{AUC}\n```", f"- {AUC}", f"# {AUC}", f"[{AUC}](http://a.org)",
                                  f"[x](http://a.org/{AUC.replace(' ', '')}) {AUC}"])
def test_a_reference_is_filled_in_wherever_it_stands(referring: Results, text: str) -> None:
    page = html_page(referring.model_copy(update={"statement": referring.statement.model_copy(update={"risks": text})}))
    words = " ".join("".join(Page(page.decode()).words).split())

    assert as_tables_show_it(referring).text in words
    assert "\ue000" not in words
    assert "%EE%80%80" not in page.decode()


def test_a_number_that_results_do_not_hold_is_said_to_be_unknown(referring: Results) -> None:
    assert plain(one_line(referring, '{{ value("brier") }}, {{ value("mcc") }}')) == "number unknown, number unknown"


def test_what_there_is_to_know_about_a_number_stands_behind_it(referring: Results) -> None:
    rows = [row.model_copy(update={"status": "degenerate", "reason": "few rows"}) for row in referring.rows]
    cell = one_line(referring.model_copy(update={"rows": rows}), AUC)

    assert plain(cell).endswith(" [degenerate: few rows]")
    assert isinstance(cell[-1], Aside)


def test_the_first_screen_has_the_first_block_and_a_link_to_the_rest(results: Results) -> None:
    assert plain(opening(results, "One *two*.", "use")) == "One two."
    assert opening(results, "One.\n\nTwo.", "use")[-1] == Link("More", "use")
    assert plain(opening(results, "One.\n\nTwo.", "use")) == "One. More"


def test_in_one_line_blocks_follow_each_other(results: Results) -> None:
    text = "# One\n\ntwo\n\n- three\n- four\n\n  five\n\n> six\n\n    seven"

    assert plain(one_line(results, text)) == "One two three; four five six seven"
