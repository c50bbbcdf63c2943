"""docs/figures.md: its Python lines run, and every name that it lists is a figure of the Titanic's card."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evalpipe.card.figures.in_matplotlib import drawings_of
from evalpipe.cli.demo import write_demo
from evalpipe.results import Results

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")


def test_every_name_is_a_figure() -> None:
    table = PAGE.partition("## Names")[2]
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    names = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}

    assert len(names) > 15
    assert names <= set(drawings_of(Results.read(ROOT / "reports" / "example")))


def test_its_lines_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_demo(tmp_path / "evalpipe-demo", force=False)
    monkeypatch.chdir(tmp_path)
    lines = "".join(re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
    exec(lines, {})  # noqa: S102 - our own page

    assert (tmp_path / "roc.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "both.pdf").is_file()
