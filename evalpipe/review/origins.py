"""Checks of an output folder against what lies outside it: its spec and data, its ledger, and who signed it.

A file that is not here is no difference. Where a folder and the ledger that its run is recorded in disagree, one of
the two was changed.
"""

from __future__ import annotations

import errno
import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evalpipe.base.databases import query_sha256
from evalpipe.base.digests import file_sha256
from evalpipe.base.ed25519 import can_check_signatures, fingerprint, is_signature_of, stored_signature
from evalpipe.base.formats import KEY_SIGNATURE, MANIFEST, RESULTS
from evalpipe.errors import DataError, EvalpipeError, Problem
from evalpipe.ledger.entries import OPTION, LedgerPlace
from evalpipe.results.signatures import EVIDENCE_DIGITS
from evalpipe.runs.manifest import ReadFile
from evalpipe.runs.verification import PDF, difference_notes, json_differences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import ColumnElement

    from evalpipe.base.ed25519 import KeySignature
    from evalpipe.ledger.entries import Row
    from evalpipe.ledger.store import Ledger
    from evalpipe.results import Results
    from evalpipe.runs.folder import RunFolder
    from evalpipe.runs.manifest import Manifest


Kind = Literal["output", "spec", "input", "ledger", "recomputed"]
Status = Literal["same", "same numbers", "differs", "not checked"]
"""Of a run again, "same numbers" says that bytes differ in last digits alone."""


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A checked file with the status of its check and the reason for that; ``notes`` say in what the file differs."""

    kind: Kind
    file: str
    status: Status
    reason: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of all checks of an output folder, file by file."""

    folder: str
    files: tuple[CheckedFile, ...]
    sign_off: str = ""
    """The status of the document by its signatures, as its card has it."""

    def count(self, status: Status) -> int:
        """Return the number of files with this status."""
        return sum(file.status == status for file in self.files)

    def holds(self, *, inputs: bool = False) -> bool:
        """Tell whether the verification succeeded: no file differs, and every requested check could be made.

        The pages of a PDF must have been compared. With ``inputs``, the spec, every input and the ledger must have
        been checked too.
        """
        needed = {"recomputed", *(("spec", "input", "ledger") if inputs else ())}
        # A PDF of another version cannot be drawn again; whether its pages are known says its line of the folder.
        unchecked = any(file.kind == "output" if file.file == PDF else file.kind in needed
                        for file in self.files if file.status == "not checked")
        return not self.count("differs") and not unchecked


def other_sha256(actual: str, recorded: str) -> str:
    """Return the reason that a file has the sha256 ``actual`` and not the one ``recorded`` in the manifest."""
    return f"its sha256 begins with {actual[:EVIDENCE_DIGITS]}, the manifest has {recorded[:EVIDENCE_DIGITS]}"


def sha256_of_file(path: Path) -> str:
    """Return the sha256 of a regular file; raises OSError where it is none or cannot be read."""
    if not os.path.isfile(path):  # noqa: PTH113 - which tells no error from no file
        raise FileNotFoundError(errno.ENOENT, "there is no such file")
    return file_sha256(path)


ROWS = "they are in a database: --recompute asks for them again"
"""Why rows of a query are not checked."""

SPEC_UNKNOWN = "run.json does not say where the spec is: name it with --spec"


@dataclass(frozen=True)
class Origins:
    """The files that an output folder was made from, as its manifest names them.

    Their paths start at the folder of the spec: of ``spec_override``, where the caller names the spec file, or of the
    one that `run.json` names.
    """

    folder: RunFolder
    manifest: Manifest | None
    spec_override: Path | None = None

    @property
    def start(self) -> Path | None:
        """The folder of the spec, to which paths are relative; None where it is unknown."""
        return self.folder.spec_folder if self.spec_override is None else self.spec_override.parent

    @property
    def spec(self) -> Path | None:
        """The path of the spec file that was run; None where there was none, or its folder is unknown."""
        files = [] if self.manifest is None else self.manifest.spec_files
        recorded_path = files[0].path if files else None
        if self.spec_override is not None or recorded_path is None or self.start is None:
            return self.spec_override
        return self.start / recorded_path

    def spec_files(self) -> Iterator[CheckedFile]:
        """Yield the check of each spec file, the one that was run and those that it extends, by sha256."""
        if self.manifest is None:
            yield CheckedFile("spec", "the spec", "not checked", "no manifest says what its bytes were")
        elif not self.manifest.spec_files:
            yield CheckedFile("spec", "the spec", "not checked", "it was no file, but a mapping within a program")
        for index, file in enumerate(() if self.manifest is None else self.manifest.spec_files):
            if file.path is None:
                yield CheckedFile("spec", "the spec", "not checked", "it was read from the standard input")
            elif index == 0 and self.spec_override is not None:
                yield _check_bytes("spec", file.path, self.spec_override, file.sha256)
            else:
                yield self._check_path("spec", file.path, file.sha256)

    def inputs(self, results: Results | None) -> Iterator[CheckedFile]:
        """Yield the check of each file that the run read; without a manifest, of the data files in the results."""
        data_files = [] if results is None else [
            ReadFile(kind="data" if file.query_sha256 is None else "rows", path=file.path, sha256=file.sha256)
            for file in results.inputs]
        for file in data_files if self.manifest is None else self.manifest.inputs:
            if file.kind == "query":
                shown = f"query of {file.path}"
                datasets = [] if results is None else results.spec.get("datasets", {}).values()
                known = [query_sha256(part["sql"], part["parameters"]) for part in datasets if "sql" in part]
                if results is None:
                    yield CheckedFile("input", shown, "not checked", "there are no results with its text")
                elif file.sha256 in known:
                    yield CheckedFile("input", shown, "same")
                else:
                    yield CheckedFile("input", shown, "differs", "the results have no query with this sha256")
            elif file.kind == "rows":
                yield CheckedFile("input", f"rows of {file.path}", "not checked", ROWS)
            elif file.path is None or file.sha256 is None:
                yield CheckedFile("input", file.path or "data in memory", "not checked", "it was no file")
            else:
                yield self._check_path("input", file.path, file.sha256)

    def _check_path(self, kind: Kind, path: str, sha256: str) -> CheckedFile:
        """Return the check of a file's sha256; ``path`` is absolute or relative to the spec's folder."""
        if self.start is None and not Path(path).is_absolute():
            return CheckedFile(kind, path, "not checked", SPEC_UNKNOWN)
        return _check_bytes(kind, path, (self.start or Path()) / path, sha256)


def _check_bytes(kind: Kind, shown: str, path: Path, sha256: str) -> CheckedFile:
    """Check that the file at ``path`` has a sha256; the check names it ``shown``, its path as the manifest has it."""
    try:
        actual = sha256_of_file(path)
    except OSError as error:
        return CheckedFile(kind, shown, "not checked", f"cannot read {path}: {error.strerror or error}")
    return CheckedFile(kind, shown, "same") if actual == sha256 else (
        CheckedFile(kind, shown, "differs", other_sha256(actual, sha256)))


LEDGER_UNKNOWN = "the spec, which may name it, is not known: name the ledger with --ledger, or the spec with --spec"
ADDED_LATER = ("value", "error", "rows", "support")
"""What a ledger of before format 3 has not of the evidence of a night."""


def check_ledger(results: Results | None, origins: Origins, address: str | None) -> CheckedFile | None:
    """Return the check of a folder's results against all that a ledger recorded of them; None without a ledger.

    The ledger is the one at ``address``, a file or a URL, else that of the spec, else that beside the folder. It is
    "not checked" where the ledger or the results cannot be read.
    """
    place, uncertainty, text_in_spec = _ledger_place(origins, address)
    if place is None:
        return None if uncertainty is None else CheckedFile("ledger", "the ledger", "not checked", uncertainty)
    if results is None:
        file = CheckedFile("ledger", place.shown, "not checked", f"{RESULTS}, which is held to it, cannot be read")
    else:
        try:
            place.found()  # before SQLAlchemy is imported, which a ledger that is not there does not need
            from evalpipe.ledger.store import Ledger

            file = _compare_with_run(Ledger.read(place), results, origins.folder.path)
        except EvalpipeError as error:
            remedy = f"; name another with {OPTION}, as after a run with --set ledger=…" if address is None else ""
            reason = uncertainty or f"{error.problems[0].message}{remedy}"
            file = CheckedFile("ledger", place.shown, "not checked", reason)
    if text_in_spec is None:
        return file
    # What the environment holds is not shown, as nowhere else.
    return replace(file, file=text_in_spec, reason=file.reason.replace(place.shown, text_in_spec))


def refuse_other_record(folder: RunFolder, address: str | None) -> CheckedFile | None:
    """Return the check of a folder's results against a ledger; raises DataError where they differ.

    The ledger is the one at ``address``, else that of the spec, else that beside the folder. Returns None without one.
    """
    checked = check_ledger(folder.results, Origins(folder, folder.manifest), address)
    if checked is not None and checked.status == "differs":
        message = f"the ledger '{checked.file}' does not agree with {folder.results_file}: {checked.reason}"
        hint = (f"see which was changed: evalpipe verify {folder.path} --recompute; or run again, and look at the new "
                "results")
        raise DataError(Problem("other-in-ledger", message, hint=hint, notes=checked.notes))
    return checked


def _ledger_place(origins: Origins, address: str | None) -> tuple[LedgerPlace | None, str | None, str | None]:
    """Return the place of the ledger, the reason why that is uncertain, and its text in the spec, if that has a "${".

    There is no ledger where both the place and the reason are None. The ledger is the one at ``address``, a file or a
    URL, else that of the spec, else that beside the output folder.
    """
    from evalpipe.plan.resolve import ledger_named
    from evalpipe.run import load

    if address is not None:
        return LedgerPlace.of(address), None, None
    folder = origins.folder.path
    default, uncertainty = LedgerPlace.default_for(folder), LEDGER_UNKNOWN
    if origins.spec is not None and origins.spec.is_file():
        manifest = origins.manifest
        overrides, day = ([], None) if manifest is None else (manifest.overrides, manifest.as_of)
        try:
            spec = load(str(origins.spec), overrides, as_of=day)
            text_in_spec = spec.ledger if isinstance(spec.ledger, str) and "${" in spec.ledger else None
            return LedgerPlace.named(ledger_named(spec), folder), None, text_in_spec
        except EvalpipeError as error:
            uncertainty = f"the spec, which names it, cannot be read: {error.problems[0].message}"
    return (default if default.file is not None and default.file.exists() else None), uncertainty, None


def _compare_with_run(ledger: Ledger, results: Results, folder: Path) -> CheckedFile:
    """Return the check of results against the ledger's newest run of their folder, or of their sha256, or day."""
    from evalpipe.ledger.store import RUNS

    results_sha256, shown = results.evidence_sha256, ledger.place.shown
    of_folder = RUNS.c.folder == ledger.place.folder(folder)
    of_day = (RUNS.c.name == results.name) & (RUNS.c.as_of == results.as_of)
    conditions = (of_folder, RUNS.c.results_sha256 == results_sha256, of_day)
    run = next(filter(None, (_newest_run(ledger, condition) for condition in conditions)), None)
    if run is None:
        return CheckedFile("ledger", shown, "not checked", "it has no run of this folder")
    notes = tuple(difference_notes(_record_differences(ledger, run, results), "the ledger"))
    if run["results_sha256"] != results_sha256:
        is_same_folder = run["folder"] == ledger.place.folder(folder)
        subject = "this folder" if is_same_folder else f"{results.name} as of {run['as_of']}"
        # The ledger knows these results too, so the run that it has as the newest was recorded after theirs.
        later = "later" if ledger.knows(folder, results_sha256) else "other"
        recorded_digits, digits = (digest[:EVIDENCE_DIGITS] for digest in (run["results_sha256"], results_sha256))
        reason = (f"it has {later} results of {subject}: their sha256 begins with {recorded_digits}, that of "
                  f"results.json with {digits}")
        return CheckedFile("ledger", shown, "differs", reason, notes)
    if notes:
        return CheckedFile("ledger", shown, "differs", "its row of these results is not what results.json says", notes)
    return CheckedFile("ledger", shown, "same", "evalpipe gc has removed its numbers" if run["forgotten"] else "")


def _newest_run(ledger: Ledger, condition: ColumnElement[bool]) -> Row | None:
    """Return the last recorded run in a ledger that meets a SQL condition; None without any."""
    from sqlalchemy import select

    from evalpipe.ledger.store import RUNS

    newest = select(RUNS).where(condition).order_by(RUNS.c.last_recorded.desc(), RUNS.c.run.desc()).limit(1)
    return next(iter(ledger.read_rows(newest)), None)


def _record_differences(ledger: Ledger, run: Row, results: Results) -> list[tuple[str, object, object]]:
    """Return how the ledger's rows of a run differ from those that it would record of ``results``: place, old, new."""
    from evalpipe.ledger.entries import estimate_rows, evidence_rows, run_row, verdict_rows
    from evalpipe.ledger.store import ESTIMATES, EVIDENCE, VERDICTS

    expected = run_row(results)
    # Sentences are of the version that wrote them. Earlier formats have no facts, no sha256 of inputs, and no verdict
    # where nothing was judged.
    not_compared = {"results_sha256", *(key for key in ("inputs_sha256", "facts") if run[key] is None)}
    compared = [key for key in expected if key not in not_compared]
    recorded_rows: Row = {key: run[key] for key in compared} | {"verdict": run["verdict"] or "none"}
    expected_rows: Row = {key: expected[key] for key in recorded_rows}
    tables = {"estimates": (ESTIMATES, estimate_rows), "gates": (VERDICTS, verdict_rows),
              "evidence": (EVIDENCE, evidence_rows)}
    for name, (table, rows_of) in tables.items():
        if name == "evidence" or not run["forgotten"]:
            recorded = ledger.rows_of(table, [run["run"]])[run["run"]]
            missing = ADDED_LATER if any(row.get("rows", 0) is None for row in recorded) else ()
            recorded_rows[name], expected_rows[name] = (
                [{key: value for key, value in row.items() if key not in ("place", "reason", *missing)} for row in rows]
                for rows in (recorded, rows_of(results)))
    return list(json_differences(json.dumps(recorded_rows).encode(), json.dumps(expected_rows).encode()))


def check_key_signature(folder: RunFolder, public: bytes | None) -> CheckedFile:
    """Check the signature of the manifest by a key: it must be by the ``public`` key, where that is not None."""
    status, reason = _key_status(folder, public)
    return CheckedFile("output", KEY_SIGNATURE, status, reason)


def _key_status(folder: RunFolder, public: bytes | None) -> tuple[Status, str]:
    """Return the status of the manifest's signature, and the reason; it must be by the key ``public``, if not None."""
    try:
        content = folder.content_if_there(KEY_SIGNATURE)
    except DataError as error:
        return "differs", error.problems[0].message.replace(str(folder.file(KEY_SIGNATURE)), "it")
    if content is None:
        is_required = public is not None
        return ("differs", "the manifest is not signed, and must be by the key that was given") if is_required else (
            "not checked", "the manifest is not signed")
    stored = stored_signature(content)
    if stored is None:
        return "differs", "it holds no signature as evalpipe writes it"
    if not can_check_signatures():
        return "not checked", "cryptography is not installed: pip install 'evalpipe[sign]'"
    return _signer_status(folder, stored, public)


def _signer_status(folder: RunFolder, stored: KeySignature, public: bytes | None) -> tuple[Status, str]:
    """Return the status of a stored signature, and the reason: it must sign the manifest, by the ``public`` key."""
    try:
        is_of_manifest = is_signature_of(stored, folder.content(MANIFEST))
    except DataError:
        return "differs", "there is no manifest that it could be of"
    if not is_of_manifest:
        return "differs", "it is not of this manifest"
    if public is None:
        return "same", f"signed by the key {stored.fingerprint}; --public-key checks whose key that is"
    if stored.public != public:
        required_key = fingerprint(public)
        return "differs", f"signed by another key, {stored.fingerprint}; the one that was given is {required_key}"
    return "same", f"signed by the key that was given, {stored.fingerprint}"
