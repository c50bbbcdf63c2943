"""docs/migration.md: what can be run of it runs, and evalpipe has the numbers of the tool that it is set beside."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import evalpipe
from evalpipe.cli.demo import write_demo

PAGE = Path(__file__).parents[1] / "docs" / "migration.md"
MONTE_CARLO = 0.01
"""How far limits of 1,000 draws of 2,000 rows may be from those of DeLong and of other draws: five standard errors."""


def sections() -> dict[str, list[tuple[str, str, str]]]:
    """Return the code of each section of the page: its language, what its first line says, and its text."""
    text = PAGE.read_text(encoding="utf-8")
    parts = re.split(r"^## (.*)\n", text, flags=re.MULTILINE)[1:]
    return {title: re.findall(r"^```(\w+)\n# ([^\n]+)\n(.*?)^```", body, re.MULTILINE | re.DOTALL)
            for title, body in zip(parts[::2], parts[1::2], strict=True)}


SECTIONS = sections()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder, in which `evalpipe demo` has written its data."""
    write_demo(tmp_path / "evalpipe-demo", force=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names_after(section: str, tool: str) -> dict[str, Any]:
    """Run the Python code of a tool in a section, and return what its names stand for."""
    names: dict[str, Any] = {}
    for language, head, code in SECTIONS[section]:
        if language == "python" and head == tool:
            exec(code, names)  # noqa: S102 - our own page
    return names


@pytest.mark.usefixtures("folder")
def test_a_loop_over_scikit_learn_has_these_numbers() -> None:
    section = "From a loop over scikit-learn"
    theirs, ours = names_after(section, "scikit-learn"), names_after(section, "evalpipe")
    rows = {row["metric"]: row for row in ours["estimates"].iter_rows(named=True)}

    assert {name: row["value"] for name, row in rows.items()} == pytest.approx(theirs["values"], rel=1e-12)
    for name, limits in theirs["limits"].items():
        assert [rows[name]["lower"], rows[name]["upper"]] == pytest.approx(limits, abs=MONTE_CARLO)
    assert {name: row["method"] for name, row in rows.items()} == {"roc_auc": "delong", "brier": "percentile"}


def test_metric_frame_of_fairlearn_has_these_values(folder: Path) -> None:
    section = "From fairlearn's MetricFrame"
    theirs = names_after(section, "fairlearn")
    write_specs(section, folder)
    ours = names_after(section, "evalpipe")
    by_group = {(row["metric"], row["slice"]): row["value"] for row in ours["estimates"].iter_rows(named=True)
                if row["slice"] is not None}

    for metric, values in theirs["by_group"].items():
        for group, value in values.items():
            assert by_group[metric, f'{{"health": "{group}"}}'] == pytest.approx(value, rel=1e-12)
    differences = {row["disparity"]: row["difference"] for row in ours["disparities"].iter_rows(named=True)}
    assert differences == pytest.approx({
        "equal_opportunity": theirs["difference"]["sensitivity"],
        "demographic_parity": theirs["difference"]["detection_prevalence"]}, rel=1e-12)


def write_specs(section: str, folder: Path) -> list[Path]:
    """Write the specs of a section under the names that they have there, and return their paths."""
    paths = []
    for language, head, text in SECTIONS[section]:
        if language == "yaml":
            paths.append(folder / head.removeprefix("evalpipe: "))
            paths[-1].write_text(text, encoding="utf-8")
    return paths


@pytest.mark.parametrize("section", SECTIONS)
def test_each_spec_runs(section: str, folder: Path) -> None:
    for path in write_specs(section, folder):
        results = evalpipe.run(path, overrides=["intervals.replicates=100"])
        assert results.datasets[0].rows == 2000


def test_each_section_shows_both_sides() -> None:
    assert len(SECTIONS) == 5
    for blocks in SECTIONS.values():
        assert any(head.startswith("evalpipe") for _, head, _ in blocks)
        assert any(not head.startswith("evalpipe") for _, head, _ in blocks)
