"""Checks of an output folder against what lies outside it: its spec and data, and who signed it.

A file that is not here is no difference.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evalpipe.base.databases import query_sha256
from evalpipe.base.digests import file_sha256
from evalpipe.base.ed25519 import can_check_signatures, fingerprint, is_signature_of, stored_signature
from evalpipe.base.formats import KEY_SIGNATURE, MANIFEST
from evalpipe.errors import DataError
from evalpipe.results.signatures import EVIDENCE_DIGITS
from evalpipe.runs.manifest import ReadFile
from evalpipe.runs.verification import PDF

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.ed25519 import KeySignature
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
