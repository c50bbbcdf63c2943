"""Names of plugins in a spec: each fault at its place, and what the plan holds of those that are there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evalpipe.chapters.appearance.plan import appearance_plan
from evalpipe.errors import SpecError
from evalpipe.spec.load import load

if TYPE_CHECKING:
    from pathlib import Path

SPEC = {"evalpipe": 1, "name": "plugged", "task": "binary", "outcome": {"column": "y", "event": 1},
        "datasets": {"test": {"path": "x.csv"}}, "models": {"m": {"probability": "p"}}}


@pytest.fixture(autouse=True)
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install two packages: one with the plugins "house" and "both", one with "both" alone."""
    monkeypatch.syspath_prepend(str(tmp_path))
    for package, names in (("first", ("house", "both")), ("second", ("both",))):
        (tmp_path / f"{package}_code.py").write_text("write = list\n")
        info = tmp_path / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(
            "[evalpipe.sections]\n" + "".join(f"{name} = {package}_code:write\n" for name in names))


@pytest.mark.parametrize(("names", "expected"), [
    (["house", "house", "house"], [
        "duplicate-plugin: report.plugins[1]: 'house' is listed twice (remove it)",
        "duplicate-plugin: report.plugins[2]: 'house' is listed twice (remove it)"]),
    (["hose"], ["unknown-plugin: report.plugins[0]: no plugin called 'hose' is installed (did you mean 'house'?)"]),
    (["hose", "hose"], [
        f"unknown-plugin: report.plugins[{place}]: no plugin called 'hose' is installed (did you mean 'house'?)"
        for place in range(2)]),
    (["house", "both"], [("ambiguous-plugin: report.plugins[1]: first 1.0 and second 1.0 each have a plugin called "
                          "'both' (uninstall all but the one that is meant)")]),
])
def test_each_fault_of_a_list_of_plugins_is_told_at_its_place(names: list[str], expected: list[str]) -> None:
    with pytest.raises(SpecError) as caught:
        load(SPEC | {"report": {"plugins": names}})
    assert [f"{problem.code}: {problem.message} ({problem.hint})" for problem in caught.value.problems] == expected


def test_a_plan_holds_the_plugins_theme_and_templates_that_the_spec_names() -> None:
    plan = appearance_plan(load(SPEC | {"report": {"plugins": ["house"], "theme": {"accent": "#1f5fa8"}}}))
    (plugin,) = plan.plugins
    assert (plugin.name, plugin.package, plugin.version, plugin.gives) == ("house", "first", "1.0", ("sections",))
    assert plan.theme is not None
    assert (plan.theme.accent, plan.templates) == ("#1f5fa8", None)
    bare = appearance_plan(load(SPEC))
    assert (bare.theme, bare.templates, bare.plugins) == (None, None, ())
