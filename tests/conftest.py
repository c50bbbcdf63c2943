"""What every test shares: no skipping in CI, hypothesis without chance, the place of the reference data."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT.parent / "shared" / "reference"

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")

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
