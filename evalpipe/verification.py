"""Whether an output folder is what its run wrote: every file in it that holds numbers, against its `results.json`.

`results.json` itself is held to the sha256 that `run.json` has of it. Files that evalpipe of this version wrote are
held to what it writes now, byte for byte; of a card that another version wrote the numbers count. Of a PDF the files
count that are attached to it.
"""

from __future__ import annotations

import hashlib
import json
import math
from functools import cached_property
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card import render
from evalpipe.card.attached import attached_files
from evalpipe.card.edition import Edition
from evalpipe.card.page_text import page_text
from evalpipe.card.pdf_reading import files_in
from evalpipe.errors import DataError, Problem
from evalpipe.file_differences import notes_on, of_csv, of_json, of_lines, of_words
from evalpipe.formats import FORMATS
from evalpipe.results import Results
from evalpipe.results.estimates_csv import estimates_csv
from evalpipe.signatures import EVIDENCE_DIGITS, SIGNATURES, signatures_json, signatures_of
from evalpipe.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from evalpipe.card.page_text import PageText
    from evalpipe.file_differences import Difference
    from evalpipe.formats import FormatName
    from evalpipe.signatures import Signature
    from evalpipe.templating.files import Templates

RESULTS, ESTIMATES = "results.json", "estimates.csv"
PAGE, PDF = FORMATS["html"].file, FORMATS["pdf"].file

SAME_WORDS = "its words are the same; its drawings, styles or scripts differ"

RUN_AGAIN = "restore it; or run again, and sign the new results"


def verified(folder: Path, templates: Templates | None = None) -> tuple[Results, tuple[Signature, ...]]:
    """Return the results and the signatures in an output folder.

    ``templates`` are those that its card was rendered with, None for those that the results hold. Raises DataError with
    every file that is not as the run wrote it, where results.json is.
    """
    results, written = Results.read(folder / RESULTS), _Written(folder)
    _check_results(written, results)
    signatures = signatures_of(folder, results.evidence_sha256)
    _check_signatures(written, signatures)
    edition = Edition(results, signatures, templates)
    problems = [*_estimates(written, results), *_rows(written, results), *_cards(written, edition)]
    if problems:
        raise DataError(*problems)
    return results, signatures


def formats_in(folder: Path) -> list[FormatName]:
    """Return the formats whose files are in an output folder."""
    return [name for name, entry in FORMATS.items() if (folder / entry.file).exists()]


class _Written:
    """The files of an output folder, each read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._contents: dict[str, bytes] = {}

    def has(self, name: str) -> bool:
        """Return whether a file is there."""
        return (self.folder / name).exists()

    def content(self, name: str) -> bytes:
        """Return the bytes of a file; raises DataError where it cannot be read."""
        if name not in self._contents:
            self._contents[name] = _content(self.folder / name)
        return self._contents[name]

    @cached_property
    def page(self) -> PageText | None:
        """What the page says; None where there is none."""
        return page_text(self.content(PAGE).decode("utf-8", "replace")) if self.has(PAGE) else None

    @cached_property
    def carried(self) -> dict[str, bytes]:
        """The files attached to the PDF, by name; none where there is no PDF."""
        return files_in(self.content(PDF)) if self.has(PDF) else {}


def _check_results(written: _Written, results: Results) -> None:
    """Raise DataError where results.json is not what the run wrote, as far as that is known."""
    path, recorded = written.folder / RESULTS, _recorded(written.folder)
    if recorded is not None and recorded != results.evidence_sha256:
        digits = f"its sha256 begins with {results.evidence_sha256[:EVIDENCE_DIGITS]}, that of the run with"
        raise DataError(_changed(path, f"was changed after the run: {digits} {recorded[:EVIDENCE_DIGITS]}", RUN_AGAIN,
                                 _beside(written, results)))
    if recorded is not None:
        return
    if _of_this_version(results) and written.content(RESULTS) != results.to_json().encode():
        raise DataError(_changed(path, "is not as evalpipe writes it", RUN_AGAIN))
    named = _named_evidence(written)
    if named is not None and named != results.evidence_sha256:
        digits = f"evidence {named[:EVIDENCE_DIGITS]}, and results.json is {results.evidence_sha256[:EVIDENCE_DIGITS]}"
        raise DataError(_changed(path, f"is not what the card beside it was made from: that names {digits}", RUN_AGAIN,
                                 _beside(written, results)))


def _named_evidence(written: _Written) -> str | None:
    """Return the sha256 of the results that a card was made from; None where there is none that says so."""
    return written.page.evidence if written.page is not None else _sha256(written.carried.get(RESULTS))


def _sha256(content: bytes | None) -> str | None:
    return None if content is None else hashlib.sha256(content).hexdigest()


def _check_signatures(written: _Written, signatures: tuple[Signature, ...]) -> None:
    """Raise DataError where signatures that a card shows are no longer in signatures.json, or are others there."""
    shown = {PDF: _sha256(written.carried.get(SIGNATURES))}
    if written.page is not None:
        shown[PAGE] = written.page.signatures
    # A card may lack the last of them, where it could not be written.
    known = {None, *(_sha256(signatures_json(signatures[:count])) for count in range(1, len(signatures) + 1))}
    for file, sha256 in shown.items():
        if sha256 not in known:
            folder = written.folder
            hint = f"restore it; or remove it, render the card again (evalpipe render {folder}) and sign again"
            raise DataError(_changed(folder / SIGNATURES, f"does not hold the signatures that {file} shows", hint))


def _of_this_version(results: Results) -> bool:
    return results.evalpipe_version == VERSION


def _recorded(folder: Path) -> str | None:
    """Return the sha256 of results.json that run.json has; None where it has none, as of earlier versions."""
    try:
        recorded = json.loads((folder / "run.json").read_bytes())["evidence_sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return recorded if isinstance(recorded, str) else None


def _content(path: Path) -> bytes:
    """Return the bytes of a file; raises DataError where it cannot be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError.of("missing-file", f"{path} is missing", RUN_AGAIN) from None
    except OSError as error:
        message = f"cannot read {path}: {error.strerror or error}"
        raise DataError.of("unreadable-file", message, "let it be read, and sign again") from None


def _changed(path: Path, how: str, hint: str, notes: Sequence[str] = ()) -> Problem:
    return Problem("changed-file", f"{path} {how}", hint=hint, notes=tuple(notes))


def _beside(written: _Written, results: Results) -> list[str]:
    """Say in what results.json differs from the copy of it in the card, or from the estimates beside it."""
    attached = written.carried.get(RESULTS)
    if attached is not None:
        return notes_on(of_json(attached, written.content(RESULTS)), PDF)
    expected = estimates_csv(results).encode()
    table = written.content(ESTIMATES) if written.has(ESTIMATES) else expected
    return notes_on(of_csv(table, expected), ESTIMATES)


def _estimates(written: _Written, results: Results) -> Iterator[Problem]:
    """Yield the problem of estimates.csv where it is not the table of the estimates."""
    there, here = written.content(ESTIMATES), estimates_csv(results).encode()
    if there != here:
        notes = notes_on(of_csv(there, here), ESTIMATES)
        yield _changed(written.folder / ESTIMATES, "does not agree with results.json", RUN_AGAIN, notes)


def _rows(written: _Written, results: Results) -> Iterator[Problem]:
    """Yield the problem of the row-level file where it is another; it may be kept elsewhere, as it holds the rows."""
    file = results.row_file
    if file is None or not written.has(file.file):
        return
    there = hashlib.sha256(written.content(file.file)).hexdigest()
    if there != file.sha256:
        digits = f"its sha256 begins with {there[:EVIDENCE_DIGITS]}, that of the run with"
        how = f"was changed after the run: {digits} {file.sha256[:EVIDENCE_DIGITS]}"
        yield _changed(written.folder / file.file, how, RUN_AGAIN)


def _cards(written: _Written, edition: Edition) -> Iterator[Problem]:
    """Yield the problem of each file of the card that does not agree with the results and the signatures."""
    folder, results = written.folder, edition.results
    present = formats_in(folder)
    texts = [name for name in present if name == "html" or (name != "pdf" and _of_this_version(results))]
    for file, here in render(results, texts, edition.signatures, edition.given).items():
        same = written.content(file) == here
        differences = [] if same else list(_of_card(written, file, here.decode(), results))
        if differences or (not same and _of_this_version(results)):
            notes = notes_on(differences, file, "by") or [SAME_WORDS]
            form = next(name for name in texts if FORMATS[name].file == file)
            yield _changed(folder / file, "is not the card of results.json", _again(folder, form), notes)
    if "pdf" in present:
        yield from _pdf(written, edition)


def _again(folder: Path, form: str) -> str:
    return f"write it again and read it before you sign: evalpipe render {folder} --format {form}"


def _of_card(written: _Written, file: str, here: str, results: Results) -> Iterator[Difference]:
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


def _pdf(written: _Written, edition: Edition) -> Iterator[Problem]:
    """Yield the problem of each file that card.pdf carries and that is not the one beside it."""
    path, hint = written.folder / PDF, _again(written.folder, "pdf")
    carried, expected = written.carried, {file.name: file.content for file in attached_files(edition)}
    if RESULTS not in carried:
        yield _changed(path, "has no results.json attached", hint)
        return
    # A card that this version rendered from results of another carries them as this version writes them.
    same = carried[RESULTS] == expected[RESULTS]
    differing = [] if same else list(of_json(carried[RESULTS], written.content(RESULTS)))
    if differing:
        yield _changed(path, "is not the card of results.json", hint, notes_on(differing, PDF))
        return
    # Another version may write the same results as other texts.
    names = [*expected, *carried] if _of_this_version(edition.results) else [SIGNATURES]
    others = [name for name in dict.fromkeys(names) if name != RESULTS and carried.get(name) != expected.get(name)]
    if others:
        yield _changed(path, f"carries other files than those of results.json: {', '.join(sorted(others))}", hint)
