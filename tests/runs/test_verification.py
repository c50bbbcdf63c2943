"""Files of an output folder held to its results: what differs, where, what stands there, and what is expected."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from evalpipe.card.sign_off import HASH
from evalpipe.card.summary import EVIDENCE
from evalpipe.errors import DataError
from evalpipe.runs.folder import RunFolder
from evalpipe.runs.verification import (
    PageText,
    TextOnPage,
    csv_differences,
    difference_notes,
    json_differences,
    line_differences,
    page_text,
    verified_results,
    word_differences,
)


def test_of_a_long_text_the_part_about_the_first_difference_is_shown() -> None:
    same, other = "a " * 100, "b " * 50
    assert difference_notes([("p", f"{same}x {other}", f"{same}y {other}")], "card.html") == [
        f"p: …{'a ' * 10}x {'b ' * 19}… in card.html, …{'a ' * 10}y {'b ' * 19}… in results.json"]
    assert difference_notes([("p", "x" * 60, None)], "card.md", "by") == [
        f"p: {'x' * 60} in card.md, nothing by results.json"]
    assert difference_notes([("p", "x" * 61, "")], "card.md") == [f"p: {'x' * 60}… in card.md, nothing in results.json"]


def test_after_the_first_differences_their_number_is_said() -> None:
    notes = difference_notes([(f"p{k}", 1.5, 2.0) for k in range(9)], "card.html")
    assert notes[0] == "p0: 1.5 in card.html, 2 in results.json"
    assert notes[-1] == f"{9 - len(notes) + 1} more places differ"
    differences = [(f"p{k}", "", None) for k in range(4)]
    assert difference_notes(differences, "a", "by", "b") == [
        *(f"p{k}: nothing in a, nothing by b" for k in range(3)), "1 more place differs"]
    assert len(difference_notes(differences[:3], "a")) == 3


@pytest.mark.parametrize(("actual", "expected", "differences"), [
    ("a\nb\n", "a\nb\n", []), ("a\nb\n", "a\nc\nd\n", [("line 2", "b", "c")]), ("a", "a\nb", [("line 2", "", "b")]),
    ("a\nb", "a", [("line 2", "b", "")]),
])
def test_of_texts_the_first_line_that_differs_is_named(
    actual: str, expected: str, differences: list[tuple[str, str, str]]
) -> None:
    assert list(line_differences(actual, expected)) == differences


ROW = {"metric": "brier", "model": "m", "variant": "original", "dataset": "d", "slice": {"sex": "f", "age": 3},
 "value": 1}


@pytest.mark.parametrize(("change", "place"), [
    ({}, "rows, brier of m on d, sex = f, age = 3, value"),
    ({"variant": "beta"}, "rows, brier of m+beta on d, sex = f, age = 3, value"),
    ({"variant": None}, "rows, brier of m on d, sex = f, age = 3, value"),
    ({"variant": ""}, "rows, brier of m on d, sex = f, age = 3, value"),
    ({"slice": None}, "rows, brier of m on d, value"),
    ({"slice": '{"sex": "f"}'}, "rows, brier of m on d, sex = f, value"),
    ({"slice": "{"}, "rows, brier of m on d, value"), ({"slice": "[1]"}, "rows, brier of m on d, value"),
    ({"model": None, "dataset": None, "slice": None}, "rows, brier, value"),
    ({"dataset": ""}, "rows, brier of m on sex = f, age = 3, value"),
    ({"metric": None}, "rows 2, value"),
])
def test_a_row_that_differs_is_named_by_what_it_is_of(change: dict[str, object], place: str) -> None:
    actual, expected = ({"rows": [{"metric": "a"}, {**ROW, **change, "value": value}]} for value in (1, 2))
    assert list(json_differences(json.dumps(actual).encode(), json.dumps(expected).encode())) == [(place, 1, 2)]


def test_documents_differ_in_leaves_that_are_missing_or_of_another_kind() -> None:
    actual, expected = {"a": [1, 2], "b": {"c": 1}, "e": 5}, {"a": [1], "b": 3, "f": 6, "e": 5}
    assert list(json_differences(json.dumps(actual).encode(), json.dumps(expected).encode())) == [
        ("a 2", 2, None), ("b", {"c": 1}, 3), ("f", None, 6)]
    assert list(json_differences(b"[1, 2]", b"[1, 3]")) == [("row 2", 2, 3)]
    assert list(json_differences(b"{", b"{}")) == [("the document", "no JSON", "JSON")]
    assert list(json_differences(b"[" * 100_000, b"{}")) == [("the document", "no JSON", "JSON")]
    assert list(json_differences(b"{", b"{")) == []


def test_tables_differ_in_cells() -> None:
    head = b"dataset,model,metric,value\r\n"
    assert list(csv_differences(head + b"d,m,brier,0.1\r\nd,m,f1,3\r\n", head + b"d,m,brier,0.2\r\n")) == [
        ("brier of m on d, value", "0.1", "0.2"), ("f1 of m on d", {"dataset": "d", "model": "m", "metric": "f1",
         "value": "3"}, None)]
    ((place, actual, _),) = csv_differences(b'a\n"' + b"x" * 200_000 + b'"\n', b"a\n1\n")
    assert (place, actual) == ("the table", "no CSV: field larger than field limit (131072)")


PAGE = """<html><head><title> A  card </title><style>h1 {}</style><meta content="of x"></head><body>
<h1>Card <b>one</b></h1><p>Before <code class="evidence" title="E1">e1</code>
<code class="evidence" title="E2">e2</code></p>
<h2 title="hint">Results</h2><script>var words;</script>
<table><tr><th>Measure</th><th>Value</th></tr>
<tr><th scope="row">Brier <i>its meaning</i></th>
<td data-label="Forest"><data value="0.1234">0.12</data> low</td>
<td>x</td></tr></table>
<p>After <span class="CLASS">S1</span></p><svg aria-label="a drawing"><text>5</text></svg></body></html>"""


def test_the_words_of_a_page_stand_under_a_heading_in_a_row_and_a_column() -> None:
    page = page_text(PAGE.replace("CLASS", HASH).replace('"evidence"', f'"{EVIDENCE}"'))
    assert [(text.place, text.text) for text in page.texts] == [
        ("the head of the page", "A card"), ("the head of the page", "of x"), ("Card", "Card"), ("Card one", "one"),
        ("Card one", "Before"), ("Card one", "E1"), ("Card one", "e1"), ("Card one", "E2"), ("Card one", "e2"),
        ("the head of the page", "hint"),
        ("Results", "Results"), ("Results", "Measure"), ("Results", "Value"), ("Results, Brier", "Brier"),
        ("Results, Brier", "its meaning"), ("Results, Brier, Forest", "Forest"), ("Results, Brier, Forest", "0.1234"),
        ("Results, Brier, Forest", "0.12"), ("Results, Brier, Forest", "low"), ("Results, Brier", "x"),
        ("Results", "After"), ("Results", "S1"), ("Results", "a drawing"), ("Results", "5"),
    ]
    assert [(number.where.text, number.exact) for number in page.numbers] == [("0.12", "0.1234")]
    assert (page.evidence, page.hashes) == ("E1", {HASH: "S1"})


@pytest.mark.parametrize(("shown", "exact", "is_rounded"), [
    ("0.12", "0.1234", True), ("0.12", "0.125", True), ("0.12", "0.1251", False), ("0.12", "0.1149", False),
    ("1,234", "1234.4", True),
    ("1,234", "1234.6", False), ("−0.5", "−0.52", True), ("−0.5", "0.52", False), ("n/a", "3", True),
    ("0", "0.4", True),
    ("12%", "0.5", True), ("3", "3", True),
])
def test_a_number_is_its_exact_digits_rounded(shown: str, exact: str, is_rounded: bool) -> None:
    (number,) = page_text(f'<data value="{exact}">{shown}</data>').numbers
    assert number.is_rounded == is_rounded


def test_of_pages_with_more_or_fewer_texts_the_first_difference_is_named() -> None:
    def page(*texts: str) -> PageText:
        return PageText([TextOnPage("h", "", "", text) for text in texts], [], None, {})

    assert list(word_differences(page("a", "b", "c"), page("a", "x", "y"))) == [("h", "b", "x"), ("h", "c", "y")]
    assert list(word_differences(page("a", "b", "c"), page("a", "x"))) == [("h", "b", "x")]
    assert list(word_differences(page("a"), page("a", "x"))) == [("the head of the page", "", "x")]
    assert list(word_differences(page("a"), page("a"))) == []


def fault(folder: Path) -> str:
    with pytest.raises(DataError) as caught:
        verified_results(RunFolder(folder))
    re.sub(r"line \d+:", "line NN:", str(caught.value))
    return re.sub(r"\b(?=[0-9a-f]{0,7}[0-9])[0-9a-f]{8}\b", "########", re.sub(r"line \d+:", "line NN:",
     str(caught.value)))


def edit(file: Path, pattern: str, text: str) -> None:
    content = file.read_text(encoding="utf-8")
    changed = re.sub(pattern, text, content, count=1)
    assert changed != content
    file.write_text(changed, encoding="utf-8")


DIGITS = "its sha256 begins with ########, that of the run with ########"
AGAIN = "  = help: restore it; or run again, and look at the new results"
CARD = "  = help: write it again and read it before you sign: evalpipe render out --format"


@pytest.mark.parametrize(("file", "pattern", "text", "message"), [
    ("estimates.csv", "0.475", "0.975",
     "error[changed-file]: out/estimates.csv does not agree with results.json\n"
     "  = roc_auc of p on d, value: 0.975 in estimates.csv, 0.475 in results.json\n" + AGAIN),
    ("card.md", "0.475", "0.975",
     ("error[changed-file]: out/card.md is not the card of results.json\n"
     f"  = line NN: value: 0.975 in card.md, value: 0.475 by results.json\n{CARD} markdown")),
    ("card.html", ">0.475<", ">0.975<",
     ("error[changed-file]: out/card.html is not the card of results.json\n"
     f"  = Results on d, ROC AUC, p: 0.975 in card.html, 0.475 by results.json\n{CARD} html")),
    ("card.html", "</style>", " </style>",
     ("error[changed-file]: out/card.html is not the card of results.json\n"
     f"  = its words are the same; its drawings, styles or scripts differ\n{CARD} html")),
    ("rows.csv", "0.5", "0.6",
     f"error[changed-file]: out/rows.csv was changed after the run: {DIGITS}\n{AGAIN}"),
    ("results.json", "0.475", "0.975",
     (f"error[changed-file]: out/results.json was changed after the run: {DIGITS}\n"
     f"  = roc_auc of p on d, value: 0.475 in estimates.csv, 0.975 in results.json\n{AGAIN}")),
])
def test_a_file_that_was_changed_is_named(folder: Path, file: str, pattern: str, text: str, message: str) -> None:
    edit(folder / file, pattern, text)
    assert fault(folder) == message


def test_a_folder_as_its_run_wrote_it_is_right_and_may_lack_rows(folder: Path) -> None:
    assert verified_results(RunFolder(folder)).name == "x"
    (folder / "rows.csv").unlink()
    verified_results(RunFolder(folder))
    (folder / "estimates.csv").unlink()
    assert fault(folder) == f"error[missing-file]: out/estimates.csv is missing\n{AGAIN}"


def test_without_the_hash_of_a_run_its_page_says_which_results_it_is_of(folder: Path) -> None:
    for name in ("run.json", "manifest.json"):
        (folder / name).unlink()
    verified_results(RunFolder(folder))
    content = (folder / "results.json").read_bytes()
    (folder / "results.json").write_bytes(content + b" ")
    assert fault(folder) == f"error[changed-file]: out/results.json is not as evalpipe writes it\n{AGAIN}"
    (folder / "results.json").write_bytes(content.replace(b"0.475", b"0.975"))
    assert fault(folder) == (
        "error[changed-file]: out/results.json is not what the card beside it was made from: that names "
        "evidence ########, and results.json is ########\n"
        f"  = roc_auc of p on d, value: 0.475 in estimates.csv, 0.975 in results.json\n{AGAIN}")
    (folder / "card.html").unlink()
    assert fault(folder).startswith("error[changed-file]: out/estimates.csv does not agree with results.json\n")
