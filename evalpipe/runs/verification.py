"""Whether an output folder is what its run wrote: every file in it that holds numbers, against its `results.json`.

`results.json` itself is compared with the sha256 that `run.json` has of it. Files that evalpipe of this version wrote
are compared with what it writes now, byte for byte; of a card that another version wrote the numbers count. Of a PDF
that another version drew the files count that are attached to it; its pages are not compared.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from dataclasses import dataclass
from functools import cached_property
from html.parser import HTMLParser
from itertools import islice, takewhile, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from evalpipe.base.digests import bytes_sha256
from evalpipe.base.formats import COMMENTS, ESTIMATES, FORMATS, RESULTS, SIGNATURES
from evalpipe.card import render
from evalpipe.card.comments import COMMENTS_HASH
from evalpipe.card.edition import Edition, attached_files, files_in
from evalpipe.card.pdf import version_difference
from evalpipe.card.sign_off import HASH
from evalpipe.card.summary import EVIDENCE
from evalpipe.errors import DataError, Problem
from evalpipe.results.comments import COMMENT_LIST
from evalpipe.results.frames import estimates_csv
from evalpipe.results.signatures import EVIDENCE_DIGITS, SIGNATURE_LIST, records_json
from evalpipe.version import VERSION
from evalpipe.words import numbers
from evalpipe.words.numbers import MINUS
from evalpipe.words.spelling import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalpipe.results import Results
    from evalpipe.results.signatures import Added, RecordList, Signature
    from evalpipe.runs.folder import RunFolder
    from evalpipe.templating.files import Templates


if TYPE_CHECKING:
    Difference = tuple[str, object, object]

HASHES = {SIGNATURES: HASH, COMMENTS: COMMENTS_HASH}
"""The style of the sha256 that a page shows of a file."""

MOST_DIFFERENCES = 3
"""The differences that an error names; it counts the others."""

LONGEST = 60
"""The characters of a text that an error shows."""


def line_differences(actual: str, expected: str) -> Iterator[Difference]:
    """Yield the first line in which a text differs from the expected one; nothing where they are equal."""
    lines = zip_longest(actual.splitlines(), expected.splitlines(), fillvalue="")
    for number, (line, expected_line) in enumerate(lines, 1):
        if line != expected_line:
            yield f"line {number}", line, expected_line
            return


def word_differences(actual: PageText, expected_page: PageText) -> Iterator[Difference]:
    """Yield the texts in which a page differs from the expected page, each with its place.

    Only the first where their number differs, as all texts after it have moved.
    """
    pairs = zip_longest(actual.texts, expected_page.texts, fillvalue=TextOnPage("", "", "", ""))
    differing = ((shown.place, shown.text, expected.text) for shown, expected in pairs if shown != expected)
    yield from differing if len(actual.texts) == len(expected_page.texts) else islice(differing, 1)


def json_differences(actual: bytes, expected: bytes) -> Iterator[Difference]:
    """Yield the values in which a JSON document differs from the expected one, each with the name of its place."""
    if actual != expected:
        try:
            document = json.loads(actual)
        except (ValueError, RecursionError):
            yield "the document", "no JSON", "JSON"
            return
        yield from _value_differences(document, json.loads(expected))


def csv_differences(actual: bytes, expected: bytes) -> Iterator[Difference]:
    """Yield the cells in which a CSV table of estimates differs from the expected one, each named by its row.

    A column that an earlier version did not write is one of empty cells.
    """
    try:
        actual_rows = _csv_rows(actual)
    except csv.Error as error:
        yield "the table", f"no CSV: {error}", "CSV"
        return
    expected_rows = _csv_rows(expected)
    empty = dict.fromkeys(expected_rows[0], "") if expected_rows else {}
    yield from _value_differences([empty | row for row in actual_rows], expected_rows)


def _csv_rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8", "replace"), newline="")))


def _value_differences(actual: object, expected: object, path: str = "") -> Iterator[Difference]:
    """Yield the leaves in which two JSON values differ; ``path`` names the place of both in the document."""
    if isinstance(actual, dict) and isinstance(expected, dict):
        for key in dict.fromkeys([*actual, *expected]):
            yield from _value_differences(actual.get(key), expected.get(key), f"{path}, {key}" if path else str(key))
    elif isinstance(actual, list) and isinstance(expected, list):
        for number, (actual_row, expected_row) in enumerate(zip_longest(actual, expected), 1):
            yield from _value_differences(actual_row, expected_row, _row_name(expected_row or actual_row, path, number))
    elif actual != expected:
        yield path, actual, expected


def _row_name(row: object, table: str, number: int) -> str:
    """Return the name of a row of a table: its metric, model, dataset and slice; else its ``number`` from 1."""
    if not isinstance(row, dict) or not row.get("metric"):
        return f"{table or 'row'} {number}"
    model = f" of {row['model']}" if row.get("model") else ""
    variant = f"+{row['variant']}" if row.get("variant") not in (None, "", "original") else ""
    conditions = [row["dataset"]] if row.get("dataset") else []
    conditions += [f"{name} = {label}" for name, label in _slice_labels(row.get("slice")).items()]
    subset = f" on {', '.join(conditions)}" if conditions else ""
    return f"{table}, {row['metric']}{model}{variant}{subset}".removeprefix(", ")


def _slice_labels(value: object) -> dict[str, object]:
    """Return the labels of a slice by column, also from JSON text as in a CSV table; empty for anything else."""
    try:
        labels = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return {}
    return labels if isinstance(labels, dict) else {}


def difference_notes(
    differences: Iterable[Difference], file: str, preposition: str = "in", source: str = RESULTS
) -> list[str]:
    """Return sentences on the first differences of ``file`` from ``source``, and on how many more there are.

    ``preposition`` is "in" where the expected values stand in ``source``, "by" where they follow from it.
    """
    all_differences = list(differences)
    notes = [f"{place}: {_excerpt(actual, expected)} in {file}, {_excerpt(expected, actual)} {preposition} {source}"
             for place, actual, expected in all_differences[:MOST_DIFFERENCES]]
    more = len(all_differences) - len(notes)
    return notes + ([f"{more:,} more {'place differs' if more == 1 else 'places differ'}"] if more else [])


def _excerpt(value: object, other: object) -> str:
    """Return a value as text for a sentence; of a long text the part around its first difference from ``other``."""
    if value in (None, ""):
        return "nothing"
    if isinstance(value, float):
        return numbers.exact(value)
    text = printable(" ".join(str(value).split()))
    if len(text) <= LONGEST:
        return text
    other_text = printable(" ".join(str(other).split()))
    common = takewhile(lambda pair: pair[0] == pair[1], zip(text, other_text, strict=False))
    start = max(0, sum(1 for _ in common) - LONGEST // 3)
    return f"{'…' if start else ''}{text[start:start + LONGEST]}{'…' if start + LONGEST < len(text) else ''}"


PAGE, PDF = FORMATS["html"].file, FORMATS["pdf"].file

SAME_WORDS = "its words are the same; its drawings, styles or scripts differ"

SAME_FILES = "the files that it carries are the same; its pages differ"

RUN_AGAIN = "restore it; or run again, and look at the new results"


def verified_results(folder: RunFolder, templates: Templates | None = None) -> Results:
    """Return the results in an output folder after checking all files that its run wrote.

    ``templates`` are those that its card was rendered with, None for those that the results hold. Raises DataError
    with every file that is not as the run wrote it.
    """
    check = FolderCheck(folder, folder.results, templates)
    _raise_for(folder, check.results_file(folder.recorded_evidence(folder.manifest)))
    signatures, comments = folder.signatures, folder.comments
    _raise_for(folder, [*check.record_file(SIGNATURE_LIST, signatures), *check.record_file(COMMENT_LIST, comments)])
    _raise_for(folder, [*check.tables(), *check.cards(signatures)])
    return folder.results


@dataclass(frozen=True, slots=True)
class Deviation:
    """How a file of an output folder is not what its run wrote, as the end of a sentence, and the way out."""

    file: str
    how: str
    hint: str
    notes: Sequence[str] = ()
    code: str = "changed-file"


def _raise_for(folder: RunFolder, deviations: Iterable[Deviation]) -> None:
    """Raise DataError with a problem for every deviation; do nothing without any."""
    problems = [Problem(deviation.code, f"{folder.path / deviation.file} {deviation.how}", hint=deviation.hint,
                        notes=tuple(deviation.notes)) for deviation in deviations]
    if problems:
        raise DataError(*problems)


def not_compared(pdf: bytes) -> str | None:
    """Return the reason why this version cannot compare the pages of a PDF with its drawing; None where it can."""
    otherwise = version_difference(pdf)
    return None if otherwise is None else f"{otherwise}; its pages are not compared, but the files that it carries are"


class FolderCheck:
    """Checks of the files in an output folder against its results."""

    def __init__(self, folder: RunFolder, results: Results, templates: Templates | None) -> None:
        """Prepare to check a folder against ``results``; ``templates`` are those of its card, None for the results'."""
        self.folder, self.results, self.templates = folder, results, templates
        self.of_this_version = results.evalpipe_version == VERSION

    @cached_property
    def page(self) -> PageText | None:
        """The texts and numbers of the HTML card, parsed; None without an HTML card."""
        if not self.folder.has(PAGE):
            return None
        return page_text(self.folder.content(PAGE).decode("utf-8", "replace"))

    @cached_property
    def attached(self) -> dict[str, bytes]:
        """The files attached to the PDF, by name; none where there is no PDF."""
        return files_in(self.folder.content(PDF)) if self.folder.has(PDF) else {}

    def results_file(self, recorded: Sequence[str]) -> Iterator[Deviation]:
        """Yield deviations of results.json from its ``recorded`` sha256 (`run.json`, manifest) and from the card."""
        actual_sha256 = self.results.evidence_sha256
        other_sha256 = next((sha256 for sha256 in recorded if sha256 != actual_sha256), None)
        if other_sha256 is not None:
            digits = (f"its sha256 begins with {actual_sha256[:EVIDENCE_DIGITS]}, that of the run with "
                      f"{other_sha256[:EVIDENCE_DIGITS]}")
            yield Deviation(RESULTS, f"was changed after the run: {digits}", RUN_AGAIN, self._against_copies())
        if recorded:
            return
        # Without a recorded sha256, as of earlier versions, only the card knows which results it was made from.
        card_sha256 = _sha256(self.attached.get(RESULTS)) if self.page is None else self.page.evidence
        if self.of_this_version and self.folder.content(RESULTS) != self.results.to_json().encode():
            yield Deviation(RESULTS, "is not as evalpipe writes it", RUN_AGAIN)
        elif card_sha256 not in (None, actual_sha256):
            digits = (f"evidence {str(card_sha256)[:EVIDENCE_DIGITS]}, and results.json is "
                      f"{actual_sha256[:EVIDENCE_DIGITS]}")
            yield Deviation(RESULTS, f"is not what the card beside it was made from: that names {digits}", RUN_AGAIN,
                            self._against_copies())

    def _against_copies(self) -> list[str]:
        """Return notes on how results.json differs from its copy in the PDF, which tells what was changed.

        Without a copy, they are on how estimates.csv differs from it; none without that file.
        """
        copy = self.attached.get(RESULTS)
        if copy is not None:
            return difference_notes(json_differences(copy, self.folder.content(RESULTS)), PDF)
        if not self.folder.has(ESTIMATES):
            return []
        expected = estimates_csv(self.results).encode()
        return difference_notes(csv_differences(self.folder.content(ESTIMATES), expected), ESTIMATES)

    def record_file(self, kind: RecordList[Added], records: Sequence[Added]) -> Iterator[Deviation]:
        """Yield a deviation where the page or the PDF shows signatures or comments that their file never held."""
        shown_sha256 = {PDF: _sha256(self.attached.get(kind.file))}
        if self.page is not None:
            shown_sha256[PAGE] = self.page.hashes.get(HASHES[kind.file])
        # Any first few of the records are a state: a card that could not be written lacks the last.
        states = (records_json(records[:count]) for count in range(1, len(records) + 1))
        known_sha256 = {None, *map(_sha256, states)}
        other = next((file for file, sha256 in shown_sha256.items() if sha256 not in known_sha256), None)
        if other is not None:
            command = f"evalpipe render {self.folder.path}"
            yield Deviation(kind.file, f"does not hold the {kind.noun} that {other} shows",
                            f"restore it; or remove it, render the card again ({command}) and {kind.again}")

    def tables(self) -> Iterator[Deviation]:
        """Yield a deviation for estimates.csv and for the row-level file where they do not agree with the results."""
        if not self.folder.has(ESTIMATES):
            yield Deviation(ESTIMATES, "is missing", RUN_AGAIN, code="missing-file")
        else:
            actual, expected = self.folder.content(ESTIMATES), estimates_csv(self.results).encode()
            differences = [] if actual == expected else list(csv_differences(actual, expected))
            if differences or (actual != expected and self.of_this_version):
                yield Deviation(ESTIMATES, "does not agree with results.json", RUN_AGAIN,
                                difference_notes(differences, ESTIMATES))
        rows = self.results.row_file
        if rows is not None and self.folder.has(rows.file):  # it may be kept elsewhere, as it holds the rows
            sha256 = self.folder.sha256(rows.file)
            if sha256 != rows.sha256:
                digits = (f"its sha256 begins with {sha256[:EVIDENCE_DIGITS]}, that of the run with "
                          f"{rows.sha256[:EVIDENCE_DIGITS]}")
                yield Deviation(rows.file, f"was changed after the run: {digits}", RUN_AGAIN)

    def cards(self, signatures: tuple[Signature, ...]) -> Iterator[Deviation]:
        """Yield a deviation for each format of the card that does not agree with the results and the signatures."""
        formats, edition = self.folder.formats, Edition(
            self.results, signatures, self.templates, self.folder.comments)
        text_formats = [name for name in formats if name == "html" or (name != "pdf" and self.of_this_version)]
        for file, expected in render(
                self.results, text_formats, signatures, self.templates, comments=edition.comments).items():
            is_same = self.folder.content(file) == expected
            differences = [] if is_same else list(self._card_differences(file, expected.decode()))
            if differences or (not is_same and self.of_this_version):
                notes = difference_notes(differences, file, "by") or [SAME_WORDS]
                format_name = next(name for name in text_formats if FORMATS[name].file == file)
                yield Deviation(file, "is not the card of results.json", self._again(format_name), notes)
        if "pdf" in formats:
            yield from self._pdf(edition)

    def _again(self, form: str) -> str:
        """Return the hint to render a format of the card again."""
        return f"write it again and read it before you sign: evalpipe render {self.folder.path} --format {form}"

    def _card_differences(self, file: str, expected: str) -> Iterator[Difference]:
        """Yield in what a file of the card differs from the ``expected`` text, which this version renders."""
        if file != PAGE or self.page is None:
            yield from line_differences(self.folder.content(file).decode("utf-8", "replace"), expected)
        elif self.of_this_version:
            yield from word_differences(self.page, page_text(expected))
        else:
            yield from _number_differences(self.page, page_text(expected), self.results)

    def _pdf(self, edition: Edition) -> Iterator[Deviation]:
        """Yield a deviation where the files attached to card.pdf, or its pages, are not those that the results give."""
        hint, pdf = self._again("pdf"), self.folder.content(PDF)
        attached, expected = self.attached, {file.name: file.content for file in attached_files(edition)}
        if RESULTS not in attached:
            yield Deviation(PDF, "has no results.json attached", hint)
            return
        # A card that this version rendered from results of another carries them as this version writes them.
        same_results = attached[RESULTS] == expected[RESULTS]
        differing = [] if same_results else list(json_differences(attached[RESULTS], self.folder.content(RESULTS)))
        if differing:
            yield Deviation(PDF, "is not the card of results.json", hint, difference_notes(differing, PDF))
            return
        # Another version may write the same results as other texts.
        names = [*expected, *attached] if self.of_this_version else [*HASHES]
        others = [name for name in dict.fromkeys(names) if name != RESULTS and attached.get(name) != expected.get(name)]
        if others:
            yield Deviation(PDF, f"carries other files than those of results.json: {', '.join(sorted(others))}", hint)
        elif pdf.count(b"startxref") > 1:  # which no program writes that draws a PDF
            yield Deviation(PDF, "was changed after it was drawn: an update is appended to it", hint)
        elif not_compared(pdf) is None:
            drawn = render(edition.results, ["pdf"], edition.signatures, edition.custom_templates,
                           comments=edition.comments)[PDF]
            if drawn != pdf:
                yield Deviation(PDF, "is not the card of results.json", hint, [SAME_FILES])


def _sha256(content: bytes | None) -> str | None:
    return None if content is None else bytes_sha256(content)


def _number_differences(actual: PageText, expected: PageText, results: Results) -> Iterator[Difference]:
    """Yield the evidence hash and the numbers on a page of another version that these results do not have."""
    if actual.evidence not in (None, results.evidence_sha256):  # a template may leave it out
        yield "the head of the page, evidence", actual.evidence, results.evidence_sha256
    expected_numbers = {number.exact for number in expected.numbers} | set(_exact_numbers(results.model_dump()))
    for number in actual.numbers:
        if number.exact not in expected_numbers:
            yield number.where.place, number.exact, None
        elif not number.is_rounded:
            yield number.where.place, number.where.text, number.exact


def _exact_numbers(value: object) -> Iterator[str]:
    """Yield every finite number within a JSON value, with all its digits as a page shows them."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _exact_numbers(part)
    elif isinstance(value, int | float) and math.isfinite(value):
        yield numbers.exact(value)


HEADINGS = ("h1", "h2", "h3")


class TextOnPage(NamedTuple):
    """Words or a number of a page, under which heading and in which row and column they stand."""

    heading: str
    row: str
    column: str
    text: str

    @property
    def place(self) -> str:
        """Heading, row and column in words, those that have a name: "Results on evaluation, ROC AUC, Random forest"."""
        return ", ".join(filter(None, (self.heading, self.row, self.column))) or "the head of the page"


class ShownNumber(NamedTuple):
    """A number of a page: as it is shown, and its exact digits."""

    where: TextOnPage
    exact: str

    @property
    def is_rounded(self) -> bool:
        """Whether the text is the exact value rounded; true of a text that is no plain number."""
        shown = self.where.text.replace(",", "").replace(MINUS, "-")
        if not re.fullmatch(r"-?\d+(\.\d+)?", shown):
            return True
        half_a_unit = 0.5 * 10.0 ** -len(shown.partition(".")[2])
        return abs(float(shown) - float(self.exact.replace(MINUS, "-"))) <= half_a_unit * (1 + 1e-6)


class _WordGatherer(HTMLParser):
    """Gathers the words of a page and what its attributes say; drawings count by their words alone."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[TextOnPage] = []
        self.numbers: list[ShownNumber] = []
        self.evidence: str | None = None
        self.hashes: dict[str, str] = {}
        self._heading = self._row = self._column = self._tag = self._style = ""
        self._exact: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note where the words that follow stand, and keep those in the attributes of the tag."""
        attributes = dict(attrs)
        self._remember_place(tag, attributes)
        if tag == "data":
            self._exact = attributes.get("value")
        self._style = attributes.get("class") or ""
        if self._style == EVIDENCE and self.evidence is None:
            self.evidence = attributes.get("title")
        for name in ("title", "alt", "aria-label", "data-label", "content", "value"):
            self._keep(attributes.get(name) or "")

    def _remember_place(self, tag: str, attributes: dict[str, str | None]) -> None:
        """Remember the heading, row and column of the words that follow this tag."""
        if tag in ("style", "script"):
            self._tag = tag
        elif tag in HEADINGS:
            self._heading, self._row, self._column, self._tag = "", "", "", "heading"
        elif tag == "tr":
            self._row = self._column = ""
        elif tag == "th" and attributes.get("scope") == "row":
            self._tag = "row"
        elif tag == "td":
            self._column = attributes.get("data-label") or ""
        elif tag in ("table", "p"):
            self._row = self._column = ""

    def handle_endtag(self, tag: str) -> None:
        self._style = ""
        if tag in ("style", "script", "th", *HEADINGS):
            self._tag = ""
        elif tag == "data":
            self._exact = None

    def handle_data(self, data: str) -> None:
        """Keep a text; also as a number, a heading, the name of a row or a hash, by the tag that it is in."""
        text = " ".join(data.split())
        if not text or self._tag in ("style", "script"):
            return
        if self._tag == "heading":
            self._heading = f"{self._heading} {text}".strip()
        elif self._tag == "row":
            self._row = self._row or text  # what follows it is its definition
        if self._style in HASHES.values():
            self.hashes[self._style] = text
        self._keep(text)
        if self._exact is not None:
            self.numbers.append(ShownNumber(self.texts[-1], self._exact))

    def _keep(self, text: str) -> None:
        if text:
            self.texts.append(TextOnPage(self._heading, self._row, self._column, text))


class PageText(NamedTuple):
    """What a page says in order, the numbers in it, the evidence that it names, and its `HASHES` of files, by style."""

    texts: list[TextOnPage]
    numbers: list[ShownNumber]
    evidence: str | None
    hashes: dict[str, str]


def page_text(html: str) -> PageText:
    """Parse a card's HTML: its words, its numbers, and the hashes of evidence and of files that it shows."""
    reader = _WordGatherer()
    reader.feed(html)
    reader.close()
    return PageText(reader.texts, reader.numbers, reader.evidence, reader.hashes)
