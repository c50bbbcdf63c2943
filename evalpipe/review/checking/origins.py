"""The files that a run was made from: its spec, and what it read. A file that is not here is no difference."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from evalpipe.base.queries import query_sha256
from evalpipe.review.checking.checked import CheckedFile, digest_of, other_digest
from evalpipe.runs.manifest import ReadFile
from evalpipe.runs.run_facts import run_facts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.results import Results
    from evalpipe.review.checking.checked import Kind
    from evalpipe.runs.manifest import Manifest

ROWS = "they are in a database: --recompute asks for them again"
"""Why rows of a query are not checked."""

UNKNOWN = "run.json does not say where the spec is: name it with --spec"


@dataclass(frozen=True)
class Origins:
    """The files that an output folder was made from, as its manifest names them.

    Their paths start at the folder of the spec: of the file ``given``, or of the one that `run.json` names.
    """

    folder: Path
    manifest: Manifest | None
    given: Path | None = None

    @cached_property
    def start(self) -> Path | None:
        """The folder that paths start at; None where it is not known."""
        if self.given is not None:
            return self.given.parent
        named = run_facts(self.folder).get("inputs_from")
        try:
            here = os.path.realpath(self.folder)
            return Path(os.path.realpath(Path(here) / named)) if isinstance(named, str) else None
        except (OSError, ValueError):
            return None

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
                yield _checked("spec", file.path, self.given, file.sha256)
            else:
                yield self._at("spec", file.path, file.sha256)

    def inputs(self, results: Results | None) -> Iterator[CheckedFile]:
        """Check the files that were read; without a manifest, those of data that the results name."""
        named = [] if results is None else [
            ReadFile(kind="data" if file.query_sha256 is None else "rows", path=file.path, sha256=file.sha256)
            for file in results.inputs]
        for file in named if self.manifest is None else self.manifest.inputs:
            if file.kind == "query":
                yield _query(file, results)
            elif file.kind == "rows":
                yield CheckedFile("input", f"rows of {file.path}", "not checked", ROWS)
            elif file.path is None or file.sha256 is None:
                yield CheckedFile("input", file.path or "data in memory", "not checked", "it was no file")
            else:
                yield self._at("input", file.path, file.sha256)

    def _at(self, kind: Kind, path: str, sha256: str) -> CheckedFile:
        if self.start is None and not Path(path).is_absolute():
            return CheckedFile(kind, path, "not checked", UNKNOWN)
        return _checked(kind, path, (self.start or Path()) / path, sha256)


def _query(file: ReadFile, results: Results | None) -> CheckedFile:
    """Check the text of a query against those that the results have in their spec."""
    shown = f"query of {file.path}"
    if results is None:
        return CheckedFile("input", shown, "not checked", "there are no results with its text")
    datasets = results.spec.get("datasets", {}).values()
    here = [query_sha256(dataset["sql"], dataset["parameters"]) for dataset in datasets if "sql" in dataset]
    return CheckedFile("input", shown, "same") if file.sha256 in here else (
        CheckedFile("input", shown, "differs", "the results have no query with this sha256"))


def _checked(kind: Kind, shown: str, path: Path, sha256: str) -> CheckedFile:
    """Check the bytes of a file."""
    try:
        here = digest_of(path)
    except OSError as error:
        return CheckedFile(kind, shown, "not checked", f"cannot read {path}: {error.strerror or error}")
    return CheckedFile(kind, shown, "same") if here == sha256 else (
        CheckedFile(kind, shown, "differs", other_digest(here, sha256)))
