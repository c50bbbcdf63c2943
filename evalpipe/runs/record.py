"""Step 7: the output folder, written whole or not at all, and the row-level file, written table by table."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal, Self

from evalpipe.base.digests import bytes_sha256, file_sha256, text_sha256
from evalpipe.base.folders import (
    TemporaryFolder,
    exchange_folders,
    file_lock,
    flush_names,
    flush_to_disk,
    remove_folder,
    remove_temporary_folders,
    signals_postponed,
)
from evalpipe.base.formats import ESTIMATES, FORMULA, KEY_SIGNATURE, MANIFEST, NUMBER, RESULTS, RUN, RUN_FILES
from evalpipe.data.databases import libraries_of
from evalpipe.data.files import find
from evalpipe.errors import Problem, UsageError
from evalpipe.plan.sources import sources
from evalpipe.results.frames import estimates_csv
from evalpipe.runs.folder import RunFolder, refuse_foreign
from evalpipe.runs.manifest import Manifest, ReadFile, ReadSpec, versions
from evalpipe.spec.schema import COMPUTING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from contextlib import AbstractContextManager

    import polars as pl

    from evalpipe.base.ed25519 import Signer
    from evalpipe.results import Results
    from evalpipe.spec.spec import Spec


class Recorder:
    """Locks an output folder for one run and writes its files, so that two runs cannot write to it at once.

    Entering checks that the folder can be written, before anything is computed, and raises UsageError otherwise.
    Files go to a folder beside it, which takes its name when all are written; a run that fails or is killed leaves
    the earlier files as they were. A folder that holds files and no run of evalpipe is refused; beside such a run,
    files that evalpipe did not write stay.
    """

    def __init__(
        self, out: str | os.PathLike[str], by: Signer | None = None, commit: Mapping[str, object] | None = None
    ) -> None:
        """Prepare to write to the folder ``out``; ``by`` is the key that signs its manifest, None for no signature.

        ``commit`` is the git commit of the spec, for `run.json`.
        """
        self.out = Path(out).absolute()
        self.shown = str(out)
        self.began = datetime.now(UTC)
        self.by = by
        self._old = self.out.parent / f".{self.out.name}.previous"
        self._commit = commit
        self._locks = ExitStack()
        self._fresh: Path | None = None

    def __enter__(self) -> Self:
        """Lock the folder, check that it can be written, and undo what a killed run left half done."""
        if self.out == Path.cwd() or self.out in Path.cwd().parents:
            raise UsageError.of(
                "output-folder", f"the output folder '{self.shown}' is the working folder or above it",
                hint="choose a folder of its own with --out",
            )
        hint = "choose a folder that can be written with --out"
        with refused(f"to the output folder '{self.shown}'", hint), ExitStack() as locks:
            self.out.parent.mkdir(parents=True, exist_ok=True)
            if self.out.is_symlink() and not self.out.exists():
                raise NotADirectoryError(20, "it is a link to what is not there")
            if self.out.exists() and not self.out.is_dir():
                raise NotADirectoryError(20, "a file is in the way")
            locks.enter_context(locked_folder(self.out))
            refuse_foreign(self._old, f"folder '{self._old.name}'")
            self._mend()
            self._refuse_foreign()
            remove_temporary_folders(self.out)
            # Whether a folder can be made here is tried now, not after everything is computed.
            tempfile.TemporaryDirectory(dir=self.out.parent, prefix=f".{self.out.name}.try-").cleanup()
            self._locks = locks.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove files that were not put in place, and unlock the folder."""
        if self._fresh is not None:
            remove_folder(self._fresh)
        self._locks.close()

    @property
    def fresh(self) -> Path:
        """The temporary folder, beside the output folder, in which the new files are gathered."""
        if self._fresh is None:
            self._fresh = Path(tempfile.mkdtemp(dir=self.out.parent, prefix=f".{self.out.name}.new-"))
        return self._fresh

    @property
    def refused(self) -> AbstractContextManager[None]:
        """A context that turns an error of writing to the new folder into a UsageError with a hint."""
        hint = "free space or choose another folder with --out; the earlier output is unchanged"
        return refused(f"to the output folder '{self.shown}'", hint)

    def write(
        self, results: Results, card: Mapping[str, bytes], other_files: Mapping[str, bytes],
        run_facts: Mapping[str, object], manifest: Manifest, replaced: Collection[str] = (),
    ) -> None:
        """Write every file of a run, and replace the old folder by the new, whole or not at all.

        ``other_files`` are no part of this run; ``run_facts`` is what `run.json` says beside times and versions.
        ``manifest`` holds what was read, and the files of the run are added to it. ``replaced`` are further files of
        the old folder that do not stay.
        """
        files = {**card, RESULTS: results.to_json().encode(), ESTIMATES: estimates_csv(results).encode()}
        digests = {name: bytes_sha256(content) for name, content in files.items()}
        if results.row_file is not None:
            digests[results.row_file.file] = results.row_file.sha256
        files |= {**other_files, **RunFolder(self.out).manifest_files(manifest.with_files(digests), self.by)}
        ended = datetime.now(UTC)
        files[RUN] = (json.dumps({
            "evidence_sha256": results.evidence_sha256,
            "began": self.began.isoformat(timespec="seconds"), "ended": ended.isoformat(timespec="seconds"),
            "seconds": round((ended - self.began).total_seconds(), 3), "git": self._commit, **run_facts,
            "host": platform.node(), "platform": platform.platform(), **manifest.versions,
        }, indent=1) + "\n").encode()
        with self.refused:
            for name, content in files.items():
                (self.fresh / name).write_bytes(content)
            self.fresh.chmod(0o755)  # mkdtemp makes folders that only their owner can read
            self._keep_others(self.fresh, (*RUN_FILES, *replaced))
            flush_to_disk(self.fresh)  # on the disk, before it takes the place of the old one
            self._exchange(self.fresh)
            flush_names(self.out.parent)

    def _keep_others(self, fresh: Path, replaced: Collection[str]) -> None:
        """Copy files of the old folder to the ``fresh`` one, but for those ``replaced`` or already there."""
        self._refuse_foreign()  # somebody may have filled it meanwhile
        for old_file in sorted(self.out.iterdir()) if self.out.exists() else ():
            target = fresh / old_file.name
            if old_file.name in replaced or target.exists():
                continue
            if old_file.is_dir() and not old_file.is_symlink():
                shutil.copytree(old_file, target, symlinks=True)  # links stay links, whatever they lead to
            else:
                shutil.copy2(old_file, target, follow_symlinks=False)

    def _refuse_foreign(self) -> None:
        """Raise UsageError where the folder holds files, but no run of evalpipe, which would be lost."""
        refuse_foreign(self.out, f"output folder '{self.shown}'")

    def _exchange(self, fresh: Path) -> None:
        """Rename the ``fresh`` folder to the name of the old one, at once where the system can exchange two names."""
        # Once exchanged, the old folder has the other name, and goes with it.
        if self.out.exists() and exchange_folders(fresh, self.out):
            return
        try:
            # A folder cannot be renamed onto one that holds files, so the old one steps aside first.
            if self.out.exists():
                self.out.rename(self._old)
            # A process killed here leaves no folder of this name; the next one finds the old one and takes it back.
            fresh.rename(self.out)
        finally:
            self._mend()

    def _mend(self) -> None:
        """Restore the old folder where a run was killed between two renames, and remove it where it was replaced."""
        if self._old.exists() and not self.out.exists():
            self._old.rename(self.out)
        remove_folder(self._old)


def locked_folder(folder: Path) -> AbstractContextManager[None]:
    """Return a context in which an output folder is locked for other runs."""
    return file_lock(lock_of(folder))


def abandon(folder: Path) -> None:
    """Remove the lock and the temporary folders of this process, which is about to end in the middle of a run."""
    out = folder.absolute()
    with suppress(OSError):
        remove_temporary_folders(out)
        lock_of(out).unlink(missing_ok=True)


def sweep_killed(folder: Path) -> int:
    """Remove temporary folders and locks that killed runs left in a folder; return for how many output folders."""
    swept = 0
    for lock in sorted(folder.glob(".*.lock")):
        with suppress(OSError), file_lock(lock):  # which a live run holds
            remove_temporary_folders(folder / lock.name[1:].removesuffix(".lock"))
            swept += 1
    return swept


def lock_of(folder: Path) -> Path:
    """Return the path of the lock file of an output folder, beside it, as the folder itself is replaced."""
    return folder.parent / f".{folder.name}.lock"


@contextmanager
def refused(where: str, hint: str) -> Iterator[None]:
    """Turn an OSError of the block into a UsageError: ``where`` says what cannot be written, ``hint`` the way out."""
    try:
        yield
    except OSError as error:
        is_locked = isinstance(error, BlockingIOError)
        raise UsageError.of("output-folder", f"cannot write {where}: {error.strerror or error}",
                            "wait until it has ended, and try again" if is_locked else hint) from None


def replace_files(folder: str | os.PathLike[str], files: Mapping[str, bytes], by: Signer | None = None) -> None:
    """Lock an output folder and put files into it, each replaced atomically; raises UsageError where it cannot."""
    with locked_output(folder) as target:
        put_files(target, files, by)


@contextmanager
def locked_output(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Lock an output folder, and yield its real path; raises UsageError where it cannot be written."""
    target = Path(folder).resolve()
    with refused(f"to '{folder}'", "take a copy of the folder that can be written"), locked_folder(target):
        yield target


def put_files(target: Path, files: Mapping[str, bytes], by: Signer | None = None) -> None:
    """Put files, by name, into a locked folder, each replaced atomically; others stay, and the manifest is updated.

    The manifest is signed by the key ``by``. Without one, a signature of the manifest as it was is removed. A signal
    waits until all are replaced. Raises DataError, and writes nothing, where the manifest was changed.
    """
    all_files = {**files, **RunFolder(target).manifest_after(files, by)}
    with TemporaryFolder(".new-", target) as temporary:
        for name, content in all_files.items():
            (Path(temporary) / name).write_bytes(content)
        flush_to_disk(Path(temporary))  # on the disk, before any takes the place of an earlier one
        with signals_postponed("the new output is complete"):
            for name in all_files:
                (Path(temporary) / name).replace(target / name)
            if MANIFEST in all_files and KEY_SIGNATURE not in all_files:
                (target / KEY_SIGNATURE).unlink(missing_ok=True)
            flush_names(target)


LINES = 2**17
"""The lines of a row group of Parquet: fixed, so that the bytes are the same however many threads write."""


def write_rows(
    frames: Iterator[pl.DataFrame], schema: pl.Schema, path: Path, form: Literal["parquet", "csv"]
) -> tuple[str, int]:
    """Write tables of one schema to one file in turn; return the sha256 of the file and its number of rows.

    Raises OSError where the file cannot be written.
    """
    lines = (_parquet if form == "parquet" else _csv)(frames, schema, path)
    return file_sha256(path), lines


def _parquet(frames: Iterator[pl.DataFrame], schema: pl.Schema, path: Path) -> int:
    """Write tables in turn to a Parquet file, of which polars holds one at a time; return the number of rows."""
    from polars.io.plugins import register_io_source

    heights: list[int] = []

    def tables(
        with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, batch_size: int | None  # noqa: ARG001
    ) -> Iterator[pl.DataFrame]:
        """Yield the tables when polars asks for them: all of each, as nothing here selects columns or rows."""
        for frame in frames:
            heights.append(frame.height)
            yield frame

    register_io_source(tables, schema=schema).sink_parquet(
        path, compression="zstd", row_group_size=LINES, maintain_order=True)
    return sum(heights)


def _csv(frames: Iterator[pl.DataFrame], schema: pl.Schema, path: Path) -> int:
    """Write tables to a CSV file, formulas of spreadsheets behind an apostrophe; return the number of rows."""
    import polars as pl

    texts, lines = pl.col(pl.String), 0
    is_formula = texts.str.contains(f"^{FORMULA}") & ~texts.str.contains(f"^(?:{NUMBER})$")
    harmless_texts = pl.when(is_formula).then("'" + texts).otherwise(texts).name.keep()
    with path.open("wb") as file:
        schema.to_frame().write_csv(file)
        for frame in frames:
            frame.with_columns(harmless_texts).write_csv(file, include_header=False)
            lines += frame.height
    return lines


PATIENCE = 5.0
"""The seconds that git may take for each of its answers."""

SAFE = ("-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit")
"""Settings under which git runs no command that a folder names: neither one that watches files, nor any of a folder
that only looks like a repository."""


def commit_of(spec: Path | None) -> dict[str, object] | None:
    """Return the git ``commit`` checked out in a spec's folder, and whether it is ``dirty``; None without one.

    It is dirty where a file that git tracks was changed, or git does not track the spec; None where git did not say.
    """
    commit = None if spec is None else _git(spec.parent, "rev-parse", "--verify", "--quiet", "HEAD")
    if spec is None or commit is None:
        return None
    changed = _git(spec.parent, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all")
    tracked = _git(spec.parent, "ls-files", "--", spec.name)
    dirty = None if changed is None or tracked is None else bool(changed) or not tracked
    return {"commit": commit.strip(), "dirty": dirty}


def _git(folder: Path, *arguments: str) -> str | None:
    """Return the output of a git command in a folder; None where git is missing, fails or takes too long."""
    # Variables that a hook of git sets are of another repository than this one may be.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    git = shutil.which("git")
    if git is None:
        return None
    try:
        process = subprocess.run(  # noqa: S603 - fixed words, and the path of the spec's folder
            [git, *SAFE, "-C", str(folder), *arguments], stdin=subprocess.DEVNULL, capture_output=True,
            timeout=PATIENCE, check=False, env=environment | {"GIT_OPTIONAL_LOCKS": "0"})
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return process.stdout.decode("utf-8", "replace") if process.returncode == 0 else None


LAST = "last"
"""What a gate is against whose reference is that of the output folder."""


def start_of_paths(spec: Spec, out: Path) -> str:
    """Return the spec's folder relative to the output folder ``out``; paths in the manifest start from it."""
    return _path_from(Path(os.path.realpath(out)), Path(os.path.realpath(spec.origin.folder)))


def manifest_of(spec: Spec, results: Results) -> Manifest:
    """Return the manifest of a run with all that it read; the files that it writes are added later."""
    origin = spec.origin
    spec_files = [ReadSpec(path=None if file.path is None else _path_from(origin.folder, file.path), sha256=file.sha256)
                  for file in origin.files]
    texts = [ReadFile(kind="text", sha256=prose.sha256, path=_path_from(
        origin.folder, origin.folder_of(*loc, "file") / prose.path, prose.path))
        for loc, prose in spec.texts.items() if prose.path is not None]
    inputs = dict.fromkeys([*_data_files(spec, results), *texts, *_template_files(spec),
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
    for declared in filter(None, (*sources(spec).datasets.values(), sources(spec).candidates)):
        for named in declared.named_files:
            located = find(spec.origin, named)
            for path, shown in () if isinstance(located, Problem) else located.files:
                path_of_file.setdefault((declared.name, shown), path)
    for file in results.inputs:
        if file.query_sha256 is not None:
            yield ReadFile(kind="query", path=file.path, sha256=file.query_sha256)
            yield ReadFile(kind="rows", path=file.path, sha256=file.sha256)
            continue
        file_path = None if file.path is None else path_of_file.get((file.dataset, file.path))
        recorded_path = file.path if file_path is None else _path_from(spec.origin.folder, file_path, file.path or "")
        yield ReadFile(kind="data", path=recorded_path, sha256=file.sha256)


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
