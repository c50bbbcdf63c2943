"""The whole comparison of two runs in each format, as it is printed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from evalpipe.cli.documents import json_schema_of
from evalpipe.results import Results
from evalpipe.review.differences.compare import compare
from evalpipe.review.differences.page import Format, write
from evalpipe.review.differences.records import Tolerance
from evalpipe.version import VERSION
from review.differences.conftest import Pair, alone

EXPECTED = Path(__file__).parent / "expected"


def masked(text: str) -> str:
    """Return a text without what changes with a version: its number, the sha256 of results and spec, last digits."""
    text = re.sub(r"(\d\.\d{6})\d+", r"\1", text)
    return re.sub(r"\b[0-9a-f]{8}(?:[0-9a-f]{56})?\b", "<sha256>", text).replace(VERSION, "<version>")


def rounded(value: Any) -> Any:
    """Return a JSON value with as many digits as any machine gives."""
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def expected(name: str, text: str) -> str:
    """Return the text that a file holds; where it is not there, write it and fail."""
    file = EXPECTED / name
    if not file.exists():
        file.write_text(text, encoding="utf-8")
        pytest.fail(f"{name} was not there; read what was written")
    return file.read_text(encoding="utf-8")


def printed(pair: Pair, form: Format, **options: Any) -> str:
    return write(compare(pair.a, pair.b, **options), pair.a, pair.b, form)


def test_the_text_of_a_terminal(pair: Pair) -> None:
    text = masked(printed(pair, "text"))

    assert text == expected("comparison.txt", text)


def test_the_text_within_a_tolerance(pair: Pair) -> None:
    tolerance = Tolerance(0.02, 0.0, {"roc_auc": 0.001})
    text = masked(printed(pair, "text", tolerance=tolerance, ignored=["spec", "data"], paired=False))

    assert text == expected("within_tolerance.txt", text)


def test_the_markdown_of_a_comment(pair: Pair) -> None:
    text = masked(printed(pair, "markdown"))

    assert text == expected("comparison.md", text)


def test_the_json_fits_its_published_schema(pair: Pair) -> None:
    import jsonschema  # whose grammar of addresses takes seconds to import

    document = json.loads(printed(pair, "json"))
    schema = json_schema_of("diff")
    jsonschema.validate(document, schema)
    with pytest.raises(jsonschema.ValidationError, match="'verdict' is a required property"):
        jsonschema.validate({key: value for key, value in document.items() if key != "verdict"}, schema)


def test_the_json_of_a_program(pair: Pair) -> None:
    document = rounded(json.loads(masked(printed(pair, "json"))))
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"

    assert text == expected("comparison.json", text)


def test_the_body_of_the_page(pair: Pair) -> None:
    page = printed(pair, "html")
    text = masked(page[page.index("<body>"):])

    assert text == expected("comparison.html", text)
    assert "<script" not in page
    assert page.count("http") == page.count("http-equiv")  # it loads nothing
    assert len(page) < 150_000


@pytest.mark.parametrize("form", ["text", "markdown", "html", "json"])
def test_the_same_runs_are_told_in_a_sentence(pair: Pair, form: Format) -> None:
    difference = compare(pair.a, pair.a)
    text = write(difference, pair.a, pair.a, form)

    assert difference.same
    assert "The results are the same, byte for byte." in text
    assert form != "text" or text == "The results are the same, byte for byte.\n"


def test_the_same_inputs_give_the_same_bytes(pair: Pair) -> None:
    assert printed(pair, "html") == printed(pair, "html")


HOSTILE = "<b>\x1b[31m|x|\u202e `a`"


def test_names_can_neither_move_the_cursor_nor_write_markup(results: Results) -> None:
    models = [model.model_copy(update={"label": HOSTILE}) for model in results.models]
    first = results.model_copy(update={"models": models})
    changed = [row.model_copy(update={"value": 0.1}) for row in results.rows]
    a, b = alone(first), alone(first.model_copy(update={"rows": changed}), "b\x1b[2J")
    difference = compare(a, b, paired=False)

    for form in ("text", "markdown", "html"):
        text = write(difference, a, b, form)  # type: ignore[arg-type]  # mypy reads a list of texts
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "<b>\N{REPLACEMENT CHARACTER}" not in write(difference, a, b, "html")
    assert "<b>" not in write(difference, a, b, "markdown")
    assert r"\|x\|" in write(difference, a, b, "markdown")


def test_a_long_table_says_where_the_rest_is(results: Results) -> None:
    rows = [row.model_copy(update={"slice": {"region": str(place)}}) for place in range(20) for row in results.rows[:4]]
    left = results.model_copy(update={"rows": rows})
    right = results.model_copy(update={"rows": [row.model_copy(update={"value": 0.5}) for row in rows]})
    a, b = alone(left), alone(right)
    difference = compare(a, b, paired=False)

    said = "The table shows 50 of 80 rows; the rest is in the output of --format json."
    assert said in write(difference, a, b, "text")
    assert said in write(difference, a, b, "markdown")
    assert len(json.loads(write(difference, a, b, "json"))["estimates"]) == 80
