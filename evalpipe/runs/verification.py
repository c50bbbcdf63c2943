"""Whether an output folder is what its run wrote: every file in it that holds numbers, against its `results.json`.

`results.json` itself is held to the sha256 that `run.json` has of it. Files that evalpipe of this version wrote are
held to what it writes now, byte for byte; of a card that another version wrote the numbers count. Of a PDF that
another version drew the files count that are attached to it; its pages are not compared.
"""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, takewhile, zip_longest
from typing import TYPE_CHECKING

from evalpipe.base.digests import bytes_sha256
from evalpipe.base.formats import ESTIMATES, FORMATS, RESULTS, SIGNATURES
from evalpipe.card import render
from evalpipe.card.attachments import attached_files, files_in
from evalpipe.card.edition import Edition
from evalpipe.card.page_text import TextOnPage, page_text
from evalpipe.card.pdf import drawn_otherwise
from evalpipe.errors import DataError, Problem
from evalpipe.results.estimates_csv import estimates_csv
from evalpipe.results.signatures import EVIDENCE_DIGITS, signatures_json
from evalpipe.version import VERSION
from evalpipe.words import numbers
from evalpipe.words.spelling import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalpipe.card.page_text import PageText
    from evalpipe.results import Results
    from evalpipe.results.signatures import Signature
    from evalpipe.runs.folder import RunFolder
    from evalpipe.templating.files import Templates


if TYPE_CHECKING:
    Difference = tuple[str, object, object]

MOST_DIFFERENCES = 3
"""The differences that an error names; it counts the others."""

LONGEST = 60
"""The characters of a text that an error shows."""


def line_differences(there: str, here: str) -> Iterator[Difference]:
    """Yield the first line in which two texts differ."""
    lines = zip_longest(there.splitlines(), here.splitlines(), fillvalue="")
    yield from islice(((f"line {number}", *pair) for number, pair in enumerate(lines, 1) if pair[0] != pair[1]), 1)


def word_differences(there: PageText, here: PageText) -> Iterator[Difference]:
    """Yield the words that differ; where some are missing, the first place alone, as those that follow have moved."""
    pairs = zip_longest(there.texts, here.texts, fillvalue=TextOnPage("", "", "", ""))
    differing = ((shown.place, shown.text, expected.text) for shown, expected in pairs if shown != expected)
    yield from differing if len(there.texts) == len(here.texts) else islice(differing, 1)


def json_differences(there: bytes, here: bytes) -> Iterator[Difference]:
    """Yield in what two documents differ, each place by what is measured there."""
    if there != here:
        try:
            document = json.loads(there)
        except (ValueError, RecursionError):
            yield "the document", "no JSON", "JSON"
            return
        yield from _value_differences(document, json.loads(here))


def csv_differences(there: bytes, here: bytes) -> Iterator[Difference]:
    """Yield in what two tables of estimates differ."""
    try:
        left = _csv_rows(there)
    except csv.Error as error:
        yield "the table", f"no CSV: {error}", "CSV"
        return
    yield from _value_differences(left, _csv_rows(here))


def _csv_rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8", "replace"), newline="")))


def _value_differences(there: object, here: object, where: str = "") -> Iterator[Difference]:
    if isinstance(there, dict) and isinstance(here, dict):
        for key in dict.fromkeys([*there, *here]):
            yield from _value_differences(there.get(key), here.get(key), f"{where}, {key}" if where else str(key))
    elif isinstance(there, list) and isinstance(here, list):
        for place, (left, right) in enumerate(zip_longest(there, here), 1):
            yield from _value_differences(left, right, _row_name(right or left, where, place))
    elif there != here:
        yield where, there, here


def _row_name(row: object, table: str, place: int) -> str:
    """Name a row of a table by what was measured, of which model; by its place where it is no measure."""
    if not isinstance(row, dict) or not row.get("metric"):
        return f"{table or 'row'} {place}"
    model = f" of {row['model']}" if row.get("model") else ""
    variant = f"+{row['variant']}" if row.get("variant") not in (None, "", "original") else ""
    places = [row["dataset"]] if row.get("dataset") else []
    places += [f"{name} = {label}" for name, label in _slice_labels(row.get("slice")).items()]
    on = f" on {', '.join(places)}" if places else ""
    return f"{table}, {row['metric']}{model}{variant}{on}".removeprefix(", ")


def _slice_labels(value: object) -> dict[str, object]:
    """Return the labels of a slice, which a table holds as JSON; none where they are something else."""
    try:
        labels = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return {}
    return labels if isinstance(labels, dict) else {}


def notes_on(
    differences: Iterable[Difference], file: str, word: str = "in", other: str = RESULTS
) -> list[str]:
    """Write the first differences of a file from what stands in, or follows by, another; and how many more."""
    known = list(differences)
    notes = [f"{where}: {_excerpt(there, here)} in {file}, {_excerpt(here, there)} {word} {other}"
             for where, there, here in known[:MOST_DIFFERENCES]]
    more = len(known) - len(notes)
    return notes + ([f"{more:,} more {'place differs' if more == 1 else 'places differ'}"] if more else [])


def _excerpt(value: object, other: object) -> str:
    """Write a value of a file within a sentence; of a long text what stands about its first difference to another."""
    if value in (None, ""):
        return "nothing"
    if isinstance(value, float):
        return numbers.exact(value)
    text = printable(" ".join(str(value).split()))
    if len(text) <= LONGEST:
        return text
    same = takewhile(lambda pair: pair[0] == pair[1], zip(text, printable(" ".join(str(other).split())), strict=False))
    first = max(0, sum(1 for _ in same) - LONGEST // 3)
    return f"{'…' if first else ''}{text[first:first + LONGEST]}{'…' if first + LONGEST < len(text) else ''}"


PAGE, PDF = FORMATS["html"].file, FORMATS["pdf"].file

SAME_WORDS = "its words are the same; its drawings, styles or scripts differ"

SAME_FILES = "the files that it carries are the same; its pages differ"

RUN_AGAIN = "restore it; or run again, and look at the new results"


def verified(folder: RunFolder, templates: Templates | None = None) -> tuple[Results, tuple[Signature, ...]]:
    """Return the results and the signatures in an output folder.

    ``templates`` are those that its card was rendered with, None for those that the results hold. Raises DataError with
    every file that is not as the run wrote it, where results.json is.
    """
    check = FolderCheck(folder, folder.results, templates)
    _raise_for(folder, check.results_file(folder.recorded_evidence(folder.manifest)))
    signatures = folder.signatures
    _raise_for(folder, check.signatures_file(signatures))
    _raise_for(folder, [*check.tables(), *check.cards(signatures)])
    return folder.results, signatures


@dataclass(frozen=True, slots=True)
class Deviation:
    """How a file of an output folder is not what its run wrote, as the end of a sentence, and the way out."""

    file: str
    how: str
    hint: str
    notes: Sequence[str] = ()
    code: str = "changed-file"


def _raise_for(folder: RunFolder, deviations: Iterable[Deviation]) -> None:
    """Raise DataError with every deviation, where there is one."""
    problems = [Problem(deviation.code, f"{folder.path / deviation.file} {deviation.how}", hint=deviation.hint,
                        notes=tuple(deviation.notes)) for deviation in deviations]
    if problems:
        raise DataError(*problems)


def not_compared(pdf: bytes) -> str | None:
    """Say why the pages of a PDF cannot be held to what this version draws; None where they can be."""
    otherwise = drawn_otherwise(pdf)
    return None if otherwise is None else f"{otherwise}; its pages are not compared, but the files that it carries are"


class FolderCheck:
    """An output folder held to its results: what each of its files says otherwise."""

    def __init__(self, folder: RunFolder, results: Results, templates: Templates | None) -> None:
        """Hold a folder to the results in it; ``templates`` are as of `verified`."""
        self.folder, self.results, self.templates = folder, results, templates
        self.of_this_version = results.evalpipe_version == VERSION

    @cached_property
    def page(self) -> PageText | None:
        """What the page says; None where there is none."""
        if not self.folder.has(PAGE):
            return None
        return page_text(self.folder.content(PAGE).decode("utf-8", "replace"))

    @cached_property
    def attached(self) -> dict[str, bytes]:
        """The files attached to the PDF, by name; none where there is no PDF."""
        return files_in(self.folder.content(PDF)) if self.folder.has(PDF) else {}

    def results_file(self, recorded: Sequence[str]) -> Iterator[Deviation]:
        """Yield how results.json is not what the run wrote; ``recorded`` are what is known of its sha256."""
        here = self.results.evidence_sha256
        other = next((sha256 for sha256 in recorded if sha256 != here), None)
        if other is not None:
            digits = f"its sha256 begins with {here[:EVIDENCE_DIGITS]}, that of the run with {other[:EVIDENCE_DIGITS]}"
            yield Deviation(RESULTS, f"was changed after the run: {digits}", RUN_AGAIN, self._against_copies())
        if recorded:
            return
        in_card = _sha256(self.attached.get(RESULTS)) if self.page is None else self.page.evidence
        if self.of_this_version and self.folder.content(RESULTS) != self.results.to_json().encode():
            yield Deviation(RESULTS, "is not as evalpipe writes it", RUN_AGAIN)
        elif in_card not in (None, here):
            digits = f"evidence {str(in_card)[:EVIDENCE_DIGITS]}, and results.json is {here[:EVIDENCE_DIGITS]}"
            yield Deviation(RESULTS, f"is not what the card beside it was made from: that names {digits}", RUN_AGAIN,
                            self._against_copies())

    def _against_copies(self) -> list[str]:
        """Say in what results.json differs from the copy of it in the card, or from the estimates beside it."""
        copy = self.attached.get(RESULTS)
        if copy is not None:
            return notes_on(json_differences(copy, self.folder.content(RESULTS)), PDF)
        expected = estimates_csv(self.results).encode()
        table = self.folder.content(ESTIMATES) if self.folder.has(ESTIMATES) else expected
        return notes_on(csv_differences(table, expected), ESTIMATES)

    def signatures_file(self, signatures: Sequence[Signature]) -> Iterator[Deviation]:
        """Yield that signatures which a card shows are no longer in signatures.json, or are others there."""
        shown = {PDF: _sha256(self.attached.get(SIGNATURES))}
        if self.page is not None:
            shown[PAGE] = self.page.signatures
        # A card may lack the last of them, where it could not be written.
        known = {None, *(_sha256(signatures_json(signatures[:count])) for count in range(1, len(signatures) + 1))}
        other = next((file for file, sha256 in shown.items() if sha256 not in known), None)
        if other is not None:
            again = f"evalpipe render {self.folder.path}"
            yield Deviation(SIGNATURES, f"does not hold the signatures that {other} shows",
                            f"restore it; or remove it, render the card again ({again}) and sign again")

    def tables(self) -> Iterator[Deviation]:
        """Yield each table beside the card that does not agree with the results."""
        if not self.folder.has(ESTIMATES):
            yield Deviation(ESTIMATES, "is missing", RUN_AGAIN, code="missing-file")
        else:
            there, here = self.folder.content(ESTIMATES), estimates_csv(self.results).encode()
            if there != here:
                yield Deviation(ESTIMATES, "does not agree with results.json", RUN_AGAIN,
                                notes_on(csv_differences(there, here), ESTIMATES))
        rows = self.results.row_file
        if rows is not None and self.folder.has(rows.file):  # it may be kept elsewhere, as it holds the rows
            sha256 = self.folder.sha256(rows.file)
            if sha256 != rows.sha256:
                digits = (f"its sha256 begins with {sha256[:EVIDENCE_DIGITS]}, that of the run with "
                          f"{rows.sha256[:EVIDENCE_DIGITS]}")
                yield Deviation(rows.file, f"was changed after the run: {digits}", RUN_AGAIN)

    def cards(self, signatures: tuple[Signature, ...]) -> Iterator[Deviation]:
        """Yield each file of the card that does not agree with the results and the signatures."""
        present, edition = self.folder.formats, Edition(self.results, signatures, self.templates)
        texts = [name for name in present if name == "html" or (name != "pdf" and self.of_this_version)]
        for file, here in render(self.results, texts, signatures, self.templates).items():
            same = self.folder.content(file) == here
            differences = [] if same else list(self._in_card(file, here.decode()))
            if differences or (not same and self.of_this_version):
                notes = notes_on(differences, file, "by") or [SAME_WORDS]
                form = next(name for name in texts if FORMATS[name].file == file)
                yield Deviation(file, "is not the card of results.json", self._again(form), notes)
        if "pdf" in present:
            yield from self._pdf(edition)

    def _again(self, form: str) -> str:
        return f"write it again and read it before you sign: evalpipe render {self.folder.path} --format {form}"

    def _in_card(self, file: str, here: str) -> Iterator[Difference]:
        """Yield in what a file of the card differs from what this version writes."""
        if file != PAGE or self.page is None:
            yield from line_differences(self.folder.content(file).decode("utf-8", "replace"), here)
        elif self.of_this_version:
            yield from word_differences(self.page, page_text(here))
        else:
            yield from _number_differences(self.page, page_text(here), self.results)

    def _pdf(self, edition: Edition) -> Iterator[Deviation]:
        """Yield that card.pdf carries other files than those beside it, or has other pages than this version draws."""
        hint, pdf = self._again("pdf"), self.folder.content(PDF)
        attached, expected = self.attached, {file.name: file.content for file in attached_files(edition)}
        if RESULTS not in attached:
            yield Deviation(PDF, "has no results.json attached", hint)
            return
        # A card that this version rendered from results of another carries them as this version writes them.
        same = attached[RESULTS] == expected[RESULTS]
        differing = [] if same else list(json_differences(attached[RESULTS], self.folder.content(RESULTS)))
        if differing:
            yield Deviation(PDF, "is not the card of results.json", hint, notes_on(differing, PDF))
            return
        # Another version may write the same results as other texts.
        names = [*expected, *attached] if self.of_this_version else [SIGNATURES]
        others = [name for name in dict.fromkeys(names) if name != RESULTS and attached.get(name) != expected.get(name)]
        if others:
            yield Deviation(PDF, f"carries other files than those of results.json: {', '.join(sorted(others))}", hint)
        elif pdf.count(b"startxref") > 1:  # which no program writes that draws a PDF
            yield Deviation(PDF, "was changed after it was drawn: an update is appended to it", hint)
        elif not_compared(pdf) is None:
            drawn = render(edition.results, ["pdf"], edition.signatures, edition.given)[PDF]
            if drawn != pdf:
                yield Deviation(PDF, "is not the card of results.json", hint, [SAME_FILES])


def _sha256(content: bytes | None) -> str | None:
    return None if content is None else bytes_sha256(content)


def _number_differences(there: PageText, here: PageText, results: Results) -> Iterator[Difference]:
    """Yield what a page of another version says that these results do not."""
    if there.evidence not in (None, results.evidence_sha256):  # a template may leave it out
        yield "the head of the page, evidence", there.evidence, results.evidence_sha256
    known = {number.exact for number in here.numbers} | set(_exact_numbers(results.model_dump()))
    for number in there.numbers:
        if number.exact not in known:
            yield number.where.place, number.exact, None
        elif not number.is_rounded:
            yield number.where.place, number.where.text, number.exact


def _exact_numbers(value: object) -> Iterator[str]:
    """Yield every number of some results as a page writes its exact digits."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _exact_numbers(part)
    elif isinstance(value, int | float) and math.isfinite(value):
        yield numbers.exact(value)
