"""What a run read: the files of its spec, of its data, of texts and templates, and the results of earlier runs.

Their paths start at the folder of the spec, so that they are the same wherever that folder lies.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from evalpipe.base.digests import text_sha256
from evalpipe.data.databases import libraries_of
from evalpipe.data.files import find
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
    """Return the spec's folder, to which paths in the manifest are relative, as a path from output folder ``out``."""
    return _path_from(Path(os.path.realpath(out)), Path(os.path.realpath(spec.origin.folder)))


def manifest_of(spec: Spec, results: Results) -> Manifest:
    """Return the manifest of a run with all that it read; the files that it writes are added later."""
    origin = spec.origin
    spec_files = [ReadSpec(path=None if file.path is None else _path_from(origin.folder, file.path), sha256=file.sha256)
                  for file in origin.files]
    inputs = dict.fromkeys([*_data_files(spec, results), *_text_files(spec), *_template_files(spec),
                            *_earlier_results(spec, results)])
    return Manifest(
        name=results.name, **versions(libraries_of(sources(spec))), spec_sha256=results.spec_sha256,
        overrides=overrides_of(spec), as_of=results.as_of, spec_files=spec_files, inputs=list(inputs))


def overrides_of(spec: Spec) -> list[str]:
    """Return the overrides by `--set`, without those of keys that change no result: a URL there may hold a password."""
    idle_keys = {"ledger", *(f"engine.{key}" for key in COMPUTING)}
    return [text for text in spec.origin.overrides if text.partition("=")[0].replace('"', "").strip() not in idle_keys]


def _path_from(folder: Path, path: Path, declared: str = "") -> str:
    """Return a path relative to a folder, with slashes; ``declared``, the path in the spec, stays if it is absolute."""
    if PurePosixPath(declared).is_absolute() or Path(declared).is_absolute():
        return declared
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # on another drive
        return path.as_posix()


def _data_files(spec: Spec, results: Results) -> Iterator[ReadFile]:
    """Yield the data files, and each query with its rows, in the order of the results."""
    path_of_file: dict[tuple[str, str], Path] = {}
    for declared in (*sources(spec).datasets.values(), sources(spec).candidates):
        for name, shown, path in () if declared is None else _located_files(spec, declared):
            path_of_file.setdefault((name, shown), path)
    for file in results.inputs:
        if file.query_sha256 is not None:
            yield ReadFile(kind="query", path=file.path, sha256=file.query_sha256)
            yield ReadFile(kind="rows", path=file.path, sha256=file.sha256)
            continue
        file_path = None if file.path is None else path_of_file.get((file.dataset, file.path))
        recorded_path = file.path if file_path is None else _path_from(spec.origin.folder, file_path, file.path or "")
        yield ReadFile(kind="data", path=recorded_path, sha256=file.sha256)


def _located_files(spec: Spec, declared: DatasetSource) -> Iterator[tuple[str, str, Path]]:
    """Yield the files of a dataset: the dataset's name, the path as results show it, and the path to open."""
    for file_name in declared.named_files:
        located = find(spec.origin, file_name)
        for path, shown in () if isinstance(located, Problem) else located.files:
            yield declared.name, shown, path


def _text_files(spec: Spec) -> Iterator[ReadFile]:
    """Yield the text files that the spec names for the card."""
    for loc, prose in spec.texts.items():
        if prose.path is not None:
            path = spec.origin.folder_of(*loc, "file") / prose.path
            recorded_path = _path_from(spec.origin.folder, path, prose.path)
            yield ReadFile(kind="text", path=recorded_path, sha256=prose.sha256)


def _template_files(spec: Spec) -> Iterator[ReadFile]:
    """Yield the template files that the spec names: a single one, or each of a folder."""
    declared, templates = spec.report.template, spec.templates
    if declared is None or templates is None:
        return
    top = spec.origin.folder_of("report", "template") / declared
    for name, text in templates.texts.items():
        # A single template may be named by its file.
        is_single_file = top.is_file()
        path, declared_path = (top, declared) if is_single_file else (top / name, f"{declared}/{name}")
        recorded_path = _path_from(spec.origin.folder, path, declared_path)
        yield ReadFile(kind="template", path=recorded_path, sha256=text_sha256(text))


def _earlier_results(spec: Spec, results: Results) -> Iterator[ReadFile]:
    """Yield the results files of earlier runs that gates were judged against, without the reference `last`."""
    for gate in results.gates:
        if gate.against_sha256 is None or gate.against in (None, LAST):
            continue
        path = spec.origin.folder_of("gates", gate.gate - 1, "against", "results") / str(gate.against)
        path = RunFolder.named(path).results_file
        is_absolute = Path(str(gate.against)).is_absolute()
        recorded_path = _path_from(spec.origin.folder, path, path.as_posix() if is_absolute else "")
        yield ReadFile(kind="earlier results", path=recorded_path, sha256=gate.against_sha256)
