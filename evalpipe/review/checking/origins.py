"""What an output folder is held to that lies outside it: its spec and data, its ledger, and who signed it.

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
from evalpipe.base.ed25519 import can_check, fingerprint, is_of, stored_signature
from evalpipe.base.formats import KEY_SIGNATURE, MANIFEST, RESULTS
from evalpipe.errors import DataError, EvalpipeError, Problem
from evalpipe.ledger.place import OPTION, LedgerPlace
from evalpipe.results.signatures import EVIDENCE_DIGITS
from evalpipe.runs.manifest import ReadFile
from evalpipe.runs.verification import PDF, json_differences, notes_on

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
    """A file with what became of its check, and the reason in a few words; ``notes`` say in what it differs."""

    kind: Kind
    file: str
    status: Status
    reason: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """What the checks of an output folder came to, file by file."""

    folder: str
    files: tuple[CheckedFile, ...]

    def count(self, status: Status) -> int:
        """Return how many files have a status."""
        return sum(file.status == status for file in self.files)

    def holds(self, *, inputs: bool = False) -> bool:
        """Tell whether no file differs, the pages of a PDF were compared, and what was to be recomputed could be.

        With ``inputs``, also whether the spec, every input and the ledger could be checked.
        """
        needed = {"recomputed", *(("spec", "input", "ledger") if inputs else ())}
        # A PDF of another version cannot be drawn again; whether its pages are known says its line of the folder.
        unchecked = any(file.kind == "output" if file.file == PDF else file.kind in needed
                        for file in self.files if file.status == "not checked")
        return not self.count("differs") and not unchecked


def other_sha256(here: str, recorded: str) -> str:
    """Say that a file has another sha256 than the one that is recorded."""
    return f"its sha256 begins with {here[:EVIDENCE_DIGITS]}, the manifest has {recorded[:EVIDENCE_DIGITS]}"


def sha256_of_file(path: Path) -> str:
    """Return the sha256 of a file; raises OSError where it cannot be read, or is a folder or a device."""
    if not os.path.isfile(path):  # noqa: PTH113 - which tells no error from no file
        raise FileNotFoundError(errno.ENOENT, "there is no such file")
    return file_sha256(path)


ROWS = "they are in a database: --recompute asks for them again"
"""Why rows of a query are not checked."""

SPEC_UNKNOWN = "run.json does not say where the spec is: name it with --spec"


@dataclass(frozen=True)
class Origins:
    """The files that an output folder was made from, as its manifest names them.

    Their paths start at the folder of the spec: of the file ``given``, or of the one that `run.json` names.
    """

    folder: RunFolder
    manifest: Manifest | None
    given: Path | None = None

    @property
    def start(self) -> Path | None:
        """The folder that paths start at; None where it is not known."""
        return self.folder.spec_folder if self.given is None else self.given.parent

    @property
    def spec(self) -> Path | None:
        """The file of the spec that was run; None where there was none, or where it lies is not known."""
        written = self.manifest.spec_files[0].path if self.manifest is not None and self.manifest.spec_files else None
        if self.given is not None or written is None or self.start is None:
            return self.given
        return self.start / written

    def spec_files(self) -> Iterator[CheckedFile]:
        """Check the files of the spec: the one that was run, and those that it extends."""
        if self.manifest is None:
            yield CheckedFile("spec", "the spec", "not checked", "no manifest says what its bytes were")
        elif not self.manifest.spec_files:
            yield CheckedFile("spec", "the spec", "not checked", "it was no file, but a mapping within a program")
        for place, file in enumerate(() if self.manifest is None else self.manifest.spec_files):
            if file.path is None:
                yield CheckedFile("spec", "the spec", "not checked", "it was read from the standard input")
            elif place == 0 and self.given is not None:
                yield _check_bytes("spec", file.path, self.given, file.sha256)
            else:
                yield self._check_at("spec", file.path, file.sha256)

    def inputs(self, results: Results | None) -> Iterator[CheckedFile]:
        """Check the files that were read; without a manifest, those of data that the results name."""
        named = [] if results is None else [
            ReadFile(kind="data" if file.query_sha256 is None else "rows", path=file.path, sha256=file.sha256)
            for file in results.inputs]
        for file in named if self.manifest is None else self.manifest.inputs:
            if file.kind == "query":
                yield _check_query(file, results)
            elif file.kind == "rows":
                yield CheckedFile("input", f"rows of {file.path}", "not checked", ROWS)
            elif file.path is None or file.sha256 is None:
                yield CheckedFile("input", file.path or "data in memory", "not checked", "it was no file")
            else:
                yield self._check_at("input", file.path, file.sha256)

    def _check_at(self, kind: Kind, path: str, sha256: str) -> CheckedFile:
        if self.start is None and not Path(path).is_absolute():
            return CheckedFile(kind, path, "not checked", SPEC_UNKNOWN)
        return _check_bytes(kind, path, (self.start or Path()) / path, sha256)


def _check_query(file: ReadFile, results: Results | None) -> CheckedFile:
    """Check the text of a query against those that the results have in their spec."""
    shown = f"query of {file.path}"
    if results is None:
        return CheckedFile("input", shown, "not checked", "there are no results with its text")
    datasets = results.spec.get("datasets", {}).values()
    here = [query_sha256(dataset["sql"], dataset["parameters"]) for dataset in datasets if "sql" in dataset]
    return CheckedFile("input", shown, "same") if file.sha256 in here else (
        CheckedFile("input", shown, "differs", "the results have no query with this sha256"))


def _check_bytes(kind: Kind, shown: str, path: Path, sha256: str) -> CheckedFile:
    """Check the bytes of a file."""
    try:
        here = sha256_of_file(path)
    except OSError as error:
        return CheckedFile(kind, shown, "not checked", f"cannot read {path}: {error.strerror or error}")
    return CheckedFile(kind, shown, "same") if here == sha256 else (
        CheckedFile(kind, shown, "differs", other_sha256(here, sha256)))


LEDGER_UNKNOWN = "the spec, which may name it, is not known: name the ledger with --ledger, or the spec with --spec"
ADDED_LATER = ("value", "error", "rows", "support")
"""What a ledger of before format 3 has not of the evidence of a night."""


def check_ledger(results: Results | None, origins: Origins, where: str | None) -> CheckedFile | None:
    """Hold the results of an output folder to what a ledger has of them, all that it has; None without a ledger.

    Without results, which cannot be read, it is not checked.

    The ledger is the one at ``where``, a file or a URL, else that of the spec, else that beside the folder. One that
    cannot be read is not checked.
    """
    place, why, written = _ledger_place(origins, where)
    if place is None:
        return None if why is None else CheckedFile("ledger", "the ledger", "not checked", why)
    if results is None:
        file = CheckedFile("ledger", place.shown, "not checked", f"{RESULTS}, which is held to it, cannot be read")
    else:
        try:
            place.found()  # before SQLAlchemy is imported, which a ledger that is not there does not need
            from evalpipe.ledger.store import Ledger

            file = _against_run(Ledger.read(place), results, origins.folder.path)
        except EvalpipeError as error:
            way = f"; name another with {OPTION}, as after a run with --set ledger=…" if where is None else ""
            file = CheckedFile("ledger", place.shown, "not checked", why or f"{error.problems[0].message}{way}")
    if written is None:
        return file
    # What the environment holds is not shown, as nowhere else.
    return replace(file, file=written, reason=file.reason.replace(place.shown, written))


def refuse_other_record(folder: RunFolder, where: str | None) -> CheckedFile | None:
    """Hold the results of an output folder to a ledger as `check_ledger` does; raises DataError where they differ."""
    recorded = check_ledger(folder.results, Origins(folder, folder.manifest), where)
    if recorded is not None and recorded.status == "differs":
        message = f"the ledger '{recorded.file}' does not agree with {folder.results_file}: {recorded.reason}"
        hint = (f"see which was changed: evalpipe verify {folder.path} --recompute; or run again, and look at the new "
                "results")
        raise DataError(Problem("other-in-ledger", message, hint=hint, notes=recorded.notes))
    return recorded


def _ledger_place(origins: Origins, where: str | None) -> tuple[LedgerPlace | None, str | None, str | None]:
    """Return where the ledger is, why that is not certain, and how the spec refers to it by the environment.

    Without a place and a reason there is none.
    """
    from evalpipe.plan.resolve import ledger_named
    from evalpipe.run import load

    if where is not None:
        return LedgerPlace.of(where), None, None
    folder = origins.folder.path
    default, why = LedgerPlace.default_for(folder), LEDGER_UNKNOWN
    if origins.spec is not None and origins.spec.is_file():
        manifest = origins.manifest
        overrides, day = ([], None) if manifest is None else (manifest.overrides, manifest.as_of)
        try:
            spec = load(str(origins.spec), overrides, as_of=day)
            written = spec.ledger if isinstance(spec.ledger, str) and "${" in spec.ledger else None
            return LedgerPlace.named(ledger_named(spec), folder), None, written
        except EvalpipeError as error:
            why = f"the spec, which names it, cannot be read: {error.problems[0].message}"
    return (default if default.file is not None and default.file.exists() else None), why, None


def _against_run(ledger: Ledger, results: Results, folder: Path) -> CheckedFile:
    """Hold results to the newest run of their folder in a ledger; without any to the run that has their hash or day."""
    from evalpipe.ledger.tables import RUNS

    here, shown = results.evidence_sha256, ledger.place.shown
    of_folder = RUNS.c.folder == ledger.place.folder(folder)
    of_night = (RUNS.c.name == results.name) & (RUNS.c.as_of == results.as_of)
    conditions = (of_folder, RUNS.c.results_sha256 == here, of_night)
    run = next(filter(None, (_newest_run(ledger, condition) for condition in conditions)), None)
    if run is None:
        return CheckedFile("ledger", shown, "not checked", "it has no run of this folder")
    notes = tuple(notes_on(_record_differences(ledger, run, results), "the ledger"))
    if run["results_sha256"] != here:
        what = "this folder" if run["folder"] == ledger.place.folder(folder) else f"{results.name} as of {run['as_of']}"
        later = "later" if ledger.knows(folder, here) else "other"
        began, begins = (digest[:EVIDENCE_DIGITS] for digest in (run["results_sha256"], here))
        reason = (f"it has {later} results of {what}: their sha256 begins with {began}, that of results.json with "
                  f"{begins}")
        return CheckedFile("ledger", shown, "differs", reason, notes)
    if notes:
        return CheckedFile("ledger", shown, "differs", "its row of these results is not what results.json says", notes)
    return CheckedFile("ledger", shown, "same", "evalpipe gc has removed its numbers" if run["forgotten"] else "")


def _newest_run(ledger: Ledger, condition: ColumnElement[bool]) -> Row | None:
    """Return the run that was recorded last of those of a condition."""
    from sqlalchemy import select

    from evalpipe.ledger.tables import RUNS

    newest = select(RUNS).where(condition).order_by(RUNS.c.last_recorded.desc(), RUNS.c.run.desc()).limit(1)
    return next(iter(ledger.read_rows(newest)), None)


def _record_differences(ledger: Ledger, run: Row, results: Results) -> list[tuple[str, object, object]]:
    """Return in what all that a ledger has of a run differs from what is recorded of results."""
    from evalpipe.ledger.entries import estimate_rows, evidence_rows, run_row, verdict_rows
    from evalpipe.ledger.tables import ESTIMATES, EVIDENCE, VERDICTS

    expected = run_row(results)
    # Sentences are of the version that wrote them. Earlier formats have no sha256 of inputs, and no verdict where
    # nothing was judged.
    unknown = {"results_sha256", *(["inputs_sha256"] if run["inputs_sha256"] is None else [])}
    compared = [key for key in expected if key not in unknown]
    there: Row = {key: run[key] for key in compared} | {"verdict": run["verdict"] or "none"}
    here: Row = {key: expected[key] for key in there}
    tables = {"estimates": (ESTIMATES, estimate_rows), "gates": (VERDICTS, verdict_rows),
              "evidence": (EVIDENCE, evidence_rows)}
    for name, (table, rows_of) in tables.items():
        if name == "evidence" or not run["forgotten"]:
            recorded = ledger.rows_of(table, [run["run"]])[run["run"]]
            later = ADDED_LATER if any(row.get("rows", 0) is None for row in recorded) else ()
            there[name], here[name] = (
                [{key: value for key, value in row.items() if key not in ("place", "reason", *later)} for row in rows]
                for rows in (recorded, rows_of(results)))
    return list(json_differences(json.dumps(there).encode(), json.dumps(here).encode()))


def check_key_signature(folder: RunFolder, public: bytes | None) -> CheckedFile:
    """Check who signed the manifest; where a ``public`` key is given, no other may have."""
    status, reason = _key_status(folder, public)
    return CheckedFile("output", KEY_SIGNATURE, status, reason)


def _key_status(folder: RunFolder, public: bytes | None) -> tuple[Status, str]:
    try:
        content = folder.content_if_there(KEY_SIGNATURE)
    except DataError as error:
        return "differs", error.problems[0].message.replace(str(folder.file(KEY_SIGNATURE)), "it")
    if content is None:
        needed = public is not None
        return ("differs", "the manifest is not signed, and must be by the key that was given") if needed else (
            "not checked", "the manifest is not signed")
    stored = stored_signature(content)
    if stored is None:
        return "differs", "it holds no signature as evalpipe writes it"
    if not can_check():
        return "not checked", "cryptography is not installed: pip install 'evalpipe[sign]'"
    return _signer_status(folder, stored, public)


def _signer_status(folder: RunFolder, stored: KeySignature, public: bytes | None) -> tuple[Status, str]:
    """Tell of which manifest, and by which key, a signature is."""
    try:
        signed = is_of(stored, folder.content(MANIFEST))
    except DataError:
        return "differs", "there is no manifest that it could be of"
    if not signed:
        return "differs", "it is not of this manifest"
    if public is None:
        return "same", f"signed by the key {stored.fingerprint}; --public-key checks whose key that is"
    if stored.public != public:
        given = fingerprint(public)
        return "differs", f"signed by another key, {stored.fingerprint}; the one that was given is {given}"
    return "same", f"signed by the key that was given, {stored.fingerprint}"
