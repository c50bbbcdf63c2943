"""A real notebook, run by nbclient: what a cell shows of results is the card, in a frame that reaches nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser


@pytest.mark.nightly  # by day `test_page.py` looks at what a notebook shows, without the notebook
def test_a_cell_of_a_notebook_shows_the_card(
    browser: Browser, example: Callable[[str], Path], tmp_path: Path
) -> None:
    import nbformat  # which imports jsonschema
    from nbclient import NotebookClient

    source = f"import evalpipe\nevalpipe.Results.read({str(example('titanic'))!r})"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = notebook.cells[0].outputs[0].data
    assert shown["text/plain"].startswith("Results of 'titanic', binary\n")
    context = browser.new_context(offline=True)
    page, said = context.new_page(), list[str]()
    page.on("console", lambda message: said.append(message.text))
    page.set_content(shown["text/html"])
    frame = page.frame_locator("iframe")
    assert frame.locator("h1").inner_text() == "Survival on the Titanic, two models"
    assert frame.locator(".findings li").count() > 0
    context.close()
    assert said == []
