"""`evalpipe diff` as its users run it: what it prints, where, and its exit codes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import evalpipe
from cli.conftest import Command, write_small
from conftest import Shared


def two_runs(home: Path) -> None:
    """Run the small spec twice in a folder, the second time with another threshold."""
    home.mkdir()
    write_small(home)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        evalpipe.run("small.yaml", out="a", overrides=["report.formats=[]"])
        evalpipe.run("small.yaml", out="b", overrides=["report.formats=[]", "threshold=0.45"])


@pytest.fixture
def runs(shared: Shared, folder: Path) -> Path:
    """Return the folder of the small spec with two runs."""
    return shutil.copytree(shared("cli-two-runs", two_runs), folder, dirs_exist_ok=True)


@pytest.mark.usefixtures("runs")
def test_exit_codes_tell_the_same_from_differences(command: Command) -> None:
    same = command("diff", "a", "a/results.json")
    assert (same.returncode, same.stdout, same.stderr) == (0, "The results are the same, byte for byte.\n", "")

    other = command("diff", "a", "b")
    assert (other.returncode, other.stderr) == (1, "")
    assert other.stdout.splitlines()[0] == (
        "1 of 3 estimates differs; 1 threshold differs; 1 key of the spec differs; "
        "4 further parts of the results differ.")
    assert "No paired difference: run A has no row-level file" in other.stdout

    near = command("diff", "a", "b", "--atol", "1", "--ignore", "spec", "--ignore", "other")
    assert (near.returncode, near.stdout.splitlines()[0]) == (
        0, ("The results are the same within the tolerance; not counted: 1 key of the spec differs, "
            "2 further parts of the results differ."))


@pytest.mark.usefixtures("runs")
def test_json_is_on_the_standard_output_whatever_becomes_of_it(command: Command) -> None:
    document = json.loads(command("diff", "a", "b", "--format", "json", "--no-paired").stdout)
    assert (document["schema_version"], document["same"], document["identical"]) == (1, False, False)
    assert [row["metric"] for row in document["estimates"]] == ["accuracy"]
    assert document["spec"] == [{"change": "changed", "key": "threshold", "a": 0.5, "b": 0.45}]

    absent = command("diff", "a", "c", "--format", "json")
    assert (absent.returncode, json.loads(absent.stdout)["problems"][0]["code"], absent.stderr) == (
        3, "unreadable-file", "")


@pytest.mark.usefixtures("runs")
def test_a_file_is_written_whole_and_the_verdict_printed(command: Command, folder: Path) -> None:
    done = command("diff", "a", "b", "--format", "html", "--out", "page.html")
    assert done.returncode == 1
    assert done.stdout.splitlines()[1:] == ["page.html"]
    assert (folder / "page.html").read_text().startswith("<!doctype html>")
    as_json = command("diff", "a", "b", "--format", "json", "--out", "d.json")
    assert json.loads(as_json.stdout).keys() == {"verdict", "same", "file"}

    refused = command("diff", "a", "b", "--out", "nowhere/page.html")
    assert (refused.returncode, refused.stdout, refused.stderr) == (2, "", (
        "error[output-file]: cannot write 'nowhere/page.html': No such file or directory\n"
        "  = help: name a file in a folder that can be written\n"))
    assert command("diff", "a", "b", "--out", "a").stderr.startswith(
        "error[output-file]: cannot write 'a': it is a folder")
    assert sorted(path.name for path in folder.glob(".new-*")) == []


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(("options", "told"), [
    (("--atol", "-1"), "Invalid value for '--atol': '-1' is no tolerance; give a number from 0 up"),
    (("--rtol", "nan"), "Invalid value for '--rtol': 'nan' is no tolerance; give a number from 0 up"),
    (("--atol", "x"), "Invalid value for '--atol': 'x' is not a number"),
    (("--tolerance", "a"), "Invalid value for '--tolerance': 'a' is not a metric and its tolerance, as in brier=0.001"),
    (("--tolerance", "brier=inf"), "Invalid value for '--tolerance': 'inf' is no tolerance; give a number from 0 up"),
])
def test_a_wrong_tolerance_ends_with_2(command: Command, options: tuple[str, str], told: str) -> None:
    done = command("diff", "a", "b", *options)

    assert (done.returncode, done.stdout, done.stderr) == (
        2, "", f"error[usage]: {told}\n  = help: see: evalpipe diff --help\n")


@pytest.mark.usefixtures("runs")
def test_the_tolerance_of_an_unknown_metric_ends_with_2(command: Command) -> None:
    done = command("diff", "a", "b", "--tolerance", "brie=1")

    assert (done.returncode, done.stderr) == (2, (
        "error[unknown-metric]: neither run has an estimate of 'brie'\n  = help: did you mean 'brier'?\n"))
