"""What every test shares: no skipping in CI, hypothesis without chance, reference data, results of the examples."""

from __future__ import annotations

import fcntl
import gc
import hashlib
import os
import shutil
import signal
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from evalpipe.calibration.scales import Events
    from evalpipe.calibration.spline import Smooth
    from evalpipe.card.edition import Edition

# Every worker and every command that a test starts would compile all of evalpipe again. Each has a core of its own.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Without buffers nothing is left to be flushed at exit, which is where an exit code can be lost.
os.environ.pop("PYTHONUNBUFFERED", None)
# More threads than that wait for each other; test_reproducible.py runs with four.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS")
os.environ |= {name: "1" for name in THREADS if name not in os.environ}

# A shell that starts pytest in the background lets it ignore Ctrl-C, and with it every command that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT.parent / "shared" / "reference"

WITHOUT_DRAWS = {"candidates"}
"""The examples without predictions, of which nothing can be drawn."""

settings.register_profile("day", derandomize=True, deadline=None, database=None, max_examples=25)
settings.register_profile("night", settings.get_profile("day"), max_examples=100)
settings.load_profile("day")

_skipped: dict[str, str] = {}


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the top folder of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def reference() -> Path:
    """Return the folder of the reference data, which lies beside the repository; skip where it is absent."""
    if not REFERENCE.is_dir():
        pytest.skip("the reference data (../shared/reference) are not here")
    return REFERENCE


Shared = Callable[[str, Callable[[Path], object]], Path]


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Shared:
    """Return a function that fills a folder, or writes a file, once for all workers, under a lock, and returns it."""
    own = tmp_path_factory.getbasetemp()
    top = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "shared"

    def folder(name: str, fill: Callable[[Path], object]) -> Path:
        place, done = top / name, top / f"{name}.done"
        top.mkdir(exist_ok=True)
        with (top / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                shutil.rmtree(place, ignore_errors=True)  # of a test that was skipped, or failed, while it filled it
                fill(place)
                done.touch()
        return place

    return folder


@pytest.fixture(scope="session")
def example(shared: Shared) -> Callable[[str], Path]:
    """Return a function that runs an example spec, with few replicates, and returns its folder of results and card."""
    import evalpipe

    def folder(name: str) -> Path:
        few = ["report.formats=[html, junit]", *(() if name in WITHOUT_DRAWS else ("intervals.replicates=150",))]
        return shared(name, lambda out: evalpipe.run(ROOT / "configs" / f"{name}.yaml", out=out, overrides=few))

    return folder


@pytest.fixture(scope="session")
def printed(shared: Shared, example: Callable[[str], Path]) -> Callable[[str], Path]:
    """Return a function that gives the PDF of an example spec, made once for all tests."""
    import evalpipe

    def file(name: str) -> Path:
        def fill(folder: Path) -> None:
            folder.mkdir()
            (folder / "card.pdf").write_bytes(evalpipe.render(example(name), ["pdf"])["card.pdf"])

        return shared(f"{name}-printed", fill) / "card.pdf"

    return file


@pytest.fixture(scope="session", autouse=True)
def each_spline_once() -> Iterator[None]:
    """Fit the spline of a calibration curve once for all runs of a worker on the same events, equal to the last bit.

    It takes half the time of a small run, of which tests do thousands, most of them on the same rows. The newest
    hundreds are kept: a large one holds as many kilobytes.
    """
    from evalpipe.calibration import spline

    smooth = spline.smooth
    fits: dict[bytes, Smooth] = {}

    def kept(table: Events, knots: int = 10) -> Smooth:
        key = b"".join(column.tobytes() for column in table) + bytes([knots])
        if key not in fits:
            fits[key] = smooth(table, knots)
            if len(fits) > 400:
                del fits[next(iter(fits))]
        return fits[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spline, "smooth", kept)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_waiting_for_the_disk() -> Iterator[None]:
    """Let runs of this process leave the disk to write when it likes: no power failure comes between two tests.

    A run flushes six files and folders, which takes a third of its time. Commands that tests start flush theirs.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


Drawing = Callable[[], AbstractContextManager[None]]


@pytest.fixture(scope="session")
def each_pdf_once(shared: Shared) -> Drawing:
    """Return a context in which each PDF is drawn once for all workers: a card of the same parts has the same bytes.

    A PDF of pages that a test writes itself is drawn there and then.
    """
    from evalpipe.card import pdf
    from evalpipe.results.signatures import records_json

    document, write_page = pdf.document, pdf.write_page

    def kept(edition: Edition) -> bytes:
        if pdf.write_page is not write_page:
            return document(edition)
        parts = (edition.results.to_json(), records_json(edition.signatures), records_json(edition.comments),
                 edition.templates.texts, pdf._drawing_versions())
        name = f"pdf-{hashlib.sha256(repr(parts).encode()).hexdigest()}"
        return shared(name, lambda file: file.write_bytes(document(edition))).read_bytes()

    @contextmanager
    def drawing() -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pdf, "document", kept)
            yield

    return drawing


@pytest.fixture
def drawn_once(each_pdf_once: Drawing) -> Iterator[None]:
    """Draw each PDF once for all tests."""
    with each_pdf_once():
        yield


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Return the URL of the database `postgres` of a PostgreSQL server that asks for a password."""
    from servers import postgresql

    with postgresql() as url:
        yield url


def pytest_configure(config: pytest.Config) -> None:
    """Try more examples of each property where slow tests are not left out."""
    if config.option.markexpr != "not nightly":
        settings.load_profile("night")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while tests are collected, leave the thousands of them out of every later look.

    Look as seldom as a command does, for a look takes time by all that there is.
    """
    from evalpipe.cli.exit import YOUNG

    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(YOUNG)
        gc.enable()


def _note(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        _skipped[report.nodeid] = reason.removeprefix("Skipped: ")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember each skipped test."""
    _note(report)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Remember each test file that was skipped as a whole."""
    _note(report)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail the session when a test was skipped in CI, where everything must run."""
    controls = not hasattr(session.config, "workerinput")
    if os.environ.get("CI") and controls and _skipped and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the skipped tests in CI."""
    if os.environ.get("CI") and _skipped:
        terminalreporter.section("skipped in CI, where every test must run", red=True)
        for name, reason in sorted(_skipped.items()):
            terminalreporter.line(f"{name}: {reason}")
