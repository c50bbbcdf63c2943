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

from evalpipe.base.folders import file_lock
from evalpipe.errors import EvalpipeError
from evalpipe.version import VERSION
from evalpipe.words.numbers import bytes_text
from evalpipe.words.spelling import joined

if TYPE_CHECKING:
    from collections.abc import Iterator


ROOT = Path("/")

_NO_LIMIT = 2**60
"""The bytes from which on a limit of memory is none: version 1 of control groups has no word for that."""


def cores(root: Path = ROOT) -> float:
    """Return how many processors this process may use, by its CPU affinity and the quotas of its control groups."""
    allowed = [float(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)]
    for folder in _groups(root, "cpu"):
        words = _text(folder / "cpu.max").split()  # quota and period, which version 1 has in two files
        words = words or [_text(folder / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
        if len(words) == 2 and words[0].isdecimal() and words[1].isdecimal() and int(words[1]):
            allowed.append(int(words[0]) / int(words[1]))
    return min(allowed)


def memory_limit(root: Path = ROOT) -> int | None:
    """Return the memory limit in bytes of this process's control groups; None where they set none."""
    names = ("memory.max", "memory.limit_in_bytes")
    limits = [int(text) for folder in _groups(root, "memory") for name in names
              if (text := _text(folder / name)).isdecimal()]
    return min((limit for limit in limits if limit < _NO_LIMIT), default=None)


def memory_free(root: Path = ROOT) -> int | None:
    """Return the available memory in bytes, including caches that can be freed; None where the system does not say."""
    for line in _text(root / "proc" / "meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """Yield the folders of the control groups, and of all above them, that limit this process's "cpu" or "memory"."""
    top = root / "sys" / "fs" / "cgroup"
    for line in _text(root / "proc" / "self" / "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        hierarchy = top / controller if controllers else top
        group = Path(path.lstrip("/"))
        # Within a container the path is that of the host, and the group of the container is at the top.
        yield from (hierarchy / above for above in (group, *group.parents) if (hierarchy / above).is_dir())


def _text(path: Path) -> str:
    """Return the text of a file without white space around it; "" where it cannot be read."""
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
class Probe:
    """The result of a check of this machine: its name, its state, what was seen, and the way out."""

    name: str
    state: State
    text: str
    hint: str | None = None


def run_checks(reports: Path) -> list[Probe]:
    """Run all checks of this machine and return their results; output folders are made in the folder ``reports``."""
    # Another Python than pyproject.toml allows cannot have installed this.
    system = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    return [Probe("python", "ok", system), *_libraries(), *_pdf(), *_fonts(), _cores(), *_memory(), *_temporary(),
            *_reports(reports), *_extras()]


def _libraries() -> Iterator[Probe]:
    """Check that each library that evalpipe requires is installed in a version that it allows."""
    try:
        requirements = [_requirement(text) for text in metadata.requires("evalpipe") or () if "extra ==" not in text]
    except metadata.PackageNotFoundError:
        yield Probe("libraries", "failed", "evalpipe is not installed as a package, so its libraries are not known",
                    "install it: pip install .")
        return
    fitting = []
    for name, versions in requirements:
        version = _version(name)
        if version is not None and meets(version, versions):
            fitting.append(f"{name} {version}")
            continue
        text = f"{name} is missing" if version is None else f"{name} {version} is not {versions}"
        yield Probe("libraries", "failed", text, f"pip install '{name}{versions}'")
    yield Probe("libraries", "ok", f"evalpipe {VERSION}, {', '.join(fitting)}")


def _requirement(text: str) -> tuple[str, str]:
    """Return the name and the version bounds of a requirement: "weasyprint", "<71,>=70" of "weasyprint<71,>=70"."""
    parts = re.fullmatch(r"\s*([\w.-]+)\s*(?:\[[^]]*\])?\s*\(?([^;()]*)\)?\s*(?:;.*)?", text)
    return (parts[1], parts[2].replace(" ", "")) if parts is not None else (text, "")


def _version(name: str) -> str | None:
    """Return the version of an installed library; None where it is missing."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def meets(version: str, requirement: str) -> bool:
    """Tell whether a version is within the bounds of a requirement such as ">=70,<71"; only `>=` and `<` count."""
    release = _release(version)
    for bound in filter(None, requirement.split(",")):
        limit = _release(bound.lstrip("<>="))
        if bound.startswith(">=") and release < limit:
            return False
        if bound.startswith("<") and not bound.startswith("<=") and release >= limit:
            return False
    return True


def _release(version: str) -> tuple[int, ...]:
    """Return the numbers at the beginning of a version, without zeros at their end: (70, 1) of "70.1.0rc2"."""
    leading = re.match(r"\d+(?:\.\d+)*", version)
    numbers = [int(part) for part in leading[0].split(".")] if leading is not None else []
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def _pdf() -> Iterator[Probe]:
    """Check that WeasyPrint can render a page, which needs Pango."""
    from evalpipe.card.pdf import load_weasyprint

    try:
        weasyprint = load_weasyprint()
        page = weasyprint.HTML(string="<p>evalpipe</p>").write_pdf()
    except EvalpipeError as error:
        problem = error.problems[0]
        yield Probe("pdf", "failed", problem.message, problem.hint)
    except Exception as error:  # noqa: BLE001 - whatever a library of the system raises is what was to be learnt
        yield Probe("pdf", "failed", f"WeasyPrint cannot render a page: {type(error).__name__}: {error}",
                    "install WeasyPrint and Pango again, or leave pdf out of report.formats")
    else:
        yield Probe("pdf", "ok", f"WeasyPrint {weasyprint.__version__} renders a page of {len(page or b''):,} bytes")


def _fonts() -> Iterator[Probe]:
    """Check that the fonts of the card are there, and those of matplotlib for further scripts."""
    from evalpipe.card.assets import FALLBACKS, templates_folder
    from evalpipe.card.pdf import font_of_matplotlib

    try:
        bundled_fonts = len(list((templates_folder() / "fonts").glob("*.woff2")))
        missing = [name for _, _, name in FALLBACKS if not font_of_matplotlib(name).is_file()]
    except EvalpipeError as error:
        yield Probe("fonts", "failed", error.problems[0].message, error.problems[0].hint)
        return
    if missing or not bundled_fonts:
        names = ", ".join(missing) or "the card's own fonts"
        yield Probe("fonts", "failed", f"missing: {names}", "install evalpipe and matplotlib again")
        return
    yield Probe("fonts", "ok", f"{bundled_fonts} of the card, and {len(FALLBACKS)} of matplotlib for further letters")
    yield from _scripts()


def _scripts() -> Iterator[Probe]:
    """Check which scripts beyond those of the card's fonts the PDF can show, by the fonts that are installed."""
    from evalpipe.card.pdf import letters_without_font, load_weasyprint
    from evalpipe.words.spelling import SAMPLES

    try:
        with letters_without_font() as letters:
            load_weasyprint().HTML(string=f"<p>{' '.join(SAMPLES.values())}</p>").write_pdf()
    except Exception:  # noqa: BLE001 - no PDF can be made here, as another check says
        return
    missing = [script for script, letter in SAMPLES.items() if letter in letters]
    if missing:
        yield Probe("scripts", "note", f"card.pdf would show boxes for letters of {joined(missing, 'and')}",
                    "install fonts for those that your names use (Debian, Ubuntu: apt-get install fonts-noto-cjk "
                    "fonts-noto-core)")
    else:
        yield Probe("scripts", "ok", f"fonts for {joined(list(SAMPLES), 'and')}")


def _cores() -> Probe:
    """Check that polars has no more threads than this process may use cores."""
    import polars as pl

    usable, threads = cores(), pl.thread_pool_size()
    text = f"{usable:g} of {os.cpu_count()} may be used; polars has {threads} {'thread' if threads == 1 else 'threads'}"
    hint = f"set POLARS_MAX_THREADS={max(1, int(usable))}: more threads than that wait for each other"
    return Probe("cores", "note", text, hint) if threads > max(1, usable) else Probe("cores", "ok", text)


def _memory() -> Iterator[Probe]:
    """Check that free memory and the limit for this process suffice for a small run with a card."""
    limit, free = memory_limit(), memory_free()
    texts = [*([] if free is None else [f"{bytes_text(free)} free"]),
            *([] if limit is None else [f"a limit of {bytes_text(limit)} for this process"])]
    smallest = min((size for size in (limit, free) if size is not None), default=None)
    if smallest is not None and smallest < LEAST_MEMORY:
        yield Probe("memory", "failed", f"{' and '.join(texts)}; a small run needs {bytes_text(LEAST_MEMORY)}",
                    "allow more, or end what else is running")
    else:
        yield Probe("memory", "ok", " and ".join(texts) or "not known on this system")


def _temporary() -> Iterator[Probe]:
    """Check that a temporary file can be written, and that its disk has space."""
    try:
        folder = tempfile.gettempdir()
        with tempfile.TemporaryFile() as file:
            file.write(b"evalpipe")
    except OSError as error:
        yield Probe("temporary", "failed", f"no temporary file can be written: {error.strerror or error}",
                    "set TMPDIR to a folder that can be written")
        return
    yield _check_space("temporary", Path(folder), "set TMPDIR to a folder on a larger disk")


def _reports(reports: Path) -> Iterator[Probe]:
    """Check that a folder can be written, locked and removed where output folders are made; nothing stays there."""
    # Folders that are not there yet are made by the run, so the first that is there must take them.
    parent = next((folder for folder in (reports, *reports.absolute().parents) if folder.exists()), reports)
    try:
        with tempfile.TemporaryDirectory(dir=parent, prefix=".doctor-") as folder, file_lock(Path(folder) / "lock"):
            (Path(folder) / "file").write_bytes(b"evalpipe")
    except OSError as error:
        yield Probe("reports", "failed", f"cannot write to {parent}: {error.strerror or error}",
                    "allow writing there, or choose another folder with --out")
        return
    yield _check_space("reports", parent, "free space, or choose a folder on another disk with --out")


def _check_space(name: str, folder: Path, hint: str) -> Probe:
    """Return the result of check ``name``: whether the disk of a writable folder has the space that a run needs."""
    free = shutil.disk_usage(folder).free
    text = f"{folder} can be written and has {bytes_text(free)} free"
    if free < LEAST_SPACE:
        return Probe(name, "failed", f"{text}; a run needs {bytes_text(LEAST_SPACE)}", hint)
    return Probe(name, "ok", text)


def _extras() -> Iterator[Probe]:
    """Yield for each extra of the package the versions installed, or what it would add."""
    try:
        package_metadata = metadata.metadata("evalpipe")
    except metadata.PackageNotFoundError:
        return
    requirements = metadata.requires("evalpipe") or ()
    for extra in package_metadata.get_all("Provides-Extra") or ():
        if extra in DEVELOPERS:
            continue
        marker = re.compile(rf"extra == ['\"]{re.escape(extra)}['\"]")
        library_names = [_requirement(text)[0] for text in requirements if marker.search(text)]
        missing, benefit = [name for name in library_names if _version(name) is None], EXTRAS.get(extra, "")
        if missing:
            yield Probe(extra, "note", f"not installed; with it, {benefit}", f"pip install 'evalpipe[{extra}]'")
        else:
            versions = ", ".join(f"{name} {_version(name)}" for name in library_names)
            yield Probe(extra, "ok", f"{versions}: {benefit}")
