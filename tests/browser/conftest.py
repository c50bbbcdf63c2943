"""A real browser, one for all cards of a worker."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from installed import lacks, node


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Return a browser without a window: the system's Chromium."""
    node()
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        lacks("Chromium", "chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program)
        yield started
        started.close()
