"""The output folder of a run: the one place that opens its files, and that tells it from folders of somebody else."""

from __future__ import annotations

import errno
import json
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from evalpipe.base.digests import bytes_sha256, file_sha256
from evalpipe.base.formats import FORMATS, KEY_SIGNATURE, MANIFEST, REFERENCE, RESULTS, RUN, RUN_FILES, SIGNATURES
from evalpipe.errors import DataError, UsageError
from evalpipe.results import UNREADABLE_RESULTS, Results
from evalpipe.results.signatures import EVIDENCE_DIGITS, of_other_results, signatures_in
from evalpipe.runs.manifest import Manifest
from evalpipe.words.spelling import some_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.base.ed25519 import Signer
    from evalpipe.base.formats import FormatName
    from evalpipe.results.signatures import Signature

LET_IT_BE_READ = "let it be read, and try again"


class RunFolder:
    """The output folder of a run, which nothing else opens. Each file is read when it is asked for, and once.

    What cannot be read is a DataError, unless a method says otherwise.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Read nothing yet of the folder at ``path``."""
        self.path = Path(path)
        self.results_file = self.path / RESULTS
        self._contents: dict[str, bytes] = {}
        self._digests: dict[str, str] = {}

    @classmethod
    def named(cls, path: str | os.PathLike[str]) -> Self:
        """Return the output folder at a path, or that of the results at a path, whatever that file is called."""
        if Path(path).is_dir():
            return cls(path)
        folder = cls(Path(path).parent)
        folder.results_file = Path(path)
        return folder

    def file(self, name: str) -> Path:
        """Return the path of a file, be it there or not."""
        return self.results_file if name == RESULTS else self.path / name

    def has(self, name: str) -> bool:
        """Return whether a file is there."""
        return self.file(name).exists()

    def content(self, name: str, hint: str = LET_IT_BE_READ, shown: str | None = None) -> bytes:
        """Return the bytes of a file. The error of one that cannot be read calls it ``shown``, and has the ``hint``."""
        try:
            return self._read(name)
        except OSError as error:
            raise _unreadable(shown or self.file(name), error, hint) from None

    def content_if_there(self, name: str, hint: str = LET_IT_BE_READ) -> bytes | None:
        """Return the bytes of a file, None where it is missing."""
        try:
            return self._read(name)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unreadable(self.file(name), error, hint) from None

    def _read(self, name: str) -> bytes:
        if name not in self._contents:
            self._contents[name] = self.file(name).read_bytes()
        return self._contents[name]

    def sha256(self, name: str) -> str:
        """Return the sha256 of a file, which may be too large to be held."""
        try:
            if name not in self._digests:
                self._digests[name] = file_sha256(self.file(name))
            return self._digests[name]
        except OSError as error:
            raise _unreadable(self.file(name), error, LET_IT_BE_READ) from None

    def sha256_if_readable(self, name: str) -> str | None:
        """Return the same, None where the file is missing or cannot be read."""
        try:
            return self.sha256(name)
        except DataError:
            return None

    @property
    def holds_run(self) -> bool:
        """Whether there are results or a manifest, be they readable or not."""
        return any(os.path.isfile(self.file(name)) for name in (RESULTS, MANIFEST))  # noqa: PTH113 - raises no error

    @property
    def stamp(self) -> object:
        """What tells the output of one run from that of another; None where there is none."""
        try:
            state = self.file(RUN).stat()
        except OSError:
            return None
        return state.st_ino, state.st_mtime_ns

    @cached_property
    def results(self) -> Results:
        """The results."""
        return Results.from_bytes(self.content(RESULTS, UNREADABLE_RESULTS), str(self.results_file))

    @cached_property
    def manifest(self) -> Manifest | None:
        """The manifest; None where there is none, as of earlier versions. Raises DataError where it was changed."""
        content = self.content_if_there(MANIFEST, "restore it, or run again")
        return None if content is None else Manifest.from_bytes(content, self.file(MANIFEST))

    @cached_property
    def all_signatures(self) -> tuple[Signature, ...]:
        """The signatures, of whatever results; none where nobody signed. Raises DataError where they are broken."""
        path = self.file(SIGNATURES)
        hint = f"restore the file; or remove it, render the card again (evalpipe render {self.path}) and sign again"
        content = self.content_if_there(SIGNATURES, hint)
        return () if content is None else signatures_in(content, path, hint)

    def signatures_of(self, evidence_sha256: str) -> tuple[Signature, ...]:
        """Return the signatures; raises DataError where one is of other results than those of this sha256."""
        for signature in self.all_signatures:
            if signature.evidence_sha256 != evidence_sha256:
                raise of_other_results(signature, evidence_sha256, self.file(SIGNATURES))
        return self.all_signatures

    @property
    def signatures(self) -> tuple[Signature, ...]:
        """The signatures of the results there; raises DataError where one is of others."""
        return self.signatures_of(self.results.evidence_sha256)

    def signatures_after_run(
        self, evidence_sha256: str
    ) -> tuple[tuple[Signature, ...], dict[str, bytes], str | None]:
        """Return what becomes of the signatures when a run writes results to the folder.

        Those of the same results stay: they are returned, with their file. Any others are not carried to new evidence:
        their file goes under a name of its own, which is returned too.
        """
        try:
            content = self.content(SIGNATURES)
        except DataError:
            return (), {}, None
        try:
            signatures = self.all_signatures
        except DataError:
            signatures = ()
        evidence = {signature.evidence_sha256 for signature in signatures}
        if evidence == {evidence_sha256}:
            return signatures, {SIGNATURES: content}, None
        new_name = f"signatures-{min(evidence)[:EVIDENCE_DIGITS] if evidence else 'unreadable'}.json"
        return (), {new_name: content}, new_name

    @cached_property
    def run_facts(self) -> dict[str, Any]:
        """What `run.json` says; nothing where it is missing or cannot be read."""
        try:
            document = json.loads(self._read(RUN))
        except (OSError, ValueError, RecursionError):
            return {}
        return document if isinstance(document, dict) else {}

    def run_facts_of(self, evidence_sha256: str) -> dict[str, Any]:
        """Return the same where it is of results with this sha256; nothing where it is of others."""
        return self.run_facts if self.run_facts.get("evidence_sha256") == evidence_sha256 else {}

    @property
    def evidence_in_run(self) -> str | None:
        """The sha256 of results.json that `run.json` has; None where it has none, as of earlier versions."""
        sha256 = self.run_facts.get("evidence_sha256")
        return sha256 if isinstance(sha256, str) else None

    def recorded_evidence(self, manifest: Manifest | None) -> list[str]:
        """Return the sha256 of results.json by `run.json` and by the manifest; none of what an earlier version wrote.

        The ``manifest`` is that of the folder, None where it cannot be read.
        """
        listed = None if manifest is None else manifest.sha256_of.get(RESULTS)
        return [sha256 for sha256 in (self.evidence_in_run, listed) if sha256 is not None]

    @cached_property
    def spec_folder(self) -> Path | None:
        """The folder that the paths of the manifest start at, by `run.json`; None where it is not known."""
        named = self.run_facts.get("inputs_from")
        try:
            here = os.path.realpath(self.path)
            return Path(os.path.realpath(Path(here) / named)) if isinstance(named, str) else None
        except (OSError, ValueError):
            return None

    @property
    def formats(self) -> list[FormatName]:
        """The formats of the card whose files are there."""
        return [name for name, entry in FORMATS.items() if self.has(entry.file)]

    @property
    def entries(self) -> list[Path]:
        """All that is in the folder, by name."""
        try:
            return sorted(self.path.iterdir())
        except OSError as error:
            raise _unreadable(f"'{self.path}'", error, LET_IT_BE_READ) from None

    def manifest_files(self, manifest: Manifest, by: Signer | None) -> dict[str, bytes]:
        """Return a manifest for the folder, and its signature by a key, by the names of their files.

        Without a key the signature that is there stays, where it is of the same bytes.
        """
        content = manifest.to_bytes()
        if by is not None:
            return {MANIFEST: content, KEY_SIGNATURE: by.signature(content)}
        try:
            kept = self.file(KEY_SIGNATURE).read_bytes() if self.file(MANIFEST).read_bytes() == content else None
        except OSError:
            kept = None
        return {MANIFEST: content} if kept is None else {MANIFEST: content, KEY_SIGNATURE: kept}

    def manifest_after(self, files: Mapping[str, bytes], by: Signer | None) -> dict[str, bytes]:
        """Return the manifest, and its signature, as they are when ``files`` have taken their place in the folder.

        Nothing where the folder has no manifest, as of earlier versions. Raises DataError where it was changed.
        """
        if self.manifest is None:
            return {}
        updated = self.manifest.with_files({name: bytes_sha256(content) for name, content in files.items()})
        return self.manifest_files(updated, by)


def _unreadable(shown: str | Path, error: OSError, hint: str) -> DataError:
    """Return the error of a file that cannot be read; raises that of a path that is too long, which commands tell."""
    if error.errno == errno.ENAMETOOLONG:
        raise error
    return DataError.of("unreadable-file", f"cannot read {shown}: {error.strerror or error}", hint)


_VERSION, _FIRST_BYTES = b'"evalpipe_version"', 1 << 16
_MARKS = {RESULTS: _VERSION, MANIFEST: _VERSION, REFERENCE: _VERSION, SIGNATURES: b'"evidence_sha256"'}
"""Files that tell a folder of a run from others, with what each holds within so many of its first bytes."""


def is_of_run(folder: Path) -> bool:
    """Tell whether results, a manifest or signatures of evalpipe, of whatever version, are in a folder."""
    for name, mark in _MARKS.items():
        path = folder / name
        if path.is_file():
            with path.open("rb") as file:
                if mark in file.read(_FIRST_BYTES):
                    return True
    return False


def refuse_foreign(folder: Path, called: str) -> None:
    """Refuse a folder that holds files, and no run among them; raises UsageError.

    A folder that is not there, or holds hidden names alone, is nobody's. ``called`` names it in the message. Raises
    OSError where it cannot be read.
    """
    if not folder.exists() or is_of_run(folder):
        return
    names = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    if names:
        message = f"the {called} holds files that no run of evalpipe wrote: {some_of(names)}"
        hint = "choose a new or an empty folder with --out, or move these files away"
        raise UsageError.of("foreign-folder", message, hint)


def refuse_file_of_run(file: str | os.PathLike[str]) -> None:
    """Refuse to replace a file that a run wrote by something else; raises UsageError."""
    path = Path(file)
    if path.name in RUN_FILES and os.path.lexists(path) and is_of_run(path.parent):
        message = f"'{file}' is a file that a run wrote, and nothing was written"
        raise UsageError.of("file-of-a-run", message, "name another file")


def refuse_to_replace(file: str | os.PathLike[str]) -> None:
    """Refuse to put a file in the place of one that a run wrote, or of a pipe or a device; raises UsageError.

    Output is renamed into its place, which takes a device away from the whole machine where the user may do that.
    """
    place = Path(os.path.realpath(Path(file).parent))
    # A name that is too long is told by what writes to it.
    special = os.path.exists(file) and not os.path.isfile(file) and not os.path.isdir(file)  # noqa: PTH110, PTH112, PTH113
    if special or place == Path("/dev") or Path("/proc") in (place, *place.parents):
        raise UsageError.of("not-a-file", f"'{file}' is a pipe or a device, and nothing was written",
                            "name a file, or redirect the standard output")
    refuse_file_of_run(file)
