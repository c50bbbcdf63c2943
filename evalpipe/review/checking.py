"""`evalpipe verify`: each file of an output folder, and each that it was made from, against what is recorded of it.

It is a conductor beside `evalpipe.run`. The bytes of a file are compared with the manifest, its numbers with
`results.json`. With --recompute the spec is run again in a temporary folder, and bytes or numbers are compared.
"""

from __future__ import annotations

import json
import math
import os
import platform
import shutil
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evalpipe.base.ed25519 import read_public_key
from evalpipe.base.folders import TemporaryFolder
from evalpipe.base.formats import (
    ESTIMATES,
    FORMATS,
    KEY_SIGNATURE,
    MANIFEST,
    REFERENCE,
    REFERENCE_BEFORE,
    RESULTS,
    RUN,
    RUN_FILES,
    SIGNATURES,
)
from evalpipe.card.sign_off import status_text
from evalpipe.errors import DataError, EvalpipeError, UsageError
from evalpipe.results.comments import COMMENT_LIST
from evalpipe.results.signatures import EVIDENCE_DIGITS, SIGNATURE_LIST
from evalpipe.review.ledger_records import check_ledger, check_nights, evidence_again, reference_in_ledger
from evalpipe.review.origins import (
    ROWS,
    CheckedFile,
    Origins,
    Verification,
    check_key_signature,
    other_sha256,
)
from evalpipe.run import templates_from
from evalpipe.runs.folder import RunFolder
from evalpipe.runs.manifest import libraries
from evalpipe.runs.verification import (
    HASHES,
    PAGE,
    PDF,
    Deviation,
    FolderCheck,
    difference_notes,
    json_differences,
    not_compared,
)
from evalpipe.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalpipe.results import Gate, Results
    from evalpipe.results.signatures import Added, RecordList
    from evalpipe.run import Progress
    from evalpipe.runs.manifest import Manifest
    from evalpipe.spec.spec import Spec
    from evalpipe.templating.files import Templates


REFERENCES = (REFERENCE, REFERENCE_BEFORE)
CARDS = tuple(entry.file for name, entry in FORMATS.items() if name != "pdf")
"""Files of the card that are compared as texts."""

NOT_LISTED = (MANIFEST, KEY_SIGNATURE, RUN)
"""Files that are no entries of the manifest."""

WAYS = ("who forges the pages may write other versions: draw it again (evalpipe render) and read it, or verify with "
        "the --public-key of who signed the manifest")
"""What is to be done about a PDF whose pages are not compared."""


class Outputs:
    """Checks of the files in an output folder against its manifest and its results."""

    def __init__(self, folder: RunFolder, templates: Templates | None) -> None:
        """Read the manifest and the results; ``broken`` has the reason, by file name, where one cannot be read."""
        self.folder, self.templates = folder, templates
        self.manifest: Manifest | None = None
        self.results: Results | None = None
        self.broken: dict[str, str] = {}
        try:
            self.manifest = folder.manifest
        except DataError as error:
            self.broken[MANIFEST] = _message_about_it(error, folder.file(MANIFEST))
        try:
            self.results = folder.results if folder.has(RESULTS) else None
        except DataError as error:
            self.broken[RESULTS] = _message_about_it(error, folder.file(RESULTS))

    @property
    def listed(self) -> dict[str, str]:
        """The sha256 of each file that the manifest lists, by name; empty without a manifest."""
        return {} if self.manifest is None else self.manifest.sha256_of

    def checked(self) -> Iterator[CheckedFile]:
        """Yield the check of every file in the folder: the manifest, what it lists, `run.json`, and all others."""
        yield self._check_manifest()
        ours = sorted(name for name in RUN_FILES if self.folder.has(name) and name not in NOT_LISTED)
        names = dict.fromkeys([RESULTS, *(self.listed or ours)])
        for name in names:
            yield self._check_file(name, self.listed.get(name))
        yield self._check_run()
        for entry in self.folder.entries:
            name = f"{entry.name}/" if entry.is_dir() else entry.name
            if name in RUN_FILES and name not in names and name not in NOT_LISTED:
                yield CheckedFile("output", name, "differs", "the manifest does not list it")
            elif entry.name not in names and entry.name not in NOT_LISTED:
                reason = "it is of an earlier run" if name in REFERENCES else "evalpipe did not write it"
                yield CheckedFile("output", name, "not checked", reason)

    def _check_manifest(self) -> CheckedFile:
        """Check that the manifest can be read and agrees with the results that it lists."""
        if MANIFEST in self.broken:
            return CheckedFile("output", MANIFEST, "differs", self.broken[MANIFEST])
        if self.manifest is None:
            reason = "there is none, as of earlier versions; each file is held to results.json alone"
            return CheckedFile("output", MANIFEST, "not checked", reason)
        manifest, results = self.manifest, self.results
        if results is None or self.listed.get(RESULTS) != results.evidence_sha256:
            return CheckedFile("output", MANIFEST, "same")
        input_sha256 = {file.sha256 for file in manifest.inputs if file.kind in ("data", "rows")}
        facts = {"name": manifest.name == results.name, "spec": manifest.spec_sha256 == results.spec_sha256,
                 "version": manifest.evalpipe_version == results.evalpipe_version,
                 "day": manifest.as_of == results.as_of,
                 "sha256 of the data": input_sha256 == {file.sha256 for file in results.inputs}}
        differing_fact = next((fact for fact, agrees in facts.items() if not agrees), None)
        return CheckedFile("output", MANIFEST, "same") if differing_fact is None else (
            CheckedFile("output", MANIFEST, "differs", f"it has another {differing_fact} than results.json"))

    def _check_file(self, name: str, sha256: str | None) -> CheckedFile:
        """Check that a file is there, has ``sha256``, where the manifest lists one, and agrees with the results."""
        if not self.folder.has(name):
            if self.results is not None and self.results.row_file is not None and name == self.results.row_file.file:
                return CheckedFile("output", name, "not checked", "it is not here; it may be kept elsewhere")
            return CheckedFile("output", name, "differs", "it is missing")
        actual, deviation = self.folder.sha256(name), self._deviations.get(name)
        notes = () if deviation is None else tuple(deviation.notes)
        if sha256 is not None and actual != sha256:
            return CheckedFile("output", name, "differs", other_sha256(actual, sha256), notes)
        if deviation is not None:
            return CheckedFile("output", name, "differs", f"it {deviation.how}", notes)
        return self._check_uncontradicted(name, is_listed=sha256 is not None)

    def _check_uncontradicted(self, name: str, *, is_listed: bool) -> CheckedFile:
        """Return the check of a file that agrees with the results: "same", unless it is broken or was not compared.

        ``is_listed`` tells if the manifest has its sha256.
        """
        if name in self.broken:
            return CheckedFile("output", name, "differs", self.broken[name])
        if not is_listed and self.results is None:
            return CheckedFile("output", name, "not checked", "results.json, which it is held to, cannot be read")
        why_not_compared = not_compared(self.folder.content(name)) if name == PDF else None
        if why_not_compared is not None:
            return CheckedFile("output", name, "not checked", why_not_compared, (WAYS,))
        version_reason = self._other_version(name)
        if version_reason is not None:
            return CheckedFile("output", name, "same" if is_listed or name == PAGE else "not checked", version_reason)
        witness = "run.json and the card" if name == RESULTS else RESULTS
        return CheckedFile("output", name, "same", "" if is_listed else f"as far as {witness} can tell")

    def _other_version(self, name: str) -> str | None:
        """Return what is compared of a file of the card whose results another version wrote; None for other files."""
        if self.results is None or self.results.evalpipe_version == VERSION or name not in CARDS:
            return None
        compared = "its numbers are compared, its words are not" if name == PAGE else "its text is not compared"
        return f"evalpipe {self.results.evalpipe_version} wrote the results, and this is {VERSION}: {compared}"

    @cached_property
    def _deviations(self) -> dict[str, Deviation]:
        """How files deviate from results.json, by file name; if results.json itself was changed, that alone."""
        if self.results is None:
            return {}
        check = FolderCheck(self.folder, self.results, self.templates)
        # The last sha256 is that of the manifest, if there is one: run.json has a line of its own.
        changed = list(check.results_file(self.folder.recorded_evidence(self.manifest)[-1:]))
        if changed:
            return {RESULTS: changed[0]}
        return {deviation.file: deviation for deviation in self._other_deviations(check)}

    def _other_deviations(self, check: FolderCheck) -> Iterator[Deviation]:
        """Yield the files that deviate from results.json; cards only where signatures and comments are unchanged."""
        yield from check.tables()
        changed = [*self._changed_records(check, SIGNATURE_LIST, lambda: self.folder.signatures),
                   *self._changed_records(check, COMMENT_LIST, lambda: self.folder.comments)]
        yield from changed
        actual = {file: self.folder.sha256(file) for file in HASHES if self.folder.has(file)}
        if not changed and (self.manifest is None or all(actual.get(file) == self.listed.get(file) for file in HASHES)):
            yield from check.cards(self.folder.signatures)

    def _changed_records(
        self, check: FolderCheck, kind: RecordList[Added], read: Callable[[], Sequence[Added]]
    ) -> Iterator[Deviation]:
        """Yield how a file of signatures or comments, which ``read`` returns, was changed."""
        try:
            yield from check.record_file(kind, read())
        except DataError as error:
            how = _message_about_it(error, self.folder.file(kind.file)).removeprefix("it ")
            yield Deviation(kind.file, how, "")

    def _check_run(self) -> CheckedFile:
        """Check that run.json can be read and names the results that the manifest lists."""
        if not self.folder.has(RUN):
            return CheckedFile("output", RUN, "not checked", "it is not here")
        try:
            json.loads(self.folder.content(RUN))
        except (ValueError, RecursionError):
            return CheckedFile("output", RUN, "differs", "it is no JSON")
        evidence = self.folder.evidence_in_run
        if evidence is not None and evidence != self.folder.recorded_evidence(self.manifest)[-1]:
            return CheckedFile("output", RUN, "differs", "it names other results than the manifest")
        return CheckedFile("output", RUN, "not checked", "nothing else knows the times and the host in it")


def _message_about_it(error: DataError, path: Path) -> str:
    """Return an error's message with "it" in place of the ``path`` at its beginning."""
    message = error.problems[0].message
    return f"it {message.removeprefix(f'{path} ')}" if message.startswith(f"{path} ") else message


ALIKE = 1e-12
"""How far apart two numbers may be and still be the same: as a part of the larger one, or of 1 where both are below."""


def apart_in_results(first: bytes, second: bytes) -> float:
    """Return the largest difference of two numbers in two results files, infinity where anything else differs.

    The sha256 of the row-level file is left out: that file is compared by itself.
    """
    try:
        documents = [json.loads(content) for content in (first, second)]
    except (ValueError, RecursionError):
        return math.inf
    for document in documents:
        if isinstance(document, dict) and isinstance(document.get("row_file"), dict):
            document["row_file"]["sha256"] = None
    return _values_apart(*documents)


def _values_apart(first: object, second: object) -> float:
    """Return the largest difference of two numbers in two JSON values, infinity where anything else differs.

    It is relative to the larger number, or absolute where both are below 1.
    """
    if isinstance(first, dict) and isinstance(second, dict):
        if [*first] != [*second]:
            return math.inf
        return max((_values_apart(first[key], second[key]) for key in second), default=0.0)
    if isinstance(first, list) and isinstance(second, list):
        return max(map(_values_apart, first, second), default=0.0) if len(first) == len(second) else math.inf
    if isinstance(first, float) and isinstance(second, float):
        return 0.0 if first == second else abs(first - second) / max(1.0, abs(first), abs(second))
    return 0.0 if type(first) is type(second) and first == second else math.inf


def largest_difference_in_rows(first: Path, second: Path) -> float:
    """Return the largest difference of two numbers in two row-level files, infinity where anything else differs.

    It is relative to the larger number, or absolute where both are below 1.
    """
    import numpy as np
    import polars as pl

    try:
        files = [pl.read_parquet(file) if file.suffix == ".parquet" else pl.read_csv(file, infer_schema_length=None)
                 for file in (first, second)]
    except (pl.exceptions.PolarsError, OSError):
        return math.inf
    if files[0].schema != files[1].schema or files[0].height != files[1].height:
        return math.inf
    largest = 0.0
    for name, kind in files[0].schema.items():
        left, right = (file[name] for file in files)
        if left.equals(right, null_equal=True):
            continue
        if not kind.is_float() or not left.is_null().equals(right.is_null()):
            return math.inf
        a, b = (values.drop_nulls().to_numpy() for values in (left, right))
        with np.errstate(invalid="ignore"):
            differences = np.where(a == b, 0.0, np.abs(a - b) / np.maximum(1.0, np.maximum(np.abs(a), np.abs(b))))
        largest = max(largest, math.inf if np.isnan(differences).any() else float(differences.max(initial=0.0)))
    return largest


@dataclass(frozen=True)
class _Repeat:
    """A run to be repeated: the ``outputs`` that it wrote, and its ``origins``, the files that it read."""

    outputs: Outputs
    origins: Origins

    @property
    def overrides(self) -> list[str]:
        """The overrides of the spec, `--set`, with which the run was started."""
        return [] if self.outputs.manifest is None else self.outputs.manifest.overrides

    @property
    def as_of(self) -> str | None:
        """The day as of which the results are, or None."""
        return None if self.outputs.manifest is None else self.outputs.manifest.as_of

    @cached_property
    def spec(self) -> Spec:
        """The spec file as it is now, with the overrides and the day of the run; raises SpecError."""
        from evalpipe.run import load

        return load(str(self.origins.spec), self.overrides, as_of=self.as_of)

    @cached_property
    def against_last(self) -> Gate | None:
        """The first gate `against: last` that was judged against earlier results; None without any."""
        gates = () if self.outputs.results is None else self.outputs.results.gates
        return next((gate for gate in gates if gate.against == "last" and gate.against_sha256), None)

    @cached_property
    def reference(self) -> Path | None:
        """The path of the results that gates `against: last` were judged against; None where they are gone."""
        if self.against_last is None:
            return None
        folder, reference_sha256 = self.outputs.folder, str(self.against_last.against_sha256)
        name = next((name for name in REFERENCES if folder.sha256_if_readable(name) == reference_sha256), None)
        if name is not None:
            return folder.file(name)
        try:
            return reference_in_ledger(self.spec, reference_sha256, folder.path)
        except EvalpipeError:
            return None

    @property
    def hindrance(self) -> str | None:
        """The reason why the run cannot be repeated; None where it can."""
        gate = self.against_last
        if self.outputs.manifest is None or not self.outputs.manifest.spec_files:
            return "no file of the spec is known"
        if self.origins.spec is None:
            return "where the spec lies is not known: name it with --spec"
        if gate is not None and self.reference is None:
            day = "" if gate.against_as_of is None else f"those as of {gate.against_as_of}, "
            begins = str(gate.against_sha256)[:EVIDENCE_DIGITS]
            return (f"its gates `against: last` were judged against results that are no longer here, {day}with a "
                    f"sha256 that begins with {begins}: a later run has replaced them")
        return None


def recomputed(outputs: Outputs, origins: Origins, progress: Progress | None) -> Iterator[CheckedFile]:
    """Repeat the run from its spec and yield the comparison of each file, or why it cannot be repeated."""
    repeat = _Repeat(outputs, origins)
    hindrance = repeat.hindrance
    if hindrance is not None:
        yield CheckedFile("recomputed", RESULTS, "not checked", hindrance)
        return
    with TemporaryFolder("evalpipe-verify-") as temporary:
        again = RunFolder(Path(temporary) / "again")
        try:
            _run_again(repeat, again, progress)
        except EvalpipeError as error:
            first = error.problems[0]
            place = "" if first.place is None else f" ({first.place})"
            yield CheckedFile("recomputed", RESULTS, "not checked", f"the run ended: {first.message}{place}")
            return
        yield from _compare_files(outputs, again)
    yield from check_nights(repeat.spec, outputs.results, outputs.folder.path)


def _run_again(repeat: _Repeat, again: RunFolder, progress: Progress | None) -> None:
    """Run the spec into the folder ``again``, with the same reference, signatures, comments and formats."""
    from evalpipe.card import render
    from evalpipe.run import run_again

    outputs = repeat.outputs
    again.path.mkdir()
    added = [(name, outputs.folder.file(name)) for name in HASHES]
    for name, file in (*added, (REFERENCE, repeat.reference)):
        if file is not None and file.exists():
            shutil.copyfile(file, again.file(name))
    evidence = evidence_again(repeat.spec, outputs.folder.path)
    results = run_again(
        str(repeat.origins.spec), again.path, outputs.results, overrides=repeat.overrides, as_of=repeat.as_of,
        evidence=evidence, progress=progress)
    # The card may have been rendered in further formats since, or with other templates.
    done = () if outputs.templates is not None else again.formats
    further = [form for form in outputs.folder.formats if form not in done]
    signatures, comments = (again.records_of(SIGNATURE_LIST, results.evidence_sha256),
                            again.records_of(COMMENT_LIST, results.evidence_sha256))
    for name, content in render(results, further, signatures, outputs.templates, comments=comments).items():
        again.file(name).write_bytes(content)


def _compare_files(outputs: Outputs, again: RunFolder) -> Iterator[CheckedFile]:
    """Yield the comparison of each file with that of the repeated run, byte for byte, or else number by number."""
    folder, rewritten = outputs.folder, dict[str, bytes]()  # once results.json has the same numbers: what it comes to
    for name in [RESULTS, *(name for name in outputs.listed if name not in (RESULTS, *HASHES, *REFERENCES))]:
        if not folder.has(name):
            yield CheckedFile("recomputed", name, "not checked", "it is not in the folder")
        elif again.sha256_if_readable(name) == folder.sha256(name):
            yield CheckedFile("recomputed", name, "same")
        elif name == PDF and (why_not_compared := not_compared(folder.content(PDF))) is not None:
            yield CheckedFile("recomputed", PDF, "not checked", why_not_compared)
        elif folder.content(name) == rewritten.get(name):
            yield CheckedFile("recomputed", name, "same numbers", f"it is what {RESULTS} in the folder comes to")
        elif (largest := _files_apart(outputs, again, name)) <= ALIKE:
            rewritten = _files_that_follow(outputs) if name == RESULTS else rewritten
            digits = f"numbers differ by {largest:.0e} at most, all else is the same"
            reasons = [f"the run again gives other last digits: {digits}", *_changed_versions(outputs)]
            yield CheckedFile("recomputed", name, "same numbers", "; ".join(reasons))
        elif not again.has(name):
            yield CheckedFile("recomputed", name, "differs", "the run again does not write it")
        else:
            reasons = ["the run again gives other bytes", *_changed_versions(outputs)]
            notes: list[str] = []
            if name == RESULTS and outputs.results is not None:
                nights, nights_again = ([gate.sequence and gate.sequence.nights_sha256 for gate in results.gates]
                                        for results in (outputs.results, again.results))
                reasons += [] if nights == nights_again else ["the ledger has other earlier nights than then"]
                differences = json_differences(folder.content(name), again.content(name))
                notes = difference_notes(differences, "the folder", "in", "the run again")
            yield CheckedFile("recomputed", name, "differs", "; ".join(reasons), tuple(notes))


def _files_apart(outputs: Outputs, again: RunFolder, name: str) -> float:
    """Return the largest difference of two numbers in results or rows and in the repeated run's; else infinity."""
    rows = None if outputs.results is None or outputs.results.row_file is None else outputs.results.row_file.file
    if not again.has(name) or name not in (RESULTS, rows):
        return math.inf
    if name == RESULTS:
        return apart_in_results(outputs.folder.content(RESULTS), again.content(RESULTS))
    return largest_difference_in_rows(outputs.folder.file(name), again.file(name))


def _files_that_follow(outputs: Outputs) -> dict[str, bytes]:
    """Return the files that this version writes from the folder's results.json: table and card, by name."""
    from evalpipe.card import render
    from evalpipe.results.frames import estimates_csv

    if outputs.results is None:
        return {}
    card = render(outputs.results, outputs.folder.formats, outputs.folder.signatures, outputs.templates,
                  comments=outputs.folder.comments)
    return {ESTIMATES: estimates_csv(outputs.results).encode(), **card}


def _changed_versions(outputs: Outputs) -> list[str]:
    """Return a sentence for each of evalpipe, Python and the libraries whose version is not that of the run."""
    then = {} if outputs.manifest is None else {
        "evalpipe": outputs.manifest.evalpipe_version, "python": outputs.manifest.python, **outputs.manifest.libraries}
    now = {**libraries(then), "evalpipe": VERSION, "python": platform.python_version()}
    return [f"{name} was {version} and is {now.get(name, 'gone')}" for name, version in then.items()
            if now.get(name) != version]


def verify(
    folder: str | os.PathLike[str], *, spec: str | os.PathLike[str] | None = None,
    public_key: str | os.PathLike[str] | None = None, recompute: bool = False,
    template: str | os.PathLike[str] | Literal[False] | None = None, ledger: str | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Check an output folder, its spec and its inputs against what its run recorded; nothing is written there.

    ``spec`` is the spec file, where it lies elsewhere now; ``public_key`` a PEM file of the key that must have signed
    the manifest; ``template`` is as of `evalpipe.render`; ``ledger`` a file or a URL, where it is another than the
    spec says. With ``recompute`` the spec is run again, in a temporary
    folder, and the bytes are compared, or the numbers where these differ. Raises DataError where the folder or a file
    in it cannot be read, UsageError where ``spec``, a key or a template cannot be.
    """
    run = RunFolder(folder)
    if not run.holds_run:
        hint = "name the folder that a run wrote"
        raise DataError.of("no-results", f"there is no output folder of evalpipe at '{folder}'", hint)
    if spec is not None and not os.path.isfile(spec):  # noqa: PTH113 - which raises no error
        raise UsageError.of("missing-file", f"there is no file {spec}", "name the file of the spec that was run")
    key = None if public_key is None else read_public_key(public_key)
    outputs = Outputs(run, templates_from(template))
    origins = Origins(run, outputs.manifest, None if spec is None else Path(spec))
    signature = check_key_signature(run, key)
    signed_manifest = outputs.manifest if key is not None and signature.status == "same" else None
    signed_files = {} if signed_manifest is None else signed_manifest.sha256_of
    files = [*outputs.checked(), signature, *origins.spec_files(), *origins.inputs(outputs.results)]
    if PDF in signed_files:  # whose pages were not compared, but the required key signed its sha256
        vouched = "the key that was given vouches for its bytes; "
        files = [replace(file, status="same", reason=vouched + file.reason, notes=())
                 if (file.kind, file.file, file.status) == ("output", PDF, "not checked") else file for file in files]
    ledger_check = check_ledger(outputs.results, origins, ledger)
    files += [] if ledger_check is None else [ledger_check]
    if recompute:
        repeated = list(recomputed(outputs, origins, progress))
        if any(file.file == RESULTS and file.status in ("same", "same numbers") for file in repeated):
            # The run again asked for the rows of queries, with their sha256 in its results.
            files = [replace(file, status="same", reason="") if file.reason == ROWS else file for file in files]
        files += repeated
    changed = [file.file for file in files if file.kind == "output" and file.status == "differs"
               and file.file in (RESULTS, SIGNATURES)]
    if changed or outputs.results is None:
        sign_off = f"unknown, as {' and '.join(changed) or RESULTS} cannot be trusted"
    else:
        sign_off = status_text(outputs.results, outputs.folder.signatures)
    return Verification(str(folder), tuple(files), sign_off)
