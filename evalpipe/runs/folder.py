"""The output folder of a run: the one place that opens its files, and that tells it from folders of somebody else."""

from __future__ import annotations

import errno
import json
import os
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from evalpipe.base.digests import bytes_sha256, file_sha256
from evalpipe.base.formats import (
    COMMENTS,
    FORMATS,
    KEY_SIGNATURE,
    MANIFEST,
    REFERENCE,
    RESULTS,
    RUN,
    RUN_FILES,
    SIGNATURES,
)
from evalpipe.errors import DataError, UsageError
from evalpipe.results import UNREADABLE_RESULTS, Results
from evalpipe.results.comments import COMMENT_LIST, refuse_unknown_subjects
from evalpipe.results.signatures import EVIDENCE_DIGITS, SIGNATURE_LIST
from evalpipe.runs.manifest import Manifest
from evalpipe.words.spelling import first_few

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from evalpipe.base.ed25519 import Signer
    from evalpipe.base.formats import FormatName
    from evalpipe.results.comments import Comment
    from evalpipe.results.signatures import Added, RecordList, Signature

LET_IT_BE_READ = "let it be read, and try again"


class RunFolder:
    """The output folder of a run. Each file is read at its first use and kept in memory.

    What cannot be read is a DataError, unless a method says otherwise.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Refer to the output folder at ``path``; its files are read when they are first needed."""
        self.path = Path(path)
        self.results_file = self.path / RESULTS
        self._contents: dict[str, bytes] = {}
        self._digests: dict[str, str] = {}

    @classmethod
    def named(cls, path: str | os.PathLike[str]) -> Self:
        """Return the run folder for a path, which is a folder, or a results file of any name in a folder."""
        if Path(path).is_dir():
            return cls(path)
        folder = cls(Path(path).parent)
        folder.results_file = Path(path)
        return folder

    def file(self, name: str) -> Path:
        """Return the path of a file in the folder, whether or not it exists."""
        return self.results_file if name == RESULTS else self.path / name

    def has(self, name: str) -> bool:
        """Tell whether the folder has a file of this name."""
        return self.file(name).exists()

    def content(self, name: str, hint: str = LET_IT_BE_READ, shown: str | None = None) -> bytes:
        """Return the bytes of a file; its DataError names ``shown``, by default its path, and has the ``hint``."""
        try:
            return self._read(name)
        except OSError as error:
            raise _unreadable(shown or self.file(name), error, hint) from None

    def content_if_there(self, name: str, hint: str = LET_IT_BE_READ) -> bytes | None:
        """Return the bytes of a file; None where it is missing. An error of reading it has the ``hint``."""
        try:
            return self._read(name)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unreadable(self.file(name), error, hint) from None

    def _read(self, name: str) -> bytes:
        """Return the bytes of a file, which is read once; raises OSError."""
        if name not in self._contents:
            self._contents[name] = self.file(name).read_bytes()
        return self._contents[name]

    def sha256(self, name: str) -> str:
        """Return the sha256 of a file, which is read in blocks as it may be larger than memory."""
        try:
            if name not in self._digests:
                self._digests[name] = file_sha256(self.file(name))
            return self._digests[name]
        except OSError as error:
            raise _unreadable(self.file(name), error, LET_IT_BE_READ) from None

    def sha256_if_readable(self, name: str) -> str | None:
        """Return the sha256 of a file; None where it is missing or cannot be read."""
        try:
            return self.sha256(name)
        except DataError:
            return None

    @property
    def holds_run(self) -> bool:
        """Whether the folder has results or a manifest, readable or not."""
        return any(os.path.isfile(self.file(name)) for name in (RESULTS, MANIFEST))  # noqa: PTH113 - raises no error

    @property
    def stamp(self) -> object:
        """A value that differs after every run, the inode and modification time of `run.json`; None without output."""
        try:
            status = self.file(RUN).stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns

    @cached_property
    def results(self) -> Results:
        """The results of the run; raises DataError where they cannot be read."""
        return Results.from_bytes(self.content(RESULTS, UNREADABLE_RESULTS), str(self.results_file))

    @cached_property
    def manifest(self) -> Manifest | None:
        """The manifest; None where there is none, as of earlier versions. Raises DataError where it was changed."""
        content = self.content_if_there(MANIFEST, "restore it, or run again")
        return None if content is None else Manifest.from_bytes(content, self.file(MANIFEST))

    def all_of(self, kind: RecordList[Added]) -> tuple[Added, ...]:
        """Return all records of a list, whichever results they are of; raises DataError where they are invalid."""
        hint = f"restore the file; or remove it, render the card again (evalpipe render {self.path}) and {kind.again}"
        content = self.content_if_there(kind.file, hint)
        return () if content is None else kind.read(content, self.file(kind.file), hint)

    @property
    def all_signatures(self) -> tuple[Signature, ...]:
        """All signatures, whichever results they sign; empty without any. Raises DataError where they are invalid."""
        return self.all_of(SIGNATURE_LIST)

    def records_of(self, kind: RecordList[Added], evidence_sha256: str) -> tuple[Added, ...]:
        """Return all records of a list; raises DataError where one is of other results than those with this sha256."""
        records = self.all_of(kind)
        for record in records:
            if record.evidence_sha256 != evidence_sha256:
                raise kind.of_other_results(record, evidence_sha256, self.file(kind.file))
        return records

    @property
    def signatures(self) -> tuple[Signature, ...]:
        """All signatures of the results in the folder; raises DataError where one signs other results."""
        return self.records_of(SIGNATURE_LIST, self.results.evidence_sha256)

    @property
    def comments(self) -> tuple[Comment, ...]:
        """All comments on the results in the folder; raises DataError where one is on other results, or on nothing."""
        comments = self.records_of(COMMENT_LIST, self.results.evidence_sha256)
        if comments:
            refuse_unknown_subjects(comments, self.results, self.file(COMMENTS))
        return comments

    def records_after_run(
        self, kind: RecordList[Added], evidence_sha256: str
    ) -> tuple[tuple[Added, ...], dict[str, bytes], str | None]:
        """Return the records of a list that stay, the file to write, by name, and its new name, None to keep it.

        Call it before a run writes results with this sha256 to the folder. Records of the same results stay. Those
        of others are not of new results: their file is renamed. Without the file there is none to write.
        """
        try:
            content = self.content(kind.file)
        except DataError:
            return (), {}, None
        try:
            records = self.all_of(kind)
        except DataError:
            records = ()
        evidence = {record.evidence_sha256 for record in records}
        if evidence == {evidence_sha256}:
            return records, {kind.file: content}, None
        new_name = f"{kind.noun}-{min(evidence)[:EVIDENCE_DIGITS] if evidence else 'unreadable'}.json"
        return (), {new_name: content}, new_name

    @property
    def earlier_signatures(self) -> tuple[Signature, ...]:
        """The signatures of results that the folder had before, sorted by day; none of a file that cannot be read."""
        signatures: list[Signature] = []
        for path in sorted(self.path.glob("signatures-*.json")):
            with suppress(DataError, OSError):
                signatures += SIGNATURE_LIST.read(path.read_bytes(), path, LET_IT_BE_READ)
        return tuple(sorted(signatures, key=lambda signature: signature.date))

    def changed_files(self, manifest: Manifest) -> Iterator[str]:
        """Yield in words each file that is not as the run wrote it, by ``manifest``; references may be accepted."""
        for name, recorded in manifest.sha256_of.items():
            actual = self.sha256_if_readable(name)
            if name != REFERENCE and actual != recorded:
                yield f"{name} is missing" if actual is None else f"{name} is not what was written"

    @cached_property
    def run_facts(self) -> dict[str, Any]:
        """The contents of `run.json`; empty where it is missing or cannot be read."""
        try:
            document = json.loads(self._read(RUN))
        except (OSError, ValueError, RecursionError):
            return {}
        return document if isinstance(document, dict) else {}

    def run_facts_of(self, evidence_sha256: str) -> dict[str, Any]:
        """Return the contents of `run.json` if it belongs to results with this sha256; else an empty dictionary."""
        return self.run_facts if self.run_facts.get("evidence_sha256") == evidence_sha256 else {}

    @property
    def evidence_in_run(self) -> str | None:
        """The sha256 of results.json that `run.json` has; None where it has none, as of earlier versions."""
        sha256 = self.run_facts.get("evidence_sha256")
        return sha256 if isinstance(sha256, str) else None

    def recorded_evidence(self, manifest: Manifest | None) -> list[str]:
        """Return the sha256 of results.json according to `run.json` and the manifest, as far as they have it.

        ``manifest`` is that of the folder, None where it is missing or cannot be read.
        """
        manifest_sha256 = None if manifest is None else manifest.sha256_of.get(RESULTS)
        return [sha256 for sha256 in (self.evidence_in_run, manifest_sha256) if sha256 is not None]

    @cached_property
    def spec_folder(self) -> Path | None:
        """The folder of the spec, to which paths of the manifest are relative, by `run.json`; None if it is unknown."""
        relative_path = self.run_facts.get("inputs_from")
        try:
            real_folder = os.path.realpath(self.path)
            return Path(os.path.realpath(Path(real_folder) / relative_path)) if isinstance(relative_path, str) else None
        except (OSError, ValueError):
            return None

    @property
    def formats(self) -> list[FormatName]:
        """The formats of the card, such as "html", whose files are in the folder."""
        return [name for name, entry in FORMATS.items() if self.has(entry.file)]

    @property
    def entries(self) -> list[Path]:
        """The paths of all files and folders in it, sorted by name."""
        try:
            return sorted(self.path.iterdir())
        except OSError as error:
            raise _unreadable(f"'{self.path}'", error, LET_IT_BE_READ) from None

    def manifest_files(self, manifest: Manifest, by: Signer | None) -> dict[str, bytes]:
        """Return the bytes of the manifest and of its signature, by file name; ``by`` is the key that signs it.

        Without a key the existing signature stays, if the manifest has the same bytes as before.
        """
        content = manifest.to_bytes()
        if by is not None:
            return {MANIFEST: content, KEY_SIGNATURE: by.signature(content)}
        try:
            is_same = self.file(MANIFEST).read_bytes() == content
            return {MANIFEST: content} | ({KEY_SIGNATURE: self.file(KEY_SIGNATURE).read_bytes()} if is_same else {})
        except OSError:
            return {MANIFEST: content}

    def manifest_after(self, files: Mapping[str, bytes], by: Signer | None) -> dict[str, bytes]:
        """Return the bytes of the manifest, updated for new ``files``, and of its signature by ``by``, by file name.

        Empty where the folder has no manifest, as of earlier versions. Raises DataError where it was changed.
        """
        if self.manifest is None:
            return {}
        updated = self.manifest.with_files({name: bytes_sha256(content) for name, content in files.items()})
        return self.manifest_files(updated, by)


def _unreadable(shown_path: str | Path, error: OSError, hint: str) -> DataError:
    """Return a DataError for a file that cannot be read; raises ``error`` itself for a path that is too long."""
    if error.errno == errno.ENAMETOOLONG:
        raise error
    return DataError.of("unreadable-file", f"cannot read {shown_path}: {error.strerror or error}", hint)


_VERSION, _FIRST_BYTES = b'"evalpipe_version"', 1 << 16
_MARKS = {RESULTS: _VERSION, MANIFEST: _VERSION, REFERENCE: _VERSION, SIGNATURES: b'"evidence_sha256"',
          COMMENTS: b'"evidence_sha256"'}
"""Files that tell a folder of a run from others, with what each holds within so many of its first bytes."""


def has_run_files(folder: Path) -> bool:
    """Tell whether a folder has files that a run of evalpipe, of any version, wrote: results, manifest and so on."""
    for name, mark in _MARKS.items():
        path = folder / name
        if path.is_file():
            with path.open("rb") as file:
                if mark in file.read(_FIRST_BYTES):
                    return True
    return False


def refuse_foreign(folder: Path, folder_name: str) -> None:
    """Raise UsageError for a folder that holds files, but no run of evalpipe.

    A folder that is missing, or holds only hidden files, is accepted. ``folder_name`` is for the message. Raises
    OSError where it cannot be read.
    """
    if not folder.exists() or has_run_files(folder):
        return
    names = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    if names:
        message = f"the {folder_name} holds files that no run of evalpipe wrote: {first_few(names)}"
        hint = "choose a new or an empty folder with --out, or move these files away"
        raise UsageError.of("foreign-folder", message, hint)


def refuse_file_of_run(file: str | os.PathLike[str]) -> None:
    """Raise UsageError for a path where other output would replace a file that a run wrote."""
    path = Path(file)
    if path.name in RUN_FILES and os.path.lexists(path) and has_run_files(path.parent):
        message = f"'{file}' is a file that a run wrote, and nothing was written"
        raise UsageError.of("file-of-a-run", message, "name another file")


def refuse_to_replace(file: str | os.PathLike[str]) -> None:
    """Raise UsageError for a path where output would replace a file that a run wrote, a pipe or a device.

    Output is renamed into its place, which takes a device away from the whole machine where the user may do that.
    """
    folder = Path(os.path.realpath(Path(file).parent))
    # A name that is too long is told by what writes to it.
    is_special = os.path.exists(file) and not os.path.isfile(file) and not os.path.isdir(file)  # noqa: PTH110, PTH112, PTH113
    if is_special or folder == Path("/dev") or Path("/proc") in (folder, *folder.parents):
        raise UsageError.of("not-a-file", f"'{file}' is a pipe or a device, and nothing was written",
                            "name a file, or redirect the standard output")
    refuse_file_of_run(file)


@dataclass(frozen=True, slots=True)
class Night:
    """An earlier night of the ledger: the folder that it was written to, and the sha256 of its results."""

    folder: Path
    results_sha256: str


@dataclass(frozen=True, slots=True)
class EarlierNights:
    """The ``earlier`` nights of the ledger, the newest first, and the sha256 of all results of the output folder.

    ``names`` say, by the sha256 of their results, what models that were renamed since are called now.
    """

    earlier: Sequence[Night] = ()
    of_folder: Collection[str] = ()
    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


NO_NIGHTS = EarlierNights()
