"""What a run read: the files of its spec, of its data, of texts and templates, and the results of earlier runs.

Their paths start at the folder of the spec, so that they are the same wherever that folder lies.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from evalpipe.base.digests import text_sha256
from evalpipe.data.files import find
from evalpipe.data.sql.drivers import libraries_of
from evalpipe.errors import Problem
from evalpipe.plan.sources import sources
from evalpipe.runs.folder import RunFolder
from evalpipe.runs.manifest import Manifest, ReadFile, ReadSpec, versions
from evalpipe.spec.schema import COMPUTING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.plan.sources import DatasetSource
    from evalpipe.results import Results
    from evalpipe.spec.spec import Spec

LAST = "last"
"""What a gate is against whose reference is that of the output folder."""


def start_of_paths(spec: Spec, out: Path) -> str:
    """Return the folder that the paths of a manifest start at, from the output folder that it is in."""
    return _path_from(Path(os.path.realpath(out)), Path(os.path.realpath(spec.origin.folder)))


def manifest_of(spec: Spec, results: Results) -> Manifest:
    """Return the manifest of a run, whose own files are still to be added."""
    origin = spec.origin
    files = [ReadSpec(path=None if file.path is None else _path_from(origin.folder, file.path), sha256=file.sha256)
             for file in origin.files]
    read = dict.fromkeys([*_data_files(spec, results), *_text_files(spec), *_template_files(spec),
                          *_earlier_results(spec, results)])
    return Manifest(
        name=results.name, **versions(libraries_of(sources(spec))), spec_sha256=results.spec_sha256,
        overrides=overrides_of(spec), as_of=results.as_of, spec_files=files, inputs=list(read))


def overrides_of(spec: Spec) -> list[str]:
    """Return what `--set` laid over the spec, but for keys that change no result: a URL there may hold a password."""
    idle = {"ledger", *(f"engine.{key}" for key in COMPUTING)}
    return [text for text in spec.origin.overrides if text.partition("=")[0].replace('"', "").strip() not in idle]


def _path_from(folder: Path, path: Path, written: str = "") -> str:
    """Return a path as it is from a folder; one that is ``written`` as absolute stays."""
    if PurePosixPath(written).is_absolute() or Path(written).is_absolute():
        return written
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # on another drive
        return path.as_posix()


def _data_files(spec: Spec, results: Results) -> Iterator[ReadFile]:
    """Yield the files of data in the order of the results."""
    places: dict[tuple[str, str], Path] = {}
    for declared in (*sources(spec).datasets.values(), sources(spec).candidates):
        for name, shown, path in () if declared is None else _located_files(spec, declared):
            places.setdefault((name, shown), path)
    for file in results.inputs:
        if file.query_sha256 is not None:
            yield ReadFile(kind="query", path=file.path, sha256=file.query_sha256)
            yield ReadFile(kind="rows", path=file.path, sha256=file.sha256)
            continue
        place = None if file.path is None else places.get((file.dataset, file.path))
        where = file.path if place is None else _path_from(spec.origin.folder, place, file.path or "")
        yield ReadFile(kind="data", path=where, sha256=file.sha256)


def _located_files(spec: Spec, declared: DatasetSource) -> Iterator[tuple[str, str, Path]]:
    """Yield the files of a dataset: its name, the path as it is shown, and where the file lies."""
    for named in declared.named_files:
        located = find(spec.origin, named)
        for path, shown in () if isinstance(located, Problem) else located.files:
            yield declared.name, shown, path


def _text_files(spec: Spec) -> Iterator[ReadFile]:
    for loc, prose in spec.texts.items():
        if prose.path is not None:
            path = spec.origin.folder_of(*loc, "file") / prose.path
            where = _path_from(spec.origin.folder, path, prose.path)
            yield ReadFile(kind="text", path=where, sha256=prose.sha256)


def _template_files(spec: Spec) -> Iterator[ReadFile]:
    named, read = spec.report.template, spec.templates
    if named is None or read is None:
        return
    place = spec.origin.folder_of("report", "template") / named
    for name, text in read.texts.items():
        # A single template may be named by its file.
        one_file = place.is_file()
        path, written = (place, named) if one_file else (place / name, f"{named}/{name}")
        where = _path_from(spec.origin.folder, path, written)
        yield ReadFile(kind="template", path=where, sha256=text_sha256(text))


def _earlier_results(spec: Spec, results: Results) -> Iterator[ReadFile]:
    """Yield the results of earlier runs that gates were judged against, but for the reference of the output folder."""
    for gate in results.gates:
        if gate.against_sha256 is None or gate.against in (None, LAST):
            continue
        path = spec.origin.folder_of("gates", gate.gate - 1, "against", "results") / str(gate.against)
        path = RunFolder.named(path).results_file
        written = str(gate.against) if Path(str(gate.against)).is_absolute() else ""
        where = _path_from(spec.origin.folder, path, written and path.as_posix())
        yield ReadFile(kind="earlier results", path=where, sha256=gate.against_sha256)
