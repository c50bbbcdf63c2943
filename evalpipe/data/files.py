"""Where the data are: the files of a path written in the spec, and the columns that folders name, as Hive has it."""

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
from evalpipe.words.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.base.origin import Origin
    from evalpipe.plan.sources import CsvPlan, Source
    from evalpipe.plan.table import Format


NULL = "__HIVE_DEFAULT_PARTITION__"
"""What a folder is called whose rows have no value; one with nothing after its `=` has none either."""


def is_folder(name: str) -> bool:
    """Tell whether the name of a folder is that of a column and a value, which may be none."""
    column, sign, _ = name.partition("=")
    return bool(column and sign)


def named(path: str) -> dict[str, str | None]:
    """Return the columns that the folders of a path name, with their value; None where rows have none."""
    parts = (part.partition("=") for part in PurePosixPath(path).parts[:-1] if is_folder(part))
    return {unquote(column): None if value in ("", NULL) else unquote(value) for column, _, value in parts}


def schema(path: Path, shown: str, form: Format, csv: CsvPlan) -> dict[str, pl.DataType]:
    """Return the columns of a file and, as texts, those that its folders name; raises Unreadable."""
    stored = formats.schema(path, form, csv)
    return stored | {column: pl.String() for column in named(shown) if column not in stored}


def read(
    path: Path, shown: str, form: Format, csv: CsvPlan, columns: Sequence[str], text: Sequence[str], *, first: int = 0,
    count: int | None = None,
) -> tuple[pl.DataFrame, frozenset[int]]:
    """Read columns as `formats.read` does, and those that are not in the file from the names of its folders."""
    stored = _stored_columns(path, shown, form, csv, columns)
    frame, blank = formats.read(path, form, csv, stored, text, first=first, count=count)
    return _with_folder_columns(frame, shown, columns), blank


def batches(
    path: Path, shown: str, form: Format, csv: CsvPlan, columns: Sequence[str], text: Sequence[str]
) -> Iterator[tuple[pl.DataFrame, frozenset[int]]]:
    """Yield columns of a file of text as `formats.batches` does, and as `read` those that are not in it."""
    for frame, blank in formats.batches(path, form, csv, _stored_columns(path, shown, form, csv, columns), text):
        yield _with_folder_columns(frame, shown, columns), blank


def _stored_columns(path: Path, shown: str, form: Format, csv: CsvPlan, columns: Sequence[str]) -> Sequence[str]:
    if not named(shown):
        return columns
    stored = formats.schema(path, form, csv)
    return [column for column in columns if column in stored]


def _with_folder_columns(frame: pl.DataFrame, shown: str, columns: Sequence[str]) -> pl.DataFrame:
    """Return a frame with the columns that it lacks, which the folders name."""
    folders = named(shown)
    lacking = [column for column in columns if column not in frame.columns]
    values = [pl.lit(folders[column], pl.String).alias(column) for column in lacking]
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
    """The files of one path, each with the path shown to people, and their common format."""

    format: Format
    files: tuple[tuple[Path, str], ...]


def format_of(name: str) -> Format | None:
    """Return the format that a file's name promises, or None."""
    ending = next((suffix for suffix in SUFFIXES if name.lower().endswith(suffix)), None)
    return None if ending is None else SUFFIXES[ending]


class _Unfound(Exception):  # noqa: N818 - a state of a path, caught in `find`
    """No files can be read at a path: the parts of the `Problem` but its place."""


def find(places: Origin, named: Source) -> Found | Problem:
    """Find the files that are named: one file, the data files of a folder, or those that a glob matches."""
    path, place = named.path, places.place(*named.loc)
    written = PurePosixPath(path.replace("\\", "/") if os.sep == "\\" else path)
    root = places.folder_of(*named.loc)
    notes: tuple[str, ...] = ()
    if places.path is not None and not written.is_absolute():
        notes = (f"relative paths start at the folder of {place.file if place is not None else 'the spec'}",)
    try:
        return _one_format(named, root, _names(path, root, written))
    except _Unfound as fault:
        code, message, hint = fault.args
        local = code == "missing-file" and "://" not in path
        return Problem(code, message, place, hint, notes=notes if local else ())
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"cannot read {written}: {reason[:1].lower()}{reason[1:]}"
        return Problem("unreadable-file", message, place)


def is_pattern(places: Origin, named: Source) -> bool:
    """Tell whether a path is a glob that stands for several files, and not the name of one."""
    written = PurePosixPath(named.path.replace("\\", "/") if os.sep == "\\" else named.path)
    return glob.has_magic(str(written)) and not (places.folder_of(*named.loc) / written).exists()


def _names(path: str, root: Path, written: PurePosixPath) -> list[str]:
    """Return the names of the files at a path, below ``root``, in an order that no file system changes."""
    if (root / written).is_dir():
        names = _data_files(root, written)
        if not names:
            hint = f"put the data into it, or name a file; evalpipe reads {READABLE}"
            raise _Unfound("no-files", f"the folder {written} holds no data files", hint)
        return names
    if (root / written).is_file():  # looked for before globs are, for a file may be called as a glob is
        return [str(written)]
    if glob.has_magic(str(written)):
        fixed = takewhile(lambda part: not glob.has_magic(part), written.parts)
        top = Path(os.path.realpath(root.joinpath(*fixed)))
        if "**" in written.parts and top == Path(top.anchor):
            raise _Unfound("whole-machine", f"{written} looks through every folder of this machine",
                           "name the folder that the files are in, before '**'")
        matches = glob.glob(str(written), root_dir=root or None, recursive=True)  # noqa: PTH207 - for absolute patterns
        names = sorted(name.replace(os.sep, "/") for name in matches if (root / name).is_file())
        if not names:
            raise _Unfound("no-files", f"no file matches {written}", _nearest_hint(root, written.parent))
        return names
    if (root / written).exists():
        raise _Unfound("unreadable-file", f"{written} is not a file", "name a file, a folder or a glob")
    if "://" in path:
        hint = "download it first: evalpipe reads files of this machine only"
        raise _Unfound("missing-file", f"there is no file {path}", hint)
    # From the outermost folder inwards: the first that is missing is the one to mend.
    folder = next((above for above in reversed(written.parents) if not (root / above).exists()), None)
    message = f"there is no file {written}" + ("" if folder is None else f", and no folder {folder}")
    raise _Unfound("missing-file", message, _nearest_hint(root, folder or written))


def _data_files(root: Path, folder: PurePosixPath) -> list[str]:
    """Return the data files in a folder; those of all its folders `column=value` too, where it has any."""
    entries = sorted((root / folder).iterdir())
    if any(entry.is_dir() and is_folder(entry.name) for entry in entries):
        return _partitions(root, folder, ())
    return [str(folder / entry.name) for entry in entries
            if entry.is_file() and not entry.name.startswith(".") and format_of(entry.name) is not None]


def _partitions(root: Path, written: PurePosixPath, above: tuple[Path, ...]) -> list[str]:
    """Return the data files in the folders `column=value` of a folder, at any depth, in the order of their paths.

    ``above`` are the folders on the way. Raises _Unfound for a folder among them that is called otherwise, or that is
    one of these itself.
    """
    whole = (root / written).resolve()
    if whole in above:
        raise _Unfound("folder-in-itself", f"the folder {written} is a link to a folder that it is in",
                       "remove the link, or name the files with a glob")
    names: list[str] = []
    for entry in sorted((root / written).iterdir()):
        below = written / entry.name
        hidden = entry.name.startswith(".")
        if hidden or (entry.name.startswith("_") and not is_folder(entry.name)):  # left by a program, as `_SUCCESS`
            continue
        if entry.is_dir() and is_folder(entry.name):
            names += _partitions(root, below, (*above, whole))
        elif entry.is_dir() and any(format_of(file.name) is not None for file in entry.rglob("*")):
            raise _Unfound("mixed-folders", f"the folder {below} is not called column=value, as those beside it are",
                           "rename it or move it away, or name the files with a glob")
        elif entry.is_file() and format_of(entry.name) is not None:
            names.append(str(below))
    return names


def _one_format(named: Source, root: Path, names: list[str]) -> Found:
    """Return the files with the format that their names promise; raises _Unfound where these differ."""
    unknown = [name for name in names if format_of(name) is None]
    if unknown:
        message = f"the name of {unknown[0]} shows no format that evalpipe reads"
        raise _Unfound("unknown-format", message, f"it reads {READABLE}")
    # From the last file to the first, so that of each format the first file is named.
    formats = {kind: name for name in reversed(names) if (kind := format_of(name)) is not None}
    if len(formats) > 1:
        listed = " and ".join(sorted(formats.values()))
        message = f"the files of {named.called} have different formats: {listed}"
        raise _Unfound("mixed-formats", message, "name files of one format, as with *.csv")
    return Found(next(iter(formats)), tuple((root / name, name) for name in names))


def _nearest_hint(root: Path, missing: PurePosixPath) -> str:
    """Suggest the entry most like the last part of a path that does not exist."""
    if (root / missing).is_symlink():
        return "it is a link to what is not there"
    if (root / missing).exists() or not (root / missing.parent).is_dir():
        return "check the path"
    names = sorted(entry.name for entry in (root / missing.parent).iterdir() if not entry.name.startswith("."))
    close = closest(missing.name, names)
    return f"did you mean '{missing.parent / close}'?" if close else "check the path"
