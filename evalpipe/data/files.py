"""The data files of a path in the spec, and the columns in names of folders (Hive partitions: `season=wet/`)."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from evalpipe.base.lazy_polars import pl
from evalpipe.data import formats
from evalpipe.errors import Problem
from evalpipe.words.spelling import closest_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.base.origin import Origin
    from evalpipe.plan.sources import CsvPlan, Format, Source


NULL = "__HIVE_DEFAULT_PARTITION__"
"""The value in a folder's name that means no value; nothing after its `=` means the same."""


def is_folder(name: str) -> bool:
    """Tell whether the name of a folder is `column=value`, the form of a Hive partition; the value may be empty."""
    column, sign, _ = name.partition("=")
    return bool(column and sign)


def folder_columns(path: str) -> dict[str, str | None]:
    """Return the values by column that the `column=value` folders of a path name; None for a missing value."""
    parts = (part.partition("=") for part in PurePosixPath(path).parts[:-1] if is_folder(part))
    return {unquote(column): None if value in ("", NULL) else unquote(value) for column, _, value in parts}


def schema(path: Path, shown_path: str, form: Format, csv: CsvPlan) -> dict[str, pl.DataType]:
    """Return the types of a file's columns and, as texts, of the columns in names of its folders; raises Unreadable."""
    stored = formats.schema(path, form, csv)
    return stored | {column: pl.String() for column in folder_columns(shown_path) if column not in stored}


def read(
    path: Path, shown_path: str, form: Format, csv: CsvPlan, columns: Sequence[str], text: Sequence[str], *,
    first: int = 0, count: int | None = None,
) -> tuple[pl.DataFrame, frozenset[int]]:
    """Return columns of a file, or of its folders' names, and the 0-based numbers of rows that are blank lines."""
    stored = _stored_columns(path, shown_path, form, csv, columns)
    frame, blank = formats.read(path, form, csv, stored, text, first=first, count=count)
    return _with_folder_columns(frame, shown_path, columns), blank


def batches(
    path: Path, shown_path: str, form: Format, csv: CsvPlan, columns: Sequence[str], text: Sequence[str]
) -> Iterator[tuple[pl.DataFrame, frozenset[int]]]:
    """Yield columns of a text file, or of its folders' names, in batches, each with the numbers of its blank lines."""
    for frame, blank in formats.batches(path, form, csv, _stored_columns(path, shown_path, form, csv, columns), text):
        yield _with_folder_columns(frame, shown_path, columns), blank


def _stored_columns(path: Path, shown_path: str, form: Format, csv: CsvPlan, columns: Sequence[str]) -> Sequence[str]:
    """Return the columns that are in the file itself, not in the names of its folders."""
    if not folder_columns(shown_path):
        return columns
    stored = formats.schema(path, form, csv)
    return [column for column in columns if column in stored]


def _with_folder_columns(frame: pl.DataFrame, shown_path: str, columns: Sequence[str]) -> pl.DataFrame:
    """Add the ``columns`` that a frame lacks, with the values in the names of its folders."""
    values_by_column = folder_columns(shown_path)
    lacking = [column for column in columns if column not in frame.columns]
    values = [pl.lit(values_by_column[column], pl.String).alias(column) for column in lacking]
    return frame.with_columns(values).select(list(dict.fromkeys(columns))) if lacking else frame


SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".tsv": "tsv",
    ".tsv.gz": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".ipc": "ipc",
    ".feather": "ipc",
    ".arrow": "ipc",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
}
"""The format of a file by the end of its name, in lower case."""

READABLE = "csv, csv.gz, tsv, tsv.gz, parquet, ipc (feather, arrow) and ndjson (jsonl)"


@dataclass(frozen=True, slots=True)
class Found:
    """The data files at a path, each with the path shown to people, and their common format."""

    format: Format
    files: tuple[tuple[Path, str], ...]


def format_of(name: str) -> Format | None:
    """Return the format that a file's name ends with, or None."""
    ending = next((suffix for suffix in SUFFIXES if name.lower().endswith(suffix)), None)
    return None if ending is None else SUFFIXES[ending]


class _Unfound(Exception):  # noqa: N818 - a state of a path, caught in `find`
    """Raised where no files can be read at a path, with code, message and hint of the `Problem`."""


def find(places: Origin, source: Source, form: Format | None = None) -> Found | Problem:
    """Return the files of a source: one file, the data files of a folder, or the matches of a glob.

    They are of the format ``form``; None to tell it from their names.
    """
    path, place = source.path, places.place(*source.loc)
    posix_path = PurePosixPath(path.replace("\\", "/") if os.sep == "\\" else path)
    root = places.folder_of(*source.loc)
    notes: tuple[str, ...] = ()
    if places.path is not None and not posix_path.is_absolute():
        notes = (f"relative paths start at the folder of {place.file if place is not None else 'the spec'}",)
    try:
        names = _names(path, root, posix_path)
        if form is not None:
            return Found(form, tuple((root / name, name) for name in names))
        return _one_format(source, root, names)
    except _Unfound as fault:
        code, message, hint = fault.args
        is_local_path = code == "missing-file" and "://" not in path
        return Problem(code, message, place, hint, notes=notes if is_local_path else ())
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"cannot read {posix_path}: {reason[:1].lower()}{reason[1:]}"
        return Problem("unreadable-file", message, place)


def is_pattern(places: Origin, source: Source) -> bool:
    """Tell whether a path is a glob that stands for several files, and not the name of one."""
    posix_path = PurePosixPath(source.path.replace("\\", "/") if os.sep == "\\" else source.path)
    return glob.has_magic(str(posix_path)) and not (places.folder_of(*source.loc) / posix_path).exists()


def _names(path: str, root: Path, posix_path: PurePosixPath) -> list[str]:
    """Return the names of the files at a path, relative to ``root``, sorted; raises _Unfound where there are none."""
    if (root / posix_path).is_dir():
        names = _data_files(root, posix_path)
        if not names:
            hint = f"put the data into it, or name a file; evalpipe reads {READABLE}"
            raise _Unfound("no-files", f"the folder {posix_path} holds no data files", hint)
        return names
    if (root / posix_path).is_file():  # looked for before globs are, for a file may be called as a glob is
        return [str(posix_path)]
    if glob.has_magic(str(posix_path)):
        fixed_parts = takewhile(lambda part: not glob.has_magic(part), posix_path.parts)
        top = Path(os.path.realpath(root.joinpath(*fixed_parts)))
        if "**" in posix_path.parts and top == Path(top.anchor):
            raise _Unfound("whole-machine", f"{posix_path} looks through every folder of this machine",
                           "name the folder that the files are in, before '**'")
        pattern = str(posix_path)
        matches = glob.glob(pattern, root_dir=root or None, recursive=True)  # noqa: PTH207 - for absolute patterns
        names = sorted(name.replace(os.sep, "/") for name in matches if (root / name).is_file())
        if not names:
            raise _Unfound("no-files", f"no file matches {posix_path}", _nearest_hint(root, posix_path.parent))
        return names
    if (root / posix_path).exists():
        raise _Unfound("unreadable-file", f"{posix_path} is not a file", "name a file, a folder or a glob")
    if "://" in path:
        hint = "download it first: evalpipe reads files of this machine only"
        raise _Unfound("missing-file", f"there is no file {path}", hint)
    # From the outermost folder inwards: the first that is missing is the one to mend.
    folder = next((above for above in reversed(posix_path.parents) if not (root / above).exists()), None)
    message = f"there is no file {posix_path}" + ("" if folder is None else f", and no folder {folder}")
    raise _Unfound("missing-file", message, _nearest_hint(root, folder or posix_path))


def _data_files(root: Path, folder: PurePosixPath) -> list[str]:
    """Return the data files in a folder, or in all its folders `column=value` where it has such."""
    entries = sorted((root / folder).iterdir())
    if any(entry.is_dir() and is_folder(entry.name) for entry in entries):
        return _partitions(root, folder, ())
    return [str(folder / entry.name) for entry in entries
            if entry.is_file() and not entry.name.startswith(".") and format_of(entry.name) is not None]


def _partitions(root: Path, folder: PurePosixPath, above: tuple[Path, ...]) -> list[str]:
    """Return the data files in the folders `column=value` of a folder, at any depth, in the order of their paths.

    ``above`` are the folders on the way here. Raises _Unfound for a folder with data that is not called `column=value`,
    and for a link back to one of those above.
    """
    resolved = (root / folder).resolve()
    if resolved in above:
        raise _Unfound("folder-in-itself", f"the folder {folder} is a link to a folder that it is in",
                       "remove the link, or name the files with a glob")
    names: list[str] = []
    for entry in sorted((root / folder).iterdir()):
        name = folder / entry.name
        is_hidden = entry.name.startswith(".")
        if is_hidden or (entry.name.startswith("_") and not is_folder(entry.name)):  # left by a program, as `_SUCCESS`
            continue
        if entry.is_dir() and is_folder(entry.name):
            names += _partitions(root, name, (*above, resolved))
        elif entry.is_dir() and any(format_of(file.name) is not None for file in entry.rglob("*")):
            raise _Unfound("mixed-folders", f"the folder {name} is not called column=value, as those beside it are",
                           "rename it or move it away, or name the files with a glob")
        elif entry.is_file() and format_of(entry.name) is not None:
            names.append(str(name))
    return names


def _one_format(source: Source, root: Path, names: list[str]) -> Found:
    """Return the named files with their format; raises _Unfound where it is unknown, or formats differ."""
    unknown = [name for name in names if format_of(name) is None]
    if unknown:
        message = f"the name of {unknown[0]} shows no format that evalpipe reads"
        raise _Unfound("unknown-format", message, f"it reads {READABLE}")
    # From the last file to the first, so that of each format the first file is named.
    formats = {kind: name for name in reversed(names) if (kind := format_of(name)) is not None}
    if len(formats) > 1:
        listed = " and ".join(sorted(formats.values()))
        message = f"the files of {source.called} have different formats: {listed}"
        raise _Unfound("mixed-formats", message, "name files of one format, as with *.csv")
    return Found(next(iter(formats)), tuple((root / name, name) for name in names))


def _nearest_hint(root: Path, missing: PurePosixPath) -> str:
    """Return a hint with the folder entry most like the last part of a path that does not exist."""
    if (root / missing).is_symlink():
        return "it is a link to what is not there"
    if (root / missing).exists() or not (root / missing.parent).is_dir():
        return "check the path"
    names = sorted(entry.name for entry in (root / missing.parent).iterdir() if not entry.name.startswith("."))
    close = closest_file(missing.name, names)
    return f"did you mean '{missing.parent / close}'?" if close else "check the path"
