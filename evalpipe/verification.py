"""Whether an output folder is what its run wrote: every file in it that holds numbers, against its `results.json`.

`results.json` itself is held to the sha256 that `run.json` has of it. Files that evalpipe of this version wrote are
held to what it writes now, byte for byte; of a card that another version wrote the numbers count. Of a PDF the files
count that are attached to it.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from itertools import islice, takewhile, zip_longest
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card import render
from evalpipe.card.attached import attached_files
from evalpipe.card.edition import Edition
from evalpipe.card.page_text import Said, page_text
from evalpipe.card.pdf_reading import files_in
from evalpipe.errors import DataError, Problem
from evalpipe.formats import FORMATS
from evalpipe.results import Results
from evalpipe.results.estimates_csv import estimates_csv
from evalpipe.signatures import EVIDENCE_DIGITS, SIGNATURES, signatures_json, signatures_of
from evalpipe.spelling import printable
from evalpipe.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from evalpipe.card.page_text import PageText
    from evalpipe.formats import FormatName
    from evalpipe.signatures import Signature
    from evalpipe.templating.files import Templates

    Difference = tuple[str, object, object]

RESULTS, ESTIMATES = "results.json", "estimates.csv"

MOST_DIFFERENCES = 3
"""The differences that an error names; it counts the others."""

LONGEST = 60
"""The characters of a text that an error shows."""

SAME_WORDS = "its words are the same; its drawings, styles or scripts differ"

RUN_AGAIN = "restore it; or run again, and sign the new results"


def verified(folder: Path, templates: Templates | None = None) -> tuple[Results, tuple[Signature, ...]]:
    """Return the results and the signatures in an output folder.

    ``templates`` are those that its card was rendered with, None for those that the results hold. Raises DataError with
    every file that is not as the run wrote it, where results.json is.
    """
    results = Results.read(folder / RESULTS)
    _check_results(folder, results)
    signatures = signatures_of(folder, results.evidence_sha256)
    _check_signatures(folder, signatures)
    problems = [*_estimates(folder, results), *_cards(folder, Edition(results, signatures, templates))]
    if problems:
        raise DataError(*problems)
    return results, signatures


def formats_in(folder: Path) -> list[FormatName]:
    """Return the formats whose files are in an output folder."""
    return [name for name, entry in FORMATS.items() if (folder / entry.file).exists()]


def _check_results(folder: Path, results: Results) -> None:
    """Raise DataError where results.json is not what the run wrote, as far as that is known."""
    path, recorded = folder / RESULTS, _recorded(folder)
    if recorded is not None and recorded != results.evidence_sha256:
        digits = f"its sha256 begins with {results.evidence_sha256[:EVIDENCE_DIGITS]}, that of the run with"
        raise DataError(_changed(path, f"was changed after the run: {digits} {recorded[:EVIDENCE_DIGITS]}", RUN_AGAIN,
                                 _beside(folder, results)))
    if recorded is not None:
        return
    if _of_this_version(results) and _content(path) != results.to_json().encode():
        raise DataError(_changed(path, "is not as evalpipe writes it", RUN_AGAIN))
    named = _named_evidence(folder)
    if named is not None and named != results.evidence_sha256:
        digits = f"evidence {named[:EVIDENCE_DIGITS]}, and results.json is {results.evidence_sha256[:EVIDENCE_DIGITS]}"
        raise DataError(_changed(path, f"is not what the card beside it was made from: that names {digits}", RUN_AGAIN,
                                 _beside(folder, results)))


def _named_evidence(folder: Path) -> str | None:
    """Return the sha256 of the results that a card was made from; None where there is none that says so."""
    page, pdf = (folder / FORMATS[name].file for name in ("html", "pdf"))
    if page.exists():
        return page_text(_content(page).decode("utf-8", "replace")).evidence
    attached = files_in(_content(pdf)).get(RESULTS) if pdf.exists() else None
    return None if attached is None else hashlib.sha256(attached).hexdigest()


def _check_signatures(folder: Path, signatures: tuple[Signature, ...]) -> None:
    """Raise DataError where signatures that a card shows are no longer in signatures.json, or are others there."""
    page, pdf = (folder / FORMATS[name].file for name in ("html", "pdf"))
    attached = files_in(_content(pdf)).get(SIGNATURES) if pdf.exists() else None
    shown = {pdf.name: None if attached is None else hashlib.sha256(attached).hexdigest()}
    if page.exists():
        shown[page.name] = page_text(_content(page).decode("utf-8", "replace")).signatures
    # A card may lack the last of them, where it could not be written.
    known = {None, *(hashlib.sha256(signatures_json(signatures[:count])).hexdigest()
                     for count in range(1, len(signatures) + 1))}
    for file, sha256 in shown.items():
        if sha256 not in known:
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


def _beside(folder: Path, results: Results) -> list[str]:
    """Say in what results.json differs from the copy of it in the card, or from the estimates beside it."""
    pdf = folder / FORMATS["pdf"].file
    attached = files_in(_content(pdf)).get(RESULTS) if pdf.exists() else None
    if attached is not None:
        return _notes(_of_json(attached, _content(folder / RESULTS)), pdf.name)
    table = folder / ESTIMATES
    there = table.read_bytes() if table.exists() else estimates_csv(results).encode()
    return _notes(_of_csv(there, estimates_csv(results).encode()), ESTIMATES)


def _estimates(folder: Path, results: Results) -> Iterator[Problem]:
    """Yield the problem of estimates.csv where it is not the table of the estimates."""
    there, here = _content(folder / ESTIMATES), estimates_csv(results).encode()
    if there != here:
        notes = _notes(_of_csv(there, here), ESTIMATES)
        yield _changed(folder / ESTIMATES, "does not agree with results.json", RUN_AGAIN, notes)


def _cards(folder: Path, edition: Edition) -> Iterator[Problem]:
    """Yield the problem of each file of the card that does not agree with the results and the signatures."""
    present, results = formats_in(folder), edition.results
    texts = [name for name in present if name == "html" or (name != "pdf" and _of_this_version(results))]
    for file, here in render(results, texts, edition.signatures, edition.given).items():
        there = _content(folder / file)
        differences = [] if there == here else list(_of_card(file, there, here, results))
        if there != here and (differences or _of_this_version(results)):
            notes = _notes(differences, file, "by") or [SAME_WORDS]
            form = next(name for name in texts if FORMATS[name].file == file)
            yield _changed(folder / file, "is not the card of results.json", _again(folder, form), notes)
    if "pdf" in present:
        yield from _pdf(folder, edition)


def _again(folder: Path, form: str) -> str:
    return f"write it again and read it before you sign: evalpipe render {folder} --format {form}"


def _of_card(file: str, there: bytes, here: bytes, results: Results) -> Iterator[Difference]:
    """Yield in what a file of the card differs from what this version writes."""
    shown, expected = (content.decode("utf-8", "replace") for content in (there, here))
    if file != FORMATS["html"].file:
        lines = zip_longest(shown.splitlines(), expected.splitlines(), fillvalue="")
        yield from islice(((f"line {number}", *pair) for number, pair in enumerate(lines, 1) if pair[0] != pair[1]), 1)
    elif _of_this_version(results):
        yield from _of_words(page_text(shown), page_text(expected))
    else:
        yield from _of_numbers(page_text(shown), page_text(expected), results)


def _of_words(there: PageText, here: PageText) -> Iterator[Difference]:
    """Yield the words that differ; where some are missing, the first place alone, as those that follow have moved."""
    pairs = zip_longest(there.said, here.said, fillvalue=Said("", "", "", ""))
    differing = ((shown.place, shown.text, expected.text) for shown, expected in pairs if shown != expected)
    yield from differing if len(there.said) == len(here.said) else islice(differing, 1)


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


def _pdf(folder: Path, edition: Edition) -> Iterator[Problem]:
    """Yield the problem of each file that card.pdf carries and that is not the one beside it."""
    path, hint = folder / FORMATS["pdf"].file, _again(folder, "pdf")
    carried, expected = files_in(_content(path)), {file.name: file.content for file in attached_files(edition)}
    if RESULTS not in carried:
        yield _changed(path, "has no results.json attached", hint)
        return
    # A card that this version rendered from results of another carries them as this version writes them.
    same = carried[RESULTS] == expected[RESULTS]
    differing = [] if same else list(_of_json(carried[RESULTS], _content(folder / RESULTS)))
    if differing:
        yield _changed(path, "is not the card of results.json", hint, _notes(differing, path.name))
        return
    # Another version may write the same results as other texts.
    names = [*expected, *carried] if _of_this_version(edition.results) else [SIGNATURES]
    others = [name for name in dict.fromkeys(names) if name != RESULTS and carried.get(name) != expected.get(name)]
    if others:
        yield _changed(path, f"carries other files than those of results.json: {', '.join(sorted(others))}", hint)


def _of_json(there: bytes, here: bytes) -> Iterator[Difference]:
    """Yield in what two documents differ, each place by what is measured there."""
    if there != here:
        try:
            document = json.loads(there)
        except ValueError:
            yield "the document", "no JSON", "JSON"
            return
        yield from _differences(document, json.loads(here))


def _of_csv(there: bytes, here: bytes) -> Iterator[Difference]:
    """Yield in what two tables of estimates differ."""
    left, right = (list(csv.DictReader(io.StringIO(content.decode("utf-8", "replace")))) for content in (there, here))
    yield from _differences(left, right)


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
    labels = json.loads(row["slice"]) if isinstance(row.get("slice"), str) and row["slice"] else row.get("slice") or {}
    places += [f"{name} = {label}" for name, label in labels.items()]
    on = f" on {', '.join(places)}" if places else ""
    return f"{table}, {row['metric']}{model}{variant}{on}".removeprefix(", ")


def _notes(differences: Iterable[Difference], file: str, word: str = "in") -> list[str]:
    """Write the first differences of a file from what stands in, or follows by, results.json; and how many more."""
    known = list(differences)
    notes = [f"{where}: {_shown(there, here)} in {file}, {_shown(here, there)} {word} results.json"
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
