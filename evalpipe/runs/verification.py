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
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, takewhile, zip_longest
from typing import TYPE_CHECKING

from evalpipe.base.digests import bytes_sha256, file_sha256
from evalpipe.base.formats import FORMATS
from evalpipe.card import render
from evalpipe.card.attachments import attached_files, files_in
from evalpipe.card.edition import Edition
from evalpipe.card.page_text import Said, page_text
from evalpipe.card.pdf import drawn_otherwise
from evalpipe.errors import DataError, Problem
from evalpipe.results import Results
from evalpipe.results.estimates_csv import estimates_csv
from evalpipe.results.signatures import EVIDENCE_DIGITS, SIGNATURES, signatures_json, signatures_of
from evalpipe.runs.manifest import read_manifest
from evalpipe.runs.run_facts import run_facts
from evalpipe.version import VERSION
from evalpipe.words import numbers
from evalpipe.words.spelling import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from evalpipe.base.formats import FormatName
    from evalpipe.card.page_text import PageText
    from evalpipe.results.signatures import Signature
    from evalpipe.runs.manifest import Manifest
    from evalpipe.templating.files import Templates


if TYPE_CHECKING:
    Difference = tuple[str, object, object]

MOST_DIFFERENCES = 3
"""The differences that an error names; it counts the others."""

LONGEST = 60
"""The characters of a text that an error shows."""


def of_lines(there: str, here: str) -> Iterator[Difference]:
    """Yield the first line in which two texts differ."""
    lines = zip_longest(there.splitlines(), here.splitlines(), fillvalue="")
    yield from islice(((f"line {number}", *pair) for number, pair in enumerate(lines, 1) if pair[0] != pair[1]), 1)


def of_words(there: PageText, here: PageText) -> Iterator[Difference]:
    """Yield the words that differ; where some are missing, the first place alone, as those that follow have moved."""
    pairs = zip_longest(there.said, here.said, fillvalue=Said("", "", "", ""))
    differing = ((shown.place, shown.text, expected.text) for shown, expected in pairs if shown != expected)
    yield from differing if len(there.said) == len(here.said) else islice(differing, 1)


def of_json(there: bytes, here: bytes) -> Iterator[Difference]:
    """Yield in what two documents differ, each place by what is measured there."""
    if there != here:
        try:
            document = json.loads(there)
        except (ValueError, RecursionError):
            yield "the document", "no JSON", "JSON"
            return
        yield from _differences(document, json.loads(here))


def of_csv(there: bytes, here: bytes) -> Iterator[Difference]:
    """Yield in what two tables of estimates differ."""
    try:
        left = _csv_rows(there)
    except csv.Error as error:
        yield "the table", f"no CSV: {error}", "CSV"
        return
    yield from _differences(left, _csv_rows(here))


def _csv_rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8", "replace"), newline="")))


def _differences(there: object, here: object, where: str = "") -> Iterator[Difference]:
    if isinstance(there, dict) and isinstance(here, dict):
        for key in dict.fromkeys([*there, *here]):
            yield from _differences(there.get(key), here.get(key), f"{where}, {key}" if where else str(key))
    elif isinstance(there, list) and isinstance(here, list):
        for place, (left, right) in enumerate(zip_longest(there, here), 1):
            yield from _differences(left, right, _called(right or left, where, place))
    elif there != here:
        yield where, there, here


def _called(row: object, table: str, place: int) -> str:
    """Name a row of a table by what was measured, of which model; by its place where it is no measure."""
    if not isinstance(row, dict) or not row.get("metric"):
        return f"{table or 'row'} {place}"
    model = f" of {row['model']}" if row.get("model") else ""
    variant = f"+{row['variant']}" if row.get("variant") not in (None, "", "original") else ""
    places = [row["dataset"]] if row.get("dataset") else []
    places += [f"{name} = {label}" for name, label in _labels(row.get("slice")).items()]
    on = f" on {', '.join(places)}" if places else ""
    return f"{table}, {row['metric']}{model}{variant}{on}".removeprefix(", ")


def _labels(value: object) -> dict[str, object]:
    """Return the labels of a slice, which a table holds as JSON; none where they are something else."""
    try:
        labels = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return {}
    return labels if isinstance(labels, dict) else {}


def notes_on(
    differences: Iterable[Difference], file: str, word: str = "in", other: str = "results.json"
) -> list[str]:
    """Write the first differences of a file from what stands in, or follows by, another; and how many more."""
    known = list(differences)
    notes = [f"{where}: {_shown(there, here)} in {file}, {_shown(here, there)} {word} {other}"
             for where, there, here in known[:MOST_DIFFERENCES]]
    more = len(known) - len(notes)
    return notes + ([f"{more:,} more {'place differs' if more == 1 else 'places differ'}"] if more else [])


def _shown(value: object, other: object) -> str:
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


RESULTS, ESTIMATES = "results.json", "estimates.csv"
PAGE, PDF = FORMATS["html"].file, FORMATS["pdf"].file

SAME_WORDS = "its words are the same; its drawings, styles or scripts differ"

SAME_FILES = "the files that it carries are the same; its pages differ"

RUN_AGAIN = "restore it; or run again, and look at the new results"


def verified(folder: Path, templates: Templates | None = None) -> tuple[Results, tuple[Signature, ...]]:
    """Return the results and the signatures in an output folder.

    ``templates`` are those that its card was rendered with, None for those that the results hold. Raises DataError with
    every file that is not as the run wrote it, where results.json is.
    """
    results, written = Results.read(folder / RESULTS), Written(folder)
    _refuse(folder, of_results(written, results, recorded(folder, read_manifest(folder))))
    signatures = signatures_of(folder, results.evidence_sha256)
    _refuse(folder, of_signatures(written, signatures))
    _refuse(folder, [*of_tables(written, results), *of_cards(written, Edition(results, signatures, templates))])
    return results, signatures


@dataclass(frozen=True, slots=True)
class Deviation:
    """How a file of an output folder is not what its run wrote, as the end of a sentence, and the way out."""

    file: str
    how: str
    hint: str
    notes: tuple[str, ...] = ()
    code: str = "changed-file"


def _refuse(folder: Path, deviations: Iterable[Deviation]) -> None:
    """Raise DataError with every deviation, where there is one."""
    problems = [Problem(deviation.code, f"{folder / deviation.file} {deviation.how}", hint=deviation.hint,
                        notes=deviation.notes) for deviation in deviations]
    if problems:
        raise DataError(*problems)


def not_compared(pdf: bytes) -> str | None:
    """Say why the pages of a PDF cannot be held to what this version draws; None where they can be."""
    otherwise = drawn_otherwise(pdf)
    return None if otherwise is None else f"{otherwise}; its pages are not compared, but the files that it carries are"


def formats_in(folder: Path) -> list[FormatName]:
    """Return the formats whose files are in an output folder."""
    return [name for name, entry in FORMATS.items() if (folder / entry.file).exists()]


class Written:
    """The files of an output folder, each read once."""

    def __init__(self, folder: Path) -> None:
        """Read nothing yet."""
        self.folder = folder
        self._contents: dict[str, bytes] = {}
        self._digests: dict[str, str] = {}

    def has(self, name: str) -> bool:
        """Return whether a file is there."""
        return (self.folder / name).exists()

    def content(self, name: str) -> bytes:
        """Return the bytes of a file; raises DataError where it cannot be read."""
        if name not in self._contents:
            self._contents[name] = _content(self.folder / name)
        return self._contents[name]

    def digest(self, name: str) -> str:
        """Return the sha256 of a file, which may be large; raises DataError where it cannot be read."""
        if name not in self._digests:
            self._digests[name] = _digest(self.folder / name)
        return self._digests[name]

    @cached_property
    def page(self) -> PageText | None:
        """What the page says; None where there is none."""
        return page_text(self.content(PAGE).decode("utf-8", "replace")) if self.has(PAGE) else None

    @cached_property
    def carried(self) -> dict[str, bytes]:
        """The files attached to the PDF, by name; none where there is no PDF."""
        return files_in(self.content(PDF)) if self.has(PDF) else {}


def of_results(written: Written, results: Results, records: Sequence[str]) -> Iterator[Deviation]:
    """Yield how results.json is not what the run wrote; ``records`` are what is known of its sha256."""
    here = results.evidence_sha256
    other = next((digest for digest in records if digest != here), None)
    if other is not None:
        digits = f"its sha256 begins with {here[:EVIDENCE_DIGITS]}, that of the run with {other[:EVIDENCE_DIGITS]}"
        yield _changed(RESULTS, f"was changed after the run: {digits}", RUN_AGAIN, beside(written, results))
    if records:
        return
    named = _named_evidence(written)
    if _of_this_version(results) and written.content(RESULTS) != results.to_json().encode():
        yield _changed(RESULTS, "is not as evalpipe writes it", RUN_AGAIN)
    elif named not in (None, here):
        digits = f"evidence {str(named)[:EVIDENCE_DIGITS]}, and results.json is {here[:EVIDENCE_DIGITS]}"
        yield _changed(RESULTS, f"is not what the card beside it was made from: that names {digits}", RUN_AGAIN,
                       beside(written, results))


def _named_evidence(written: Written) -> str | None:
    """Return the sha256 of the results that a card was made from; None where there is none that says so."""
    return written.page.evidence if written.page is not None else _sha256(written.carried.get(RESULTS))


def _sha256(content: bytes | None) -> str | None:
    return None if content is None else bytes_sha256(content)


def of_signatures(written: Written, signatures: tuple[Signature, ...]) -> Iterator[Deviation]:
    """Yield that signatures which a card shows are no longer in signatures.json, or are others there."""
    shown = {PDF: _sha256(written.carried.get(SIGNATURES))}
    if written.page is not None:
        shown[PAGE] = written.page.signatures
    # A card may lack the last of them, where it could not be written.
    known = {None, *(_sha256(signatures_json(signatures[:count])) for count in range(1, len(signatures) + 1))}
    other = next((file for file, digest in shown.items() if digest not in known), None)
    if other is not None:
        hint = f"restore it; or remove it, render the card again (evalpipe render {written.folder}) and sign again"
        yield _changed(SIGNATURES, f"does not hold the signatures that {other} shows", hint)


def of_tables(written: Written, results: Results) -> Iterator[Deviation]:
    """Yield each table beside the card that does not agree with the results."""
    yield from _estimates(written, results)
    yield from _rows(written, results)


def _of_this_version(results: Results) -> bool:
    return results.evalpipe_version == VERSION


def recorded(folder: Path, manifest: Manifest | None) -> list[str]:
    """Return the sha256 of results.json by run.json and by the manifest; none of what an earlier version wrote."""
    listed = None if manifest is None else manifest.sha256_of.get(RESULTS)
    return [digest for digest in (evidence_in(folder), listed) if digest is not None]


def evidence_in(folder: Path) -> str | None:
    """Return the sha256 of results.json that run.json has; None where it has none, as of earlier versions."""
    named = run_facts(folder).get("evidence_sha256")
    return named if isinstance(named, str) else None


def _content(path: Path) -> bytes:
    """Return the bytes of a file; raises DataError where it cannot be read."""
    with _readable(path):
        return path.read_bytes()


def _digest(path: Path) -> str:
    """Return the sha256 of a file; raises DataError where it cannot be read."""
    with _readable(path):
        return file_sha256(path)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Let an error of the file system be a DataError."""
    try:
        yield
    except OSError as error:
        message = f"cannot read {path}: {error.strerror or error}"
        raise DataError.of("unreadable-file", message, "let it be read, and try again") from None


def _changed(file: str, how: str, hint: str, notes: Sequence[str] = ()) -> Deviation:
    return Deviation(file, how, hint, tuple(notes))


def beside(written: Written, results: Results) -> list[str]:
    """Say in what results.json differs from the copy of it in the card, or from the estimates beside it."""
    attached = written.carried.get(RESULTS)
    if attached is not None:
        return notes_on(of_json(attached, written.content(RESULTS)), PDF)
    expected = estimates_csv(results).encode()
    table = written.content(ESTIMATES) if written.has(ESTIMATES) else expected
    return notes_on(of_csv(table, expected), ESTIMATES)


def _estimates(written: Written, results: Results) -> Iterator[Deviation]:
    """Yield that estimates.csv is missing, or is not the table of the estimates."""
    if not written.has(ESTIMATES):
        yield Deviation(ESTIMATES, "is missing", RUN_AGAIN, code="missing-file")
        return
    there, here = written.content(ESTIMATES), estimates_csv(results).encode()
    if there != here:
        yield _changed(ESTIMATES, "does not agree with results.json", RUN_AGAIN,
                       notes_on(of_csv(there, here), ESTIMATES))


def _rows(written: Written, results: Results) -> Iterator[Deviation]:
    """Yield that the row-level file is another; it may be kept elsewhere, as it holds the rows."""
    file = results.row_file
    if file is None or not written.has(file.file):
        return
    there = written.digest(file.file)
    if there != file.sha256:
        digits = f"its sha256 begins with {there[:EVIDENCE_DIGITS]}, that of the run with"
        yield _changed(file.file, f"was changed after the run: {digits} {file.sha256[:EVIDENCE_DIGITS]}", RUN_AGAIN)


def of_cards(written: Written, edition: Edition) -> Iterator[Deviation]:
    """Yield each file of the card that does not agree with the results and the signatures."""
    folder, results = written.folder, edition.results
    present = formats_in(folder)
    texts = [name for name in present if name == "html" or (name != "pdf" and _of_this_version(results))]
    for file, here in render(results, texts, edition.signatures, edition.given).items():
        same = written.content(file) == here
        differences = [] if same else list(_of_card(written, file, here.decode(), results))
        if differences or (not same and _of_this_version(results)):
            notes = notes_on(differences, file, "by") or [SAME_WORDS]
            form = next(name for name in texts if FORMATS[name].file == file)
            yield _changed(file, "is not the card of results.json", _again(folder, form), notes)
    if "pdf" in present:
        yield from _pdf(written, edition)


def _again(folder: Path, form: str) -> str:
    return f"write it again and read it before you sign: evalpipe render {folder} --format {form}"


def _of_card(written: Written, file: str, here: str, results: Results) -> Iterator[Difference]:
    """Yield in what a file of the card differs from what this version writes."""
    if file != PAGE or written.page is None:
        yield from of_lines(written.content(file).decode("utf-8", "replace"), here)
    elif _of_this_version(results):
        yield from of_words(written.page, page_text(here))
    else:
        yield from _of_numbers(written.page, page_text(here), results)


def _of_numbers(there: PageText, here: PageText, results: Results) -> Iterator[Difference]:
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


def _pdf(written: Written, edition: Edition) -> Iterator[Deviation]:
    """Yield that card.pdf carries other files than those beside it, or has other pages than this version draws."""
    hint = _again(written.folder, "pdf")
    carried, expected = written.carried, {file.name: file.content for file in attached_files(edition)}
    if RESULTS not in carried:
        yield _changed(PDF, "has no results.json attached", hint)
        return
    # A card that this version rendered from results of another carries them as this version writes them.
    same = carried[RESULTS] == expected[RESULTS]
    differing = [] if same else list(of_json(carried[RESULTS], written.content(RESULTS)))
    if differing:
        yield _changed(PDF, "is not the card of results.json", hint, notes_on(differing, PDF))
        return
    # Another version may write the same results as other texts.
    names = [*expected, *carried] if _of_this_version(edition.results) else [SIGNATURES]
    others = [name for name in dict.fromkeys(names) if name != RESULTS and carried.get(name) != expected.get(name)]
    if others:
        yield _changed(PDF, f"carries other files than those of results.json: {', '.join(sorted(others))}", hint)
    elif written.content(PDF).count(b"startxref") > 1:  # which no program writes that draws a PDF
        yield _changed(PDF, "was changed after it was drawn: an update is appended to it", hint)
    elif not_compared(written.content(PDF)) is None:
        drawn = render(edition.results, ["pdf"], edition.signatures, edition.given)[PDF]
        if drawn != written.content(PDF):
            yield _changed(PDF, "is not the card of results.json", hint, [SAME_FILES])
