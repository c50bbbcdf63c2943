"""`evalpipe doctor`: whether this machine can run evalpipe, and what a process may use of it.

Each check says what it saw and, where something is wrong, the way out.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evalpipe.base.folders import locked
from evalpipe.errors import EvalpipeError
from evalpipe.version import VERSION
from evalpipe.words.numbers import bytes_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


ROOT = Path("/")

_NO_LIMIT = 2**60
"""The bytes from which on a limit of memory is none: version 1 of control groups has no word for that."""


def cores(root: Path = ROOT) -> float:
    """Return how many processors this process may use: those that it is bound to, and the quota of its groups."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quotas = [quota for folder in _groups(root, "cpu") if (quota := _quota(folder)) is not None]
    return min([float(bound), *quotas])


def memory_limit(root: Path = ROOT) -> int | None:
    """Return the bytes that this process may take by its groups; None where they set no limit."""
    names = ("memory.max", "memory.limit_in_bytes")
    limits = [int(text) for folder in _groups(root, "memory") for name in names
              if (text := _text(folder / name)).isdecimal()]
    return min((limit for limit in limits if limit < _NO_LIMIT), default=None)


def memory_free(root: Path = ROOT) -> int | None:
    """Return the bytes of memory that can be taken now, those of caches too; None where the system does not say."""
    for line in _text(root / "proc" / "meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """Yield the folders of the control groups that this process is in, each group above it too."""
    top = root / "sys" / "fs" / "cgroup"
    for line in _text(root / "proc" / "self" / "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        hierarchy = top / controller if controllers else top
        group = Path(path.lstrip("/"))
        # Within a container the path is that of the host, and the group of the container is at the top.
        yield from (hierarchy / above for above in (group, *group.parents) if (hierarchy / above).is_dir())


def _quota(folder: Path) -> float | None:
    """Return how many processors a group may use; None where it has no quota."""
    words = _text(folder / "cpu.max").split()
    words = words or [_text(folder / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
    if len(words) == 2 and words[0].isdecimal() and words[1].isdecimal() and int(words[1]):
        return int(words[0]) / int(words[1])
    return None


def _text(path: Path) -> str:
    with suppress(OSError, UnicodeDecodeError):
        return path.read_text(encoding="utf-8").strip()
    return ""


State = Literal["ok", "note", "failed"]

LEAST_MEMORY = 500_000_000
"""The bytes of memory that a small run with a card needs."""

LEAST_SPACE = 100_000_000
"""The bytes that a disk must have free: a card, its row-level file and the folder that they are gathered in."""

EXTRAS = {
    "dask": "files of any size are read by a Dask cluster (engine: {backend: dask})",
    "mlflow": "results are logged to MLflow (evalpipe.mlflow.log)",
    "postgresql": "runs are recorded in a ledger on PostgreSQL",
    "sign": "manifests are signed with an ed25519 key",
    "sql": "datasets are read from PostgreSQL and SQLite (datasets: {name: {sql: …, uri: …}})",
}
"""What each extra of the package gives; those for developers are not here."""

DEVELOPERS = ("dev", "test")


@dataclass(frozen=True, slots=True)
class Seen:
    """One thing that was looked at: its name, whether it is as it must be, what was seen, and the way out."""

    name: str
    state: State
    text: str
    hint: str | None = None


def examined(reports: Path) -> list[Seen]:
    """Return the checks of this machine, of which ``reports`` is the folder that output folders are made in."""
    checks: list[Callable[[], Iterator[Seen]]] = [
        _python, _libraries, _pdf, _fonts, _cores, _memory, _temporary, lambda: _reports(reports), _extras]
    return [check for look in checks for check in look()]


def _python() -> Iterator[Seen]:
    # Another Python than pyproject.toml allows cannot have installed this.
    yield Seen("python", "ok", f"Python {platform.python_version()} on {platform.system()} {platform.machine()}")


def _libraries() -> Iterator[Seen]:
    """Hold each library that evalpipe needs to the versions that it asks for."""
    try:
        wanted = [_requirement(text) for text in metadata.requires("evalpipe") or () if "extra ==" not in text]
    except metadata.PackageNotFoundError:
        yield Seen("libraries", "failed", "evalpipe is not installed as a package, so its libraries are not known",
                    "install it: pip install .")
        return
    good = []
    for name, versions in wanted:
        version = _version(name)
        if version is not None and meets(version, versions):
            good.append(f"{name} {version}")
            continue
        seen = f"{name} is missing" if version is None else f"{name} {version} is not {versions}"
        yield Seen("libraries", "failed", seen, f"pip install '{name}{versions}'")
    yield Seen("libraries", "ok", f"evalpipe {VERSION}, {', '.join(good)}")


def _requirement(text: str) -> tuple[str, str]:
    """Return the name and the versions of a requirement such as "weasyprint<71,>=70"."""
    parts = re.fullmatch(r"\s*([\w.-]+)\s*(?:\[[^]]*\])?\s*\(?([^;()]*)\)?\s*(?:;.*)?", text)
    return (parts[1], parts[2].replace(" ", "")) if parts is not None else (text, "")


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def meets(version: str, wanted: str) -> bool:
    """Tell whether a version is among those of a requirement, which has `>=` and `<` alone, such as ">=70,<71"."""
    release = _release(version)
    for bound in filter(None, wanted.split(",")):
        limit = _release(bound.lstrip("<>="))
        if bound.startswith(">=") and release < limit:
            return False
        if bound.startswith("<") and not bound.startswith("<=") and release >= limit:
            return False
    return True


def _release(version: str) -> tuple[int, ...]:
    leading = re.match(r"\d+(?:\.\d+)*", version)
    numbers = [int(part) for part in leading[0].split(".")] if leading is not None else []
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def _pdf() -> Iterator[Seen]:
    """Render a page, which needs Pango and its kin."""
    from evalpipe.card.pdf import load_weasyprint

    try:
        weasyprint = load_weasyprint()
        page = weasyprint.HTML(string="<p>evalpipe</p>").write_pdf()
    except EvalpipeError as error:
        problem = error.problems[0]
        yield Seen("pdf", "failed", problem.message, problem.hint)
    except Exception as error:  # noqa: BLE001 - whatever a library of the system raises is what was to be learnt
        yield Seen("pdf", "failed", f"WeasyPrint cannot render a page: {type(error).__name__}: {error}",
                    "install WeasyPrint and Pango again, or leave pdf out of report.formats")
    else:
        yield Seen("pdf", "ok", f"WeasyPrint {weasyprint.__version__} renders a page of {len(page or b''):,} bytes")


def _fonts() -> Iterator[Seen]:
    """Look for the card's own fonts, and for those that other scripts are written with."""
    from evalpipe.card.assets import templates_folder
    from evalpipe.card.pdf import FALLBACKS, font_of_matplotlib

    try:
        bundled_fonts = len(list((templates_folder() / "fonts").glob("*.woff2")))
        missing = [name for _, _, name in FALLBACKS if not font_of_matplotlib(name).is_file()]
    except EvalpipeError as error:
        yield Seen("fonts", "failed", error.problems[0].message, error.problems[0].hint)
        return
    if missing or not bundled_fonts:
        names = ", ".join(missing) or "the card's own fonts"
        yield Seen("fonts", "failed", f"missing: {names}", "install evalpipe and matplotlib again")
        return
    yield Seen("fonts", "ok", f"{bundled_fonts} of the card, and {len(FALLBACKS)} of matplotlib for further letters")


def _cores() -> Iterator[Seen]:
    import polars as pl

    usable, threads = cores(), pl.thread_pool_size()
    seen = f"{usable:g} of {os.cpu_count()} may be used; polars has {threads} {'thread' if threads == 1 else 'threads'}"
    if threads > max(1, usable):
        hint = f"set POLARS_MAX_THREADS={max(1, int(usable))}: more threads than that wait for each other"
        yield Seen("cores", "note", seen, hint)
    else:
        yield Seen("cores", "ok", seen)


def _memory() -> Iterator[Seen]:
    limit, free = memory_limit(), memory_free()
    seen = [*([] if free is None else [f"{bytes_text(free)} free"]),
            *([] if limit is None else [f"a limit of {bytes_text(limit)} for this process"])]
    least = min((size for size in (limit, free) if size is not None), default=None)
    if least is not None and least < LEAST_MEMORY:
        yield Seen("memory", "failed", f"{' and '.join(seen)}; a small run needs {bytes_text(LEAST_MEMORY)}",
                    "allow more, or end what else is running")
    else:
        yield Seen("memory", "ok", " and ".join(seen) or "not known on this system")


def _temporary() -> Iterator[Seen]:
    try:
        folder = tempfile.gettempdir()
        with tempfile.TemporaryFile() as file:
            file.write(b"evalpipe")
    except OSError as error:
        yield Seen("temporary", "failed", f"no temporary file can be written: {error.strerror or error}",
                    "set TMPDIR to a folder that can be written")
        return
    yield _space("temporary", Path(folder), "set TMPDIR to a folder on a larger disk")


def _reports(reports: Path) -> Iterator[Seen]:
    """Write, lock and remove a folder where reports go; nothing is left behind."""
    # Folders that are not there yet are made by the run, so the first that is there must take them.
    place = next((folder for folder in (reports, *reports.absolute().parents) if folder.exists()), reports)
    try:
        with tempfile.TemporaryDirectory(dir=place, prefix=".doctor-") as folder, locked(Path(folder) / "lock"):
            (Path(folder) / "file").write_bytes(b"evalpipe")
    except OSError as error:
        yield Seen("reports", "failed", f"cannot write to {place}: {error.strerror or error}",
                    "allow writing there, or choose another folder with --out")
        return
    yield _space("reports", place, "free space, or choose a folder on another disk with --out")


def _space(name: str, folder: Path, hint: str) -> Seen:
    free = shutil.disk_usage(folder).free
    seen = f"{folder} can be written and has {bytes_text(free)} free"
    if free < LEAST_SPACE:
        return Seen(name, "failed", f"{seen}; a run needs {bytes_text(LEAST_SPACE)}", hint)
    return Seen(name, "ok", seen)


def _extras() -> Iterator[Seen]:
    """Say which extras are installed, and what the others would give."""
    try:
        about = metadata.metadata("evalpipe")
    except metadata.PackageNotFoundError:
        return
    needs = metadata.requires("evalpipe") or ()
    for extra in about.get_all("Provides-Extra") or ():
        if extra in DEVELOPERS:
            continue
        named = [_requirement(text)[0] for text in needs if re.search(rf"extra == ['\"]{re.escape(extra)}['\"]", text)]
        missing, gives = [name for name in named if _version(name) is None], EXTRAS.get(extra, "")
        if missing:
            yield Seen(extra, "note", f"not installed; with it, {gives}", f"pip install 'evalpipe[{extra}]'")
        else:
            versions = ", ".join(f"{name} {_version(name)}" for name in named)
            yield Seen(extra, "ok", f"{versions}: {gives}")
