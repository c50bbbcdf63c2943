"""The files of an output folder: their bytes against the manifest, and their numbers against `results.json`."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING

from evalpipe.card.edition import Edition
from evalpipe.errors import DataError
from evalpipe.results import Results
from evalpipe.results.signatures import SIGNATURES, signatures_of
from evalpipe.review.checking.checked import CheckedFile, other_digest
from evalpipe.runs.manifest import KEY_SIGNATURE, MANIFEST, read_manifest
from evalpipe.runs.ownership import WRITTEN
from evalpipe.runs.verification import (
    PDF,
    RESULTS,
    Deviation,
    Written,
    evidence_in,
    not_compared,
    of_cards,
    of_results,
    of_signatures,
    of_tables,
    recorded,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from evalpipe.runs.manifest import Manifest
    from evalpipe.templating.files import Templates

RUN, REFERENCES = "run.json", ("reference.json", "reference-before.json")
APART = (MANIFEST, KEY_SIGNATURE, RUN)
"""Files that are no entries of the manifest."""

WAYS = ("who forges the pages may write other versions: draw it again (evalpipe render) and read it, or verify with "
        "the --public-key of who signed the manifest")
"""What is to be done about a PDF whose pages are not compared."""


class Outputs:
    """The files of an output folder, and what is recorded of them."""

    def __init__(self, folder: Path, templates: Templates | None) -> None:
        """Read the manifest and the results, as far as they can be."""
        self.folder, self.templates = folder, templates
        self.written = Written(folder)
        self.manifest: Manifest | None = None
        self.results: Results | None = None
        self.broken: dict[str, str] = {}
        try:
            self.manifest = read_manifest(folder)
        except DataError as error:
            self.broken[MANIFEST] = _said(error, folder, MANIFEST)
        try:
            self.results = Results.read(folder / RESULTS) if (folder / RESULTS).exists() else None
        except DataError as error:
            self.broken[RESULTS] = _said(error, folder, RESULTS)

    def checked(self) -> Iterator[CheckedFile]:
        """Check every file of the folder: the manifest, what it lists, `run.json`, and what else is there."""
        yield self._manifest()
        listed = {} if self.manifest is None else self.manifest.sha256_of
        names = dict.fromkeys([RESULTS, *listed, *(() if listed else self._ours())])
        for name in names:
            yield self._file(name, listed.get(name))
        yield self._run()
        for entry in self._entries():
            if entry.name not in names and entry.name not in APART:
                yield self._other(entry)

    def _entries(self) -> list[Path]:
        """Return what is in the folder, by name; raises DataError where it cannot be listed."""
        try:
            return sorted(self.folder.iterdir())
        except OSError as error:
            message = f"cannot read '{self.folder}': {error.strerror or error}"
            raise DataError.of("unreadable-file", message, "let it be read, and try again") from None

    def _ours(self) -> list[str]:
        """Return the files that a run may write and that are there."""
        return sorted(name for name in WRITTEN if self.written.has(name) and name not in APART)

    def _manifest(self) -> CheckedFile:
        if MANIFEST in self.broken:
            return CheckedFile("output", MANIFEST, "differs", self.broken[MANIFEST])
        if self.manifest is None:
            reason = "there is none, as of earlier versions; each file is held to results.json alone"
            return CheckedFile("output", MANIFEST, "not checked", reason)
        other = self._contradicted(self.manifest)
        return CheckedFile("output", MANIFEST, "same") if other is None else (
            CheckedFile("output", MANIFEST, "differs", f"it has another {other} than results.json"))

    def _contradicted(self, manifest: Manifest) -> str | None:
        """Return what a manifest says otherwise than the results that it lists; None where they agree."""
        results = self.results
        if results is None or manifest.sha256_of.get(RESULTS) != results.evidence_sha256:
            return None
        read = {file.sha256 for file in manifest.inputs if file.kind in ("data", "rows")}
        facts = {"name": manifest.name == results.name, "spec": manifest.spec_sha256 == results.spec_sha256,
                 "version": manifest.evalpipe_version == results.evalpipe_version,
                 "day": manifest.as_of == results.as_of,
                 "sha256 of the data": read == {file.sha256 for file in results.inputs}}
        return next((fact for fact, agrees in facts.items() if not agrees), None)

    def _file(self, name: str, sha256: str | None) -> CheckedFile:
        """Check a file by its sha256, where the manifest has it, and by what it says."""
        if not self.written.has(name):
            if self.results is not None and self.results.row_file is not None and name == self.results.row_file.file:
                return CheckedFile("output", name, "not checked", "it is not here; it may be kept elsewhere")
            return CheckedFile("output", name, "differs", "it is missing")
        here, deviation = self.written.digest(name), self._deviations.get(name)
        notes = () if deviation is None else deviation.notes
        if sha256 is not None and here != sha256:
            return CheckedFile("output", name, "differs", other_digest(here, sha256), notes)
        if deviation is not None:
            return CheckedFile("output", name, "differs", f"it {deviation.how}", notes)
        return self._undoubted(name, known=sha256 is not None)

    def _undoubted(self, name: str, *, known: bool) -> CheckedFile:
        """Return a file that nothing contradicts; without a manifest only results can vouch for it."""
        if name in self.broken:
            return CheckedFile("output", name, "differs", self.broken[name])
        if not known and self.results is None:
            return CheckedFile("output", name, "not checked", "results.json, which it is held to, cannot be read")
        unknown = not_compared(self.written.content(name)) if name == PDF else None
        if unknown is not None:
            return CheckedFile("output", name, "not checked", unknown, (WAYS,))
        witness = "run.json and the card" if name == RESULTS else RESULTS
        return CheckedFile("output", name, "same", "" if known else f"as far as {witness} can tell")

    @cached_property
    def _deviations(self) -> dict[str, Deviation]:
        """How files are not what results.json says, by name; none where that itself is not as it was written."""
        results = self.results
        if results is None:
            return {}
        # The manifest is asked before run.json, which has a line of its own.
        changed = list(of_results(self.written, results, recorded(self.folder, self.manifest)[-1:]))
        if changed:
            return {RESULTS: changed[0]}
        return {deviation.file: deviation for deviation in self._said_otherwise(results)}

    def _said_otherwise(self, results: Results) -> Iterator[Deviation]:
        """Yield the files that say otherwise; of signatures that were changed no card is, so none is held to them."""
        yield from of_tables(self.written, results)
        try:
            signatures = signatures_of(self.folder, results.evidence_sha256)
        except DataError as error:
            yield Deviation(SIGNATURES, _said(error, self.folder, SIGNATURES).removeprefix("it "), "")
            return
        changed = list(of_signatures(self.written, signatures))
        yield from changed
        if not changed and self._is_listed(SIGNATURES):
            yield from of_cards(self.written, Edition(results, signatures, self.templates))

    def _is_listed(self, name: str) -> bool:
        """Tell whether a file is as the manifest has it, be it that neither has it; so is all without a manifest."""
        listed = None if self.manifest is None else self.manifest.sha256_of.get(name)
        here = self.written.digest(name) if self.written.has(name) else None
        return self.manifest is None or here == listed

    def _run(self) -> CheckedFile:
        """Check run.json, of whose times nothing else knows."""
        if not self.written.has(RUN):
            return CheckedFile("output", RUN, "not checked", "it is not here")
        try:
            json.loads(self.written.content(RUN))
        except (ValueError, RecursionError):
            return CheckedFile("output", RUN, "differs", "it is no JSON")
        named, known = evidence_in(self.folder), recorded(self.folder, self.manifest)
        if named is not None and named != known[-1]:
            return CheckedFile("output", RUN, "differs", "it names other results than the manifest")
        return CheckedFile("output", RUN, "not checked", "nothing else knows the times and the host in it")

    def _other(self, entry: Path) -> CheckedFile:
        """Tell of a file that the manifest does not list."""
        name = f"{entry.name}/" if entry.is_dir() else entry.name
        if name in WRITTEN:
            return CheckedFile("output", name, "differs", "the manifest does not list it")
        reason = "it is of an earlier run" if name in REFERENCES else "evalpipe did not write it"
        return CheckedFile("output", name, "not checked", reason)


def _said(error: DataError, folder: Path, name: str) -> str:
    """Return the message of an error, with "it" for the file that it begins with."""
    path, message = f"{folder / name} ", error.problems[0].message
    return f"it {message.removeprefix(path)}" if message.startswith(path) else message
