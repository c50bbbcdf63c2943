"""References to numbers in texts: what begins one, what it holds, and why one cannot be read."""

from __future__ import annotations

import pytest

from evalpipe.words.card_fields import NumberReference, ReferenceFault, references


def test_a_reference_holds_a_measure_and_what_tells_its_number_from_others() -> None:
    text = """AUC {{value( "roc_auc" , model='a b', beta=2, cost=-1.5, slice={"sex": "f", "old": true, "n": 3} )}} is"""
    (reference,) = references(text)

    assert isinstance(reference, NumberReference)
    assert text[reference.start :].startswith(reference.written)
    assert reference.written.endswith("}}")
    assert reference.metric == "roc_auc"
    assert dict(reference.options) == {
        "model": "a b", "beta": 2, "cost": -1.5, "slice": {"sex": "f", "old": True, "n": 3}}


def test_references_are_given_in_their_order_on_several_lines() -> None:
    text = '{{ value("a") }} and {{ value(\n"b",\nmodel="c") }}'

    assert [reference.metric for reference in references(text)] == ["a", "b"]  # type: ignore[union-attr]


@pytest.mark.parametrize("text", [
    "", "{ value(1) }", "{% value() %}", "]]>", "}}", r"\{{", r"\{{7*7}}", r"\{{{x}}}", r'\{{ value("roc_auc") }}',
])
def test_what_is_no_reference_is_a_text(text: str) -> None:
    assert list(references(text)) == []


@pytest.mark.parametrize(("text", "message", "at"), [
    ('x {{ valu("a") }}', "a text can refer to 'value(…)' alone, not to 'valu(…)'", "valu"),
    ("{{ value(roc_auc) }}", "expected the name of a metric in quotes, got 'roc_auc'", "roc_auc"),
    ('{{ value("a" "b") }}', "expected ',' or ')', got '\"b\"'", '"b"'),
    ('{{ value("a", "b") }}', "expected a name such as 'model', got '\"b\"'", '"b"'),
    ('{{ value("a", model) }}', "expected '=', got ')'", ")"),
    ('{{ value("a", model=b) }}', "expected a text in quotes or a number, got 'b'", "b)"),
    ('{{ value("a", model="b", model="c") }}', "expected each name once, got 'model'", 'model="c'),
    ('{{ value("a", slice={b: "c"}) }}', "expected a text in quotes, got 'b'", "b:"),
    ('{{ value("a", slice={"b"}) }}', "expected ':', got '}'", "})"),
    ('{{ value("a") }', "expected '}}', got '}'", "}"),
    ('{{ value("a")', "expected '}}', the text ends", ""),
    ('{{ value("a', "expected the name of a metric in quotes, got '\"'", '"a'),
    ('{{ value("a", b=1|2) }}', "expected ',' or ')', got '|'", "|2"),
])
def test_a_reference_that_cannot_be_read_says_why_and_where(text: str, message: str, at: str) -> None:
    (fault,) = references(text)

    assert isinstance(fault, ReferenceFault)
    assert fault.message.removeprefix("this reference to a number cannot be read: ") == message
    assert fault.hint == 'write {{ value("roc_auc", model="…") }}'
    if not message.startswith("a text"):
        assert text[fault.start :].startswith(at)


@pytest.mark.parametrize(("text", "shown"), [
    ("a {{ results.x }} b", "'{{ results.x }}'"), ("{{ roc_auc }}", "'{{ roc_auc }}'"), ("{{7*7}}", "'{{7*7}}'"),
    ("{{ a.b(1) }}", "'{{ a.b(1) }}'"), ("{{", "'{{'"), ("{{ open\nline }}", "'{{ open'"),
    ("${{ env }}", "'{{ env }}'"),
    ("{{ self.__init__.__globals__ }}", "'{{ self.__init__.__globals__ }}'"),
])
def test_braces_that_are_no_reference_are_a_fault_with_the_way_out(text: str, shown: str) -> None:
    (fault,) = references(text)

    assert isinstance(fault, ReferenceFault)
    assert fault.message == f"{shown} is no reference to a number"
    assert fault.hint == r'write {{ value("roc_auc", model="…") }}, or \{{ for the braces themselves'
    assert text[fault.start : fault.end] == shown.strip("'")


def test_after_a_fault_the_next_reference_is_read() -> None:
    first, second = references('{{ value(a) }} {{ value("b") }}')

    assert isinstance(first, ReferenceFault)
    assert isinstance(second, NumberReference)
