"""The manifest of an output folder: the sha256 of each of its files, of what they were made from, and the versions.

It has no clock, host or folder in it, so the same inputs and versions give the same bytes. Its last line is the sha256
of the lines above. That tells a damaged manifest from a damaged file; who means to deceive writes both anew, and only a
signature by a key shows it.
"""

from __future__ import annotations

import json
import platform
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, ValidationError

from evalpipe.base.digests import bytes_sha256
from evalpipe.base.records import Record
from evalpipe.errors import DataError
from evalpipe.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

LIBRARIES = (
    "numpy", "scipy", "polars", "pydantic", "matplotlib", "weasyprint", "pydyf", "fonttools", "jinja2",
    "markdown-it-py", "pyyaml",
)
"""The libraries that take part in the bytes of every card; those that read a query come to them."""

_CHECKSUM = b'"checksum": "'
_END = b'"\n}\n'


class OutputFile(Record):
    """A file of the output folder."""

    file: str = Field(pattern=r"^[^/\\\x00]*[^/\\\x00.][^/\\\x00]*$")
    """Its name: no path, which might lead elsewhere."""
    sha256: str


class ReadFile(Record):
    """A file that the run read; its path starts at the folder of the spec. In memory it has neither path nor hash.

    Of a query there are two: its text with its parameters, and the rows that it returned.
    """

    kind: Literal["data", "query", "rows", "text", "template", "earlier results"]
    path: str | None
    sha256: str | None


class ReadSpec(Record):
    """A file of the spec: the one that was asked for, or one that it extends; from the standard input without path."""

    path: str | None
    sha256: str


class Manifest(Record):
    """What an output folder holds, and what it was made from."""

    manifest: Literal[1] = 1
    name: str
    evalpipe_version: str
    python: str
    libraries: dict[str, str]
    spec_sha256: str
    """Of the resolved spec, in canonical form."""
    overrides: list[str] = Field(default_factory=list)
    """What `--set` laid over the spec."""
    as_of: str | None = None
    """The day that the card is about."""
    spec_files: list[ReadSpec] = Field(default_factory=list)
    """The files of the spec; none of a spec that is a mapping."""
    inputs: list[ReadFile] = Field(default_factory=list)
    files: list[OutputFile] = Field(default_factory=list)

    def to_bytes(self) -> bytes:
        """Return the bytes of `manifest.json`: lines of JSON, and last the sha256 of the lines above it."""
        lines = [f"{json.dumps(key)}: {_lines(value)}" for key, value in self.model_dump().items()]
        body = ("{\n" + ",\n".join(lines) + ",\n").encode()
        return body + _CHECKSUM + bytes_sha256(body).encode() + _END

    @classmethod
    def from_bytes(cls, content: bytes, path: Path) -> Manifest:
        """Read the manifest at ``path``; raises DataError where it was changed, or is of a later version."""
        if not is_whole(content):
            message = f"{path} was changed: its last line is not the sha256 of the others"
            raise DataError.of("changed-file", message, "restore it, or run again")
        try:
            document = json.loads(content)
            return cls.model_validate({key: value for key, value in document.items() if key != "checksum"})
        except (ValidationError, ValueError, AttributeError, RecursionError):
            message = f"{path} is not as this version writes it"
            raise DataError.of("not-a-manifest", message, "use the version of evalpipe that wrote it") from None

    @property
    def versions(self) -> dict[str, Any]:
        """The versions of evalpipe, Python and libraries, as `run.json` has them too."""
        return self.model_dump(include={"evalpipe_version", "python", "libraries"})

    @property
    def sha256_of(self) -> dict[str, str]:
        """The sha256 of each file of the folder, by name."""
        return {entry.file: entry.sha256 for entry in self.files}

    def with_files(self, files: Mapping[str, str]) -> Manifest:
        """Return a copy with the sha256 of new or changed files, by name; the others stay."""
        sha256_of_file = self.sha256_of | dict(files)
        return self.model_copy(update={
            "files": [OutputFile(file=name, sha256=sha256_of_file[name]) for name in sorted(sha256_of_file)]})


def libraries(further: Iterable[str] = ()) -> dict[str, str]:
    """Return the version of each library that takes part in the bytes of a card, and of ``further`` ones.

    What is not installed is left out.
    """
    return {name: number for name in dict.fromkeys((*LIBRARIES, *further)) if (number := _version(name)) is not None}


def versions(further: Iterable[str] = ()) -> dict[str, Any]:
    """Return the versions of evalpipe, Python, `LIBRARIES` and ``further`` libraries, as a manifest has them."""
    return {"evalpipe_version": VERSION, "python": platform.python_version(), "libraries": libraries(further)}


@cache
def _version(library: str) -> str | None:
    """Return the version of a library, None if it is not installed; read once, as imported code does not change."""
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return None


def _lines(value: Any) -> str:
    """Return a value as JSON, a list of records with one line for each."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n  " + ",\n  ".join(json.dumps(entry, ensure_ascii=False) for entry in value) + "\n]"
    return json.dumps(value, ensure_ascii=False)


def is_whole(content: bytes) -> bool:
    """Tell whether the bytes of a manifest of any version agree with the sha256 in its last line."""
    body, separator, end = content.rpartition(_CHECKSUM)
    return bool(separator) and end == bytes_sha256(body).encode() + _END
